"""No log, however broken, makes the grader raise anything but its own errors; and what it says stays within bounds."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.explain import explain
from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.grading.scores import Scores
from sandbox_grader.milestones import ToolSandbox
from sandbox_scenarios.model import Expected, ValueRef

from sandbox_mcp.engine.trajectory import Trajectory, TrajectoryError, parse_trajectory, to_line
from tests.each import each
from tests.grader.milestones.plays import Steps, play, steps
from tests.grader.milestones.sessions import Play, call, contact, facts, milestone, row, say, scenario, state, text
from tests.laws import at_least

FOUND = ValueRef("found", path=(0, "phone"))
WRITTEN = ValueRef("found", path=(0,), decimals=(0, 2))
ASKED = scenario(
    milestone("found", call("search", name="Ann", city=None)),
    milestone("on", state("setting", "is", row(wifi=True, latitude=1.0))),
    milestone("sent", state("messaging", "adds", row(content="hi"), since="found"), after=("found",)),
    milestone("used", call("send", to=Expected(ref=FOUND)), after=("found", "on")),
    milestone(
        "moved", state("contact", "updates", row(phone_number="+9")), state("reminder", "unchanged"), after=("on",)
    ),
    milestone("gone", state("reminder", "removes", row(content="milk"), since="on"), after=("on",), transient=True),
    milestone("told", say(facts(("{p}", "done"), ("hi",), avoid=("no",), p=WRITTEN)), after=("sent", "used", "found")),
    minefields=(
        milestone("mine", call("delete", attempt=True)),
        milestone("said", say("never say this"), after=("mine",)),
    ),
    allows={"setting": ("cellular",)},
)


def good() -> Play:
    played = Play().calls("search", name="Ann", result=[{"phone": "+1"}])
    played.changes("send", "messaging", "m1", text("m1"), to="+1").sets(wifi=True)
    played.changes("edit", "contact", "c1", contact("c1", phone="+9"))
    return played.changes("rm", "reminder", "r1", None).says("hi, done")


def lines(played: Trajectory) -> list[Any]:
    return [json.loads(to_line(event)) for event in (played.started, *played.events, played.ended) if event]


LINES = lines(good().done())
WORDS = st.sampled_from(["agent", "user", "contact", "c1"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.just("content"), inner, max_size=3),
    max_leaves=6,
)


SAME = {
    str: st.text(max_size=8) | WORDS | st.sampled_from(["hi", "search", "reminder", "r1"]),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(),
    dict: st.dictionaries(WORDS, st.text(max_size=3) | st.none(), max_size=2),
    list: st.lists(WORDS, max_size=2),
}


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something is, at any depth."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inner for found in ((*path, key), *paths(item, (*path, key)))]


@st.composite
def broken_logs(draw: st.DrawFn) -> bytes:
    events = json.loads(json.dumps(LINES))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["replace", "replace", "replace", "replace", "drop", "repeat", "swap", "cut"]))
        if kind == "repeat":
            events.insert(draw(st.integers(0, len(events))), draw(st.sampled_from(events)))
        elif kind == "swap":
            events = draw(st.permutations(events))
        elif kind == "cut":
            events = events[: draw(st.integers(1, len(events)))]
        else:
            *outer, last = draw(st.sampled_from(paths(events)))
            place: Any = events
            for step in outer:
                place = place[step]
            if kind == "replace":
                place[last] = draw(SAME.get(type(place[last]), JSON) if draw(st.booleans()) else JSON)
            else:
                del place[last]
        events = events or [{}]
    data = "\n".join(json.dumps(event) for event in events).encode()
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data + b"\n"


def graded(data: bytes, mode: Mode) -> str:
    """What the grader says of a log: its refusal, or that it graded it."""
    try:
        played = parse_trajectory(data, "log.jsonl")
        verdict = ToolSandbox().grade(Subject(played, scenario=ASKED), mode)
    except (TrajectoryError, GraderError) as error:
        return str(error)
    check(verdict, played, mode)
    return "graded"


def check(verdict: Any, played: Trajectory, mode: Mode) -> None:
    if verdict.inconclusive is None:
        values = verdict.values
        assert 0 <= values["score"] <= values["milestones"] <= 1
        assert values["turn_count"] >= 0
        milestones = [item for item in verdict.details if item["kind"] == "milestone"]
        assert all(0 <= item["effective"] <= item["similarity"] <= 1 for item in milestones)
    started = played.started
    scores = Scores(started.session, started.scenario, started.variant, 0, (), mode, {"toolsandbox": verdict})
    json.dumps(scores.to_json())
    assert explain(scores)


@settings(
    max_examples=at_least(50), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(broken_logs(), st.sampled_from(["strict", "compat"]))
def test_a_broken_log_is_graded_or_refused_with_its_place(data: bytes, mode: Mode):
    said = graded(data, mode)
    assert said == "graded" or said.startswith("log.jsonl:")


@settings(max_examples=at_least(40), deadline=None)
@given(st.binary(max_size=200))
def test_anything_at_all_is_refused_with_its_place(data: bytes):
    assert graded(data, "strict").startswith("log.jsonl:")


@settings(max_examples=at_least(50), deadline=None)
@given(steps())
def test_any_session_is_graded_within_bounds(todo: Steps):
    played = play(todo).done()
    for mode in ("strict", "compat"):
        check(ToolSandbox().grade(Subject(played, scenario=ASKED), mode), played, mode)


@settings(max_examples=at_least(40), deadline=None)
@given(steps())
def test_harm_never_helps(todo: Steps):
    """Whatever was done, deleting somebody afterwards earns nothing."""
    before, after = play(todo), play(todo).changes("rm", "contact", "c1", None)
    scores = [ToolSandbox().grade(Subject(p.done(), scenario=ASKED), "strict").values["score"] for p in (before, after)]
    assert scores[1] <= scores[0]


@settings(max_examples=at_least(40), deadline=None)
@given(steps())
def test_a_log_says_the_same_after_it_was_written_and_read(todo: Steps):
    played = play(todo).done()
    again = parse_trajectory("\n".join(map(json.dumps, lines(played))).encode())
    first, second = (ToolSandbox().grade(Subject(p, scenario=ASKED), "strict") for p in (played, again))
    assert first == second


@each("number", [10**400, 10**5000, -(10**5000)], ids=["huge", "unwritable", "unwritable-negative"])
@each("mode", ["strict", "compat"])
def test_numbers_beyond_all_bounds(number: int, mode: Mode):
    played = Play().calls("search", name="Ann", result=[number]).calls("send", to=number).says("hi, done").done()
    verdict = ToolSandbox().grade(Subject(played, scenario=ASKED), mode)
    assert 0 <= verdict.values["score"] <= 1
