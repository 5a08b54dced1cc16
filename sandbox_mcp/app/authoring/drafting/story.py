"""A recorded session as a story: what the user said, what the agent then did, and what it answered.

Policy: only calls that succeeded are part of the story, and those that waited for the user's confirmation, because a
reference solution has to make them too. What failed is named in the notes and left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandbox_scenarios.stage import home_of

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.tools import Tool, World
from sandbox_mcp.engine.trajectory import Message, SessionStarted, ToolCall, Trajectory
from sandbox_mcp.engine.world import Snapshot, fold, snapshot_of

CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One call of the story: its number from 0, the turn it belongs to, the event, and the tool called."""

    number: int
    turn: int
    event: ToolCall
    tool: Tool

    @property
    def result(self) -> Any:
        """Result of the call; of one that waits for confirmation, its code."""
        code = self.event.meta.get(CONFIRMATION)
        return {"code": code} if code else self.event.result


@dataclass(frozen=True, slots=True)
class StoryTurn:
    """One turn: acts and words of the user, the calls that followed, the reply, and the world after the turn."""

    said: str
    steps: tuple[StoryStep, ...]
    reply: str
    state: Snapshot
    acts: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class DraftStory:
    """A whole session."""

    started: SessionStarted
    turns: tuple[StoryTurn, ...]
    left_out: tuple[ToolCall, ...]
    home: World

    @cached_property
    def steps(self) -> tuple[StoryStep, ...]:
        """All calls in order."""
        return tuple(step for turn in self.turns for step in turn.steps)

    @cached_property
    def start(self) -> Snapshot:
        """The world before anything happened."""
        return snapshot_of(self.started.world or {})

    @property
    def stateless(self) -> bool:
        """True if the log has no state, so that deeds are seen in the calls alone."""
        return self.started.world is None

    @property
    def end(self) -> Snapshot:
        """The world at the end."""
        return self.turns[-1].state

    @property
    def zone(self) -> str:
        """The zone of the world's clock."""
        return str(self.started.clock["zone"])

    def said_until(self, turn: int) -> str:
        """Everything the user had said by then."""
        return "\n".join(item.said for item in self.turns[: turn + 1])


def story_of(trajectory: Trajectory, home: World | None = None) -> DraftStory:
    """The story of a session, played in ``home`` where the log itself recorded no state.

    Raises:
        RunError: the log recorded no state and no home is given, or it holds no message.
        UnknownWorldError: its world is not installed here.
    """
    started = trajectory.started
    if started.world is None and home is None:
        raise RunError(f"the log {trajectory.path or started.session!r} recorded no state, so nothing can be drafted")
    home, state = home or home_of(started), snapshot_of(started.world or {})
    turns, left_out = list[StoryTurn](), list[ToolCall]()
    said, acts, steps = list[str](), list[ToolCall](), list[StoryStep]()

    def close(reply: str) -> None:
        if said or turns:
            turns.append(StoryTurn("\n".join(said), tuple(steps), reply, state, tuple(acts)))
        said.clear()
        acts.clear()
        steps.clear()

    for event in trajectory.events:
        if isinstance(event, Message):
            heard = {("user", "agent"): said.append, ("agent", "user"): close}.get((event.sender, event.recipient))
            if heard:
                heard(event.content)
            continue
        state = fold(state, event.changes)
        if event.caller == "user" and event.tool in home.user_acts and event.error is None:
            acts.append(event)
        elif event.caller == "agent":
            tool = home.agent_tools.get(event.tool or "")
            if tool is None or (event.error is not None and CONFIRMATION not in event.meta):
                left_out.append(event)
            else:
                number = sum(len(turn.steps) for turn in turns) + len(steps)
                steps.append(StoryStep(number, len(turns), event, tool))
    if steps:
        close("Done.")
    if not turns:
        raise RunError(f"in the log {trajectory.path or started.session!r} the user says nothing to the agent")
    return DraftStory(started, tuple(turns), tuple(left_out), home)


def refused(events: Iterable[ToolCall], kind: str) -> bool:
    """True if some call was refused with an error of that name."""
    return any(event.error is not None and event.error.type == kind for event in events)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterable[tuple[tuple[str | int, ...], Any]]:
    """Every plain value in a result, with the path that leads to it."""
    if isinstance(value, Mapping):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from leaves(item, (*path, str(key)))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from leaves(item, (*path, position))
    else:
        yield path, value
