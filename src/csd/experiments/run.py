"""Where trainings run: here one after the other, in several processes, or on a Ray cluster."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from csd import cores
from csd.errors import UserError
from csd.experiments.job import Outcome, encode, perform
from csd.experiments.plan import Job

Run = Callable[[Sequence[Job]], Iterator[Outcome]]
"""Jobs -> outcomes as they come. Interrupted, it lets what is at work write its checkpoint."""


def here(quiet: bool = False) -> Run:
    """One after the other in this process, up to the first that is stopped."""

    def run(jobs: Sequence[Job]) -> Iterator[Outcome]:
        import jax

        for job in jobs:
            outcome = perform(job, quiet=quiet)
            yield outcome
            if outcome.state == "stopped":
                return
            jax.clear_caches()

    return run


def in_processes(count: int) -> Run:
    """`count` at a time, each in a process of its own, which share the cores."""
    each = max(1, cores.usable() // count)

    def run(jobs: Sequence[Job]) -> Iterator[Outcome]:
        started: list[subprocess.Popen[bytes]] = []
        stop = threading.Event()
        with ThreadPoolExecutor(count) as pool:
            work = [pool.submit(_in_process, job, each, started, stop) for job in jobs]
            try:
                for future in as_completed(work):
                    yield future.result()
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                for process in started:
                    process.terminate()
                raise

    return run


def _in_process(
    job: Job, threads: int, started: list[subprocess.Popen[bytes]], stop: threading.Event
) -> Outcome:
    """A Python of its own, out of reach of the terminal's Ctrl-C: it is told once, by us."""
    process = subprocess.Popen(
        [sys.executable, "-m", "csd.experiments.job", str(threads)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    started.append(process)
    if stop.is_set():
        process.terminate()
    out, err = process.communicate(encode(job))
    try:
        return Outcome(job.run, *json.loads(out.splitlines()[-1]))
    except (IndexError, ValueError):
        last = (err.decode(errors="replace").strip().splitlines() or ["nothing said"])[-1]
        return Outcome(job.run, "failed", f"its process ended with {process.returncode}: {last}")


def on_ray(address: str, cpus: int) -> Run:
    """Each a Ray task of `cpus` cores; the run directory must be one that all machines see."""
    try:
        import ray
    except ImportError:
        raise UserError("--ray needs Ray: install it with `pip install 'csd[ray]'`") from None

    def run(jobs: Sequence[Job]) -> Iterator[Outcome]:
        if not jobs:
            return
        if not ray.is_initialized():
            _connect(ray, address)
        most = max(node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"])
        if cpus > most:
            raise UserError(f"no machine of the Ray cluster has {cpus} cores: at most {most:g}")
        task = ray.remote(num_cpus=cpus, max_calls=1)(_on_worker)
        waiting = {task.remote(job, cpus): job for job in jobs}
        try:
            while waiting:
                for done in ray.wait(list(waiting))[0]:
                    yield _outcome(ray, done, waiting.pop(done))
        except BaseException:
            for reference in waiting:
                ray.cancel(reference, recursive=False)
            ray.wait(list(waiting), num_returns=len(waiting), timeout=60.0)
            raise

    return run


def _connect(ray: Any, address: str) -> None:
    """Start Ray on this machine (`local`) or join a cluster, until this process ends."""
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", include_dashboard=None)
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"cannot join the Ray cluster at {address!r}: {reason}") from None


def _on_worker(job: Job, cpus: int) -> Outcome:
    os.environ[cores.LEARNER] = str(cpus)
    return perform(job, cpus, quiet=True)


def _outcome(ray: Any, reference: Any, job: Job) -> Outcome:
    try:
        outcome = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Outcome(job.run, "failed", f"Ray: {str(error).splitlines()[0]}")
    if outcome.state == "finished" and not job.run.exists():
        lost = "its files are not to be seen here: give a --run-dir that all machines share"
        return Outcome(job.run, "failed", lost)
    return outcome
