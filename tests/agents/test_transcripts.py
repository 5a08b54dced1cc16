"""The transcript that a host itself keeps of a session over ``serve`` is graded as our own log of the session.

Every host plays the same scenarios, with failures, parallel calls and several turns in them, against an endpoint that
knows their answers and stumbles now and then. Its transcript is taken as it is, imported and graded; the measure is
what our own server recorded of the same session.
"""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sandbox_clients.environments import bin_of
from sandbox_grader import read_trajectory
from sandbox_grader.importers import importer
from sandbox_grader.reporting.grade_logs import Graded, graded
from sandbox_scenarios.model import MessageConstraint
from starlette.types import Receive, Scope, Send

from sandbox_mcp.app.endpoint import Brain, ModelReply, Move, Prompt, app
from sandbox_mcp.app.endpoint.reply import PlannedMove
from sandbox_mcp.app.endpoint.server import root
from sandbox_mcp.app.endpoint.solver import Solver
from sandbox_mcp.app.endpoint.wire import Protocol, WireAnswer
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, assemble
from sandbox_mcp.play.server.access import SessionDoor
from sandbox_mcp.play.server.mcp_server import SCOPE_KEY
from tests.agents import kit
from tests.clients.sessions import SUITE
from tests.conftest import ROOT
from tests.laws import ASKED

FAILING = (
    "car_fixed", "landlady_stays", "opera_house_no_location_service", "password_forgotten", "saving_before_searching",
    "signed_out_too_soon", "spring_cleaning", "taiwan_dollars_no_rate", "where_on_the_path",
)  # fmt: skip
PARALLEL = (
    "address_for_lwazi", "band_practice_countdown", "both_marias", "days_to_reconciliation", "dentist_how_far",
    "heritage_to_reconciliation", "meant_for_dmitri", "museum_on_sunday_asked", "no_more_flat_hunting",
    "pitch_flooded", "prescription_no_time_said", "sapporo_and_hiroshima", "sick_over_the_weekend",
    "texts_of_the_day_before_yesterday",
)  # fmt: skip
TALKING = (
    "bank_not_monday", "early_ferry_asked", "geocache_where", "guide_saved_and_texted", "hotel_in_yen",
    "last_sean_no_messages", "loft_caller_asked", "nap_and_call_off", "overdue_reminders", "permit_back_again",
    "rent_in_dollars_and_euros", "stop_which_timer",
)  # fmt: skip
SHORT = (
    "am_i_on_wifi", "cat_and_bill", "dentist_postponed_and_taxi", "forget_number_question", "last_word_to_wren",
    "oldest_text", "quid_in_rand", "sunrise_after_the_change", "upload_key_runs_out",
)  # fmt: skip
NAMES = (*FAILING, *PARALLEL, *TALKING, *SHORT)
"""Scenarios by what their solutions have in them; every one begins with other words of the user."""
FEW = NAMES if ASKED else (*FAILING[::3], *PARALLEL[::5], *TALKING[::5], *SHORT[::5])
"""For hosts that start a program for every message; all of them where ``SANDBOX_MCP_EXAMPLES`` asks for many."""
WORKERS = ROOT / "clients" / "sandbox_clients" / "workers"
KEEPER = ROOT / "tests" / "agents" / "keeper.py"
WRONG = {"not_an_argument": 1}
OWN = "sandbox_mcp:log"
"""Key in the store of Inspect's samples under which our own log stands."""


@dataclass(frozen=True)
class Host:
    """A host: its worker, the formats it keeps a session in, and the scenarios it plays.

    One that checks arguments itself is not made to stumble: its server never hears of the call.
    """

    worker: str
    formats: Sequence[str]
    names: tuple[str, ...] = NAMES
    base: Callable[[str], str] = str
    stumbles: bool = True


HOSTS = {
    "openai-agents": Host("openai_agents", ("openai-responses",), stumbles=False),
    "langgraph": Host("langgraph_agent", ("langchain",) * 3),
    "google-adk": Host("google_adk", ("gemini",) * 2, base=root),
    "pydantic-ai": Host("pydantic_agent", ("pydantic-ai", "otel")),
    "claude-code": Host("claude_code", ("claude-code",), FEW, base=root),
    "claude-sdk": Host("claude_sdk", ("claude-code",), FEW, base=root),
    "codex": Host("codex", ("codex",), FEW),
}


