"""One room for each paper: its metrics, its tables, its importer and the figures that it prints.

To add a paper: a folder whose module ``tables`` has ``TABLES``, one line here, and the figures it prints in
``printed/TABLE.csv``.
"""

from collections.abc import Sequence
from importlib import import_module
from types import MappingProxyType

from sandbox_grader.errors import GraderError
from sandbox_grader.papers.shared.table import PaperTable

PAPERS = MappingProxyType(
    {
        "toolsandbox": "sandbox_grader.papers.toolsandbox.tables",
        "tooltalk": "sandbox_grader.papers.tooltalk.tables",
        "toolscan": "sandbox_grader.papers.toolscan.tables",
        "mtu-bench": "sandbox_grader.papers.mtu_bench.tables",
        "breakdown": "sandbox_grader.papers.shared.breakdown",
    }
)
"""Name of the paper to the module that has its ``TABLES``."""

__all__ = ("PAPERS", "paper_tables")


def paper_tables(asked: str) -> Sequence[PaperTable]:
    """The tables of a paper in its order, or with ``PAPER/TABLE`` that one.

    Raises:
        GraderError: there is no such paper or no such table.
    """
    paper, _, name = asked.partition("/")
    home = PAPERS.get(paper)
    if home is None:
        raise GraderError(f"unknown paper {paper!r}; known: {', '.join(PAPERS)}")
    tables: Sequence[PaperTable] = import_module(home).TABLES
    found = [table for table in tables if name in ("", table.name)]
    if not found:
        raise GraderError(f"{paper} has no table {name!r}; known: {', '.join(table.name for table in tables)}")
    return found
