"""Skills as actions, and controllers that choose among them."""

import json
import shutil
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import csd
from csd import checkpoint, envs, rundir, tasks
from csd.config import PPOConfig
from csd.controller import run as controllers
from csd.controller.agents import PPOAgent
from csd.controller.config import ControlConfig
from csd.controller.plots import plot_paths, plot_tasks
from csd.controller.report import success_by_task, table, zero_shot
from csd.controller.rollout import TaskRollout, View
from csd.controller.run import defaults
from csd.controller.video import DONE, TRYING
from csd.errors import UserError
from csd.hierarchy import SkillEnv, SkillEnvs, as_skill, skill_space
from csd.rl import ppo, transitions
from csd.rl.transitions import Episodes
from csd.tasks.base import Reach
from csd.viz.movie import Movie
from tests.conftest import TINY, flags
from tests.test_runs import assert_same
from tests.test_video import frames

SMALL_CONTROL = {
    "episodes": 48,
    "num_envs": 4,
    "updates": 2,
    "batch_size": 16,
    "eval_every": 16,
    "eval_episodes": 6,
    "log_every": 12,
    "checkpoint_every": 20,
}
"""Seconds; checkpoints fall between rows of metrics."""
SMALL_SAC = {
    **SMALL_CONTROL,
    "warmup_episodes": 8,
    "replay_size": 100,
    "actor_hidden": (8, 8),
    "critic_hidden": (8, 8),
}
SMALL_PPO = {**SMALL_CONTROL, "hidden": (8, 8)}


@pytest.fixture(scope="module")
def discrete_run(tmp_path_factory):
    """A tiny run with three discrete skills."""
    options = {**TINY, "skill_type": "discrete", "skill_dim": 3}
    return csd.train("Probe", run_dir=tmp_path_factory.mktemp("run") / "d", quiet=True, **options)


@pytest.fixture(scope="module")
def controlled(tiny_run, discrete_run, tmp_path_factory):
    """A finished tiny controller of each kind."""
    folder = tmp_path_factory.mktemp("control")
    return {
        kind: csd.control(skills, "ProbeGoal", run_dir=folder / kind, quiet=True, **options)
        for kind, skills, options in (
            ("sac", tiny_run.dir, SMALL_SAC),
            ("ppo", discrete_run.dir, SMALL_PPO),
            ("scratch", None, SMALL_SAC),
        )
    }


class Counting(gymnasium.Env):
    """Pays one per step and remembers what was done to it."""

    def __init__(self, extra: int = 0, limit: int = 7) -> None:
        self.observation_space = gymnasium.spaces.Box(-9.0, 9.0, (4 + extra,), np.float32)
        self.action_space = gymnasium.spaces.Box(
            np.array([0.0, -2.0], np.float32), np.array([4.0, 2.0], np.float32)
        )
        self._extra, self._limit = extra, limit

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.actions = 0, []
        return self._observe(), {}

    def step(self, action):
        self.steps += 1
        self.actions.append(action)
        return self._observe(), 1.0, False, self.steps >= self._limit, {"kept": self.steps}

    def _observe(self):
        own = np.linspace(0.0, 0.1 * self.steps, 4)
        return np.concatenate([own, np.full(self._extra, 5.0)]).astype(np.float32)


# ---- SkillEnv


def test_skill_spaces_are_the_published_ones(tiny_run, discrete_run):
    continuous = csd.config.replace(tiny_run.config, skill_unit_length=False)
    discrete = discrete_run.config
    space = skill_space(continuous)
    assert isinstance(space, gymnasium.spaces.Box)
    assert space.shape == (2,) and (space.high == 1.5).all() and (space.low == -1.5).all()
    unit = csd.config.replace(continuous, skill_unit_length=True)
    assert (skill_space(unit).high == 1.0).all()  # type: ignore[union-attr]
    np.testing.assert_allclose(as_skill(unit, [0.3, -0.4]), [0.6, -0.8], rtol=1e-6)
    np.testing.assert_allclose(as_skill(continuous, [0.3, -0.4]), [0.3, -0.4], rtol=1e-6)
    assert skill_space(discrete) == gymnasium.spaces.Discrete(3)
    np.testing.assert_array_equal(as_skill(discrete, np.int64(1)), [0.0, 1.0, 0.0])


