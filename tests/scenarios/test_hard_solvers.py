"""What the user and the tools tell is enough to be right in families of the hard tier."""

import pytest
from sandbox_grader.milestones.strict import evaluate

from sandbox_mcp.engine.trajectory import MemoryLog
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.session import Session
from sandbox_mcp.play.users.scripted import ScriptedUser
from tests.clients.sessions import SUITE
from tests.laws import at_least
from tests.scenarios.solvers import SOLVERS

INSTANCES = range(1, 1 + min(at_least(3), 100))


@pytest.mark.hypothesis  # so that `make laws` plays more instances
@pytest.mark.parametrize("name", SOLVERS)
def test_who_keeps_to_what_is_told_is_right(name: str) -> None:
    scores: dict[int, float] = {}
    for instance in INSTANCES:
        scenario, log = SUITE.get(f"{name}@{instance}"), MemoryLog()
        session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), log)
        SOLVERS[name](session)
        session.end("abandoned")
        scores[instance] = evaluate(scenario, log.trajectory()).score
    assert scores == dict.fromkeys(INSTANCES, 1)
