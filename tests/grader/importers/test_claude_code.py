"""Claude Code session files: the forest of lines, retries, parallel calls, sub-agents, outputs kept elsewhere."""

import json
from typing import Any

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers import importer

from tests.each import each
from tests.grader.importers.samples import (
    CLAUDE_CODE,
    calls,
    checked,
    claude_result,
    claude_use,
    ending,
    lost,
    read,
    read_one,
    said,
    started,
)
from tests.grader.importers.samples import claude_line as line


def text(words):
    return [{"type": "text", "text": words}]


def words(session):
    return [content for _, _, content in said(session)]


@pytest.fixture
def files(tmp_path):
    """Write session files below a folder and import one of them."""

    def write(path, lines):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(item) + "\n" for item in lines))
        return file

    return write


def imported(path):
    return checked("claude-code", list(importer("claude-code")([path])))


def test_a_whole_session():
    session = read_one("claude-code", CLAUDE_CODE)
    head = started(session)
    assert (session.name, head.session) == ("log", "s1")
    assert head.agent == {"name": "claude-code", "version": "2.1.0", "model": "m-1"}
    assert words(session) == ["Where are X1 and X2?", "Looking.", "X1 is at gate 4."]
    assert ending(session) == "recorded"


def test_a_host_s_prefix_is_kept_in_the_name_only():
    assert {(call.name, call.tool) for call in calls(read_one("claude-code", CLAUDE_CODE))} == {
        ("mcp__air__find", "find")
    }


def test_lines_of_one_api_message_are_one_batch():
    first, second = calls(read_one("claude-code", CLAUDE_CODE))
    assert first.batch == second.batch


def test_results_on_a_side_branch_of_a_parallel_call_are_found():
    # Both results hang on the line of their own call, so only the second is an ancestor of what follows.
    first, second = calls(read_one("claude-code", CLAUDE_CODE))
    assert first.result == {"gate": 4}
    assert second.error.message == "no such flight"
    assert "branches" not in lost(read_one("claude-code", CLAUDE_CODE))


def test_what_the_agent_wrote_beside_its_calls_was_seen_by_the_user():
    note = read_one("claude-code", CLAUDE_CODE).events[2]
    assert (note.recipient, note.visible_to, note.meta) == ("agent", ("agent", "user"), {"kind": "text"})


def test_other_lines_are_counted_and_named():
    assert "lines of type 'summary' (1): what the host noted for itself" in lost(read_one("claude-code", CLAUDE_CODE))


def test_a_message_may_be_written_after_the_first_of_its_results():
    one = {"message": {"id": "msg_1", "model": "m"}}
    lines = [
        line("u", None, "user", "go"),
        line("a", "u", "assistant", claude_use("t1", "f"), **one),
        line("r", "a", "user", claude_result("t1", "1")),
        line("b", "a", "assistant", claude_use("t2", "g"), **one),
        line("s", "b", "user", claude_result("t2", "2")),
        line("z", "s", "assistant", text("done"), message={"id": "msg_2"}),
    ]
    first, second = calls(read_one("claude-code", lines))
    assert first.batch == second.batch
    assert [first.result, second.result] == [1, 2]


