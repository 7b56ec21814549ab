"""The paper's equations as pure functions; `docs/csd.md` walks through them in order."""

import jax
import jax.numpy as jnp
from jax import Array


def dsd_reward(phi: Array, next_phi: Array, skill: Array) -> Array:
    """Equation 11: the latent displacement along the skill, (phi(s') - phi(s))^T z, (batch,)."""
    return jnp.sum((next_phi - phi) * skill, axis=-1)


def constraint_gap(
    distance: Array,
    phi: Array,
    next_phi: Array,
    squared: bool = True,
    direction: Array | None = None,
) -> Array:
    """How far each pair is from breaking the constraint of equation 7, shape (batch,).

    `squared` compares d^2 with the mean squared latent displacement, as the published code does;
    otherwise d is compared with its length, as the paper writes. With a `direction` (batch, dim)
    only the part of the displacement that points along it is compared.
    """
    delta = next_phi - phi
    if direction is not None:
        length = safe_norm(direction)[..., None]
        unit = direction / jnp.where(length > 0.0, length, 1.0)
        delta = jnp.maximum(0.0, jnp.sum(delta * unit, axis=-1, keepdims=True)) * unit
    if squared:
        return distance**2 - jnp.mean(delta**2, axis=-1)
    return distance - safe_norm(delta)


def clipped_slack(gap: Array, epsilon: float) -> Array:
    """min(epsilon, gap) of equations 12 and 13, shape (batch,)."""
    return jnp.minimum(epsilon, gap)


def dsd_phi_objective(reward: Array, slack: Array, lam: Array | float) -> Array:
    """Equation 12, to be maximised by phi with lambda held fixed."""
    return jnp.mean(reward + lam * slack)


def dsd_lambda_objective(lam: Array, slack: Array) -> Array:
    """Equation 13, to be maximised by lambda with phi held fixed."""
    return -lam * jnp.mean(slack)


def mahalanobis_distance(residual: Array, sigma: Array) -> Array:
    """Equation 15: the squared Mahalanobis length of s' - mu(s) for a diagonal covariance."""
    return jnp.sum((residual / sigma) ** 2, axis=-1)


def controllability_weights(sigma: Array) -> Array:
    """Inverse variances divided by their geometric mean at each state, shape (batch, obs_dim)."""
    precision = -jnp.log(sigma)
    return jnp.exp(2.0 * (precision - jnp.mean(precision, axis=-1, keepdims=True)))


def controllability_distance(residual: Array, sigma: Array) -> Array:
    """Equation 15 as it is trained: root mean square residual under normalised weights."""
    return jnp.sqrt(jnp.mean(controllability_weights(sigma) * residual**2, axis=-1))


def euclidean_distance(obs: Array, next_obs: Array) -> Array:
    """Root mean square state change: LSD's distance in the averaged form of the constraint."""
    return jnp.sqrt(jnp.mean((next_obs - obs) ** 2, axis=-1))


def constant_distance(obs: Array, next_obs: Array) -> Array:
    """METRA's distance: one step is one unit, wherever it leads."""
    return jnp.ones(obs.shape[:-1])


def gaussian_log_density(x: Array, mean: Array, sigma: Array) -> Array:
    """log N(x; mean, diag sigma^2), summed over dimensions, shape (batch,)."""
    z = (x - mean) / sigma
    return -jnp.sum(0.5 * z**2 + jnp.log(sigma) + 0.5 * jnp.log(2.0 * jnp.pi), axis=-1)


def categorical_log_density(one_hot: Array, logits: Array) -> Array:
    """log q of the chosen entry under the softmax of the logits, shape (batch,)."""
    return jnp.sum(one_hot * jax.nn.log_softmax(logits, axis=-1), axis=-1)


def dads_reward(own: Array, others: Array) -> Array:
    """log q(s'|s,z) against its average over skills, from `own` (batch,) and `others` (L, batch).

    log(L + 1) - log(1 + sum_i exp(log q_i - log q)), each difference clipped to +-50.
    """
    ratios = jnp.exp(jnp.clip(others - own, -50.0, 50.0))
    return jnp.log(len(others) + 1.0) - jnp.log1p(jnp.sum(ratios, axis=0))


def ensemble_disagreement(predictions: Array) -> Array:
    """Variance across members summed over state dimensions, (members, batch, dim) -> (batch,)."""
    return jnp.sum(jnp.var(predictions, axis=0), axis=-1)


def published_density_loss(x: Array, mean: Array, sigma: Array) -> Array:
    """The published manipulation code's density loss, ((x - mean)/sigma)^2 + sigma, shape (batch,).

    It is minimal at sigma = (2 E[e^2])^(1/3), a softer whitening than the Gaussian's E[e^2]^(1/2).
    """
    return jnp.sum(((x - mean) / sigma) ** 2 + sigma, axis=-1)


def zero_centred(one_hot: Array) -> Array:
    """One-hot skills with 1 at the chosen entry and -1/(K-1) elsewhere: they sum to zero."""
    count = one_hot.shape[-1]
    return (one_hot * count - 1.0) / max(count - 1, 1)


def induced_pseudometric(distance: Array) -> Array:
    """Equation 17 on a finite set of states: shortest symmetrised path lengths, shape (n, n)."""
    metric = jnp.minimum(distance, distance.T)
    metric = metric * (1.0 - jnp.eye(metric.shape[0]))
    for via in range(metric.shape[0]):
        metric = jnp.minimum(metric, metric[:, via, None] + metric[None, via, :])
    return metric


def safe_norm(x: Array) -> Array:
    """Euclidean length over the last axis with a zero, not undefined, gradient at the origin."""
    square = jnp.sum(x**2, axis=-1)
    nonzero = square > 0.0
    return jnp.where(nonzero, jnp.sqrt(jnp.where(nonzero, square, 1.0)), 0.0)
