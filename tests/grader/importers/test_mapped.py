"""JSON of any shape, read as a mapping file says."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sandbox_grader.errors import GraderError
from sandbox_grader.importers import Imported, mapped

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import Message, SessionStarted, ToolCall
from tests.each import each

MAPPING = """
sessions: runs
id: run
scenario: task.name
model: llm
events: trace
kind: type
user: {when: human, text: content}
agent: {when: ai, text: parts.0.text}
call: {when: tool, name: tool, arguments: input, id: key, result: output, error: failed}
result: {when: back, id: of, result: value, error: failed}
ignore: [tick]
time: at
"""
TRACE: list[dict[str, Any]] = [
    {"type": "human", "content": "Please turn off the wifi on my phone.", "at": 10},
    {"type": "tick"},
    {"type": "tool", "tool": "set_wifi_status", "input": {"on": False}, "output": None, "failed": None, "key": "a"},
    {"type": "tool", "tool": "get_wifi_status", "input": "{}", "key": "b"},
    {"type": "tool", "tool": "get_wifi_status", "input": {}, "key": "c"},
    {"type": "back", "of": "c", "value": "false"},
    {"type": "back", "of": "b", "failed": "no signal"},
    {"type": "ai", "parts": [{"text": "Wifi is now off."}]},
]


def given(folder: Path, trace: list[dict[str, Any]] = TRACE, mapping: str = MAPPING) -> tuple[Path, Path]:
    document = {"runs": [{"run": 17, "task": {"name": "wifi_off"}, "llm": "some-model", "trace": trace}]}
    log, file = folder / "mine.json", folder / "mapping.yaml"
    log.write_text(json.dumps(document))
    file.write_text(mapping)
    return log, file


def imported(folder: Path, trace: list[dict[str, Any]] = TRACE, mapping: str = MAPPING) -> Imported:
    log, file = given(folder, trace, mapping)
    [session] = mapped.read([log], mapped.mapping_in(file))
    return session


def calls(session: Imported) -> list[ToolCall]:
    return [event for event in session.events if isinstance(event, ToolCall)]


def test_the_session_is_named_as_the_mapping_says(tmp_path: Path) -> None:
    started = imported(tmp_path).events[0]
    assert isinstance(started, SessionStarted)
    assert (started.scenario, started.agent, started.session) == ("wifi_off", {"model": "some-model"}, "wifi_off-17")


def test_messages_come_from_deep_places(tmp_path: Path) -> None:
    said = [(event.sender, event.content) for event in imported(tmp_path).events if isinstance(event, Message)]
    assert said == [("user", "Please turn off the wifi on my phone."), ("agent", "Wifi is now off.")]


def test_results_beside_calls_and_results_of_their_own(tmp_path: Path) -> None:
    first, failed, last = calls(imported(tmp_path))
    assert (first.arguments, first.result, first.error) == ({"on": False}, None, None)
    assert failed.error is not None
    assert "no signal" in failed.error.message
    assert (last.arguments, last.result) == ({}, False)


def test_an_error_that_is_an_object_gives_its_words_and_its_type(tmp_path: Path) -> None:
    told = {**TRACE[2], "failed": {"type": "RadioError", "message": "no signal"}}
    [call] = calls(imported(tmp_path, [TRACE[0], told, TRACE[-1]]))
    assert call.error is not None
    assert (call.error.type, call.error.message) == ("RadioError", "no signal")


def test_calls_without_a_result_between_them_were_sent_together(tmp_path: Path) -> None:
    assert [call.batch for call in calls(imported(tmp_path))[1:]] == ["b2", "b2"]


def test_what_the_mapping_says_nothing_of_is_a_loss_unless_it_is_ignored(tmp_path: Path) -> None:
    losses = [loss.what for loss in imported(tmp_path, [*TRACE, {"type": "odd"}]).losses]
    assert [what for what in losses if "'odd'" in what]
    assert not [what for what in losses if "tick" in what]


def test_lines_are_sessions_too(tmp_path: Path) -> None:
    log, mapping = tmp_path / "mine.jsonl", tmp_path / "mapping.yaml"
    log.write_text("".join(json.dumps({"trace": TRACE}) + "\n" for _ in range(2)))
    mapping.write_text(MAPPING.replace("sessions: runs\n", ""))
    assert [session.name for session in mapped.read([log], mapped.mapping_in(mapping))] == ["mine", "mine-2"]


@each(
    ("mapping", "problem"),
    [
        (MAPPING.replace("kind: type", "knd: type"), "knd: Extra inputs are not permitted"),
        ("- a", "known keys: sessions, events, kind"),
        ("{", "mapping.yaml:2: is not valid YAML"),
    ],
)
def test_a_mapping_that_is_wrong_says_how(tmp_path: Path, mapping: str, problem: str) -> None:
    with pytest.raises(GraderError, match="mapping") as error:
        imported(tmp_path, mapping=mapping)
    assert problem in str(error.value)


@each(
    ("old", "new", "problem"),
    [
        ("events: trace", "events: steps", "has nothing at 'steps', where the mapping says that the events are"),
        ("sessions: runs", "sessions: all", "has nothing at 'all', where the mapping says that the sessions are"),
        ("text: content", "text: words", "has nothing at 'words', where the mapping says that a text is"),
    ],
)
def test_a_place_that_is_not_there_is_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(GraderError) as error:
        imported(tmp_path, mapping=MAPPING.replace(old, new))
    assert problem in str(error.value)


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(group, [*map(str, arguments)])


def test_from_json_of_ones_own_to_a_score(tmp_path: Path) -> None:
    log, mapping = given(
        tmp_path, [step for step in TRACE if step.get("key") in (None, "a") and step["type"] != "back"]
    )
    assert invoke("import", "any", log, "--mapping", mapping, "-o", tmp_path / "out").exit_code == 0
    graded = json.loads(invoke("grade", tmp_path / "out", "--json").stdout)
    assert graded["score"] == 1.0


def test_a_scenario_can_be_named_for_all_sessions(tmp_path: Path) -> None:
    log, mapping = given(tmp_path)
    invoke("import", "any", log, "--mapping", mapping, "--scenario", "wifi_off_polite", "-o", tmp_path / "out")
    [written] = (tmp_path / "out").glob("*.jsonl")
    assert json.loads(written.read_text().splitlines()[0])["scenario"] == "wifi_off_polite"


def test_any_and_mapping_go_together(tmp_path: Path) -> None:
    log, mapping = given(tmp_path)
    for arguments in (("any", log), ("atif", log, "--mapping", mapping)):
        done = invoke("import", *arguments, "-o", tmp_path / "out")
        assert done.exit_code == 2
        assert "go together" in done.stderr


@each(
    ("mapping", "says"),
    [
        ("[" * 20_000 + "]" * 20_000, "nests deeper than"),
        ("sessions: " + "9" * 6_000, "is too large"),
        ("\n".join(f"m{n}: &m{n} [{', '.join([f'*m{n - 1}' if n else 'x'] * 9)}]" for n in range(9)), "by its aliases"),
        ("\n".join(f"k{n}: 1" for n in range(1_000)), "and "),
        ("a: &a [*a]", "an alias refers to what contains it"),
        ("", "events: Field required"),
    ],
    ids=["deep", "a long number", "aliases", "many keys", "itself", "empty"],
)
def test_a_hostile_mapping_is_refused_in_one_short_line(tmp_path: Path, mapping: str, says: str) -> None:
    log, file = given(tmp_path, mapping=mapping)
    with pytest.raises(GraderError, match=says) as told:
        list(mapped.read([log], mapped.mapping_in(file)))
    assert len(str(told.value)) < 1_500
