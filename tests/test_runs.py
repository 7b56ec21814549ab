"""Runs on disk: resume, damage, disk, signals. Processes are really started and really killed."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import csd
from csd import checkpoint, cores, envs, rundir
from csd.acting import Policy
from csd.collect import Rollout
from csd.errors import UserError
from csd.evaluation.skills import evaluation_skills, roll_out
from csd.kept import widen
from csd.metrics import MetricsLog
from csd.rl.normalizer import Normalizer
from csd.skills import keep
from csd.training import TIMING
from csd.viz.plots import plot_curves
from tests.conftest import TINY, flags, tiny_options

COMMAND = [sys.executable, "-m", "csd"]
LONGER = {**TINY, "episodes": 400, "checkpoint_every": 20, "log_every": 12}
"""Long enough to be killed several times; checkpoints fall between rows of metrics."""


def final_arrays(run: Path) -> dict[str, np.ndarray]:
    """Everything in the newest checkpoint: parameters, optimisers, replay, counters."""
    arrays, _ = checkpoint.load(
        run / rundir.CHECKPOINTS, checkpoint.episodes(run / rundir.CHECKPOINTS)[-1]
    )
    return arrays


def metrics(run: Path) -> list[dict]:
    """Metrics without what depends on the clock."""
    return [{k: v for k, v in row.items() if k not in TIMING} for row in rundir.read_metrics(run)]


def assert_same(first: Path, second: Path) -> None:
    """Two runs are equal bit for bit."""
    a, b = final_arrays(first), final_arrays(second)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    assert metrics(first) == metrics(second)


def command(run: Path, options: dict) -> list[str]:
    """The command line of a run on Probe."""
    return [*COMMAND, "train", "Probe", "--run-dir", str(run), "--quiet", *flags(options)]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The same tiny run by the command line, never interrupted, with and without overlap."""
    runs = {}
    for overlap in (False, True):
        run = tmp_path_factory.mktemp("reference") / str(overlap)
        words = command(run, {**LONGER, "overlap": overlap})
        subprocess.run(words, check=True, capture_output=True)
        runs[overlap] = run
    return runs


def run_with_kills(run: Path, options: dict, times: int) -> None:
    """Start a run, kill it after a checkpoint and a random moment, go on, and so on."""
    process = subprocess.Popen(command(run, options), stdout=subprocess.DEVNULL)
    rng = np.random.default_rng()
    kills = 0
    while True:
        if kills < times:
            wait_for_life(run, process, checkpoint.episodes(run / rundir.CHECKPOINTS))
            time.sleep(rng.uniform(0.0, 0.3))
            process.kill()
            kills += 1
        if process.wait() == 0:
            break
        assert process.returncode == -signal.SIGKILL, "it could not go on"
        resume = [*COMMAND, "train", "--resume", str(run), "--quiet"]
        process = subprocess.Popen(resume, stdout=subprocess.DEVNULL)
    assert kills == times


@pytest.mark.parametrize("overlap", [False, True])
def test_a_run_killed_at_random_times_equals_the_uninterrupted_one(reference, tmp_path, overlap):
    run = tmp_path / "killed"
    run_with_kills(run, {**LONGER, "overlap": overlap}, 4)
    assert_same(reference[overlap], run)


@pytest.mark.parametrize(
    ("method", "kept"),
    [("lsd", "vectors"), ("dads", "change_norm"), ("disagreement", "models")],
)
def test_what_else_a_method_keeps_survives_a_kill(tmp_path, method, kept):
    options = tiny_options(method) | {"episodes": 160, "method": method}
    whole = csd.train("Probe", run_dir=tmp_path / "whole", quiet=True, **options)
    run_with_kills(tmp_path / "killed", options, 1)
    assert_same(whole.dir, tmp_path / "killed")
    assert any(f"method/{kept}/" in name for name in final_arrays(whole.dir))


