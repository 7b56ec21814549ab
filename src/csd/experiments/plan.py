"""A figure, a preset and a scale -> the trainings it takes, each a complete configuration."""

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from csd import rundir
from csd.config import ALGORITHMS, Config, replace
from csd.controller.config import ControlConfig
from csd.controller.presets import preset as control_preset
from csd.errors import UserError, nearest, require
from csd.experiments.figures import FIGURES, SKILLS, Figure, Variant, World
from csd.presets import preset

RUNS = "runs"
"""Where the trainings of all figures of a folder live: figures share them."""

C = TypeVar("C", Config, ControlConfig)


@dataclass(frozen=True)
class Order:
    """What is asked for: which part of which figure, how long, how often, where."""

    figure: str
    scale: float = 1.0
    seeds: int = 3
    preset: str = "fast"
    methods: tuple[str, ...] = ()
    envs: tuple[str, ...] = ()
    folder: Path = Path("runs/reproduce")

    def __post_init__(self) -> None:
        if self.figure not in FIGURES:
            raise UserError(f"unknown figure {self.figure!r}: {nearest(self.figure, FIGURES)}")
        require(0.0 < self.scale < math.inf, f"--scale must be a positive number, not {self.scale}")
        require(self.seeds >= 1, f"--seeds must be at least 1, not {self.seeds}")


class Job(NamedTuple):
    """One training: of skills, or of a controller."""

    run: Path
    config: Config | ControlConfig
    variant: Variant
    world: World
    command: str
    """What would train the same by hand."""


class Cell(NamedTuple):
    """A variant in a world under one seed: the run to measure, and that of its skills."""

    job: Job
    skills: Job | None


def part(order: Order) -> Figure:
    """The figure, reduced to (or extended by) the methods and environments asked for."""
    figure = FIGURES[order.figure]
    own = {variant.name: variant for variant in figure.variants}
    known = own | {name: Variant(name, name) for name in ALGORITHMS if name not in own}
    for name in order.methods:
        if name not in known:
            raise UserError(f"unknown method {name!r}: {nearest(name, known)}")
    for name in order.envs:
        words = {word for world in figure.worlds for word in (world.env, world.name)}
        if name not in words:
            hint = nearest(name, sorted(words))
            raise UserError(f"no environment {name!r} in {order.figure}: {hint}")
    worlds = [w for w in figure.worlds if not order.envs or {w.env, w.name} & set(order.envs)]
    names = dict.fromkeys(order.methods or own)
    variants = tuple(known[name] for name in names)
    return dataclasses.replace(figure, worlds=tuple(worlds), variants=variants)


def cells(order: Order, figure: Figure) -> list[Cell]:
    """Every variant in every world, seed by seed: what is finished first covers the figure."""
    return [
        _cell(order, world, variant, seed)
        for seed in range(order.seeds)
        for world in figure.worlds
        for variant in figure.variants
    ]


def stages(cells: Sequence[Cell]) -> list[list[Job]]:
    """The trainings of skills, each once, and then those of controllers."""
    jobs = [job for cell in cells for job in (cell.skills, cell.job) if job is not None]
    once = {job.run: job for job in jobs}.values()
    skills = [job for job in once if isinstance(job.config, Config)]
    return [skills, [job for job in once if isinstance(job.config, ControlConfig)]]


def _cell(order: Order, world: World, variant: Variant, seed: int) -> Cell:
    if not variant.method and not world.task:
        raise UserError(f"{variant.name!r} has no skills: it is for figures with tasks")
    scale = order.scale * variant.times
    kind = f"-{world.skills}" if world.skills else ""
    length = "" if scale == 1.0 else f"-x{scale:g}"
    tail = f"{kind}-{variant.name}-{order.preset}{length}-seed{seed}"
    runs = order.folder.resolve() / RUNS
    config = skills = None
    if variant.method:
        base = preset(world.env, variant.method, order.preset, seed)
        config = scaled(replace(base, **SKILLS[world.skills] | variant.changes), scale)
        run, start = runs / f"{world.env}{tail}", f"csd train {world.env} --method {variant.method}"
        command = _command(start, base, config, run)
        skills = Job(run, config, variant, world._replace(task=""), command)
    if not world.task and skills:
        return Cell(skills, None)
    source = str(skills.run) if skills else ""
    base = control_preset(world.task, config, source, order.preset, seed)
    own = scaled(base, scale)
    run, start = runs / f"{world.task}{tail}", f"csd control {source or '--from-scratch'}"
    command = _command(f"{start} {world.task}", base, own, run)
    return Cell(Job(run, own, variant, world, command), skills)


def scaled(config: C, scale: float) -> C:
    """A run of `scale` times the episodes, in whole epochs.

    Warm-up and the time between evaluations and between rows of metrics change alike; that between
    checkpoints, the steps before learning and the size of the replay are only ever reduced.
    """
    if scale == 1.0:
        return config

    def times(name: str) -> int:
        return (
            math.ceil(round(getattr(config, name) * scale / config.num_envs, 9)) * config.num_envs
        )

    changes = {n: times(n) for n in ("episodes", "warmup_episodes", "eval_every", "log_every")}
    changes["episodes"] = max(changes["episodes"], changes["warmup_episodes"] + config.num_envs)
    changes["checkpoint_every"] = min(times("checkpoint_every"), config.checkpoint_every)
    if isinstance(config, Config):
        changes["start_steps"] = min(int(config.start_steps * scale), config.start_steps)
        changes["replay_episodes"] = min(config.replay_episodes, changes["episodes"])
    return dataclasses.replace(config, **changes)


def check(job: Job) -> None:
    """A run that is there must be the one that is wanted."""
    if not (job.run / rundir.CONFIG).exists():
        return
    stored, wanted = rundir.read_values(job.run), json.loads(json.dumps(_flat(job.config)))
    stored = {name: value for name, value in _merge(stored).items() if name != "skills"}
    wanted.pop("skills", None)  # a controller keeps a copy of its skills: they may have moved
    for name in [*wanted, *stored]:
        if name not in stored or name not in wanted or stored[name] != wanted[name]:
            raise UserError(
                f"{job.run} was trained with another configuration ({name} is "
                f"{stored.get(name)}, not {wanted.get(name)}): choose another --run-dir"
            )


def _flat(config: Any) -> dict[str, Any]:
    return _merge(dataclasses.asdict(config))


def _merge(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a configuration, with those of its parts among them."""
    flat = {name: value for name, value in values.items() if not isinstance(value, dict)}
    for value in values.values():
        if isinstance(value, dict):
            flat |= value
    return flat


def _command(start: str, base: C, config: C, run: Path) -> str:
    """A command line that says what differs from the preset."""
    before, words = _flat(base), [start, f"--preset {config.preset} --seed {config.seed}"]
    for name, value in _flat(config).items():
        if value != before[name]:
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                parts = value if isinstance(value, tuple) else (value,)
                words.append(" ".join([f"--{flag}", *map(str, parts)]))
    return " ".join([*words, f"--run-dir {run}"])
