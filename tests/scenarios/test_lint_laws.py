"""Laws of quick lint and of the figures: what must hold whatever the scenarios are."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.papers.toolscan import name_similarity
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.lint import RULES, Complaint, LintFinding, lint
from sandbox_scenarios.lint.effects import blocked, effects, needs
from sandbox_scenarios.lint.leaks import leaks
from sandbox_scenarios.lint.parts import LACKS, categories, parts, says
from sandbox_scenarios.lint.reach import flow, reach
from sandbox_scenarios.lint.texts import (
    contains,
    has_ending,
    has_number,
    is_number,
    known,
    plain,
    spoken,
    texts,
    unsaid_cells,
)
from sandbox_scenarios.lint.twins import twins
from sandbox_scenarios.model import Answer, PlannedCall, PlannedTurn, Script, Solution
from sandbox_scenarios.stats import CLASSIC, measure

from sandbox_mcp.engine.worlds import default
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.engine.worlds.phone.tools.setting import SERVICES
from tests.each import each
from tests.scenarios.files import entry, file_of, rules_told, written
from tests.suite import SUITE, measured

SAMPLE = [SUITE.get(name) for name in SUITE.names()[::11]]
WORD = st.text("abcdefgh", min_size=1, max_size=6)


def by_name(scenario: Scenario) -> str:
    return scenario.name


# Texts.


@given(st.lists(WORD, min_size=1, max_size=4), st.sampled_from([" ", ", ", " - ", "! ", "\n"]))
def test_words_are_found_whatever_stands_between_them(words: list[str], between: str) -> None:
    assert contains(f"Well, {between.join(words)}.", " ".join(words))


@given(st.lists(WORD, min_size=1, max_size=4))
def test_case_does_not_matter(words: list[str]) -> None:
    text = " ".join(words)
    assert contains(text.upper(), text)
    assert plain(text) == plain(text.upper())


@given(WORD, WORD)
def test_parts_of_words_are_not_found(one: str, other: str) -> None:
    assert not contains(one + other, one)


def test_nothing_is_never_found() -> None:
    assert not contains("anything", "")
    assert not contains("anything", "!?")


@given(st.text("0123456789", min_size=7, max_size=12), st.sampled_from(["", " ", "-", ".", "/"]))
def test_a_number_is_found_however_it_is_split(digits: str, between: str) -> None:
    assert has_number(f"It is {between.join(digits)}, I think.", f"+{digits}")


@given(st.text("0123456789", max_size=6))
def test_a_short_number_tells_nothing(digits: str) -> None:
    assert not has_number(digits, digits)


@given(st.text("0123456789", min_size=8, max_size=12), st.integers(1, 7))
def test_an_ending_of_three_digits_or_more_tells(digits: str, size: int) -> None:
    assert has_ending(f"it ends in {digits[-size:]}", f"+{digits}") is (size >= 3)


@each("scenario", SAMPLE, ids=by_name)
def test_every_text_says_where_it_stands(scenario: Scenario) -> None:
    for text in texts(scenario):
        file, line = SUITE.place(scenario.name, text.path)
        assert Path(file).is_file()
        assert line > 0


@each("scenario", SAMPLE, ids=by_name)
def test_the_user_says_its_opening_and_its_answers(scenario: Scenario) -> None:
    said = {text.text for text in spoken(scenario)}
    assert scenario.user.opening in said
    assert {answer.say for answer in scenario.user.script.answers} <= said
    assert scenario.user.goal not in said or scenario.user.goal == scenario.user.opening


def phone_numbers(scenario: Scenario) -> dict[str, str]:
    return {cell: what for what, cell in unsaid_cells(scenario) if is_number(cell)}


@each("scenario", SAMPLE, ids=by_name)
def test_the_numbers_on_the_phone_are_those_of_people_and_messages(scenario: Scenario) -> None:
    numbers = phone_numbers(scenario)
    assert all(str(row["phone_number"]) in numbers for row in scenario.world.table("contact").values())
    assert all(number.startswith("+") for number in numbers)


# Rules.


def speaking(scenario: Scenario, text: str) -> Scenario:
    """The scenario with one more answer."""
    script = replace(scenario.user.script, answers=(*scenario.user.script.answers, Answer(("odd",), text)))
    return replace(scenario, user=replace(scenario.user, script=script))


def knowing(scenario: Scenario, text: str) -> Scenario:
    return replace(scenario, user=replace(scenario.user, knows=(*scenario.user.knows, text)))


@each("scenario", SAMPLE, ids=by_name)
def test_scenarios_of_the_suite_leak_nothing(scenario: Scenario) -> None:
    assert list(leaks(scenario)) == []


@each("scenario", SAMPLE, ids=by_name)
def test_whatever_number_the_user_gives_away_is_noticed_unless_it_knows_it(scenario: Scenario) -> None:
    for number, owner in phone_numbers(scenario).items():
        if not has_number(known(scenario), number):
            talkative = speaking(scenario, f"Try {number}.")
            assert any(owner in item.problem for item in leaks(talkative) if item.rule == "secret")
            assert not any(item.rule == "secret" for item in leaks(knowing(talkative, f"It is {number}.")))


@each("tool", [name for name in phone.agent_tools if "_" in name])
def test_whatever_tool_the_user_names_is_noticed(tool: str) -> None:
    found = list(leaks(speaking(SUITE.get("wifi_off"), f"Use {tool} for it.")))
    assert [item.rule for item in found] == ["tool_name"]


@each("scenario", SAMPLE, ids=by_name)
def test_a_scenario_without_tools_reaches_no_deed_and_no_look(scenario: Scenario) -> None:
    bare = replace(scenario, tools=())
    asked = {item.id for item in scenario.milestones if not all(map(is_free, item.constraints))}
    found = {text.split("'")[1] for text in (item.problem for item in reach(bare)) if text.startswith("milestone")}
    assert found == asked


def is_free(constraint: object) -> bool:
    """Whether a constraint needs no tool: words, and what is to stay as it is."""
    return getattr(constraint, "content", None) is not None or getattr(constraint, "kind", "") == "unchanged"


@each("scenario", SAMPLE, ids=by_name)
def test_with_all_tools_everything_can_be_reached(scenario: Scenario) -> None:
    rich = replace(scenario, tools=tuple(phone.agent_tools), without=())
    assert [item for item in reach(rich) if item.rule in ("unreachable", "harmless_minefield")] == []


@each("scenario", SAMPLE, ids=by_name)
def test_without_categories_only_that_is_missing(scenario: Scenario) -> None:
    bare = replace(scenario, categories=())
    assert [item.problem for item in parts(bare) if item.rule == "missing"] == ["has no category"]
    assert list(categories(bare)) == []


@each("scenario", [item for item in SAMPLE if LACKS not in item.categories], ids=by_name)
def test_one_more_turn_makes_it_several(scenario: Scenario) -> None:
    longer = tuple(Solution((*item.turns, PlannedTurn((), "Bye."))) for item in scenario.solutions)
    rules = [item.problem for item in categories(replace(scenario, solutions=longer))]
    assert any("multiple_user_turn" in text for text in rules) is ("single_user_turn" in scenario.categories)


@each("scenario", SAMPLE, ids=by_name)
def test_replies_are_milestones_on_what_the_agent_says(scenario: Scenario) -> None:
    for milestone in scenario.milestones:
        assert says(milestone) is any(getattr(item, "sender", "") == "agent" for item in milestone.constraints)


@each("scenario", SAMPLE, ids=by_name)
def test_rules_say_what_they_are_called_and_how_to_mend_it(scenario: Scenario) -> None:
    broken = replace(
        scenario, about="", categories=("single_tool_call",), tools=(), user=replace(scenario.user, knows=())
    )
    found = [finding for rule in RULES for finding in rule(speaking(broken, "Use search_contacts."))]
    assert found
    assert {item.rule for item in found} <= rules_told()
    assert all(item.problem and item.mend and not item.problem.endswith(".") for item in found)


def test_who_is_told_by_a_search_of_the_world_is_nobodys_to_judge() -> None:
    scenario = SUITE.get("new_neighbour")
    mute = replace(scenario, user=replace(scenario.user, script=Script()))
    assert {item.rule for item in flow(mute)} == {"unknowable"}
    assert list(flow(replace(mute, tools=(*mute.tools, "search_location_around_lat_lon")))) == []


# Twins.


def test_a_scenario_is_no_twin_of_itself() -> None:
    scenario = SUITE.get("wifi_off")
    assert twins(SUITE, [scenario]) == []
    assert twins(SUITE, [scenario, scenario]) == []


def test_of_twins_the_later_is_complained_of(tmp_path: Path) -> None:
    text = file_of(entry(name="one"), entry(name="two"))
    suite = Suite([written(tmp_path, text)])
    one, two = suite.get("one"), suite.get("two")
    assert {item.name for item, _ in twins(suite, [one, two])} == {"two"}
    assert {item.name for item, _ in twins(suite, [two, one])} == {"one"}


# Effects.


@each("name", [name for name, tool in phone.agent_tools.items() if tool.action])
def test_effects_are_on_tables_and_columns_that_there_are(name: str) -> None:
    [effect] = effects(default(), [name])
    columns = {column.name for column in phone.tables[effect.table].columns}
    assert effect.columns <= columns
    assert bool(effect.columns) is (effect.kind == "updates")


def test_effects_of_queries_are_none() -> None:
    assert effects(default(), (name for name, tool in phone.agent_tools.items() if not tool.action)) == ()


@each("name", phone.agent_tools)
def test_needs_are_services(name: str) -> None:
    assert needs(default(), name, {}) <= set(SERVICES)


def test_what_blocks_a_solution_is_what_is_off_and_needed() -> None:
    scenario = SUITE.get("late_for_dinner_low_battery")
    on = PlannedCall("set_cellular_service_status", {"on": True})
    look = PlannedCall("search_contacts", {"name": "Wren"})

    def why(*calls: PlannedCall) -> tuple[str, ...]:
        return blocked(scenario, Solution((PlannedTurn((calls,), "Done."),)))

    assert why(look) == ()
    assert why(on) == ("low_battery_mode",)
    assert why(PlannedCall("send_message_with_phone_number", {})) == ("cellular",)


# The whole.


def test_complaints_come_in_the_order_of_the_scenarios_and_their_lines(tmp_path: Path) -> None:
    text = file_of(entry(name="one"), entry(name="two"))
    found = lint(Suite([written(tmp_path, text)]))
    order = [(item.scenario, item.line) for item in found]
    assert order == sorted(order)
    assert lint(Suite([written(tmp_path, text)]), ["two", "one"])[0].scenario == "two"


def test_linting_twice_says_the_same(tmp_path: Path) -> None:
    suite = Suite([written(tmp_path, file_of(entry()))])
    assert lint(suite) == lint(suite)


def test_another_scenario_changes_nothing_about_the_first(tmp_path: Path) -> None:
    alone = lint(Suite([written(tmp_path, file_of(entry(name="one")))]))
    both = lint(Suite([written(tmp_path, file_of(entry(name="one"), entry(name="two")))]))
    assert tuple(item for item in both if item.scenario == "one") == alone


def test_a_finding_becomes_a_complaint_with_its_place() -> None:
    finding = LintFinding("secret", ("user", "opening"), "says it", "leave it out")
    complaint = Complaint("mine", "mine.yaml", 7, finding.rule, finding.problem, finding.mend)
    assert str(complaint) == "mine.yaml:7: mine: says it; leave it out [secret]"
    assert complaint.to_json()["mutant"] == ""


# Figures.


def test_figures_of_two_suites_add_up(tmp_path: Path) -> None:
    one, two = file_of(entry("categories: [canonicalization]", "one")), file_of(entry("tools: [wait]", "two"))
    places = [written(tmp_path, text, f"{number}.yaml") for number, text in enumerate((one, two))]
    apart = [measure(Suite([place]), name_similarity) for place in places]
    together = measure(Suite(places), name_similarity)
    assert together.scenarios == sum(item.scenarios for item in apart)
    for name in ("categories", "columns", "tools", "features"):
        sums: dict[str, float] = {}
        for stats in apart:
            for count in getattr(stats, name):
                sums[count.name] = sums.get(count.name, 0) + count.ours
        assert {count.name: count.ours for count in getattr(together, name)} == sums


def test_every_count_of_a_table_is_a_multiple_of_the_variants() -> None:
    stats = measured()
    assert {item.ours % len(CLASSIC) for item in (*stats.categories, *stats.columns, *stats.tools)} == {0}


def test_nothing_is_more_alike_than_itself() -> None:
    stats = measured()
    assert all(0 <= value <= 1 for means in stats.similarity.values() for value in means.values())
