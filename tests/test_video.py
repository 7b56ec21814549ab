"""Films of skills: what is in them, and that looking changes nothing."""

from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import gymnasium
import imageio_ffmpeg
import numpy as np
import pytest

import csd
from csd import envs
from csd.config import replace
from csd.envs.film import POINT, PUCK, ProbeWorld
from csd.viz import video as videos


def frames(file):
    """Rate and pictures of a video file."""
    reader = imageio_ffmpeg.read_frames(str(file))
    about = next(reader)
    width, height = about["size"]
    pictures = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    return about["fps"], np.array(pictures)


def test_a_film_of_a_run_shows_every_step_of_every_skill(tiny_run, command):
    code, out, err = command("video", str(tiny_run.dir), "--size", "64")
    file = tiny_run.dir / "videos" / "skills.mp4"
    assert (code, out.strip()) == (0, str(file))
    assert "24/24 steps" in err
    rate, pictures = frames(file)
    assert rate == 25.0
    assert pictures.shape == (25, 3 * 64, 3 * 64, 3)
    assert not list(file.parent.glob(".*"))


def test_two_dimensional_skills_are_laid_out_like_a_compass(tiny_run):
    config = replace(tiny_run.config, skill_unit_length=False)
    codes, places = videos.lay_out(SimpleNamespace(config=config), 5)
    grid = {tuple(place): code for place, code in zip(places.tolist(), codes, strict=True)}
    np.testing.assert_allclose(grid[1, 2], [1.25, 0.0], atol=1e-6)  # right
    np.testing.assert_allclose(grid[0, 1], [0.0, 1.25], atol=1e-6)  # up
    np.testing.assert_allclose(grid[2, 0], np.full(2, -1.25 / np.sqrt(2)), atol=1e-6)
    np.testing.assert_array_equal(grid[1, 1], [0.0, 0.0])


def test_skills_of_length_one_leave_the_middle_free_and_discrete_ones_are_all_shown():
    codes, places = videos.lay_out(csd.load("Ant"), 5)
    np.testing.assert_allclose(np.linalg.norm(codes, axis=1), 1.0, atol=1e-6)
    assert [1, 1] not in places.tolist()
    codes, places = videos.lay_out(csd.load("HalfCheetah"), 5)
    np.testing.assert_array_equal(codes, np.eye(16))
    assert places[5].tolist() == [1, 1] and places[-1].tolist() == [3, 3]


def test_the_probe_is_drawn_where_its_state_is():
    world, pool = ProbeWorld(), envs.make("Probe", 1)
    np.testing.assert_array_equal(world.reset(3), pool.reset([3])[0])
    action = np.array([0.5, -1.0], np.float32)
    stepped, _ = pool.step(action[None], np.ones(1, bool))
    np.testing.assert_array_equal(world.step(action)[0], stepped[0])
    picture = world.picture(150)
    pixels = 1.5 / 149
    for color, place in ((POINT, stepped[0, :2]), (PUCK, stepped[0, 2:])):
        rows, columns = np.nonzero((picture == color).all(axis=-1))
        middle = np.array([columns.mean() * pixels - 0.75, 0.75 - rows.mean() * pixels])
        np.testing.assert_allclose(middle, place, atol=0.03)


@pytest.mark.parametrize("name", ["FetchPickAndPlace", "Kitchen", "Ant"])
def test_looking_changes_no_state(name, graphics):
    film = envs.make_film(name, 2, 64)
    seen, unseen = film.worlds
    np.testing.assert_array_equal(seen.reset(3), unseen.reset(3))
    rng, pictures = np.random.default_rng(0), []
    for _ in range(4):
        pictures.append(film.look(seen))
        action = rng.uniform(-1.0, 1.0, seen.spec.action_dim).astype(np.float32)
        np.testing.assert_array_equal(seen.step(action)[0], unseen.step(action)[0])
    film.close()
    assert pictures[0].shape == (64, 64, 3)
    assert len(np.unique(pictures[0])) > 20 and (pictures[0] != pictures[-1]).any()


def test_the_camera_travels_with_a_body(graphics):
    film = envs.make_film("Ant", 1, 96)
    world = film.worlds[0]
    world.reset(0)
    middles = []
    for _ in range(2):
        red, _, blue = np.moveaxis(film.look(world).astype(int), -1, 0)
        middles.append(np.argwhere(red - blue > 40).mean(axis=0))  # only the ant is brown
        world.data.qpos[:2] += 3.0
    np.testing.assert_allclose(middles[1], middles[0], atol=2.0)
    film.close()


def films_a_motion(name):
    """Whether pictures of an environment have the size asked for, and change as it moves."""
    film = envs.make_film(name, 2, 96)
    world = film.worlds[1]
    world.reset(0)
    first = film.look(world)
    for _ in range(5):
        world.step(np.ones(world.spec.action_dim, np.float32))
    after = film.look(world)
    film.close()
    return first.shape == (96, 96, 3) and len(np.unique(first)) > 20 and (after != first).any()


def test_a_mujoco_environment_of_gymnasium_can_be_filmed(graphics):
    assert films_a_motion("Reacher-v5")


class Drawn(gymnasium.Env):
    """Draws itself: a ramp that grows brighter."""

    metadata: ClassVar = {"render_modes": ["rgb_array"], "render_fps": 10}
    observation_space = action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, render_mode=None):
        self.steps, self.render_mode = 0, render_mode

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.zeros(1, np.float32), 0.0, False, False, {}

    def render(self):
        ramp = np.arange(100, dtype=np.uint8) + 10 * self.steps
        return np.broadcast_to(ramp[:, None], (50, 100, 3)).copy()


def test_any_other_environment_draws_itself():
    gymnasium.register("Drawn-v0", Drawn, max_episode_steps=10)
    try:
        assert films_a_motion("Drawn-v0")
    finally:
        gymnasium.registry.pop("Drawn-v0")


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--size", "50"], "multiple of 16"), (["--skills", "0"], "at least 1")],
)
def test_bad_numbers_are_refused_in_one_line(tiny_run, command, words, message):
    code, out, err = command("video", str(tiny_run.dir), *words, "--output", "new/film.mp4")
    assert code == 2 and out == ""
    assert message in err and err.count("\n") == 1
    assert not Path("new").exists()


def test_a_film_that_is_cut_short_leaves_the_older_one(tiny_run, tmp_path, monkeypatch):
    file = tmp_path / "film.mp4"
    file.write_bytes(b"older")
    monkeypatch.setattr(videos, "framed", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        csd.video(tiny_run.dir, size=64, output=file, quiet=True)
    assert file.read_bytes() == b"older" and len(list(tmp_path.iterdir())) == 1
