"""Ant, HalfCheetah and Humanoid: parity with gymnasium, statistics, presets, evaluation."""

import json
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import csd
from csd import checkpoint, envs, rundir
from csd.collect import Rollout, as_episodes, collect
from csd.config import replace
from csd.envs.base import EnvSpec
from csd.envs.locomotion import ASSETS, BODIES, LocomotionWorld
from csd.envs.statistics import measure
from csd.errors import UserError
from csd.evaluation import families
from csd.learner import Learner
from csd.presets import preset
from csd.rl import replay, sac
from csd.rl.optimizer import adam
from csd.viz import locomotion as drawing
from tests.conftest import TINY

POSITIONS = {"exclude_current_positions_from_observation": False}
REFERENCE = {
    "Ant": POSITIONS
    | {"include_cfrc_ext_in_observation": False, "terminate_when_unhealthy": False},
    "HalfCheetah": POSITIONS,
    "Humanoid": POSITIONS
    | {
        f"include_{part}_in_observation": False
        for part in ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")
    },
}
PUBLISHED = json.loads(Path(__file__).with_name("published_statistics.json").read_text())
SMALL = {k: v for k, v in TINY.items() if k not in ("warmup_episodes", "actor_projection")}
SIZES = {"Ant": (29, 8, 200), "HalfCheetah": (18, 6, 200), "Humanoid": (47, 17, 1000)}


@pytest.mark.parametrize("name", list(BODIES))
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_gymnasium_state_by_state(name, seed):
    reference, world = gymnasium.make(f"{name}-v5", **REFERENCE[name]), LocomotionWorld(name)
    expected, _ = reference.reset(seed=seed)
    np.testing.assert_allclose(world.reset(seed), expected, atol=1e-6)
    reach = reference.unwrapped.model.actuator_ctrlrange[:, 1]  # the space itself is rounded
    rng = np.random.default_rng(seed)
    ends = []
    for _ in range(120):
        action = rng.uniform(-1.0, 1.0, len(reach))
        expected, _, terminated, _, _ = reference.step(action * reach)
        obs, ended = world.step(action)
        np.testing.assert_allclose(obs, expected, atol=1e-6)
        assert ended == terminated
        ends.append(ended)
    assert any(ends) == (name == "Humanoid"), "only the Humanoid falls, and it must"
    reference.close()


@pytest.mark.parametrize("name", list(BODIES))
def test_looking_for_no_islands_changes_nothing_under_random_actions(name):
    whole = mujoco.MjModel.from_xml_path(str(ASSETS / BODIES[name].xml))
    lean, reference = LocomotionWorld(name), LocomotionWorld(name, whole)
    assert lean.model.opt.disableflags != reference.model.opt.disableflags
    lean.reset(0), reference.reset(0)
    for action in np.random.default_rng(0).uniform(-1, 1, (200, lean.spec.action_dim)):
        state, ended = lean.step(action)
        expected, fallen = reference.step(action)
        np.testing.assert_array_equal(state, expected)
        assert ended == fallen


@pytest.mark.parametrize("name", list(BODIES))
def test_state_is_named_and_sized_as_published(name):
    spec = envs.spec(name)
    assert (spec.obs_dim, spec.action_dim, spec.horizon) == SIZES[name]
    assert len(set(spec.names)) == spec.obs_dim
    assert [spec.names[i] for i in spec.groups["position"]] == (
        ["x", "z"] if name == "HalfCheetah" else ["x", "y"]
    )


@pytest.mark.parametrize("name", list(BODIES))
def test_number_of_workers_changes_nothing(name):
    size = envs.spec(name).action_dim
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 5, size)).astype(np.float32)
    outcomes = []
    for workers in (1, 3):
        vector = envs.make(name, 5, workers=workers)
        states = [vector.reset([7, 8, 9, 10, 11])]
        for action in actions:
            states.append(vector.step(action, np.ones(5, bool))[0])
        outcomes.append(np.array(states))
        vector.close()
    np.testing.assert_array_equal(outcomes[0], outcomes[1])


