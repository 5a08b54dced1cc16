"""Real sessions recorded by tau-bench: everything in the file is in the imported session, or its absence is named.

What is expected is worked out from the raw file here, by adjacency and without the importer's help, so that the tests
hold for any other file of the same form in the data folder.
"""

import ast
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.exporters import exporter
from sandbox_grader.importers import Imported, importer

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, assemble, parse_trajectory, to_line
from tests.each import each

STOP = "###STOP###"


@pytest.fixture(scope="module")
def files(benchmark_data) -> list[Path]:
    found = sorted((benchmark_data / "taubench").glob("*.json"))
    if not found:
        pytest.skip("the data folder holds no sessions of tau-bench")
    return found


@pytest.fixture(scope="module")
def raw(files) -> list[dict[str, Any]]:
    return [run for path in files for run in json.loads(path.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def imported(files) -> list[Imported]:
    return list(importer("tau-bench")(files))


@pytest.fixture(scope="module")
def read(imported) -> list[Trajectory]:
    """The sessions after they were written as log lines and read again."""
    return [parse_trajectory("".join(map(to_line, session.events)).encode()) for session in imported]


def exchanges(run: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Each call of a raw session and the text of the tool message that follows it at once."""
    messages = run["traj"]
    for index, message in enumerate(messages):
        calls = message.get("tool_calls") or []
        following = [m for m in messages[index + 1 : index + 1 + len(calls)] if m["role"] == "tool"]
        texts = [m["content"] for m in following]
        yield from zip(calls, texts + [None] * (len(calls) - len(texts)), strict=True)


def given(call: dict[str, Any]) -> Any:
    """The arguments of a call, which some agents write as Python and some as nothing that can be read."""
    text = call["function"]["arguments"]
    for reader in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError):
            found = reader(text or "{}")
            return json.loads(json.dumps(found)) if isinstance(found, dict) else {}
    return {}


def readable(call: dict[str, Any]) -> bool:
    return bool(given(call)) or not (call["function"]["arguments"] or "").strip(" {}\n")


def calls(trajectory: Trajectory) -> list[ToolCall]:
    return [event for event in trajectory.events if isinstance(event, ToolCall)]


def value(text: str) -> Any:
    """What a result text stands for: its JSON value, or itself where JSON would write that differently."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, dict | list) or json.dumps(found, ensure_ascii=False) == text else text


def ended(run: dict[str, Any]) -> bool:
    last = run["traj"][-1]
    stopped = last["role"] == "user" and STOP in last["content"]
    return stopped or (run["info"] or {}).get("reward_info") is not None


def test_every_session_is_there_under_a_name_of_its_own(raw, imported, read):
    assert [(t.started.scenario, t.started.trial) for t in read] == [
        (f"tau-bench/{run['task_id']}", run["trial"]) for run in raw
    ]
    assert len({session.name for session in imported}) == len(raw)


def test_what_was_written_is_what_was_imported(imported, read):
    for session, trajectory in zip(imported, read, strict=True):
        assert trajectory == assemble(session.events, "<log>")


def test_every_call_is_there_with_its_name_and_arguments(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        expected = [(call["function"]["name"], given(call)) for call, _ in exchanges(run)]
        assert [(call.name, call.arguments) for call in calls(trajectory)] == expected
        assert [call.tool for call in calls(trajectory)] == [name for name, _ in expected]


def test_calls_have_ids_of_their_own_and_keep_the_recorded_ones(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        found = calls(trajectory)
        assert len({call.call for call in found}) == len(found)
        assert [call.meta.get("call_id", call.call) for call in found] == [call["id"] for call, _ in exchanges(run)]


def test_every_result_is_that_of_the_message_that_follows_the_call(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        for (made, text), call in zip(exchanges(run), calls(trajectory), strict=True):
            failed = text is not None and text.startswith("Error")
            assert not readable(made) or call.result == (None if failed or text is None else value(text))


def test_every_text_that_begins_with_error_is_a_failure_and_no_other_is(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        for (made, text), call in zip(exchanges(run), calls(trajectory), strict=True):
            failed = not readable(made) or (text is not None and text.startswith("Error"))
            assert (call.error is not None) is failed
            assert not failed or call.error.kind == ("execution" if readable(made) else "invalid_format")
            assert not failed or not readable(made) or call.error.message == text


def test_every_word_is_there_and_goes_to_whom_it_went(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        said = [(m["role"], m["content"], bool(m.get("tool_calls"))) for m in run["traj"] if m["role"] != "tool"]
        expected = [(role, text, beside) for role, text, beside in said if not beside or (text or "").strip()]
        found = [event for event in trajectory.events if isinstance(event, Message)]
        assert [message.content for message in found] == [text or "" for _, text, _ in expected]
        for message, (role, _, beside) in zip(found, expected, strict=True):
            reader = "agent" if role != "assistant" or beside else "user"
            assert (message.sender, message.recipient) == ("agent" if role == "assistant" else role, reader)


def test_events_stand_in_the_order_of_the_file(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        expected: list[str] = []
        for message in run["traj"]:
            made = message.get("tool_calls") or []
            if message["role"] != "tool" and (not made or (message["content"] or "").strip()):
                expected.append("message")
            expected += ["tool_call"] * len(made)
        assert [event.event for event in trajectory.events] == expected


def test_sessions_that_ended_say_so_and_those_cut_off_do_not(raw, read):
    assert [trajectory.complete for trajectory in read] == [ended(run) for run in raw]
    assert {trajectory.ended.reason for trajectory in read if trajectory.ended} <= {"recorded"}


def test_rewards_are_the_recorded_ones(raw, read):
    assert [t.started.origin["reward"] for t in read] == [run["reward"] for run in raw]


def test_reference_actions_are_those_of_the_task(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        [[turn]] = trajectory.started.reference
        assert [(call.tool, call.arguments) for call in turn.calls] == [
            (action["name"], action["kwargs"]) for action in run["info"]["task"]["actions"]
        ]


def test_all_else_that_is_known_of_a_run_is_in_the_origin(raw, read):
    for run, trajectory in zip(raw, read, strict=True):
        origin, task = trajectory.started.origin, run["info"]["task"]
        assert origin["task"] == {key: item for key, item in task.items() if key != "actions"}
        for key in ("source", "user_cost", "reward_info"):
            assert origin.get(key) == run["info"].get(key)


def test_trials_of_one_task_share_its_digest(raw, read):
    digests: dict[str, set[str]] = {}
    for run, trajectory in zip(raw, read, strict=True):
        digests.setdefault(json.dumps(run["info"]["task"], sort_keys=True), set()).add(trajectory.started.digest)
    assert all(len(found) == 1 for found in digests.values())
    assert len(set.union(*digests.values())) == len(digests)


def test_each_loss_is_named_and_there_are_no_others(raw, imported):
    for run, session in zip(raw, imported, strict=True):
        texts = [text for _, text in exchanges(run)]
        failed = sum(text is not None and text.startswith("Error") for text in texts)
        expected = {"tools"}
        if any(text is not None for text in texts):
            expected.add(f"results ({failed} of {len(texts) - texts.count(None)})")
        if not ended(run):
            expected.add("end")
        missing = {loss.where for loss in session.losses if "is missing" in loss.what}
        assert len(missing) == texts.count(None)
        assert {loss.where for loss in session.losses} - missing == expected


@each("format_", ["atif", "openai-chat"])
def test_an_export_keeps_every_session(format_, read, tmp_path):
    for trajectory in read:
        path = tmp_path / "log.json"
        path.write_text(json.dumps(exporter(format_)(trajectory), allow_nan=False), encoding="utf-8")
        [again] = importer(format_)([path])
        assert [_told(event) for event in assemble(again.events).events] == [_told(e) for e in trajectory.events]


def _told(event: Message | ToolCall) -> tuple[Any, ...]:
    if isinstance(event, Message):
        return (event.sender, event.recipient, event.content)
    return (event.name, event.tool, event.arguments, event.raw_arguments, event.result, event.error)
