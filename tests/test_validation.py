"""Configurations are checked as they are made, from the command line, from Python and from JSON."""

import dataclasses

import numpy as np
import pytest

import csd
from csd.config import from_dict, replace
from csd.controller.presets import preset as control_preset
from csd.presets import preset


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("episodes", 10.5, "episodes must be of type int, not 10.5"),
        ("seed", True, "seed must be of type int, not True"),
        ("overlap", 1, "overlap must be of type bool, not 1"),
        ("lr", "1", "lr must be of type float, not '1'"),
        ("focus", None, "focus must be of type str, not None"),
        ("actor_hidden", 64, "actor_hidden must be whole numbers"),
        ("actor_hidden", [64, 6.5], "actor_hidden must be whole numbers"),
        ("skill_type", "onehot", "skill_type must be one of continuous, discrete, not 'onehot'"),
        ("critics", 3, "critics must be one of 1, 2, not 3"),
        ("constraint", "x", "constraint must be one of squared, norm"),
        ("reward_scale", float("nan"), "reward_scale must be a finite number"),
        ("lambda_init", float("inf"), "lambda_init must be a finite number"),
        ("action_noise", -0.1, "action_noise must not be negative"),
        ("target_rate", 1.5, r"target_rate must be in \[0, 1\]"),
        ("actor_projection", -1, "actor_projection must not be negative"),
        ("density_noise", -1.0, "density_noise must not be negative"),
    ],
)
def test_a_wrong_value_is_told_wherever_it_comes_from(field, value, message):
    config = preset("Probe")
    with pytest.raises(csd.UserError, match=message):
        replace(config, **{field: value})
    values = dataclasses.asdict(config)
    owner = next(part for part in (values, values["sac"], values["algorithm"]) if field in part)
    owner[field] = value
    with pytest.raises(csd.UserError, match=message):
        from_dict(values)


def test_lists_and_numpys_numbers_are_taken_as_what_they_stand_for():
    config = replace(preset("Probe"), seed=np.int64(3), actor_hidden=[8, np.int64(8)][:1], lr=1)
    assert config.seed == 3 and type(config.seed) is int and config.sac.actor_hidden == (8,)


@pytest.mark.parametrize("name", ["fast", "paper"])
def test_controllers_are_checked_too(name):
    for field, value in (("learner", "dqn"), ("every", 2.5), ("clip", 0.0), ("trace", 2.0)):
        skills = replace(preset("Probe"), skill_type="discrete")
        config = control_preset("ProbeGoal", skills, "run", name)
        with pytest.raises(csd.UserError, match=field):
            csd.controller.config.replace(config, **{field: value})


def test_nothing_is_left_behind(tmp_path):
    with pytest.raises(csd.UserError, match="horizon"):
        csd.train("Probe", horizon=1.5, run_dir=tmp_path / "run")
    with pytest.raises(csd.UserError, match="env must be of type str"):
        csd.train(None, run_dir=tmp_path / "run")  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()
