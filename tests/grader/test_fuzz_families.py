"""No log, however broken, makes any family of metrics raise anything but the grader's own errors."""

import copy
import json
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Mode
from sandbox_grader.reporting.grade_logs import graded as graded_log
from sandbox_grader.reporting.report import Report
from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import TrajectoryError, parse_trajectory, to_line
from tests.each import each
from tests.laws import at_least
from tests.scenarios.playing import solved
from tests.suite import SUITE

NAMES = ("wifi_off", "late_for_dinner_low_battery", "car_fixed", "yen_in_us_dollars_wifi_off", "bank_not_monday")
MODES: tuple[Mode, ...] = ("strict", "paper", "compat")
LAW = settings(max_examples=at_least(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORDS = (
    "", "x", "-1", "NaN", "wifi is off", "I've sent it to +12025550100 for 5 EUR.", "set_wifi_status", "agent", "user",
    "send_message_with_phone_number", "convert_currency", "get_current_timestamp", "null", "{", "\ud83d", "\x00",
    "refused", "execution", "tooltalk", "toolscan", "mtu",
)  # fmt: skip
NUMBERS = (0, -1, 1, 10**400, -(10**4200), 1e308, -0.0, 2**63, 1.7e9)

leaves = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(WORDS), st.text(max_size=5))
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)

FORMATS = ("tooltalk", "toolscan", "mtu", "atif")
origins = st.fixed_dictionaries(
    {},
    optional={
        "losses": values, "prefix_replay": values, "empty_turns": values, "setting": values,
        "form": st.sampled_from(("S-S", "M-M", "x")),
        "rows": st.just([{"id": "r", "answer": {"x": {"a": 1}}}]) | values,
        "case": values | st.fixed_dictionaries(
            {"api_list": st.dictionaries(st.sampled_from(WORDS), values | st.fixed_dictionaries(
                {"parameters": st.dictionaries(st.sampled_from(WORDS), st.fixed_dictionaries({"type": values}))}
            ))},
            optional={"observations": values | st.just(["x"]), "feedback": values, "answer": values,
                      "goal_type": st.sampled_from((1, 2, None))},
        ),
    },
)  # fmt: skip
"""What an import may have noted, or what looks like it."""


@cache
def scenario(name: str) -> Scenario:
    return SUITE.get(name)


@cache
def lines(name: str) -> list[dict[str, Any]]:
    """A good session, event by event, as JSON; with its solution and labels, so that all families have work."""
    found = scenario(name)
    log = solved(found)
    told = [json.loads(to_line(event)) for event in (log.started, *log.events, log.ended) if event]
    told[0]["reference"] = []
    return told


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of a JSON value but the value itself."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        items = enumerate(cast("list[Any]", value))
    return [place for key, item in items for place in ((*path, key), *places(item, (*path, key)))]


def put(whole: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        whole = whole[key]
    if value is DROP:
        del whole[path[-1]]
    else:
        whole[path[-1]] = value


DROP = object()


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A good session of which some lines are gone, doubled or exchanged, and some values are others."""
    name = draw(st.sampled_from(NAMES))
    told = copy.deepcopy(lines(name))
    if draw(st.booleans()):
        told[0]["world"] = None
    if draw(st.booleans()):
        told[0]["reference"] = [[{"calls": [draw(wanted())], "reply": draw(st.none() | st.sampled_from(WORDS))}]]
    if draw(st.booleans()):
        told[0]["origin"] = {"format": draw(st.sampled_from(FORMATS)), **draw(origins)}
    for _ in range(draw(st.integers(0, 4))):
        line = draw(st.integers(0, len(told) - 1))
        kind = draw(st.sampled_from(["value", "value", "value", "drop", "double", "swap"]))
        if kind == "drop" and len(told) > 1:
            del told[line]
        elif kind == "double":
            told.insert(line, copy.deepcopy(told[line]))
        elif kind == "swap":
            told.append(told.pop(line))
        else:
            found = places(told[line])
            if found:
                put(told[line], draw(st.sampled_from(found)), draw(values | st.just(DROP)))
    return name, told


def wanted() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"tool": st.sampled_from(WORDS), "arguments": st.dictionaries(st.sampled_from(WORDS), values, max_size=3)},
        optional={"result": values, "error": st.sampled_from(WORDS), "action": st.booleans()},
    )


def graded(name: str, data: bytes, mode: Mode) -> Any:
    """What there is to say about bytes that may be a log; None where they are none, or cannot be graded."""
    try:
        one = graded_log(parse_trajectory(data, "broken.jsonl"), scenario(name), mode)
        return Report([one.scores], mode, warnings=[*one.warnings]).to_json()
    except (GraderError, TrajectoryError):
        return None


def written(told: list[Any]) -> bytes:
    return "\n".join(json.dumps(line) for line in told).encode("utf-8", "surrogatepass")


@LAW
@given(case=broken(), mode=st.sampled_from(MODES))
def test_broken_values_and_lines(case: tuple[str, list[Any]], mode: Mode):
    name, told = case
    graded(name, written(told), mode)


@LAW
@given(name=st.sampled_from(NAMES), cut=st.integers(1, 3000), junk=st.binary(max_size=8), mode=st.sampled_from(MODES))
def test_broken_bytes(name: str, cut: int, junk: bytes, mode: Mode):
    data = written(lines(name))
    at = len(data) - cut % len(data)
    graded(name, data[:at] + junk, mode)
    graded(name, data[:at] + junk + data[at:], mode)


@LAW
@example(made=[("", 10**400, None, None)], mode="strict")
@given(
    made=st.lists(st.tuples(st.sampled_from(NAMES), values, values, values), max_size=5), mode=st.sampled_from(MODES)
)
def test_calls_with_anything_in_them(made: list[tuple[str, Any, Any, Any]], mode: Mode):
    told = copy.deepcopy(lines("late_for_dinner_low_battery"))
    calls = [line for line in told if line["event"] == "tool_call"]
    for call, (_, arguments, result, meta) in zip(calls, made, strict=False):
        call["arguments"] = arguments if isinstance(arguments, dict) else {"x": arguments}
        call["result"] = result
        call["meta"] = meta if isinstance(meta, dict) else {"turn": meta, "text": meta}
    whole = graded("late_for_dinner_low_battery", written(told), mode)
    assert whole is None or 0 <= (whole["sessions"][0]["metrics"]["toolsandbox"].get("score") or 0) <= 1


@each("clock", [1.7e12, 1e308])
def test_clocks_that_tell_no_time(clock: float):
    told = copy.deepcopy(lines("late_for_dinner_low_battery"))
    for line in told[1:]:
        line["clock"] = clock
        line.get("arguments", {}).update(content="otherwise than planned")
    assert (
        graded("late_for_dinner_low_battery", written(told), "strict")["sessions"][0]["metrics"]["tooltalk"]["recall"]
        > 0.5
    )


@each("mode", MODES)
@each("name", NAMES)
def test_the_whole_session_is_what_the_fuzzing_starts_from(name: str, mode: Mode):
    whole = graded(name, written(lines(name)), mode)
    assert whole["sessions"][0]["metrics"]["toolsandbox"]["score"] > 0.6
    assert set(whole["families"]) == {"toolsandbox", "tooltalk", "toolscan", "mtu_bench", "conduct", "user_conduct"}
