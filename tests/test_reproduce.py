"""`csd reproduce`: every figure's entry, and figures made for real at a tiny scale."""

import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from csd import envs
from csd.controller.training import check_skills
from csd.envs.base import focus_indices
from csd.errors import UserError
from csd.experiments import job as jobs
from csd.experiments import reproduce
from csd.experiments.figures import FIGURES, MOVED, Figure, Variant, World
from csd.experiments.plan import Order, cells, check, part, scaled, stages
from csd.presets import preset
from tests.conftest import TINY

FIGURE = Figure("", "tiny", (World("Probe", (MOVED,)),), (Variant("csd", "csd", TINY),))
SCRIPT = """
import sys
from csd import cli
from csd.experiments import figures
from tests.test_reproduce import FIGURE
figures.FIGURES["tiny"] = FIGURE
cli.main()
"""


def planned(name: str, **options):
    """The cells of a figure."""
    order = Order(name, **options)
    return cells(order, part(order))


def apart(words: list[str], folder: Path) -> subprocess.Popen[str]:
    """`csd WORDS` in a process of its own that knows the tiny figure."""
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def tiny(monkeypatch):
    """A figure of tiny Probe runs."""
    monkeypatch.setitem(FIGURES, "tiny", FIGURE)


@pytest.fixture
def pretend(monkeypatch):
    """Runs that take no time and score their seed; those in the returned set fail."""
    broken: set[str] = set()

    def train(job, workers, quiet):
        if job.run.name in broken:
            raise ValueError("it broke\nin two lines")
        job.run.mkdir(parents=True)
        (job.run / "metrics.jsonl").write_text('{"episodes": 0, "evaluation": {"return": 0.5}}\n')
        return True

    def measure(job, workers):
        seed = job.config.seed
        own = {"return": float(seed), "moved": 0.0, "coverage": 7, "tasks": seed}
        own["task_success"] = {"Microwave": 0.5 if seed == 3 else 0.0}
        return {"run": job.run.name, "evaluation": {"skills": own, "controller": own}}

    monkeypatch.setattr(jobs, "_train", train)
    monkeypatch.setattr(jobs, "_measure", measure)
    return broken


# ---- what figures are


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_every_entry_gives_valid_runs_each_in_a_folder_of_its_own(name, preset):
    planned_cells = planned(name, seeds=2, preset=preset)
    skills, controllers = stages(planned_cells)
    assert len(skills) + len(controllers) == 2 * FIGURES[name].runs
    assert len({cell.job.run for cell in planned_cells}) == len(planned_cells)
    for job in skills:
        focus_indices(job.config.focus, envs.spec(job.config.env, job.config.horizon))
    for cell in planned_cells:
        if cell.job.world.task:
            fake = cell.skills and type("Skills", (), {"config": cell.skills.config})()
            check_skills(cell.job.config, fake)


@pytest.mark.parametrize("name", list(FIGURES))
def test_a_job_reaches_another_process_whole(name):
    for job in (job for stage in stages(planned(name, seeds=1)) for job in stage):
        bare = job._replace(world=job.world._replace(measures=()))
        assert jobs.decode(jobs.encode(job)) == bare


@pytest.mark.parametrize("name", FIGURES)
def test_one_run_has_one_configuration_in_all_figures(name):
    mine = {job.run: job.config for stage in stages(planned(name, seeds=1)) for job in stage}
    for other in FIGURES:
        for stage in stages(planned(other, seeds=1)):
            for job in stage:
                assert mine.get(job.run, job.config) == job.config


@pytest.mark.parametrize("env", ["FetchPush", "Kitchen", "Ant"])
def test_a_scaled_run_is_shorter_in_proportion_and_in_whole_epochs(env):
    config = preset(env)
    small = scaled(config, 0.05)
    for name in ("episodes", "warmup_episodes", "eval_every", "checkpoint_every"):
        whole, part = getattr(config, name), getattr(small, name)
        assert whole * 0.05 <= part < whole * 0.05 + config.num_envs
        assert part % config.num_envs == 0
    assert small.replay_episodes == min(config.replay_episodes, small.episodes)
    long = scaled(config, 2.0)
    assert long.episodes == 2 * config.episodes and long.eval_every == 2 * config.eval_every
    assert long.checkpoint_every == config.checkpoint_every
    assert scaled(config, 1.0) == config


