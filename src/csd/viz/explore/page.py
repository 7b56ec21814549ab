"""The page of `csd explore`: widgets and a scene around a player."""

import html
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from csd.envs.kitchen import TASKS
from csd.skills import Skills, load
from csd.stopping import Stop
from csd.viz.explore.controls import rgb, skill_name, skill_widgets
from csd.viz.explore.player import Newest, Path3D, Player, fan, roll_outs
from csd.viz.explore.server import Server, free_port
from csd.viz.explore.stage import Lines, look_down, look_from, make_view

FRAME = 1 / 30  # seconds between pictures, at least
REST = 0.5  # seconds that the end of an episode stays in view
LOOK = 3.0  # seconds between looks for a newer checkpoint
IDLE = 0.02  # seconds between looks for something to do


def explore(run: Path, port: int, host: str) -> None:
    """Serve the page until Ctrl-C."""
    port = free_port(host, port)
    skills = load(run)
    with Stop() as stop:
        server = Server(host, port)
        try:
            page = Page(server, skills, run)
            print(f"open {server.address} in a browser; Ctrl-C ends it", flush=True)
            while not stop.requested:
                page.turn()
        finally:
            server.stop()


class Page:
    """Widgets and scene around a player; everything is done in turns, by one thread.

    What people do in their browsers becomes a wish, and is done in the next turn.
    """

    def __init__(self, server: Server, skills: Skills, run: Path) -> None:
        self.player = Player(skills)
        self._server = server
        self._view, self._lines = make_view(server, self.player), Lines(server, skills)
        self._wishes: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._rng = np.random.default_rng()
        self._fan: Iterator[Path3D | None] = iter(())
        self._newest, self._loader = Newest(run, skills.episode), ThreadPoolExecutor(1)
        self._loading: Future[Skills | None] | None = None
        self._due = self._drawn = self._looked = 0.0
        self._changed = False
        self._build()
        self._draw()

    def turn(self) -> None:
        """Do what is wished and what is due; with nobody looking the world stands still."""
        now = time.monotonic()
        until = now + IDLE
        while not self._wishes.empty():
            self._wishes.get()()
            self._changed = True
        if self._server.get_clients():
            self._look_for_newer(now)
            if not self._pause.value:
                if now >= self._due:
                    self._step(now)
                until = min(self._due, until)
            self._spread(until)
            if self._changed and now - self._drawn >= FRAME:
                self._draw()
                self._drawn, self._changed = now, False
        time.sleep(max(0.0, until - time.monotonic()))

    def _step(self, now: float) -> None:
        self.player.step()
        pace = self.player.spec.step_seconds / self._speed.value
        late = now - self._due
        self._due = now + pace - (late if late < pace else 0.0)  # what is lost is not caught up
        if self.player.over:
            self._due += REST
        self._changed = True

    def _spread(self, until: float) -> None:
        """Time that is left goes to the skills that are rolled out beside the one in view."""
        for path in self._fan:
            if path is not None:
                self.player.keep(path)
                self._changed = True
            if time.monotonic() >= until:
                return

    def _look_for_newer(self, now: float) -> None:
        """A run in training: go on with its newest policy, read by a thread of its own."""
        if self._loading is not None and self._loading.done():
            self.player.skills = self._loading.result() or self.player.skills
            self._loading, self._changed = None, True
        if self._loading is None and not self._finished() and now - self._looked >= LOOK:
            self._looked, self._loading = now, self._loader.submit(self._newest.load)

    def _finished(self) -> bool:
        return self.player.skills.episode >= self.player.skills.config.episodes

    def _build(self) -> None:
        gui, player = self._server.gui, self.player
        self._facts = gui.add_html("")
        with gui.add_folder("Play"):
            self._pause = gui.add_checkbox("pause", False)
            self._speed = gui.add_slider("speed", 0.25, 4.0, 0.25, 1.0)
            self._follow = gui.add_checkbox("follow", self._view.follow, visible=self._view.follow)
            self._follow.on_update(lambda event: self._wish(self._go_along, event.client))
            self._buttons("episode", {"new start": lambda _: player.restart()})
        with gui.add_folder(f"Paths ({player.target})"):
            self._buttons(
                "show",
                {"all skills": self._roll_out, "from above": self._rise, "clear": self._clear},
            )
        with gui.add_folder("Skill"):
            show = skill_widgets(
                self._server, player.skills, lambda skill: self._wish(player.choose, skill)
            )
            self._buttons("any", {"random skill": lambda _: surprise()})

        def surprise() -> None:
            player.choose(player.skills.sample(self._rng))
            show(player.skill)

        show(player.skill)

    def _wish(self, do: Callable[[Any], None], value: Any) -> None:
        self._wishes.put(lambda: do(value))

    def _buttons(self, label: str, actions: dict[str, Callable[[Any], None]]) -> None:
        """A row of buttons; an action gets the browser in which its button was pressed."""
        group = self._server.gui.add_button_group(label, list(actions))
        group.on_click(lambda event: self._wish(actions[event.target.value], event.client))

    def _roll_out(self, client: Any) -> None:
        """Every skill there is, or a fan of them, from the start of the present episode."""
        skills = self.player.skills
        self._fan = roll_outs(Player(skills, self.player.start), fan(skills))

    def _clear(self, client: Any) -> None:
        self._fan = iter(())
        self.player.paths = []

    def _rise(self, client: Any) -> None:
        """Look down on all paths; the view must stand still for that."""
        self._follow.value = self._view.follow = False
        if client is None:  # gone already
            return
        paths = [self.player.path, *self.player.paths]
        look_down(client.camera, np.concatenate([path.points for path in paths]))

    def _go_along(self, client: Any) -> None:
        """Travel with the body, or stop doing so."""
        self._view.follow = self._follow.value
        if client is not None and self._view.follow:
            look_from(client.camera, self._view.camera)

    def _draw(self) -> None:
        with self._server.atomic():
            self._view.draw(self.player)
            self._lines.draw(self.player)
            facts = self._describe()
            if facts != self._facts.content:
                self._facts.content = facts

    def _describe(self) -> str:
        player, config = self.player, self.player.skills.config
        red, green, blue = rgb(player.skills, player.skill)[0]
        trained = f"{player.skills.episode:,} episodes"
        if not self._finished():
            trained += f" of {config.episodes:,}; a newer checkpoint is picked up as it comes"
        rows = {
            "environment": html.escape(config.env),
            "method": f"{config.method}, seed {config.seed}",
            "trained": trained,
            "skill": f'<span style="color: rgb({red}, {green}, {blue})">&#9632;</span> '
            + skill_name(player.skills, player.skill),
            "step": f"{player.steps} of {player.spec.horizon}",
            "moved": f"{player.moved:.2f} m ({html.escape(player.target)})",
        }
        if player.spec.family == "kitchen":
            rows["done"] = ", ".join(task for task in TASKS if task in player.done) or "nothing yet"
        lines = (f"<b>{name}</b> {value}" for name, value in rows.items())
        return f'<div style="padding: 0.5em 1em">{"<br>".join(lines)}</div>'
