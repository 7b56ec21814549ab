"""The figures of the paper as data: what is compared, where, by which number, how it is drawn.

A new figure is an entry of `FIGURES`.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from csd.envs.fetch import IDS as FETCH
from csd.envs.kitchen import NAMES as KITCHEN_NAMES
from csd.envs.kitchen import TASKS as KITCHEN_TASKS
from csd.tasks import TASKS

SKILLS: dict[str, dict[str, Any]] = {
    "": {},
    "16": {"skill_type": "discrete", "skill_dim": 16},
    "2d": {"skill_type": "continuous", "skill_dim": 2},
}
"""Kinds of skills that a figure asks for; empty: the preset's own."""


class Variant(NamedTuple):
    """One of the things that a figure compares."""

    name: str
    method: str = ""
    """Skill discovery method; empty: SAC on the environment's own actions."""
    changes: dict[str, Any] = {}  # noqa: RUF012
    """What differs from the preset."""
    times: float = 1.0
    """How many times as long as the preset it is trained."""


class Measure(NamedTuple):
    """A number of a run: where it stands in an evaluation, or in the rows of metrics."""

    label: str
    final: str = ""
    """Dotted name in what `csd evaluate --json` prints; empty: the last point of the curve."""
    curve: str = ""
    """Dotted name in metrics.jsonl, for what is drawn over episodes."""
    any: bool = False
    """Count it as one if it is above zero."""


class World(NamedTuple):
    """Where a figure compares: an environment with a kind of skills, or a task on such skills."""

    env: str
    measures: tuple[Measure, ...]
    skills: str = ""
    task: str = ""

    @property
    def name(self) -> str:
        """The task, or the environment."""
        return self.task or self.env


