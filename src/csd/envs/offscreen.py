"""Pictures of a MuJoCo simulation, with or without a display."""

import os
import sys
from importlib import import_module
from typing import Any

import mujoco
import numpy as np

from csd.errors import UserError


class Offscreen:
    """A camera that looks at `lookat` from `distance`; angles in degrees."""

    def __init__(
        self,
        model: mujoco.MjModel,
        size: tuple[int, int],
        lookat: tuple[float, float, float],
        distance: float,
        azimuth: float,
        elevation: float,
    ) -> None:
        height, width = size
        model.vis.global_.offheight = max(model.vis.global_.offheight, height)
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
        model.vis.quality.offsamples = min(model.vis.quality.offsamples, 4)
        self._model = model
        self._gl = _gl_context(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(model, maxgeom=2_000)
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._scene.flags[flag] = 0  # most of the time of a renderer without a GPU
        self._option, self._area = mujoco.MjvOption(), mujoco.MjrRect(0, 0, width, height)
        self._camera = mujoco.MjvCamera()
        self._camera.lookat[:] = lookat
        self._camera.distance = distance
        self._camera.azimuth, self._camera.elevation = azimuth, elevation

    def picture(self, data: mujoco.MjData) -> np.ndarray:
        """What the camera sees, (height, width, 3) bytes; positions must be up to date."""
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model,
            data,
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
