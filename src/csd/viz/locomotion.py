"""Where the bodies went, as the paper draws it."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from csd.config import Config
from csd.envs.base import EnvSpec
from csd.viz.drawing import rows_of_x, skill_colors, trajectories


def figures(config: Config, spec: EnvSpec, data: dict[str, np.ndarray]) -> dict[str, Figure]:
    """Paths seen from above; where only x matters, one line a rollout that thickens with time."""
    colors = skill_colors(data["skill"], config)
    first, second = spec.groups[spec.target]
    figure, ax = plt.subplots(figsize=(5.0, 5.0))
    if spec.one_way:
        rows_of_x(ax, data["obs"][..., first], colors)
    else:
        path = data["obs"][..., [first, second]]
        trajectories(ax, path, colors, ("x", "y"))
        reach = 1.2 * float(np.abs(path).max())
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    ax.set_title(
        f"{config.env}, {config.method}, seed {config.seed}, "
        f"{int(data['episode'][0]):,} episodes: {len(colors)} rollouts",
        fontsize=9,
    )
    figure.tight_layout()
    return {"skills": figure}
