"""``python -m bench worlds [FOLDER...]``: what a session, a call and an open session's memory take in every world.

Scenarios of each world, evenly chosen, are played by their solution through a session, recorded and graded, in this
process and without MCP. Folders hold scenarios of other worlds, found by their tape or by ``SANDBOX_MCP_WORLDS``;
without one the suite is measured, and the tests' recorded world with it.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from sandbox_grader import grade
from sandbox_scenarios import Scenario, Suite

from bench.table import BudgetRow, median_cpu, show
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall, Trajectory
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.users import ScriptedUser

CHOSEN = 12
"""So many scenarios stand for a world."""
OPEN = 50
RECORDED = Path(__file__).resolve().parent.parent / "tests" / "worlds" / "recorded"
SESSION, CALL, MEMORY = 0.005, 0.0002, 20 * 1024


@dataclass(frozen=True, slots=True)
class Taken:
    """Of one scenario: seconds for playing, for grading and for its dearest call, bytes for an open session."""

    name: str
    played: float
    graded: float
    call: float
    memory: float


def main(arguments: list[str]) -> None:
    """Measure every world that the scenarios of the folders, or those of the suite, take place in."""
    groups: dict[str, list[Scenario]] = {}
    for suite in [Suite([Path(folder)]) for folder in arguments] or [Suite(world="*"), Suite([RECORDED])]:
        for scenario in suite.all():
            groups.setdefault(scenario.home.name, []).append(scenario)
    for world, scenarios in groups.items():
        chosen = scenarios[:: -(-len(scenarios) // CHOSEN)]
        show(f"{world}, {len(chosen)} of {len(scenarios)} scenarios", list(_rows([_measured(item) for item in chosen])))


def _rows(taken: Sequence[Taken]) -> Iterator[BudgetRow]:
    def row(what: str, read: Callable[[Taken], float], budget: float, shown: Callable[[float], str]) -> BudgetRow:
        worst = max(taken, key=read)
        usual = f"{what}, median {shown(median(map(read, taken)))}, worst ({worst.name})"
        return BudgetRow(usual, shown(read(worst)), shown(budget), read(worst) / budget)

    yield row("played, graded", lambda item: item.played + item.graded, SESSION, lambda value: f"{value * 1e3:.2f} ms")
    yield row("played", lambda item: item.played, SESSION, lambda value: f"{value * 1e3:.2f} ms")
    yield row("its dearest call", lambda item: item.call, CALL, lambda value: f"{value * 1e3:.3f} ms")
    yield row("memory while open", lambda item: item.memory, MEMORY, lambda value: f"{value / 1024:.1f} KB")


def _measured(scenario: Scenario) -> Taken:
    stage = RehearsalStage(scenario)

    def played() -> Trajectory:
        return stage.rehearse(scenario.solutions[0]).log

    log = played()
    assert grade(log, scenario).score == 1, f"{scenario.name}: only sessions played right are worth measuring"
    calls = [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]
    rounds = [_calls_once(stage, calls) for _ in range(25)]  # one call is short: what disturbs it has to miss it once
    return Taken(
        scenario.name,
        median_cpu(played, repeats=9),
        median_cpu(lambda: grade(log, scenario), repeats=9),
        max((min(spent) for spent in zip(*rounds, strict=True)), default=0.0),
        _memory(stage),
    )


def _opened(stage: RehearsalStage) -> Session:
    scenario = stage.scenario
    session = Session(SessionSpec(scenario), ScriptedUser.of(scenario.user), MemoryLog(), stage.tools("base"))
    session.begin()
    return session


def _calls_once(stage: RehearsalStage, calls: Sequence[ToolCall]) -> list[float]:
    session, spent = _opened(stage), list[float]()
    for call in calls:
        began = time.process_time()
        session.call_batch([AgentCall(call.name, call.arguments)])
        spent.append(time.process_time() - began)
    return spent


def _memory(stage: RehearsalStage) -> float:
    _opened(stage)
    tracemalloc.start()
    kept = [_opened(stage) for _ in range(OPEN)]
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / len(kept)
