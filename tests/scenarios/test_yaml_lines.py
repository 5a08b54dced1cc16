"""YAML as scenario files use it: few surprises, and a line for everything."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios import ScenarioFileError
from sandbox_scenarios.yaml_lines import load

from tests.each import each


def value(text: str) -> Any:
    return load(f"x: {text}\n", "x.yaml")[0]["x"]


@each("text", ["on", "off", "yes", "No", "y", "True", "FALSE", "Null", "NULL"])
def test_only_true_and_false_are_booleans_and_only_null_is_null(text: str) -> None:
    assert value(text) == text


@each(
    ("text", "meant"),
    [
        ("true", True), ("false", False), ("null", None), ("~", None), ("", None), ("3", 3), ("-3", -3), ("0", 0),
        ("2.50", 2.5), ("-87.6233", -87.6233), ("1.5e3", 1500.0),
    ],
)  # fmt: skip
def test_plain_values_are_what_they_look_like(text: str, meant: Any) -> None:
    found = value(text)
    assert found == meant
    assert type(found) is type(meant)


@each(
    "text",
    ["+13125550142", "0491570737", "17:30", "1_000", "0x1F", "007", ".5", "5.", "1e5", "12:30:45", "1,200", "+5"],
)
def test_what_only_looks_like_a_number_stays_text(text: str) -> None:
    assert value(text) == text


def test_dates_and_times_are_read() -> None:
    assert value("2025-05-16 09:30:00") == datetime(2025, 5, 16, 9, 30)  # noqa: DTZ001 - wall time of the scenario
    assert value("2025-05-16 09:30:00+02:00") == datetime(2025, 5, 16, 9, 30, tzinfo=timezone(timedelta(hours=2)))
    assert value("2025-05-16T07:30:00Z") == datetime(2025, 5, 16, 7, 30, tzinfo=UTC)
    assert value("2025-05-16") == date(2025, 5, 16)


def test_keys_are_text_whatever_they_look_like() -> None:
    data, _ = load("{on: 1, true: 2, 3: 4, 2025-01-01: 5, ~: 6}", "x.yaml")
    assert list(data) == ["on", "true", "3", "2025-01-01", "~"]


def test_anchors_and_merge_keys_work() -> None:
    data, _ = load("a: &a {p: 1, q: 2}\nb: {<<: *a, q: 3}\n", "x.yaml")
    assert data["b"] == {"p": 1, "q": 3}


TEXT = """\
family: x
scenarios:
  - name: a
    tools: [p,
      q]
  - name: b
    tools+:
      - r
    user: {goal: g,
           opening: o}
"""


@each(
    ("path", "line"),
    [
        ((), 1),
        (("family",), 1),
        (("scenarios",), 2),
        (("scenarios", 0), 3),
        (("scenarios", 0, "tools"), 4),
        (("scenarios", 0, "tools", 1), 5),
        (("scenarios", 1, "tools", 0), 8),
        (("scenarios", 1, "user", "opening"), 10),
        (("scenarios", 1, "user", "script", "then"), 9),
        (("scenarios", 7), 2),
        (("scenarios", 0, "tools", "x"), 4),
    ],
)
def test_a_path_leads_to_a_line_or_to_that_of_what_would_hold_it(path: tuple[str | int, ...], line: int) -> None:
    assert load(TEXT, "x.yaml")[1].of(path) == line


def test_how_far_a_path_leads() -> None:
    assert load(TEXT, "x.yaml")[1].find(("scenarios", 1, "user", "script", "then")) == (3, 9)


@given(st.dictionaries(st.text("abcxyz", min_size=1, max_size=4), st.integers() | st.text("abc ,:é", max_size=9)))
def test_what_json_says_is_read_the_same(data: dict[str, Any]) -> None:
    import json

    assert load(json.dumps({"x": data}, ensure_ascii=False), "x.yaml")[0]["x"] == data


BOMB = "".join(f"a{n}: &a{n} [{', '.join(['x' if n == 0 else f'*a{n - 1}'] * 9)}]\n" for n in range(9))
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}\n" for n in range(1, 40))


@each(
    ("text", "problem"),
    [
        (BOMB, "aliases"),
        (MERGES, "aliases"),
        ("a: " + "[" * 20_000 + "]" * 20_000, "nests deeper"),
        ("a: " + "{a: " * 500 + "1" + "}" * 500, "nests deeper"),
        ("- " * 5_000 + "x", "nests deeper"),
        ("".join(f"{' ' * n}a:\n" for n in range(2_000)), "nests deeper"),
        ("[" * 1_000_000, "nests deeper"),
        ("? " * 5_000 + "x", "nests deeper"),
        ("a: " + "9" * 6_000, "too large"),
        ("a: -" + "9" * 41, "too large"),
        ("a: 1.0e999", "too large"),
        ("a: " + "1" * 400 + ".5", "too large"),
    ],
)
def test_what_a_file_can_cost_is_bounded(text: str, problem: str) -> None:
    with pytest.raises(ScenarioFileError, match=problem):
        load(text, "x.yaml")


@each("text", ["a: '" + "[" * 500 + "'", "a: |\n" + " " * 200 + "deep in a text", "# " + "{" * 500 + "\na: 1"])
def test_what_only_looks_deep_is_read(text: str) -> None:
    load(text, "x.yaml")


@given(st.text(st.sampled_from("[]{}:-?,&*a1 \n'\"#|>!%"), max_size=120))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    with suppress(ScenarioFileError):
        load(text, "x.yaml")
