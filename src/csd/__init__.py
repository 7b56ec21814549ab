"""Unsupervised skill discovery: `csd.train`, `csd.load`, and the skills they give."""

from typing import TYPE_CHECKING, Any

from csd import registration as registration

if TYPE_CHECKING:
    from csd.api import (
        Run,
        compare,
        evaluate,
        explore,
        export,
        plot,
        publish,
        resume,
        train,
        video,
        zero_shot,
    )
    from csd.config import Config
    from csd.controller.run import control
    from csd.errors import UserError
    from csd.experiments.reproduce import reproduce
    from csd.hierarchy import SkillEnv
    from csd.skills import Skills, load

__all__ = [
    "Config",
    "Run",
    "SkillEnv",
    "Skills",
    "UserError",
    "compare",
    "control",
    "evaluate",
    "explore",
    "export",
    "load",
    "plot",
    "publish",
    "reproduce",
    "resume",
    "train",
    "video",
    "zero_shot",
]

_ELSEWHERE = {
    "Config": "csd.config",
    "SkillEnv": "csd.hierarchy",
    "Skills": "csd.skills",
    "UserError": "csd.errors",
    "control": "csd.controller.run",
    "load": "csd.skills",
    "reproduce": "csd.experiments.reproduce",
}
"""Where names live that are not in `csd.api`."""


def __getattr__(name: str) -> Any:
    """Import on first use, so that `csd --help` is instant."""
    if name == "__version__":
        from importlib.metadata import version

        return version("csd")
    if name not in __all__:
        raise AttributeError(f"module 'csd' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ELSEWHERE.get(name, "csd.api")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
