"""Imports events from JSON of any shape, as a mapping says: where sessions, messages, calls and results are.

A mapping is a file of the user's, or one of the formats of ``formats.yaml``.

Policy: a mapping names places by dotted paths, such as ``meta.task`` or ``steps.0``; nothing is guessed from names. A
record may hold several things, by several rules; with ``each`` a rule is about the elements of a list in it. A record
or an element that no rule takes is a loss. Calls of one record, and those without a result between them, were sent
together.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sandbox_grader.errors import GraderError
from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, is_array, is_object, load, shown
from sandbox_grader.importers.reading.manners import words_of
from sandbox_grader.importers.reading.values import arguments_of, decode, encode, failure, parsed, stated

DOCUMENT = "."
"""The path of the whole document, or of a line where a file has one per line."""
RECORD = "^."
"""How a path begins that leads from an element of a list to a member of the record it stands in."""
MOST_TOLD = 8
"""How many faults of a mapping are told at once."""
OTHERS = "others"
"""The key under which the formats' file has the marks of those that have a module of their own."""
FIRST = 40
"""So many lines or elements are looked at, because some hosts begin with records about themselves."""
FORMATS = Path(__file__).with_name("formats.yaml")

Conditions = dict[str, Any]
"""Places and what stands there: a value, one of several, ``'*'`` for anything, null for nothing, ``'tool-*'``."""
Several = BeforeValidator(lambda given: given if given is None or is_array(given) else [given])


class _MappedPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class _Rule(_MappedPart):
    when: str | list[str] | Conditions
    each: str | None = None
    where: Conditions = Field(default_factory=Conditions, alias="if")


class MappedText(_Rule):
    """A message: which records are of it, and where its text is."""

    text: str
    optional: bool = False
    once: bool = False
    after: bool = False


class MappedOutcome(_Rule):
    """The outcome of a call, as a record of its own or beside the call."""

    id: str | None = None
    name: str | None = None
    result: str | None = None
    error: str | None = None
    failed: Conditions = Field(default_factory=Conditions)
    guess: bool = False
    carried: bool = False
    typed: Conditions = Field(default_factory=Conditions)


class MappedCall(MappedOutcome):
    """A tool call, with its outcome where it stands beside it."""

    arguments: str
    strip: str = ""
    open: Conditions = Field(default_factory=Conditions)

    @model_validator(mode="after")
    def _has_a_name(self) -> Self:
        if self.name is None:
            raise ValueError("it lacks 'name', where the tool's name is")
        return self


class MappedTools(_MappedPart):
    """Where the definitions of the tools are, and where each part is within them."""

    at: str
    inside: str | None = None
    name: str = "name"
    description: str = "description"
    schema_: str = Field("parameters", alias="schema")


Texts = Annotated[list[MappedText], Several]


class LogMapping(_MappedPart):
    """A mapping file."""

    sessions: str = DOCUMENT
    events: Annotated[list[str], Several]
    kind: str | None = None
    inside: list[str] = Field(default_factory=list[str])
    key: str | None = None
    system: Texts = Field(default_factory=list[MappedText])
    user: Texts
    reasoning: Texts = Field(default_factory=list[MappedText])
    agent: Texts
    call: Annotated[list[MappedCall], Several]
    result: Annotated[list[MappedOutcome], Several] = Field(default_factory=list[MappedOutcome])
    ignore: list[str | Conditions] = Field(default_factory=list[str | Conditions])
    breaks: list[Conditions] = Field(default_factory=list[Conditions])
    scenario: str | None = None
    group: str | None = None
    id: str | None = None
    model: str | None = None
    time: str | None = None
    milliseconds: bool = False
    reward: str | None = None
    instructions: str | None = None
    tools: MappedTools | None = None
    usage: list[str] = Field(default_factory=list[str])
    origin: list[str] = Field(default_factory=list[str])
    marks: list[str | Conditions] = Field(default_factory=list[str | Conditions])
    about: str = ""

    @model_validator(mode="after")
    def _kinds_have_a_place(self) -> Self:
        if self.kind is None and any(isinstance(rule.when, str) for _, rule in self.rules()):
            raise ValueError("a rule tells kinds by name, and 'kind' does not say which member has them")
        return self

    def rules(self) -> Iterator[tuple[str, _Rule]]:
        """All rules, in the order in which they are asked, each with what it makes."""
        for name in ("system", "user", "reasoning", "agent", "call", "result"):
            yield from ((name, rule) for rule in cast("list[_Rule]", getattr(self, name)))


