"""Work and time of a run."""

import time
from typing import Any


class Clock:
    """Counts work and time, also across resumes."""

    def __init__(self, seconds: float = 0.0, env_steps: int = 0, updates: int = 0) -> None:
        self._start = time.monotonic() - seconds
        self.env_steps, self.updates = env_steps, updates
        self._last = (time.monotonic(), env_steps, updates)

    def add(self, env_steps: int, updates: int) -> None:
        """Count an epoch's work."""
        self.env_steps += env_steps
        self.updates += updates

    def seconds(self) -> float:
        """Time spent on the run so far."""
        return time.monotonic() - self._start

    def row(self) -> dict[str, Any]:
        """Totals, and rates since the last row."""
        now = time.monotonic()
        then, steps, updates = self._last
        self._last = (now, self.env_steps, self.updates)
        span = max(now - then, 1e-9)
        return {
            "env_steps": self.env_steps,
            "updates": self.updates,
            "seconds": round(self.seconds(), 3),
            "steps_per_second": round((self.env_steps - steps) / span, 1),
            "updates_per_second": round((self.updates - updates) / span, 1),
        }
