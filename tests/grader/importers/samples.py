"""One small hand-made log per format, in its real field names, and what every test of an importer needs."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox_grader.importers import Imported, importer

from sandbox_mcp.engine.trajectory import (
    Message,
    SessionStarted,
    ToolCall,
    Trajectory,
    assemble,
    parse_trajectory,
    to_line,
)

FLIGHT = {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]}


def chat_call(name: str, arguments: Any, id_: str = "c1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": FLIGHT}}


TAU_BENCH = [
    {
        "task_id": 7,
        "trial": 1,
        "reward": 0.0,
        "info": {
            "task": {
                "user_id": "ada_1",
                "actions": [{"name": "cancel", "kwargs": {"number": "X1"}}],
                "instruction": "Cancel X1.",
                "outputs": ["120"],
            },
            "source": "user",
            "user_cost": 0.1,
            "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0}},
        },
        "traj": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Cancel X1, please."},
            {"role": "assistant", "content": "Looking.", "tool_calls": [chat_call("find", {"number": "X1"})]},
            {"role": "tool", "tool_call_id": "c1", "name": "find", "content": '{"number": "X1", "price": 120}'},
            {"role": "assistant", "content": None, "tool_calls": [chat_call("cancel", {"number": "X1"})]},
            {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "Error: X1 has departed"},
            {"role": "assistant", "content": "It has left."},
            {"role": "user", "content": "Too bad. ###STOP###"},
        ],
    }
]

TAU2 = {
    "timestamp": "2026-01-02T03:04:05",
    "info": {
        "git_commit": "abc",
        "agent_info": {"implementation": "llm_agent", "llm": "m-1"},
        "user_info": {"implementation": "user_simulator", "llm": "m-2"},
        "environment_info": {
            "domain_name": "telecom",
            "policy": "...",
            "tool_defs": {"reset_line": {"name": "reset_line", "doc": "Resets.", "params": FLIGHT}},
        },
    },
    "tasks": [
        {
            "id": "t1",
            "user_scenario": {"instructions": "My line is dead."},
            "evaluation_criteria": {
                "actions": [
                    {"action_id": "a", "name": "reset_line", "arguments": {"number": "5"}, "compare_args": ["number"]},
                    {"action_id": "b", "requestor": "user", "name": "reboot", "arguments": {}},
                ],
                "communicate_info": ["done"],
                "reward_basis": ["DB"],
            },
        }
    ],
    "simulations": [
        {
            "id": "sim-1",
            "task_id": "t1",
            "trial": 0,
            "seed": 11,
            "termination_reason": "user_stop",
            "reward_info": {"reward": 1.0, "reward_basis": ["DB"]},
            "messages": [
                {"role": "assistant", "content": "Hello!", "timestamp": "2026-01-02T03:00:00"},
                {"role": "user", "content": "Dead line.", "timestamp": "2026-01-02T03:00:01"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "r", "name": "reset_line", "arguments": {"number": "5"}}],
                    "timestamp": "2026-01-02T03:00:02",
                },
                {"role": "tool", "id": "r", "content": "ok", "error": False, "timestamp": "2026-01-02T03:00:03"},
                {
                    "role": "user",
                    "content": None,
                    "tool_calls": [{"id": "u", "name": "reboot", "arguments": {}, "requestor": "user"}],
                    "timestamp": "2026-01-02T03:00:04",
                },
                {
                    "role": "tool",
                    "id": "u",
                    "content": "battery is empty",
                    "requestor": "user",
                    "error": True,
                    "timestamp": "2026-01-02T03:00:05",
                },
                {"role": "user", "content": "###STOP###", "timestamp": "2026-01-02T03:00:06"},
            ],
        }
    ],
}

OPENAI_CHAT = {
    "model": "m-1",
    "tools": [function("find"), function("cancel")],
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Cancel X1."}, {"type": "image_url", "image_url": {}}]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Two at once.",
            "tool_calls": [chat_call("find", {"number": "X1"}, "a"), chat_call("cancel", "not json", "b")],
        },
        {"role": "tool", "tool_call_id": "b", "content": "Error: arguments"},
        {"role": "tool", "tool_call_id": "a", "content": "[1, 2]"},
        {"role": "assistant", "content": "Sorry."},
    ],
}

OPENAI_RESPONSES = {
    "model": "m-1",
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "instructions": "Be brief.",
    "tools": [{"type": "function", "name": "find", "description": "Finds.", "parameters": FLIGHT}],
    "input": [{"role": "user", "content": [{"type": "input_text", "text": "Where is X1?"}]}],
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "find", "arguments": '{"number": "X1"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": '{"gate": 4}'},
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "name": "weather",
            "server_label": "sky",
            "arguments": "{}",
            "output": None,
            "error": "no such place",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Gate 4."}]},
    ],
}

ANTHROPIC = {
    "model": "m-1",
    "system": [{"type": "text", "text": "Be brief."}],
    "tools": [{"name": "find", "description": "Finds.", "input_schema": FLIGHT}],
    "messages": [
        {"role": "user", "content": "Find X1 and X2."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Both.", "signature": "s"},
                {"type": "text", "text": "On it."},
                {"type": "tool_use", "id": "t1", "name": "find", "input": {"number": "X1"}},
                {"type": "tool_use", "id": "t2", "name": "find", "input": {"number": "X2"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t2", "content": "no such flight", "is_error": True},
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": '{"gate": 4}'}]},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "X1 is at gate 4."}], "stop_reason": "end_turn"},
    ],
}


def claude_line(uuid: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of a session file; ``message`` in ``more`` adds members to the message."""
    message = {"role": role, "content": content} | more.pop("message", {})
    line = {
        "type": role,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:00:00.000Z",
        "isSidechain": False,
        "version": "2.1.0",
        "message": message,
    }
    return line | more


