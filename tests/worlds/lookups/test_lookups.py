"""The look-up worlds: what they offer, what they know, and what is asked of them."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import fmean
from types import CodeType, FunctionType
from typing import Any

import pytest
from sandbox_grader.grading.scores import grade
from sandbox_grader.milestones.baselines import REFUSAL
from sandbox_grader.papers.toolscan.names import name_similarity
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.loader import BUILT_IN as SUITE_FOLDER
from sandbox_scenarios.selectors import select
from sandbox_scenarios.stats.environments import TOOLSCAN, environments
from sandbox_scenarios.stats.measure import turns

from sandbox_mcp.engine.tools import call, present
from sandbox_mcp.engine.tools.calling import Outcome
from sandbox_mcp.engine.trajectory import MemoryLog
from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot, snapshot_of
from sandbox_mcp.engine.world.fixed import FixedRows
from sandbox_mcp.engine.worlds import BUILT_IN, named
from sandbox_mcp.engine.worlds.lookups.looking import first
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.scenarios.playing import solved, talk

WORLDS = tuple(name for name, place in BUILT_IN.items() if ".lookups." in place)
PUBLISHED = (0.08, 0.5667)
"""The least and the largest mean similarity of names, stop words left out, of ToolScan's lists and of its example."""


@pytest.fixture(scope="module")
def suite() -> Suite:
    return Suite([SUITE_FOLDER / "lookups"])


def of_paper(suite: Suite, world: str) -> list[Scenario]:
    return [item for item in suite.all() if f"toolscan:{world}" in item.tags]


@each("name", WORLDS)
class TestEveryWorld:
    def test_it_offers_four_to_fourteen_tools_that_only_look(self, name: str) -> None:
        tools = named(name).agent_tools.values()
        assert 4 <= len(tools) <= 14
        assert not any(tool.action for tool in tools)

    def test_names_are_as_easily_confused_as_in_the_published_lists(self, name: str) -> None:
        least, largest = PUBLISHED
        assert least <= name_similarity(named(name).agent_tools)["stop"] <= largest

    def test_every_tool_and_every_argument_is_described(self, name: str) -> None:
        for tool in named(name).agent_tools.values():
            assert tool.description
            assert all(parameter.description for parameter in tool.parameters), tool.name

    def test_nothing_it_knows_is_part_of_a_state(self, name: str) -> None:
        assert not named(name).state_tables

    def test_every_row_that_is_referred_to_exists(self, name: str) -> None:
        tables = named(name).tables
        for schema in tables.values():
            for column in schema.columns:
                if column.role is not None and column.role.kind == "id":
                    there = FixedRows.of(tables[column.role.table]).rows
                    cells = (row[column.name] for row in FixedRows.of(schema).rows.values())
                    assert all(cell is None or cell in there for cell in cells), f"{schema.name}.{column.name}"

    def test_starting_with_it_loads_no_other(self, name: str) -> None:
        module = BUILT_IN[name].partition(":")[0]
        loaded = "[m for m in sys.modules if m.startswith('sandbox_mcp.engine.worlds.') and 'lookups.' in m]"
        code = f"import json, sys; from sandbox_mcp.engine.worlds import named; named({name!r}).tools"
        code += f"; print(json.dumps({loaded}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert set(json.loads(done.stdout)) == {"sandbox_mcp.engine.worlds.lookups.looking", module}


@each("name", WORLDS)
class TestScenariosOfEveryWorld:
    def test_there_are_as_many_as_in_the_paper(self, suite: Suite, name: str) -> None:
        assert len(of_paper(suite, name)) == TOOLSCAN[name].queries

    def test_they_take_as_many_turns_and_offer_as_many_tools(self, suite: Suite, name: str) -> None:
        found = of_paper(suite, name)
        mean_turns = fmean(fmean(map(turns, item.solutions)) for item in found)
        assert abs(mean_turns - TOOLSCAN[name].turns) <= 0.5
        assert abs(fmean(len(item.tools) for item in found) - TOOLSCAN[name].tools) <= 0.06

    def test_ten_are_kept_for_the_study_of_similarity(self, suite: Suite, name: str) -> None:
        assert sum(f"similarity:{name}" in item.tags for item in suite.all()) == 10

    def test_the_first_is_solved_by_its_solution_and_not_by_a_refusal(self, suite: Suite, name: str) -> None:
        scenario = of_paper(suite, name)[0]
        assert grade(solved(scenario), scenario).score == 1
        assert (grade(talk(scenario, REFUSAL), scenario).score or 0) <= 0.1


