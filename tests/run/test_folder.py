"""The folder of a run: when a log counts, what is moved aside, and that nothing is ever lost."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import RunFolder, write_json
from sandbox_mcp.app.run.unit import Shard, Unit
from sandbox_mcp.engine.trajectory import (
    INFRASTRUCTURE,
    EndReason,
    SessionEnded,
    SessionStarted,
    TrajectoryError,
    to_line,
)
from sandbox_mcp.engine.trajectory.finding import logs_at
from sandbox_mcp.engine.trajectory.log import log_bytes
from tests.clients.sessions import write

UNIT = Unit("wifi_off")
STARTED = SessionStarted(session="wifi_off-base-s0-t0", scenario="wifi_off", digest="d1")
ENDED = SessionEnded(seq=1, clock=0.0, reason="user_ended")
MANIFEST: dict[str, Any] = {
    "schema": 1,
    "agent": {"name": "a"},
    "user": {"kind": "scripted"},
    "trials": 1,
    "scenarios": {"wifi_off": "d1"},
}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path / "run")
    made.prepare()
    return made


def played(folder: RunFolder, ended: SessionEnded | None = ENDED, *, keep: bool = True) -> Path:
    with folder.writer(UNIT) as log:
        log.write(STARTED)
        if ended:
            log.write(ended)
    if keep:
        folder.keep(UNIT, log.path)
    return log.path


def aside(folder: RunFolder) -> list[str]:
    return sorted(path.name for path in (folder.root / "aside").glob("*"))


def test_a_whole_log_counts(folder: RunFolder) -> None:
    played(folder)
    found = folder.finished(UNIT, "d1", folder.kept(), folder.begun())
    assert found is not None
    assert found.ended == ENDED
    assert list(folder.kept()) == ["wifi_off-base-s0-t0"]


def test_a_unit_without_a_log_is_missing(folder: RunFolder) -> None:
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is None
    assert aside(folder) == []


def test_a_log_has_its_name_only_once_it_is_whole(folder: RunFolder) -> None:
    played(folder, keep=False)
    assert list(folder.kept()) == []
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is None
    assert aside(folder) == ["wifi_off-base-s0-t0.1.jsonl.aside"]


def test_a_log_without_an_end_is_set_aside(folder: RunFolder) -> None:
    played(folder, None)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is None
    assert aside(folder)


@pytest.mark.parametrize("reason", sorted(INFRASTRUCTURE))
def test_a_session_that_broke_is_set_aside(folder: RunFolder, reason: EndReason) -> None:
    played(folder, dataclasses.replace(ENDED, reason=reason))
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is None
    assert aside(folder)


@pytest.mark.parametrize("reason", ["user_ended", "max_turns", "max_calls"])
def test_a_session_that_came_to_an_end_of_its_own_counts(folder: RunFolder, reason: EndReason) -> None:
    played(folder, dataclasses.replace(ENDED, reason=reason))
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun())


def test_a_log_of_a_scenario_that_has_changed_is_set_aside(folder: RunFolder) -> None:
    played(folder)
    assert folder.finished(UNIT, "d2", folder.kept(), folder.begun()) is None
    assert aside(folder)


def test_beginning_a_log_anew_sets_the_half_one_aside(folder: RunFolder) -> None:
    played(folder, None, keep=False)
    played(folder)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun())
    assert aside(folder) == ["wifi_off-base-s0-t0.1.jsonl.aside"]


def test_two_that_play_the_same_session_at_once_get_in_nobodys_way(folder: RunFolder) -> None:
    """As a worker does that was taken for dead, and the one in its place."""
    with folder.writer(UNIT) as dead, folder.writer(UNIT) as instead:
        for log in (dead, instead):
            log.write(STARTED)
        dead.write(ENDED)
        folder.keep(UNIT, dead.path)
        instead.write(ENDED)
        folder.keep(UNIT, instead.path)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is not None
    assert aside(folder) == ["wifi_off-base-s0-t0.1.jsonl.aside"]


def test_of_two_that_pack_the_same_session_each_packs_a_whole_one(folder: RunFolder) -> None:
    with (
        folder.writer(UNIT) as dead,
        folder.writer(UNIT) as instead,
        folder.pack(Shard()) as a,
        folder.pack(Shard()) as b,
    ):
        for log in (dead, instead):
            log.write(STARTED)
        dead.write(ENDED)
        folder.keep(UNIT, dead.path, a)
        instead.write(ENDED)
        folder.keep(UNIT, instead.path, b)
    assert [log_bytes(path).count(b"\n") for path in logs_at(folder.logs)] == [2, 2]
    folder.settle()
    assert len(logs_at(folder.logs)) == 1


@given(st.lists(st.sampled_from(["whole", "half", "broken", "stale"]), max_size=6))
def test_whatever_happens_every_line_ever_written_is_still_there(happenings: list[str]) -> None:
    """Each attempt writes a line of its own, and all of them can be found again."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place:
        folder = RunFolder(Path(place))
        folder.prepare()
        for number, happening in enumerate(happenings):
            digest = "old" if happening == "stale" else "d1"
            with folder.writer(UNIT) as log:
                log.write(dataclasses.replace(STARTED, session=f"attempt-{number}", digest=digest))
                if happening != "half":
                    log.write(
                        dataclasses.replace(ENDED, reason="agent_failed" if happening == "broken" else "user_ended")
                    )
            if happening != "half":
                folder.keep(UNIT, log.path)
            if folder.finished(UNIT, "d1", folder.kept(), folder.begun()):
                break
        kept = "".join(path.read_text() for path in Path(place).rglob("*") if path.is_file())
        tried = happenings[: happenings.index("whole") + 1] if "whole" in happenings else happenings
        assert all(f'"attempt-{number}"' in kept for number in range(len(tried)))
        assert len(list(folder.kept())) == ("whole" in happenings)


