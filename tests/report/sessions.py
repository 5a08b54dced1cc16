"""Runs to look at: played by agents that get some of it right, and whose words are hostile to whoever shows them."""

import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sandbox_clients.base import Agent, AgentTurn, Brief, Conversation, ToolRequest, Tools
from sandbox_scenarios import UnknownScenarioError
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.model import Scenario, Solution
from sandbox_scenarios.plan import as_text, fill, ready, refusal

from tests.clients.sessions import SUITE
from tests.run.runs import played

FEW = ("wifi_off", "landlord_number", "late_for_dinner_low_battery", "landlady_stays", "colleagues_to_friends")
HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script></script>"
    "\u202etxet desrever\u202c \u200bzero \u2028line javascript:alert(1) ${1} {{2}} \x1b[31mred"
)


@dataclass(slots=True)
class _Mediocre:
    solution: Solution
    tools: Tools
    results: dict[str, Any] = field(default_factory=dict[str, Any])
    turns: int = 0

    async def turn(self, message: str) -> AgentTurn:
        position, self.turns = self.turns, self.turns + 1
        if position >= len(self.solution.turns):
            return AgentTurn("I have nothing to add.")
        planned = self.solution.turns[position]
        for call in planned.calls:
            await self._call(call, _lot(f"{call.tool}{position}{planned.reply}", 5))
        if _lot(f"reply {planned.reply}", 3) == 0:
            return AgentTurn(f"All done. {HOSTILE}")
        try:
            return AgentTurn(as_text(fill(planned.reply, self.results)))
        except ScenarioError:
            return AgentTurn("That did not work.")

    async def _call(self, call: Any, lot: int) -> None:
        if lot == 0:
            return
        try:
            arguments = dict(ready(call, self.results))
        except ScenarioError:
            return
        if lot == 1:
            arguments = {"hint": HOSTILE}
        (output,) = await self.tools.call_together([ToolRequest(call.tool, arguments)])
        if call.label:
            self.results[call.label] = refusal(output.text) if output.is_error else output.value


@dataclass(frozen=True, slots=True)
class Mediocre(Agent):
    """Plays the solution, but leaves out or spoils some calls and says hostile things, always the same ones."""

    name: str = "mediocre"
    wants_solution: ClassVar[bool] = True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        assert brief.solution is not None
        async with brief.target.connect() as tools:
            yield _Mediocre(brief.solution, tools)


def _lot(text: str, sides: int) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % sides


def a_run(place: Path, agent: Agent | None = None, **plan: Any) -> Path:
    """A run of a few scenarios, by the reference agent unless another is given."""
    played(place, agent, **{"scenarios": FEW, **plan})
    return place


def find(name: str) -> Scenario | None:
    try:
        return SUITE.get(name)
    except UnknownScenarioError:
        return None
