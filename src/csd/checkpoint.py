"""Checkpoints: safetensors beside JSON with a checksum, written atomically, never executed."""

import hashlib
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np
import safetensors
import safetensors.numpy

from csd.errors import UserError, require
from csd.files import write_atomically

KEEP = 2
LIBRARIES = ("csd", "jax", "jaxlib", "optax", "numpy", "mujoco", "gymnasium", "gymnasium-robotics")


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a pytree by their path."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {_name(path): np.asarray(leaf) for path, leaf in leaves}


def unflatten(
    template: Any, arrays: dict[str, np.ndarray], optional: re.Pattern[str] | None = None
) -> Any:
    """A pytree shaped like `template` from arrays by path; `optional` ones may be missing."""
    leaves, treedef = jax.tree_util.tree_flatten_with_path(template)
    restored = []
    for path, leaf in leaves:
        name = _name(path)
        if name not in arrays and optional is not None and optional.search(name):
            restored.append(np.zeros(leaf.shape, leaf.dtype))
            continue
        if name not in arrays:
            raise UserError(f"the checkpoint has no {name!r}: it was written by another version")
        array = arrays[name]
        if array.shape != leaf.shape:
            raise UserError(
                f"the checkpoint's {name!r} has shape {array.shape}, the configuration {leaf.shape}"
            )
        restored.append(array.astype(leaf.dtype))
    return jax.tree_util.tree_unflatten(treedef, restored)


def padded(name: str, stored: np.ndarray, whole: Any) -> np.ndarray:
    """A memory's array from the part of it that was in use; the rest is zeros."""
    fits = stored.shape[1:] == whole.shape[1:] and len(stored) <= len(whole)
    require(
        fits,
        f"the checkpoint's {name!r} has shape {stored.shape}, "
        f"the configuration has room for {whole.shape}",
    )
    array = np.zeros(whole.shape, whole.dtype)
    array[: len(stored)] = stored
    return array


def _name(path: tuple[Any, ...]) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/")


def save(folder: Path, episode: int, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    """Write checkpoint `episode`; it exists only once its JSON does. The newest two are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob(".*.tmp"):  # of a process that was killed while it wrote
        unfinished.unlink(missing_ok=True)
    content = safetensors.numpy.save({k: np.asarray(v, order="C") for k, v in arrays.items()})
    meta = {
        "episode": episode,
        "sha256": hashlib.sha256(content).hexdigest(),
        "versions": {name: metadata.version(name) for name in LIBRARIES},
        **meta,
    }
    write_atomically(folder / f"{episode:09d}.safetensors", content)
    write_atomically(folder / f"{episode:09d}.json", json.dumps(meta, indent=1).encode())
    # A newer one was damaged when the run went on from one before it: it does not count.
    for old in [known for known in episodes(folder) if known <= episode][:-KEEP]:
        (folder / f"{old:09d}.json").unlink(missing_ok=True)
        (folder / f"{old:09d}.safetensors").unlink(missing_ok=True)


def episodes(folder: Path) -> list[int]:
    """The checkpoints there are, oldest first."""
    if not folder.is_dir():
        return []
    names = (re.fullmatch(r"(\d{9})\.json", entry.name) for entry in folder.iterdir())
    return sorted(int(match[1]) for match in names if match)


def load(folder: Path, episode: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """One checkpoint; a damaged one raises `UserError`."""
    name = f"{episode:09d}"
    try:
        meta = json.loads((folder / f"{name}.json").read_text())
        content = (folder / f"{name}.safetensors").read_bytes()
        if hashlib.sha256(content).hexdigest() != meta["sha256"]:
            raise UserError(f"checkpoint {name} is damaged: its checksum does not match")
        return safetensors.numpy.load(content), meta
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        raise UserError(f"checkpoint {name} cannot be read: {error}") from None


def load_newest(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """The newest good checkpoint, with a warning about newer ones; None if there is none."""
    damaged: list[str] = []
    for episode in reversed(episodes(folder)):
        try:
            arrays, meta = load(folder, episode)
        except UserError as error:
            damaged.append(str(error))
            continue
        for message in damaged:
            print(f"warning: {message}; using the one before", file=sys.stderr)
        return arrays, meta
    if damaged:
        raise UserError(f"no usable checkpoint in {folder}: {'; '.join(damaged)}")
    return None


def reaches(folder: Path, episode: int) -> bool:
    """Whether there is a good checkpoint of this episode or a later one."""
    done = episodes(folder)
    if not done or done[-1] < episode:
        return False
    try:
        load(folder, done[-1])
    except UserError:
        return False
    return True


def newest_meta(folder: Path) -> dict[str, Any]:
    """What the newest checkpoint says of itself; nothing if that cannot be read."""
    for episode in reversed(episodes(folder)):
        try:
            return dict(json.loads((folder / f"{episode:09d}.json").read_text()))
        except (OSError, ValueError, TypeError):
            continue
    return {}
