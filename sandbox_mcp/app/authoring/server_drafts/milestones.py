"""Milestones of a draft: on the state that its calls changed, or on the calls themselves where nothing is seen of them.

Policy: only what was the same in two plays is asked for. A row that changed is named by what tells it apart, and each
of its changed columns by its value, or by anything where that differs from play to play, so that no change is left
unexplained. Ids are asked for where the call named them, and days only then, because a server counts them from
today. What a look found is asked of the reply by one value that the user had not said.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sandbox_mcp.app.authoring.drafting.words import COMMON, free_name, has, snake
from sandbox_mcp.app.authoring.server_drafts.survey import DraftStep, SeenChange, StepPlayed, Usable
from sandbox_mcp.app.authoring.server_drafts.values import is_dated, is_id, is_volatile, words_of
from sandbox_mcp.engine.world.state import Row
from sandbox_mcp.engine.worlds.recorded.guessing import LOOKING
from sandbox_mcp.engine.worlds.recorded.observed import KEY, MORE, TELLING, answered, cell_of

ANYTHING = {"any": True}
LONG = 80
"""From how many characters on a text is compared by a part of it."""
SHORTEST = 3
"""Words with so many letters or fewer say too little."""
_QUESTIONS = frozenset({"is", "has", "can", "are", "does", "check", "exists", "validate", "verify"})
"""Words that tools begin with whose answer is yes or no."""
_NOTHING = ("nothing", "none", "empty", "no", "any", "0")
"""Wordings of an answer without anything in it: no tasks, not any, an empty list."""
KINDS = ("adds", "updates", "removes")


@dataclass(frozen=True, slots=True)
class _Told:
    """A fact that a reply has to state, as a file has it, and a sentence that states it."""

    asked: Any
    reply: str


@dataclass(frozen=True, slots=True)
class DraftMilestones:
    """Milestones as a file has them, and the sentences of the reply on what was looked up."""

    entries: Sequence[Mapping[str, Any]]
    facts: Sequence[str]


def milestones_of(usable: Usable, said: str, *, observed: bool) -> DraftMilestones:
    """The milestones of some steps; ``said`` is what the user says, ``observed`` if anything shows the state."""
    entries: list[dict[str, Any]] = []
    facts: list[_Told] = []
    looks: list[str] = []
    for step, once, again in zip(usable.steps, usable.once, usable.again, strict=True):
        name = free_name(snake(step.tool.name), [str(entry["id"]) for entry in entries])
        seen = _state(once, again) if step.acts else []
        if seen:
            entries.append({"id": name, **_since(seen, entries)})
            continue
        call = {"tool": step.tool.name, **_arguments(step)}
        act = [] if observed or not step.acts else [{"table": "act", "adds": {"tool": step.tool.name}}]
        entries.append({"id": name, **({"all": [call, *act]} if act else call)})
        if not step.acts and (fact := _told(step, once, again, said)):
            facts.append(fact)
            looks.append(name)
    if facts:
        message = {"message": {"content": {"facts": [fact.asked for fact in facts]}}}
        entries.append({"id": free_name("told", [str(entry["id"]) for entry in entries]), "after": looks, **message})
    return DraftMilestones(entries, [fact.reply for fact in facts])


def _since(seen: list[dict[str, Any]], entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Constraints as a milestone has them; a table that an earlier step changed counts from there, which has passed."""
    for entry in entries:
        parts = cast("list[dict[str, Any]]", entry.get("all") or [entry])
        tables = {part.get("table") for part in parts} - {"act"}
        again = [part for part in seen if part["table"] in tables]
        if again:
            entry["transient"] = True
            for part in again:
                part["since"] = entry["id"]
    after = list(dict.fromkeys(part["since"] for part in seen if "since" in part))
    return {**({"after": after} if after else {}), **(seen[0] if len(seen) == 1 else {"all": seen})}


def _arguments(step: DraftStep) -> dict[str, Any]:
    literal = {name: item.value for name, item in step.arguments.items() if item.source is None}
    return {"arguments": {name: _expected(value) for name, value in literal.items()}} if literal else {}


