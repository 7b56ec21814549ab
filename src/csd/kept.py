"""What a run ends with when it keeps, skill by skill, the widest that its evaluations saw."""

from collections.abc import Mapping
from typing import NamedTuple

import jax
import numpy as np

from csd.acting import Policy, PolicySet, owners
from csd.collect import Rollout
from csd.errors import require
from csd.evaluation.measures import log_volume


class Kept(NamedTuple):
    """A policy for each skill, what it did in its evaluation, and when that was."""

    policies: PolicySet
    obs: np.ndarray  # (rollouts, horizon + 1, obs_dim)
    length: np.ndarray  # (rollouts,)
    episode: np.ndarray  # (skills,), or (1,) where all are of one policy


def widen(kept: Kept | None, policy: Policy, rollout: Rollout, episode: int, count: int) -> Kept:
    """Take over every skill with which the states that all skills visit fill a larger volume."""
    if kept is None:
        when = np.full(count, episode)
        return Kept(PolicySet.of(policy, count), rollout.obs, rollout.length, when)
    owner = owners(rollout.skill, count)
    volume = _volume(kept.obs)
    chosen = np.zeros(count, bool)
    obs = kept.obs
    for index in range(count):
        mine = owner == index
        trial = np.where(mine[:, None, None], rollout.obs, obs)
        if (wider := _volume(trial)) > volume:
            obs, volume, chosen[index] = trial, wider, True
    length = np.where(chosen[owner], rollout.length, kept.length)
    when = np.where(chosen, episode, kept.episode)
    return Kept(kept.policies.replace(chosen, policy), obs, length, when)


def kept_template(arrays: Mapping[str, np.ndarray], policy: Policy) -> Kept:
    """The layout of what a checkpoint keeps."""
    obs, length, episode = (arrays[f"kept/{name}"] for name in ("obs", "length", "episode"))
    return Kept(policies_template(arrays, policy), obs, length, episode)


def policies_template(arrays: Mapping[str, np.ndarray], policy: Policy) -> PolicySet:
    """The layout of the policies among it."""
    name = "kept/policies/index"
    require(name in arrays, f"the checkpoint has no {name!r}: it was written by another version")
    rows = int(arrays[name].max()) + 1
    return PolicySet(jax.tree.map(lambda leaf: np.stack([leaf] * rows), policy), arrays[name])


def _volume(obs: np.ndarray) -> float:
    return log_volume(obs.reshape(-1, obs.shape[-1]))
