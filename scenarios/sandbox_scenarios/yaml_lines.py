"""YAML with line numbers, so that every fault of a scenario file can be pointed at.

Policy: keys are text, and duplicate keys are errors. Only ``true`` and ``false`` are booleans and only plain decimal
digits are numbers, so that an argument called ``on``, a phone number and a time of day stay what they look like. What a
file can cost is bounded before it is read: its depth, its numbers, and what its aliases unfold to.
"""

import math
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Any, cast

import yaml

from sandbox_scenarios.errors import ScenarioFileError

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT, _LIST, _MAPPING = "tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"
_MERGE = "tag:yaml.org,2002:merge"
_MOMENT = len("2025-05-16 09:30:00")
_SCALAR: Any = yaml.ScalarNode
_PLAIN = {
    "bool": (r"^(?:true|false)$", "tf"),
    "int": (r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    "float": (r"^-?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
    "null": (r"^(?:~|null|)$", "~n\0"),
}
MOST_NODES = 500_000
"""How many lists, mappings and values of them a document may come to, aliases counted as often as they stand."""
DEEPEST = 60
"""How many lists and mappings may stand in each other."""
_TOO_DEEP = f"nests deeper than {DEEPEST} lists and mappings"
MOST_DIGITS = 40
"""How many characters a number may have."""
_BRACKET = re.compile(r"[\[\]{}]")


class _Loader(_Base):
    """The safe loader, less eager to see booleans and numbers; and short ways for what nearly all of a file is."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML's own way; filled below)

    def __init__(self, text: str) -> None:
        _Base.__init__(self, text)
        self._merges = "<<" in text

    def descend_resolver(self, *_: Any) -> None:
        """Nothing is resolved by where it stands."""

    def ascend_resolver(self) -> None:
        """Do nothing: no resolver here depends on the path."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """The tag of a node that has none."""
        if kind is not _SCALAR:
            return _LIST if kind is yaml.SequenceNode else _MAPPING
        if implicit[0]:
            for tag, pattern in self.yaml_implicit_resolvers.get(value[:1], ()):
                if pattern.match(value):
                    return tag
        return _TEXT

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """The value of a node."""
        if node.tag == _TEXT and node.__class__ is _SCALAR:
            return node.value
        return _Base.construct_object(self, node, deep)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        """The value of a mapping; its keys are texts by now."""
        if node.__class__ is not yaml.MappingNode:
            return _Base.construct_mapping(self, node, deep)
        if self._merges:
            self.flatten_mapping(node)
        make = self.construct_object
        return {key.value: make(value, deep) for key, value in node.value}


def _timestamp(loader: Any, node: Any) -> Any:
    """A date, with the line of one that no calendar has; the common way of writing one costs a tenth of any other."""
    if len(node.value) == _MOMENT:
        with suppress(ValueError):
            return datetime.fromisoformat(node.value)
    try:
        return _Base.construct_yaml_timestamp(loader, node)
    except (ValueError, OverflowError) as error:
        raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from error
    except AttributeError:
        raise _not_a("date", node) from None


def _number(_: Any, node: Any) -> int | float:
    """A number; where it cannot be used, the fault names its line."""
    value = node.value
    try:
        number = (
            (int(value) if value.lstrip("-").isdigit() else float(value)) if len(value) <= MOST_DIGITS else math.inf
        )
    except (ValueError, TypeError, AttributeError):
        raise _not_a("number", node) from None
    if not math.isfinite(number):
        shown = value if len(value) <= MOST_DIGITS else f"{value[:MOST_DIGITS]}..."
        raise yaml.constructor.ConstructorError(None, None, f"the number {shown} is too large", node.start_mark)
    return number


def _bool(loader: Any, node: Any) -> bool:
    """True or false; anything may be tagged as one."""
    try:
        return _Base.construct_yaml_bool(loader, node)
    except (KeyError, AttributeError):
        raise _not_a("bool", node) from None


def _not_a(kind: str, node: Any) -> yaml.constructor.ConstructorError:
    shown = repr(node.value) if isinstance(node.value, str) and len(node.value) <= MOST_DIGITS else "this"
    told = f"{shown} is tagged as a {kind}, which it is not"
    return yaml.constructor.ConstructorError(None, None, told, node.start_mark)


def _foreign(_: Any, node: Any) -> None:
    """Values with a tag of a kind that no scenario has, such as a set."""
    raise yaml.constructor.ConstructorError(None, None, f"nothing here may be tagged {node.tag}", node.start_mark)


for _kind in ("set", "omap", "pairs", "binary"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _foreign)
_Loader.add_constructor("tag:yaml.org,2002:bool", _bool)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


for _tag, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), [*_first.replace("\0", ""), ""])
for _first, _entries in _Base.yaml_implicit_resolvers.items():
    for _tag, _regexp in _entries:
        if _tag.endswith((":timestamp", ":merge")):
            _Loader.add_implicit_resolver(_tag, _regexp, [_first])


class Lines:
    """Lines of a document: a path of keys and positions to a line, counted from 1.

    Only the lines of the outermost parts are kept. Those of others are asked for when something is wrong, so the text
    is parsed again then: what the parser makes of it is several times larger than the document.
    """

    def __init__(self, text: str, path: str, root: Any) -> None:
        self._text, self._path = text, path
        self._outermost = dict(_outermost(root))

    @cached_property
    def _root(self) -> Any:
        return _parsed(self._text, self._path)[1]

    def of(self, path: Sequence[str | int]) -> int:
        """The line of the deepest part of ``path`` that exists."""
        return self.find(path)[1]

    def find(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Number of parts of ``path`` that exist, and the line of the last of them."""
        outermost = self._outermost.get(tuple(path))
        if outermost is not None:
            return len(path), outermost
        node = self._root
        line: int = node.start_mark.line + 1
        for depth, part in enumerate(path):
            step = _step(node, part)
            if step is None:
                return depth, line
            line, node = step
        return len(path), line


def _outermost(root: Any) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """The document, what it maps its keys to, and the items of lists there; each with its line."""
    yield (), root.start_mark.line + 1
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        yield (key.value,), key.start_mark.line + 1
        for index, item in enumerate(value.value if isinstance(value, yaml.SequenceNode) else ()):
            yield (key.value, index), item.start_mark.line + 1


def _step(node: Any, part: str | int) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("Any", node).value:
            if key.value in (str(part), f"{part}+"):
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(cast("Any", node).value):
        item = cast("Any", node).value[part]
        return item.start_mark.line + 1, item
    return None


def load(text: str, path: str) -> tuple[Any, Lines]:
    """Parse one YAML document.

    Raises:
        ScenarioFileError: it is not YAML, is empty, or repeats a key.
    """
    data, root = _parsed(text, path)
    return data, Lines(text, path, root)


def _parsed(text: str, path: str) -> tuple[Any, Any]:
    """A document and the node that it was made from. Raises like :func:`load`."""
    try:
        _check_depth(text, path)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                raise ScenarioFileError(path, None, "is empty; expected 'family' and 'scenarios'")
            for line, problem in _faults(root):
                raise ScenarioFileError(path, line, problem)
            return loader.construct_document(root), root
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ScenarioFileError(path, line, f"is not valid YAML: {error.reason}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        line = mark.line + 1 if mark else None
        if "nesting depth" in problem:  # newer readers have a bound of their own, and meet it while they read ahead
            raise ScenarioFileError(path, line, _TOO_DEEP) from error
        sign = text[mark.index : mark.index + 1] if mark and "cannot start any token" in problem else ""
        if sign == "\t" or "tab character" in problem:
            problem = "a tab stands where spaces should"
        elif sign:
            problem = f"put what begins with {sign} in quotes"
        raise ScenarioFileError(path, line, f"is not valid YAML: {problem}") from error


def _check_depth(text: str, path: str) -> None:
    """Refuse what nests too deeply to be read, which readers notice only when it is too late.

    Nearly every file is cleared by how its text looks; the others are parsed for their depth alone.
    """
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    indented = max((len(line) - len(line.lstrip(" -?:")) for line in text.split("\n")), default=0)
    if deepest + indented > DEEPEST:
        depth = 0
        events = cast("Iterator[Any]", yaml.parse(text, Loader=_Loader))  # pyright: ignore[reportUnknownMemberType]
        for event in events:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ScenarioFileError(path, event.start_mark.line + 1, _TOO_DEEP)


def _faults(root: Any) -> Iterator[tuple[int, str]]:
    """Faults in the form of a document, while all its keys are made text."""
    open_nodes: set[int] = set()
    nodes = 0
    waiting: list[tuple[Any, bool]] = [(root, True)]
    while waiting:
        node, enter = waiting.pop()
        if not enter:
            open_nodes.discard(id(node))
        elif id(node) in open_nodes:
            yield node.start_mark.line + 1, "an alias refers to what contains it"
        elif not isinstance(node, yaml.ScalarNode):
            is_mapping = isinstance(node, yaml.MappingNode)
            values = list((yield from _key_faults(node))) if is_mapping else node.value
            nodes += 1 + len(values)
            if nodes > MOST_NODES:
                yield node.start_mark.line + 1, f"unfolds to more than {MOST_NODES} values by its aliases"
            open_nodes.add(id(node))
            waiting.append((node, False))
            waiting += [(inner, True) for inner in reversed(values) if inner.__class__ is not _SCALAR]


def _key_faults(node: Any) -> Generator[tuple[int, str], None, list[Any]]:
    """Faults in the keys of a mapping; returns its values."""
    seen: dict[str, str] = {}
    for key, _ in node.value:
        if key.__class__ is not _SCALAR:
            yield key.start_mark.line + 1, "a key must be text"
            continue
        name = key.value
        plain = name.removesuffix("+")
        if seen.get(plain) == name:
            yield key.start_mark.line + 1, f"the key {name!r} stands twice in one mapping"
        elif plain in seen:
            both = f"{seen[plain]!r} and {name!r} stand in one mapping"
            yield key.start_mark.line + 1, f"{both}; keep one, which replaces or, with '+', adds to what is inherited"
        seen[plain] = name
        if key.tag != _MERGE:
            key.tag = _TEXT
    return [value for _, value in node.value]
