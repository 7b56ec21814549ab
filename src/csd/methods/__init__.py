"""Skill discovery methods by name."""

from collections.abc import Callable
from typing import Any

from csd.methods.base import Distance, Method, MethodSpec, draw_skill, fixed
from csd.methods.csd import csd
from csd.methods.dads import dads
from csd.methods.diayn import diayn
from csd.methods.disagreement import disagreement
from csd.methods.distances import dsd_by_name
from csd.methods.lsd import lsd, lsd_dual, lsd_norm
from csd.methods.metra import metra

METHODS: dict[str, Callable[[Any, MethodSpec], Method]] = {
    "csd": csd,
    "lsd": lsd,
    "lsd-preset": lsd,  # its preset has the states divided by the spread of random behaviour
    "lsd-norm": lsd_norm,
    "lsd-dual": lsd_dual,
    "metra": metra,
    "diayn": diayn,
    "dads": dads,
    "disagreement": disagreement,
    "dsd": dsd_by_name,
}

__all__ = ["METHODS", "Distance", "Method", "MethodSpec", "draw_skill", "fixed"]
