"""What the phone itself announces can be a milestone."""

import dataclasses

import anyio
from sandbox_grader import grade
from sandbox_scenarios.model import Expected, MessageConstraint, Milestone

from sandbox_mcp.engine.trajectory import MemoryLog
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE

HEARD = Milestone("heard", (MessageConstraint(Expected("contains", "tea"), sender="environment", recipient="agent"),))
SCENARIO = dataclasses.replace(
    SUITE.get("wifi_off"), tools=("set_timer", "wait"), milestones=(HEARD,), allows={"timer": ("*",)}
)


@each(("waits", "score"), [(120, 1.0), (10, 0.0)])
@each("mode", ["strict", "compat"])
def test_a_timer_that_went_off_can_be_a_milestone(waits: int, score: float, mode: str) -> None:
    log = MemoryLog()
    session = Session(SessionSpec(SCENARIO), ScriptedUser(SCENARIO.user.script), log)
    session.begin()
    session.call("set_timer", {"seconds": 60, "label": "tea"})
    session.call("wait", {"seconds": waits})
    anyio.run(session.say, "The tea is ready.")
    assert grade(log.trajectory(), SCENARIO, mode).score == score
