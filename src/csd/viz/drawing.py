"""What all drawings share."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from csd.config import Config

LINE_WIDTH, ALPHA = 0.7, 0.8


def skill_colors(skill: np.ndarray, config: Config) -> np.ndarray:
    """The paper's colours: a skill's coordinates as channels, or one colour per discrete skill."""
    if config.skill_type == "discrete":
        count = skill.shape[1]
        palette = plt.get_cmap("tab10" if count <= 10 else "tab20")
        return palette(np.argmax(skill, axis=1) % 20)
    scale = 4.0 if config.skill_unit_length else 2.0  # both fill the range of colours
    channels = np.clip((scale * skill + 4.0) / 8.0, 0.0, 1.0)
    if skill.shape[1] == 1:
        rgb = np.concatenate([channels, 1.0 - channels, np.full_like(channels, 0.5)], axis=1)
    elif skill.shape[1] == 2:
        rgb = np.concatenate([channels, (2.0 - channels.sum(axis=1, keepdims=True)) / 2.0], axis=1)
    else:
        rgb = channels[:, :3]
    return np.concatenate([rgb, np.full((len(rgb), 1), ALPHA)], axis=1)


def trajectories(ax: Axes, path: np.ndarray, colors: np.ndarray, labels: tuple[str, str]) -> None:
    """Lines of shape (episodes, time, 2), one colour per episode."""
    for line, color in zip(path, colors, strict=True):
        ax.plot(line[:, 0], line[:, 1], color=color, linewidth=LINE_WIDTH)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.set_aspect("equal", adjustable="datalim")


def rows_of_x(ax: Axes, x: np.ndarray, colors: np.ndarray) -> None:
    """A row for each rollout of x (episodes, time), a line that thickens with time."""
    for row, (line, color) in enumerate(zip(x, colors, strict=True)):
        points = np.stack([line, np.full_like(line, row)], axis=-1)
        pieces = np.stack([points[:-1], points[1:]], axis=1)
        widths = np.linspace(0.2, 1.2, len(pieces))
        ax.add_collection(LineCollection(list(pieces), linewidths=widths, color=color))
    ax.autoscale()
    ax.set(xlabel="x", ylabel="rollout")


def smooth(values: list[float], window: int = 10) -> np.ndarray:
    """The mean of each value and the ones before it, `window` at the most."""
    total = np.cumsum([0.0, *values])
    last = np.arange(1, len(total))
    first = np.maximum(last - window, 0)
    return (total[last] - total[first]) / (last - first)
