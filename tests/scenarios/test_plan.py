"""Reference solutions as something to play: what is filled in from results, and under which names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios.plan import PlanError, as_text, fill, presented_solution, ready, refusal, staged
from sandbox_scenarios.variants import VARIANTS, presented

from tests.each import each
from tests.suite import SUITE

FOUND = [{"person_id": "p1", "name": "Wren"}, {"person_id": "p2", "name": "Tomas"}]
RESULTS: dict[str, Any] = {"found": FOUND, "now": 1747405800.0, "place": {"latitude": 41.5}}


@each(
    ("planned", "value"),
    [
        ("$found.1.person_id", "p2"),
        ("$now", 1747405800.0),
        ("$place.latitude", 41.5),
        ("$found", FOUND),
        ("${found.0.name} and ${found.1.name}", "Wren and Tomas"),
        ("at ${now}", "at 1747405800.0"),
        ({"to": "$found.0.person_id", "list": ["$now", 1]}, {"to": "p1", "list": [1747405800.0, 1]}),
        (None, None),
        (True, True),
        ("costs 5$", "costs 5$"),
        ("$20 each", "$20 each"),
        ("$AAPL is up", "$AAPL is up"),
        ("$", "$"),
        ("$5 at ${now}", "$5 at 1747405800.0"),
    ],
)
def test_values_are_taken_from_earlier_results(planned: Any, value: Any) -> None:
    assert fill(planned, RESULTS) == value


def test_a_whole_value_keeps_its_type() -> None:
    assert isinstance(fill("$now", RESULTS), float)
    assert isinstance(fill("${now}", RESULTS), str)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(alphabet="ab ."), st.lists))
def test_what_refers_to_nothing_stays_as_it_is(value: Any) -> None:
    assert fill(value, RESULTS) == value


@each(
    ("planned", "says"),
    [
        ("$lost.0", "needs the result 'lost', which no call has returned; there are: found, now, place"),
        ("$found.7.name", "'found.7.name', but 'found' returned [{"),
        ("$now.0", "'now.0', but 'now' returned 1747405800.0"),
        ("$found.0.name.0", "'found.0.name.0', but 'found' returned [{"),
        ("$place.height", "'place.height', but 'place' returned"),
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(planned: str, says: str) -> None:
    with pytest.raises(PlanError) as caught:
        fill(planned, RESULTS)
    assert says in str(caught.value)


def test_a_refused_call_leaves_its_message_and_the_code_to_confirm() -> None:
    left = refusal("ConfirmationRequiredError: the user must confirm this first; tell the user the code OK-0A1B2C, and")
    assert left["code"] == "OK-0A1B2C"
    assert fill("May I? ${asked.code}", {"asked": left}) == "May I? OK-0A1B2C"


def test_a_refused_call_without_a_code_leaves_only_its_message() -> None:
    assert refusal("ConnectionError: wifi is off") == {"error": "ConnectionError: wifi is off"}


def test_text_is_shown_as_it_is_and_other_values_as_json() -> None:
    assert [as_text(value) for value in ("é", 1.5, True, None, ["é"])] == ["é", "1.5", "true", "null", '["é"]']


@each("variant", VARIANTS)
def test_a_solution_speaks_the_names_of_every_variant(variant: str) -> None:
    scenario = SUITE.get("late_for_dinner_low_battery")
    offered = presented(scenario, variant)
    solution = staged(scenario.solutions[0], scenario, variant, offered)
    for turn in solution.turns:
        for call in turn.calls:
            assert set(call.arguments) <= set(offered[call.tool].names)


def test_where_actions_are_text_a_call_is_written_once_its_values_are_known() -> None:
    scenario = SUITE.get("late_for_dinner_low_battery")
    solution = staged(scenario.solutions[0], scenario, "text_actions", presented(scenario, "text_actions"))
    last = solution.turns[0].calls[-1]
    text = 'send_message_with_phone_number(phone_number="+1", content="I\'ll be twenty minutes late for dinner.")'
    assert ready(last, {"found": [{"phone_number": "+1"}]}) == {"action": text}
    with pytest.raises(PlanError):
        ready(last, {})


def test_the_base_variant_changes_nothing() -> None:
    scenario = SUITE.get("colleagues_to_friends")
    assert presented_solution(scenario.solutions[0], presented(scenario)) == scenario.solutions[0]