class TestBranches:
    def retried(self):
        return [
            line("u1", None, "user", "Cancel X1"),
            line("a1", "u1", "assistant", claude_use("t1", "cancel"), message={"id": "m1"}),
            line("r1", "a1", "user", claude_result("t1", "done")),
            line("u2", None, "user", "Cancel X2"),
            line("a2", "u2", "assistant", text("What?"), message={"id": "m2"}),
            line("u3", "a2", "user", "X2, I said"),
            line("a3", "u3", "assistant", claude_use("t3", "cancel"), message={"id": "m3"}),
            line("u4", "a2", "user", "Never mind"),
            line("a4", "u4", "assistant", text("All right."), message={"id": "m4"}),
        ]

    def test_the_branch_continued_last_is_the_session_and_the_other_is_named(self):
        _, session = read("claude-code", self.retried())
        assert words(session) == ["Cancel X2", "What?", "Never mind", "All right."]
        assert "branches: 2 lines with 1 tool call on branches that a retry abandoned" in lost(session)

    def test_each_root_is_a_conversation_of_its_own(self):
        first, second = read("claude-code", self.retried())
        assert (first.name, second.name) == ("log", "log-2")
        assert [started(first).session, started(second).session] == ["s1", "log-2"]
        assert ending(first) is None
        assert ending(second) == "recorded"

    def test_a_child_may_stand_before_its_parent(self):
        lines = [
            line("u1", None, "user", "Hi"),
            {"type": "attachment", "uuid": "x", "parentUuid": "a1", "sessionId": "s1"},
            line("a1", "u1", "assistant", text("Hello."), message={"id": "m"}),
        ]
        assert words(read_one("claude-code", lines)) == ["Hi", "Hello."]

    def test_lines_between_that_are_no_messages_do_not_break_the_chain(self):
        lines = [
            line("u1", None, "user", "Hi"),
            {"type": "progress", "uuid": "p", "parentUuid": "u1", "sessionId": "s1"},
            line("a1", "p", "assistant", text("Hello."), message={"id": "m"}),
        ]
        assert words(read_one("claude-code", lines)) == ["Hi", "Hello."]

    def test_a_parent_that_is_missing_is_named_and_the_line_before_taken(self):
        lines = [line("u1", None, "user", "Hi"), line("a1", "gone", "assistant", text("Hello."), message={"id": "m"})]
        session = read_one("claude-code", lines)
        assert words(session) == ["Hi", "Hello."]
        assert "line 2: its parent 'gone' is not in the file" in lost(session)

    def test_a_circle_of_parents_is_still_read(self):
        lines = [line("u1", "a1", "user", "Hi"), line("a1", "u1", "assistant", text("Hello."), message={"id": "m"})]
        assert words(read_one("claude-code", lines)) == ["Hi", "Hello."]

    def test_a_line_written_twice_counts_once(self):
        first = line("u1", None, "user", "Hi")
        assert words(read_one("claude-code", [first, first])) == ["Hi"]

    def test_lines_without_ids_follow_one_another(self):
        lines = [
            {"type": "user", "message": {"role": "user", "content": "Hi"}},
            {"type": "assistant", "message": {"role": "assistant", "id": "m", "content": text("Hello.")}},
        ]
        assert words(read_one("claude-code", lines)) == ["Hi", "Hello."]

    def test_a_long_chain_is_read_to_its_end(self):
        lines = [line("0", None, "user", "Hi")]
        lines += [line(str(number), str(number - 1), "user", "x") for number in range(1, 4000)]
        assert len(said(read_one("claude-code", lines))) == 4000

    def test_compaction_is_bridged_and_named(self):
        lines = [
            line("u1", None, "user", "Hi"),
            line("a1", "u1", "assistant", text("Hello."), message={"id": "m1"}),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "c",
                "parentUuid": None,
                "logicalParentUuid": "a1",
                "sessionId": "s1",
            },
            line("u2", "c", "user", "This is a summary.", isCompactSummary=True),
            line("a2", "u2", "assistant", text("Go on."), message={"id": "m2"}),
        ]
        session = read_one("claude-code", lines)
        assert said(session)[2] == ("system", "agent", "This is a summary.")
        assert session.events[3].meta == {"kind": "summary"}
        assert "the host replaced what came before by a summary" in lost(session)


class TestHostTexts:
    @each(
        ("content", "more", "kind"),
        [
            ("<command-name>/clear</command-name>", {}, "host"),
            ("<local-command-stdout>ok</local-command-stdout>", {}, "host"),
            ("Caveat: these are logs", {"isMeta": True}, "meta"),
        ],
    )
    def test_what_the_host_wrote_is_not_the_user_s(self, content, more, kind):
        session = read_one("claude-code", [line("u", None, "user", content, **more)])
        assert said(session) == [("system", "agent", content)]
        assert session.events[1].meta == {"kind": kind}

    def test_results_marked_as_the_host_s_are_results(self):
        lines = [
            line("a", None, "assistant", claude_use("t", "f"), message={"id": "m"}),
            line("r", "a", "user", claude_result("t", "1"), isMeta=True),
        ]
        assert calls(read_one("claude-code", lines))[0].result == 1


