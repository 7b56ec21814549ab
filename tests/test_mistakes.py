"""What goes wrong in worlds and folders of the user's own, and what a person reads then."""

import json
import os
import shutil
import signal
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import csd
from csd import checkpoint, interrupt, rundir
from csd.progress import Progress
from csd.stopping import stop_after_epoch

from .conftest import TINY, flags

WORLDS = """
import gymnasium
import numpy as np

class World(gymnasium.Env):
    metadata = {"render_modes": []}
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    first, later = np.zeros(3, np.float32), np.ones(3, np.float32)

    def __init__(self, render_mode=None):
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.first, {}

    def step(self, action):
        self.steps += 1
        return self.later, 0.0, False, False, {}

class Wide(World):
    later = np.ones(5, np.float32)

class Broken(World):
    later = np.full(3, np.nan, np.float32)

class Late(World):
    def step(self, action):
        obs, *rest = super().step(action)
        return obs * (np.nan if self.steps > 3 else 1.0), *rest

class Unmade(World):
    def __init__(self, render_mode=None):
        raise RuntimeError("no such robot")

class Unstarted(World):
    def reset(self, *, seed=None, options=None):
        raise RuntimeError("no such start")

for kind in (World, Wide, Broken, Late, Unmade, Unstarted):
    gymnasium.register(f"{kind.__name__}-v0", entry_point=kind, max_episode_steps=6)
"""


@pytest.fixture
def worlds(tmp_path, command):
    """A module of environments in the working directory."""
    name = f"worlds_{os.getpid()}_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(WORLDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gymnasium.logger, "min_level", gymnasium.logger.ERROR)
        yield name


