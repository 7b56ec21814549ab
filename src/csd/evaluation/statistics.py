"""Few runs, honest intervals: interquartile means and bootstraps over seeds."""

from collections.abc import Callable, Sequence

import numpy as np

RESAMPLES = 2_000
CONFIDENCE = 0.95
Strata = Sequence[np.ndarray]
"""Values of the runs of each stratum (an environment, a task), each of shape (seeds, ...)."""
Centre = Callable[[np.ndarray], np.ndarray]


def iqm(values: np.ndarray) -> np.ndarray:
    """The mean of the middle half along the first axis: a quarter of the runs is cut at each end.

    Only whole runs are cut: of three none, of four to seven one at each end.
    """
    ordered = np.sort(np.asarray(values, np.float64), axis=0)
    cut = len(ordered) // 4
    return ordered[cut : len(ordered) - cut].mean(axis=0)


def improvement(own: Strata, other: Strata) -> float:
    """The probability that a run of `own` beats one of `other`, averaged over strata; ties half."""
    shares = []
    for x, y in zip(own, other, strict=True):
        sign = np.sign(np.asarray(x)[:, None] - np.asarray(y)[None])
        shares.append(np.mean(0.5 * (sign + 1.0)))
    return float(np.mean(shares))


def mean(values: np.ndarray) -> np.ndarray:
    """The mean along the first axis: the share of runs where they either did it or not."""
    return np.mean(np.asarray(values, np.float64), axis=0)


def interval(
    strata: Strata, centre: Centre = iqm, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The centre of all runs, and its 95 % confidence interval."""
    pooled = _bootstrap(lambda rng: centre(np.concatenate(_resample(strata, rng))), seed)
    return centre(np.concatenate([np.asarray(values) for values in strata])), *pooled


def improvement_interval(own: Strata, other: Strata, seed: int = 0) -> tuple[float, float, float]:
    """`improvement`, and its 95 % confidence interval."""
    low, high = _bootstrap(
        lambda rng: np.asarray(improvement(_resample(own, rng), _resample(other, rng))), seed
    )
    return improvement(own, other), float(low), float(high)


def _resample(strata: Strata, rng: np.random.Generator) -> list[np.ndarray]:
    """As many runs as there are, drawn with replacement within each stratum."""
    return [np.asarray(v)[rng.integers(len(v), size=len(v))] for v in strata]


def _bootstrap(
    statistic: Callable[[np.random.Generator], np.ndarray], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The percentiles of a statistic over resamples that bound its confidence interval."""
    rng = np.random.default_rng(seed)
    values = np.stack([statistic(rng) for _ in range(RESAMPLES)])
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(values, [tail, 100.0 - tail], axis=0)
    return low, high
