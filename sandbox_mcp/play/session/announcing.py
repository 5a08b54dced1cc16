"""Events that fall due in the world of a session while it goes on, and are told to its agent.

Policy: the world has its say after every batch of calls, with the user's word for it where there is one, and after
every exchange with the user. What has fallen due by then happens at once and takes no time, and is told with whatever
the agent hears next.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox_scenarios.stage import NOTHING, FallenDue, Stage

from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.play.session.recording import Recorder


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was announced in the world, and when, in seconds since 1970 by the virtual clock."""

    timestamp: float
    text: str


class Announcements:
    """All that has been announced in a session; ``on_notice`` is called for each notice."""

    __slots__ = ("_began", "_happened", "_recorder", "_since", "_stage", "_untold", "notices", "on_notice")

    def __init__(self, stage: Stage, recorder: Recorder) -> None:
        self.notices: list[Notice] = []
        self.on_notice: Callable[[], None] = lambda: None
        self._stage = stage
        self._recorder = recorder
        self._untold: list[str] = []
        self._began = False
        self._since = stage.now
        self._happened: set[FallenDue] = set()

    def let_happen(self) -> None:
        """Let everything happen that has fallen due since the last call, and announce it.

        Raises:
            WorldFailedError: the world's own code broke.
            OSError: it cannot be recorded.
        """
        now = self._stage.now
        for due, outcome, notice in self._stage.let_happen(self._since, self._happened):
            if outcome.changes:
                self._recorder.call(due.name, outcome, now, NOTHING, "environment")
            if notice is not None:
                self._recorder.message("environment", "agent", notice, now, due.meta)
                self._untold.append(notice)
                self.notices.append(Notice(now, notice))
                self.on_notice()
        self._had_its_say(now)

    def take(self) -> list[str]:
        """Take the events that the agent has yet to be told, which counts as told from now on."""
        taken, self._untold = self._untold, []
        return taken

    def give_back(self, unheard: Iterable[str]) -> None:
        """Have notices that were taken, and not heard after all, told first."""
        self._untold[:0] = unheard

    def recall(self, event: Message | ToolCall, before: Message | ToolCall | None) -> None:
        """Take up an event of a log, and set the clock to when it was over; ``before`` is the event before it."""
        if _begins_anew(event, before):
            if self._began:  # before the first batch or exchange the world has not had its say
                self._had_its_say(self._stage.now)
            self._began = True
        self._stage.set_time(event.clock + float(event.meta.get("waited", 0.0)))
        self._happened.update(self._stage.happened(event))
        if isinstance(event, Message) and event.sender == "environment":
            self.notices.append(Notice(event.clock, event.content))

    def _had_its_say(self, now: float) -> None:
        self._stage.happenings.look(self._stage.state, now)
        self._since = now
        self._happened.clear()


def _begins_anew(event: Message | ToolCall, before: Message | ToolCall | None) -> bool:
    """True if the world was asked for what has fallen due between two recorded events, if there was no crash.

    What followed last may have been cut short, so what was due since then has to be looked at again.
    """
    if isinstance(event, Message):
        return event.sender == "agent"
    if event.caller == "environment":
        return False
    if event.caller == "agent":
        return not (isinstance(before, ToolCall) and (before.caller == "user" or before.batch == event.batch))
    if isinstance(before, ToolCall):
        return before.caller != "user"
    return before is None or before.sender != "agent"
