"""Progress on stderr: one line for the whole, and one per session where those are few.

Policy: at a terminal the line for the whole is redrawn in place. Elsewhere, as in the log of a CI job, it is printed
after every tenth of the sessions. Faults of endpoints are told as they happen, the same one at most every few seconds.
"""

import logging
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from sandbox_mcp.app.cli.printing import SCREENFUL
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.shown import control, one_line
from sandbox_mcp.engine.trajectory.events import INFRASTRUCTURE

if TYPE_CHECKING:
    from sandbox_clients.base import Agent

    from sandbox_mcp.app.run.progress import Progress, RunTally

REDRAWN = 0.2
"""Seconds between two drawings of the line for the whole, at least."""
RESTS = 50
"""How many times as long as a drawing takes the next one waits: it sums up all sessions that are done."""
CLEAR = "\r\x1b[2K"
TENTHS = 10
RETOLD = 5.0
"""Seconds before another further try of the same endpoint is told."""
FIRST_FAILURES = 3
"""So many sessions that failed are told where sessions are too many for a line each."""
MANY = 100
"""Of fewer pieces of work, where each takes no time to speak of, no progress is shown."""


def can_redraw() -> bool:
    """True if a line on stderr can be drawn again in its place: at a terminal that does not call itself dumb."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@dataclass(slots=True)
class Display:
    """Shows how far a run is, and every finished session where those are few or ``every`` one is asked for."""

    quiet: bool = False
    every: bool = False
    terminal: bool = field(default_factory=can_redraw)
    _due: float = -math.inf
    _tenths: int = 0
    _failures: int = 0
    _retold: float = -math.inf

    def begin(self, agent: "Agent", scenarios: int) -> None:
        """Name the model or service that is asked, whose first answer may be long in coming."""
        about = agent.describe()
        asked = about.get("address") or about.get("base_url")
        if asked and not self.quiet:
            model = f", {about['model']}" if about.get("model") else ""
            told = f"playing {counted(scenarios, 'scenario')} with {agent.name}{model} at {asked}"
            click.echo(one_line(told), err=True)

    def show(self, progress: "Progress", tally: "RunTally") -> None:
        """Show one session, and the whole if it is time."""
        if self.quiet:
            return
        broke = progress.played and progress.score.ending in INFRASTRUCTURE
        self._failures += broke
        listed = self.every or progress.total <= SCREENFUL or (broke and self._failures <= FIRST_FAILURES)
        shown = f"{session_line(progress)}\n" if listed else ""
        if not self.terminal:
            click.echo(shown, err=True, nl=False)
            tenths = progress.done * TENTHS // progress.total
            if tenths > self._tenths and progress.total >= TENTHS:  # but not for a handful of sessions
                self._tenths = tenths
                click.echo(tally.line(), err=True)
            return
        now = time.monotonic()
        whole = progress.done == progress.total
        if whole or now >= self._due:
            control(CLEAR)
            room = shutil.get_terminal_size().columns - 1  # a line that wraps could not be redrawn in place
            click.echo(f"{shown}{tally.line()[:room]}", err=True, nl=whole)
            taken = time.monotonic() - now
            self._due = now + max(REDRAWN, RESTS * taken)
        elif shown:
            control(CLEAR)
            click.echo(shown, err=True, nl=False)

    @contextmanager
    def retries(self) -> Generator[None]:
        """While the context is open, show the further tries of models that do not answer."""
        from sandbox_mcp.play.models import retrying

        told = _Told(self._retry)
        level = retrying.logger.level
        retrying.logger.addHandler(told)
        retrying.logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            retrying.logger.removeHandler(told)
            retrying.logger.setLevel(level)

    def _retry(self, told: str) -> None:
        now = time.monotonic()
        if self.quiet or now - self._retold < RETOLD:
            return
        self._retold = now
        if self.terminal:
            control(CLEAR)
        click.echo(one_line(told), err=True)


class _Told(logging.Handler):
    """Passes messages on to a function."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())


def counting(what: str, *, quiet: bool = False, many: int = MANY) -> Callable[[int, int], None]:
    """Shows on stderr how far work of ``many`` pieces is: redrawn at a terminal, elsewhere after every tenth of it."""
    last = [time.monotonic(), 0]

    def show(done: int, of: int) -> None:
        if quiet or of < many:
            return
        now, whole = time.monotonic(), done == of
        if can_redraw():
            if whole or now - last[0] >= REDRAWN:
                last[0] = now
                control(CLEAR)
                click.echo("" if whole else f"{what} {done} of {of}", err=True, nl=False)
        elif done * TENTHS // of > last[1]:
            last[1] = done * TENTHS // of
            click.echo(f"{what} {done} of {of}", err=True)

    return show


def session_line(progress: "Progress") -> str:
    """One finished session."""
    score = progress.score
    value = score.value(progress.metric)
    kept = score.number(progress.metric) if score.filled else None
    apart = "kept apart, filled in by a model" + (f", {kept:.3f}" if kept is not None else "")
    unscored = "spoiled by its user" if score.spoiled else apart if score.filled else "not scored"
    came = unscored if value is None else f"{value:.3f}"
    how = score.ending if progress.played else f"{score.ending}, played before"
    if score.ending in INFRASTRUCTURE and score.detail:
        how += f": {score.detail}"
    which = f"{score.scenario} {score.variant} t{score.trial}"
    return one_line(f"[{progress.done}/{progress.total}] {which}: {came} ({how})")
