"""Every method against numbers worked out in NumPy, and in a tiny run that is resumed."""

import math
import re
import shutil
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import csd
from csd import checkpoint, objectives, rundir
from csd.algorithms import (
    ALGORITHMS,
    AnyDistanceConfig,
    CSDConfig,
    DADSConfig,
    DIAYNConfig,
    DisagreementConfig,
    DSDConfig,
    LSDConfig,
)
from csd.methods import METHODS, MethodSpec
from csd.methods.csd import controllability
from csd.methods.distances import find_distance
from csd.methods.lsd import euclidean
from csd.presets import preset
from csd.rl import replay, spectral
from csd.rl.networks import mlp, mlp_init
from csd.rl.replay import Batch
from tests.conftest import tiny_options
from tests.test_runs import assert_same

CONTINUOUS = MethodSpec(obs_dim=3, action_dim=2, skill_dim=2, discrete=False)
DISCRETE = CONTINUOUS._replace(skill_dim=4, discrete=True)


def make_batch(spec=CONTINUOUS, size=6, seed=0):
    """Random transitions."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=(size, spec.skill_dim))
    if spec.discrete:
        skill = np.eye(spec.skill_dim)[rng.integers(spec.skill_dim, size=size)]
    obs = rng.normal(size=(size, spec.obs_dim))
    change = 0.3 * rng.normal(size=(size, spec.obs_dim))
    action = rng.uniform(-1.0, 1.0, size=(size, spec.action_dim))
    arrays = (obs, action, obs + change, skill, np.zeros(size))
    return Batch(*(jnp.asarray(x, jnp.float32) for x in arrays))


def trained(method, spec=CONTINUOUS, steps=20):
    """A method's state after some updates on fresh batches."""
    state = method.init(jax.random.key(0))
    update = jax.jit(method.update)
    for step in range(steps):
        state, info = update(state, make_batch(spec, 32, step), jax.random.key(step))
    assert all(np.isfinite(value).all() for value in info.values())
    return state


def numpy_mlp(params, x):
    """A ReLU network in double precision."""
    x = np.asarray(x, np.float64)
    for index, layer in enumerate(params):
        x = x @ np.asarray(layer["w"], np.float64) + np.asarray(layer["b"])
        x = np.maximum(x, 0.0) if index < len(params) - 1 else x
    return x


# ---- LSD


def test_spectral_normalisation_divides_by_the_largest_singular_value_and_keeps_biases():
    params = mlp_init(jax.random.key(0), [5, 8, 3])
    params = [{"w": layer["w"], "b": layer["b"] + 0.5} for layer in params]
    vectors = spectral.init(jax.random.key(1), params)
    normalize = jax.jit(spectral.normalize)
    for _ in range(300):
        layers, vectors = normalize(params, vectors)
    for layer, original in zip(layers, params, strict=True):
        largest = np.linalg.svd(np.asarray(original["w"], np.float64), compute_uv=False)[0]
        np.testing.assert_allclose(layer["w"], original["w"] / largest, rtol=1e-3)
        np.testing.assert_array_equal(layer["b"], original["b"])


def test_spectral_normalisation_takes_one_power_iteration_a_call():
    params = mlp_init(jax.random.key(0), [5, 3])
    start = np.array([1.0, 0.0, 0.0])
    layers, (after,) = spectral.normalize(params, [jnp.asarray(start)])
    w = np.asarray(params[0]["w"], np.float64)
    v = w @ start / np.linalg.norm(w @ start)
    np.testing.assert_allclose(after, v @ w / np.linalg.norm(v @ w), rtol=1e-4)
    np.testing.assert_allclose(layers[0]["w"], w / np.linalg.norm(v @ w), rtol=1e-4)