def copy_run(source, target):
    """A run that nobody has looked at yet."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(rundir.EVALUATION, rundir.PLOTS))
    return target


SMALL = {**TINY, "episodes": 16, "checkpoint_every": 8}


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ("Wide", "gives observations of 5 numbers, its space promises 3"),
        ("Unmade", "cannot be made: RuntimeError: no such robot"),
        ("Unstarted", "does not work: RuntimeError: no such start"),
    ],
)
def test_a_world_that_does_not_work_is_told_before_anything_is_made(
    worlds, command, tmp_path, world, message
):
    code, _, err = command("train", f"{worlds}:{world}-v0", *flags(SMALL))
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_world_in_which_every_episode_breaks_ends_the_run(worlds, command):
    code, _, err = command("train", f"{worlds}:Broken-v0", "--quiet", *flags(SMALL))
    assert code == 2 and "breaks at its first step" in err


def test_one_that_breaks_later_is_counted_and_told(worlds, command):
    code, _, err = command(
        "train", f"{worlds}:Late-v0", "--quiet", "--run-dir", "run", *flags(SMALL)
    )
    assert code == 0 and err.count("warning: 4 of the simulations broke down") == 1
    code, out, _ = command("evaluate", "run", "--skills", "3")
    assert code == 0 and "simulations that broke down" in out


def test_what_cannot_be_filmed_says_so_and_leaves_nothing(worlds, command, tmp_path):
    command("train", f"{worlds}:World-v0", "--quiet", "--run-dir", "run", *flags(SMALL))
    code, _, err = command("video", "run")
    assert code == 2 and "cannot be filmed" in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "run" / rundir.VIDEOS).exists()


def test_a_finished_run_can_be_made_longer(tiny_run, tmp_path, command):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    code, _, err = command("train", "--resume", str(run), "--episodes", "40")
    assert code == 2 and "it can be made longer" in err
    code, *_ = command("train", "--resume", str(run), "--episodes", "64", "--quiet")
    assert code == 0 and checkpoint.episodes(run / rundir.CHECKPOINTS)[-1] == 64
    assert rundir.read_config(run).episodes == 64
    old = (tiny_run.dir / rundir.METRICS).read_text()
    assert (run / rundir.METRICS).read_text().startswith(old)


def test_a_person_is_told_what_the_first_and_the_second_signal_do(capsys):
    with stop_after_epoch("csd train --resume run") as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.requested and "finishing the epoch, then saving" in capsys.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert "stopped at once: `csd train --resume run` goes on" in capsys.readouterr().err


def test_ctrl_c_where_nothing_can_be_raised_stops_what_comes_next(monkeypatch, capsys):
    class Swallows:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)

    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    monkeypatch.setattr(interrupt, "asked", False)
    try:
        interrupt.listen()
        Swallows()
        with pytest.raises(KeyboardInterrupt), Progress(10, 0, quiet=True) as progress:
            progress.update(1)
        with pytest.raises(KeyboardInterrupt), stop_after_epoch("csd train --resume run"):
            pass
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook
    assert not capsys.readouterr().err


@pytest.mark.parametrize("reader", ["gone", "full", "none"])
def test_a_training_goes_on_when_nobody_reads_its_progress(tmp_path, reader):
    words = [sys.executable, "-c", "from csd.cli import main; main()"]
    words += ["train", "Probe", "--run-dir", str(tmp_path / "run"), *flags(TINY)]
    reading, writing = os.pipe()
    os.close(reading)
    if reader == "none":
        words = ["sh", "-c", 'exec "$@" 2>&-', "sh", *words]
    with open("/dev/full", "w") as full:
        stderr = {"gone": writing, "full": full, "none": None}[reader]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, text=True)
    os.close(writing)
    assert done.returncode == 0 and done.stdout.startswith("finished")
    assert checkpoint.episodes(tmp_path / "run" / rundir.CHECKPOINTS)[-1] == TINY["episodes"]


def test_what_no_memory_can_hold_is_one_line(command):
    code, _, err = command("train", "Probe", "--replay-episodes", str(10**11))
    assert code == 2 and err.startswith("csd: not enough memory") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "skill_dim",
            3,
            "shape (24, 2), the configuration has room for (24, 3)",
        ),
        ("horizon", 7, "'memory/obs' has shape (24, 25, 4)"),
        ("replay_episodes", 12, "room for (12, 25, 4)"),
    ],
)
def test_a_configuration_that_does_not_fit_its_checkpoint_says_so(
    tiny_run, tmp_path, field, value, message
):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    values = json.loads((run / rundir.CONFIG).read_text())
    (run / rundir.CONFIG).write_text(json.dumps(values | {field: value, "episodes": 96}))
    with pytest.raises(csd.UserError) as caught:
        csd.resume(run, quiet=True)
    assert message in str(caught.value)


def test_rows_of_metrics_that_are_none_are_left_out(tiny_run, tmp_path):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    whole = rundir.read_metrics(run)
    with open(run / rundir.METRICS, "ab") as file:
        file.write(b'null\n\xff\xfe\n{"episodes": 1}\n')
    assert rundir.read_metrics(run) == whole


@pytest.mark.parametrize("name", ["evaluate", "video", "explore", "export", "plot", "train"])
def test_a_command_without_its_object_is_a_mistake(command, name):
    code, out, err = command(name)
    assert code == 2 and not out and f"`csd {name} " in err and err.count("\n") == 1


def test_what_is_called_after_its_seed_may_have_numpys(tmp_path):
    run = csd.train("Probe", seed=np.int64(3), run_dir=tmp_path / "run", quiet=True, **TINY)
    assert rundir.read_config(run.dir).seed == 3


def test_a_run_that_learned_nothing_yet_does_not_say_saved(tiny_run, capsys, tmp_path):
    from csd.cli.run import finish

    run = tiny_run._replace(dir=tmp_path / "a run", finished=False)
    assert finish(run, False) == 130
    told = capsys.readouterr().out
    assert "stopped before anything was learned" in told and f"--resume '{run.dir}'`" in told
    finish(tiny_run._replace(finished=False), False)
    assert "stopped and saved" in capsys.readouterr().out


def test_what_was_measured_is_shown_where_it_cannot_be_kept(tiny_run, tmp_path, capsys):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    (run / rundir.EVALUATION).write_text("in the way")
    assert csd.evaluate(run, skills=4, quiet=True)["verdict"]
    assert "warning: cannot write to" in capsys.readouterr().err


def test_a_damaged_measurement_is_made_again(tiny_run, tmp_path):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    csd.plot(run, skills=4)
    file = run / rundir.EVALUATION / "trajectories.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:50])
    assert csd.plot(run, skills=4) and file.read_bytes() == whole


@pytest.mark.parametrize("dims", ["²", "point_x, puck_z"])
def test_dimensions_that_are_not_there_are_told_before_anything_is_rolled_out(
    tiny_run, tmp_path, dims, capsys
):
    run = copy_run(tiny_run.dir, tmp_path / "run")
    with pytest.raises(csd.UserError, match="unknown state dimension"):
        csd.evaluate(run, dims=dims)
    with pytest.raises(csd.UserError, match="names a state dimension twice"):
        csd.evaluate(run, dims="0, point_x")
    assert not capsys.readouterr().err and not (run / rundir.EVALUATION).exists()
    assert csd.evaluate(run, skills=3, dims="point_x, puck_y", quiet=True)["skills"]


def test_progress_of_an_evaluation_counts_all_that_is_rolled_out(tiny_run, capsys):
    csd.evaluate(tiny_run.dir, skills=4)
    assert "12/12 episodes" in capsys.readouterr().err


def test_the_readmes_fetch_is_known_once_its_skills_are_loaded():
    env = csd.SkillEnv(gymnasium.make("FetchPush-v4"), csd.load("FetchPush"), every=10)
    obs, _ = env.reset(seed=0)
    assert obs["observation"].shape == (25,)
    env.close()


def test_skills_tell_what_they_are_and_what_they_take(tiny_run):
    skills = csd.load(tiny_run.dir)
    assert repr(skills) == "Skills(Probe, csd, 2 continuous, episode 48)"
    assert skills.sample(np.random.default_rng(0), 0).shape == (0, 2)
    with pytest.raises(csd.UserError, match="needs the key 'observation', not state"):
        skills.act({"state": np.zeros(4)}, np.zeros(2))
    assert "train" in dir(csd) and csd.__version__
