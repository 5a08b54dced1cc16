"""A world that somebody else declares: found, played, recorded, replayed and graded like ours."""

import dataclasses
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import pytest
from sandbox_grader import grade
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.lint import lint

from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall, Trajectory, parse_trajectory, to_line
from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds import FILES, UnknownWorldError, load, named, use_file
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage, Rehearsed, settled
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.users import ScriptedUser, UserAct, UserTurn
from tests.scenarios.playing import solved

HERE = Path(__file__).parent
DAY = 86400.0


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, str(HERE / "library.py"))


@pytest.fixture
def suite() -> Suite:
    return Suite([HERE / "library.yaml"])


@pytest.fixture
def scenario(suite: Suite) -> Scenario:
    return suite.get("lend_the_lamplighters")


@pytest.fixture
def played(scenario: Scenario) -> Rehearsed:
    return RehearsalStage(scenario).rehearse(scenario.solutions[0])


def opened(scenario: Scenario, **changes: Any) -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    every = dataclasses.replace(scenario, tools=tuple(scenario.home.agent_tools), without=(), **changes)
    session = Session(SessionSpec(every), ScriptedUser(every.user.script), log)
    session.begin()
    return session, log


def ids(scenario: Scenario, table: str) -> dict[str, str]:
    name = "title" if table == "book" else "name"
    return {str(row[name]): key for key, row in scenario.world.table(table).items()}


def lent(session: Session, scenario: Scenario) -> None:
    book, reader = ids(scenario, "book")["The Lamplighters"], ids(scenario, "reader")["Edith Maas"]
    assert session.call("lend", {"book": book, "reader": reader}).error is None


def written(log: MemoryLog) -> Trajectory:
    return parse_trajectory("".join(map(to_line, log.events)).encode())


class Reader:
    """A user who looks into the book, and says what there is to see."""

    kind = "reader"

    def describe(self) -> dict[str, Any]:
        return {}

    async def respond(self, dialogue: object) -> UserTurn:
        return UserTurn("I see this: {open_book}", does=(UserAct("open_book"),))


class TestPlaying:
    @pytest.mark.parametrize("mode", ["strict", "paper", "compat"])
    def test_the_reference_gets_full_marks(self, scenario: Scenario, played: Rehearsed, mode: Any) -> None:
        assert grade(played.log, scenario, mode=mode).score == 1

    def test_replay_agrees(self, played: Rehearsed) -> None:
        assert list(differences(played.log)) == []

    def test_quick_lint_finds_nothing(self, suite: Suite) -> None:
        assert lint(suite) == ()

    def test_deep_lint_finds_nothing(self, suite: Suite) -> None:
        assert lint_scenario(suite, "lend_the_lamplighters").complaints == ()

    def test_deep_lint_names_a_fault_of_the_world(self, tmp_path: Path) -> None:
        text = (HERE / "library.yaml").read_text(encoding="utf-8")
        (tmp_path / "library.yaml").write_text(text.replace("[enrol, stumble]", "[stumble]"), encoding="utf-8")
        [complaint] = lint_scenario(Suite([tmp_path / "library.yaml"]), "lend_the_lamplighters").complaints
        assert (complaint.rule, "enrol() of the world failed at library.py:" in complaint.problem) == ("world", True)

    def test_the_log_names_the_world(self, played: Rehearsed) -> None:
        assert dict(played.log.started.worlds) == {"library": {"version": "1", "digest": named("library").digest}}

    def test_the_agent_is_told_the_policy(self, played: Rehearsed) -> None:
        assert "Never lend a stained book." in str(getattr(played.log.events[0], "content", ""))

    def test_fixed_rows_are_in_no_log(self, played: Rehearsed) -> None:
        assert "genre" not in (played.log.started.world or {})


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ({"state": "in"}, 'ArgumentTypeError: find_books: state must be array or null, not "in"'),
            ({"state": ["in", 7]}, "ArgumentTypeError: find_books: state[1] must be string, not 7"),
            ({"state": ["in", "torn"]}, "ArgumentValueError: find_books: state[1] must be one of 'in', 'lent', 'lost'"),
        ],
    )
    def test_arrays_are_checked_item_by_item(self, scenario: Scenario, arguments: Any, problem: str) -> None:
        assert problem in str(opened(scenario)[0].call("find_books", arguments).error)

    def test_objects_are_checked_by_path(self, scenario: Scenario) -> None:
        wishes = [{"title": "Six Chairs", "days": 1.5}]
        error = opened(scenario)[0].call("lend", {"book": "b", "reader": "r", "wishes": wishes}).error
        assert error == "ArgumentTypeError: lend: wishes[0].days must be integer, not 1.5"

    def test_keys_that_were_not_declared_are_refused(self, scenario: Scenario) -> None:
        wishes = [{"title": "Six Chairs", "days": 1, "weeks": 2}]
        error = opened(scenario)[0].call("lend", {"book": "b", "reader": "r", "wishes": wishes}).error
        assert "wishes[0].weeks must be left out" in str(error)

    def test_whole_numbers_deep_inside_may_be_written_with_a_point(self, scenario: Scenario) -> None:
        session, _ = opened(scenario)
        book, reader = ids(scenario, "book")["Six Chairs"], ids(scenario, "reader")["Edith Maas"]
        wishes = [{"title": "Six Chairs", "days": 2.0}]
        result = session.call("lend", {"book": book, "reader": reader, "wishes": wishes}).structured
        assert result["due"] == session.stage.now + 2 * DAY

    def test_an_argument_may_be_called_what_python_reserves(self, scenario: Scenario) -> None:
        assert opened(scenario)[0].call("lock_up", {"from": "noon"}).structured == {"result": "noon"}


