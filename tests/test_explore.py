"""The explorer: the player by itself, its page, and the command as a browser meets it."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest

import csd
from csd import checkpoint, envs, pretrained, rundir, skills
from csd.collect import episode_seeds
from csd.config import replace
from csd.envs.kitchen import START, TASKS
from csd.errors import UserError
from csd.evaluation.skills import EVALUATION_STREAM
from csd.learner import Learner
from csd.presets import preset
from csd.training import Streams
from csd.viz.explore import player as players
from csd.viz.explore.player import KEPT_OF_ONE, Newest, Path3D, Player, fan, roll_outs, tasks

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that has two checkpoints and goes on: nothing here asks what it has learned."""
    path = tmp_path_factory.mktemp("run") / "probe"
    config = preset("Probe")
    learner = Learner(config, envs.spec("Probe"))
    state = learner.init(Streams.of(config.seed).init)
    skills.keep(skills.Skills(learner, state, 16), path)
    arrays, _ = checkpoint.load(path / rundir.CHECKPOINTS, 16)
    checkpoint.save(path / rundir.CHECKPOINTS, 48, arrays, {})
    return path


@pytest.fixture
def player(run):
    """Its skills at work."""
    return Player(csd.load(run))


def test_a_skill_may_change_in_mid_episode_and_the_path_is_cut_there(player):
    own, world = player.skills, envs.make_world("Probe")[0]
    first, second = fan(own)[:2]
    seed = episode_seeds(own.config.seed + EVALUATION_STREAM, np.arange(1))[0]
    states = [world.reset(seed)]
    for skill in (first, first, first, second, second):
        states.append(world.step(own.act(states[-1], skill))[0])
    for _ in range(3):
        player.step()
    player.choose(second)
    for _ in range(2):
        player.step()
    np.testing.assert_array_equal(player.obs, states[-1])
    (before,), after = player.paths, player.path
    np.testing.assert_array_equal(before.skill, first)
    np.testing.assert_array_equal(after.skill, second)
    puck = np.array(states)[:, 2:]
    np.testing.assert_array_equal(before.points[:, :2], puck[:4])
    np.testing.assert_array_equal(after.points[:, :2], puck[3:])
    assert player.moved == pytest.approx(np.linalg.norm(puck[-1] - puck[0]))


def test_an_episode_that_is_over_is_followed_by_one_from_another_start(player):
    start, horizon = player.obs, player.spec.horizon
    for _ in range(horizon):
        assert not player.over
        player.step()
    assert player.over and player.steps == horizon
    player.step()
    assert not player.over and player.steps == 0 and player.moved == 0.0
    assert (player.obs != start).any()
    assert [len(path.points) for path in player.paths] == [horizon + 1]


def test_a_world_that_blows_up_starts_anew_and_leaves_a_finite_path(player, monkeypatch):
    player.step()
    monkeypatch.setattr(player.world, "step", lambda _: (np.full(4, np.nan), False))
    player.step()
    assert player.over and np.isfinite(player.obs).all()
    player.step()
    assert player.steps == 0 and len(player.paths[0].points) == 2
    assert np.isfinite(player.paths[0].points).all()


def test_of_each_skill_the_last_paths_stay(player):
    lone, often = fan(player.skills)[:2]
    player.keep(Path3D(lone, np.zeros((2, 3))))
    for number in range(KEPT_OF_ONE + 3):
        player.keep(Path3D(often, np.full((2, 3), number)))
    assert [path.points[0, 0] for path in player.paths] == [0, 3, 4, 5, 6]


def test_a_fan_goes_all_around_or_shows_every_discrete_skill(player):
    codes = fan(player.skills, 3)
    directions = np.rad2deg(np.arctan2(codes[:, 1], codes[:, 0])) % 360
    np.testing.assert_allclose(directions, [0.0, 120.0, 240.0], atol=1e-3)
    np.testing.assert_array_equal(fan(csd.load("HalfCheetah")), np.eye(16))


def test_skills_rolled_out_together_begin_at_one_start_and_take_whole_episodes():
    player = Player(csd.load("HalfCheetah"))
    codes = fan(player.skills)[:3]
    paths = [path for path in roll_outs(player, codes) if path is not None]
    np.testing.assert_array_equal([path.skill for path in paths], codes)
    assert {len(path.points) for path in paths} == {player.spec.horizon + 1}
    assert len(np.unique([path.points[0] for path in paths], axis=0)) == 1
    assert len(np.unique([path.points[-1] for path in paths], axis=0)) == 3


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("FetchPush", lambda data: data.body("object0").xpos),
        ("Kitchen", lambda data: data.qpos[23:26]),
        ("Ant", lambda data: [*data.body("torso").xpos[:2], 0.0]),
        ("HalfCheetah", lambda data: [data.body("torso").xpos[0], 0.0, 0.0]),
    ],
)
def test_the_path_is_that_of_the_target(name, place):
    player = Player(csd.load(name))
    np.testing.assert_allclose(player.origin, place(player.world.data), atol=1e-5)
    player.step()
    assert player.path.points.shape == (2, 3)


