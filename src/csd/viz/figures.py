"""`csd reproduce`: bars with intervals, curves with bands, trajectories in rows and columns."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from csd import envs
from csd.config import Config
from csd.evaluation.report import newest_trajectories
from csd.experiments.figures import Figure
from csd.experiments.results import Measured, panels
from csd.viz.drawing import plt, rows_of_x, skill_colors, trajectories

COLUMNS = 5


def draw(figure: Figure, results: dict[str, Any], found: Sequence[Measured], title: str) -> Picture:
    """The figure as the paper draws it, of what is finished."""
    if figure.drawing == "paths":
        picture = _paths(figure, found)
    else:
        picture = _panels(figure, results)
    room = int(13 * picture.get_figwidth())  # letters in a line
    lines = (line for part in title.splitlines() for line in textwrap.wrap(part, room))
    picture.suptitle("\n".join(lines), fontsize=9)
    picture.tight_layout()
    return picture


def _panels(figure: Figure, results: dict[str, Any]) -> Picture:
    shown = list(panels(figure))
    width = min(len(shown), COLUMNS)
    lines = -(-len(shown) // width)
    size = (max(3.2 * width, 5.0), 3.0 * lines)
    picture, axes = plt.subplots(lines, width, figsize=size, squeeze=False)
    panel, rows = (_bars, results["table"])
    if figure.drawing == "curves":
        panel, rows = (_curves, results["curves"])
    names = [variant.name for variant in figure.variants]
    colors = dict(zip(names, plt.get_cmap("tab10").colors, strict=False))  # type: ignore
    for ax, (world, measure) in zip(axes.ravel(), shown, strict=False):
        key = (world.name, measure.label)
        panel(ax, [row for row in rows if (row["world"], row["measure"]) == key], colors)
        title = measure.label if len(figure.worlds) == 1 else f"{world.name}\n{measure.label}"
        ax.set_title(title, fontsize=9)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    for ax in axes.ravel()[len(shown) :]:
        ax.axis("off")
    if axes[0, 0].get_legend_handles_labels()[1]:
        axes[0, 0].legend(fontsize=7)
    return picture


def _bars(ax: Axes, rows: list[dict[str, Any]], colors: dict[str, Any]) -> None:
    """A bar for each variant, its interval, and a dot for each seed."""
    for place, row in enumerate(rows):
        ax.bar(place, row["value"], color=colors.get(row["variant"], "0.5"), alpha=0.7)
        if row["low"] is not None:
            ax.vlines(place, row["low"], row["high"], color="black", linewidth=1.0)
        dots = list(row["values"].values())
        ax.plot([place] * len(dots), dots, ".", color="black", markersize=3)
    ax.set_xticks(range(len(rows)), [row["variant"] for row in rows], rotation=30, fontsize=7)


def _curves(ax: Axes, rows: list[dict[str, Any]], colors: dict[str, Any]) -> None:
    """A line for each variant, shaded where its interval is."""
    for row in rows:
        color = colors.get(row["variant"], "0.5")
        ax.plot(row["episodes"], row["value"], color=color, label=row["variant"], linewidth=1.2)
        ax.fill_between(row["episodes"], row["low"], row["high"], color=color, alpha=0.2)
    ax.set_xlabel("episodes", fontsize=8)


def _paths(figure: Figure, found: Sequence[Measured]) -> Picture:
    """A row for each world, a column for each run of it; axes are common to a row."""
    order = [variant.name for variant in figure.variants]
    rows = [
        sorted(
            (m for m in found if m.cell.job.world == world),
            key=lambda m: (order.index(m.cell.job.variant.name), m.cell.job.config.seed),
        )
        for world in figure.worlds
    ]
    width = max([len(row) for row in rows] + [1])
    size = (2.6 * width + 0.6, 2.8 * len(rows))
    picture, axes = plt.subplots(
        len(rows), width, figsize=size, squeeze=False, sharex="row", sharey="row"
    )
    for line, row in zip(axes, rows, strict=True):
        for ax, measured in zip(line, row, strict=False):
            _path(ax, measured)
        for ax in line[len(row) :]:
            ax.axis("off")
    return picture


def _path(ax: Axes, measured: Measured) -> None:
    job = measured.cell.job
    data = newest_trajectories(job.run)
    if data is None:
        return
    assert isinstance(job.config, Config)
    spec = envs.spec(job.config.env, job.config.horizon)
    dims = list(spec.groups[spec.target][:2])
    colors, path = skill_colors(data["skill"], job.config), np.asarray(data["obs"][..., dims])
    if spec.one_way:
        rows_of_x(ax, path[..., 0], colors)
    else:
        trajectories(ax, path, colors, (spec.names[dims[0]], spec.names[dims[1]]))
        ax.set_aspect("equal", adjustable="box")
    label = f"{job.config.env}, {job.variant.name}, seed {job.config.seed}"
    ax.set_title(label, fontsize=8)