def _expected(value: Any) -> Any:
    """A value as a milestone asks for it: lists and objects as they are, since a mapping there names a measure."""
    if isinstance(value, list | tuple):
        return {"exact": list(cast("Sequence[Any]", value))}
    return {"exact": cast("Any", value)} if isinstance(value, Mapping) else value


def _state(once: StepPlayed, again: StepPlayed) -> list[dict[str, Any]]:
    """The constraints on tables that a call changed."""
    found: list[dict[str, Any]] = []
    tables = dict.fromkeys(change.table for change in once.changes)
    for table in tables:
        cells: dict[str, list[Any]] = {}
        for kind in KINDS:
            here, there = (
                [c for c in played.changes if c.table == table and _kind(c) == kind] for played in (once, again)
            )
            for one, other in zip(here, there, strict=False):
                cells.setdefault(kind, []).append(_cells(kind, one, other, once.arguments))
        for kind, rows in cells.items():
            found.append({"table": table, kind: rows[0] if len(rows) == 1 else rows})
    return found


def _kind(change: SeenChange) -> str:
    return "adds" if change.before is None else "removes" if change.after is None else "updates"


def _cells(kind: str, one: SeenChange, other: SeenChange, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "updates":
        before, now, then = held(one.before), held(one.after), held(other.after)
        changed = [name for name in now if now[name] != before.get(name)]
        kept = {name: value for name, value in now.items() if name not in changed and then.get(name) == value}
        named = {name: kept[name] for name in _naming(kept)[:1]}
        cells = {name: _value(now[name], before.get(name), then.get(name), arguments) for name in changed}
        if one.after is not None and one.before is not None and one.after.get(MORE) != one.before.get(MORE):
            cells = {name: value for name, value in cells.items() if name in one.after} | {MORE: ANYTHING}
        return {**named, **cells}
    given = list(arguments.values())
    now, then = (held(row) for row in ((one.after, other.after) if kind == "adds" else (one.before, other.before)))
    same = {
        name: value
        for name, value in now.items()
        if value is not None and then.get(name) == value and (value in given or _lasting(name, value))
    }
    asked = {name: _expected(value) for name, value in same.items() if kind == "adds" or name in _naming(same)[:1]}
    return asked or {KEY: ANYTHING}


def held(row: Row | None) -> dict[str, Any]:
    """The cells of an observed row, with those that have no column of their own."""
    if row is None:
        return {}
    more = row.get(MORE)
    inside: Any = json.loads(more) if isinstance(more, str) else {}
    inside = {name: cell_of(value) for name, value in inside.items()}  # as columns of their own would have them
    return {**{name: value for name, value in row.items() if name not in (KEY, MORE)}, **inside}


def _lasting(name: str, value: Any) -> bool:
    """True if a value that the call did not name is the same in another session, as ids and days are not."""
    return not is_id(name) and _sayable(value) and not is_dated(value)


def _sayable(value: Any) -> bool:
    return _short(value) and not is_volatile(value)


def _short(value: Any) -> bool:
    return not isinstance(value, str) or (len(value) <= LONG and "\n" not in value)


def _naming(cells: Mapping[str, Any]) -> list[str]:
    """The columns by which a row is told from others, the best first."""
    plain = {name: value for name, value in cells.items() if _sayable(value)}
    texts = [name for name, value in plain.items() if isinstance(value, str)]
    first = [name for name in TELLING if name in texts and not is_id(name)]
    ids = [name for name, value in plain.items() if is_id(name) and isinstance(value, str | int)]
    return [*first, *ids, *(name for name in texts if name not in first)]


def _value(now: Any, before: Any, then: Any, arguments: Mapping[str, Any]) -> Any:
    if isinstance(now, str) and not _short(now):
        part = _new_part(now, before if isinstance(before, str) else "", arguments)
        return {"contains": part} if part and isinstance(then, str) and part in then else ANYTHING
    if now != then or (is_dated(now) and now not in arguments.values()):
        return ANYTHING
    return _expected(now)


def _new_part(now: str, before: str, arguments: Mapping[str, Any]) -> str:
    """Words that a text has now and had not before: a value of the call if one is among them, else a new line."""
    given: list[Any] = []
    for value in arguments.values():
        given += cast("list[Any]", value) if isinstance(value, list) else [value]
    fresh = [line.strip() for line in now.splitlines() if line.strip() and line not in before.splitlines()]
    for value in given:
        if isinstance(value, str) and value and value not in before and any(value in line for line in fresh):
            return value
    return next((line for line in fresh if len(line) <= LONG), "")


def _told(step: DraftStep, once: StepPlayed, again: StepPlayed, said: str) -> _Told | None:
    """The fact of a look: yes or no where the tool asks, otherwise a value, otherwise that nothing is there."""
    question = words_of(step.tool.name)[:1] and words_of(step.tool.name)[0] in _QUESTIONS
    answer = _yes_or_no(step, once, again)
    if answer is not None and question:
        return answer
    if fact := _fact(once, again, said):
        return _Told([fact], f"It says: {fact}.")
    return answer or (_Told([*_NOTHING], "There is nothing.") if _is_empty(once) and _is_empty(again) else None)


def _yes_or_no(step: DraftStep, once: StepPlayed, again: StepPlayed) -> _Told | None:
    """The one truth value of an answer, which must be the same in both plays."""
    found, there = ([*_truths(answered(played.result))] for played in (once, again))
    if len(found) != 1 or found != there:
        return None
    name, value = found[0]
    topic = [word for word in words_of(name or step.tool.name) if word not in LOOKING and len(word) > 1]
    about = [" ".join(topic)] if topic else []
    return _Told({"polarity": "yes" if value else "no", "about": about}, "Yes." if value else "No.")


def _truths(value: Any, name: str = "") -> Iterator[tuple[str, bool]]:
    """Truth values in an answer with the names that they stand under; a bare text may be one, too."""
    if isinstance(value, bool):
        yield name, value
    elif isinstance(value, str) and not name and value.strip().lower() in ("true", "false", "yes", "no"):
        yield name, value.strip().lower() in ("true", "yes")
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            yield from (
                _truths(item, "" if key == "result" else key) if not isinstance(item, str) or key == "result" else ()
            )


def _is_empty(played: StepPlayed) -> bool:
    """True for an answer that has no value in it, unless a count of nothing."""
    leaves = [leaf for leaf in _leaves(answered(played.result)) if leaf is not None]
    return all(
        not leaf.strip() if isinstance(leaf, str) else not leaf and not isinstance(leaf, bool) for leaf in leaves
    )


def _fact(once: StepPlayed, again: StepPlayed, said: str) -> str | None:
    """A value that a look gave in both plays, and that the user had not said."""
    one, other = answered(once.result), answered(again.result)
    there = list(_leaves(other))
    for value in _leaves(one):
        if value not in there or isinstance(value, bool) or value is None or is_volatile(value):
            continue
        if isinstance(value, str) and ("\n" in value or len(value) > LONG):
            continue
        text = value if isinstance(value, str) else json.dumps(value)
        if re.search(r"\w", text) and not has(said, text) and len(text) > 1:
            return text
    return next(
        (word for text in _leaves(one) if isinstance(text, str) and text in there for word in _telling(text, said)),
        None,
    )


def _telling(text: str, said: str) -> Iterator[str]:
    """Words of a longer text that say something, those that look like names and numbers first; no headings."""
    lines = "\n".join(line for line in text.splitlines() if not line.rstrip().endswith(":"))
    found = re.findall(r"(?<![\w.:/-])[A-Za-z0-9][\w.:/-]{1,40}(?![\w/-])", lines)
    telling = [
        word.strip(".:")
        for word in found
        if word.lower() not in COMMON and not is_volatile(word) and not has(said, word)
    ]
    telling = [word for word in telling if len(word) > 3 or word.isdigit()]
    yield from sorted(dict.fromkeys(telling), key=lambda word: not re.search(r"[\d._/]", word))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Any]", value).items():
            yield from () if is_id(name) else _leaves(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _leaves(item)
    else:
        yield value
