"""Where the bodies went, as the paper draws it."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from csd.config import Config
from csd.envs.base import EnvSpec
from csd.viz.drawing import skill_colors, trajectories


def figures(config: Config, spec: EnvSpec, data: dict[str, np.ndarray]) -> dict[str, Figure]:
    """Paths seen from above; where only x matters, one line a rollout that thickens with time."""
    colors = skill_colors(data["skill"], config)
    first, second = spec.groups[spec.target]
    figure, ax = plt.subplots(figsize=(5.0, 5.0))
    if spec.names[second] == "y":
        path = data["obs"][..., [first, second]]
        trajectories(ax, path, colors, ("x", "y"))
        reach = 1.2 * float(np.abs(path).max())
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    else:
        for row, (x, color) in enumerate(zip(data["obs"][..., first], colors, strict=True)):
            points = np.stack([x, np.full_like(x, row)], axis=-1)
            pieces = np.stack([points[:-1], points[1:]], axis=1)
            widths = np.linspace(0.2, 1.2, len(pieces))
            ax.add_collection(LineCollection(list(pieces), linewidths=widths, color=color))
        ax.autoscale()
        ax.set(xlabel="x", ylabel="rollout")
    ax.set_title(
        f"{config.env}, {config.method}, seed {config.seed}, "
        f"{int(data['episode'][0]):,} episodes: {len(colors)} rollouts",
        fontsize=9,
    )
    figure.tight_layout()
    return {"skills": figure}