def test_in_an_undescribed_world_the_body_that_travels_or_the_tip_is_watched():
    for name, body in (("Hopper-v5", "torso"), ("Reacher-v5", "fingertip")):
        world, camera = envs.make_world(name)
        followed = players._followed(world, world.spec, camera)
        assert world.model.body(followed).name == body
        assert camera.follow == ("torso" if name == "Hopper-v5" else "")
        world.close()
    with pytest.raises(UserError, match="Pendulum-v1 is no MuJoCo simulation"):
        envs.make_world("Pendulum-v1")


def test_a_kitchen_tells_which_tasks_are_done():
    obs, spec = START.copy(), envs.spec("Kitchen")
    assert tasks(spec, obs) == []
    obs[list(TASKS["Microwave"].dims)] = TASKS["Microwave"].goal
    assert tasks(spec, obs) == ["Microwave"]
    assert tasks(envs.spec("Probe"), obs[:4]) == []


def test_a_newer_checkpoint_is_picked_up_once_and_a_damaged_one_passed_over(run, tmp_path):
    run = shutil.copytree(run, tmp_path / "run")
    folder = run / rundir.CHECKPOINTS
    older, newer = checkpoint.episodes(folder)
    away = tmp_path / "away.json"
    (folder / f"{newer:09d}.json").rename(away)
    newest = Newest(run, csd.load(run).episode)
    assert newest.seen == older and newest.load() is None
    shutil.copy(away, folder / f"{newer:09d}.json")
    found = newest.load()
    assert found is not None and found.episode == newer
    assert newest.load() is None
    (folder / f"{newer + 1:09d}.json").write_text("{}")
    assert newest.load() is None


@pytest.fixture
def server():
    """A server that believes in one browser."""
    pytest.importorskip("mjviser")
    from csd.viz.explore.server import Server

    server = Server("127.0.0.1", 0)
    server.get_clients = lambda: {1: None}
    yield server
    server.stop()


def open_page(server, chosen, run):
    """The page, a way to use its widgets by label, and a way to let it take turns."""
    from csd.viz.explore.page import Page

    page = Page(server, chosen, run)

    def use(label, value):
        for handle in list(server.gui._gui_input_handle_from_uuid.values()):
            options = getattr(handle, "options", ())
            if label == handle.label or label in options:
                handle._impl.value = label if label in options else value
                for callback in handle._impl.update_cb:
                    event = callback(SimpleNamespace(client=object(), target=handle))
                    if event is not None:
                        with pytest.raises(StopIteration):
                            event.send(None)
                return
        raise AssertionError(f"no widget {label!r}")

    def until(condition):
        for _ in range(2000):
            page.turn()
            if condition():
                return
        raise AssertionError("it never came to pass")

    return page, use, until


def test_widgets_choose_skills_and_the_panel_says_which(run, server):
    page, use, until = open_page(server, csd.load(run), run)
    length = np.linalg.norm(page.player.skill)
    use("direction °", 90)
    until(lambda: page.player.steps == 3)
    np.testing.assert_allclose(page.player.skill, [0.0, length], atol=1e-6)
    until(lambda: f"0.00, {length:.2f}" in page._facts.content)
    assert "Probe" in page._facts.content and "puck" in page._facts.content
    before = page.player.skill
    use("random skill", None)
    until(lambda: (page.player.skill != before).any())


def test_discrete_skills_have_a_button_each(server):
    page, use, until = open_page(server, csd.load("HalfCheetah"), pretrained.find("HalfCheetah"))
    use("skill 5", True)
    until(lambda: page.player.skill.argmax() == 5)
    labels = [h.label for h in server.gui._gui_input_handle_from_uuid.values()]
    assert "▶ skill 5" in labels and "skill 15" in labels


@pytest.mark.parametrize(
    "changes, label, value, chosen",
    [
        ({"skill_dim": 3, "skill_unit_length": True}, "z 1", 0.5, [0.0, 1.0, 0.0]),
        ({"skill_dim": 3, "skill_unit_length": False}, "z 1", 0.5, [0.0, 0.5, 0.0]),
        ({"skill_unit_length": False}, "length", 2.0, [2.0, 0.0]),
        ({"skill_type": "discrete", "skill_dim": 40}, "skill", "33", np.eye(40)[33]),
    ],
)
def test_every_kind_of_skill_has_its_widgets(run, server, changes, label, value, chosen):
    learner = Learner(replace(preset("Probe"), **changes), envs.spec("Probe"))
    state = learner.init(Streams.of(0).init)
    page, use, until = open_page(server, skills.Skills(learner, state, 16), run)
    if label == "z 1":
        use("z 0", 0.0)
        use("z 2", 0.0)
    use(label, value)
    until(lambda: np.allclose(page.player.skill, chosen, atol=1e-6))
    use("random skill", None)
    until(lambda: not np.allclose(page.player.skill, chosen))


