"""A model that settles doubts about what replies state: ``grade --judge MODEL``.

Policy: the judge is asked about nothing certain. Each fact in doubt is one question, with the evidence beside
it, and every answer is kept in a file under what was asked and whom, so that nothing is asked twice and an
interrupted run goes on. What it cannot answer stays in doubt, and all that it settled is listed.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_grader.milestones.listening import Settled
from sandbox_grader.milestones.telling import DoubtfulFact
from sandbox_grader.reporting.doubts import DoubtfulSession

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.talk.text import without_reasoning
from sandbox_mcp.engine.whole_files import check_regular
from sandbox_mcp.play.models.asking import EndpointError, EndpointSettings
from sandbox_mcp.play.models.completions import Completions

ROLE = (
    "You judge what one message of an assistant states. You are given what the user said, the calls that the assistant "
    "made with their results, the message, and one fact. Decide whether the message states that fact as so: in any "
    "wording, rounded as people do, and not denied, taken back, doubted, asked or contradicted in the same message. "
    'Answer with JSON and nothing else: {"stated": true or false, "why": "one short sentence"}.'
)
ASKED = 3
"""How often a question is put that gets no usable answer."""
LONGEST = 100_000
"""Characters of an answer that is read; whoever says more does not answer in a sentence."""
LONGEST_REASON = 500
"""Characters of a reason that are kept, and printed."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's answer to one doubt of one session; ``stated`` is None where it gave no usable answer."""

    key: str
    session: str
    doubt: DoubtfulFact
    stated: bool | None
    why: str

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "session": self.session, "milestone": self.doubt.milestone, "fact": self.doubt.fact, "seq": self.doubt.seq,
            "message": self.doubt.message, "doubt": self.doubt.why, "judge": self.stated, "judge_why": self.why,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """All opinions of one judge, and how many questions had to be put to it this time."""

    model: str
    opinions: tuple[Opinion, ...]
    asked: int

    @property
    def answers(self) -> Mapping[str, Settled]:
        """The doubts that it settled, by session key."""
        found = defaultdict[str, dict[tuple[int, str], bool]](dict)
        for item in self.opinions:
            if item.stated is not None:
                found[item.key][item.doubt.seq, item.doubt.fact] = item.stated
        return found

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "model": self.model, "doubts": len(self.opinions), "asked": self.asked,
            "opinions": [item.to_json() for item in self.opinions],
        }  # fmt: skip


def question(item: DoubtfulFact) -> str:
    """Question to the judge about one fact."""
    parts = {
        "What the user said": list(item.request) or ["(nothing)"],
        "Calls and results": list(item.evidence) or ["(none)"],
        "The assistant's message": [item.message],
        "The fact": [item.fact],
    }
    return "\n\n".join(f"{title}:\n" + "\n".join(lines) for title, lines in parts.items())


async def judged(sessions: Iterable[DoubtfulSession], settings: EndpointSettings, answers: Path) -> Judged:
    """Ask a model about every doubt that is not in ``answers`` yet, and write there what it says.

    Raises:
        RunError: the file of answers cannot be read or written, or the endpoint cannot be asked or gives no answer.
    """
    if problem := settings.problem("judge-"):
        raise RunError(f"the judge {problem}")
    kept = _kept(answers)
    endpoint = Completions(settings)
    opinions, asked = list[Opinion](), 0
    try:
        for session in sessions:
            name = session.trajectory.started.session
            for item in session.facts:
                text = question(item)
                key = hashlib.sha256("\0".join((settings.model, ROLE, text)).encode()).hexdigest()
                if key not in kept:
                    kept[key] = await _answer(endpoint, text)
                    _keep(answers, {"key": key, "model": settings.model, "session": name, **kept[key]})
                    asked += 1
                opinions.append(Opinion(session.key, name, item, kept[key]["stated"], str(kept[key]["why"])))
    except EndpointError as error:
        raise RunError(f"the judge gave no answer; what it said so far is kept in {str(answers)!r}: {error}") from error
    finally:
        await endpoint.aclose()
    return Judged(settings.model, tuple(opinions), asked)


async def _answer(endpoint: Completions, text: str) -> Mapping[str, Any]:
    messages = [{"role": "system", "content": ROLE}, {"role": "user", "content": text}]
    said = ""
    for _ in range(ASKED):
        said = (await endpoint.ask(messages, [])).text
        stated = read(said)
        if stated is not None:
            return {"stated": stated, "why": reason_in(said)}
    return {"stated": None, "why": f"no usable answer: {said.strip()[:200]!r}"}


def read(answer: str) -> bool | None:
    """Read a judge's answer: the JSON that was asked for, or a bare yes or no; None for anything else.

    What it wrote as reasoning does not count, and neither does an answer that says both.
    """
    if len(answer) > LONGEST:
        return None
    said = without_reasoning(answer)
    found = {one.lower() for one in re.findall(r'"stated"\s*:\s*(true|false)', said, re.IGNORECASE)}
    if found:
        return None if len(found) > 1 else found == {"true"}
    plain = re.match(r"\W*(yes|no|true|false)\b", said, re.IGNORECASE)
    return plain[1].lower() in ("yes", "true") if plain else None


def reason_in(answer: str) -> str:
    """Reason in a judge's own words; the beginning of an answer that does not give it in JSON."""
    found = re.search(r'"why"\s*:\s*("(?:[^"\\]|\\.)*")', answer)
    if found:
        with suppress(ValueError):  # it may have escapes that JSON does not know
            return str(loads(found[1], strict=False))[:LONGEST_REASON]
    return answer.strip()[:200]


def _kept(path: Path) -> dict[str, Mapping[str, Any]]:
    """The answers in a file, by what was asked; a last line that a crash cut off is left out, and ended."""
    kept: dict[str, Mapping[str, Any]] = {}
    try:
        *lines, rest = check_regular(path).read_bytes().split(b"\n") if path.exists() else [b""]
        if rest:
            with check_regular(path).open("ab") as file:
                file.write(b"\n")
        for line in (*lines, rest):
            with suppress(ValueError, KeyError, TypeError):
                item: Any = loads(line)
                kept[str(item["key"])] = {"stated": item["stated"], "why": item["why"]}
    except OSError as error:
        raise RunError(f"the judge's answers {str(path)!r} cannot be read: {error.strerror or error}") from error
    return kept


def _keep(path: Path, item: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with check_regular(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(item, ensure_ascii=False) + "\n")
    except OSError as error:
        raise RunError(f"the judge's answers cannot be written to {str(path)!r}: {error.strerror or error}") from error
