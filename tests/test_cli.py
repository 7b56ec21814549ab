"""The command line as a user meets it."""

import json
import subprocess
import sys

import pytest

from tests.conftest import TINY, flags


def run(*words: str) -> subprocess.CompletedProcess:
    """`csd WORDS` in a process of its own."""
    command = [sys.executable, "-m", "csd", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["trian"], "did you mean 'train'"),
        (["train", "FetchPsh"], "did you mean 'FetchPush'"),
        (["train", "Kitchn"], "did you mean 'Kitchen'"),
        (["train", "Zzz"], "choose one of Probe, Kitchen, "),
        (["train", "Probe", "--epsodes", "3"], "did you mean --episodes"),
        (["train", "Probe", "--episodes", "many"], "--episodes"),
        (["train", "Probe", "--method", "cds"], "did you mean 'csd'"),
        (["train", "Probe", "--preset", "fats"], "did you mean 'fast'"),
        (["train", "Probe", "--discount", "2"], "must be in [0, 1)"),
        (["train", "FetchPush", "--episodes", "300"], "must exceed warmup_episodes (400)"),
        (["train", "Ant", "--updates", "100"], "(100) must equal method_updates (200)"),
        (["train", "Probe", "--critics", "3"], "--critics"),
        (["train", "Probe", "--skill-type", "onehot"], "one of ('continuous', 'discrete')"),
        (["train", "Probe", "--focus", "pcuk"], "did you mean 'puck'"),
        (["train", "--seed", "1"], "name the environment first"),
        (["train", "--resume", "nowhere"], "no run at nowhere"),
        (["evaluate", "nowhere"], "no run at nowhere"),
        (["plot", "nowhere"], "no run at nowhere"),
        (["explore", "nowhere"], "no run at nowhere"),
        (["list", "evns"], "did you mean 'envs'"),
        (["train", "Probe", "--resume", "run"], "takes all from the run"),
        (["train", "Probe", "--distance", "euclidean"], "--distance needs --method dsd"),
        (["train", "Probe", "--lr", "inf"], "lr must be a finite number"),
        (["train", "Probe", "--alpha", "-1"], "alpha must not be negative"),
        (["train", "Probe", "--resume", "run", "--lr", "1"], "takes all from the run"),
        (["train", "--resume", "run", "--lr", "1"], "without --lr"),
        (["evaluate", "Fetchpush"], "did you mean FetchPush"),
        (["video", "Ant", "--output", "x.gif"], "a file that ends in .mp4"),
        (["train", "Probe", "--workers", "-2"], "workers must not be negative"),
        (["plot", "Ant", "HalfCheetah"], "runs of different environments"),
        (["plot", "Ant", "Ant", "--output", "x.foo"], "a file that ends in .png"),
        (["plot", "Ant", "--output", "x.png"], "--output is for several runs"),
        (["train", "Probe", "--phi-hidden", "-5"], "phi_hidden must be widths of at least 1"),
        (["train", "Probe", "--actor-hidden", "8", "0"], "actor_hidden must be widths"),
        (["train", "Probe", "--density-lr", "0"], "density_lr must be positive"),
        (["train", "Probe", "--seed", "4294967296"], "seed must be below 2^32"),
        (["train", ":X-v0"], "cannot import ''"),
        (["train", "Probe", "--method", "dads", "--method", "csd", "--episodes", "0"], "episodes"),
    ],
)
def test_a_mistake_gets_one_helpful_line_and_exit_code_2(words, hint, tmp_path, command):
    code, out, err = command(*words)
    assert code == 2 and out == ""
    assert hint in err and len(err.strip().splitlines()) == 1 and len(err) < 300
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [[], ["train"], ["train", "FetchSlide"], ["evaluate"], ["plot"], ["explore"], ["reproduce"]],
)
def test_every_command_explains_itself(words, command):
    code, out, err = command(*words, "--help")
    assert code == 0 and "usage: csd" in out and err == ""


def test_help_shows_the_defaults_of_environment_and_preset(command):
    _, paper, _ = command("train", "FetchPickAndPlace", "--preset", "paper", "--help")
    assert "(default: 80000)" in paper and "--skill-dim" in paper and "--lambda-init" in paper


def test_list_names_environments_methods_and_presets(command):
    _, listing, _ = command("list")
    for word in ("FetchPickAndPlace", "lsd-dual", "paper", "80,000"):
        assert word in listing
    presets = json.loads(command("list", "presets", "--json")[1])["presets"]
    assert {"env": "FetchPush", "preset": "paper", "episodes": 80_000}.items() <= presets[3].items()


def test_train_evaluate_and_plot_end_to_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained = run("train", "Probe", "--json", "--quiet", *flags(TINY))
    assert trained.returncode == 0 and trained.stderr == ""
    folder = json.loads(trained.stdout)["run"]
    assert folder == "runs/Probe-csd-seed0"

    report = run("evaluate", folder, "--skills", "10", "--json")
    result = json.loads(report.stdout)
    assert result["target"] == "puck" and result["rollouts"] == 10
    for who in ("skills", "untrained", "random"):
        assert {"coverage", "moved", "direction", "body_coverage"} <= result[who].keys()
    assert result["verdict"] in run("evaluate", folder, "--skills", "10").stdout

    names = ["skills.png", "curves.png", "sigma.png", "distance.png"]
    written = run("plot", folder).stdout.split()
    assert [name.rsplit("/", 1)[1] for name in written] == names
    again = run("train", "Probe", "--json", "--quiet", *flags(TINY))
    assert json.loads(again.stdout)["run"] == "runs/Probe-csd-seed0-2"


def test_an_unknown_environment_is_measured_by_named_or_most_variable_dimensions(command):
    words = ["train", "Reacher-v5", "--quiet", "--run-dir", "run", "--horizon", "10"]
    assert command(*words, *flags({**TINY, "episodes": 16}))[0] == 0
    chosen = json.loads(command("evaluate", "run", "--skills", "4", "--json")[1])
    assert chosen["target"].startswith("obs_") and chosen["skills"]["coverage"] > 0
    named = json.loads(command("evaluate", "run", "--skills", "4", "--dims", "0,3", "--json")[1])
    assert named["target"] == "obs_0,obs_3"
    code, _, err = command("evaluate", "run", "--dims", "nose")
    assert code == 2 and "indices from 0 to 9" in err


def test_progress_without_a_terminal_is_plain_lines(tmp_path):
    result = run("train", "Probe", "--run-dir", str(tmp_path / "run"), *flags(TINY))
    assert "48/48 episodes" in result.stderr and "coverage" in result.stderr
    assert "\x1b" not in result.stderr
    assert f"next: csd evaluate {tmp_path / 'run'}" in result.stdout
