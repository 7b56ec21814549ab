"""METRA: DSD in which every step is equally far."""

from csd import objectives
from csd.algorithms import DSDConfig
from csd.methods.base import Method, MethodSpec, fixed
from csd.methods.dsd import dsd


def metra(config: DSDConfig, spec: MethodSpec) -> Method:
    """DSD with the temporal distance: one for a pair of consecutive states."""
    return dsd(config, spec, fixed(objectives.constant_distance))
