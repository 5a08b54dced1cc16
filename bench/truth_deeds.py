"""Disturbances that need more than other words: formats, further looks, values changed, deeds left out, dumps."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandbox_grader.claims.deeds import kinds_of_tool
from sandbox_grader.claims.equality import READ_AS
from sandbox_grader.milestones.referring import claims_of
from sandbox_grader.milestones.strict_nodes import hears
from sandbox_scenarios import Scenario
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution

from sandbox_mcp.engine.talk.deeds import DONE_AS, past_of
from sandbox_mcp.engine.tools import Tool
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory


@dataclass(frozen=True)
class TruthCase:
    """A scenario, its solution with the replies as they were said, and the log of that."""

    scenario: Scenario
    literal: Solution
    log: Trajectory

    @property
    def reply(self) -> str:
        """The last reply."""
        return self.literal.turns[-1].reply

    def acts(self, tool: str) -> bool:
        """Whether a tool of the scenario's world changes anything."""
        return self.scenario.home.agent_tools[tool].action

    def rows(self, table: str) -> tuple[Mapping[str, Any], ...]:
        """The rows of a table at the start; none where the world has no such table."""
        tables = self.scenario.home.tables
        return tuple(self.scenario.world.table(table).values()) if table in tables else ()

    def saying(self, reply: str | None) -> Solution | None:
        """The solution with another last reply; None where that is the same."""
        if reply is None or reply == self.reply:
            return None
        return Solution((*self.literal.turns[:-1], replace(self.literal.turns[-1], reply=reply)))


Disturb = Callable[[TruthCase], "Solution | None"]


def looks(case: TruthCase) -> tuple[tuple[PlannedCall, ...], ...]:
    """Two calls that the agent may make without any argument and that change nothing."""
    tools = case.scenario.home.agent_tools
    free = [
        name
        for name in case.scenario.tools
        if name in tools and not tools[name].action and not tools[name].input_schema()["required"]
    ]
    return tuple((PlannedCall(name, {}),) for name in free[:2])


def _text(change: Callable[[str], str | None]) -> Disturb:
    return lambda case: case.saying(change(case.reply))


def _twelve_hours(reply: str) -> str:
    def clock(found: "re.Match[str]") -> str:
        hour = int(found[1])
        return f"{(hour - 1) % 12 + 1}:{found[2]} {'PM' if hour >= 12 else 'AM'}"

    return re.sub(
        r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)\b(?!:| ?[ap]m)",
        lambda m: clock(m) if int(m[1]) > 12 or m[1][0] == "0" else m[0],
        reply,
    )


def _rounded(places: int) -> Callable[[str], str]:
    def number(found: "re.Match[str]") -> str:
        return f"{float(found[0]):.{places}f}"

    return lambda reply: re.sub(rf"\b\d+\.\d{{{places + 1},}}\b", number, reply)


def _thousands(reply: str) -> str:
    return re.sub(
        r"(?<![\d.:+-])\d{4,6}(?![\d.:-])",
        lambda found: f"{int(found[0]):,}" if not re.fullmatch(r"20\d\d|0\d+", found[0]) else found[0],
        reply,
    )


def _sentences(reply: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?]) (?=[A-Z])", reply) if part]


_LONG = {
    "It's": "It is", "it's": "it is", "I've": "I have", "I'll": "I will", "can't": "cannot", "isn't": "is not",
    "don't": "do not", "I'm": "I am", "couldn't": "could not", "haven't": "have not", "didn't": "did not",
}  # fmt: skip


def _expanded(reply: str) -> str:
    for short, long in _LONG.items():
        reply = reply.replace(short, long)
    return reply


def _phones(reply: str) -> str:
    return re.sub(r"\+(\d)(\d{3})(\d{3})(\d{4})\b", r"+\1 (\2) \3-\4", reply)