def test_lsd_keeps_phi_lipschitz_while_it_trains():
    method = METHODS["lsd"](LSDConfig(phi_hidden=(16, 16)), CONTINUOUS)
    rng = np.random.default_rng(0)
    pairs = [jnp.asarray(rng.normal(size=(500, 3)) * 3.0, jnp.float32) for _ in range(2)]

    def step(state, key):
        obs, noise = jax.random.normal(key, (2, 32, 3))
        skill = jax.random.normal(jax.random.fold_in(key, 1), (32, 2))
        ahead = obs + 0.3 * noise + jnp.pad(skill, ((0, 0), (0, 1)))
        return method.update(state, Batch(obs, skill, ahead, skill, jnp.zeros(32)), key)

    def steepest(state):
        moved = method.embed(state, pairs[0]) - method.embed(state, pairs[1])
        return np.max(np.linalg.norm(moved, axis=1) / np.linalg.norm(pairs[0] - pairs[1], axis=1))

    keys = jax.random.split(jax.random.key(1), 1000)
    state, _ = jax.lax.scan(step, method.init(jax.random.key(0)), keys)
    # The estimate lags a little behind weights that move, and catches up when they rest.
    assert 0.9 < steepest(state) < 1.05
    for _ in range(100):
        state = state._replace(vectors=spectral.normalize(state.phi, state.vectors)[1])
    assert 0.9 < steepest(state) <= 1.0 + 1e-3


def test_lsd_reward_is_the_displacement_along_the_zero_centred_skill():
    method = METHODS["lsd"](LSDConfig(phi_hidden=(8,)), DISCRETE)
    state, batch = trained(method, DISCRETE), make_batch(DISCRETE)
    change = np.asarray(method.embed(state, batch.next_obs) - method.embed(state, batch.obs))
    chosen = np.argmax(batch.skill, axis=1)
    rows = np.arange(len(chosen))
    others = (change.sum(1) - change[rows, chosen]) / 3.0
    reward = method.reward(state, batch, jax.random.key(0))
    np.testing.assert_allclose(reward, change[rows, chosen] - others, rtol=1e-3, atol=1e-6)


def test_lsd_norm_divides_states_by_the_spread_of_all_changes_seen():
    method = METHODS["lsd-norm"](LSDConfig(phi_hidden=(8,)), CONTINUOUS)
    batches = [make_batch(seed=seed, size=50) for seed in range(3)]
    state = method.init(jax.random.key(0))
    for batch in batches:
        state, info = method.update(state, batch, jax.random.key(0))
    changes = np.concatenate([np.asarray(b.next_obs - b.obs) for b in batches])
    np.testing.assert_allclose(info["step_std"], changes.std(axis=0), rtol=1e-4)
    layers, _ = spectral.normalize(state.phi, state.vectors)
    expected = numpy_mlp(layers, np.asarray(batches[0].obs) / changes.std(axis=0))
    np.testing.assert_allclose(method.embed(state, batches[0].obs), expected, rtol=1e-3, atol=1e-5)


# ---- METRA


def test_metra_bounds_every_step_by_one():
    np.testing.assert_array_equal(objectives.constant_distance(jnp.ones((4, 3)), 0.0), np.ones(4))
    config = preset("Probe", "metra").algorithm
    method = METHODS["metra"](config, CONTINUOUS)
    state, batch = method.init(jax.random.key(0)), make_batch()
    _, info = method.update(state, batch, jax.random.key(1))
    change = np.asarray(method.embed(state, batch.next_obs) - method.embed(state, batch.obs))
    slack = np.minimum(1e-3, 1.0 - np.mean(change**2, axis=1))
    np.testing.assert_allclose(info["slack"], slack.mean(), rtol=1e-5)
    assert config.lambda_init == 30.0


# ---- DIAYN


def test_diayn_reward_of_discrete_skills_is_the_log_softmax_of_the_next_state():
    method = METHODS["diayn"](DIAYNConfig((8, 8)), DISCRETE)
    state, batch = trained(method, DISCRETE), make_batch(DISCRETE)
    logits = numpy_mlp(state.discriminator[0], batch.next_obs)
    expected = [
        row[k] - math.log(sum(math.exp(x) for x in row))
        for row, k in zip(logits, np.argmax(batch.skill, axis=1), strict=True)
    ]
    reward = method.reward(state, batch, jax.random.key(0))
    np.testing.assert_allclose(reward, expected, rtol=1e-4)


