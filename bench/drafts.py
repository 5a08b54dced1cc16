"""Drafts of ten scenarios, each held against what its author wrote for the same session: a table in docs/authoring.md.

``python -m bench.drafts`` puts the table of today there.

Policy: two milestones are alike if they are on the same table and the same way of changing it, on the same tool, or on
messages between the same two. What counts in the end is whether both judge alike, so every mutant of the scenario is
graded with both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Suite
from sandbox_scenarios.checks import ancestors
from sandbox_scenarios.model import CallConstraint, Constraint, MessageConstraint, Milestone, TableConstraint

from sandbox_mcp.app.authoring.drafting import draft
from sandbox_mcp.app.authoring.mutants import mutants_of
from sandbox_mcp.play.session.rehearsal import RehearsalStage

PAGE = Path(__file__).parents[1] / "docs" / "authoring.md"
BEGIN, END = "<!-- drafts -->", "<!-- end of drafts -->"


@dataclass(frozen=True, slots=True)
class DraftComparison:
    """A draft and the scenario it was drafted from.

    ``alike``, ``missed`` and ``extra`` count milestones; the last two are named in ``only_by_hand`` and
    ``only_drafted``. ``edges`` are the orders both demand, of all that either does between milestones that are alike.
    ``sessions`` were graded with both, ``agreed`` of them with the same verdict on full marks; ``apart`` is the mean
    distance between the two scores.
    """

    name: str
    alike: int
    only_by_hand: tuple[str, ...]
    only_drafted: tuple[str, ...]
    edges: int
    all_edges: int
    sessions: int
    agreed: int
    apart: float


def compare(suite: Suite, name: str, folder: Path) -> DraftComparison:
    """Draft a scenario from a session of its own first solution, written to ``folder``, and compare the two.

    Raises:
        ScenarioError: the scenario, or the draft, cannot be used.
    """
    by_hand = suite.get(name)
    stage = RehearsalStage(by_hand)
    made = draft(stage.rehearse(by_hand.solutions[0]).log, suite, f"{name}_draft")
    path = folder / f"{made.name}.yaml"
    path.write_text(made.text, encoding="utf-8", newline="\n")
    drafted = Suite([path]).get(made.name)
    pairs = _pairs(by_hand.milestones, drafted.milestones)
    mine, theirs = (
        {(first, second) for second, names in ancestors(item.milestones, "milestones").items() for first in names}
        for item in (by_hand, drafted)
    )
    known = {(pairs[first], pairs[second]) for first, second in mine if first in pairs and second in pairs}
    common = {edge for edge in theirs if set(edge) <= set(pairs.values())}
    logs = (
        stage.rehearse(mutant.solution, mutant.variant, mutant.known).log
        for mutant in mutants_of(stage)
        if mutant.solution.turns
    )
    scores = [(evaluate(by_hand, log).score, evaluate(drafted, log).score) for log in logs]
    return DraftComparison(
        name,
        len(pairs),
        tuple(item.id for item in by_hand.milestones if item.id not in pairs),
        tuple(item.id for item in drafted.milestones if item.id not in pairs.values()),
        len(known & common),
        len(known | common),
        len(scores),
        sum((one > 1 - 1e-9) is (other > 1 - 1e-9) for one, other in scores),
        sum(abs(one - other) for one, other in scores) / len(scores),
    )


def _pairs(mine: Sequence[Milestone], theirs: Sequence[Milestone]) -> dict[str, str]:
    """Milestones that are alike, each at most once, the first that fits."""
    free, pairs = list(theirs), dict[str, str]()
    for milestone in mine:
        for other in free:
            if any(_same(*both) for both in product(milestone.constraints, other.constraints)):
                free.remove(other)
                pairs[milestone.id] = other.id
                break
    return pairs


def _same(one: Constraint, other: Constraint) -> bool:
    if isinstance(one, TableConstraint) and isinstance(other, TableConstraint):
        columns = {name for row in one.rows for name in row} & {name for row in other.rows for name in row}
        return (one.table, one.kind) == (other.table, other.kind) and (bool(columns) or one.kind != "is")
    if isinstance(one, CallConstraint) and isinstance(other, CallConstraint):
        return bool({item.tool for item in one.patterns} & {item.tool for item in other.patterns})
    if isinstance(one, MessageConstraint) and isinstance(other, MessageConstraint):
        return (one.sender, one.recipient) == (other.sender, other.recipient)
    return False


SHOWN = (
    "wifi_off", "landlord_number", "new_neighbour", "forget_number", "colleagues_to_friends",
    "late_for_dinner_low_battery", "last_text_reply", "overdue_reminders", "where_am_i_low_battery",
    "late_for_dinner_no_address_book",
)  # fmt: skip
"""The scenarios whose drafts ``docs/authoring.md`` shows: one of each kind."""


def table(comparisons: Sequence[DraftComparison]) -> str:
    """The comparisons as a table in Markdown, with totals."""
    lines = [
        "| scenario | alike | only by hand | only drafted | orders alike | same verdict | scores apart |",
        "| --- | ---: | --- | --- | ---: | ---: | ---: |",
    ]
    for item in comparisons:
        named = (", ".join(f"`{name}`" for name in names) for names in (item.only_by_hand, item.only_drafted))
        edges = f"{item.edges}/{item.all_edges}" if item.all_edges else ""
        cells = (f"`{item.name}`", item.alike, *named, edges, f"{item.agreed}/{item.sessions}", f"{item.apart:.3f}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    played, agreed = sum(item.sessions for item in comparisons), sum(item.agreed for item in comparisons)
    alike = sum(item.alike for item in comparisons)
    hand = alike + sum(len(item.only_by_hand) for item in comparisons)
    drafted = alike + sum(len(item.only_drafted) for item in comparisons)
    lines.append(f"| all | {alike} | of {hand} | of {drafted} | | {agreed}/{played} | |")
    return "\n".join(lines) + "\n"


def section() -> str:
    """The table of today."""
    suite = Suite()
    with TemporaryDirectory() as folder:
        return table([compare(suite, name, Path(folder)) for name in SHOWN])


def main() -> None:
    """Replace what stands between the marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{section()}\n{END}{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
