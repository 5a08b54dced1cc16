"""A look-up counts if it found what its milestone asks for."""

from pathlib import Path

from sandbox_grader.milestones import strict
from sandbox_grader.milestones.reasons import details
from sandbox_scenarios.model import CallConstraint, PlannedCall, PlannedTurn, Solution

from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.suite import SUITE


def met(name: str, tool: str, **arguments: object) -> tuple[float, str]:
    """How far the look-up of a scenario is met by one call, and why it is not met in full."""
    scenario = SUITE.get(name)
    turn = PlannedTurn(((PlannedCall(tool, arguments),),), "There is nothing of the kind.")
    result = strict.evaluate(scenario, RehearsalStage(scenario).rehearse(Solution((turn,))).log)
    asked = {
        item.id
        for item in scenario.milestones
        for part in item.constraints
        if isinstance(part, CallConstraint) and any(pattern.tool == tool for pattern in part.patterns)
    }
    found = next(item for item in details(scenario, result) if item.get("id") in asked)
    return found["effective"], " ".join(reason["text"] for reason in found["reasons"])


@each(
    ("name", "tool", "arguments"),
    [
        ("what_i_ordered", "search_messages", {"content": "table"}),
        ("what_i_ordered", "search_messages", {}),
        ("landlord_number", "search_contacts", {"is_self": False}),
        (
            "office_whole_day",
            "QueryCalendar",
            {"start_time": "2027-06-01 00:00:00", "end_time": "2027-07-01 00:00:00"},
        ),
        ("office_complete_reminder", "GetReminders", {}),
        ("warm_outside_now", "search_weather_around_lat_lon", {}),
    ],
)
def test_whatever_way_leads_to_it_counts(name: str, tool: str, arguments: dict[str, object]) -> None:
    value, why = met(name, tool, **arguments)
    assert value == 1, why


@each(
    ("name", "tool", "arguments", "why"),
    [
        ("what_i_ordered", "search_messages", {"sender_phone_number": "+441414960999"}, "messages found nothing"),
        ("dumplings_wait", "search_contacts", {"is_self": True}, "found nothing of what was to be found"),
        (
            "office_whole_day", "QueryCalendar",
            {"start_time": "2027-06-20 00:00:00", "end_time": "2027-06-20 23:59:59"}, "QueryCalendar found nothing",
        ),
        ("office_whose_username", "QueryUser", {"username": "mhalloran"}, "found nothing of what was to be found"),
    ],
)  # fmt: skip
def test_finding_nothing_of_it_is_not_finding_it(name: str, tool: str, arguments: dict[str, object], why: str) -> None:
    value, reason = met(name, tool, **arguments)
    assert value == 0
    assert why in reason


def test_an_attempt_fails_at_what_is_in_its_way() -> None:
    refused = met("first_text_no_owner", "send_message_with_phone_number", phone_number="+46701740629", content="Hi")
    assert refused[0] == 1, refused[1]
    value, why = met("first_text_no_owner", "search_contacts", phone_number="070-174 06 29")
    assert value == 0
    assert "search_contacts failed at its own arguments: " in why


def test_where_the_solutions_find_nothing_nothing_has_to_be_found() -> None:
    scenario = SUITE.get("empty_inbox")
    for solution in scenario.solutions:
        assert strict.evaluate(scenario, RehearsalStage(scenario).rehearse(solution).log).score == 1


def test_what_a_small_model_looked_for_in_vain_earns_nothing(benchmark_data: Path) -> None:
    for name in ("what_i_ordered", "unknown_number_says_briefly", "thanks_but_not_unsent"):
        log = read_trajectory(benchmark_data / "small_model" / f"{name}-base-s0-t0.jsonl")
        assert strict.evaluate(SUITE.get(name), log).score == 0, name
