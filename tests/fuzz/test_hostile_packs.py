"""Packs that somebody wrote to do harm: they are refused in a line, and take nothing else with them."""

import json
import resource
import sys
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner
from sandbox_grader import read_report
from sandbox_grader.reporting.many import grade_many
from sandbox_grader.reporting.scenario_of_log import SuiteFinder

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine import bounded
from sandbox_mcp.engine.trajectory.errors import TrajectoryError
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.engine.trajectory.frames import MOST, SMALL, Compressor, index_frame, most_of
from sandbox_mcp.engine.trajectory.log import read_trajectory
from sandbox_mcp.engine.trajectory.packs import PackWriter
from tests.each import each

DEEP = b"[" * 100_000
SESSION = b'{"event":"session",'


def frame(lines: bytes) -> bytes:
    compressor = Compressor()
    return compressor.flushed(lines) + compressor.finished()


HOSTILE = {
    "a line that nests": frame(SESSION + b'"session":' + DEEP + b'\n{"event":"end",}\n'),
    "an index that nests": frame(b"x\n") + index_frame(b'{"sessions":' + DEEP + b"}"),
    "both": frame(SESSION + DEEP + b'\n{"event":"end",}\n') + index_frame(DEEP + b"}"),
    "a line of brackets": frame(DEEP + b"\n"),
    "zeros": frame(bytes(SMALL + 1)),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ran = CliRunner().invoke(group, ["run", "wifi_off", "--agent", "reference", "--out", str(tmp_path / "run")])
    assert ran.exit_code == 0, ran.output
    log = next((tmp_path / "run" / "logs").glob("*.jsonl"))
    with PackWriter(tmp_path / "run" / "logs", "good") as pack:
        pack.add("good", log.read_bytes())
    return tmp_path / "run"


@each("command", [("grade",), ("replay",), ("report", "-o", "x.html"), ("table", "breakdown/reasons")])
def test_a_hostile_pack_stops_nothing_else(folder: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    for number, data in enumerate(HOSTILE.values()):
        (folder / "logs" / f"bad-{number}.jsonl.zst").write_bytes(data)
    options = [option.replace("x.html", str(tmp_path / "x.html")) for option in command[1:]]
    done = CliRunner().invoke(group, [command[0], *options, str(folder / "logs")])
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    assert done.output.count("Traceback") == 0
    assert read_report(folder / "logs").score == 1


@each("kind", HOSTILE)
def test_a_hostile_pack_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    (tmp_path / "bad.jsonl.zst").write_bytes(HOSTILE[kind])
    with pytest.raises(TrajectoryError, match=r"bad\.jsonl\.zst"):
        read_trajectory(tmp_path / "bad.jsonl.zst")


@each("packed", [1, 40_000, 330_000, 1 << 29])
def test_a_frame_unpacks_to_a_bounded_multiple_of_itself(packed: int) -> None:
    assert SMALL <= most_of(packed) <= MOST
    assert most_of(packed) <= max(SMALL, 400 * packed)


def test_of_a_pack_that_is_cut_anywhere_what_is_whole_is_used(folder: Path, tmp_path: Path) -> None:
    logs = folder / "logs"
    lines = next(logs.glob("*.jsonl")).read_bytes()
    with PackWriter(tmp_path, "bad") as pack:
        for number in range(3):
            pack.add(f"s{number}", lines.replace(b'"session":"', b'"session":"%d' % number, 1))
    assert pack.path
    whole, cut, found = pack.path.read_bytes(), logs / "cut.jsonl.zst", list[int]()
    for length in (*range(1, len(whole), 61), *range(len(whole) - 40, len(whole), 3)):
        cut.write_bytes(whole[:length])
        report = grade_many(find_logs([logs]), SuiteFinder(), jobs=1, keep=False)
        assert report.score == 1
        told = [*report.warnings, *(item.reason for item in report.unreadable)]
        assert [str(cut) in line and "\n" not in line for line in told] == [True]
        found.append(len(report.sessions))
    assert found == sorted(found)
    assert (found[0], found[-1]) == (2, 5)


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured by POSIX's resource")
def test_what_is_refused_takes_no_memory_of_its_size(tmp_path: Path) -> None:
    bomb = frame(bytes(1 << 30))
    (tmp_path / "bomb.jsonl.zst").write_bytes(bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TrajectoryError, match="unpacks to more than"):
        read_trajectory(tmp_path / "bomb.jsonl.zst")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@each("text", ["[" * 100_000, '{"a":' * 1000 + "1" + "}" * 1000, "[" * 401 + "]" * 401])
def test_json_that_nests_too_deeply_is_no_json(text: str) -> None:
    with pytest.raises(json.JSONDecodeError, match="nests too deeply"):
        bounded.loads(text)


def test_json_of_many_values_that_nest_little_is_read() -> None:
    assert len(bounded.loads("[" + ",".join(["[[1]]"] * 5000) + "]")) == 5000


def test_what_zlib_makes_of_little_is_bounded() -> None:
    with pytest.raises(ValueError, match="unpacks to more than"):
        bounded.inflated(zlib.compress(bytes(bounded.INFLATED + 1)))


def test_a_file_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(bytes(2000))
    with pytest.raises(bounded.TooLargeError):
        bounded.read_bounded(tmp_path / "long", 1000)
