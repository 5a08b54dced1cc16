"""Any conversation, written in any of the formats, is read as that conversation.

The writers below put one and the same plain conversation into each format's real shape. They share nothing with the
importers, and little with one another.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.grader.importers.samples import calls, otel_message, otel_text, otlp, read, said, span
from tests.laws import at_least

words = st.text('abc déf{}[]"\\\n123<>Ω', min_size=1, max_size=12).filter(str.strip)
scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | words
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(words, v, max_size=3), max_leaves=6)
tools = st.sampled_from(["find", "fly", "mcp__air__land"])


@dataclass(frozen=True)
class Call:
    """A call of a tool with what came of it: a JSON value, or a text that says why it failed."""

    name: str
    arguments: dict[str, Any]
    result: Any = None
    error: str | None = None

    @property
    def text(self) -> str:
        """What the agent was given."""
        if self.error is not None:
            return self.error
        # A text is written as JSON too, so that no text passes for a value that it only looks like.
        return json.dumps(self.result, ensure_ascii=False)


@dataclass(frozen=True)
class Turn:
    """What the user says, or what the agent does: calls with a note beside them, or an answer."""

    who: str
    text: str = ""
    calls: list[Call] = field(default_factory=list)


made = st.builds(Call, tools, st.dictionaries(words, values, max_size=3), values) | st.builds(
    Call, tools, st.dictionaries(words, values, max_size=3), st.none(), words.map("Error: {}".format)
)
turns = (
    st.builds(Turn, st.just("user"), words)
    | st.builds(Turn, st.just("agent"), words)
    | st.builds(Turn, st.just("agent"), st.just("") | words, st.lists(made, min_size=1, max_size=3))
)
conversations = st.lists(turns, min_size=1, max_size=6)


def ids(number: int, turn: Turn) -> list[tuple[str, Call]]:
    """The calls of a turn with ids that no other turn has."""
    return [(f"t{number}c{index}", call) for index, call in enumerate(turn.calls)]


def tau_bench(turns_: list[Turn]) -> list[dict[str, Any]]:
    messages = openai_chat(turns_)
    return [{"task_id": 1, "trial": 0, "reward": 1.0, "info": {"task": {"actions": []}}, "traj": messages}]


def openai_chat(turns_: list[Turn]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        made = [
            {"id": id_, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
            for id_, c in ids(number, turn)
        ]
        role = "user" if turn.who == "user" else "assistant"
        messages.append({"role": role, "content": turn.text or None} | ({"tool_calls": made} if made else {}))
        messages += [{"role": "tool", "tool_call_id": id_, "content": c.text} for id_, c in reversed(ids(number, turn))]
    return messages


def tau2(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        made = [{"id": id_, "name": c.name, "arguments": c.arguments} for id_, c in ids(number, turn)]
        role = "user" if turn.who == "user" else "assistant"
        messages.append({"role": role, "content": turn.text or None, "tool_calls": made or None})
        for id_, c in ids(number, turn):
            messages.append({"role": "tool", "id": id_, "content": c.text, "error": c.error is not None})
    run = {"id": "r", "task_id": "t", "trial": 0, "termination_reason": "user_stop", "messages": messages}
    return {"tasks": [{"id": "t"}], "simulations": [run]}


def openai_responses(turns_: list[Turn]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        if turn.text:
            role = "user" if turn.who == "user" else "assistant"
            items.append({"type": "message", "role": role, "content": turn.text})
        for id_, c in ids(number, turn):
            items.append(
                {"type": "function_call", "call_id": id_, "name": c.name, "arguments": json.dumps(c.arguments)}
            )
        items += [{"type": "function_call_output", "call_id": id_, "output": c.text} for id_, c in ids(number, turn)]
    return items


def codex(turns_: list[Turn]) -> list[dict[str, Any]]:
    lines = [{"type": "session_meta", "payload": {"id": "s"}}]
    lines += [{"type": "response_item", "payload": item} for item in openai_responses(turns_)]
    failed = [
        {"type": "mcp_tool_call_end", "call_id": id_, "result": {"Ok": {"content": [], "isError": c.error is not None}}}
        for number, turn in enumerate(turns_)
        for id_, c in ids(number, turn)
    ]
    return [*lines, *({"type": "event_msg", "payload": event} for event in failed)]


def blocks(number: int, turn: Turn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The content blocks of a turn in Anthropic's form, and those of its results."""
    own = [{"type": "text", "text": turn.text}] if turn.text else []
    own += [{"type": "tool_use", "id": id_, "name": c.name, "input": c.arguments} for id_, c in ids(number, turn)]
    results = [
        {"type": "tool_result", "tool_use_id": id_, "content": c.text, "is_error": c.error is not None}
        for id_, c in ids(number, turn)
    ]
    return own, results


