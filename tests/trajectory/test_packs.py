"""Packs: what goes in comes out, wherever the file is cut off."""

import json
import os
import subprocess
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import TrajectoryError, read_trajectory, to_line
from sandbox_mcp.engine.trajectory import packs as packs_module
from sandbox_mcp.engine.trajectory.finding import find_logs, log_stamp, packed_logs
from sandbox_mcp.engine.trajectory.log import log_bytes
from sandbox_mcp.engine.trajectory.packs import PackWriter, has_log, leave_out
from tests.each import each
from tests.laws import at_least
from tests.trajectory.events import SESSION, ended, said, started

numbers = count()


def log_of(name: str, *texts: str) -> bytes:
    middle = [replace(said(text), seq=number) for number, text in enumerate(texts, start=1)]
    events = [replace(started(), session=name), *middle, replace(ended(), seq=len(texts) + 1)]
    return "".join(map(to_line, events)).encode()


def packed(folder: Path, *logs: bytes) -> Path:
    with PackWriter(folder, "pack") as pack:
        for number, lines in enumerate(logs):
            pack.add(f"s{number}", lines)
    assert pack.path
    return pack.path


def contents(pack: Path) -> dict[str, bytes]:
    return {path.name: log_bytes(path) for path in packed_logs(pack)}


@pytest.fixture(autouse=True)
def _frames_of_a_few_sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(packs_module, "FRAME", 3000)
    return


some_logs = st.lists(st.lists(st.text(max_size=600), max_size=4), min_size=1, max_size=12).map(
    lambda sessions: [log_of(f"s{number}", *texts) for number, texts in enumerate(sessions)]
)