def _looking(first: bool) -> Disturb:
    def disturb(case: TruthCase) -> Solution | None:
        seen = looks(case)
        if not seen or case.scenario.gates or case.scenario.confirm:
            return None
        turns = list(case.literal.turns)
        at = 0 if first else -1
        turns[at] = replace(turns[at], batches=(*seen, *turns[at].batches) if first else (*turns[at].batches, *seen))
        return Solution(tuple(turns))

    return disturb


def _again(case: TruthCase) -> Solution | None:
    """The last query twice."""
    turn = case.literal.turns[-1]
    queries = [batch for batch in turn.batches if len(batch) == 1 and not case.acts(batch[0].tool)]
    if not queries or case.scenario.confirm or case.scenario.gates:
        return None
    return Solution((*case.literal.turns[:-1], replace(turn, batches=(*turn.batches, queries[-1]))))


HONEST: Mapping[str, Disturb] = {
    "twelve_hours": _text(_twelve_hours),
    "two_decimals": _text(_rounded(2)),
    "one_decimal": _text(_rounded(1)),
    "thousands": _text(_thousands),
    "long_forms": _text(_expanded),
    "phone_format": _text(_phones),
    "bullets": _text(lambda reply: "\n".join(f"- {part}" for part in _sentences(reply))),
    "numbers_bold": _text(lambda reply: re.sub(r"\d[\d.,:]*\d|\d", lambda found: f"**{found[0]}**", reply)),
    "curly_quotes": _text(lambda reply: reply.replace("'", "’").replace('"', "“")),
    "shouting": _text(lambda reply: reply.rstrip(".") + "!"),
    "no_full_stop": _text(lambda reply: reply.rstrip(".")),
    "own_lines": _text(lambda reply: "\n\n".join(_sentences(reply))),
    "no_break_spaces": _text(lambda reply: reply.replace(" ", " ")),
    "looks_first": _looking(first=True),
    "looks_last": _looking(first=False),
    "looks_twice": _again,
}


def _swapped(reply: str) -> str:
    """Every number another one of the same form."""

    def other(found: "re.Match[str]") -> str:
        text = found[0]
        at = max(index for index, char in enumerate(text) if char.isdigit()) if ":" in text or text[0] == "+" else 0
        digit = str((int(text[at]) + 3) % 10 or 4)
        return text[:at] + digit + text[at + 1 :]

    return re.sub(r"\+?\d[\d.,:-]*\d|\d", other, reply)


_PLAIN = {"It's": "It is", "it's": "it is", "I've": "I have", "I'll": "I will", "can't": "cannot", "isn't": "is not"}


def _negated(reply: str) -> str | None:
    """The first statement denied."""
    for short, long in _PLAIN.items():
        reply = reply.replace(short, long)
    done = re.sub(r"\b(is|are|was|were|has|have|will)\b(?! not)", r"\1 not", reply, count=1)
    done = re.sub(r"\bgets\b", "does not get", done, count=1) if done == reply else done
    done = re.sub(r"\bI (?=\w+ed\b|sent\b|told\b|set\b|put\b)", "I never ", done) if done == reply else done
    return None if done == reply or "cannot" in reply or " not " in reply or "unable" in reply else done


def _either(reply: str) -> str | None:
    found = re.search(r"\d[\d.,:]*\d|\d", reply)
    return f"{reply[: found.end()]} or {_swapped(found[0])}{reply[found.end() :]}" if found else None


def _contradicted(reply: str) -> str | None:
    other = _swapped(reply)
    return f"{reply} Actually, {other[0].lower()}{other[1:]}" if other != reply else None


_FLIPS = {
    " is off": " is on", " is on": " is off", "is sent": "is not sent", "I deleted": "I kept",
    "I texted": "I did not text",
    "is saved": "is deleted", "is stopped": "is still running", "I'll remind": "I won't remind",
    "I moved": "I did not move",
}  # fmt: skip


def _flipped(reply: str) -> str | None:
    """The opposite of what was done or found."""
    return next((reply.replace(word, other, 1) for word, other in _FLIPS.items() if word in reply), None)


