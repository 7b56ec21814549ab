"""The training loop: collect, store, update, log, evaluate, checkpoint, over and over."""

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from csd import checkpoint, cores, envs, rundir, stopping
from csd.acting import Policy, PolicySet
from csd.clock import Clock
from csd.collect import Rollout, as_episodes, collect, episode_seeds
from csd.config import Config, exploration, fallen
from csd.envs.vector import VectorEnv
from csd.errors import require
from csd.evaluation.distance import distance_profile
from csd.evaluation.skills import Target, evaluation_skills, find_target, measure, roll_out
from csd.kept import Kept, kept_template, widen
from csd.learner import Learner, LearnerState
from csd.metrics import MetricsLog
from csd.progress import Progress
from csd.rl.replay import Replay
from csd.stopping import finite, full_disk_in_one_line, stop_after_epoch

TIMING = ("seconds", "steps_per_second", "updates_per_second")
"""Fields of a metrics row that are not determined by configuration and seed."""


class Streams(NamedTuple):
    """Independent keys of a run; each use folds in an episode's number, none is carried along."""

    init: jax.Array
    skill: jax.Array
    noise: jax.Array
    store: jax.Array
    update: jax.Array

    @classmethod
    def of(cls, seed: int) -> "Streams":
        """The streams of a seed."""
        return cls(*jax.random.split(jax.random.key(seed), 5))


Draws = tuple[list[int], np.ndarray, tuple[np.ndarray, ...]]


class Session(NamedTuple):
    """Everything a checkpoint restores."""

    state: LearnerState
    memory: Replay
    behaviour: Policy
    """The policy that collects the next epoch."""
    kept: Kept | None = None
    """The skills that the run would end with, if these need not be the last ones."""


