"""A model's opinion of what replies state, beside the grader's verdict: ``grade --judge MODEL``.

Policy: the judge decides nothing. It is asked one question for every fact that a milestone asks to be told, with the
evidence beside it, and every answer is kept in a file under what was asked and whom, so that nothing is asked twice and
an interrupted run goes on. Its opinion has a column of its own, and where it differs is listed.
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

from sandbox_grader.milestones.telling import Told, told
from sandbox_scenarios.model import Scenario

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory import Trajectory
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


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the judge said of one fact of one session; ``stated`` is None where it gave no usable answer."""

    session: str
    told: Told
    stated: bool | None
    why: str

    @property
    def differs(self) -> bool:
        """Whether the grader heard it otherwise."""
        return self.stated is not None and self.stated != self.told.stated

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "session": self.session, "milestone": self.told.milestone, "fact": self.told.fact, "seq": self.told.seq,
            "message": self.told.message, "grader": self.told.stated, "grader_why": self.told.why,
            "judge": self.stated, "judge_why": self.why,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """All opinions of one judge, and how many questions had to be put to it this time."""

    model: str
    opinions: tuple[Opinion, ...]
    asked: int

    @property
    def agreement(self) -> float | None:
        """The share of facts on which judge and grader agree; None where the judge has an opinion on no fact."""
        known = [item for item in self.opinions if item.stated is not None]
        return sum(not item.differs for item in known) / len(known) if known else None

    @property
    def differences(self) -> tuple[Opinion, ...]:
        """The facts on which judge and grader differ."""
        return tuple(item for item in self.opinions if item.differs)

    def shares(self) -> Mapping[str, float]:
        """By session, the share of facts that the judge found stated, of those on which it has an opinion."""
        known: dict[str, list[bool]] = defaultdict(list)
        for item in self.opinions:
            if item.stated is not None:
                known[item.session].append(item.stated)
        return {session: sum(stated) / len(stated) for session, stated in known.items()}

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "model": self.model, "facts": len(self.opinions), "asked": self.asked, "agreement": self.agreement,
            "opinions": [item.to_json() for item in self.opinions],
        }  # fmt: skip


def question(item: Told) -> str:
    """What the judge is asked about one fact."""
    parts = {
        "What the user said": list(item.request) or ["(nothing)"],
        "Calls and results": list(item.evidence) or ["(none)"],
        "The assistant's message": [item.message],
        "The fact": [item.fact],
    }
    return "\n\n".join(f"{title}:\n" + "\n".join(lines) for title, lines in parts.items())


async def judged(
    sessions: Iterable[tuple[str, Scenario, Trajectory]], settings: EndpointSettings, answers: Path
) -> Judged:
    """Ask a model about every fact that is not in ``answers`` yet, and write there what it says.

    Raises:
        RunError: the file of answers cannot be read or written, or the endpoint cannot be asked or gives no answer.
    """
    if problem := settings.problem("judge-"):
        raise RunError(f"the judge {problem}")
    kept = _kept(answers)
    endpoint = Completions(settings)
    opinions, asked = list[Opinion](), 0
    try:
        for session, scenario, trajectory in sessions:
            for item in told(scenario, trajectory):
                text = question(item)
                key = hashlib.sha256("\0".join((settings.model, ROLE, text)).encode()).hexdigest()
                if key not in kept:
                    kept[key] = await _answer(endpoint, text)
                    _keep(answers, {"key": key, "model": settings.model, "session": session, **kept[key]})
                    asked += 1
                opinions.append(Opinion(session, item, kept[key]["stated"], str(kept[key]["why"])))
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
    """What a judge's answer says: the JSON that was asked for, or a bare yes or no; None for anything else."""
    found = re.search(r'"stated"\s*:\s*(true|false)', answer, re.IGNORECASE)
    if found:
        return found[1].lower() == "true"
    plain = re.match(r"\W*(yes|no|true|false)\b", answer, re.IGNORECASE)
    return plain[1].lower() in ("yes", "true") if plain else None


def reason_in(answer: str) -> str:
    """Why, in a judge's own words; the beginning of an answer that does not say so in JSON."""
    found = re.search(r'"why"\s*:\s*("(?:[^"\\]|\\.)*")', answer)
    if found:
        with suppress(ValueError):  # it may have escapes that JSON does not know
            return str(json.loads(found[1], strict=False))
    return answer.strip()[:200]


def _kept(path: Path) -> dict[str, Mapping[str, Any]]:
    """The answers in a file, by what was asked; a last line that a crash cut off is left out, and ended."""
    kept: dict[str, Mapping[str, Any]] = {}
    try:
        *lines, rest = path.read_bytes().split(b"\n") if path.exists() else [b""]
        if rest:
            with path.open("ab") as file:
                file.write(b"\n")
        for line in (*lines, rest):
            with suppress(ValueError, KeyError, TypeError):
                item: Any = json.loads(line)
                kept[str(item["key"])] = {"stated": item["stated"], "why": item["why"]}
    except OSError as error:
        raise RunError(f"the judge's answers {str(path)!r} cannot be read: {error.strerror or error}") from error
    return kept


def _keep(path: Path, item: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(item, ensure_ascii=False) + "\n")
    except OSError as error:
        raise RunError(f"the judge's answers cannot be written to {str(path)!r}: {error.strerror or error}") from error
