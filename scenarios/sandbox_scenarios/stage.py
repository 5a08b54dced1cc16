"""The stage: a scenario's world in motion, its ids, its gates and its pace; no agent, no user and no log.

Policy: whatever enacts a scenario does it here (sessions, reference solutions, logs that are carried out again), so
that all agree on which ids a world hands out, how long an event takes and which call may pass.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.engine.tools import Bound, CallError, GateRule, Outcome, Plan, World, plan, run
from sandbox_mcp.engine.tools.attacks import carrying
from sandbox_mcp.engine.tools.calling import BROKEN, place_of
from sandbox_mcp.engine.tools.declared import DueEvent
from sandbox_mcp.engine.tools.fault_kinds import FaultRates
from sandbox_mcp.engine.tools.gates import Gates
from sandbox_mcp.engine.tools.injected import INJECTED, NEVER, FaultName, FaultRule, InjectedFaults, spoilt
from sandbox_mcp.engine.tools.user_tools import CONFIRM
from sandbox_mcp.engine.trajectory import Message, Role, SessionStarted, ToolCall
from sandbox_mcp.engine.world import Clock, Running, Snapshot, snapshot_of
from sandbox_mcp.engine.world.faults import WorldFailedError
from sandbox_mcp.engine.worlds import default, named
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.happenings import HAPPENED, Happening, Happenings
from sandbox_scenarios.injections import InjectionCase, injection
from sandbox_scenarios.instances import split
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import BASE, injection_in, without_faults

OPENING: tuple[tuple[Role, Role], ...] = (("system", "agent"), ("system", "user"), ("user", "agent"))
"""Who speaks to whom before the agent's first turn: a word to the agent, one to the user, and the user's opening."""
NOTHING: Mapping[str, Any] = {}
MAX_EVENTS = 1000
"""So many things may happen at one moment; a world in which each brings about the next would never come to an end."""


def session_name(scenario: str, variant: str, seed: int, trial: int) -> str:
    """Name of a session in logs, reports and file names where nothing else was given."""
    return f"{scenario}-{variant}-s{seed}-t{trial}"


@dataclass(frozen=True, slots=True)
class FallenDue:
    """Something that has fallen due: which event of the world, for which row, and at what moment."""

    event: DueEvent
    row: str
    moment: float

    @property
    def name(self) -> str:
        """The name of the event."""
        return self.event.name

    @property
    def meta(self) -> Mapping[str, Any]:
        """What a log keeps with the notice of it."""
        return {self.event.table.name: self.row}


def failed(failure: WorldFailedError) -> CallError:
    """Failure of a call in a log, where the world's own code broke."""
    return CallError("execution", type(failure).__name__, str(failure))


def home_of(started: SessionStarted) -> World:
    """The world that a session was played in, found here by its name.

    Raises:
        UnknownWorldError: it is not installed here.
    """
    name = next(iter(started.worlds), None)
    return default() if name is None else named(name)


