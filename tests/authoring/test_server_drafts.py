"""Drafts for a live server: what its tools are tried with, what is asked for, and that all of it can be played."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from sandbox_grader import grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_scenarios import Suite
from sandbox_scenarios.filling import fill

from sandbox_mcp.app.authoring.server_drafts.milestones import milestones_of
from sandbox_mcp.app.authoring.server_drafts.starts import TrialStarts
from sandbox_mcp.app.authoring.server_drafts.survey import (
    DraftStep,
    SeenChange,
    StepPlayed,
    Usable,
    failed,
    looks_by_its_words,
)
from sandbox_mcp.app.authoring.server_drafts.values import Answered, AnswerPlace, DraftValue, Pool
from sandbox_mcp.app.authoring.server_drafts.wishes import wish_for
from sandbox_mcp.app.authoring.server_drafts.wording import plain_words
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.engine.worlds.recorded import TapeTool
from sandbox_mcp.engine.worlds.recorded.live import LiveServer
from sandbox_mcp.play.session.running_server import ServerLostError
from tests.each import each

SERVER = Path(__file__).parent / "servers" / "todo_server.py"
TASKS = Answered("list_tasks", {}, {"result": [{"id": "7f3a9c0d1e2b4a55", "title": "Water the plants", "done": False}]})


def invoke(*args: object) -> Result:
    return CliRunner().invoke(group, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Drafts for the server of tasks, and what the command printed."""
    out = tmp_path_factory.mktemp("drafts") / "todo.yaml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FILES, "")
        made = invoke("scenarios", "draft", "--server", f"{sys.executable} {SERVER}", "-o", out, "--pairs", 3, "--json")
    assert made.exit_code == 0, made.output
    return out, json.loads(made.stdout)


def test_each_usable_tool_has_a_draft_and_pairs_have_theirs(drafted: tuple[Path, dict[str, Any]]):
    _, told = drafted
    single = [name for name in told["scenarios"] if "_then_" not in name]
    assert [name.removeprefix("todo_server_") for name in single] == ["add_task", "finish_task", "tasks", "get_task"]
    assert len(told["scenarios"]) == 7


def test_a_tool_that_refuses_all_values_is_left_out_with_its_words(drafted: tuple[Path, dict[str, Any]]):
    out, told = drafted
    assert "the shade is unknown" in told["left_out"]["paint"]
    assert "left out: paint" in out.read_text()


def test_every_draft_can_be_done_and_a_refusing_agent_gets_nothing(
    drafted: tuple[Path, dict[str, Any]], tmp_path: Path
):
    out, told = drafted
    played = invoke("run", "--scenarios", out, "--agent", "reference", "--threshold", "1", "--out", tmp_path / "run",
                    *told["scenarios"], "--quiet")  # fmt: skip
    assert played.exit_code == 0, played.output
    suite = Suite([out])
    assert all(grade(refusing(suite.get(name)), suite.get(name)).score == 0 for name in told["scenarios"])


def test_state_is_asked_for_and_what_differs_from_start_to_start_is_not(drafted: tuple[Path, dict[str, Any]]):
    out, _ = drafted
    entries = {entry["name"]: entry for entry in yaml.safe_load(out.read_text())["scenarios"]}
    base = entries["todo_server_base"]["world"]
    assert base["observe"] == ["tasks"]
    assert set(base["mask"]) == {"id", "made_at"}
    [added] = entries["todo_server_add_task"]["milestones"]
    assert added["table"] == "tasks"
    assert added["adds"] == {"title": "Green tea", "urgency": 3, "done": False, "tags": '[{"name": "@home"}]'}
    [finished] = entries["todo_server_finish_task"]["milestones"]
    assert finished["updates"] == {"title": "Water the plants", "done": True}


def test_an_id_is_looked_up_and_never_said(drafted: tuple[Path, dict[str, Any]]):
    out, _ = drafted
    entry = next(item for item in yaml.safe_load(out.read_text())["scenarios"] if item["name"].endswith("_finish_task"))
    look, deed = entry["reference"][0]["turns"][0]["calls"]
    assert look == {"tool": "tasks", "as": "found"}
    assert deed["arguments"] == {"task_id": "$found.result.0.id"}
    assert "Water the plants" in entry["user"]["opening"]


def test_what_needs_something_made_first_is_done_after_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(FILES, "")
    out = tmp_path / "todo.yaml"
    made = invoke(
        "scenarios", "draft", "--server", f"{sys.executable} {SERVER} empty", "-o", out, "--pairs", 0, "--json"
    )
    assert made.exit_code == 0, made.output
    assert "todo_server_add_task_then_finish_task" in json.loads(made.stdout)["scenarios"]


