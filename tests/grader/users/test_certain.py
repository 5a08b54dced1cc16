"""A session is thrown out for what is certain alone."""

from dataclasses import replace

from sandbox_grader.grading.metric import Subject
from sandbox_grader.users import UserConduct
from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import Message, Trajectory
from tests.each import each
from tests.scenarios.playing import talk
from tests.suite import SUITE

SCENARIO = SUITE.get("wifi_off")


def left_at(text: str, about: Scenario = SCENARIO, **meta: str) -> bool:
    """Whether a user that leaves at these words has spoiled the session."""
    log = talk(about, "I can't.")
    *before, asking, leaving = log.events
    assert isinstance(asking, Message)
    log = Trajectory(log.started, (*before, replace(asking, content=text, meta=meta), leaving), log.ended)
    return bool(UserConduct().grade(Subject(log, scenario=about), "strict").values["spoiled"])


def test_leaving_at_a_question_spoils() -> None:
    assert left_at("Shall I switch it off?")


@each(
    "text",
    [
        'I found nothing but a text of Ada\'s: "Shall we meet at six?"',
        "I can't answer her. Here is what she wrote:\n\n> Could you come at six?",
        "<think>Should I ask them?</think>I can't do that.",
    ],
)
def test_a_question_of_others_is_none_of_the_agents(text: str) -> None:
    assert not left_at(text)


@each("finish", ["length", "max_tokens", "max_output_tokens"])
def test_a_reply_that_was_cut_off_is_the_agents_fault(finish: str) -> None:
    assert not left_at("Shall I sw", finish=finish)