class Stage:
    """One world that calls are made in. ``running`` is its state and clock, ``gates`` what stands before its tools."""

    __slots__ = ("_began", "_injection", "faults", "gates", "happenings", "home", "running")

    def __init__(
        self, home: World, state: Snapshot, clock: Clock, played: tuple[str, str, int],
        confirm: Collection[str] = (), rules: Sequence[GateRule] = (), knowledge: object = None,
        faults: Sequence[FaultRule] = (), trial: int = 0,
    ) -> None:  # fmt: skip
        """Put up a world; ``played`` is the scenario's name, the variant and the seed, from which all ids follow.

        A variant under faults has the ids of the variant itself; its faults strike other calls in each trial.
        """
        name, variant, number = played
        variant, rates = without_faults(variant)
        seed = f"{name}/{variant}/{number}"
        self.home = home
        label = split(name)[1]
        looked_up = home.looked_up(knowledge, label)
        self.running = Running(state, clock, home.ids(seed), looked_up, home.fixed_in(label))
        self.gates = Gates(seed, confirm, rules)
        struck = FaultRates(rates, f"{seed}/{trial}") if rates else NEVER
        self.faults = InjectedFaults(faults, seed, struck)
        self.happenings = Happenings(())
        self._injection: InjectionCase | None = None
        self._began = state

    @classmethod
    def of(
        cls, scenario: Scenario, variant: str = BASE, seed: int = 0, knowledge: object = None, trial: int = 0
    ) -> "Stage":
        """The stage of a scenario as it is before anything has happened."""
        rules = tuple(scenario.home.gates[name] for name in scenario.gates)
        played = (scenario.name, variant, seed)
        stage = cls(
            scenario.home, scenario.world, scenario.clock, played, scenario.confirm, rules, knowledge, scenario.faults,
            trial,
        )  # fmt: skip
        stage.happenings = Happenings(scenario.events)
        number = injection_in(variant)
        stage._injection = injection(scenario, number) if number else None
        with stage.running.transaction() as transaction:
            scenario.home.begin(transaction)
        stage._began = stage.state
        return stage

    @classmethod
    def recorded(cls, started: SessionStarted) -> "Stage":
        """The stage as a log says it was when the session began, with all gates open.

        Raises:
            ScenarioError: the log recorded no state.
            UnknownWorldError: its world is not installed here.
        """
        if started.world is None:
            raise ScenarioError(f"the log of {started.session!r} recorded no state")
        clock = Clock(started.clock["now"], started.clock["zone"], started.clock["step"])
        played = (started.scenario, started.variant, started.seed)
        return cls(home_of(started), snapshot_of(started.world), clock, played)

    @property
    def now(self) -> float:
        """The virtual time, in seconds since 1970."""
        return self.running.clock.now

    @property
    def state(self) -> Snapshot:
        """All tables as they are now."""
        return self.running.snapshot

    def open(self, skipped: int = 0) -> None:
        """Let the time of the opening pass, without the first ``skipped`` of its events."""
        self.running.tick(max(0, len(OPENING) - skipped) * self.running.clock.step)

    def tick(self) -> float:
        """Let one event pass and return the time it happens at."""
        return self.running.tick()

    def set_time(self, now: float) -> None:
        """Set the clock to a time that a log tells."""
        clock = self.running.clock
        self.running.clock = Clock(now, clock.zone, clock.step)

    def plan(self, calls: Sequence[Bound]) -> Plan:
        """The order in which calls that were sent together run."""
        return plan(self.running, calls, self.gates)

    def run(self, call: Bound) -> tuple[Outcome, Mapping[str, Any]]:
        """Run a checked call, unless a gate refuses it; returns the outcome, and what a log should keep beside it.

        Raises:
            WorldFailedError: the world's own code broke.
        """
        refused = self.gates.check(call, self.running.begin())
        if refused:
            return Outcome(call.tool, call.arguments, fault=refused[0]), refused[1]
        before = self.now
        kind = self.faults.next(call.tool.name, acts=call.tool.action)
        outcome = run(self.running, call) if kind is None else self.spoilt(call, kind)
        if INJECTED in outcome.notes:
            self.faults.landed(call.tool.name)
        if self._injection is not None:
            outcome = carrying(outcome, self._injection.carrier, self._injection.says)
        waited = self.now - before
        return outcome, {**({"waited": waited} if waited else NOTHING), **outcome.notes}

    def spoilt(self, call: Bound, kind: FaultName) -> Outcome:
        """Run a call that a fault strikes, as it does now or as a log says it did.

        Raises:
            WorldFailedError: the world's own code broke.
        """
        return spoilt(self.running, call, kind, self._began)

    def again(self, call: Bound) -> Outcome:
        """Run a call that a log says has passed every gate."""
        return run(self.running, call)

    def due(self, since: float) -> list[FallenDue]:
        """Events due after ``since`` and not after now, in the order in which they fell due."""
        found = [
            FallenDue(event, id_, moment)
            for event in self.home.events
            for moment, id_ in event.due(self.state, since, self.now)
        ]
        return sorted(found, key=lambda due: due.moment)

    def let_happen(
        self, since: float, happened: set[FallenDue]
    ) -> Iterator[tuple[FallenDue | Happening, Outcome, str | None]]:
        """Let everything happen that has fallen due after ``since``, one after the other, and count it as happened.

        What the world lets happen comes before what the scenario does.

        Raises:
            WorldFailedError: the world's own code broke.
        """
        for _ in range(MAX_EVENTS):
            due = next((due for due in self.due(since) if due not in happened), None)
            if due is not None:
                happened.add(due)
                yield (due, *self.happen(due))
                continue
            item = next(self.happenings.due(self.state, self.now), None)
            if item is None:
                return
            yield item, Outcome(None, {}, result=item.notice, changes=item.happen(self.running)), item.notice

    def happened(self, event: Message | ToolCall) -> list[FallenDue]:
        """Events that a log records as happened by themselves and not recalled yet."""
        if isinstance(event, ToolCall):
            if event.caller != "environment":
                return []
            named = [due for due in self.home.events if due.name == event.name]
            rows: Mapping[str, Any] = event.arguments
        else:
            named = [due for due in self.home.events if due.table.name in event.meta]
            rows = {due.table.key: event.meta[due.table.name] for due in named}
        if not named:
            self.happenings.happened(event.name if isinstance(event, ToolCall) else str(event.meta.get(HAPPENED)))
        found: list[FallenDue] = []
        for due in named:
            id_ = rows.get(due.table.key)
            row = self.state.table(due.table.name).get(str(id_))
            moment = row[due.column] if row else None
            if isinstance(moment, int | float):
                found.append(FallenDue(due, str(id_), moment))
        return found

    def happen(self, due: FallenDue) -> tuple[Outcome, str | None]:
        """Let something that has fallen due happen: the changes it makes, and what the agent is told, if anything.

        Raises:
            WorldFailedError: the world's own code broke.
        """
        event, transaction = due.event, self.running.begin()
        cells = transaction.row(event.table.name, due.row)
        if cells is None:
            return Outcome(None, {}), None
        try:
            notice = event.happen(transaction, cells)
        except BROKEN as error:
            raise WorldFailedError(f"event {event.name!r}", place_of(error), error) from error
        changes = self.running.commit(transaction)
        return Outcome(None, {event.table.key: due.row}, result=notice, changes=changes), notice

    def confirm(self, code: str) -> CallError | None:
        """Let the call that waits under this code pass once; returns the fault if none waits."""
        known = self.gates.approve(code)
        return None if known else CallError("execution", "ValueError", f"nothing with the code {code!r} waits")

    def recall(self, event: ToolCall) -> None:
        """Do again what a recorded call did to the world and to the gates."""
        self.running.replay(event.changes)
        if event.tool and (event.error is None or INJECTED in event.meta or event.error.kind == "execution"):
            tool = self.home.tools.get(event.tool)
            self.faults.next(event.tool, acts=tool is not None and tool.action)
            if INJECTED in event.meta:
                self.faults.landed(event.tool)
        if event.tool and event.error is None:
            self.gates.spend(event.tool, event.arguments)
        if event.tool and "confirmation" in event.meta:
            self.gates.recall(event.tool, event.arguments, event.meta["confirmation"])
        if event.caller == "user" and event.tool == CONFIRM and event.error is None:
            self.gates.approve(str(event.arguments["code"]))
