"""Environments: parity with gymnasium-robotics, determinism, and errors a user can mend."""

import gc
import os
import threading
import time

import gymnasium
import numpy as np
import pytest

from csd import envs
from csd.envs import fetch
from csd.envs.gym import GymWorld
from csd.envs.vector import ThreadedWorlds, number_of_workers
from csd.errors import UserError
from tests.contacts import ever_touch


@pytest.mark.parametrize("name", list(fetch.IDS))
@pytest.mark.parametrize("seed", [0, 1])
def test_fetch_equals_gymnasium_robotics(name, seed):
    fetch.register_robotics()
    reference, world = gymnasium.make(fetch.IDS[name]), fetch.FetchWorld(name)
    expected, _ = reference.reset(seed=seed)
    np.testing.assert_allclose(world.reset(seed), expected["observation"], atol=1e-6)
    rng = np.random.default_rng(seed)
    touched = 0.0
    for _ in range(50):
        towards = 10.0 * expected["observation"][6:9]  # so that the object is really pushed
        action = np.clip(np.append(towards, 0.0) + rng.uniform(-1, 1, 4), -1, 1).astype(np.float32)
        expected, *_ = reference.step(action)
        obs, ended = world.step(action)
        np.testing.assert_allclose(obs, expected["observation"], atol=1e-6)
        assert not ended
        touched = max(touched, np.abs(obs[14:17] + obs[20:23]).max())
    assert touched > 1e-4, "the object never moved: the parity is not worth much"
    reference.close()


@pytest.mark.parametrize("name", list(fetch.IDS))
def test_what_fetch_does_not_check_for_contact_never_touches(name):
    whole, lean = fetch.reference(name).model, fetch.lean_model(name)
    geoms = np.flatnonzero(whole.geom_contype)
    unchecked = (lean.geom_contype[geoms, None] & lean.geom_conaffinity[geoms]) == 0
    assert unchecked.sum() == 2 * sum(map(len, fetch.APART.values()))

    def full(body):
        return body if body == "table0" else f"robot0:{body}"

    pairs = [(full(one), full(other)) for one, others in fetch.APART.items() for other in others]
    joints = [j for j in range(whole.njnt) if whole.joint(j).name[7:].startswith(("head", "shou"))]
    assert len(joints) == 4  # the others are further out, or held by a damping of 1e7 and more
    start = fetch.reference(name).initial_qpos
    assert not ever_touch(whole, pairs, start, joints, 4_000, margin=0.004)


def test_number_of_workers_changes_nothing():
    actions = np.random.default_rng(0).uniform(-1, 1, (10, 5, 4)).astype(np.float32)
    outcomes = []
    for workers in (1, 3):
        vector = envs.make("FetchPush", 5, workers=workers)
        states = [vector.reset([7, 8, 9, 10, 11])]
        for action in actions:
            states.append(vector.step(action, np.ones(5, bool))[0])
        outcomes.append(np.array(states))
        vector.close()
    np.testing.assert_array_equal(outcomes[0], outcomes[1])


@pytest.mark.parametrize("wanted, num_envs, count", [(0, 8, 3), (0, 2, 2), (5, 8, 5), (5, 1, 1)])
def test_a_worker_for_each_core_that_may_be_used(wanted, num_envs, count, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 4, 6}, raising=False)
    assert number_of_workers(wanted, num_envs) == count


class Brittle:
    """A world that fails when told to."""

    spec = envs.spec("Probe")

    def reset(self, seed):
        return np.full(self.spec.obs_dim, seed)

    def step(self, action):
        time.sleep(0.02)  # so that every thread gets some
        if action[0] > 0.5:
            raise ValueError("broken")
        return np.zeros(self.spec.obs_dim), False

    def close(self):
        pass


def test_threads_end_with_a_pool_that_nobody_closed():
    before = set(threading.enumerate())
    pool = ThreadedWorlds(Brittle, 4, workers=3)
    pool.reset([1, 2, 3, 4])
    threads = set(threading.enumerate()) - before
    assert len(threads) == 2
    del pool
    gc.collect()
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("fails", range(4))
def test_an_error_in_a_world_arrives_and_leaves_the_threads_usable(fails):
    pool, active = ThreadedWorlds(Brittle, 4, workers=3), np.ones(4, bool)
    assert pool.reset([5, 6, 7, 8])[:, 0].tolist() == [5, 6, 7, 8]
    actions = np.zeros((4, 2), np.float32)
    actions[fails] = 1.0
    with pytest.raises(ValueError, match="broken"):
        pool.step(actions, active)
    states, _ = pool.step(np.zeros((4, 2), np.float32), active)
    assert not states.any()
    pool.close()
    pool.close()


def test_inactive_environments_stand_still():
    vector = envs.make("Probe", 2)
    before = vector.reset([1, 2])
    after, _ = vector.step(np.ones((2, 2), np.float32), np.array([True, False]))
    assert (after[0] != before[0]).any() and (after[1] == before[1]).all()


def test_probe_puck_moves_by_half_the_overlap():
    from csd.envs.probe import ProbeEnvs

    probe = ProbeEnvs(1)
    probe.reset([0])
    probe._state[0] = [0.0, 0.0, 0.2, 0.0]
    state, _ = probe.step(np.array([[1.0, 0.0]], np.float32), np.array([True]))
    # The point steps to 0.1, overlaps the puck by 0.15 - 0.1 = 0.05, and both give way by 0.025.
    np.testing.assert_allclose(state[0], [0.075, 0.0, 0.225, 0.0], atol=1e-6)


@pytest.mark.parametrize("name", ["Pusher-v5", "Reacher-v5", "PointMaze_UMaze-v3", "HandReach-v3"])
def test_any_gymnasium_environment_is_a_world(name):
    world = GymWorld(name)
    first = world.reset(3).copy()
    np.testing.assert_array_equal(first, world.reset(3))
    obs, _ = world.step(np.zeros(world.spec.action_dim, np.float32))
    assert obs.shape == (world.spec.obs_dim,) and world.spec.horizon > 0
    world.close()


def test_gym_actions_are_mapped_to_the_environments_range():
    world = GymWorld("Pendulum-v1")
    seen = []
    step = world._env.step
    world._env.step = lambda action: (seen.append(action), step(action))[1]
    world.reset(0)
    for action in (-1.0, 0.0, 1.0):
        world.step(np.array([action], np.float32))
    np.testing.assert_allclose(np.ravel(seen), [-2.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("FetchPsh", "FetchPush"),
        ("Humanoi", "Humanoid'"),
        ("CartPole-v1", "actions must be a Box"),
        ("FrozenLake-v1", "observations must be a Box"),
        ("no_such_package:Env-v0", "cannot import 'no_such_package'"),
    ],
)
def test_unusable_environments_get_one_helpful_line(name, hint):
    with pytest.raises(UserError, match=hint) as caught:
        envs.spec(name)
    assert "\n" not in str(caught.value)
