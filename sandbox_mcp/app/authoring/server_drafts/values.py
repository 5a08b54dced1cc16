"""Values for the arguments of a server's tools, from its schemas, its descriptions and its answers.

Policy: what the person gives comes first, then what the schema names, then what the server itself has shown under that
name, then examples in quotes in its descriptions, and last values made up by type. A tool that makes something new
gets made-up names before those that exist. Nobody says ids, so that they are looked up in the solution.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox_scenarios.filling import opened

from sandbox_mcp.app.authoring.argument_texts import described, fields_in
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.worlds.recorded import TapeTool
from sandbox_mcp.engine.worlds.recorded.live import FOLDER
from sandbox_mcp.engine.worlds.recorded.schemas import inlined, names_in

MOST_SETS, MOST_VALUES = 10, 6
"""How many sets of arguments are tried of a tool, and how many values of one argument."""
_YEAR = 2026
LONGEST = 60
"""How many characters a value has at most that a person would say."""
MAKING = frozenset(
    {"create", "add", "new", "insert", "book", "register", "write", "make", "save", "post", "open", "init"}
)
"""Words in the names of tools that make something that was not there."""
_IDS = re.compile(r"(?:^|[_-])(?:id|uuid|guid|hash|sha|key|token)s?$|[a-z]Ids?$", re.IGNORECASE)
_VOLATILE = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,64}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_QUOTED = re.compile(r"(?<!\w)(?:'([^'\n]{1,60})'|\"([^\"\n]{1,60})\"|`([^`\n]{1,60})`)(?!\w)")
_EXAMPLE = re.compile(r"(?:\be\.g\.|\bfor example|\bfor instance|\bsuch as),?:? +([\w./@+-]{0,60}\w)")
_CHOICES = re.compile(r"\((?:one of:? )?([\w-]+)(?:(?:, or |, | or |\||/)[\w-]+)+\)")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TOKEN = re.compile(r"[\w./@-]{2,60}")
_PLACE = frozenset({"path", "file", "filepath", "filename", "dir", "directory", "folder", "repo", "repository", "root"})
_FOLDERS = frozenset({"dir", "directory", "folder", "repo", "repository", "root"})
_TEXTS: Mapping[str, Sequence[str]] = {
    "email": ["ada@example.com"], "date": ["2026-03-05"], "time": ["14:30"], "url": ["https://example.com/"],
    "timezone": ["Europe/Berlin"], "zone": ["Europe/Berlin"], "expression": ["2 + 3 * 4"], "currency": ["EUR"],
    "language": ["en"], "color": ["blue"], "colour": ["blue"], "phone": ["+49 30 1234567"], "city": ["Berlin"],
    "country": ["Germany", "DE"], "name": ["Sample"], "title": ["Green tea"], "query": ["tea"],
    "id": ["item-1"], "tag": ["home"], "tags": ["home"], "category": ["home"], "author": ["Ada Lovelace"],
    "topic": ["gardening"], "reason": ["It is no longer needed"], "comment": ["Looks good to me"],
    "description": ["Water the plants"], "content": ["Buy green tea on Friday"], "text": ["Buy green tea on Friday"],
    "body": ["See you at noon"], "message": ["See you at noon"], "note": ["The key is under the mat"],
}  # fmt: skip
"""Made-up texts by a word in the argument's name."""


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """A place in an answer: the call that gave it, and the path in its result."""

    tool: str
    arguments: Mapping[str, Any]
    path: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class DraftValue:
    """A value of an argument. With ``source`` it is looked up there, and ``called`` is what people call its item."""

    value: Any
    source: AnswerPlace | None = None
    called: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and its result, as :func:`~sandbox_mcp.engine.worlds.recorded.world.value_of` gives it."""

    tool: str
    arguments: Mapping[str, Any]
    value: Any


@dataclass(slots=True)
class Pool:
    """All that values can come from, beside the schemas."""

    given: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Sequence[str] = ()
    own_folder: bool = False
    answers: list[Answered] = field(default_factory=list[Answered])

    def sets(self, tool: TapeTool) -> Iterator[Mapping[str, DraftValue]]:
        """Sets of arguments for a tool, the likeliest first."""
        schema: Any = tool.listed.get("inputSchema") or {}
        properties: Any = schema.get("properties")
        listed = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
        required = [name for name in names_in(schema.get("required")) if name in listed]
        wanted = [name for name in listed if name in required or self._given(tool, name)]
        yield from self._sets(tool, wanted, listed, schema)
        if not wanted and listed:
            yield from self._sets(tool, list(listed), listed, schema)

    def _sets(
        self, tool: TapeTool, names: Sequence[str], listed: Mapping[str, Any], whole: Mapping[str, Any]
    ) -> Iterator[Mapping[str, DraftValue]]:
        told = described(tool)
        found = {
            name: self._values(tool, name, {"description": told.get(name, ""), **inlined(listed[name], whole)})
            for name in names
        }
        if not all(found.values()):
            return
        first = {name: values[0] for name, values in found.items()}
        yield first
        others = [
            (name, value)
            for n in range(1, MOST_VALUES)
            for name, values in found.items()
            for value in values[n : n + 1]
        ]
        for name, value in others[: MOST_SETS - 1]:
            yield {**first, name: value}

    def _given(self, tool: TapeTool, name: str) -> list[str]:
        return [self.given[key] for key in (f"{tool.name}.{name}", name) if key in self.given]

    def _values(self, tool: TapeTool, name: str, schema: Mapping[str, Any]) -> list[DraftValue]:
        if given := self._given(tool, name):
            return [DraftValue(_parsed(given[0], schema))]
        makes = bool(MAKING.intersection(words_of(tool.name)))
        shown, told = list(self._shown(name)), list(self._told(name, schema))
        made = [DraftValue(value) for value in self._made_up(tool, name, schema)]
        fixed = [DraftValue(value) for value in _fixed(schema)]
        ordered = fixed or [*(() if makes and not is_id(name) else shown), *told, *made, *shown]
        kind = schema.get("type")
        fitting = [item for item in ordered if _fits(item.value, kind)]
        unique = {repr(item.value): item for item in reversed(fitting)}
        return sorted(unique.values(), key=lambda item: fitting.index(item))[:MOST_VALUES]

    def to_look_up(self) -> Iterator[DraftValue]:
        """The values in answers that nobody says."""
        for answer in self.answers:
            for path, item in _objects(opened(answer.value)):
                for key, value in item.items():
                    if isinstance(value, str | int) and not isinstance(value, bool):
                        found = _looked_up(answer, (*path, key), value, item)
                        if found.source is not None:
                            yield found

    def _shown(self, name: str) -> Iterator[DraftValue]:
        """Values that stand under this name in answers, or as the id or name of what it speaks of."""
        asked = words_of(name)
        for answer in self.answers:
            subject = {_singular(word) for word in words_of(answer.tool)}
            for path, item in _objects(opened(answer.value)):
                for key, value in item.items():
                    same = key == name
                    about = bool(asked) and words_of(key) == asked[-1:] and _singular(asked[0]) in subject
                    bare = asked and key in ("id", "name", "title") and {_singular(word) for word in asked} <= subject
                    if (same or about or bare) and isinstance(value, str | int | float) and not isinstance(value, bool):
                        yield _looked_up(answer, (*path, key), value, item)

    def _told(self, name: str, schema: Mapping[str, Any]) -> Iterator[DraftValue]:
        """Examples in the argument's description, and words of answers that are texts about what it speaks of."""
        items: Any = schema.get("items")
        if isinstance(items, Mapping) and cast("Mapping[str, Any]", items).get("type") == "object":
            return  # what is named there belongs into the objects
        for pattern in (_QUOTED, _EXAMPLE, _CHOICES):
            for found in pattern.finditer(str(schema.get("description") or "")):
                text = next(group for group in found.groups() if group)
                if re.search(r"\w", text) and text != name:
                    yield DraftValue(_read(text, schema.get("type")))
        asked = {_singular(word) for word in words_of(name)} - {"name", "id", "path"}
        for answer in self.answers:
            if isinstance(answer.value, str) and asked & {_singular(word) for word in words_of(answer.tool)}:
                told = set(words_of(answer.value.split(":")[0])) if ":" in answer.value else set[str]()
                yield from (
                    DraftValue(token)
                    for token in _TOKEN.findall(answer.value)
                    if token.lower() not in told and not _VOLATILE.fullmatch(token)
                )

    def _made_up(self, tool: TapeTool, name: str, schema: Mapping[str, Any]) -> Iterator[Any]:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((item for item in cast("list[Any]", kind) if item != "null"), "string")
        for part in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
            if isinstance(part, Mapping) and cast("Any", part).get("type") != "null":
                yield from self._made_up(tool, name, cast("Mapping[str, Any]", part))
                return
        match kind:
            case "boolean":
                yield from (True, False)
            case "integer" | "number":
                yield from (_YEAR,) if "year" in words_of(name) else ()
                yield from _numbers(schema)
            case "array":
                items: Any = schema.get("items")
                inner = cast("Mapping[str, Any]", items) if isinstance(items, Mapping) else {"type": "string"}
                inner = {"description": schema.get("description"), **inner}
                yield from ([item] for item in (*_fixed(inner), *self._made_up(tool, name, inner)))
            case "object":
                yield self._object(tool, schema)
            case _:
                yield from self._texts(tool, name)

    def _object(self, tool: TapeTool, schema: Mapping[str, Any]) -> dict[str, Any]:
        properties: Any = schema.get("properties")
        listed = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
        made: dict[str, Any] = {}
        written = {} if listed else fields_in(str(schema.get("description") or ""))
        fields = {name: {"description": text} for name, text in written.items() if "optional" not in text.lower()}
        for name in fields or names_in(schema.get("required")):
            part = cast("Mapping[str, Any]", fields.get(name) or listed.get(name) or {})
            told = (item.value for item in self._told(name, part))
            if values := [*_fixed(part), *told, *self._made_up(tool, name, part)]:
                made[name] = values[0]
        return made

    def _texts(self, tool: TapeTool, name: str) -> Iterator[str]:
        words = words_of(name)
        if _PLACE.intersection(map(_singular, words)) and self.own_folder:
            existing = [f"{FOLDER}/{file}" for file in self.files]
            fresh = [f"{FOLDER}/sample.txt"] if MAKING.intersection(words_of(tool.name)) else []
            whole = [FOLDER]
            yield from (
                (*whole, *existing, *self.files)
                if _FOLDERS.intersection(words)
                else (*fresh, *self.files, *existing, *whole)
            )
        yield from (text for word, texts in _TEXTS.items() if word in words for text in texts)
        yield f"Sample {' '.join(words) or 'text'}"


