"""One logger: JSON lines and TensorBoard always, W&B where it is asked for."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from csd.errors import UserError
from csd.rundir import METRICS
from csd.tracking import Tracker


def open_alone(run: Path) -> BinaryIO:
    """The file of a run's metrics, which belongs to this process as long as it is open."""
    file = open(run / METRICS, "ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UserError(f"another process is training in {run}: wait for it or end it") from None
    return file


class MetricsLog:
    """Appends rows; resuming cuts off what was written after the checkpoint.

    One process at a time writes to a run: the file is locked as long as it is open.
    """

    def __init__(self, run: Path, offset: int = 0, episode: int = 0) -> None:
        self._file = open_alone(run)
        self._tracker = Tracker(run)
        os.truncate(run / METRICS, min(offset, (run / METRICS).stat().st_size))
        self._file.seek(0, os.SEEK_END)
        from tensorboardX import SummaryWriter

        purge = episode + 1 if episode else None
        self._board = SummaryWriter(str(run / "tensorboard"), purge_step=purge)

    def write(self, row: dict[str, Any]) -> None:
        """Add one row; nested dictionaries become groups."""
        self._file.write(json.dumps(row).encode() + b"\n")
        self._file.flush()
        scalars = {}
        for key, value in row.items():
            for name, scalar in (value if isinstance(value, dict) else {"": value}).items():
                if isinstance(scalar, int | float):
                    scalars[f"{key}/{name}" if name else key] = scalar
        for tag, scalar in scalars.items():
            self._board.add_scalar(tag, scalar, row["episodes"])
        self._tracker.write(scalars, row["episodes"])

    def offset(self) -> int:
        """How many bytes of metrics there are; part of every checkpoint."""
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Flush and close all of them."""
        self._file.close()
        self._board.close()
        self._tracker.close()


def nested(values: dict[str, Any], key: str) -> Any:
    """The value of a name, nested names joined by a dot; None if there is none."""
    found: Any = values
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def series(rows: list[dict[str, Any]], key: str) -> tuple[list[int], list[float]]:
    """Episodes and values of one metric, nested names joined by a dot."""
    x, y = [], []
    for row in rows:
        value = nested(row, key)
        if value is not None:
            x.append(row["episodes"])
            y.append(value)
    return x, y
