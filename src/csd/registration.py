"""What `import csd` adds to Gymnasium: the kitchen, and the tasks of `csd list tasks`."""

import gymnasium

gymnasium.register(
    "csd/Kitchen-v0", entry_point="csd.envs.kitchen_gym:KitchenEnv", max_episode_steps=50
)

TASK_STEPS = {
    "ProbeGoal": 24,
    "FetchPushGoal": 50,
    "FetchSlideGoal": 50,
    "FetchPickAndPlaceGoal": 50,
    "KitchenTask": 50,
    "AntGoal": 200,
    "AntMultiGoals": 200,
    "HalfCheetahGoal": 200,
    "HalfCheetahHurdle": 200,
}
for _task, _steps in TASK_STEPS.items():
    gymnasium.register(
        f"csd/{_task}-v0",
        entry_point="csd.tasks.gym:TaskEnv",
        max_episode_steps=_steps,
        kwargs={"name": _task},
    )
