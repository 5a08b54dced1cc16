"""Rows of fixed tables: found by any of their columns, as going through all of them would."""

from itertools import combinations

import pytest

from sandbox_mcp.world import Clock, IdStream, Running, Snapshot
from sandbox_mcp.world.tables import cells_of, schema_of
from sandbox_mcp.world.tx import Tx
from sandbox_mcp.worlds.lookups.sports import Match
from tests.each import each

COLUMNS = [column.name for column in schema_of(Match).columns]


@pytest.fixture
def tx() -> Tx:
    return Tx(Running(Snapshot({}), Clock(0.0), IdStream("")).begin())


class TestColumns:
    @each("names", [pair for size in (1, 2, 3) for pair in combinations(COLUMNS, size)])
    def test_rows_are_those_in_which_all_have_their_values(self, tx: Tx, names: tuple[str, ...]) -> None:
        every = tx.all(Match)
        wanted = {name: cells_of(every[40])[name] for name in names}
        looked_through = [row for row in every if wanted.items() <= cells_of(row).items()]
        assert tx.all(Match, **wanted) == looked_through

    def test_the_order_in_which_they_are_named_does_not_matter(self, tx: Tx) -> None:
        first = tx.all(Match)[0]
        assert tx.all(Match, home=first.home, season=first.season) == tx.all(
            Match, season=first.season, home=first.home
        )

    def test_what_is_no_cell_is_in_no_row(self, tx: Tx) -> None:
        assert tx.all(Match, season=2024, home={"name": "any"}) == []

    def test_an_answer_may_be_changed_without_changing_the_next(self, tx: Tx) -> None:
        tx.all(Match, season=2024).clear()
        assert tx.all(Match, season=2024)