def mapping_in(path: Path) -> LogMapping:
    """Read a mapping file.

    Raises:
        GraderError: it cannot be read, is not YAML, or has not the form of a mapping; all faults are told.
    """
    return _mapping(_yaml(path), str(path))


@lru_cache(maxsize=1)
def formats() -> Mapping[str, LogMapping]:
    """The formats that are said as data, by name."""
    return {name: _mapping(data, f"format {name}") for name, data in _yaml(FORMATS).items() if name != OTHERS}


@lru_cache(maxsize=1)
def _marks() -> list[tuple[str, str, Any]]:
    """Formats, places by which they are recognised, and what has to stand there, None for anything."""
    given = {name: mapping.marks for name, mapping in formats().items()} | _yaml(FORMATS)[OTHERS]
    marks = ((name, mark if is_object(mark) else {str(mark): None}) for name, of_it in given.items() for mark in of_it)
    return [(name, place, wanted) for name, mark in marks for place, wanted in mark.items()]


def recognised(node: JsonNode) -> str | None:
    """The format that a document, a line, or an array of either is most likely of; None without the marks of any."""
    for name, place, wanted in _marks():
        if any(wanted is None or _fits(at.value, wanted) for at in _all(node, place)):
            return name
    array = node.sole_array()
    inside = (recognised(item) for item in array.items()[:FIRST]) if array is not None else ()
    return next(filter(None, inside), None)


