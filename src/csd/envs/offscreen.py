"""Pictures of a MuJoCo simulation, with or without a display."""

import os
import sys
from importlib import import_module
from typing import Any, NamedTuple

import mujoco
import numpy as np

from csd.errors import UserError


class Camera(NamedTuple):
    """Where to look at a simulation from; angles in degrees."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    follow: str = ""
    """The body that the camera travels with; `lookat` is then relative to it."""


class Offscreen:
    """Pictures of simulations of one model, (height, width, 3) bytes."""

    def __init__(self, model: mujoco.MjModel, size: tuple[int, int], camera: Camera) -> None:
        height, width = size
        model.vis.global_.offheight = max(model.vis.global_.offheight, height)
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
        model.vis.quality.offsamples = min(model.vis.quality.offsamples, 4)
        self._model, self._poses = model, mujoco.MjData(model)
        self._gl = _gl_context(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(model, maxgeom=2_000)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = 0  # most of the time of a renderer without a GPU
        self._option, self._area = mujoco.MjvOption(), mujoco.MjrRect(0, 0, width, height)
        self._lookat = np.array(camera.lookat)
        self._followed = model.body(camera.follow).id if camera.follow else 0  # 0: the world
        self._camera = mujoco.MjvCamera()
        self._camera.distance = camera.distance
        self._camera.azimuth, self._camera.elevation = camera.azimuth, camera.elevation

    def picture(self, data: mujoco.MjData) -> np.ndarray:
        """What the camera sees. The simulation is not touched: its poses are found in a copy."""
        poses = self._poses
        poses.qpos[:] = data.qpos
        poses.mocap_pos[:], poses.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_kinematics(self._model, poses)
        mujoco.mj_camlight(self._model, poses)
        self._camera.lookat[:] = poses.xpos[self._followed] + self._lookat
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model,
            poses,
            self._option,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        mujoco.mjr_render(self._area, self._scene, self._context)
        pixels = np.empty((self._area.height, self._area.width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, self._area, self._context)
        return np.flipud(pixels).copy()

    def close(self) -> None:
        """Free what the graphics library holds."""
        self._gl.make_current()
        self._context.free()
        self._gl.free()


def _gl_context(width: int, height: int) -> Any:
    """A context of the backend that `MUJOCO_GL` names, else of the first one that works.

    Chosen here, not when MuJoCo is imported: training must not need a graphics library.
    """
    named = os.environ.get("MUJOCO_GL", "")
    if named:
        backends = [named]
    elif sys.platform != "linux":
        backends = ["cgl" if sys.platform == "darwin" else "glfw"]
    else:
        backends = ["egl", "osmesa", "glfw"]
    for backend in backends:
        try:
            os.environ["MUJOCO_GL"] = backend  # MuJoCo loads the functions of this backend
            return import_module(f"mujoco.{backend}").GLContext(width, height)
        except Exception:  # whatever a missing or broken driver raises
            if named:
                os.environ["MUJOCO_GL"] = named
            else:
                del os.environ["MUJOCO_GL"]
    raise UserError(
        f"cannot render: no graphics backend works ({', '.join(backends)} tried); "
        "install EGL or OSMesa, or set MUJOCO_GL to egl, osmesa or glfw"
    )
