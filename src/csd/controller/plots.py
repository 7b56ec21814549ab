"""`csd plot` on a controller: paths to the goal, and the learning curve."""

from pathlib import Path
from typing import Any

import numpy as np

from csd import envs, rundir, tasks
from csd.controller.config import ControlConfig, from_dict
from csd.controller.report import read_paths, report
from csd.envs.base import EnvSpec
from csd.metrics import series
from csd.viz.drawing import plt

SHOWN = 12  # episodes in the picture


def plot_paths(config: ControlConfig, spec: EnvSpec, data: dict[str, np.ndarray]) -> Any:
    """Where the target went in a dozen episodes: from above, or over time if only x matters."""
    dims = list(spec.groups[spec.target][:2])
    goal_x, goal_y = (_column(config.task, name) for name in ("goal_x", "goal_y"))
    over_time = goal_y is None and spec.names[dims[1]] == "z"  # a body that lives in one plane
    figure, ax = plt.subplots(figsize=(5.0, 5.0))
    colors = plt.get_cmap("tab20")(np.arange(SHOWN))
    episodes = [data[f"controller/{part}"][:SHOWN] for part in ("path", "steps", "success")]
    for color, path, steps, success in zip(colors, *episodes, strict=False):
        line = path[: steps + 1, dims]
        if over_time:
            line = np.stack([np.arange(steps + 1), line[:, 0]], axis=1)
        ax.plot(*line.T, color=color, linewidth=1.2, linestyle="-" if success else ":")
        ax.plot(*line[0], "o", color=color, markersize=4)
        if goal_x is not None:
            goal = path[steps, goal_x]
            place = (steps, goal) if goal_y is None else (goal, path[steps, goal_y])
            ax.plot(*place, "*", color=color, markersize=11)
    names = ("step", spec.names[dims[0]]) if over_time else [spec.names[dim] for dim in dims]
    ax.set(xlabel=names[0], ylabel=names[1])
    if not over_time:
        ax.set_aspect("equal", adjustable="datalim")
    towards = "" if goal_x is None else " towards the goal (star)"
    ax.set_title(
        f"{config.task}: {spec.target} from the start (dot){towards}\ndotted: without success",
        fontsize=8,
    )
    figure.tight_layout()
    return figure


def _column(task: str, name: str) -> int | None:
    known = tasks.find(task)
    variables = known.rules().variables
    if name not in variables:
        return None
    return envs.spec(known.env).obs_dim + variables.index(name)


def plot_learning(config: ControlConfig, rows: list[dict[str, Any]], references: Any) -> Any:
    """Success and return over episodes, with the references of the last evaluation."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4))
    for ax, key in zip(axes, ("success", "return"), strict=True):
        ax.plot(*series(rows, key), color="0.7", label="while training")
        ax.plot(*series(rows, f"evaluation.{key}"), color="tab:blue", label="deterministic")
        for who, style in (("random", ":"), ("zero_shot", "--")):
            if who in references:
                label = who.replace("_", "-")
                ax.axhline(references[who][key], color="black", linestyle=style, label=label)
        ax.set_title(key)
        ax.set_xlabel("episodes")
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    axes[0].legend(fontsize=7)
    skills = f"skills of {references['skills']}" if references["skills"] else "from scratch"
    figure.suptitle(f"{config.task}, {skills}, seed {config.seed}")
    figure.tight_layout()
    return figure


def plot_tasks(config: ControlConfig, by_task: dict[str, dict[str, float]]) -> Any:
    """The success rate of each task, beside that of random choices."""
    figure, ax = plt.subplots(figsize=(6.0, 4.0))
    names = list(by_task["controller"])
    place, height = np.arange(len(names)), 0.8 / len(by_task)
    for row, (who, success) in enumerate(by_task.items()):
        bars = [success[name] for name in names]
        ax.barh(place + row * height, bars, height, label=who.replace("_", "-"))
    ax.set_yticks(place + 0.4 - height / 2, names, fontsize=8)
    ax.invert_yaxis()
    ax.set(xlabel="success", xlim=(0.0, 1.0))
    ax.set_title(f"{config.task}, seed {config.seed}", fontsize=9)
    ax.legend(fontsize=7)
    figure.tight_layout()
    return figure


def plot_control(run_dir: str | Path, episodes: int = 200) -> list[Path]:
    """Draw everything a controller's run has to show into its `plots` folder."""
    path = Path(run_dir)
    config = from_dict(rundir.read_values(path))
    spec = envs.spec(tasks.find(config.task).env)
    references = report(path, episodes)
    data = read_paths(path)
    assert data is not None
    folder = path / rundir.PLOTS
    folder.mkdir(exist_ok=True)
    figures = {
        "paths": plot_paths(config, spec, data),
        "learning": plot_learning(config, rundir.read_metrics(path), references),
    }
    if "success_by_task" in references:
        figures["tasks"] = plot_tasks(config, references["success_by_task"])
    written = []
    for name, figure in figures.items():
        file = folder / f"{name}.png"
        figure.savefig(file, dpi=150)
        plt.close(figure)
        written.append(file)
    return written