def test_files_are_read_only_when_something_is_looked_up() -> None:
    code = (
        "import sys; opened = []; sys.addaudithook(lambda event, args: opened.append(str(args[0])) "
        "if event == 'open' else None); from sandbox_mcp.engine.worlds import named; named('movies').tools; "
        "print([path for path in opened if path.endswith(('.csv', '.jsonl'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path("/"))
    assert done.stdout.strip() == "[]"


def test_the_page_has_the_figures_of_today(suite: Suite) -> None:
    page = (Path(__file__).parents[3] / "docs" / "lookups.md").read_text(encoding="utf-8")
    written = [line for line in page.splitlines() if line.startswith(tuple(f"| {name} |" for name in WORLDS))]
    found = environments(suite.all(), turns, name_similarity)
    assert written == [f"| {' | '.join(map(str, item.row()))} |" for item in found]


@each(
    ("world", "tool", "arguments", "told"),
    [
        ("tools", "find_domains_with_owner", {"owner": "Nobody", "expires_after": "soon"}, "`expires_after` must be"),
        ("tools", "find_domains_with_word", {"word": "ab"}, "`word` must have at least three letters"),
        ("patent", "get_patents_with_title_and_date", {"title": "zzz", "before": "5.3.2011"}, "`before` must be a day"),
        ("sports", "get_league_season_scorers", {"league": "Harbour League", "season": 2024, "limit": 26}, "`limit`"),
    ],
)
def test_a_value_that_cannot_be_is_told_by_its_argument_whether_or_not_anything_is_found(
    world: str, tool: str, arguments: dict[str, Any], told: str
) -> None:
    running = Running(Snapshot({}), Clock(0.0), IdStream(""))
    outcome = call(running, {tool: present(named(world).tools[tool])}, tool, arguments)
    assert outcome.fault is not None
    assert outcome.fault.message.startswith(told)


class TestIrrelevance:
    """What is beside the point, put into the questions of three worlds. Source: ToolScan, section 8.1.2."""

    def test_there_are_sixty_in_three_worlds(self, suite: Suite) -> None:
        found = [item for item in suite.all() if any(tag.startswith("irrelevance:") for tag in item.tags)]
        assert len(found) >= 60
        assert {item.home.name for item in found} == {"patent", "movies", "spaceflight"}

    def test_each_is_paired_with_the_scenario_it_was_made_from(self, suite: Suite) -> None:
        for name in select(suite, ("irrelevance:*",)):
            base = suite.lineage(name)[1]
            assert base in suite.names()
            assert suite.get(base).tools == suite.get(name).tools
            assert suite.get(base).user.opening != suite.get(name).user.opening


class TestFeedback:
    """Source: ToolScan, section 8.1.1: the study leaves out what the checker says, not what the service says."""

    @pytest.fixture
    def told(self, suite: Suite) -> Callable[[str, str, dict[str, Any]], str]:
        def call(variant: str, tool: str, arguments: dict[str, Any]) -> str:
            scenario = suite.get("patent_kettle_granted")
            session = Session(SessionSpec(scenario, variant), ScriptedUser.of(scenario.user), MemoryLog())
            session.begin()
            return str(session.call(tool, arguments).error)

        return call

    def test_with_it_the_right_name_is_told(self, told: Callable[[str, str, dict[str, Any]], str]) -> None:
        assert "it takes title" in told("base", "get_patents_with_title", {"titel": "kettle"})

    def test_without_it_that_is_not_told(self, told: Callable[[str, str, dict[str, Any]], str]) -> None:
        assert "title" not in told("no_feedback", "get_patents_with_title", {"titel": "kettle"})

    @pytest.mark.parametrize("variant", ["base", "no_feedback"])
    def test_what_the_service_says_is_told_with_and_without(
        self, told: Callable[[str, str, dict[str, Any]], str], variant: str
    ) -> None:
        assert "there is no patent with the number 'NX1'" in told(variant, "get_patent_with_number", {"number": "NX1"})


def _uses(function: Any, wanted: Any) -> bool:
    """Whether a function calls another one, itself or through helpers of its module."""
    codes, seen = [function.__code__], set[str]()
    while codes:
        code = codes.pop()
        codes += [item for item in code.co_consts if isinstance(item, CodeType)]
        for name in {*code.co_names} - seen:
            seen.add(name)
            found = function.__globals__.get(name)
            if found is wanted:
                return True
            if isinstance(found, FunctionType) and found.__module__ == function.__module__:
                codes.append(found.__code__)
    return False


class TestAnswers:
    """What is not known is not made up, and what is left out is told."""

    @each("world", WORLDS)
    def test_a_tool_that_gives_25_at_most_says_so(self, world: str) -> None:
        module = import_module(f"sandbox_mcp.engine.worlds.lookups.{world}")
        for name, tool in named(world).agent_tools.items():
            told = [tool.description, *(item.description for item in tool.parameters)]
            assert _uses(getattr(module, name), first) == any(re.search(r"\b25\b", text) for text in told), name

    @each(
        ("world", "tool", "arguments", "why"),
        [
            (
                "sports",
                "get_league_season_table",
                {"league": "Harbour League", "season": 2030},
                "`season` must be between",
            ),
            (
                "sports",
                "get_league_season_scorers",
                {"league": "Summit League", "season": 2022},
                "2023 and 2025, not 2022",
            ),
            ("sports", "get_team_season_matches", {"team": "Beacon Town", "season": 2030}, "`season` must be between"),
            ("sports", "get_match_report", {"home": "a", "away": "b", "season": 2030}, "`season` must be between"),
            ("sports", "get_player_season_statistics", {"player": "a", "season": 0}, "`season` must be between"),
            ("data", "get_dataset_ranking", {"dataset": "d01", "year": 2030}, "`year` must be between 2018 and 2024"),
            ("data", "get_region_values", {"region": "ALC", "year": 2017}, "`year` must be between 2018 and 2024"),
            ("tools", "find_domain_with_name", {"name": "https://harbour.example/"}, "must be a domain such as"),
            ("tools", "find_domain_with_name", {"name": ""}, "must be a domain such as"),
            (
                "tools",
                "find_file_type_with_extension",
                {"extension": "qqq"},
                "no kind of file with the extension 'qqq'",
            ),
            ("spaceflight", "find_rocket", {"agency": "nobody"}, "there is no agency with the id 'nobody'"),
            ("spaceflight", "find_astronaut", {"agency": "nobody"}, "there is no agency with the id 'nobody'"),
            ("video_images", "search_images_with_tags", {"tags": []}, "at least one tag"),
            ("movies", "get_movie_details", {"movie": "The Salt Road"}, "no film with the id 'The Salt Road'"),
        ],
    )
    def test_what_is_not_known_is_told(self, world: str, tool: str, arguments: dict[str, Any], why: str) -> None:
        outcome = _called(world, tool, arguments)
        assert outcome.fault is not None
        assert why in outcome.fault.text

    def test_what_is_known_is_found_however_it_is_written(self) -> None:
        domain = _called("tools", "find_domains_with_word", {"word": "example"}).result[0]["domain"]
        found = _called("tools", "find_domain_with_name", {"name": f" {domain.upper()} "}).result
        assert found["name"] == domain
        free = _called("tools", "find_domain_with_name", {"name": "no-such-place.co.example"})
        assert free.fault is not None
        assert "it is free" in free.fault.text
        tagged = _called("video_images", "search_images_with_tags", {"tags": ["harbour"]}).result
        assert _called("video_images", "search_images_with_tags", {"tags": [" Harbour"]}).result == tagged != []


def _called(world: str, tool: str, arguments: dict[str, Any]) -> Outcome:
    running = Running(snapshot_of({}), Clock(0.0), IdStream(world))
    return call(running, {tool: present(named(world).agent_tools[tool])}, tool, arguments)