def test_diayn_reward_of_continuous_skills_is_the_log_density_of_a_gaussian():
    method = METHODS["diayn"](DIAYNConfig((8, 8)), CONTINUOUS)
    state, batch = trained(method), make_batch()
    mean, log_sigma = (numpy_mlp(net, batch.next_obs) for net in state.discriminator)
    expected = [
        sum(
            -0.5 * ((z - m) / math.exp(s)) ** 2 - s - 0.5 * math.log(2 * math.pi)
            for z, m, s in zip(*rows, strict=True)
        )
        for rows in zip(np.asarray(batch.skill), mean, log_sigma, strict=True)
    ]
    reward = method.reward(state, batch, jax.random.key(0))
    np.testing.assert_allclose(reward, expected, rtol=1e-4)


def test_diayn_learns_which_skill_led_to_a_state():
    method = METHODS["diayn"](DIAYNConfig((16,), 1e-2), DISCRETE._replace(skill_dim=3))
    batch = make_batch(DISCRETE._replace(skill_dim=3), 64)
    batch = batch._replace(next_obs=batch.skill)
    state = method.init(jax.random.key(0))
    update = jax.jit(method.update)
    for _ in range(200):
        state, _ = update(state, batch, jax.random.key(0))
    assert np.mean(method.reward(state, batch, jax.random.key(0))) > math.log(0.9)


# ---- DADS


@pytest.mark.parametrize(
    "spec",
    [
        CONTINUOUS,
        CONTINUOUS._replace(unit_length=True),
        DISCRETE,
        DISCRETE._replace(skill_dim=9),
    ],
)
def test_dads_reward_equals_an_explicit_loop_over_other_skills(spec):
    method = METHODS["dads"](DADSConfig((8, 8), alternatives=7), spec)
    state, batch, key = trained(method, spec), make_batch(spec, size=4), jax.random.key(5)
    seen = [
        (np.asarray(x, np.float64) - norm.mean) / np.sqrt(np.asarray(norm.variance) + 1e-5)
        for x, norm in (
            (batch.obs, state.obs_norm),
            (batch.next_obs - batch.obs, state.change_norm),
        )
    ]

    def log_density(row, skill):
        mean = numpy_mlp(state.dynamics, np.concatenate([seen[0][row], skill]))
        return -0.5 * np.sum((seen[1][row] - mean) ** 2)

    keys = jax.random.split(key, (7, 4))
    expected = []
    for row in range(4):
        own, total = log_density(row, batch.skill[row]), 1.0
        for index in range(7):
            other = csd.methods.draw_skill(spec, keys[index, row])
            difference = log_density(row, np.asarray(other)) - own
            total += math.exp(min(50.0, max(-50.0, difference)))
        expected.append(math.log(8.0) - math.log(total))
    np.testing.assert_allclose(method.reward(state, batch, key), expected, rtol=1e-3, atol=1e-5)


def test_dads_ratios_are_clipped_at_fifty():
    own, others = jnp.array([0.0, 0.0]), jnp.array([[1e4, -1e4], [-1e4, -1e4]])
    expected = [math.log(3.0) - 50.0, math.log(3.0)]
    np.testing.assert_allclose(objectives.dads_reward(own, others), expected, rtol=1e-5)


