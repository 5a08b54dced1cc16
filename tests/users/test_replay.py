"""The user that says again what is written down: the same words at the same places, whatever the agent does."""

import anyio

from sandbox_mcp.play.users import Line, UserTurn
from sandbox_mcp.play.users.replay import ReplayUser, digest_of
from tests.each import each
from tests.suite import SUITE

SPEC = SUITE.get("late_for_dinner_low_battery").user
USER = ReplayUser(SPEC, ("Wren.", "/confirm", "/confirm Yes, do.", "//end is what I say", "/end"), {"from": "lines"})


def answers(count: int, agent: str = "Hm?") -> UserTurn:
    """The answer to the agent's line of that number."""
    dialogue = [Line("user", SPEC.opening)]
    for _ in range(count):
        dialogue += [Line("agent", agent), Line("user", "...")]
    return anyio.run(USER.respond, dialogue[:-1])


def test_the_answer_is_the_line_at_that_place() -> None:
    assert answers(1) == UserTurn("Wren.")


def test_what_the_agent_says_makes_no_difference() -> None:
    assert answers(1, "Something else.") == answers(1)


def test_what_is_confirmed_is_what_the_agent_asks_for_now() -> None:
    asked = "May I? OK-0A1B2C and OK-000000, that is OK-0A1B2C."
    assert answers(2, asked) == UserTurn("Yes, please.", confirms=("OK-0A1B2C", "OK-000000"))
    assert answers(3, asked) == UserTurn("Yes, do.", confirms=("OK-0A1B2C", "OK-000000"))


def test_a_line_that_begins_with_a_slash_is_written_with_two() -> None:
    assert answers(4).says == "/end is what I say"


@each("count", [5, 6, 60])
def test_it_leaves_where_it_left_and_after_its_last_line(count: int) -> None:
    assert answers(count).ends


def test_the_log_says_where_the_lines_are_from() -> None:
    assert (USER.kind, USER.describe()) == ("replay", {"from": "lines"})


def test_other_lines_have_another_digest() -> None:
    assert digest_of(["a"]) == digest_of(["a"]) != digest_of(["b"])
