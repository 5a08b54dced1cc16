"""Claude Code's lines that name no parent, as its command prints them: one conversation per session, in their order."""

import json
from typing import Any

import pytest
from sandbox_grader.errors import NothingToImportError

from tests.each import each
from tests.grader.importers.samples import calls, claude_result, claude_use, read, read_bytes, said, started


def line(kind: str, content: Any = None, *, session: str = "s1", **more: Any) -> dict[str, Any]:
    message = {"message": {"role": kind, "content": content}} if kind in {"user", "assistant"} else {}
    return {"type": kind, "session_id": session, **message, **more}


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def printed(session: str = "s1", **more: Any) -> list[dict[str, Any]]:
    told = [
        line("system", subtype="init", session=session, tools=["find"], **more),
        line("assistant", claude_use("t1", "find", number="X1"), session=session, **more),
        line("user", claude_result("t1", "found"), session=session, **more),
        line("assistant", text("There it is."), session=session, **more),
        line("result", session=session, subtype="success", result="There it is.", **more),
    ]
    return [{**item, "uuid": f"{session}-{number}"} for number, item in enumerate(told)]


@each("more", [{}, {"parent_tool_use_id": None}, {"parentUuid": None}])
def test_lines_without_a_parent_are_one_conversation(more: dict[str, Any]) -> None:
    [session] = read("claude-code", printed(**more), "log.jsonl")
    [call] = calls(session)
    assert (call.name, call.result, said(session)[-1]) == ("find", "found", ("agent", "user", "There it is."))
    assert started(session).session == "s1"


def test_the_cost_that_a_result_states_is_that_of_its_session() -> None:
    dear = printed("s2")
    dear[-1]["total_cost_usd"] = 0.5
    free, paid = read("claude-code", [*printed("s1"), *dear], "log.jsonl")
    told = [[event.meta["usage"] for event in found.events[1:-1] if "usage" in event.meta] for found in (free, paid)]
    assert told == [[], [{"cost": 0.5}]]


def test_each_session_is_a_conversation_of_its_own() -> None:
    mixed = [item for pair in zip(printed("s1"), printed("s2"), strict=True) for item in pair]
    found = read("claude-code", mixed, "log.jsonl")
    assert [len(calls(session)) for session in found] == [1, 1]


def test_a_sub_agent_is_part_of_its_session() -> None:
    inner = [
        line("user", text("Look it up."), parent_tool_use_id="t1", uuid="i1"),
        line("assistant", text("Looked up."), parent_tool_use_id="t1", uuid="i2"),
    ]
    whole = printed()
    found = read("claude-code", [*whole[:2], *inner, *whole[2:]], "log.jsonl")
    assert [[words for _, _, words in said(session)] for session in found] == [
        ["Look it up.", "Looked up.", "There it is."],
    ]


def test_only_what_answers_is_chained_where_other_lines_name_their_parents() -> None:
    lines = [
        {
            "type": "user",
            "uuid": "a",
            "parentUuid": None,
            "sessionId": "s",
            "message": {"role": "user", "content": "One."},
        },
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": {"content": text("1")}},
        {
            "type": "user",
            "uuid": "c",
            "parentUuid": None,
            "sessionId": "s",
            "message": {"role": "user", "content": "Two."},
        },
        {"type": "assistant", "uuid": "d", "parentUuid": None, "sessionId": "s", "message": {"content": text("2")}},
    ]
    found = read("claude-code", lines, "log.jsonl")
    assert [[words for _, _, words in said(session)] for session in found] == [["One.", "1"], ["Two.", "2"]]


@each("name", ["log.json", "log.jsonl", "log.txt"])
def test_json_printed_over_several_lines_is_json(name: str) -> None:
    pretty = json.dumps(printed(), indent=2).encode()
    [session] = read_bytes("claude-code", pretty, name)
    assert [call.result for call in calls(session)] == ["found"]


@each("name", ["log.json", "log.jsonl"])
def test_so_it_is_in_every_other_format(name: str) -> None:
    chat = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello, too."}]
    [session] = read_bytes("openai-chat", json.dumps(chat, indent=1).encode(), name)
    assert [words for _, _, words in said(session)] == ["Hello.", "Hello, too."]


def test_the_last_result_alone_is_no_session_and_says_what_to_do() -> None:
    with pytest.raises(NothingToImportError, match="add --verbose, or use stream-json"):
        read("claude-code", {"type": "result", "subtype": "success", "result": "Hi.", "session_id": "s"}, "log.json")