def test_looking_at_a_log_moves_nothing(folder: RunFolder) -> None:
    write(folder.log(UNIT), "broken")
    kept = folder.kept()
    with pytest.raises(TrajectoryError):
        folder.peek(UNIT.name, kept)
    assert folder.log(UNIT).exists()
    folder.log(UNIT).unlink()  # as another command may, which sets it aside
    assert folder.peek(UNIT.name, kept) is None


# the manifest


def test_scenarios_are_added_to_the_manifest(folder: RunFolder) -> None:
    folder.state(MANIFEST)
    folder.state({**MANIFEST, "trials": 3, "scenarios": {"ferry_countdown": "d9"}})
    found = json.loads((folder.root / "run.json").read_text())
    assert found["trials"] == 3
    assert found["scenarios"] == {"ferry_countdown": "d9", "wifi_off": "d1"}


@pytest.mark.parametrize("key", ["agent", "user", "schema"])
def test_a_folder_belongs_to_one_agent_one_user_and_one_form(folder: RunFolder, key: str) -> None:
    folder.state(MANIFEST)
    before = (folder.root / "run.json").read_text()
    with pytest.raises(RunError, match=f"holds a run with another {key}: .*; choose another folder with --out"):
        folder.state({**MANIFEST, key: {"other": True}})
    assert (folder.root / "run.json").read_text() == before


@pytest.mark.parametrize("text", ["", "[", "[]", "\udcff"])
def test_a_manifest_that_cannot_be_read_is_told(folder: RunFolder, text: str) -> None:
    (folder.root / "run.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(RunError, match="is not a manifest of a run"):
        folder.state(MANIFEST)


def test_a_document_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    write_json(path, {"first": True})
    with pytest.raises(TypeError):
        write_json(path, {"second": object()})
    assert json.loads(path.read_text()) == {"first": True}
    assert [item.name for item in tmp_path.iterdir()] == ["summary.json"]


def test_a_log_is_the_same_whether_written_or_made(folder: RunFolder) -> None:
    played(folder)
    assert folder.log(UNIT).read_text() == to_line(STARTED) + to_line(ENDED)


def test_a_folder_that_has_gone_is_not_made_again(folder: RunFolder) -> None:
    shutil.rmtree(folder.root)
    with pytest.raises(RunError, match="was removed while the run went on"):
        folder.writer(UNIT)
    assert not folder.root.exists()


def test_a_log_that_has_gone_is_not_written_on(folder: RunFolder) -> None:
    with folder.writer(UNIT) as log:
        log.write(STARTED)
        shutil.rmtree(folder.root)
        with pytest.raises(OSError, match="has been removed"):
            log.write(ENDED)


# packs


def packed(folder: RunFolder, unit: Unit = UNIT) -> None:
    with folder.pack(Shard()) as pack:
        folder.keep(unit, played(folder, keep=False), pack)


def test_a_packed_log_counts(folder: RunFolder) -> None:
    packed(folder)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is not None
    assert list(folder.kept()) == [UNIT.name]
    assert not list((folder.root / "partial").glob("*"))


def test_a_packed_log_of_a_scenario_that_has_changed_is_set_aside_once(folder: RunFolder) -> None:
    packed(folder)
    assert folder.finished(UNIT, "d2", folder.kept(), folder.begun()) is None
    assert aside(folder) == ["wifi_off-base-s0-t0.1.jsonl.aside"]
    assert list(folder.kept()) == []
    assert folder.finished(UNIT, "d2", folder.kept(), folder.begun()) is None
    assert len(aside(folder)) == 1


def test_a_damaged_pack_does_not_hold_up_the_run(folder: RunFolder) -> None:
    packed(folder)
    (pack,) = folder.logs.glob("*.zst")
    data = bytearray(pack.read_bytes())
    data[40] ^= 0xFF
    pack.write_bytes(data)
    played(folder, None, keep=False)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is None
    assert (list(folder.kept()), pack.read_bytes()) == ([], data)


def test_a_log_packed_in_the_moment_of_a_crash_counts_once(folder: RunFolder) -> None:
    packed(folder)
    played(folder, keep=False)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is not None
    assert aside(folder) == []


def test_another_attempt_beside_a_packed_log_is_set_aside(folder: RunFolder) -> None:
    packed(folder)
    played(folder, None, keep=False)
    assert folder.finished(UNIT, "d1", folder.kept(), folder.begun()) is not None
    assert aside(folder) == ["wifi_off-base-s0-t0.1.jsonl.aside"]
