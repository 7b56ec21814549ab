"""Kitchen: parity with the published loop, tasks, the Gymnasium environment, a tiny run."""

import json
import math

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import csd
from csd import envs, rundir
from csd.collect import Rollout
from csd.envs import kitchen, offscreen
from csd.envs.kitchen import TASKS, KitchenWorld, achieved, from_zyz, to_zyz
from csd.errors import UserError
from csd.evaluation.distance import distance_profile
from csd.evaluation.families import FAMILIES, success_by_skill
from csd.presets import preset
from csd.viz.distance import plot_distance
from csd.viz.drawing import plt
from tests.conftest import TINY
from tests.contacts import ever_touch

TINY_KITCHEN = {
    **TINY,
    "episodes": 16,
    "eval_every": 8,
    "checkpoint_every": 8,
    "horizon": 3,
    "skill_dim": 2,
    "overlap": False,
}


def forward_actions(seed: int, steps: int) -> np.ndarray:
    """Noisy actions that reach down and forwards, where the kettle and the stove are."""
    rng = np.random.default_rng(seed)
    drift = np.array([0.6, 0.9, -0.9, 0.2, -0.2, 0.1, 0.5])
    return np.clip(drift + rng.uniform(-1.0, 1.0, (steps, 7)), -1.0, 1.0)


def published_loop(actions: np.ndarray) -> tuple[np.ndarray, int]:
    """The controller word for word on the whole model, as dm_control steps it.

    There a step is the second half of MuJoCo's and then the first half of the next.
    """
    model = kitchen.load_model(visual=True)
    data, hand = mujoco.MjData(model), model.body(kitchen.HAND).id
    data.qpos[:] = kitchen.START
    mujoco.mj_forward(model, data)
    data.mocap_pos[0], data.mocap_quat[0] = data.xpos[hand], data.xquat[hand]
    states, contacts = [], 0
    for action in actions:
        angles = to_zyz(data.xquat[hand]) - action[3:6]
        for _ in range(40):
            turn = 0.05 * (from_zyz(angles) - data.xquat[hand])
            data.ctrl[7], data.ctrl[8] = action[6], -action[6]
            data.mocap_pos[0], data.mocap_quat[0] = data.xpos[hand], data.xquat[hand]
            data.mocap_pos[0] += 0.05 * action[:3]
            data.mocap_quat[0] += turn
            mujoco.mj_step2(model, data)
            mujoco.mj_step1(model, data)
        states.append(data.qpos.copy())
        contacts = max(contacts, data.ncon)
    return np.array(states), contacts


@pytest.mark.parametrize("seed", [0, 1])
def test_fast_stepping_equals_the_published_loop_bit_for_bit(seed):
    actions = forward_actions(seed, 30)
    world = KitchenWorld()
    world.reset(seed)
    ours = np.array([world.step(action)[0].copy() for action in actions])
    theirs, contacts = published_loop(actions)
    assert contacts > 4  # the kettle rests on four; the arm touches things as well
    np.testing.assert_array_equal(ours, theirs)


def test_the_first_substep_pulls_the_hand_down_as_published():
    world = KitchenWorld()
    start = kitchen.gripper_path(world.reset(0).copy())
    state, _ = world.step(np.zeros(7))
    pulled = kitchen.gripper_path(state) - start
    assert -0.12 < pulled[2] < -0.05
    rest, _ = world.step(np.zeros(7))
    assert abs(kitchen.gripper_path(rest)[2] - kitchen.gripper_path(state)[2]) < 0.01


def test_links_that_are_not_checked_for_contact_never_touch():
    whole, lean = kitchen.load_model(visual=True), kitchen.load_model()
    assert lean.nexclude == len(kitchen.APART)
    pairs = [(f"panda0_link{one}", f"panda0_link{other}") for one, other in kitchen.APART]
    assert not ever_touch(whole, pairs, kitchen.START, range(6), 4_000, margin=0.0005)


