"""The rules of every task, one by one."""

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from csd import registration, tasks
from csd.envs import fetch, kitchen, probe
from csd.envs.offscreen import Mark
from csd.errors import UserError
from csd.tasks import locomotion
from csd.tasks.base import Reach, TaskEnvs
from csd.tasks.gym import TaskEnv

SEEDS = list(range(2000))


def states(count: int, dim: int = 29, **columns: float) -> np.ndarray:
    """Zero states with some columns set, e.g. `d0=3.0`."""
    obs = np.zeros((count, dim), np.float32)
    for name, value in columns.items():
        obs[:, int(name[1:])] = value
    return obs


def goals(rules: Reach, dim: int) -> np.ndarray:
    """The goals of two thousand episodes."""
    rules.start(states(len(SEEDS), dim), SEEDS)
    return rules.goal


@pytest.mark.filterwarnings("ignore:.*A Box observation space")
@pytest.mark.parametrize("name", tasks.TASKS)
def test_every_task_is_a_sound_gymnasium_environment_with_the_tasks_own_horizon(name):
    env = gymnasium.make(f"csd/{name}-v0")
    check_env(env.unwrapped, skip_render_check=True)
    pool = tasks.make(name, 1, 1)
    assert env.spec is not None and env.spec.max_episode_steps == pool.spec.horizon
    assert env.observation_space.shape == (len(pool.spec.names),)
    env.close()
    pool.close()


def test_every_task_is_registered():
    assert registration.TASK_STEPS.keys() == tasks.TASKS.keys()


@pytest.mark.parametrize("name", ["ProbeGoal", "FetchPushGoal", "HalfCheetahHurdle"])
def test_single_and_vectorised_episodes_are_the_same(name):
    pool, env = tasks.make(name, 3, 2), gymnasium.make(f"csd/{name}-v0")
    several = pool.reset([5, 6, 7])
    single, _ = env.reset(seed=6)
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(single, several[1])
    for _ in range(5):
        actions = rng.uniform(-1, 1, (3, pool.spec.action_dim)).astype(np.float32)
        several, reward, _ = pool.step(actions, np.ones(3, bool))
        single, own, *_ = env.step(actions[1])
        np.testing.assert_array_equal(single, several[1])
        assert own == reward[1]
    pool.close()


def test_fetch_goals_follow_the_reference():
    for name, low, high in (
        ("FetchPush", (-0.15, -0.15), (0.15, 0.15)),
        ("FetchSlide", (0.1, -0.3), (0.7, 0.3)),
        ("FetchPickAndPlace", (-0.15, -0.15), (0.15, 0.15)),
    ):
        env = fetch.reference(name)
        drawn = goals(tasks.TASKS[f"{name}Goal"].rules(), 25)
        place = drawn[:, :2] - env.initial_gripper_xpos[:2]
        np.testing.assert_allclose(place.min(axis=0), low, atol=0.01)
        np.testing.assert_allclose(place.max(axis=0), high, atol=0.01)
        height = drawn[:, 2] - env.height_offset
        if name == "FetchPickAndPlace":
            assert 0.45 < np.mean(height > 1e-6) < 0.55
            assert 0.43 < height.max() <= 0.4501
        else:
            assert np.abs(height).max() < 1e-6


def test_fetch_pays_one_and_ends_within_five_centimetres():
    rules = tasks.TASKS["FetchPushGoal"].rules()
    obs = states(2, 25)
    rules.start(obs, [0, 1])
    obs[:, 3:6] = rules.observe(obs)
    obs[:, 5] += (0.049, 0.051)
    reward, ended = rules.judge(obs, 1)
    assert reward.tolist() == [1.0, 0.0] and ended.tolist() == [True, False]


def test_a_solved_fetch_state_has_the_object_and_its_relative_place_at_the_goal():
    rules = tasks.TASKS["FetchPushGoal"].rules()
    obs = states(1, 25, d0=1.0, d1=0.5, d2=0.4, d9=0.03)
    rules.start(obs, [0])
    solved = rules.solved(obs)
    assert solved is not None
    goal = rules.observe(obs)
    np.testing.assert_array_equal(solved[:, 3:6], goal)
    np.testing.assert_allclose(solved[:, 6:9], goal - obs[:, :3])
    np.testing.assert_array_equal(solved[:, [0, 1, 2, 9]], obs[:, [0, 1, 2, 9]])


@pytest.mark.parametrize(
    ("name", "reach", "dims"), [("AntGoal", 20, 2), ("HalfCheetahGoal", 60, 1)]
)
def test_locomotion_goals_are_uniform_in_world_coordinates(name, reach, dims):
    drawn = goals(tasks.TASKS[name].rules(), 29)
    assert drawn.shape[1] == dims and np.abs(drawn).max() <= reach
    np.testing.assert_allclose(drawn.min(axis=0), -reach, rtol=0.02)
    np.testing.assert_allclose(drawn.std(axis=0), reach / np.sqrt(3), rtol=0.05)


