"""The figures of a suite: counted on scenarios small enough to count by hand."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_grader.papers.toolscan import name_similarity
from sandbox_scenarios import Suite
from sandbox_scenarios.stats import CLASSIC, Count, Stats, measure, page, picture, update
from sandbox_scenarios.stats.measure import turns
from sandbox_scenarios.stats.page import BEGIN, END
from sandbox_scenarios.stats.published import CATEGORIES, COLUMNS, STATISTICS, TOOLS
from sandbox_scenarios.variants import VARIANTS

from sandbox_mcp.engine.worlds.phone import phone
from tests.scenarios.files import written
from tests.suite import SUITE, measured

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = """\
family: mine
scenarios:
  - name: looked_up
    extends: lakeside
    about: A contact is looked up and changed, twice over.
    categories: [multiple_tool_call, multiple_user_turn, canonicalization]
    tools: [search_contacts, modify_contact]
    user:
      goal: You want Tomas changed.
      opening: Change Tomas.
      script: {then: [And once more.]}
    reference:
      - turns:
          - calls:
              - {tool: search_contacts, arguments: {name: Tomas}, as: found}
              - {tool: modify_contact, arguments: {person_id: $found.0.person_id, relationship: friend}}
            reply: Done.
          - calls:
              - {tool: modify_contact, arguments: {person_id: $found.0.person_id, name: Tom}}
            reply: Done again.
      - turns:
          - calls: [{tool: search_contacts, arguments: {relationship: colleague}}]
            reply: Well.
    milestones:
      - any_of: [{tool: search_contacts, arguments: {name: Tomas}}, {tool: search_contacts}]
        id: found
      - id: changed
        after: [found]
        all:
          - table: contact
            updates:
              - {person_id: "@contact.tomas", relationship: friend, name: {any: true}}
              - {person_id: "@contact.tomas", relationship: {contains: friend}}
          - {table: setting, unchanged: true}
    minefields:
      - {id: gone, table: contact, removes: {name: Tomas}}

  - name: nothing_to_do
    extends: gulf
    about: There is nothing to do.
    categories: [insufficient_information]
    tools: [set_timer]
    user: {goal: You want something., opening: Something!, demonstration: [{user: Hi., agent: Hello.}]}
    reference: [{turns: [{reply: I can't.}]}]
    milestones: [{id: said, message: {content: {facts: [[can't]]}}}]
"""


@pytest.fixture
def stats(tmp_path: Path) -> Stats:
    return measure(Suite([written(tmp_path, TEXT)]), name_similarity)


def figures(counts: Iterable[Count]) -> dict[str, float]:
    return {item.name: item.ours for item in counts if item.ours}


def test_a_scenario_counts_once_per_classic_variant(stats: Stats) -> None:
    assert stats.scenarios == 2
    assert figures(stats.statistics)["test cases"] == 16
    assert len(CLASSIC) == 8
    assert set(CLASSIC) <= set(VARIANTS)


def test_turns_and_calls_are_means_over_solutions_then_scenarios(stats: Stats) -> None:
    """10 and 4 messages in one scenario, 2 in the other; 3 and 1 calls in one, none in the other."""
    assert figures(stats.statistics)["average turns"] == (7 + 2) / 2
    assert figures(stats.statistics)["average tool calls"] == (2 + 0) / 2


def test_turns_are_messages() -> None:
    """The opening, a call and its result, and the reply."""
    assert turns(SUITE.get("wifi_off").solutions[0]) == 4


def test_every_tool_counts_also_those_of_the_user(stats: Stats) -> None:
    assert figures(stats.statistics)["tools"] == len(phone.tools) > len(phone.agent_tools)


def test_categories_are_counted(stats: Stats) -> None:
    assert figures(stats.categories) == {
        "multiple_tool_call": 8,
        "multiple_user_turn": 8,
        "canonicalization": 8,
        "insufficient_information": 8,
    }


def test_a_milestone_counts_once_per_column_and_what_may_be_anything_does_not(stats: Stats) -> None:
    assert figures(stats.columns) == {"contact.person_id": 8, "contact.relationship": 8}


def test_a_milestone_counts_once_per_tool(stats: Stats) -> None:
    assert figures(stats.tools) == {"search_contacts": 8}


def test_features_are_counted(stats: Stats) -> None:
    assert figures(stats.features) == {
        "several reference solutions": 1,
        "a minefield": 1,
        "a follow-up of the user": 1,
        "a demonstration": 2,
        "something that falls due": 1,
    }


def test_worlds_and_files_are_counted(stats: Stats) -> None:
    assert stats.worlds == {"lakeside": 1, "gulf": 1}
    assert stats.families == {"mine": 2}


def test_calls_and_arguments_are_those_of_the_solutions(stats: Stats) -> None:
    assert stats.calls["modify_contact"]["canonicalization"] == 1
    assert not any(stats.calls["set_timer"].values())
    assert stats.arguments["modify_contact"] == (3, 5)
    assert stats.arguments["search_contacts"] == (2, 5)


def test_similarity_is_the_mean_over_the_tool_lists_of_a_variant(stats: Stats) -> None:
    two = name_similarity(["search_contacts", "modify_contact"])
    one = name_similarity(["set_timer"])
    assert stats.readings == ("raw", "shared", "stop")
    assert stats.similarity["base"] == {name: (two[name] + one[name]) / 2 for name in stats.readings}
    assert stats.similarity["tool_name_scrambled"] != stats.similarity["3_distraction_tools"]


def test_what_falls_short_is_named(stats: Stats) -> None:
    missed = {item.name for item in stats.missed}
    assert {"test cases", "single_tool_call", "setting.wifi", "get_current_timestamp"} <= missed
    assert not {"tools", "average turns", "average tool calls", "a minefield"} & missed


def test_a_figure_is_met_from_theirs_on() -> None:
    assert Count("a", 8, 8).met
    assert not Count("a", 7.9, 8).met
    assert Count("a", 0).met
    assert Count("a", 1, 2, goal=False).met


def test_the_published_figures_are_about_things_that_exist() -> None:
    known = set(phone.agent_tools)
    assert set(TOOLS) <= known
    columns = {item.name for item in measured().columns}
    assert set(COLUMNS) <= columns


def test_the_published_figures_are_multiples_of_the_variants() -> None:
    """Each was counted once per variant."""
    counted: Mapping[str, float] = {**CATEGORIES, **COLUMNS, **TOOLS, "cases": STATISTICS["test cases"]}
    assert {name for name, value in counted.items() if value % len(CLASSIC)} == set()


def test_no_scenarios_have_no_figures() -> None:
    class Nothing(Suite):
        def names(self, world: str = "") -> tuple[str, ...]:
            return ()

    stats = measure(Nothing(), name_similarity)
    assert stats.scenarios == 0
    assert "0 scenarios" in page(stats, "none.svg")


def test_scenarios_without_solutions_have_figures_too(tmp_path: Path) -> None:
    bare = "clock: {now: 2026-03-02 09:00:00}, user: {goal: You want., opening: Please.}}"
    office = f"  - {{name: bare_office, world: office, {bare}"
    patent = f"  - {{name: bare_patent, world: patent, tags: [toolscan:patent], {bare}"
    suite = Suite([written(tmp_path, f"family: bare\nscenarios:\n{office}\n{patent}\n")])
    assert measure(suite, name_similarity, "office").dialogues[0].ours == 0
    assert measure(suite, name_similarity, "patent").environments[0].ours.turns == 0


def test_figures_as_json(stats: Stats) -> None:
    found = stats.to_json()
    assert found["categories"]["canonicalization"] == {"ours": 8, "toolsandbox": 472}
    assert "test cases" in found["missed"]


def test_the_page_has_every_table_and_the_picture(stats: Stats) -> None:
    text = page(stats, "mine.svg")
    assert "](mine.svg)" in text
    assert "| canonicalization | 8 | 472 | short |" in text
    assert "| average turns | 4.50 | 13.90 |  |" in text
    assert text.count("\n## ") == 8


def test_only_what_stands_between_the_marks_is_replaced(stats: Stats) -> None:
    text = f"# Suite\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n"
    new = update(text, stats, "mine.svg")
    assert new.startswith(f"# Suite\n\nBefore.\n\n{BEGIN}\n")
    assert new.endswith(f"{END}\n\nAfter.\n")
    assert "old" not in new
    assert update(new, stats, "mine.svg") == new


def test_a_page_without_marks_gets_them_at_the_end(stats: Stats) -> None:
    assert update("", stats, "mine.svg").startswith(BEGIN)
    assert update("# Suite\n", stats, "mine.svg").startswith(f"# Suite\n\n{BEGIN}")


def test_the_picture_shows_every_tool_and_is_a_document(stats: Stats) -> None:
    root = ET.fromstring(picture(stats))
    texts = {item.text for item in root.iter("{http://www.w3.org/2000/svg}text")}
    assert set(phone.agent_tools) <= texts
    assert {"canonicalization", "3/5"} <= texts


def test_more_scenarios_are_darker(stats: Stats) -> None:
    def shades(count: int) -> list[str]:
        calls = {name: dict.fromkeys(row, 0) for name, row in stats.calls.items()}
        calls["wait"]["canonicalization"] = count
        return [part.partition('"')[0] for part in picture(replace(stats, calls=calls)).split('fill-opacity="')[1:]]

    assert shades(0) == []
    assert float(shades(30)[0]) > float(shades(2)[0])


def test_the_page_about_the_suite_is_current() -> None:
    stats = measured()
    text = (DOCS / "suite.md").read_text(encoding="utf-8")
    how = "run: sandbox-mcp scenarios stats --markdown docs/suite.md"
    assert update(text, stats, "suite.svg") == text, how
    assert picture(stats) == (DOCS / "suite.svg").read_text(encoding="utf-8"), how


def test_the_suite_reaches_every_published_figure() -> None:
    assert [item.name for item in measured().missed] == []
