"""ToolSandbox's own scenarios, played in our sessions, get the scores that its own evaluator gives the same sessions.

Needs a checkout in the folder that SANDBOX_MCP_UPSTREAM names, as ToolSandbox, and beside it a Python that has its
requirements: env/bin/python, or a Python named by SANDBOX_MCP_UPSTREAM_PYTHON. Takes minutes, most of them there.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.milestones import compat, strict
from sandbox_grader.milestones.case import Case
from sandbox_grader.milestones.translate import to_case
from sandbox_grader.papers.toolsandbox.importer import read
from sandbox_grader.papers.toolsandbox.names import VARIANTS as PRESENTATIONS
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution
from sandbox_scenarios.variants import VARIANTS, presented

from sandbox_mcp.app.benchmarks.toolsandbox import SCRIPT, dump, write_suite
from sandbox_mcp.engine.trajectory import assemble
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each

NEAR = 1e-6
NOW, ZONE = datetime.fromisoformat("2025-03-12T09:30:00"), "America/Los_Angeles"
JUDGE = Path(__file__).with_name("toolsandbox_judge.py")
PLAYER = Path(__file__).with_name("toolsandbox_player.py")
KEYS = ("setting", "contact", "messaging", "reminder")
LIVE = frozenset(
    {
        "search_lat_lon", "search_location_around_lat_lon", "search_weather_around_lat_lon", "search_stock",
        "convert_currency",
    }
)  # fmt: skip
"""The tools that ask paid services there."""
PROCESSES = 2
pytestmark = pytest.mark.timeout(3600)


@dataclass(frozen=True)
class Upstream:
    """A checkout, and an interpreter that can run it."""

    checkout: Path
    python: Path


@pytest.fixture(scope="module")
def upstream() -> Upstream:
    named = os.environ.get("SANDBOX_MCP_UPSTREAM")
    if not named or not (Path(named) / "ToolSandbox").is_dir():
        pytest.skip("SANDBOX_MCP_UPSTREAM names no folder with a checkout of ToolSandbox")
    python = Path(os.environ.get("SANDBOX_MCP_UPSTREAM_PYTHON") or Path(named) / "env" / "bin" / "python")
    if not python.exists():
        pytest.skip(f"there is no Python with ToolSandbox's requirements at {python}")
    return Upstream(Path(named) / "ToolSandbox", python)


@pytest.fixture(scope="module")
def dumped(upstream: Upstream) -> Mapping[str, Any]:
    return dump(upstream.checkout, upstream.python, NOW, ZONE)


@pytest.fixture(scope="module")
def suite(dumped: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Suite:
    folder = tmp_path_factory.mktemp("suite")
    write_suite(dumped, ZONE, folder)
    return Suite([folder])


@dataclass(frozen=True)
class Played:
    """One session: whose it is, how it was spoilt, what we say of it."""

    id: str
    scenario: str
    case: Case
    ours: compat.CompatResult


@pytest.fixture(scope="module")
def sessions(suite: Suite) -> tuple[Played, ...]:
    return tuple(_sessions(suite))


def _sessions(suite: Suite) -> Iterator[Played]:
    for scenario in suite.all():
        stage = RehearsalStage(scenario)
        for how, solution in answers(scenario).items():
            case = to_case(scenario, stage.rehearse(solution).log).case
            yield Played(f"{scenario.name}/{how}", scenario.name, case, compat.evaluate(case))


def answers(scenario: Scenario) -> Mapping[str, Solution]:
    """The answer that was planned from the milestones, and two wrong ones."""
    right = scenario.solutions[0]
    return {"right": right, "without its last call": _without_last_call(right), "all askew": _askew(right)}


def _without_last_call(solution: Solution) -> Solution:
    """One call less; where there is none, a tool is tried that may not be there."""
    *turns, last = solution.turns
    if not last.batches:
        return Solution((*turns, replace(last, batches=((PlannedCall("get_wifi_status", {}),),))))
    return Solution((*turns, replace(last, batches=last.batches[:-1])))


def _askew(solution: Solution) -> Solution:
    """Every argument changed where it can be, all calls of a turn at once, and another reply."""
    return Solution(
        tuple(
            PlannedTurn(
                (tuple(replace(call, arguments=dict(map(_changed, call.arguments.items()))) for call in turn.calls),)
                if turn.calls
                else (),
                f"Well, {turn.reply.split(' ')[0].lower()} it is.",
            )
            for turn in solution.turns
        )
    )


def _changed(argument: tuple[str, Any]) -> tuple[str, Any]:
    name, value = argument
    if isinstance(value, bool) or (isinstance(value, str) and value.startswith(("$", "+"))) or name.endswith("_id"):
        return name, value
    return name, f"{value} too" if isinstance(value, str) else value + 1


@pytest.fixture(scope="module")
def verdicts(
    upstream: Upstream, sessions: tuple[Played, ...], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Mapping[str, Any]]:
    folder = tmp_path_factory.mktemp("verdicts")
    parts = [(folder / f"{part}", sessions[part::PROCESSES]) for part in range(PROCESSES)]
    for place, _ in parts:
        place.mkdir()
    with ThreadPoolExecutor(PROCESSES) as pool:
        texts = list(pool.map(lambda part: _judged(upstream, *part), parts))
    found = [json.loads(line) for text in texts for line in text.splitlines()]
    return {"folder": {"path": folder}, **{item["id"]: item for item in found}}


def _judged(upstream: Upstream, place: Path, sessions: tuple[Played, ...]) -> str:
    cases, out = place / "cases.json", place / "verdicts.jsonl"
    cases.write_text(json.dumps([_as_json(item) for item in sessions]))
    environment = {**os.environ, "TZ": ZONE, "PYTHONPATH": str(upstream.checkout)}
    command = [str(upstream.python), str(JUDGE), str(SCRIPT), NOW.isoformat(), str(cases), str(out)]
    subprocess.run(command, check=True, env=environment)
    return out.read_text()


def _as_json(item: Played) -> dict[str, Any]:
    messages = [
        {
            "sender": message.sender,
            "recipient": message.recipient,
            "content": message.content,
            "visible_to": message.visible_to,
            "tool_calls": None if message.calls is None else [asdict(call) for call in message.calls],
            "changes": [
                {
                    "table": change.table,
                    "op": change.kind,
                    "key": change.position,
                    "after": None if change.after is None else dict(change.after),
                }
                for change in message.changes
            ],
        }
        for message in item.case.messages
    ]
    tables = {name: [dict(row) for row in rows] for name, rows in item.case.tables.items()}
    return {"id": item.id, "scenario": item.scenario, "tables": tables, "messages": messages}


def test_all_scenarios_load_in_all_their_variants(suite: Suite, dumped: Mapping[str, Any]) -> None:
    found = suite.all()
    assert len(found) == 129
    assert len(found) * (1 + len(PRESENTATIONS)) == len(dumped["scenarios"]) == 1032


def test_every_variant_offers_the_tools_that_it_offers_there(suite: Suite, dumped: Mapping[str, Any]) -> None:
    for scenario in suite.all():
        for ending, variant in (("", "base"), *((f"_{name}", ours) for name, ours in PRESENTATIONS.items())):
            shown = presented(scenario, variant)
            theirs = dumped["scenarios"][f"{scenario.name}{ending}"]["presented"]
            ours = {name: tool.tool.name for name, tool in shown.items()}
            assert ours == {name: tool for name, tool in theirs.items() if tool != "end_conversation"}, scenario.name
            assert variant in VARIANTS


def test_right_answers_are_right(sessions: tuple[Played, ...]) -> None:
    short = {item.id: item.ours.score for item in sessions if item.id.endswith("/right") and item.ours.score < 1 - NEAR}
    # the tool that converts the temperature is not among the tools of this one, there as here
    name = "find_temperature_f_with_location_and_time_diff_low_battery_mode_multiple_user_turn"
    assert short == {f"{name}/right": pytest.approx(0.6)}


def test_wrong_answers_are_less(sessions: tuple[Played, ...]) -> None:
    scores = {how: [s.ours.score for s in sessions if s.id.endswith(how)] for how in ("right", "call", "askew")}
    assert sum(scores["right"]) > sum(scores["call"]) > sum(scores["askew"])


def test_right_answers_are_right_by_our_own_rules_too(suite: Suite) -> None:
    for scenario in suite.all():
        played = RehearsalStage(scenario).rehearse(scenario.solutions[0])
        ours, theirs = strict.evaluate(scenario, played.log), compat.evaluate(to_case(scenario, played.log).case)
        assert ours.score == pytest.approx(theirs.score), scenario.name


def test_the_same_calls_score_the_same_in_its_own_world(upstream: Upstream, suite: Suite, tmp_path: Path) -> None:
    plans = {
        scenario.name: {
            "ids": {name: list(scenario.world.table(name)) for name in KEYS},
            "turns": [
                {
                    "calls": [{"tool": c.tool, "arguments": c.arguments, "as": c.label} for c in turn.calls],
                    "reply": turn.reply,
                }
                for turn in scenario.solutions[0].turns
            ],
        }
        for scenario in suite.all()
        if not any(call.tool in LIVE for turn in scenario.solutions[0].turns for call in turn.calls)
    }
    assert len(plans) == 105
    (tmp_path / "plans.json").write_text(json.dumps(plans))
    files = [str(tmp_path / name) for name in ("plans.json", "verdicts.json")]
    environment = {**os.environ, "TZ": ZONE, "PYTHONPATH": str(upstream.checkout)}
    subprocess.run(
        [str(upstream.python), str(PLAYER), str(SCRIPT), NOW.isoformat(), *files], check=True, env=environment
    )
    theirs = {name: item["score"] for name, item in json.loads((tmp_path / "verdicts.json").read_text()).items()}
    ours = {}
    for name in plans:
        scenario = suite.get(name)
        log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
        ours[name] = compat.evaluate(to_case(scenario, log).case).score
    assert ours == pytest.approx(theirs, abs=NEAR)


@each("name", ["score", "milestone_score", "minefield_score", "turn_count"])
def test_every_session_is_judged_as_there(
    sessions: tuple[Played, ...], verdicts: Mapping[str, Mapping[str, Any]], name: str
) -> None:
    differ = {
        item.id: (getattr(item.ours, name), verdicts[item.id][name])
        for item in sessions
        if abs(getattr(item.ours, name) - verdicts[item.id][name]) > NEAR
    }
    assert len(verdicts) - 1 == len(sessions) == 3 * 129
    assert differ == {}


def test_the_folders_that_it_keeps_are_judged_as_there_too(
    suite: Suite, verdicts: Mapping[str, Mapping[str, Any]]
) -> None:
    differ: dict[str, tuple[float, float]] = {}
    for file in sorted(verdicts["folder"]["path"].rglob("execution_context.json")):
        name, how = file.parent.parent.name, file.parent.name
        [session] = read([_as_kept(file, name)])
        scenario = suite.get(name)
        case = to_case(scenario, assemble(session.events)).case
        ours, theirs = compat.evaluate(case), verdicts[f"{name}/{how}"]
        if abs(ours.score - theirs["score"]) > NEAR or ours.turn_count != theirs["turn_count"]:
            differ[f"{name}/{how}"] = (ours.score, theirs["score"])
    assert differ == {}


def _as_kept(file: Path, name: str) -> Path:
    """A file under the folder that has the scenario's name, as in a folder of results."""
    place = file.parent / name / file.name
    place.parent.mkdir()
    return file.rename(place)