def test_dads_trains_on_batch_statistics_and_keeps_running_ones():
    method = METHODS["dads"](DADSConfig((8,)), CONTINUOUS)
    state, batch = method.init(jax.random.key(0)), make_batch(size=40)
    new, info = method.update(state, batch, jax.random.key(1))
    obs = np.asarray(batch.obs, np.float64)
    change = np.asarray(batch.next_obs, np.float64) - obs
    np.testing.assert_allclose(new.obs_norm.mean, 0.01 * obs.mean(0), rtol=1e-4)
    expected = 0.99 + 0.01 * change.var(0, ddof=1)
    np.testing.assert_allclose(new.change_norm.variance, expected, rtol=1e-5)
    scaled = [(x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) for x in (obs, change)]
    mean = numpy_mlp(state.dynamics, np.concatenate([scaled[0], batch.skill], axis=1))
    square = np.sum((scaled[1] - mean) ** 2, axis=1)
    loss = np.mean(0.5 * square + 1.5 * math.log(2 * math.pi))
    np.testing.assert_allclose(info["dynamics_loss"], loss, rtol=1e-5)


# ---- Disagreement


def test_disagreement_reward_is_the_variance_across_five_models():
    method = METHODS["disagreement"](DisagreementConfig(model_hidden=(8, 8)), CONTINUOUS)
    state, batch = trained(method), make_batch()
    inputs = np.concatenate([batch.obs, batch.action], axis=1)
    members = [jax.tree.map(lambda x, i=i: x[i], state.models) for i in range(5)]
    predictions = np.stack([numpy_mlp(member, inputs) for member in members])
    expected = predictions.var(axis=0).sum(axis=1)
    np.testing.assert_allclose(
        method.reward(state, batch, jax.random.key(0)), expected, rtol=1e-3, atol=1e-7
    )


def test_members_of_the_ensemble_are_trained_independently():
    method = METHODS["disagreement"](DisagreementConfig(2, (4,)), CONTINUOUS)
    state, batch = method.init(jax.random.key(0)), make_batch()
    changed = state._replace(models=jax.tree.map(lambda x: x.at[1].set(0.5), state.models))
    first, second = (method.update(s, batch, jax.random.key(0))[0] for s in (state, changed))
    np.testing.assert_allclose(first.models[0]["w"][0], second.models[0]["w"][0], rtol=1e-6)
    assert (first.models[0]["w"][0] != state.models[0]["w"][0]).any()


# ---- options of DSD


def test_pairs_k_steps_apart_stop_at_the_end_of_the_episode():
    memory = replay.init(2, 4, 1, 1, 1)
    obs = jnp.arange(10.0).reshape(2, 5, 1)
    memory = memory._replace(obs=obs, length=jnp.array([4, 2]))
    batch = replay.sample(memory, replay.ends(memory), jax.random.key(0), 200, later=3)
    rows = np.concatenate([batch.obs, batch.later_obs], axis=1).astype(int)
    pairs = {tuple(row) for row in rows.tolist()}
    assert pairs == {(0, 3), (1, 4), (2, 4), (3, 4), (5, 7), (6, 7)}


def test_distance_and_constraint_use_the_pairs_k_steps_apart():
    method = METHODS["dsd"](AnyDistanceConfig(distance="euclidean", slack=100.0), CONTINUOUS)
    state, batch = method.init(jax.random.key(0)), make_batch()
    batch = batch._replace(later_obs=batch.obs + 2.0)
    _, info = method.update(state, batch, jax.random.key(1))
    change = np.asarray(method.embed(state, batch.later_obs) - method.embed(state, batch.obs))
    slack = np.mean(4.0 - np.mean(change**2, axis=1))
    assert info["distance"] == pytest.approx(2.0)
    np.testing.assert_allclose(info["slack"], slack, rtol=1e-3)
    step = np.asarray(method.embed(state, batch.next_obs) - method.embed(state, batch.obs))
    gain = np.mean(np.sum(step * np.asarray(batch.skill), axis=1))
    np.testing.assert_allclose(info["phi_reward"], gain, rtol=1e-3)


def test_the_one_sided_constraint_bounds_only_forward_displacement():
    phi, direction = jnp.zeros((3, 2)), jnp.array([[0.0, 2.0], [0.0, -2.0], [0.0, 0.0]])
    moved, distance = jnp.tile(jnp.array([3.0, 4.0]), (3, 1)), jnp.ones(3)
    gaps = [
        objectives.constraint_gap(distance, phi, moved, squared, direction)
        for squared in (True, False)
    ]
    # Forwards it is 4 of the length 5, against the direction and without one nothing.
    np.testing.assert_allclose(gaps, [[1 - 16 / 2, 1, 1], [1 - 4, 1, 1]], rtol=1e-6)


