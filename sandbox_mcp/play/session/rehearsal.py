"""Playing a solution, sound or spoilt, straight through a session: no MCP, no event loop, nothing in between.

Policy: the session, its gates and its scripted user are the real ones. A call whose values nothing has returned cannot
be made, so it is left out; in a reply such a value is unknown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandbox_scenarios.filling import INSIDE
from sandbox_scenarios.model import PlannedCall, Scenario, Solution
from sandbox_scenarios.plan import PlanError, as_text, look_up, ready, refusal, staged
from sandbox_scenarios.variants import BASE, presented

from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.tools.results import unwrapped
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall, Trajectory
from sandbox_mcp.engine.world import Running
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec, settled
from sandbox_mcp.play.session.live_servers import close_servers, live_worlds, with_servers
from sandbox_mcp.play.users import ScriptedUser

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call of a solution as it was carried out; ``arguments`` is None if it could not be made."""

    call: PlannedCall
    arguments: Mapping[str, Any] | None = None
    value: Any = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """Outcome of a rehearsal: the log, the world afterwards, the calls in the order of the plan, and the turns said.

    ``results`` are the values by label.
    """

    log: Trajectory
    world: Running
    done: tuple[MadeCall, ...]
    turns: int
    results: Mapping[str, Any]

    @property
    def ending(self) -> str | None:
        """Reason for the session's end; None if it did not end."""
        return self.log.ended.reason if self.log.ended else None


@dataclass(frozen=True)
class RehearsalStage:
    """A scenario to be played many times; its unchanging parts are made once."""

    scenario: Scenario

    @cached_property
    def _offered(self) -> dict[str, Mapping[str, PresentedTool]]:
        return {}

    def tools(self, variant: str) -> Mapping[str, PresentedTool]:
        """The tools as a variant presents them."""
        if variant not in self._offered:
            self._offered[variant] = presented(self.scenario, variant)
        return self._offered[variant]

    def rehearse(
        self, solution: Solution, variant: str = BASE, known: Mapping[str, Any] | None = None, seed: int = 0,
        *, starts: bool = True,
    ) -> Rehearsed:  # fmt: skip
        """Play a solution; ``known`` are values by label that the agent happens to know without asking.

        Without ``starts`` no live server is started, and what its tape does not have is refused.
        """
        log = MemoryLog()
        tools = self.tools(variant)
        spec = SessionSpec(self.scenario, variant, seed)
        knowledge = with_servers(self.scenario, None, keep=True) if starts else None
        try:
            session = Session(spec, ScriptedUser.of(self.scenario.user, self.scenario.clock), log, tools, knowledge)
            return self._played(session, log, solution, variant, known or {})
        finally:
            close_servers(knowledge)

    def _played(
        self, session: Session, log: MemoryLog, solution: Solution, variant: str, known: Mapping[str, Any]
    ) -> Rehearsed:
        tools = self.tools(variant)
        session.begin()
        results, done, turns = dict(known), list[MadeCall](), 0
        for turn in staged(solution, self.scenario, variant, tools).turns:
            for batch in turn.batches:
                made: list[tuple[PlannedCall, Mapping[str, Any]]] = []
                for call in batch:
                    try:
                        made.append((call, ready(call, results)))
                    except PlanError as problem:
                        done.append(MadeCall(call, error=str(problem)))
                sent = [AgentCall(call.tool, arguments) for call, arguments in made]
                outputs = session.call_batch(sent) if sent else ()
                for (call, arguments), output in zip(made, outputs, strict=True):
                    value = unwrapped(output.structured) if output.error is None else None
                    done.append(MadeCall(call, arguments, value, output.error))
                    if call.label:
                        results[call.label] = value if output.error is None else refusal(output.error)
            if session.over:
                break
            turns += 1
            settled(session.say(filled_reply(turn.reply, results)))
            if session.over:
                break
        return Rehearsed(log.trajectory(), session.world, tuple(done), turns, results)


def filled_reply(reply: str, results: Mapping[str, Any]) -> str:
    """A reply with the values that there are; the rest is unknown."""

    def value(found: "re.Match[str]") -> str:
        try:
            return as_text(look_up(found[1], results))
        except PlanError:
            return UNKNOWN

    return INSIDE.sub(value, reply)


def solved(scenario: Scenario, *, starts: bool = False) -> Trajectory | None:
    """The log of a scenario's first solution; of one with a live server as its tape has it, or where it ``starts``.

    None where the tape lacks a call of it and no server may be started.
    """
    stage = RehearsalStage(scenario)
    if not live_worlds(scenario.home):
        return stage.rehearse(scenario.solutions[0]).log
    log = stage.rehearse(scenario.solutions[0], starts=False).log
    if not any(isinstance(event, ToolCall) and event.error is not None for event in log.events):
        return log
    return stage.rehearse(scenario.solutions[0]).log if starts else None
