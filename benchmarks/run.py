"""Speed as ratios, side by side in one run: `make bench`."""

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from csd import envs
from csd.collect import collect
from csd.config import ALGORITHMS, replace
from csd.controller.presets import preset as control_preset
from csd.controller.rollout import policy_choice, roll_out
from csd.controller.training import make_agent, open_view
from csd.envs import fetch
from csd.learner import Learner
from csd.presets import preset
from csd.skills import Skills

CORES = os.cpu_count() or 1
ENVS, STEPS, ROUNDS = 16, 50, 8
POSITIONS = {"exclude_current_positions_from_observation": False}
REFERENCES: dict[str, tuple[str, dict]] = {
    "FetchPush": ("FetchPush-v4", {}),
    "Ant": (
        "Ant-v5",
        {
            **POSITIONS,
            "include_cfrc_ext_in_observation": False,
            "terminate_when_unhealthy": False,
        },
    ),
    "HalfCheetah": ("HalfCheetah-v5", POSITIONS),
}
"""Our environments and how gymnasium makes the same ones."""


def in_turns(*measures: Callable[[], float], rounds: int = ROUNDS) -> list[float]:
    """The median of each, measured in turns: machines are noisy."""
    rows = [[measure() for measure in measures] for _ in range(rounds)]
    return np.median(rows, axis=0).tolist()


class Kind(NamedTuple):
    """One way to step environments."""

    play: Callable[[np.ndarray], float]
    """Seconds of stepping through actions (steps, ENVS, action_dim), one episode for each seed."""
    close: Callable[[], object]


def together(reset: Callable[[], object], step: Callable[[np.ndarray], object]) -> Callable:
    """All episodes side by side."""

    def play(actions: np.ndarray) -> float:
        reset()
        start = time.perf_counter()
        for action in actions:
            step(action)
        return time.perf_counter() - start

    return play


def ours(name: str, workers: int) -> Kind:
    """csd's threads over MjData."""
    pool, active = envs.make(name, ENVS, workers=workers), np.ones(ENVS, bool)
    play = together(lambda: pool.reset(list(range(ENVS))), lambda action: pool.step(action, active))
    return Kind(play, pool.close)


def one_process(name: str) -> Kind:
    """One of gymnasium's own environments: the same episodes, one after the other."""
    env_id, options = REFERENCES[name]
    env = gymnasium.make(env_id, **options)

    def play(actions: np.ndarray) -> float:
        return sum(
            together(lambda seed=seed: env.reset(seed=seed), env.step)(actions[:, seed])
            for seed in range(ENVS)
        )

    return Kind(play, env.close)


def gymnasium_vector(name: str, kind: str) -> Kind:
    """gymnasium's own vector environments."""
    env_id, options = REFERENCES[name]
    pool = gymnasium.make_vec(env_id, ENVS, vectorization_mode=kind, **options)
    return Kind(together(lambda: pool.reset(seed=0), pool.step), pool.close)


def with_envpool(name: str) -> Kind | None:
    """EnvPool on the same number of threads, if it is installed."""
    try:
        import envpool
    except ImportError:
        return None
    try:
        pool = envpool.make_gymnasium(REFERENCES[name][0], num_envs=ENVS, num_threads=CORES)
    except Exception as error:
        print(f"EnvPool: {error}")
        return None
    return Kind(together(pool.reset, pool.step), pool.close)


def environments(name: str) -> None:
    """Steps per second of the same episodes."""
    fetch.register_robotics()
    kinds: dict[str, Kind | None] = {
        f"csd, {CORES} threads": ours(name, CORES),
        "csd, 1 thread": ours(name, 1),
        "gymnasium, one process": one_process(name),
        "gymnasium SyncVectorEnv": gymnasium_vector(name, "sync"),
        f"gymnasium AsyncVectorEnv, {ENVS} processes": gymnasium_vector(name, "async"),
        f"EnvPool, {CORES} threads": with_envpool(name),
    }
    shape = (STEPS, ENVS, envs.spec(name).action_dim)
    actions = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    installed = {label: kind for label, kind in kinds.items() if kind is not None}
    medians = in_turns(*(partial(kind.play, actions) for kind in installed.values()))
    seconds = dict(zip(installed, medians, strict=True))
    own = seconds[f"csd, {CORES} threads"]
    print(f"\n{name}, {ENVS} environments, random actions (steps per second)")
    for label in kinds:
        shown = "not installed"
        if label in installed:
            rate, ratio = STEPS * ENVS / seconds[label], seconds[label] / own
            shown = f"{rate:8.0f}   csd is {ratio:.2f} x"
            installed[label].close()
        print(f"  {label:<44}{shown}")


