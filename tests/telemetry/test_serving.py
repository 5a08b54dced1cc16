"""Traces and figures of a server: whose call it was, how long requests took, and no secret in any of it."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sandbox_mcp.engine.trajectory import read_trajectory
from tests.e2e.processes import ERAS, http_process
from tests.e2e.test_serve_http import TOKEN, api, logs_in
from tests.each import each
from tests.telemetry.collector import collecting

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")]
OURS, THEIRS = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLER = {"traceparent": f"00-{OURS}-{THEIRS}-01"}
SECRETS = {"SANDBOX_MCP_API_TOKEN": TOKEN, "OTEL_METRIC_EXPORT_INTERVAL": "200"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def agent(url: str, era: str, **headers: str) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as connected,
    ):
        yield connected


@each("era", ERAS)
async def test_a_call_is_a_child_of_whoever_asked_for_it(era: str, tmp_path: Path) -> None:
    with (
        collecting() as collector,
        http_process("--log-dir", str(tmp_path), **SECRETS, **collector.variables) as said,
    ):
        new = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off", "variant": "all_tools"})
        async with agent(new["url"], era) as client:
            await client.call_tool("get_wifi_status", {}, meta=CALLER)
            await client.call_tool("get_location_service_status", {})
            await client.call_tool("no_such_tool", {}, meta={"traceparent": "nonsense"})
        async with agent(new["url"], era, **CALLER) as client:
            await client.call_tool("get_cellular_service_status", {})
        api(said["base"], "POST", f"/api/sessions/{new['id']}/end")
        async with agent(new["url"], era) as client:
            await client.call_tool("get_wifi_status", {})
    spans = {span["name"]: span for span in collector.spans()}
    session = spans["invoke_workflow wifi_off"]
    (log,) = logs_in(tmp_path)
    named = read_trajectory(log).started.wall["traceparent"]
    assert (session["traceId"], session["spanId"]) == tuple(named.split("-")[1:3])
    for asked in ("tools/call get_wifi_status", "tools/call get_cellular_service_status"):
        assert (spans[asked]["traceId"], spans[asked]["parentSpanId"]) == (OURS, THEIRS)
        assert [link["traceId"] for link in spans[asked]["links"]] == [session["traceId"]]
    assert spans["tools/call get_location_service_status"]["traceId"] == session["traceId"]
    unknown = next(span for span in collector.spans() if span["attributes"].get("gen_ai.tool.name") == "no_such_tool")
    assert (unknown["name"], unknown["attributes"]["error.type"]) == ("tools/call", "tool_error")
    assert unknown["traceId"] == session["traceId"]
    late = [span for span in collector.spans() if span["name"] == "tools/call" and span is not unknown]
    assert [span["attributes"]["error.type"] for span in late if span["spanId"] != unknown["spanId"]] == ["tool_error"]
    assert new["id"] not in json.dumps(collector.exports)
    assert new["url"].split("/")[-2] not in json.dumps(collector.exports)


async def test_figures_of_requests_tell_routes_and_methods(tmp_path: Path) -> None:
    with (
        collecting() as collector,
        http_process("--log-dir", str(tmp_path), **SECRETS, **collector.variables) as said,
    ):
        new = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})
        async with agent(new["url"], "legacy") as client:
            await client.list_tools()
            await client.call_tool("set_wifi_status", {"on": False})
        api(said["base"], "GET", f"/api/sessions/{new['id']}")
    figures = collector.metrics()
    routes = {point["attributes"].get("http.route") for point in figures["http.server.request.duration"]}
    assert {"/s/{token}/mcp", "/api/sessions", "/api/sessions/{id}"} <= routes
    methods = {point["attributes"]["mcp.method.name"] for point in figures["mcp.server.operation.duration"]}
    assert {"initialize", "tools/list", "tools/call"} <= methods
    (call,) = [point for point in figures["mcp.server.operation.duration"] if "gen_ai.tool.name" in point["attributes"]]
    assert (call["attributes"]["gen_ai.tool.name"], call["count"]) == ("set_wifi_status", "1")
    assert call["attributes"]["network.transport"] == "tcp"
    assert "sandbox_mcp.sessions.open" in figures
    assert new["id"] not in json.dumps(collector.exports)


async def test_a_killed_server_s_session_is_one_trace_that_its_successor_finishes(tmp_path: Path) -> None:
    options = ("--state-dir", str(tmp_path))
    with collecting() as collector:
        with http_process(*options, ends=signal.SIGKILL, **SECRETS, **collector.variables) as said:
            new = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})
            port = said["base"].rpartition(":")[2]
        with http_process(*options, "--port", port, **SECRETS, **collector.variables) as said:
            async with agent(new["url"], "legacy") as client:
                await client.call_tool("set_wifi_status", {"on": False})
            here = f"/api/sessions/{new['id']}"
            api(said["base"], "POST", f"{here}/messages", {"text": "Wifi is off."})
    spans = {span["name"]: span for span in collector.spans()}
    (log,) = logs_in(tmp_path)
    trajectory = read_trajectory(log)
    session, turn, call = (
        spans[name] for name in ("invoke_workflow wifi_off", "invoke_agent", "tools/call set_wifi_status")
    )
    named = trajectory.started.wall["traceparent"]
    assert (session["traceId"], session["spanId"]) == tuple(named.split("-")[1:3])
    assert (turn["parentSpanId"], call["parentSpanId"]) == (session["spanId"], turn["spanId"])
    opening = trajectory.events[2]
    assert opening.wall["traceparent"].split("-")[2] == turn["spanId"]


async def test_workers_send_what_is_left_when_the_server_stops(tmp_path: Path) -> None:
    options = ("--log-dir", str(tmp_path), "--workers", "2")
    with collecting() as collector, http_process(*options, **SECRETS, **collector.variables) as said:
        for _ in range(4):
            new = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})
            api(said["base"], "POST", f"/api/sessions/{new['id']}/end")
    ended = [span for span in collector.spans() if span["name"] == "invoke_workflow wifi_off"]
    assert len(ended) == 4
    assert len({span["traceId"] for span in ended}) == 4
