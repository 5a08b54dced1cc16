"""Reading the data files that ship with the package, and what was found there as plain data.

Policy: a file is read on the first question that needs it and never before; rows are kept as they were read.
"""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

PACKAGE = "sandbox_mcp.engine.worlds.phone.knowledge"


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of a tab-separated file of ``data/`` whose first line names the columns; missing cells are empty."""
    lines = files(PACKAGE).joinpath("data", name).read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    for line in lines[1:]:
        cells = line.split("\t")
        yield dict(zip(header, cells + [""] * (len(header) - len(cells)), strict=True))


@cache
def countries() -> dict[str, dict[str, str]]:
    """The rows of ``countries.tsv`` by their ISO 3166 code."""
    return {row["code"]: row for row in rows("countries.tsv")}


def packed_text(name: str) -> str:
    """The content of a gzipped text of ``data/``."""
    return gzip.decompress(files(PACKAGE).joinpath("data", name).read_bytes()).decode()


def packed_json(name: str) -> Any:
    """The content of a gzipped JSON file of ``data/``."""
    return json.loads(packed_text(name))


def by_name(found: Any) -> dict[str, Any]:
    """The fields of a dataclass with slots; unlike ``dataclasses.asdict`` it copies nothing, as all of it is frozen."""
    return {name: getattr(found, name) for name in found.__slots__}
