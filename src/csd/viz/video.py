"""`csd video`: skills at work, side by side."""

from pathlib import Path

import numpy as np

from csd import envs
from csd.collect import episode_seeds
from csd.envs.film import Film
from csd.errors import require
from csd.evaluation.skills import EVALUATION_STREAM
from csd.skills import Skills, load
from csd.viz.drawing import skill_colors
from csd.viz.movie import Movie, framed, grid

RADIUS = 1.25  # length of the skills shown, where skills have no length of their own (published)
COMPASS = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))
"""Row and column, from the middle, of eight directions from (1, 0) on, counter-clockwise."""


def video(run: Path, count: int, size: int, output: Path, quiet: bool = False) -> Path:
    """Film the skills of a run with their deterministic policy."""
    require(count >= 1, f"skills must be at least 1, not {count}")
    skills = load(run)
    codes, places = lay_out(skills, count)
    movie = Movie(output, places, size, skills.spec, quiet)
    film = envs.make_film(skills.config.env, len(codes), size, skills.config.horizon)
    try:
        with movie:
            _play(skills, codes, film, movie)
    finally:
        film.close()
    return movie.output


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
    return codes, grid(len(codes))


def _play(skills: Skills, codes: np.ndarray, film: Film, movie: Movie) -> None:
    """One episode of each skill; those that have ended keep their last picture."""
    # All from one start: what differs is the skill.
    seed = episode_seeds(skills.config.seed + EVALUATION_STREAM, np.arange(1))[0]
    obs = np.stack([world.reset(seed) for world in film.worlds]).astype(np.float32)
    active = np.ones(len(codes), bool)
    colors = np.round(255 * skill_colors(codes, skills.config)[:, :3]).astype(np.uint8)

    def draw(index: int) -> np.ndarray | None:
        return framed(film.look(film.worlds[index]), colors[index]) if active[index] else None

    movie.add(draw)
    for _ in range(skills.spec.horizon):
        for index, action in enumerate(skills.act(obs, codes)):
            if active[index]:
                obs[index], end = film.worlds[index].step(action)
                active[index] = not end and bool(np.isfinite(obs[index]).all())
        movie.add(draw)