def test_a_tool_that_is_to_be_skipped_is_not_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(FILES, "")
    skips = [word for name in ("add_task", "finish_task", "get_task", "paint") for word in ("--skip", name)]
    out = tmp_path / "todo.yaml"
    made = invoke("scenarios", "draft", "--server", f"{sys.executable} {SERVER}", "-o", out, *skips)
    assert made.exit_code == 0, made.output
    assert "these act, and are called: none" in made.stderr
    assert "todo_server_tasks" in out.read_text()


@each(
    ("args", "told"),
    [
        (["--server", "https://lamps.example/mcp", "-o", "x.yaml"], "--reset-tool"),
        (["--server", "lamps", "-o", "x.jsonl"], "ends in .yaml"),
        (["--server", "lamps", "-o", "x.yaml", "--value", "name"], "NAME=VALUE"),
        (["--server", "no-such-program", "-o", "x.yaml"], "cannot reach the server"),
    ],
)
def test_mistakes_are_told_in_one_line(args: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    made = invoke("scenarios", "draft", *args)
    assert made.exit_code
    assert told in f"{made.stderr}{made.exception}"
    assert not list(tmp_path.iterdir())


class TestValues:
    """Values for arguments."""

    @staticmethod
    def first(tool: str, name: str, schema: dict[str, Any], pool: Pool | None = None) -> Any:
        listed = {"inputSchema": {"type": "object", "properties": {name: schema}, "required": [name]}}
        return next((pool or Pool()).sets(TapeTool(tool, listed)))[name]

    @each(
        ("schema", "value"),
        [
            ({"type": "string", "enum": ["red", "blue"]}, "red"),
            ({"const": 7}, 7),
            ({"type": "string", "examples": ["x1"], "enum": ["x0", "x1"]}, "x1"),
            ({"type": "string", "description": "A zone (e.g., 'Asia/Tokyo')."}, "Asia/Tokyo"),
            ({"type": "integer", "minimum": 20}, 20),
            ({"type": "integer", "maximum": 1}, 1),
            ({"type": "array", "items": {"type": "boolean"}}, [True]),
            ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 3),
            ({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, {"a": 3}),
        ],
    )
    def test_come_from_the_schema(self, schema: dict[str, Any], value: object):
        assert self.first("tint", "shade", schema).value == value

    def test_given_ones_come_first_and_have_the_type_of_the_argument(self):
        pool = Pool({"n": "5", "tint.n": "6"})
        assert self.first("tint", "n", {"type": "integer"}, pool).value == 6
        assert self.first("other", "n", {"type": "string"}, pool).value == "5"

    def test_come_from_answers_and_ids_are_looked_up_by_what_people_say(self):
        pool = Pool(answers=[TASKS])
        found = self.first("finish_task", "task_id", {"type": "string"}, pool)
        assert found.source is not None
        assert found.source.path == ("result", 0, "id")
        assert found.called == "title Water the plants"
        assert self.first("find_task", "title", {"type": "string"}, pool).value == "Water the plants"

    def test_something_new_gets_a_new_name(self):
        assert self.first("add_task", "title", {"type": "string"}, Pool(answers=[TASKS])).value != "Water the plants"


def test_an_id_in_an_answer_that_is_json_as_text_can_be_looked_up():
    lent = '{"loan_id": "L1", "book_id": "b1"}'
    schema = {"properties": {"loan_id": {"type": "string"}}, "required": ["loan_id"]}
    returning = TapeTool("return_book", {"inputSchema": schema})
    first = next(iter(Pool(answers=[Answered("borrow_book", {}, lent)]).sets(returning)))
    assert first["loan_id"].value == "L1"
    assert fill("$lent.loan_id", {"lent": lent}) == "L1"


def test_an_added_row_is_asked_for_by_the_ids_of_the_call_and_not_by_its_own_or_by_a_day():
    row = {"loan_id": "L1", "book_id": "b1", "due": "2026-12-12", "shelf": "north"}
    played = StepPlayed({"book_id": "b1"}, {"content": []}, (SeenChange("loans", "L1", None, row),))
    usable = Usable((DraftStep(TapeTool("borrow_book", {}), True, {}),), (played,), (played,))
    [entry] = milestones_of(usable, "", observed=True).entries
    assert entry["adds"] == {"book_id": "b1", "shelf": "north"}


def test_lists_and_objects_of_a_call_are_asked_for_as_they_are():
    given = {"tags": [{"name": "@home"}], "place": {"room": "hall"}, "title": "@ann"}
    step = DraftStep(TapeTool("add_task", {}), True, {name: DraftValue(value) for name, value in given.items()})
    played = StepPlayed(given, {"content": []}, ())
    [entry] = milestones_of(Usable((step,), (played,), (played,)), "", observed=True).entries
    assert entry["arguments"] == {
        "tags": {"exact": given["tags"]}, "place": {"exact": given["place"]}, "title": "@ann"
    }  # fmt: skip


@each(
    ("text", "error"),
    [
        ("Error: Only SELECT queries are allowed", True),
        ("Database error: no such table: books", True),
        ("No errors were found", False),
        ('{"books": []}', False),
    ],
)
def test_a_text_that_tells_of_an_error_is_one(text: str, error: bool):
    assert failed({"content": [{"type": "text", "text": text}]}) is error


@each(
    ("name", "text", "looks"),
    [
        ("next_day", "Return the next business day.", True),
        ("days_between", "Counts the days.", True),
        ("return_book", "Return a book to the library.", False),
        ("close_account", "Returns the account as closed.", False),
        ("log_meal", "Keep a meal.", False),
        ("git_log", "", True),
        ("check_in_guest", "Check in a guest.", False),
        ("check_stock", "", True),
    ],
)
def test_a_tool_that_says_nothing_of_itself_looks_by_its_words(name: str, text: str, looks: bool):
    assert looks_by_its_words(TapeTool(name, {"description": text})) is looks


class TestStarts:
    """Servers for trials."""

    @pytest.fixture
    def starts(self, tmp_path: Path) -> Iterator[TrialStarts]:
        given = {"server": f"{sys.executable} {SERVER}", "reset": "mkdir -p /sandbox"}
        with TrialStarts(LiveServer.reading(given, tmp_path)) as starts:
            yield starts

    def test_a_server_that_was_only_looked_at_serves_the_next_trial_too(self, starts: TrialStarts):
        with starts.fresh() as one:
            pass
        with starts.fresh() as other:
            assert other is one
        assert starts.count == 1

    def test_a_second_play_has_another_process(self, starts: TrialStarts):
        with starts.fresh() as one:
            pass
        with starts.fresh(one) as other:
            assert other is not one

    def test_a_server_on_which_something_was_done_serves_nothing_more(self, starts: TrialStarts):
        with starts.fresh() as one:
            one.spent = True
        with starts.fresh() as other:
            assert other is not one
            assert other.running.call("tasks", {}, ())["structuredContent"]["result"]

    def test_under_resets_of_the_persons_own_one_runs_at_a_time(self, tmp_path: Path):
        given = {"server": f"{sys.executable} {SERVER}", "reset": "true"}
        with TrialStarts(LiveServer.reading(given, tmp_path)) as starts:
            with starts.fresh() as one:
                pass
            with starts.fresh(one), pytest.raises(ServerLostError):
                one.running.call("tasks", {}, ())


class TestWishes:
    """Words of the user, as a person would put them."""

    @staticmethod
    def said(name: str, text: str, arguments: dict[str, Any], *, acts: bool = True, **schemas: Any) -> str:
        properties = {key: schemas.get(key, {}) for key in arguments}
        tool = TapeTool(name, {"description": text, "inputSchema": {"properties": properties}})
        values = {key: item if isinstance(item, DraftValue) else DraftValue(item) for key, item in arguments.items()}
        found = wish_for(DraftStep(tool, acts, values))
        return " ".join((found.asked, *found.facts))

    @each(
        ("name", "text", "arguments", "said"),
        [
            ("get_lamp", "One lamp, by its name.", {"name": "hall"}, "show me the lamp hall"),
            ("read_note", "Returns a note.", {"name": "Green tea"}, 'show me the note "Green tea"'),
            ("is_holiday", "Check if a given date is a holiday in a country (ISO code).",
             {"date": "2026-01-01", "country": "Poland"},
             "check if the date 2026-01-01 is a holiday in the country Poland"),
            ("list_rows", "", {}, "list the rows"),
            ("lamp_status", "", {}, "status the lamp"),
            ("find_notes", "Finds notes and returns them all.", {"query": "tea"},
             "find notes and return them all I am looking for tea."),
        ],
    )  # fmt: skip
    def test_a_look_is_asked_for_by_what_its_description_says(
        self, name: str, text: str, arguments: dict[str, Any], said: str
    ):
        assert self.said(name, text, arguments, acts=False) == said

    @each(
        ("name", "text", "arguments", "said"),
        [
            ("borrow_book", "Borrows a book and extends the loan.", {"book_id": 7},
             "borrow book 7 and extend the loan"),
            ("create_list", "Create a new list.", {"name": "Trip"}, "create a new list called Trip"),
            ("set_lamp", "Switch a lamp on or off.", {"lit": False}, "switch a lamp on or off It should not be lit."),
            ("copy", "Copies all.", {"include_drafts": True}, "copy all Please include drafts."),
            ("say", "Say something.", {"text": "Hi all"}, 'say something It should say "Hi all".'),
            ("tag", "Tag it.", {"tags": ["a", "b"], "weight": 2}, "tag it The tags are a and b and the weight is 2."),
        ],
    )  # fmt: skip
    def test_values_stand_where_they_are_spoken_of_and_the_others_follow(
        self, name: str, text: str, arguments: dict[str, Any], said: str
    ):
        assert self.said(name, text, arguments) == said

    def test_an_argument_is_called_what_its_description_calls_it(self):
        found = self.said("add", "Add it.", {"n": 5, "d": "2026-03-05"}, n={"description": "Number of guests (max 9)."},
                          d={"description": "ISO 8601 date string."})  # fmt: skip
        assert found.endswith("The number of guests is 5 and the d is 2026-03-05.")

    def test_what_is_looked_up_is_spoken_of_by_its_name(self):
        known = DraftValue("7f3a", AnswerPlace("tasks", {}, (0, "id")), "title Water the plants")
        assert self.said("finish_task", "Mark a task as done.", {"task_id": known}) == (
            'mark the task "Water the plants" as done'
        )


def test_a_goal_is_whole_sentences():
    steps = [DraftStep(TapeTool(name, {"description": text}), True, {}) for name, text in
             (("lock", "Lock the door."), ("feed", "Feed the cat!"))]  # fmt: skip
    words = plain_words(steps)
    assert words.goal == "You want the assistant to lock the door. Then you want it to feed the cat."
    assert words.opening.endswith("After that, please feed the cat.")


def look(name: str, value: Any) -> Any:
    """The milestone on what a look found."""
    result = {"content": [], "structuredContent": {"result": value}}
    played = StepPlayed({}, result, ())
    made = milestones_of(Usable((DraftStep(TapeTool(name, {}), False, {}),), (played,), (played,)), "", observed=True)
    return [entry["message"]["content"]["facts"] for entry in made.entries if "message" in entry], list(made.facts)


@each(
    ("name", "value", "facts", "reply"),
    [
        ("is_open", {"day": "Monday", "is_open": False}, [[{"polarity": "no", "about": ["open"]}]], ["No."]),
        ("has_stock", True, [[{"polarity": "yes", "about": ["stock"]}]], ["Yes."]),
        ("get_lamp", {"lit": True}, [[{"polarity": "yes", "about": ["lit"]}]], ["Yes."]),
        ("get_lamp", {"lit": True, "room": "hall"}, [[["hall"]]], ["It says: hall."]),
        ("list_tasks", [], [[["nothing", "none", "empty", "no", "any", "0"]]], ["There is nothing."]),
        ("find_task", None, [[["nothing", "none", "empty", "no", "any", "0"]]], ["There is nothing."]),
    ],
)  # fmt: skip
def test_a_look_asks_for_what_it_found_also_where_that_is_yes_no_or_nothing(
    name: str, value: Any, facts: Any, reply: list[str]
):
    assert look(name, value) == (facts, reply)


def test_fields_of_objects_are_taken_from_the_description_where_the_schema_has_none():
    text = "The items, each with:\n- id: Its id\n- status: State (pending, done)\n- more: Optional data"
    schema = {"type": "array", "items": {"type": "object"}, "description": text}
    [made] = TestValues.first("write_items", "items", schema).value
    assert list(made) == ["id", "status"]
    assert made["status"] == "pending"


def test_examples_of_a_docstring_are_values_of_its_arguments():
    text = "Check a day.\n\nArgs:\n    day: The day, e.g. 2026-04-21.\n    year: Four digits."
    properties = {"day": {"type": "string"}, "year": {"type": "integer"}}
    schema = {"properties": properties, "required": ["day", "year"]}
    found = next(iter(Pool().sets(TapeTool("check", {"description": text, "inputSchema": schema}))))
    assert (found["day"].value, found["year"].value) == ("2026-04-21", 2026)