@pytest.mark.parametrize("name", list(BODIES))
def test_stored_statistics_agree_with_the_published_ones(name):
    spec, published = envs.spec(name), PUBLISHED[name]
    mean, std = np.array(published["mean"]), np.array(published["std"])
    np.testing.assert_allclose(np.array(spec.preset_std) / std, 1.0, atol=0.04)
    np.testing.assert_allclose((np.array(spec.preset_mean) - mean) / std, 0.0, atol=0.09)


def test_stored_statistics_can_be_measured_again():
    again, spec = measure("HalfCheetah", 300), envs.spec("HalfCheetah")
    np.testing.assert_allclose(np.array(again["std"]) / spec.preset_std, 1.0, atol=0.1)
    off = (np.array(again["mean"]) - spec.preset_mean) / np.array(spec.preset_std)
    np.testing.assert_allclose(off, 0.0, atol=0.1)


def test_a_run_keeps_the_stored_statistics_and_tells_whether_it_travels(tmp_path):
    run = csd.train("Ant", run_dir=tmp_path / "run", horizon=5, quiet=True, **SMALL)
    skills, spec = csd.load(run.dir), envs.spec("Ant")
    moments = skills.state.normalizer
    np.testing.assert_allclose(moments.mean, spec.preset_mean, rtol=1e-5)
    np.testing.assert_allclose(
        np.sqrt(moments.mean_square - moments.mean**2), spec.preset_std, rtol=1e-3
    )
    result = csd.evaluate(run.dir, skills=5)
    assert result["verdict"].startswith("It has not learned to travel")
    assert len(result["skills"]["ends"]) == 5


def test_preset_statistics_need_a_warm_up_where_none_are_stored(tmp_path):
    options = {**TINY, "warmup_episodes": 0, "method_states": "raw"}
    with pytest.raises(UserError, match="set warmup_episodes above 0"):
        csd.train("Probe", run_dir=tmp_path / "run", normalizer="preset", **options)
    assert not (tmp_path / "run").exists()


# ---- early termination


def humanoid(**options) -> tuple[Learner, Rollout]:
    """Random episodes of a Humanoid that falls, and those that do not live to fall."""
    config = replace(preset("Humanoid"), **SMALL, horizon=60, **options)
    learner = Learner(config, envs.spec("Humanoid", 60))
    vector = envs.make("Humanoid", 4, 60)
    ids = np.arange(4)
    noise = tuple(np.asarray(x) for x in learner.draw_noise(jax.random.key(0), ids))
    skills = np.asarray(learner.draw_skills(jax.random.key(0), ids))
    rollout = collect(vector, config, None, [0, 1, 2, 3], skills, noise)
    vector.close()
    return learner, rollout


def test_a_fall_ends_the_episode_and_is_not_bootstrapped():
    learner, rollout = humanoid()
    assert (rollout.length < 60).all() and (rollout.terminal == 1.0).all()
    height = rollout.obs[..., 2]
    for row, length in enumerate(rollout.length):
        assert (height[row, :length] > 1.0).all() and height[row, length] <= 1.0
    stored = as_episodes(rollout, learner.config.sac)
    memory = replay.insert(learner.init_replay(), stored, jax.random.key(0), False)
    batch = replay.sample(memory, replay.ends(memory), jax.random.key(1), 2_000)
    np.testing.assert_array_equal(batch.terminal == 1.0, batch.next_obs[:, 2] <= 1.0)
    assert (batch.obs[:, 2] > 1.0).all(), "no transition starts after the fall"
    assert (batch.terminal == 1.0).any()


def test_the_published_loop_repeats_the_state_before_the_fall():
    learner, kept = humanoid(store_end=False)
    repeated = as_episodes(kept, learner.config.sac)
    for row, length in enumerate(kept.length):
        assert (repeated.obs[row, length] == repeated.obs[row, length - 1]).all()
        assert (kept.obs[row, length] != kept.obs[row, length - 1]).any()
        np.testing.assert_array_equal(repeated.obs[row, :length], kept.obs[row, :length])


