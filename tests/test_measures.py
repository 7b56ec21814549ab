"""Evaluation figures on trajectories whose answer is known."""

import numpy as np

from csd.collect import Rollout
from csd.envs.fetch import fetch_spec
from csd.evaluation.measures import (
    bins_covered,
    circular_correlation,
    explained_by_skill,
    log_volume,
)
from csd.evaluation.skills import Target, find_target, measure, most_variable


def test_bins_are_counted_once_and_floor_negative_coordinates():
    points = np.array([[0.01, 0.01], [0.09, 0.02], [-0.01, 0.01], [0.25, 0.0]])
    assert bins_covered(points, 0.1) == 3


def test_circular_correlation_is_one_for_a_rotation_and_minus_one_for_a_mirror():
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, 200)
    assert np.isclose(circular_correlation(angles, angles + 2.0), 1.0)
    assert np.isclose(circular_correlation(angles, 1.0 - angles), -1.0)


def test_circular_correlation_is_small_for_unrelated_angles():
    rng = np.random.default_rng(0)
    value = circular_correlation(rng.uniform(0, 6.28, 400), rng.uniform(0, 6.28, 400))
    assert abs(value) < 0.15


def test_explained_is_one_if_linear_in_the_skill_and_near_zero_if_unrelated():
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(300, 2))
    assert np.isclose(explained_by_skill(skill @ [[1.0, 2.0], [0.0, 1.0]] + 3.0, skill), 1.0)
    assert explained_by_skill(rng.normal(size=(300, 2)), skill) < 0.05


def test_log_volume_of_a_cross_is_that_of_its_variances():
    # Variances 4 * 2 / 3 and 1 * 2 / 3 in a plane, nothing beyond it but the floor.
    cross = np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0]])
    expected = 0.5 * np.log((8 / 3 + 0.01) * (2 / 3 + 0.01) * 0.01)
    assert np.isclose(log_volume(cross, floor=0.1), expected)
    assert np.isclose(log_volume(cross[:, :1] * 10) - log_volume(cross[:, :1]), np.log(10))


def test_measure_of_four_cubes_pushed_in_four_directions():
    spec = fetch_spec("FetchPush")
    directions = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], np.float32)
    obs = np.zeros((4, 3, 25), np.float32)
    obs[:, :, 3:6] = [0.05, 0.05, 0.4]
    obs[:, 2, 3:5] += 0.2 * directions
    obs[0, 1, 5] += 0.07  # the first one is lifted on its way
    rollout = Rollout(obs, obs[:, :-1, :4], directions, np.full(4, 2), np.zeros(4), 0)
    result = measure(rollout, spec, find_target(spec, "", obs))
    assert result["coverage"] == 5 and result["coverage_xyz"] == 5
    assert result["moved"] == 1.0 and np.isclose(result["displacement"], 0.2)
    assert np.isclose(result["direction"], 1.0)
    assert result["lifted"] == 0.25 and np.isclose(result["lift_max"], 0.07)
    assert result["body_displacement"] == 0.0


def test_most_variable_prefers_what_travels_over_what_trembles():
    rng = np.random.default_rng(0)
    obs = np.zeros((10, 50, 4))
    obs[..., 1] = rng.normal(size=(10, 50))  # trembles
    obs[..., 2] = np.cumsum(rng.normal(size=(10, 1)) * np.ones((10, 50)), axis=1)  # travels
    obs[..., 3] = np.cumsum(np.ones((10, 50)), axis=1)
    assert most_variable(obs) == [2, 3]


def test_named_dimensions_are_measured_in_tenths_of_the_random_range():
    spec = fetch_spec("FetchPush")
    obs = np.zeros((1, 11, 25), np.float32)
    obs[0, :, 20] = np.linspace(0.0, 1.0, 11)
    target = find_target(spec, "gripper_vx,7", obs)
    assert isinstance(target, Target) and target.dims == (20, 7)
    np.testing.assert_allclose(target.bin_size, [0.1, 1e-6])
