"""Controllers on disk: start, resume, and load with the skills they keep beside them."""

from pathlib import Path
from typing import Any, NamedTuple

import jax

from csd import checkpoint, cores, pretrained, rundir, tracking
from csd.controller.agents import ActingPolicy, Agent
from csd.controller.config import ControlConfig, from_dict, replace
from csd.controller.presets import preset as preset_config
from csd.controller.rollout import View
from csd.controller.training import (
    ControlTrainer,
    Streams,
    check_skills,
    make_agent,
    open_view,
    restore_state,
)
from csd.errors import UserError, require
from csd.skills import Skills, keep, load


class ControlRun(NamedTuple):
    """A controller on disk."""

    dir: Path
    config: ControlConfig
    finished: bool


class Controller(NamedTuple):
    """A trained controller, ready to act."""

    config: ControlConfig
    skills: Skills | None
    view: View
    agent: Agent
    policy: ActingPolicy
    episode: int


def control(
    run: str | Path | None,
    task: str,
    *,
    preset: str = "fast",
    seed: int = 0,
    run_dir: str | Path | None = None,
    workers: int = 0,
    quiet: bool = False,
    wandb: str = "",
    **options: Any,
) -> ControlRun:
    """Train a controller on the skills of `run`, or on raw actions if it is None."""
    config = replace(defaults(run, task, preset), seed=seed, **options)
    return start(config, run_dir, workers, quiet, wandb)


def defaults(run: str | Path | None, task: str, preset: str, seed: int = 0) -> ControlConfig:
    """The preset's configuration for a run's skills, or for pretrained ones."""
    skills = None if run is None else rundir.read_config(pretrained.find(run))
    return preset_config(task, skills, "" if run is None else str(run), preset, seed)


def start(
    config: ControlConfig,
    run_dir: str | Path | None = None,
    workers: int = 0,
    quiet: bool = False,
    wandb: str = "",
) -> ControlRun:
    """Train a complete configuration in a new run directory, which gets a copy of the skills."""
    require(
        config.warmup_episodes < config.episodes,
        f"episodes ({config.episodes}) must exceed warmup_episodes ({config.warmup_episodes}), "
        "in which choices are random",
    )
    skills = load(config.skills) if config.skills else None
    check_skills(config, skills)
    tracking.ready(wandb)
    method = "scratch" if skills is None else skills.config.method
    name = f"{config.task}-{method}-seed{config.seed}"
    path = Path(run_dir) if run_dir is not None else rundir.free(name)
    trainer = ControlTrainer(config, path, skills, workers, quiet)
    rundir.create(path, config, "control")
    tracking.begin(path, wandb)
    if skills is not None:
        keep(skills, path / rundir.SKILLS)
    return ControlRun(path, config, trainer.train())


def resume(run_dir: str | Path, workers: int = 0, quiet: bool = False) -> ControlRun:
    """Go on from the newest good checkpoint; a finished run is left as it is."""
    path = Path(run_dir)
    cores.as_before(checkpoint.newest_meta(path / rundir.CHECKPOINTS))
    _complete_skills(path)
    config, skills = _read(path)
    if checkpoint.reaches(path / rundir.CHECKPOINTS, config.episodes):
        return ControlRun(path, config, True)
    return ControlRun(path, config, ControlTrainer(config, path, skills, workers, quiet).train())


def _complete_skills(path: Path) -> None:
    """Copy the skills again where a run was killed while it did."""
    config, copy = _config(path), path / rundir.SKILLS
    if config.skills and not checkpoint.episodes(copy / rundir.CHECKPOINTS):
        (copy / rundir.CONFIG).unlink(missing_ok=True)
        keep(load(config.skills), copy)


def _config(path: Path) -> ControlConfig:
    if not rundir.is_control(path):
        raise UserError(f"{path} holds skills, not a controller: `csd train --resume {path}`")
    try:
        return from_dict(rundir.read_values(path))
    except TypeError as error:  # a field that is missing or of another type
        raise UserError(f"{path / rundir.CONFIG} cannot be used: {error}") from None


def _read(path: Path) -> tuple[ControlConfig, Skills | None]:
    config = _config(path)
    return config, load(path / rundir.SKILLS) if config.skills else None


def load_controller(
    run_dir: str | Path, num_envs: int, workers: int = 0, seen: bool = False
) -> Controller:
    """The controller of a run directory, from its newest good checkpoint, with worlds to act in."""
    path = Path(run_dir)
    config, skills = _read(path)
    found = checkpoint.load_newest(path / rundir.CHECKPOINTS)
    if found is None:
        raise UserError(f"{path} has no checkpoint yet: `csd control --resume {path}` makes one")
    arrays, meta = found
    view = open_view(config, skills, num_envs, workers, seen)
    agent = make_agent(config, view)
    template = jax.eval_shape(lambda: agent.init(Streams.of(config.seed).init))
    policy = agent.snapshot(restore_state(template, arrays))
    return Controller(config, skills, view, agent, policy, meta["episode"])
