"""`csd evaluate`: did it learn? Trained skills beside random actions and an untrained policy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from csd import checkpoint, envs, rundir
from csd.collect import Rollout
from csd.errors import UserError, require
from csd.evaluation.families import FAMILIES
from csd.evaluation.skills import evaluation_skills, find_target, measure, roll_out
from csd.files import write_atomically
from csd.skills import Skills, load
from csd.training import Streams

ROWS = {
    "coverage": "bins covered",
    "coverage_xyz": "bins covered (xyz)",
    "moved": "fraction of skills that move it",
    "displacement": "mean displacement",
    "direction": "direction follows skill (circular correlation)",
    "explained": "displacement explained by skill",
    "body_coverage": "bins covered by the body",
    "body_displacement": "mean displacement of the body",
    "volume": "log-volume of all states visited",
}


def evaluate(
    run_dir: str | Path, skills: int = 200, dims: str = "", workers: int = 0, noise: float = 0.0
) -> dict[str, Any]:
    """Measure a run's skills; the result is also written to its `evaluation` folder.

    With `noise` on their actions, in a file of its own: figures draw skills undisturbed.
    """
    if not 0.0 <= noise <= 1.0:
        raise UserError(f"noise must be in [0, 1], the range of actions being [-1, 1], not {noise}")
    require(skills >= 1, f"skills must be at least 1, not {skills}")
    path = Path(run_dir)
    trained = load(path)
    learner, config = trained.learner, trained.config
    codes = evaluation_skills(learner, skills, noise)
    pool = envs.make(config.env, min(len(codes), 64), config.horizon, workers)
    try:
        untrained = learner.snapshot(learner.init(Streams.of(config.seed).init))
        rollouts = {
            "skills": roll_out(learner, pool, trained.policy, codes, noise),
            "untrained": roll_out(
                learner,
                pool,
                untrained._replace(normalizer=learner.snapshot(trained.state).normalizer),
                codes,
                noise,
            ),
            "random": roll_out(learner, pool, None, codes),
        }
    finally:
        pool.close()
    target = find_target(trained.spec, dims, rollouts["random"].obs)
    result: dict[str, Any] = {
        "run": str(path),
        "env": config.env,
        "family": trained.spec.family,
        "method": config.method,
        "seed": config.seed,
        "episodes": trained.episode,
        "rollouts": len(codes),
        "noise": noise,
        "target": target.name,
        **{name: measure(rollout, trained.spec, target) for name, rollout in rollouts.items()},
    }
    result["verdict"] = verdict(result)
    _write(path, result, rollouts["skills"], trained)
    return result


def verdict(result: dict[str, Any]) -> str:
    """One sentence a newcomer understands."""
    family = FAMILIES.get(result["family"])
    if family and family.verdict:
        return family.verdict(result)
    own, chance = result["skills"], result["random"]
    target = "state" if "," in result["target"] else result["target"]
    share, luck = own["moved"], chance["moved"]
    steering = own.get("direction", own.get("explained", 0.0))
    facts = (
        f"{share:.0%} of the skills move the {target} (random actions: {luck:.0%}), "
        f"covering {own['coverage']} bins (random: {chance['coverage']})"
    )
    if share >= 0.5 and own["coverage"] >= 1.5 * chance["coverage"]:
        if steering >= 0.6:
            return f"It learned: {facts}, and each skill has a direction of its own."
        return f"It learned: {facts}, but where it goes does not yet depend much on the skill."
    if share > luck + 0.05 or own["coverage"] > 1.5 * chance["coverage"]:
        return f"It is beginning to learn: {facts}; train longer."
    return f"It has not learned to move the {target}: {facts}."


def _write(path: Path, result: dict[str, Any], rollout: Rollout, trained: Skills) -> None:
    folder = path / rundir.EVALUATION
    folder.mkdir(exist_ok=True)
    name = f"noise-{result['noise']:g}" if result["noise"] else "evaluation"
    write_atomically(folder / f"{name}.json", json.dumps(result, indent=1).encode())
    if result["noise"]:
        return
    arrays = {"obs": rollout.obs, "skill": rollout.skill, "length": rollout.length}
    arrays["episode"] = np.asarray([trained.episode])
    write_atomically(folder / "trajectories.safetensors", safetensors.numpy.save(arrays))


def newest_trajectories(
    path: Path, skills: int = 200, dims: str = ""
) -> dict[str, np.ndarray] | None:
    """What the newest skills do: as evaluated before, or now; nothing if there is no checkpoint."""
    done = checkpoint.episodes(path / rundir.CHECKPOINTS)
    if not done:
        return None
    file = path / rundir.EVALUATION / "trajectories.safetensors"
    if not file.exists() or int(_read(file)["episode"][0]) < done[-1]:
        evaluate(path, skills, dims)
    return _read(file)


def _read(file: Path) -> dict[str, np.ndarray]:
    return safetensors.numpy.load(file.read_bytes())


def table(result: dict[str, Any]) -> str:
    """The figures side by side, as text."""
    lines = [f"{result['target']:<48}{'skills':>10}{'untrained':>12}{'random':>10}"]
    family = FAMILIES.get(result["family"])
    for key, label in (ROWS | (family.rows if family else {})).items():
        if key in result["skills"]:
            values = [result[who][key] for who in ("skills", "untrained", "random")]
            shown = [f"{v:d}" if isinstance(v, int) else f"{v:.3f}" for v in values]
            lines.append(f"{label:<48}{shown[0]:>10}{shown[1]:>12}{shown[2]:>10}")
    return "\n".join(lines)
