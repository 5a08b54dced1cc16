"""The stage: a scenario's world in motion, its ids, its gates and its pace; no agent, no user and no log.

Policy: whatever enacts a scenario does it here (sessions, reference solutions, logs that are carried out again), so
that all agree on which ids a world hands out, how long an event takes and which call may pass.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_mcp.tools import Bound, Fault, Outcome, Plan, plan, run
from sandbox_mcp.tools.gates import SIGN_IN, Gates
from sandbox_mcp.tools.user_tools import CONFIRM
from sandbox_mcp.trajectory import Role, SessionStarted, ToolCall
from sandbox_mcp.world import Clock, IdStream, Running, Snapshot, snapshot_of
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import BASE

OPENING: tuple[tuple[Role, Role], ...] = (("system", "agent"), ("system", "user"), ("user", "agent"))
"""Who speaks to whom before the agent's first turn: a word to the agent, one to the user, and the user's opening."""
NOTHING: Mapping[str, Any] = {}


def session_name(scenario: str, variant: str, seed: int, trial: int) -> str:
    """What a session is called in logs, reports and file names where nothing else was given."""
    return f"{scenario}-{variant}-s{seed}-t{trial}"


class Stage:
    """One world that calls are made in. ``running`` is its state and clock, ``gates`` what stands before its tools."""

    __slots__ = ("gates", "running")

    def __init__(
        self, state: Snapshot, clock: Clock, played: tuple[str, str, int], gates: Mapping[str, Any] = NOTHING,
        knowledge: object = None,
    ) -> None:  # fmt: skip
        """Put up a world; ``played`` is the scenario's name, the variant and the seed, from which all ids follow."""
        seed = "/".join(map(str, played))
        self.running = Running(state, clock, IdStream(seed), knowledge)
        self.gates = Gates(seed, **gates)

    @classmethod
    def of(cls, scenario: Scenario, variant: str = BASE, seed: int = 0, knowledge: object = None) -> "Stage":
        """The stage of a scenario as it is before anything has happened."""
        gates = {"confirm": scenario.confirm, "sign_in": scenario.sign_in}
        return cls(scenario.world, scenario.clock, (scenario.name, variant, seed), gates, knowledge)

    @classmethod
    def recorded(cls, started: SessionStarted) -> "Stage":
        """The stage as a log says it was when the session began.

        Raises:
            ScenarioError: the log recorded no state.
        """
        if started.world is None:
            raise ScenarioError(f"the log of {started.session!r} recorded no state")
        clock = Clock(started.clock["now"], started.clock["zone"], started.clock["step"])
        return cls(snapshot_of(started.world), clock, (started.scenario, started.variant, started.seed))

    @property
    def now(self) -> float:
        """The virtual time, in seconds since 1970."""
        return self.running.clock.now

    @property
    def state(self) -> Snapshot:
        """All tables as they are now."""
        return self.running.snapshot

    def open(self, skipped: int = 0) -> None:
        """Let the time of the opening pass, but for the first ``skipped`` of its events."""
        self.running.tick(max(0, len(OPENING) - skipped) * self.running.clock.step)

    def tick(self) -> float:
        """Let one event pass and return the time it happens at."""
        return self.running.tick()

    def set_time(self, now: float) -> None:
        """Let it be that time, as a log tells it."""
        clock = self.running.clock
        self.running.clock = Clock(now, clock.zone, clock.step)

    def plan(self, calls: Sequence[Bound]) -> Plan:
        """The order in which calls that were sent together run."""
        return plan(self.running, calls, self.gates)

    def run(self, call: Bound, sign_in_name: str = SIGN_IN) -> tuple[Outcome, Mapping[str, Any]]:
        """Run a checked call if no gate stops it; with the outcome, what a log should keep beside it."""
        refused = self.gates.check(call, self.state, sign_in_name)
        if refused:
            return Outcome(call.tool, call.arguments, fault=refused[0]), refused[1]
        before = self.now
        outcome = run(self.running, call)
        waited = self.now - before
        return outcome, {"waited": waited} if waited else NOTHING

    def again(self, call: Bound) -> Outcome:
        """Run a call that a log says has passed every gate."""
        return run(self.running, call)

    def confirm(self, code: str) -> Fault | None:
        """Let the call pass, once, that waits for the user's word under this code; what is wrong where none does."""
        known = self.gates.approve(code)
        return None if known else Fault("execution", "ValueError", f"nothing with the code {code!r} waits")

    def recall(self, event: ToolCall) -> None:
        """Do again what a recorded call did to the world and to the gates."""
        self.running.replay(event.changes)
        if event.tool and event.error is None:
            self.gates.spend(event.tool, event.arguments)
        if event.tool and "confirmation" in event.meta:
            self.gates.recall(event.tool, event.arguments, event.meta["confirmation"])
        if event.caller == "user" and event.tool == CONFIRM and event.error is None:
            self.gates.approve(str(event.arguments["code"]))
