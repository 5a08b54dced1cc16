"""Quick lint: a sound scenario has nothing to complain of, and each fault has its complaint, where it stands."""

from collections.abc import Mapping
from pathlib import Path

from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.lint import Complaint, lint
from sandbox_scenarios.lint.effects import effects, needs
from sandbox_scenarios.lint.texts import contains, has_ending, has_number
from sandbox_scenarios.model import PlannedCall

from sandbox_mcp.engine.tools import Bound, Outcome, attempt, bind, present
from sandbox_mcp.engine.world import IdStream, Running
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.engine.worlds.phone.tools.setting import SERVICES
from tests.each import each
from tests.scenarios.files import HERE, SOUND, changed, marked_line, rules_told, written
from tests.suite import SUITE

ACTING = [name for name, tool in phone.agent_tools.items() if tool.action]
QUESTION = """\
family: mine
scenarios:
  - name: mine
    extends: lakeside
    about: Ask for something.
    categories: [single_tool_call, single_user_turn]
    tools: [search_contacts]
    user:
      goal: You want to know what Marguerite is to you.
      knows: [Marguerite is somewhere in the contacts.]
      opening: What is Marguerite to me?
      script: {answers: [{about: [surname], say: No idea.}]}
    reference:
      - turns:
          - calls: [{tool: search_contacts, arguments: {name: Marguerite}, as: found}]
            reply: She is your ${found.0.relationship}.
    milestones:
      - {id: found, tool: search_contacts}
      - id: told
        after: [found]
        message: {content: {facts: [[landlord, landlady]]}}
"""


def complaints(folder: Path, text: str) -> tuple[Complaint, ...]:
    return lint(Suite([written(folder, text)]))


def complaint(folder: Path, text: str) -> Complaint:
    """The only complaint about a file, which is about the line marked, if any is."""
    found = complaints(folder, text)
    assert len(found) == 1, [str(item) for item in found]
    if HERE in text:
        assert found[0].line == marked_line(text), str(found[0])
    return found[0]


@each("text", [SOUND, QUESTION])
def test_a_sound_scenario_gives_no_reason_to_complain(tmp_path: Path, text: str) -> None:
    assert complaints(tmp_path, text) == ()


def test_the_built_in_suite_is_clean() -> None:
    assert [str(item) for item in lint(SUITE)] == []


FACTS = "facts: [[texted, told, sent]]}}"
ADDS = 'adds: {recipient_person_id: "@contact.tomas", content: {facts: [[match], [nine]]}}'
SEND = "- tool: send_message_with_phone_number"
ADD = "- {tool: add_contact, arguments: {name: Wilma, phone_number: +12025550101}}"


def before_sent(milestone: str) -> dict[str, str]:
    """One more milestone, marked."""
    return {"- id: sent": f"- {{{milestone}}}  {HERE}\n      - id: sent"}


def with_minefield(minefield: str) -> dict[str, str]:
    """A minefield, marked, and a user who does not want it."""
    return {
        FACTS: f"{FACTS}\n    minefields:\n      - {{{minefield}}}  {HERE}",
        "      opening:": "      wants_not: [You want nobody erased.]\n      opening:",
    }


WITHHELD = {"    user:\n": "    without: [remove_contact]\n    user:\n"}
"""A scenario in which no variant offers to remove anybody."""


def said(text: str) -> dict[str, str]:
    """Another answer of the user."""
    return {"say: No idea.": f'say: "{text}"'}