@dataclass(frozen=True)
class Stumbling:
    """A model that knows the answers, and begins every second conversation with a call that has a wrong argument."""

    brain: Brain

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        """Stumble where the first call is due, then answer."""
        reply = await self.brain.decide(prompt, tries)
        begun = len(prompt.turns) > 1 or any(turn.steps for turn in prompt.turns)
        if begun or not isinstance(reply, Move) or not reply.calls or len(next(iter(prompt.turns)).user) % 2:
            return reply
        first = next(iter(reply.calls))
        return Move("", (PlannedMove(first.name, WRONG),))


def imported(format_: str, path: Path, log: Trajectory) -> Graded:
    """Import a transcript, which holds one session, as one of the scenario that our log is of."""
    [session] = importer(format_)([path])
    found = assemble(session.events, path.name)
    scenario = SUITE.get(log.started.scenario)
    return graded(replace(found, started=replace(found.started, scenario=scenario.name, digest="")), scenario)


Told = tuple[str, dict[str, Any], Any]


def told(log: Trajectory) -> list[Told]:
    """The calls of an agent: name, arguments, and what came of them, in whatever order those of a batch arrived."""
    calls = [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]
    found = [(call.called, dict(call.arguments), call.error.text if call.error else call.result) for call in calls]
    return sorted(found, key=lambda told: json.dumps(told[:2], sort_keys=True))


def said(log: Trajectory) -> list[tuple[str, str]]:
    """What user and agent said to each other."""
    between = {"user", "agent"}
    messages = [event for event in log.events if isinstance(event, Message)]
    return [(m.sender, m.content.strip()) for m in messages if {m.sender, m.recipient} == between and m.content.strip()]


def asks_for_words(constraints: Iterable[Any]) -> bool:
    return any(isinstance(constraint, MessageConstraint) for constraint in constraints)


def unlike(
    name: str, format_: str, path: Path, log: Trajectory, *, words: bool = True, tokens: bool = True
) -> Iterator[str]:
    """What an import tells otherwise than our own log, the words and the tokens only where the format has them."""
    own, found = graded(log, SUITE.get(name)), imported(format_, path, log)
    judged = words or not any(asks_for_words(place.constraints) for place in SUITE.get(name).milestones)
    same = found.scores.score == own.scores.score or not judged
    if not same or found.scores.reason != own.scores.reason or found.warnings:
        why = f"{found.scores.reason} {found.warnings}"
        yield f"{name}, {path.name}: {own.scores.score}, not {found.scores.score}: {why}"
    for what, read in (("calls", told), ("words", said))[: 2 if words else 1]:
        kept, ours = read(found.trajectory), read(own.trajectory)
        if kept != ours:
            yield f"{name}, {path.name}: {what} {ours}, not {kept}"
    spent = found.scores.spent.agent
    if (
        tokens
        and spent.requests
        and own.scores.spent.agent.requests
        and replace(spent, requests=0) != replace(own.scores.spent.agent, requests=0)
    ):
        yield f"{name}, {path.name}: tokens {own.scores.spent.agent}, not {found.scores.spent.agent}"


@pytest.mark.parametrize("client", HOSTS)
def test_what_a_host_keeps_is_graded_as_our_own_log(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.need(client)
    host, kept = HOSTS[client], tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(WORKERS))
    monkeypatch.setenv("PATH", bin_of(client))
    solver = Solver([SUITE.get(name) for name in host.names])
    played = kit.played(
        f"command:{kit.python_of(client)} {KEEPER} {host.worker} {kept}",
        tmp_path / "run",
        *host.names,
        brain=Stumbling(solver) if host.stumbles else solver,
        options=["--jobs", "2", "--param", "temperature=0"],
        base=host.base,
    )
    assert played.logs.keys() == set(host.names)
    wrong: list[str] = []
    for name, log in played.logs.items():
        opening = next(event.content for event in log.events if isinstance(event, Message) and event.sender == "user")
        files = sorted(kept.glob(f"{sha256(opening.encode()).hexdigest()[:16]}.*"))
        assert len(files) >= len(host.formats), f"{name}: {played.reasons}"
        for path in files:
            wrong += unlike(name, path.name.split(".")[1], path, log)
    assert wrong == []
    varied(played.logs)