Drawing = Literal["bars", "curves", "paths"]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: every variant in every world, over seeds."""

    paper: str
    """Its number in the paper; empty: not in the paper."""
    about: str
    worlds: tuple[World, ...]
    variants: tuple[Variant, ...]
    drawing: Drawing = "bars"
    one_scale: bool = field(default=False)
    """Whether numbers of different worlds can be averaged."""

    @property
    def runs(self) -> int:
        """Trainings for one seed, of skills and of controllers."""
        skills = {(w.env, w.skills, v.name) for w in self.worlds for v in self.variants if v.method}
        tasks = [v for w in self.worlds if w.task for v in self.variants]
        return len(skills) + len(tasks)


COVERAGE = Measure("bins covered", "skills.coverage", "evaluation.coverage")
MOVED = Measure("share of skills that move it", "skills.moved", "evaluation.moved")
RETURN = Measure("return", "controller.return", "evaluation.return")
DONE = Measure("tasks done", "skills.tasks", "evaluation.tasks")
EACH_TASK = tuple(Measure(task, f"skills.task_success.{task}", any=True) for task in KITCHEN_TASKS)


def distance_and_success(task: str) -> tuple[Measure, ...]:
    """What moving the things of a kitchen task weighs, and how often it is done."""
    weights = [KITCHEN_NAMES[dim] for dim in KITCHEN_TASKS[task].dims]
    return (
        *(Measure(f"weight of {n}", curve=f"evaluation.weight.{n}") for n in weights),
        Measure(f"success of {task}", curve=f"evaluation.task_success.{task}"),
    )


DISTANCES = tuple(
    measure
    for task in ("SlideCabinet", "KettleLift", "Microwave")
    for measure in distance_and_success(task)
)

CSD, LSD, DIAYN, DADS = (Variant(name, name) for name in ("csd", "lsd", "diayn", "dads"))
DISAGREEMENT = Variant("disagreement", "disagreement")
SAC = Variant("sac")
RIVALS = (CSD, LSD, DIAYN, DADS)
ORACLE = tuple(Variant(f"{v.name}-oracle", v.method, {"focus": "object"}) for v in RIVALS)
ABLATIONS = tuple(Variant(name, name) for name in ("lsd-preset", "lsd-norm", "lsd-dual"))

FETCH_WORLDS = tuple(World(env, (COVERAGE, MOVED)) for env in FETCH)
TRAVEL_WORLDS = tuple(World(env, (COVERAGE,), "16") for env in ("Ant", "HalfCheetah"))


def downstream(*tasks: str, skills: str = "") -> tuple[World, ...]:
    """The worlds of downstream tasks."""
    return tuple(World(TASKS[task].env, (RETURN,), skills, task) for task in tasks)


FETCH_TASKS = downstream("FetchPushGoal", "FetchSlideGoal", "FetchPickAndPlaceGoal")
KITCHEN_TASK = downstream("KitchenTask", skills="2d")
TRAVEL_TASKS = downstream(
    "AntGoal", "AntMultiGoals", "HalfCheetahGoal", "HalfCheetahHurdle", skills="16"
)

FIGURES: dict[str, Figure] = {
    "probe": Figure(
        "", "the smallest check: CSD moves the puck, LSD does not",
        (World("Probe", (COVERAGE, MOVED)),), (CSD, LSD),
    ),
    "probe-downstream": Figure(
        "", "the smallest downstream task: the puck to a goal",
        downstream("ProbeGoal"), (CSD, LSD, SAC), "curves", one_scale=True,
    ),
    "fetch-trajectories": Figure(
        "3, 16", "object trajectories of skills in the Fetch environments",
        FETCH_WORLDS, RIVALS, "paths",
    ),
    "fetch-coverage": Figure(
        "4a", "bins that the object visits in the Fetch environments",
        FETCH_WORLDS, RIVALS,
    ),
    "fetch-downstream": Figure(
        "4b", "object to a goal: controllers on skills, and SAC from scratch",
        FETCH_TASKS, (*RIVALS, SAC), "curves", one_scale=True,
    ),
    "fetch-oracle": Figure(
        "5", "object to a goal: methods that are told to look at the object",
        FETCH_TASKS, (CSD, *ORACLE), "curves", one_scale=True,
    ),
    "fetch-ablation": Figure(
        "6", "object to a goal: CSD without its distance, LSD with tricks",
        FETCH_TASKS, (CSD, LSD, *ABLATIONS, SAC), "curves", one_scale=True,
    ),
    "kitchen-tasks": Figure(
        "7", "which of 13 kitchen tasks some of 16 discrete skills does",
        (World("Kitchen", (DONE, *EACH_TASK), "16"),), RIVALS,
    ),
    "kitchen-downstream": Figure(
        "8b", "a kitchen task that is asked for: controllers on 2-D skills, and SAC",
        KITCHEN_TASK, (*RIVALS, SAC), "curves", one_scale=True,
    ),
    "kitchen-distance": Figure(
        "9", "what cabinet, kettle and microwave weigh in CSD's distance over training",
        (World("Kitchen", DISTANCES, "16"),), (CSD,), "curves",
    ),
    "locomotion-trajectories": Figure(
        "10, 19", "where the skills of Ant and HalfCheetah go",
        TRAVEL_WORLDS, RIVALS, "paths",
    ),
    "locomotion-coverage": Figure(
        "11a", "bins that the skills of Ant and HalfCheetah visit",
        TRAVEL_WORLDS, RIVALS,
    ),
    "locomotion-downstream": Figure(
        "11b", "goals and hurdles: controllers on skills, and SAC from scratch",
        TRAVEL_TASKS, (*RIVALS, SAC), "curves",
    ),
    "disagreement-coverage": Figure(
        "12", "CSD beside disagreement: bins in five environments, tasks in the kitchen",
        (*(World(env, (COVERAGE,)) for env in FETCH), World("Kitchen", (DONE,), "16"),
         *TRAVEL_WORLDS),
        (CSD, DISAGREEMENT),
    ),
    "disagreement-trajectories": Figure(
        "13", "where CSD and disagreement take Ant and HalfCheetah",
        TRAVEL_WORLDS, (CSD, DISAGREEMENT), "paths",
    ),
    "kitchen-tasks-2d": Figure(
        "14", "which of 13 kitchen tasks 2-D continuous skills do",
        (World("Kitchen", (DONE, *EACH_TASK), "2d"),), RIVALS,
    ),
    "sac-long": Figure(
        "15", "SAC from scratch for four times as long, in Fetch and Kitchen tasks",
        (*FETCH_TASKS, *KITCHEN_TASK), (Variant("sac", times=4.0),), "curves", one_scale=True,
    ),
    "fetch-oracle-trajectories": Figure(
        "17", "FetchPickAndPlace: CSD and LSD that are told to look at the object",
        (FETCH_WORLDS[list(FETCH).index("FetchPickAndPlace")],), ORACLE[:2], "paths",
    ),
    "humanoid-trajectories": Figure(
        "18", "where the skills of Humanoid go",
        (World("Humanoid", (COVERAGE,), "16"),), (CSD, LSD), "paths",
    ),
}  # fmt: skip
