"""Plain multilayer perceptrons as pytrees: a list of `{"w", "b"}` layers."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from csd.compilation import zeros

Params = list[dict[str, Array]]
SHORTEST_STREAM = 16  # two to this power are all the weights of a layer of 256 x 256
LOG_SIGMA_MIN, LOG_SIGMA_MAX = -13.8155, 13.8155  # sigma in [1e-6, 1e6]


def dense_init(key: Array, inputs: int, outputs: int, scale: float = 1.0) -> dict[str, Array]:
    """A Glorot-uniform layer with zero bias."""
    # The first numbers of a stream do not depend on its length: layers share a compiled one.
    length = 1 << max((inputs * outputs - 1).bit_length(), SHORTEST_STREAM)
    stream = jax.random.uniform(key, (length,), minval=-1.0)
    limit = np.sqrt(np.float32(3.0) * np.float32(2.0 / (inputs + outputs)))
    w = _first_weights(stream, (inputs, outputs), limit, np.float32(scale))
    return {"w": w, "b": zeros(outputs)}


@partial(jax.jit, static_argnames="shape")
def _first_weights(stream: Array, shape: tuple[int, int], limit: Array, scale: Array) -> Array:
    return stream[: shape[0] * shape[1]].reshape(shape) * limit * scale


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
