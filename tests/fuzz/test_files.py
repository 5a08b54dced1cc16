"""Any file: an importer, a log, a scenario or a mistake in it gives sessions or one clear error, and nothing else."""

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError, ImportFormatError
from sandbox_grader.importers import IMPORTERS, importer
from sandbox_scenarios import ScenarioError, Suite

from sandbox_mcp import grade
from sandbox_mcp.engine.trajectory import MemoryLog, TrajectoryError, parse_trajectory, to_line
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.fuzz.mutations import BOUNDED, VALUES, changed, damaged, written
from tests.grader.importers.samples import SAMPLES, read_bytes
from tests.suite import SUITE

LIKE_ROWS = [{"id": "a_1", "instruction": "x", "conversation": [{"text": "x", "apis": [], "index": 0, "role": "user"}]}]
"""For the formats of the papers' own files, which have no sample."""


@pytest.mark.parametrize("format_", sorted(IMPORTERS))
@BOUNDED
@given(data=st.data())
def test_an_importer_reads_or_refuses(format_: str, data: st.DataObject) -> None:
    name, sample = SAMPLES.get(format_, ("log.json", LIKE_ROWS))
    content = data.draw(changed(sample).map(lambda value: written(name, value)) | damaged(written(name, sample)))
    if format_ in SAMPLES:
        with suppress(ImportFormatError):
            read_bytes(format_, content, name)
        return
    with tempfile.TemporaryDirectory() as folder, suppress(ImportFormatError):
        path = Path(folder) / name
        path.write_bytes(content)
        for session in importer(format_)([path]):
            assert [to_line(event) for event in session.events]


def played() -> list[dict[str, Any]]:
    scenario, log = SUITE.get("wifi_off"), MemoryLog()
    session = Session(SessionSpec(scenario), ScriptedUser(scenario.user.script), log)
    session.begin()
    session.call("set_wifi_status", {"on": False})
    session.call("set_wifi_status", {"on": "no"})
    session.end("abandoned")
    return [json.loads(to_line(event)) for event in log.events]


LOG = played()


@BOUNDED
@given(content=changed(LOG).map(lambda value: written("log.jsonl", value)) | damaged(written("log.jsonl", LOG)))
def test_a_log_is_read_and_graded_or_refused(content: bytes) -> None:
    try:
        trajectory = parse_trajectory(content)
    except TrajectoryError:
        return
    with suppress(GraderError, ScenarioError, TrajectoryError):
        grade(trajectory)


SCENARIO = """scenarios:
- name: switch_off
  about: A switch.
  categories: [single_tool_call]
  clock: {now: 2024-05-01T10:00:00, zone: Europe/London}
  tools: [set_wifi_status, get_wifi_status]
  user:
    goal: You want the wifi off.
    opening: Wifi off, please.
    script: {answers: []}
  reference:
  - - calls: [{tool: set_wifi_status, arguments: {on: false}}]
      reply: Wifi is off.
  milestones:
  - id: off
    table: setting
    updates: [{wifi: false}]
"""
PIECES = st.sampled_from(
    ["&a [*a]", "*b", "!!python/object:os.system x", "? [a]", "9" * 60, "[" * 60, "{a: 1, a: 2}", "\t", "'", "|",
     "null", "${x}", "- ", "<<: *a"]
)  # fmt: skip


@st.composite
def scenario_files(draw: st.DrawFn) -> bytes:
    lines = SCENARIO.splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        head = lines[at].partition(": ")[0]
        piece = draw(PIECES | VALUES.map(json.dumps))
        lines[at] = draw(st.sampled_from([f"{head}: {piece}", piece, "", lines[at] + piece]))
    return "\n".join(lines).encode(errors="replace")


@BOUNDED
@given(content=scenario_files() | damaged(SCENARIO.encode()))
def test_a_scenario_file_is_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("yaml") / "mine.yaml"
    path.write_bytes(content)
    with suppress(ScenarioError):
        suite = Suite([path])
        for name in suite.names():
            if name not in BUILT_IN:
                suite.get(name)


BUILT_IN = frozenset(SUITE.names())
