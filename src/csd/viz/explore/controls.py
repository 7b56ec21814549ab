"""Widgets to choose a skill with: buttons for discrete ones, sliders for the others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from csd.skills import Skills
from csd.viz.drawing import skill_colors
from csd.viz.video import RADIUS

BUTTONS = 32  # discrete skills that get a button each
LONGEST = 3.0  # of a coordinate or a length that slides; a normal variable is rarely longer

Choose = Callable[[np.ndarray], None]
Show = Callable[[np.ndarray], None]


def skill_widgets(server: viser.ViserServer, skills: Skills, choose: Choose) -> Show:
    """Widgets that call `choose`; what is returned makes them show a skill chosen elsewhere."""
    config = skills.config
    if config.skill_type == "discrete":
        return (_buttons if config.skill_dim <= BUTTONS else _dropdown)(server, skills, choose)
    return (_polar if config.skill_dim == 2 else _coordinates)(server, skills, choose)


def rgb(skills: Skills, codes: np.ndarray) -> list[tuple[int, int, int]]:
    """The colours of `csd plot` as bytes."""
    colors = np.round(255 * skill_colors(np.atleast_2d(codes), skills.config)[:, :3])
    return [(int(r), int(g), int(b)) for r, g, b in colors]


def skill_name(skills: Skills, skill: np.ndarray) -> str:
    """The number of a discrete skill, else its coordinates."""
    if skills.config.skill_type == "discrete":
        return str(int(np.argmax(skill)))
    return ", ".join(f"{value:.2f}" for value in skill)


def _buttons(server: viser.ViserServer, skills: Skills, choose: Choose) -> Show:
    codes = np.eye(skills.config.skill_dim, dtype=np.float32)
    buttons = [
        server.gui.add_button(f"skill {index}", color=color)
        for index, color in enumerate(rgb(skills, codes))
    ]

    def show(skill: np.ndarray) -> None:
        for index, button in enumerate(buttons):
            chosen = index == int(np.argmax(skill))
            button.label = f"▶ skill {index}" if chosen else f"skill {index}"

    def clicked(code: np.ndarray) -> None:
        show(code)
        choose(code)

    for button, code in zip(buttons, codes, strict=True):
        button.on_click(lambda _, code=code: clicked(code))
    return show


def _dropdown(server: viser.ViserServer, skills: Skills, choose: Choose) -> Show:
    codes = np.eye(skills.config.skill_dim, dtype=np.float32)
    names = [skill_name(skills, code) for code in codes]
    dropdown: Any = server.gui.add_dropdown("skill", names)
    _by_hand(dropdown, lambda: choose(codes[names.index(dropdown.value)]))

    def show(skill: np.ndarray) -> None:
        dropdown.value = skill_name(skills, skill)

    return show


def _polar(server: viser.ViserServer, skills: Skills, choose: Choose) -> Show:
    """Direction and, where skills have one of their own, length."""
    free = not skills.config.skill_unit_length
    angle = server.gui.add_slider("direction °", 0, 360, 1, 0)
    length = server.gui.add_slider("length", 0.0, LONGEST, 0.05, RADIUS, visible=free)

    def chosen() -> None:
        radians = np.deg2rad(angle.value)
        unit = np.array([np.cos(radians), np.sin(radians)], np.float32)
        choose(unit * np.float32(length.value if free else 1.0))

    def show(skill: np.ndarray) -> None:
        angle.value = round(float(np.rad2deg(np.arctan2(skill[1], skill[0])))) % 360
        length.value = float(np.linalg.norm(skill)) if free else length.value

    _by_hand(angle, chosen)
    _by_hand(length, chosen)
    return show


def _coordinates(server: viser.ViserServer, skills: Skills, choose: Choose) -> Show:
    """One slider a dimension; where skills have length one, only the direction counts."""
    unit = skills.config.skill_unit_length
    reach = 1.0 if unit else LONGEST
    sliders = [
        server.gui.add_slider(f"z {index}", -reach, reach, 0.05, 0.0)
        for index in range(skills.config.skill_dim)
    ]

    def chosen() -> None:
        skill = np.array([slider.value for slider in sliders], np.float32)
        length = np.linalg.norm(skill)
        if not unit:
            choose(skill)
        elif length > 0.0:
            choose(skill / length)

    def show(skill: np.ndarray) -> None:
        for slider, value in zip(sliders, skill, strict=True):
            slider.value = float(value)

    for slider in sliders:
        _by_hand(slider, chosen)
    return show


def _by_hand(widget: Any, then: Callable[[], None]) -> None:
    """Call `then` when a person moves the widget, not when the program does."""

    async def updated(event: Any) -> None:  # one after another, in the order of the movements
        if event.client is not None:
            then()

    widget.on_update(updated)
