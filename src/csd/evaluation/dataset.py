"""`csd export`: what skills do, as a Minari dataset for offline learning."""

import os
import re
import shutil
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
from gymnasium import spaces

from csd import envs
from csd.collect import Rollout
from csd.errors import UserError, require
from csd.evaluation.skills import evaluation_skills, roll_out
from csd.progress import Progress
from csd.skills import Skills, load


def export(run: Path, name: str, episodes: int, noise: float, workers: int, quiet: bool) -> str:
    """Roll out skills into a new dataset where Minari keeps its own; returns its id."""
    minari = _minari()
    require(episodes >= 1, f"episodes must be at least 1, not {episodes}")
    require(0.0 <= noise <= 1.0, f"noise must be in [0, 1], the range of actions, not {noise}")
    skills = load(run)
    name = name or default_name(skills)
    folder = _free_folder(name)
    spec, config = skills.spec, skills.config
    pool = envs.make(config.env, min(episodes, 64), config.horizon, workers)
    try:
        with Progress(episodes, 0, quiet) as progress:
            codes = _codes(skills, episodes)
            rollout = roll_out(skills.learner, pool, skills.policy, codes, noise, progress.update)
    finally:
        pool.close()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has no author
            minari.create_dataset_from_buffers(
                name,
                buffer=as_buffers(rollout),
                observation_space=spaces.Box(-np.inf, np.inf, (spec.obs_dim,), np.float32),
                action_space=spaces.Box(-1.0, 1.0, (spec.action_dim,), np.float32),
                algorithm_name=config.method,
                description=(
                    f"What skills do that learned in {config.env} without a reward: method "
                    f"{config.method}, seed {config.seed}, {skills.episode} episodes of training, "
                    f"noise of {noise:g} on actions. infos['skill'] is the skill of the episode. "
                    f"Observations are {', '.join(spec.names)}."
                ),
            )
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
        raise
    return name


def default_name(skills: Skills) -> str:
    """A dataset id after the environment, the method and the seed."""
    config = skills.config
    env = re.sub(r"\W", "-", config.env)
    return f"csd/{env}-{config.method}-seed{config.seed}-v0"


def as_buffers(rollout: Rollout) -> list:
    """Minari's episodes: states, executed actions, the skill beside every state, rewards of 0."""
    from minari.data_collector import EpisodeBuffer

    buffers = []
    for index, length in enumerate(rollout.length.tolist()):
        last = np.arange(length) == length - 1
        ended = bool(rollout.terminal[index])
        buffers.append(
            EpisodeBuffer(
                id=index,
                observations=rollout.obs[index, : length + 1],  # type: ignore[arg-type]
                actions=rollout.action[index, :length],  # type: ignore[arg-type]
                rewards=[0.0] * length,
                terminations=(last & ended).tolist(),
                truncations=(last & (not ended)).tolist(),
                infos={"skill": np.tile(rollout.skill[index], (length + 1, 1))},
            )
        )
    return buffers


def _codes(skills: Skills, count: int) -> np.ndarray:
    """Random continuous skills, or the discrete ones in turn."""
    if skills.config.skill_type == "continuous":
        return evaluation_skills(skills.learner, count)
    dim = skills.config.skill_dim
    return np.eye(dim, dtype=np.float32)[np.arange(count) % dim]


def _minari() -> ModuleType:
    try:
        import h5py  # noqa: F401
        import minari
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("minari", "h5py"):
            raise
        raise UserError(
            "datasets need Minari: install it with `pip install 'csd[minari]'`"
        ) from None
    return minari


def _free_folder(name: str) -> Path:
    """Where the dataset will be, before any work is done for it."""
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

    try:
        version = parse_dataset_id(name)[2]
    except (ValueError, TypeError):
        raise UserError(
            f"{name!r} is no name of a dataset: give one such as 'csd/push-v0'"
        ) from None
    try:
        folder = Path(get_dataset_path(name))
    except OSError as error:
        raise UserError(f"cannot write to Minari's folder: {error}") from None
    if folder.exists():
        following = re.sub(r"\d+$", str(version + 1), name)
        raise UserError(
            f"there is a dataset {name} already: choose another --name, such as {following}, "
            f"or remove it with `minari delete {name}`"
        )
    parent = next(path for path in folder.parents if path.exists())
    if not os.access(parent, os.W_OK):
        raise UserError(f"cannot write to {parent}: set MINARI_DATASETS_PATH to another folder")
    return folder
