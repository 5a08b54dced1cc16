"""Logs in the forms of other people's hosts give what they should, and our own sessions score alike in every form.

The law: sessions of our suite are written as hosts keep them, with the text that our server sends and no flag for
errors; imported and graded, they score as our own log does.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.importers import importer, mapped
from sandbox_grader.reporting.grade_logs import Graded, graded
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import actions

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, assemble
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.suite import SUITE

WIFI = SUITE.get("wifi_off")


def imported(format_: str, path: Path, scenario: Scenario = WIFI) -> list[Graded]:
    found: list[Graded] = []
    for session in importer(format_)([path]):
        log = assemble(session.events, path.name)
        started = replace(log.started, scenario=scenario.name, digest="")
        found.append(graded(replace(log, started=started), scenario))
    return found


SCORED = [
    ("openai-responses", "01-served-result-form/sess_wifi1.json"),
    ("claude-code", "01-served-result-form/cc.jsonl"),
    ("codex", "01-served-result-form/codex.jsonl"),
    ("openai-responses", "02-served-error-text/sess_wifi.json"),
    ("openai-chat", "02-served-error-text/e_agents.json"),
    ("openai-chat", "02-served-error-text/e_plain.json"),
    ("claude-code", "03-one-foreign-tool-no-score/bash.jsonl"),
    ("claude-code", "03-one-foreign-tool-no-score/todo.jsonl"),
    ("claude-code", "03-one-foreign-tool-no-score/toolsearch.jsonl"),
    ("openai-chat", "04-think-tags/tk_neutral.json"),
    ("openai-chat", "04-think-tags/tk_noopen.json"),
    ("openai-chat", "04-think-tags/tk_plan.json"),
    ("claude-code", "06-sub-agents-as-trials/proj/s-1.jsonl"),
    ("otel", "06-sub-agents-as-trials/sub.json"),
    ("atif", "06-sub-agents-as-trials/t.json"),
    ("nemo-gym", "07-nemo-gym-rollouts/gymbare.json"),
    ("converse", "08-foreign-chats-become-empty-messages/converse.json"),
    ("vercel", "08-foreign-chats-become-empty-messages/vercel.json"),
    ("agentdojo", "09-any-cannot-say-nested-calls/agentdojo.json"),
    ("gemini", "09-any-cannot-say-nested-calls/gemini.json"),
    ("langchain", "09-any-cannot-say-nested-calls/langgraph.json"),
    ("pydantic-ai", "09-any-cannot-say-nested-calls/pydantic.json"),
    ("claude-code", "11-claude-code-words-typed-mid-turn/s-1.jsonl"),
    ("claude-code", "11-claude-code-words-typed-mid-turn/s-2.jsonl"),
    ("claude-code", "15-host-words-as-the-users/s-1.jsonl"),
    ("anthropic", "15-host-words-as-the-users/proxy.json"),
    ("verifiers", "26-verifiers-results/verifiers.jsonl"),
    ("verifiers", "26-verifiers-results/verifiers2.jsonl"),
]


@each(("format_", "place"), SCORED)
def test_a_log_in_the_form_of_a_host_is_scored_as_what_it_tells(format_: str, place: str, benchmark_data: Path) -> None:
    [found] = imported(format_, benchmark_data / "real_logs" / place)
    assert found.scores.value() == 1.0, found.warnings


@each(
    ("name", "failed"),
    [("err_adk", True), ("err_agents_sdk", True), ("err_mcp_ts", True), ("err_tb", True), ("err_ok_text", False)],
)
def test_a_failure_that_a_text_tells_is_one(name: str, failed: bool, benchmark_data: Path) -> None:
    path = benchmark_data / "real_logs" / "17-failures-told-by-text" / f"{name}.json"
    [found] = imported("openai-chat", path)
    [call] = [event for event in found.trajectory.events if isinstance(event, ToolCall)]
    assert (call.error is not None) == failed


def test_samples_that_inspect_keeps_in_chunks_are_whole(benchmark_data: Path) -> None:
    path = benchmark_data / "real_logs" / "24-inspect-chunked" / "chunked.eval"
    sessions = [assemble(session.events, path.name) for session in importer("inspect")([path])]
    assert sessions
    for log in sessions:
        assert sum(isinstance(event, ToolCall) for event in log.events) == 4
        assert [event.content for event in log.events if isinstance(event, Message)][-1] == "Wifi is now off."


def test_a_mapping_of_a_user_that_loses_calls_is_a_fault(benchmark_data: Path) -> None:
    folder = benchmark_data / "real_logs" / "09-any-cannot-say-nested-calls"
    with pytest.raises(Exception, match="say 'each: tool_calls'"):
        list(mapped.read([folder / "langgraph.json"], mapped.mapping_in(folder / "map_lg.yaml")))


Host = Callable[[list[tuple[str, Any]]], Any]
"""Writes a session, given as messages and batches of calls with the text that was sent for each."""


def chat(steps: list[tuple[str, Any]]) -> Any:
    messages: list[dict[str, Any]] = []
    for who, what in steps:
        if who != "calls":
            messages.append({"role": who, "content": what})
            continue
        made = [(c.call, {"name": f"mcp_phone_{c.name}", "arguments": json.dumps(dict(c.arguments))}) for c, _ in what]
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": id_, "type": "function", "function": function} for id_, function in made],
            }
        )
        messages += [{"role": "tool", "tool_call_id": c.call, "content": text} for c, text in what]
    return {"messages": messages}


def responses(steps: list[tuple[str, Any]]) -> Any:
    items: list[dict[str, Any]] = []
    for who, what in steps:
        if who != "calls":
            items.append({"type": "message", "role": who, "content": what})
            continue
        items += [
            {"type": "function_call", "call_id": c.call, "name": c.name, "arguments": json.dumps(dict(c.arguments))}
            for c, _ in what
        ]
        items += [
            {"type": "function_call_output", "call_id": c.call, "output": [{"type": "input_text", "text": text}]}
            for c, text in what
        ]
    return items


def messages_api(steps: list[tuple[str, Any]]) -> Any:
    messages: list[dict[str, Any]] = []
    for who, what in steps:
        if who != "calls":
            messages.append({"role": who, "content": what})
            continue
        name = "mcp__phone__{}".format
        uses = [{"type": "tool_use", "id": c.call, "name": name(c.name), "input": dict(c.arguments)} for c, _ in what]
        told = [(c.call, [{"type": "text", "text": text}]) for c, text in what]
        results = [{"type": "tool_result", "tool_use_id": id_, "content": content} for id_, content in told]
        messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    return {"messages": messages}


def langchain(steps: list[tuple[str, Any]]) -> Any:
    kinds = {"user": "human", "assistant": "ai", "system": "system"}
    messages: list[dict[str, Any]] = []
    for who, what in steps:
        if who != "calls":
            messages.append({"type": kinds[who], "content": what})
            continue
        made = [{"name": c.name, "args": dict(c.arguments), "id": c.call, "type": "tool_call"} for c, _ in what]
        messages.append({"type": "ai", "content": "", "tool_calls": made})
        messages += [
            {"type": "tool", "content": [{"type": "text", "text": text}], "tool_call_id": c.call} for c, text in what
        ]
    return {"messages": messages}


def contents(steps: list[tuple[str, Any]]) -> Any:
    found: list[dict[str, Any]] = []
    for who, what in steps:
        if who != "calls":
            found.append({"role": "model" if who == "assistant" else "user", "parts": [{"text": what}]})
            continue
        made = [{"functionCall": {"id": c.call, "name": c.name, "args": dict(c.arguments)}} for c, _ in what]
        whole = [{"content": [{"type": "text", "text": text}], "isError": c.error is not None} for c, text in what]
        told = [
            {"functionResponse": {"id": c.call, "name": c.name, "response": response}}
            for (c, _), response in zip(what, whole, strict=True)
        ]
        found += [{"role": "model", "parts": made}, {"role": "user", "parts": told}]
    return {"contents": found}


HOSTS: dict[str, tuple[str, Host]] = {
    "chat": ("openai-chat", chat),
    "responses": ("openai-responses", responses),
    "messages": ("anthropic", messages_api),
    "langchain": ("langchain", langchain),
    "adk": ("gemini", contents),
}
NAMES = sorted(SUITE.names())[::8][:48]
"""So many of the phone's scenarios, of all families."""


