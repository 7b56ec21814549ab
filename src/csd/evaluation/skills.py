"""What a policy's skills do to the world, measured on deterministic rollouts."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from csd.acting import Policy, PolicySet
from csd.collect import Rollout, collect, episode_seeds
from csd.envs.base import EnvSpec
from csd.envs.vector import VectorEnv
from csd.errors import UserError, require
from csd.evaluation.families import FAMILIES
from csd.evaluation.measures import (
    bins_covered,
    circular_correlation,
    explained_by_skill,
    log_volume,
)
from csd.learner import Learner

REPEATS = 4  # rollouts of each discrete skill
EVALUATION_STREAM = 7919  # evaluation episodes never share a seed with training episodes


class Target(NamedTuple):
    """The state dimensions whose movement is measured."""

    name: str
    dims: tuple[int, ...]
    bin_size: float | np.ndarray
    moved: float


def evaluation_skills(learner: Learner, count: int, noise: float = 0.0) -> np.ndarray:
    """`count` random skills, or every discrete skill `REPEATS` times (once if nothing varies)."""
    config = learner.config
    if config.skill_type == "discrete":
        repeats = 1 if learner.env.fixed_start and not noise else REPEATS
        return np.repeat(np.eye(config.skill_dim, dtype=np.float32), repeats, axis=0)
    key = jax.random.fold_in(jax.random.key(config.seed), EVALUATION_STREAM)
    return np.asarray(learner.draw_skills(key, np.arange(count)))


def roll_out(
    learner: Learner,
    envs: VectorEnv,
    policy: Policy | PolicySet | None,
    skills: np.ndarray,
    noise: float = 0.0,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Rollout:
    """One episode per skill with the mean action, or with random actions if there is no policy.

    `noise` is the standard deviation of what disturbs the policy's actions; `on_progress`
    hears how many episodes are done.
    """
    parts = []
    key = jax.random.fold_in(jax.random.key(learner.config.seed), EVALUATION_STREAM + 1)
    size = envs.num_envs
    for start in range(0, len(skills), size):
        ids = np.arange(start, min(start + size, len(skills)))
        chance, disturbance = None, None
        if policy is None or noise:
            chance = tuple(np.asarray(x) for x in learner.draw_noise(key, ids))
        if policy is not None and chance is not None:
            chance, disturbance = None, noise * chance[0]
        seeds = episode_seeds(learner.config.seed + EVALUATION_STREAM, ids)
        parts.append(collect(envs, learner.config, policy, seeds, skills[ids], chance, disturbance))
        on_progress(start + len(ids))
    merged = [np.concatenate(arrays) for arrays in zip(*(p[:-1] for p in parts), strict=True)]
    return Rollout(*merged, diverged=sum(p.diverged for p in parts))


def find_target(spec: EnvSpec, dims: str, obs: np.ndarray) -> Target:
    """What to measure: what the user names, what the environment names, or what varies most.

    The last is taken from trajectories of states `obs`, and so are unknown units.
    """
    if not dims and spec.target:
        return Target(spec.target, spec.groups[spec.target], spec.bin_size, spec.moved)
    if dims in spec.groups:
        return Target(dims, spec.groups[dims], spec.bin_size, spec.moved)
    chosen = _parse_dims(dims, spec) if dims else most_variable(obs)
    # Unknown units: a bin is a tenth of the range that random actions reach.
    points = obs[..., chosen].reshape(-1, len(chosen))
    size = np.maximum(np.ptp(points, axis=0) / 10.0, 1e-6)
    name = ",".join(spec.names[d] for d in chosen)
    return Target(name, tuple(chosen), size, float(np.linalg.norm(size)))


def check_dims(dims: str, spec: EnvSpec) -> None:
    """What the user names is there; said before anything is rolled out."""
    if dims and dims not in spec.groups:
        _parse_dims(dims, spec)


def most_variable(obs: np.ndarray, count: int = 2) -> list[int]:
    """The dimensions that travel furthest, in units of their step-to-step noise."""
    change = np.ptp(obs, axis=1).mean(axis=0)
    jitter = np.abs(np.diff(obs, axis=1)).mean(axis=(0, 1)) + 1e-9
    score = np.where(change > 1e-6, change / jitter * np.sqrt(change), 0.0)
    return sorted(np.argsort(-score)[:count].tolist())


def _parse_dims(dims: str, spec: EnvSpec) -> list[int]:
    chosen: list[int] = []
    for part in map(str.strip, dims.split(",")):
        if part in spec.names:
            chosen.append(spec.names.index(part))
        elif part.isdecimal() and int(part) < spec.obs_dim:
            chosen.append(int(part))
        else:
            groups = ", ".join(spec.groups) or "none are named here"
            raise UserError(
                f"unknown state dimension {part!r}: give a group ({groups}), "
                f"names such as {spec.names[0]}, or indices from 0 to {spec.obs_dim - 1}"
            )
    require(len(set(chosen)) == len(chosen), f"{dims!r} names a state dimension twice")
    return chosen


def measure(rollout: Rollout, spec: EnvSpec, target: Target) -> dict[str, Any]:
    """Coverage, movement and steering of the target, as plain numbers."""
    path = rollout.obs[..., list(target.dims)].astype(np.float64)
    change = path[:, -1] - path[:, 0]
    distance = np.linalg.norm(change, axis=-1)
    moved = distance > target.moved
    size = np.broadcast_to(target.bin_size, (len(target.dims),))
    result: dict[str, Any] = {
        "coverage": bins_covered(path[..., :2], size[:2]),
        "moved": float(np.mean(moved)),
        "displacement": float(np.mean(distance)),
        "volume": log_volume(rollout.obs.reshape(-1, rollout.obs.shape[-1])),
    }
    if len(change) > rollout.skill.shape[1] + 1:  # with fewer rollouts any fit is perfect
        result["explained"] = explained_by_skill(change, rollout.skill)
    if len(target.dims) > 2:
        result["coverage_xyz"] = bins_covered(path, size)
    if rollout.skill.shape[1] == 2 and len(target.dims) >= 2:
        angles = np.arctan2(change[moved, 1], change[moved, 0])
        skills = np.arctan2(rollout.skill[moved, 1], rollout.skill[moved, 0])
        result["direction"] = abs(circular_correlation(angles, skills))
    if spec.body:
        body = rollout.obs[..., list(spec.groups[spec.body])]
        result["body_coverage"] = bins_covered(body[..., :2], spec.bin_size)
        result["body_displacement"] = float(
            np.linalg.norm(body[:, -1] - body[:, 0], axis=-1).mean()
        )
    if spec.family in FAMILIES:
        result |= FAMILIES[spec.family].measure(rollout, spec)
    return result