class Trainer:
    """One run in one directory."""

    def __init__(self, config: Config, run: Path, workers: int = 0, quiet: bool = False) -> None:
        self.config, self.run = config, run
        self.spec = envs.spec(config.env, config.horizon)
        self.learner = Learner(config, self.spec)
        self.streams = Streams.of(config.seed)
        self.envs: VectorEnv = envs.make(config.env, config.num_envs, config.horizon, workers)
        self._eval_envs: VectorEnv | None = None
        self._workers = workers
        self._target: Target | None = None
        self._diverged = 0
        self._moved: list[bool] = []
        self._coverage: float | None = None
        self._quiet = quiet
        self._stop = stop_after_epoch(f"csd train --resume {run}")

    # ---- the loop

    def train(self) -> bool:
        """Run to the end, or to the end of the epoch in which a signal asks to stop."""
        with self._stop, full_disk_in_one_line(f"csd train --resume {self.run}"):
            episode, clock, session, offset = self._restore()
            log = MetricsLog(self.run, offset, episode)
            try:
                with (
                    ThreadPoolExecutor(1) as pool,
                    Progress(self.config.episodes, episode, self._quiet) as progress,
                ):
                    done = self._loop(episode, clock, session, log, pool, progress)
            finally:
                log.close()
                self.envs.close()
                if self._eval_envs is not None:
                    self._eval_envs.close()
        return done >= self.config.episodes

    def _loop(
        self,
        episode: int,
        clock: Clock,
        session: Session,
        log: MetricsLog,
        pool: ThreadPoolExecutor,
        progress: Progress,
    ) -> int:
        """Train from one episode on; returns the one after the last."""
        config, learner = self.config, self.learner
        state, memory, behaviour, kept = session
        pending: Future[Rollout] | None = None
        if episode == 0:
            log.write({"episodes": 0, **self._evaluate(state, 0, None)[0]})
        stop = self._stop.requested
        while episode < config.episodes and not stop:
            warm = episode < config.warmup_episodes
            if pending is None:
                pending = pool.submit(self._collect, episode, behaviour, self._draws(episode))
            rollout = pending.result()
            pending = None
            self._count_diverged(rollout, episode)
            key = jax.random.fold_in(self.streams.store, episode)
            warmth = jnp.float32(warm)
            episodes = as_episodes(rollout, config.sac)
            state, memory = learner.store(state, memory, episodes, key, warmth)
            following = episode + config.num_envs
            if config.overlap:
                behaviour = learner.snapshot(state)
                if following < config.episodes:
                    draws = self._draws(following)
                    pending = pool.submit(self._collect, following, behaviour, draws)
            clock.add(int(rollout.length.sum()), 0)
            info = None
            if clock.env_steps >= config.start_steps:
                state, info = self._update(state, memory, episode, warm)
            episode = following
            done = episode >= config.episodes
            if not config.overlap:
                behaviour = learner.snapshot(state)
            updates = 0 if info is None else (config.method_updates if warm else config.updates)
            clock.add(0, updates)
            self._count_moved(rollout)
            evaluate = done or self._due(episode, config.eval_every)
            row: dict[str, Any] = {}
            if evaluate or self._due(episode, config.log_every):
                row = self._row(episode, info, clock)
            if evaluate:
                if pending is not None:
                    pending.result()  # the simulators are for one at a time; its result is kept
                figures, kept = self._evaluate(state, episode, kept)
                row |= figures
            if row:
                log.write(row)
            progress.update(episode, coverage=self._coverage, lam=row.get("lambda"))
            stop = self._stop.requested
            if done or stop or self._due(episode, config.checkpoint_every):
                self._save(episode, clock, Session(state, memory, behaviour, kept), log)
        if pending is not None:
            pending.result()
        return episode

    def _due(self, episode: int, every: int) -> bool:
        """Whether a multiple of `every` lies in the epoch that has just ended."""
        return episode // every > (episode - self.config.num_envs) // every

    def _draws(self, episode: int) -> Draws:
        """The chance of one epoch: reset seeds, skills and exploration noise."""
        ids = np.arange(episode, episode + self.config.num_envs)
        skills = np.asarray(self.learner.draw_skills(self.streams.skill, ids))
        noise = self.learner.draw_noise(self.streams.noise, ids)
        gaussian, uniform, chance = (np.asarray(x) for x in noise)
        kept = exploration(self.config, episode)
        # An action is random where its chance falls below a probability: larger means rarer.
        noise = (kept * gaussian, uniform, chance / kept)
        return episode_seeds(self.config.seed, ids), skills, noise

    def _collect(self, episode: int, behaviour: Policy, draws: Draws) -> Rollout:
        policy = None if episode < self.config.warmup_episodes else behaviour
        return collect(self.envs, self.config, policy, *draws)

    def _update(
        self, state: LearnerState, memory: Replay, episode: int, warm: bool
    ) -> tuple[LearnerState, dict[str, Any] | None]:
        key = jax.random.fold_in(self.streams.update, episode)
        if warm and self.learner.method.warmup is None:
            return state, None
        step = self.learner.warm if warm else self.learner.train
        state, info = step(state, memory, key)
        return state, finite(info, episode, self.run)

    # ---- what a run leaves behind

    def _row(self, episode: int, info: dict[str, Any] | None, clock: Clock) -> dict[str, Any]:
        """A row of metrics: plain numbers, and dictionaries by state dimension."""
        names = [self.spec.names[index] for index in self.learner.focus]
        row: dict[str, Any] = {"episodes": episode, **clock.row()}
        for name, value in (info or {}).items():
            if value.ndim == 0:
                row[name] = float(value)
            elif value.shape == (len(names),):
                row[name] = dict(zip(names, value.tolist(), strict=True))
        row["update_to_data"] = row["updates"] / max(row["env_steps"], 1)
        row["diverged"] = self._diverged
        if self._moved:
            row["moved_while_training"] = float(np.mean(self._moved))
            self._moved.clear()
        return row

    def _count_diverged(self, rollout: Rollout, episode: int) -> None:
        """Simulations that blew up end their episodes; the first are told, and if all do."""
        broken = rollout.diverged
        require(
            broken < len(rollout.length) or rollout.length.max() > 1,
            f"every episode of {self.config.env} breaks at its first step: "
            "its states are not finite numbers",
        )
        if broken and not self._diverged:
            print(
                f"warning: {broken} of the simulations broke down by episode {episode}: such an "
                "episode ends before the bad state (`diverged` in the metrics counts them)",
                file=sys.stderr,
            )
        self._diverged += broken

    def _count_moved(self, rollout: Rollout) -> None:
        """Remember which collected episodes moved what the environment calls its target."""
        if self.spec.target:
            path = rollout.obs[..., list(self.spec.groups[self.spec.target])]
            distance = np.linalg.norm(path[:, -1] - path[:, 0], axis=-1)
            self._moved += (distance > self.spec.moved).tolist()

    def _evaluate(
        self, state: LearnerState, episode: int, kept: Kept | None
    ) -> tuple[dict[str, Any], Kept | None]:
        """What the present skills do; in the last part of a run, what the kept ones did."""
        skills = evaluation_skills(self.learner, self.config.eval_skills)
        if self._eval_envs is None:
            count = min(len(skills), 64)
            self._eval_envs = envs.make(self.config.env, count, self.config.horizon, self._workers)
        policy = self.learner.snapshot(state)
        acting = policy
        if self.config.keep == "widest":  # as the kept ones will act, down to the last bit
            acting = PolicySet.of(policy, self._policies)
        rollout = roll_out(self.learner, self._eval_envs, acting, skills)
        if self._target is None:
            reference = rollout
            if not self.spec.target:
                reference = roll_out(self.learner, self._eval_envs, None, skills)
            self._target = find_target(self.spec, "", reference.obs)
        result = measure(rollout, self.spec, self._target)
        result |= distance_profile(self.learner, state, rollout)
        self._coverage = result["coverage"]
        row = {"evaluation": result}
        if self.config.keep == "widest" and fallen(self.config, episode) > 0.0:
            kept = widen(kept, policy, rollout, episode, self._policies)
            seen = rollout._replace(obs=kept.obs, length=kept.length)
            row["kept"] = measure(seen, self.spec, self._target)
        return row, kept

    @property
    def _policies(self) -> int:
        """How many policies a run may end with: one for each discrete skill, or one."""
        return self.config.skill_dim if self.config.skill_type == "discrete" else 1

    def _save(self, episode: int, clock: Clock, session: Session, log: MetricsLog) -> None:
        arrays = checkpoint.flatten(session)
        stored = min(int(session.memory.added), self.config.replay_episodes)
        for field in Replay._fields[:-1]:
            arrays[f"memory/{field}"] = arrays[f"memory/{field}"][:stored]
        meta = {
            "metrics_bytes": log.offset(),
            "env_steps": clock.env_steps,
            "updates": clock.updates,
            "seconds": clock.seconds(),
            "diverged": self._diverged,
            "moved": self._moved,
            "threads": cores.learner_threads(),
        }
        folder = self.run / rundir.CHECKPOINTS
        last = self._stop.requested or episode >= self.config.episodes
        stopping.save(folder, episode, arrays, meta, last)

    def _restore(self) -> tuple[int, Clock, Session, int]:
        """The newest good checkpoint, or a fresh start."""
        state = self.learner.init(self.streams.init)
        memory = self.learner.init_replay()
        session = Session(state, memory, self.learner.snapshot(state))
        found = checkpoint.load_newest(self.run / rundir.CHECKPOINTS)
        if found is None:
            return 0, Clock(), session, 0
        arrays, meta = found
        cores.warn_if_not(meta.get("threads", cores.learner_threads()), self.run)
        for field in Replay._fields[:-1]:
            name = f"memory/{field}"
            arrays[name] = checkpoint.padded(name, arrays[name], getattr(memory, field))
        # A run that has been made longer has its last quarter before it again.
        if "kept/obs" in arrays and fallen(self.config, meta["episode"]) > 0.0:
            session = session._replace(kept=kept_template(arrays, session.behaviour))
        session = checkpoint.unflatten(session, arrays)
        session = session._replace(
            state=jax.tree.map(jnp.asarray, session.state),
            memory=jax.tree.map(jnp.asarray, session.memory),
        )
        self._diverged, self._moved = meta["diverged"], meta["moved"]
        clock = Clock(meta["seconds"], meta["env_steps"], meta["updates"])
        return meta["episode"], clock, session, meta["metrics_bytes"]
