"""YAML with line numbers, so that every fault of a scenario file can be pointed at.

Policy: duplicate keys are errors. Only ``true`` and ``false`` are booleans and only plain decimal digits are numbers,
so that an argument called ``on``, a phone number and a time of day stay what they look like.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import yaml

from scenarios.errors import ScenarioFileError

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {
    "bool": (r"^(?:true|false)$", "tf"),
    "int": (r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    "float": (r"^-?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
    "null": (r"^(?:~|null|)$", "~n\0"),
}


class _Loader(_Base):
    """The safe loader, less eager to see booleans and numbers."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML's own way; filled below)


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
        node = self._root
        line: int = node.start_mark.line + 1
        for part in path:
            step = _step(node, part)
            if step is None:
                return line
            line, node = step
        return line


def _step(node: Any, part: str | int) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("Any", node).value:
            if key.value == str(part):
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
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            raise ScenarioFileError(path, None, "is empty; expected 'family' and 'scenarios'")
        for line, key in _duplicates(root):
            raise ScenarioFileError(path, line, f"the key {key!r} stands twice in one mapping")
        return loader.construct_document(root), Lines(root)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise ScenarioFileError(path, mark.line + 1 if mark else None, f"is not valid YAML: {problem}") from error
    except ValueError as error:
        raise ScenarioFileError(path, None, f"is not valid YAML: {error}") from error
    finally:
        loader.dispose()


def _duplicates(node: Any) -> Iterator[tuple[int, str]]:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in cast("Any", node).value:
            if key.value in seen:
                yield key.start_mark.line + 1, key.value
            seen.add(str(key.value))
            yield from _duplicates(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in cast("Any", node).value:
            yield from _duplicates(item)