FAULTS: dict[str, tuple[str, str, str, Mapping[str, str]]] = {
    "nothing about it": (
        "missing",
        "no 'about'",
        SOUND,
        {"    about: Tell somebody something.\n": "", "name: mine": f"name: mine  {HERE}"},
    ),
    "no category": (
        "missing",
        "no category",
        SOUND,
        {"    categories: [multiple_tool_call, single_user_turn]\n": ""},
    ),
    "no boundary of knowledge": (
        "missing",
        "what the user knows",
        QUESTION,
        {"      knows: [Marguerite is somewhere in the contacts.]\n": "", "user:\n": f"user:  {HERE}\n"},
    ),
    "a claim that rests on nothing": (
        "reply_rests_on_nothing",
        "'told'",
        SOUND,
        {"        after: [sent]\n": "", "- id: told": f"- id: told  {HERE}"},
    ),
    "single and multiple": (
        "category",
        "the shortest solution makes 2 calls",
        SOUND,
        {"[multiple_tool_call,": f"[single_tool_call, multiple_tool_call,  {HERE}\n                "},
    ),
    "a category left out": (
        "category",
        "not in multiple_tool_call",
        SOUND,
        {"[multiple_tool_call, single_user_turn]": f"[single_user_turn]  {HERE}"},
    ),
    "no word on turns": ("category", "not in single_user_turn", SOUND, {", single_user_turn]": f"]  {HERE}"}),
    "a follow-up": (
        "category",
        "the user wants more afterwards",
        SOUND,
        {
            "categories: [multiple_tool_call, single_user_turn]": (
                "categories: [multiple_tool_call, multiple_user_turn, single_user_turn]"
            ),
            "script:\n": "script:\n        then: [And tell her.]\n",
        },
    ),
    "a service that is off": (
        "category",
        "needs cellular to be changed first",
        SOUND,
        {"    user:\n": "    world: {setting: {cellular: false}}\n    user:\n"},
    ),
    "a sentence without an end": (
        "torn_sentence",
        "has no end",
        SOUND,
        {"knows: [Tomas is a colleague.]": f"knows: [Tomas is a colleague]  {HERE}"},
    ),
    "the rest of a sentence that YAML cut at a comma": (
        "torn_sentence",
        "'only old.' starts in lower case",
        SOUND,
        {"knows: [Tomas is a colleague.]": f'knows: ["Tomas is not a child.", only old.]  {HERE}'},
    ),
    "a follow-up without an end": (
        "torn_sentence",
        "then 'And tell her'",
        SOUND,
        {"script:\n": f"script:\n        then: [And tell her]  {HERE}\n", "single_user_turn": "multiple_user_turn"},
    ),
    "a minefield that the user may agree to": (
        "unsaid_refusal",
        "minefield 'erased'",
        SOUND,
        {FACTS: f"{FACTS}\n    minefields:\n      - {{id: erased, tool: send_message_with_phone_number}}  {HERE}"},
    ),
    "a refusal that only the script knows": (
        "unsaid_refusal",
        "the script refuses",
        SOUND,
        {"script:\n": f"script:  {HERE}\n        confirm: Only tomorrow.\n"},
    ),
    "a name that only the script knows": (
        "unbriefed",
        "'Dmitri'",
        SOUND,
        {"script:\n": f"script:\n        then: [And tell Dmitri.]  {HERE}\n", "single_user_turn": "multiple_user_turn"},
    ),
    "a number that only the script knows": ("unbriefed", "'27'", QUESTION, said("Look at locker 27.")),
    "rows nobody can add": (
        "unreachable",
        "no tool offered adds rows of 'reminder'",
        SOUND,
        before_sent("id: noted, table: reminder, adds: {content: match}"),
    ),
    "a call nobody can make": (
        "unreachable",
        "get_current_timestamp is not offered",
        SOUND,
        before_sent("id: clock, tool: get_current_timestamp"),
    ),
    "a column nobody can set": (
        "unreachable",
        "no tool offered sets 'wifi' of 'setting'",
        SOUND,
        before_sent("id: off, table: setting, is: {wifi: false}"),
    ),
    "a minefield on a tool nobody has": (
        "harmless_minefield",
        "remove_contact is not offered",
        SOUND,
        with_minefield("id: erased, tool: remove_contact") | WITHHELD,
    ),
    "a minefield on what nobody can do": (
        "harmless_minefield",
        "no tool offered removes rows of 'contact'",
        SOUND,
        with_minefield("id: erased, table: contact, removes: {name: Tomas}") | WITHHELD,
    ),
    "a tool too many": (
        "spare_tool",
        "'add_contact'",
        SOUND,
        {"tools: [search_contacts, ": f"tools: [add_contact, search_contacts,  {HERE}\n            "},
    ),
    "an id out of nowhere": (
        "copied_id",
        "'person_id'",
        SOUND,
        {"arguments: {name: Tomas}": 'arguments: {person_id: "@contact.tomas"}'},
    ),
    "a name out of nowhere": (
        "unknowable",
        "name 'Wilma Oduya'",
        SOUND,
        {
            "tools: [": "tools: [add_contact, ",
            "table: messaging": "table: contact",
            ADDS: "adds: {name: Wilma Oduya}",
            SEND: f"{ADD}\n              {SEND}",
            "- id: sent": f"- id: sent  {HERE}",
        },
    ),
    "a tool by name": (
        "tool_name",
        "search_contacts",
        SOUND,
        {"[Tomas is a colleague.]": f"[You can use search_contacts for that.]  {HERE}"},
    ),
    "an argument by name": ("argument_name", "phone_number", QUESTION, said("Give me the phone_number.")),
    "an id": ("id", "an id", SOUND, {"Text Tomas that": "Text 6f1d3a52-7c1e-4b0e-9b57-2f3c8f0f6a11 that"}),
    "a number": ("secret", "the phone number of Marguerite", QUESTION, said("Her number is 847-555-0164.")),
    "where the phone is": ("secret", "the latitude of setting", QUESTION, said("I'm at 41.8827 north.")),
    "a demonstration that tells a secret": (
        "secret",
        "the phone number of Marguerite",
        QUESTION,
        {
            "      opening:": f"      demonstration: [{{user: Ring 847-555-0164., agent: Gladly.}}]  {HERE}\n"
            "      opening:"
        },
    ),
    "a demonstration in which the agent tells a secret": (
        "secret",
        "the phone number of Marguerite",
        QUESTION,
        {
            "      opening:": f"      demonstration: [{{user: Hers?, agent: It is 847-555-0164.}}]  {HERE}\n"
            "      opening:"
        },
    ),
    "what a message says": ("secret", "the content of a row of messaging", QUESTION, said("{message}")),
    "today's date": (
        "secret",
        "today's date",
        QUESTION,
        {**said("It is May 16."), "      opening:": "      does_not_know: [What day it is.]\n      opening:"},
    ),
    "the answer": (
        "answer_given",
        "'told'",
        QUESTION,
        {**said("She is my landlady."), "- id: told": f"- id: told  {HERE}"},
    ),
    "the answer as part of what is wanted": (
        "answer_given",
        "'told'",
        QUESTION,
        {"what Marguerite is to you.": "that Marguerite is your landlady.", "- id: told": f"- id: told  {HERE}"},
    ),
}


