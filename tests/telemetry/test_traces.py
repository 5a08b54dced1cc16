"""Traces of real runs, sent by OTLP over HTTP to a collector that is there, or is not."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox_grader.importers import importer

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, assemble, read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from tests.telemetry.collector import Collector, collecting
from tests.warm import program

CONTENT = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
PLAYED = ("wifi_off", "colleagues_to_friends", "late_for_dinner_no_address_book", "where_on_the_path")
"""One call; a batch of calls over several turns; none at all; calls that fail."""


def sandbox(*args: str, typed: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return subprocess.run([program(), *args], env=env, input=typed, capture_output=True, text=True, check=True)


def run(out: Path, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return sandbox("run", *args, "--agent", "reference", "--out", str(out), "--quiet", "--no-bounds", **variables)


def called(log: Trajectory) -> list[tuple[Any, ...]]:
    """The agent's calls, as anybody would compare them."""
    calls = [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]
    errors = [call.error and (call.error.kind, call.error.type, call.error.message) for call in calls]
    return [
        (call.call, call.batch, call.name, call.tool, dict(call.arguments), call.result, error)
        for call, error in zip(calls, errors, strict=True)
    ]


def ending(log: Trajectory) -> str | None:
    return log.ended and log.ended.reason


def said(log: Trajectory) -> list[tuple[str, str]]:
    """What agent and user said to each other, and what the agent was told first."""
    words = [event for event in log.events if isinstance(event, Message)]
    return [(event.sender, event.content) for event in words if {event.sender, event.recipient} != {"system", "user"}]


def imported(path: Path) -> dict[str, Trajectory]:
    sessions = [assemble(each.events) for each in importer("otel")([path])]
    return {session.started.session: session for session in sessions}


def spans_named(collector: Collector, name: str) -> list[dict[str, Any]]:
    return [span for span in collector.spans() if span["name"].startswith(name)]


def test_what_is_exported_is_read_again_with_the_same_calls_words_and_scores(tmp_path: Path) -> None:
    variants = ("--variant", "base", "--variant", "tool_name_scrambled")
    with collecting() as collector:
        run(tmp_path / "run", *PLAYED, *variants, "--transport", "direct", **collector.variables, **CONTENT)
    logs = {log.started.session: log for log in map(read_trajectory, find_logs([tmp_path / "run"]))}
    again = imported(collector.write(tmp_path / "spans.jsonl"))
    assert len(logs) == 2 * len(PLAYED)
    assert again.keys() == logs.keys()
    for name, log in logs.items():
        assert called(again[name]) == called(log)
        assert said(again[name]) == said(log)
        assert ending(again[name]) == ending(log)
    assert any(call[-1] for log in logs.values() for call in called(log))
    assert any(count > 1 for log in logs.values() for count in Counter(call[1] for call in called(log)).values())
    content = contents(tmp_path / "run")
    assert exported_of(content, collector) == content
    sandbox("import", "otel", str(tmp_path / "spans.jsonl"), "-o", str(tmp_path / "again"))
    assert scores(tmp_path / "again") == scores(tmp_path / "run")


def scores(place: Path) -> dict[str, Any]:
    found = json.loads(sandbox("grade", str(place), "--no-bounds", "--quiet", "--json").stdout)["sessions"]
    return {item["id"]: item["metrics"]["toolsandbox"]["score"] for item in found}


def test_a_session_is_a_trace_of_turns_that_hold_its_calls(tmp_path: Path) -> None:
    with collecting() as collector:
        run(tmp_path, "colleagues_to_friends", "--transport", "memory", **collector.variables)
    (session,) = spans_named(collector, "invoke_workflow colleagues_to_friends")
    turns = spans_named(collector, "invoke_agent reference")
    calls = spans_named(collector, "tools/call ")
    assert {span["traceId"] for span in (*turns, *calls)} == {session["traceId"]}
    assert {span["parentSpanId"] for span in turns} == {session["spanId"]}
    assert {span["parentSpanId"] for span in calls} <= {span["spanId"] for span in turns}
    assert len({span["attributes"]["gen_ai.conversation.id"] for span in (session, *turns, *calls)}) == 1
    assert {span["attributes"]["gen_ai.operation.name"] for span in calls} == {"execute_tool"}
    assert {span["attributes"]["mcp.method.name"] for span in calls} == {"tools/call"}
    assert {span["kind"] for span in calls} == {"SPAN_KIND_SERVER"}
    for span in (*turns, *calls):
        assert session["startTimeUnixNano"] <= span["startTimeUnixNano"] <= span["endTimeUnixNano"]
        assert span["endTimeUnixNano"] <= session["endTimeUnixNano"]
    assert {who["service.name"] for who in collector.resources()} == {"sandbox-mcp"}


def test_nothing_that_was_said_given_or_returned_is_exported_unless_that_is_wanted(tmp_path: Path) -> None:
    with collecting() as collector:
        run(tmp_path, *PLAYED, "--transport", "direct", **collector.variables)
    content = contents(tmp_path)
    assert len(content) > 20
    assert exported_of(content, collector) == set()


