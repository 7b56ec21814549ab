"""Several runs in one picture."""

import json
import shutil

import pytest

from csd.errors import UserError
from csd.viz import compare


def test_runs_side_by_side_are_told_apart_and_must_share_an_environment(tiny_run, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(tiny_run.dir, again)
    config = json.loads((again / "config.json").read_text())
    (again / "config.json").write_text(json.dumps(config | {"seed": 5}))
    runs = [tiny_run.dir, again]
    picture = compare.compare(runs, tmp_path / "pictures" / "two.png", skills=4)
    assert picture.read_bytes().startswith(b"\x89PNG")
    labels = [run.label for run in compare._distinct([compare._read(r, 4, "") for r in runs])]
    assert labels == ["csd, seed 0", "csd, seed 5"]

    (again / "config.json").write_text(json.dumps(config | {"env": "FetchPush"}))
    with pytest.raises(UserError, match="different environments"):
        compare.compare(runs, tmp_path / "two.png", skills=4)
