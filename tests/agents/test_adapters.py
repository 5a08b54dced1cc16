"""What every framework's adapter promises, with the framework as it is published.

The facts about each client are asserted, because scores can only be compared if nothing but the model decides them.
"""

import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sandbox_clients.frameworks import FRAMEWORKS

from sandbox_mcp.app.endpoint import Brain, PlannedFault, chat, gemini, messages, responses
from sandbox_mcp.app.endpoint.server import root
from sandbox_mcp.play.session.file_lock import FileLock
from tests.agents import kit
from tests.agents.kit import ASKED, FIVE, ONCE, TALK, TOGETHER, Facts, Played, Read
from tests.clients.sessions import SUITE
from tests.e2e.processes import MODERN

HANDSHAKE = "2025-11-25"


@dataclass(frozen=True)
class Case:
    """An adapter, how its requests are read, and the facts about it. ``temperature`` is where a request has it."""

    agent: str
    facts: Facts
    read: Read = chat.read
    options: tuple[str, ...] = ()
    base: Callable[[str], str] = str
    temperature: tuple[str, ...] = ("temperature",)
    arrives: int = 3
    """How many of :data:`BLUNDERS` reach the session; the client answers the others itself."""

    @property
    def name(self) -> str:
        return " ".join([self.agent, *(option for option in self.options if "=" in option)])

    def played(self, out: Path, *scenarios: str, brain: Brain | None = None, options: Sequence[str] = ()) -> Played:
        """What a run with it comes to."""
        return kit.played(self.agent, out, *scenarios, brain=brain, options=[*options, *self.options], base=self.base)


OURS = Facts(MODERN, "none", together=True, result="text", refusal="text")
CASES = (
    Case("openai-agents", Facts(MODERN, "none", together=False, result="text", refusal="text"), arrives=2),
    Case("langgraph", Facts(HANDSHAKE, "one", together=True, result="text", refusal="text")),
    Case(
        "langgraph",
        Facts(HANDSHAKE, "one a call", together=True, result="text", refusal="text"),
        options=("--param", "connection=per_call"),
    ),
    Case(
        "google-adk",
        Facts(HANDSHAKE, "one", together=True, result="whole", refusal="whole", quoted=True),
        read=gemini.read,
        base=root,
        temperature=("generationConfig", "temperature"),
    ),
    *(
        Case(
            name,
            Facts(MODERN, "none", together=False, result="text", refusal="text", prefix="mcp__sandbox__"),
            read=messages.read,
            base=root,
        )
        for name in ("claude-code", "claude-sdk")
    ),
    Case(
        "codex",
        Facts(
            "2025-06-18",
            "one a message",
            together=False,
            result="text",
            refusal="text",
            instructions=True,
            prefix=f"mcp__sandbox{responses.WITHIN}",
        ),
        read=responses.read,
    ),
    Case("pydantic-ai", Facts(MODERN, "none", together=True, result="value", refusal="error")),
    *(
        Case(name, OURS, read=read, base=base, options=("--transport", "http"), arrives=4)
        for name, read, base in (
            ("openai", chat.read, str),
            ("responses", responses.read, str),
            ("anthropic", messages.read, root),
        )
    ),
)


Plays = Callable[[Case], Played]


pytestmark = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@pytest.fixture(autouse=True)
def at_hand(case: Case) -> None:
    kit.need(case.agent)


@pytest.fixture(scope="session")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Plays:
    """The five scenarios, played once by each, whichever of the processes that run the tests asks first."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    @cache
    def play(case: Case) -> Played:
        kept = shared / f"{case.name}.pickle"
        with FileLock(shared / f"{case.name}.lock").held():
            if not kept.exists():
                found = case.played(own / case.name, *FIVE, options=["--param", "temperature=0"])
                kept.write_bytes(pickle.dumps(found))
        return pickle.loads(kept.read_bytes())

    return play


@pytest.fixture
def five(case: Case, plays: Plays) -> Played:
    return plays(case)


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The same scenarios as the reference solutions play them."""
    return kit.played("reference", tmp_path_factory.mktemp("reference") / "run", *FIVE)


