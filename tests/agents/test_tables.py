"""The tables of agents in the documentation agree with each other, and leave none out."""

from sandbox_clients.frameworks import FRAMEWORKS

from tests.conftest import ROOT


def rows(page: str, cells: int) -> dict[str, list[str]]:
    """The rows of a page's table with so many cells, by their first cell."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    found = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row for row in found if len(row) == cells}


def test_every_framework_is_in_the_table() -> None:
    assert rows("docs/agents.md", 11).keys() >= FRAMEWORKS.keys()


def test_the_page_on_trust_has_the_same_in_short() -> None:
    whole = rows("docs/agents.md", 11)
    assert rows("docs/trust.md", 5) == {name: [*row[:4], row[-1]] for name, row in whole.items() if "=" not in name}