class TestResults:
    def test_hidden_columns_are_not_told(self, scenario: Scenario) -> None:
        books = opened(scenario)[0].call("find_books", {}).structured["result"]
        assert set(books[0]) == {"id", "title", "state", "reader", "due"}

    def test_secrets_are_not_told(self, scenario: Scenario) -> None:
        reader = opened(scenario)[0].call("find_reader", {"name": "Edda Maas"}).structured
        assert dict(reader) == {
            "id": ids(scenario, "reader")["Edda Maas"],
            "name": "Edda Maas",
            "likes": ["crime", "poetry"],
        }

    def test_fixed_tables_are_looked_up(self, scenario: Scenario) -> None:
        genre = opened(scenario)[0].call("find_genre", {"name": "Poetry"}).structured
        assert dict(genre) == {"code": "poe", "name": "Poetry", "shelf": 3, "near": ["drama", "songs"]}

    def test_what_there_is_not_is_an_answer(self, scenario: Scenario) -> None:
        assert "NoDataError" in str(opened(scenario)[0].call("find_genre", {"name": "Opera"}).error)


class TestFaultsOfTheWorld:
    def test_its_own_bug_ends_the_session(self, scenario: Scenario) -> None:
        session, _ = opened(scenario)
        session.call("stumble", {})
        assert session.ended == "world_failed"

    def test_the_end_says_where(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.call("stumble", {})
        assert "stumble() of the world failed at library.py:" in str(getattr(log.events[-1], "detail", ""))

    def test_the_call_is_in_the_log(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.call("stumble", {})
        assert [event.tool for event in log.events if isinstance(event, ToolCall)] == ["stumble"]

    def test_such_a_session_is_not_scored(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.call("stumble", {})
        assert not grade(log.trajectory(), scenario).scored

    def test_an_effect_that_was_not_declared_is_one(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.call("enrol", {"name": "Ada"})
        assert "enrol adds table 'book', which its declaration does not say" in str(
            getattr(log.events[-1], "detail", "")
        )

    def test_replay_agrees_on_it(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.call("stumble", {})
        assert list(differences(written(log))) == []


class TestEvents:
    def test_what_falls_due_happens(self, scenario: Scenario) -> None:
        session, _ = opened(scenario)
        lent(session, scenario)
        session.call("doze", {"days": 8})
        assert "lost" in [
            row["state"] for row in session.stage.state.table("book").values() if row["title"] == "The Lamplighters"
        ]

    def test_the_agent_is_told(self, scenario: Scenario) -> None:
        session, _ = opened(scenario)
        lent(session, scenario)
        assert session.call("doze", {"days": 8}).structured["notices"] == ["'The Lamplighters' is overdue."]

    def test_its_changes_are_the_environments(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        lent(session, scenario)
        session.call("doze", {"days": 8})
        assert [e.name for e in log.events if isinstance(e, ToolCall) and e.caller == "environment"] == ["overdue"]

    def test_replay_agrees(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        lent(session, scenario)
        session.call("doze", {"days": 8})
        assert list(differences(written(log))) == []

    def test_a_crash_just_before_loses_nothing(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        lent(session, scenario)
        session.call("doze", {"days": 8})
        cut = MemoryLog()
        cut.events = log.events[:-2]
        again = Session(session.spec, session.user, cut)
        again.restore(cut.trajectory())
        assert again.call("find_books", {"state": ["lost"]}).structured["notices"] == ["'The Lamplighters' is overdue."]

    def test_what_has_happened_does_not_happen_again(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        lent(session, scenario)
        session.call("doze", {"days": 8})
        again = Session(session.spec, session.user, log)
        again.restore(log.trajectory())
        assert "notices" not in again.call("find_books", {}).structured


class TestTheUser:
    def test_acts_in_the_world(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.user = Reader()
        lent(session, scenario)
        assert settled(session.say("Here it is.")).text == "I see this: It is clean."
        assert [e.name for e in log.events if isinstance(e, ToolCall) and e.caller == "user"] == ["open_book"]

    def test_gets_faults_as_answers(self, scenario: Scenario) -> None:
        session, _ = opened(scenario)
        session.user = Reader()
        assert settled(session.say("Here it is.")).text == "I see this: NoDataError: no book was lent"

    def test_replay_agrees(self, scenario: Scenario) -> None:
        session, log = opened(scenario)
        session.user = Reader()
        lent(session, scenario)
        settled(session.say("Here it is."))
        assert list(differences(written(log))) == []


class TestGates:
    def test_nothing_works_while_one_is_closed(self, scenario: Scenario) -> None:
        session, _ = opened(scenario, gates=("opening",))
        session.call("lock_up", {})
        assert session.call("find_books", {}).error == "OpeningRequiredError: the library is closed; call unlock first"

    def test_what_opens_it_works(self, scenario: Scenario) -> None:
        session, _ = opened(scenario, gates=("opening",))
        session.call("lock_up", {})
        session.call("unlock", {})
        assert session.call("find_books", {}).error is None


class TestFinding:
    def test_a_world_crosses_to_another_process_by_name(self) -> None:
        assert pickle.loads(pickle.dumps(named("library"))) is named("library")

    def test_one_that_is_not_there_is_one_line(self) -> None:
        with pytest.raises(UnknownWorldError, match=r"unknown world 'zoo'; known: phone, .*library"):
            named("zoo")

    def test_a_file_can_be_named_at_run_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(FILES, "")
        use_file(HERE / "library.py")
        assert os.environ[FILES] == str(HERE / "library.py")

    def test_a_file_is_loaded_once(self) -> None:
        assert load(HERE / "library.py")[0] is load(HERE / "library.py")[0]

    def test_declaring_a_world_imports_nothing_heavy(self) -> None:
        heavy = "[name for name in ('mcp', 'pydantic', 'yaml') if name in sys.modules]"
        code = f"import sys, sandbox_mcp; sandbox_mcp.World; print({heavy})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


class TestScenarios:
    @pytest.mark.parametrize(
        ("right", "wrong", "problem"),
        [
            ('reader: "@reader.edith"', 'reader: "@book.lamps"', "is a row of table 'book'; expected one of 'reader'"),
            ("state: lent, reader", "state: torn, reader", "'torn' is not one of in, lent, lost"),
            ("state: lost}", "state: torn}", "'torn' is not one of in, lent, lost"),
            ("branch: {open: true}", "branch: {open: 1}", "1 is not of type boolean"),
            ("{name: Edith Maas, pin", "{name: Edith Maas, pan: 1, pin", "unknown column 'pan' of table 'reader'"),
            ("    branch:", "    genre: {}\n    branch:", "the rows of table 'genre' are fixed"),
            ("world: library", "world: zoo", "unknown world 'zoo'"),
            ("state: [in]", "state: [on]", "find_books: state[0] must be one of 'in', 'lent', 'lost', not 'on'"),
            ("state: lent, reader", "state: torn, reader", "column 'state': 'torn' is not one of"),
            ("likes: [crime, poetry]", "likes: crime", "'likes' holds a list; write [\"crime\"] for a list of one"),
            ("branch: {open: true}", "branch: {main: {open: true}}", "the only row of a table is written without"),
            ("find_reader, lend]", "open_book, lend]", "'open_book' is what users do and no tool of the agent's"),
            ("  world: library", "  world: 7", "'reading_room': world: expected text, not 7"),
            ("  world: library", "  world: [library, zoo]", "unknown world 'zoo'"),
            ("  world: library", "  world: [library, library]", "the world 'library' is listed twice"),
            ("  categories:", "\tcategories:", "a tab stands where spaces should"),
            ("name: Edith Maas, pin", "name: @edith, pin", "put what begins with @ in quotes"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_is_told_with_its_line(self, tmp_path: Path, right: str, wrong: str, problem: str) -> None:
        text = (HERE / "library.yaml").read_text(encoding="utf-8")
        line = 1 + text[: text.index(right)].count("\n")
        (tmp_path / "mine.yaml").write_text(text.replace(right, wrong), encoding="utf-8")
        with pytest.raises(ScenarioFileError) as found:
            Suite([tmp_path]).get("lend_the_lamplighters")
        assert problem in str(found.value)
        assert f"mine.yaml:{line}:" in str(found.value)

    def test_time_may_stand(self, tmp_path: Path) -> None:
        text = (HERE / "library.yaml").read_text(encoding="utf-8").replace("zone: Europe/Berlin", "zone: UTC, step: 0")
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        scenario = Suite([tmp_path]).get("lend_the_lamplighters")
        log = solved(scenario)
        assert {event.clock for event in log.events} == {scenario.clock.now}

    def test_how_a_column_is_compared_is_known_once_it_is_built(self, scenario: Scenario) -> None:
        (constraint,) = scenario.milestones[0].constraints
        usual = {name: cell.usual for name, cell in constraint.rows[0].items()}  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        assert usual == {"id": "exact", "state": "exact", "reader": "exact", "due": "close"}


def test_a_run_in_worker_processes_finds_the_world(tmp_path: Path) -> None:
    places = ["--world", str(HERE / "library.py"), "--scenarios", str(HERE / "library.yaml")]
    what = ["run", "lend_the_lamplighters", *places, "--agent", "reference", "--executor", "processes", "--jobs", "2"]
    environment = {name: value for name, value in os.environ.items() if name != FILES}
    command = str(Path(sys.executable).parent / "sandbox-mcp")
    argv = [command, *what, "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "1.000 (user_ended)" in done.stderr


GUIDED = """
family: guided
scenarios:
- name: guide_edith
  extends: lend_the_lamplighters
  about: Whoever has the book in hand can say whether it is clean.
  categories: [multiple_tool_call, multiple_user_turn]
  user:
    goal: You are Edith Maas, want to borrow The Lamplighters, and know whether it is clean once you have opened it.
    opening: I'm Edith Maas. Can I have The Lamplighters, and would you note whether it is clean?
    script:
      answers:
      - {about: [open, look], does: open_book, say: "I have opened it. {open_book}"}
  reference:
  - turns:
    - calls:
      - {tool: find_books, arguments: {state: [in]}, as: books}
      - {tool: find_reader, arguments: {name: Edith Maas}, as: reader}
      - {tool: lend, arguments: {book: $books.0.id, reader: $reader.id}}
      reply: Can you open the book and tell me how it looks?
    - reply: Then it is yours for a week, and it is clean.
  milestones:
  - {id: lent, table: book, updates: {id: "@book.lamps", state: lent, reader: "@reader.edith", due: {any: true}}}
  - {id: told, after: [lent], message: {content: {facts: [[week], [clean]]}}}
"""


class TestActsInAScript:
    @pytest.fixture
    def guided(self, tmp_path: Path) -> Scenario:
        (tmp_path / "guided.yaml").write_text(GUIDED, encoding="utf-8")
        return Suite([tmp_path, HERE / "library.yaml"]).get("guide_edith")

    def test_the_user_does_what_it_is_asked_to_and_says_what_came_of_it(self, guided: Scenario) -> None:
        found = RehearsalStage(guided).rehearse(guided.solutions[0])
        said = [getattr(event, "content", "") for event in found.log.events if getattr(event, "sender", "") == "user"]
        acts = [event.name for event in found.log.events if isinstance(event, ToolCall) and event.caller == "user"]
        assert ("I have opened it. It is clean." in said, acts[:1]) == (True, ["open_book"])
        assert grade(found.log, guided).score == 1

    def test_a_line_that_stands_for_another_act_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "guided.yaml").write_text(GUIDED.replace("{open_book}", "{openbook}"), encoding="utf-8")
        with pytest.raises(ScenarioFileError, match=r"nothing is called 'openbook' there; .* is \{open_book\}"):
            Suite([tmp_path, HERE / "library.yaml"]).get("guide_edith")

    @pytest.mark.parametrize(
        ("wrong", "problem"),
        [
            ("does: close_book", "users of world 'library' cannot do 'close_book'; what they can do: open_book"),
            ("does: {act: open_book, arguments: {page: 3}}", "open_book has no argument 'page'"),
        ],
    )
    def test_an_act_that_the_world_does_not_offer_is_told(self, tmp_path: Path, wrong: str, problem: str) -> None:
        (tmp_path / "guided.yaml").write_text(GUIDED.replace("does: open_book", wrong), encoding="utf-8")
        with pytest.raises(ScenarioFileError, match=r"guided\.yaml:13") as found:
            Suite([tmp_path, HERE / "library.yaml"]).get("guide_edith")
        assert problem in str(found.value)


def test_what_is_declared_later_is_known_everywhere() -> None:
    late = World("late")
    before = (list(late.agent_tools), list(late.gates), list(late.user_acts), late.digest)

    @late.query
    def look(tx: Tx) -> str:
        """Look."""
        return str(tx.now)

    @late.user_action
    def knock(tx: Tx) -> str:
        """Knock."""
        return str(tx.now)

    @late.gate("door", opened_by=look)
    def is_open(tx: Tx) -> bool:
        """the door is shut"""
        return tx.now > 0

    after = (list(late.agent_tools), list(late.gates), list(late.user_acts), late.digest)
    assert before[:3] == ([], [], [])
    assert after[:3] == (["look"], ["door"], ["knock"])
    assert after[3] != before[3]


@pytest.mark.parametrize(("cells", "problem"), [({"id": "b9"}, "leave 'id' out"), ({"pages": math.nan}, "not nan")])
def test_a_row_is_made_without_an_id_and_with_numbers_that_a_log_can_hold(cells: dict[str, Any], problem: str) -> None:
    class Leaf(Table):
        """A leaf."""

        id: Id[Self] = key()
        pages: float = 1.0

    tx = Tx(Running(Snapshot({}), Clock(0.0), IdStream("")).begin())
    made: Any = tx.add
    with pytest.raises(TypeError, match=problem):
        made(Leaf, **cells)


def test_a_world_as_it_is_elsewhere_leaves_the_world_itself_as_it_is() -> None:
    [library] = load(HERE / "library.py")
    before = (library.ids, library.knowledge)
    other = library.as_elsewhere(lambda seed: IdStream(f"{seed}, elsewhere"), {"weather": "rain"})
    assert other.knowledge == {"weather": "rain"}
    assert (library.ids, library.knowledge) == before
    assert tuple(other.tools) == tuple(library.tools)
