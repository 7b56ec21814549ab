"""Ending a long run well: by a signal, on a full disk, or when its figures make no sense."""

import errno
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from csd import checkpoint, interrupt, rundir
from csd.errors import UserError

FULL = (errno.ENOSPC, errno.EDQUOT)


class Stop:
    """Turns the first Ctrl-C or SIGTERM into a request to stop; a second one stops at once."""

    def __init__(self, told: str = "", cut: str = "") -> None:
        self.requested = False
        self._told, self._cut = told, cut  # what a person reads at the first and at the second

    def __enter__(self) -> "Stop":
        interrupt.check()
        try:
            self._before = {s: signal.signal(s, self._ask) for s in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not in the main thread: leave signals to whoever is
            self._before = {}
        return self

    def _ask(self, number: int, frame: Any) -> None:
        message = self._cut if self.requested else self._told
        if message:
            print(f"\n{message}", file=sys.stderr, flush=True)
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def stop_after_epoch(resume: str) -> Stop:
    """For a training; `resume` is the command to go on with."""
    return Stop(
        "finishing the epoch, then saving (once more stops at once)",
        f"stopped at once: `{resume}` goes on from the last checkpoint",
    )


@contextmanager
def full_disk_in_one_line(resume: str) -> Iterator[None]:
    """A disk that is full is the user's to mend; `resume` is the command to go on with."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise UserError(f"the disk is full: free some space, then `{resume}`") from None


def save(
    folder: Path, episode: int, arrays: dict[str, np.ndarray], meta: dict[str, Any], last: bool
) -> None:
    """Write a checkpoint; where there is no room for it a run goes on, unless it is its last."""
    try:
        checkpoint.save(folder, episode, arrays, meta)
    except OSError as error:
        if error.errno not in FULL or last:
            raise
        print(
            f"warning: no room for the checkpoint at episode {episode}; the one before is kept",
            file=sys.stderr,
        )


def finite(info: Mapping[str, Any], episode: int, run: Path) -> dict[str, np.ndarray]:
    """An epoch's figures on the host; one that is not a number ends the run."""
    values = {name: np.asarray(value) for name, value in info.items()}
    for name, value in values.items():
        if not np.isfinite(value).all():
            saved = checkpoint.episodes(run / rundir.CHECKPOINTS)
            kept = "the last good checkpoint is kept" if saved else "before its first checkpoint"
            raise UserError(
                f"{name} became {value.ravel()[0]} at episode {episode} of {run} ({kept}): "
                "start again with a smaller learning rate or reward scale"
            )
    return values
