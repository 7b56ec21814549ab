"""The run directory: where a run lives, and everything a later command needs of it."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from csd.config import Config, from_dict
from csd.errors import UserError
from csd.files import write_atomically

CONFIG, METRICS, CHECKPOINTS, EVALUATION, PLOTS, VIDEOS = (
    "config.json",
    "metrics.jsonl",
    "checkpoints",
    "evaluation",
    "plots",
    "videos",
)
SKILLS = "skills"
"""Where a controller's run keeps the skills it uses."""


def default(config: Config) -> Path:
    """A free folder of the name `runs/ENV-METHOD-seedN`."""
    return free(f"{config.env}-{config.method}-seed{config.seed}")


def free(name: str) -> Path:
    """The first free `runs/NAME`, with a number behind it if it is taken."""
    base = Path("runs") / name.replace("/", "_").replace(":", "_")
    path, number = base, 2
    while path.exists():
        path, number = base.with_name(f"{base.name}-{number}"), number + 1
    return path


def create(path: Path, config: Any, command: str = "train") -> None:
    """Claim a new or empty directory for a run of `csd COMMAND`."""
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file; choose a folder for --run-dir")
    if (path / CONFIG).exists():
        raise UserError(
            f"{path} already holds a run: go on with `csd {command} --resume {path}` "
            "or choose another --run-dir"
        )
    if path.exists() and any(path.iterdir()):
        raise UserError(f"{path} holds other files; choose a new or empty folder for --run-dir")
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_config(path, config)
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror or error}") from None


def write_config(path: Path, config: Any) -> None:
    """The configuration in its file."""
    write_atomically(path / CONFIG, json.dumps(dataclasses.asdict(config), indent=1).encode())


def read_config(path: Path) -> Config:
    """The configuration of an existing run of skills."""
    values = read_values(path)
    if "task" in values:
        own = path / SKILLS
        where = f"its skills are in {own}" if own.exists() else "it was trained without skills"
        raise UserError(f"{path} holds a controller; {where}")
    try:
        return from_dict(values)
    except TypeError as error:  # a field that is missing or of another type
        raise UserError(f"{path / CONFIG} cannot be used: {error}") from None


def is_control(path: Path) -> bool:
    """Whether a run is that of a controller."""
    return "task" in read_values(path)


def read_values(path: Path) -> dict[str, Any]:
    """What the configuration of an existing run says."""
    if not path.is_dir():
        raise UserError(f"there is no run at {path}: give the folder that `csd train` printed")
    try:
        values = json.loads((path / CONFIG).read_text())
    except FileNotFoundError:
        raise UserError(f"{path} is not a run: it has no {CONFIG}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path / CONFIG} cannot be read: {error}") from None
    if not isinstance(values, dict):
        raise UserError(f"{path / CONFIG} cannot be read: it holds no fields")
    return values


def read_metrics(path: Path) -> list[dict]:
    """The rows of metrics.jsonl; a last line cut short by a crash is left out."""
    rows = []
    try:
        lines = (path / METRICS).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            break
        if isinstance(row, dict):
            rows.append(row)
    return rows
