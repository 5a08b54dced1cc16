"""Rows of fixed tables: found by any of their columns, as going through all of them would."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.tables import Table, as_cell, cells_of, schema_of
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds import load
from sandbox_mcp.engine.worlds.lookups.patent import Patent
from sandbox_mcp.engine.worlds.lookups.sports import Match
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

    def test_a_row_that_all_sessions_share_is_not_written_to(self, tx: Tx) -> None:
        row: Any = tx.all(Match)[0]
        before = row.season
        with pytest.raises(AttributeError, match=r"tx.change\(row, season=...\)"):
            row.season = 1999
        with pytest.raises(AttributeError, match="not written to"):
            del row.season
        assert tx.all(Match)[0].season == before

    def test_a_list_in_a_shared_row_belongs_to_whoever_asked(self, tx: Tx) -> None:
        row = tx.all(Patent)[0]
        before = [*row.inventors]
        row.inventors.clear()
        assert row.inventors == before

    @each("table", [Match, Patent])
    def test_a_column_is_read_as_its_cell(self, tx: Tx, table: type[Table]) -> None:
        for row in tx.all(table):
            read = {column.name: getattr(row, column.name) for column in schema_of(table).columns}
            assert {name: as_cell(value) for name, value in read.items()} == cells_of(row)

    def test_an_answer_may_be_changed_without_changing_the_next(self, tx: Tx) -> None:
        tx.all(Match, season=2024).clear()
        assert tx.all(Match, season=2024)


SHOP = """
from typing import Self
from sandbox_mcp import Id, Moment, Table, World, key
class Product(Table, fixed="products.csv"):
    id: Id[Self] = key()
    price: float = 0.0
    sizes: list[int] = []
    since: Moment | None = None
shop = World("shop", tables=[Product])
"""


class TestFiles:
    def rows(self, folder: Path, name: str, data: bytes) -> list[Mapping[str, object]]:
        (folder / "shop.py").write_text(SHOP.replace("products.csv", name), encoding="utf-8")
        (folder / name).write_bytes(data)
        [shop] = load(folder / "shop.py")
        found = Tx(Running(Snapshot({}), Clock(0.0), IdStream("")).begin()).all(shop.classes[0])
        return [cells_of(row) for row in found]

    def cells(self, folder: Path, column: str, field: str) -> object:
        return self.rows(folder, "products.csv", f"\ufeffid,{column}\np1,{field}\n".encode())[0][column]

    @each(
        ("column", "field", "cell"),
        [
            ("since", "2026-03-02 09:00:00+01:00", 1772438400.0),
            ("since", "2026-03-02T08:00:00Z", 1772438400.0),
            ("since", "1772438400", 1772438400.0),
            ("since", "-3600", -3600.0),
            ("since", "", None),
            ("sizes", "3|4", (3, 4)),
            ("price", "1.5", 1.5),
        ],
    )
    def test_a_field_is_read_as_what_its_column_holds(
        self, tmp_path: Path, column: str, field: str, cell: object
    ) -> None:
        assert self.cells(tmp_path, column, field) == cell

    @each(
        ("column", "field", "told"),
        [
            ("since", "2026-03-02 09:00:00", "holds seconds since 1970, or a date and time with its offset such as"),
            ("since", "soon", "holds seconds since 1970"),
            ("sizes", "3|big", "holds integer, not '3|big'"),
            ("price", "cheap", "products.csv:2: column 'price' of table 'product' holds number, not 'cheap'"),
        ],
    )
    def test_what_is_something_else_is_told_with_file_line_and_column(
        self, tmp_path: Path, column: str, field: str, told: str
    ) -> None:
        with pytest.raises(WorldError) as caught:
            self.cells(tmp_path, column, field)
        assert told in str(caught.value)

    @each(
        ("name", "data", "told"),
        [
            ("products.csv", b"id,price\np\xe91,2\n", "products.csv: it is not UTF-8 text"),
            ("products.csv", b"id,price\np1,2,9\n", "products.csv:2: more fields than columns"),
            ("products.csv", b'id,price\n\n"p\n1",1\np2,cheap\n', "products.csv:5: column 'price' of table"),
            ("products.csv", b"id,price\np1,nan\n", "products.csv:2: column 'price' of table 'product' holds number"),
            ("products.jsonl", b'{"id": "p1"}\n[1]\n', "products.jsonl:2: expected a JSON object"),
            ("products.jsonl", b'{"id": "p1"}\n\n{"id"\n', "products.jsonl:3: it cannot be read: Expecting"),
            ("products.jsonl", b'{"id": "p1", "cost": 2}\n', "products.jsonl:1: unknown column 'cost'"),
        ],
    )
    def test_a_file_that_cannot_be_read_is_a_fault_of_the_world(
        self, tmp_path: Path, name: str, data: bytes, told: str
    ) -> None:
        with pytest.raises(WorldError) as caught:
            self.rows(tmp_path, name, data)
        assert told in str(caught.value)