@pytest.mark.parametrize("name", ["AntGoal", "HalfCheetahGoal"])
def test_a_goal_counts_at_three_metres_but_not_on_the_first_step(name):
    rules = tasks.TASKS[name].rules()
    assert isinstance(rules, Reach)
    obs = states(2)
    rules.start(obs, [0, 1])
    rules.goal = np.zeros_like(rules.goal)
    obs[:, 0] = (3.0, 3.01)
    assert not rules.judge(obs, 1)[1].any()
    reward, ended = rules.judge(obs, 2)
    assert reward.tolist() == [10.0, 0.0] and ended.tolist() == [True, False]


def far(rules: locomotion.MultiGoals) -> np.ndarray:
    """A state in which the present goal is not reached."""
    obs = states(len(rules.goal))
    obs[:, :2] = rules.goal + 10.0
    return obs


def near(rules: locomotion.MultiGoals) -> np.ndarray:
    """A state at the present goal."""
    obs = states(len(rules.goal))
    obs[:, :2] = rules.goal
    return obs


def test_a_reached_goal_moves_the_clock_to_the_next_multiple_of_fifty():
    rules = locomotion.MultiGoals()
    rules.start(states(1), [0])
    assert np.abs(rules.goal).max() <= 7.5
    rewards, ends, clocks = [], [], []
    for step, reach in enumerate([True, True, False, True, True, True], start=1):
        before = rules.goal.copy()
        obs = near(rules) if reach else far(rules)
        reward, ended = rules.judge(obs, step)
        rewards.append(float(reward[0]))
        ends.append(bool(ended[0]))
        clocks.append(int(rules.clock[0]))
        if reward[0] and not ended[0]:
            offset = rules.goal - obs[:, :2]
            assert np.abs(offset).max() <= 7.5 and not np.array_equal(rules.goal, before)
    assert rewards == [0.0, 2.5, 0.0, 2.5, 2.5, 2.5]  # nothing counts on the first step
    assert clocks == [1, 50, 51, 100, 150, 200]
    assert ends == [False, False, False, False, False, True]


def test_a_goal_that_is_missed_is_replaced_after_fifty_steps():
    rules = locomotion.MultiGoals()
    rules.start(states(2), [0, 1])
    changes, last = [], rules.goal.copy()
    for step in range(1, 201):
        obs = far(rules)
        reward, ended = rules.judge(obs, step)
        assert not reward.any() and ended.all() == (step == 200)
        if not np.array_equal(rules.goal, last):
            changes.append(step)
            assert np.abs(rules.goal - obs[:, :2]).max() <= 7.5
        last = rules.goal.copy()
    assert changes == [50, 100, 150]


def cheetah(x: float) -> np.ndarray:
    """An upright HalfCheetah whose back foot is at `x`."""
    return states(1, 18, d0=x + 0.62)


def test_the_back_foot_is_where_mujoco_says():
    model = locomotion.hurdle_model()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        data.qpos[:] = rng.normal(size=9)
        mujoco.mj_kinematics(model, data)
        obs = np.concatenate([data.qpos, data.qvel])[None].astype(np.float32)
        np.testing.assert_allclose(locomotion.back_foot(obs), data.body("bfoot").xpos[0], atol=1e-5)


def test_hurdles_pay_for_each_one_passed_and_cost_for_each_one_passed_backwards():
    rules = locomotion.Hurdles()
    rules.start(cheetah(-0.5), [0])
    moves = [2.9, 3.1, 2.9, 7.5, 30.0, -20.0, -0.5]
    rewards = [float(rules.judge(cheetah(x), 1)[0][0]) for x in moves]
    assert rewards == [0.0, 1.0, -1.0, 2.0, 5.0, -7.0, 0.0]
    assert not rules.judge(cheetah(0.0), 200)[1].any()


def test_the_next_hurdle_is_seen_with_its_distance():
    rules = locomotion.Hurdles()
    rules.start(cheetah(0.0), [0])
    for x, following in ((-16.0, -15.0), (-2.0, -1.0), (3.1, 7.0), (28.0, 15.0)):
        seen = rules.observe(cheetah(x))[0]
        np.testing.assert_allclose(seen, [following, abs(following - x)], atol=1e-5)


def test_hurdles_stop_a_body_that_does_not_jump():
    ways = {}
    for name in ("HalfCheetahGoal", "HalfCheetahHurdle"):
        world = tasks.make(name, 1, 1).envs.worlds[0]  # type: ignore[attr-defined]
        world.reset(0)
        world._qpos[0], world._qvel[0] = 1.5, 8.0
        for _ in range(20):
            obs, _ = world.step(np.zeros(6))
        ways[name] = obs[0]
    assert ways["HalfCheetahHurdle"] < 0.8 * ways["HalfCheetahGoal"]


