"""Several runs in one picture."""

import json
import shutil

import numpy as np
import pytest

from csd.errors import UserError
from csd.presets import preset
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


def test_cheetahs_are_compared_by_rows_of_x_on_one_scale(tmp_path):
    (tmp_path / "metrics.jsonl").touch()
    config = preset("HalfCheetah")
    obs = np.zeros((3, 6, 18), np.float32)
    obs[..., 0] = np.linspace(0.0, 40.0, 6)
    skill, length = np.eye(3, 16, dtype=np.float32), np.full(3, 5)
    data = {"obs": obs, "skill": skill, "length": length}
    far, near = (data | {"obs": scale * obs} for scale in (1.0, -0.5))
    runs = [compare.Compared(tmp_path, "x", config, each) for each in (far, near)]
    panels = compare.draw(runs, "").axes[:2]
    for ax, end in zip(panels, (40.0, -20.0), strict=True):
        assert [c.get_segments()[-1][-1].tolist() for c in ax.collections] == [
            [end, row] for row in range(3)
        ]
        assert ax.get_xlim() == (-20.0, 40.0)