def test_the_model_is_the_published_one():
    model = kitchen.load_model()
    assert (model.nq, model.nu, model.nmocap, model.opt.timestep) == (30, 9, 1, 0.002)
    np.testing.assert_array_equal(model.actuator_gainprm[:7, 0], [870] * 4 + [120] * 3)
    np.testing.assert_array_equal(model.actuator_forcerange[:7, 1], [87] * 4 + [12] * 3)
    np.testing.assert_array_equal(model.actuator_ctrlrange[7:], [[0, 0.04]] * 2)
    weld = int(np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_WELD)[0])
    assert model.body(model.eq_obj2id[weld]).name == "panda0_link7"
    np.testing.assert_array_equal(model.eq_data[weld, 3:10], [0, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(model.eq_solref[weld], [0.02, 1])
    np.testing.assert_array_equal(model.eq_solimp[weld, :3], [0.9, 0.95, 0.001])


@pytest.mark.parametrize(
    ("joint", "name"),
    [
        ("robot:panda0_joint7", "arm_7"),
        ("knob_Joint_1", "knob_bottom_right"),
        ("top_left_burner", "burner_top_left"),
        ("light_switch", "light_switch"),
        ("slide_cabinet", "slide_cabinet"),
        ("right_hinge_cabinet", "hinge_right"),
        ("microwave", "microwave"),
        ("kettle", "kettle_x"),
    ],
)
def test_state_dimensions_are_named_after_their_joints(joint, name):
    address = int(kitchen.load_model().joint(joint).qposadr[0])
    assert kitchen.SPEC.names[address] == name


def rotation(axis: str, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    if axis == "z":
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def test_euler_angles_turn_about_z_y_z():
    alpha, beta, gamma = 0.7, 1.1, -0.4
    expected = rotation("z", alpha) @ rotation("y", beta) @ rotation("z", gamma)
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, from_zyz(np.array([alpha, beta, gamma])))
    np.testing.assert_allclose(matrix.reshape(3, 3), expected, atol=1e-12)
    np.testing.assert_allclose(to_zyz(from_zyz(np.array([alpha, beta, gamma]))), [0.7, 1.1, -0.4])


@pytest.mark.parametrize("quat", [[1, 0, 0, 0], [0, 1, 0, 0], [-0.65, 0.64, 0.25, 0.31]])
def test_euler_angles_give_back_the_quaternion_with_its_sign(quat):
    unit = np.array(quat) / np.linalg.norm(quat)
    np.testing.assert_allclose(from_zyz(to_zyz(unit)), unit, atol=1e-12)


def test_the_hand_follows_the_action_and_the_fingers_oppose_each_other():
    world = KitchenWorld()
    for direction in (-1.0, 1.0):
        start = kitchen.gripper_path(world.reset(0).copy())
        action = np.array([direction, 0, 0, 0, 0, 0, 1.0])
        for _ in range(5):
            state, ended = world.step(action)
        assert not ended
        moved = kitchen.gripper_path(state) - start
        assert direction * moved[0] > 0.1 and abs(moved[0]) > 2 * abs(moved[1])
        assert state[7] > 0.03 > state[8]  # one opens while the other closes


def test_every_episode_starts_in_the_one_state_that_the_layout_promises():
    assert kitchen.SPEC.fixed_start
    pool = envs.make("Kitchen", 2)
    np.testing.assert_array_equal(pool.reset([0, 1]), np.float32([kitchen.START] * 2))
    pool.close()


PUBLISHED_TASKS = {
    "BottomRightBurner": ((9, 10), (-0.88, -0.01), 0.5),
    "BottomLeftBurner": ((11, 12), (-0.88, -0.01), 0.5),
    "TopRightBurner": ((13, 14), (-0.88, -0.01), 0.5),
    "TopLeftBurner": ((15, 16), (-0.88, -0.01), 0.5),
    "LightSwitch": ((17, 18), (-0.69, -0.05), 0.44),
    "SlideCabinet": ((19,), (0.37,), 0.1),
    "HingeCabinet": ((20, 21), (0.0, 0.5), 0.2),
    "Microwave": ((22,), (-0.5,), 0.2),
    "KettleTopLeft": ((23, 24, 25), (-0.23, 0.75, 1.62), 0.2),
    "KettleTopRight": ((23, 24, 25), (0.20, 0.75, 1.62), 0.2),
    "KettleBottomRight": ((23, 24, 25), (0.20, 0.35, 1.62), 0.2),
    "KettleLift": ((25,), (2.1,), 0.3),
    "KettleFall": ((25,), (-1.0,), 1.3),
}


def test_the_tasks_are_the_published_ones():
    assert {name: tuple(task) for name, task in TASKS.items()} == PUBLISHED_TASKS


def test_no_task_holds_at_the_start():
    assert not achieved(kitchen.START).any()


@pytest.mark.parametrize("name", TASKS)
def test_a_task_holds_at_its_goal_and_up_to_its_threshold(name):
    task, index = TASKS[name], list(TASKS).index(name)
    state = kitchen.START.copy()
    state[list(task.dims)] = task.goal
    assert achieved(state)[index]
    state[task.dims[0]] = task.goal[0] + task.threshold - 1e-6
    assert achieved(state)[index]
    state[task.dims[0]] = task.goal[0] + task.threshold + 1e-6
    assert not achieved(state)[index]


def rollout_of(obs: np.ndarray, skill: np.ndarray) -> Rollout:
    length = np.full(len(obs), obs.shape[1] - 1)
    return Rollout(obs, obs[:, :-1, :7], skill, length, length * 0, 0)


def test_success_counts_any_time_of_an_episode_and_names_the_skill():
    obs = np.tile(kitchen.START, (4, 3, 1))
    obs[0, 1, 22] = -0.5  # skill 0 opens the microwave in one of two rollouts and lets it shut
    obs[2, 2, 19] = obs[3, 2, 19] = 0.4  # skill 1 slides the cabinet in both
    skill = np.eye(2)[[0, 0, 1, 1]]
    result = FAMILIES["kitchen"].measure(rollout_of(obs, skill), kitchen.SPEC)
    assert result["tasks"] == 2
    assert result["task_success"]["Microwave"] == 0.25
    assert result["task_success"]["SlideCabinet"] == 0.5
    assert sum(result["task_success"].values()) == 0.75
    assert result["skill_tasks"] == {"0": ["Microwave"], "1": ["SlideCabinet"]}
    assert result["reliable_tasks"] == 2
    rarer = rollout_of(obs[[0, 1, 1, 2, 3]], np.eye(2)[[0, 0, 0, 1, 1]])
    assert FAMILIES["kitchen"].measure(rarer, kitchen.SPEC)["reliable_tasks"] == 1
    continuous = FAMILIES["kitchen"].measure(rollout_of(obs, skill + 0.5), kitchen.SPEC)
    assert "skill_tasks" not in continuous
    codes, rates = success_by_skill(obs, skill)
    np.testing.assert_array_equal(codes, np.eye(2))
    assert rates[0, list(TASKS).index("Microwave")] == 0.5


def test_the_environment_passes_gymnasiums_check():
    env = gymnasium.make("csd/Kitchen-v0", render_mode="rgb_array").unwrapped
    env.reset(seed=0)
    try:
        env.render()
        drawn = True
    except UserError:  # nothing here can draw
        drawn = False
    check_env(env, skip_render_check=not drawn)


def test_an_episode_has_fifty_steps_and_tells_the_tasks():
    env = gymnasium.make("csd/Kitchen-v0")
    obs, info = env.reset(seed=3)
    np.testing.assert_array_equal(obs, kitchen.START)
    assert info["tasks"] == dict.fromkeys(TASKS, False)
    ends = [env.step(np.zeros(7, np.float32))[2:4] for _ in range(50)]
    assert ends == [(False, False)] * 49 + [(False, True)]


def test_pictures_show_what_moves_and_do_not_disturb_it():
    env = gymnasium.make("csd/Kitchen-v0", render_mode="rgb_array")
    twin = KitchenWorld()
    env.reset(seed=0)
    twin.reset(0)
    try:
        before = env.render()
    except UserError as error:
        pytest.skip(str(error))
    for action in forward_actions(0, 4).astype(np.float32):
        obs = env.step(action)[0]
        after = env.render()
        expected = twin.step(action)[0]
    np.testing.assert_array_equal(obs, expected)
    assert after.shape == (480, 640, 3) and after.dtype == np.uint8
    changed = (before != after).any(axis=-1).mean()
    assert 0.01 < changed < 0.7
    env.close()


def test_a_missing_graphics_backend_is_one_line(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "nosuch")
    with pytest.raises(UserError, match="install EGL or OSMesa") as caught:
        offscreen._gl_context(8, 8)
    assert "\n" not in str(caught.value)


def test_episodes_depend_on_actions_only():
    actions = np.stack([forward_actions(k, 6) for k in range(3)], axis=1).astype(np.float32)
    results = []
    for workers, before in ((1, 0), (3, 4)):
        pool = envs.make("Kitchen", 3, workers=workers)
        pool.reset([5, 6, 7])
        for action in -actions[:before]:  # an episode leaves no trace in the next
            pool.step(action, np.ones(3, bool))
        pool.reset([workers, 8, 9])
        states = [pool.step(action, np.ones(3, bool))[0] for action in actions]
        results.append(np.array(states))
        pool.close()
    np.testing.assert_array_equal(results[0], results[1])


def test_presets_have_the_published_numbers():
    paper = preset("Kitchen", "csd", "paper")
    assert (paper.episodes, paper.skill_type, paper.skill_dim) == (40_000, "discrete", 16)
    assert (paper.warmup_episodes, paper.sac.reward_scale) == (4_000, 500.0)
    assert preset("Kitchen", "disagreement", "paper").sac.reward_scale == 50.0
    assert preset("Kitchen", "diayn").sac.reward_scale == 1500.0


@pytest.fixture(scope="module")
def kitchen_run(tmp_path_factory, compilation_cache):
    """A finished tiny run."""
    folder = tmp_path_factory.mktemp("kitchen") / "run"
    return csd.train("Kitchen", run_dir=folder, quiet=True, **TINY_KITCHEN)


def test_a_run_logs_tasks_and_the_distance_along_trajectories(kitchen_run):
    row = rundir.read_metrics(kitchen_run.dir)[-1]["evaluation"]
    assert list(row["task_success"]) == list(TASKS) and row["tasks"] == 0
    assert list(row["precision"]) == list(row["weight"]) == list(kitchen.SPEC.names)
    precision = np.array(list(row["precision"].values()))
    assert (precision > 0).all() and row["precision"] != row["weight"]


def test_the_distance_profile_is_averaged_over_real_steps(kitchen_run):
    skills = csd.load(kitchen_run.dir)
    rng = np.random.default_rng(0)
    obs = (kitchen.START + 1e-3 * rng.standard_normal((2, 4, 30))).astype(np.float32)
    rollout = rollout_of(obs, np.eye(2))._replace(length=np.array([3, 1]))
    profile = distance_profile(skills.learner, skills.state, rollout)
    real = np.concatenate([obs[0, :3], obs[1, :1]])
    seen = np.asarray(skills.learner.method_obs(skills.state, real))
    layers = skills.state.method.distance.log_sigma
    for index, layer in enumerate(layers):
        seen = seen @ np.asarray(layer["w"]) + np.asarray(layer["b"])
        seen = np.maximum(seen, 0.0) if index < len(layers) - 1 else seen
    precision = np.exp(-2.0 * seen)
    weight = precision / np.exp(np.log(precision).mean(axis=1, keepdims=True))
    np.testing.assert_allclose(list(profile["precision"].values()), precision.mean(0), rtol=1e-4)
    np.testing.assert_allclose(list(profile["weight"].values()), weight.mean(0), rtol=1e-4)


def test_the_distance_figure_smooths_over_ten_evaluations():
    weight = dict.fromkeys(kitchen.SPEC.names, 1.0)
    rows = [
        {
            "episodes": 100 * index,
            "evaluation": {
                "weight": weight | {"microwave": 11.0 if index == 5 else 1.0},
                "task_success": dict.fromkeys(TASKS, 0.0) | {"Microwave": float(index >= 10)},
            },
        }
        for index in range(40)
    ]
    axes = plot_distance(rows, kitchen.SPEC, "").axes
    (weights,) = (ax for ax in axes if ax.get_title() == "Microwave")
    expected = [1.0] * 5 + [16 / 6, 17 / 7, 18 / 8, 19 / 9] + [2.0] * 6 + [1.0] * 25
    np.testing.assert_allclose(weights.lines[0].get_ydata(), expected)
    (success,) = (ax for ax in axes if ax is not weights and ax.bbox.bounds == weights.bbox.bounds)
    np.testing.assert_allclose(success.lines[0].get_ydata()[9:20], np.arange(11) / 10)
    short = plot_distance(rows[:8], kitchen.SPEC, "").axes  # at most a quarter of the run
    (weights,) = (ax for ax in short if ax.get_title() == "Microwave")
    np.testing.assert_allclose(weights.lines[0].get_ydata()[4:], [1.0, 6.0, 6.0, 1.0])
    plt.close("all")


def test_evaluate_and_plot_tell_of_tasks(kitchen_run):
    result = csd.evaluate(kitchen_run.dir)
    assert result["rollouts"] == 2 and "of 13 tasks" in result["verdict"]
    assert "explained" not in result["skills"]  # two rollouts are always explained by two skills
    assert json.loads(json.dumps(result))["skills"]["skill_tasks"].keys() == {"0", "1"}
    assert "reliable_tasks" not in result["skills"]  # nothing varies, so each goes once
    shaken = csd.evaluate(kitchen_run.dir, noise=0.5)
    assert shaken["rollouts"] == 8 and "reliable_tasks" in shaken["skills"]
    folder = kitchen_run.dir / rundir.EVALUATION
    assert json.loads((folder / "noise-0.5.json").read_text()) == shaken
    assert json.loads((folder / "evaluation.json").read_text()) == result
    asked = kitchen_run.dir / rundir.PLOTS / "skills.png"
    assert asked in csd.plot(kitchen_run.dir, dims="microwave")
    drawn = asked.read_bytes()
    names = {file.name for file in csd.plot(kitchen_run.dir)}
    assert asked.read_bytes() != drawn
    assert names == {"skills.png", "tasks.png", "curves.png", "sigma.png", "distance.png"}
