"""The `csd` command: parse, call, print."""

import contextlib
import dataclasses
import io
import json
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import tyro

from csd.errors import UserError, nearest

T = TypeVar("T")
HELP = """usage: csd COMMAND ...

Unsupervised skill discovery: robots that teach themselves to move the world.

  csd train ENV       learn skills (ENV: see `csd list envs`, or any Gymnasium id)
  csd train --resume RUN
                      go on with a run that was stopped or killed
  csd control RUN TASK
                      learn to solve a task by choosing among the run's skills
  csd evaluate RUN    did it learn? figures beside random and untrained behaviour
  csd plot RUN        skill trajectories, learning curves, sigma by dimension
  csd list [WHAT]     envs, methods, presets, tasks

Start with `csd train Probe` (seconds) or `csd train FetchPush` (minutes).
Every command explains itself with --help.
"""


@dataclass(frozen=True)
class RunOptions:
    """Where and how to run; none of it changes a result."""

    run_dir: Path | None = None
    """Folder of the run; a free one under runs/ if not given."""
    workers: int = 0
    """Threads that step environments; 0 for one per core."""
    quiet: bool = False
    """No progress on standard error."""
    json: bool = False
    """Print one JSON object and nothing else on standard output."""


@dataclass(frozen=True)
class Resume:
    """Go on from the newest good checkpoint of a run."""

    resume: Path
    """Folder of the run to go on with."""
    run: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True)
class ControlOptions:
    """What to do with the task."""

    from_scratch: tyro.conf.FlagCreatePairsOff[bool] = False
    """SAC on the environment's own actions: `csd control --from-scratch TASK`."""
    zero_shot: tyro.conf.FlagCreatePairsOff[bool] = False
    """No training: aim the skills at the goal by phi(goal) - phi(state)."""


@dataclass(frozen=True)
class Evaluate:
    """Roll out random skills and say what they do, beside random and untrained behaviour.

    Of a controller: its success, beside random choices and skills aimed without training.
    """

    run: tyro.conf.Positional[Path]
    """Folder of the run."""
    skills: int = 200
    """Random skills to roll out (discrete skills: each four times), or a controller's episodes."""
    dims: str = ""
    """State dimensions to measure: a group, names or indices; default: the environment's target."""
    workers: int = 0
    """Threads that step environments; 0 for one per core."""
    json: bool = False
    """Print one JSON object and nothing else."""


@dataclass(frozen=True)
class Plot:
    """Draw skill trajectories, learning curves and sigma by dimension into RUN/plots.

    Of several runs of one environment: one picture of them side by side.
    """

    runs: tyro.conf.Positional[list[Path]]
    """Folder of the run, or of each run to compare."""
    output: Path = Path("comparison.png")
    """Where the picture of several runs goes."""
    skills: int = 200
    """Random skills to roll out if the run has not been evaluated."""
    dims: str = ""
    """State dimensions to draw: a group, names or indices."""


@dataclass(frozen=True)
class List:
    """List what there is."""

    what: tyro.conf.Positional[str] = "all"
    """envs, methods, presets, tasks or all."""
    json: bool = False
    """Print one JSON object and nothing else."""


def parse(cls: Callable[..., T], args: list[str], prog: str) -> T:
    """tyro's parser with mistakes reduced to one line."""
    captured = io.StringIO()
    config = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    try:
        with contextlib.redirect_stderr(captured):
            return tyro.cli(cls, args=args, prog=prog, config=config)
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
        raise UserError(one_line(captured.getvalue(), prog)) from None


def one_line(text: str, prog: str) -> str:
    """The message inside tyro's box, with its suggestion."""
    lines = [re.sub(r"^[│╭╰─\s]+|[│╮╯─\s]+$", "", line) for line in text.splitlines()]
    lines = [line for line in lines if line]
    message = next((line for line in lines[1:] if not line.startswith("For full")), "bad arguments")
    hint = ""
    if any(line.startswith("Perhaps you meant") for line in lines):
        index = next(i for i, line in enumerate(lines) if line.startswith("Perhaps you meant"))
        flag = re.search(r"--[\w-]+", " ".join(lines[index + 1 : index + 3]))
        hint = f"; did you mean {flag[0]}?" if flag else ""
    return f"{message.rstrip('.')}{hint} (see `{prog} --help`)"


def option(args: list[str], name: str, default: str) -> str:
    """The value of `--name` before the full parse."""
    for index, arg in enumerate(args):
        if arg == f"--{name}" and index + 1 < len(args):
            return args[index + 1]
        if arg.startswith(f"--{name}="):
            return arg.split("=", 1)[1]
    return default


def resuming(args: list[str]) -> bool:
    """Whether a run is to be gone on with."""
    return any(arg == "--resume" or arg.startswith("--resume=") for arg in args)


