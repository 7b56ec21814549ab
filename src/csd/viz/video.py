"""`csd video`: skills at work, side by side."""

import os
from pathlib import Path

import imageio_ffmpeg
import numpy as np

from csd import envs
from csd.collect import episode_seeds
from csd.envs.film import Film
from csd.errors import UserError, require
from csd.evaluation.skills import EVALUATION_STREAM
from csd.progress import Progress
from csd.skills import Skills, load
from csd.viz.drawing import skill_colors

RADIUS = 1.25  # length of the skills shown, where skills have no length of their own (published)
BORDER = 4  # pixels of a picture's frame
RATE = 30.0  # pictures per second at most
COMPASS = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))
"""Row and column, from the middle, of eight directions from (1, 0) on, counter-clockwise."""


def video(run: Path, count: int, size: int, output: Path, quiet: bool = False) -> Path:
    """Film the skills of a run with their deterministic policy."""
    require(count >= 1, f"skills must be at least 1, not {count}")
    require(
        size >= 64 and size % 16 == 0,
        f"size must be a multiple of 16 and at least 64, not {size}",
    )
    output = output if output.suffix else output.with_suffix(".mp4")
    require(output.suffix == ".mp4", f"cannot film {output}: give a file that ends in .mp4")
    skills = load(run)
    codes, places = lay_out(skills, count)
    film = envs.make_film(skills.config.env, len(codes), size, skills.config.horizon)
    unfinished = output.with_name(f".{output.stem}.{os.getpid()}.mp4")
    try:
        film.worlds[0].reset(0)
        film.look(film.worlds[0])  # what cannot be filmed leaves nothing behind
        output.parent.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        _shoot(skills, codes, places, film, size, unfinished, quiet)
        os.replace(unfinished, output)
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from None
    finally:
        film.close()
        unfinished.unlink(missing_ok=True)
    return output


def lay_out(skills: Skills, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The skills to show, (n, skill_dim), and the row and column of each, (n, 2)."""
    config = skills.config
    if config.skill_type == "continuous" and config.skill_dim == 2:
        angles = np.arange(8) * np.pi / 4.0
        codes = np.stack([np.cos(angles), np.sin(angles)], axis=-1).astype(np.float32)
        places = 1 + np.array(COMPASS)
        if not config.skill_unit_length:
            codes = np.concatenate([RADIUS * codes, np.zeros((1, 2), np.float32)])
            places = np.concatenate([places, [[1, 1]]])
        return codes, places
    if config.skill_type == "discrete":
        codes = np.eye(config.skill_dim, dtype=np.float32)
    else:
        codes = skills.sample(np.random.default_rng(config.seed), count)
    columns = int(np.ceil(np.sqrt(len(codes))))
    return codes, np.stack(np.divmod(np.arange(len(codes)), columns), axis=-1)


def _shoot(
    skills: Skills,
    codes: np.ndarray,
    places: np.ndarray,
    film: Film,
    size: int,
    output: Path,
    quiet: bool,
) -> None:
    config = skills.config
    rows, columns = places.max(axis=0) + 1
    frame = np.zeros((rows * size, columns * size, 3), np.uint8)
    colors = np.round(255 * skill_colors(codes, config)[:, :3]).astype(np.uint8)
    rate = 1.0 / skills.spec.step_seconds
    every = int(np.ceil(rate / RATE))
    writer = imageio_ffmpeg.write_frames(
        str(output),
        (frame.shape[1], frame.shape[0]),
        fps=rate / every,  # type: ignore[arg-type]
        macro_block_size=1,
    )
    writer.send(None)
    try:
        # All from one start: what differs is the skill.
        seed = episode_seeds(config.seed + EVALUATION_STREAM, np.arange(1))[0]
        obs = np.stack([world.reset(seed) for world in film.worlds]).astype(np.float32)
        active = np.ones(len(codes), bool)
        steps = skills.spec.horizon
        with Progress(steps, 0, quiet, unit="steps") as progress:
            for step in range(steps + 1):
                if step % every == 0:
                    for index in np.flatnonzero(active):
                        row, column = places[index] * size
                        picture = _framed(film.look(film.worlds[index]), colors[index])
                        frame[row : row + size, column : column + size] = picture
                    writer.send(frame)
                progress.update(step)
                if step == steps:
                    break
                for index, action in enumerate(skills.act(obs, codes)):
                    if active[index]:  # one that has ended keeps its last picture
                        obs[index], ended = film.worlds[index].step(action)
                        active[index] = not ended and bool(np.isfinite(obs[index]).all())
    finally:
        writer.close()


def _framed(picture: np.ndarray, color: np.ndarray) -> np.ndarray:
    framed = np.empty_like(picture)
    framed[:] = color
    inside = slice(BORDER, -BORDER)
    framed[inside, inside] = picture[inside, inside]
    return framed