def wait_for_life(run: Path, process: subprocess.Popen, before: list[int]) -> None:
    """Wait until the process has written a checkpoint of its own, or has ended."""
    while process.poll() is None and checkpoint.episodes(run / rundir.CHECKPOINTS) == before:
        time.sleep(0.005)


def test_overlap_changes_the_result_and_workers_do_not(reference, tmp_path):
    options = {**LONGER, "overlap": False}
    run = csd.train("Probe", run_dir=tmp_path / "run", workers=3, quiet=True, **options)
    assert_same(reference[False], run.dir)
    assert metrics(reference[True]) != metrics(reference[False])


def test_resume_of_a_finished_run_leaves_it_alone(tiny_run):
    before = (tiny_run.dir / rundir.METRICS).read_bytes()
    assert csd.resume(tiny_run.dir).finished
    assert (tiny_run.dir / rundir.METRICS).read_bytes() == before


def test_noise_disturbs_the_actions_of_skills_and_of_nothing_else(tiny_run):
    plain, shaken = (csd.evaluate(tiny_run.dir, skills=8, noise=noise) for noise in (0.0, 0.2))
    assert plain["random"] == shaken["random"]
    assert plain["skills"] != shaken["skills"] and plain["untrained"] != shaken["untrained"]
    assert csd.evaluate(tiny_run.dir, skills=8, noise=0.2) == shaken
    trained = csd.load(tiny_run.dir)
    pool = envs.make("Probe", 8)
    rollout = roll_out(
        trained.learner, pool, trained.policy, evaluation_skills(trained.learner, 8), 0.2
    )
    meant = trained.act(rollout.obs[:, 3], rollout.skill)
    apart = np.abs(rollout.action[:, 3] - meant)
    assert 0.05 < apart.mean() < 0.3 and np.abs(rollout.action).max() <= 1.0
    with pytest.raises(UserError, match=r"noise must be in \[0, 1\]"):
        csd.evaluate(tiny_run.dir, noise=-0.1)


@pytest.mark.parametrize("skills", [{"skill_type": "discrete", "skill_dim": 4}, {}])
def test_a_run_may_end_with_the_widest_skills_of_its_last_quarter(tmp_path, skills):
    options = {**LONGER, **skills, "episodes": 200, "eval_every": 8, "keep": "widest"}
    run = tmp_path / "killed"
    run_with_kills(run, options, times=2)
    whole = csd.train("Probe", run_dir=tmp_path / "whole", quiet=True, **options)
    assert_same(run, whole.dir)

    rows = [row for row in metrics(run) if "kept" in row]
    assert [row["episodes"] for row in rows] == list(range(160, 201, 8))
    volumes = [row["kept"]["volume"] for row in rows]
    assert volumes[0] == rows[0]["evaluation"]["volume"]
    assert all(later >= sooner for sooner, later in pairwise(volumes))
    assert volumes[-1] > volumes[0]
    (panel,) = (
        ax for ax in plot_curves(metrics(run), "").axes if ax.get_title().startswith("log-volume")
    )
    assert list(panel.lines[1].get_ydata()) == volumes
    # What was seen then is what the run's skills do now, bit for bit.
    assert csd.evaluate(run, skills=options["eval_skills"])["skills"]["volume"] == volumes[-1]

    kept = final_arrays(run)["kept/episode"]
    assert len(kept) == skills.get("skill_dim", 1)
    copy = tmp_path / "copy"
    keep(csd.load(run), copy)
    obs = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    code = csd.load(run).sample(np.random.default_rng(1), 5)
    np.testing.assert_array_equal(csd.load(copy).act(obs, code), csd.load(run).act(obs, code))

    csd.resume(run, quiet=True, episodes=400)  # made longer, it has another last quarter
    assert final_arrays(run)["kept/episode"].min() > 300


