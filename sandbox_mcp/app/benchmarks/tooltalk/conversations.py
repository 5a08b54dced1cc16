"""ToolTalk's own conversations as something to play: from a checkout of its repository, in the office.

Policy: a conversation is a scenario whose user says the lines that are written down, whatever the agent does, and whose
solution is the recorded ground truth. The agent is told place, time, and who is logged in, as the paper says. In prefix
replay it is shown the results that were recorded, while the world is what the calls make of it here, as in the authors'
code. There are no milestones: what ToolTalk's metrics say of the calls is all there is to say.

Source: ToolTalk, sections 2.2, 3.2 and 4.1.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from sandbox_grader.importers.reading.json_values import JsonNode
from sandbox_grader.papers.tooltalk.importer import ground_truth
from sandbox_grader.papers.tooltalk.tools import FORMAT
from sandbox_scenarios import Scenario, UnknownScenarioError
from sandbox_scenarios.model import Category, PlannedCall, PlannedTurn, Script, Solution, UserSpec
from sandbox_scenarios.stage import Stage

from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.app.run.users import Users
from sandbox_mcp.app.run.utterances import escaped
from sandbox_mcp.engine.tools import Outcome, PresentedTool, World, bind, present
from sandbox_mcp.engine.trajectory import CallError, Event, MemoryLog, Message, ReferenceTurn, ToolCall, Trajectory
from sandbox_mcp.engine.worlds.office.tooltalk import (
    TOKEN,
    OriginalIds,
    as_tooltalk_has_it,
    clock_of,
    read_checkout,
    state_of,
)
from sandbox_mcp.engine.worlds.office.world import office
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.opening import started_event
from sandbox_mcp.play.users.replay import ReplayUser

ENOUGH = 1000
"""More turns and calls than any conversation takes: the original has no limit."""


class Conversations(PlayableSuite):
    """The conversations of a checkout of ToolTalk. ``tooltalk:easy`` and ``tooltalk:hard`` are their tags."""

    def __init__(self, folder: Path) -> None:
        """Read the checkout.

        Raises:
            NoCheckoutError: the folder does not hold one.
        """
        super().__init__()
        self._checkout = read_checkout(folder)
        self._databases = json.dumps(self._checkout.databases, sort_keys=True)
        self._talks = {path.stem: (path, document) for path, document in self._checkout.documents}
        self._scenarios: dict[str, Scenario] = {}
        self._completions: dict[str, tuple[str, tuple[tuple[ReferenceTurn, ...], ...], Mapping[str, Any]]] = {}
        self._truths: dict[tuple[str, str, int], Trajectory] = {}

    def own_files(self) -> None:
        """None: a checkout is not made of scenario files alone."""

    @cached_property
    def _home(self) -> World:
        return office.as_elsewhere(OriginalIds, self._checkout.almanac)

    def names(self, world: str = "") -> tuple[str, ...]:
        """The names of the conversations, easy ones first, or those that were picked."""
        chosen = tuple(self._talks) if self._picked is None else self._picked
        return chosen if fnmatchcase(office.name, world or "*") else ()

    def world(self, name: str) -> str:  # noqa: ARG002
        """The office, in which all of them take place."""
        return office.name

    def tagged(self, pattern: str) -> tuple[str, ...]:
        """The names of the conversations of a subset."""
        return tuple(name for name, (path, _) in self._talks.items() if fnmatchcase(_tag(path), pattern))

    def get(self, name: str) -> Scenario:
        """One conversation as a scenario.

        Raises:
            UnknownScenarioError: no conversation has that name.
            NoCheckoutError: its file, or a database, is not as ToolTalk has it.
        """
        if name not in self._talks:
            raise UnknownScenarioError(name, self._talks)
        if name not in self._scenarios:
            path, document = self._talks[name]
            with as_tooltalk_has_it(path):
                self._scenarios[name] = self._scenario(path, document)
        return self._scenarios[name]

    def completed(self, spec: SessionSpec) -> SessionSpec:
        """The spec of a session with what the agent is told, the ground truth, and where all of it comes from."""
        name = spec.scenario.name
        if name not in self._completions:
            path, document = self._talks[name]
            turns, origin = ground_truth(JsonNode(document, str(path)))
            with as_tooltalk_has_it(path):
                about = document["metadata"]  # source: ToolTalk, section 4.1 and figure 1
                who = about.get("username")
                logged_in = f"The user is logged in as {who}." if who else "The user is not logged in."
                where = f"The user is in {about['location']}. " if about.get("location") else ""
                told = f"{where}It is {about['timestamp']}. {logged_in}"
            whole = {"format": FORMAT, **origin, "subset": path.parent.name}
            # no agent gives the token that the original's executor puts into every call
            bare = [[replace(call, arguments=_bare(call.arguments)) for call in turn.calls] for turn in turns]
            reference = tuple(replace(turn, calls=tuple(calls)) for turn, calls in zip(turns, bare, strict=True))
            self._completions[name] = (told, (reference,), whole)
        told, reference, origin = self._completions[name]
        return replace(spec, told=told, reference=reference, origin=origin)

    async def truth(self, manager: SessionManager, spec: SessionSpec) -> Trajectory:  # noqa: ARG002
        """The ground truth of a conversation: what was recorded, with the changes that the calls make here.

        It is carried out once for all sessions that begin in the same world with the same ids.
        """
        alike = (spec.scenario.name, spec.variant, spec.seed)
        if alike not in self._truths:
            path, document = self._talks[spec.scenario.name]
            offered = {name: present(tool) for name, tool in self._home.agent_tools.items()}
            with as_tooltalk_has_it(path):
                log = MemoryLog()
                for event in _as_recorded(spec, document, offered):
                    log.write(event)
                self._truths[alike] = log.trajectory()
        return self._truths[alike]

    @property
    def users(self) -> Users:
        """The users of on-policy sessions: they say their lines one after the other."""
        source = {"lines": "tooltalk"}

        def make(spec: SessionSpec) -> ReplayUser:
            lines = (spec.scenario.user.opening, *spec.scenario.user.script.then)
            return ReplayUser(spec.scenario.user, tuple(map(escaped, lines[1:])), source)

        return Users(make, {"kind": "replay", **source})

    def _scenario(self, path: Path, document: Mapping[str, Any]) -> Scenario:
        turns = document["conversation"]
        calls = [call["request"] for turn in turns for call in turn.get("apis") or ()]
        lines, replied = list[str](), True
        for turn in turns:
            said = turn["text"] if turn["role"] == "user" else None
            if said is not None:
                lines = [*lines, said] if replied else [*lines[:-1], f"{lines[-1]}\n{said}"]
            replied = said is None
        needed = {call["api_name"] for call in calls}
        unknown = sorted(needed - office.agent_tools.keys())
        if unknown:
            raise ValueError(f"it calls {unknown[0]}, which is not a tool of ToolTalk")
        categories: tuple[Category, ...] = (
            "single_tool_call" if len(calls) == 1 else "multiple_tool_call",
            "single_user_turn" if len(lines) == 1 else "multiple_user_turn",
        )
        whole = f"[{json.dumps(document, sort_keys=True)}, {self._databases}]"
        planned = tuple(  # one turn per line of the user's that is answered
            PlannedTurn(
                tuple(
                    (PlannedCall(call["request"]["api_name"], _bare(call["request"]["parameters"])),)
                    for call in turn.get("apis") or ()
                ),
                turn["text"],
            )
            for turn in turns
            if turn["role"] == "assistant"
        )
        return Scenario(
            name=path.stem, about=str(document.get("scenario") or path.stem), categories=categories,
            world=state_of(document, self._checkout), clock=clock_of(document),
            tools=tuple(name for name in office.agent_tools if name in needed), without=(),
            user=UserSpec("", lines[0], script=Script(then=tuple(lines[1:]))),
            solutions=(Solution(planned, "what was recorded", concrete=True),), milestones=(), minefields=(),
            allows={}, confirm=(), gates=(), max_turns=ENOUGH, max_calls=ENOUGH, idle_score=None,
            digest=sha256(whole.encode()).hexdigest()[:16], path=str(path), home=self._home, tags=(_tag(path),),
        )  # fmt: skip


def _tag(path: Path) -> str:
    return f"tooltalk:{path.parent.name}"


def _bare(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in parameters.items() if name != TOKEN}


def _as_recorded(spec: SessionSpec, document: Mapping[str, Any], offered: Mapping[str, PresentedTool]) -> list[Event]:
    """The session in which everything went as recorded: results are those of the file, changes are made here."""
    scenario = spec.scenario
    stage = Stage.of(scenario, spec.variant, spec.seed)
    events: list[Event] = [started_event(spec, ReplayUser(scenario.user, (), {}), {}, {})]
    sender: Literal["user", "agent"]
    for turn in document["conversation"]:
        for call in turn.get("apis") or ():
            name, given = call["request"]["api_name"], _bare(call["request"]["parameters"])
            bound = bind(offered, name, given)
            outcome = bound if isinstance(bound, Outcome) else stage.run(bound)[0]
            failed, seq = call["exception"], len(events)
            error = None if failed is None else CallError(kind="execution", type="Error", message=failed)
            made = ToolCall(
                seq=seq, clock=stage.now, call=f"c{seq}", batch=f"b{seq}", caller="agent", name=name, tool=name,
                arguments=given, result=None if error else call["response"], error=error, changes=outcome.changes,
            )  # fmt: skip
            events.append(made)
        sender = "user" if turn["role"] == "user" else "agent"
        said = Message(
            seq=len(events), clock=stage.now, sender=sender, recipient="agent" if sender == "user" else "user",
            content=turn["text"], visible_to=("user", "agent"),
        )  # fmt: skip
        events.append(said)
    return events
