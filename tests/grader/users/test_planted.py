"""Every planted mistake of a user is found, and none in the sessions that it was planted into."""

from sandbox_grader.grading.metric import Subject
from sandbox_grader.users import UserConduct

from sandbox_mcp.engine.trajectory import Trajectory
from tests.each import each
from tests.grader.users.planted import planted
from tests.scenarios.playing import play
from tests.suite import SUITE

SAMPLE = SUITE.names()[5::11]
"""All of them take half a minute, by hand."""


def kinds(name: str, log: Trajectory) -> set[str]:
    return {item["kind"] for item in UserConduct().grade(Subject(log, scenario=SUITE.get(name)), "strict").details}


@each("name", SAMPLE)
def test_each_planted_mistake_is_found(name: str) -> None:
    scenario = SUITE.get(name)
    missed = [
        (kind, log.events[-1])
        for kind, log in planted(scenario, play(scenario, scenario.solutions[0]))
        if kind not in kinds(name, log)
    ]
    assert missed == []


@each("name", SAMPLE)
def test_a_session_without_one_is_clean(name: str) -> None:
    scenario = SUITE.get(name)
    assert [kinds(name, play(scenario, solution)) for solution in scenario.solutions] == [
        set() for _ in scenario.solutions
    ]
