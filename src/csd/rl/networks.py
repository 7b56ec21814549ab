"""Plain multilayer perceptrons as pytrees: a list of `{"w", "b"}` layers."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

Params = list[dict[str, Array]]
LOG_SIGMA_MIN, LOG_SIGMA_MAX = -13.8155, 13.8155  # sigma in [1e-6, 1e6]


def dense_init(key: Array, inputs: int, outputs: int, scale: float = 1.0) -> dict[str, Array]:
    """A Glorot-uniform layer with zero bias."""
    w = jax.nn.initializers.glorot_uniform()(key, (inputs, outputs), jnp.float32)
    return {"w": scale * w, "b": jnp.zeros(outputs, jnp.float32)}


def dense(layer: dict[str, Array], x: Any) -> Any:
    """x W + b."""
    return x @ layer["w"] + layer["b"]


def activate(x: Any, activation: str, xp: ModuleType = jnp) -> Any:
    """relu or tanh, in JAX or NumPy."""
    return xp.tanh(x) if activation == "tanh" else xp.maximum(x, 0.0)


def mlp_init(key: Array, sizes: Sequence[int]) -> Params:
    """Layers from `sizes[0]` inputs to `sizes[-1]` outputs."""
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        dense_init(k, inputs, outputs)
        for k, inputs, outputs in zip(keys, sizes, sizes[1:], strict=False)
    ]


def mlp(params: Params, x: Array, activation: str = "relu") -> Array:
    """Hidden layers with the activation, then a linear output layer."""
    for layer in params[:-1]:
        x = activate(dense(layer, x), activation)
    return dense(params[-1], x)


def gaussian_mlp(params: tuple[Params, Params], x: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of a diagonal Gaussian, each from a network of its own."""
    mean, log_sigma = params
    clipped = jnp.clip(mlp(log_sigma, x), LOG_SIGMA_MIN, LOG_SIGMA_MAX)
    return mlp(mean, x), jnp.exp(clipped)
