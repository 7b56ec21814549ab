"""Progress of long work: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from csd import interrupt

PLAIN_SECONDS = 15.0


class Progress:
    """What is done, its rate, the time left, and the figures that matter, on standard error."""

    def __init__(self, total: int, done: int, quiet: bool = False, unit: str = "episodes") -> None:
        self._total, self._first, self._quiet, self._unit = total, done, quiet, unit
        self._start = time.monotonic()
        self._next_line = 0.0
        self._figures: dict[str, float] = {}
        self._bar: RichProgress | None = None
        if not quiet and sys.stderr.isatty():
            self._bar = RichProgress(
                TextColumn(f"{{task.completed:,.0f}}/{{task.total:,.0f}} {unit}"),
                BarColumn(),
                TextColumn("{task.fields[figures]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("train", total=total, completed=done, figures="")

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, **figures: float | None) -> None:
        """Show how far it is; figures that are None keep their last value."""
        interrupt.check()
        if self._quiet:
            return
        self._figures |= {k: v for k, v in figures.items() if v is not None}
        elapsed = time.monotonic() - self._start
        rate = (done - self._first) / max(elapsed, 1e-9)
        shown = "  ".join(f"{name} {value:.3g}" for name, value in self._figures.items())
        text = f"{rate:.1f} {self._unit}/s  {shown}"
        if self._bar is not None:
            self._bar.update(self._task, completed=done, figures=text)
        elif elapsed >= self._next_line or done >= self._total:
            self._next_line = elapsed + PLAIN_SECONDS
            line = f"{done:,}/{self._total:,} {self._unit}  {text}"
            if done > self._first:
                line += f"  {max(self._total - done, 0) / rate / 60:.1f} min left"
            print(line, file=sys.stderr, flush=True)