def test_a_skill_is_held_rewards_are_summed_and_the_end_stops_it(tiny_run):
    inner = Counting()
    env = SkillEnv(inner, tiny_run.dir, every=5)
    env.reset(seed=0)
    skill = np.array([1.0, -0.5], np.float32)
    obs, reward, terminated, truncated, info = env.step(skill)
    assert (reward, terminated, truncated) == (5.0, False, False)
    assert info == {"kept": 5, "low_level_steps": 5}
    obs, reward, terminated, truncated, info = env.step(skill)
    assert (reward, terminated, truncated) == (2.0, False, True) and info["low_level_steps"] == 2
    np.testing.assert_array_equal(obs, inner._observe())


def test_actions_are_deterministic_and_in_the_environments_own_range(tiny_run):
    skills = csd.load(tiny_run.dir)
    inner = Counting()
    env = SkillEnv(inner, skills, every=3)
    obs, _ = env.reset(seed=0)
    skill = np.array([1.0, -0.5], np.float32)
    expected = skills.act(obs, as_skill(skills.config, skill))
    env.step(skill)
    np.testing.assert_allclose(inner.actions[0], 2.0 * expected + [2.0, 0.0], rtol=1e-5)
    first = inner.actions
    env.reset(seed=0)
    env.step(skill)
    np.testing.assert_array_equal(inner.actions, first)


def test_skills_see_only_what_they_were_trained_on(tiny_run):
    skill = np.array([0.5, 0.5], np.float32)
    plain, longer = Counting(), Counting(extra=3)
    for inner, extra in ((plain, 0), (longer, 3)):
        env = SkillEnv(inner, tiny_run.dir, every=4, extra=extra)
        env.reset(seed=0)
        env.step(skill)
    np.testing.assert_array_equal(plain.actions, longer.actions)


def test_an_observation_that_may_begin_with_something_else_is_refused(tiny_run):
    with pytest.raises(UserError, match=r"\(7,\).*\(4,\)"):
        SkillEnv(Counting(extra=3), tiny_run.dir)
    with pytest.raises(UserError, match=r"exclude_current_positions_from_observation=False"):
        SkillEnv(gymnasium.make("Ant-v5"), "Ant")
    shown = {"exclude_current_positions_from_observation": False}
    ant = gymnasium.make("Ant-v5", include_cfrc_ext_in_observation=False, **shown)
    SkillEnv(ant, "Ant").reset(seed=0)
    SkillEnv(gymnasium.make("HalfCheetah-v5", **shown), "HalfCheetah").reset(seed=0)


def test_a_dictionary_gives_its_observation(tiny_run):
    class InDict(gymnasium.ObservationWrapper):
        def __init__(self, env):
            super().__init__(env)
            goal = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
            self.observation_space = gymnasium.spaces.Dict(
                {"desired_goal": goal, "observation": env.observation_space}
            )

        def observation(self, observation):
            return {"desired_goal": np.ones(2, np.float32), "observation": observation}

    plain, inside = Counting(), Counting()
    for env in (SkillEnv(plain, tiny_run.dir), SkillEnv(InDict(inside), tiny_run.dir)):
        env.reset(seed=0)
        env.step(np.array([0.5, 0.5], np.float32))
    np.testing.assert_array_equal(plain.actions, inside.actions)


def test_what_does_not_fit_is_named_with_its_shapes(tiny_run):
    short = Counting()
    short.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)
    with pytest.raises(UserError, match=r"\(3,\).*\(4,\).*Probe"):
        SkillEnv(short, tiny_run.dir)
    strange = Counting()
    strange.action_space = gymnasium.spaces.Box(-1.0, 1.0, (5,), np.float32)
    with pytest.raises(UserError, match=r"\(5,\).*\(2,\)"):
        SkillEnv(strange, tiny_run.dir)
    with pytest.raises(UserError, match="at least 1"):
        SkillEnv(Counting(), tiny_run.dir, every=0)