def test_the_five_scenarios_get_their_full_score(case: Case, five: Played) -> None:
    assert five.scores == dict.fromkeys(FIVE, 1.0), five.reasons


def test_what_it_did_is_what_the_solutions_do(case: Case, five: Played, reference: Played) -> None:
    assert kit.deeds(five) == kit.deeds(reference)


def test_the_facts_about_the_client(case: Case, five: Played) -> None:
    assert kit.facts(five, case.read) == case.facts


def test_the_documentation_has_them(case: Case, five: Played) -> None:
    kit.documented(case.name, case.facts, scores=five.scores)


def test_no_conversation_knows_of_another(case: Case, five: Played) -> None:
    openings = {SUITE.get(name).user.opening for name in FIVE}
    for request in five.requests:
        said = "\n".join(turn.user for turn in case.read(request).turns)
        assert len([opening for opening in openings if opening in said]) == 1


def test_parameters_reach_the_model(case: Case, five: Played) -> None:
    for request in five.requests:
        found: Any = request
        for key in case.temperature:
            found = found[key]
        assert found == 0


def test_tokens_and_requests_are_counted(case: Case, five: Played) -> None:
    counted = five.summary["tokens"]["agent"]
    assert counted["requests"] == len(five.requests)
    assert counted["prompt_tokens"] > counted["completion_tokens"] > 0


def test_the_version_is_in_every_log(case: Case, five: Played) -> None:
    for log in five.logs.values():
        assert log.started.versions["sandbox_mcp"]
        assert all(log.started.agent["framework"].values()) if case.agent in FRAMEWORKS else True


BLUNDERS = """
steps:
- calls: [{tool: no_such_tool, arguments: {}}]
- calls: [{tool: set_wifi_status, arguments: {on: perhaps}}]
- calls: [{tool: set_wifi_status, arguments: {of: false}}]
- calls: [{tool: set_wifi_status, arguments: {on: false}}]
- say: Wifi is off.
"""


def test_a_model_that_errs_is_told_and_goes_on(case: Case, tmp_path: Path) -> None:
    found = case.played(tmp_path / "run", ONCE, brain=kit.script(BLUNDERS))
    assert found.scores == {ONCE: 1.0}, found.reasons
    told = [text for _, text in kit.outputs(found, case.read)]
    assert len(told) == 4
    assert "no_such_tool" in told[0]
    assert "on must be boolean, not" in told[1]
    assert len(found.calls(ONCE)) == case.arrives


ENDLESS = """
repeat: true
steps:
- calls: [{tool: set_wifi_status, arguments: {on: false}}]
"""


def test_a_model_that_never_stops_is_stopped_and_scored(case: Case, tmp_path: Path) -> None:
    found = case.played(tmp_path / "run", ONCE, brain=kit.script(ENDLESS), options=["--max-steps", "3"])
    answers = found.finishes(ONCE)
    assert set(answers) == {"max_steps"}
    assert len(found.requests) == 3 * len(answers) == found.summary["tokens"]["agent"]["requests"]
    assert found.scores[ONCE] is not None


def test_an_endpoint_that_fails_is_no_score_unless_it_recovers(case: Case, tmp_path: Path) -> None:
    faults = {
        ONCE: PlannedFault(status=429, retry_after=0, times=1),
        ASKED: PlannedFault(status=500, times=None),
        TALK: PlannedFault("half", times=None),
        TOGETHER: PlannedFault("invalid_json", times=None),
    }
    found = case.played(tmp_path / "run", *faults, brain=kit.Faulty(faults), options=["--max-retries", "1"])
    assert found.scores == {ONCE: 1.0, ASKED: None, TALK: None, TOGETHER: None}, found.reasons
