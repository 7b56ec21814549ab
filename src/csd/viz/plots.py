"""`csd plot`: skill trajectories as the paper draws them, learning curves, sigma over training."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from csd import envs, rundir
from csd.config import Config
from csd.envs.base import EnvSpec
from csd.errors import UserError
from csd.evaluation.report import newest_trajectories
from csd.evaluation.skills import find_target
from csd.metrics import series
from csd.viz import kitchen, locomotion
from csd.viz.distance import plot_distance
from csd.viz.drawing import skill_colors, trajectories


def plot_skills(
    config: Config, spec: EnvSpec, data: dict[str, np.ndarray], target: tuple[int, ...]
) -> Figure:
    """Target and body side by side; a third panel shows height where there is one."""
    colors = skill_colors(data["skill"], config)
    first = target[0]
    panels: list[tuple[str, tuple[int, ...]]] = [(spec.target or "state", (first, target[-1]))]
    if len(target) > 2:
        panels = [
            (spec.target or "state", target[:2]),
            (f"{spec.target or 'state'} (side view)", (first, target[2])),
        ]
    if spec.body:
        panels.append((spec.body, spec.groups[spec.body][:2]))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 4.0), squeeze=False)
    for ax, (title, dims) in zip(axes[0], panels, strict=True):
        labels = (spec.names[dims[0]], spec.names[dims[1]])
        trajectories(ax, data["obs"][..., list(dims)], colors, labels)
        ax.set_title(title)
    figure.suptitle(
        f"{config.env}, {config.method}, seed {config.seed}, "
        f"{int(data['episode'][0]):,} episodes: {len(colors)} skills"
    )
    figure.tight_layout()
    return figure


CURVES = (
    ("evaluation.coverage", "bins covered"),
    ("evaluation.moved", "fraction of skills that move the target"),
    ("evaluation.displacement", "mean displacement"),
    ("evaluation.volume", "log-volume of all states visited"),
    ("evaluation.tasks", "tasks done by some skill"),
    ("lambda", "lambda"),
    ("slack", "slack"),
    ("violated", "fraction of pairs that break the constraint"),
    ("reward", "mean reward in the critic's target"),
    ("q", "Q"),
    ("steps_per_second", "environment steps per second"),
)


def plot_curves(rows: list[dict[str, Any]], title: str) -> Figure:
    """What the run logged, over episodes; beside the present skills, the ones kept so far."""
    found = [(key, label, *series(rows, key)) for key, label in CURVES]
    found = [row for row in found if row[2]]
    columns = 3
    lines = -(-len(found) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.2 * columns, 2.8 * lines), squeeze=False)
    for ax in axes.ravel()[len(found) :]:
        ax.axis("off")
    for ax, (key, label, x, y) in zip(axes.ravel(), found, strict=False):
        ax.plot(x, y)
        kept = series(rows, key.replace("evaluation.", "kept.", 1))
        if key.startswith("evaluation.") and kept[0]:
            ax.plot(*kept, "--", label="kept")
            ax.legend(fontsize=7, loc="lower right")
        ax.set_title(label, fontsize=9)
        if label == "lambda":
            ax.set_yscale("log")
    for ax in axes[-1]:
        ax.set_xlabel("episodes")
    figure.suptitle(title)
    figure.tight_layout()
    return figure


def plot_sigma(rows: list[dict[str, Any]], title: str) -> Figure | None:
    """Sigma and the resulting weight of every state dimension over training."""
    rows = [row for row in rows if isinstance(row.get("sigma"), dict)]
    if not rows:
        return None
    names = list(rows[-1]["sigma"])
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), sharex=True)
    palette = plt.get_cmap("turbo")(np.linspace(0, 1, len(names)))
    for ax, key, label in (
        (axes[0], "sigma", "sigma"),
        (axes[1], "weight", "weight in the distance"),
    ):
        for color, name in zip(palette, names, strict=True):
            x, y = series(rows, f"{key}.{name}")
            ax.plot(x, y, color=color, label=name, linewidth=1.0)
        ax.set_yscale("log")
        ax.set_title(label)
        ax.set_xlabel("episodes")
    axes[1].legend(fontsize=6, ncol=2, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(title)
    figure.tight_layout()
    return figure


FAMILY_FIGURES: dict[str, Callable[[Config, EnvSpec, dict[str, np.ndarray]], dict[str, Figure]]] = {
    "locomotion": locomotion.figures,
    "kitchen": kitchen.figures,
}
"""What a family of environments draws besides, or in place of, `skills`."""


def plot(run_dir: str | Path, skills: int = 200, dims: str = "") -> list[Path]:
    """Draw everything a run has to show into its `plots` folder."""
    path = Path(run_dir)
    config = rundir.read_config(path)
    spec = envs.spec(config.env, config.horizon)
    rows = rundir.read_metrics(path)
    folder = path / rundir.PLOTS
    folder.mkdir(exist_ok=True)
    title = f"{config.env}, {config.method}, seed {config.seed}"
    figures: dict[str, Figure | None] = {}
    data = newest_trajectories(path, skills, dims)
    if data is None and not rows:
        raise UserError(f"{path} has no checkpoint yet: `csd train --resume {path}` makes one")
    if data is not None:
        target = find_target(spec, dims, data["obs"])
        if spec.family in FAMILY_FIGURES:
            figures |= FAMILY_FIGURES[spec.family](config, spec, data)
        if dims or "skills" not in figures:
            figures["skills"] = plot_skills(config, spec, data, target.dims)
    if rows:
        figures["curves"] = plot_curves(rows, title)
        figures["sigma"] = plot_sigma(rows, title)
        figures["distance"] = plot_distance(rows, spec, title)
    written = []
    for name, figure in figures.items():
        if figure is not None:
            file = folder / f"{name}.png"
            figure.savefig(file, dpi=150)
            plt.close(figure)
            written.append(file)
    return written
