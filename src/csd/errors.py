"""Mistakes a user can mend; the command line prints them as one line and exits with 2."""

import difflib
from collections.abc import Iterable

SHOWN = 12  # options that a hint lists


class UserError(Exception):
    """Something is wrong with a request or a file, and the message says what would be right."""


def require(condition: bool, message: str) -> None:
    """Raise the message as a `UserError` unless the condition holds."""
    if not condition:
        raise UserError(message)


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
