"""Playing rows: each turn of a dialogue is put to the agent by itself, and its answers make one log.

Policy: a row is one answer. Nothing is carried over from one row to the next. A row's own history is given to agents
that ask a model themselves as their own turns and calls, and to others in words. Where at most one call is wanted, the
first calls that an agent makes together are its answer, as the first action in a text is. What it does after that does
not count; agents that ask a model themselves are stopped there. Where several calls are wanted, all count up to the
reply. If an agent breaks on a row, its dialogue says nothing and is played again.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox_clients.base import Brief
from sandbox_clients.chat_agent import ChatAgent
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.papers.mtu_bench.importer import BenchmarkRow, Response, session
from sandbox_scenarios import Scenario
from sandbox_scenarios.model import Solution

from sandbox_mcp import __version__
from sandbox_mcp.app.benchmarks.mtu_bench.instructions import instructions
from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowScenario, wanted_turn
from sandbox_mcp.app.benchmarks.mtu_bench.tools import observed_in, past_steps, row_tools
from sandbox_mcp.app.run.options import AnswerForm
from sandbox_mcp.app.run.play import Arena, Watched, answer_to, conversing, problem_of
from sandbox_mcp.app.run.sessions import JUDGED, Crew
from sandbox_mcp.engine.trajectory import Event, SessionEnded, SessionStarted, Sink, ToolCall, Trajectory
from sandbox_mcp.engine.trajectory.model_text import readable
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.open_session import OpenSession, Presentation
from sandbox_mcp.play.session.opening import INSTRUCTIONS
from sandbox_mcp.play.users import ScriptedUser, User

METRIC = "mtu_bench"
ROWS_METRIC = f"{METRIC}.right"
"""What counts in a run of rows unless something else is asked for."""


@dataclass(slots=True)
class _Answer:
    """An agent's answer to a row: the calls that count, and how many more came after them."""

    first_alone: bool
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    beyond: int = 0

    def write(self, event: Event) -> None:
        """Take a call in."""
        if not isinstance(event, ToolCall) or event.caller != "agent":
            return
        if self.first_alone and self.calls and event.batch != self.calls[0].batch:
            self.beyond += 1
        else:
            self.calls.append(event)


@dataclass(frozen=True, slots=True)
class RowCrew(Crew):
    """Player of the rows of a :class:`RowSuite`, each answered in a form."""

    form: AnswerForm = "calls"

    def judge(self, trajectory: Trajectory, scenario: Scenario) -> Scores:  # noqa: ARG002
        """Judge a dialogue; its log holds everything needed."""
        return grade(trajectory, None, metrics=[name for name in self.metrics if name not in JUDGED] or [METRIC])

    async def play_session(self, arena: Arena, spec: SessionSpec, user: User, sink: Sink) -> None:  # noqa: ARG002
        """Play all rows of a dialogue, and write its log."""
        scenario = spec.scenario
        if not isinstance(scenario, RowScenario):
            raise TypeError(f"scenario {scenario.name!r} has no rows; a crew of rows plays those of a RowSuite")
        dialogue = scenario.rows
        rows = [row for row, _ in dialogue.rows]
        many = dialogue.form[-1] == "M"
        answers: list[Response] = []
        broke: str | None = None
        for place in range(len(rows)):
            try:
                answers.append(await self._answer(arena, spec, rows, place, many=many))
            except Exception as error:  # noqa: BLE001 - foreign code, and its faults must not end the run
                broke = problem_of(error)
                break
        given = [*answers, *(Response(row.id, "", "", "", 0) for row in rows[len(answers) :])]
        whole = replace(dialogue, rows=tuple(zip(rows, given, strict=True)))
        with suppress(OSError):  # whoever keeps the log knows
            for event in session(whole, spec.id).events:
                if isinstance(event, SessionStarted):
                    event = replace(
                        event, session=spec.id, scenario=scenario.name, digest=scenario.digest, variant=spec.variant,
                        seed=spec.seed, trial=spec.trial, agent=spec.agent, user={"kind": "rows"},
                        versions={"sandbox_mcp": __version__},
                    )  # fmt: skip
                elif isinstance(event, SessionEnded):
                    event = replace(event, reason="agent_failed" if broke else "user_ended", detail=broke)
                sink.write(event)

    async def _answer(
        self, arena: Arena, spec: SessionSpec, rows: Sequence[BenchmarkRow], place: int, *, many: bool
    ) -> Response:
        """The agent's answer to one row."""
        row, calling = rows[place], self.form == "calls"
        heard = _Answer(first_alone=not many)
        watched = Watched(heard)
        tools = row_tools(row, observed_in(rows, place)) if calling else {}
        here = Session(spec, ScriptedUser.of(spec.scenario.user, spec.scenario.clock), watched, tools)
        here.begin()
        opening = row.question.user or row.text
        presentation = Presentation(tools, tuple(tools.values()))
        opened = OpenSession(here, presentation, watched, opening, arena.manager.batch_window)
        arena.manager.adopt(opened)
        agent = self.agent
        if calling and not many and isinstance(agent, ChatAgent):
            agent = replace(agent, max_steps=1)
        chosen = spec.instructions if INSTRUCTIONS in spec.agent else ""
        history = past_steps(row, tools) if calling and isinstance(agent, ChatAgent) else ()
        told = instructions(row, self.form, many=many, history=not history, task=chosen)
        solution = Solution((wanted_turn(row),)) if agent.wants_solution else None
        try:
            async with conversing(agent, Brief(told, arena.reach(opened), solution, history), watched) as conversation:
                said = await answer_to(conversation, opening, watched, arena.patience)
        finally:
            await arena.manager.close(opened.token)
        meta: dict[str, Any] = {**said.meta, **({"calls_beyond": heard.beyond} if heard.beyond else {})}
        calls = tuple(heard.calls) if calling else None
        return Response(row.id, "", readable(said.text), "", 0, calls, meta)
