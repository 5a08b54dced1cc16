"""Tapes of these tests are forgotten when a test is over."""

import pytest

from sandbox_mcp.engine.worlds import FILES


@pytest.fixture(autouse=True)
def no_files_with_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, "")