def claude_use(id_: str, name: str, **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": id_, "name": name, "input": given}]


def claude_result(id_: str, content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": id_, "content": content} | more]


_ONE = {"message": {"id": "msg_1", "model": "m-1"}}

CLAUDE_CODE = [
    {"type": "summary", "summary": "Flights", "leafUuid": "a3"},
    claude_line("u1", None, "user", "Where are X1 and X2?"),
    claude_line("a1", "u1", "assistant", [{"type": "text", "text": "Looking."}], **_ONE),
    claude_line("a2", "a1", "assistant", claude_use("t1", "mcp__air__find", number="X1"), **_ONE),
    claude_line("a2b", "a2", "assistant", claude_use("t2", "mcp__air__find", number="X2"), **_ONE),
    claude_line("r1", "a2", "user", claude_result("t1", '{"gate": 4}')),
    claude_line("r2", "a2b", "user", claude_result("t2", "no such flight", is_error=True)),
    claude_line(
        "a3", "r2", "assistant", [{"type": "text", "text": "X1 is at gate 4."}], message={"id": "msg_2", "model": "m-1"}
    ),
]

INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "flights", "model": "mock/m-1", "packages": {"inspect_ai": "0.3.285"}},
    "samples": [
        {
            "id": "where",
            "epoch": 2,
            "input": "Where is X1?",
            "target": "gate 4",
            "uuid": "sample-1",
            "completed_at": "2026-01-02T03:00:09+00:00",
            "scores": {"match": {"value": "C", "answer": "gate 4"}},
            "attachments": {"aa11": '{"gate": 4}'},
            "messages": [
                {"id": "m0", "role": "system", "content": "Be brief."},
                {"id": "m1", "role": "user", "content": "Where is X1?"},
                {
                    "id": "m2",
                    "role": "assistant",
                    "content": [{"type": "reasoning", "reasoning": "I look."}, {"type": "text", "text": "Looking."}],
                    "tool_calls": [{"id": "t1", "function": "find", "arguments": {"number": "X1"}, "type": "function"}],
                },
                {"id": "m3", "role": "tool", "tool_call_id": "t1", "function": "find", "content": "attachment://aa11"},
                {"id": "m4", "role": "assistant", "content": "gate 4"},
            ],
            "events": [
                {
                    "event": "model",
                    "timestamp": "2026-01-02T03:00:01+00:00",
                    "tools": [{"name": "find", "description": "Finds.", "parameters": FLIGHT}],
                    "output": {"choices": [{"message": {"id": "m2", "role": "assistant", "content": ""}}]},
                },
                {
                    "event": "tool",
                    "id": "t1",
                    "function": "find",
                    "arguments": {"number": "X1"},
                    "result": "attachment://aa11",
                    "timestamp": "2026-01-02T03:00:02+00:00",
                    "completed": "2026-01-02T03:00:03+00:00",
                },
            ],
        }
    ],
}

