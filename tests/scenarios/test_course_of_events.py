"""What a scenario lets happen, say and count by the state of its world: events, branches, acts in order, end states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_grader.grading.rebuild import rebuilt
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Scenario, ScenarioFileError, Suite

from sandbox_mcp.engine.trajectory import MemoryLog, Message, ToolCall, Trajectory
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.session.session import Reply, Session
from sandbox_mcp.play.users.base import Line, UserAct, UserCall, UserTurn
from sandbox_mcp.play.users.recall import USER_TOOLS
from sandbox_mcp.play.users.scripted import ScriptedUser

WORLD = '''
"""A panel with keys, and slips of paper beside it."""

from typing import Self

from sandbox_mcp import Id, Table, Tx, World, key


class Press(Table):
    """A key that was pressed."""

    id: Id[Self] = key()
    name: str


class Slip(Table):
    """A slip of paper."""

    id: Id[Self] = key()
    text: str
    state: str = "open"


panel = World("panel", tables=[Press, Slip])


@panel.query
def list_slips(tx: Tx) -> list[Slip]:
    """List the slips."""
    return tx.all(Slip)


@panel.action(updates=[Slip.state])
def settle(tx: Tx, slip: Id[Slip], state: str) -> Slip:
    """Settle a slip."""
    return tx.change(tx.get(Slip, slip), state=state)


@panel.user_action(adds=[Press])
def press(tx: Tx, name: str) -> str:
    """Press a key."""
    tx.add(Press, name=name)
    return f"{name} blinks."
'''
FILE = """
family: panels
scenarios:
  - name: panel_base
    abstract: true
    world: panel
    state:
      slip: {one: {text: first}, two: {text: second}}
    clock: {now: 2026-03-02 09:00:00, zone: UTC}
    tools: [list_slips, settle]
    categories: [multiple_tool_call]
    user: {goal: You want the slips settled., opening: Settle the slips.}
    reference: [{turns: [{calls: [{tool: settle, arguments: {slip: "@slip.one", state: paid}}], reply: Done.}]}]
    milestones: [{id: paid, table: slip, updates: {id: "@slip.one", state: paid}}]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "panel.py").write_text(WORLD)
    monkeypatch.setenv(FILES, str(tmp_path / "panel.py"))
    return tmp_path


def scenario_of(place: Path, more: str) -> Scenario:
    (place / "panels.yaml").write_text(FILE + "  - name: mine\n    extends: panel_base\n" + more)
    return Suite([place]).get("mine")


def begun(scenario: Scenario) -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), log)
    session.begin()
    return session, log


def says(session: Session, text: str) -> Reply:
    async def say() -> Reply:
        return await session.say(text)

    return anyio.run(say)


def slips(session: Session) -> list[str]:
    return [f"{row['text']} {row['state']}" for row in session.stage.state.table("slip").values()]


def id_of(session: Session, text: str) -> str:
    return next(key for key, row in session.stage.state.table("slip").items() if row["text"] == text)


COMING = """
    events:
      - id: correction
        when: {table: slip, has: {state: paid}}
        adds: {slip: {three: {text: third}}}
        updates: {slip: {two: {state: void}}}
        notice: A new slip has come.
"""


def test_an_event_on_a_condition_happens_once_it_holds_and_only_once(place: Path) -> None:
    session, log = begun(scenario_of(place, COMING))
    assert "notices" not in session.call("list_slips", {}).structured
    result = session.call("settle", {"slip": id_of(session, "first"), "state": "paid"})
    assert result.structured["notices"] == ["A new slip has come."]
    assert slips(session) == ["first paid", "second void", "third open"]
    session.call("settle", {"slip": id_of(session, "third"), "state": "paid"})
    assert [event.name for event in log.events if isinstance(event, ToolCall) and event.caller == "environment"] == [
        "correction"
    ]
    session.end("abandoned")
    assert not list(differences(log.trajectory(), session.spec.scenario))
    assert not list(differences(log.trajectory()))


def test_what_a_scenario_lets_happen_is_no_harm_by_the_agent(place: Path) -> None:
    scenario = scenario_of(place, COMING)
    assert evaluate(scenario, RehearsalStage(scenario).rehearse(scenario.solutions[0]).log).score == 1