class TestWordsTypedWhileTheAgentWorked:
    OPEN = [  # noqa: RUF012 - read only
        line("u", None, "user", "Look."),
        line("a", "u", "assistant", claude_use("t", "f"), message={"id": "m"}),
        line("r", "a", "user", claude_result("t", "1")),
    ]
    CLOSE = [line("b", "r", "assistant", [{"type": "text", "text": "Yes."}], message={"id": "m2"})]  # noqa: RUF012

    def queued(self, **attachment: Any) -> dict[str, Any]:
        attachment = {"type": "queued_command", "prompt": "Off!", "commandMode": "prompt"} | attachment
        return {"type": "attachment", "uuid": "q", "parentUuid": "r", "sessionId": "s1", "attachment": attachment}

    def test_are_the_users(self):
        last = line("b", "q", "assistant", [{"type": "text", "text": "Yes."}], message={"id": "m2"})
        session = read_one("claude-code", [*self.OPEN, self.queued(origin={"kind": "human"}), last])
        assert said(session)[1] == ("user", "agent", "Off!")

    def test_but_not_where_a_task_reports_itself(self):
        last = line("b", "q", "assistant", [{"type": "text", "text": "Yes."}], message={"id": "m2"})
        told = self.queued(commandMode="task-notification", origin={"kind": "task-notification"})
        assert said(read_one("claude-code", [*self.OPEN, told, last]))[1] == ("system", "agent", "Off!")

    def test_also_where_only_the_queue_tells_of_them(self):
        removed = {
            "type": "queue-operation", "operation": "remove", "reason": "absorbed_mid_turn", "content": "Off!",
            "sessionId": "s1",
        }  # fmt: skip
        session = read_one("claude-code", [*self.OPEN, removed, *self.CLOSE])
        assert [words for _, _, words in said(session)] == ["Look.", "Off!", "Yes."]


class TestHistory:
    def test_what_was_copied_from_another_session_is_left_out(self):
        copied = line("u", None, "user", "Hi", forkedFrom={"sessionId": "s0", "messageUuid": "u0"})
        session = read_one("claude-code", [copied, line("v", "u", "user", "Ho")])
        assert words(session) == ["Ho"]
        assert "lines (1): copied from the session that this one forked from" in lost(session)

    def test_a_compaction_that_keeps_a_segment_does_not_begin_another_session(self):
        boundary = {
            "type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": None, "sessionId": "s1",
            "logicalParentUuid": "gone", "compactMetadata": {"preservedSegment": {"headUuid": "a", "tailUuid": "a"}},
        }  # fmt: skip
        lines = [
            line("u", None, "user", "Hi"),
            line("a", "u", "assistant", [{"type": "text", "text": "Yes?"}], message={"id": "m"}),
            boundary,
            line("s", "c", "user", "All so far.", isCompactSummary=True),
            line("v", "a", "user", "Ho"),
        ]
        [session] = read("claude-code", lines)
        assert said(session) == [
            ("user", "agent", "Hi"),
            ("agent", "user", "Yes?"),
            ("system", "agent", "All so far."),
            ("user", "agent", "Ho"),
        ]
        assert "abandoned" not in lost(session)

    def test_a_line_that_is_no_object_loses_nothing_else(self):
        session = read_one("claude-code", [line("u", None, "user", "Hi"), "odd"])
        assert words(session) == ["Hi"]
        assert "line 2: is no object; it is left out" in lost(session)


def test_the_tokens_of_a_message_count_once():
    used = {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 5}
    lines = [
        line("u", None, "user", "Hi"),
        line(
            "a",
            "u",
            "assistant",
            [{"type": "text", "text": "Y"}],
            message={"id": "m", "usage": used | {"output_tokens": 1}},
        ),
        line("b", "a", "assistant", claude_use("t", "f"), message={"id": "m", "usage": used}),
    ]
    [call] = calls(read_one("claude-code", lines))
    assert call.meta["usage"] == {"prompt_tokens": 12, "completion_tokens": 2, "requests": 1}


