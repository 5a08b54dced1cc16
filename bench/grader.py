"""Measures the grader's budgets: the corpus, a long log in which nothing was achieved, and growth in both directions.

It prints CPU milliseconds (best of several runs) and ratios, and asserts nothing.
"""

import gc
import json
import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.milestones.case_json import read_case
from sandbox_grader.milestones.compat import evaluate
from sandbox_grader.milestones.metric import ToolSandbox
from sandbox_grader.reporting.grade_logs import grade_logs
from sandbox_scenarios.model import (
    CallConstraint,
    CallPattern,
    Expected,
    MessageConstraint,
    Milestone,
    Scenario,
    TableConstraint,
    UserSpec,
    ValueRef,
)  # fmt: skip

from bench.table import BudgetRow, show
from sandbox_mcp.engine.trajectory import (
    Message,
    SessionEnded,
    SessionStarted,
    ToolCall,
    Trajectory,
    to_line,
)
from sandbox_mcp.engine.world import Change, Clock, snapshot_of

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = (10, 30, 100, 300, 1000)
COUNTS = (2, 4, 6, 8, 10, 12)
SHAPES = ("chain", "fan_in", "fan_out", "diamond")
BEHAVIOURS = (
    "perfect", "nothing", "busy", "noisy", "alike", "repeated", "first_missed", "last_missed", "paraphrased",
    "reversed",
)  # fmt: skip
BUDGET = 50.0
LOGS, LOG_LENGTH, KEPT = 1000, 20, 10.0
"""How many logs are graded from files, their messages, and the KB that may be kept of each: its scores and reasons."""
WORLD = snapshot_of(
    {
        "setting": {"phone": {"device_id": "phone", "wifi": True, "cellular": True}},
        "contact": {f"c{n}": {"person_id": f"c{n}", "name": f"name {n}", "relationship": "friend"} for n in range(10)},
        "messaging": {},
        "reminder": {},
    }
)
REPLY = "All of the reminders that you asked for are in place now"


def cpu(work: Callable[[], object], runs: int = 3) -> float:
    """The CPU milliseconds of the fastest of some runs, between collections of garbage, as ``timeit`` does it."""
    best = float("inf")
    gc.collect()
    gc.disable()
    for _ in range(runs):
        started = time.process_time()
        work()
        best = min(best, (time.process_time() - started) * 1000)
    gc.enable()
    return best


def after(shape: str, count: int) -> list[tuple[str, ...]]:
    """What each milestone comes after."""
    names = [f"m{number}" for number in range(count)]
    if shape == "chain":
        return [()] + [(name,) for name in names[:-1]]
    if shape == "fan_in":
        return [() for _ in names[:-1]] + [tuple(names[:-1])]
    if shape == "fan_out":
        return [()] + [(names[0],) for _ in names[1:]]
    inner = names[1:-1]
    return [()] + [(names[0],) for _ in inner] + [tuple(inner) or (names[0],)]


def scenario(shape: str, count: int) -> Scenario:
    """Searches, then reminders that use what was found, then a reply: every kind of constraint takes part."""
    order, milestones = after(shape, count), list[Milestone]()
    for number, before in enumerate(order):
        milestones.append(Milestone(f"m{number}", (_constraint(number, count, before),), before))
    return Scenario(
        name=f"{shape}_{count}", about="", categories=("multiple_tool_call",), world=WORLD, clock=Clock(0.0), tools=(),
        without=(), user=UserSpec(goal="", opening="Go."), solutions=(), milestones=tuple(milestones), minefields=(),
        allows={}, confirm=(), gates=(), max_turns=30, max_calls=100, idle_score=None, digest="",
    )  # fmt: skip


def _constraint(number: int, count: int, before: tuple[str, ...]) -> Any:
    if number == count - 1:
        return MessageConstraint(Expected(measure="rouge", value=REPLY))
    if number % 3 == 1:
        since = before[0] if before else "start"
        return TableConstraint("reminder", "adds", ({"content": Expected(value=f"thing {number} to do")},), since)
    arguments = {"name": Expected(value=f"name {number}")}
    if number % 3 == 2 and before:
        arguments["key"] = Expected(ref=ValueRef(before[0], "arguments", ("key",)))
    return CallConstraint((CallPattern("search", arguments),))


