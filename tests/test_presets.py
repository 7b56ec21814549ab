"""The published runs, number for number: a changed default must not change a `paper` preset."""

import dataclasses

import pytest

from csd.config import Config
from csd.presets import preset

MANIPULATION = {
    "episodes": 80_000,
    "warmup_episodes": 4_000,
    "num_envs": 2,
    "updates": 10,
    "method_updates": 10,
    "start_steps": 0,
    "method_first": False,
    "batch_size": 256,
    "final_lr": 1.0,
    "final_noise": 1.0,
    "keep": "last",
    "replay_episodes": 2_000,
    "replay_overwrite": "random",
    "skill_type": "continuous",
    "skill_dim": 2,
    "skill_unit_length": False,
    "normalizer": "running",
    "obs_clip": 5.0,
    "method_states": "raw",
    "focus": "",
    "horizon": 0,
    "overlap": False,
    # the policy
    "reward_scale": 500.0,
    "discount": 0.98,
    "critics": 1,
    "actor_hidden": (256, 256),
    "actor_projection": 256,
    "actor_activation": "relu",
    "head_scale": 1.0,
    "log_std": "squashed",
    "critic_hidden": (256, 256),
    "lr": 1e-3,
    "alpha": 0.02,
    "alpha_auto": False,
    "entropy": "offset",
    "action_penalty": 1.0,
    "target_rate": 0.005,
    "target_period": 10,
    "target_actor": True,
    "target_copy": False,
    "bootstrap_time_limit": True,
    "store_end": True,
    "action_noise": 0.2,
    "random_action_prob": 0.3,
    "sample_actions": False,
    # the method
    "phi_hidden": (128, 128),
    "phi_lr": 1e-3,
    "lambda_init": 3_000.0,
    "lambda_lr": 1e-3,
    "slack": 1e-6,
    "constraint": "squared",
    "one_sided": False,
    "k_step": 1,
    "density_hidden": (128, 128),
    "density_lr": 1e-3,
    "density_loss": "published",
    "density_noise": 0.0,
}
KITCHEN = MANIPULATION | {"episodes": 40_000, "skill_type": "discrete", "skill_dim": 16}
LOCOMOTION = MANIPULATION | {
    "episodes": 200_000,
    "warmup_episodes": 0,
    "num_envs": 10,
    "updates": 64,
    "method_updates": 32,
    "batch_size": 1_024,
    "replay_episodes": 10,  # on-policy
    "replay_overwrite": "oldest",
    "skill_type": "discrete",
    "skill_dim": 16,
    "normalizer": "preset",
    "obs_clip": 0.0,
    "method_states": "normalized",
    # the policy
    "reward_scale": 10.0,
    "discount": 0.99,
    "critics": 2,
    "actor_hidden": (512, 512),
    "actor_projection": 0,
    "actor_activation": "tanh",
    "head_scale": 0.1,
    "log_std": "clamped",
    "critic_hidden": (512, 512),
    "lr": 1e-4,
    "alpha": 0.03,
    "entropy": "soft",
    "action_penalty": 0.0,
    "target_period": 1,
    "target_actor": False,
    "target_copy": True,
    "bootstrap_time_limit": False,
    "store_end": False,
    "action_noise": 0.0,
    "random_action_prob": 0.0,
    "sample_actions": True,
    # the method
    "phi_hidden": (512, 512),
    "phi_lr": 1e-4,
    "lambda_lr": 1e-4,
    "density_hidden": (512, 512),
    "density_lr": 1e-4,
    "density_loss": "gaussian",
}
OURS = ("env", "method", "preset", "seed")  # what names the run
OURS += ("eval_every", "eval_skills", "log_every", "checkpoint_every")  # what only looks at it


def numbers(config: Config) -> dict:
    """Every field that decides what is learned, in one level."""
    flat = dataclasses.asdict(config)
    flat |= flat.pop("sac") | flat.pop("algorithm")
    return {name: value for name, value in flat.items() if name not in OURS}


@pytest.mark.parametrize(
    ("env", "published"),
    [
        ("FetchPush", MANIPULATION),
        ("FetchSlide", MANIPULATION),
        ("FetchPickAndPlace", MANIPULATION | {"skill_dim": 3}),
        ("Kitchen", KITCHEN),
        ("Ant", LOCOMOTION),
        ("HalfCheetah", LOCOMOTION | {"alpha": 0.1}),
    ],
)
def test_the_published_runs_of_csd(env, published):
    assert numbers(preset(env, "csd", "paper")) == published
