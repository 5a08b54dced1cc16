"""Two runs of the same scenarios, played once."""

from pathlib import Path

import pytest

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.run_sources import find_runs
from tests.report.sessions import Mediocre, a_run, find


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    a_run(place / "mediocre", Mediocre(), variants=("base", "all_tools"))
    a_run(place / "reference")
    return place


@pytest.fixture(scope="session")
def index(two_runs: Path) -> Index:
    index = Index(None, find)
    list(index.add(find_runs([two_runs])))
    return index
