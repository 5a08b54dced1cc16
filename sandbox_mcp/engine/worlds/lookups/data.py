"""The statistics of an archipelago: datasets by subject, values by region and year, rankings and changes."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.faults import NoDataError
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import check_year, first, has_words, known

YEARS = range(2018, 2025)
Topic = Literal["people", "economy", "nature", "transport"]


class Dataset(Table, fixed="data/data_datasets.csv"):
    """What is counted, and in which unit."""

    id: Id[Self] = key()
    title: str
    topic: Topic
    unit: str
    updated: str


class Region(Table, fixed="data/data_regions.csv"):
    """An island or a town; the capital is where it is governed from."""

    code: Id[Self] = key()
    name: str
    capital: str


class DataPoint(Table, fixed="data/data_values.csv"):
    """One figure."""

    id: Id[Self] = key()
    dataset: Id[Dataset]
    region: Id[Region]
    year: int
    value: float


class _Figure(TypedDict):
    """A value with its unit."""

    region: str
    year: int
    value: float
    unit: str


class _Ranked(TypedDict):
    """A region's place in a ranking."""

    place: int
    region: str
    value: float


class _ValueChange(TypedDict):
    """What changed between two years; the change is the later value less the earlier one."""

    before: float
    after: float
    change: float
    unit: str


class _RegionFigure(TypedDict):
    """What one dataset says of a region."""

    dataset: str
    title: str
    value: float
    unit: str


data = World(
    "data",
    tables=[Dataset, Region, DataPoint],
    instructions="You answer questions with the help of the statistics of an archipelago, for 2018 to 2024.",
    user="You talk to an assistant that can look into an archipelago's statistics for you.",
    place="in the archipelago's statistics",
)


def _value(tx: Tx, dataset: str, region: str, year: int) -> float:
    known(tx, Dataset, dataset, "dataset")
    known(tx, Region, region, "region")
    rows = tx.all(DataPoint, dataset=dataset, region=region, year=year)
    if not rows:
        raise NoDataError(f"dataset {dataset!r} says nothing of {region!r} in {year}")
    return rows[0].value


@data.query
def find_datasets(tx: Tx, words: str | None = None, topic: Topic | None = None) -> list[Dataset]:
    """Find datasets by words of their title or by topic, with their unit.

    Args:
        words: One or more words of the title.
        topic: Only datasets of this topic.
    """
    rows = tx.all(Dataset)
    return [row for row in rows if (words is None or has_words(row.title, words)) and topic in (None, row.topic)]


@data.query
def find_regions(tx: Tx, name: str | None = None) -> list[Region]:
    """Find regions by name, with their code and their capital.

    Args:
        name: The name, or a part of it.
    """
    return [row for row in tx.all(Region) if name is None or has_words(row.name, name)]


@data.query
def get_dataset_value(tx: Tx, dataset: Id[Dataset], region: Id[Region], year: int) -> _Figure:
    """Get what a dataset says of a region in a year.

    Args:
        dataset: The dataset's id.
        region: The region's code.
        year: The year, 2018 to 2024.
    """
    value = _value(tx, dataset, region, year)
    return _Figure(region=region, year=year, value=value, unit=tx.get(Dataset, dataset).unit)


@data.query
def get_dataset_change(tx: Tx, dataset: Id[Dataset], region: Id[Region], from_year: int, to_year: int) -> _ValueChange:
    """Get how much a value changed in a region between two years.

    Args:
        dataset: The dataset's id.
        region: The region's code.
        from_year: The earlier year, 2018 to 2024.
        to_year: The later year.
    """
    before, after = _value(tx, dataset, region, from_year), _value(tx, dataset, region, to_year)
    return _ValueChange(before=before, after=after, change=round(after - before, 3), unit=tx.get(Dataset, dataset).unit)


@data.query
def get_dataset_ranking(
    tx: Tx, dataset: Id[Dataset], year: int, ascending: bool = False, limit: int | None = None
) -> list[_Ranked]:
    """Rank the regions by what a dataset says of them in a year, the highest value first.

    Args:
        dataset: The dataset's id.
        year: The year, 2018 to 2024.
        ascending: True to have the lowest value first.
        limit: How many regions to list, 1 to 25.
    """
    check_year("year", year, YEARS)
    rows = tx.all(DataPoint, dataset=known(tx, Dataset, dataset, "dataset").id, year=year)
    ranked = sorted(rows, key=lambda row: row.value, reverse=not ascending)
    return [
        _Ranked(place=place, region=tx.get(Region, row.region).name, value=row.value)
        for place, row in enumerate(first(ranked, limit), start=1)
    ]


@data.query
def get_region_values(tx: Tx, region: Id[Region], year: int, topic: Topic | None = None) -> list[_RegionFigure]:
    """List all that the datasets say of a region in a year.

    Args:
        region: The region's code.
        year: The year, 2018 to 2024.
        topic: Only datasets of this topic.
    """
    check_year("year", year, YEARS)
    rows = tx.all(DataPoint, region=known(tx, Region, region, "region").code, year=year)
    sets = [(row, tx.get(Dataset, row.dataset)) for row in rows]
    return [
        _RegionFigure(dataset=found.id, title=found.title, value=row.value, unit=found.unit)
        for row, found in sets
        if topic in (None, found.topic)
    ]
