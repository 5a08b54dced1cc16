"""Batches: what arrives together runs together, what follows an answer runs by itself, and nobody waits for ever."""

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox_mcp.play.session import AgentCall, CallResult
from sandbox_mcp.play.session.batching import BATCH_KEY, LARGEST, Batcher, Mark, mark_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Runs:
    """What a batcher ran, batch by batch; every result says which call it belongs to."""

    def __init__(self, window: float = 0.2) -> None:
        self.batches: list[list[str]] = []
        self.batcher = Batcher(self.run, window)

    async def run(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        self.batches.append([call.name for call in calls])
        return [CallResult({"for": call.name}) for call in calls]

    async def call(self, name: str, meta: Any = None) -> None:
        assert (await self.batcher.call(AgentCall(name, {}), meta)).structured == {"for": name}

    async def together(self, *names: str, marks: Sequence[Any] = ()) -> None:
        async with anyio.create_task_group() as tasks:
            for index, name in enumerate(names):
                tasks.start_soon(self.call, name, marks[index] if marks else None)


def mark(index: int, size: int, name: str = "m") -> dict[str, Any]:
    return {BATCH_KEY: {"id": name, "index": index, "size": size}}


async def test_what_arrives_together_runs_together() -> None:
    runs = Runs()
    await runs.together("c", "a", "b")
    assert runs.batches == [["a", "b", "c"]]  # in an order that has nothing to do with arrival


async def test_a_call_that_follows_an_answer_runs_at_once_and_alone() -> None:
    runs = Runs()
    await runs.call("a")
    for name in ("b", "c"):
        await runs.call(name)
    assert runs.batches == [["a"], ["b"], ["c"]]


async def test_a_call_that_says_it_is_alone_is_not_held() -> None:
    runs = Runs(window=3600)
    with anyio.fail_after(30):
        await runs.together("a", "b", marks=[mark(0, 1, "x"), mark(0, 1, "y")])
    assert sorted(runs.batches) == [["a"], ["b"]]


async def test_after_a_pause_calls_are_held_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_mcp.play.session.batching.PAUSE", 0.0)
    runs = Runs()
    await runs.call("a")
    await runs.together("c", "b")
    assert runs.batches == [["a"], ["b", "c"]]


async def test_without_a_window_nothing_is_held() -> None:
    runs = Runs(window=0)
    await runs.together("b", "a")
    assert runs.batches == [["b"], ["a"]]


async def test_a_marked_batch_runs_as_soon_as_it_is_whole_in_the_order_of_its_marks() -> None:
    runs = Runs(window=0)
    with anyio.fail_after(60):
        await runs.together("c", "b", "a", marks=[mark(1, 3), mark(2, 3), mark(0, 3)])
    assert runs.batches == [["a", "c", "b"]]


async def test_marked_batches_of_different_ids_do_not_mix() -> None:
    runs = Runs()
    marks = [mark(0, 2, "x"), mark(0, 2, "y"), mark(1, 2, "x"), mark(1, 2, "y")]
    await runs.together("a", "b", "c", "d", marks=marks)
    assert runs.batches == [["a", "c"], ["b", "d"]]


async def test_a_marked_batch_that_stays_incomplete_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_mcp.play.session.batching.PATIENCE", 0.01)
    runs = Runs()
    await runs.call("a", mark(0, 2))
    assert runs.batches == [["a"]]


async def test_equal_calls_in_one_batch_each_get_an_answer() -> None:
    runs = Runs()
    await runs.together("a", "a", "a")
    assert runs.batches == [["a", "a", "a"]]


async def test_the_others_are_served_when_the_first_has_gone() -> None:
    runs = Runs()
    async with anyio.create_task_group() as first, anyio.create_task_group() as others:
        first.start_soon(runs.batcher.call, AgentCall("gone", {}))
        await anyio.lowlevel.checkpoint()
        others.start_soon(runs.call, "a")
        await anyio.lowlevel.checkpoint()
        first.cancel_scope.cancel()
    assert runs.batches == [["a", "gone"]]


async def test_settling_waits_for_what_is_held_back() -> None:
    runs = Runs()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runs.call, "a")
        await anyio.lowlevel.checkpoint()
        assert runs.batches == []
        await runs.batcher.settle()
        assert runs.batches == [["a"]]


async def test_what_a_run_breaks_on_is_raised_for_each_of_its_calls() -> None:
    async def broken(_: Sequence[AgentCall]) -> list[CallResult]:
        raise RuntimeError("a bug")

    batcher = Batcher(broken, 0.01)
    failures: list[str] = []

    async def call() -> None:
        try:
            await batcher.call(AgentCall("a", {}))
        except RuntimeError as error:
            failures.append(str(error))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            tasks.start_soon(call)
    assert failures == ["a bug", "a bug"]


def test_a_mark_is_read() -> None:
    assert mark_in(mark(1, 2, "x")) == Mark("x", 1, 2)


odd = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@given(st.dictionaries(st.sampled_from(["id", "index", "size"]), odd) | odd)
@example({"id": "", "index": False, "size": True})
@example({"id": "alone", "index": 0, "size": 1})
def test_a_mark_that_makes_no_sense_is_no_mark(value: Any) -> None:
    found = mark_in({BATCH_KEY: value})
    assert found is None or (type(found.index), type(found.size)) == (int, int)
    assert found is None or (0 <= found.index < found.size <= LARGEST)


@given(odd)
def test_whatever_stands_for_meta_is_no_fault(meta: Any) -> None:
    assert mark_in(meta) is None
