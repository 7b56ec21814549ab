"""One training to its end, from wherever it was, and its evaluation."""

import dataclasses
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Literal, NamedTuple

from csd import api, checkpoint, config, cores, rundir
from csd.controller import config as control_config
from csd.controller import run as controllers
from csd.controller.config import ControlConfig
from csd.errors import UserError
from csd.experiments.figures import Variant, World
from csd.experiments.plan import Job, check
from csd.files import write_atomically

RESULT, ERROR = "result.json", "error.txt"
ROLLOUTS = {"Kitchen": 50}
"""Random skills that are rolled out, as in the paper; elsewhere 200."""


class Outcome(NamedTuple):
    """How the work on a training ended; one that was stopped can be gone on with."""

    run: Path
    state: Literal["finished", "stopped", "failed"]
    error: str = ""


def perform(job: Job, workers: int = 0, quiet: bool = False) -> Outcome:
    """Train, or go on with it, and evaluate; a mistake in it is told, not raised."""
    try:
        if read_result(job) is not None:
            return Outcome(job.run, "finished")
        if not _train(job, workers, quiet):
            return Outcome(job.run, "stopped")
        content = json.dumps(_measure(job, workers), indent=1)
        write_atomically(job.run / RESULT, content.encode())
        return Outcome(job.run, "finished")
    except UserError as error:
        return Outcome(job.run, "failed", str(error))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        if job.run.is_dir():
            (job.run / ERROR).write_text(traceback.format_exc())
            reason += f" (see {job.run / ERROR})"
        return Outcome(job.run, "failed", reason)


def read_result(job: Job) -> dict[str, Any] | None:
    """What was measured of a training that is finished."""
    try:
        return json.loads((job.run / RESULT).read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"{job.run / RESULT} cannot be read: {error}") from None


def _train(job: Job, workers: int, quiet: bool) -> bool:
    check(job)
    there = (job.run / rundir.CONFIG).exists()
    if isinstance(job.config, ControlConfig):
        if not there:
            return controllers.start(job.config, job.run, workers, quiet).finished
        return controllers.resume(job.run, workers, quiet).finished
    if not there:
        return api.start(job.config, job.run, workers, quiet).finished
    return api.resume(job.run, workers, quiet).finished


def _measure(job: Job, workers: int) -> dict[str, Any]:
    folder = job.run / rundir.CHECKPOINTS
    episode = checkpoint.episodes(folder)[-1]
    meta = json.loads((folder / f"{episode:09d}.json").read_text())
    count = ROLLOUTS.get(job.world.name, 200)
    evaluation = api.evaluate(job.run, count, workers=workers, quiet=True)
    return {
        "run": job.run.name,
        "command": job.command,
        "world": job.world.name,
        "variant": job.variant.name,
        "seed": job.config.seed,
        "preset": job.config.preset,
        **{name: meta[name] for name in ("episode", "env_steps", "updates", "seconds", "versions")},
        "evaluation": evaluation,
    }


def encode(job: Job) -> bytes:
    """A job as JSON, for another process; what the figure measures of it stays here."""
    world = job.world._replace(measures=())._asdict()
    values = {"config": dataclasses.asdict(job.config), "variant": job.variant._asdict()}
    return json.dumps(
        values | {"run": str(job.run), "world": world, "command": job.command}
    ).encode()


def decode(text: bytes) -> Job:
    """The inverse of `encode`."""
    values = json.loads(text)
    kind = control_config if "task" in values["config"] else config
    return Job(
        Path(values["run"]),
        kind.from_dict(values["config"]),
        Variant(**values["variant"]),
        World(**values["world"] | {"measures": ()}),
        values["command"],
    )


def main() -> None:
    """`python -m csd.experiments.job THREADS`: a job on standard input, its outcome on output."""
    threads = sys.argv[1]
    os.environ.setdefault(cores.LEARNER, threads)
    outcome = perform(decode(sys.stdin.buffer.read()), int(threads), quiet=True)
    print(json.dumps([outcome.state, outcome.error]))


if __name__ == "__main__":
    main()