def is_id(name: str) -> bool:
    """True for names of ids, which people neither know nor say."""
    return _IDS.search(name) is not None


def is_volatile(value: Any) -> bool:
    """True for values whose form is that of a random id."""
    return isinstance(value, str) and _VOLATILE.fullmatch(value) is not None


def is_dated(value: Any) -> bool:
    """True for texts that begin with a day, which a server may have counted from today."""
    return isinstance(value, str) and _DAY.match(value) is not None


def words_of(name: str) -> list[str]:
    """The words in a name, in small letters."""
    return [word.lower() for word in _WORDS.findall(name)]


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _looked_up(answer: Answered, path: tuple[str | int, ...], value: Any, item: Mapping[str, Any]) -> DraftValue:
    """The value as a person says it; of an id, where it is looked up and what its item is called."""
    if not is_id(str(path[-1])) and not is_volatile(value):
        return DraftValue(value)
    called = next(
        (
            f"{key} {told}"
            for key, told in item.items()
            if isinstance(told, str)
            and 0 < len(told) <= LONGEST
            and not (is_id(key) or is_volatile(told) or is_dated(told))
        ),
        "",
    )
    return DraftValue(value, AnswerPlace(answer.tool, answer.arguments, path), called)


def _objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterable[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        yield path, held
        for key, item in held.items():
            yield from _objects(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(cast("list[Any]", value)[:20]):
            yield from _objects(item, (*path, place))


def _fixed(schema: Mapping[str, Any]) -> Iterator[Any]:
    """What the schema itself names."""
    if "const" in schema:
        yield schema["const"]
    for key in ("examples", "enum"):
        listed: Any = schema.get(key)
        yield from cast("list[Any]", listed) if isinstance(listed, list) else ()


def _numbers(schema: Mapping[str, Any]) -> Iterator[float]:
    low, high = schema.get("minimum"), schema.get("maximum")
    least = low if isinstance(low, int | float) else 0
    most = high if isinstance(high, int | float) else max(least, 0) + 10
    tried = [number for number in (3, 1, 2, 10, least, most) if least <= number <= most]
    yield from dict.fromkeys(int(number) if schema.get("type") == "integer" else number for number in tried)


def _parsed(text: str, schema: Mapping[str, Any]) -> Any:
    """A value that a person gave: a text as it is where the schema takes one, JSON otherwise."""
    parts = (schema, *(schema.get("anyOf") or ()))
    if any(isinstance(part, Mapping) and cast("Any", part).get("type") == "string" for part in parts):
        return text
    with suppress(ValueError):
        return loads(text)
    return text


def _read(text: str, kind: Any) -> Any:
    if kind in ("integer", "number"):
        return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else int(text) if re.fullmatch(r"-?\d+", text) else text
    return [text] if kind == "array" else text


def _fits(value: Any, kind: Any) -> bool:
    """True if a value is of a type; where the schema says nothing of it, any is."""
    kinds: Mapping[str, Any] = {
        "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
    }  # fmt: skip
    if not isinstance(kind, str) or kind not in kinds:
        return True
    return isinstance(value, kinds[kind]) and (kind == "boolean" or not isinstance(value, bool))