def matmul(size: int = 1024) -> Callable[[], float]:
    """FLOP per second of a large float32 matrix product on all threads of XLA, at each call."""
    a = jnp.ones((size, size), jnp.float32)
    product = jax.jit(lambda a: a @ a)
    product(a).block_until_ready()

    def rate(repeats: int = 10) -> float:
        start = time.perf_counter()
        for _ in range(repeats):
            product(a).block_until_ready()
        return 2.0 * size**3 * repeats / (time.perf_counter() - start)

    return rate


def step_flops(learner: Learner) -> float:
    """FLOP of one gradient step: two per weight and sample and pass, counted pass by pass."""
    config = learner.config
    state = jax.eval_shape(lambda: learner.init(jax.random.key(0)))

    def weights(tree: object) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(tree) if leaf.ndim == 2)

    actor, critic = weights(state.sac.actor), weights(state.sac.critic)
    phi, model = weights(state.method.phi), state.method.distance
    density = weights((model.mean, model.log_sigma))
    # Passes over the weights: actor forward and backward 3, target actor 1; critic forward and
    # backward 3, target 1, forward and backward to the action 2; phi on both states for the
    # reward 2 and for its update 6; density 3 (its forward pass serves the distance too).
    return 2.0 * config.batch_size * (4 * actor + 6 * critic + 8 * phi + 3 * density)


def epoch(learner: Learner, steps: int = 50) -> Callable[[], float]:
    """Seconds of one gradient step of `steps` in one call, at each call."""
    state, memory = learner.init(jax.random.key(0)), learner.init_replay()
    memory = memory._replace(length=memory.length + learner.env.horizon)
    memory = memory._replace(obs=0.1 * jax.random.normal(jax.random.key(1), memory.obs.shape))

    def seconds() -> float:
        nonlocal state
        start = time.perf_counter()
        state, _ = learner.train(state, memory, jax.random.key(0))
        jax.block_until_ready(state)
        return (time.perf_counter() - start) / steps

    seconds()  # compiles
    return seconds


def bench_learner(method: str, name: str) -> Learner:
    """A learner of FetchPush whose epoch is 50 gradient steps."""
    config = replace(preset("FetchPush", method, name), updates=50, method_updates=50)
    return Learner(config, envs.spec("FetchPush"))


def gradient_steps() -> None:
    """Updates per second of each preset, and the share of the machine's matmul rate."""
    threads = os.environ.get("NPROC", CORES)
    print(
        f"\nGradient steps (one step: SAC, phi, lambda, density), {threads} XLA thread(s)",
        flush=True,
    )
    for name in ("paper", "fast"):
        learner = bench_learner("csd", name)
        peak, seconds = in_turns(matmul(), epoch(learner), rounds=2 * ROUNDS)
        flops = step_flops(learner)
        print(
            f"  {name:<6} {1e3 * seconds:6.2f} ms  {1 / seconds:6.0f} updates/s  "
            f"{flops / 1e9:.2f} GFLOP  {flops / seconds / 1e9:5.0f} GFLOP/s = "
            f"{flops / seconds / peak:.0%} of the matmul rate ({peak / 1e9:.0f} GFLOP/s)"
        )


def methods() -> None:
    """Updates per second of every method at the sizes of `fast`."""
    print("\nGradient steps of each method (FetchPush, fast)", flush=True)
    reference = epoch(bench_learner("csd", "fast"))
    for method in ALGORITHMS:
        own, seconds = in_turns(reference, epoch(bench_learner(method, "fast")))
        print(
            f"  {method:<14}{1e3 * seconds:6.2f} ms  {1 / seconds:6.0f} updates/s  "
            f"{own / seconds:.2f} x the rate of csd",
            flush=True,
        )


