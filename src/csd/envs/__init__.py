"""Environments: `registry.make` steps many of one name at once."""

from csd.envs.base import EnvSpec, World
from csd.envs.registry import ENVS, make, make_film, make_world, spec
from csd.envs.vector import VectorEnv

__all__ = ["ENVS", "EnvSpec", "VectorEnv", "World", "make", "make_film", "make_world", "spec"]
