"""What a monitor reads of a server."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.play.server.metrics import BOUNDS, CallMeter
from tests.each import each
from tests.server.serving_kit import ERAS, client, opened_in, served

SAMPLE = re.compile(r"([a-z_]+)(?:\{([a-z_]+)=\"([^\"]*)\"\})? ([0-9.]+)")
NAME = "sandbox_mcp_call_duration_seconds"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def read(text: str) -> dict[tuple[str, str], float]:
    """The samples, read by the format's grammar: every line is a comment or a sample, and every name has a type."""
    found: dict[tuple[str, str], float] = {}
    types: set[str] = set()
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            types.add(line.split()[2])
        if not line.startswith("# "):
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] in types or re.sub("_(bucket|sum|count)$", "", sample[1]) in types
            assert (sample[1], sample[3] or "") not in found
            found[sample[1], sample[3] or ""] = float(sample[4])
    return found


@pytest.mark.anyio
@each("era", ERAS)
async def test_calls_and_sessions_are_counted(era: str) -> None:
    async with served() as server:
        session = opened_in(server.manager, variant="all_tools")
        opened_in(server.manager)
        async with client(server.url(session), era) as agent:
            await agent.call_tool("get_wifi_status", {})
            await agent.call_tool("no_such_tool", {})
        async with client(f"{server.base}/mcp", era) as host:
            await host.call_tool("list_scenarios", {})
        answer = await server.api("GET", "/metrics")
        told = read(answer.text)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert told["sandbox_mcp_sessions_open", ""] == 2
    assert told["sandbox_mcp_calls_total", "ok"] == 2
    assert told["sandbox_mcp_calls_total", "fault"] == 1
    assert told[f"{NAME}_count", ""] == told[f"{NAME}_bucket", "+Inf"] == 3
    assert 0 < told[f"{NAME}_sum", ""] < 60
    assert not any(secret in answer.text for secret in (session.token, "wifi", "no_such_tool"))


@pytest.mark.anyio
async def test_only_the_holder_of_the_control_token_reads_them() -> None:
    async with served(lobby_tokens=("seat",)) as server:
        session = opened_in(server.manager)
        for bearer in ("", "Bearer seat", f"Bearer {session.bearer}"):
            answer = await server.http.get("/metrics", headers={"Authorization": bearer})
            assert (answer.status_code, "sandbox_mcp_" in answer.text) == (401, False)


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 5), st.booleans())))
def test_the_figures_of_all_workers_add_up(calls: list[tuple[int, float, bool]]) -> None:
    meter = CallMeter(workers=3)
    for worker, seconds, fault in calls:
        meter.index = worker
        meter.took(seconds, fault=fault)
    told = read(meter.text(7, 9))
    assert told["sandbox_mcp_calls_total", "fault"] == sum(fault for _, _, fault in calls)
    assert told["sandbox_mcp_calls_total", "ok"] + told["sandbox_mcp_calls_total", "fault"] == len(calls)
    for bound in BOUNDS:
        assert told[f"{NAME}_bucket", str(bound)] == sum(seconds <= bound for _, seconds, _ in calls)
    assert told[f"{NAME}_sum", ""] == pytest.approx(sum(seconds for _, seconds, _ in calls), abs=1e-6)
