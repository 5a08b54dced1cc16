"""How a run's progress is shown on stderr: a line per session, and one for the whole.

Policy: at a terminal the line for the whole is redrawn in place. Elsewhere, as in the log of a CI job, it is printed
after every tenth of the sessions.
"""

import shutil
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from sandbox_mcp.shown import control, one_line

if TYPE_CHECKING:
    from sandbox_mcp.run.progress import Progress, RunTally

REDRAWN = 0.2
"""Seconds between two drawings of the line for the whole, at least."""
CLEAR = "\r\x1b[2K"
TENTHS = 10


@dataclass(slots=True)
class Display:
    """Shows every session that is done."""

    quiet: bool = False
    terminal: bool = field(default_factory=lambda: sys.stderr.isatty())
    _drawn: float = -REDRAWN
    _tenths: int = 0

    def show(self, progress: "Progress", tally: "RunTally") -> None:
        """Show one session, and the whole if it is time."""
        if self.quiet:
            return
        if not self.terminal:
            click.echo(session_line(progress), err=True)
            self._report(progress, tally)
            return
        now = time.monotonic()
        whole = progress.done == progress.total
        if whole or now - self._drawn >= REDRAWN:
            self._drawn = now
            control(CLEAR)
            room = shutil.get_terminal_size().columns - 1  # a line that wraps could not be redrawn in place
            click.echo(f"{session_line(progress)}\n{tally.line()[:room]}", err=True, nl=whole)
        else:
            control(CLEAR)
            click.echo(session_line(progress), err=True)

    def _report(self, progress: "Progress", tally: "RunTally") -> None:
        """Print the whole when another tenth is done, but not for a handful of sessions."""
        tenths = progress.done * TENTHS // progress.total
        if tenths > self._tenths and progress.total >= TENTHS:
            self._tenths = tenths
            click.echo(tally.line(), err=True)


def session_line(progress: "Progress") -> str:
    """One session that is done."""
    score = progress.score
    value = score.value(progress.metric)
    unscored = "spoiled by its user" if score.spoiled else "not scored"
    came = unscored if value is None else f"{value:.3f}"
    how = score.ending if progress.played else f"{score.ending}, played before"
    which = f"{score.scenario} {score.variant} t{score.trial}"
    return one_line(f"[{progress.done}/{progress.total}] {which}: {came} ({how})")