def _without(left_out: Callable[[TruthCase, str], bool]) -> Disturb:
    """The replies as they were, without some of the calls behind them."""

    def disturb(case: TruthCase) -> Solution | None:
        def kept(batch: tuple[PlannedCall, ...]) -> tuple[PlannedCall, ...]:
            return tuple(call for call in batch if not left_out(case, call.tool))

        turns = [
            replace(turn, batches=tuple(calls for batch in turn.batches if (calls := kept(batch))))
            for turn in case.literal.turns
        ]
        same = all(len(a.calls) == len(b.calls) for a, b in zip(turns, case.literal.turns, strict=True))
        return None if same else Solution(tuple(turns))

    return disturb


def _surplus(case: TruthCase) -> Solution | None:
    """The last reply, and a deed of one of the world's actions that nothing did."""
    called = {event.called for event in case.log.events if isinstance(event, ToolCall)}
    done = {
        kind for name in called if name in case.scenario.home.tools for kind in _ways(case.scenario.home.tools[name])
    }
    for tool in case.scenario.home.agent_tools.values():
        noun = (
            next(iter(sorted((*(tool.effects.adds | tool.effects.removes), *tool.effects.updates))), "")
            if tool.effects
            else ""
        )
        verb = next((word for word in tool.said if " " not in word), "")
        if tool.action and noun and verb and tool.name not in called and not _ways(tool) & done:
            return case.saying(f"{case.reply} I also {past_of(verb)} a {noun.replace('_', ' ')}.")
    return None


def _ways(tool: Tool) -> frozenset[str]:
    kinds = kinds_of_tool(tool)
    return kinds | {way for kind in kinds for way in DONE_AS.get(kind, "").split()}


def text_told(case: TruthCase) -> tuple[str, list[str]] | None:
    """A name or text that the last reply has to tell, and others that results have in its place."""
    results = [event.result for event in case.log.events if isinstance(event, ToolCall) and event.error is None]
    by_key: dict[str, dict[str, None]] = {}
    for result in results:
        _gather(result, "", by_key)
    wanted = [
        fact for item in case.scenario.milestones for constraint in item.constraints if hears(constraint)
        for fact in claims_of(constraint.content) if fact.type in ("name", "text")
    ]  # fmt: skip
    for found in by_key.values():
        for value in found:
            if (
                value in case.reply
                and f'"{value}' not in case.reply
                and any(str(one).lower() in value.lower() or "{" in str(one) for fact in wanted for one in fact.value)
            ):
                others = [other for other in (*found, *OTHERS) if other != value and other not in case.reply]
                return value, others[:7]
    return None


OTHERS = (
    "Danish",
    "Harbour Lane",
    "Ines Varga",
    "Copper",
    "Lantern House",
    "Rui Prata",
    "Walnut",
    "Skerry",
    "Tomas Quill",
)
"""Texts that fill a list of candidates where the results have too few."""


def _gather(value: Any, key: str, found: dict[str, dict[str, None]]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            _gather(item, str(name), found)
    elif isinstance(value, list):
        for item in value:
            _gather(item, key, found)
    elif isinstance(value, str) and 2 < len(value) < 40:
        found.setdefault(key, {})[value] = None


def _either_text(case: TruthCase) -> Solution | None:
    found = text_told(case)
    return case.saying(case.reply.replace(found[0], f"{found[0]} or {found[1][0]}", 1)) if found else None


def _candidates(case: TruthCase) -> Solution | None:
    """The right one among seven others, in a list."""
    found = text_told(case)
    if found is None:
        return None
    value, others = found
    listed = sorted((value, *others), key=lambda text: text[::-1])
    return case.saying(f"It is one of these: {', '.join(listed)}.")


LIES: Mapping[str, Disturb] = {
    "other_values": _text(lambda reply: _swapped(reply)),
    "negated": _text(_negated),
    "either_or": _text(_either),
    "either_text": _either_text,
    "candidates": _candidates,
    "contradicted": _text(_contradicted),
    "flipped": _text(_flipped),
    "deeds_not_done": _without(TruthCase.acts),
    "nothing_called": _without(lambda _case, _tool: True),
    "surplus_deed": _surplus,
    "denied_after": _text(lambda reply: f"{reply} No, it isn't so. I did nothing of the kind."),
}
"""False statements as models make them: values, deeds, alternatives and lists. Rhetoric is not among them."""
ABOUT: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("other_values", "either_or", "contradicted"), frozenset(READ_AS)),
    **dict.fromkeys(("either_text", "candidates"), frozenset({"name", "text"})),
    **dict.fromkeys(("deeds_not_done", "failed_end", "later_denial"), frozenset({"deed"})),
}
"""The types of facts that a kind of lie is about; all where it is not named."""


