"""(environment, method, preset) -> configuration; one module per family of environments.

`docs/csd.md` says what differs from the published numbers and why.
"""

from typing import NamedTuple

from csd import config as configs
from csd.config import ALGORITHMS, Config
from csd.envs.fetch import IDS as FETCH
from csd.envs.locomotion import BODIES as LOCOMOTION
from csd.errors import UserError, nearest
from csd.presets import general, kitchen, locomotion, manipulation, probe

PRESETS = {
    "fast": "minutes on a laptop CPU",
    "paper": "the published loop and numbers",
}


class Measured(NamedTuple):
    """What one run of a preset took on two cores without a GPU."""

    minutes: float
    gigabytes: float | None


MEASURED = {
    ("Probe", "fast"): Measured(0.4, 0.52),
    ("FetchPush", "fast"): Measured(6.6, 0.96),
    ("FetchSlide", "fast"): Measured(9.5, None),
    ("FetchPickAndPlace", "fast"): Measured(12.7, None),
    ("Kitchen", "fast"): Measured(16.0, None),
    ("Kitchen", "paper"): Measured(66.0, None),
    ("Ant", "fast"): Measured(15.6, 1.42),
    ("HalfCheetah", "fast"): Measured(5.8, 0.92),
}

CHANGES = {
    "Probe": probe.changes,
    **dict.fromkeys(FETCH, manipulation.changes),
    **dict.fromkeys(LOCOMOTION, locomotion.changes),
    "Kitchen": kitchen.changes,
}
"""Environment -> what its presets change in the defaults; any other one is `general`."""


def preset(env: str, method: str = "csd", name: str = "fast", seed: int = 0) -> Config:
    """The defaults for an environment and a method."""
    if name not in PRESETS:
        raise UserError(f"unknown preset {name!r}: {nearest(name, PRESETS)}")
    if method not in ALGORITHMS:
        raise UserError(f"unknown method {method!r}: {nearest(method, ALGORITHMS)}")
    base = Config(env, method, name, seed, algorithm=ALGORITHMS[method]())
    changes = CHANGES.get(env, general.changes)(env, method, name)
    needed = method in ("csd", "dsd") or configs.needs_warmup(
        changes.get("normalizer", base.normalizer),
        changes.get("method_states", base.method_states),
    )
    if not needed:  # random episodes are for a density, and for statistics measured on them
        changes["warmup_episodes"] = 0
    known = {
        *configs._fields(type(base.algorithm)),
        *configs._fields(Config),
        *configs._fields(type(base.sac)),
    }
    return configs.replace(base, **{k: v for k, v in changes.items() if k in known})
