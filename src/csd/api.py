"""What the command line and Python callers share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from csd import checkpoint, cores, metrics, pretrained, rundir, tracking
from csd.config import Config, replace
from csd.errors import UserError, require
from csd.presets import preset as preset_config
from csd.training import Trainer


class Run(NamedTuple):
    """A run on disk."""

    dir: Path
    config: Config
    finished: bool


def train(
    env: str,
    *,
    method: str = "csd",
    preset: str = "fast",
    seed: int = 0,
    run_dir: str | Path | None = None,
    workers: int = 0,
    quiet: bool = False,
    wandb: str = "",
    **options: Any,
) -> Run:
    """Train skills in `env`; `options` are fields of the configuration."""
    config = replace(preset_config(env, method, preset), seed=seed, **options)
    return start(config, run_dir, workers, quiet, wandb)


def start(
    config: Config,
    run_dir: str | Path | None = None,
    workers: int = 0,
    quiet: bool = False,
    wandb: str = "",
) -> Run:
    """Train a complete configuration in a new run directory; `wandb` is a W&B project."""
    cores.spare(config.overlap)
    tracking.ready(wandb)
    path = Path(run_dir) if run_dir is not None else rundir.default(config)
    trainer = Trainer(config, path, workers, quiet)
    rundir.create(path, config)
    tracking.begin(path, wandb)
    return Run(path, config, trainer.train())


def resume(run_dir: str | Path, workers: int = 0, quiet: bool = False, episodes: int = 0) -> Run:
    """Go on from the newest good checkpoint; a finished run is left as it is.

    With more `episodes` than it was begun for, the run is made longer.
    """
    path = Path(run_dir)
    begun = rundir.read_config(path)
    config = replace(begun, episodes=episodes or begun.episodes)
    require(
        config.episodes >= begun.episodes,
        f"{path} is a run of {begun.episodes} episodes: it can be made longer, not {episodes} long",
    )
    if checkpoint.reaches(path / rundir.CHECKPOINTS, config.episodes):
        return Run(path, config, True)
    saved = checkpoint.newest_meta(path / rundir.CHECKPOINTS)
    require(
        not saved or "metrics_bytes" in saved,
        f"{path} holds skills without what training needs: there is nothing to resume",
    )
    if config != begun:
        with metrics.open_alone(path):
            rundir.write_config(path, config)
    cores.as_before(saved)
    cores.spare(config.overlap)
    return Run(path, config, Trainer(config, path, workers, quiet).train())


def evaluate(
    run_dir: str | Path,
    skills: int = 200,
    dims: str = "",
    workers: int = 0,
    noise: float = 0.0,
    quiet: bool = False,
) -> dict[str, Any]:
    """Measure a run's skills, perhaps with noise on their actions, or its controller."""
    path = pretrained.writable(run_dir)
    if rundir.is_control(path):
        from csd.controller.report import report

        require(not noise, f"{path} is a controller: noise is for the actions of skills")
        require(not dims, f"{path} is a controller: dims are for what skills do")
        return report(path, skills, workers)
    from csd.evaluation.report import evaluate

    return evaluate(path, skills, dims, workers, noise, quiet)


def describe(result: dict[str, Any]) -> str:
    """What `evaluate` measured as text: the figures side by side, and the verdict."""
    if "task" in result:
        from csd.controller.report import table
    else:
        from csd.evaluation.report import table
    return f"{table(result)}\n\n{result['verdict']}"


def plot(run_dir: str | Path, skills: int = 200, dims: str = "") -> list[Path]:
    """Draw a run of skills, or of a controller."""
    path = pretrained.writable(run_dir)
    if rundir.is_control(path):
        from csd.controller.plots import plot_control

        require(not dims, f"{path} is a controller: dims are for what skills do")
        return plot_control(path, skills)
    from csd.viz.plots import plot

    return plot(path, skills, dims)


def compare(
    runs: Sequence[str | Path],
    output: str | Path = "comparison.png",
    skills: int = 200,
    dims: str = "",
) -> Path:
    """Draw several runs of one environment side by side."""
    from csd.viz.compare import compare

    return compare(runs, Path(output), skills, dims)


def zero_shot(
    run_dir: str | Path, task: str, episodes: int = 200, workers: int = 0, **options: Any
) -> dict[str, Any]:
    """Aim a run's skills at the goals of a task by phi, without any training."""
    from csd.controller import config, report, run

    chosen = config.replace(run.defaults(run_dir, task, "fast"), **options)
    return report.zero_shot(chosen, episodes, workers)


def video(
    run_dir: str | Path,
    skills: int = 9,
    size: int = 240,
    output: str | Path | None = None,
    quiet: bool = False,
) -> Path:
    """Film a grid of skills, or of a controller's episodes (`skills` says how many).

    Without an output the file is `skills.mp4` or `episodes.mp4` in the run's `videos`.
    """
    path = pretrained.find(run_dir) if output is not None else pretrained.writable(run_dir)
    if rundir.is_control(path):
        from csd.controller.video import video

        name = "episodes.mp4"
    else:
        from csd.viz.video import video

        name = "skills.mp4"
    file = path / rundir.VIDEOS / name if output is None else Path(output)
    return video(path, skills, size, file, quiet)


def export(
    run_dir: str | Path,
    name: str = "",
    episodes: int = 200,
    noise: float = 0.0,
    workers: int = 0,
    quiet: bool = False,
) -> str:
    """Roll out skills into a Minari dataset; without a name it is called after the run."""
    from csd.evaluation.dataset import export

    return export(pretrained.find(run_dir), name, episodes, noise, workers, quiet)


def publish(run_dir: str | Path, repo: str, private: bool = False) -> str:
    """Put a run's skills on the Hugging Face Hub as USER/NAME; the address of their page."""
    from csd.publishing import publish

    return publish(run_dir, repo, private)


def explore(run_dir: str | Path, port: int = 8080, host: str = "127.0.0.1") -> None:
    """Serve a web page on which to pick skills and watch them, until Ctrl-C."""
    path = pretrained.find(run_dir)
    try:
        from csd.viz.explore.page import explore
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("viser", "mjviser"):
            raise
        raise UserError(
            "the page needs viser and mjviser: install them with `pip install 'csd[explore]'`"
        ) from None
    explore(path, port, host)
