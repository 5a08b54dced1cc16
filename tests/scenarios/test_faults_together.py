"""Whoever mends a file sees in one go all that is to be mended: what has not the form, and what does not fit."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_scenarios import ScenarioFileError, Suite

from tests.laws import at_least
from tests.scenarios.files import HERE, entry, file_of, written

FORM = (
    f"max_turns: many {HERE}",
    f"colour: red {HERE}",
    f"categories: [none_such] {HERE}",
    f"sign_in: perhaps {HERE}",
    f"without: wifi {HERE}",
    f"minefields:\n  - {{id: A, tool: wait}} {HERE}",
    f"reference:\n  - turns:\n      - {{calls: []}} {HERE}",
)
FIT = (
    f"tools: [set_wify] {HERE}",
    f"milestones:\n  - {{id: a, table: settings, is: {{wifi: true}}}} {HERE}",
    f"milestones:\n  - {{id: a, tool: set_wify}} {HERE}",
    f"clock: {{now: yesterday}} {HERE}",
    f"confirm: [set_wify] {HERE}",
    f"allows: {{nothing: [add]}} {HERE}",
)


def told(*places: Path) -> set[tuple[str, int | None]]:
    """Files and lines of all that is told about some files."""
    try:
        suite = Suite(places)
        suite.load(suite.names())
    except ScenarioFileError as fault:
        return {(item.path, item.line) for item in (fault, *fault.more)}  # pyright: ignore[reportAttributeAccessIssue]
    return set()


def marked(path: Path) -> set[tuple[str, int | None]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {(str(path), number) for number, line in enumerate(lines, start=1) if HERE in line}


@settings(max_examples=at_least(40))
@given(bodies=st.lists(st.tuples(st.sampled_from(("", *FORM)), st.sampled_from(("", *FIT))), min_size=1, max_size=4))
def test_every_fault_is_told_where_it_stands_and_none_is_made_up(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[tuple[str, str]]
) -> None:
    entries = [entry("\n".join(filter(None, body)), f"mine_{number}") for number, body in enumerate(bodies)]
    path = written(tmp_path_factory.mktemp("own"), file_of(*entries))
    assert told(path) == marked(path)


def test_what_extends_an_entry_that_cannot_be_read_is_not_blamed_for_it(tmp_path: Path) -> None:
    text = (
        f"family: mine\nscenarios:\n  - name: mine\n    world: 7 {HERE}\n"
        "  - {name: second, extends: mine, tools: [set_wify]}\n  - {name: third, extends: second}\n"
    )
    path = written(tmp_path, text)
    assert told(path) == marked(path)


def test_items_of_a_list_that_are_sound_are_read_beside_one_that_is_not(tmp_path: Path) -> None:
    body = f"milestones:\n  - {{id: a, tool: wait, wen: now}} {HERE}\n  - {{id: b, tool: set_wify}} {HERE}"
    path = written(tmp_path, file_of(entry(body)))
    assert told(path) == marked(path)


def test_of_two_files_all_is_told_although_one_has_not_the_form(tmp_path: Path) -> None:
    first = written(tmp_path, file_of(entry(FORM[0], "one"), entry(FIT[0], "two", "third")), "first.yaml")
    second = written(tmp_path, file_of(entry(FIT[4], "third"), entry("", "four", "one")), "second.yaml")
    assert told(first, second) == told(second, first) == marked(first) | marked(second)


def test_several_names_that_stand_twice_are_all_told(tmp_path: Path) -> None:
    again = (entry(name=name).replace("\n", f" {HERE}\n", 1) for name in ("one", "two"))
    path = written(tmp_path, file_of(entry(name="one"), entry(name="two"), *again))
    assert told(path) == marked(path)
