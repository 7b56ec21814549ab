"""Mistakes a user can mend; the command line prints them as one line and exits with 2."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something is wrong with a request or a file, and the message says what would be right."""


def nearest(word: str, options: Iterable[str]) -> str:
    """A hint that names the closest valid option, or all of them."""
    options = list(options)
    lower = {option.lower(): option for option in options}
    close = difflib.get_close_matches(word.lower(), list(lower), n=1, cutoff=0.5)
    if close:
        return f"did you mean {lower[close[0]]!r}?"
    return f"choose one of {', '.join(options)}"
