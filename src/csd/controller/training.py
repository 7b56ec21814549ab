"""The training of a controller: collect, learn, log, evaluate, checkpoint, over and over."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from csd import checkpoint, cores, rundir, stopping, tasks
from csd.clock import Clock
from csd.collect import episode_seeds
from csd.controller.agents import AGENTS, Agent
from csd.controller.config import ControlConfig
from csd.controller.rollout import (
    Choose,
    TaskRollout,
    View,
    policy_choice,
    random_choice,
    roll_out,
)
from csd.errors import UserError, require
from csd.hierarchy import SkillEnvs
from csd.metrics import MetricsLog
from csd.progress import Progress
from csd.rl.transitions import Transitions
from csd.skills import Skills
from csd.stopping import finite, full_disk_in_one_line, stop_after_epoch

EVALUATION_SEED = 104_729  # evaluation episodes never share a seed with training episodes
EVALUATION_ENVS = 64


class Streams(NamedTuple):
    """Independent keys of a run; each use folds in an episode's number, none is carried along."""

    init: jax.Array
    noise: jax.Array
    update: jax.Array
    evaluation: jax.Array

    @classmethod
    def of(cls, seed: int) -> "Streams":
        """The streams of a seed."""
        return cls(*jax.random.split(jax.random.key(seed), 4))


def open_view(
    config: ControlConfig,
    skills: Skills | None,
    num_envs: int,
    workers: int = 0,
    seen: bool = False,
) -> View:
    """Worlds of the task as the controller sees them; `seen` ones also have all we can see."""
    check_skills(config, skills)
    envs = SkillEnvs(tasks.make(config.task, num_envs, workers, seen), skills, config.every)
    return View(envs, config.normalizer == "skills")


def check_skills(config: ControlConfig, skills: Skills | None) -> None:
    """Skills, learner and task must fit together."""
    needed = tasks.find(config.task).env
    if skills is not None and skills.config.env != needed:
        raise UserError(
            f"{config.task} needs skills of {needed}; these were learned in {skills.config.env}"
        )
    discrete = skills is not None and skills.config.skill_type == "discrete"
    if discrete != (config.learner == "ppo"):
        kind = "discrete skills need" if discrete else "continuous actions need"
        raise UserError(f"{kind} --learner {'ppo' if discrete else 'sac'}, not {config.learner}")


def make_agent(config: ControlConfig, view: View) -> Agent:
    """The learner that a configuration names, for the sizes of a task."""
    return AGENTS[config.learner](config, view.obs_dim, view.action_dim, view.envs.decisions)


def evaluate(config: ControlConfig, view: View, choose: Any, episodes: int) -> TaskRollout:
    """Evaluation episodes; `choose(ids)` gives the choice for a batch of them."""
    parts, size = [], view.envs.tasks.num_envs
    for start in range(0, episodes, size):
        ids = np.arange(start, min(start + size, episodes))
        seeds = episode_seeds(config.seed + EVALUATION_SEED, ids)
        parts.append(roll_out(view, choose(ids), seeds))
    return TaskRollout(*map(np.concatenate, zip(*parts, strict=True)))


def figures(rollout: TaskRollout) -> dict[str, float]:
    """What a set of episodes achieved."""
    return {
        "success": float(np.mean(rollout.success())),
        "success_at_end": float(np.mean(rollout.success_at_end())),
        "return": float(np.mean(rollout.reward.sum(axis=1))),
        "steps": float(np.mean(rollout.steps)),
    }


