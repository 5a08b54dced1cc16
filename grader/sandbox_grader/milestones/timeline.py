"""A session as the sequence of events that milestones are matched with, and the state of the world after each.

Policy: states are rebuilt from the recorded changes alone. Indexes count from the user's first message to the agent;
what the scenario calls the start is the state before it.
"""

from collections.abc import Sequence

from sandbox_scenarios.stage import home_of

from sandbox_grader.milestones.row_versions import Life, lives
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory
from sandbox_mcp.engine.world.state import Change, Row, Rows, Snapshot, fold


class Timeline:
    """The candidate range of one session.

    ``events`` are those of the range; without a word of the user these are all. ``initial`` is the state before any
    event, ``start`` that before the range. ``zone`` is where its local times are read. Versions of a table count from
    0, the start; equal tables may have several.
    """

    def __init__(self, trajectory: Trajectory, home: World | None = None) -> None:
        """``home`` is the scenario's world, where known; else it is the one that the log names."""
        first = opening_index(trajectory) or 0
        self.initial = Snapshot(trajectory.started.world or {})
        self.start = fold(self.initial, _changes(trajectory.events[:first]))
        self.events = trajectory.events[first:]
        self.zone = str(trajectory.started.clock.get("zone") or "UTC")
        self._home = home
        self._started = trajectory.started
        self._versions: dict[str, tuple[list[int], list[Rows]]] = {}
        self._lives: dict[str, Sequence[Life]] = {}
        self._calls: dict[str, list[tuple[int, ToolCall]]] = {}
        self._messages: dict[tuple[str, str], list[tuple[int, Message]]] = {}
        self._changes: dict[str, list[tuple[int, Change]]] = {}
        changes = list[Change]()
        for index, event in enumerate(self.events):
            if isinstance(event, Message):
                self._messages.setdefault((event.sender, event.recipient), []).append((index, event))
                continue
            if event.caller == "agent":
                self._calls.setdefault(event.called, []).append((index, event))
            for change in event.changes:
                self._changes.setdefault(change.table, []).append((index, change))
                changes.append(change)
        self.end = fold(self.start, changes)

    @property
    def home(self) -> World:
        """The world that the session was played in.

        Raises:
            UnknownWorldError: it is not installed here.
        """
        return self._home or home_of(self._started)

    def versions(self, table: str) -> Sequence[int]:
        """The number of a table's version after each event."""
        return (self._versions.get(table) or self._numbered(table))[0]

    def tables(self, name: str) -> Sequence[Rows]:
        """The rows of every version by id."""
        return (self._versions.get(name) or self._numbered(name))[1]

    def calls(self, tool: str) -> Sequence[tuple[int, ToolCall]]:
        """The agent's calls of a tool, with their indexes. A tool that was not offered goes by what it was called."""
        return self._calls.get(tool, ())

    def messages(self, sender: str, recipient: str) -> Sequence[tuple[int, Message]]:
        """The messages from one to another, with their indexes."""
        return self._messages.get((sender, recipient), ())

    def lives(self, table: str) -> Sequence[Life]:
        """All rows that the table held after any event, and at the start."""
        if table not in self._lives:
            versions, tables = self.versions(table), self.tables(table)
            changes = [(versions[index], change) for index, change in self._changes.get(table, ())]
            self._lives[table] = lives(tables[0], changes, len(tables))
        return self._lives[table]

    def _numbered(self, name: str) -> tuple[list[int], list[Rows]]:
        tables, numbers, length = [self.start.table(name)], list[int](), len(self.events)
        edited, edited_at = dict[str, Row](), -1
        for index, change in self._changes.get(name, ()):
            if index != edited_at:  # all changes of one event make one version
                numbers += [len(tables) - 1] * (index - len(numbers))
                edited, edited_at = dict(tables[-1]), index
                tables.append(edited)
            if change.after is None:
                edited.pop(change.key, None)
            else:
                edited[change.key] = change.after
        numbers += [len(tables) - 1] * (length - len(numbers))
        self._versions[name] = (numbers, tables)
        return numbers, tables


def opening_index(trajectory: Trajectory) -> int | None:
    """The position of the user's first message to the agent, if there is one."""
    for index, event in enumerate(trajectory.events):
        if isinstance(event, Message) and event.sender == "user" and event.recipient == "agent":
            return index
    return None


def _changes(events: Sequence[Message | ToolCall]) -> list[Change]:
    return [change for event in events if isinstance(event, ToolCall) for change in event.changes]


def turn_count(trajectory: Trajectory) -> int:
    """The number of turns as ToolSandbox counts them.

    Every message that the agent sends or receives, a call of the agent as two (the call and its result). The user's
    opening is part of the scenario and not counted; neither is what passes between the user and the environment, nor
    anything of the system.

    Source: ToolSandbox, section 5.
    """
    first, turns = opening_index(trajectory), 0
    for index, event in enumerate(trajectory.events):
        if isinstance(event, ToolCall):
            turns += 2 * (event.caller == "agent")
        elif index != first and event.sender != "system" and tuple(event.visible_to) != ("user",):
            turns += {event.sender, event.recipient} != {"user", "environment"}
    return turns
