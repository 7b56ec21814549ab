"""What the README promises, at full length: `pytest -m slow tests/test_studies.py`, by hand."""

from collections.abc import Callable
from typing import Any

import pytest

import csd

pytestmark = pytest.mark.slow

Claim = Callable[[dict[str, Any]], bool]

CLAIMS: dict[str, Claim] = {
    "FetchPush": lambda e: e["skills"]["moved"] >= 0.95 and e["skills"]["coverage"] >= 150,
    "FetchSlide": lambda e: e["skills"]["coverage"] >= 5 * e["untrained"]["coverage"],
    "FetchPickAndPlace": lambda e: e["skills"]["lifted"] > 0.1,
    "Kitchen": lambda e: e["skills"]["tasks"] >= 8,
    "Ant": lambda e: e["skills"]["coverage"] >= 500 and e["skills"]["sectors"] == 8,
    "HalfCheetah": lambda e: e["skills"]["x_span"] >= 80,
}


@pytest.mark.parametrize("env", CLAIMS)
def test_skills_are_learned_by_the_fast_preset(env, tmp_path):
    run = csd.train(env, run_dir=tmp_path / env, quiet=True)
    result = csd.evaluate(run.dir)
    assert CLAIMS[env](result), result["verdict"]


def test_of_all_methods_only_csd_moves_the_cube_without_being_told(tmp_path):
    for method in ("lsd", "lsd-dual", "diayn", "dads"):
        run = csd.train("FetchPush", method=method, run_dir=tmp_path / method, quiet=True)
        assert csd.evaluate(run.dir)["skills"]["moved"] < 0.2