def skill_rollouts() -> None:
    """Environment steps per second of plain skill rollouts and of collecting for a controller."""
    config = preset("FetchPush")
    learner = Learner(config, envs.spec("FetchPush"))
    skills = Skills(learner, learner.init(jax.random.key(0)), 0)
    codes = skills.sample(np.random.default_rng(0), ENVS)
    control = control_preset("FetchPushGoal", config, "skills")
    view, pool = open_view(control, skills, ENVS), envs.make("FetchPush", ENVS)
    agent = make_agent(control, view)
    policy = agent.snapshot(agent.init(jax.random.key(0)))
    noise = agent.draw(jax.random.key(1), np.arange(ENVS))

    def plain(seeds: list[int]) -> int:
        return int(collect(pool, config, skills.policy, seeds, codes, None).length.sum())

    def controlled(seeds: list[int]) -> int:
        return int(roll_out(view, policy_choice(agent, policy, noise), seeds).steps.sum())

    rates: dict[str, list[float]] = {"skills": [], "controller": []}
    for turn in range(ROUNDS):  # in turns, against drift of the machine
        seeds = list(range(turn * ENVS, (turn + 1) * ENVS))
        for name, work in (("skills", plain), ("controller", controlled)):
            start = time.perf_counter()
            steps = work(seeds)
            rates[name].append(steps / (time.perf_counter() - start))
    print(f"\nFetchPush, {ENVS} environments, untrained skills (steps per second)")
    own = max(rates["skills"])
    print(f"  {'plain skill rollouts':<44}{own:8.0f}")
    best_rate = max(rates["controller"])
    print(f"  {'collecting for a controller':<44}{best_rate:8.0f}   {best_rate / own:.0%}")
    pool.close()
    view.envs.close()


def start_up() -> None:
    """Seconds from `csd train` to the first progress line, cold and warm, and memory."""
    print("\nStart-up of `csd train FetchPush` (seconds to the first progress line)")
    with tempfile.TemporaryDirectory() as folder:
        for label in ("empty cache", "warm cache"):
            command = [sys.executable, "-m", "csd", "train", "FetchPush", "--episodes", "60"]
            command += [
                "--warmup-episodes",
                "20",
                "--run-dir",
                f"{folder}/{label.replace(' ', '-')}",
            ]
            start = time.perf_counter()
            process = subprocess.Popen(
                command,
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "CSD_CACHE": f"{folder}/cache"},
            )
            assert process.stderr is not None
            process.stderr.readline()
            print(f"  {label:<14}{time.perf_counter() - start:6.1f}")
            process.stderr.read()
            process.wait()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    print(f"  peak memory   {peak:6.2f} GB")


def in_own_process(part: str, threads: int) -> None:
    """A gradient benchmark under a number of XLA threads, which is fixed once XLA has started."""
    environment = {**os.environ, "NPROC": str(threads)}
    subprocess.run([sys.executable, __file__, part], env=environment, check=True)


def every_environment() -> None:
    """The environments that have a reference."""
    for name in REFERENCES:
        environments(name)


PARTS = {
    "environments": every_environment,
    "control": skill_rollouts,
    "gradient": gradient_steps,
    "methods": methods,
}
"""What can be measured by itself: `python benchmarks/run.py PART`."""


if __name__ == "__main__":
    if sys.argv[1:]:
        if sys.argv[1] not in PARTS:
            sys.exit(f"no part {sys.argv[1]!r}: choose one of {', '.join(PARTS)}")
        PARTS[sys.argv[1]]()
        sys.exit()
    python = platform.python_version()
    print("command: make bench")
    print(f"machine: {CORES} cores, {platform.machine()}, Python {python}, jax {jax.__version__}")
    every_environment()
    skill_rollouts()
    sys.stdout.flush()
    for threads in sorted({1, CORES}):
        in_own_process("gradient", threads)
    in_own_process("methods", 1)
    start_up()
