"""The hyper-parameters of every method; field docstrings are the `--help`."""

from dataclasses import dataclass
from typing import Literal

from csd.validation import above_zero, at_least, validate


@dataclass(frozen=True)
class DSDConfig:
    """Distance-maximising skill discovery trained by dual gradient descent."""

    phi_hidden: tuple[int, ...] = (128, 128)
    """Hidden widths of phi."""
    phi_lr: float = 1e-3
    """Adam's learning rate for phi."""
    lambda_init: float = 3000.0
    """Starting value of the Lagrange multiplier."""
    lambda_lr: float = 1e-3
    """Adam's learning rate for log lambda."""
    slack: float = 1e-6
    """Epsilon: the upper clamp of the constraint's slack."""
    constraint: Literal["squared", "norm"] = "squared"
    """squared: mean squared latent displacement <= d^2 (published); norm: length <= d (paper)."""
    one_sided: bool = False
    """Bound only the latent displacement forwards along the skill (not in the paper)."""
    k_step: int = 1
    """Measure and bound pairs this many steps apart, fewer at an episode's end (paper: 1)."""

    def __post_init__(self) -> None:
        validate(self)
        above_zero(self, "lambda_init slack")
        at_least(self, 0, "lambda_lr")
        at_least(self, 1, "k_step")


@dataclass(frozen=True)
class CSDConfig(DSDConfig):
    """DSD with the learned controllability-aware distance."""

    density_hidden: tuple[int, ...] = (128, 128)
    """Hidden widths of the density model's mean and of its log standard deviation."""
    density_lr: float = 1e-3
    """Adam's learning rate for the density model."""
    density_loss: Literal["published", "gaussian"] = "published"
    """published: (e/sigma)^2 + sigma; gaussian: the negative log-likelihood."""
    density_noise: float = 0.0
    """Noise added to the state changes the density is fitted to: a soft floor for sigma."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, 0, "density_noise")


@dataclass(frozen=True)
class AnyDistanceConfig(CSDConfig):
    """DSD with a distance by name; the density's fields matter to `controllability` only."""

    distance: str = "euclidean"
    """euclidean, constant, controllability, or your own as `module:name` (docs/distances.md)."""


@dataclass(frozen=True)
class LSDConfig:
    """LSD: phi is kept 1-Lipschitz by spectral normalisation of every layer."""

    phi_hidden: tuple[int, ...] = (128, 128)
    """Hidden widths of phi."""
    phi_lr: float = 1e-3
    """Adam's learning rate for phi."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class DIAYNConfig:
    """DIAYN: the reward is how well the next state tells which skill is at work."""

    discriminator_hidden: tuple[int, ...] = (128, 128)
    """Hidden widths of the discriminator (continuous skills: of its mean and its log spread)."""
    discriminator_lr: float = 1e-3
    """Adam's learning rate for the discriminator."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class DADSConfig:
    """DADS: the reward is how much better the skill predicts the step than other skills do."""

    dynamics_hidden: tuple[int, ...] = (128, 128)
    """Hidden widths of the skill dynamics."""
    dynamics_lr: float = 1e-3
    """Adam's learning rate for the skill dynamics."""
    alternatives: int = 100
    """Skills of the prior that each transition's own skill is compared with."""

    def __post_init__(self) -> None:
        validate(self)
        at_least(self, 1, "alternatives")


@dataclass(frozen=True)
class DisagreementConfig:
    """Disagreement: the reward is the spread of an ensemble's predictions; no use of skills."""

    members: int = 5
    """Forward models in the ensemble."""
    model_hidden: tuple[int, ...] = (128, 128)
    """Hidden widths of each forward model."""
    model_lr: float = 1e-3
    """Adam's learning rate for the forward models."""

    def __post_init__(self) -> None:
        validate(self)
        at_least(self, 2, "members")


ALGORITHMS: dict[str, type] = {
    "csd": CSDConfig,
    "lsd": LSDConfig,
    "lsd-preset": LSDConfig,
    "lsd-norm": LSDConfig,
    "lsd-dual": DSDConfig,
    "metra": DSDConfig,
    "diayn": DIAYNConfig,
    "dads": DADSConfig,
    "disagreement": DisagreementConfig,
    "dsd": AnyDistanceConfig,
}
