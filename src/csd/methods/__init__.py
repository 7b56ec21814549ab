"""Skill discovery methods by name."""

from collections.abc import Callable
from typing import Any

from csd.methods.base import Distance, Method, MethodSpec, fixed
from csd.methods.csd import csd
from csd.methods.lsd import lsd_dual

METHODS: dict[str, Callable[[Any, MethodSpec], Method]] = {
    "csd": csd,
    "lsd-dual": lsd_dual,
}

__all__ = ["METHODS", "Distance", "Method", "MethodSpec", "fixed"]
