"""Scenarios of several worlds in one suite: which of them a name, a pattern or a listing means."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sandbox_grader.papers.toolscan.names import name_similarity
from sandbox_scenarios import Suite, loader
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.selectors import SelectorError, select
from sandbox_scenarios.stats import measure

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds import FILES

DECLARED = Path(__file__).parent.parent / "worlds" / "declared"
PHONE = """
family: phones
scenarios:
- {name: bare, abstract: true, clock: {now: 2025-03-14 09:26:00}, world: {setting: {cellular: true, wifi: true,
   location_service: true, low_battery_mode: false, latitude: 1, longitude: 1}}}
- {name: late_call, extends: bare, categories: [state_dependency], user: {goal: g, opening: o}}
- {name: early_call, extends: bare, user: {goal: g, opening: o}}
"""
MORE = """
family: returns
scenarios:
- {name: late_return, extends: reading_room, categories: [state_dependency], user: {goal: g, opening: o}}
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A built-in suite with two scenarios of the phone and, in a folder, two of a library, one without its name."""
    monkeypatch.setenv(FILES, str(DECLARED / "library.py"))
    built_in = tmp_path / "suite"
    (built_in / "shelves").mkdir(parents=True)
    (built_in / "phones.yaml").write_text(PHONE)
    (built_in / "shelves" / "library.yaml").write_text((DECLARED / "library.yaml").read_text())
    (built_in / "shelves" / "returns.yaml").write_text(MORE)
    monkeypatch.setattr(loader, "BUILT_IN", built_in)
    monkeypatch.setattr(loader, "BASES", built_in / "worlds")
    return Suite()


@pytest.mark.parametrize(
    ("selectors", "found"),
    [
        ([], ["late_call", "early_call"]),
        (["late_*"], ["late_call"]),
        (["category:state_dependency"], ["late_call"]),
        (["lend_the_lamplighters"], ["lend_the_lamplighters"]),
        (["world:library"], ["lend_the_lamplighters", "late_return"]),
        (["world:lib*", "late_*"], ["late_return"]),
        (["world:library", "category:state_dependency"], ["late_return"]),
        (["world:library", "early_call"], ["lend_the_lamplighters", "late_return", "early_call"]),
        (["world:phone", "world:library", "late_*"], ["late_call", "late_return"]),
        (["world:*"], ["late_call", "early_call", "lend_the_lamplighters", "late_return"]),
        (["*", "world:*"], ["late_call", "early_call", "lend_the_lamplighters", "late_return"]),
    ],
    ids=" ".join,
)
def test_a_selector_looks_in_the_world_that_is_named_and_else_in_the_phone(
    suite: Suite, selectors: list[str], found: list[str]
) -> None:
    assert list(select(suite, selectors)) == found


@pytest.mark.parametrize("selectors", [["world:office"], ["world:"], ["world:library", "early_*"]], ids=" ".join)
def test_a_selector_that_finds_nothing_in_its_world_is_an_error(suite: Suite, selectors: list[str]) -> None:
    with pytest.raises(SelectorError):
        select(suite, selectors)


def test_of_your_own_files_every_scenario_is_meant_whatever_its_world(suite: Suite) -> None:
    own = Suite([DECLARED / "library.yaml"])
    assert (own.names(), own.names("phone"), own.names("library")) == (
        ("lend_the_lamplighters",), (), ("lend_the_lamplighters",),
    )  # fmt: skip


@pytest.mark.parametrize(("broken", "world"), [("phones.yaml", "library"), ("shelves/library.yaml", "")])
def test_scenarios_of_one_world_are_listed_though_those_of_another_cannot_be_read(
    suite: Suite, broken: str, world: str
) -> None:
    path = loader.BUILT_IN / broken
    path.write_text(f"{path.read_text()}- {{name: broken, world: library, nonsense: 1}}\n")
    assert suite.names(world)
    with pytest.raises(ScenarioFileError, match="nonsense"):
        suite.names("*")


def test_every_world_has_figures_of_its_own_and_the_phone_alone_those_of_its_paper(suite: Suite) -> None:
    library, phone = (measure(suite, name_similarity, world) for world in ("library", ""))
    assert (library.scenarios, phone.scenarios) == (2, 2)
    assert (library.missed, bool(phone.missed)) == ((), True)
    assert {item.name for item in library.columns} == {"book.state", "book.reader", "book.due", "book.id"}


def test_commands_list_the_scenarios_of_a_world_by_its_name(suite: Suite) -> None:
    def listed(*arguments: str) -> list[str]:
        result = CliRunner().invoke(group, ["scenarios", "list", "--json", *arguments])
        return [item["name"] for item in json.loads(result.stdout)]

    assert listed("--world", "library") == ["lend_the_lamplighters", "late_return"]
    assert listed("--world", str(DECLARED / "library.py")) == listed("--world", "library")
    assert listed() == ["late_call", "early_call"]
    linted = CliRunner().invoke(group, ["scenarios", "lint"])
    assert "4 scenarios" in linted.stderr


def test_a_world_s_name_where_a_file_is_expected_is_an_error_that_says_how_to_select(suite: Suite) -> None:
    result = CliRunner().invoke(group, ["run", "--world", "library"])
    assert (result.exit_code, "world:library" in result.stderr) == (2, True)
