"""Replay, normaliser, SAC and the learner's pieces on numbers that can be checked by hand."""

import dataclasses
from functools import partial

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from csd import envs
from csd.acting import act
from csd.collect import Rollout, as_episodes, collect, episode_seeds
from csd.config import CSDConfig, SACConfig, exploration, gradient_steps, replace
from csd.envs.base import focus_indices
from csd.envs.vector import diverged
from csd.learner import Learner, pieces
from csd.methods import METHODS, MethodSpec, fixed
from csd.methods.dsd import dsd
from csd.presets import preset
from csd.rl import normalizer, replay, sac
from csd.rl.networks import dense_init, mlp
from csd.rl.optimizer import adam, descend
from csd.rl.replay import Batch
from csd.tasks.locomotion import hurdle_world
from csd.training import Trainer
from tests.conftest import TINY

ADAM = optax.adam(1e-3)


def episodes(values, lengths, terminal=None, horizon=3):
    """Episodes whose every state is [value, step]."""
    count = len(values)
    obs = np.zeros((count, horizon + 1, 2), np.float32)
    obs[:, :, 0] = np.array(values)[:, None]
    obs[:, :, 1] = np.arange(horizon + 1)
    return replay.Replay(
        jnp.asarray(obs),
        jnp.zeros((count, horizon, 1)),
        jnp.ones((count, 1)),
        jnp.asarray(lengths, jnp.int32),
        jnp.asarray(terminal if terminal is not None else np.zeros(count), jnp.float32),
        jnp.int32(count),
    )


def test_replay_overwrites_the_oldest():
    memory = replay.init(2, 3, 2, 1, 1)
    for value in (1.0, 2.0, 3.0):
        memory = replay.insert(memory, episodes([value], [3]), jax.random.key(0), False)
    np.testing.assert_array_equal(memory.obs[:, 0, 0], [3.0, 2.0])


def test_replay_overwrites_random_distinct_slots_once_full():
    memory = replay.init(8, 3, 2, 1, 1)
    memory = replay.insert(memory, episodes(np.zeros(8), [3] * 8), jax.random.key(0), True)
    slots = set()
    for seed in range(20):
        new = replay.insert(memory, episodes([1.0, 2.0], [3, 3]), jax.random.key(seed), True)
        changed = np.flatnonzero(np.asarray(new.obs[:, 0, 0]))
        assert len(changed) == 2
        slots |= set(changed.tolist())
    assert len(slots) > 4


def test_samples_are_uniform_over_real_transitions_and_never_cross_an_episode():
    memory = replay.init(4, 3, 2, 1, 1)
    memory = replay.insert(
        memory, episodes([1.0, 2.0], [1, 3], [1.0, 0.0]), jax.random.key(0), False
    )
    batch = replay.sample(memory, replay.ends(memory), jax.random.key(1), 8000)
    pairs, counts = np.unique(np.asarray(batch.obs), axis=0, return_counts=True)
    np.testing.assert_array_equal(pairs, [[1, 0], [2, 0], [2, 1], [2, 2]])
    assert np.abs(counts / 8000 - 0.25).max() < 0.02
    np.testing.assert_array_equal(batch.next_obs - batch.obs, np.tile([0.0, 1.0], (8000, 1)))
    # Only the first episode truly ended, and only its last transition has no future.
    np.testing.assert_array_equal(batch.terminal, np.asarray(batch.obs[:, 0]) == 1.0)


def test_normalizer_counts_one_zero_sample_and_skips_masked_rows():
    state = normalizer.init(1)
    obs = jnp.array([[2.0], [4.0], [100.0]])
    state = normalizer.update(state, obs, jnp.array([1.0, 1.0, 0.0]))
    # Samples 0, 2, 4: mean 2, variance 8/3.
    np.testing.assert_allclose(state.mean, [2.0])
    np.testing.assert_allclose(
        normalizer.apply(state, jnp.array([4.0])), [2.0 / np.sqrt(8.0 / 3.0)], rtol=1e-5
    )
    assert normalizer.apply(state, jnp.array([1e9]))[0] == normalizer.CLIP


