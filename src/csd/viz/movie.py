"""A grid of pictures over time, as an mp4 file."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import imageio_ffmpeg
import numpy as np

from csd.envs.base import EnvSpec
from csd.errors import UserError, require
from csd.progress import Progress

BORDER = 4  # pixels of a picture's frame
RATE = 30.0  # pictures per second at most

Draw = Callable[[int], np.ndarray | None]
"""The picture of a place in the grid; None leaves what is there."""


class Movie:
    """Written under another name, which `output` takes once it is complete."""

    def __init__(
        self, output: Path, places: np.ndarray, size: int, spec: EnvSpec, quiet: bool = False
    ) -> None:
        require(
            size >= 64 and size % 16 == 0,
            f"size must be a multiple of 16 and at least 64, not {size}",
        )
        self.output = output if output.suffix else output.with_suffix(".mp4")
        require(
            self.output.suffix == ".mp4",
            f"cannot film {output}: give a file that ends in .mp4",
        )
        self._unfinished = self.output.with_name(f".{self.output.stem}.{os.getpid()}.mp4")
        rows, columns = places.max(axis=0) + 1
        self._frame = np.zeros((rows * size, columns * size, 3), np.uint8)
        self._places, self._size, self._spec = places, size, spec
        self._progress = Progress(spec.horizon, 0, quiet, unit="steps")
        self._every = int(np.ceil(1.0 / spec.step_seconds / RATE))
        self._step = 0
        self._writer: Any = None

    def __enter__(self) -> "Movie":
        self._progress.__enter__()
        return self

    def add(self, draw: Draw) -> None:
        """What is seen at the next step; not every step of a fast simulation is drawn."""
        if self._step % self._every == 0:
            for index, place in enumerate(self._places):
                picture = draw(index)
                if picture is not None:
                    row, column = place * self._size
                    self._frame[row : row + self._size, column : column + self._size] = picture
            if self._writer is None:  # what cannot be drawn leaves nothing behind
                self._writer = self._open()
            self._writer.send(self._frame)
        self._progress.update(self._step)
        self._step += 1

    def _open(self) -> Any:
        try:
            self.output.parent.mkdir(parents=True, exist_ok=True)
            self._unfinished.touch()
        except OSError as error:
            raise UserError(f"cannot write {self.output}: {error.strerror or error}") from None
        writer = imageio_ffmpeg.write_frames(
            str(self._unfinished),
            (self._frame.shape[1], self._frame.shape[0]),
            fps=1.0 / self._spec.step_seconds / self._every,  # type: ignore[arg-type]
            macro_block_size=1,
        )
        writer.send(None)
        return writer

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        self._progress.__exit__()
        try:
            if self._writer is not None:
                self._writer.close()
                if error is None:
                    os.replace(self._unfinished, self.output)
        except OSError as broken:
            error = error or broken
        finally:
            self._unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UserError(f"cannot write {self.output}: {error.strerror or error}") from None


def framed(picture: np.ndarray, color: np.ndarray) -> np.ndarray:
    """The picture with a frame of a colour."""
    result = np.empty_like(picture)
    result[:] = color
    inside = slice(BORDER, -BORDER)
    result[inside, inside] = picture[inside, inside]
    return result


def grid(count: int) -> np.ndarray:
    """Row and column of each of `count` pictures in a square, (count, 2)."""
    columns = int(np.ceil(np.sqrt(count)))
    return np.stack(np.divmod(np.arange(count), columns), axis=-1)
