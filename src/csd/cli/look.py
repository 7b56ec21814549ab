"""`csd evaluate`, `plot`, `video`, `explore`, `export`, `publish`, `list`: what looks at a run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from csd.cli.parsing import parse
from csd.errors import UserError, nearest

RunFolder = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]


@dataclass(frozen=True)
class Evaluate:
    """Roll out random skills and say what they do, beside random and untrained behaviour.

    Of a controller: its success, beside random choices and skills aimed without training.
    """

    run: RunFolder
    """Folder of the run, or the name of pretrained skills (also hub:USER/NAME)."""
    skills: int = 200
    """Random skills to roll out (discrete skills: each four times), or a controller's episodes."""
    dims: str = ""
    """State dimensions to measure: a group, names or indices; default: the environment's target."""
    noise: float = 0.0
    """Gaussian noise on every action of the skills: what is left of them with a shaky hand."""
    workers: int = 0
    """Threads that step environments; 0 for one per core."""
    quiet: bool = False
    """No progress on standard error."""
    json: bool = False
    """Print one JSON object and nothing else on standard output."""


@dataclass(frozen=True)
class Plot:
    """Draw skill trajectories, learning curves and sigma by dimension into RUN/plots.

    Of several runs of one environment: one picture of them side by side.
    """

    runs: Annotated[tyro.conf.Positional[list[Path]], tyro.conf.arg(metavar="[RUN ...]")]
    """Folder of the run or name of pretrained skills; several to compare them."""
    output: Path | None = None
    """Where the picture of several runs goes; default: comparison.png."""
    skills: int = 200
    """Random skills to roll out if the run has not been evaluated since its last checkpoint."""
    dims: str = ""
    """State dimensions to draw: a group, names or indices."""


@dataclass(frozen=True)
class Video:
    """Film a grid of skills, each in a frame of its colour, into RUN/videos/skills.mp4.

    Two-dimensional skills: the eight directions, laid out like a compass. Discrete skills: all.
    Of a controller: episodes of its task with the goal, in a green frame once they succeed.
    """

    run: RunFolder
    """Folder of the run, or the name of pretrained skills (also hub:USER/NAME)."""
    skills: int = 9
    """Random skills to film where there are neither directions nor discrete ones, or episodes."""
    size: int = 240
    """Pixels of the edge of one picture."""
    output: Path | None = None
    """Another place for the file."""
    quiet: bool = False
    """No progress on standard error."""


@dataclass(frozen=True)
class Explore:
    """Serve a web page on which to pick a skill and watch it, until Ctrl-C.

    Skills can be changed in mid-episode; the paths they leave stay in view. Of a run that is
    still training, newer checkpoints are picked up as they come.
    """

    run: RunFolder
    """Folder of the run, or the name of pretrained skills (also hub:USER/NAME)."""
    port: int = 8080
    """Port of the page; 0 for any that is free."""
    host: str = "127.0.0.1"
    """Address to listen on: by default only this machine can see the page; 0.0.0.0 for all."""


@dataclass(frozen=True)
class Export:
    """Roll out skills into a Minari dataset: episodes without a reward, each with its skill.

    It goes where Minari keeps its own (MINARI_DATASETS_PATH), for `minari.load_dataset(ID)`.
    """

    run: RunFolder
    """Folder of the run, or the name of pretrained skills (also hub:USER/NAME)."""
    name: str = ""
    """Id of the dataset, such as csd/push-v0; default: after environment, method and seed."""
    episodes: int = 200
    """Episodes: one of each random skill, or of discrete skills in turn."""
    noise: float = 0.0
    """Gaussian noise on every action, for data that is not only what skills do at their best."""
    workers: int = 0
    """Threads that step environments; 0 for one per core."""
    quiet: bool = False
    """No progress on standard error."""


@dataclass(frozen=True)
class Publish:
    """Put a run's skills on the Hugging Face Hub, with their figures and pictures.

    From then on hub:USER/NAME goes wherever a run does. Log in with `hf auth login` first.
    """

    run: RunFolder
    """Folder of the run."""
    repo: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="USER/NAME")]
    """Where they go."""
    private: bool = False
    """Only those whom you let in can see them, if the place is new."""


@dataclass(frozen=True)
class List:
    """List what there is."""

    what: tyro.conf.Positional[str] = "all"
    """envs, methods, tasks, figures, skills (pretrained ones), presets or all."""
    json: bool = False
    """Print one JSON object and nothing else."""


def evaluate(args: list[str]) -> int:
    """Measure a run."""
    options = parse(Evaluate, args, "csd evaluate")
    from csd import api

    how = {key: value for key, value in vars(options).items() if key not in ("run", "json")}
    result = api.evaluate(options.run, **how)
    print(json.dumps(result) if options.json else api.describe(result))
    return 0


def plot(args: list[str]) -> int:
    """Draw a run."""
    options = parse(Plot, args, "csd plot")
    from csd import api

    if not options.runs:
        raise UserError("name the run: `csd plot RUN`, or several to compare them")
    if len(options.runs) > 1:
        output = options.output or Path("comparison.png")
        print(api.compare(options.runs, output, options.skills, options.dims))
        return 0
    if options.output is not None:
        raise UserError("--output is for several runs: one run's pictures go to RUN/plots")
    for file in api.plot(options.runs[0], options.skills, options.dims):
        print(file)
    return 0


def video(args: list[str]) -> int:
    """Film a run."""
    options = parse(Video, args, "csd video")
    from csd import api

    how = {key: value for key, value in vars(options).items() if key != "run"}
    print(api.video(options.run, **how))
    return 0


def explore(args: list[str]) -> int:
    """Show a run."""
    options = parse(Explore, args, "csd explore")
    from csd import api

    api.explore(options.run, options.port, options.host)
    return 0


def export(args: list[str]) -> int:
    """Turn a run's skills into data."""
    options = parse(Export, args, "csd export")
    from csd import api

    how = {key: value for key, value in vars(options).items() if key != "run"}
    print(api.export(options.run, **how))
    return 0


def publish(args: list[str]) -> int:
    """Share a run's skills."""
    options = parse(Publish, args, "csd publish")
    from csd import api

    print(api.publish(options.run, options.repo, options.private))
    return 0


def listing(args: list[str]) -> int:
    """List environments, methods, figures and presets."""
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
