"""`python -m csd.pretrained RUN ...`: put the skills of these runs among the pretrained ones."""

import shutil
import sys
from pathlib import Path

from csd.errors import UserError
from csd.pretrained import FOLDER
from csd.skills import keep, load


def add(run: str | Path, folder: Path = FOLDER) -> Path:
    """Keep a run's skills under the name of their environment, in place of older ones."""
    skills = load(run)
    path = folder / skills.config.env
    if path.exists():
        shutil.rmtree(path)
    keep(skills, path)
    return path


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("csd: name the runs: `python -m csd.pretrained RUN ...`")
    try:
        for argument in sys.argv[1:]:
            print(add(argument))
    except UserError as error:
        sys.exit(f"csd: {error}")