def served(call: ToolCall, scenario: Scenario) -> str:
    """The text that our server sends for a call."""
    if call.error is not None:
        return call.error.text
    wrapped = call.tool is None or actions(scenario)[call.name].tool.wrapped
    return json.dumps({"result": call.result} if wrapped else call.result, ensure_ascii=False, separators=(",", ":"))


def steps_of(log: Trajectory, scenario: Scenario) -> list[tuple[str, Any]]:
    steps: list[tuple[str, Any]] = []
    batch = ""
    for event in log.events:
        if isinstance(event, Message):
            batch = ""
            if {event.sender, event.recipient} == {"user", "agent"}:
                steps.append(("user" if event.sender == "user" else "assistant", event.content))
        elif event.caller == "agent":
            told = (event, served(event, scenario))
            if event.batch == batch:
                steps[-1][1].append(told)
            else:
                steps.append(("calls", [told]))
            batch = event.batch
    return steps


@each("host", sorted(HOSTS))
def test_our_sessions_score_alike_however_a_host_keeps_them(host: str, tmp_path: Path) -> None:
    format_, write = HOSTS[host]
    path, unlike, seen = tmp_path / "session.json", list[str](), Counter[str]()
    for name in NAMES:
        scenario = SUITE.get(name)
        log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
        if any(isinstance(event, ToolCall) and event.caller != "agent" and event.changes for event in log.events):
            continue  # what users do in the world stands in no host's transcript
        course = graded(log, scenario).scores.course
        seen += Counter(sessions=1, failed=course.failed, parallel=course.parallel, turns=course.turns > 1)
        path.write_text(json.dumps(write(steps_of(log, scenario))))
        [found] = imported(format_, path, scenario)
        own = graded(log, scenario).scores.score
        if found.scores.score != own:
            unlike.append(f"{name}: {own} and {found.scores.score}, {found.warnings}")
    assert unlike == []
    assert seen["sessions"] >= 40
    assert min(seen["failed"], seen["parallel"], seen["turns"]) > 0, seen
