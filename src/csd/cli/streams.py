"""The streams of a command: nobody need read them, in whatever letters."""

import os
import sys
from typing import Any, TextIO


def prepare() -> None:
    """Before anything is written."""
    sys.stderr = Courtesy(sys.stderr or open(os.devnull, "w"))  # type: ignore[assignment]
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal has no letters for
        sys.stdout.reconfigure(errors="backslashreplace")


class Courtesy:
    """Standard error of work that goes on when its reader goes away."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or from now on into nothing."""
        try:
            return self._stream.write(text)
        except OSError:
            self._silence()
            return len(text)

    def flush(self) -> None:
        """Flush, or from now on into nothing."""
        try:
            self._stream.flush()
        except OSError:
            self._silence()

    def _silence(self) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
