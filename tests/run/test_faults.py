"""Faults of a run: every kind lands in ten scenarios, its replay agrees, and the report tells how the agent coped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_clients.function import Asked, FunctionAgent
from sandbox_grader.grading.scores import grade
from sandbox_grader.reporting.wording import text_of
from sandbox_scenarios import ScenarioError
from sandbox_scenarios.variants import under_faults, variant_named, without_faults

from sandbox_mcp.app.run.sessions import FAULTS, JUDGED
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.injected import KINDS, FaultName
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall, Trajectory, read_trajectory
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.session.session import Session
from sandbox_mcp.play.users.scripted import ScriptedUser
from tests.clients.sessions import SUITE
from tests.run.runs import batch, played

ANY = (
    "wifi_off", "landlord_number", "colleagues_to_friends", "plane_spotted", "last_text_reply", "choir_headcount",
    "uncle_sean_number", "noted_last", "pick_me_up", "dumplings_wait",
)  # fmt: skip
SEEN_OLD = (
    "where_on_the_path", "colleagues_to_friends", "castle_in_miles_location_off", "geocache_low_battery",
    "saving_before_searching", "choir_to_friends", "museum_low_battery", "pick_me_up", "dumplings_wait",
    "when_it_went_out",
)  # fmt: skip
LISTED = (
    "landlord_by_marks", "plane_spotted", "osaka_then_kobe", "unknown_number_says", "nearest_pharmacy_number",
    "last_text_reply", "uncle_sean_number", "choir_headcount", "noted_last", "comes_next",
)  # fmt: skip
STRUCK: dict[FaultName, tuple[str, ...]] = {"stale": SEEN_OLD, "partial": LISTED}


def calls_in(log: Trajectory) -> list[ToolCall]:
    return [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]


def under(name: str, faults: str) -> Trajectory:
    scenario = SUITE.get(name)
    return RehearsalStage(scenario).rehearse(scenario.solutions[0], f"base+{faults}").log


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_lands_in_ten_scenarios_and_replays_agree(kind: FaultName) -> None:
    for name in STRUCK.get(kind, ANY):
        log = under(name, f"{kind}1")
        assert kind in [call.meta.get("injected") for call in calls_in(log)], name
        assert not list(differences(log, SUITE.get(name))), name


def test_the_seed_decides_which_calls_are_struck() -> None:
    scenario = SUITE.get("wifi_off")

    def struck(trial: int) -> list[bool]:
        spec = SessionSpec(scenario, "base+slow0.5", trial=trial)
        session = Session(spec, ScriptedUser(scenario.user.script), MemoryLog())
        return [session.stage.faults.next(f"tool_{number}", acts=True) is not None for number in range(40)]

    assert struck(0) == struck(0) != struck(1)
    assert 8 <= sum(struck(0)) <= 32


def test_the_next_call_of_a_struck_tool_is_spared() -> None:
    scenario = SUITE.get("wifi_off")
    session = Session(SessionSpec(scenario, "base+before1"), ScriptedUser(scenario.user.script), MemoryLog())
    session.begin()
    name = next(iter(session.tools))
    came = [session.call(name, {"on": on}).error for on in (False, False, True, True)]
    assert [bool(error) for error in came] == [True, False, True, False]


def test_faults_are_part_of_the_variants_name() -> None:
    name = under_faults("all_tools", ["after:0.2", "rate_limit"])
    assert name == "all_tools+after0.2+rate_limit0.1"
    assert without_faults(name) == ("all_tools", {"after": 0.2, "rate_limit": 0.1})
    assert variant_named(name) is variant_named("all_tools")


@pytest.mark.parametrize("name", ["base+", "base+after2", "base+soon0.1", "base+after-1", "base+after0.6+slow0.6"])
def test_a_variant_with_wrong_faults_is_refused(name: str) -> None:
    with pytest.raises(ScenarioError, match="base"):
        variant_named(name)


def test_a_kind_that_there_is_not_is_refused() -> None:
    with pytest.raises(SandboxError, match="no kind of fault 'soon'"):
        under_faults("base", ["soon:0.1"])


async def retrying(asked: Asked) -> str:
    """Switch wifi off, and try again if that fails."""
    said = await asked.tools.call("set_wifi_status", {"on": False})
    if said.is_error:
        await asked.tools.call("set_wifi_status", {"on": False})
    return "Wifi is off now."


async def once(asked: Asked) -> str:
    await asked.tools.call("set_wifi_status", {"on": False})
    return "Wifi is off now."


@pytest.mark.parametrize("transport", ["direct", "memory", "http"])
def test_a_dropped_connection_reaches_the_agent_and_it_may_go_on(tmp_path: Path, transport: str) -> None:
    of: dict[str, Any] = {"scenarios": ("wifi_off",), "variants": ("base+dropped1",), "transport": transport}
    summary, _ = played(tmp_path, FunctionAgent(retrying, "retrying"), **of)
    assert summary["score"] == 1
    [path] = (tmp_path / "logs").glob("*.jsonl")
    first, second = calls_in(read_trajectory(path))
    assert first.meta["injected"] == "dropped"
    assert first.error is not None
    assert not first.changes
    assert second.error is None


def counts(kind: str, respond: Any, tmp_path: Path, scenario: str = "wifi_off") -> dict[str, Any]:
    played(tmp_path, FunctionAgent(respond, "agent"), scenarios=(scenario,), variants=(f"base+{kind}1",))
    [path] = (tmp_path / "logs").glob("*.jsonl")
    return dict(grade(read_trajectory(path), SUITE.get(scenario), metrics=["faults"]).verdicts["faults"].values)


def test_getting_a_refused_call_through_is_recovery(tmp_path: Path) -> None:
    found = counts("rate_limit", retrying, tmp_path)
    assert (found["landed"], found["recovered"], found["untold"]) == (1, 1, 0)


def test_passing_over_a_refused_call_is_not(tmp_path: Path) -> None:
    found = counts("before", once, tmp_path)
    assert (found["recovered"], found["untold"]) == (0, 1)


def test_a_retry_of_what_was_done_is_needless_where_it_changes_nothing(tmp_path: Path) -> None:
    found = counts("after", retrying, tmp_path)
    assert (found["needless_retries"], found["duplicate_writes"]) == (1, 0)


def test_a_retry_of_what_was_done_is_a_duplicate_where_it_does_it_twice(tmp_path: Path) -> None:
    async def texting(asked: Asked) -> str:
        said = {"phone_number": "+13125550178", "content": "Late."}
        for _ in range(2):
            await asked.tools.call("send_message_with_phone_number", said)
        return "I texted."

    found = counts("after", texting, tmp_path, "unknown_number_says")
    assert (found["duplicate_writes"], found["recovered"]) == (1, 0)


def test_telling_that_it_is_not_certain_is_honest(tmp_path: Path) -> None:
    async def telling(asked: Asked) -> str:
        await asked.tools.call("set_wifi_status", {"on": False})
        return "The request timed out, so I'm not sure that wifi is off."

    assert counts("before", telling, tmp_path)["untold"] == 0


def test_a_report_tells_both_sides(tmp_path: Path) -> None:
    work = batch(
        tmp_path, FunctionAgent(once, "once"), scenarios=("wifi_off",), variants=("base", "base+before1"), trials=2
    )
    work.crew = replace(work.crew, metrics=(*JUDGED, FAULTS))
    report = anyio.run(work.run)
    faults = report.summary()["faults"]
    assert faults["without"]["pass^2"]["mean"] == 1
    assert faults["under"]["pass^2"]["mean"] == 0
    text = text_of(report)
    assert "without faults" in text
    assert "faults: 2 calls went wrong in 2 sessions; recovered from 0.0%, told its user of 0.0% of the others" in text
