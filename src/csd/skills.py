"""Trained skills, ready to act."""

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from csd import checkpoint, envs, pretrained, rundir
from csd.acting import Policy, PolicySet, act, normalize
from csd.envs import fetch
from csd.errors import UserError
from csd.kept import policies_template
from csd.learner import Learner, LearnerState
from csd.training import Streams

TRAINING_ONLY = re.compile(r"/(critic|target_actor|target_critic|(\w+_)?opt)(/|$)")
"""What skills can do without once they are frozen: critics, targets and optimisers."""


class Skills:
    """A frozen skill policy: `z = skills.sample(rng); action = skills.act(obs, z)`."""

    def __init__(
        self,
        learner: Learner,
        state: LearnerState,
        episode: int,
        kept: PolicySet | None = None,
    ) -> None:
        self.learner, self.state, self.episode, self.kept = learner, state, episode, kept
        self.config, self.spec = learner.config, learner.env
        self._last: Policy = learner.snapshot(state)
        self.policy: Policy | PolicySet = kept or self._last

    def __repr__(self) -> str:
        kind = f"{self.config.skill_dim} {self.config.skill_type}"
        return f"Skills({self.config.env}, {self.config.method}, {kind}, episode {self.episode})"

    def sample(self, rng: np.random.Generator, count: int | None = None) -> np.ndarray:
        """A random skill of the prior, or `count` of them."""
        size, dim = 1 if count is None else count, self.config.skill_dim
        if self.config.skill_type == "discrete":
            skills = np.eye(dim, dtype=np.float32)[rng.integers(dim, size=size)]
        else:
            skills = rng.standard_normal((size, dim)).astype(np.float32)
            if self.config.skill_unit_length:
                skills /= np.linalg.norm(skills, axis=-1, keepdims=True)
        return skills if count is not None else skills[0]

    def act(self, obs: Any, skill: Any) -> np.ndarray:
        """The deterministic action in [-1, 1] for one observation or a batch of them."""
        obs, skill = _state(obs), np.asarray(skill, np.float32)
        for name, array, dim in (
            ("obs", obs, self.spec.obs_dim),
            ("skill", skill, self.config.skill_dim),
        ):
            if array.ndim not in (1, 2) or array.shape[-1] != dim:
                raise UserError(
                    f"{name} has shape {array.shape}; these skills take ({dim},) or (batch, {dim})"
                )
        single = obs.ndim == skill.ndim == 1
        obs, skill = np.atleast_2d(obs), np.atleast_2d(skill)
        count = max(len(obs), len(skill))
        if not {len(obs), len(skill)} <= {1, count}:
            raise UserError(f"{len(obs)} observations do not go with {len(skill)} skills")
        obs, skill = (np.broadcast_to(x, (count, x.shape[-1])) for x in (obs, skill))
        action = act(self.config, self.policy, obs, skill, None)
        return action[0] if single else action

    def normalize(self, obs: np.ndarray, clip: bool = True) -> np.ndarray:
        """States as the policy sees them, or without its clip at a number of deviations."""
        return normalize(self.config, self._last, obs, clip)

    def embed(self, obs: Any) -> np.ndarray:
        """phi(obs) for methods that learn one, single or batched.

        It is phi as of the last episode, also where a run keeps policies of earlier moments.
        """
        if self.learner.method.embed is None:
            raise UserError(f"method {self.config.method!r} has no embedding phi")
        obs = _state(obs)
        seen = self.learner.method_obs(self.state, jnp.asarray(np.atleast_2d(obs)))
        phi = np.asarray(self.learner.method.embed(self.state.method, seen))
        return phi[0] if obs.ndim == 1 else phi


def _state(obs: Any) -> np.ndarray:
    """The state in an observation."""
    if isinstance(obs, dict) and "observation" not in obs:
        raise UserError(f"an observation needs the key 'observation', not {', '.join(obs)}")
    return np.asarray(obs["observation"] if isinstance(obs, dict) else obs, np.float32)


def load(run: str | Path) -> Skills:
    """The skills of a run, from its newest good checkpoint, or pretrained ones by name."""
    path = pretrained.find(run)
    config = rundir.read_config(path)
    if config.env in fetch.IDS:
        fetch.register_robotics()  # so that `gymnasium.make("FetchPush-v4")` works from here on
    found = checkpoint.load_newest(path / rundir.CHECKPOINTS)
    if found is None:
        raise UserError(f"{path} has no checkpoint yet: `csd train --resume {path}` makes one")
    arrays, meta = found
    learner = Learner(config, envs.spec(config.env, config.horizon))
    template = jax.eval_shape(lambda: learner.init(Streams.of(config.seed).init))
    state = checkpoint.unflatten({"state": template}, arrays, TRAINING_ONLY)["state"]
    kept = None
    if any(name.startswith("kept/") for name in arrays):
        template = policies_template(arrays, learner.snapshot(state))
        kept = checkpoint.unflatten({"kept": {"policies": template}}, arrays)["kept"]["policies"]
    return Skills(learner, state, meta["episode"], kept)


def keep(skills: Skills, path: Path) -> None:
    """Write the skills to a folder of their own, without what only their training needs."""
    rundir.create(path, skills.config)
    arrays = checkpoint.flatten({"state": skills.state})
    if skills.kept is not None:
        arrays |= checkpoint.flatten({"kept": {"policies": skills.kept}})
    frozen = {name: array for name, array in arrays.items() if not TRAINING_ONLY.search(name)}
    checkpoint.save(path / rundir.CHECKPOINTS, skills.episode, frozen, {})