def test_a_resumed_humanoid_run_equals_the_uninterrupted_one(tmp_path):
    options = {**SMALL, "episodes": 32, "horizon": 40, "start_steps": 300, "log_every": 4}
    whole = csd.train("Humanoid", run_dir=tmp_path / "whole", quiet=True, **options)
    steps, updates = zip(
        *((row["env_steps"], row["updates"]) for row in rundir.read_metrics(whole.dir)[1:]),
        strict=True,
    )
    learned = np.array(steps) >= 300
    assert not learned[0] and learned[-1], "start_steps must fall inside the run"
    np.testing.assert_array_equal(updates, 3 * np.cumsum(learned))
    half = csd.train("Humanoid", run_dir=tmp_path / "half", quiet=True, **options)
    folder = half.dir / rundir.CHECKPOINTS
    for suffix in ("json", "safetensors"):
        (folder / f"{32:09d}.{suffix}").unlink()
    csd.resume(half.dir, quiet=True)
    first, _ = checkpoint.load(whole.dir / rundir.CHECKPOINTS, 32)
    second, _ = checkpoint.load(folder, 32)
    assert any(first["memory/length"] < 40)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


# ---- the published loop


@pytest.mark.parametrize(
    ("env", "method", "alpha", "scale", "lr", "width", "episodes_an_epoch"),
    [
        ("Ant", "csd", 0.03, 10.0, 1e-4, 512, 10),
        ("HalfCheetah", "csd", 0.1, 10.0, 1e-4, 512, 10),
        ("Humanoid", "csd", 0.3, 10.0, 3e-4, 1024, 5),
        ("Ant", "lsd", 0.003, 1.0, 1e-4, 512, 10),
        ("HalfCheetah", "lsd", 0.003, 1.0, 1e-4, 512, 10),
        ("Humanoid", "lsd", 0.03, 1.0, 1e-4, 1024, 5),
        ("Humanoid", "diayn", 0.01, 1.0, 1e-4, 1024, 5),
    ],
)
def test_paper_presets_have_the_published_flags(
    env, method, alpha, scale, lr, width, episodes_an_epoch
):
    config = preset(env, method, "paper")
    assert (config.sac.alpha, config.sac.reward_scale) == (alpha, scale)
    of = "discriminator" if method == "diayn" else "phi"
    assert config.sac.lr == getattr(config.algorithm, f"{of}_lr") == lr
    assert config.sac.actor_hidden == getattr(config.algorithm, f"{of}_hidden") == (width, width)
    assert (config.num_envs, config.updates, config.method_updates) == (episodes_an_epoch, 64, 32)
    assert (config.skill_type, config.skill_dim, config.batch_size) == ("discrete", 16, 1024)
    assert config.warmup_episodes == 0 and config.obs_clip == 0.0
    on_policy = config.replay_episodes == config.num_envs
    assert on_policy == (env != "Humanoid")


@pytest.mark.parametrize("name", ["fast", "paper"])
@pytest.mark.parametrize("method", list(csd.config.ALGORITHMS))
def test_every_method_has_presets_for_every_body(method, name):
    for env in BODIES:
        config = preset(env, method, name)
        assert config.normalizer == "preset" and config.warmup_episodes == 0
        assert config.sac.alpha_auto == (method in ("metra", "diayn", "dads", "disagreement"))


