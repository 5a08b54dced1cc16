"""Answers of a model where a tape has none, kept in a file beside the tape.

Policy: an answer is asked for once and then stands, so that a session can be played again to the byte without the
model. It is found like a recorded one: for equal arguments after the same acting calls. Lines are only ever appended;
of several answers to one question the first in the file counts, for every process that asked.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.whole_files import check_regular
from sandbox_mcp.engine.worlds.recorded.tape import Deed, TapeCall, TapeError, TapeTool

FILLED = "filled"
"""Under which name a call on a log says which model answered it."""


@dataclass(frozen=True, slots=True)
class FillQuestion:
    """What a tape has no answer to: the tool, the call, the acting calls before it, and recorded calls like it."""

    tool: TapeTool
    asked: Deed
    after: tuple[Deed, ...]
    examples: tuple[TapeCall, ...]


@dataclass(frozen=True, slots=True)
class Fill:
    """An answer that a model gave, in the form in which a server's travels."""

    result: Mapping[str, Any]
    model: str


AskForFill = Callable[[FillQuestion], Fill]
"""Asks a model; raises where it gives no usable answer."""


def fills_beside(tape: Path) -> Path:
    """The file with the answers that a tape does not have."""
    return tape.with_name(f"{tape.stem}.filled{tape.suffix}")


class Fills:
    """The answers in one file; where a model is given, it is asked for those that are missing.

    ``plain`` makes one call of those that are equal, see :meth:`Tape.plain`.
    """

    def __init__(
        self, path: Path, ask: AskForFill | None = None, plain: Callable[[Deed], Deed] = lambda made: made
    ) -> None:
        self.path = path
        self.plain = plain
        self._ask = ask
        self._known: dict[tuple[tuple[Deed, ...], Deed], Fill] = {}
        self._read = 0

    def to(self, question: FillQuestion) -> Fill | None:
        """The answer to a question; None where it is not known and no model is asked.

        Raises:
            TapeError: the file cannot be used.
        """
        place = question.after, question.asked
        if place not in self._known:
            self._read_on()
        if place not in self._known and self._ask is not None:
            fill = self._ask(question)
            (tool, arguments), after = question.asked, [list(deed) for deed in question.after]
            line = {"kind": "fill", "tool": tool, "arguments": arguments, "after": after, "model": fill.model}
            text = json.dumps({**line, "result": fill.result}, ensure_ascii=False)
            try:
                with check_regular(self.path).open(
                    "ab"
                ) as file:  # one write, so that lines of several processes do not mix
                    cut = file.tell() > self._read
                    file.write(f"{chr(10) if cut else ''}{text}\n".encode())
            except OSError as error:
                raise TapeError(self.path, None, f"cannot be written: {error.strerror or error}") from error
            self._read_on()
        return self._known.get(place)

    def _read_on(self) -> None:
        """Take in what was added since.

        A last line without an end is still being written; one that is no JSON was cut off by a crash.
        """
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            whole, newline, _ = file.read().rpartition(b"\n")
        for text in whole.split(b"\n") if newline else ():
            try:
                line = loads(text)
            except ValueError:
                continue
            try:
                place, fill = _fill(line)
            except (ValueError, LookupError, TypeError) as error:
                shown = text.decode(errors="replace")[:80]
                told = f"has a line with other keys than tool, arguments, after, model and result: {shown}"
                raise TapeError(self.path, None, told) from error
            after, asked = place
            self._known.setdefault((tuple(map(self.plain, after)), self.plain(asked)), fill)
        self._read += len(whole) + len(newline)


def _fill(line: Any) -> tuple[tuple[tuple[Deed, ...], Deed], Fill]:
    after = tuple((str(tool), str(arguments)) for tool, arguments in line["after"])
    result = line["result"]
    if not isinstance(result, Mapping):
        raise TypeError("the result is not an object")
    asked = str(line["tool"]), str(line["arguments"])
    return (after, asked), Fill(cast("Mapping[str, Any]", result), str(line["model"]))