def test_the_smallest_scale_still_trains_after_the_warm_up():
    small = scaled(preset("FetchPush"), 1e-6)
    assert small.episodes == small.warmup_episodes + small.num_envs


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fetch-oracle-trajectories", {"scale": 0.3}),
        ("kitchen-tasks-2d", {"preset": "paper"}),
        ("locomotion-coverage", {"methods": ("metra",)}),
    ],
)
def test_the_command_of_a_run_trains_the_same(name, options, monkeypatch, command):
    from csd import api

    started = []

    def start(config, run_dir, workers, quiet, wandb):
        started.append((config, run_dir))
        return api.Run(run_dir, config, True)

    monkeypatch.setattr(api, "start", start)
    wanted = [cell.job for cell in planned(name, seeds=1, **options)]
    for job in wanted:
        assert command(*shlex.split(job.command)[1:])[0] == 0
    assert started == [(job.config, job.run) for job in wanted]


def test_part_of_a_figure_can_be_taken_and_other_methods_added():
    order = Order("fetch-downstream", methods=("metra", "sac"), envs=("FetchPush",), seeds=1)
    skills, controllers = stages(cells(order, part(order)))
    assert [job.run.name for job in skills] == ["FetchPush-metra-fast-seed0"]
    names = [f"FetchPushGoal-{method}-fast-seed0" for method in ("metra", "sac")]
    assert [job.run.name for job in controllers] == names


# ---- mistakes


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["fetch-covrage"], "did you mean 'fetch-coverage'"),
        (["probe", "--scale", "0"], "must be a positive number"),
        (["probe", "--scale", "nan"], "must be a positive number"),
        (["probe", "--seeds", "0"], "at least 1"),
        (["probe", "--jobs", "0"], "at least 1"),
        (["probe", "--preset", "fats"], "did you mean 'fast'"),
        (["probe", "--methods", "cds"], "did you mean 'csd'"),
        (["probe", "--envs", "Ant"], "choose one of Probe"),
        (["fetch-downstream", "--envs", "FetchPshGoal"], "did you mean 'FetchPushGoal'"),
        (["--seeds", "3"], "name the figure first"),
        (["probe", "--sale", "1"], "did you mean --scale"),
    ],
)
def test_a_mistake_gets_one_line_and_leaves_nothing_behind(words, hint, command, tmp_path):
    code, out, err = command("reproduce", *words)
    assert code == 2 and out == "" and hint in err and len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_without_ray_a_line_says_how_to_install_it(command, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = command("reproduce", "probe", "--ray", "local")
    assert code == 2 and "pip install 'csd[ray]'" in err and not list(tmp_path.iterdir())


def test_a_run_of_another_configuration_is_refused(tmp_path):
    [cell, *_] = planned("probe", seeds=1, folder=tmp_path)
    cell.job.run.mkdir(parents=True)
    stored = dataclasses.asdict(cell.job.config)
    file = cell.job.run / "config.json"
    file.write_text(json.dumps(stored))
    check(cell.job)
    stored["algorithm"]["slack"] = 0.5
    file.write_text(json.dumps(stored))
    with pytest.raises(UserError, match=r"slack is 0.5, not 0.0001\): choose another --run-dir"):
        check(cell.job)


def test_two_commands_do_not_work_in_one_folder(command, tmp_path, pretend):
    with reproduce._alone(tmp_path / "made"):
        code, _, err = command("reproduce", "probe", "--run-dir", "made")
    assert code == 2 and "is at work in made" in err
    assert command("reproduce", "probe", "--run-dir", "made")[0] == 0


# ---- what is made of runs


def test_a_run_that_fails_does_not_lose_the_others(command, pretend, tmp_path):
    pretend.add("Probe-lsd-fast-seed1")
    words = ["reproduce", "probe-downstream", "--seeds", "2", "--run-dir", "made", "--json"]
    code, out, err = command(*words)
    assert code == 1 and "go on with `csd reproduce probe-downstream" in err
    results = json.loads(out)
    assert results["missing"] == ["ProbeGoal-lsd-fast-seed1"] and not results["complete"]
    assert results["failed"]["Probe-lsd-fast-seed1"] == "ValueError: it broke"
    assert "its skills failed" in results["failed"]["ProbeGoal-lsd-fast-seed1"]
    folder = tmp_path / "made" / "probe-downstream"
    assert "PARTIAL: 5 of 6 runs" in (folder / "table.md").read_text()
    assert json.loads((folder / "results.json").read_text())["table"] == results["table"]
    csd, lsd, sac = results["table"]
    assert (csd["value"], csd["low"], csd["high"], csd["runs"]) == (0.5, 0.0, 1.0, 2)
    assert lsd["values"] == {"0": 0.0} and sac["variant"] == "sac"
    assert lsd["low"] is None  # one run has no interval

    pretend.clear()
    code, out, err = command(*words)
    assert code == 0 and json.loads(out)["complete"] and not json.loads(out)["failed"]


def test_a_task_that_a_run_does_or_does_not_is_counted_as_a_share_of_runs(command, pretend):
    words = ["reproduce", "kitchen-tasks", "--methods", "csd", "--seeds", "4", "--json"]
    done, microwave = json.loads(command(*words)[1])["table"]
    assert (done["statistic"], done["value"]) == ("IQM", 1.5)  # of 0, 1, 2 and 3
    assert (microwave["statistic"], microwave["value"]) == ("mean", 0.25)


@pytest.mark.parametrize("name", ["fetch-downstream", "kitchen-distance", "disagreement-coverage"])
def test_what_is_finished_is_drawn_without_training(name, command, pretend, tmp_path):
    words = ["reproduce", name, "--seeds", "2", "--run-dir", "made", "--quiet"]
    assert command(*words, "--methods", "csd")[0] == 0
    code, out, _ = command(*words, "--no-train")
    assert code == 0 and (tmp_path / "made" / name / f"{name}.png").exists()
    partial = "PARTIAL" in out
    assert partial == (name != "kitchen-distance")


def test_list_names_every_figure_with_its_number_and_runs(command):
    figures = json.loads(command("list", "figures", "--json")[1])["figures"]
    assert [figure["name"] for figure in figures] == list(FIGURES)
    assert {"name": "fetch-coverage", "paper": "4a", "runs": 12}.items() <= figures[3].items()


# ---- for real


def test_ctrl_c_saves_and_says_how_to_go_on_and_the_same_command_does(
    tiny, command, monkeypatch, tmp_path
):
    from csd.progress import Progress

    words = ["reproduce", "tiny", "--seeds", "2", "--run-dir", "made", "--quiet"]

    def press(self, done, **figures):
        if done == 20:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "update", press)
        code, _, err = command(*words)
    assert code == 130 and "stopped and saved: go on with `csd reproduce tiny" in err
    first = tmp_path / "made/runs/Probe-csd-fast-seed0"
    assert (first / "checkpoints/000000020.json").exists()

    code, out, _ = command(*words)
    assert code == 0 and "share of skills that move it" in out
    results = json.loads((tmp_path / "made/tiny/results.json").read_text())
    assert [run["seed"] for run in results["runs"]] == [0, 1] and results["complete"]
    run = results["runs"][0]
    assert run["episode"] == 48 and run["versions"]["jax"] and "csd train Probe" in run["command"]
    before = (first / "result.json").stat().st_mtime_ns
    assert command(*words)[0] == 0 and (first / "result.json").stat().st_mtime_ns == before


