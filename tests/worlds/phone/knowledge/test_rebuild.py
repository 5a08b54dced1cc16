"""The rebuilding of the vendored tables, on small inputs, and the form of the tables that ship."""

import gzip
import json
import runpy
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.worlds.phone.knowledge.tables import packed_json, rows
from tests.each import each

phone_tables = runpy.run_path(str(Path(__file__).resolve().parents[4] / "packaging" / "phone_tables.py"))
country_lines, example_phone = phone_tables["country_lines"], phone_tables["example_phone"]
gazetteer, region_names = phone_tables["gazetteer"], phone_tables["region_names"]
write, write_rates = phone_tables["write"], phone_tables["write_rates"]


def city(name: str, population: int, latitude: float = 50.1, longitude: float = 8.7, **more: Any) -> dict[str, Any]:
    return {
        "geonameid": 1,
        "name": name,
        "latitude": latitude,
        "longitude": longitude,
        "countrycode": "DE",
        "population": population,
        "timezone": "Europe/Berlin",
        "admin1code": "05",
    } | more


COUNTRY = {
    "iso": "DE", "name": "Germany", "capital": "Berlin", "currencycode": "EUR", "phone": "49", "population": 82927922,
}  # fmt: skip


def located(name: str, state: str | None, latitude: float = 50.1) -> dict[str, Any]:
    return {"country_code": "DE", "city": name, "latitude": latitude, "longitude": 8.7} | (
        {"state": state} if state else {}
    )


def test_regions_are_named_by_the_majority() -> None:
    cities = [city("A", 1), city("B", 1), city("C", 1), city("D", 1, admin1code="07")]
    places = [located("A", "Hesse"), located("B", "Hesse"), located("C", "Hessen"), located("D", None)]
    assert region_names(cities, places) == {"DE.05": "Hesse"}


def test_places_are_grouped_by_cell_the_largest_first() -> None:
    table = gazetteer([city("Small", 6000), city("Large", 9000), city("South", 7000, -0.5, -0.5)], {"DE.05": "Hesse"})
    assert list(table["cells"]) == ["-1,-1", "50,8"]
    assert [line.split("\t")[0] for line in table["cells"]["50,8"].split("\n")] == ["Large", "Small"]
    assert (table["regions"], table["zones"]) == (["Hesse"], ["Europe/Berlin"])


def test_a_country_is_one_line() -> None:
    heading, line = country_lines([COUNTRY])
    assert heading.split("\t") == ["code", "name", "capital", "currency", "calling_code", "population", "example_phone"]
    assert line == f"DE\tGermany\tBerlin\tEUR\t49\t82927922\t{example_phone('DE')}"


def test_a_country_without_example_numbers() -> None:
    assert example_phone("AQ") == ""


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, Path]:
    cities = [city("Frankfurt", 650_000), city("Gone (historical)", 9000), city("Odd, Name", 9000)]
    (tmp_path / "cities5000.json").write_text(json.dumps({str(n): each for n, each in enumerate(cities)}))
    (tmp_path / "countries.json").write_text(json.dumps({"DE": COUNTRY}))
    packed = tmp_path / "geocode.gz"
    packed.write_bytes(gzip.compress(json.dumps([located("Frankfurt", "Hesse")]).encode()))
    return tmp_path, packed


def test_writing_is_reproducible(sources: tuple[Path, Path], tmp_path: Path) -> None:
    outputs = [tmp_path / "one", tmp_path / "two"]
    for output in outputs:
        output.mkdir()
        write(*sources, output)
    names = ["gazetteer.json.gz", "countries.tsv"]
    first, second = ([(output / name).read_bytes() for name in names] for output in outputs)
    assert first == second


def test_odd_and_historical_names_are_left_out(sources: tuple[Path, Path], tmp_path: Path) -> None:
    write(*sources, tmp_path)
    table = json.loads(gzip.decompress((tmp_path / "gazetteer.json.gz").read_bytes()))
    assert table["cells"] == {"50,8": "Frankfurt\t0\tDE\t50.1\t8.7\t650000\t0"}


TABLES = {
    "area_codes.tsv": ("code", 130),
    "chains.tsv": ("name", 20),
    "climate.tsv": ("name", 180),
    "countries.tsv": ("code", 245),
    "currencies.tsv": ("code", 180),
    "exchanges.tsv": ("exchange", 12),
    "heights.tsv": ("name", 110),
    "kinds.tsv": ("category", 50),
    "landmarks.tsv": ("name", 300),
    "stocks.tsv": ("symbol", 190),
}


@each("name", TABLES)
def test_a_table_has_a_heading_and_distinct_rows(name: str) -> None:
    key, least = TABLES[name]
    found = list(rows(name))
    assert len(found) >= least
    assert all(row[key] for row in found)
    assert len({tuple(row.values()) for row in found}) == len(found)


@each("name", TABLES)
def test_no_row_has_more_cells_than_the_heading(name: str) -> None:
    import sandbox_mcp.engine.worlds.phone.knowledge.tables as tables

    lines = (Path(tables.__file__).parent / "data" / name).read_text(encoding="utf-8").splitlines()
    width = lines[0].count("\t")
    assert all(line.count("\t") <= width for line in lines)


def test_the_data_stays_small() -> None:
    """The whole wheel has to stay below 5 MB."""
    import sandbox_mcp.engine.worlds.phone.knowledge.tables as tables

    folder = Path(tables.__file__).parent / "data"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2_500_000


def test_the_gazetteer_is_packed_as_the_script_packs_it() -> None:
    table = packed_json("gazetteer.json.gz")
    assert set(table) == {"regions", "zones", "cells"}
    assert all(len(line.split("\t")) == 7 for text in table["cells"].values() for line in text.split("\n"))


def test_rates_are_those_that_were_published_until_a_day(tmp_path: Path) -> None:
    published = tmp_path / "eurofxref-hist.zip"
    with zipfile.ZipFile(published, "w") as packed:
        packed.writestr(
            "eurofxref-hist.csv", "Date,USD,JPY,\n2026-11-02,1.1,170,\n2026-10-30,1.2,,\n1999-01-04,1.1,N/A,\n"
        )
    write_rates(published, tmp_path)
    text = gzip.decompress((tmp_path / "exchange_rates.csv.gz").read_bytes()).decode()
    assert text == "Date,USD,JPY\n1999-01-04,1.1,N/A\n2026-10-30,1.2,\n"
