"""Dumps of other benchmarks' suites as they could be: scenario files, or one error that names what is wrong."""

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

from sandbox_mcp.app.benchmarks.toolsandbox import write_suite
from sandbox_mcp.engine.errors import SandboxError
from tests.authoring.toolsandbox.test_suite import SCENARIO
from tests.fuzz.mutations import BOUNDED, changed

FIGS: Any = {"now": "2025-03-12T09:30:00", "scenarios": {"figs": SCENARIO}}


@BOUNDED
@given(dump=changed(FIGS))
def test_a_dump_is_written_or_refused(dump: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("imported")
    with suppress(SandboxError):
        write_suite(dump, "Europe/Paris", folder / "suite")
    assert {path.name for path in folder.iterdir()} <= {"suite"}


@pytest.mark.parametrize("name", ["../../escaped", "/tmp/escaped", "a/b", "n" * 5000, ""])
def test_a_scenario_s_name_leads_nowhere_else(name: str, tmp_path: Any) -> None:
    dump = {**FIGS, "scenarios": {name: copy.deepcopy(SCENARIO)}}
    with suppress(SandboxError):
        write_suite(dump, "Europe/Paris", tmp_path / "suite")
    assert {path.name for path in tmp_path.iterdir()} <= {"suite"}