def test_killed_it_goes_on_and_draws_the_trajectories(tiny, command, monkeypatch, tmp_path):
    monkeypatch.setitem(FIGURES, "tiny", dataclasses.replace(FIGURE, drawing="paths"))
    words = ["reproduce", "tiny", "--seeds", "1", "--run-dir", "made", "--quiet"]
    process = apart(words, tmp_path)
    saved = tmp_path / "made/runs/Probe-csd-fast-seed0/checkpoints/000000016.json"
    while not saved.exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert saved.exists() and not (saved.parent.parent / "result.json").exists()
    assert command(*words)[0] == 0
    assert (tmp_path / "made/tiny/tiny.png").exists()


def test_in_processes_one_that_dies_is_reported(tiny, monkeypatch, tmp_path):
    from csd.experiments.run import in_processes

    [job], _ = stages(planned("tiny", seeds=1, folder=tmp_path))
    job.run.mkdir(parents=True)
    (job.run / "result.json").write_text("{}")
    assert [outcome.state for outcome in in_processes(2)([job])] == ["finished"]
    monkeypatch.setattr(sys, "executable", "false")
    [outcome] = in_processes(2)([job])
    assert outcome.state == "failed" and "its process ended with 1" in outcome.error


def test_ray_makes_the_same_figure(tmp_path):
    pytest.importorskip("ray")
    words = ["reproduce", "tiny", "--seeds", "2", "--run-dir", "made", "--ray", "local"]
    out, err = apart(words, tmp_path).communicate()
    assert "2/2] finished" in err and "share of skills that move it" in out, err
    results = json.loads((tmp_path / "made/tiny/results.json").read_text())
    assert results["complete"] and len(results["runs"]) == 2