@each(("rule", "says", "text", "changes"), FAULTS.values(), ids=FAULTS)
def test_each_fault_has_its_complaint(
    tmp_path: Path, rule: str, says: str, text: str, changes: Mapping[str, str]
) -> None:
    found = complaint(tmp_path, changed(text, changes).replace("{message}", a_message()))
    assert (found.rule, says in found.problem) == (rule, True), str(found)
    assert found.mend


def a_message() -> str:
    """What some message on the phone of the base world says."""
    scenario = SUITE.get("landlord_number")
    return str(next(iter(scenario.world.table("messaging").values()))["content"])


def test_the_page_for_authors_tells_every_rule_and_every_rule_is_tried() -> None:
    assert rules_told() == {rule for rule, *_ in FAULTS.values()} | {"twin"}


@each(
    "changes",
    [
        {**said("Her number is 847-555-0164."), "the contacts.]": "the contacts with 8475550164.]"},
        with_minefield("id: erased, tool: remove_contact, attempt: true"),
        {"script:\n": "script:\n        then: [And her.]\n", "single_user_turn": "multiple_user_turn"},
        {"[Tomas is a colleague.]": "[Tomas is a colleague.]\n      demonstration: [{user: Hi., agent: Hello.}]"},
        {**said("Hers, 27."), "the contacts.]": "the contacts as number 27.]"},
        {"what Marguerite is to you.": "whether Marguerite is your landlady."},
    ],
    ids=[
        "a number that the user knows",
        "a minefield on trying",
        "a follow-up that is told",
        "a demonstration",
        "a number that the brief has",
        "an answer that the goal leaves open",
    ],
)
def test_what_is_fine_is_left_in_peace(tmp_path: Path, changes: Mapping[str, str]) -> None:
    text = QUESTION if next(iter(changes)) in QUESTION else SOUND
    assert complaints(tmp_path, changed(text, changes)) == ()


