"""Faults in a session: a call fails before or after it acted, loses its connection, answers late, old or in part.

Policy: the seed picks which calls are struck, among those that pass their gates: once for each rule of a scenario, at
random by the rates of a run. After a strike by a rate the next call of the tool is spared, so that trying again helps.
The log says in ``meta.injected`` that a fault landed, which it did only if it made a difference, so that it is proven
and can be carried out again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, cast, get_args

from sandbox_mcp.engine.tools.calling import Bound, CallError, Outcome, attempt, run
from sandbox_mcp.engine.tools.fault_kinds import FaultRates
from sandbox_mcp.engine.world import Running, Snapshot

FaultName = Literal["before", "after", "stale", "partial", "slow", "rate_limit", "dropped"]
KINDS: tuple[FaultName, ...] = get_args(FaultName)
LOOKING: tuple[FaultName, ...] = ("stale", "partial")
"""Kinds that strike tools which only look."""
INJECTED = "injected"
"""Under this key of a call's ``meta`` the log names the kind."""
UNSURE = "no answer within 30 seconds; whether it was done is not known"
LIMITED = "too many requests; try again later"
CLOSED = "the connection was closed before an answer came"
CUT = "the last answer was cut off: only its first part arrived"
"""Notice to an agent that got an answer in part."""
WAIT = 30.0
"""Seconds that a slow call takes longer."""


@dataclass(frozen=True, slots=True)
class FaultRule:
    """One fault: the tool, which of its calls (the seed picks one from ``first`` to ``last``), and the kind."""

    tool: str
    kind: FaultName
    first: int = 1
    last: int = 1


NEVER = FaultRates({})
"""Rates of a run without faults."""


class InjectedFaults:
    """The faults of one session that have not struck yet."""

    __slots__ = ("_calls", "_left", "_rates", "_spared")

    def __init__(self, rules: Iterable[FaultRule], seed: str, rates: FaultRates = NEVER) -> None:
        self._left: list[tuple[FaultRule, int]] = []
        self._rates = rates
        self._calls = 0
        self._spared: set[str] = set()
        for place, rule in enumerate(rules):
            number = Random(f"{seed}/fault {place}").randint(rule.first, rule.last)  # noqa: S311  (to be drawn again)
            self._left.append((rule, number))

    def next(self, tool: str, *, acts: bool) -> FaultName | None:
        """Count a call of a tool, which acts or only looks, and tell the fault that strikes it."""
        struck: FaultName | None = None
        left: list[tuple[FaultRule, int]] = []
        for rule, number in self._left:
            waits = number - (rule.tool == tool)
            if waits == 0 and rule.tool == tool and struck is None:
                struck = rule.kind
            elif waits > 0:
                left.append((rule, waits))
        self._left = left
        self._calls += 1
        if tool in self._spared:
            self._spared.discard(tool)
            return struck
        drawn = self._rates.of(self._calls) if struck is None else None
        if drawn is None or (acts and drawn.name in LOOKING):
            return struck
        return cast("FaultName", drawn.name)

    def landed(self, tool: str) -> None:
        """Note that a call of a tool was struck, so that the next one is spared."""
        if self._rates.rates:
            self._spared.add(tool)


_REFUSED: Mapping[str, tuple[str, str]] = {
    "before": ("TimeoutError", UNSURE),
    "rate_limit": ("RateLimitError", LIMITED),
    "dropped": ("ConnectionError", CLOSED),
}  # fmt: skip
"""Kinds of which nothing is done, with the error that the agent gets."""


def spoilt(world: Running, call: Bound, kind: FaultName, began: Snapshot) -> Outcome:
    """Run a call struck by a fault; ``began`` is the state that a stale answer shows.

    The outcome's notes name the kind if the fault made a difference.

    Raises:
        WorldFailedError: the world's own code broke.
    """
    struck = {INJECTED: kind}
    if kind in _REFUSED:
        return Outcome(call.tool, call.arguments, fault=CallError("execution", *_REFUSED[kind]), notes=struck)
    outcome = run(world, call)
    if kind == "stale":
        transaction = world.begin()
        transaction.base = began
        old = attempt(transaction, call)
        same = (old.result, old.fault) == (outcome.result, outcome.fault)
        return outcome if same else replace(old, notes={**old.notes, **struck})
    noted = replace(outcome, notes={**outcome.notes, **struck})
    if kind == "slow":
        world.tick(WAIT)
        return noted
    if outcome.fault:
        return outcome
    if kind == "after":
        return replace(noted, result=None, fault=CallError("execution", "TimeoutError", UNSURE))
    part = _first_part(outcome.result)
    return outcome if part == outcome.result else replace(noted, result=part)


def _first_part(result: object) -> object:
    """A list without its second half; an object with each of its lists so."""
    if isinstance(result, list):
        listed = cast("list[Any]", result)
        return listed[: (len(listed) + 1) // 2]
    if isinstance(result, Mapping):
        cells = cast("Mapping[str, Any]", result)
        return {name: cells[name] if isinstance(cells[name], Mapping) else _first_part(cells[name]) for name in cells}
    return result