def session(behaviour: str, count: int, length: int) -> Trajectory:
    """A log of ``length`` messages.

    ``busy``: every call changes two tables, in ways that no milestone is about; ``noisy``: and in between everything is
    done; ``alike``: the same, and what is changed is a little like what should be; ``repeated``: every deed is done
    again and again.
    """
    deeds = list(_deeds(count))
    missed = {"nothing": range(count), "busy": range(count), "first_missed": (0,), "last_missed": (count - 2,)}
    rows = {"busy": "noise {}", "noisy": "noise {}", "alike": "thing {} of note to do"}.get(behaviour)
    deeds = [deed for number, deed in enumerate(deeds) if number not in missed.get(behaviour, ())]
    if behaviour == "reversed":
        deeds.reverse()
    if behaviour == "paraphrased":
        deeds[-1] = "Your reminders are in place, all of them, as you asked me to do"
    slots: dict[int, str | Mapping[str, Any]] = {}
    if behaviour == "repeated":
        slots = {place: deeds[place % len(deeds)] for place in range(1, length)}
    slots |= {int((position + 1) * (length - 1) / (len(deeds) + 1)): deed for position, deed in enumerate(deeds)}
    events: list[Message | ToolCall] = [_message(1, "Go.", user=True)]
    for place in range(1, length):
        events.append(_event(len(events) + 1, slots.get(place), place, rows))
    started = SessionStarted(session="bench", scenario="bench", world=WORLD.tables)
    return Trajectory(started, tuple(events), SessionEnded(seq=len(events) + 1, clock=0.0, reason="user_ended"))


def _deeds(count: int) -> Iterator[str | Mapping[str, Any]]:
    for number in range(count - 1):
        if number % 3 == 1:
            yield {"tool": "add", "arguments": {}, "content": f"thing {number} to do", "key": f"r{number}"}
        else:
            yield {"tool": "search", "arguments": {"name": f"name {number}", "key": "k"}}
    yield REPLY


def _event(seq: int, deed: str | Mapping[str, Any] | None, place: int, rows: str | None) -> Message | ToolCall:
    if isinstance(deed, str):
        return _message(seq, deed)
    if deed is not None:
        changes: tuple[Change, ...] = ()
        if "content" in deed:
            changes = (Change("reminder", deed["key"], None, {"reminder_id": deed["key"], "content": deed["content"]}),)
        return _call(seq, deed["tool"], deed["arguments"], changes)
    if rows is not None:
        old, new = {"name": "x", "relationship": str(place)}, {"name": f"x {place}", "relationship": "x"}
        changes = (
            Change("contact", f"c{place % 10}", old, new),
            Change("reminder", f"b{place}", None, {"reminder_id": f"b{place}", "content": rows.format(place)}),
        )
        return _call(seq, "search", {"name": f"other {place}", "key": f"k{place}"}, changes)
    return _message(seq, f"I am still thinking about step {place}", user=place % 2 == 0)


def _message(seq: int, text: str, *, user: bool = False) -> Message:
    sender, recipient = ("user", "agent") if user else ("agent", "user")
    return Message(seq=seq, clock=0.0, sender=sender, recipient=recipient, content=text, visible_to=("user", "agent"))


def _call(seq: int, tool: str, arguments: Mapping[str, Any], changes: tuple[Change, ...]) -> ToolCall:
    return ToolCall(
        seq=seq, clock=0.0, call=f"c{seq}", batch=f"b{seq}", caller="agent", name=tool, tool=tool, arguments=arguments,
        result={"key": arguments.get("key")}, changes=changes,
    )  # fmt: skip


def graded(shape: str, behaviour: str, count: int, length: int, mode: Mode, runs: int = 3) -> float:
    """CPU milliseconds of grading one session."""
    log, known, metric = session(behaviour, count, length), scenario(shape, count), ToolSandbox()
    return cpu(lambda: metric.grade(Subject(log, scenario=known), mode), runs)


