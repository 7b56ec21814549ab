"""Shared by all tests: one compilation cache, one tiny run."""

import os
from pathlib import Path

import pytest

TINY = {
    "episodes": 48,
    "warmup_episodes": 8,
    "num_envs": 4,
    "updates": 3,
    "method_updates": 3,
    "batch_size": 16,
    "replay_episodes": 24,
    "actor_hidden": (8, 8),
    "actor_projection": 8,
    "critic_hidden": (8, 8),
    "phi_hidden": (8, 8),
    "density_hidden": (8, 8),
    "eval_every": 16,
    "eval_skills": 6,
    "log_every": 8,
    "checkpoint_every": 16,
}
"""Options under which a Probe run takes a second and still does everything."""


def flags(options: dict) -> list[str]:
    """Options as command line arguments."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else "--no-" + flag[2:])
        else:
            parts = value if isinstance(value, tuple) else (value,)
            words += [flag, *(str(part) for part in parts)]
    return words


@pytest.fixture(scope="session", autouse=True)
def compilation_cache(tmp_path_factory):
    """Compiled functions are shared between tests and with the processes they start."""
    folder = os.environ.setdefault("CSD_CACHE", str(tmp_path_factory.mktemp("cache")))
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory, compilation_cache):
    """A finished tiny run on Probe."""
    import csd

    return csd.train("Probe", run_dir=tmp_path_factory.mktemp("run") / "tiny", quiet=True, **TINY)


@pytest.fixture(scope="session")
def probe_run(tmp_path_factory, compilation_cache):
    """CSD's skills after the default Probe run."""
    import csd

    return csd.train("Probe", run_dir=tmp_path_factory.mktemp("run") / "probe", quiet=True)