class TestErrors:
    @each(
        ("message", "kind"),
        [
            ("<tool_use_error>Error: No such tool available: fly</tool_use_error>", "unknown_tool"),
            ("InputValidationError: An unexpected parameter `x` was provided", "unknown_argument"),
            ("InputValidationError: The required parameter `number` is missing", "missing_argument"),
            ("InputValidationError: The parameter `n` type is expected as `number`", "wrong_type"),
            ("InputValidationError: bad", "invalid_format"),
            ("The user doesn't want to proceed with this tool use.", "refused"),
            ("Permission to use Bash has been denied.", "refused"),
            ("it broke", "execution"),
        ],
    )
    def test_what_the_host_says_tells_why_a_call_did_not_run(self, message, kind):
        lines = [
            line("a", None, "assistant", claude_use("t", "f"), message={"id": "m"}),
            line("r", "a", "user", claude_result("t", message, is_error=True)),
        ]
        [call] = calls(read_one("claude-code", lines))
        assert (call.error.kind, call.error.text.removeprefix("Error: ")) == (kind, message)
        assert (call.tool is None) is (kind == "unknown_tool")

    def test_an_endpoint_that_failed_says_nothing_about_the_agent(self):
        lines = [
            line("u", None, "user", "Hi"),
            line(
                "a", "u", "assistant", text("API Error: 529"), isApiErrorMessage=True, message={"model": "<synthetic>"}
            ),
        ]
        session = read_one("claude-code", lines)
        assert ending(session) == "agent_failed"
        assert words(session) == ["Hi"]
        assert "model" not in started(session).agent
        assert "line 2: the model's endpoint failed: API Error: 529" in lost(session)


class TestLongOutputs:
    def lines(self, id_="t1"):
        preview = "<persisted-output>\nOutput too large (80KB). Full output saved to: /x.txt\n\nPreview"
        return [
            line("a", None, "assistant", claude_use(id_, "f"), message={"id": "m"}),
            line("r", "a", "user", claude_result(id_, preview)),
        ]

    @pytest.mark.parametrize("session", ["log.jsonl", "log/subagents/agent-1.jsonl"])
    def test_the_full_text_is_read_from_beside_the_session(self, files, tmp_path, session):
        path = files(session, self.lines())
        kept = tmp_path / "log" / "tool-results" / "t1.txt"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text('{"all": "of it"}')
        [call] = calls(imported(path)[0])
        assert call.result == {"all": "of it"}

    def test_where_it_is_gone_the_preview_stays_and_it_is_said(self):
        session = read_one("claude-code", self.lines())
        [call] = calls(session)
        assert call.result.startswith("<persisted-output>")
        assert call.meta == {"result_truncated": True}
        assert "its own file is missing" in lost(session)

    def test_an_id_is_never_a_path(self, files, tmp_path):
        (tmp_path / "secret.txt").write_text("secret")
        (tmp_path / "log" / "tool-results").mkdir(parents=True)
        [session] = imported(files("log.jsonl", self.lines("../../secret")))
        assert "secret" not in calls(session)[0].result