def test_a_session_that_is_taken_up_again_lets_nothing_happen_twice(place: Path) -> None:
    scenario = scenario_of(place, COMING)
    session, log = begun(scenario)
    session.call("settle", {"slip": id_of(session, "first"), "state": "paid"})
    other = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), MemoryLog())
    other.restore(log.trajectory())
    assert slips(other) == slips(session)
    assert "notices" not in other.call("list_slips", {}).structured


def test_an_event_may_wait_after_its_condition(place: Path) -> None:
    session, _ = begun(scenario_of(place, COMING.replace("notice:", "after: 3\n        notice:")))
    session.call("settle", {"slip": id_of(session, "first"), "state": "paid"})
    seen = ["notices" in session.call("list_slips", {}).structured for _ in range(5)]
    assert seen == [False, False, True, False, False]


def test_an_event_may_come_at_a_moment(place: Path) -> None:
    at = COMING.replace("when: {table: slip, has: {state: paid}}", "at: 2026-03-02 09:00:05")
    session, _ = begun(scenario_of(place, at))
    seen = ["notices" in session.call("list_slips", {}).structured for _ in range(4)]
    assert seen.count(True) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("    events: [{id: a, notice: Hm.}]\n", "needs a condition"),
        ("    events: [{id: a, at: 2026-03-02 09:00:05}]\n", "does nothing"),
        ("    events: [{id: a, at: soon, notice: Hm.}]\n", "expected a date and time"),
        ("    events: [{id: a, when: {table: slip}, notice: Hm.}]\n", "either 'has' or 'lacks'"),
        ("    events: [{id: a, when: {table: slop, has: {}}, notice: Hm.}]\n", "unknown table 'slop'"),
        ("    events: [{id: a, when: {table: slip, has: {hue: red}}, notice: Hm.}]\n", "unknown column 'hue'"),
    ],
)
def test_an_event_that_means_nothing_is_refused(place: Path, wrong: str, told: str) -> None:
    with pytest.raises(ScenarioFileError, match=told):
        scenario_of(place, wrong)


BRANCH = """
    user:
      script:
        then:
          - {say: And pay the second one too., when: {table: slip, has: {text: first, state: paid}}}
          - {say: Then void the second one., when: {table: slip, lacks: {state: paid}}}
"""


@pytest.mark.parametrize(
    ("state", "next_wish"), [("paid", "And pay the second one too."), ("lost", "Then void the second one.")]
)
def test_a_script_branches_on_what_was_done(place: Path, state: str, next_wish: str) -> None:
    session, _ = begun(scenario_of(place, BRANCH))
    session.call("settle", {"slip": id_of(session, "first"), "state": state})
    assert (says(session, "Done! I have settled the first slip for you.").text or "").endswith(next_wish)
    assert says(session, "I've done that as well.").over


KEYS = """
    user:
      script:
        answers:
          - {about: [F1], does: {act: press, arguments: {name: F1}}}
          - {about: [F4], does: {act: press, arguments: {name: F4}}}
          - {about: [F6], does: {act: press, arguments: {name: F6}}}
"""


def test_acts_are_done_and_told_in_the_order_asked_for(place: Path) -> None:
    session, _ = begun(scenario_of(place, KEYS))
    said = says(session, "Please press F6, then F1, and then F4. What does it show?").text
    assert [row["name"] for row in session.stage.state.table("press").values()] == ["F6", "F1", "F4"]
    assert said == "F6 blinks. F1 blinks. F4 blinks."


ENDS = """
    milestones: [{id: first, table: slip, updates: {id: "@slip.one", state: paid}}]
    end_states:
      - milestones: [{id: second, table: slip, updates: {id: "@slip.two", state: paid}}]
      - milestones: [{id: second, table: slip, updates: {id: "@slip.two", state: void}}]
"""


@pytest.mark.parametrize(("state", "score"), [("paid", 1.0), ("void", 1.0), ("lost", 0.0)])
def test_any_of_the_declared_end_states_is_right(place: Path, state: str, score: float) -> None:
    session, log = begun(scenario_of(place, ENDS))
    session.call("settle", {"slip": id_of(session, "first"), "state": "paid"})
    session.call("settle", {"slip": id_of(session, "second"), "state": state})
    session.end("abandoned")
    assert evaluate(session.spec.scenario, log.trajectory()).score == score


