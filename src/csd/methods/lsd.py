"""LSD and its variants: DSD with the Euclidean distance."""

from csd import objectives
from csd.config import DSDConfig
from csd.methods.base import Method, MethodSpec, fixed
from csd.methods.dsd import dsd


def lsd_dual(config: DSDConfig, spec: MethodSpec) -> Method:
    """LSD+dual: the Euclidean constraint kept by dual gradient descent."""
    return dsd(config, spec, fixed(objectives.euclidean_distance))
