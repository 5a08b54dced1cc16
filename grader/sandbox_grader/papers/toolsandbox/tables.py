"""The tables of ToolSandbox about agents and users, from sessions of its own scenarios or of ours.

Policy: a session with a scrambled variant counts under that variant alone, as in the paper, though three distraction
tools are offered too. Errors of the user are those that our rules find without a model or a person: what it makes up or
gives away is a hallucination, falling out of its part an error in following instructions. Tables 6 to 8 describe the
scenarios and not what was played; 'scenarios stats' prints them.
Source: ToolSandbox, tables 3, 5 and 11.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers.shared.figures import MetricMean, ObservedMean, played_with
from sandbox_grader.papers.shared.table import PaperColumn, PaperTable

PAPER: Final = "toolsandbox"
CATEGORIES: Final[Mapping[str, str]] = {
    "STC": "single_tool_call",
    "MTC": "multiple_tool_call",
    "SUT": "single_user_turn",
    "MUT": "multiple_user_turn",
    "SD": "state_dependency",
    "C": "canonicalization",
    "II": "insufficient_information",
}
"""The columns of categories as the paper abbreviates them."""
VARIANTS: Final[Mapping[str, str]] = {
    "0 DT": "base",
    "3 DT": "3_distraction_tools",
    "10 DT": "10_distraction_tools",
    "AT": "all_tools",
    "TNS": "tool_name_scrambled",
    "TDS": "tool_description_scrambled",
    "ADS": "argument_description_scrambled",
    "ATS": "argument_type_scrambled",
}
"""The columns of tool augmentations, and our names of them."""
RUN: Final = (
    "sandbox-mcp run --scenarios suite --agent openai --model MODEL --user llm --user-model USER "
    "--instructions suite/instructions.txt {variants}--out runs/MODEL"
)
BASE_RUN: Final = RUN.format(variants="")
WHOLE_RUN: Final = RUN.format(variants="".join(f"--variant {name} " for name in VARIANTS.values()))
INVENTS: Final = ("invention", "leak")
DISOBEYS: Final = ("as_assistant", "early_end", "endless")


def _in_category(name: str) -> Callable[[Scores], bool]:
    return lambda scores: name in scores.categories


def _columns(metric: str, scale: float) -> tuple[PaperColumn, ...]:
    """A metric over all sessions, by category and by augmentation."""
    groups: dict[str, Callable[[Scores], bool]] = {"Avg": lambda _: True}
    groups |= {column: _in_category(name) for column, name in CATEGORIES.items()}
    found = [PaperColumn(column, MetricMean(metric, where), scale, 1) for column, where in groups.items()]
    for column, variant in VARIANTS.items():
        command = RUN.format(variants=f"--variant {variant} ")
        found.append(PaperColumn(column, MetricMean(metric, played_with(variant)), scale, 1, command))
    return tuple(found)


UNMODELLED: Final = ("scripted", "replay", "human", "ground_truth")
"""Kinds of users that no model plays."""


def _erring(kinds: Sequence[str]) -> ObservedMean:
    """The share of sessions whose user makes such a mistake; none where that cannot be told, or no model played it."""

    def observe(scores: Scores) -> Iterable[float]:
        if scores.course.user.partition(",")[0] in UNMODELLED:
            return
        verdict = scores.counted("user_conduct")
        counts = [verdict.values[kind] for kind in kinds] if verdict else []
        if counts and None not in counts:
            yield float(any(counts))

    return ObservedMean(observe)


SUITE_RUNS: Final = "sessions of the imported suite in all eight variants"
TABLES: Final = (
    PaperTable(
        PAPER, "table3", "Errors of the simulated user by agent, % of sessions",
        columns=(
            PaperColumn("Hallucination", _erring(INVENTS)),
            PaperColumn("IF", _erring(DISOBEYS)),
            PaperColumn("Total Error", _erring((*INVENTS, *DISOBEYS))),
        ),
        needs="sessions with a user that a model plays", command=WHOLE_RUN,
        note="found by rules, where the paper's were found by people: see 'annotate' and 'agreement' for those",
    ),
    PaperTable(
        PAPER, "table5", "Similarity by category and tool augmentation", _columns("toolsandbox.score", 100),
        needs=SUITE_RUNS, command=BASE_RUN,
    ),
    PaperTable(
        PAPER, "table11", "Turn count by category and tool augmentation", _columns("toolsandbox.turn_count", 1),
        needs=SUITE_RUNS, command=BASE_RUN,
    ),
)  # fmt: skip
