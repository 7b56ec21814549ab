"""What `csd plot` draws of a kitchen: which skill does which task, kettle and gripper."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from csd.config import Config
from csd.envs.base import EnvSpec
from csd.envs.kitchen import TASKS, gripper_path
from csd.evaluation.families import is_one_hot, success_by_skill
from csd.viz.drawing import skill_colors, trajectories


def figures(config: Config, spec: EnvSpec, data: dict[str, np.ndarray]) -> dict[str, Figure]:
    """The heat map and the trajectories, the latter in place of the general ones."""
    title = (
        f"{config.env}, {config.method}, seed {config.seed}, {int(data['episode'][0]):,} episodes"
    )
    return {"tasks": plot_tasks(data, title), "skills": plot_paths(config, spec, data, title)}


def plot_tasks(data: dict[str, np.ndarray], title: str) -> Figure:
    """Success rate of each skill in each task."""
    codes, rate = success_by_skill(data["obs"], data["skill"])
    figure, ax = plt.subplots(figsize=(7.0, 1.5 + 0.25 * min(len(codes), 32)))
    image = ax.imshow(rate, vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto")
    ax.set_xticks(range(len(TASKS)), list(TASKS), rotation=45, ha="right", fontsize=8)
    if len(codes) <= 32:
        ax.set_yticks(range(len(codes)), [skill_name(code) for code in codes], fontsize=8)
    ax.set_ylabel("skill")
    ax.set_title(f"{title}: {int((rate > 0).any(axis=0).sum())} of {len(TASKS)} tasks")
    figure.colorbar(image, label="success rate")
    figure.tight_layout()
    return figure


def skill_name(code: np.ndarray) -> str:
    """The number of a one-hot skill, else its coordinates."""
    if is_one_hot(code[None]):
        return str(int(np.argmax(code)))
    return ", ".join(f"{value:.1f}" for value in code)


def plot_paths(config: Config, spec: EnvSpec, data: dict[str, np.ndarray], title: str) -> Figure:
    """Kettle and gripper from above and from the front."""
    colors = skill_colors(data["skill"], config)
    paths = {
        "kettle": data["obs"][..., list(spec.groups["kettle"])],
        "gripper": gripper_path(data["obs"]),
    }
    figure, axes = plt.subplots(1, 4, figsize=(16.0, 4.0))
    panels = [(name, plane) for name in paths for plane in ((0, 1), (0, 2))]
    for ax, (name, plane) in zip(axes, panels, strict=True):
        labels = (f"{name}_{'xyz'[plane[0]]}", f"{name}_{'xyz'[plane[1]]}")
        trajectories(ax, paths[name][..., list(plane)], colors, labels)
        ax.set_title(f"{name}, from {'above' if plane == (0, 1) else 'the front'}")
    figure.suptitle(f"{title}: {len(colors)} rollouts")
    figure.tight_layout()
    return figure