def train(args: list[str]) -> int:
    """Train or resume."""
    if resuming(args):
        resumed = parse(Resume, args, "csd train")
        from csd import api

        run = api.resume(resumed.resume, resumed.run.workers, resumed.run.quiet)
        return finish(run, resumed.run.json)
    wants_help = not args or args[0] in ("-h", "--help")
    if not wants_help and args[0].startswith("-"):
        raise UserError("name the environment first: `csd train ENV ...` (see `csd list envs`)")
    from csd.presets import preset

    env = "FetchPush" if wants_help else args[0]
    base = preset(env, option(args, "method", "csd"), option(args, "preset", "fast"))
    kinds = [
        ("config", type(base), field(default=base)),
        ("sac", type(base.sac), field(default=base.sac)),
        ("algorithm", type(base.algorithm), field(default=base.algorithm)),
        ("run", RunOptions, field(default=RunOptions())),
    ]
    form: Any = dataclasses.make_dataclass("Train", kinds, frozen=True)
    form.__doc__ = "Learn skills in an environment without any reward."
    parsed = parse(form, args or ["--help"], "csd train")
    config = dataclasses.replace(parsed.config, sac=parsed.sac, algorithm=parsed.algorithm)
    from csd import api

    run = api.start(config, parsed.run.run_dir, parsed.run.workers, parsed.run.quiet)
    return finish(run, parsed.run.json)


def control(args: list[str]) -> int:
    """Train a controller, go on with one, or aim skills without training."""
    if resuming(args):
        resumed = parse(Resume, args, "csd control")
        from csd.controller import run as controllers

        run = controllers.resume(resumed.resume, resumed.run.workers, resumed.run.quiet)
        return finish(run, resumed.run.json, "control")
    from csd.controller import report
    from csd.controller import run as controllers

    wants_help = not args or args[0] in ("-h", "--help")
    skills, task, rest = control_words(["--from-scratch", "ProbeGoal"] if wants_help else args)
    name = option(rest, "preset", "fast")
    base = controllers.defaults(skills or None, task, name)
    kinds = [
        ("config", type(base), field(default=base)),
        ("algorithm", type(base.algorithm), field(default=base.algorithm)),
        ("options", ControlOptions, field(default=ControlOptions())),
        ("run", RunOptions, field(default=RunOptions())),
    ]
    form: Any = dataclasses.make_dataclass("Control", kinds, frozen=True)
    form.__doc__ = "Learn to solve a task by choosing among the skills of a run."
    parsed = parse(form, ["--help"] if wants_help else [skills, task, *rest], "csd control")
    config = dataclasses.replace(parsed.config, algorithm=parsed.algorithm)
    if parsed.options.zero_shot:
        count = config.episodes if option(rest, "episodes", "") else config.eval_episodes
        result = report.zero_shot(config, count, parsed.run.workers)
        print(json.dumps(result) if parsed.run.json else report.table(result))
        return 0
    run = controllers.start(config, parsed.run.run_dir, parsed.run.workers, parsed.run.quiet)
    return finish(run, parsed.run.json, "control")


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
    if as_json:
        print(json.dumps({"run": str(run.dir), "finished": run.finished}))
    elif run.finished:
        print(f"finished: {run.dir}\nnext: csd evaluate {run.dir}; csd plot {run.dir}")
    else:
        print(f"stopped and saved: go on with `csd {command} --resume {run.dir}`")
    return 0 if run.finished else 128 + signal.SIGINT


def evaluate(args: list[str]) -> int:
    """Measure a run."""
    options = parse(Evaluate, args or ["--help"], "csd evaluate")
    from csd import rundir

    if rundir.is_control(options.run):
        from csd.controller import report

        result = report.report(options.run, options.skills, options.workers)
    else:
        from csd.evaluation import report

        result = report.evaluate(options.run, options.skills, options.dims, options.workers)
    if options.json:
        print(json.dumps(result))
    else:
        print(report.table(result) + "\n\n" + result["verdict"])
    return 0


def plot(args: list[str]) -> int:
    """Draw a run."""
    options = parse(Plot, args or ["--help"], "csd plot")
    from csd import api

    if not options.runs:
        raise UserError("name the run: `csd plot RUN`, or several to compare them")
    if len(options.runs) > 1:
        from csd.viz.compare import compare

        print(compare(options.runs, options.output, options.skills, options.dims))
        return 0
    for file in api.plot(options.runs[0], options.skills, options.dims):
        print(file)
    return 0


def listing(args: list[str]) -> int:
    """List environments, methods and presets."""
    options = parse(List, args, "csd list")
    from csd import catalogue

    sections = catalogue.sections()
    if options.what != "all" and options.what not in sections:
        raise UserError(
            f"nothing called {options.what!r} to list: {nearest(options.what, sections)}"
        )
    chosen = sections if options.what == "all" else {options.what: sections[options.what]}
    if options.json:
        print(json.dumps(chosen))
    else:
        print(catalogue.text(chosen))
    return 0


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "train": train,
    "control": control,
    "evaluate": evaluate,
    "plot": plot,
    "list": listing,
}


def main() -> None:
    """Entry point of the `csd` command."""
    args = sys.argv[1:]
    if not args or args[0] in ("-h", "--help", "help"):
        print(HELP, end="")
        sys.exit(0)
    try:
        if args[0] == "--version":
            from importlib.metadata import version

            print(version("csd"))
            sys.exit(0)
        if args[0] not in COMMANDS:
            raise UserError(f"unknown command {args[0]!r}: {nearest(args[0], COMMANDS)}")
        sys.exit(COMMANDS[args[0]](args[1:]))
    except UserError as error:
        print(f"csd: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
