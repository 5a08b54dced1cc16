"""Fixtures that every test may use."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

examples = int(os.environ.get("SANDBOX_MCP_EXAMPLES") or 40)  # of every law; for a night a thousand may be asked for
settings.register_profile(
    "unhurried", max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")  # a law holds on a busy machine as well

# Where no bytecode is kept, hundreds of processes spend most of their time compiling the same modules.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with the original benchmarks' data and oracle verdicts; skips where it is absent."""
    folder = Path(os.environ.get("SANDBOX_MCP_DATA") or ROOT.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("the benchmarks' data is absent; set SANDBOX_MCP_DATA to the folder that holds it")
    return folder
