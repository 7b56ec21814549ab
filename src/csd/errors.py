"""Mistakes a user can mend; the command line prints them as one line and exits with 2."""

import difflib
from collections.abc import Iterable
from typing import Any

SHOWN = 12  # options that a hint lists


class UserError(Exception):
    """Something is wrong with a request or a file, and the message says what would be right."""


def require(condition: bool, message: str) -> None:
    """Raise the message as a `UserError` unless the condition holds."""
    if not condition:
        raise UserError(message)


def require_sane_networks(config: Any) -> None:
    """Every field of widths (`*_hidden`) and every learning rate (`lr`, `*_lr`) can be trained."""
    for name, value in vars(config).items():
        if name.endswith("hidden"):
            require(
                all(width >= 1 for width in value),
                f"{name} must be widths of at least 1, not {' '.join(map(str, value))}",
            )
        elif name == "lambda_lr":
            require(value >= 0.0, f"{name} must not be negative, not {value}")
        elif name == "lr" or name.endswith("_lr"):
            require(0.0 < value < float("inf"), f"{name} must be positive, not {value}")


def nearest(word: str, options: Iterable[str]) -> str:
    """A hint that names the closest valid option (of equals the first), or the first of them."""
    options = list(options)

    def likeness(option: str) -> float:
        return difflib.SequenceMatcher(None, option.lower(), word.lower()).ratio()

    best = max(options, key=likeness, default="")
    if best and likeness(best) >= 0.5:
        return f"did you mean {best!r}?"
    rest = f" and {len(options) - SHOWN} more" if len(options) > SHOWN else ""
    return f"choose one of {', '.join(options[:SHOWN])}{rest}"
