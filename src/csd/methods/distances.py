"""Distances by name: the built-in ones and those of the user (`docs/distances.md`)."""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from csd import objectives, plugins
from csd.algorithms import AnyDistanceConfig
from csd.errors import UserError, nearest
from csd.methods.base import Distance, Method, MethodSpec, fixed
from csd.methods.csd import controllability
from csd.methods.dsd import dsd
from csd.methods.lsd import euclidean

DISTANCES: dict[str, Callable[[AnyDistanceConfig, MethodSpec], Distance]] = {
    "euclidean": euclidean,
    "constant": lambda config, spec: fixed(objectives.constant_distance),
    "controllability": controllability,
}


def dsd_by_name(config: AnyDistanceConfig, spec: MethodSpec) -> Method:
    """DSD with the distance that `config.distance` names."""
    return dsd(config, spec, find_distance(config, spec))


def find_distance(config: AnyDistanceConfig, spec: MethodSpec) -> Distance:
    """A built-in distance, or the `module:name` of a `Distance`, a function or a factory."""
    name = config.distance
    if name in DISTANCES:
        return DISTANCES[name](config, spec)
    if ":" not in name:
        hint = nearest(name, DISTANCES)
        raise UserError(f"unknown distance {name!r}: {hint} (or give your own as module:name)")
    found = _import(name)
    try:
        distance = found(config, spec) if _is_factory(found) else found
        if not isinstance(distance, Distance):
            distance = fixed(distance)
        _check(distance, spec)
    except Exception as error:
        raise UserError(f"distance {name!r} does not work: {plugins.one_line(error)}") from error
    return distance


def _import(name: str) -> Any:
    """The object called `name`, from the working directory or anything installed."""
    module_name, _, attribute = name.partition(":")
    module = plugins.load(module_name, f"distance {name!r}")
    if not hasattr(module, attribute):
        public = [word for word in vars(module) if not word.startswith("_")]
        raise UserError(f"{module_name} has no {attribute!r}: {nearest(attribute, public)}")
    found = getattr(module, attribute)
    if not (callable(found) or isinstance(found, Distance)):
        raise UserError(f"distance {name!r} must be a function, not {type(found).__name__}")
    return found


def _is_factory(found: Any) -> bool:
    """Whether it makes a distance: its parameters are called `config` and `spec`."""
    if isinstance(found, Distance):
        return False
    return list(inspect.signature(found).parameters) == ["config", "spec"]


def _check(distance: Distance, spec: MethodSpec) -> None:
    """Trace the distance once, so that a mistake shows before anything is collected."""
    pairs = jnp.zeros((2, 3, spec.obs_dim))
    key = jax.random.key(0)
    state = jax.eval_shape(distance.init, key)
    shape = jax.eval_shape(distance.measure, state, *pairs)[0].shape
    if shape != (3,):
        raise ValueError(f"it must return shape (batch,), here (3,), and returned {shape}")
    states = jax.random.normal(key, pairs.shape)
    if (distance.measure(distance.init(key), *states)[0] < 0.0).any():
        raise ValueError("it is negative for some states, which no distance is")
    if distance.update is not None:
        after = jax.eval_shape(distance.update, state, *pairs, key)[0]
        if _layout(after) != _layout(state):
            raise ValueError("its update must return a state with the shapes and types of init's")


def _layout(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]