def test_a_controller_of_a_travelling_body_sees_how_far_it_is():
    skills = csd.load("Ant")
    assert skills.config.obs_clip == 5.0
    view = View(SkillEnvs(tasks.make("AntGoal", 1), skills, every=25), True)
    near, far = np.zeros((2, 1, view.obs_dim), np.float32)
    near[:, 0], far[:, 0] = 10.0, 20.0
    assert view.see(far)[0, 0] > view.see(near)[0, 0] > 5.0
    view.envs.close()


def test_ppo_only_watches_during_the_warm_up(discrete_run):
    config = csd.config.construct(
        ControlConfig,
        {"skills": "run", "task": "ProbeGoal", "learner": "ppo", "algorithm": PPOConfig((8, 8))}
        | {"episodes": 8, "num_envs": 4, "updates": 2, "batch_size": 8},
    )
    agent = PPOAgent(config, obs_dim=3, action_dim=3, decisions=2)
    fresh = agent.init(jax.random.key(0))
    seen = Episodes(
        jnp.ones((4, 3, 3)),
        jnp.eye(3)[jnp.zeros((4, 2), int)],
        jnp.ones((4, 2)),
        jnp.full(4, 2),
        jnp.zeros(4),
    )
    warm, info = agent.learn(fresh, seen, jax.random.key(1), True)
    assert info == {} and float(warm.normalizer.count) > float(fresh.normalizer.count)
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), warm.ppo, fresh.ppo))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["continuous", "discrete"])
def test_gymnasiums_checker_accepts_it(tiny_run, discrete_run, kind):
    run = tiny_run if kind == "continuous" else discrete_run
    env = SkillEnv(gymnasium.make("csd/ProbeGoal-v0"), str(run.dir), every=4)
    check_env(env, skip_render_check=True)


def test_the_vectorised_form_equals_the_wrapper(tiny_run):
    skills = csd.load(tiny_run.dir)
    many = SkillEnvs(tasks.make("ProbeGoal", 3), skills, every=5)
    one = SkillEnv(gymnasium.make("csd/ProbeGoal-v0"), skills, every=5)
    many.reset([3, 4, 5])
    one.reset(seed=4)
    rng, lengths = np.random.default_rng(0), []
    for _ in range(many.decisions):
        chosen = rng.uniform(-1.0, 1.0, (3, 2)).astype(np.float32)
        result = many.step(as_skill(skills.config, chosen), np.ones(3, bool))
        obs, reward, terminated, truncated, info = one.step(chosen[1])
        np.testing.assert_allclose(result.obs[1], obs, atol=1e-5)
        assert result.reward[1] == reward and result.steps[1] == info["low_level_steps"]
        np.testing.assert_array_equal(result.path[:, -1], result.obs)
        lengths.append(int(result.steps[0]))
    assert lengths == [5, 5, 5, 5, 4] and (terminated or truncated)


# ---- learners


def test_the_ring_keeps_real_steps_and_overwrites_the_oldest():
    ring = transitions.init(4, 1, 1)
    column = np.arange(6, dtype=np.float32).reshape(2, 3, 1)
    episodes = Episodes(
        jnp.asarray(column),
        jnp.asarray(column[:, :2] + 0.5),
        jnp.asarray(column[:, :2, 0] * 10),
        jnp.asarray([2, 1]),
        jnp.asarray([1.0, 0.0]),
    )
    ring = transitions.insert(ring, episodes)
    assert int(ring.added) == 3
    np.testing.assert_array_equal(ring.obs[:3, 0], [0, 1, 3])
    np.testing.assert_array_equal(ring.next_obs[:3, 0], [1, 2, 4])
    np.testing.assert_array_equal(ring.reward[:3], [0, 10, 30])
    np.testing.assert_array_equal(ring.terminal[:3], [0, 1, 0])
    ring = transitions.insert(ring, episodes)
    np.testing.assert_array_equal(ring.obs[:, 0], [1, 3, 3, 0])