class ControlTrainer:
    """One controller in one run directory."""

    def __init__(
        self,
        config: ControlConfig,
        run: Path,
        skills: Skills | None,
        workers: int = 0,
        quiet: bool = False,
    ) -> None:
        self.config, self.run, self._skills = config, run, skills
        self.view = open_view(config, skills, config.num_envs, workers)
        choices = config.num_envs * self.view.envs.decisions
        require(
            config.learner != "sac" or config.replay_size >= choices,
            f"replay_size must hold an epoch's {choices} choices, not {config.replay_size}",
        )
        self.agent = make_agent(config, self.view)
        self.streams = Streams.of(config.seed)
        self._eval_view: View | None = None
        self._workers, self._quiet = workers, quiet
        self._recent: list[tuple[bool, float]] = []  # success and return since the last row
        self._success: float | None = None
        self._stop = stop_after_epoch(f"csd control --resume {run}")

    def train(self) -> bool:
        """Run to the end, or to the end of the epoch in which a signal asks to stop."""
        with self._stop, full_disk_in_one_line(f"csd control --resume {self.run}"):
            episode, clock, state, offset = self._restore()
            log = MetricsLog(self.run, offset, episode)
            try:
                with Progress(self.config.episodes, episode, self._quiet) as progress:
                    done = self._loop(episode, clock, state, log, progress)
            finally:
                log.close()
                self.view.envs.close()
                if self._eval_view is not None:
                    self._eval_view.envs.close()
        return done >= self.config.episodes

    def _loop(
        self, episode: int, clock: Clock, state: Any, log: MetricsLog, progress: Progress
    ) -> int:
        """Train from one episode on; returns the one after the last."""
        config, agent = self.config, self.agent
        policy = agent.snapshot(state)
        if episode == 0:
            log.write({"episodes": 0, **self._evaluate(policy)})
        stop = self._stop.requested
        while episode < config.episodes and not stop:
            warm = episode < config.warmup_episodes
            rollout = self._collect(episode, policy, warm)
            key = jax.random.fold_in(self.streams.update, episode)
            state, info = agent.learn(state, rollout.episodes(), key, warm)
            values = finite(info, episode, self.run)
            policy = agent.snapshot(state)
            episode += config.num_envs
            clock.add(int(rollout.steps.sum()), 0 if warm else config.updates)
            totals = rollout.reward.sum(axis=1).tolist()
            self._recent += list(zip(rollout.success().tolist(), totals, strict=True))
            done = episode >= config.episodes
            evaluate = done or self._due(episode, config.eval_every)
            row: dict[str, Any] = {}
            if evaluate or self._due(episode, config.log_every):
                row = self._row(episode, values, clock)
            if evaluate:
                row |= self._evaluate(policy)
            if row:
                log.write(row)
            progress.update(episode, success=self._success, training=row.get("success"))
            stop = self._stop.requested
            if done or stop or self._due(episode, config.checkpoint_every):
                self._save(episode, clock, state, log)
        return episode

    def _due(self, episode: int, every: int) -> bool:
        """Whether a multiple of `every` lies in the epoch that has just ended."""
        return episode // every > (episode - self.config.num_envs) // every

    def _collect(self, episode: int, policy: Any, warm: bool) -> TaskRollout:
        ids = np.arange(episode, episode + self.config.num_envs)
        noise = self.agent.draw(self.streams.noise, ids)
        choose: Choose = policy_choice(self.agent, policy, noise)
        if warm:
            choose = random_choice(self.agent, noise)
        return roll_out(self.view, choose, episode_seeds(self.config.seed, ids))

    def _row(self, episode: int, values: dict[str, np.ndarray], clock: Clock) -> dict[str, Any]:
        success, returns = zip(*self._recent, strict=True)
        self._recent.clear()
        return {
            "episodes": episode,
            **clock.row(),
            "success": float(np.mean(success)),
            "return": float(np.mean(returns)),
            **{name: float(value) for name, value in values.items()},
        }

    def _evaluate(self, policy: Any) -> dict[str, Any]:
        config = self.config
        if self._eval_view is None:
            count = min(config.eval_episodes, EVALUATION_ENVS)
            self._eval_view = open_view(config, self._skills, count, self._workers)
        choose = policy_choice(self.agent, policy, None)
        result = figures(evaluate(config, self._eval_view, lambda _: choose, config.eval_episodes))
        self._success = result["success"]
        return {"evaluation": result}

    # ---- what a run leaves behind

    def _save(self, episode: int, clock: Clock, state: Any, log: MetricsLog) -> None:
        arrays = checkpoint.flatten({"state": state})
        for name, stored in _memory_sizes(state).items():
            arrays[name] = arrays[name][:stored]
        meta = {
            "metrics_bytes": log.offset(),
            "env_steps": clock.env_steps,
            "updates": clock.updates,
            "seconds": clock.seconds(),
            "recent": self._recent,
            "threads": cores.learner_threads(),
        }
        folder = self.run / rundir.CHECKPOINTS
        last = self._stop.requested or episode >= self.config.episodes
        stopping.save(folder, episode, arrays, meta, last)

    def _restore(self) -> tuple[int, Clock, Any, int]:
        """The newest good checkpoint, or a fresh start."""
        state = self.agent.init(self.streams.init)
        found = checkpoint.load_newest(self.run / rundir.CHECKPOINTS)
        if found is None:
            return 0, Clock(), state, 0
        arrays, meta = found
        cores.warn_if_not(meta.get("threads", cores.learner_threads()), self.run)
        state = jax.tree.map(jnp.asarray, restore_state(state, arrays))
        self._recent = [(bool(success), total) for success, total in meta["recent"]]
        clock = Clock(meta["seconds"], meta["env_steps"], meta["updates"])
        return meta["episode"], clock, state, meta["metrics_bytes"]


def _memory_sizes(state: Any) -> dict[str, int]:
    """How much of each array of the replay is in use, by its name in a checkpoint."""
    memory = getattr(state, "memory", None)
    if memory is None:
        return {}
    stored = min(int(memory.added), len(memory.reward))
    return {f"state/memory/{field}": stored for field in Transitions._fields[:-1]}


def restore_state(template: Any, arrays: dict[str, np.ndarray]) -> Any:
    """An agent's state from a checkpoint's arrays; the unused part of a replay is zeros."""
    memory = getattr(template, "memory", None)
    if memory is not None:
        for field in Transitions._fields[:-1]:
            name = f"state/memory/{field}"
            arrays[name] = checkpoint.padded(name, arrays[name], getattr(memory, field))
    return checkpoint.unflatten({"state": template}, arrays)["state"]
