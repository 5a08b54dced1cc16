# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false, reportUnknownLambdaType=false
"""Scenarios as a task of Inspect: its agents under test, its models, its log.

Policy: one sample per scenario and variant. The session is played as ``run`` plays it, over HTTP, with an agent of
Inspect at the other end: Inspect's own loop of model and tools, or one that ``agent`` makes. What breaks outside the
agent is an error of the sample, never a score. Our own log of the session goes into the sample's store under
``sandbox_mcp:log``, and into a folder if one is named.
"""

import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import Agent as InspectAgent
from inspect_ai.agent import AgentState
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolSource, mcp_connection, mcp_server_http
from inspect_ai.util import LimitExceededError
from sandbox_clients.base import Agent, AgentTurn, Brief, Conversation
from sandbox_scenarios.personas import user_of
from sandbox_scenarios.selectors import select as chosen

from sandbox_mcp.app.run.from_options import knowledge_from, suite_from, users_from
from sandbox_mcp.app.run.instructions import instructions_from
from sandbox_mcp.app.run.options import RunOptions
from sandbox_mcp.app.run.play import Arena, play
from sandbox_mcp.app.run.run_file import read_run_file
from sandbox_mcp.app.run.transports import transport
from sandbox_mcp.app.run.unit import Unit
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.own_code import own_code
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE, Event, SessionEnded
from sandbox_mcp.engine.trajectory.log import parse_trajectory, to_line
from sandbox_mcp.engine.trajectory.packs import SUFFIX
from sandbox_mcp.engine.whole_files import write_whole
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.telemetry import flush, traced

LOG = "sandbox_mcp:log"
"""Key in a sample's store: our log of the session, as text."""
WITHOUT_LIMIT = RunOptions(max_turn_seconds=math.inf)
"""Options of a session that Inspect plays unless others are given: Inspect has limits of its own."""
MakeAgent = Callable[[str, Sequence[ToolSource]], InspectAgent]
"""Makes an agent of Inspect from the session's instructions and its tools."""
# Inspect puts the package before the name if it finds the package installed. Of a checkout it asks for a distribution
# that is called as the package is, which ours is not.
NAMED = "scenarios" if "site-packages" in __file__ else "sandbox_mcp/scenarios"


@task(name=NAMED)
def scenarios(
    select: str | list[str] = "",
    variants: str | list[str] = "base",
    agent: str | None = None,
    user: str = "scripted",
    user_model: str = "",
    user_base_url: str | None = None,
    places: str | None = None,
    out: str | None = None,
    seed: int = 0,
    config: str | None = None,
) -> Task:
    """Scenarios of the sandbox.

    Args:
        select: Selectors as ``run`` takes them, separated by commas; all scenarios without any.
        variants: Variants, separated by commas.
        agent: ``MODULE:ATTRIBUTE`` of what makes the agent, called with instructions and tools; a plain loop without.
        user: Who plays the user, ``scripted`` or ``llm``.
        user_model: Model of the llm user.
        user_base_url: Its endpoint.
        places: A scenario file or folder of your own.
        out: Folder for our own logs.
        seed: Decides the world's ids.
        config: A run file with any options of ``run`` that choose the scenarios and the user; what is given beside
            it counts instead.
    """
    options = _options(config, user, user_model, user_base_url, places, seed)
    suite = suite_from(options)
    names = chosen(suite, _listed(select) or options.selectors)
    given = _listed(variants)
    samples: list[Sample] = []
    for scenario, variant in product(map(suite.get, names), options.variants if given == ["base"] else given):
        about = {"scenario": scenario.name, "variant": variant, "categories": list(scenario.categories)}
        name = Unit(scenario.name, variant, options.seed).name
        samples.append(Sample(id=name, input=user_of(scenario, variant).opening, metadata=about))
    return Task(
        dataset=MemoryDataset(samples, name="sandbox-mcp"),
        solver=session(agent, user, user_model, user_base_url, places, out, seed, config),
        scorer=milestones(places, config),
    )


