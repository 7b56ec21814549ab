"""Skills as data: what is in a dataset, and what never overwrites one."""

import sys

import numpy as np
import pytest

import csd
from csd.collect import Rollout
from csd.envs.probe import ProbeEnvs
from csd.evaluation.dataset import as_buffers
from tests.conftest import TINY

minari = pytest.importorskip("minari")


@pytest.fixture(autouse=True)
def datasets(monkeypatch, tmp_path):
    """Minari keeps its datasets in the test's folder."""
    folder = tmp_path / "minari"
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))
    return folder


def test_a_dataset_holds_what_skills_did_and_which_skill_did_it(tiny_run, command):
    code, out, err = command("export", str(tiny_run.dir), "--name", "probe/skills-v3")
    assert (code, out.strip()) == (0, "probe/skills-v3")
    assert "200/200 episodes" in err
    dataset = minari.load_dataset("probe/skills-v3")
    assert dataset.total_episodes == 200
    assert "Probe" in dataset.storage.metadata["description"]
    skills = csd.load(tiny_run.dir)
    chosen = np.stack([episode.infos["skill"][0] for episode in dataset])
    assert len(np.unique(chosen, axis=0)) == 200
    for episode in dataset.sample_episodes(3):
        skill = episode.infos["skill"]
        assert (skill == skill[0]).all() and len(skill) == len(episode.observations)
        np.testing.assert_allclose(
            episode.actions, skills.act(episode.observations[:-1], skill[0]), atol=1e-6
        )
        world = ProbeEnvs(1)
        world.reset([0])
        world._state[:] = episode.observations[0]
        for action, following in zip(episode.actions, episode.observations[1:], strict=True):
            np.testing.assert_allclose(
                world.step(action[None], np.ones(1, bool))[0][0], following, atol=1e-6
            )
        assert not episode.terminations.any() and not episode.rewards.any()
        assert episode.truncations.tolist() == [False] * 23 + [True]


def test_noise_disturbs_the_actions_that_the_dataset_holds(tiny_run):
    name = csd.export(tiny_run.dir, episodes=64, noise=0.1, quiet=True)
    assert name == "csd/Probe-csd-seed0-v0"
    skills = csd.load(tiny_run.dir)
    shaken = []
    for episode in minari.load_dataset(name):
        meant = skills.act(episode.observations[:-1], episode.infos["skill"][0])
        inside = np.abs(meant) < 0.5
        shaken.append((episode.actions - meant)[inside])
    assert np.concatenate(shaken).std() == pytest.approx(0.1, rel=0.1)


def test_discrete_skills_take_turns(tmp_path):
    options = TINY | {"skill_type": "discrete", "skill_dim": 3}
    run = csd.train("Probe", run_dir=tmp_path / "run", quiet=True, **options)
    dataset = minari.load_dataset(csd.export(run.dir, "turns-v0", 7, quiet=True))
    assert [int(e.infos["skill"][0].argmax()) for e in dataset] == [0, 1, 2, 0, 1, 2, 0]


def test_only_an_episode_that_truly_ended_is_a_termination():
    rollout = Rollout(
        obs=np.arange(9.0).reshape(3, 3, 1),  # two steps
        action=np.zeros((3, 2, 1)),
        skill=np.eye(3),
        length=np.array([1, 1, 2]),
        terminal=np.array([1.0, 0.0, 0.0]),  # fell, diverged, ran out
        diverged=1,
    )
    fell, diverged, ran_out = as_buffers(rollout)
    assert (fell.terminations, fell.truncations) == ([True], [False])
    assert (diverged.terminations, diverged.truncations) == ([False], [True])
    assert (ran_out.terminations, ran_out.truncations) == ([False] * 2, [False, True])
    np.testing.assert_array_equal(fell.observations, [[0.0], [1.0]])


def test_a_dataset_is_never_overwritten(tiny_run, command, datasets):
    words = ("export", str(tiny_run.dir), "--name", "mine-v0", "--episodes", "2")
    assert command(*words)[0] == 0
    before = {file: file.read_bytes() for file in datasets.rglob("*") if file.is_file()}
    code, _, err = command(*words)
    assert code == 2 and "mine-v1" in err and err.count("\n") == 1
    assert before == {file: file.read_bytes() for file in datasets.rglob("*") if file.is_file()}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--name", "no version"], "such as 'csd/push-v0'"),
        (["--episodes", "0"], "episodes must be at least 1"),
        (["--noise", "2"], "noise must be in [0, 1]"),
    ],
)
def test_a_mistake_leaves_nothing_behind(tiny_run, command, datasets, words, hint):
    code, _, err = command("export", str(tiny_run.dir), *words)
    assert code == 2 and hint in err and err.count("\n") == 1
    assert not list(datasets.rglob("*"))


def test_a_failed_write_leaves_no_half_a_dataset(tiny_run, datasets, monkeypatch):
    def full(*args, **kwargs):
        (datasets / "mine-v0" / "data").mkdir(parents=True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(minari, "create_dataset_from_buffers", full)
    with pytest.raises(csd.UserError, match="No space left"):
        csd.export(tiny_run.dir, "mine-v0", 2, quiet=True)
    assert not (datasets / "mine-v0").exists()


def test_without_minari_it_says_what_to_install(tiny_run, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    code, _, err = command("export", str(tiny_run.dir))
    assert code == 2 and "csd[minari]" in err
