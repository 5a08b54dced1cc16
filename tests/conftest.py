"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")  # a law holds on a busy machine as well

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with the original benchmarks' data and oracle verdicts; skips where it is absent."""
    folder = Path(os.environ.get("SANDBOX_MCP_DATA") or ROOT.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("the benchmarks' data is absent; set SANDBOX_MCP_DATA to the folder that holds it")
    return folder