def varied(logs: Mapping[str, Trajectory]) -> None:
    """See that there were failures and several turns, and answers with several calls, however these were sent."""
    seen: Counter[str] = Counter()
    for name, log in logs.items():
        course = graded(log, SUITE.get(name)).scores.course
        seen += Counter(failed=course.failed, together=name in PARALLEL, turns=course.turns > 1)
    assert min(seen["failed"], seen["together"], seen["turns"]) > 0, seen


def test_what_inspect_keeps_is_graded_as_our_own_log(tmp_path: Path) -> None:
    kit.need("inspect")
    from tests.agents.test_inspect import evaluated

    brain = Solver([SUITE.get(name) for name in NAMES])  # it checks arguments itself, so the model does not stumble
    _, log = evaluated(tmp_path, brain, "-T", f"out={tmp_path / 'ours'}", select=",".join(NAMES))
    own = {found.started.scenario: found for found in map(read_trajectory, (tmp_path / "ours").glob("*.jsonl"))}
    assert own.keys() == set(NAMES)
    wrong: list[str] = []
    for sample in log["samples"]:
        del sample["store"][OWN]  # without it, what Inspect itself recorded is all there is
        (path := tmp_path / "sample.json").write_text(json.dumps({**log, "samples": [sample]}), encoding="utf-8")
        name = sample["metadata"]["scenario"]
        wrong += unlike(name, "inspect", path, own[name])
    assert wrong == []
    varied(own)


@contextmanager
def overheard() -> Generator[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Keep the last exchange with the model by its opening, and the messages of MCP by scenario."""
    asked: dict[str, Any] = {}
    sent: dict[str, list[Any]] = {}
    written, call = app._written, SessionDoor.__call__  # pyright: ignore[reportPrivateUsage]

    def write(protocol: Protocol, found: WireAnswer, body: Mapping[str, Any]) -> Any:
        asked[protocol.read(body).turns[0].user] = {"request": body, "response": protocol.whole(found)}
        return written(protocol, found, body)

    async def listen(door: SessionDoor, scope: Scope, receive: Receive, send: Send) -> None:
        frames: list[Any] = []

        async def coming() -> Any:
            message = await receive()
            frames.append(("client", message.get("body")))
            return message

        async def going(message: Any) -> None:
            frames.append(("server", message.get("body")))
            await send(message)

        await call(door, scope, coming, going)
        found = [{"direction": side, "message": json.loads(body)} for side, body in frames if body]
        sent.setdefault(scope[SCOPE_KEY].session.spec.scenario.name, []).extend(found)

    with patch.object(app, "_written", write), patch.object(SessionDoor, "__call__", listen):
        yield asked, sent


WIRES = {"openai": ("openai-chat", str), "responses": ("openai-responses", str), "anthropic": ("anthropic", root)}


@pytest.mark.parametrize("client", WIRES)
def test_what_goes_over_the_wires_is_graded_as_our_own_log(client: str, tmp_path: Path) -> None:
    kit.need(client)
    (format_, base), brain = WIRES[client], Stumbling(Solver([SUITE.get(name) for name in NAMES]))
    options = ["--transport", "http", "--jobs", "2"]
    with overheard() as (asked, sent):
        played = kit.played(client, tmp_path / "run", *NAMES, brain=brain, options=options, base=base)
    wrong: list[str] = []
    for name, log in played.logs.items():
        opening = next(event.content for event in log.events if isinstance(event, Message) and event.sender == "user")
        (path := tmp_path / "model.json").write_text(json.dumps(asked[opening]), encoding="utf-8")
        wrong += unlike(name, format_, path, log, tokens=False)  # those of the last request
        lines = "".join(json.dumps(frame) + "\n" for frame in sent[name])
        (path := tmp_path / "mcp.jsonl").write_text(lines, encoding="utf-8")
        wrong += unlike(name, "mcp-wire", path, log, words=False)
    assert wrong == []
    varied(played.logs)
