"""JAX's persistent compilation cache, in the user's cache folder."""

import os
from pathlib import Path

import jax


def enable_cache() -> None:
    """Keep compiled functions between runs; `CSD_CACHE` moves the folder, empty turns it off."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "csd"
    folder = os.environ.get("CSD_CACHE", str(default))
    if folder and jax.config.jax_compilation_cache_dir is None:  # type: ignore[attr-defined]
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