def _yaml(path: Path) -> Any:
    from sandbox_scenarios.errors import ScenarioError
    from sandbox_scenarios.yaml_lines import load as load_yaml

    try:
        text = path.read_text(encoding="utf-8")
        return load_yaml(text, str(path))[0] if text.strip() else {}
    except ScenarioError as error:  # the same YAML as that of scenarios, with the same bounds
        raise GraderError(f"mapping {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise GraderError(f"mapping {str(path)!r} cannot be read: {error}") from error


def _mapping(data: Any, path: str) -> LogMapping:
    try:
        return LogMapping.model_validate(data)
    except ValidationError as error:
        told = error.errors()
        faults = [f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}" for item in told[:MOST_TOLD]]
        faults += [f"and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
        known = ", ".join(LogMapping.model_fields)
        raise GraderError(f"mapping {path!r}: {'; '.join(faults)}; known keys: {known}") from error


def read(paths: Sequence[Path], mapping: LogMapping, format_: str = "any") -> Iterator[Imported]:
    """Read the given files as the mapping says.

    Raises:
        ImportFormatError: a file is not JSON, or what the mapping names is not there or of another kind.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        for session, records in _sessions(loaded, mapping, faults):
            with faults.aside():
                builder = SessionBuilder(format_, str(path), stem(path), loaded.losses)
                yield _Player(builder, mapping).play(session, records, names)
        faults.tell()


def _sessions(loaded: Loaded, mapping: LogMapping, faults: Faults) -> Iterator[tuple[JsonNode, list[JsonNode]]]:
    """The sessions of a file with their records; a list named by ``.`` is one session, on lines or not."""
    holders = [place for place in mapping.events if place != DOCUMENT]
    apart = any(node.is_array or _held(node, holders) for node in loaded.nodes)
    if DOCUMENT in mapping.events and loaded.lines and not apart:
        yield loaded.nodes[0], list(loaded.nodes)
        return
    for document in loaded.nodes:
        with faults.aside():
            found = _at(document, mapping.sessions)
            if found is None:
                told = f"has nothing at {mapping.sessions!r}, where the mapping says that the sessions are"
                raise document.fail(told)
            bare = found.is_array and DOCUMENT in mapping.events and not any(_held(i, holders) for i in found.items())
            for session in [found] if bare else found.each():
                with faults.aside():
                    records = session.items() if bare else _held(session, holders)
                    if not records and not any(_at(session, place) for place in holders):
                        place = " or ".join(map(repr, holders)) or f"a list {DOCUMENT!r}"
                        raise session.fail(f"has nothing at {place}, where the mapping says that the events are")
                    yield session, records


def _latest(records: Sequence[JsonNode], key: str | None) -> list[JsonNode]:
    """The records, of those with the same key the last, which hosts write again once they know more."""
    places: dict[Any, int] = {}
    found: list[JsonNode] = []
    for record in records:
        label = _label(record, key)
        if label is not None and label in places:
            found[places[label]] = record
            continue
        if label is not None:
            places[label] = len(found)
        found.append(record)
    return found


def _held(session: JsonNode, holders: Sequence[str]) -> list[JsonNode]:
    found = (at for place in holders if (at := _at(session, place)) is not None and at.value is not None)
    return [record for at in found for record in at.each()]


class _Player:
    """Adds the records of one session, and remembers which rules took something."""

    def __init__(self, builder: SessionBuilder, mapping: LogMapping) -> None:
        self.builder = builder
        self.mapping = mapping
        self._batch = ""
        self._left: Counter[str] = Counter()
        self._said: dict[int, str] = {}

    def play(self, session: JsonNode, records: list[JsonNode], names: Names) -> Imported:
        """Add the records in order and finish the session."""
        builder, mapping = self.builder, self.mapping
        scenario, group, model, id_ = (
            _label(session, place) for place in (mapping.scenario, mapping.group, mapping.model, mapping.id)
        )
        grouped = "/".join(filter(None, [group, id_])) if group else ""
        builder.head = replace(
            builder.head, scenario=scenario or grouped or builder.head.scenario, agent=stated(model=model)
        )
        if (reward := _value(session, mapping.reward)) is not None:
            builder.origin["reward"] = float(reward) if isinstance(reward, bool | int | float) else reward
        told = {place: _value(session, place) for place in mapping.origin}
        builder.origin.update({place: value for place, value in told.items() if value is not None})
        self._offer(session)
        if text := _joined(_at(session, mapping.instructions)):
            builder.say("system", "agent", text)
        for record in _latest(records, mapping.key):
            self._record(record)
        if builder.last is None:
            raise session.empty("holds no message and no call")
        for place in mapping.usage if session.is_object else ():
            builder.spend(_at(session, place))
        for kind, count in self._left.items():
            builder.lose(f"records ({count})", f"no rule of the mapping takes {kind}, so they were dropped")
        name = names.unique(stem(builder.origin["file"]) if grouped else builder.head.scenario, id_ or "")
        return builder.finish(name, "recorded" if builder.whole else None)

    def _offer(self, session: JsonNode) -> None:
        tools = self.mapping.tools
        for definition in _all(session, tools.at) if tools else ():
            for tool in definition.each():
                inner = _at(tool, tools.inside) if tools and tools.inside else tool
                name = _label(inner, tools.name) if inner and tools else None
                schema = _value(inner, tools.schema_) if inner and tools else None
                if name and inner and tools:
                    described = _label(inner, tools.description) or ""
                    self.builder.offer(name, described, schema if is_object(schema) else {})

    def _record(self, outer: JsonNode) -> None:
        """Add one record: what is found in it, in order, and the parts that no rule takes as a loss."""
        inner = (at for place in self.mapping.inside if (at := _at(outer, place)) is not None and at.is_object)
        record = next(inner, outer)
        kind = _label(record, self.mapping.kind)
        if any(kind == rule if isinstance(rule, str) else _holds(record, rule) for rule in self.mapping.ignore):
            return
        rules = [(what, rule) for what, rule in self.mapping.rules() if self._is_of(record, rule, kind)]
        if not rules:
            self._left[f"those of the kind {kind!r}" if kind else "them"] += 1
            return
        found = list(self._found(record, rules))
        stamp = _value(record, self.mapping.time)
        stamp = stamp / 1000 if self.mapping.milliseconds and isinstance(stamp, int | float) else stamp
        self._add(record, found, stamp)
        for place in self.mapping.usage:
            self.builder.spend(_at(record, place))

    def _is_of(self, record: JsonNode, rule: _Rule, kind: str | None) -> bool:
        when = rule.when
        return _holds(record, when) if is_object(when) else kind in (when if is_array(when) else [when])

    def _found(self, record: JsonNode, rules: list[tuple[str, _Rule]]) -> Iterator[tuple[str, _Rule | None, JsonNode]]:
        """What the rules take: of the record itself, and of the elements of its lists, in their order.

        Raises:
            ImportFormatError: nothing of what the rules name is there.
        """
        own = [(what, rule) for what, rule in rules if rule.each is None]
        lists = {rule.each: _at(record, rule.each) for _, rule in rules if rule.each}
        there = [(what, rule) for what, rule in own if self._is_there(record, rule, lists)]
        late = [(what, rule) for what, rule in there if what in ("call", "result") or getattr(rule, "after", False)]
        if not there and not any(lists.values()):
            text = next((rule.text for _, rule in own if isinstance(rule, MappedText)), None)
            name = next((rule.name for _, rule in own if isinstance(rule, MappedCall)), None)
            place, what = (text, "a text") if text else (name, "a name") if name else (next(iter(lists)), "a list")
            raise record.fail(f"has nothing at {place!r}, where the mapping says that {what} is")
        texts = {rule.text for _, rule in there if isinstance(rule, MappedText)}
        for each, items in lists.items():
            if items is not None and isinstance(items.value, str | int | float) and items.value and each not in texts:
                raise items.fail(f"expected an array, found {shown(items.value)}")
        yield from ((what, rule, record) for what, rule in there if (what, rule) not in late)
        for each, items in lists.items():
            for item in map(parsed, items.each() if items and not isinstance(items.value, str | None) else ()):
                taken = [(what, rule) for what, rule in rules if rule.each == each and _holds(item, rule.where)]
                if any(_holds(item, rule) for rule in self.mapping.breaks):
                    yield "break", None, item
                if taken:
                    yield *taken[0], item
                elif not any(
                    _holds(item, rule) for rule in self.mapping.ignore if is_object(rule) and any(rule.values())
                ):
                    self._lose_element(item)
        yield from ((what, rule, record) for what, rule in late)

    def _is_there(self, record: JsonNode, rule: _Rule, lists: Mapping[str, JsonNode | None]) -> bool:
        """True if what a rule of the whole record takes is there; what its parts are told of is theirs."""
        if isinstance(rule, MappedCall):
            _check_index(record, rule.name or "")
        if not isinstance(rule, MappedText | MappedCall):
            return True
        at = _at(record, rule.text if isinstance(rule, MappedText) else rule.name)
        return at is not None and not (at.is_array and isinstance(rule, MappedText) and rule.text in lists)

    def _lose_element(self, item: JsonNode) -> None:
        kinds = ("type", "kind", "part_kind")
        kind = next((item.value[name] for name in kinds if is_object(item.value) and name in item.value), None)
        named = (
            f"of type {kind!r}" if kind else f"with {', '.join(item.value) or 'nothing'}" if item.is_object else "alone"
        )
        self.builder.lose(item, f"content {named} is not kept: no rule of the mapping takes it")

    def _add(self, record: JsonNode, found: list[tuple[str, _Rule | None, JsonNode]], stamp: Any) -> None:
        last_call = max((n for n, (what, *_) in enumerate(found) if what == "call"), default=-1)
        if last_call < 0:
            self._batch = ""
        given, texts = False, dict[str, list[str]]()
        for number, (what, rule, node) in enumerate(found):
            if isinstance(rule, MappedText):
                if not rule.after or _joined(_at(node, rule.text, record)).strip():  # beside calls it may be empty
                    self._hear(what, rule, node, record, texts, stamp)
                continue
            self._say(texts, number <= last_call, stamp)
            if isinstance(rule, MappedCall):
                self._batch = self._batch or self.builder.batch()
                given = self._call(rule, node, record, stamp) or given
                continue
            self._batch = ""
            if isinstance(rule, MappedOutcome):
                id_, name = _label(node, rule.id, record), _label(node, rule.name, record)
                outcome = self._outcome(node, rule, record)
                self.builder.settle(node, id_, outcome, name=name if id_ is None else None)
        spoke = bool(texts)
        if last_call >= 0 and not any("".join(words).strip() for words in texts.values()):
            texts.clear()  # beside calls an empty text is no answer
        self._say(texts, False, stamp)
        if given or spoke:
            self._batch = ""

    def _hear(
        self, what: str, rule: MappedText, node: JsonNode, record: JsonNode, texts: dict[str, list[str]], stamp: Any
    ) -> None:
        text = _joined(_at(node, rule.text, record))
        if rule.once and self._said.get(id(rule)) == text:
            return
        self._said[id(rule)] = text
        if what == "reasoning":
            self.builder.note(text, "reasoning", stamp=stamp)
        else:
            texts.setdefault(what, []).append(text)

    def _say(self, texts: dict[str, list[str]], calls: bool, stamp: Any) -> None:
        """Add what was said so far in a record; what the agent said before calls is a note."""
        for speaker, words in texts.items():
            text = "\n".join(words)
            if speaker == "agent":
                self.builder.write(text, calls=calls, stamp=stamp)
            else:
                self.builder.say("user" if speaker == "user" else "system", "agent", text, stamp=stamp)
        texts.clear()

    def _call(self, rule: MappedCall, node: JsonNode, record: JsonNode, stamp: Any) -> bool:
        """Add a call; gives whether its outcome stands beside it."""
        at = _at(node, rule.name, record)
        if at is None:
            raise node.fail(f"has nothing at {rule.name!r}, where the mapping says that a name is")
        name, given = at.label().removeprefix(rule.strip), arguments_of(_value(node, rule.arguments, record))
        opened = self.builder.call(name, given, batch=self._batch, id_=_label(node, rule.id, record), stamp=stamp)
        failed = bool(rule.failed) and _holds(node, rule.failed)
        there = _at(node, rule.result, record) is not None or _at(node, rule.error, record) is not None
        if (rule.open and _holds(node, rule.open)) or not (there or failed):
            return False
        self.builder.answer(opened, self._outcome(node, rule, record))
        return True

    def _outcome(self, node: JsonNode, rule: MappedOutcome, record: JsonNode) -> CallOutcome:
        error = _value(node, rule.error, record)
        if error:
            told = words_of(error) or _joined(_at(node, rule.error, record)) or encode(error)
            class_ = error.get("type") if is_object(error) else None
            return CallOutcome(error=failure(told, type_=class_ if isinstance(class_, str) else None))
        known, found = len(self.builder.losses), _at(node, rule.result, record)
        value = None if found is None else self._result(found)
        if rule.carried and is_object(value) and value.keys() <= {"result", "output"} and len(value) == 1:
            [value] = value.values()
        partial = {"result_partial": True} if len(self.builder.losses) > known else {}
        if rule.failed and _holds(node, rule.failed):
            return CallOutcome(
                error=failure(value if isinstance(value, str) else words_of(value) or encode(value)), meta=partial
            )
        if rule.typed and _holds(node, rule.typed):  # a text is a text there, whatever it looks like
            return CallOutcome(value, meta=partial)
        if (rule.failed or rule.error) and not rule.guess:
            return CallOutcome(decode(value) if isinstance(value, str) else value, meta=partial)
        judged = self.builder.judge(value if isinstance(value, str) else encode(value), None)
        text_stays = rule.carried and not (is_object(judged.result) or is_array(judged.result))
        if isinstance(value, str) and text_stays and judged.error is None:  # "1" beside a bare 1 is no number
            return replace(judged, result=value, meta=partial)
        return replace(judged, result=judged.result if isinstance(value, str) or judged.error else value, meta=partial)

    def _result(self, found: JsonNode) -> Any:
        """What a result holds: the text, or the JSON, of the parts of a content; anything else is the value itself."""
        if not is_array(found.value) or not found.value or not all(map(_is_part, found.value)):
            return found.value
        if len(found.value) == 1 and "json" in found.value[0]:
            return found.value[0]["json"]
        texts: list[str] = []
        for part in found.items():
            members = part.members()
            text = next((members[name] for name in ("text", "content") if isinstance(members.get(name), str)), None)
            if text is None and "json" in members:
                text = encode(members["json"])
            if text is None:
                self.builder.lose(part, f"content of type {members.get('type', ', '.join(members))!r} is not kept")
            else:
                texts.append(text)
        return "\n".join(texts)


_PARTS = frozenset({"text", "json", "image", "document", "video"})
"""Members of which a part of a content has one alone, where it names no type."""
_CARRIED = frozenset(
    {"text", "content", "json", "data", "blob", "source", "url", "uri", "file", "file_id", "image_url", "resource",
     "mimeType", "mime_type", "media_type"}
)  # fmt: skip
_PART_TYPES = frozenset(
    {"text", "input_text", "output_text", "json", "image", "image_url", "input_image", "audio", "video", "document",
     "file", "media", "resource", "resource_link"}
)  # fmt: skip
"""Types of parts, of which each carries something; any other list of objects with types is a tool's own."""


def _is_part(item: Any) -> bool:
    if not is_object(item):
        return False
    if "type" not in item:
        return len(item) == 1 and item.keys() <= _PARTS
    return item["type"] in _PART_TYPES and bool(item.keys() & _CARRIED)


def _joined(node: JsonNode | None) -> str:
    """A text, or the texts of parts, a line each; of other values their JSON."""
    if node is None or node.value is None:
        return ""
    if is_object(node.value) and is_array(node.value.get("parts")):
        return _joined(node.child("parts", node.value["parts"]))
    if not node.is_array:
        return node.value if isinstance(node.value, str) else _text_of(node.value) or encode(node.value)
    return "\n".join(text for item in node.value if (text := item if isinstance(item, str) else _text_of(item)))


def _text_of(value: Any) -> str:
    members = value if is_object(value) else {}
    return next((str(members[name]) for name in ("text", "content") if isinstance(members.get(name), str)), "")


def _check_index(record: JsonNode, place: str) -> None:
    """See that a call which is taken out of a list by number is the only one in it.

    Raises:
        ImportFormatError: there are more, which would vanish.
    """
    steps = place.split(".")
    for at, step in enumerate(steps):
        found = _at(record, ".".join(steps[:at])) if at and step.isdecimal() else None
        if found is not None and is_array(found.value) and len(found.value) > int(step) + 1:
            before = ".".join(steps[:at])
            told = f"the mapping takes element {step} of {len(found.value)}; say 'each: {before}' to take them all"
            raise found.fail(told)


def _holds(node: JsonNode, conditions: Any) -> bool:
    """True if a value is as conditions say, all of them."""
    return all(_fits(_value(node, place), wanted) for place, wanted in conditions.items())


def _fits(value: Any, wanted: Any) -> bool:
    if is_array(wanted):
        return any(_fits(value, one) for one in wanted)
    if isinstance(wanted, str) and wanted.endswith("*"):
        return value is not None and (wanted == "*" or (isinstance(value, str) and value.startswith(wanted[:-1])))
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _all(node: JsonNode, place: str) -> Iterator[JsonNode]:
    """Everything at a path; ``*`` in it stands for every element, ``a|b`` for the first present."""
    found = [node]
    for step in () if place == DOCUMENT else place.split("."):
        after: list[JsonNode] = []
        for at in found:
            if step == "*":
                after += at.items() if at.is_array else []
            elif at.is_array:
                after += at.items()[int(step) : int(step) + 1] if step.isdecimal() else []
            elif at.is_object:
                members = at.members()
                after += [at.child(name, members[name]) for name in step.split("|") if name in members][:1]
        found = after
    yield from found


def _at(node: JsonNode, place: str | None, record: JsonNode | None = None) -> JsonNode | None:
    """Value at a dotted path, be it null; None where it or something on the way is missing, or no place is named.

    Of several paths with ``or`` between them the first that leads somewhere counts.
    """
    if place is None:
        return None
    if record is not None and place.startswith(RECORD):
        node, place = record, place.removeprefix(RECORD)
    return next((found for path in place.split(" or ") for found in _all(node, path)), None)


def _value(node: JsonNode, place: str | None, record: JsonNode | None = None) -> Any:
    found = _at(node, place, record)
    return None if found is None else found.value


def _label(node: JsonNode, place: str | None, record: JsonNode | None = None) -> str | None:
    found = _at(node, place, record)
    return None if found is None or found.value is None else found.label()
