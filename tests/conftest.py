"""Fixtures that every test may use."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.laws import at_least

settings.register_profile(
    "unhurried", max_examples=at_least(20), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")  # a law holds on a busy machine as well

# Where no bytecode is kept, hundreds of processes spend most of their time compiling the same modules.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# While modules are imported and tests collected, next to nothing becomes garbage.
gc.disable()

# No test leaves this machine; yet each client would read all certificates there are, which takes as long as ten tests.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what was collected: thousands of tests, which stay until the end.

    It looks for garbage again, at longer intervals than Python's own: a test keeps little, and there is room for it.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    gc.enable()


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """The folder with the original benchmarks' data and oracle verdicts; skips where it is absent."""
    folder = Path(os.environ.get("SANDBOX_MCP_DATA") or ROOT.parent / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("the benchmarks' data is absent; set SANDBOX_MCP_DATA to the folder that holds it")
    return folder
