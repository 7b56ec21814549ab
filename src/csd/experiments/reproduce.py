"""`csd reproduce`: train what a figure needs, measure it, write numbers, table and picture."""

import fcntl
import json
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from csd import tables
from csd.errors import UserError
from csd.experiments import results as reading
from csd.experiments.figures import Figure
from csd.experiments.job import Outcome
from csd.experiments.plan import Cell, Job, Order, cells, check, part, stages
from csd.experiments.run import Run, here, in_processes, on_ray
from csd.files import write_atomically

RESULTS, TABLE = "results.json", "table.md"


class Reproduction(NamedTuple):
    """A figure on disk, as far as it is finished."""

    dir: Path
    results: dict[str, Any]
    stopped: bool

    @property
    def failed(self) -> dict[str, str]:
        """Run -> what went wrong with it."""
        return self.results["failed"]


def reproduce(
    figure: str,
    *,
    scale: float = 1.0,
    seeds: int = 3,
    preset: str = "fast",
    methods: Sequence[str] = (),
    envs: Sequence[str] = (),
    run_dir: str | Path = "runs/reproduce",
    jobs: int = 1,
    ray: str = "",
    cpus: int = 1,
    train: bool = True,
    quiet: bool = False,
) -> Reproduction:
    """Train and measure what is not finished yet, then draw what is."""
    methods, envs = ((part,) if isinstance(part, str) else tuple(part) for part in (methods, envs))
    order = Order(figure, scale, seeds, preset, methods, envs, Path(run_dir))
    for name, count in (("--jobs", jobs), ("--cpus", cpus)):
        if count < 1:
            raise UserError(f"{name} must be at least 1, not {count}")
    chosen = part(order)
    wanted = cells(order, chosen)
    for job in [job for stage in stages(wanted) for job in stage]:
        check(job)
    failed: dict[str, str] = {}
    stopped = False
    if train:
        run = on_ray(ray, cpus) if ray else in_processes(jobs) if jobs > 1 else here(quiet)
        with _alone(order.folder):
            stopped = _work(stages(wanted), run, failed, quiet)
    return _write(order, chosen, wanted, failed, stopped)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Figures share runs: one command at a time works in a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / ".lock", "w")
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"another `csd reproduce` is at work in {folder}: "
                "wait for it or choose another --run-dir"
            ) from None
        yield


def _work(stages: list[list[Job]], run: Run, failed: dict[str, str], quiet: bool) -> bool:
    """Train in stages; skills that failed take their controllers with them. True if stopped."""
    total, done = sum(len(stage) for stage in stages), 0
    before = signal.signal(signal.SIGTERM, signal.default_int_handler) if _in_main() else None
    try:
        for stage in stages:
            ready = []
            for job in stage:
                skills = Path(getattr(job.config, "skills", "")).name
                if skills in failed:
                    failed[job.run.name] = f"its skills failed: {skills}"
                else:
                    ready.append(job)
            for outcome in run(ready):
                if outcome.state == "stopped":
                    return True
                done += 1
                if outcome.state == "failed":
                    failed[outcome.run.name] = outcome.error
                if not quiet:
                    _tell(outcome, done, total)
    except KeyboardInterrupt:
        return True
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    return False


def _in_main() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()


def _tell(outcome: Outcome, done: int, total: int) -> None:
    error = f": {outcome.error}" if outcome.error else ""
    print(
        f"[{done}/{total}] {outcome.state} {outcome.run.name}{error}", file=sys.stderr, flush=True
    )


def _write(
    order: Order, figure: Figure, wanted: list[Cell], failed: dict[str, str], stopped: bool
) -> Reproduction:
    found = reading.read(wanted)
    missing = sorted({c.job.run.name for c in wanted} - {m.cell.job.run.name for m in found})
    results: dict[str, Any] = {
        "figure": order.figure,
        "paper": figure.paper,
        "about": figure.about,
        "command": command(order),
        "preset": order.preset,
        "scale": order.scale,
        "seeds": order.seeds,
        "complete": not missing,
        "missing": missing,
        "failed": failed,
        "table": reading.table(figure, found),
        "improvement": reading.improvements(figure, found),
        "curves": reading.curves(figure, found),
        "runs": [measured.result for measured in found],
    }
    folder = order.folder / order.figure
    if found:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / RESULTS, json.dumps(results, indent=1).encode())
        write_atomically(folder / TABLE, (describe(results, tables.markdown) + "\n").encode())
        from csd.viz.figures import draw, plt

        picture = draw(figure, results, found, headline(results))
        picture.savefig(folder / f"{order.figure}.png", dpi=150)
        plt.close(picture)
    return Reproduction(folder, results, stopped)


def command(order: Order) -> str:
    """The command that makes, and goes on with, the same figure."""
    words = f"csd reproduce {order.figure} --preset {order.preset} --scale {order.scale:g}"
    words += f" --seeds {order.seeds}"
    for name in ("methods", "envs"):
        if getattr(order, name):
            words += f" --{name} {' '.join(getattr(order, name))}"
    return f"{words} --run-dir {shlex.quote(str(order.folder))}"


def headline(results: dict[str, Any]) -> str:
    """What a table or a picture is of, and how much of it there is."""
    paper = f"figure {results['paper']} of the paper" if results["paper"] else "not in the paper"
    parts = [
        f"{results['figure']} ({paper}): {results['about']}",
        f"preset {results['preset']}, scale {results['scale']:g}, seeds {results['seeds']}",
    ]
    if not results["complete"]:
        total = len(results["runs"]) + len(results["missing"])
        parts.append(f"PARTIAL: {len(results['runs'])} of {total} runs are finished")
    return "\n".join(parts)


def describe(results: dict[str, Any], layout: Any = tables.aligned) -> str:
    """The numbers as text: centres with 95 % intervals, and who beats whom."""
    blocks = [headline(results)]
    rows = [
        {
            "where": row["world"],
            "measure": row["measure"],
            "method": row["variant"],
            "statistic": row["statistic"],
            "value": f"{row['value']:.4g}",
            "95 % interval": _interval(row, ".4g"),
            "runs": row["runs"],
        }
        for row in results["table"]
    ]
    beats = [
        {
            "probability that": f"{row['variant']} beats {row['over']}",
            "is": f"{row['probability']:.2f}",
            "95 % interval": _interval(row, ".2f"),
        }
        for row in results["improvement"]
    ]
    blocks += [layout(part) for part in (rows, beats) if part]
    return "\n\n".join(blocks)


def _interval(row: dict[str, Any], style: str) -> str | None:
    return None if row["low"] is None else f"{row['low']:{style}} to {row['high']:{style}}"
