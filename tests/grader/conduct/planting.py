"""Mistakes planted into reference solutions: one of a class at a time, wherever a scenario has a place for it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sandbox_grader.grading.values import is_array
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Scenario, Solution

from sandbox_mcp.play.session.rehearsal import RehearsalStage, Rehearsed

WEEK_OFF = 6 * 86400.0 + 16 * 3600.0
LONG_AGO = 1633024800.0
STRANGE: Mapping[str, Any] = {
    "phone": "+12025550143", "mail": "gustav.olander@pinecrest.example", "id": "7d1f0e52-9a3b-4c61-8f27-c0de5a7b1e94",
    "words": "Quillfeather Ostrovsky", "username": "qfeather77", "password": "blorp-wumpus-31",
}  # fmt: skip
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_CALENDAR = frozenset(
    {"datetime_info_to_timestamp", "shift_timestamp", "get_current_timestamp", "timestamp_to_datetime_info"}
)
Spot = tuple[int, int, int]
"""A call of a solution: its turn, its batch, and its place in that."""


@dataclass(frozen=True)
class Planting:
    """A scenario, its first solution with all values as they were, and how its session went."""

    scenario: Scenario

    @cached_property
    def stage(self) -> RehearsalStage:
        return RehearsalStage(self.scenario)

    @cached_property
    def sound(self) -> Rehearsed:
        return self.stage.rehearse(self.scenario.solutions[0])

    @cached_property
    def literal(self) -> Solution:
        """The solution as it was carried out."""
        made = iter(self.sound.done)
        said = [e.content for e in self.sound.log.events if e.event == "message" and e.sender == "agent"]
        turns = [
            PlannedTurn(
                tuple(
                    tuple(replace(c, arguments=next(made).arguments or {}, label=None) for c in b) for b in turn.batches
                ),
                reply,
            )
            for turn, reply in zip(self.scenario.solutions[0].turns, said, strict=False)
        ]
        return Solution(tuple(turns), concrete=True)

    def spots(self) -> Iterator[tuple[Spot, PlannedCall]]:
        for t, turn in enumerate(self.literal.turns):
            for b, batch in enumerate(turn.batches):
                for c, call in enumerate(batch):
                    yield (t, b, c), call

    def acts(self, call: PlannedCall) -> bool:
        return self.scenario.home.agent_tools[call.tool].action

    def with_call(self, spot: Spot, arguments: Mapping[str, Any]) -> Solution:
        """The solution with other arguments in one call, and nothing after that call's turn."""
        t, b, c = spot
        turn = self.literal.turns[t]
        batch = turn.batches[b]
        changed = (*batch[:c], replace(batch[c], arguments=arguments), *batch[c + 1 :])
        batches = (*turn.batches[:b], changed, *turn.batches[b + 1 :])
        return Solution((*self.literal.turns[:t], replace(turn, batches=batches)), concrete=True)


Plant = Callable[[Planting], "Solution | None"]


def made_up_argument(planting: Planting) -> Solution | None:
    """A recipient, an id, an address, a name or a text of which nothing was ever said."""
    for spot, call in reversed(list(planting.spots())):
        if not planting.acts(call):
            continue
        for name, value in call.arguments.items():
            strange = _strange(name, value)
            if strange is not None:
                return planting.with_call(spot, {**call.arguments, name: strange})
    return None


def made_up_search(planting: Planting) -> Solution | None:
    """A person, a number or a user looked for that nobody mentioned."""
    for spot, call in planting.spots():
        for name in ("name", "phone_number", "person_id", "username", "sender"):
            if not planting.acts(call) and isinstance(call.arguments.get(name), str):
                strange = _strange(name, call.arguments[name])
                return planting.with_call(spot, {**call.arguments, name: strange})
    return None


def _strange(name: str, value: Any) -> Any:
    """Another value of the same kind; None for what is not a text, or is a moment."""
    if isinstance(value, list):
        return [_strange(name, item) for item in value] or None  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, str) or re.search(r"time|date|type|month|location|unit|currency", name):
        return None
    if name.endswith("_id"):
        return STRANGE["id"]
    if "phone" in name or re.fullmatch(r"\+?\d{7,}", value):
        return STRANGE["phone"] if value.startswith("+") else "555-014-7790"
    if _MAIL.fullmatch(value):
        return STRANGE["mail"]
    for kind in ("password", "username"):
        if kind in name:
            return STRANGE[kind]
    return STRANGE["words"]


def shifted_moment(planting: Planting) -> Solution | None:
    """Every moment in an action six days and sixteen hours off."""
    for spot, call in reversed(list(planting.spots())):
        shifted = {
            name: moved for name, value in call.arguments.items() if (moved := _shifted(name, value)) is not None
        }
        if planting.acts(call) and shifted:
            return planting.with_call(spot, {**call.arguments, **shifted})
    return None