def test_a_scenario_that_lacks_everything_is_told_so(tmp_path: Path) -> None:
    text = (
        "family: mine\nscenarios:\n  - {name: mine, extends: lakeside, user: {goal: You want it., opening: Do it.}}\n"
    )
    problems = " ".join(item.problem for item in complaints(tmp_path, text))
    for part in ("about", "category", "reference solution", "milestone", "knows"):
        assert part in problems


def test_insufficient_information_stands_alone_and_asks_for_the_reason(tmp_path: Path) -> None:
    text = changed(SOUND, {"[multiple_tool_call, single_user_turn]": "[multiple_tool_call, insufficient_information]"})
    text = text[: text.index("      - id: told")]
    assert [item.problem for item in complaints(tmp_path, text)] == [
        "insufficient_information stands beside other categories",
        "insufficient_information, but no milestone asks for the reason",
    ]


def test_what_is_inherited_is_complained_of_where_it_was_written(tmp_path: Path) -> None:
    base = changed(SOUND, {"[Tomas is a colleague.]": f"[You can use search_contacts.]  {HERE}"})
    branch = "  - {name: branch, extends: mine, about: The same., max_turns: 20}\n"
    found = complaints(tmp_path, base + branch)
    assert {(item.scenario, item.line) for item in found} == {
        ("mine", marked_line(base)),
        ("branch", marked_line(base)),
    }


def test_two_scenarios_that_say_the_same_are_twins(tmp_path: Path) -> None:
    second = QUESTION[QUESTION.index("  - name") :].replace("name: mine", "name: other", 1)
    found = complaints(tmp_path, QUESTION + second)
    assert {(item.scenario, item.rule) for item in found} == {("other", "twin")}
    assert {item.problem for item in found} == {
        "plays exactly like 'mine'",
        "the opening stands in 'mine' already",
        "the goal stands in 'mine' already",
        "what the milestones and solutions ask for stands in 'mine' already",
    }


def test_a_branch_that_changes_something_is_no_twin(tmp_path: Path) -> None:
    branch = "  - {name: branch, extends: mine, about: Off., user: {opening: Who is Marguerite to me?}}\n"
    assert complaints(tmp_path, QUESTION + branch) == ()


def test_a_branch_that_changes_nothing_is_a_twin(tmp_path: Path) -> None:
    branch = "  - {name: branch, extends: mine, about: Nothing new.}\n"
    found = complaint(tmp_path, QUESTION + branch)
    assert (found.rule, found.scenario, found.problem) == ("twin", "branch", "plays exactly like 'mine'")


def test_only_the_scenarios_asked_for_are_looked_at(tmp_path: Path) -> None:
    text = changed(QUESTION, said("Her number is 847-555-0164.")) + "  - {name: other, extends: mine, about: Same.}\n"
    suite = Suite([written(tmp_path, text)])
    assert [item.scenario for item in lint(suite, ["other"])] == ["other"]


def test_a_complaint_reads_as_one_line_and_as_json(tmp_path: Path) -> None:
    found = complaint(tmp_path, changed(QUESTION, said("Her number is 847-555-0164.")))
    assert str(found).startswith(f"{tmp_path / 'mine.yaml'}:{found.line}: mine: say ")
    assert str(found).endswith("[secret]")
    assert found.to_json()["rule"] == "secret"


# What the tools can do, as lint believes it, against what they do.


def world_of(scenario: Scenario, **settings: bool) -> Running:
    world = Running(scenario.world, scenario.clock, IdStream("test"))
    with world.transaction() as tx:
        tx.update("setting", next(iter(scenario.world.table("setting"))), settings)
    return world


def tried(world: Running, call: PlannedCall) -> Outcome:
    tool = present(phone.agent_tools[call.tool])
    bound = bind({tool.name: tool}, call.tool, call.arguments)
    return attempt(world.begin(), bound) if isinstance(bound, Bound) else bound


