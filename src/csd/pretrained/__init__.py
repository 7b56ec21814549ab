"""Skills that come with the package: `csd.load("FetchPush")` needs no training.

Each is a folder like that of a run, without what only training needs. `python -m csd.pretrained
RUN` puts the skills of a run here, under the name of their environment.
"""

import difflib
import os
import shutil
from pathlib import Path

from csd import hub, rundir
from csd.errors import UserError

FOLDER = Path(__file__).resolve().parent


def names() -> list[str]:
    """The pretrained skills there are."""
    return sorted(file.parent.name for file in FOLDER.glob(f"*/{rundir.CONFIG}"))


def find(run: str | Path) -> Path:
    """The folder of a run or, where there is none, of the pretrained skills of that name.

    `hub:USER/NAME` is fetched from the Hugging Face Hub.
    """
    path = Path(run)
    if path.is_dir():
        return path
    if hub.names(run):
        return hub.download(str(run))
    if str(run) in names():
        return FOLDER / run
    close = difflib.get_close_matches(str(run), names(), 1, cutoff=0.7)
    raise UserError(
        f"there is no run at {path}: "
        + (f"did you mean {close[0]}? Otherwise " if close else "")
        + "give the folder that `csd train` printed or the name of pretrained skills "
        f"({', '.join(names())}, hub:USER/NAME)"
    )


def writable(run: str | Path) -> Path:
    """The same, for results: what is not a run's own folder is copied to `runs/NAME-pretrained`.

    A copy that another version of the package left there is left alone, the new one gets a number.
    """
    path = find(run)
    packaged = path.resolve().parent == FOLDER
    if not packaged and not hub.names(run):
        return path
    name = path.name if packaged else str(run).removeprefix(hub.PREFIX).replace("/", "_")
    own, number = Path("runs") / f"{name}-pretrained", 2
    while own.exists() and _contents(own) != _contents(path):
        own, number = own.with_name(f"{name}-pretrained-{number}"), number + 1
    if not own.exists():
        try:
            copy = own.with_name(f".{own.name}.{os.getpid()}")
            shutil.copytree(path, copy)
            os.replace(copy, own)
        except OSError as error:
            raise UserError(f"cannot write to {own}: {error.strerror or error}") from None
    return own


def _contents(folder: Path) -> list[tuple[str, bytes]]:
    """What tells skills apart: their checkpoints' descriptions hold checksums."""
    files = sorted((folder / rundir.CHECKPOINTS).glob("*.json"))
    return [(file.name, file.read_bytes()) for file in files]