def _shifted(name: str, value: Any) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool) and "timestamp" in name:
        return value + WEEK_OFF
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        day = int(value[8:10])
        return f"{value[:8]}{day + 6 if day < 22 else day - 6:02d} {(int(value[11:13]) + 9) % 24:02d}{value[13:]}"
    return None


def without_a_look(planting: Planting) -> Solution | None:
    """A moment of some year, and no call that has to do with the clock."""
    calls = [call for _, call in planting.spots()]
    if not any(call.tool == "get_current_timestamp" for call in calls):
        return None
    for spot, call in planting.spots():
        timed = [name for name, value in call.arguments.items() if "timestamp" in name and isinstance(value, float)]
        if timed and call.tool not in _CALENDAR:
            planted = planting.with_call(spot, {**call.arguments, **dict.fromkeys(timed, LONG_AGO)})
            turns = [
                replace(
                    turn,
                    batches=tuple(
                        kept for b in turn.batches if (kept := tuple(c for c in b if c.tool not in _CALENDAR))
                    ),
                )
                for turn in planted.turns
            ]
            return Solution(tuple(turns), concrete=True)
    return None


def unasked(planting: Planting) -> Solution | None:
    """All calls at once, where the solution looks first, finds several and asks which is meant."""
    events = [e for e in planting.sound.log.events if e.event == "tool_call" and e.caller == "agent"]
    first, *rest = planting.literal.turns
    several = [e for e in events[: len(first.calls)] if is_array(e.result) and len(e.result) > 1]
    asks = "?" in first.reply and not any(planting.acts(call) for call in first.calls)
    if not several or not asks or not rest or not any(map(planting.acts, rest[0].calls)):
        return None
    if planting.scenario.confirm or any("?" not in s.turns[0].reply for s in planting.scenario.solutions):
        return None
    held = [{v for v in item.values() if isinstance(v, str)} for item in several[-1].result]
    taken = {v for call in rest[0].calls if planting.acts(call) for v in call.arguments.values() if isinstance(v, str)}
    if not any(len([1 for values in held if value in values]) == 1 for value in taken):
        return None
    return Solution((PlannedTurn((*first.batches, *rest[0].batches), "Done."),), concrete=True)


def same_error_twice(planting: Planting) -> Solution | None:
    """The first call with an argument that does not exist, twice, and then as it should be."""
    for (t, b, _), call in planting.spots():
        turn = planting.literal.turns[t]
        wrong = (PlannedCall(call.tool, {**call.arguments, "verbosity": "high"}),)
        batches = (*turn.batches[:b], wrong, wrong, *turn.batches[b:])
        return Solution((*planting.literal.turns[:t], replace(turn, batches=batches)), concrete=True)
    return None


def wrong_type_twice(planting: Planting) -> Solution | None:
    """The first call that has arguments, with an object for the first of them, twice."""
    for (t, b, _), call in planting.spots():
        if call.arguments:
            turn = planting.literal.turns[t]
            wrong = (PlannedCall(call.tool, {**call.arguments, next(iter(call.arguments)): {"value": 1}}),)
            batches = (*turn.batches[:b], wrong, wrong, *turn.batches[b:])
            return Solution((*planting.literal.turns[:t], replace(turn, batches=batches)), concrete=True)
    return None


def wrong_seconds(planting: Planting) -> Solution | None:
    """A length of time in seconds that is seven per cent and eleven seconds too long."""
    for spot, call in reversed(list(planting.spots())):
        seconds = call.arguments.get("seconds")
        if planting.acts(call) and isinstance(seconds, int):
            return planting.with_call(spot, {**call.arguments, "seconds": int(seconds * 1.07) + 11})
    return None


def wrong_amount(planting: Planting) -> Solution | None:
    """What a conversion gave, told a fifth too high."""
    computed = [
        e for e in planting.sound.log.events
        if e.event == "tool_call" and e.tool in ("unit_conversion", "convert_currency") and e.error is None
    ]  # fmt: skip
    *turns, last = planting.literal.turns
    for call in computed:
        written = re.search(rf"(?<![\d.]){re.escape(f'{call.result:.10g}')}(?:\.0)?(?![.\d]*\d)", last.reply)
        if written and call.result:
            reply = f"{last.reply[: written.start()]}{call.result * 1.2 + 1:.2f}{last.reply[written.end() :]}"
            return Solution((*turns, replace(last, reply=reply)), concrete=True)
    return None


PLANTED: Mapping[str, tuple[Plant, ...]] = {
    "hallucinated_arguments": (made_up_argument, made_up_search),
    "hallucinated_times": (shifted_moment, without_a_look),
    "missing_disambiguation": (unasked,),
    "format_persistence": (same_error_twice, wrong_type_twice),
    "arithmetic_slips": (wrong_seconds, wrong_amount),
}
"""What each class is planted by."""
