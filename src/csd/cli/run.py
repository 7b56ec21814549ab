"""`csd train` and `csd control`: what starts a run or goes on with one."""

import dataclasses
import json
import shlex
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from csd.cli.parsing import option, parse
from csd.errors import UserError


@dataclass(frozen=True)
class RunOptions:
    """How to run; none of it changes a result."""

    workers: int = 0
    """Threads that step environments; 0 for one per core."""
    quiet: bool = False
    """No progress on standard error."""
    json: bool = False
    """Print one JSON object and nothing else on standard output."""


@dataclass(frozen=True)
class StartOptions(RunOptions):
    """Where and how to run; none of it changes a result."""

    run_dir: Path | None = None
    """Folder of the run; a free one under runs/ if not given."""
    wandb: str = ""
    """Weights & Biases project that gets the figures, too (`pip install 'csd[wandb]'`)."""


@dataclass(frozen=True)
class Resume:
    """Go on from the newest good checkpoint of a run."""

    resume: Path
    """Folder of the run to go on with."""
    run: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True)
class ResumeSkills(Resume):
    """Go on from the newest good checkpoint of a run, perhaps for longer than it was begun for."""

    episodes: int = 0
    """Make the run this long; 0 leaves its length."""


@dataclass(frozen=True)
class ControlOptions:
    """What to do with the task."""

    from_scratch: tyro.conf.FlagCreatePairsOff[bool] = False
    """SAC on the environment's own actions: `csd control --from-scratch TASK`."""
    zero_shot: tyro.conf.FlagCreatePairsOff[bool] = False
    """No training: aim the skills at the goal by phi(goal) - phi(state)."""


def resuming(args: list[str]) -> bool:
    """Whether a run is to be gone on with."""
    return any(arg == "--resume" or arg.startswith("--resume=") for arg in args)


def _alone(args: list[str], command: str, form: type[Resume]) -> None:
    """A run knows what it is of, and how it is to be trained."""
    own = {f.name for kind in (form, RunOptions) for f in dataclasses.fields(kind)}
    for index, arg in enumerate(args):
        name = arg.split("=")[0].removeprefix("--no-").removeprefix("--").replace("-", "_")
        foreign = arg.startswith("--") and name not in own and name != "help"
        if foreign or (index == 0 and not arg.startswith("-")):
            raise UserError(
                f"--resume takes all from the run: `csd {command} --resume RUN`, without {arg}"
            )


def train(args: list[str]) -> int:
    """Train or resume."""
    if resuming(args):
        _alone(args, "train", ResumeSkills)
        resumed = parse(ResumeSkills, args, "csd train")
        from csd import api

        how = resumed.run
        run = api.resume(resumed.resume, how.workers, how.quiet, resumed.episodes)
        return finish(run, resumed.run.json)
    wants_help = args[:1] in (["-h"], ["--help"])
    if not wants_help and (not args or args[0].startswith("-")):
        raise UserError("name the environment first: `csd train ENV ...` (see `csd list envs`)")
    from csd.presets import preset

    env = "FetchPush" if wants_help else args[0]
    base = preset(env, option(args, "method", "csd"), option(args, "preset", "fast"))
    if option(args, "distance", "") and not hasattr(base.algorithm, "distance"):
        raise UserError("--distance needs --method dsd, which takes any distance")
    kinds = [
        ("config", type(base), field(default=base)),
        ("sac", type(base.sac), field(default=base.sac)),
        ("algorithm", type(base.algorithm), field(default=base.algorithm)),
        ("run", StartOptions, field(default=StartOptions())),
    ]
    form: Any = dataclasses.make_dataclass("Train", kinds, frozen=True)
    form.__doc__ = (
        "Learn skills in an environment without any reward.\n\n"
        "A run that was stopped or killed goes on with `csd train --resume RUN`. Options depend on "
        "--method and --preset: name them before --help."
    )
    parsed = parse(form, args, "csd train")
    config = dataclasses.replace(parsed.config, sac=parsed.sac, algorithm=parsed.algorithm)
    from csd import api

    how = parsed.run
    run = api.start(config, how.run_dir, how.workers, how.quiet, how.wandb)
    return finish(run, how.json)


def control(args: list[str]) -> int:
    """Train a controller, go on with one, or aim skills without training."""
    if resuming(args):
        _alone(args, "control", Resume)
        resumed = parse(Resume, args, "csd control")
        from csd.controller import run as controllers

        run = controllers.resume(resumed.resume, resumed.run.workers, resumed.run.quiet)
        return finish(run, resumed.run.json, "control")
    from csd.controller import report
    from csd.controller import run as controllers

    wants_help = args[:1] in (["-h"], ["--help"])
    skills, task, rest = control_words(["--from-scratch", "ProbeGoal"] if wants_help else args)
    name = option(rest, "preset", "fast")
    base = controllers.defaults(skills or None, task, name)
    kinds = [
        ("config", type(base), field(default=base)),
        ("algorithm", type(base.algorithm), field(default=base.algorithm)),
        ("options", ControlOptions, field(default=ControlOptions())),
        ("run", StartOptions, field(default=StartOptions())),
    ]
    form: Any = dataclasses.make_dataclass("Control", kinds, frozen=True)
    form.__doc__ = "Learn to solve a task by choosing among the skills of a run."
    parsed = parse(form, ["--help"] if wants_help else [skills, task, *rest], "csd control")
    config = dataclasses.replace(parsed.config, algorithm=parsed.algorithm)
    how = parsed.run
    if parsed.options.zero_shot:
        count = config.episodes if option(rest, "episodes", "") else config.eval_episodes
        result = report.zero_shot(config, count, how.workers)
        print(json.dumps(result) if how.json else report.table(result))
        return 0
    run = controllers.start(config, how.run_dir, how.workers, how.quiet, how.wandb)
    return finish(run, how.json, "control")


def control_words(args: list[str]) -> tuple[str, str, list[str]]:
    """Run, task and the remaining arguments; the run is empty from scratch."""
    scratch = "--from-scratch" in args
    words = [arg for arg in args if arg != "--from-scratch"]
    count = next((i for i, arg in enumerate(words) if arg.startswith("-")), len(words))
    if count != (1 if scratch else 2):
        raise UserError(
            "name the task first: `csd control --from-scratch TASK ...` (see `csd list tasks`)"
            if scratch
            else "name run and task first: `csd control RUN TASK ...` (see `csd list tasks`)"
        )
    if scratch and "--zero-shot" in words:
        raise UserError("--zero-shot needs skills: `csd control RUN TASK --zero-shot`")
    return "" if scratch else words[0], words[count - 1], words[count:]


def finish(run: Any, as_json: bool, command: str = "train") -> int:
    """Say what was done and what to do next."""
    from csd import checkpoint, rundir

    if as_json:
        print(json.dumps({"run": str(run.dir), "finished": run.finished}))
    elif run.finished:
        folder = shlex.quote(str(run.dir))
        print(f"finished: {run.dir}\nnext: csd evaluate {folder}; csd plot {folder}")
    else:
        saved = checkpoint.episodes(run.dir / rundir.CHECKPOINTS)
        done = "stopped and saved" if saved else "stopped before anything was learned"
        print(f"{done}: go on with `{shlex.join(['csd', command, '--resume', str(run.dir)])}`")
    return 0 if run.finished else 128 + signal.SIGINT
