"""How many threads there are for simulators and for the learner."""

import os
import sys
from pathlib import Path
from typing import Any

LEARNER = "NPROC"
"""XLA reads this variable when the first computation of a process starts, and never again."""

_learner_threads: int | None = None


def usable() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def learner_threads() -> int:
    """How many threads the learner has; called before the first computation, it stays that.

    Sums are divided among them, so results differ by rounding with their number.
    """
    global _learner_threads
    if _learner_threads is None:
        _learner_threads = int(os.environ.get(LEARNER) or usable())
    return _learner_threads


def spare(overlap: bool) -> None:
    """Where simulators and learner share few cores, more than two learner threads waste them."""
    if overlap and (os.cpu_count() or 1) <= 4:
        os.environ.setdefault(LEARNER, "2")


def as_before(meta: dict[str, Any]) -> None:
    """Ask for as many learner threads as a run had, by what its checkpoint says of itself."""
    threads = meta.get("threads")
    if isinstance(threads, int):
        os.environ[LEARNER] = str(threads)


def warn_if_not(threads: int, run: Path) -> None:
    """Say so where a resumed run will not be exact."""
    if threads != learner_threads():
        print(
            f"warning: {run} had {threads} learner threads, this process has {learner_threads()}: "
            f"it goes on, but not bit for bit; start with {LEARNER}={threads} to have it exact",
            file=sys.stderr,
        )
