"""The probe world must be learned: CSD moves the puck, the others move only themselves."""

import pytest

import csd


def moved(method: str, folder) -> float:
    """The share of skills that move the puck after the default Probe run."""
    run = csd.train("Probe", method=method, run_dir=folder / method, quiet=True)
    return csd.evaluate(run.dir)["skills"]["moved"]


def test_csd_learns_to_move_the_hard_thing(probe_run):
    assert csd.evaluate(probe_run.dir)["skills"]["moved"] > 0.6


@pytest.mark.parametrize("method", ["lsd", "lsd-dual", "diayn"])
def test_other_methods_leave_the_hard_thing_alone(method, tmp_path):
    assert moved(method, tmp_path) < 0.3
