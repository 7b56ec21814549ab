"""Weights & Biases beside a run's own metrics, where it is asked for."""

import json
import os
import secrets
from pathlib import Path
from types import ModuleType
from typing import Any

from csd.errors import UserError
from csd.files import write_atomically
from csd.rundir import read_values

FILE = "wandb.json"
"""Where a run keeps its W&B project and id, so that it goes on there when it is resumed."""


def ready(project: str) -> None:
    """Before a run begins: the package is there and lets us in, or the network is not wanted."""
    if not project:
        return
    wandb = _wandb()
    if os.environ.get("WANDB_MODE") in ("offline", "dryrun", "disabled"):
        return
    try:
        wandb.login(verify=True, timeout=20)
    except wandb.errors.Error as error:
        raise _unreachable(error) from None


def begin(run: Path, project: str) -> None:
    """From now on the run's metrics go to a project, too."""
    if project:
        identity = {"project": project, "id": secrets.token_hex(4)}
        write_atomically(run / FILE, json.dumps(identity).encode())


class Tracker:
    """The run's figures at W&B; without `begin` nothing."""

    def __init__(self, run: Path) -> None:
        self._run: Any = None
        if not (run / FILE).exists():
            return
        wandb = _wandb()
        # The program's output and its user's code stay here.
        quiet = wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True)
        try:
            identity = json.loads((run / FILE).read_text())
            self._run = wandb.init(
                **identity,
                name=run.name,
                dir=run,
                resume="allow",
                config=read_values(run),
                settings=quiet,
            )
        except (ValueError, TypeError) as error:
            raise UserError(f"{run / FILE} cannot be used: {error}") from None
        except wandb.errors.Error as error:
            raise _unreachable(error) from None

    def write(self, scalars: dict[str, float], episode: int) -> None:
        """Send figures; those of episodes that were sent before a crash are left out there."""
        if self._run is not None:
            self._run.log(scalars, step=episode)

    def close(self) -> None:
        """Send what is left."""
        if self._run is not None:
            self._run.finish()


def _wandb() -> ModuleType:
    try:
        import wandb
    except ImportError as error:
        if (error.name or "").split(".")[0] != "wandb":
            raise
        raise UserError("--wandb needs its package: `pip install 'csd[wandb]'`") from None
    return wandb


def _unreachable(error: Exception) -> UserError:
    what = " ".join(str(error).split()).rstrip(".")
    return UserError(f"W&B: {what} (WANDB_MODE=offline keeps the figures for `wandb sync`)")