def test_statistics_of_the_warm_up_hold_no_zero():
    state = normalizer.init(1, zeros=0.0)
    state = normalizer.update(state, jnp.zeros((2, 1)), jnp.zeros(2))  # nothing counts yet
    obs = 100.0 + jnp.array([[-1.0], [1.0]] * 50)
    state = normalizer.update(state, obs, jnp.ones(100))
    np.testing.assert_allclose(normalizer.apply(state, jnp.array([101.0])), [1.0], rtol=0.01)


def test_log_density_of_a_squashed_action_matches_the_change_of_variables():
    config = SACConfig(actor_hidden=(4,), actor_projection=0)
    state = sac.init(jax.random.key(0), config, ADAM, 3, 2)
    inputs = jax.random.normal(jax.random.key(1), (5, 3))
    action, log_prob = sac.sample_action(state.actor, config, inputs, jax.random.key(2))
    mean, log_std = sac.policy(state.actor, config, inputs)
    raw = np.arctanh(np.asarray(action, np.float64))
    std = np.exp(np.asarray(log_std, np.float64))
    gaussian = -0.5 * ((raw - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
    expected = (gaussian - np.log(1 - np.asarray(action, np.float64) ** 2)).sum(-1)
    np.testing.assert_allclose(log_prob, expected, rtol=1e-2, atol=1e-2)


def make_batch(size=6, terminal=0.0):
    keys = jax.random.split(jax.random.key(0), 4)
    return Batch(
        jax.random.normal(keys[0], (size, 3)),
        jax.random.uniform(keys[1], (size, 2)),
        jax.random.normal(keys[2], (size, 3)),
        jax.random.normal(keys[3], (size, 2)),
        jnp.full(size, terminal),
    )


@pytest.mark.parametrize("shape", [(3, 5), (300, 300)])
def test_layers_start_as_jax_would_start_them(shape):
    key = jax.random.key(3)
    layer = dense_init(key, *shape, scale=0.5)
    glorot = jax.nn.initializers.glorot_uniform()(key, shape)
    np.testing.assert_array_equal(layer["w"], 0.5 * glorot)
    assert not layer["b"].any()


@pytest.mark.parametrize("terminal", [0.0, 1.0])
def test_critic_target_bootstraps_only_where_there_is_a_future(terminal):
    config = SACConfig(actor_hidden=(4,), actor_projection=0, critic_hidden=(4,), entropy="none")
    state, batch = sac.init(jax.random.key(0), config, ADAM, 5, 2), make_batch(terminal=terminal)
    key, reward = jax.random.key(3), jnp.arange(6.0)
    _, info = sac.critic_loss(state.critic, state, config, batch, jnp.zeros(()), reward, key)
    inputs = jnp.concatenate([batch.next_obs, batch.skill], axis=-1)
    action, _ = sac.sample_action(state.target_actor, config, inputs, key)
    future = mlp(state.target_critic[0], jnp.concatenate([inputs, action], axis=-1))[:, 0]
    expected = np.mean(reward + config.discount * (1.0 - terminal) * future)
    np.testing.assert_allclose(info["q_target"], expected, rtol=1e-5)


SMALL_NETS = {"actor_hidden": (4,), "actor_projection": 0, "critic_hidden": (4,)}


def with_spread(state, log_std):
    """An actor with two actions of mean zero and this spread, whatever it sees."""
    heads = jnp.concatenate([jnp.zeros(2), jnp.full(2, np.arctanh((log_std + 5) / 3.5 - 1))])
    last = {"w": jnp.zeros_like(state.actor[-1]["w"]), "b": heads}
    return state._replace(actor=[*state.actor[:-1], last])


def test_textbook_entropy_lowers_what_a_certain_future_is_worth():
    """y = r + gamma (Q' - alpha log pi') for the critic, alpha log pi - Q for the actor."""
    config = SACConfig(**SMALL_NETS, entropy="soft", target_actor=False, alpha=0.5)
    config = dataclasses.replace(config, action_penalty=0.0)
    state, batch = sac.init(jax.random.key(0), config, ADAM, 5, 2), make_batch()
    key, reward = jax.random.key(3), jnp.arange(6.0)
    _, info = sac.critic_loss(state.critic, state, config, batch, jnp.zeros(()), reward, key)
    inputs = jnp.concatenate([batch.next_obs, batch.skill], axis=-1)
    action, log_prob = sac.sample_action(state.actor, config, inputs, key)
    future = sac.q_values(state.target_critic, inputs, action)[0] - 0.5 * log_prob
    np.testing.assert_allclose(info["q_target"], np.mean(reward + 0.98 * future), rtol=1e-5)

    inputs = jnp.concatenate([batch.obs, batch.skill], axis=-1)
    action, log_prob = sac.sample_action(state.actor, config, inputs, key)
    q = sac.q_values(state.critic, inputs, action)[0]
    loss, _ = sac.actor_loss(state.actor, state.critic, state.log_alpha, config, inputs, key)
    np.testing.assert_allclose(loss, np.mean(0.5 * log_prob - q), rtol=1e-5)


@pytest.mark.parametrize(("log_std", "clipped"), [(0.0, False), (-4.0, True)])
def test_the_published_entropy_is_one_offset_of_the_whole_batch(log_std, clipped):
    """0.2 clip(-alpha log pi, -1, 0): it never rewards, and takes 0.2 at the most."""
    config = SACConfig(**SMALL_NETS, alpha=1.0)
    state, batch = sac.init(jax.random.key(0), config, ADAM, 5, 2), make_batch()
    state = with_spread(state, log_std)
    actor_key, critic_key = jax.random.split(jax.random.key(1))
    inputs = jnp.concatenate([batch.obs, batch.skill], axis=-1)
    _, log_prob = sac.sample_action(state.actor, config, inputs, actor_key)
    offset = np.mean(0.2 * np.clip(-np.asarray(log_prob), -1.0, 0.0))
    assert (offset == pytest.approx(-0.2)) == clipped and -0.2 - 1e-6 <= offset <= 0.0
    _, without = sac.critic_loss(
        state.critic, state, config, batch, jnp.zeros(()), jnp.ones(6), critic_key
    )
    _, info = sac.update(state, config, ADAM, batch, jnp.ones(6), jax.random.key(1))
    np.testing.assert_allclose(info["q_target"], without["q_target"] + offset, rtol=1e-5)


@pytest.mark.parametrize(("log_std", "rises"), [(-4.0, True), (0.0, False)])
def test_the_temperature_rises_while_actions_vary_too_little(log_std, rises):
    config = SACConfig(**SMALL_NETS, entropy="soft", alpha_auto=True, alpha=0.1)
    state = sac.init(jax.random.key(0), config, ADAM, 5, 2)
    state = with_spread(state, log_std)
    after, info = sac.update(state, config, ADAM, make_batch(), jnp.ones(6), jax.random.key(1))
    assert (info["entropy"] < -1.0) == rises  # the aim is half a nat below zero for each action
    assert (after.log_alpha > state.log_alpha) == rises


def test_targets_move_only_every_period():
    config = SACConfig(actor_hidden=(4,), actor_projection=0, critic_hidden=(4,), target_period=2)
    state = sac.init(jax.random.key(0), config, ADAM, 5, 2)
    first, _ = sac.update(state, config, ADAM, make_batch(), jnp.ones(6), jax.random.key(1))
    second, _ = sac.update(first, config, ADAM, make_batch(), jnp.ones(6), jax.random.key(2))
    before, after, online = (
        s.target_critic[0][0]["w"]
        for s in (first, second, second._replace(target_critic=second.critic))
    )
    np.testing.assert_array_equal(state.target_critic[0][0]["w"], before)
    np.testing.assert_allclose(after, before + 0.005 * (online - before), rtol=1e-5)


def test_two_critics_use_the_smaller_value():
    config = SACConfig(
        critics=2, actor_hidden=(4,), actor_projection=0, critic_hidden=(4,), entropy="none"
    )
    state, batch, key = (
        sac.init(jax.random.key(0), config, ADAM, 5, 2),
        make_batch(),
        jax.random.key(3),
    )
    inputs = jnp.concatenate([batch.obs, batch.skill], axis=-1)
    action, _ = sac.sample_action(state.actor, config, inputs, key)
    both = sac.q_values(state.critic, inputs, action)
    assert (both[0] > both[1]).any() and (both[0] < both[1]).any()
    loss, _ = sac.actor_loss(state.actor, state.critic, state.log_alpha, config, inputs, key)
    expected = -np.mean(np.minimum(both[0], both[1])) + np.mean(np.asarray(action) ** 2)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_lambda_rises_while_the_constraint_is_broken_and_falls_while_it_holds():
    spec, batch = MethodSpec(3, 2, 2, False), make_batch()
    for length, sign in ((0.0, 1.0), (100.0, -1.0)):
        method = dsd(CSDConfig(), spec, fixed(lambda a, b, d=length: jnp.full(len(a), d)))
        state = method.init(jax.random.key(0))
        new, info = method.update(state, batch, jax.random.key(1))
        assert sign * (new.log_lambda - state.log_lambda) > 0.0
        assert info["violated"] == (1.0 if sign > 0 else 0.0)


def test_phi_satisfies_the_constraint_after_training():
    spec = MethodSpec(3, 2, 2, False)
    config = CSDConfig(lambda_init=10.0, phi_lr=1e-2, lambda_lr=1e-2, slack=1e-3)
    method = dsd(config, spec, fixed(lambda a, b: jnp.full(len(a), 0.5)))
    batch = make_batch(64)
    state = method.init(jax.random.key(0))
    step = jax.jit(lambda s, _: method.update(s, batch, jax.random.key(1)))
    for _ in range(1500):
        state, info = step(state, None)
    delta = method.embed(state, batch.next_obs) - method.embed(state, batch.obs)
    mean_square = np.mean(np.asarray(delta) ** 2, axis=-1)
    assert np.mean(mean_square) < 0.3 and info["phi_reward"] > 0.2


def test_density_learns_mean_and_spread_of_the_state_change():
    spec = MethodSpec(1, 1, 2, False)
    method = METHODS["csd"](CSDConfig(density_loss="gaussian", density_hidden=(16,)), spec)
    state = method.init(jax.random.key(0))

    def step(state, key):
        obs = jax.random.normal(key, (128, 1))
        change = 0.3 + 0.2 * jax.random.normal(jax.random.fold_in(key, 1), (128, 1))
        batch = Batch(obs, jnp.zeros((128, 1)), obs + change, jnp.ones((128, 2)), jnp.zeros(128))
        return method.warmup(state, batch, key)

    state, _ = jax.lax.scan(step, state, jax.random.split(jax.random.key(0), 1500))
    obs = jnp.zeros((1, 1))
    sigma = jnp.exp(mlp(state.distance.log_sigma, obs))
    np.testing.assert_allclose(mlp(state.distance.mean, obs), [[0.3]], atol=0.05)
    np.testing.assert_allclose(sigma, [[0.2]], rtol=0.15)


def test_warmup_trains_nothing_but_the_distance():
    learner = Learner(replace(preset("Probe"), **TINY), envs.spec("Probe"))
    state, memory = learner.init(jax.random.key(0)), learner.init_replay()
    states = jax.random.normal(jax.random.key(2), memory.obs.shape)
    memory = memory._replace(length=memory.length.at[:4].set(24), obs=states)
    before = jax.tree.map(np.array, state)
    after, _ = learner.warm(state, memory, jax.random.key(1))
    jax.tree.map(np.testing.assert_array_equal, before.sac, after.sac)
    jax.tree.map(np.testing.assert_array_equal, before.method.phi, after.method.phi)
    assert before.method.log_lambda == after.method.log_lambda
    assert (before.method.distance.mean[0]["w"] != after.method.distance.mean[0]["w"]).any()


ORDERS = {
    "published": {"updates": 6, "method_updates": 6},
    "METRA's": {"updates": 6, "method_updates": 6, "method_first": True},
    "published for locomotion": {"updates": 4, "method_updates": 6},
}


@pytest.mark.parametrize("options", ORDERS.values(), ids=ORDERS)
def test_an_epoch_in_pieces_equals_one_step_after_another(options):
    learner = Learner(replace(preset("Probe"), **(TINY | options)), envs.spec("Probe"))
    config, method, key = learner.config, learner.method, jax.random.key(1)
    state, memory = learner.init(jax.random.key(0)), learner.init_replay()
    states = jax.random.normal(jax.random.key(2), memory.obs.shape)
    skills = jax.random.normal(jax.random.key(3), memory.skill.shape)
    memory = memory._replace(length=memory.length.at[:4].set(24), obs=states, skill=skills)
    here, ends = jax.tree.map(jnp.copy, state), replay.ends(memory)

    def view(key):
        batch = replay.sample(memory, ends, key, config.batch_size)
        seen = [learner.method_obs(here, x) for x in (batch.obs, batch.next_obs)]
        return batch, batch._replace(obs=seen[0], next_obs=seen[1])

    def policy_step(learned, now, key):
        batch_key, reward_key, sac_key = jax.random.split(key, 3)
        batch, seen = view(batch_key)
        reward = config.sac.reward_scale * method.reward(now, seen, reward_key)
        scaled = [
            normalizer.apply(here.normalizer, x, config.obs_clip)
            for x in (batch.obs, batch.next_obs)
        ]
        batch = batch._replace(obs=scaled[0], next_obs=scaled[1])
        optimizer = adam(config.sac.lr, gradient_steps(config, config.updates), config.final_lr)
        return sac.update(learned, config.sac, optimizer, batch, reward, sac_key)[0]

    def method_step(now, policy_key, key):
        own_key, update_key = jax.random.split(key)
        shared_key = jax.random.split(policy_key, 3)[0]
        seen = view(shared_key if config.method_first else own_key)[1]
        return method.update(now, seen, update_key)[0]

    policy_keys, method_keys = (
        jax.random.split(jax.random.fold_in(key, i), n)
        for i, n in enumerate((config.updates, config.method_updates))
    )
    learned, now = here.sac, here.method
    if config.updates != config.method_updates:
        for policy_key in policy_keys:
            learned = policy_step(learned, now, policy_key)
        for method_key in method_keys:
            now = method_step(now, policy_keys[0], method_key)
    else:
        for policy_key, method_key in zip(policy_keys, method_keys, strict=True):
            if config.method_first:
                now = method_step(now, policy_key, method_key)
            learned = policy_step(learned, now, policy_key)
            if not config.method_first:
                now = method_step(now, policy_key, method_key)

    after, info = learner.train(state, memory, key)
    near = partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-5)
    jax.tree.map(near, after.sac, learned)
    for state in (after.method, now):  # nothing depends on phi's last bias: its gradient is noise
        state.phi[-1]["b"] = jnp.zeros(2)
    jax.tree.map(near, after.method._replace(phi_opt=None), now._replace(phi_opt=None))
    assert info["alpha"].shape == () and info["sigma"].shape == (4,)


def test_an_epoch_is_cut_into_equal_pieces():
    assert [pieces(steps) for steps in (200, 50, 10, 64, 7, 1, 11)] == [8, 5, 5, 8, 7, 1, 1]


RAW_PUCK = replace(preset("Probe"), **TINY, focus="puck", method_states="raw")


def test_focus_restricts_the_method_and_not_the_policy():
    learner = Learner(RAW_PUCK, envs.spec("Probe"))
    state = learner.init(jax.random.key(0))
    assert state.method.phi[0]["w"].shape[0] == 2
    assert state.sac.actor[0]["w"].shape[0] == 4 + 2
    seen = learner.method_obs(state, jnp.arange(4.0)[None])
    np.testing.assert_array_equal(seen, [[2.0, 3.0]])


def test_focus_takes_groups_and_indices():
    spec = envs.spec("FetchPush")
    assert focus_indices("object", spec) == (3, 4, 5)
    assert focus_indices("0,7", spec) == (0, 7)
    assert len(focus_indices("", spec)) == 25


def test_random_actions_come_with_the_configured_probability():
    options = {
        **TINY,
        "num_envs": 64,
        "random_action_prob": 0.3,
        "action_noise": 0.0,
        "replay_episodes": 64,
    }
    learner = Learner(replace(preset("Probe"), **options), envs.spec("Probe"))
    policy = learner.snapshot(learner.init(jax.random.key(0)))
    ids = np.arange(64)
    skills = np.asarray(learner.draw_skills(jax.random.key(1), ids))
    noise = tuple(np.asarray(x) for x in learner.draw_noise(jax.random.key(2), ids))
    pool = envs.make("Probe", 64)
    rollout = collect(pool, learner.config, policy, episode_seeds(0, ids), skills, noise)
    mean = act(learner.config, policy, rollout.obs[:, 0], skills, None)
    random = np.abs(rollout.action[:, 0] - mean).max(axis=1) > 1e-6
    np.testing.assert_array_equal(random, noise[2][:, 0] < 0.3)
    assert 0.25 < np.mean(noise[2] < 0.3) < 0.35


@pytest.mark.parametrize("env", ["FetchPush", "Kitchen", "Ant", "hurdles"])
def test_a_simulation_that_blows_up_is_seen_and_not_reset_behind_our_back(
    env, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves its log where it is
    world = hurdle_world() if env == "hurdles" else envs.make_world(env)[0]
    world.reset(0)
    world.data.qvel[0] = 1e12
    obs, _ = world.step(np.zeros(world.spec.action_dim))
    assert diverged(obs[None])
    assert not diverged(world.reset(0)[None])


def test_an_episode_ends_where_the_simulator_breaks_or_terminates():
    class Breaking:
        """Environment 0 ends at step 3, environment 1 returns NaN at step 2."""

        spec, num_envs = envs.spec("Probe"), 3

        def reset(self, seeds):
            self.time = 0
            return np.zeros((3, 4), np.float32)

        def step(self, actions, active):
            self.time += 1
            obs = np.full((3, 4), float(self.time), np.float32)
            if self.time == 2:
                obs[1] = np.nan
            return obs, np.array([self.time == 3, False, False])

        def close(self):
            pass

    learner = Learner(replace(preset("Probe"), **TINY), envs.spec("Probe"))
    policy = learner.snapshot(learner.init(jax.random.key(0)))
    rollout = collect(
        Breaking(), learner.config, policy, [0, 1, 2], np.zeros((3, 2), np.float32), None
    )
    np.testing.assert_array_equal(rollout.length, [3, 1, 24])
    np.testing.assert_array_equal(rollout.terminal, [1.0, 0.0, 0.0])
    assert rollout.diverged == 1 and np.isfinite(rollout.obs).all()
    stored = as_episodes(rollout, learner.config.sac)
    assert stored.obs.shape == (3, 25, 4)
    np.testing.assert_array_equal(stored.terminal, rollout.terminal)


def test_a_time_limit_is_an_end_where_the_learner_does_not_look_beyond_it():
    rollout = Rollout(*np.zeros((3, 2, 4, 1)), np.array([3, 3]), np.zeros(2), 0)
    for bootstrap, terminal in ((True, [0.0, 0.0]), (False, [1.0, 1.0])):
        stored = as_episodes(rollout, SACConfig(bootstrap_time_limit=bootstrap))
        np.testing.assert_array_equal(stored.terminal, terminal)


class CutShort(gymnasium.Env):
    """Counts steps; even seeds are cut short after three, odd ones end there."""

    observation_space = gymnasium.spaces.Box(0.0, 100.0, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        self.seed, self.time = seed, 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.time += 1
        over, ends = self.time == 3, bool(self.seed % 2)
        assert self.time <= 3, "stepped on after its end"
        return np.full(2, self.time, np.float32), 0.0, over and ends, over and not ends, {}


def test_an_episode_that_the_environment_cuts_short_is_over_but_has_a_future():
    gymnasium.register("CutShort-v0", CutShort, max_episode_steps=10)
    try:
        config = replace(preset("CutShort-v0"), **TINY | {"method_states": "raw"})
        pool = envs.make("CutShort-v0", 2, 0, 1)
        noise = (np.zeros((2, 10, 1)), np.zeros((2, 10, 1)), np.zeros((2, 10)))
        rollout = collect(pool, config, None, [2, 3], np.zeros((2, 2)), noise)
    finally:
        gymnasium.registry.pop("CutShort-v0")
    np.testing.assert_array_equal(rollout.length, [3, 3])
    np.testing.assert_array_equal(rollout.terminal, [0.0, 1.0])
    assert rollout.obs.max() == 3.0


def test_rates_of_method_and_policy_fall_over_the_steps_that_each_takes():
    options = TINY | {"updates": 2, "method_updates": 6, "episodes": 40, "warmup_episodes": 8}
    config = replace(preset("Probe"), **options | {"num_envs": 4})
    learner = Learner(config, envs.spec("Probe"))
    assert gradient_steps(config, config.updates) == 16
    assert learner.spec.adam.keywords["steps"] == 48


def test_skills_of_an_episode_depend_on_its_number_alone():
    learner = Learner(replace(preset("Probe"), **TINY), envs.spec("Probe"))
    together = learner.draw_skills(jax.random.key(0), np.arange(8))
    alone = learner.draw_skills(jax.random.key(0), np.array([5]))
    np.testing.assert_array_equal(together[5], alone[0])


@pytest.mark.parametrize("unit", [False, True])
def test_continuous_skills_may_have_unit_length(unit):
    learner = Learner(replace(preset("Probe"), **TINY, skill_unit_length=unit), envs.spec("Probe"))
    lengths = np.linalg.norm(learner.draw_skills(jax.random.key(0), np.arange(50)), axis=1)
    assert np.allclose(lengths, 1.0) == unit


def test_whitened_states_are_measured_in_ten_typical_steps():
    scale = normalizer.init(1)
    obs, change = jnp.array([[1.0], [3.0]]), jnp.array([[0.3], [-0.3]])
    scale = normalizer.update(scale, obs, jnp.ones(2), change)
    # With the zero sample: mean 4/3, mean squared step 0.06.
    expected = (2.0 - 4.0 / 3.0) / (10.0 * np.sqrt(0.06))
    np.testing.assert_allclose(normalizer.whiten(scale, jnp.array([2.0])), [expected], rtol=1e-5)


def test_whitening_is_measured_in_the_warmup_and_then_fixed():
    options = {**TINY, "method_states": "whitened"}
    learner = Learner(replace(preset("Probe"), **options), envs.spec("Probe"))
    state, memory = learner.init(jax.random.key(0)), learner.init_replay()
    obs = np.random.default_rng(0).normal(size=(4, 25, 4)).astype(np.float32)
    episodes = replay.Replay(
        obs, np.zeros((4, 24, 2), np.float32), np.zeros((4, 2), np.float32),
        np.full(4, 24, np.int32), np.zeros(4, np.float32), np.int32(4),
    )  # fmt: skip
    state, memory = learner.store(state, memory, episodes, jax.random.key(1), jnp.float32(1))
    measured = np.asarray(state.whitening.mean_square)
    assert (measured > 1.0).all()
    state, memory = learner.store(state, memory, episodes, jax.random.key(1), jnp.float32(0))
    np.testing.assert_array_equal(state.whitening.mean_square, measured)
    assert state.normalizer.count == 1 + 2 * 96


def test_learning_rates_fall_over_the_last_quarter():
    optimizer = adam(1.0, steps=8, final=0.1)
    state, params, steps = optimizer.init(jnp.zeros(1)), jnp.zeros(1), []
    for _ in range(9):
        new, state = descend(optimizer, jnp.ones(1), state, params)
        steps.append(float((params - new)[0]))
        params = new
    # Adam's step under a constant gradient is the learning rate itself.
    np.testing.assert_allclose(steps[:7], 1.0, rtol=1e-3)
    np.testing.assert_allclose(steps[7], 0.55, rtol=1e-3)
    np.testing.assert_allclose(steps[8], 0.1, rtol=1e-3)


def test_exploration_falls_over_the_last_quarter():
    config = replace(preset("Probe"), warmup_episodes=100, episodes=500, final_noise=0.2)
    kept = [exploration(config, episode) for episode in (0, 100, 400, 450, 500)]
    np.testing.assert_allclose(kept, [1.0, 1.0, 1.0, 0.6, 0.2])


def test_episodes_that_explore_less_are_disturbed_less_and_less_often(tmp_path):
    def draws(final_noise, episode):
        trainer = Trainer(replace(preset("Probe"), episodes=500, final_noise=final_noise), tmp_path)
        return trainer._draws(episode)

    for episode, kept in ((300, 1.0), (500, 0.1)):
        (_, skills, full), (_, same, less) = draws(1.0, episode), draws(0.1, episode)
        np.testing.assert_array_equal(skills, same)
        np.testing.assert_allclose(less[0], kept * full[0], rtol=1e-6)
        np.testing.assert_array_equal(less[1], full[1])
        np.testing.assert_array_equal(less[2] < 0.3, full[2] < 0.3 * kept)
