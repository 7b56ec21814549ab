"""`csd list`: what there is, as data and as text."""

from typing import Any

from csd import pretrained, rundir, tables
from csd.config import Config
from csd.envs.registry import ENVS
from csd.experiments.figures import FIGURES
from csd.presets import MEASURED, PRESETS, preset
from csd.tasks import TASKS

METHOD_SUMMARIES = {
    "csd": "controllability-aware skill discovery: seeks what is hard to change",
    "lsd": "Lipschitz-constrained: seeks the largest change of state (spectral normalisation)",
    "lsd-preset": "lsd with states divided by their spread in random episodes",
    "lsd-norm": "lsd with states divided by a running estimate of the spread of one step",
    "lsd-dual": "csd with the Euclidean distance (the paper's LSD+dual ablation)",
    "metra": "csd with a constant distance: every step is equally far",
    "diayn": "skills that can be told apart by the states they lead to",
    "dads": "skills whose next step is predictable, and not that of another skill",
    "disagreement": "curiosity: seeks what five forward models disagree on, whatever the skill",
    "dsd": "csd with any distance: --distance euclidean, constant or my_module:my_distance",
}


def sections() -> dict[str, list[dict[str, Any]]]:
    """Every list by name."""
    return {
        "envs": [
            *({"name": name, "about": known.summary} for name, known in ENVS.items()),
            {
                "name": "any Gymnasium id",
                "about": "Box (or Dict with `observation`) states, Box actions",
            },
        ],
        "methods": [{"name": k, "about": v} for k, v in METHOD_SUMMARIES.items()],
        "tasks": [
            {"name": name, "skills of": task.env, "about": task.summary}
            for name, task in TASKS.items()
        ],
        "figures": [
            {
                "name": name,
                "paper": figure.paper or None,
                "runs": figure.runs,
                "about": figure.about,
            }
            for name, figure in FIGURES.items()
        ],
        "skills": [_pretrained(name) for name in pretrained.names()],
        "presets": [_preset(env, name) for env in ENVS for name in PRESETS],
    }


def _pretrained(name: str) -> dict[str, Any]:
    config = rundir.read_config(pretrained.find(name))
    return {
        "name": name,
        "method": config.method,
        "preset": config.preset,
        "seed": config.seed,
        "episodes": config.episodes,
        "skills": _kind(config),
    }


def _kind(config: Config) -> str:
    discrete = config.skill_type == "discrete"
    return f"{config.skill_dim}{'' if discrete else '-D'} {config.skill_type}"


def _preset(env: str, name: str) -> dict[str, Any]:
    config = preset(env, "csd", name)
    measured = MEASURED.get((env, name))
    return {
        "env": env,
        "preset": name,
        "episodes": config.episodes,
        "skills": _kind(config),
        "minutes": measured.minutes if measured else None,
        "gigabytes": measured.gigabytes if measured else None,
    }


def text(chosen: dict[str, list[dict[str, Any]]]) -> str:
    """Tables for a person."""
    blocks = [f"{title.upper()}\n{tables.aligned(rows)}" for title, rows in chosen.items()]
    notes = "minutes and gigabytes: measured on two cores without a GPU, method csd"
    return "\n\n".join(blocks) + (f"\n{notes}" if "presets" in chosen else "")