def test_a_run_with_both_options_beyond_the_paper_trains(tmp_path):
    options = tiny_options("csd") | {"k_step": 3, "one_sided": True}
    run = csd.train("Probe", run_dir=tmp_path / "run", quiet=True, **options)
    assert run.finished and np.isfinite(rundir.read_metrics(run.dir)[-1]["density_loss"])


# ---- distances by name

USER_MODULE = """
import jax.numpy as jnp
from csd.methods import Distance

number = 3

def manhattan(obs, next_obs):
    return jnp.abs(next_obs - obs).sum(-1)

def wrong_shape(obs, next_obs):
    return next_obs - obs

def counted(config, spec):
    def measure(count, obs, next_obs):
        return manhattan(obs, next_obs) / (1.0 + count), {}
    return Distance(lambda key: jnp.zeros(()), measure, lambda c, a, b, key: (c + 1.0, {}))

ready = counted(None, None)
growing = ready._replace(update=lambda c, a, b, key: (jnp.append(c, 1.0), {}))
"""


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    """A module of the user's in the working directory."""
    (tmp_path / "my_distances_for_test.py").write_text(USER_MODULE)
    monkeypatch.chdir(tmp_path)
    yield "my_distances_for_test"
    sys.modules.pop("my_distances_for_test", None)


def distance_of(name):
    """What DSD logs as the mean distance with a named distance, and the state after."""
    method = METHODS["dsd"](AnyDistanceConfig(distance=name), CONTINUOUS)
    state, info = method.update(method.init(jax.random.key(0)), make_batch(), jax.random.key(1))
    return float(info["distance"]), state.distance, method


def test_a_function_of_the_users_is_the_distance(user_module):
    batch = make_batch()
    expected = np.abs(np.asarray(batch.next_obs - batch.obs)).sum(1).mean()
    assert distance_of(f"{user_module}:manhattan")[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["counted", "ready"])
def test_a_trained_distance_of_the_users_is_trained_also_in_the_warmup(user_module, name):
    _, count, method = distance_of(f"{user_module}:{name}")
    assert count == 1.0
    warm, _ = method.warmup(method.init(jax.random.key(0)), make_batch(), jax.random.key(1))
    assert warm.distance == 1.0


def test_built_in_distances_have_names():
    assert distance_of("constant")[0] == 1.0
    batch = make_batch()
    change = np.asarray(batch.next_obs - batch.obs)
    expected = np.sqrt(np.mean(change**2, axis=1)).mean()
    assert distance_of("euclidean")[0] == pytest.approx(expected, rel=1e-5)
    assert distance_of("controllability")[1].mean[0]["w"].shape[0] == 3


def test_lengths_are_whole_where_the_constraint_is_as_the_paper_writes_it():
    """Published: averages over dimensions; in the paper: a norm, and a sum of squares."""
    batch = make_batch()
    pair = (batch.obs, batch.next_obs)
    change = np.asarray(batch.next_obs - batch.obs)
    plain = euclidean(DSDConfig(constraint="norm"), CONTINUOUS)
    length, _ = plain.measure(plain.init(jax.random.key(0)), *pair)
    np.testing.assert_allclose(length, np.linalg.norm(change, axis=1), rtol=1e-5)

    squared, whole = (
        controllability(CSDConfig(density_hidden=(4,), constraint=form), CONTINUOUS)
        for form in ("squared", "norm")
    )
    state = whole.init(jax.random.key(0))
    root_mean_square, _ = squared.measure(state, *pair)
    length, _ = whole.measure(state, *pair)
    np.testing.assert_allclose(length, change.shape[1] * root_mean_square**2, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("euclidian", "did you mean 'euclidean'"),
        ("no_such_module:distance", "cannot import .* No module named"),
        ("{}:manhatan", "did you mean 'manhattan'"),
        ("{}:number", "must be a function, not int"),
        ("{}:wrong_shape", r"must return shape \(batch,\)"),
        ("{}:growing", "update must return a state with the shapes"),
    ],
)
def test_a_distance_that_cannot_be_used_is_one_line(user_module, name, message):
    with pytest.raises(csd.UserError, match=message) as caught:
        distance_of(name.format(user_module))
    assert "\n" not in str(caught.value)


