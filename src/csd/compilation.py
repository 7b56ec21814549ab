"""Compiling little and keeping it: a run's first line should not wait for XLA."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from csd import cores

quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 1})
"""`jax.jit` for what would compile longer than it ever runs, such as drawing noise."""


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Zeros made on the host: `jnp.zeros` compiles a function for every new shape."""
    return jnp.asarray(np.zeros(shape, dtype))


def enable_cache() -> None:
    """Keep compiled functions between runs; `CSD_CACHE` moves the folder, empty turns it off."""
    cores.learner_threads()  # the first computation is about to start
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "csd"
    folder = os.environ.get("CSD_CACHE", str(default))
    if folder and jax.config.jax_compilation_cache_dir is None:  # type: ignore[attr-defined]
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
