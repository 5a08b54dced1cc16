"""The page about the knowledge shows what the code does, and counts right."""

import doctest
import re
from pathlib import Path

import pytest

from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge, NoRateError
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import all_cities
from sandbox_mcp.engine.worlds.phone.knowledge.tables import rows
from tests.each import each

PAGE = Path(__file__).resolve().parents[4] / "docs" / "knowledge.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_examples_on_the_page_run() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried >= 12) == (0, True)


@each(
    ("table", "words"),
    [
        ("landmarks.tsv", "{} sights, parks, museums"),
        ("climate.tsv", "normals of {} stations"),
        ("heights.tsv", "heights of {} places"),
        ("stocks.tsv", "{} symbols"),
        ("chains.tsv", "{} invented chains"),
    ],
)
def test_the_numbers_of_rows_are_right(table: str, words: str) -> None:
    assert words.format(len(list(rows(table)))) in TEXT


def test_the_other_numbers_are_right() -> None:
    phones = [row for row in rows("landmarks.tsv") if row["phone_number"]]
    assert f"{len(phones)} phone numbers" in TEXT
    assert f"{len(list(all_cities())) // 1000},000 places" in TEXT
    with pytest.raises(NoRateError) as caught:
        Knowledge().currency.convert(1, "EUR", "ARS", 2e9)
    assert f"{len(caught.value.known)}\ncurrencies have a rate" in TEXT


def test_every_domain_and_error_has_its_place() -> None:
    import sandbox_mcp.engine.worlds.phone.knowledge as knowledge

    for domain in knowledge.DOMAINS:
        assert f"| `{domain}` |" in TEXT
    errors = [name for name in knowledge.__all__ if name.endswith("Error") or name == "KnowledgeUnavailable"]
    for name in set(errors) - {"KnowledgeError"}:
        assert f"`{name}`" in TEXT


def test_no_line_is_too_long_to_read() -> None:
    assert all(len(line) <= 128 for line in TEXT.splitlines() if not re.match(r"\||`python|>>>|\.\.\. ", line))
