"""Changing one value in a JSON text and not a character beside it.

Policy: a configuration file is somebody's text. What is in it besides our entry, order, indentation, comments and
trailing commas included, stays as it is; so the text is edited in place instead of being parsed and written again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

_BLANK = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SCALAR = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
    r"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|(?:true|false|null)\b"
)
BYTE_ORDER_MARK = "\ufeff"
"""What some editors on Windows begin a file with."""
_DEEPEST = 200
"""Levels of nesting that are read; no configuration comes near."""


class JsonTextError(ValueError):
    """A text that is not what it should be; ``line`` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(f"line {line}: {problem}")


@dataclass(frozen=True, slots=True)
class JsoncNode:
    """A value and where it stands in the text; an object also has its members by key."""

    start: int
    end: int
    value: Any
    members: Mapping[str, "Member"] = field(default_factory=dict[str, "Member"])


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: the place of its key, its value, and the place of the comma behind it, if there is one."""

    start: int
    node: JsoncNode
    comma: int | None


def parse(text: str, *, lenient: bool) -> JsoncNode:
    """Read a JSON text; ``lenient`` allows comments and trailing commas.

    Raises:
        JsonTextError: it is no such text.
    """
    return _Reader(text, lenient).document()


class _Reader:
    def __init__(self, text: str, lenient: bool) -> None:
        self._text = text
        self._lenient = lenient
        self._at = 0
        self._depth = 0

    def document(self) -> JsoncNode:
        self._take(BYTE_ORDER_MARK)
        self._skip()
        node = self._value()
        self._skip()
        if self._at < len(self._text):
            self._fail("something follows the end of the document")
        return node

    def _fail(self, problem: str) -> NoReturn:
        raise JsonTextError(self._text.count("\n", 0, self._at) + 1, problem)

    def _skip(self) -> None:
        """Go past blanks, and comments where they are allowed."""
        while True:
            if blank := _BLANK.match(self._text, self._at):
                self._at = blank.end()
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                return
            if not self._lenient:
                self._fail("a comment, which plain JSON does not have")
            self._at = comment.end()

    def _take(self, mark: str) -> bool:
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) * found
        return found

    def _value(self) -> JsoncNode:
        start = self._at
        if not self._text.startswith(("{", "["), start):
            return self._scalar()
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail("nested too deeply")
        node = self._object(start) if self._take("{") else self._list(start)
        self._depth -= 1
        return node

    def _scalar(self) -> JsoncNode:
        start = self._at
        found = _SCALAR.match(self._text, start)
        if found is None:
            self._fail("expected a value" if start < len(self._text) else "the text ends too early")
        self._at = found.end()
        return JsoncNode(start, self._at, json.loads(found.group()))

    def _object(self, start: int) -> JsoncNode:
        members: dict[str, Member] = {}
        comma = None
        while not self._closed("}", comma):
            place, key = self._at, self._key()
            if key in members:
                self._fail(f"the key {key!r} stands here for the second time")
            node = self._value()
            comma = self._comma("}")
            members[key] = Member(place, node, comma)
        return JsoncNode(start, self._at, {key: member.node.value for key, member in members.items()}, members)

    def _key(self) -> str:
        key = self._value().value
        if not isinstance(key, str):
            self._fail("expected a key in double quotes")
        self._skip()
        if not self._take(":"):
            self._fail(f"expected a colon after the key {key!r}")
        self._skip()
        return key

    def _list(self, start: int) -> JsoncNode:
        self._take("[")
        values: list[Any] = []
        comma = None
        while not self._closed("]", comma):
            values.append(self._value().value)
            comma = self._comma("]")
        return JsoncNode(start, self._at, values)

    def _closed(self, mark: str, comma: int | None) -> bool:
        """Whether the object or list ends here; ``comma`` is what came before."""
        self._skip()
        if not self._take(mark):
            return False
        if comma is not None and not self._lenient:
            self._fail("a comma after the last item, which plain JSON does not have")
        return True

    def _comma(self, closing: str) -> int | None:
        """The place of the comma behind an item; None where the object or list ends instead."""
        self._skip()
        place = self._at
        if self._take(","):
            return place
        if not self._text.startswith(closing, place):
            self._fail(f"expected a comma or {closing!r}")
        return None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; objects on the way are made where they are missing.

    Raises:
        JsonTextError: the text cannot be read, or something on the way is no object.
    """
    node, rest = _deepest(parse(text, lenient=True), path)
    if not rest:
        flat = "\n" not in text[node.start : node.end] and isinstance(node.value, list)
        new = _flat(value) if flat else _spread(text, value, _indent(text, node.start))
        return _spliced(text, node.start, node.end, new)
    if not isinstance(node.value, dict):
        raise JsonTextError(text.count("\n", 0, node.start) + 1, "expected an object")
    for key in reversed(rest[1:]):
        value = {key: value}
    return _behind(text, node, rest[0], value) if node.members else _inside(text, node, rest[0], value)


