"""Shared by all tests: one compilation cache, one tiny run."""

import dataclasses
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


def tiny_options(method: str) -> dict:
    """Those of the tiny options that a run of the method has, and a focus."""
    from csd.config import ALGORITHMS, Config, SACConfig

    kinds = (Config, SACConfig, ALGORITHMS[method])
    known = {f.name for kind in kinds for f in dataclasses.fields(kind)}
    small = {"discriminator_hidden": (8, 8), "dynamics_hidden": (8, 8), "model_hidden": (8, 8)}
    return {k: v for k, v in (TINY | small | {"focus": "0,1,3"}).items() if k in known}


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


@pytest.fixture
def graphics():
    """Skips where nothing can draw a simulation."""
    from csd import envs
    from csd.errors import UserError

    try:
        envs.make_film("Ant", 1, 64).close()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """`csd WORDS` in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        from csd import cli

        monkeypatch.setattr("sys.argv", ["csd", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        code = stop.value.code
        assert isinstance(code, int)
        return code, *capsys.readouterr()

    return run
