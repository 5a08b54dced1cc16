"""Which call is which of the solution, what may change places, and how tools are told apart by their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.conduct.deeds import align
from sandbox_grader.conduct.observed import ObservedSession, reaches_a_person, text_of, words
from sandbox_grader.conduct.order import Rehearsal
from sandbox_grader.grading.values import leaves
from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import ReferenceCall, ToolCall
from tests.each import each
from tests.grader.milestones.sessions import Play
from tests.suite import SUITE

names = st.lists(st.sampled_from("abc"), max_size=7)


def calls(made: list[str]) -> tuple[ToolCall, ...]:
    play = Play()
    for name in made:
        play.calls(name)
    return ObservedSession(play.done(), ()).calls


def wanted(made: list[str]) -> list[ReferenceCall]:
    return [ReferenceCall(tool=name, arguments={}) for name in made]


def aligned(made: list[str], solution: list[str]) -> dict[int, int]:
    return align(calls(made), wanted(solution), lambda call, want: None if call.name == want.tool else "differs")


@given(names, names)
def test_calls_are_aligned_one_to_one_with_the_same_calls(made: list[str], solution: list[str]):
    pairs = aligned(made, solution)
    assert len(set(pairs.values())) == len(pairs)
    assert all(made[i] == solution[j] for i, j in pairs.items())


@given(names, names)
def test_as_many_as_there_are_in_both(made: list[str], solution: list[str]):
    assert len(aligned(made, solution)) == sum(min(made.count(name), solution.count(name)) for name in "abc")


@given(names, names)
def test_the_solution_with_anything_in_between_is_in_order(solution: list[str], between: list[str]):
    made = [*between[:3], *solution, *between[3:]]
    pairs = aligned(made, solution)
    assert [pairs[i] for i in sorted(pairs)] == list(range(len(solution)))


def test_what_is_out_of_order_is_aligned_last():
    assert aligned(["b", "a", "c"], ["a", "b", "c"]) in ({0: 1, 1: 0, 2: 2}, {1: 0, 2: 2, 0: 1})


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return SUITE.get("wifi_off_with_care")


class TestPlaces:
    def swapped(self, scenario: Scenario, *made: tuple[str, object]) -> str | None:
        solution = [ReferenceCall(tool=tool, arguments={"on": on}, action=True) for tool, on in made]
        return Rehearsal(scenario, solution).swapped(0, len(solution) - 1)

    def test_two_switches_may_change_places(self, scenario: Scenario):
        assert self.swapped(scenario, ("set_wifi_status", False), ("set_cellular_service_status", False)) is None

    def test_a_switch_that_holds_another_back_may_not(self, scenario: Scenario):
        problem = self.swapped(scenario, ("set_wifi_status", False), ("set_low_battery_mode_status", True))
        assert problem == "set_wifi_status fails: ValueError: wifi is already off"

    def test_a_call_that_fails_either_way_is_no_reason(self, scenario: Scenario):
        assert self.swapped(scenario, ("set_wifi_status", "x"), ("set_cellular_service_status", False)) is None

    def test_a_tool_that_we_do_not_have_changes_nothing(self, scenario: Scenario):
        assert self.swapped(scenario, ("book_flight", True), ("set_wifi_status", False)) is None

    def test_two_entries_of_one_kind_may_change_places(self, scenario: Scenario):
        entries = [
            {"name": name, "phone_number": phone} for name, phone in (("Ann", "+12025550143"), ("Bo", "+12025550144"))
        ]
        solution = [ReferenceCall(tool="add_contact", arguments=entry, action=True) for entry in entries]
        assert Rehearsal(scenario, solution).swapped(0, 1) is None


@each(
    ("name", "expected"),
    [
        ("send_message", {"send", "message"}),
        ("SendEmail", {"send", "email"}),
        ("getHTTPResponse2", {"get", "http", "response", "2"}),
        ("", set[str]()),
        ("a.b-c", {"a", "b", "c"}),
    ],
)
def test_the_words_of_a_name(name: str, expected: set[str]):
    assert words(name) == expected


@each(
    ("tool", "sends"),
    [("SendMessage", True), ("reply_to_email", True), ("search_messages", False), ("set_wifi_status", False)],
)
def test_what_reaches_a_person(tool: str, sends: bool):
    assert reaches_a_person(tool) is sends


def test_leaves_and_their_text():
    value = {"a": [1, {"b": "x"}], "c": None, "d": True}
    assert sorted(map(repr, leaves(value))) == ["'x'", "1", "None", "True"]
    assert set(text_of(value).split()) == {"1", "x", "null", "true"}
    assert text_of("as it is") == "as it is"


def test_the_agent_has_seen_what_came_before_and_was_for_it():
    play = Play(opening="hello").calls("look", result="found").says("secret", "system", "user").says("mine")
    play.calls("fail", error="ValueError").calls("late", result="later")
    assert list(ObservedSession(play.done(), ()).seen_before(6)) == ["hello", "found", "ValueError happened"]


def test_calls_of_the_user_are_not_the_agents():
    play = Play().calls("confirm_action", caller="user").calls("look")
    assert [call.name for call in ObservedSession(play.done(), ()).calls] == ["look"]
