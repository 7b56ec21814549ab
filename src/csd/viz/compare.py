"""`csd plot RUN RUN ...`: several runs of one environment side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

from csd import envs, pretrained, rundir
from csd.config import Config
from csd.errors import UserError
from csd.evaluation.report import newest_trajectories
from csd.evaluation.skills import find_target
from csd.metrics import series
from csd.viz.drawing import rows_of_x, skill_colors, trajectories

COLUMNS = 5
CURVES = (("evaluation.coverage", "bins covered"), ("evaluation.moved", "skills that move it"))


class Compared(NamedTuple):
    """One of the runs."""

    path: Path
    label: str
    config: Config
    data: dict[str, np.ndarray]


def compare(runs: Sequence[str | Path], output: Path, skills: int = 200, dims: str = "") -> Path:
    """Trajectories of each run and the learning curves of all, in one picture."""
    names = sorted({rundir.read_config(pretrained.find(run)).env for run in runs})
    if len(names) > 1:
        raise UserError(f"runs of different environments ({', '.join(names)}): give runs of one")
    output = output if output.suffix else output.with_suffix(".png")
    if output.suffix[1:].lower() not in FigureCanvasBase.filetypes:
        raise UserError(f"cannot draw {output}: give a file that ends in .png, .pdf or .svg")
    own = [pretrained.writable(run) for run in runs]
    figure = draw(_distinct([_read(run, skills, dims) for run in own]), dims)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=150)
    plt.close(figure)
    return output


def _read(path: Path, skills: int, dims: str) -> Compared:
    config = rundir.read_config(path)
    data = newest_trajectories(path, skills, dims)
    if data is None:
        raise UserError(f"{path} has no checkpoint yet: `csd train --resume {path}` makes one")
    label = config.method + (f", focus {config.focus}" if config.focus else "")
    return Compared(path, label, config, data)


def _distinct(runs: list[Compared]) -> list[Compared]:
    """Runs that would be called the same get their seed as well."""
    labels = [run.label for run in runs]
    return [
        run._replace(label=f"{run.label}, seed {run.config.seed}")
        if labels.count(run.label) > 1
        else run
        for run in runs
    ]


def draw(runs: list[Compared], dims: str) -> Figure:
    """A panel for each run on common axes, then a panel for each curve."""
    spec = envs.spec(runs[0].config.env, runs[0].config.horizon)
    target = find_target(spec, dims, runs[0].data["obs"])
    shown = list((target.dims * 2)[:2])
    names = [spec.names[dim] for dim in shown]
    rows = spec.one_way and target.name == spec.target
    paths = [run.data["obs"][..., shown] for run in runs]
    low = np.min([path.min(axis=(0, 1)) for path in paths], axis=0)
    high = np.max([path.max(axis=(0, 1)) for path in paths], axis=0)
    count = len(runs) + len(CURVES)
    lines = -(-count // COLUMNS)
    width = min(count, COLUMNS)
    figure, axes = plt.subplots(lines, width, figsize=(3.2 * width, 3.3 * lines), squeeze=False)
    panels = list(axes.ravel())
    for ax, run, path in zip(panels, runs, paths, strict=False):
        colors = skill_colors(run.data["skill"], run.config)
        ax.set_title(run.label)
        if rows:
            rows_of_x(ax, path[..., 0], colors)
            ax.set_xlim(low[0], high[0])
            continue
        trajectories(ax, path, colors, (names[0], names[1]))
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for ax, (key, label) in zip(panels[len(runs) :], CURVES, strict=False):
        _curves(ax, runs, key, label)
    legend = panels[len(runs)].get_legend_handles_labels()
    for ax in panels[count:]:
        ax.axis("off")
    panels[count if count < len(panels) else -1].legend(*legend, fontsize=7, loc="center left")
    figure.suptitle(f"{runs[0].config.env}: {target.name}")
    figure.tight_layout()
    return figure


def _curves(ax: Axes, runs: list[Compared], key: str, label: str) -> None:
    palette = plt.get_cmap("tab20")
    for index, run in enumerate(runs):
        x, y = series(rundir.read_metrics(run.path), key)
        ax.plot(x, y, label=run.label, color=palette(index), linewidth=1.0)
    ax.set(title=label, xlabel="episodes")
