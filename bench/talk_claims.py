"""How the claims reader agrees with replies of which somebody has written down what they claim.

A block begins with ``@ name {"facts": [...], "given": [...], "log": [...], "names": [...]}``: what is asked, what the
user had said, which deeds were done and whom the world knows. Then ``+ kind :: reply`` claims all the facts and nothing
untrue, ``- kind :: reply`` does not. ``\\n`` in a reply is a line break.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, cast

from sandbox_grader.claims import Background, Hearing, hear
from sandbox_scenarios.errors import ValueProblemError
from sandbox_scenarios.facts import measured_in
from sandbox_scenarios.model import Fact


@dataclass(frozen=True)
class ReplyBlock:
    """What a block of replies is read against."""

    name: str
    facts: tuple[Fact, ...]
    back: Background


@dataclass(frozen=True)
class JudgedReply:
    """One reply with what is right, what was heard, and how many seconds that took."""

    block: ReplyBlock
    right: bool
    kind: str
    reply: str
    hearing: Hearing
    spent: float


def report(path: Path, *, wrong: bool = False) -> list[str]:
    """A table for one corpus; with ``wrong``, every reply that was read wrongly before it.

    Raises:
        ValueError: a line is not in the form of a corpus.
    """
    found = list(judged(path))
    if not found:
        return [f"{path.name}: no replies"]
    said = [item for item in found if item.hearing.right]
    true = [item for item in found if item.right]
    both = sum(1 for item in said if item.right)
    agreed = sum(1 for item in found if item.right == item.hearing.right)
    lines = [_shown(item) for item in found if item.right != item.hearing.right] if wrong else []
    usual = median(item.spent for item in found) * 1e3
    figures = (
        f"agrees {agreed / len(found):.3f}, precision {both / max(1, len(said)):.3f}, recall "
        f"{both / max(1, len(true)):.3f}"
    )
    return [
        *lines,
        f"{path.name}: {len(found)} replies, {figures}, median {usual:.2f} ms",
    ]


def judged(path: Path) -> Iterator[JudgedReply]:
    """The replies of a corpus with what was heard of each.

    Raises:
        ValueError: a line is not in the form of a corpus.
    """
    for block, right, kind, reply in _lines(path):
        start = process_time()
        hearing = hear(reply, block.facts, block.back)
        yield JudgedReply(block, right, kind, reply, hearing, process_time() - start)


def _shown(item: JudgedReply) -> str:
    why = item.hearing.false or "; ".join(finding.why for finding in item.hearing.findings)
    return f"  {item.block.name} {'+' if item.right else '-'} {item.kind} :: {item.reply!r}\n      {why}"


def _lines(path: Path) -> Iterator[tuple[ReplyBlock, bool, str, str]]:
    block: ReplyBlock | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("@ "):
            try:
                block = _block(line)
            except ValueProblemError as error:
                raise ValueError(f"{path}:{number}: {error}") from error
        elif line.strip() and not line.startswith("#"):
            kind, found, reply = line[2:].partition(" :: ")
            if block is None or line[:2] not in ("+ ", "- ") or not found:
                raise ValueError(
                    f"{path}:{number}: expected '+ kind :: reply' or '- kind :: reply' in a block, not {line!r}"
                )
            yield block, line[0] == "+", kind, reply.replace("\\n", "\n")


def _block(line: str) -> ReplyBlock:
    _, name, text = line.split(" ", 2)
    head: Mapping[str, Any] = json.loads(text)
    back = Background(
        given=tuple(head.get("given", ())), deeds=frozenset(head.get("log", ())), names=tuple(head.get("names", ()))
    )
    return ReplyBlock(name, tuple(map(_fact, head["facts"])), back)


def _fact(item: Mapping[str, Any]) -> Fact:
    kind = item["type"]
    value = item["topic"] if kind == "cannot" else item.get("value")
    about = item.get("about", ())
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    if kind == "polarity":
        about = item["topic"]
    kind, unit = measured_in(kind, item.get("unit") or item.get("what", ""))
    return Fact(
        kind,
        tuple(values),
        unit,
        (about,) if isinstance(about, str) else tuple(about),
        item.get("attribute", ""),
        tuple(item.get("not", ())),
    )
