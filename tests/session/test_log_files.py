"""Logs in files: never shared, never lost, and few of them open."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import Message
from sandbox_mcp.play.session.log_files import LogFiles
from tests.laws import at_least


def message(number: int) -> Message:
    return Message(
        seq=number, clock=0.0, sender="agent", recipient="user", content=str(number), visible_to=("agent", "user")
    )


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@settings(max_examples=at_least(15), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(writes=st.lists(st.integers(0, 4), max_size=25), limit=st.integers(1, 3))
def test_every_log_gets_its_own_lines_in_order(tmp_path: Path, writes: list[int], limit: int) -> None:
    files = LogFiles(limit)
    logs = [files.new(tmp_path, "same-name") for _ in range(5)]
    for number, which in enumerate(writes):
        logs[which].write(message(number))
    for log in logs:
        log.release()
    for which, log in enumerate(logs):
        wanted = [f'"seq":{number},' for number, written in enumerate(writes) if written == which]
        assert log.path.exists() == bool(wanted)
        if not wanted:
            continue
        assert len(lines(log.path)) == len(wanted)
        assert all(mark in line for mark, line in zip(wanted, lines(log.path), strict=True))
        log.path.unlink()


def test_a_file_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("mine\n")
    log = LogFiles().new(tmp_path, "a")
    log.write(message(1))
    log.release()
    assert (tmp_path / "a.jsonl").read_text() == "mine\n"
    assert log.path.name == "a-2.jsonl"


def test_two_servers_with_one_folder_do_not_share_files(tmp_path: Path) -> None:
    one, other = LogFiles(), LogFiles()
    names = [files.new(tmp_path, "a").path.name for files in (one, other, one, other)]
    assert len(set(names)) == 4


def test_a_released_log_can_be_written_again(tmp_path: Path) -> None:
    log = LogFiles().new(tmp_path, "a")
    for number in range(3):
        log.write(message(number))
        log.release()
    log.release()
    assert len(lines(log.path)) == 3


def test_a_folder_that_was_removed_is_made_again_for_the_next_log(tmp_path: Path) -> None:
    files = LogFiles()
    for _ in range(2):
        files.new(tmp_path / "logs", "a").discard()
        (tmp_path / "logs").rmdir()


def test_a_folder_that_cannot_be_made_is_the_callers_business(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        LogFiles().new(tmp_path / "file", "a")