def test_a_batch_is_drawn_from_what_is_stored():
    ring = transitions.init(10, 1, 1)._replace(
        obs=jnp.arange(10.0)[:, None], reward=jnp.arange(10.0), added=jnp.int32(3)
    )
    batch, reward = transitions.sample(ring, jax.random.key(0), 200)
    assert set(np.unique(reward)) == {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(batch.obs[:, 0], reward)
    assert batch.skill.shape == (200, 0)


def test_advantages_and_returns_by_hand():
    reward = jnp.array([[1.0, 2.0, 0.0], [0.0, 5.0, 0.0]])
    value = jnp.array([[0.5, 1.0, 9.0], [1.0, 2.0, 3.0]])
    mask = jnp.array([[True, True, False], [True, True, True]])
    got = ppo.advantages(value, reward, mask, discount=0.5, trace=0.8)
    # Row 1: delta_1 = 2 - 1 = 1; delta_0 = 1 + 0.5 - 0.5 = 1; A_0 = 1 + 0.4.
    # Row 2: delta_2 = -3; delta_1 = 5 + 1.5 - 2 = 4.5; delta_0 = 0 + 1 - 1 = 0.
    np.testing.assert_allclose(got, [[1.4, 1.0, 0.0], [0.4 * 3.3, 3.3, -3.0]], rtol=1e-6)
    np.testing.assert_allclose(
        ppo.discounted(reward * mask, 0.5), [[2.0, 2.0, 0.0], [2.5, 5.0, 0.0]]
    )


def test_the_surrogate_is_clipped_by_hand():
    policy = [{"w": jnp.zeros((1, 2)), "b": jnp.log(jnp.array([0.6, 0.4]))}]
    value = [{"w": jnp.zeros((1, 1)), "b": jnp.array([2.0])}]
    batch = ppo.Sample(
        jnp.zeros((2, 1)),
        jnp.array([[1.0, 0.0], [0.0, 1.0]]),
        jnp.log(jnp.array([0.4, 0.5])),  # ratios 1.5 and 0.8
        jnp.array([3.0, 1.0]),  # normalised: 1 and -1
        jnp.array([2.0, 5.0]),
    )
    config = PPOConfig(clip=0.1, entropy_bonus=0.0)
    total, info = ppo.loss((policy, value), config, batch)
    # min(1.5, 1.1) and min(-0.8, -0.9); errors 0 and 9.
    np.testing.assert_allclose(info["policy_loss"], -(1.1 - 0.9) / 2, rtol=1e-5)
    np.testing.assert_allclose(info["value_loss"], 4.5, rtol=1e-6)
    expected = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4))
    np.testing.assert_allclose(info["entropy"], expected, rtol=1e-6)
    np.testing.assert_allclose(total, -0.1 + 4.5, rtol=1e-5)


def test_ppo_learns_which_choice_pays_in_which_state():
    config = ControlConfig(
        "",
        "ProbeGoal",
        learner="ppo",
        normalizer="none",
        updates=10,
        batch_size=64,
        algorithm=PPOConfig(hidden=(16,), lr=1e-2),
    )
    agent = PPOAgent(config, 2, 3, 4)
    state = agent.init(jax.random.key(0))
    rng = np.random.default_rng(0)
    for epoch in range(40):
        obs = rng.choice([-1.0, 1.0], (16, 5, 2)).astype(np.float32)
        noise = agent.draw(jax.random.key(1), np.arange(16) + 16 * epoch)
        policy = agent.snapshot(state)
        action = agent.act(policy, obs[:, :4], noise)
        wanted = np.where(obs[:, :4, 0] > 0, 1 + (obs[:, :4, 1] > 0), 0)
        reward = np.take_along_axis(action, wanted[..., None], axis=-1)[..., 0]
        ends = np.full(16, 4, np.int32), np.ones(16, np.float32)
        episodes = Episodes(*(jnp.asarray(x) for x in (obs, action, reward, *ends)))
        state, _ = agent.learn(state, episodes, jax.random.key(epoch), False)
    assert reward.mean() > 0.9


