"""`csd reproduce`: a figure of the paper from nothing."""

import json
import shlex
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from csd.cli.parsing import parse
from csd.errors import UserError


@dataclass(frozen=True)
class Reproduce:
    """Train, measure and draw a figure of the paper; the same command again goes on with it.

    Runs that are finished are not repeated. Numbers, table and picture go to DIR/FIGURE.
    """

    figure: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FIGURE")]
    """Figure: a name of `csd list figures`."""
    scale: float = 1.0
    """Times the preset's episodes. Warm-up and evaluations move alike; the rest only shrinks."""
    seeds: int = 3
    """Runs of each kind: seeds 0 to N-1 (the paper: 8)."""
    preset: str = "fast"
    """fast (minutes a run on a laptop) or paper (the published runs)."""
    methods: tuple[str, ...] = ()
    """Only these of the figure's methods, or others that are not in it; default: the figure's."""
    envs: tuple[str, ...] = ()
    """Only these of its environments or tasks."""
    run_dir: Path = Path("runs/reproduce")
    """Folder of all figures and of the runs that they share."""
    jobs: int = 1
    """Runs at a time on this machine, each in a process of its own."""
    ray: str = ""
    """Run on Ray: local starts it on this machine, auto or an address joins a cluster."""
    cpus: int = 1
    """Cores of each run on Ray."""
    train: bool = True
    """--no-train: only draw what is finished."""
    quiet: bool = False
    """No progress on standard error."""
    json: bool = False
    """Print one JSON object and nothing else on standard output."""


def reproduce(args: list[str]) -> int:
    """Make a figure, or go on with it."""
    if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help")):
        raise UserError(
            "name the figure first: `csd reproduce FIGURE ...` (see `csd list figures`)"
        )
    options = parse(Reproduce, args, "csd reproduce")
    from csd.experiments import reproduce as experiments

    how = {key: value for key, value in vars(options).items() if key != "json"}
    made = experiments.reproduce(**how)
    if options.json:
        print(json.dumps({"dir": str(made.dir), "stopped": made.stopped, **made.results}))
    elif made.results["runs"]:
        print(f"{experiments.describe(made.results)}\n\nwritten: {made.dir}")
    elif not options.train:
        raise UserError(f"nothing of it is finished in {options.run_dir}: leave out --no-train")
    for run, error in made.failed.items():
        print(f"failed: {run}: {error}", file=sys.stderr)
    if made.stopped or made.failed:
        what = "stopped and saved" if made.stopped else f"{len(made.failed)} failed"
        print(f"{what}: go on with `{shlex.join(['csd', 'reproduce', *args])}`", file=sys.stderr)
    return 128 + signal.SIGINT if made.stopped else 1 if made.failed else 0
