"""The probe world must be learned: CSD moves the puck, the Euclidean distance does not."""

import csd


def moved(method: str, folder) -> float:
    """The share of skills that move the puck after the default Probe run."""
    run = csd.train("Probe", method=method, run_dir=folder / method, quiet=True)
    return csd.evaluate(run.dir)["skills"]["moved"]


def test_csd_learns_to_move_the_hard_thing_and_the_euclidean_distance_does_not(tmp_path):
    assert moved("csd", tmp_path) > 0.8
    assert moved("lsd-dual", tmp_path) < 0.4
