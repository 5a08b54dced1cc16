"""Filters for a draft: first that it can be played, then the papers' own filters, then lint, then deep lint.

Policy: filters stand in the order of their cost. Each names its fault in one line, so that the model can mend it and
an author can see why a draft is not there. The first that a draft does not pass ends its way.

Sources: ToolTalk, section 2.2 (uses the tool, invents none, no near-duplicates); ToolScan, section 3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_grader.grading.rouge import rouge_l
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.lint import Complaint, lint

from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.app.authoring.drafting import entry_of
from sandbox_mcp.app.authoring.drafting.draft import file_of
from sandbox_mcp.app.authoring.drafting.words import has, words
from sandbox_mcp.app.authoring.mutants import case_of, depends
from sandbox_mcp.app.authoring.synth.asking import DraftAnswer
from sandbox_mcp.app.authoring.synth.orders import DraftOrder
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.worlds import DEFAULT
from sandbox_mcp.play.session.rehearsal import RehearsalStage, Rehearsed

ALIKE = 0.7
"""ROUGE-L from which two openings are near-duplicates."""


@dataclass(slots=True)
class Candidate:
    """A draft on its way through the filters: the order, the model's answer, and the results so far."""

    order: DraftOrder
    name: str
    answer: DraftAnswer
    folder: Path
    suite: Suite
    places: tuple[Path, ...]
    openings: Sequence[str]
    entry: dict[str, Any] = field(default_factory=dict[str, Any])
    played: Rehearsed | None = None

    @property
    def path(self) -> Path:
        """The file of the draft."""
        return self.folder / f"{self.name}.yaml"

    def write(self) -> Suite:
        """Write the entry to its file, and read that."""
        self.path.write_text(file_of(self.name, self.entry), encoding="utf-8")
        return self.as_suite()

    def as_suite(self) -> Suite:
        """The file as a suite of its own with all that it may extend."""
        return Suite([self.path, *self.places])

    @property
    def scenario(self) -> Scenario:
        """The draft as a scenario."""
        return self.as_suite().get(self.name)

    @property
    def calls(self) -> list[Any]:
        """The calls of the solution that was drafted."""
        return [
            call
            for turn in self.answer.reference
            for item in turn.calls
            for call in (item if isinstance(item, list) else [item])
        ]


def _invents_nothing(it: Candidate) -> str | None:
    """Every tool was offered, and every argument is one of that tool's."""
    tools = it.suite.base(it.order.base).home.agent_tools
    for call in it.calls:
        if call.tool not in it.order.offered:
            return f"the solution uses {call.tool!r}, which is not among the tools"
        known = [item.name for item in tools[call.tool].parameters]
        if strange := [name for name in call.arguments if name not in known]:
            return f"{call.tool} has no argument {strange[0]!r}"
    return None


def _uses_what_it_should(it: Candidate) -> str | None:
    """The required tools are used, and where nothing can be done nothing is."""
    used = {call.tool for call in it.calls}
    if it.order.kind != "rewording" and not it.answer.reference:
        return "there is no solution"
    if missing := [name for name in it.order.required if name not in used]:
        return f"the solution does not use {missing[0]!r}"
    if it.order.kind == "irrelevance" or it.order.withheld:
        tools = it.suite.base(it.order.base).home.agent_tools
        if acting := [name for name in used if tools[name].action]:
            return f"the solution calls {acting[0]!r}, though it can do nothing"
    if it.order.twist == "state" and not it.answer.state:
        return "nothing is different at the start"
    if it.order.twist == "turns" and len(it.answer.reference) < 2:
        return "the solution asks nothing before it acts"
    return None


def _is_new(it: Candidate) -> str | None:
    """The opening is unlike those of the suite and of the drafts before it."""
    said = it.answer.user.opening or ""
    near = max(it.openings, key=lambda other: rouge_l(other, said), default="")
    return f"the opening is much like {near!r}" if near and rouge_l(near, said) >= ALIKE else None


