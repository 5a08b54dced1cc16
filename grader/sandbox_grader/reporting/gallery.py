"""A gallery of a run's errors: for each class of error the clearest real example.

Policy: an example is clear where it stands alone. Of the sessions with an error of a class, the one with the fewest
errors of other classes is shown, then the one with the fewest calls, then the first. What is shown are the metrics' own
findings: ToolScan's seven patterns, ToolTalk's three reasons why a turn fails, and what ``conduct`` counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers.toolscan.scores import PATTERNS

STATUSES: Mapping[str, str] = {"not_called": "iac", "wrong_value": "iav"}
"""The pattern of what became of a call of the solution."""


@dataclass(frozen=True, slots=True)
class ErrorExample:
    """The clearest example of a class of error, and of how many sessions it was chosen."""

    error: str
    sessions: int
    session: str
    path: str
    tool: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The example as one JSON object."""
        return asdict(self)


def gallery(sessions: Iterable[Scores]) -> list[ErrorExample]:
    """An example of every class of error that occurs in sessions that count, the most frequent class first."""
    found: dict[str, list[tuple[tuple[int, int], Scores, str, str]]] = {}
    for scores in sessions:
        errors = list(_errors(scores))
        firsts = {name: (tool, reason) for name, tool, reason in reversed(errors)}
        calls = sum(item.get("kind") == "call" for item in scores.explained("toolscan"))
        for name, (tool, reason) in firsts.items():
            others = sum(other != name for other, _, _ in errors)
            found.setdefault(name, []).append(((others, calls), scores, tool, reason))
    examples: list[ErrorExample] = []
    for name, candidates in found.items():
        _, scores, tool, reason = min(candidates, key=lambda item: item[0])
        examples.append(ErrorExample(name, len(candidates), scores.session, scores.path, tool, reason))
    return sorted(examples, key=lambda item: (-item.sessions, item.error))


def _errors(scores: Scores) -> Iterator[tuple[str, str, str]]:
    """Every error of a session: its class, the tool it was made with, and the reason."""
    for item in scores.explained("toolscan"):
        if item.get("kind") == "call" and item.get("pattern"):
            pattern = str(item["pattern"])
            name = PATTERNS.get(pattern, "required argument left out")
            yield name, str(item["tool"]), str(item.get("reason") or "")
        elif item.get("status") in STATUSES:
            name, argument = PATTERNS[STATUSES[str(item["status"])]], item.get("argument")
            told = f"argument {argument!r} has another value than the solution's" if argument else "it was never called"
            yield name, str(item["tool"]), told
    for item in scores.explained("tooltalk"):
        if item.get("kind") == "turn":
            tools = [*map(str, item["incorrect"]), *map(str, item["missing"])]
            told = f"turn {item['turn']}: did {list(item['incorrect'])} and lacks {list(item['missing'])}"
            yield str(item["failure"]).replace("_", " "), tools[0] if tools else "", told
    for item in scores.explained("conduct"):
        yield str(item["count"]).replace("_", " "), str(item.get("tool") or ""), f"{item['about']} (#{item['event']})"
