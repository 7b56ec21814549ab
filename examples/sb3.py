"""Train Stable-Baselines3 on skills: `python examples/sb3.py RUN [TASK]` (extra: `csd[sb3]`).

SAC where the skills are continuous, PPO where they are discrete. Nothing here knows of skill
discovery: SkillEnv is an ordinary Gymnasium environment.
"""

import argparse

import gymnasium
import numpy as np
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.monitor import Monitor

import csd


def success(env: gymnasium.Env, model: SAC | PPO | None, episodes: int) -> float:
    """The share of episodes with any reward; without a model choices are random."""
    reached = 0
    env.action_space.seed(0)
    for seed in range(episodes):
        obs, _ = env.reset(seed=10_000 + seed)
        total, over = 0.0, False
        while not over:
            action = (
                model.predict(obs, deterministic=True)[0] if model else env.action_space.sample()
            )
            obs, reward, terminated, truncated, _ = env.step(action)
            total, over = total + float(reward), terminated or truncated
        reached += total > 0.0
    return reached / episodes


def main() -> None:
    """Train on a task and compare with random skills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="a run, or the name of pretrained skills")
    parser.add_argument("task", nargs="?", default="FetchPushGoal", help="see `csd list tasks`")
    parser.add_argument("--every", type=int, default=10, help="steps for which a skill is held")
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--episodes", type=int, default=100, help="episodes of the evaluation")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    env = Monitor(
        csd.SkillEnv(gymnasium.make(f"csd/{options.task}-v0"), options.run, options.every)
    )
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        model: SAC | PPO = PPO("MlpPolicy", env, n_steps=256, seed=options.seed)
    else:
        model = SAC("MlpPolicy", env, gamma=0.95, learning_rate=1e-3, seed=options.seed)
    print(f"random skills: {success(env, None, options.episodes):.0%} success")
    model.learn(options.decisions, log_interval=None)
    returns = np.array(env.get_episode_rewards()[-100:])
    print(f"last 100 training episodes: {np.mean(returns > 0):.0%} success")
    print(f"after {options.decisions:,} decisions: {success(env, model, options.episodes):.0%}")


if __name__ == "__main__":
    main()