def first(scenario: Scenario, table: str) -> str:
    return next(iter(scenario.world.table(table)))


def actions(scenario: Scenario) -> list[PlannedCall]:
    """One call of every tool that acts, each doing all it can."""
    person, reminder = first(scenario, "contact"), first(scenario, "reminder")
    number, moment = "+12025550101", scenario.clock.now + 86400
    place = {"latitude": 1.0, "longitude": 2.0}
    return [
        PlannedCall("add_contact", {"name": "A", "phone_number": number}),
        PlannedCall("modify_contact", {"person_id": person, "name": "A", "phone_number": number, "relationship": "b"}),
        PlannedCall("remove_contact", {"person_id": person}),
        PlannedCall("send_message_with_phone_number", {"phone_number": number, "content": "a"}),
        PlannedCall("add_reminder", {"content": "a", "reminder_timestamp": moment}),
        PlannedCall(
            "modify_reminder", {"reminder_id": reminder, "content": "a", "reminder_timestamp": moment, **place}
        ),
        PlannedCall("remove_reminder", {"reminder_id": reminder}),
        PlannedCall("set_timer", {"seconds": 60}),
        *(
            PlannedCall(name, {"on": False})
            for name in ACTING
            if name.startswith("set_") and "low" not in name and name != "set_timer"
        ),
        PlannedCall("set_low_battery_mode_status", {"on": True}),
    ]


def test_every_tool_that_acts_has_an_effect() -> None:
    assert [name for name in ACTING if len(effects(default(), [name])) != 1] == []


def test_effects_are_what_the_tools_do() -> None:
    scenario = SUITE.get("wifi_off")
    kinds = {(False, True): "adds", (True, False): "removes", (True, True): "updates"}
    for call in actions(scenario):
        outcome = tried(world_of(scenario), call)
        assert outcome.fault is None, outcome.fault
        [effect] = effects(default(), [call.tool])
        for change in outcome.changes:
            assert (change.table, kinds[change.before is not None, change.after is not None]) == (
                effect.table,
                effect.kind,
            )
            if change.before and change.after:
                differing = {name for name in change.after if change.after[name] != change.before[name]}
                assert differing <= effect.columns


@each(
    "call",
    [
        PlannedCall("send_message_with_phone_number", {"phone_number": "+12025550101", "content": "a"}),
        PlannedCall("get_current_location", {}),
        PlannedCall("search_holiday", {"holiday_name": "Christmas Day"}),
        PlannedCall("search_lat_lon", {"latitude": 41.9, "longitude": -87.6}),
        PlannedCall("search_stock", {"query": "AAPL"}),
        PlannedCall("convert_currency", {"amount": 1, "from_currency_code": "EUR", "to_currency_code": "USD"}),
        PlannedCall("search_location_around_lat_lon", {"location": "museum"}),
        PlannedCall("search_location_around_lat_lon", {"location": "museum", "latitude": 41.9, "longitude": -87.6}),
        PlannedCall("search_weather_around_lat_lon", {}),
        PlannedCall("get_current_timestamp", {}),
    ],
    ids=lambda call: call.tool,
)
def test_calls_fail_without_the_services_that_they_need_and_only_then(call: PlannedCall) -> None:
    scenario = SUITE.get("wifi_off")
    for service in SERVICES:
        outcome = tried(world_of(scenario, **{service: False}), call)
        assert (outcome.fault is not None) == (service in needs(scenario.home, call.tool, call.arguments)), service


@each("text", ["06 39 98 01 48", "it's 0639980148.", "+33639980148"])
def test_a_number_is_found_however_it_is_written(text: str) -> None:
    assert has_number(text, "+33639980148")


def test_a_number_may_be_told_by_its_ending() -> None:
    assert has_ending("no, it ends in 148", "+33639980148")
    assert not has_ending("call me at 8", "+33639980148")


def test_words_are_found_whole() -> None:
    assert contains("See you at Nonna's!", "nonna's")
    assert not contains("nonnas", "nonna")