def test_the_distances_of_the_documentation_work(tmp_path, monkeypatch):
    page = Path(__file__).parents[1] / "docs" / "distances.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "documented_distances.py").write_text("\n".join(blocks))
    monkeypatch.chdir(tmp_path)
    spec, change = CONTINUOUS._replace(obs_dim=4), jnp.array([[3.0, 4.0, 0.0, 0.0]])
    for name, expected in (("my_distance", 5.0), ("surprise", 5.0)):
        config = AnyDistanceConfig(distance=f"documented_distances:{name}")
        distance = find_distance(config, spec)
        state = distance.init(jax.random.key(0))
        length, _ = distance.measure(state, jnp.zeros((1, 4)), change)
        np.testing.assert_allclose(length, [expected], rtol=1e-5)


# ---- whole runs


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_trains_logs_finite_numbers_and_resumes_exactly(method, tmp_path):
    run = csd.train(
        "Probe", method=method, run_dir=tmp_path / "run", quiet=True, **tiny_options(method)
    )
    row = rundir.read_metrics(run.dir)[-1]
    numbers = [v for v in row.values() if not isinstance(v, dict)]
    numbers += [x for v in row.values() if isinstance(v, dict) for x in v.values()]
    assert run.finished and np.isfinite([x for x in numbers if isinstance(x, float)]).all()
    again = tmp_path / "again"
    shutil.copytree(run.dir, again)
    newest = checkpoint.episodes(again / rundir.CHECKPOINTS)[-1]
    for suffix in ("json", "safetensors"):
        (again / rundir.CHECKPOINTS / f"{newest:09d}.{suffix}").unlink()
    assert csd.resume(again, quiet=True).finished
    assert_same(run.dir, again)


@pytest.mark.parametrize("name", ["fast", "paper"])
@pytest.mark.parametrize("method", list(METHODS))
def test_every_preset_of_every_method_is_a_valid_configuration(method, name):
    scales = {"diayn": 1500.0, "dads": 50.0, "disagreement": 200.0, "metra": 1.0, "lsd": 500.0}
    for env in ("Probe", "FetchPickAndPlace", "Ant-v5"):
        config = preset(env, method, name)
        measured = config.normalizer == "preset" or config.method_states == "whitened"
        assert (config.warmup_episodes > 0) == (method in ("csd", "dsd") or measured)
        if method in scales:
            assert config.sac.reward_scale == (1.0 if env == "Ant-v5" else scales[method])


def test_every_method_is_listed_and_configured():
    from csd.catalogue import METHOD_SUMMARIES

    assert list(METHODS) == list(ALGORITHMS) == list(METHOD_SUMMARIES)


def test_lsd_preset_measures_states_in_random_episodes_only(tmp_path):
    options = tiny_options("lsd-preset")
    run = csd.train("Probe", method="lsd-preset", run_dir=tmp_path / "run", quiet=True, **options)
    skills = csd.load(run.dir)
    assert skills.state.normalizer.count == 8 * 24
    std = np.sqrt(skills.state.normalizer.mean_square - skills.state.normalizer.mean**2)
    obs = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    layers, _ = spectral.normalize(
        skills.state.method.phi, [jnp.asarray(v) for v in skills.state.method.vectors]
    )
    seen = (obs - skills.state.normalizer.mean) / np.maximum(std, 0.01)
    expected = mlp(layers, seen[:, [0, 1, 3]])
    np.testing.assert_allclose(skills.embed(obs), expected, rtol=1e-3, atol=1e-5)
