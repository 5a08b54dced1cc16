"""Honest ways of working that take more than other words: talk before the work, offers after it, mental arithmetic."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution, TableConstraint

from bench.truth_deeds import Disturb, TruthCase
from sandbox_mcp.engine.trajectory import ToolCall

SWITCHES: Mapping[str, str] = {
    "set_wifi_status": "wifi", "set_cellular_service_status": "cellular",
    "set_location_service_status": "location_service", "set_low_battery_mode_status": "low_battery_mode",
}  # fmt: skip


def chosen(case: TruthCase, words: Sequence[str]) -> str:
    """One of some wordings; which hangs on the scenario."""
    return words[zlib.crc32(case.scenario.name.encode()) % len(words)]


def before(words: Sequence[str]) -> Disturb:
    """A message of its own before the work begins."""
    return lambda case: Solution((PlannedTurn((), chosen(case, words)), *case.scenario.solutions[0].turns))


def after(words: Sequence[str]) -> Disturb:
    """One more sentence at the end of the last reply, and a closing word where the user answers it."""

    def disturb(case: TruthCase) -> Solution | None:
        *turns, last = case.literal.turns
        said = replace(last, reply=f"{last.reply} {chosen(case, words)}")
        return Solution((*turns, said, PlannedTurn((), "All right, have a nice day!")))

    return disturb


def in_the_middle(words: Sequence[str]) -> Disturb:
    """A progress report between the first call and the others of the last turn."""

    def disturb(case: TruthCase) -> Solution | None:
        *turns, last = case.scenario.solutions[0].turns
        if len(last.batches) < 2:
            return None
        first = PlannedTurn(last.batches[:1], chosen(case, words))
        return Solution((*turns, first, PlannedTurn(last.batches[1:], last.reply)))

    return disturb


def _calls(case: TruthCase) -> Sequence[ToolCall]:
    return [event for event in case.log.events if isinstance(event, ToolCall) and event.caller == "agent"]


def put_back(case: TruthCase) -> Solution | None:
    """Every switch that the wish does not name is as it was in the end."""
    wanted = {
        column
        for item in case.scenario.milestones if not item.transient
        for constraint in item.constraints if isinstance(constraint, TableConstraint) and constraint.table == "setting"
        for row in constraint.rows for column in row
    }  # fmt: skip
    if wanted or case.scenario.confirm or case.scenario.gates:
        return None
    turned = [event for event in _calls(case) if event.error is None and event.tool in SWITCHES]
    first = {event.tool: event for event in reversed(turned)}
    back = tuple(
        (PlannedCall(event.called, {"on": not event.arguments["on"]}),) for event in reversed(list(first.values()))
    )
    if not back:
        return None
    *turns, last = case.literal.turns
    return Solution((*turns, replace(last, batches=(*last.batches, *back))))


def in_the_head(case: TruthCase) -> Solution | None:
    """What computing tools would tell is worked out without them."""
    computing = {name for name, tool in case.scenario.home.agent_tools.items() if tool.computes}
    if not any(event.tool in computing for event in _calls(case)):
        return None
    kept: list[PlannedTurn] = []
    events = iter(_calls(case))
    for turn in case.literal.turns:
        batches = list[tuple[PlannedCall, ...]]()
        for batch in turn.batches:
            given = tuple(next(events) for _ in batch)
            calls = tuple(PlannedCall(event.called, event.arguments) for event in given if event.tool not in computing)
            if calls:
                batches.append(calls)
        kept.append(replace(turn, batches=tuple(batches)))
    return Solution(tuple(kept))


def failing_first(case: TruthCase) -> Solution | None:
    """The first call is tried with an argument that does not exist, and then as it should be."""
    turns = case.scenario.solutions[0].turns
    turn = next((item for item in turns if item.calls), None)
    if turn is None:
        return None
    call = turn.calls[0]
    wrong = (PlannedCall(call.tool, {**call.arguments, "verbose": True}),)
    return Solution(tuple(
        replace(item, batches=(wrong, *item.batches)) if item is turn else item for item in turns
    ))  # fmt: skip


def without_switching_first(case: TruthCase) -> Solution | None:
    """The call that needs a service is tried while the service is still off."""
    last = case.literal.turns[-1]
    at = next(
        (i for i, batch in enumerate(last.batches) if len(batch) == 1 and batch[0].tool not in SWITCHES
         and i and last.batches[i - 1][0].tool in SWITCHES and not _refers(batch[0])),
        None,
    )  # fmt: skip
    if at is None or case.scenario.confirm or case.acts(last.batches[at][0].tool):
        return None
    return Solution((*case.literal.turns[:-1], replace(last, batches=(last.batches[at], *last.batches))))


def _refers(call: PlannedCall) -> bool:
    return "$" in str(dict(call.arguments))


TURNS: Mapping[str, Disturb] = {
    "put_back": put_back,
    "in_the_head": in_the_head,
    "failing_first": failing_first,
    "service_off_first": without_switching_first,
}
SPOKEN: Mapping[str, Callable[[Sequence[str]], Disturb]] = {"first": before, "after": after, "between": in_the_middle}
"""How words of these sets are said: as a message of its own first, after the last reply, or while work goes on."""
