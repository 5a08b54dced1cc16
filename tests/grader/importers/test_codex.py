"""Rollouts of Codex CLI: items with their times, how commands and calls of servers ended, what is not the user's."""

import copy
import json
from typing import Any

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers import importer

from tests.each import each
from tests.grader.importers.samples import CODEX, calls, ending, lost, read, read_one, rollout_line, said, started


def item(second, **payload):
    return rollout_line("response_item", second, **payload)


def ran(output, name="exec_command"):
    """A session in which a command was run."""
    call = item(2, type="function_call", call_id="c", name=name, arguments='{"cmd": "ls"}')
    return [*CODEX[:4], call, item(3, type="function_call_output", call_id="c", output=output)]


def test_a_whole_rollout():
    session = read_one("codex", CODEX)
    head = started(session)
    assert (head.session, head.agent, head.versions) == ("s-1", {"name": "codex", "model": "m-1"}, {"codex": "0.169.0"})
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("system", "agent", "<environment_context>here</environment_context>"),
        ("user", "agent", "Where is X1?"),
        ("agent", "agent", "I look."),
        ("agent", "user", "Gate 4."),
    ]
    assert ending(session) == "recorded"


def test_a_call_of_a_server_failed_where_codex_says_so():
    [call] = calls(read_one("codex", CODEX))
    assert (call.tool, call.error.message, call.wall["time"]) == ("find", "no such flight", "2026-01-02T03:00:02.000Z")


@each("error", ["no connection", {"message": "no connection"}])
def test_a_server_that_did_not_answer_is_an_error(error):
    lines = copy.deepcopy(CODEX)
    lines[7]["payload"] = {"type": "mcp_tool_call_end", "call_id": "c1", "result": {"Err": error}}
    lines[8]["payload"]["output"] = ""
    [call] = calls(read_one("codex", lines))
    assert call.error.message == "no connection"


@each(
    ("output", "result", "error"),
    [
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n[1]", [1], None),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno such file", None, "no such file"),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n", None, "exit code 1"),
        ('{"output": "no such file", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}', None, "no such file"),
        ('{"output": "a b", "metadata": {"exit_code": 0}}', "a b", None),
        ("Output:\nas it stands", "Output:\nas it stands", None),
    ],
)
def test_a_command_ends_as_its_exit_code_says(output, result, error):
    [call] = calls(read_one("codex", ran(output)))
    assert (call.result, call.error and call.error.message) == (result, error)


@each("output", ["a b", [{"type": "input_text", "text": "a b"}], {"type": "input_text", "text": "a b"}])
def test_an_output_is_a_text_or_parts_or_a_single_part(output):
    assert calls(read_one("codex", ran(output)))[-1].result == "a b"


def test_a_turn_that_was_broken_off_is_no_end():
    lines = [*CODEX[:-1], rollout_line("event_msg", 5, type="turn_aborted", reason="interrupted")]
    assert ending(read_one("codex", lines)) is None


def test_a_turn_that_ended_in_an_error_is_the_agent_s():
    lines = [*CODEX[:-1], rollout_line("event_msg", 5, type="error", message="quota exceeded")]
    assert ending(read_one("codex", lines)) == "agent_failed"


def test_other_lines_are_no_rollout():
    with pytest.raises(ImportFormatError, match="is not a rollout of Codex: none of its lines is of the type"):
        read("codex", [{"type": "user", "message": {}}])


def test_what_a_message_of_the_user_loses_is_named_once():
    picture = item(
        1, type="message", role="user", content=[{"type": "input_image"}, {"type": "input_text", "text": "Hi"}]
    )
    session = read_one("codex", [*CODEX, picture])
    assert [loss.what for loss in session.losses].count("content of type 'input_image' is not kept") == 1


def test_what_exec_prints_is_refused_with_where_the_session_is():
    with pytest.raises(ImportFormatError, match=r"keeps of the session under ~/.codex/sessions"):
        read("codex", [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}])


class TestStructure:
    def item(self, second: int, role: str, words: str) -> dict[str, Any]:
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": words}]
        return rollout_line("response_item", second, type="message", role=role, content=content)

    def test_turns_that_were_rolled_back_are_left_out(self):
        lines = [
            rollout_line("session_meta", 0, id="s"),
            self.item(1, "user", "Hi"),
            self.item(2, "assistant", "Ho"),
            self.item(3, "user", "Never mind"),
            self.item(4, "assistant", "Gone"),
            rollout_line("event_msg", 5, type="thread_rolled_back", num_turns=1),
            self.item(6, "user", "Again"),
        ]
        session = read_one("codex", lines)
        assert [words for _, _, words in said(session)] == ["Hi", "Ho", "Again"]
        assert "turns that were rolled back (1, of 2 items) are left out" in lost(session)

    def test_what_a_fork_was_copied_from_is_left_out(self):
        lines = [
            rollout_line("session_meta", 0, id="new", forked_from_id="old"),
            rollout_line("session_meta", 0, id="old"),
            self.item(1, "user", "Before"),
            rollout_line("session_meta", 2, id="new", forked_from_id="old"),
            rollout_line("turn_context", 3, model="m-1"),
            self.item(4, "user", "After"),
        ]
        session = read_one("codex", lines)
        assert [words for _, _, words in said(session)] == ["After"]
        assert "copied from the session 'old'; they are left out" in lost(session)

    def test_the_rollout_of_a_sub_agent_is_part_of_its_session(self, tmp_path):
        spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "s"}}}
        rollouts = {
            "a": [
                rollout_line("session_meta", 0, id="s"),
                self.item(1, "user", "Hi"),
                self.item(5, "assistant", "Done."),
            ],
            "b": [
                rollout_line("session_meta", 2, id="sub", source=spawned),
                self.item(3, "user", "Look"),
                rollout_line("response_item", 4, type="function_call", call_id="c", name="find", arguments="{}"),
                rollout_line("response_item", 4, type="function_call_output", call_id="c", output="1"),
            ],
        }
        paths = [tmp_path / f"{name}.jsonl" for name in rollouts]
        for path, lines in zip(paths, rollouts.values(), strict=True):
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        [session] = importer("codex")(paths)
        assert said(session) == [("user", "agent", "Hi"), ("agent", "agent", "Look"), ("agent", "user", "Done.")]
        assert [call.name for call in calls(session)] == ["find"]
        [alone] = importer("codex")(paths[1:])
        assert alone.events[0].origin["parent"] == "s"

    def test_the_tokens_are_those_of_the_last_count(self):
        def count(read: int) -> dict[str, Any]:
            usage = {"input_tokens": read, "cached_input_tokens": 1, "output_tokens": 2, "total_tokens": read + 2}
            return rollout_line("event_msg", 3, type="token_count", info={"total_token_usage": usage})

        session = read_one("codex", [*CODEX, count(5), count(9)])
        usage = [event.meta["usage"] for event in session.events[1:-1] if "usage" in event.meta]
        assert usage == [{"prompt_tokens": 9, "completion_tokens": 2, "requests": 2}]


def test_rollouts_of_older_versions_have_no_envelopes():
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    written = [
        {"id": "s", "timestamp": "2025-09-10T18:58:38Z", "instructions": "Be brief."},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List it."}]},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "a.txt"},
    ]
    session = read_one("codex", written)
    assert [made.result for made in calls(session)] == ["a.txt"]
    assert [text[2] for text in said(session)] == ["Be brief.", "List it."]
