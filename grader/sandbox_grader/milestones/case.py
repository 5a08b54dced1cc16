"""Input of ToolSandbox's evaluator in a neutral form: tables, messages with their calls, and two graphs.

Policy: positions, not ids, name rows, as in that evaluator; nothing here knows of scenarios or of our logs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

STATE_TABLES = ("setting", "contact", "messaging", "reminder")
"""The tables that guardrails watch."""
MESSAGES = "messages"
"""The pseudo table whose state at an index is the one message with that index."""
LO = -1
"""As a reference: the state at the first index of the candidate range."""

Cells = Mapping[str, Any]
ConstraintKind = Literal["snapshot", "addition", "removal", "update", "guardrail", "trace_dependent"]
ColumnMeasure = Literal["exact", "contains", "close", "one", "rouge_l", "trace_exact", "one_of", "set", "mentions"]


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as recorded on a message."""

    tool: str
    arguments: Mapping[str, Any]
    result: Any = None


@dataclass(frozen=True, slots=True)
class RowChange:
    """One change of a table; ``position`` counts from 0 at that moment."""

    table: str
    kind: Literal["add", "remove", "update"]
    position: int
    after: Cells | None = None


@dataclass(frozen=True, slots=True)
class CaseMessage:
    """One message. ``calls`` None means that none were recorded; ``changes`` are visible at the message's own index."""

    sender: str
    recipient: str
    content: str
    visible_to: tuple[str, ...] | None
    calls: tuple[RecordedCall, ...] | None = None
    changes: tuple[RowChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """Measure of a column. ``tolerance`` is a number, or for ``trace_exact`` one number per argument."""

    measure: ColumnMeasure
    tolerance: Any = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """One value taken from a call: from where, along which path, converted how, stored under which name.

    With ``decimals`` the number is written with each of these numbers of decimals.
    """

    source: Literal["arguments", "result"]
    path: tuple[str | int, ...]
    to: str
    convert: Literal["raw", "float", "int", "text"] = "raw"
    decimals: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseConstraint:
    """One constraint on one table; ``reference`` is None, ``LO`` or the number of an ancestor node."""

    table: str
    kind: ConstraintKind
    rows: tuple[Cells, ...] = ()
    reference: int | None = None
    measures: Mapping[str, Measured] | None = None
    fill: Literal["tool_calls", "content"] | None = None
    extract: tuple[Extraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One milestone or minefield. ``guarded`` None means all state tables but those ``unguarded``."""

    constraints: tuple[CaseConstraint, ...]
    guarded: tuple[str, ...] | None = None
    unguarded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by number and directed edges ``(before, after)``; None means that each node follows the one before it."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...] | None = None

    def order(self) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
        """The nodes that take part, and their edges.

        A single node always takes part; of several only those that an edge names.
        """
        size = len(self.nodes)
        if size == 1:
            return (0,), ()
        edges = tuple((node, node + 1) for node in range(size - 1)) if self.edges is None else self.edges
        return tuple(sorted({node for edge in edges for node in edge})), edges


@dataclass(frozen=True, slots=True)
class Case:
    """One session with its demands."""

    tables: Mapping[str, Sequence[Cells]]
    messages: tuple[CaseMessage, ...]
    milestones: Graph
    minefields: Graph = Graph(())

    def first_index(self) -> int:
        """The first message of the user that others see; the candidate range ends with the last message.

        A session in which the user never speaks is judged from its first message on.
        """
        for index, message in enumerate(self.messages):
            if message.sender == "user" and message.visible_to != ("user",):
                return index
        return 0

    def turn_count(self) -> int:
        """The messages that count as turns: those of user, agent and environment that the agent takes part in."""
        return sum(
            message.sender != "system"
            and {message.sender, message.recipient} != {"user", "environment"}
            and message.visible_to not in (None, ("user",))
            for message in self.messages
        )
