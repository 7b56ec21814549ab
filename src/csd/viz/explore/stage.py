"""The three-dimensional scene of `csd explore`: a world as it is now, and the paths in it."""

from typing import Any, Protocol

import mjviser
import numpy as np
import viser

from csd.envs import probe
from csd.envs.film import PLANE, POINT, PUCK
from csd.envs.offscreen import Camera, as_seen
from csd.skills import Skills
from csd.viz.explore.controls import rgb
from csd.viz.explore.player import Path3D, Player

FIXED = "/fixed_bodies"
"""mjviser's name for what passes by while the view travels with a body."""
FIELD_OF_VIEW = np.deg2rad(45.0)  # MuJoCo's own
FLOOR = 0.01  # metres above it at which a path on the floor can be seen
LANE, LANES = 0.25, 16  # metres between the paths of a body that can only go to and fro
WIDTH = 3.0  # of a path in pixels


class View(Protocol):
    """A way to show a world."""

    camera: Camera
    """Where to look from first."""
    follow: bool
    """Whether the view travels with the world's body."""

    def draw(self, player: Player) -> None:
        """The world as it is now."""
        ...


class MujocoView:
    """Any MuJoCo simulation; to follow a body all the rest is moved, so that eyes are free."""

    def __init__(self, server: viser.ViserServer, player: Player) -> None:
        self._scene = mjviser.ViserMujocoScene(server, as_seen(player.world.model), 1)
        self._scene.camera_tracking_enabled = False  # it would also go up and down with the body
        self._scene.site_groups_visible = [False] * 6  # marks that are no part of the world
        self._scene.show_convex_hull = False  # brings what is visible up to date
        self.camera, self.follow = player.camera, bool(player.camera.follow)
        if self.follow:
            self._body = player.world.model.body(self.camera.follow).id
            x, y, z = self.camera.lookat
            height = float(player.world.data.xpos[self._body, 2])
            self.camera = self.camera._replace(lookat=(x, y, z + height))

    def draw(self, player: Player) -> None:
        """One that blew up is left as it was."""
        data = player.world.data
        if not np.isfinite(data.qpos).all():
            return
        middle = np.zeros(3)
        if self.follow:
            middle[:2] = data.xpos[self._body, :2]
        self._scene.update_from_arrays(
            (data.xpos - middle)[None],
            data.xmat.reshape(1, -1, 3, 3),
            (data.mocap_pos - middle)[None],
            data.mocap_quat[None],
        )
        self._scene.fixed_bodies_frame.position = -middle


class ProbeView:
    """The probe world: the point blue, the puck orange."""

    def __init__(self, server: viser.ViserServer, player: Player) -> None:
        self.camera, self.follow = player.camera, False
        edge = 2.0 * (probe.ARENA + probe.RADIUS)
        server.scene.add_box(
            "/plane", PLANE, (edge, edge, 0.02), cast_shadow=False, position=(0.0, 0.0, -0.015)
        )
        self._point = server.scene.add_icosphere("/point", 0.25 * probe.RADIUS, POINT)
        self._puck = server.scene.add_cylinder("/puck", 0.75 * probe.RADIUS, 0.05, PUCK)

    def draw(self, player: Player) -> None:
        """Point and puck where the state says."""
        point_x, point_y, puck_x, puck_y = player.obs.tolist()
        self._point.position = (point_x, point_y, 0.25 * probe.RADIUS)
        self._puck.position = (puck_x, puck_y, 0.025)


def make_view(server: viser.ViserServer, player: Player) -> View:
    """The world on the stage, and everyone's first look at it."""
    view = (ProbeView if player.spec.name == "Probe" else MujocoView)(server, player)
    look_from(server.initial_camera, view.camera)
    return view


def look_from(eye: Any, camera: Camera) -> None:
    """Place viser's `eye` as MuJoCo would place the camera."""
    azimuth, elevation = np.deg2rad([camera.azimuth, camera.elevation])
    ahead = np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    eye.position = np.array(camera.lookat) - camera.distance * ahead
    eye.look_at = np.array(camera.lookat)
    eye.fov = FIELD_OF_VIEW


def look_down(eye: Any, points: np.ndarray) -> None:
    """Show all points (n, 3) from above, with y upwards on the screen."""
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = ((low + high) / 2.0).tolist()
    distance = 1.5 * (0.5 + np.max(high - low)) / (2.0 * np.tan(FIELD_OF_VIEW / 2.0))
    look_from(eye, Camera((x, y, z), distance, azimuth=90.0, elevation=-85.0))


class Lines:
    """A player's paths, each in the colour of its skill."""

    def __init__(self, server: viser.ViserServer, skills: Skills) -> None:
        self._server, self._skills = server, skills
        self._kept: dict[int, tuple[Path3D, Any]] = {}
        self._made = 0
        self._now: Any = None

    def draw(self, player: Player) -> None:
        """The lines that stay, and the one that grows."""
        wanted = {id(path): path for path in player.paths}
        for key in self._kept.keys() - wanted.keys():
            self._kept.pop(key)[1].remove()
        for key in wanted.keys() - self._kept.keys():
            self._made += 1
            self._kept[key] = wanted[key], self._line(f"path {self._made}", wanted[key])
        path = player.path
        if self._now is None:
            self._now = self._line("path", path)
        else:
            self._now.points = self._segments(path)
            self._now.colors = np.array(rgb(self._skills, path.skill)[0], np.uint8)

    def _line(self, name: str, path: Path3D) -> Any:
        return self._server.scene.add_line_segments(
            f"{FIXED}/{name}",
            self._segments(path),
            rgb(self._skills, path.skill)[0],
            thickness=WIDTH,
            thickness_units="screen",
        )

    def _segments(self, path: Path3D) -> np.ndarray:
        """Both ends of the pieces of a line, (time - 1, 2, 3)."""
        points = path.points.astype(np.float32)
        if self._skills.spec.one_way:  # side by side: in one line nothing could be told apart
            discrete = self._skills.config.skill_type == "discrete"
            lane = np.argmax(path.skill) if discrete else self._made
            points[:, 1] += LANE * (2 + lane % LANES)
        if not points[:, 2].any():
            points[:, 2] = FLOOR
        points = points if len(points) > 1 else np.repeat(points, 2, axis=0)
        return np.stack([points[:-1], points[1:]], axis=1)
