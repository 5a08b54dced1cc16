"""The agent's calls: what it sent, which tool that means, whether it may run, and what the agent gets to see of it.

Policy: calls that were sent together are all checked before the first one runs, and then run in the order that loses
every race between them, see ``sandbox_mcp.engine.tools.races``. What a variant hides is hidden in every result.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox_scenarios.stage import NOTHING, Stage
from sandbox_scenarios.variants import actions, variant_named

from sandbox_mcp.engine.tools import Bound, Outcome, PresentedTool, bind, speak
from sandbox_mcp.engine.tools.free_text import unpack
from sandbox_mcp.engine.tools.injected import CUT, INJECTED
from sandbox_mcp.engine.world.faults import Telling
from sandbox_mcp.play.session.opening import SessionSpec
from sandbox_mcp.play.telemetry.requests import REQUEST, RequestTrace

RACED: Mapping[str, Any] = {"race": True}


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call as the agent sent it; ``meta`` is recorded with it, and ``request`` is what telemetry knows of it."""

    name: str
    arguments: object
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    request: RequestTrace | None = field(default_factory=REQUEST.get, compare=False)


def with_notices(text: str, notices: Iterable[str]) -> str:
    """A text that an agent gets, with what has been announced since it last heard from the world, a line each."""
    return "\n".join([text, *(f"Notice: {notice}" for notice in notices)])


@dataclass(frozen=True, slots=True)
class CallResult:
    """Result for a caller: one JSON object, or an error text."""

    structured: Mapping[str, Any]
    error: str | None = None

    def with_notices(self, notices: Sequence[str]) -> "CallResult":
        """A copy that also tells what has been announced since the agent last heard from the world."""
        if not notices:
            return self
        if self.error is not None:
            return replace(self, error=with_notices(self.error, notices))
        return CallResult({**self.structured, "notices": [*self.structured.get("notices", ()), *notices]})

    @property
    def text(self) -> str:
        """The error, or exactly the JSON of ``structured``."""
        return (
            self.error
            if self.error is not None
            else json.dumps(self.structured, ensure_ascii=False, separators=(",", ":"))
        )


@dataclass(frozen=True, slots=True)
class Unconfirmed(CallResult):
    """The refusal of a call that would pass if the user confirmed it. ``notices`` are those that its text tells of."""

    code: str = ""
    notices: tuple[str, ...] = ()

    def with_notices(self, notices: Sequence[str]) -> CallResult:
        """A copy that keeps what has been announced with the refusal."""
        return replace(CallResult.with_notices(self, notices), notices=(*self.notices, *notices))


@dataclass(frozen=True, slots=True)
class ClosedConnection(CallResult):
    """The error of a call whose connection is to be closed instead; agents without a connection are told it."""


@dataclass(frozen=True, slots=True)
class Due:
    """A call whose turn it is: its place among those sent together, its name, and how its checks came out."""

    index: int
    name: str
    checked: Bound | Outcome
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


class AgentCalls:
    """Calls that can be made in one session, their names, and their obstacles."""

    def __init__(self, spec: SessionSpec, tools: Mapping[str, PresentedTool], stage: Stage) -> None:
        """``tools`` are those that the agent sees, which in free text are not those that it can use."""
        scenario, variant = spec.scenario, variant_named(spec.variant)
        self._free_text = variant.free_text
        self._told: Telling = variant.told
        self._stage = stage
        self.actions = actions(scenario, spec.variant) if variant.free_text else tools
        self._slow = frozenset(name for name, tool in self.actions.items() if tool.tool.slow)
        shown = {tool.tool.name: name for name, tool in self.actions.items()}
        stage.gates.call_tools(lambda name: shown.get(name, name))

    def slow(self, calls: Sequence[AgentCall]) -> list[Bound]:
        """The calls, of those given, that may take long the first time, and ask only for the remembered result."""
        if not self._slow:
            return []
        named = [item for item in map(self._named, calls) if not isinstance(item, Outcome)]
        checked = [bind(self.actions, *item) for item in named if item[0] in self._slow]
        return [item for item in checked if isinstance(item, Bound)]

    def _named(self, call: AgentCall) -> tuple[str, object] | Outcome:
        """The tool that a call is of and its arguments, or the fault of a call in free text."""
        return unpack(call.name, call.arguments, self.actions) if self._free_text else (call.name, call.arguments)

    def due(self, calls: Sequence[AgentCall]) -> list[Due]:
        """Calls that were sent together, all checked, in the order in which they are to run."""
        named = [self._named(call) for call in calls]
        checked = [item if isinstance(item, Outcome) else bind(self.actions, *item) for item in named]
        names = [calls[i].name if isinstance(item, Outcome) else item[0] for i, item in enumerate(named)]
        runnable = [index for index, item in enumerate(checked) if isinstance(item, Bound)]
        schedule = self._stage.plan([item for item in checked if isinstance(item, Bound)])
        order = [*(runnable[i] for i in schedule.order), *(i for i in range(len(calls)) if i not in runnable)]
        racing = {runnable[i] for i in schedule.racing}
        return [Due(i, names[i], checked[i], RACED if i in racing else NOTHING) for i in order]

    def carry_out(self, due: Due) -> tuple[Outcome, Mapping[str, Any]]:
        """Run a call, unless its checks or a gate refuse it; returns the outcome, and what the log should add to it."""
        if isinstance(due.checked, Outcome):
            return self._spoken(due.name, due.checked), due.meta
        outcome, meta = self._stage.run(due.checked)
        return self._spoken(due.name, outcome), {**meta, **due.meta}

    def _spoken(self, name: str, outcome: Outcome) -> Outcome:
        """The outcome with its error in the words of this presentation."""
        tool = self.actions.get(name)
        if outcome.fault is None or tool is None:
            return outcome
        shown = {canonical: presented for presented, canonical in tool.names.items()}
        return replace(outcome, fault=replace(outcome.fault, message=speak(outcome.fault.message, shown)))

    def shown(self, outcome: Outcome, meta: Mapping[str, Any]) -> CallResult:
        """Result that the agent gets to see of an outcome that was recorded with ``meta``."""
        fault = outcome.fault
        if fault:
            text = fault.told(self._told)
            if meta.get(INJECTED) == "dropped":
                return ClosedConnection({}, text)
            return Unconfirmed({}, text, meta["confirmation"]) if "confirmation" in meta else CallResult({}, text)
        wrapped = self._free_text or outcome.tool is None or outcome.tool.wrapped
        result = CallResult({"result": outcome.result} if wrapped else outcome.result)
        return result.with_notices([CUT]) if meta.get(INJECTED) == "partial" else result
