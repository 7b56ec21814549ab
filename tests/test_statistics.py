"""Interquartile means, bootstrap intervals and who beats whom, against numbers by hand."""

import numpy as np
import pytest

from csd.evaluation.statistics import improvement, improvement_interval, interval, iqm, mean


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        ([3.0], 3.0),
        ([1.0, 2.0, 6.0], 3.0),  # a quarter of three is no whole run: the plain mean
        ([100.0, 2.0, 4.0, -50.0], 3.0),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 99.0], 3.5),
    ],
)
def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end(values, middle):
    assert iqm(np.array(values)) == middle


def test_the_interquartile_mean_of_curves_is_taken_point_by_point():
    curves = np.array([[0.0, 9.0], [1.0, 5.0], [3.0, 7.0], [9.0, 0.0]])
    np.testing.assert_array_equal(iqm(curves), [2.0, 6.0])


def test_the_interval_of_two_runs_reaches_from_one_to_the_other():
    """Of two runs a quarter of the resamples has twice the first, a quarter twice the second."""
    assert interval([np.array([2.0, 6.0])]) == (4.0, 2.0, 6.0)


def test_resampling_stays_within_strata():
    """Were the pool resampled, some resample would lack one of the two worlds."""
    middle, low, high = interval([np.zeros(2), np.ones(2)])
    assert (middle, low, high) == (0.5, 0.5, 0.5)


def test_the_interval_has_about_the_width_that_theory_gives():
    values = np.random.default_rng(0).uniform(size=400)
    middle, low, high = interval([values])
    # A uniform law, a quarter cut at each end: 4 (2/4^3/3 + 2/4^3) = 1/6 over the number of runs.
    expected = 2.0 * 1.96 * np.sqrt(1.0 / 6.0 / 400.0)
    assert low < middle < high and (high - low) == pytest.approx(expected, rel=0.08)


def test_the_share_of_runs_that_do_it_is_a_plain_mean():
    """The interquartile mean of two in eight would be none."""
    assert interval([np.array([1.0, 1.0] + [0.0] * 6)], mean)[0] == 0.25


def test_improvement_counts_pairs_and_halves_ties():
    # 3 > 1, 3 > 2, 3 = 3, 0 < all: two and a half of six pairs
    assert improvement([np.array([3.0, 0.0])], [np.array([1.0, 2.0, 3.0])]) == pytest.approx(
        2.5 / 6
    )


def test_improvement_weighs_worlds_alike_whatever_their_scale():
    own, other = [np.array([900.0]), np.array([0.1])], [np.array([1.0]), np.array([0.2])]
    assert improvement(own, other) == 0.5
    assert improvement_interval(own, other) == (0.5, 0.5, 0.5)
