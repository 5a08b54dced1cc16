"""YAML with line numbers, so that every fault of a scenario file can be pointed at.

Policy: keys are text, and duplicate keys are errors. Only ``true`` and ``false`` are booleans and only plain decimal
digits are numbers, so that an argument called ``on``, a phone number and a time of day stay what they look like.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import yaml

from scenarios.errors import ScenarioFileError

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT, _MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_PLAIN = {
    "bool": (r"^(?:true|false)$", "tf"),
    "int": (r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    "float": (r"^-?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
    "null": (r"^(?:~|null|)$", "~n\0"),
}


class _Loader(_Base):
    """The safe loader, less eager to see booleans and numbers."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML's own way; filled below)


def _timestamp(loader: Any, node: Any) -> Any:
    """A date, with the line of one that no calendar has."""
    try:
        return _Base.construct_yaml_timestamp(loader, node)
    except (ValueError, OverflowError) as error:
        raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from error


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)


for _tag, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), [*_first.replace("\0", ""), ""])
for _first, _entries in _Base.yaml_implicit_resolvers.items():
    for _tag, _regexp in _entries:
        if _tag.endswith((":timestamp", ":merge")):
            _Loader.add_implicit_resolver(_tag, _regexp, [_first])


class Lines:
    """Where each part of a document stands: a path of keys and positions to a line, counted from 1."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def of(self, path: Sequence[str | int]) -> int:
        """The line of the deepest part of ``path`` that exists."""
        return self.find(path)[1]

    def find(self, path: Sequence[str | int]) -> tuple[int, int]:
        """How many parts of ``path`` exist, and the line of the last of them."""
        node = self._root
        line: int = node.start_mark.line + 1
        for depth, part in enumerate(path):
            step = _step(node, part)
            if step is None:
                return depth, line
            line, node = step
        return len(path), line


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
    try:
        loader = _Loader(text)
        try:
            return _construct(loader, path)
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ScenarioFileError(path, line, f"is not valid YAML: {error.reason}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise ScenarioFileError(path, mark.line + 1 if mark else None, f"is not valid YAML: {problem}") from error


def _construct(loader: Any, path: str) -> tuple[Any, Lines]:
    root = loader.get_single_node()
    if root is None:
        raise ScenarioFileError(path, None, "is empty; expected 'family' and 'scenarios'")
    for line, problem in _faults(root):
        raise ScenarioFileError(path, line, problem)
    return loader.construct_document(root), Lines(root)


def _faults(root: Any) -> Iterator[tuple[int, str]]:
    """What is wrong with the form of a document, while all its keys are made text."""
    open_nodes: set[int] = set()
    waiting: list[tuple[Any, bool]] = [(root, True)]
    while waiting:
        node, enter = waiting.pop()
        if not enter:
            open_nodes.discard(id(node))
        elif id(node) in open_nodes:
            yield node.start_mark.line + 1, "an alias refers to what contains it"
        elif not isinstance(node, yaml.ScalarNode):
            yield from _key_faults(node) if isinstance(node, yaml.MappingNode) else ()
            open_nodes.add(id(node))
            waiting.append((node, False))
            waiting += ((inner, True) for inner in reversed(_inside(node)))


def _inside(node: Any) -> list[Any]:
    """The nodes below this one that can have faults: those that hold others."""
    values = (pair[1] for pair in node.value) if isinstance(node, yaml.MappingNode) else node.value
    return [value for value in values if not isinstance(value, yaml.ScalarNode)]


def _key_faults(node: yaml.MappingNode) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for key, _ in cast("Any", node).value:
        if not isinstance(key, yaml.ScalarNode):
            yield key.start_mark.line + 1, "a key must be text"
            continue
        name = str(cast("Any", key).value)
        plain = name.removesuffix("+")
        if plain in seen:
            yield key.start_mark.line + 1, f"the key {name!r} stands twice in one mapping"
        seen.add(plain)
        if key.tag != _MERGE:
            key.tag = _TEXT