def _loads(it: Candidate) -> str | None:
    """The draft is a scenario file that can be used."""
    order, answer = it.order, it.answer
    it.entry = {"name": it.name, "about": answer.about, "tags": [f"synth:{order.kind}"]}
    if order.kind == "rewording":
        it.entry |= {"extends": order.original, "user": {"opening": answer.user.opening}}
    else:  # as far as the model wrote it: enough to be played
        rows = "world" if it.suite.base(order.base).home.name == DEFAULT else "state"
        turns = [turn.model_dump(by_alias=True, exclude_defaults=True) for turn in answer.reference]
        it.entry |= {
            "extends": order.original if order.twist == "state" else order.base,
            **({rows: answer.state} if answer.state and order.twist == "state" else {}),
            "tools": list(dict.fromkeys(order.offered)),
            "user": answer.user.model_dump(exclude_defaults=True, exclude_none=True),
            "reference": [{"turns": turns}],
            "milestones": [],
        }
    return _unusable(it)


def _plays(it: Candidate) -> str | None:
    """The solution can be played to its end, without a call that fails; milestones come from what it did."""
    scenario = it.scenario
    it.played = RehearsalStage(scenario).rehearse(scenario.solutions[0])
    if failed := next((made for made in it.played.done if made.error), None):
        return f"{failed.call.tool} answers {failed.error}"
    if it.played.ending != "user_ended":
        return "the user does not end the conversation after the last reply"
    if it.order.kind == "rewording":
        return None
    drafted = entry_of(it.played.log, it.suite, it.name)
    kept = {key: it.entry[key] for key in ("name", "about", "tags", "user") if key in it.entry}
    it.entry = {**drafted, **kept}
    if it.order.kind == "irrelevance" or it.order.withheld:
        it.entry["tools"] = list(it.order.offered)
        it.entry["categories"] = ["insufficient_information"]
        said = it.answer.user.opening or ""
        topic = [word for word in words(it.answer.reference[-1].reply) if has(said, word)]
        if not topic:
            return "the reply does not say, in words of the opening, what cannot be done"
        it.entry["milestones"] = [{"id": "told", "message": {"content": {"facts": [{"cannot": topic}]}}}]
    if it.order.withheld:
        it.entry["without"] = [it.order.withheld]
    if problem := _unusable(it):
        return problem
    guessed: list[str] = it.entry["categories"]
    if "state_dependency" in guessed and not depends(case_of(RehearsalStage(it.scenario), 0)):
        guessed.remove("state_dependency")  # a switch that is set need not be one that anything waits for
        it.write()
    return None


def _unusable(it: Candidate) -> str | None:
    """Reason for which the draft as it stands cannot be written and read again; None if it can."""
    try:
        it.write().get(it.name)
    except SandboxError as error:
        return str(error).replace(f"{it.path}", "the draft")
    return None


def _first(complaints: Sequence[Complaint]) -> str | None:
    return f"{complaints[0].problem}; {complaints[0].mend}" if complaints else None


_Filter = Callable[[Candidate], str | None]
FILTERS: Mapping[str, _Filter] = MappingProxyType(
    {
        "invents no tool": _invents_nothing,
        "uses what it should": _uses_what_it_should,
        "no near-duplicate": _is_new,
        "loads": _loads,
        "plays": _plays,
        "lint": lambda it: _first(lint(it.as_suite(), [it.name])),
        "lint --deep": lambda it: _first(lint_scenario(it.as_suite(), it.name).complaints),
    }
)
"""Every filter in order; each gives what is wrong, or None."""


def first_fault(it: Candidate) -> tuple[str, str] | None:
    """The first filter that a draft does not pass, and why; None if it passes all."""
    for name, passes in FILTERS.items():
        if (fault := passes(it)) is not None:
            return name, " ".join(fault.split())
    return None