ATIF = {
    "schema_version": "ATIF-v1.7",
    "session_id": "run-1",
    "agent": {"name": "pilot", "version": "1.0", "model_name": "m-1", "tool_definitions": [function("find")]},
    "steps": [
        {"step_id": 1, "source": "system", "message": "Be brief.", "timestamp": "2026-01-02T03:00:00Z"},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Where is X1?"}]},
        {"step_id": 3, "source": "agent", "message": "copied", "is_copied_context": True},
        {
            "step_id": 4,
            "source": "agent",
            "message": "Looking.",
            "reasoning_content": "I look.",
            "tool_calls": [{"tool_call_id": "t1", "function_name": "find", "arguments": {"number": "X1"}}],
            "observation": {"results": [{"source_call_id": "t1", "content": '{"gate": 4}'}]},
            "timestamp": "2026-01-02T03:00:05Z",
        },
        {"step_id": 5, "source": "agent", "message": "Gate 4."},
    ],
    "final_metrics": {"total_steps": 5},
}


def attribute(key: str, value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(value)
    return {"key": key, "value": {"stringValue": text}}


def span(id_: str, parent: str | None, name: str, start: int, end: int, **attributes: Any) -> dict[str, Any]:
    """A span of trace ``t``; times in seconds of a day; ``gen_ai__x__y`` stands for the attribute ``gen_ai.x.y``."""
    day = 1767322800
    return {
        "traceId": "t",
        "spanId": id_,
        "parentSpanId": parent or "",
        "name": name,
        "startTimeUnixNano": str((day + start) * 10**9),
        "endTimeUnixNano": str((day + end) * 10**9),
        "attributes": [attribute(key.replace("__", "."), value) for key, value in attributes.items()],
        "status": {},
    }


def otel_message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def otel_text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


_ASK = otel_message("user", otel_text("Where is X1?"))
_USE = otel_message("assistant", {"type": "tool_call", "id": "t1", "name": "find", "arguments": {"number": "X1"}})
_GOT = otel_message("tool", {"type": "tool_call_response", "id": "t1", "response": '{"gate": 4}'})


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


OTEL = otlp(
    span("1", None, "invoke_agent pilot", 0, 9, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="pilot"),
    span(
        "2", "1", "chat m-1", 1, 2,
        gen_ai__operation__name="chat", gen_ai__request__model="m-1", gen_ai__conversation__id="conv-1",
        gen_ai__system_instructions=[otel_text("Be brief.")],
        gen_ai__tool__definitions=[{"type": "function", "name": "find", "description": "", "parameters": FLIGHT}],
        gen_ai__input__messages=[_ASK], gen_ai__output__messages=[_USE | {"finish_reason": "tool_call"}],
    ),
    span(
        "3", "1", "execute_tool find", 3, 4,
        gen_ai__operation__name="execute_tool", gen_ai__tool__name="find", gen_ai__tool__call__id="t1",
        gen_ai__tool__call__arguments='{"number": "X1"}', gen_ai__tool__call__result='{"gate": 4}',
    ),
    span(
        "4", "1", "chat m-1", 5, 6, gen_ai__operation__name="chat", gen_ai__input__messages=[_ASK, _USE, _GOT],
        gen_ai__output__messages=[otel_message("assistant", otel_text("Gate 4.")) | {"finish_reason": "stop"}],
    ),
)  # fmt: skip


def request(id_: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def response(id_: Any, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def text_content(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


MCP_WIRE = [
    request(0, "initialize", clientInfo={"name": "desk", "version": "1"}),
    response(0, serverInfo={"name": "air", "version": "2"}, capabilities={}),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    request(1, "tools/list"),
    response(
        1, tools=[{"name": "find", "description": "", "inputSchema": FLIGHT, "annotations": {"readOnlyHint": True}}]
    ),
    request(2, "tools/call", name="find", arguments={"number": "X1"}),
    request(3, "tools/call", name="find", arguments={"number": "X2"}),
    response(3, content=text_content("no such flight"), isError=True),
    response(2, content=text_content('{"gate": 4}'), structuredContent={"gate": 4}),
    request(4, "tools/call", name="fly", arguments={}),
    {"jsonrpc": "2.0", "id": 4, "error": {"code": -32602, "message": "Unknown tool: fly"}},
]


def rollout_line(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-02T03:00:0{second}.000Z", "type": kind, "payload": payload}


CODEX: list[dict[str, Any]] = [
    rollout_line("session_meta", 0, id="s-1", cli_version="0.169.0", base_instructions={"text": "Be brief."}),
    rollout_line("turn_context", 0, model="m-1"),
    rollout_line(
        "response_item", 1, type="message", role="user",
        content=[{"type": "input_text", "text": "<environment_context>here</environment_context>"}],
    ),
    rollout_line(
        "response_item", 1, type="message", role="user", content=[{"type": "input_text", "text": "Where is X1?"}]
    ),
    rollout_line("event_msg", 1, type="user_message", message="Where is X1?"),
    rollout_line(
        "response_item", 2, type="message", role="assistant", content=[{"type": "output_text", "text": "I look."}]
    ),
    rollout_line(
        "response_item", 2, type="function_call", call_id="c1", namespace="mcp__air", name="find", arguments='{"n": 1}'
    ),
    rollout_line(
        "event_msg", 3, type="item_completed",
        item={"type": "McpToolCall", "id": "c1", "status": "failed", "result": {"content": [], "isError": True}},
    ),
    rollout_line(
        "response_item", 3, type="function_call_output", call_id="c1",
        output="Wall time: 0.1 seconds\nOutput:\nno such flight",
    ),
    rollout_line(
        "response_item", 4, type="message", role="assistant", content=[{"type": "output_text", "text": "Gate 4."}]
    ),
    rollout_line("event_msg", 4, type="task_complete", last_agent_message="Gate 4."),
]  # fmt: skip


def tool_sandbox_row(index: int, sender: str, recipient: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "sandbox_message_index": index, "sender": sender, "recipient": recipient, "content": content,
        "openai_tool_call_id": None, "openai_function_name": None, "conversation_active": True,
        "tool_call_exception": None, "tool_trace": None, "visible_to": None, **more,
    }  # fmt: skip


def _setting(index: int, wifi: bool | None) -> dict[str, Any]:
    others = {} if wifi is None else {"device_id": "d-1", "cellular": True, "wifi": wifi}
    return {"sandbox_message_index": index, "device_id": None, "cellular": None, "wifi": None, **others}


TOOLSANDBOX = {
    "_dbs": {
        "SANDBOX": [
            {"sandbox_message_index": 0, "sender": None},
            tool_sandbox_row(0, "SYSTEM", "USER", "Be brief.", visible_to=["USER"]),
            tool_sandbox_row(1, "USER", "AGENT", "Wake me.", visible_to=["USER"]),
            tool_sandbox_row(2, "USER", "AGENT", "Turn d-1 online."),
            tool_sandbox_row(
                3, "AGENT", "EXECUTION_ENVIRONMENT",
                "c1_parameters = {'on': True}\nc1_response = set_wifi_status(**c1_parameters)\nprint(c1_response)",
                openai_tool_call_id="c1", openai_function_name="setting_8",
            ),
            tool_sandbox_row(
                4, "AGENT", "EXECUTION_ENVIRONMENT",
                "c2_parameters = {}\nc2_response = get_current_location(**c2_parameters)\nprint(repr(c2_response))",
                openai_tool_call_id="c2", openai_function_name="setting_1",
            ),
            tool_sandbox_row(
                5, "EXECUTION_ENVIRONMENT", "AGENT", "None", openai_tool_call_id="c1",
                tool_trace=['{"tool_name": "set_wifi_status", "arguments": {"on": true}, "result": null}'],
            ),
            tool_sandbox_row(
                6, "EXECUTION_ENVIRONMENT", "AGENT", "PermissionError: location is off", openai_tool_call_id="c2",
                tool_call_exception="PermissionError: location is off",
            ),
            tool_sandbox_row(7, "AGENT", "USER", "You are online.", visible_to=["AGENT", "USER"]),
            tool_sandbox_row(8, "USER", "EXECUTION_ENVIRONMENT", "end_conversation()"),
        ],
        "SETTING": [_setting(0, None), _setting(0, False), _setting(5, None), _setting(5, True)],
        "CONTACT": [{"sandbox_message_index": 0, "person_id": None}],
        "MESSAGING": [], "REMINDER": [],
    }
}  # fmt: skip

SAMPLES: dict[str, tuple[str, Any]] = {
    "toolsandbox-results": ("log.json", TOOLSANDBOX),
    "tau-bench": ("log.json", TAU_BENCH),
    "tau2": ("log.json", TAU2),
    "openai-chat": ("log.json", OPENAI_CHAT),
    "openai-responses": ("log.json", OPENAI_RESPONSES),
    "anthropic": ("log.json", ANTHROPIC),
    "claude-code": ("log.jsonl", CLAUDE_CODE),
    "codex": ("log.jsonl", CODEX),
    "inspect": ("log.json", INSPECT),
    "atif": ("log.json", ATIF),
    "otel": ("log.json", OTEL),
    "mcp-wire": ("log.jsonl", MCP_WIRE),
}
"""Format to a file name and what the file holds: a document, or the lines of a ``.jsonl`` file."""


def encoded(name: str, value: Any) -> bytes:
    """The bytes of a file: JSON, or one line per element."""
    if not name.endswith(".jsonl"):
        return json.dumps(value).encode()
    return "".join(json.dumps(line) + "\n" for line in value).encode()


def read_bytes(format_: str, data: bytes, name: str | None = None) -> list[Imported]:
    """What an importer makes of a file of these bytes, after checking what must hold for every import."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name or SAMPLES[format_][0])
        path.write_bytes(data)
        return checked(format_, list(importer(format_)([path])))


def read(format_: str, value: Any, name: str | None = None) -> list[Imported]:
    """What an importer makes of a file that holds a value."""
    name = name or (SAMPLES[format_][0] if format_ in SAMPLES else "log.json")
    return read_bytes(format_, encoded(name, value), name)


def read_one(format_: str, value: Any, name: str | None = None) -> Imported:
    [imported] = read(format_, value, name)
    return imported


def checked(format_: str, sessions: Sequence[Imported]) -> list[Imported]:
    """The sessions, each of which must survive being written and read, and say where it is from."""
    names = [session.name.casefold() for session in sessions]
    assert len(set(names)) == len(names)
    for session in sessions:
        assert session.name.isascii()
        assert not set(session.name) & set('/\\:*?"<>| ')
        trajectory = parse_trajectory("".join(map(to_line, session.events)).encode())
        assert trajectory == assemble(session.events, "<log>")
        origin = trajectory.started.origin or {}
        assert origin["format"] == {"verifiers": "openai-chat", "nemo-gym": "openai-responses"}.get(format_, format_)
        assert "file" in origin
        assert [(loss["where"], loss["what"]) for loss in origin["losses"]] == [
            (loss.where, loss.what) for loss in session.losses
        ]
        calls = [event.call for event in trajectory.events if isinstance(event, ToolCall)]
        assert len(set(calls)) == len(calls)
        assert [event.seq for event in trajectory.events] == list(range(1, len(trajectory.events) + 1))
    return list(sessions)


def trajectory(imported: Imported) -> Trajectory:
    return assemble(imported.events)


def started(imported: Imported) -> SessionStarted:
    return trajectory(imported).started


def calls(imported: Imported) -> list[ToolCall]:
    return [event for event in imported.events if isinstance(event, ToolCall)]


def said(imported: Imported) -> list[tuple[str, str, str]]:
    """Sender, recipient and content of each message."""
    return [(m.sender, m.recipient, m.content) for m in imported.events if isinstance(m, Message)]


def ending(imported: Imported) -> str | None:
    ended = trajectory(imported).ended
    return None if ended is None else ended.reason


def lost(imported: Imported) -> str:
    """All losses as one text, to look for words in."""
    return "\n".join(f"{loss.where}: {loss.what}" for loss in imported.losses)