@given(some_logs)
def test_what_is_packed_is_read_byte_for_byte(logs: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        pack = packed(Path(folder), *logs)
        assert contents(pack) == {f"s{number}.jsonl": lines for number, lines in enumerate(logs)}


@given(some_logs)
def test_a_pack_unpacks_to_the_lines_of_its_logs(logs: list[bytes]) -> None:
    with TemporaryDirectory() as folder, packed(Path(folder), *logs).open("rb") as file:
        assert zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read() == b"".join(logs)


@settings(max_examples=at_least(20))
@given(some_logs, st.data())
def test_a_pack_cut_off_anywhere_has_lost_at_most_the_session_being_written(
    logs: list[bytes], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        sizes: list[int] = []
        with PackWriter(Path(folder), "pack") as writer:
            for number, lines in enumerate(logs):
                writer.add(f"s{number}", lines)
                assert writer.path
                sizes.append(writer.path.stat().st_size)
        assert writer.path
        whole = writer.path.read_bytes()
        at = data.draw(st.integers(0, len(whole)))
        pack = Path(folder) / f"{next(numbers)}.jsonl.zst"
        pack.write_bytes(whole[:at])
        written = sum(size <= at for size in sizes)
        found = contents(pack)
        assert all(found[f"s{number}.jsonl"] == lines for number, lines in enumerate(logs[:written]))
        assert len(found) - written in (0, 1)
        assert all(lines == logs[int(name[1:].partition(".")[0])] for name, lines in found.items())


def test_a_pack_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    with PackWriter(tmp_path, "pack") as pack:
        for number in range(9):
            pack.add(f"s{number}", log_of(f"s{number}", "x" * 300))
            assert pack.path
            assert len(packed_logs(pack.path)) == number + 1


def test_every_command_writes_a_pack_of_its_own(tmp_path: Path) -> None:
    first, second = packed(tmp_path, log_of("s0")), packed(tmp_path, log_of("s0", "again"))
    assert [path.name for path in (first, second)] == ["pack-1.jsonl.zst", "pack-2.jsonl.zst"]
    assert len(find_logs([tmp_path])) == 2


def test_a_pack_that_nothing_came_into_is_no_file(tmp_path: Path) -> None:
    with PackWriter(tmp_path, "pack") as pack:
        assert pack.path is None
    assert list(tmp_path.iterdir()) == []


def test_logs_are_found_in_files_packs_and_folders_alike(tmp_path: Path) -> None:
    pack = packed(tmp_path / "deep", log_of("s0"), log_of("s1"))
    (tmp_path / "own.jsonl").write_bytes(log_of("own"))
    assert find_logs([tmp_path]) == [pack / "s0.jsonl", pack / "s1.jsonl", tmp_path / "own.jsonl"]
    assert find_logs([pack]) == [pack / "s0.jsonl", pack / "s1.jsonl"]
    assert find_logs([pack / "s1.jsonl"]) == [pack / "s1.jsonl"]
    assert read_trajectory(pack / "s1.jsonl").started.session == "s1"


def test_logs_of_packs_and_folders_stand_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for folder in ("a", "a.b", "b", "pack-1"):
        (tmp_path / folder).mkdir()
        packed(tmp_path / folder, log_of("s0", "hi"), log_of("s1", "ho"))
        for name in ("a", "pack", "pack-2", "z"):
            (tmp_path / folder / f"{name}.jsonl").write_bytes(log_of(name))
    found = find_logs([tmp_path])
    assert found == sorted(found)
    assert len(found) == 24


def test_a_session_that_was_left_out_counts_no_more_and_can_still_be_read(tmp_path: Path) -> None:
    pack = packed(tmp_path, log_of("s0"), log_of("s1"))
    leave_out(pack / "s0.jsonl")
    assert find_logs([tmp_path]) == [pack / "s1.jsonl"]
    assert not has_log(pack / "s0.jsonl")
    assert read_trajectory(pack / "s0.jsonl").started.session == "s0"


def test_the_stamp_of_a_packed_log_changes_with_it(tmp_path: Path) -> None:
    one, other = packed(tmp_path, log_of("s0")), packed(tmp_path, log_of("s0", "again"))
    assert log_stamp(one / "s0.jsonl") == log_stamp(packed(tmp_path, log_of("s0")) / "s0.jsonl") != ""
    assert log_stamp(one / "s0.jsonl") != log_stamp(other / "s0.jsonl")
    assert log_stamp(one / "none.jsonl") == ""


@each(
    ("path", "problem"),
    [
        ("pack-1.jsonl.zst/s7.jsonl", "is not among the 1 sessions of the pack"),
        ("pack-1.jsonl.zst", "is a pack of many logs; name one of them, as in pack-1.jsonl.zst/SESSION.jsonl"),
        ("none.jsonl.zst/s0.jsonl", "cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, path: str, problem: str) -> None:
    packed(tmp_path, log_of("s0"))
    with pytest.raises(TrajectoryError, match=problem):
        read_trajectory(tmp_path / path)


@each("spoil", [lambda data: b"no pack at all", lambda data: data[:60] + b"\xff" * 40 + data[100:]])
def test_what_is_no_pack_or_is_damaged_is_said(tmp_path: Path, spoil: object) -> None:
    pack = packed(tmp_path, log_of("s0", *["word " * 200] * 3))
    pack.write_bytes(spoil(pack.read_bytes()))  # type: ignore[operator]
    with pytest.raises(TrajectoryError, match="damaged"):
        [log_bytes(path) for path in find_logs([tmp_path])]


def test_reading_a_session_asks_for_no_more_memory_than_its_frame_takes(tmp_path: Path) -> None:
    """Where a process may have little, asking for what a frame could hold at the most would fail for every pack."""
    pack = packed(tmp_path, log_of("s0", "word " * 200_000))
    tracemalloc.start()
    try:
        size = len(log_bytes(pack / "s0.jsonl"))
        assert tracemalloc.get_traced_memory()[1] < 20 * size
    finally:
        tracemalloc.stop()


def test_a_pack_is_not_damaged_because_memory_ran_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_room(_: bytes) -> bytes:
        raise MemoryError

    pack = packed(tmp_path, log_of("s0"))
    monkeypatch.setattr(packs_module, "unpack", without_room)
    with pytest.raises(MemoryError):
        log_bytes(pack / "s0.jsonl")


def read_where_damaged(pack: Path, start: int, end: int) -> dict[str, bytes | str]:
    """What is read of a copy of a pack in which these bytes are others: lines, or why they cannot be read."""
    whole, spoilt = pack.read_bytes(), pack.with_name(f"{next(numbers)}.jsonl.zst")
    spoilt.write_bytes(whole[:start] + bytes(byte ^ 0xFF for byte in whole[start:end]) + whole[end:])
    found: dict[str, bytes | str] = {}
    for path in find_logs([spoilt]):
        try:
            found[path.name.removesuffix(".jsonl")] = log_bytes(path)
        except TrajectoryError as error:
            found[path.name.removesuffix(".jsonl")] = str(error)
    return found


@pytest.fixture
def two_frames(tmp_path: Path) -> tuple[Path, int]:
    """A pack of two frames with two sessions each, and where the second begins."""
    pack = packed(tmp_path, *(log_of(f"s{number}", "".join(map(str, range(400)))) for number in range(4)))
    return pack, pack.read_bytes().index(b"\x28\xb5\x2f\xfd", 4)


def test_a_damaged_byte_takes_no_more_with_it_than_its_frame(two_frames: tuple[Path, int]) -> None:
    pack, second = two_frames
    whole = read_where_damaged(pack, 0, 0)
    heads_and_indexes = (*range(12), *range(second - 150, second + 12))
    for place in (*heads_and_indexes, *range(12, pack.stat().st_size, 17)):
        found = read_where_damaged(pack, place, place + 1)
        for name, lines in whole.items():
            spared = (name in ("s0", "s1")) != (place < second)
            assert found[name] == lines or (not spared and "damaged" in str(found[name])), (place, name)


def test_a_damaged_index_takes_no_session_with_it(two_frames: tuple[Path, int]) -> None:
    pack, second = two_frames
    whole = read_where_damaged(pack, 0, 0)
    length = len(pack.read_bytes()[:second].partition(b'{"sessions":')[2]) + len(b'{"sessions":') + 8
    for place in range(second - length, second):
        assert read_where_damaged(pack, place, place + 1) == whole, place


@each("zeros", [600, 5000])
def test_a_pack_that_ends_in_zeros_as_where_the_power_failed_is_cut_off_there(tmp_path: Path, zeros: int) -> None:
    pack = packed(tmp_path, *(log_of(f"s{number}", "".join(map(str, range(400)))) for number in range(4)))
    whole, spoilt = pack.read_bytes(), tmp_path / f"{zeros}.jsonl.zst"
    last = whole.rindex(b"\x5a\x2a\x4d\x18")  # the index of the second frame
    for end in (last, last - 20):
        spoilt.write_bytes(whole[:end] + bytes(zeros + end % 7))
        found = find_logs([spoilt])
        assert [path.name for path in found] == ["s0.jsonl", "s1.jsonl", "s2.jsonl", "s3.jsonl"][
            : 4 if end == last else 3
        ]
        assert "is cut off at byte" in found.cut[0]


def test_where_nobody_knows_what_was_lost_the_pack_is_named(two_frames: tuple[Path, int]) -> None:
    pack, second = two_frames
    found = read_where_damaged(pack, 30, second)
    assert sorted(found)[1:] == ["s2", "s3"]
    told = "is damaged at byte 0, where sessions may be lost; the 2 sessions that can be told from it are read"
    assert [told in str(lines) for lines in found.values()] == [True, False, False]


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_a_pack_or_are_refused(data: bytes, real: bool) -> None:
    with TemporaryDirectory() as folder:
        pack = Path(folder) / f"{next(numbers)}.jsonl.zst"
        pack.write_bytes(b"\x28\xb5\x2f\xfd" * real + data)
        try:
            found = contents(pack)
        except TrajectoryError:
            found = {}
        assert found == {}


def test_what_does_not_end_like_a_log_is_not_packed(tmp_path: Path) -> None:
    with PackWriter(tmp_path, "pack") as pack, pytest.raises(ValueError, match="does not begin and end as a log"):
        pack.add("cut", log_of("cut")[:-5])


def test_a_name_is_packed_once(tmp_path: Path) -> None:
    with PackWriter(tmp_path, "pack") as pack:
        pack.add("s0", log_of("s0"))
        with pytest.raises(ValueError, match="has a session 's0' already"):
            pack.add("s0", log_of("s0"))


def test_a_pack_on_a_full_disk_is_as_it_was_before(tmp_path: Path) -> None:
    program = f"""
import resource, signal, sys
from pathlib import Path
from sandbox_mcp.engine.trajectory.packs import PackWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import random
lines = lambda n: (
    b'{{"event":"session","schema":1,"session":"s%d","scenario":"%s"}}\\n{{"event":"end","seq":1,"clock":0.0,"reason":"user_ended"}}\\n'
    % (n, random.randbytes(400).hex().encode()))
pack = PackWriter(Path({str(tmp_path)!r}), "pack")
pack.add("s0", lines(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (pack.path.stat().st_size + 100, resource.RLIM_INFINITY))
for wanted in ("File too large", "takes no more"):
    try:
        pack.add("s1", lines(1))
    except OSError as error:
        assert wanted in str(error), error
    else:
        sys.exit("it was written")
pack.close()
"""
    subprocess.run([__import__("sys").executable, "-c", program], check=True, timeout=60)
    assert [path.name for path in find_logs([tmp_path])] == ["s0.jsonl"]


def test_a_pack_that_took_the_place_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    for finished in (True, False):
        for number in range(9):
            with PackWriter(tmp_path, "pack") as pack:
                pack.add("s", log_of("s", str(number)))
                assert pack.path
                if finished:
                    pack.rest()
                assert log_bytes(pack.path / "s.jsonl") == log_of("s", str(number))
            pack.path.unlink()


def test_sessions_take_a_fraction_of_what_they_take_alone(tmp_path: Path) -> None:
    pack = packed(tmp_path, *(log_of(f"s{number}", "the same words again and again") for number in range(50)))
    assert pack.stat().st_size < sum(map(len, contents(pack).values())) / 2
    assert json.loads(to_line(SESSION[0]))["event"] == "session"


@each("name", ["cut.jsonl.zst", "."])
def test_a_pack_that_was_cut_off_is_named_with_the_byte_and_what_is_whole(tmp_path: Path, name: str) -> None:
    sizes: list[int] = []
    with PackWriter(tmp_path / "whole", "pack") as writer:
        for number in range(4):
            writer.add(f"s{number}", log_of(f"s{number}", "".join(map(str, range(250)))))  # three make a frame
            assert writer.path
            sizes.append(writer.path.stat().st_size)
    assert writer.path
    whole, pack = writer.path.read_bytes(), tmp_path / "cut.jsonl.zst"

    def said(end: int) -> tuple[str, ...]:
        writer.path and writer.path.unlink(missing_ok=True)
        pack.write_bytes(whole[:end])
        os.utime(pack, ns=(end, end))
        return find_logs([tmp_path / name]).cut

    assert [said(size) for size in (*sizes, len(whole))] == [()] * 5  # as a killed run leaves it, and as it ends
    assert said(sizes[1] + 1) == (f"{pack}: is cut off at byte {sizes[1]}; the 2 sessions before it are whole",)
    assert "the 3 sessions before it are whole" in said(sizes[3] - 1)[0]
    assert "the 4 sessions before it are whole" in said(len(whole) - 1)[0]
    with pytest.raises(TrajectoryError, match="is cut off in its first session"):
        said(sizes[0] - 1)


def test_a_pack_that_has_gone_is_not_written_on(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="has been removed"), PackWriter(tmp_path, "pack") as pack:  # noqa: PT012
        pack.add("s0", log_of("s0"))
        assert pack.path
        pack.path.unlink()
        pack.add("s1", log_of("s1"))
    assert not list(tmp_path.iterdir())
