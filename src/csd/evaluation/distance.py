"""How hard each state dimension is to move, along the trajectories of skills."""

from typing import Any

import numpy as np

from csd.collect import Rollout
from csd.learner import Learner, LearnerState


def distance_profile(learner: Learner, state: LearnerState, rollout: Rollout) -> dict[str, Any]:
    """Each dimension's weight in the learned distance, averaged over the rollouts' real steps.

    `precision` is v^T Sigma^-1(s) v for a one-hot v, in the units that the method sees;
    `weight` is the same divided by its geometric mean over all dimensions.
    """
    if learner.method.profile is None:
        return {}
    names = [learner.env.names[index] for index in learner.focus]
    obs = rollout.obs[:, :-1]
    real = np.arange(obs.shape[1])[None] < rollout.length[:, None]
    profile = learner.profile(state, obs.reshape(-1, obs.shape[-1]))
    return {
        name: dict(zip(names, np.asarray(value)[real.ravel()].mean(axis=0).tolist(), strict=True))
        for name, value in profile.items()
    }