def test_skills_are_taken_over_one_by_one_where_they_widen_what_is_visited():
    def policy(value):
        actor = [{"w": np.full((2, 2), value), "b": np.full(2, value)}]
        return Policy(actor, Normalizer(*(np.full(shape, value) for shape in ((), 2, 2))))

    def rollout(*ends):
        obs = np.zeros((3, 2, 2), np.float32)
        obs[:, 1] = ends
        return Rollout(obs, np.zeros((3, 1, 2)), np.eye(3), np.full(3, 1), np.zeros(3), 0)

    kept = widen(None, policy(1.0), rollout([1, 0], [0, 1], [0, 0]), 10, 3)
    # The first goes further, the second not as far as before, the third somewhere new.
    kept = widen(kept, policy(2.0), rollout([2, 0], [0, 0.5], [-1, -1]), 20, 3)
    np.testing.assert_array_equal(kept.episode, [20, 10, 20])
    np.testing.assert_array_equal(kept.obs[:, 1], [[2, 0], [0, 1], [-1, -1]])
    members = [kept.policies.member(skill) for skill in range(3)]
    assert [member.actor[0]["b"][0] for member in members] == [2.0, 1.0, 2.0]
    assert [member.normalizer.count for member in members] == [2.0, 1.0, 2.0]
    assert len(kept.policies.distinct.normalizer.count) == 2  # the shared one is held once
    kept = widen(kept, policy(3.0), rollout([2, 0], [0, 3], [-1, -1]), 30, 3)
    np.testing.assert_array_equal(kept.policies.distinct.normalizer.count, [2.0, 3.0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, number):
    run = tmp_path / "run"
    words = ["train", "Probe", "--run-dir", str(run), "--episodes", "1000000"]
    options = {k: v for k, v in TINY.items() if k != "episodes"}
    process = subprocess.Popen(
        [*COMMAND, *words, *flags(options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_life(run, process, [])
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert f"csd train --resume {run}" in out and process.returncode == 130
    newest = checkpoint.episodes(run / rundir.CHECKPOINTS)[-1]
    assert metrics(run)[-1]["episodes"] <= newest


def copy_run(source: Path, target: Path) -> Path:
    """A run that can be damaged."""
    import shutil

    shutil.copytree(source, target)
    return target


@pytest.mark.parametrize("damage", ["truncated", "flipped", "missing", "bad json"])
def test_a_damaged_checkpoint_is_reported_and_the_one_before_is_used(
    tiny_run, tmp_path, damage, capsys
):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    folder = run / rundir.CHECKPOINTS
    newest = checkpoint.episodes(folder)[-1]
    file = folder / f"{newest:09d}.safetensors"
    if damage == "truncated":
        file.write_bytes(file.read_bytes()[:100])
    elif damage == "flipped":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif damage == "missing":
        file.unlink()
    else:
        file.with_suffix(".json").write_text("{")
    csd.load(run)
    assert "warning: checkpoint" in capsys.readouterr().err
    assert csd.resume(run, quiet=True).finished
    assert "warning: checkpoint" in capsys.readouterr().err
    assert_same(tiny_run.dir, run)


def test_a_damaged_checkpoint_is_not_one_of_the_two_that_are_kept(tmp_path):
    for episode in (10, 20, 30):
        checkpoint.save(tmp_path, episode, {"x": np.zeros(3)}, {})
    (tmp_path / "000000030.safetensors").write_bytes(b"")
    (tmp_path / ".000000030.safetensors.77.tmp").write_bytes(b"half")  # killed while writing
    checkpoint.save(tmp_path, 25, {"x": np.zeros(3)}, {})
    assert checkpoint.episodes(tmp_path) == [20, 25, 30]
    assert not list(tmp_path.glob(".*"))


def test_one_process_at_a_time_trains_in_a_run(tiny_run, tmp_path):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    for suffix in ("json", "safetensors"):
        (run / rundir.CHECKPOINTS / f"{TINY['episodes']:09d}.{suffix}").unlink()
    first = MetricsLog(run, (run / rundir.METRICS).stat().st_size)
    before = (run / rundir.METRICS).read_bytes()
    with pytest.raises(UserError, match="another process is training"):
        csd.resume(run, quiet=True)
    assert (run / rundir.METRICS).read_bytes() == before
    first.close()
    assert csd.resume(run, quiet=True).finished


def test_a_run_goes_on_with_as_many_learner_threads_as_it_had(reference, tmp_path):
    run = copy_run(reference[False], tmp_path / "run")
    folder = run / rundir.CHECKPOINTS
    had = checkpoint.newest_meta(folder)["threads"]
    last = checkpoint.episodes(folder)[-1]
    for suffix in ("json", "safetensors"):
        (folder / f"{last:09d}.{suffix}").unlink()
    (before,) = checkpoint.episodes(folder)
    meta = json.loads((folder / f"{before:09d}.json").read_text()) | {"threads": had + 1}
    (folder / f"{before:09d}.json").write_text(json.dumps(meta))
    resume = [*COMMAND, "train", "--resume", str(run), "--quiet"]
    environment = os.environ | {"NPROC": str(had)}
    done = subprocess.run(resume, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert checkpoint.newest_meta(folder)["threads"] == had + 1


@pytest.mark.parametrize("skills", [0, -3])
def test_no_skills_cannot_be_evaluated(tiny_run, skills):
    with pytest.raises(UserError, match="skills must be at least 1"):
        csd.evaluate(tiny_run.dir, skills)


def test_where_that_cannot_be_it_says_so(tiny_run, capsys):
    cores.warn_if_not(cores.learner_threads(), tiny_run.dir)
    assert capsys.readouterr().err == ""
    cores.warn_if_not(cores.learner_threads() + 1, tiny_run.dir)
    assert "not bit for bit" in capsys.readouterr().err


def test_skills_that_were_kept_alone_cannot_be_trained_on(tiny_run, tmp_path):
    trained = csd.load(tiny_run.dir)
    trained.episode = 16  # before the end
    keep(trained, tmp_path / "kept")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    for episodes in (0, 2 * trained.config.episodes):
        with pytest.raises(UserError, match="nothing to resume"):
            csd.resume(tmp_path / "kept", quiet=True, episodes=episodes)
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_no_usable_checkpoint_is_one_line_and_changes_nothing(tiny_run, tmp_path):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    for file in (run / rundir.CHECKPOINTS).glob("*.safetensors"):
        file.write_bytes(b"")
    before = sorted((p, p.stat().st_size) for p in run.rglob("*") if p.is_file())
    with pytest.raises(UserError, match="no usable checkpoint"):
        csd.load(run)
    assert sorted((p, p.stat().st_size) for p in run.rglob("*") if p.is_file()) == before


def test_only_the_newest_two_checkpoints_are_kept(tiny_run):
    folder = tiny_run.dir / rundir.CHECKPOINTS
    assert len(list(folder.iterdir())) == 2 * checkpoint.KEEP


def test_a_checkpoint_holds_arrays_and_json_only(tiny_run):
    folder = tiny_run.dir / rundir.CHECKPOINTS
    for file in folder.glob("*.safetensors"):
        arrays = safetensors.numpy.load(file.read_bytes())
        assert all(isinstance(value, np.ndarray) for value in arrays.values())
    meta = json.loads(next(folder.glob("*.json")).read_text())
    assert meta["versions"]["jax"] and len(meta["sha256"]) == 64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ('{"env": "Probe", "method": "cds"}', "did you mean 'csd'"),
        ('{"env": "Probe", "episods": 3}', "did you mean 'episodes'"),
        ('{"env": "Probe", "sac": 3}', "must be an object"),
        ("{}", "cannot be used"),
        ('{"env": "Probe", "episodes": "7000"}', "episodes must be of type int, not '7000'"),
        ('{"env": "Probe", "overlap": 1}', "overlap must be of type bool"),
        ('{"env": "Probe", "method": ["csd"]}', "unknown method"),
        ('{"env": "Probe", "algorithm": {"phi_hidden": 3}}', "must be whole numbers"),
    ],
)
def test_an_unreadable_config_is_one_line(tmp_path, content, message):
    (tmp_path / rundir.CONFIG).write_text(content)
    with pytest.raises(UserError, match=message) as caught:
        csd.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_directory_of_another_run_is_refused(tiny_run):
    with pytest.raises(UserError, match="already holds a run"):
        csd.train("Probe", run_dir=tiny_run.dir, quiet=True, **TINY)


def test_a_directory_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("do not touch")
    with pytest.raises(UserError, match="holds other files"):
        csd.train("Probe", run_dir=tmp_path, quiet=True, **TINY)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_mistake_leaves_no_run_directory_behind(tmp_path):
    with pytest.raises(UserError):
        csd.train("Probe", run_dir=tmp_path / "run", focus="pck")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("full_at", [32, 48])
def test_a_full_disk_keeps_the_checkpoint_before_and_ends_no_run_but_at_its_last(
    tmp_path, monkeypatch, capsys, full_at
):
    run, replace = tmp_path / "run", os.replace

    def full(source, target):
        if Path(target).name.startswith(f"{full_at:09d}"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    if full_at < TINY["episodes"]:
        assert csd.train("Probe", run_dir=run, quiet=True, **TINY).finished
        assert "no room for the checkpoint" in capsys.readouterr().err
        assert checkpoint.episodes(run / rundir.CHECKPOINTS) == [16, 48]
    else:
        with pytest.raises(UserError, match="disk is full"):
            csd.train("Probe", run_dir=run, quiet=True, **TINY)
        assert checkpoint.episodes(run / rundir.CHECKPOINTS) == [16, 32]
        monkeypatch.setattr(os, "replace", replace)
        assert csd.resume(run, quiet=True).finished
    assert not list((run / rundir.CHECKPOINTS).glob(".*tmp"))


def test_nan_in_a_loss_stops_with_one_line_and_keeps_the_checkpoint(tiny_run, tmp_path):
    with pytest.raises(UserError, match=r"became (nan|inf)") as caught:
        csd.train("Probe", run_dir=tmp_path / "run", quiet=True, **{**TINY, "lr": 1e30})
    assert "\n" not in str(caught.value)
    assert (tmp_path / "run" / rundir.CONFIG).exists()


def test_metrics_name_every_state_dimension(tiny_run):
    row = rundir.read_metrics(tiny_run.dir)[-1]
    assert list(row["sigma"]) == ["point_x", "point_y", "puck_x", "puck_y"]
    expected = {
        "episodes",
        "env_steps",
        "updates",
        "update_to_data",
        "reward",
        "lambda",
        "slack",
        "q",
    }
    assert expected <= row.keys() and row["evaluation"]["coverage"] > 0
    assert list((tiny_run.dir / "tensorboard").iterdir())


def test_loaded_skills_act_single_and_batched(tiny_run):
    skills = csd.load(tiny_run.dir)
    rng = np.random.default_rng(0)
    z = skills.sample(rng)
    obs = np.zeros(4, np.float32)
    action = skills.act(obs, z)
    batch = skills.act(np.tile(obs, (3, 1)), z)
    assert action.shape == (2,) and batch.shape == (3, 2)
    np.testing.assert_allclose(batch[1], action, rtol=1e-5)
    assert skills.sample(rng, 5).shape == (5, 2) and skills.embed(obs).shape == (2,)
    with pytest.raises(UserError, match=r"\(5,\)"):
        skills.act(np.zeros(5), z)


def test_discrete_skills_are_rolled_out_four_times_each(tmp_path):
    options = {**TINY, "skill_type": "discrete", "skill_dim": 3}
    run = csd.train("Probe", run_dir=tmp_path / "run", quiet=True, **options)
    result = csd.evaluate(run.dir)
    assert result["rollouts"] == 12 and "direction" not in result["skills"]