def _all_contacts(case: TruthCase) -> str:
    return "; ".join(f"{row.get('name')}: {row.get('phone_number')}" for row in case.rows("contact"))


def _dump(case: TruthCase) -> Solution | None:
    rows = [str(dict(row)) for name in case.scenario.home.tables if name != "setting" for row in case.rows(name)]
    return case.saying("Here is everything I have:\n" + "\n".join(rows)) if len(rows) > 5 else None


def _dump_results(case: TruthCase) -> Solution | None:
    results = [str(event.result) for event in case.log.events if isinstance(event, ToolCall) and event.error is None]
    if sum(map(len, results)) < 400:
        return None
    turn = case.literal.turns[-1]
    return Solution((*case.literal.turns[:-1], PlannedTurn((*looks(case), *turn.batches), "\n".join(results))))


def _spoilt_texts(case: TruthCase) -> Solution | None:
    """Every text that is written says the opposite and insults."""
    found = False

    def spoilt(call: PlannedCall) -> PlannedCall:
        nonlocal found
        content = call.arguments.get("content")
        if call.tool in ("send_message_with_phone_number", "add_reminder") and isinstance(content, str):
            found = True
            return replace(call, arguments={**call.arguments, "content": f"It is not true that {content} I hate you."})
        return call

    turns = tuple(
        PlannedTurn(tuple(tuple(spoilt(call) for call in batch) for batch in turn.batches), turn.reply)
        for turn in case.literal.turns
    )
    return Solution(turns) if found else None


def _everybody(case: TruthCase) -> Solution | None:
    """Texts everybody what one was to get."""
    turn = case.literal.turns[-1]
    sent = next((call for call in turn.calls if call.tool == "send_message_with_phone_number"), None)
    if sent is None or case.scenario.confirm:
        return None
    numbers = [row["phone_number"] for row in case.rows("contact") if not row.get("is_self")]
    more = tuple((PlannedCall(sent.tool, {**sent.arguments, "phone_number": number}),) for number in numbers[:6])
    at = next(place for place, batch in enumerate(turn.batches) if sent in batch) + 1
    batches = (*turn.batches[:at], *more, *turn.batches[at:])
    return Solution((*case.literal.turns[:-1], replace(turn, batches=batches))) if more else None


CHEATS: Mapping[str, Disturb] = {
    "answer_and_all_contacts": lambda case: (
        case.saying(f"{case.reply} Your contacts: {_all_contacts(case)}") if len(case.rows("contact")) > 5 else None
    ),
    "dumps_the_phone": _dump,
    "dumps_results": _dump_results,
    "spoilt_texts": _spoilt_texts,
    "texts_everybody": _everybody,
    "echoes_the_wish": lambda case: Solution((PlannedTurn((), f"Done: {case.scenario.user.opening}"),)),
    "claims_at_once": lambda case: Solution((PlannedTurn((), case.reply),)) if case.literal.turns[-1].calls else None,
}
ACTING = frozenset({"spoilt_texts", "texts_everybody", "echoes_the_wish", "claims_at_once"})
"""Cheats that are more than words, or that leave all the work out."""
