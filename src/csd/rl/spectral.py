"""Spectral normalisation: layers divided by a running estimate of their largest singular value."""

import jax
import jax.numpy as jnp
from jax import Array

from csd.rl.networks import Params

EPSILON = 1e-12


def init(key: Array, params: Params) -> list[Array]:
    """A random unit vector per layer, the start of its power iteration."""
    keys = jax.random.split(key, len(params))
    return [
        _unit(jax.random.normal(k, layer["b"].shape)) for k, layer in zip(keys, params, strict=True)
    ]


def normalize(params: Params, vectors: list[Array]) -> tuple[Params, list[Array]]:
    """Layers of norm about one (biases kept), and the vectors after one power iteration.

    The estimate is differentiable, also through the iteration, as in the published code.
    """
    layers, iterated = [], []
    for layer, u in zip(params, vectors, strict=True):
        v = _unit(layer["w"] @ u)
        u = _unit(v @ layer["w"])
        layers.append({"w": layer["w"] / (v @ layer["w"] @ u), "b": layer["b"]})
        iterated.append(u)
    return layers, iterated


def _unit(x: Array) -> Array:
    return x / (jnp.linalg.norm(x) + EPSILON)