def anthropic(turns_: list[Turn]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        own, results = blocks(number, turn)
        messages.append({"role": "user" if turn.who == "user" else "assistant", "content": own})
        messages += [{"role": "user", "content": results}] if results else []
    return messages


def claude_code(turns_: list[Turn]) -> list[dict[str, Any]]:
    """One line per block, as the host writes them: results hang on the line of their call, what follows on the last."""
    lines: list[dict[str, Any]] = []
    parent: str | None = None

    def write(role: str, block: dict[str, Any], under: str | None, **message: Any) -> str:
        uuid = f"l{len(lines)}"
        message = {"role": role, "content": [block], **message}
        lines.append({"type": role, "uuid": uuid, "parentUuid": under, "sessionId": "s", "message": message})
        return uuid

    for number, turn in enumerate(turns_):
        own, results = blocks(number, turn)
        role = "user" if turn.who == "user" else "assistant"
        more = {} if role == "user" else {"id": f"msg{number}"}
        at: dict[str, str] = {}
        for block in own:
            parent = write(role, block, parent, **more)
            at[block.get("id", "")] = parent
        for result in results:
            parent = write("user", result, at[result["tool_use_id"]])
    return lines


def inspect(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        made = [{"id": id_, "function": c.name, "arguments": c.arguments} for id_, c in ids(number, turn)]
        role = "user" if turn.who == "user" else "assistant"
        messages.append({"role": role, "content": turn.text, "tool_calls": made})
        for index, (id_, c) in enumerate(ids(number, turn)):
            error = None if c.error is None else {"type": "unknown", "message": c.error}
            result = "" if c.error is not None else c.text
            messages.append({"role": "tool", "tool_call_id": id_, "content": result, "error": error})
            if index % 2:
                told = {"function": c.name, "arguments": c.arguments, "result": result, "error": error}
                events.append({"event": "tool", "id": id_, **told})
    sample = {"id": 1, "epoch": 1, "input": "x", "target": "y", "messages": messages, "events": events}
    return {"status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}


def atif(turns_: list[Turn]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        step: dict[str, Any] = {"step_id": number + 1, "source": turn.who, "message": turn.text}
        if turn.calls:
            step["tool_calls"] = [
                {"tool_call_id": id_, "function_name": c.name, "arguments": c.arguments} for id_, c in ids(number, turn)
            ]
            results = [{"source_call_id": id_, "content": c.text} for id_, c in reversed(ids(number, turn))]
            step["observation"] = {"results": results}
        steps.append(step)
    return {"schema_version": "ATIF-v1.8", "agent": {"name": "a", "version": "1"}, "steps": steps}


def otel(turns_: list[Turn]) -> dict[str, Any]:
    """Whatever the agent does is a span of its model, told all that went before; every second call has a span too."""
    history: list[dict[str, Any]] = []
    spans = [span("root", None, "invoke_agent", 0, 9000, gen_ai__operation__name="invoke_agent")]
    for number, turn in enumerate(turns_):
        parts = [otel_text(turn.text)] if turn.text else []
        parts += [
            {"type": "tool_call", "id": id_, "name": c.name, "arguments": c.arguments} for id_, c in ids(number, turn)
        ]
        message = otel_message("user" if turn.who == "user" else "assistant", *parts)
        start = 10 * number + 1
        if turn.who == "user":
            history.append(message)
            continue
        spans.append(_model(f"m{number}", start, history, [message]))
        history.append(message)
        for index, (id_, c) in enumerate(ids(number, turn)):
            if index % 2:
                spans.append(_tool(f"x{id_}", start + 2, id_, c))
            history.append(otel_message("tool", {"type": "tool_call_response", "id": id_, "response": c.text}))
    spans.append(_model("last", 8000, history, []))
    return otlp(*spans)


def _model(id_: str, start: int, given_: list[dict[str, Any]], told: list[dict[str, Any]]) -> dict[str, Any]:
    more = {"gen_ai__input__messages": given_, "gen_ai__output__messages": told}
    return span(id_, "root", "chat", start, start + 1, gen_ai__operation__name="chat", **more)


def _tool(span_id: str, start: int, id_: str, call: Call) -> dict[str, Any]:
    more = {"gen_ai__tool__name": call.name, "gen_ai__tool__call__id": id_}
    made = span(span_id, "root", "execute_tool", start, start + 1, gen_ai__operation__name="execute_tool", **more)
    if call.error is not None:
        return made | {"status": {"code": 2, "message": call.error}}
    made["attributes"].append({"key": "gen_ai.tool.call.result", "value": {"stringValue": call.text}})
    return made


def mcp_wire(turns_: list[Turn]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for number, turn in enumerate(turns_):
        for id_, c in ids(number, turn):
            params = {"name": c.name, "arguments": c.arguments}
            lines.append({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params})
        for id_, c in reversed(ids(number, turn)):
            content = [{"type": "text", "text": c.text}]
            lines.append({"jsonrpc": "2.0", "id": id_, "result": {"content": content, "isError": c.error is not None}})
    return lines


def converse(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        own: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
        own += [{"toolUse": {"toolUseId": i, "name": c.name, "input": c.arguments}} for i, c in ids(number, turn)]
        results = [
            {"toolResult": {"toolUseId": i, "content": [{"text": c.text}], "status": "error" if c.error else "success"}}
            for i, c in ids(number, turn)
        ]
        messages.append({"role": "user" if turn.who == "user" else "assistant", "content": own})
        messages += [{"role": "user", "content": results}] if results else []
    return {"messages": messages, "inferenceConfig": {}}


def vercel(turns_: list[Turn]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        parts: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        for id_, c in ids(number, turn):
            state = {"state": "output-error", "errorText": c.error} if c.error else {"state": "output-available"}
            done = state if c.error else {**state, "output": c.text}
            parts.append({"type": f"tool-{c.name}", "toolCallId": id_, "input": c.arguments, **done})
        messages.append({"id": str(number), "role": "user" if turn.who == "user" else "assistant", "parts": parts})
    return messages


def vercel_model(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        parts: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        made = ids(number, turn)
        parts += [{"type": "tool-call", "toolCallId": i, "toolName": c.name, "input": c.arguments} for i, c in made]
        kinds = [("error-text", c.error) if c.error else ("json", c.result) for _, c in made]
        results = [
            {"type": "tool-result", "toolCallId": i, "toolName": c.name, "output": {"type": kind, "value": value}}
            for (i, c), (kind, value) in zip(made, kinds, strict=True)
        ]
        messages.append({"role": "user" if turn.who == "user" else "assistant", "content": parts})
        messages += [{"role": "tool", "content": results}] if results else []
    return {"messages": messages}


def gemini(turns_: list[Turn]) -> dict[str, Any]:
    contents: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        own: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
        own += [{"functionCall": {"id": i, "name": c.name, "args": c.arguments}} for i, c in ids(number, turn)]
        told = [{"error": c.error} if c.error else {"result": c.result} for _, c in ids(number, turn)]
        results = [
            {"functionResponse": {"id": i, "name": c.name, "response": response}}
            for (i, c), response in zip(ids(number, turn), told, strict=True)
        ]
        contents.append({"role": "user" if turn.who == "user" else "model", "parts": own})
        contents += [{"role": "user", "parts": results}] if results else []
    return {"contents": contents}


def langchain(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        made = [{"name": c.name, "args": c.arguments, "id": i, "type": "tool_call"} for i, c in ids(number, turn)]
        kind = {"type": "human"} if turn.who == "user" else {"type": "ai", "tool_calls": made}
        messages.append({**kind, "content": turn.text, "additional_kwargs": {}, "response_metadata": {}})
        messages += [
            {"type": "tool", "content": c.text, "tool_call_id": i, "status": "error" if c.error else "success"}
            for i, c in ids(number, turn)
        ]
    return {"messages": messages}


def agentdojo(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        content = [{"type": "text", "content": turn.text}] if turn.text else None
        made = [{"function": c.name, "args": c.arguments, "id": i} for i, c in ids(number, turn)]
        role = {"role": "user"} if turn.who == "user" else {"role": "assistant", "tool_calls": made}
        messages.append({**role, "content": content})
        for id_, c in ids(number, turn):
            text = [{"type": "text", "content": "" if c.error else c.text}]
            messages.append({"role": "tool", "content": text, "tool_call_id": id_, "error": c.error})
    return {"suite_name": "s", "user_task_id": "t", "pipeline_name": "m", "messages": messages}


def pydantic_ai(turns_: list[Turn]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        if turn.who == "user":
            messages.append({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": turn.text}]})
            continue
        parts: list[dict[str, Any]] = [{"part_kind": "text", "content": turn.text}] if turn.text else []
        made = ids(number, turn)
        parts += [
            {"part_kind": "tool-call", "tool_name": c.name, "args": json.dumps(c.arguments), "tool_call_id": i}
            for i, c in made
        ]
        results = [
            {"part_kind": "retry-prompt" if c.error else "tool-return", "tool_name": c.name, "tool_call_id": i}
            | {"content": c.error or c.text}
            for i, c in made
        ]
        messages.append({"kind": "response", "parts": parts})
        messages += [{"kind": "request", "parts": results}] if results else []
    return messages


def opencode(turns_: list[Turn]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns_):
        parts: list[dict[str, Any]] = [{"type": "step-start"}]
        parts += [{"type": "text", "text": turn.text}] if turn.text else []
        for id_, c in ids(number, turn):
            state = {"status": "error", "error": c.error} if c.error else {"status": "completed", "output": c.text}
            parts.append({"type": "tool", "callID": id_, "tool": c.name, "state": {"input": c.arguments, **state}})
        messages.append({"info": {"role": "user" if turn.who == "user" else "assistant"}, "parts": parts})
    return {"info": {"id": "s"}, "messages": messages}


def verifiers(turns_: list[Turn]) -> dict[str, Any]:
    messages = openai_chat(turns_)
    for message in messages:
        message |= (
            {"tool_calls": [json.dumps(call) for call in message["tool_calls"]]} if message.get("tool_calls") else {}
        )
    return {"example_id": 0, "prompt": messages[:1], "completion": messages[1:], "reward": 1.0}


def nemo_gym(turns_: list[Turn]) -> dict[str, Any]:
    items = openai_responses(turns_)
    asked = items[:1] if turns_[0].who == "user" else []
    answered = {"output": items[len(asked) :], "status": "completed"}
    return {"responses_create_params": {"input": asked}, "response": answered}


def swe_agent(turns_: list[Turn]) -> dict[str, Any]:
    history = openai_chat(turns_)
    for message in history:
        if message["role"] == "tool":
            message["tool_call_ids"] = [message.pop("tool_call_id")]
    return {"history": [{"agent": "main", **message} for message in history], "trajectory": [], "info": {}}


def pi(turns_: list[Turn]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s", "cwd": "/"}]
    for number, turn in enumerate(turns_):
        content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        content += [
            {"type": "toolCall", "id": i, "name": c.name, "arguments": c.arguments} for i, c in ids(number, turn)
        ]
        messages = [{"role": "user" if turn.who == "user" else "assistant", "content": content}]
        for id_, c in ids(number, turn):
            told = {"toolCallId": id_, "toolName": c.name, "isError": c.error is not None}
            messages.append({"role": "toolResult", "content": [{"type": "text", "text": c.text}], **told})
        lines += [{"type": "message", "message": message} for message in messages]
    return lines


def copilot(turns_: list[Turn]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "session.start", "data": {"sessionId": "s", "copilotVersion": "1.0"}}]
    for number, turn in enumerate(turns_):
        if turn.who == "user":
            lines.append({"type": "user.message", "data": {"content": turn.text}})
            continue
        asked = [
            {"type": "function", "toolCallId": i, "name": c.name, "arguments": json.dumps(c.arguments)}
            for i, c in ids(number, turn)
        ]
        lines.append({"type": "assistant.message", "data": {"content": turn.text, "toolRequests": asked}})
        for id_, c in ids(number, turn):
            told = {"error": {"message": c.error}} if c.error else {"result": {"content": c.text}}
            data = {"toolCallId": id_, "success": c.error is None, **told}
            lines.append({"type": "tool.execution_complete", "data": data})
    return lines


def gemini_cli(turns_: list[Turn]) -> list[dict[str, Any]]:
    """Its lines: of a message that is written again, the last counts."""
    lines: list[dict[str, Any]] = [{"sessionId": "s", "projectHash": "h", "kind": "main"}]
    for number, turn in enumerate(turns_):
        if turn.who == "user":
            lines.append({"id": f"m{number}", "type": "user", "content": [{"text": turn.text}]})
            continue
        made = [
            {"id": i, "name": c.name, "args": c.arguments, "status": "error" if c.error else "success",
             "result": [{"functionResponse": {"id": i, "name": c.name, "response": {"output": c.text}}}]}
            for i, c in ids(number, turn)
        ]  # fmt: skip
        message = {"id": f"m{number}", "type": "gemini", "content": "" if made else turn.text}
        lines += [message, {"$set": {"lastUpdated": "t"}}, {**message, "toolCalls": made}]
    return lines


WRITERS: dict[str, Callable[[list[Turn]], Any]] = {
    "tau-bench": tau_bench,
    "tau2": tau2,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "claude-code": claude_code,
    "codex": codex,
    "inspect": inspect,
    "atif": atif,
    "otel": otel,
    "mcp-wire": mcp_wire,
    "converse": converse,
    "vercel": vercel,
    "vercel ": vercel_model,
    "gemini": gemini,
    "langchain": langchain,
    "agentdojo": agentdojo,
    "pydantic-ai": pydantic_ai,
    "opencode": opencode,
    "verifiers": verifiers,
    "nemo-gym": nemo_gym,
    "swe-agent": swe_agent,
    "pi": pi,
    "copilot": copilot,
}
FLAT = frozenset({"openai-responses", "codex", "nemo-gym"})
"""Formats that are flat lists of items."""

LAW = settings(max_examples=at_least(12), deadline=None, suppress_health_check=list(HealthCheck))


def expected_calls(turns_: list[Turn]) -> list[tuple[Any, ...]]:
    return [
        (call.name, call.name.removeprefix("mcp__air__"), call.arguments, call.result, call.error)
        for turn in turns_
        for call in turn.calls
    ]


def expected_texts(turns_: list[Turn]) -> list[tuple[str, str, str]]:
    readers = {"user": "agent", "agent": "user"}
    return [(turn.who, "agent" if turn.calls else readers[turn.who], turn.text) for turn in turns_ if turn.text]


@pytest.mark.parametrize("format_", sorted(WRITERS))
@LAW
@given(turns_=conversations)
def test_every_call_is_read_with_what_came_of_it(format_, turns_):
    sessions = read(format_.strip(), WRITERS[format_](turns_))
    found = [call for session in sessions for call in calls(session)]
    assert [
        (call.name, call.tool, call.arguments, call.result, call.error and call.error.message) for call in found
    ] == expected_calls(turns_)


@pytest.mark.parametrize("format_", sorted(WRITERS.keys() - {"mcp-wire"}))
@LAW
@given(turns_=conversations)
def test_every_word_is_read_with_who_said_it_to_whom(format_, turns_):
    assume(format_ not in FLAT or not any(map(_runs_together, turns_, turns_[1:])))
    sessions = read(format_.strip(), WRITERS[format_](turns_))
    assert [text for session in sessions for text in said(session)] == expected_texts(turns_)


def _runs_together(turn: Turn, following: Turn) -> bool:
    """Whether a flat list of items cannot tell an answer from a note beside the calls that follow it."""
    return turn.who == following.who == "agent" and not turn.calls and bool(following.calls) and not following.text


@pytest.mark.parametrize("format_", sorted(WRITERS))
@LAW
@given(turns_=conversations)
def test_calls_made_together_are_one_batch(format_, turns_):
    found = [call for session in read(format_.strip(), WRITERS[format_](turns_)) for call in calls(session)]
    sizes = {call.batch: sum(other.batch == call.batch for other in found) for call in found}
    assert list(sizes.values()) == [len(turn.calls) for turn in turns_ if turn.calls]


@pytest.mark.parametrize("format_", sorted(WRITERS))
@LAW
@given(turns_=conversations)
def test_nothing_is_said_to_be_missing_that_is_there(format_, turns_):
    for session in read(format_.strip(), WRITERS[format_](turns_)):
        assert not any("is missing" in loss.what or "was dropped" in loss.what for loss in session.losses)