# ---- controllers on disk


@pytest.mark.parametrize("kind", ["sac", "ppo", "scratch"])
def test_a_resumed_controller_equals_the_uninterrupted_one(controlled, tmp_path, kind):
    run = tmp_path / "run"
    shutil.copytree(controlled[kind].dir, run)
    folder = run / rundir.CHECKPOINTS
    assert checkpoint.episodes(folder) == [40, 48]
    for file in folder.glob("000000048.*"):
        file.unlink()
    assert controllers.resume(run, quiet=True).finished
    assert_same(controlled[kind].dir, run)


def test_another_seed_is_another_run(controlled, tiny_run, tmp_path):
    options = {**SMALL_SAC, "seed": 1}
    other = csd.control(tiny_run.dir, "ProbeGoal", run_dir=tmp_path / "run", quiet=True, **options)
    rows = [rundir.read_metrics(run.dir) for run in (controlled["sac"], other)]
    assert rows[0][-1]["q"] != rows[1][-1]["q"]


def test_metrics_tell_success_return_and_work(controlled):
    for kind in ("sac", "ppo"):
        rows = rundir.read_metrics(controlled[kind].dir)
        assert rows[-1]["episodes"] == 48 and 0 < rows[-1]["env_steps"] <= 48 * 24
        assert {"success", "return", "entropy", "steps_per_second"} <= rows[-1].keys()
        assert [row["episodes"] for row in rows if "evaluation" in row] == [0, 16, 32, 48]
        assert {"success", "success_at_end", "return", "steps"} == rows[-1]["evaluation"].keys()


def test_a_controllers_run_needs_nothing_but_its_folder(tiny_run, tmp_path):
    skills = tmp_path / "skills"
    shutil.copytree(tiny_run.dir, skills)
    run = csd.control(skills, "ProbeGoal", run_dir=tmp_path / "run", quiet=True, **SMALL_SAC)
    shutil.rmtree(skills)
    result = csd.evaluate(run.dir, 4)
    assert {"controller", "random", "zero_shot"} <= result.keys() and result["rollouts"] == 4
    assert csd.evaluate(run.dir, 4) == result
    kept = csd.load(run.dir / rundir.SKILLS)
    original = csd.load(tiny_run.dir)
    obs = np.ones(4, np.float32)
    np.testing.assert_array_equal(kept.act(obs, [1.0, 0.0]), original.act(obs, [1.0, 0.0]))
    np.testing.assert_array_equal(kept.embed(obs), original.embed(obs))


def test_evaluation_and_plots_of_every_kind(controlled):
    for kind, run in controlled.items():
        result = csd.evaluate(run.dir, 4)
        assert ("zero_shot" in result) == (kind == "sac")
        with pytest.raises(UserError, match="is a controller: noise is for the actions of skills"):
            csd.evaluate(run.dir, 4, noise=0.1)
        written = csd.plot(run.dir, 4)
        assert [file.name for file in written] == ["paths.png", "learning.png"]


def test_a_goal_of_x_alone_is_drawn_over_time():
    spec, rng = envs.spec("HalfCheetah"), np.random.default_rng(0)
    data = {
        "controller/path": rng.normal(size=(3, 6, spec.obs_dim + 1)),
        "controller/steps": np.array([5, 3, 5]),
        "controller/success": np.array([False, True, False]),
    }
    figure = plot_paths(defaults(None, "HalfCheetahGoal", "fast"), spec, data)
    (ax,) = figure.axes
    lines = [line.get_xdata() for line in ax.get_lines()]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "x")
    assert [list(x) for x in lines[3:6]] == [[0, 1, 2, 3], [0], [3]]  # path, start, goal
    (ax,) = plot_paths(defaults(None, "HalfCheetahHurdle", "fast"), spec, data).axes
    assert ax.get_xlabel() == "step"
    assert len(ax.get_lines()) == 6  # no goals


