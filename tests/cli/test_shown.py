"""Texts from elsewhere: nobody writes over a score with a name, and what cannot be read stops nothing."""

import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.columns import columns
from sandbox_mcp.engine.shown import Screen, cell, json_text, neutral, one_line, screened
from sandbox_mcp.engine.trajectory import LogWriter
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE
from tests.trajectory.events import called, ended, said, started

NASTY = "\x1b[2K\rscore 1.000\x9b31m\u202eevil\u2028\x07\x7f"
WIFI_OFF = SUITE.get("wifi_off")
any_text = st.text(st.characters())


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def obeyed(text: str) -> set[str]:
    return {char for char in text if not (char.isprintable() or char in "\n\t\xa0") and neutral(char) != char}


@given(any_text)
def test_a_neutral_text_moves_no_cursor_and_can_be_written(text: str) -> None:
    shown = neutral(text)
    shown.encode()
    assert not any((ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert obeyed(shown) == set()


@given(any_text)
def test_what_was_shown_neutrally_stays_as_it_is(text: str) -> None:
    assert neutral(neutral(text)) == neutral(text)


@given(any_text)
def test_a_line_stays_a_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@each("text", ["plain", "Bế 明日 🌊 é", "👩‍🚀 می‌خواهم", "two\nlines\tand more", ""])
def test_a_sound_text_is_shown_as_it_is(text: str) -> None:
    assert neutral(text) == text


@each("text", ["=1+1", "+1", "-1", "@x", "\t=1"])
def test_a_cell_is_no_formula(text: str) -> None:
    assert cell(text) == f"'{text}"


def test_a_cell_moves_no_cursor_either() -> None:
    assert cell("\r=1") == "\\u000d=1"
    assert obeyed(cell(NASTY)) == set()


@each("char", ["\u200b", "\xad", "\ufeff", "\u2060", "\u3164", "\U000e0041"])
def test_what_cannot_be_seen_is_shown_and_json_stays_what_it_was(char: str) -> None:
    assert neutral(f"a{char}b").isascii()
    assert json.loads(neutral(json.dumps(f"a{char}b", ensure_ascii=False))) == f"a{char}b"


@each("value", ["a=1", "", 5, -5.0, None, True])
def test_other_cells_are_as_they_were(value: Any) -> None:
    assert cell(value) is value


json_like = st.recursive(
    st.none() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@given(json_like)
def test_what_is_printed_as_json_is_json(value: Any) -> None:
    def beyond(literal: str) -> None:
        raise AssertionError(literal)

    json.loads(json_text(value).encode(), parse_constant=beyond)


@each("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_becomes_null(number: float) -> None:
    assert json.loads(json_text({"x": [number]})) == {"x": [None]}


def test_whatever_is_printed_goes_through(capsys: pytest.CaptureFixture[str]) -> None:
    with screened():
        sys.stdout.write(NASTY)
        sys.stderr.write(NASTY)
    out, err = capsys.readouterr()
    assert obeyed(out + err) == set()


def test_a_screen_is_otherwise_the_stream_behind_it() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.write("a\x1bb")
    assert (stream.getvalue(), screen.isatty(), screen.closed) == ("a\\u001bb", False, False)


@each(("encoding", "shown"), [("ascii", '"Zo\\u00eb \\ud83c\\udf0a"'), ("cp1252", '"Zoë \\ud83c\\udf0a"')])
def test_what_the_encoding_of_a_stream_lacks_is_escaped_and_json_stays_what_it_was(encoding: str, shown: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    Screen(stream).write(json.dumps("Zoë 🌊", ensure_ascii=False))
    stream.seek(0)
    assert stream.read() == shown
    assert json.loads(shown) == "Zoë 🌊"


def test_a_table_keeps_its_rows() -> None:
    assert len(columns(("name",), [("a\nb",), ("c\r\nd",)]).split("\n")) == 3


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a log whose every text is nasty, and one that cannot be read."""
    import dataclasses

    with LogWriter(tmp_path / "logs" / "nasty.jsonl") as log:
        log.write(dataclasses.replace(started(), scenario=NASTY, session=NASTY, world={}))
        log.write(dataclasses.replace(said(NASTY), seq=1))
        log.write(dataclasses.replace(called(), seq=2, name=NASTY, raw_arguments=NASTY))
        log.write(dataclasses.replace(ended(), seq=3, detail=NASTY))
    (tmp_path / "logs" / "broken.jsonl").write_text("nonsense\n")
    return tmp_path / "logs"


@pytest.mark.parametrize(
    "command", [("grade",), ("grade", "--explain"), ("grade", "--json"), ("replay",), ("export", "openai-chat")]
)
def test_nothing_from_a_log_moves_a_cursor_and_one_that_cannot_be_read_stops_nothing(
    logs: Path, command: tuple[str, ...]
) -> None:
    done = invoke(*command, logs)
    assert (done.exit_code, obeyed(done.output)) == (2, set())
    assert "broken.jsonl" in done.stderr
    assert command == ("replay",) or "evil" in done.stdout


def test_comparing_goes_on_past_it_too(tmp_path: Path) -> None:
    with LogWriter(tmp_path / "whole.jsonl") as writer:
        session = Session(SessionSpec(WIFI_OFF), ScriptedUser(WIFI_OFF.user.script), writer)
        session.begin()
        session.call("set_wifi_status", {"on": False})
        anyio.run(session.say, "Wifi is now off.")
    (tmp_path / f"{NASTY}.jsonl").write_text("nonsense\n")
    done = invoke("compare", tmp_path, tmp_path)
    assert "evil" in done.stderr
    assert (done.exit_code, obeyed(done.output)) == (2, set())
