"""The paper's analysis figure: what a dimension weighs in the distance, beside what is achieved."""

from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from csd.envs.base import EnvSpec
from csd.envs.kitchen import TASKS
from csd.metrics import series
from csd.viz.drawing import smooth

WINDOW = 10  # evaluations that a point of a curve is the mean of, at most a quarter of the run's


class Panel(NamedTuple):
    """Dimensions that belong together, and the metric that says whether they are moved."""

    title: str
    dims: tuple[int, ...]
    achievement: str
    label: str


def groups(spec: EnvSpec) -> list[Panel]:
    """One panel per named group; the environment's target has a measure of its movement."""
    moved = ("evaluation.moved", "fraction of skills that move it")
    return [
        Panel(name, dims, *(moved if name == spec.target else ("", "")))
        for name, dims in spec.groups.items()
    ]


def kitchen_tasks(spec: EnvSpec) -> list[Panel]:
    """One panel per task."""
    return [
        Panel(name, task.dims, f"evaluation.task_success.{name}", "success rate")
        for name, task in TASKS.items()
    ]


PANELS: dict[str, Callable[[EnvSpec], list[Panel]]] = {"kitchen": kitchen_tasks}
"""Family -> panels; any other environment has one per group of dimensions."""


def plot_distance(rows: list[dict[str, Any]], spec: EnvSpec, title: str) -> Figure | None:
    """Weights along skill trajectories over training; achievement on the axis at the right."""
    rows = [row for row in rows if "weight" in row.get("evaluation", {})]
    panels = PANELS.get(spec.family, groups)(spec)
    if not rows or not panels:
        return None
    window = max(1, min(WINDOW, len(rows) // 4))
    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.0 * columns, 2.6 * lines), squeeze=False)
    for ax in axes.ravel()[len(panels) :]:
        ax.axis("off")
    for ax, panel in zip(axes.ravel(), panels, strict=False):
        for dim in panel.dims:
            name = spec.names[dim]
            _curve(ax, rows, f"evaluation.weight.{name}", window, label=name)
        ax.set_yscale("log")
        ax.set_title(panel.title, fontsize=9)
        ax.legend(fontsize=6)
        if panel.achievement:
            right = ax.twinx()
            _curve(right, rows, panel.achievement, window, color="black", linestyle=":")
            right.set_ylim(bottom=0.0)
            right.set_ylabel(panel.label, fontsize=7)
    for ax in axes[-1]:
        ax.set_xlabel("episodes")
    figure.suptitle(
        f"{title}: weight in the distance along skill trajectories, "
        + (f"mean of {window} evaluations" if window > 1 else "each evaluation")
    )
    figure.tight_layout()
    return figure


def _curve(ax: Axes, rows: list[dict[str, Any]], key: str, window: int, **style: Any) -> None:
    """A metric smoothed as the paper's, over what was measured in a paler line."""
    episodes, values = series(rows, key)
    (line,) = ax.plot(episodes, smooth(values, window), **style)
    ax.plot(episodes, values, color=line.get_color(), linewidth=0.6, alpha=0.35)