def test_kitchen_pays_for_the_episodes_own_task_only():
    rules = tasks.TASKS["KitchenTask"].rules()
    obs = np.tile(kitchen.START.astype(np.float32), (40, 1))
    rules.start(obs, list(range(40)))
    code = rules.observe(obs)
    assert code.shape == (40, 13) and (code.sum(axis=1) == 1.0).all()
    assert len(np.unique(code.argmax(axis=1))) > 8
    assert not rules.judge(obs, 1)[1].any()
    microwave = list(kitchen.TASKS).index("Microwave")
    obs[:, 22] = -0.5
    reward, ended = rules.judge(obs, 1)
    np.testing.assert_array_equal(reward, code[:, microwave])
    np.testing.assert_array_equal(ended, code[:, microwave] == 1.0)
    solved = rules.solved(obs)
    assert solved is not None and rules.judge(solved, 1)[1].all()


class Bomb:
    """Two worlds, of which the second blows up at its second step."""

    def __init__(self) -> None:
        self.spec, self.num_envs, self._steps = probe.SPEC, 2, 0

    def reset(self, seeds):
        self._steps = 0
        return np.zeros((2, 4), np.float32)

    def step(self, actions, active):
        self._steps += 1
        state = np.full((2, 4), 0.01 * self._steps, np.float32)
        if self._steps == 2:
            state[1] = np.nan
        return state, np.zeros(2, bool)

    def close(self):
        pass


def test_a_world_that_blows_up_ends_at_its_last_good_state_without_pay():
    pool = TaskEnvs("ProbeGoal", Bomb(), tasks.TASKS["ProbeGoal"].rules())
    pool.reset([0, 1])
    still = np.zeros((2, 2), np.float32)
    first, *_ = pool.step(still, np.ones(2, bool))
    obs, reward, ended = pool.step(still, np.ones(2, bool))
    assert ended.tolist() == [False, True] and reward[1] == 0.0
    np.testing.assert_array_equal(obs[1], first[1])


def test_a_world_that_has_ended_keeps_its_state_and_earns_nothing():
    pool = tasks.make("ProbeGoal", 2)
    obs = pool.reset([0, 1])
    pool.rules.goal = obs[:, 2:4].copy()  # type: ignore[attr-defined]
    later, reward, ended = pool.step(np.ones((2, 2), np.float32), np.array([True, False]))
    assert reward.tolist() == [1.0, 0.0] and ended.tolist() == [True, False]
    np.testing.assert_array_equal(later[1, :4], obs[1, :4])
    assert not np.array_equal(later[0, :2], obs[0, :2])


def test_a_picture_of_a_task_shows_its_goal_where_it_is():
    env = gymnasium.make("csd/ProbeGoal-v0", render_mode="rgb_array")
    obs, _ = env.reset(seed=2)
    picture = np.asarray(env.render())
    assert picture.shape == (480, 480, 3) and env.metadata["render_fps"] == 25
    green = np.argwhere((picture == (25, 191, 51)).all(axis=-1)).mean(axis=0)
    pixels = 1.5 / 479
    place = [green[1] * pixels - 0.75, 0.75 - green[0] * pixels]
    np.testing.assert_allclose(place, obs[4:6], atol=0.02)
    env.close()


def test_seen_worlds_move_as_unseen_ones_do(graphics):
    for name in ("FetchPushGoal", "KitchenTask", "HalfCheetahHurdle"):
        seen = gymnasium.make(f"csd/{name}-v0", render_mode="rgb_array")
        unseen = gymnasium.make(f"csd/{name}-v0")
        np.testing.assert_array_equal(seen.reset(seed=1)[0], unseen.reset(seed=1)[0])
        action = np.full(seen.action_space.shape, 0.5, np.float32)
        for _ in range(2):
            np.testing.assert_array_equal(seen.step(action)[0], unseen.step(action)[0])
            assert len(np.unique(np.asarray(seen.render()))) > 20
        seen.close()
        unseen.close()


def test_what_a_goal_looks_like():
    rules = tasks.TASKS["AntGoal"].rules()
    rules.start(states(2), [0, 1])
    rules.goal = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)  # type: ignore[attr-defined]
    assert rules.sign(states(2), 0) == Mark((3.0, 4.0, 0.0), 3.0, "5 m to go")
    rules = tasks.TASKS["FetchPushGoal"].rules()
    rules.start(states(1, 25), [0])
    mark = rules.sign(states(1, 25), 0)
    assert mark == Mark(tuple(rules.goal[0].tolist()), 0.05)  # type: ignore[attr-defined]
    rules = tasks.TASKS["KitchenTask"].rules()
    rules.start(states(1, 30), [0])
    assert rules.sign(states(1, 30), 0) == list(kitchen.TASKS)[rules.task[0]]  # type: ignore[attr-defined]


def test_an_unknown_render_mode_is_refused():
    with pytest.raises(UserError, match="render_mode must be 'rgb_array' or None, not 'ansi'"):
        TaskEnv("ProbeGoal", render_mode="ansi")
