"""The paper's equations against numbers worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from csd import objectives as o


def test_reward_is_the_latent_displacement_along_the_skill():
    phi = jnp.array([[1.0, 2.0], [0.0, 0.0]])
    next_phi = jnp.array([[2.0, 1.0], [3.0, 4.0]])
    skill = jnp.array([[2.0, 1.0], [-1.0, 0.5]])
    # (1, -1).(2, 1) = 1 and (3, 4).(-1, 0.5) = -1
    np.testing.assert_allclose(o.dsd_reward(phi, next_phi, skill), [1.0, -1.0])


def test_squared_gap_compares_square_with_mean_square():
    phi, next_phi = jnp.zeros((1, 2)), jnp.array([[3.0, 4.0]])
    # d^2 - (9 + 16)/2 = 16 - 12.5
    np.testing.assert_allclose(o.constraint_gap(jnp.array([4.0]), phi, next_phi), [3.5])


def test_norm_gap_compares_lengths():
    phi, next_phi = jnp.zeros((1, 2)), jnp.array([[3.0, 4.0]])
    gap = o.constraint_gap(jnp.array([4.0]), phi, next_phi, squared=False)
    np.testing.assert_allclose(gap, [-1.0])


def test_slack_is_clamped_from_above_only():
    np.testing.assert_allclose(o.clipped_slack(jnp.array([5.0, 0.1, -7.0]), 0.5), [0.5, 0.1, -7.0])


def test_phi_objective_adds_lambda_times_slack():
    value = o.dsd_phi_objective(jnp.array([1.0, 3.0]), jnp.array([0.5, -1.5]), 4.0)
    np.testing.assert_allclose(value, 2.0 + 4.0 * -0.5)


def test_lambda_objective_rises_when_the_constraint_is_broken():
    np.testing.assert_allclose(o.dsd_lambda_objective(jnp.array(3.0), jnp.array([-1.0, 0.0])), 1.5)


def test_mahalanobis_distance_divides_each_residual_by_its_sigma():
    value = o.mahalanobis_distance(jnp.array([[2.0, 3.0]]), jnp.array([[1.0, 0.5]]))
    np.testing.assert_allclose(value, [4.0 + 36.0])


def test_controllability_weights_have_geometric_mean_one():
    # sigma 1 and 4: precisions 1 and 1/16, geometric mean 1/4, weights 4 and 1/4
    weights = o.controllability_weights(jnp.array([[1.0, 4.0]]))
    np.testing.assert_allclose(weights, [[4.0, 0.25]], rtol=1e-6)


def test_controllability_distance_is_the_weighted_root_mean_square():
    value = o.controllability_distance(jnp.array([[1.0, 2.0]]), jnp.array([[1.0, 4.0]]))
    np.testing.assert_allclose(value, [np.sqrt((4.0 * 1.0 + 0.25 * 4.0) / 2.0)], rtol=1e-6)


def test_euclidean_distance_is_the_root_mean_square_change():
    value = o.euclidean_distance(jnp.zeros((1, 2)), jnp.array([[3.0, 1.0]]))
    np.testing.assert_allclose(value, [np.sqrt(5.0)], rtol=1e-6)


def test_gaussian_log_density_of_two_dimensions():
    value = o.gaussian_log_density(
        jnp.array([[1.0, 0.0]]), jnp.zeros((1, 2)), jnp.array([[1.0, 2.0]])
    )
    np.testing.assert_allclose(value, [-0.5 - np.log(2.0) - np.log(2.0 * np.pi)], rtol=1e-6)


def test_published_density_loss_adds_sigma_itself():
    value = o.published_density_loss(jnp.array([[2.0]]), jnp.array([[0.0]]), jnp.array([[4.0]]))
    np.testing.assert_allclose(value, [0.25 + 4.0])


def test_published_density_loss_is_least_at_the_cube_root():
    error = 0.3
    best = (2.0 * error**2) ** (1.0 / 3.0)
    losses = [
        float(
            o.published_density_loss(jnp.array([[error]]), jnp.zeros((1, 1)), jnp.array([[s]]))[0]
        )
        for s in (0.9 * best, best, 1.1 * best)
    ]
    assert losses[1] < losses[0] and losses[1] < losses[2]


def test_zero_centred_skills_sum_to_zero():
    np.testing.assert_allclose(o.zero_centred(jnp.eye(3))[0], [1.0, -0.5, -0.5])


def test_safe_norm_has_a_zero_gradient_at_the_origin():
    import jax

    np.testing.assert_allclose(jax.grad(lambda x: o.safe_norm(x))(jnp.zeros(3)), np.zeros(3))


def test_induced_pseudometric_takes_the_cheaper_way_round_and_the_detour():
    distance = jnp.array([[0.5, 9.0, 10.0], [1.0, 0.0, 2.0], [10.0, 7.0, 0.0]])
    # 0-1 costs min(9, 1) = 1, 1-2 costs min(2, 7) = 2, 0-2 is 3 by the detour instead of 10
    expected = [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    np.testing.assert_allclose(o.induced_pseudometric(distance), expected)


distances = st.integers(2, 6).flatmap(
    lambda n: arrays(np.float32, (n, n), elements=st.floats(0.0, 100.0, width=32))
)


@settings(max_examples=40, deadline=None)
@given(distances)
def test_theorem_induced_pseudometric_is_a_pseudometric(distance):
    metric = np.asarray(o.induced_pseudometric(jnp.asarray(distance)))
    np.testing.assert_array_equal(np.diag(metric), 0.0)
    np.testing.assert_allclose(metric, metric.T, rtol=1e-5)
    detour = (metric[:, :, None] + metric[None, :, :]).min(axis=1)
    assert (metric <= detour * (1 + 1e-5) + 1e-5).all()


@settings(max_examples=40, deadline=None)
@given(distances)
def test_theorem_induced_pseudometric_is_a_lower_bound(distance):
    metric = np.asarray(o.induced_pseudometric(jnp.asarray(distance)))
    assert (metric >= 0.0).all() and (metric <= distance * (1 + 1e-6)).all()


@settings(max_examples=40, deadline=None)
@given(distances, st.integers(0, 2**31 - 1))
def test_theorem_constraint_with_either_distance_is_the_same(distance, seed):
    metric = np.asarray(o.induced_pseudometric(jnp.asarray(distance)), np.float64)
    phi = np.random.default_rng(seed).normal(size=(len(distance), 2))
    length = np.linalg.norm(phi[:, None] - phi[None], axis=-1)
    off = ~np.eye(len(distance), dtype=bool)
    # Scale phi until it satisfies the constraint with d as tightly as it can ...
    scale = np.min(distance[off] / length[off]) * (1 - 1e-6)
    # ... then it satisfies the constraint with the induced pseudometric as well, and vice versa.
    assert (scale * length <= metric + 1e-4 * (1 + metric)).all()
    tight = np.min(metric[off] / length[off]) * (1 - 1e-6)
    assert (tight * length <= distance * (1 + 1e-5) + 1e-5).all()


@pytest.mark.parametrize("count", [2, 16])
def test_zero_centred_reward_is_displacement_minus_mean_of_the_others(count):
    rng = np.random.default_rng(0)
    delta = rng.normal(size=(1, count)).astype(np.float32)
    reward = o.dsd_reward(jnp.zeros((1, count)), delta, o.zero_centred(jnp.eye(count)[:1]))
    np.testing.assert_allclose(reward[0], delta[0, 0] - delta[0, 1:].mean(), rtol=1e-4, atol=1e-5)