def test_clamped_spread_starts_near_one_and_is_cut_at_e_squared():
    config = preset("Ant", "csd", "paper").sac
    config = type(config)(**{**vars(config), "actor_hidden": (8, 8)})
    state = sac.init(jax.random.key(0), config, adam(1e-3, 1, 1.0), 45, 8)
    inputs = jax.random.normal(jax.random.key(1), (100, 45))
    mean, log_std = sac.policy(state.actor, config, inputs)
    assert jnp.abs(mean).max() < 0.5 and jnp.abs(log_std).max() < 0.5
    heads = state.actor[-1]
    wide = [*state.actor[:-1], {"w": heads["w"] * 1e4, "b": heads["b"]}]
    _, log_std = sac.policy(wide, config, inputs)
    assert log_std.max() == 2.0
    np.testing.assert_allclose(log_std.min(), np.log(1e-6), rtol=1e-4)


# ---- figures of the family


def rollout_to(ends: list[list[float]], skill: np.ndarray) -> Rollout:
    """Straight lines from the origin."""
    path = np.linspace(0.0, 1.0, 5)[None, :, None] * np.array(ends)[:, None, :]
    ones = np.ones(len(ends))
    return Rollout(path.astype(np.float32), path, skill, ones, ones, 0)


def test_sectors_count_only_directions_reached_beyond_five_metres():
    angles = np.radians([10, 30, 100, 190, 280])
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert families.sectors_reached(6.0 * points) == 4  # 10 and 30 degrees share a sector
    assert families.sectors_reached(4.9 * points) == 0
    assert families.sectors_reached(np.array([[6.0, -1e-20]])) == 1


def test_travelling_tells_where_each_skill_ends():
    spec = EnvSpec("Flat", 2, 1, 4, ("x", "y"), {"position": (0, 1)}, target="position")
    skill = np.eye(2, dtype=np.float32)[[0, 0, 1, 1]]
    rollout = rollout_to([[20, 0], [22, 0], [-3, 4], [-3, 8]], skill)
    result = families.travelling(rollout, spec)
    assert (result["furthest"], result["x_span"], result["sectors"]) == (22.0, 25.0, 2)
    assert result["ends"] == [[-3.0, 6.0], [21.0, 0.0]]
    assert result["destinations"] == 2


def test_all_ends_near_the_start_are_one_destination():
    spec = EnvSpec("Flat", 2, 1, 4, ("x", "y"), {"position": (0, 1)}, target="position")
    rollout = rollout_to([[1, 1], [-1, 1], [-1, -1]], np.eye(3, dtype=np.float32))
    assert families.travelling(rollout, spec)["destinations"] == 1


def test_verdict_asks_for_distance_and_coverage():
    def told(moved: float, coverage: int) -> str:
        own = {"moved": moved, "coverage": coverage, "x_span": 40.0, "sectors": 8}
        chance = {"moved": 0.0, "coverage": 20, "x_span": 3.0, "sectors": 0}
        return families.travel_verdict({"skills": own, "random": chance})

    assert told(0.9, 300).startswith("It learned to travel: 90%") and "8 of 8" in told(0.9, 300)
    assert told(0.4, 160).startswith("It learned to travel")  # some skills stay, others go far
    assert told(0.2, 35).startswith("It is beginning to travel")
    assert told(0.2, 160).startswith("It is beginning to travel")
    assert told(0.0, 20).startswith("It has not learned to travel")


@pytest.mark.parametrize("name", list(BODIES))
def test_paths_are_drawn_from_above_or_as_lines_of_x(name):
    config, spec = preset(name), envs.spec(name)
    obs = np.random.default_rng(0).normal(size=(3, 6, spec.obs_dim)).astype(np.float32)
    skill = np.eye(3, config.skill_dim, dtype=np.float32)
    data = {"obs": obs, "skill": skill, "episode": np.array([8])}
    ax = drawing.figures(config, spec, data)["skills"].axes[0]
    if name == "HalfCheetah":
        drawn = [np.array(c.get_segments())[:, 0, 0] for c in ax.collections]
        np.testing.assert_allclose(drawn, obs[:, :-1, 0])
    else:
        drawn = [line.get_xydata() for line in ax.lines]
        np.testing.assert_allclose(drawn, obs[..., :2])
        assert ax.get_xlim() == ax.get_ylim()