def contents(place: Path) -> set[str]:
    """What logs hold that may be private: every text that is longer than a word, as words are in names of ours too."""
    found = set[str]()
    for log in map(read_trajectory, find_logs([place])):
        for event in log.events:
            if isinstance(event, Message):
                found |= {event.content} if "user" not in event.visible_to or "agent" in event.visible_to else set()
            elif event.caller == "agent":
                found |= {*texts_in(event.arguments), *texts_in(event.result)}
                found |= {event.error.message} if event.error else set()
    return {text for text in found if len(text) > 10}


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | Sequence):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item)


def exported_of(content: Collection[str], collector: Collector) -> set[str]:
    """What of this is in any text that was exported, as it is or as a part of JSON."""
    exported = "\n".join(texts_in(collector.exports))
    return {text for text in content if text in exported or json.dumps(text, ensure_ascii=False)[1:-1] in exported}


def test_scores_are_events_in_the_trace_of_the_session_when_played_and_when_graded_later(tmp_path: Path) -> None:
    with collecting() as collector:
        run(tmp_path, "wifi_off", **collector.variables)
        (played,) = spans_named(collector, "invoke_workflow")
        first, before = collector.events(), len(collector.exports)
        sandbox("grade", str(tmp_path), "--no-bounds", "--quiet", **collector.variables)
        later = Collector("", collector.exports[before:]).events()
    for events in (first, later):
        assert {event["eventName"] for event in events} == {"gen_ai.evaluation.result"}
        assert {event["traceId"] for event in events} == {played["traceId"]}
        told = {item["attributes"]["gen_ai.evaluation.name"]: item["attributes"] for item in events}
        assert told["toolsandbox.score"]["gen_ai.evaluation.score.value"] == 1.0


def test_who_takes_only_traces_gets_scores_with_them(tmp_path: Path) -> None:
    with collecting() as collector:
        run(tmp_path, "wifi_off", OTEL_TRACES_EXPORTER="otlp", **endpoint_of_traces(collector))
    assert collector.events() == []
    assert collector.metrics() == {}
    session = imported(collector.write(tmp_path / "spans.jsonl"))["wifi_off-base-s0-t0"]
    assert session.started.origin
    assert session.started.origin["scores"]["toolsandbox.score"] == 1.0


def endpoint_of_traces(collector: Collector) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.url}/v1/traces"}


def test_worker_processes_send_what_they_played_before_they_end(tmp_path: Path) -> None:
    options = ("--executor", "processes", "--jobs", "1")
    with collecting() as collector:
        run(tmp_path, *PLAYED[:2], *options, **collector.variables)
    sessions = spans_named(collector, "invoke_workflow")
    assert {span["attributes"]["gen_ai.workflow.name"] for span in sessions} == {*PLAYED[:2]}


def test_a_collector_that_is_not_there_costs_one_line_and_no_session(tmp_path: Path) -> None:
    done = run(tmp_path, *PLAYED, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    told = [line for line in done.stderr.splitlines() if "telemetry" in line or "opentelemetry" in line.lower()]
    assert len(told) == 1
    assert "everything else goes on" in told[0]
    assert all(read_trajectory(log).complete for log in find_logs([tmp_path]))


def test_what_a_person_plays_is_a_trace_as_well(tmp_path: Path) -> None:
    told = {"typed": "set_wifi_status on=false\nWifi is off.\n", "OTEL_TRACES_EXPORTER": "console"}
    done = sandbox("play", "wifi_off", "--out", str(tmp_path), **told)
    assert [name in done.stderr for name in ("invoke_workflow wifi_off", "execute_tool set_wifi_status")] == [
        True,
        True,
    ]


def test_an_exporter_that_is_not_known_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, "wifi_off", OTEL_TRACES_EXPORTER="otpl")
    assert "traces are not exported, as there is no exporter 'otpl'" in done.stderr


WITHOUT = """
import sys
sys.modules["opentelemetry.sdk"] = None
sys.argv = ["sandbox-mcp", *sys.argv[1:]]
from sandbox_mcp.app.cli import main
main()
"""


def test_where_it_is_not_installed_that_is_said_once(tmp_path: Path) -> None:
    args = ("run", *PLAYED[:2], "--agent", "reference", "--out", str(tmp_path), "--quiet", "--no-bounds")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *args],
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count("pip install 'sandbox-mcp-eval[otel]'") == 1


PROGRAM = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sandbox_mcp import Suite, evaluate

kept = InMemorySpanExporter()
trace.set_tracer_provider(TracerProvider())
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(kept))

async def agent(message):
    with trace.get_tracer("mine").start_as_current_span("thinks"):
        return "I cannot."

evaluate(agent, Suite().select("wifi_off"))
spans = {span.name: span for span in kept.get_finished_spans()}
print(spans["thinks"].parent.span_id == spans["invoke_agent agent"].context.span_id)
"""


def test_a_program_s_own_provider_gets_the_traces_and_what_its_agent_does_is_in_them() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
