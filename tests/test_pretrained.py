"""Skills that come with the package, and the lean copies they are."""

import json
import shutil

import gymnasium
import numpy as np
import pytest

import csd
from csd import checkpoint, envs, pretrained, rundir
from csd.errors import UserError
from csd.pretrained.__main__ import add
from csd.skills import keep


@pytest.mark.parametrize("name", pretrained.names())
def test_every_one_loads_by_name_and_acts(name):
    skills = csd.load(name)
    assert skills.config.env == name
    spec = envs.spec(name)
    z = skills.sample(np.random.default_rng(0), 3)
    action = skills.act(np.zeros((3, spec.obs_dim), np.float32), z)
    assert action.shape == (3, spec.action_dim)
    assert np.abs(action).max() <= 1.0


def test_half_cheetahs_run_both_ways():
    env = csd.SkillEnv(gymnasium.make("csd/HalfCheetahGoal-v0"), "HalfCheetah", every=200)
    ends = []
    for skill in range(env.action_space.n):
        env.reset(seed=1)
        obs, *_ = env.step(skill)
        ends.append(obs[0])
    assert min(ends) < -10.0
    assert max(ends) > 10.0


def test_the_kitchens_do_most_tasks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert csd.evaluate("Kitchen")["skills"]["tasks"] >= 9  # 12 where they were trained


def test_a_lean_copy_acts_and_embeds_like_the_run(tiny_run, tmp_path):
    whole = csd.load(tiny_run.dir)
    path = add(tiny_run.dir, tmp_path)
    assert path == add(tiny_run.dir, tmp_path) == tmp_path / "Probe"  # in place of the older one
    lean = csd.load(path)
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(5, whole.spec.obs_dim)).astype(np.float32)
    z = whole.sample(rng, 5)
    np.testing.assert_array_equal(lean.act(obs, z), whole.act(obs, z))
    np.testing.assert_array_equal(lean.embed(obs), whole.embed(obs))
    arrays, _ = checkpoint.load_newest(path / rundir.CHECKPOINTS)
    assert not [name for name in arrays if "critic" in name or "opt" in name or "target" in name]
    assert csd.evaluate(path, 4)["verdict"]


def test_what_acting_needs_may_not_be_missing(tiny_run, tmp_path):
    keep(csd.load(tiny_run.dir), tmp_path / "lean")
    folder = tmp_path / "lean" / rundir.CHECKPOINTS
    arrays, meta = checkpoint.load_newest(folder)
    actor = next(name for name in arrays if "/actor/" in name)
    checkpoint.save(folder, meta["episode"], {k: v for k, v in arrays.items() if k != actor}, {})
    with pytest.raises(UserError, match="another version"):
        csd.load(tmp_path / "lean")


def test_a_folder_goes_before_a_name_and_a_wrong_name_lists_the_right_ones(
    tiny_run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"no run at Cheetah.*pretrained skills.*HalfCheetah"):
        csd.load("Cheetah")
    keep(csd.load(tiny_run.dir), tmp_path / "HalfCheetah")
    assert csd.load("HalfCheetah").config.env == "Probe"


def test_they_are_evaluated_and_drawn_in_a_copy(tmp_path, command):
    before = sorted(pretrained.FOLDER.rglob("*.*"))
    code, output, _ = command("evaluate", "HalfCheetah", "--skills", "1")
    assert code == 0
    assert "It learned to travel" in output
    (file,) = csd.plot("HalfCheetah")
    assert file.resolve() == tmp_path / "runs/HalfCheetah-pretrained/plots/skills.png"
    assert sorted(pretrained.FOLDER.rglob("*.*")) == before


def test_a_copy_of_older_skills_is_left_alone_and_not_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = pretrained.writable("Ant")
    meta = next((first / rundir.CHECKPOINTS).glob("*.json"))
    meta.write_text(meta.read_text().replace('"sha256": "', '"sha256": "0'))
    second = pretrained.writable("Ant")
    assert (str(first), str(second)) == ("runs/Ant-pretrained", "runs/Ant-pretrained-2")
    assert pretrained.writable("Ant") == second
    assert "0" in json.loads(meta.read_text())["sha256"][0]


def test_another_revision_of_shared_skills_gets_a_number_behind_their_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    revisions = iter(["Ant", "HalfCheetah"])

    def download(_):
        return shutil.copytree(pretrained.FOLDER / (name := next(revisions)), tmp_path / name)

    monkeypatch.setattr(pretrained.hub, "download", download)
    copies = [str(pretrained.writable("hub:ada/run")) for _ in range(2)]
    assert copies == ["runs/ada_run-pretrained", "runs/ada_run-pretrained-2"]


def test_a_path_into_the_package_counts_as_the_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(pretrained.FOLDER)
    assert str(pretrained.writable("link/Ant")) == "runs/Ant-pretrained"
    assert (tmp_path / "runs/Ant-pretrained/config.json").exists()
