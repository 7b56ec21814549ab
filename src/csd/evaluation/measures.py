"""Numbers that say what a set of skills does, from their trajectories alone."""

import numpy as np


def bins_covered(points: np.ndarray, size: float | np.ndarray) -> int:
    """How many cells of edge `size` the points (n, k) fall into."""
    cells = np.floor(np.asarray(points, np.float64) / size).astype(np.int64)
    return len(np.unique(cells.reshape(-1, cells.shape[-1]), axis=0))


def circular_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Fisher and Lee's correlation of two angles, in [-1, 1]; blind to a common rotation.

    1 means one angle is the other plus a constant, -1 that it is also mirrored.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if len(a) < 3:
        return 0.0
    above = np.triu_indices(len(a), 1)
    sin_a = np.sin(a[:, None] - a[None])[above]
    sin_b = np.sin(b[:, None] - b[None])[above]
    scale = np.sqrt(np.sum(sin_a**2) * np.sum(sin_b**2))
    return float(np.sum(sin_a * sin_b) / scale) if scale > 0.0 else 0.0


def explained_by_skill(change: np.ndarray, skill: np.ndarray) -> float:
    """Share of the variance of `change` (n, k) that is linear in the skill (n, d).

    For one-hot skills this is the share between skills, as opposed to within them.
    """
    change = np.asarray(change, np.float64)
    total = np.sum((change - change.mean(axis=0)) ** 2)
    if total <= 0.0:
        return 0.0
    design = np.concatenate([skill, np.ones((len(skill), 1))], axis=1)
    fit, *_ = np.linalg.lstsq(design, change, rcond=None)
    return float(1.0 - np.sum((change - design @ fit) ** 2) / total)


def log_volume(points: np.ndarray, floor: float = 1e-3) -> float:
    """How much of its space a cloud (n, k) fills: half the log-determinant of its covariance.

    Up to a constant the entropy of a Gaussian of that shape, so one unit is a factor e of volume.
    `floor` is a spread added to every dimension: what stands still counts little, not minus
    infinity.
    """
    covariance = np.atleast_2d(np.cov(np.asarray(points, np.float64), rowvar=False))
    covariance += floor**2 * np.eye(len(covariance))
    return float(0.5 * np.linalg.slogdet(covariance)[1])
