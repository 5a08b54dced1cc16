"""A tape as a mock server: answers to the byte, misses that are loud, states apart, faults that land, both eras."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from sandbox_mcp import mock_server
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.fault_kinds import KINDS, FaultRates
from sandbox_mcp.engine.worlds.recorded import read_tape
from sandbox_mcp.play.server.tape_mock import MissedError, MockOptions, TapeMock, asking, served
from sandbox_mcp.play.session.upstream import wire
from tests.each import each

TAPE = Path(__file__).parent.parent / "worlds" / "recorded" / "lamps.jsonl"
LINES = [json.loads(line) for line in TAPE.read_text().splitlines()]
CALLS = [line for line in LINES if line["kind"] == "call"]


def mock(**options: Any) -> TapeMock:
    return TapeMock(read_tape(TAPE), MockOptions(**options))


async def answers(url: str, mode: Any, calls: list[dict[str, Any]]) -> list[Any]:
    async with Client(url, mode=mode) as client:
        return [await client.call_tool(call["tool"], call["arguments"]) for call in calls]


@each("mode", ["auto", "legacy"])
def test_each_recorded_call_is_answered_to_the_byte_in_both_eras(mode: str):
    async def run() -> None:
        served_mock = mock()
        async with served(served_mock) as base:
            found = await answers(f"{base}/s/one/mcp", mode, CALLS)
        assert served_mock.misses == []
        for call, result in zip(CALLS, found, strict=True):
            told = {name: value for name, value in wire(result).items() if name != "_meta"}
            assert told == {"isError": False, **call["result"]}

    anyio.run(run)


def test_the_tools_are_listed_as_they_were():
    async def run() -> None:
        async with served(mock()) as base, Client(f"{base}/mcp") as client:
            listed = [wire(tool) for tool in (await client.list_tools()).tools]
        recorded = [{k: v for k, v in line.items() if k != "kind"} for line in LINES if line["kind"] == "tool"]
        assert [tool["inputSchema"] for tool in listed] == [tool["inputSchema"] for tool in recorded]

    anyio.run(run)


def test_states_of_two_names_are_apart():
    acting = next(call for call in CALLS if call["tool"] == "set_lamp" and not call["result"].get("isError"))

    async def run() -> None:
        async with served(mock()) as base:
            before = (await answers(f"{base}/s/b/mcp", "auto", CALLS[:1]))[0]
            await answers(f"{base}/s/a/mcp", "auto", [acting])
            after = (await answers(f"{base}/s/b/mcp", "auto", CALLS[:1]))[0]
        assert wire(before) == wire(after)

    anyio.run(run)


def test_a_miss_names_the_nearest_call_and_is_counted():
    async def run() -> None:
        served_mock = mock()
        async with served(served_mock) as base:
            [found] = await answers(f"{base}/mcp", "auto", [{"tool": "get-lamp", "arguments": {"number": 99}}])
        assert found.is_error
        assert "the nearest recorded call is get-lamp" in found.content[0].text
        assert len(served_mock.misses) == 1

    anyio.run(run)


def test_a_miss_can_be_passed_on_to_the_real_server():
    server = Path(__file__).parent.parent / "worlds" / "live" / "lamp_server.py"

    async def run() -> None:
        tape = read_tape(TAPE)
        async with asking(f"{sys.executable} {server}", tape) as ask:
            asked = TapeMock(tape, ask=ask)
            async with served(asked) as base:
                [found] = await answers(f"{base}/mcp", "auto", [{"tool": "list_lamps", "arguments": {}}])
        assert not found.is_error
        assert "kitchen" in found.content[0].text
        assert len(asked.misses) == 1

    anyio.run(run)


class TestFixture:
    def test_three_lines_serve_a_tape(self):
        with mock_server(TAPE) as lamps:
            anyio.run(answers, lamps.url, "auto", CALLS[:1])
        assert (lamps.calls, lamps.misses) == (1, [])

    def test_a_call_that_is_not_on_the_tape_fails_the_test(self):
        with pytest.raises(MissedError, match="1 calls are not on the tape"), mock_server(TAPE) as lamps:
            anyio.run(answers, lamps.url, "auto", [{"tool": "get-lamp", "arguments": {"number": 99}}])


class TestFaults:
    @each("kind", [name for name in KINDS if name not in ("dropped", "stale", "partial", "slow")])
    def test_a_call_that_gets_one_is_refused(self, kind: str):
        async def run() -> None:
            async with served(mock(faults=FaultRates({kind: 1.0}))) as base:
                [found] = await answers(f"{base}/mcp", "auto", CALLS[:1])
            assert found.is_error
            assert found.content[0].text == KINDS[kind].error

        anyio.run(run)

    def test_a_dropped_one_is_an_error_of_the_protocol(self):
        async def run() -> None:
            async with served(mock(faults=FaultRates({"dropped": 1.0}))) as base, Client(f"{base}/mcp") as client:
                with pytest.raises(MCPError, match="connection was closed"):
                    await client.call_tool(CALLS[0]["tool"], CALLS[0]["arguments"])

        anyio.run(run)

    def test_the_same_seed_gives_the_same_calls_their_faults(self):
        one, same, other = (FaultRates({"before": 0.5}, seed) for seed in (1, 1, 2))
        drawn = [[rates.of(n) is not None for n in range(200)] for rates in (one, same, other)]
        assert drawn[0] == drawn[1] != drawn[2]
        assert 60 < sum(drawn[0]) < 140

    def test_what_means_nothing_is_refused(self):
        with pytest.raises(SandboxError, match="no kind of fault 'rate'"):
            FaultRates.reading(["rate:0.1"])
        with pytest.raises(SandboxError, match="from 0 to 1"):
            FaultRates.reading(["before:2"])
