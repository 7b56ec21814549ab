"""Configurations are checked as they are made: types, choices and ranges of their fields."""

import dataclasses
import functools
import math
import typing
from typing import Any, Literal

import numpy as np

from csd.errors import UserError, require

SIMPLE: dict[Any, Any] = {int: int, float: (int, float), str: str, bool: bool}
"""What a field of this type may hold."""


@functools.cache
def hints(cls: type) -> dict[str, Any]:
    """The type of every field."""
    return typing.get_type_hints(cls)


def plain(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    """Values as fields hold them: tuples instead of lists, Python's numbers instead of NumPy's."""

    def convert(name: str, value: Any) -> Any:
        if isinstance(value, list) and typing.get_origin(hints(cls).get(name)) is tuple:
            return tuple(value)
        return value.item() if isinstance(value, np.generic) else value

    return {name: convert(name, value) for name, value in values.items()}


def validate(config: Any) -> None:
    """Types and choices of all fields; numbers are finite, widths and learning rates positive."""
    for field in dataclasses.fields(config):
        name = field.name
        value: Any = getattr(config, name)
        _check_type(name, value, hints(type(config))[name])
        if name.endswith("hidden"):
            require(
                all(width >= 1 for width in value),
                f"{name} must be widths of at least 1, not {' '.join(map(str, value))}",
            )
        elif name == "lr" or (name.endswith("_lr") and name != "lambda_lr"):
            require(value > 0.0, f"{name} must be positive, not {value}")
        if isinstance(value, float):
            require(math.isfinite(value), f"{name} must be a finite number, not {value}")


def _check_type(name: str, value: Any, kind: Any) -> None:
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value not in choices or isinstance(value, bool):
            shown = ", ".join(map(str, choices))
            raise UserError(f"{name} must be one of {shown}, not {value!r}")
    elif typing.get_origin(kind) is tuple:
        if not isinstance(value, tuple) or not all(type(part) is int for part in value):
            raise UserError(f"{name} must be whole numbers in a list, not {value!r}")
    elif kind in SIMPLE and (
        not isinstance(value, SIMPLE[kind]) or isinstance(value, bool) != (kind is bool)
    ):
        raise UserError(f"{name} must be of type {kind.__name__}, not {value!r}")


def at_least(config: Any, least: float, names: str) -> None:
    """Every one of these fields is at least that large."""
    for name in names.split():
        value = getattr(config, name)
        if value < least:
            what = "not be negative" if least == 0 else f"be at least {least:g}"
            raise UserError(f"{name} must {what}, not {value}")


def within(config: Any, names: str, low: float = 0.0, high: float = 1.0) -> None:
    """Every one of these fields lies in [low, high]."""
    for name in names.split():
        value = getattr(config, name)
        require(low <= value <= high, f"{name} must be in [{low:g}, {high:g}], not {value}")


def above_zero(config: Any, names: str) -> None:
    """Every one of these fields is positive."""
    for name in names.split():
        value = getattr(config, name)
        require(value > 0, f"{name} must be positive, not {value}")