def put_text(text: str, path: Sequence[str], written: str) -> str:
    """The text with the value at a path, which must be there, written like this."""
    node, _ = _deepest(parse(text, lenient=True), path)
    return _spliced(text, node.start, node.end, written)


def text_at(text: str, path: Sequence[str]) -> str:
    """How the value at a path, which must be there, is written."""
    node, _ = _deepest(parse(text, lenient=True), path)
    return text[node.start : node.end]


def drop(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path of keys, which must be there; an empty line or object closes up."""
    holder, _ = _deepest(parse(text, lenient=True), path[:-1])
    inside = list(holder.members)
    number = inside.index(path[-1])
    gone = holder.members[path[-1]]
    before = holder.members[inside[number - 1]].comma if number else None
    if gone.comma is not None:
        text = _without_line(text, gone.start, gone.comma + 1)
    elif before is None:
        text = _spliced(text, _line_end_before(text, gone.start), gone.node.end, "")
    elif text[before + 1 : gone.start].isspace():
        text = _spliced(text, before, gone.node.end, "")
    else:
        text = _spliced(text, _line_end_before(text, gone.start), gone.node.end, "")
        text = _spliced(text, before, before + 1, "")
    holder, _ = _deepest(parse(text, lenient=True), path[:-1])
    empty = not text[holder.start + 1 : holder.end - 1].strip()
    return _spliced(text, holder.start, holder.end, "{}") if empty else text


def _deepest(node: JsoncNode, path: Sequence[str]) -> tuple[JsoncNode, Sequence[str]]:
    """The last value on a path that is there, and the keys that are left."""
    for number, key in enumerate(path):
        if key not in node.members:
            return node, path[number:]
        node = node.members[key].node
    return node, ()


def _behind(text: str, holder: JsoncNode, key: str, value: Any) -> str:
    """The text with one more member after the last one, on a line of its own if that one has one."""
    last = list(holder.members.values())[-1]
    apart, indent = _own_line(text, last.start), _indent(text, last.start)
    gap = _newline(text) + indent if apart else " "
    member = f"{gap}{json.dumps(key)}: {_spread(text, value, indent) if apart else _flat(value)}"
    if last.comma is not None:
        spot = _past_remark(text, last.comma + 1)
        return _spliced(text, spot, spot, f"{member},")
    spot = _past_remark(text, last.node.end)
    text = _spliced(text, spot, spot, member)
    return _spliced(text, last.node.end, last.node.end, ",")


def _inside(text: str, holder: JsoncNode, key: str, value: Any) -> str:
    """The text with a member in an object that has none, but may hold comments."""
    held = text[holder.start + 1 : holder.end - 1].rstrip()
    whole = text.strip(f"{BYTE_ORDER_MARK} \t\r\n")
    if "\n" not in whole and whole != text[holder.start : holder.end]:
        return _spliced(text, holder.start + 1, holder.end - 1, f"{held}{json.dumps(key)}: {_flat(value)}")
    outer, newline = _indent(text, holder.start), _newline(text)
    inner = outer + _unit(text)
    member = f"{inner}{json.dumps(key)}: {_spread(text, value, inner)}"
    return _spliced(text, holder.start + 1, holder.end - 1, f"{held}{newline}{member}{newline}{outer}")


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spread(text: str, value: Any, indent: str) -> str:
    """A value as JSON over several lines, for a line that is indented like this."""
    shown = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return shown.replace("\n", _newline(text) + indent)


def _without_line(text: str, start: int, end: int) -> str:
    """The text without this part, and without the line if nothing else is on it."""
    rest = re.compile(r"[ \t]*(\r?\n)?").match(text, end)
    after = rest.end() if rest else end
    if not _own_line(text, start):
        return _spliced(text, start, after if text[after - 1 : after] != "\n" else end, "")
    alone = text[after - 1 : after] == "\n"
    return _spliced(text, text.rfind("\n", 0, start) + 1 if alone else start, after, "")


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _own_line(text: str, place: int) -> bool:
    """Whether nothing but blanks stands before this place on its line, and the line is not the first one."""
    start = text.rfind("\n", 0, place)
    return start >= 0 and not text[start:place].strip()


def _line_end_before(text: str, place: int) -> int:
    """The end of the line before, if nothing stands before this place on its own; otherwise the place."""
    return len(text[:place].rstrip(" \t\r\n")) if _own_line(text, place) else place


def _indent(text: str, place: int) -> str:
    """The blanks that the line of this place begins with."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """By what this text indents."""
    root = parse(text, lenient=True)
    first = next(iter(root.members.values()), None)
    return (_indent(text, first.start) if first and _own_line(text, first.start) else "") or "  "


def _past_remark(text: str, place: int) -> int:
    """Past a comment that follows on the same line, if there is one."""
    found = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/)").match(text, place)
    return found.end() if found else place