def corpus(folder: Path) -> None:
    """The corpus of ToolSandbox's verdicts, if it is there."""
    file = folder / "milestones" / "corpus.jsonl"
    if not file.is_file():
        print(f"corpus: absent ({file.name}); set SANDBOX_MCP_DATA")
        return
    cases = [read_case(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    for case in cases:
        evaluate(case)
    times = sorted(cpu(lambda case=case: evaluate(case)) for case in cases)
    print(f"corpus: {len(times)} cases, median {median(times):.2f} ms (budget 1), worst {times[-1]:.2f} ms (budget 50)")


def write_logs(folder: Path, count: int, length: int) -> list[Path]:
    """Files of so many good sessions of so many messages."""
    played = session("perfect", 4, length)
    tail = "".join(to_line(event) for event in (*played.events, played.ended) if event)
    paths = [folder / f"{length}-{number}.jsonl" for number in range(count)]
    for path in paths:
        path.write_text(to_line(replace(played.started, session=path.stem)) + tail, encoding="utf-8")
    return paths


def memory(paths: Sequence[Path], known: Scenario) -> tuple[float, float]:
    """KB that grading these logs keeps, and the most that it needs on top of that at any moment."""
    gc.collect()
    tracemalloc.start()
    collection = grade_logs(paths, lambda _: known)
    gc.collect()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del collection  # until here it counts
    return kept / 1024, (peak - kept) / 1024


def many(folder: Path) -> None:
    """Time and memory of grading many logs from files, and whether memory grows with their number or their length."""
    known = scenario("chain", 4)
    short, long = write_logs(folder, LOGS, LOG_LENGTH), write_logs(folder, LOGS // 10, 10 * LOG_LENGTH)
    spent = cpu(lambda: grade_logs(short, lambda _: known), 1) / LOGS * 10_000 / 1000
    print(f"10,000 logs of {LOG_LENGTH} messages, one core: {spent:.1f} s (budget 60, ratio {spent / 60:.2f})")
    half, working = memory(short[: LOGS // 2], known)
    whole, twice = memory(short, known)
    each, longer = (whole - half) / (LOGS - LOGS // 2), memory(long, known)[0] / len(long)
    print(f"kept of a log: {each:.1f} KB (budget {KEPT:.0f}, ratio {each / KEPT:.2f})")
    print(f"kept of 10,000 logs: {each * 10_000 / 1024:.0f} MB")
    print(f"kept of a log ten times as long: {longer:.1f} KB, {longer / each:.2f} times as much")
    print(f"working memory: {working:.0f} KB for {LOGS // 2} logs, {twice:.0f} KB for {LOGS}")


def table(title: str, rows: Iterator[tuple[str, list[float]]], heads: tuple[int, ...]) -> tuple[float, str]:
    """Print one table; returns the largest number in it and where it is."""
    print(f"\n{title}\n{'':<30}" + "".join(f"{head:>9}" for head in heads) + f"{'last/first':>12}")
    worst = (0.0, "")
    for name, times in rows:
        worst = max(worst, (max(times), f"{title.partition(':')[0]}, {name}"))
        print(f"{name:<30}" + "".join(f"{value:>9.2f}" for value in times) + f"{times[-1] / times[0]:>12.1f}")
    return worst


def main() -> None:
    """Print everything."""
    corpus(Path(os.environ.get("SANDBOX_MCP_DATA") or ROOT.parent / "shared" / "data"))
    target = graded("chain", "nothing", 10, 300, "strict")
    ratio = target / BUDGET
    print(f"300 messages, nothing achieved, 10 milestones: {target:.2f} ms (budget {BUDGET:.0f}, ratio {ratio:.2f})")
    with tempfile.TemporaryDirectory() as folder:
        many(Path(folder))
    worst = (0.0, "")
    for mode in ("strict", "compat"):
        for shape in SHAPES:
            rows = ((b, [graded(shape, b, 10, n, mode, 1) for n in LENGTHS]) for b in BEHAVIOURS)
            table(f"{mode}, {shape}, 10 milestones: ms by log length", rows, LENGTHS)
            rows = ((b, [graded(shape, b, m, 300, mode) for m in COUNTS]) for b in BEHAVIOURS)
            worst = max(worst, table(f"{mode}, {shape}, 300 messages: ms by milestones", rows, COUNTS))
    spent, where = worst
    what = f"the slowest log with up to {COUNTS[-1]} milestones ({where})"
    show("Grading one log", [BudgetRow(what, f"{spent:.1f} ms", f"{BUDGET:.0f} ms", spent / BUDGET)])
