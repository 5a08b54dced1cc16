"""Budgets of the world, the tools and the session, without MCP."""

from dataclasses import replace

import anyio
from sandbox_scenarios import Suite

from bench.table import BudgetRow, child_cpu, median_cpu
from sandbox_mcp.engine.trajectory import MemoryLog
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser

SUITE = Suite()
SCENARIO = SUITE.get("wifi_off")
RACING = [
    AgentCall("set_low_battery_mode_status", {"on": True}),
    AgentCall("set_wifi_status", {"on": False}),
    AgentCall("get_wifi_status", {}),
    AgentCall("send_message_with_phone_number", {"phone_number": "+17735550113", "content": "Hi"}),
    AgentCall("set_cellular_service_status", {"on": False}),
]


ENDLESS = replace(SCENARIO, max_turns=10**9, max_calls=10**9)


def _session() -> Session:
    opened = Session(SessionSpec(ENDLESS, variant="all_tools"), ScriptedUser(SCENARIO.user.script), MemoryLog())
    opened.begin()
    opened.world.tick()
    return opened


def _lengthened(messages: int) -> Session:
    """A session whose phone holds that many more messages."""
    session = _session()
    with session.world.transaction() as tx:
        row = next(iter(session.world.snapshot.table("messaging").values()))
        for number in range(messages):
            values = {key: value for key, value in row.items() if key != "message_id"}
            tx.insert("messaging", "message_id", {**values, "content": f"Note {number}"})
    return session


def _call_cost(session: Session, name: str, arguments: dict[str, object]) -> float:
    cost = median_cpu(lambda: [session.call(name, arguments) for _ in range(50)], repeats=20) / 50
    assert session.call(name, arguments).error is None, "only calls that are carried out are worth measuring"
    return cost


def _slowest_to_load() -> tuple[str, float]:
    """The scenario that costs most to load in a fresh suite, and its CPU seconds; each counts with its best of 5.

    Rounds go through all of them, so that what else the machine does does not strike one scenario five times.
    """
    best = {name: _cost_of_loading(name) for name in SUITE.names()}
    slow = sorted(best, key=lambda name: -best[name])[:40]
    for name in slow * 4:
        best[name] = min(best[name], _cost_of_loading(name))
    slowest = max(slow, key=lambda name: best[name])
    return slowest, best[slowest]


def unread() -> Suite:
    """A suite that shares nothing with those that were read before, because it has a world of its own."""
    return Suite(worlds=[default()])


def _cost_of_loading(name: str) -> float:
    return median_cpu(lambda: unread().get(name), repeats=1, warm_up=0)


def rows() -> list[BudgetRow]:
    call = _call_cost(_session(), "get_wifi_status", {})
    short, long = (_call_cost(_lengthened(n), "get_wifi_status", {}) for n in (10, 1000))
    batch = median_cpu(lambda: _session().call_batch(RACING)) - median_cpu(_session)
    whole = median_cpu(_play_and_grade)
    asked_for_help = child_cpu(["-m", "sandbox_mcp.app.cli", "--help"])
    bare = child_cpu(["-c", "pass"])
    imports = {name: child_cpu(["-c", f"import {name}"]) - bare for name in ("sandbox_mcp", "sandbox_grader")}
    one = median_cpu(lambda: unread().get("wifi_off"))
    slowest, worst = _slowest_to_load()
    suite = median_cpu(lambda: unread().all(), repeats=5, warm_up=1)
    return [
        BudgetRow("load one scenario", f"{one * 1e3:.1f} ms", "20 ms", one / 0.02),
        BudgetRow(f"the same, worst of the suite ({slowest})", f"{worst * 1e3:.1f} ms", "20 ms", worst / 0.02),
        BudgetRow(f"load all {len(SUITE.names())} scenarios", f"{suite:.2f} s", "1 s", suite),
        BudgetRow("one tool call, recorded", f"{call * 1e3:.3f} ms", "0.2 ms", call / 0.0002),
        BudgetRow("the same after 1,000 messages against 10", f"{long / short:.2f}x", "1.2x", long / short / 1.2),
        BudgetRow("a batch of 5 racing calls", f"{batch * 1e3:.2f} ms", "2 ms", batch / 0.002),
        BudgetRow("one session, played, recorded and graded", f"{whole * 1e3:.2f} ms", "5 ms", whole / 0.005),
        BudgetRow("sandbox-mcp --help", f"{asked_for_help:.3f} s", "0.3 s", asked_for_help / 0.3),
        *(BudgetRow(f"import {name}", f"{cost * 1e3:.0f} ms", "100 ms", cost / 0.1) for name, cost in imports.items()),
    ]


def _play_and_grade() -> None:
    from sandbox_grader import grade

    log = MemoryLog()
    session = Session(SessionSpec(SCENARIO), ScriptedUser(SCENARIO.user.script), log)
    session.begin()
    session.call("set_wifi_status", {"on": False})
    anyio.run(session.say, "Wifi is now off.")
    grade(log.trajectory(), SCENARIO)