def test_where_episodes_are_told_one_of_several_tasks_each_gets_its_rate():
    names = tasks.TASKS["KitchenTask"].rules().variables
    told = np.array([0, 0, 2, 12])
    path = np.zeros((4, 3, 30 + len(names)), np.float32)
    path[np.arange(4), :, 30 + told] = 1.0
    reward = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], np.float32)
    count = np.full(4, 2)
    rollout = TaskRollout(path, reward[..., None], reward, count, count, count, path)
    rates = success_by_task("KitchenTask", rollout)
    assert rates == {names[0]: 0.5, names[2]: 0.0, names[12]: 1.0}
    assert success_by_task("ProbeGoal", rollout) == {}
    figures = dict.fromkeys(("success", "success_at_end", "return", "steps"), 0.5)
    by_task = {"controller": rates, "random": rates}
    result = {"task": "KitchenTask", "controller": figures, "random": figures}
    lines = table(result | {"success_by_task": by_task}).splitlines()
    assert lines[-1].split() == [names[12], "1.00", "1.00"]
    figure = plot_tasks(ControlConfig("RUN", "KitchenTask"), by_task)
    assert len(figure.axes[0].patches) == 6


def test_what_cannot_be_aimed_says_why(discrete_run):
    with pytest.raises(UserError, match="the skills are discrete"):
        zero_shot(defaults(discrete_run.dir, "ProbeGoal", "fast"), 2)


def test_a_controller_killed_while_it_copied_its_skills_goes_on(tiny_run, controlled, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(controlled["sac"].dir / rundir.CONFIG, run)
    assert controllers.resume(run, quiet=True).finished
    assert_same(controlled["sac"].dir, run)


def test_skills_task_and_learner_must_fit(tiny_run, discrete_run, tmp_path):
    with pytest.raises(UserError, match="needs skills of FetchPush; these were learned in Probe"):
        csd.control(tiny_run.dir, "FetchPushGoal", run_dir=tmp_path / "run")
    with pytest.raises(UserError, match="discrete skills need --learner ppo"):
        csd.control(discrete_run.dir, "ProbeGoal", run_dir=tmp_path / "run", learner="sac")
    assert not (tmp_path / "run").exists()


def test_skills_and_controllers_are_not_mistaken_for_each_other(controlled, tiny_run):
    with pytest.raises(UserError, match="holds a controller"):
        csd.load(controlled["sac"].dir)
    with pytest.raises(UserError, match="holds skills, not a controller"):
        controllers.resume(tiny_run.dir)


def test_presets_carry_the_published_numbers(tiny_run, discrete_run):
    def paper(env: str, task: str, **changes) -> ControlConfig:
        skills = csd.config.replace(tiny_run.config, env=env, **changes)
        from csd.controller.presets import preset

        return preset(task, skills, "run", "paper")

    push = paper("FetchPush", "FetchPushGoal")
    assert (push.episodes, push.num_envs, push.updates, push.every) == (64_000, 16, 4, 10)
    assert push.replay_size == 1_000_000 and push.learner == "sac"
    assert (push.algorithm.reward_scale, push.algorithm.action_penalty) == (1.0, 0.0)
    assert push.algorithm.target_period == push.updates  # the published targets: once an epoch
    kitchen = paper("Kitchen", "KitchenTask")
    assert (kitchen.episodes, kitchen.num_envs, kitchen.updates) == (16_000, 2, 10)
    assert kitchen.algorithm.target_period == kitchen.updates
    ant = paper("Ant", "AntGoal", skill_type="discrete", skill_dim=16)
    assert (ant.episodes, ant.num_envs, ant.updates, ant.every) == (64_000, 64, 10, 25)
    assert ant.learner == "ppo" and ant.batch_size == 256
    learner = ant.algorithm
    assert (learner.lr, learner.discount, learner.trace, learner.clip) == (3e-4, 0.99, 0.95, 0.2)
    assert learner.entropy_bonus == 0.01


# ---- the whole way


def test_a_controller_on_skills_solves_what_random_skills_do_not(probe_run, tmp_path):
    options = {"run_dir": tmp_path / "run", "quiet": True, "episodes": 500}
    run = csd.control(probe_run.dir, "ProbeGoal", **options)
    result = csd.evaluate(run.dir, 100)
    assert result["controller"]["success"] > 2.0 * result["random"]["success"]
    assert result["zero_shot"]["success"] > 2.0 * result["random"]["success"]
    assert result["verdict"].startswith("It learned")


def test_the_command_line_end_to_end(tiny_run, command):
    skills = str(tiny_run.dir)
    code, out, err = command("control", skills, "ProbeGoal", "--quiet", "--json", *flags(SMALL_SAC))
    assert (code, err) == (0, "")
    folder = json.loads(out)["run"]
    assert folder == "runs/ProbeGoal-csd-seed0"
    assert (Path(folder) / rundir.SKILLS / rundir.CONFIG).exists()
    assert json.loads(command("control", "--resume", folder, "--json")[1])["finished"]
    result = json.loads(command("evaluate", folder, "--skills", "4", "--json")[1])
    assert result["task"] == "ProbeGoal" and "controller" in result
    code, out, _ = command("control", skills, "ProbeGoal", "--zero-shot", "--episodes", "4")
    assert code == 0 and "zero-shot" in out
    _, out, _ = command("control", "--from-scratch", "ProbeGoal", "--quiet", *flags(SMALL_SAC))
    assert "csd evaluate runs/ProbeGoal-scratch-seed0" in out
    assert "AntMultiGoals" in command("list", "tasks")[1]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["control", "run"], "csd control RUN TASK"),
        (["control", "--from-scratch"], "csd control --from-scratch TASK"),
        (["control", "nowhere", "ProbeGoal"], "no run at nowhere"),
        (["control", "--from-scratch", "ProbeGaol"], "did you mean 'ProbeGoal'"),
        (["control", "--from-scratch", "ProbeGoal", "--zero-shot"], "needs skills"),
        (["control", "--from-scratch", "ProbeGoal", "--epsodes", "3"], "did you mean --episodes"),
        (["control", "--from-scratch", "ProbeGoal", "--every", "0"], "at least 1"),
        (["control", "--resume", "nowhere"], "no run at nowhere"),
        (["control", "--from-scratch", "ProbeGoal", "--episodes", "9"], "must exceed warmup"),
        (["control", "--from-scratch", "ProbeGoal", "--replay-size", "9"], "480 choices, not 9"),
    ],
)
def test_a_mistake_gets_one_line(words, hint, command, tmp_path):
    code, out, err = command(*words)
    assert code == 2 and out == ""
    assert hint in err and len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