def test_all_skills_draw_their_paths_beside_the_one_in_view_until_cleared(run, server):
    page, use, until = open_page(server, csd.load(run), run)
    use("pause", True)
    use("all skills", None)
    until(lambda: len(page.player.paths) == players.FAN)
    until(lambda: len(page._lines._kept) == players.FAN)
    assert page.player.steps == 0
    use("clear", None)
    until(lambda: not page.player.paths and not page._lines._kept)


def test_the_page_goes_on_with_a_newer_checkpoint_and_says_so(run, server, monkeypatch):
    monkeypatch.setattr("csd.viz.explore.page.LOOK", 0.0)
    older = csd.load(run)
    older.episode = 16
    page, _, until = open_page(server, older, run)
    assert "16 episodes of 2,000; a newer checkpoint is picked up" in page._facts.content
    until(lambda: "48 episodes of 2,000" in page._facts.content)
    assert page.player.skills.episode == 48


def test_with_nobody_looking_the_world_stands_still(run, server):
    page, *_ = open_page(server, csd.load(run), run)
    server.get_clients = dict
    for _ in range(10):
        page.turn()
    assert page.player.steps == 0


def test_no_browser_can_make_the_page_public(server, monkeypatch):
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *_: pytest.fail("a tunnel"))
    assert server.request_share_url() is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "70000"], "port must be from 0 to 65535"),
        (["--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
        (["--host", "no such host"], "cannot listen on no such host"),
    ],
)
def test_where_it_cannot_listen_it_says_so_in_one_line(run, command, words, message):
    pytest.importorskip("mjviser")
    code, out, err = command("explore", str(run), *words)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_a_port_that_is_taken_gets_a_line_with_a_free_one(run, command):
    pytest.importorskip("mjviser")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, _, err = command("explore", str(run), "--port", str(port))
    assert code == 2 and re.fullmatch(rf"csd: port {port} is taken: try --port \d+\n", err)


def test_without_viser_it_says_what_to_install(run, command, monkeypatch):
    for name in list(sys.modules):
        if name.startswith("csd.viz.explore."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "viser", None)
    code, _, err = command("explore", str(run))
    assert code == 2 and "pip install 'csd[explore]'" in err and err.count("\n") == 1


@pytest.fixture
def address(run):
    """The real command in a process of its own, ended by Ctrl-C."""
    pytest.importorskip("mjviser")
    words = [sys.executable, "-m", "csd", "explore", str(run), "--port", "0"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            line = process.stdout.readline()
            yield re.search(r"http://127\.0\.0\.1:\d+", line)[0]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            assert (process.returncode, out, err) == (0, "", "")
        finally:
            process.kill()


def test_the_page_is_served_on_this_machine_alone_and_ends_quietly(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.status == 200 and b"<html" in answer.read()
    if sys.platform == "linux":  # where every 127.x.x.x is this machine, and 0.0.0.0 all of them
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", int(address.split(":")[-1])), timeout=5)


@pytest.fixture
def browser(address, tmp_path):
    """`browser(expression)`: what it is worth in the page, in a real browser."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    from websockets.sync.client import connect

    flags = "--headless --no-sandbox --enable-unsafe-swiftshader --remote-debugging-port=0".split()
    words = [CHROMIUM, *flags, f"--user-data-dir={tmp_path}", address]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        listening = next(line for line in process.stderr if "DevTools listening" in line)
        host = re.search(r"ws://([^/]+)/", listening)[1]
        with urllib.request.urlopen(f"http://{host}/json/list", timeout=10) as answer:
            tab = next(tab for tab in json.load(answer) if tab["type"] == "page")
        with connect(tab["webSocketDebuggerUrl"], max_size=None) as tools:

            def evaluate(expression):
                parameters = {"expression": expression, "returnByValue": True}
                message = {"id": 1, "method": "Runtime.evaluate", "params": parameters}
                tools.send(json.dumps(message))
                return json.loads(tools.recv())["result"]["result"].get("value")

            yield evaluate
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_a_click_in_a_browser_changes_the_skill(browser):
    panel = "[...document.querySelectorAll('b')].find(b => b.innerText == 'skill')"
    skill = f"{panel}?.parentElement.innerText.match(/skill . (.*)/)[1]"
    click = "[...document.querySelectorAll('button')].find(b => b.innerText == 'random skill')"

    def wait(condition):
        deadline = time.monotonic() + 60
        while not condition(browser(skill)):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        return browser(skill)

    before = wait(bool)
    browser(f"{click}.click()")
    assert wait(lambda now: now != before) != before
