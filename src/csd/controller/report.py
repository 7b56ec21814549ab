"""`csd evaluate` on a controller: is it better than chance, and than aiming without training?"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from csd import rundir, tasks
from csd.controller.config import ControlConfig
from csd.controller.rollout import (
    Choose,
    TaskRollout,
    aimed_choice,
    can_aim,
    policy_choice,
    random_choice,
)
from csd.controller.run import load_controller
from csd.controller.training import (
    EVALUATION_ENVS,
    Streams,
    check_skills,
    evaluate,
    figures,
    open_view,
)
from csd.errors import require
from csd.files import write_atomically
from csd.skills import load
from csd.tasks.kitchen import OneOf

ROWS = {
    "success": "success at any time",
    "success_at_end": "success at the end",
    "return": "mean return",
    "steps": "mean steps of an episode",
}


def report(run_dir: str | Path, episodes: int = 200, workers: int = 0) -> dict[str, Any]:
    """Measure a controller beside random choices and, where possible, zero-shot ones."""
    require(episodes >= 1, f"skills (here the episodes) must be at least 1, not {episodes}")
    path = Path(run_dir)
    trained = load_controller(path, min(episodes, EVALUATION_ENVS), workers)
    config, view, agent = trained.config, trained.view, trained.agent
    key = Streams.of(config.seed).evaluation
    choices: dict[str, Callable[[np.ndarray], Choose]] = {
        "controller": lambda ids: policy_choice(agent, trained.policy, None),
        "random": lambda ids: random_choice(agent, agent.draw(key, ids)),
    }
    try:
        if not can_aim(view):
            choices["zero_shot"] = lambda ids: aimed_choice(view)
        rollouts = {who: evaluate(config, view, c, episodes) for who, c in choices.items()}
    finally:
        view.envs.close()
    result: dict[str, Any] = {
        "run": str(path),
        "task": config.task,
        "skills": "" if trained.skills is None else trained.skills.config.method,
        "seed": config.seed,
        "episodes": trained.episode,
        "rollouts": episodes,
        **{who: figures(rollout) for who, rollout in rollouts.items()},
    }
    by_task = {who: success_by_task(config.task, rollout) for who, rollout in rollouts.items()}
    if by_task["controller"]:
        result["success_by_task"] = by_task
    result["verdict"] = verdict(result)
    _write(path, result, rollouts)
    return result


def success_by_task(task: str, rollout: TaskRollout) -> dict[str, float]:
    """The success rate of each task that was drawn, where an episode is told one of several."""
    rules = tasks.find(task).rules()
    if not isinstance(rules, OneOf):
        return {}
    drawn = rollout.path[:, 0, -len(rules.variables) :].argmax(axis=1)
    success = rollout.success()
    return {
        rules.variables[number]: float(success[drawn == number].mean())
        for number in np.unique(drawn)
    }


def zero_shot(config: ControlConfig, episodes: int = 200, workers: int = 0) -> dict[str, Any]:
    """Aim the skills at the goal without any training."""
    skills = load(config.skills)
    check_skills(config, skills)
    view = open_view(config, skills, min(episodes, EVALUATION_ENVS), workers)
    try:
        rollout = evaluate(config, view, lambda ids: aimed_choice(view), episodes)
    finally:
        view.envs.close()
    return {
        "skills": config.skills,
        "task": config.task,
        "seed": config.seed,
        "rollouts": episodes,
        "zero_shot": figures(rollout),
    }


def verdict(result: dict[str, Any]) -> str:
    """One sentence a newcomer understands."""
    own, chance = result["controller"], result["random"]
    what = "random skills" if result["skills"] else "random actions"
    facts = (
        f"it succeeds in {own['success']:.0%} of the episodes ({what}: {chance['success']:.0%}), "
        f"return {own['return']:.2f} ({what}: {chance['return']:.2f})"
    )
    if own["return"] >= max(2.0 * chance["return"], chance["return"] + 0.1):
        return f"It learned the task: {facts}."
    if own["return"] > 1.2 * chance["return"] + 0.02:
        return f"It is beginning to learn the task: {facts}; train longer."
    return f"It has not learned the task: {facts}."


def _write(path: Path, result: dict[str, Any], rollouts: dict[str, TaskRollout]) -> None:
    folder = path / rundir.EVALUATION
    folder.mkdir(exist_ok=True)
    write_atomically(folder / "evaluation.json", json.dumps(result, indent=1).encode())
    arrays = {}
    for who, rollout in rollouts.items():
        arrays |= {
            f"{who}/path": rollout.path,
            f"{who}/steps": rollout.steps,
            f"{who}/success": rollout.success(),
        }
    write_atomically(folder / "paths.safetensors", safetensors.numpy.save(arrays))


def read_paths(path: Path) -> dict[str, np.ndarray] | None:
    """The paths of the last evaluation, if there was one."""
    file = path / rundir.EVALUATION / "paths.safetensors"
    return safetensors.numpy.load(file.read_bytes()) if file.exists() else None


def table(result: dict[str, Any]) -> str:
    """The figures side by side, as text."""
    who = [name for name in ("controller", "random", "zero_shot") if name in result]
    head = "".join(f"{name.replace('_', '-'):>14}" for name in who)
    lines = [f"{result['task']:<28}{head}"]
    for key, label in ROWS.items():
        lines.append(f"{label:<28}" + "".join(f"{result[name][key]:>14.3f}" for name in who))
    by_task = result.get("success_by_task", {})
    for task in by_task.get("controller", ()):
        lines.append(f"  {task:<26}" + "".join(f"{by_task[name][task]:>14.2f}" for name in who))
    return "\n".join(lines)