# ---- films


def test_a_film_of_a_controller_shows_episodes_with_their_goals(controlled, command):
    run = controlled["ppo"].dir
    code, out, _ = command("video", str(run), "--skills", "3", "--size", "64", "--quiet")
    file = run / "videos" / "episodes.mp4"
    assert (code, out.strip()) == (0, str(file))
    _, pictures = frames(file)
    assert pictures.shape == (25, 2 * 64, 2 * 64, 3)
    red, green, blue = np.moveaxis(pictures[0, :64, :64].astype(int), -1, 0)
    assert ((green > red + 60) & (green > blue + 60)).sum() > 40  # the goal


def test_the_frame_turns_green_when_an_episode_is_paid_and_the_last_picture_stays(
    controlled, monkeypatch
):
    shown = []
    monkeypatch.setattr(Movie, "add", lambda movie, draw: shown.append([draw(0), draw(1)]))
    monkeypatch.setattr(Reach, "judge", lambda rules, obs, step: _first_is_paid_at_five(step))
    csd.video(controlled["sac"].dir, skills=2, size=64, quiet=True)
    corners = [[None if p is None else p[0, 0].tolist() for p in pair] for pair in shown]
    trying, done = TRYING.tolist(), DONE.tolist()
    assert [c[0] for c in corners[:7]] == [trying] * 5 + [done, None]
    assert [c[1] for c in corners] == [trying] * 25


def _first_is_paid_at_five(step):
    reached = np.array([step == 5, False])
    return reached.astype(np.float32), reached
