"""Writing a log and reading it again, whole, cut or spoilt."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import (
    SCHEMA,
    Event,
    LogWriter,
    MemoryLog,
    Message,
    SessionEnded,
    SessionStarted,
    TrajectoryError,
    parse_trajectory,
    read_trajectory,
    to_line,
)
from sandbox_mcp.engine.trajectory.log import mend_log
from tests.each import each
from tests.trajectory.events import SESSION, between, called, calls, ended, ends, messages, said, started, starts


def data_of(events: Any) -> bytes:
    return "".join(map(to_line, events)).encode()


def fault(data: bytes) -> TrajectoryError:
    with pytest.raises(TrajectoryError) as caught:
        parse_trajectory(data, "log.jsonl")
    return caught.value


class TestRoundTrip:
    @given(starts, between, st.none() | ends)
    def test_what_is_written_is_read(self, first: SessionStarted, middle: list[Any], last: SessionEnded | None) -> None:
        middle = [replace(event, seq=number) for number, event in enumerate(middle, start=1)]
        last = replace(last, seq=len(middle) + 1) if last else None
        trajectory = parse_trajectory(data_of([first, *middle, *([last] if last else [])]))
        assert trajectory.started == first
        assert list(trajectory.events) == middle
        assert trajectory.ended == last
        assert (trajectory.complete, trajectory.cut) == (last is not None, False)

    @given(starts | messages | calls | ends)
    def test_what_is_read_is_written_the_same(self, event: Event) -> None:
        event = event if isinstance(event, SessionStarted) else replace(event, seq=1)
        before = [] if isinstance(event, SessionStarted) else [started()]
        trajectory = parse_trajectory(data_of([*before, event]))
        again = (trajectory.started, *trajectory.events, *([trajectory.ended] if trajectory.ended else []))[-1]
        assert to_line(again) == to_line(event)

    @given(starts | messages | calls | ends)
    def test_an_event_is_one_line_of_json(self, event: Event) -> None:
        line = to_line(event)
        assert line.endswith("\n")
        assert line.count("\n") == 1
        assert json.loads(line)["event"] == event.event

    def test_a_file_grows_line_by_line_and_can_be_read_at_any_time(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "log.jsonl"
        with LogWriter(path) as log:
            for count, event in enumerate(SESSION):
                log.write(event)
                assert len(read_trajectory(path).events) == min(count, 2)
        assert read_trajectory(path).complete

    def test_a_log_is_only_ever_appended_to(self, tmp_path: Path) -> None:
        path = tmp_path / "log.jsonl"
        for event in SESSION:
            with LogWriter(path) as log:
                log.write(event)
        assert path.read_bytes() == data_of(SESSION)

    def test_memory_and_file_tell_the_same(self, tmp_path: Path) -> None:
        memory = MemoryLog()
        with LogWriter(tmp_path / "log.jsonl") as log:
            for event in SESSION:
                memory.write(event)
                log.write(event)
        in_memory, on_disk = memory.trajectory(), read_trajectory(tmp_path / "log.jsonl")
        assert (in_memory.started, in_memory.events, in_memory.ended) == (
            on_disk.started,
            on_disk.events,
            on_disk.ended,
        )

    def test_every_language_is_written_as_it_is(self) -> None:
        assert "Bế 明日 🌊 é" in to_line(said("Bế 明日 🌊 é"))

    @each("text", ["a\nb", "a\r\nb", "a\u2028b\u2029c\x85d", "\x00\x1f\x7f", '"\\', "\ufeff"])
    def test_no_text_breaks_a_line(self, text: str) -> None:
        (event,) = parse_trajectory(data_of([started(), said(text)])).events
        assert isinstance(event, Message)
        assert event.content == text

    def test_half_a_character_is_no_reason_to_lose_a_session(self, tmp_path: Path) -> None:
        with LogWriter(tmp_path / "log.jsonl") as log:
            log.write(started())
            log.write(said("half \ud83d a face, \U0001f600 whole"))
        (event,) = read_trajectory(tmp_path / "log.jsonl").events
        assert isinstance(event, Message)
        assert event.content == "half ? a face, \U0001f600 whole"

    @each("value", [float("nan"), float("inf")])
    def test_what_json_cannot_say_is_refused_when_written(self, value: float) -> None:
        with pytest.raises(ValueError, match="not JSON compliant"):
            to_line(called(result=value))

    def test_what_is_no_data_is_refused_when_written(self) -> None:
        with pytest.raises(TypeError, match="object is not JSON"):
            to_line(called(result=object()))


class TestCut:
    """A crash cuts at most the last line, and at any byte of it."""

    @given(st.integers(1, len(to_line(SESSION[-2]).encode()) - 1))
    def test_a_cut_line_is_dropped_and_the_rest_is_read(self, size: int) -> None:
        data = data_of(SESSION[:-2]) + to_line(SESSION[-2]).encode()[:size]
        trajectory = parse_trajectory(data)
        whole = size == len(to_line(SESSION[-2]).encode()) - 1
        assert trajectory.cut is not whole
        assert len(trajectory.events) == 1 + whole
        assert not trajectory.complete

    def test_a_cut_within_a_character(self) -> None:
        line = to_line(said("é")).encode()
        trajectory = parse_trajectory(data_of([started(), said()]) + line[: line.index("é".encode()) + 1])
        assert (trajectory.cut, len(trajectory.events)) == (True, 1)

    def test_only_the_last_newline_is_missing(self) -> None:
        trajectory = parse_trajectory(data_of(SESSION).rstrip(b"\n"))
        assert (trajectory.cut, trajectory.complete) == (False, True)

    def test_a_log_without_an_end_is_incomplete(self) -> None:
        assert not parse_trajectory(data_of(SESSION[:-1])).complete

    def test_the_first_line_cut(self) -> None:
        error = fault(to_line(started()).encode()[:40])
        assert str(error) == "log.jsonl: is not a trajectory log: its first line is cut off"

    @given(st.integers(0, len(data_of(SESSION))))
    def test_a_mended_log_can_be_appended_to(self, size: int) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.jsonl"
            path.write_bytes(data_of(SESSION)[:size])
            mend_log(path)
            kept = path.read_bytes()
            assert data_of(SESSION).startswith(kept)
            assert kept.endswith(b"\n") or not kept
            assert mend_log(path) is False


class TestSpoilt:
    """Anything else that cannot be read is an error with its line, because skipping it would change the score."""

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(TrajectoryError, match=r"none\.jsonl: cannot be read: No such file"):
            read_trajectory(tmp_path / "none.jsonl")

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(TrajectoryError, match="cannot be read: Is a directory"):
            read_trajectory(tmp_path)

    @each("data", [b"", b"\n", b" \n\n"])
    def test_an_empty_file(self, data: bytes) -> None:
        assert str(fault(data)) == "log.jsonl: is empty; expected a trajectory log in JSON Lines"

    @each("line", [b"hello\n", b"# Read me\n", b"\xff\xfe\n", b"{\n"])
    def test_a_file_that_is_no_json(self, line: bytes) -> None:
        error = fault(line)
        assert error.line == 1
        assert "is not a trajectory log: not JSON" in str(error)

    @each("line", [b"{}\n", b"[]\n", b"3\n", b'{"role": "user"}\n', b'{"schema": "one"}\n'])
    def test_a_file_that_is_no_log(self, line: bytes) -> None:
        error = fault(line)
        assert error.line == 1
        assert "its first line must be the 'session' event with a schema number" in str(error)

    def test_a_log_of_a_newer_version(self) -> None:
        data = to_line(started(schema=SCHEMA + 1)).encode() + b'{"event": "something new"}\n'
        assert str(fault(data)) == (
            f"log.jsonl:1: was written with log schema {SCHEMA + 1}; this version reads up to {SCHEMA}, "
            "upgrade sandbox-mcp"
        )

    @each(
        ("line", "problem"),
        [
            (b"{broken}\n", "is not a log event"),
            (b"3\n", "is not a log event"),
            (b'{"event": "thought"}\n', "is not a log event: Input tag 'thought'"),
            (b'{"event": "message"}\n', "is not a log event: message.seq: Field required"),
            (
                to_line(said()).replace('"seq":1', '"seq":"one"').encode(),
                "message.seq: Input should be a valid integer",
            ),
            (to_line(said()).replace('"user"', '"boss"').encode(), "message.sender: Input should be"),
            (b"\xff\n", "is not a log event"),
            (to_line(called(result=7)).replace('"result":7', '"result":[NaN]').encode(), "event: NaN is not JSON"),
            (to_line(said()).replace('"clock":', '"clock":-Infinity,"was":').encode(), "event: -Infinity is not JSON"),
        ],
    )
    def test_a_broken_line_in_the_middle(self, line: bytes, problem: str) -> None:
        error = fault(data_of([started(), said()]) + line + data_of([ended()]))
        assert error.line == 3
        assert problem in str(error)
        assert "\n" not in str(error)

    def test_what_json_does_not_know_may_be_spoken_of(self) -> None:
        told = said(content="NaN, or Infinity")
        assert parse_trajectory(data_of([started(), told])).events == (told,)

    def test_the_number_is_that_of_the_line_also_after_empty_ones(self) -> None:
        error = fault(data_of([started()]) + b"\n\n{broken}\n")
        assert error.line == 4

    def test_two_sessions_in_one_file(self) -> None:
        error = fault(data_of([started()]) + b"\n" + data_of([started(), ended()]))
        assert str(error) == "log.jsonl:3: has a 'session' event in the middle; one log holds one session"

    def test_something_after_the_end(self) -> None:
        error = fault(data_of([started(), ended(), said()]))
        assert str(error) == "log.jsonl:2: has a 'end' event in the middle; one log holds one session"

    def test_two_ends(self) -> None:
        assert fault(data_of([started(), ended(), ended()])).line == 2

    @each("event", [said(), called(), ended()])
    def test_a_log_that_starts_with_something_else(self, event: Event) -> None:
        assert fault(data_of([event, *SESSION])).line == 1

    def test_in_memory_the_same_rules_hold(self) -> None:
        memory = MemoryLog()
        memory.write(said())
        with pytest.raises(TrajectoryError, match="its first line must be the 'session' event"):
            memory.trajectory()

    def test_nothing_in_memory(self) -> None:
        with pytest.raises(TrajectoryError, match="its first line must be the 'session' event"):
            MemoryLog().trajectory()


class TestTolerance:
    """What other tools do to files without changing what they say."""

    def test_empty_lines(self) -> None:
        assert len(parse_trajectory(data_of(SESSION).replace(b"\n", b"\n\n")).events) == 2

    def test_windows_line_ends(self) -> None:
        assert parse_trajectory(data_of(SESSION).replace(b"\n", b"\r\n")).complete

    def test_a_byte_order_mark(self) -> None:
        assert parse_trajectory(b"\xef\xbb\xbf" + data_of(SESSION)).complete

    def test_an_empty_line_before_the_first(self) -> None:
        newer = b"\n" + to_line(started(schema=SCHEMA + 1)).encode()
        assert "was written with log schema" in str(fault(newer))

    def test_keys_that_are_not_known_yet_are_passed_over(self) -> None:
        line = to_line(said()).replace('"seq"', '"mood":"fine","seq"')
        assert parse_trajectory(data_of([started()]) + line.encode()).events == (said(),)


@given(st.binary(max_size=60))
def test_no_bytes_whatever_are_read_by_accident(data: bytes) -> None:
    with pytest.raises(TrajectoryError):
        parse_trajectory(data)


def test_a_line_that_is_missing_is_told() -> None:
    lines = data_of([started(), said(), called(), ended()]).split(b"\n")
    error = fault(b"\n".join(lines[:2] + lines[3:]))
    assert str(error) == "log.jsonl:3: is event 3, expected 2; a line is missing, doubled or out of place"


def test_a_line_that_stands_twice_is_told() -> None:
    lines = data_of([started(), said(), called(), ended()]).split(b"\n")
    assert fault(b"\n".join([*lines[:2], *lines[1:]])).line == 3