class TestSubAgents:
    def test_a_sidechain_in_the_file_is_part_of_the_session(self):
        side = {"isSidechain": True, "agentId": "7"}
        lines = [
            line("u", None, "user", "Hi"),
            line("s1", "u", "user", "Find X1", **side),
            line("s2", "s1", "assistant", text("Gate 4."), message={"id": "m2"}, **side),
            line("a", "u", "assistant", text("Gate 4, I hear."), message={"id": "m3"}),
        ]
        [main] = read("claude-code", lines)
        assert said(main) == [
            ("user", "agent", "Hi"),
            ("agent", "agent", "Find X1"),
            ("agent", "agent", "Gate 4."),
            ("agent", "user", "Gate 4, I hear."),
        ]
        assert "sub-agents (1): their calls are part of the session" in lost(main)

    def test_what_it_did_stands_where_it_did_it(self, files):
        def at(second: int, **more: Any) -> dict[str, Any]:
            return {"timestamp": f"2026-01-02T03:00:0{second}.000Z", **more}

        side = {"isSidechain": True, "agentId": "7"}
        path = files("p/s1.jsonl", [
            line("u", None, "user", "Hi", **at(0)),
            line("a", "u", "assistant", claude_use("t", "Agent"), message={"id": "m1"}, **at(1)),
            line("r", "a", "user", claude_result("t", "done"), **at(5)),
            line("b", "r", "assistant", claude_use("t2", "f"), message={"id": "m2"}, **at(6)),
            line("r2", "b", "user", claude_result("t2", "1"), **at(7)),
        ])  # fmt: skip
        files("p/s1/subagents/agent-7.jsonl", [
            line("s", None, "user", "Find", **at(2, **side)),
            line("s2", "s", "assistant", claude_use("i", "g"), message={"id": "n1"}, **at(3, **side)),
            line("s3", "s2", "user", claude_result("i", "2"), **at(4, **side)),
        ])  # fmt: skip
        files("p/s1/subagents/agent-7/subagents/agent-8.jsonl", [
            line("d", None, "assistant", claude_use("k", "h"), message={"id": "n2"}, **at(4, **side)),
        ])  # fmt: skip
        [session] = imported(path)
        assert [call.name for call in calls(session)] == ["Agent", "g", "h", "f"]

    def test_a_file_of_one_alone_tells_whose_it_is(self, files):
        path = files("agent-7.jsonl", [line("s", None, "user", "Find", isSidechain=True, agentId="7")])
        [sub] = imported(path)
        assert (started(sub).origin["parent"], started(sub).origin["agent_id"]) == ("s1", "agent-7")

    def test_files_beside_the_session_are_read_with_it(self, files):
        path = files("p/s1.jsonl", [line("u", None, "user", "Hi")])
        files("p/s1/subagents/agent-7.jsonl", [line("s", None, "user", "Find", isSidechain=True, agentId="7")])
        assert [session.name for session in imported(path)] == ["s1"]

    def test_a_project_s_folder_is_read_whole_and_nothing_twice(self, files):
        files("p/s1.jsonl", [line("u", None, "user", "Hi")])
        files("p/s1/subagents/agent-7.jsonl", [line("s", None, "user", "Find", isSidechain=True, agentId="7")])
        path = files("p/s2.jsonl", [line("u", None, "user", "Ho")])
        assert [session.name for session in imported(path.parent)] == ["s1", "s2"]
        both = list(importer("claude-code")([path.parent, path]))
        assert len(both) == 2


def test_a_result_that_belongs_to_no_call_is_named_with_its_line():
    session = read_one("claude-code", [line("u", None, "user", "Hi"), line("r", "u", "user", claude_result("zz", "1"))])
    assert 'line 2, message.content[0]: a result of "zz", of which no call is open' in lost(session)


class TestFiles:
    def test_a_session_in_which_nobody_spoke_is_none(self):
        assert read("claude-code", [{"type": "summary", "summary": "x", "leafUuid": "y"}]) == []

    def test_something_else(self):
        with pytest.raises(ImportFormatError, match="holds no message of a user or an agent"):
            read("claude-code", [{"type": "thing"}])

    @each(
        ("broken", "told"),
        [
            ({"uuid": "x"}, "line 2: has no 'type'; it is left out"),
            (["x"], "line 2: is no object; it is left out"),
            ({"type": "user", "uuid": "x", "message": {"role": "user"}}, "line 2: has a message without 'content'"),
        ],
    )
    def test_a_broken_line_is_named_and_loses_no_other(self, broken, told):
        session = read_one("claude-code", [line("u", None, "user", "Hi"), broken])
        assert told in lost(session)
        assert len(said(session)) == 1

    def test_a_line_without_message(self):
        with pytest.raises(ImportFormatError, match=r"log.jsonl:1: lacks 'message'"):
            read("claude-code", [{"type": "assistant", "uuid": "x"}])

    def test_a_session_that_is_still_running_has_no_end(self, files):
        path = files("log.jsonl", [line("u", None, "user", "Hi"), line("a", "u", "assistant", text("Yes?"))])
        path.write_bytes(path.read_bytes() + b'{"type": "us')
        [session] = imported(path)
        assert ending(session) is None
        assert "line 3: the last line is cut off" in lost(session)

    def test_a_line_that_stands_there_again_counts_once_and_one_that_says_something_else_is_named(self):
        lines = [line("u", None, "user", "Hi"), line("a", "u", "assistant", text("Yes?"))]
        again, changed = line("u", None, "user", "Hi"), line("a", "u", "assistant", text("No."))
        session = read_one("claude-code", [*lines, again, changed])
        assert "line 4: has the uuid of an earlier line and another message; it is left out" in lost(session)
        assert "line 3" not in lost(session)
