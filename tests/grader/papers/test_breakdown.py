"""Runs taken apart: by groups, by what was missed and why, by errors and what became of them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.grading.course import SessionCourse, course_of
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.papers import paper_tables
from sandbox_grader.papers.shared.table import LabelledRun
from sandbox_grader.reporting.report import Report

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import LogWriter, MemoryLog
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")
OFF = AgentCall("set_wifi_status", {"on": False})


def course(*batches: list[AgentCall]) -> SessionCourse:
    """The course of a session of a known scenario in which these batches were called."""
    log = MemoryLog()
    session = Session(SessionSpec(WIFI_OFF), ScriptedUser(WIFI_OFF.user.script), log)
    session.begin()
    for batch in batches:
        session.call_batch(batch)
    anyio.run(session.say, "Wifi is now off.")
    return course_of(log.trajectory())


def cells(name: str, *sessions: Scores) -> dict[str, dict[str, dict[str, Any]]]:
    """A filled breakdown: rows by label, each with its cells by column."""
    (found,) = paper_tables(f"breakdown/{name}")
    told = found.filled([LabelledRun(Report(list(sessions), name="run"), "")]).to_json()
    return {row["row"]: row["cells"] for row in told["rows"]}


def table(name: str, *sessions: Scores) -> dict[str, dict[str, Any]]:
    """A filled breakdown: rows by label, each with its values by column."""
    rows = cells(name, *sessions).items()
    return {label: {name: cell["value"] for name, cell in row.items()} for label, row in rows}


def scores(scenario: str, value: float, **more: Any) -> Scores:
    details = more.pop("details", ())
    verdicts = {"toolsandbox": Verdict({"score": value}, details)}
    model = more.pop("model", "m")
    return Scores(scenario, scenario, more.pop("variant", "base"), 0, more.pop("categories", ()), "strict", verdicts,
                  agent={"model": model}, **more)  # fmt: skip


def milestone(id_: str, *reasons: str, kind: str = "call of x", effective: float = 0.0) -> dict[str, Any]:
    told = [{"constraint": kind, "seq": None, "text": text} for text in reasons]
    return {"kind": "milestone", "id": id_, "about": "", "effective": effective, "reasons": told}


# -- the course of a session --------------------------------------------------------------------------------------


def test_a_session_without_calls_has_no_course_but_its_place() -> None:
    found = course()
    assert (found.world, found.tools, found.turns, found.calls) == ("phone", 1, 1, 0)


def test_a_slip_is_mended_by_a_later_call_of_that_tool() -> None:
    wrong = AgentCall("set_wifi_status", {"on": "off"})
    found = course([wrong], [wrong], [OFF])
    assert (found.calls, found.failed, found.slips) == (3, 2, (("wrong_type", True),))
    assert course([wrong]).slips == (("wrong_type", False),)


def test_a_tool_that_there_is_not_is_mended_by_any() -> None:
    assert course([AgentCall("wifi_off", {})], [OFF]).slips == (("unknown_tool", True),)


def test_a_tool_that_fails_again_after_it_worked_has_slipped_twice() -> None:
    wrong = AgentCall("set_wifi_status", {})
    assert course([wrong], [OFF], [wrong]).slips == (("missing_argument", True), ("missing_argument", False))


def test_calls_at_once_that_touch_the_same_state_have_lost_their_race() -> None:
    found = course([OFF, AgentCall("set_wifi_status", {"on": True})])
    assert (found.parallel, found.raced, found.doubled) == (1, 1, 0)


def test_the_same_call_twice_at_once_is_doubled() -> None:
    assert course([OFF, OFF, OFF]).doubled == 2
    assert course([OFF], [OFF]).doubled == 0


@given(
    st.builds(
        SessionCourse,
        world=st.text(max_size=5),
        calls=st.integers(0, 9),
        slips=st.lists(st.tuples(st.text(max_size=5), st.booleans()), max_size=3).map(tuple),
    )
)
def test_a_course_is_read_back_as_it_was_written(found: SessionCourse) -> None:
    assert SessionCourse.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_scores_keep_the_course() -> None:
    log = MemoryLog()
    session = Session(SessionSpec(WIFI_OFF), ScriptedUser(WIFI_OFF.user.script), log)
    session.begin()
    session.call_batch([OFF])
    anyio.run(session.say, "Wifi is now off.")
    found = grade(log.trajectory(), WIFI_OFF)
    assert Scores.from_json(found.to_json()).course == found.course
    assert found.course.calls == 1


# -- groups -------------------------------------------------------------------------------------------------------


def test_groups_come_in_their_natural_order() -> None:
    sessions = [scores(str(n), 1.0, course=SessionCourse(calls=n)) for n in (12, 2, 0, 30, 5)]
    assert list(table("calls", *sessions)) == ["0", "2", "4 to 5", "10 to 19", "20 and more"]


def test_difficulty_is_told_by_the_calls_that_are_wanted() -> None:
    asked = scores("a", 0.0)
    known = {**asked.verdicts, "tooltalk": Verdict({"ground_truths": 3})}
    assert list(table("wanted", replace(asked, verdicts=known), scores("b", 1.0))) == ["3", "not told"]


def test_a_session_counts_in_each_of_its_categories() -> None:
    found = table("category", scores("a", 1.0, categories=("x", "y")), scores("b", 0.0, categories=("y",)))
    assert {name: (row["sessions"], row["score"]) for name, row in found.items()} == {"x": (1, 1.0), "y": (2, 0.5)}


def test_several_models_are_taken_apart_each_by_itself() -> None:
    found = table("variant", scores("a", 1.0, model="one"), scores("a", 0.0, model="two"))
    assert {name: row["score"] for name, row in found.items()} == {"one: base": 1.0, "two: base": 0.0}


def test_figures_that_no_session_has_are_left_out() -> None:
    assert "MTU right" not in table("world", scores("a", 1.0))["not told"]


def test_sessions_that_do_not_count_are_counted_and_measured_by_nothing() -> None:
    played = scores("a", 1.0, course=SessionCourse(calls=2, failed=1))
    broke = scores("b", 0.0, course=SessionCourse(calls=40, failed=40), reason="it broke")
    row = table("variant", played, broke)["base"]
    assert (row["sessions"], row["scored"], row["score"]) == (2, 1, 1.0)
    assert (row["calls"], row["failed calls"]) == (2, 1)


def test_no_interval_of_a_count_lies_below_nothing() -> None:
    few = [scores(str(n), 0.0, course=SessionCourse(calls=9 * (n == 0), failed=9 * (n == 0))) for n in range(5)]
    found = cells("variant", *few)["base"]
    assert {name: found[name]["low"] for name in ("calls", "failed calls")} == {"calls": 0.0, "failed calls": 0.0}


def test_every_session_is_in_every_grouping_by_one_thing() -> None:
    sessions = [scores(str(n), 1.0, course=SessionCourse(calls=n, turns=n, replies=n, tools=n)) for n in range(25)]
    for name in ("calls", "turns", "tools", "world", "variant", "ending"):
        assert sum(row["sessions"] for row in table(name, *sessions).values()) == 25


# -- what was missed ----------------------------------------------------------------------------------------------

A = [milestone("found", "x was never called"), milestone("told", "does not say 'y'", kind="message")]
B = [milestone("found", effective=1.0), milestone("told", "does not say 'y'", kind="message")]
RESTING = {**milestone("after"), "reasons": [{"constraint": "after", "seq": None, "text": "rests on another"}]}


def test_a_milestone_comes_with_how_often_and_why_it_was_missed() -> None:
    found = table("milestones", scores("s", 0.0, details=A), scores("s", 0.5, details=B))
    assert list(found) == ["s: told", "s: found"]
    assert found["s: found"] == {"sessions": 2, "missed": 1, "missed %": 50.0, "why": "x was never called"}
    assert found["s: told"]["missed %"] == 100.0


def test_a_milestone_that_only_rests_on_another_is_not_blamed() -> None:
    assert table("milestones", scores("s", 0.0, details=[RESTING])) == {}


def test_the_most_frequent_reason_says_how_frequent_it_is() -> None:
    told = [scores(str(n), 0.0, details=[milestone("m", why)]) for n, why in enumerate(("p", "q", "q"))]
    found = table("reasons", *told)
    assert found["call of x"]["why"] == "q (2 of 3)"


def test_reasons_are_counted_once_a_session_over_all_that_were_judged() -> None:
    twice = [milestone("one", "p"), milestone("two", "q")]
    found = table("reasons", scores("a", 0.0, details=twice), scores("b", 1.0), scores("c", 0.0, reason="it broke"))
    assert found == {"call of x": {"sessions": 2, "missed": 1, "missed %": 50.0, "why": "p"}}


@each(
    ("detail", "kind"),
    [
        ({"kind": "minefield", "id": "m", "about": "calls all", "met": True}, "minefield"),
        ({"kind": "untrue", "text": "says what is not so"}, "untrue"),
        (
            {"kind": "unwanted", "change": "adds", "table": "contact", "text": "a row too many"},
            "unwanted: adds contact",
        ),
    ],
)
def test_what_voids_a_score_is_a_reason_too(detail: dict[str, Any], kind: str) -> None:
    assert table("reasons", scores("s", 0.0, details=[detail]))[kind]["missed"] == 1


# -- errors -------------------------------------------------------------------------------------------------------


def test_recovery_is_told_by_the_kind_of_error() -> None:
    mended = scores("a", 1.0, course=SessionCourse(calls=2, failed=1, slips=(("wrong_type", True),)))
    lost = scores("b", 0.0, course=SessionCourse(calls=1, failed=1, slips=(("execution", False),)))
    (row,) = table("recovery", mended, lost, scores("c", 0.5)).values()
    assert (row["slips"], row["mended %"], row["wrong type: mended %"], row["execution: mended %"]) == (2, 50, 100, 0)
    assert (row["score with slips"], row["score without slips"]) == (0.5, 0.5)
    assert "refused: mended %" not in row


def test_the_command_takes_a_real_run_apart(tmp_path: Path) -> None:
    for trial in range(2):
        with LogWriter(tmp_path / f"{trial}.jsonl") as log:
            session = Session(SessionSpec(WIFI_OFF, trial=trial), ScriptedUser(WIFI_OFF.user.script), log)
            session.begin()
            if trial:
                session.call_batch([OFF])
            anyio.run(session.say, "Wifi is now off." if trial else "No.")
    done = CliRunner().invoke(group, ["table", "breakdown", str(tmp_path), "--json", "--quiet"])
    assert done.exit_code == 0, done.output
    found = {item["table"].partition("/")[2]: item["rows"] for item in json.loads(done.stdout)}
    assert {row["row"]: row["cells"]["score"]["value"] for row in found["calls"]} == {"0": 0.0, "1": 1.0}
    page = CliRunner().invoke(group, ["table", "breakdown/milestones", str(tmp_path), "--quiet"])
    assert "setting: wifi true, expected false" in page.output
