"""Which sessions a command means, before anything is played."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios import Suite, UnknownScenarioError
from sandbox_scenarios.selectors import SelectorError, select

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.unit import Shard, Unit, plan
from tests.clients.sessions import SUITE, write
from tests.each import each

NAMES = SUITE.names()


def test_no_selector_means_all() -> None:
    assert select(SUITE, ()) == NAMES


def test_names_come_in_the_order_of_the_suite_and_once() -> None:
    assert select(SUITE, ("wifi_off", "landlord_number", "wifi_of?")) == ("landlord_number", "wifi_off")


def test_a_pattern_selects_what_it_matches() -> None:
    chosen = select(SUITE, ("late_for_dinner_*",))
    assert chosen
    assert set(chosen) == {name for name in NAMES if name.startswith("late_for_dinner_")}


def test_a_category_selects_its_scenarios() -> None:
    chosen = select(SUITE, ("category:insufficient_information",))
    assert chosen
    assert all("insufficient_information" in SUITE.get(name).categories for name in chosen)


def test_a_family_selects_what_stands_in_its_file() -> None:
    chosen = select(SUITE, ("family:rewording*",))
    assert chosen
    assert {SUITE.family(name) for name in chosen} == {"rewordings"}


def test_pairs_are_branches_with_what_they_branch_from() -> None:
    chosen = select(SUITE, ("extends:wifi_off",))
    assert "wifi_off" in chosen
    assert len(chosen) > 1
    assert {SUITE.original(name) for name in chosen if name != "wifi_off"} == {"wifi_off"}


def test_what_branches_from_a_base_is_no_pair() -> None:
    assert SUITE.original(SUITE.lineage("wifi_off")[-1]) is None
    paired = set(select(SUITE, ("extends:*",)))
    assert paired < set(NAMES)
    assert all(SUITE.original(name) is None for name in set(NAMES) - paired)


def test_a_file_holds_selectors_one_a_line(tmp_path: Path) -> None:
    listed = write(tmp_path / "nightly.txt", "# nightly\nwifi_off  # the simplest\n\ncategory:canonicalization\n")
    assert set(select(SUITE, (f"@{listed}",))) == {"wifi_off", *select(SUITE, ("category:canonicalization",))}


def test_a_dash_reads_selectors_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("wifi_off\n"))
    assert select(SUITE, ("-",)) == ("wifi_off",)


def test_built_in_scenarios_can_be_named_beside_ones_own(tmp_path: Path) -> None:
    own = write(tmp_path / "own.yaml", "family: own\nscenarios:\n  - {name: my_wifi_off, extends: wifi_off}\n")
    suite = Suite([own])
    assert select(suite, ()) == ("my_wifi_off",)
    assert select(suite, ("wifi_off", "my_*")) == ("my_wifi_off", "wifi_off")


@each(
    ("selector", "says"),
    [
        ("no_such_family_*", "selector 'no_such_family_*' matches no scenario"),
        ("family:constraint", "no scenario is of family 'constraint'; did you mean 'constraints'"),
        ("extends:no_such", "no scenario branches from a scenario 'no_such'"),
        ("category:single_tool", "unknown category 'single_tool'; did you mean 'single_tool_call'"),
        ("@no-such-file", "selector file 'no-such-file' cannot be read: No such file"),
        ("pyproject.toml", "is a file; write @pyproject.toml for selectors in it, or --scenarios"),
        ("docs", "'docs' is a folder; write --scenarios docs for the scenarios in it"),
        ("@empty", "selector file 'empty' names no scenario"),
        ("-", "standard input names no scenario"),
    ],
)
def test_a_selector_that_selects_nothing_is_told(
    selector: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n# nothing changed\n"))
    if selector == "@empty":
        write(tmp_path / "empty", "# nothing changed\n")
        monkeypatch.chdir(tmp_path)
    with pytest.raises(SelectorError) as caught:
        select(SUITE, (selector,))
    assert says in str(caught.value)


def test_an_unknown_name_comes_with_suggestions() -> None:
    with pytest.raises(UnknownScenarioError, match="did you mean 'wifi_off'"):
        select(SUITE, ("wifi_of",))


# units and shards


def test_units_are_scenarios_by_variants_by_trials() -> None:
    units = plan(("a", "b"), ("base", "all_tools"), seed=7, trials=2)
    assert len(units) == len({unit.name for unit in units}) == 8
    assert units[0] == Unit("a", "base", 7, 0)
    assert units[0].name == "a-base-s7-t0"


@given(st.integers(0, 50), st.integers(1, 9))
def test_shards_are_a_partition_of_almost_equal_parts(total: int, count: int) -> None:
    units = plan([f"s{number}" for number in range(total)], ("base",), 0, 1)
    shards = [Shard(index, count).of(units) for index in range(1, count + 1)]
    assert sorted(unit for shard in shards for unit in shard) == sorted(units)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@each("seed", [2**63, -(10**300)])
def test_a_seed_that_no_log_can_be_named_by_is_told(seed: int) -> None:
    with pytest.raises(RunError, match="the seed is part of every log's name; expected one from"):
        plan(("a",), ("base",), seed, 1)


@each("text", ["0/2", "3/2", "2", "a/b", "1/0", "-1/2", ""])
def test_a_shard_of_another_form_is_told(text: str) -> None:
    with pytest.raises(RunError, match="is not of the form I/N"):
        Shard.parse(text)


@each(("index", "count"), [(0, 2), (3, 2), (-1, 2), (0, 0)])
def test_there_is_no_part_that_is_none_of_all(index: int, count: int) -> None:
    with pytest.raises(RunError, match="there is no part"):
        Shard(index, count)


def test_a_shard_is_read_as_it_is_written() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)


TAGGED = """
family: tagged
scenarios:
- {name: one, extends: gulf, tags: ["study:first", "other:part"], user: {goal: g, opening: o}}
- {name: two, extends: one, user: {goal: g, opening: o}}
- {name: three, extends: gulf, tags: ["study:second"], user: {goal: g, opening: o}}
"""


@each(
    ("selectors", "names"),
    [
        (("study:first",), ("one",)),
        (("study:*",), ("one", "three")),
        (("other:part", "two"), ("one", "two")),
        (("world:phone", "study:*"), ("one", "three")),
    ],
)
def test_a_tag_selects_its_scenarios_and_is_not_inherited(
    tmp_path: Path, selectors: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert select(Suite([write(tmp_path / "tagged.yaml", TAGGED)]), selectors) == names


def test_a_tag_that_nothing_has_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SelectorError, match="no scenario has a tag 'study:third'"):
        select(Suite([write(tmp_path / "tagged.yaml", TAGGED)]), ("study:third",))


def test_tags_are_no_part_of_the_digest(tmp_path: Path) -> None:
    plain = TAGGED.replace(', tags: ["study:second"]', "")
    tagged = Suite([write(tmp_path / "tagged.yaml", TAGGED)]).get("three")
    assert Suite([write(tmp_path / "plain.yaml", plain)]).get("three").digest == tagged.digest
