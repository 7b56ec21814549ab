"""Ctrl-C in a command is not lost, wherever it falls.

Libraries run Python in places from which nothing can be raised (JAX when memory is collected),
or catch whatever an import raises. So it is remembered, and long work asks.
"""

import signal
import sys
from typing import Any

asked = False
"""Whether Ctrl-C was pressed."""


def listen() -> None:
    """Ctrl-C raises `KeyboardInterrupt`, as always, and is remembered."""

    def ask(number: int, frame: Any) -> None:
        global asked
        asked = True
        raise KeyboardInterrupt

    try:
        signal.signal(signal.SIGINT, ask)
    except ValueError:  # not in the main thread: leave signals to whoever is
        return
    tell = sys.unraisablehook

    def unraisable(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            tell(lost)

    sys.unraisablehook = unraisable


def check() -> None:
    """Stop here if it was pressed where that did not stop anything."""
    if asked:
        raise KeyboardInterrupt
