"""An agent that blocks the event loop is held to its time all the same."""

import asyncio
import logging
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from sandbox_clients.function import Asked, Respond
from sandbox_grader.reporting.report import Report

from sandbox_mcp import Suite
from sandbox_mcp.app.run.evaluate import evaluate
from tests.each import each

TOO_LONG = 40.0


async def sleeps(_: Asked) -> str:
    time.sleep(TOO_LONG)  # noqa: ASYNC251 - what is tried here
    return "Wifi is now off."


async def computes(_: Asked) -> str:
    end = time.monotonic() + TOO_LONG
    while time.monotonic() < end:
        pass
    return "Wifi is now off."


async def catches_what_it_can(_: Asked) -> str:
    with suppress(Exception):
        time.sleep(TOO_LONG)  # noqa: ASYNC251 - what is tried here
    return "Wifi is now off."


async def has_a_task_that_sleeps(asked: Asked) -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeps(asked))
    return "Wifi is now off."


def played(agent: Respond, out: Path) -> Report:
    return evaluate(agent, Suite().select("wifi_off"), trials=2, jobs=2, max_turn_seconds=0.5, out=out)


@each("agent", [sleeps, computes, catches_what_it_can, has_a_task_that_sleeps])
def test_a_turn_that_blocks_the_loop_is_broken_off(agent: Respond, tmp_path: Path) -> None:
    began = time.monotonic()
    report = played(agent, tmp_path / agent.__name__)
    assert time.monotonic() - began < TOO_LONG / 2
    assert {item.ending for item in report.sessions} == {"agent_failed"}
    assert any("blocks the event loop, so that it was broken off" in str(item.detail) for item in report.sessions)


def test_where_no_turn_can_be_broken_off_it_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def blocks_a_while(_: Asked) -> str:
        time.sleep(3)  # noqa: ASYNC251 - what is tried here
        return "Wifi is now off."

    with caplog.at_level(logging.WARNING):
        thread = threading.Thread(target=played, args=(blocks_a_while, tmp_path))
        thread.start()
        thread.join()
    assert "does not answer within 0.5 seconds, and blocks the event loop, so that no session goes on" in caplog.text


def test_nothing_watches_where_a_turn_may_take_as_long_as_it_likes(tmp_path: Path) -> None:
    async def looks(_: Asked) -> str:
        return ", ".join(thread.name for thread in threading.enumerate())

    evaluate(looks, Suite().select("wifi_off"), out=tmp_path)
    assert "loop-watch" not in next(tmp_path.rglob("*.jsonl")).read_text()
