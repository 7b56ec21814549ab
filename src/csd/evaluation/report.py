"""`csd evaluate`: did it learn? Trained skills beside random actions and an untrained policy."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from csd import checkpoint, envs, rundir
from csd.collect import Rollout
from csd.errors import UserError, require
from csd.evaluation.families import FAMILIES
from csd.evaluation.skills import check_dims, evaluation_skills, find_target, measure, roll_out
from csd.files import write_atomically
from csd.progress import Progress
from csd.skills import load
from csd.training import Streams

TRAJECTORIES = "trajectories.safetensors"
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
    run_dir: str | Path,
    skills: int = 200,
    dims: str = "",
    workers: int = 0,
    noise: float = 0.0,
    quiet: bool = False,
) -> dict[str, Any]:
    """Measure a run's skills; the result is also written to its `evaluation` folder.

    With `noise` on their actions, in a file of its own: figures draw skills undisturbed.
    """
    return _evaluate(Path(run_dir), skills, dims, workers, noise, quiet)[0]


def _evaluate(
    path: Path, skills: int, dims: str, workers: int = 0, noise: float = 0.0, quiet: bool = False
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What was measured, and the trajectories of the skills."""
    if not 0.0 <= noise <= 1.0:
        raise UserError(f"noise must be in [0, 1], the range of actions being [-1, 1], not {noise}")
    require(skills >= 1, f"skills must be at least 1, not {skills}")
    trained = load(path)
    learner, config = trained.learner, trained.config
    check_dims(dims, trained.spec)
    codes = evaluation_skills(learner, skills, noise)
    pool = envs.make(config.env, min(len(codes), 64), config.horizon, workers)
    try:
        untrained = learner.snapshot(learner.init(Streams.of(config.seed).init))
        untrained = untrained._replace(normalizer=learner.snapshot(trained.state).normalizer)
        kinds = (
            ("skills", trained.policy, noise),
            ("untrained", untrained, noise),
            ("random", None, 0.0),
        )
        rollouts: dict[str, Rollout] = {}
        with Progress(len(kinds) * len(codes), 0, quiet) as progress:

            def show(done: int) -> None:
                progress.update(len(rollouts) * len(codes) + done)

            for name, policy, disturbed in kinds:
                rollouts[name] = roll_out(learner, pool, policy, codes, disturbed, show)
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
        "diverged": rollouts["skills"].diverged,
        **{name: measure(rollout, trained.spec, target) for name, rollout in rollouts.items()},
    }
    result["verdict"] = verdict(result)
    rollout = rollouts["skills"]
    arrays = {"obs": rollout.obs, "skill": rollout.skill, "length": rollout.length}
    arrays["episode"] = np.asarray([trained.episode])
    _write(path / rundir.EVALUATION, result, arrays)
    return result, arrays


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


def _write(folder: Path, result: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Keep what was measured; where that cannot be, say so: it is still shown."""
    name = f"noise-{result['noise']:g}" if result["noise"] else "evaluation"
    try:
        folder.mkdir(exist_ok=True)
        write_atomically(folder / f"{name}.json", json.dumps(result, indent=1).encode())
        if not result["noise"]:
            write_atomically(folder / TRAJECTORIES, safetensors.numpy.save(arrays))
    except OSError as error:
        print(f"warning: cannot write to {folder}: {error.strerror or error}", file=sys.stderr)


def newest_trajectories(
    path: Path, skills: int = 200, dims: str = ""
) -> dict[str, np.ndarray] | None:
    """What the newest skills do: as evaluated before, or now; nothing if there is no checkpoint."""
    done = checkpoint.episodes(path / rundir.CHECKPOINTS)
    if not done:
        return None
    try:
        known = safetensors.numpy.load((path / rundir.EVALUATION / TRAJECTORIES).read_bytes())
        if int(known["episode"][0]) >= done[-1]:
            return known
    except (OSError, KeyError, safetensors.SafetensorError):
        pass  # not measured yet, or damaged
    return _evaluate(path, skills, dims)[1]


def table(result: dict[str, Any]) -> str:
    """The figures side by side, as text."""
    lines = [f"{result['target']:<48}{'skills':>10}{'untrained':>12}{'random':>10}"]
    family = FAMILIES.get(result["family"])
    for key, label in (ROWS | (family.rows if family else {})).items():
        if key in result["skills"]:
            values = [result[who][key] for who in ("skills", "untrained", "random")]
            shown = [f"{v:d}" if isinstance(v, int) else f"{v:.3f}" for v in values]
            lines.append(f"{label:<48}{shown[0]:>10}{shown[1]:>12}{shown[2]:>10}")
    if result.get("diverged"):
        lines.append(f"{'simulations that broke down':<48}{result['diverged']:>10d}")
    return "\n".join(lines)
