"""Skills on the Hugging Face Hub: its own client, talking to a server on this machine."""

import sys

import numpy as np
import pytest

import csd

from .hub_server import matching, revision, serve

pytest.importorskip("huggingface_hub")


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """The Hub with nothing on it, somebody logged in, and an empty cache."""
    from huggingface_hub import constants

    with serve() as (hub, address):
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setenv("HF_TOKEN", "hf_writer")
        yield hub


def test_published_skills_act_like_the_run_wherever_a_run_goes(hub, tiny_run, tmp_path, command):
    code, address, _ = command("publish", str(tiny_run.dir), "ada/probe", "--private")
    assert code == 0 and address.endswith("/ada/probe\n") and hub.private == {"ada/probe": True}

    own, skills = csd.load(tiny_run.dir), csd.load("hub:ada/probe")
    z = own.sample(np.random.default_rng(0), 3)
    obs = np.random.default_rng(1).normal(size=(3, own.spec.obs_dim))
    np.testing.assert_array_equal(skills.act(obs, z), own.act(obs, z))

    code, output, _ = command("evaluate", "hub:ada/probe", "--skills", "4")
    assert code == 0 and "bins covered" in output
    assert (tmp_path / "runs/ada_probe-pretrained/evaluation/evaluation.json").exists()


def test_the_page_shows_what_they_do_and_nothing_of_this_machine(hub, tiny_run):
    csd.publish(tiny_run.dir, "ada/probe")
    files = hub.repos["ada/probe"]
    known = {"README.md", "config.json", "metrics.jsonl"}
    assert set(files) == known | matching(files, "checkpoints/*") | matching(files, "plots/*.png")
    page = files["README.md"].decode()
    verdict = csd.evaluate(tiny_run.dir)["verdict"]
    assert page.startswith("---\nlibrary_name: csd\n") and verdict in page
    assert "(plots/skills.png)" in page and files["plots/skills.png"].startswith(b"\x89PNG")
    assert str(tiny_run.dir) not in page + files["config.json"].decode()


@pytest.mark.parametrize("name", ["hub:probe", "hub:/probe", "hub:ada/"])
def test_an_incomplete_name_is_not_asked_for(name):
    with pytest.raises(csd.UserError, match="as hub:USER/NAME"):
        csd.load(name)


def test_newer_skills_take_the_place_of_older_ones(hub, tiny_run):
    csd.publish(tiny_run.dir, "ada/probe")
    hub.repos["ada/probe"]["checkpoints/000099999.json"] = b"of a longer run"
    csd.publish(tiny_run.dir, "ada/probe")
    assert len(matching(hub.repos["ada/probe"], "checkpoints/*")) == 2


def test_a_revision_can_be_named_and_what_was_fetched_stays_without_a_network(hub, tiny_run):
    csd.publish(tiny_run.dir, "ada/probe")
    first = revision(hub.repos["ada/probe"])
    assert csd.load(f"hub:ada/probe@{first}").episode == tiny_run.config.episodes
    with pytest.raises(csd.UserError, match="hub:ada/probe"):
        csd.load("hub:ada/probe@v9")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "hub:ada/nothing"), "no such place"),
        (("evaluate", "hub:a b"), "hub:a b"),
        (("publish", "Ant", "probe"), "USER/NAME"),
        (("publish", "Ant", "hub:ada/probe"), "USER/NAME"),
        (("publish", "nowhere", "ada/probe"), "no run at nowhere"),
    ],
)
def test_mistakes_are_told_in_a_line(hub, command, words, message, tmp_path):
    code, _, err = command(*words)
    assert code == 2 and message in err and err.count("\n") == 1
    assert hub.repos == {} and not (tmp_path / "runs").exists()


def test_strangers_cannot_publish(hub, command, monkeypatch):
    for token in ("hf_reader", ""):
        monkeypatch.setenv("HF_TOKEN", token)
        code, _, err = command("publish", "Ant", "ada/ant")
        assert code == 2 and err.startswith("csd: hub:ada/ant: ") and err.count("\n") == 1


def test_a_place_without_skills_is_no_run(hub):
    hub.repos["ada/words"] = {"config.json": b"{}", "model.bin": b"not fetched"}
    with pytest.raises(csd.UserError, match="hub:ada/words holds no skills"):
        csd.load("hub:ada/words")


def test_without_the_package_it_says_what_to_install(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    code, _, err = command("evaluate", "hub:ada/probe")
    assert code == 2 and "csd[hub]" in err and err.count("\n") == 1