@pytest.mark.parametrize(("done", "score"), [(["paid", "paid"], 1.0), (["paid"], 0.0), (["paid", "void"], 0.0)])
def test_judged_by_state_all_of_it_counts_or_nothing(place: Path, done: list[str], score: float) -> None:
    wanted = """
    judge: state
    milestones:
      - {id: first, table: slip, updates: {id: "@slip.one", state: paid}}
      - {id: second, table: slip, updates: {id: "@slip.two", state: paid}}
"""
    session, log = begun(scenario_of(place, wanted))
    for slip, state in zip(("first", "second"), done, strict=False):
        session.call("settle", {"slip": id_of(session, slip), "state": state})
    session.end("abandoned")
    result = evaluate(session.spec.scenario, log.trajectory())
    assert (result.score, result.milestone_score) == (score, 1.0 if score else 0.5)


def test_messages_and_calls_have_limits_of_their_own_and_the_agent_is_told_of_them(place: Path) -> None:
    session, log = begun(scenario_of(place, "    max_turns: 2\n    max_calls: 40\n" + BRANCH))
    told = [session.call("list_slips", {}).structured.get("notices") for _ in range(40)]
    assert [place for place, notices in enumerate(told) if notices] == [34]
    assert told[34] == ["5 calls left in this session"]
    assert session.call("list_slips", {}).error
    assert session.ended == "max_calls"
    other, log = begun(scenario_of(place, "    max_turns: 2\n" + BRANCH))
    assert says(other, "Which one do you mean?").notices == ("your next message is the last in this session",)
    assert says(other, "I've done it.").reason == "max_turns"
    assert isinstance(log.events[-2], Message)


@dataclass(frozen=True)
class Freely:
    """A user that does what its script has not: it acts, looks something up and tries what it cannot do."""

    kind: str

    def describe(self) -> Mapping[str, Any]:
        return {}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        looks = UserCall(USER_TOOLS["look_up"].tool, {"question": "slips?"}, "You do not know that.")
        acts = (UserAct("press", {"name": "F9"}), UserAct("press", {"nome": "F9"}), UserAct("jump"))
        return UserTurn("Go on.", calls=(looks,), does=acts)


@pytest.mark.parametrize(("kind", "told"), [("llm", []), ("human", []), ("scripted", ["user's act"] * 3)])
def test_replay_lets_only_users_without_a_script_act_as_they_like(place: Path, kind: str, told: list[str]) -> None:
    scenario, log = scenario_of(place, KEYS), MemoryLog()
    session = Session(SessionSpec(scenario), Freely(kind), log)
    session.begin()
    says(session, "Shall I?")
    session.end("abandoned")
    assert len(session.stage.state.table("press")) == 1
    assert [item.what for item in differences(log.trajectory(), scenario)] == told


def abroad(log: Trajectory) -> Trajectory:
    """The session as a host keeps it: without a state, the user's acts, and what the world did by itself."""
    seen = [
        replace(event, changes=(), seq=seq) if isinstance(event, ToolCall) else replace(event, seq=seq)
        for seq, event in enumerate(log.events, start=1)
        if not isinstance(event, ToolCall) or event.caller == "agent"
    ]
    return replace(log, started=replace(log.started, world=None, digest=""), events=tuple(seen))


THEN_PAID = """
    milestones:
      - {id: first, table: slip, updates: {id: "@slip.one", state: paid}}
      - {id: second, after: [first], table: slip, updates: {id: "@slip.two", state: paid}}
"""


@pytest.mark.parametrize("more", [COMING, COMING.replace("notice:", "after: 2\n        notice:")])
def test_what_a_scenario_lets_happen_happens_in_a_log_without_state_too(place: Path, more: str) -> None:
    scenario = scenario_of(place, more + THEN_PAID)
    session, log = begun(scenario)
    session.call("settle", {"slip": id_of(session, "first"), "state": "paid"})
    for _ in range(3):
        session.call("list_slips", {})
    session.call("settle", {"slip": id_of(session, "second"), "state": "paid"})
    says(session, "Done.")
    own, again = log.trajectory(), rebuilt(abroad(log.trajectory()), scenario)
    assert again.mismatches == ()

    def changes(log: Trajectory) -> list[Any]:
        return [change for event in log.events if isinstance(event, ToolCall) for change in event.changes]

    assert changes(again.trajectory) == changes(own)
    assert evaluate(scenario, again.trajectory).score == evaluate(scenario, own).score == 1
