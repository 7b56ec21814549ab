"""`csd video` on a controller: episodes of its task, side by side."""

from pathlib import Path

import numpy as np

from csd import tasks
from csd.collect import episode_seeds
from csd.controller.rollout import policy_choice, roll_out
from csd.controller.run import load_controller
from csd.controller.training import EVALUATION_SEED
from csd.errors import require
from csd.viz.movie import Movie, framed, grid

TRYING, DONE = np.array([110, 110, 110], np.uint8), np.array([40, 190, 60], np.uint8)
"""Frames of an episode that has not been paid yet, and of one that has."""


def video(run: Path, episodes: int, size: int, output: Path, quiet: bool = False) -> Path:
    """Film the first evaluation episodes of a controller, each with its goal."""
    require(episodes >= 1, f"skills (here the episodes) must be at least 1, not {episodes}")
    trained = load_controller(run, episodes, seen=True)
    config, envs = trained.config, trained.view.envs
    movie = Movie(output, grid(episodes), size, envs.tasks.spec, quiet)
    film = tasks.film(envs.tasks, size)
    success = np.zeros(episodes, bool)

    def watch(moved: np.ndarray, paid: np.ndarray) -> None:
        success[:] |= paid > 0.0

        def draw(index: int) -> np.ndarray | None:
            if not moved[index]:
                return None
            picture = film.look(film.worlds[index], envs.tasks.sign(index))
            return framed(picture, DONE if success[index] else TRYING)

        movie.add(draw)

    envs.watch = watch
    seeds = episode_seeds(config.seed + EVALUATION_SEED, np.arange(episodes))
    try:
        with movie:
            roll_out(trained.view, policy_choice(trained.agent, trained.policy, None), seeds)
    finally:
        film.close()
        envs.close()
    return movie.output