@solver
def session(
    agent: str | None = None,
    user: str = "scripted",
    user_model: str = "",
    user_base_url: str | None = None,
    places: str | None = None,
    out: str | None = None,
    seed: int = 0,
    config: str | None = None,
) -> Solver:
    """Play the sample's scenario with an agent of Inspect; the arguments are those of the task."""
    options = _options(config, user, user_model, user_base_url, places, seed)
    suite, users, told = suite_from(options), users_from(options), instructions_from(options.instructions)
    knowledge = knowledge_from(options)
    make, patience = own_code(agent) if agent else _plain, options.max_turn_seconds

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the agent asks the model
        scenario, variant = suite.get(state.metadata["scenario"]), state.metadata["variant"]
        log, playing = _Lines(), _InInspect(state, make)
        manager = SessionManager(suite, max_sessions=2, knowledge=knowledge)
        about = {**playing.describe(), **told}
        spec = SessionSpec(scenario, variant, options.seed, max(0, state.epoch - 1), agent=about)
        try:
            async with transport("http", manager) as reach:
                await play(Arena(manager, reach, patience), spec, playing, users.make(spec), traced(log))
        finally:
            flush()
            _keep(log.text, Unit(scenario.name, variant, options.seed, spec.trial), state, out)
        if playing.limit is not None:
            raise playing.limit
        if log.ended is not None and log.ended.reason in INFRASTRUCTURE:
            problem = f"the session ended with {log.ended.reason!r}: {log.ended.detail}"
            raise SandboxError(problem) from playing.broke
        return state

    return solve


@scorer(metrics=[mean(), stderr(cluster="scenario")])
def milestones(places: str | None = None, config: str | None = None) -> Scorer:
    """The session's similarity, graded strictly, with what was met and missed as its explanation."""
    suite = suite_from(_options(config, places=places))

    async def grade_sample(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - milestones say what is wanted
        from sandbox_grader import grade

        trajectory = parse_trajectory(state.store.get(LOG, "").encode())
        scores = grade(trajectory, suite.get(state.metadata["scenario"]))
        value = math.nan if scores.value() is None else scores.value()
        return Score(value=value, answer=state.output.completion, explanation=scores.explain())

    return grade_sample


@dataclass(slots=True)
class _InInspect(Agent):
    """An agent of Inspect as ours: Inspect's messages are its memory."""

    state: TaskState
    make: MakeAgent
    name: str = "inspect"
    limit: LimitExceededError | None = None
    broke: Exception | None = None

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        url, headers = str(brief.target.url), dict(brief.target.headers)
        server = mcp_server_http(name="sandbox", url=url, headers=headers, timeout=60)
        self.state.messages = []
        async with mcp_connection([server]):
            yield _Turns(self, self.make(brief.instructions, [server]))

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "model": str(get_model())}


@dataclass(slots=True)
class _Turns:
    agent: _InInspect
    inner: InspectAgent
    said: AgentState = field(default_factory=lambda: AgentState(messages=[]))

    async def turn(self, message: str) -> AgentTurn:
        self.said.messages = [said for said in self.said.messages if said.role != "system"]
        self.said.messages.append(ChatMessageUser(content=message))
        try:
            self.said = await self.inner(self.said)
        except LimitExceededError as limit:
            self.agent.limit = limit
            raise
        except Exception as broke:
            self.agent.broke = broke
            raise
        self.agent.state.messages = self.said.messages
        self.agent.state.output = self.said.output
        return AgentTurn(self.said.output.completion)


def _plain(instructions: str, tools: Sequence[ToolSource]) -> InspectAgent:
    """Inspect's own loop: the model is asked and its calls are made until it answers."""

    async def execute(state: AgentState) -> AgentState:
        begin = [ChatMessageSystem(content=instructions), *state.messages]
        messages, state.output = await get_model().generate_loop(begin, tools=list(tools))
        state.messages = [*begin, *messages]
        return state

    return execute


def _options(
    config: str | None,
    user: str = "scripted",
    user_model: str = "",
    user_base_url: str | None = None,
    places: str | None = None,
    seed: int = 0,
) -> RunOptions:
    """Options of a run file, with what was given to the task in their place."""
    given = {"user": user, "user_model": user_model, "user_base_url": user_base_url, "scenarios": places, "seed": seed}
    defaults: dict[str, Any] = {"user": "scripted", "seed": 0}
    stated = {key: value for key, value in given.items() if value and value != defaults.get(key)}
    return WITHOUT_LIMIT.but({**(read_run_file(Path(config)) if config else {}), **stated})


def _listed(given: str | list[str]) -> list[str]:
    """Split names; Inspect's command line makes lists of what has commas."""
    parts = given.split(",") if isinstance(given, str) else given
    return [part.strip() for part in parts if part.strip()]


@dataclass(slots=True)
class _Lines:
    """Our log of the session, as text."""

    text: str = ""
    ended: SessionEnded | None = None

    def write(self, event: Event) -> None:
        self.text += to_line(event)
        if isinstance(event, SessionEnded):
            self.ended = event


def _keep(text: str, unit: Unit, state: TaskState, out: str | None) -> None:
    state.store.set(LOG, text)
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        write_whole(Path(out, f"{unit.name}{SUFFIX}"), text)
