"""Tables fit the terminal they are printed to, and stay as they are where there is none."""

import io
import re
import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from sandbox_mcp.app.cli.printing import print_table
from sandbox_mcp.app.cli.progress import Display, counting

ROWS = [("a_long_name_of_a_scenario", 0.5, "user_ended 1"), ("b", None, "agent_failed 12, user_ended 7")]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


ESTIMATES = [("score", 0.342, 0.203, 0.48, 10, 0.0, 0.052, 1.0), ("pass@1", 0.25, 0.061, 0.439, 10, None, None, None)]
HEADERS = ("", "mean", "low", "high", "scenarios", "floor", "blind replay", "ceiling")


def printed(
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    headers: Sequence[str] = ("scenario", "score", "endings"),
    rows: Sequence[Sequence[object]] = ROWS,
    **environment: str,
) -> str:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    print_table(headers, rows)
    return screen.getvalue()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = plain(printed(monkeypatch, 30, NO_COLOR="1"))
    assert max(map(len, text.splitlines())) <= 30


def test_nothing_is_cut_away(monkeypatch: pytest.MonkeyPatch) -> None:
    text = plain(printed(monkeypatch, 30, NO_COLOR="1"))
    assert Counter("".join(ROWS[0][0] + ROWS[1][2])) - Counter(text) == Counter()


@pytest.mark.parametrize("columns", [16, 30, 39, 40, 45, 46, 54, 60, 80])
def test_a_figure_is_never_taken_apart_however_narrow_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    text = plain(printed(monkeypatch, columns, HEADERS, ESTIMATES))
    told = ["0.342", "0.203", "0.480", "10", "0.000", "0.052", "1.000", "0.250", "0.061", "0.439", "10", *"---"]
    assert re.findall(r"(?<!\S)(?:\d[\d.]*|-)(?!\S)", text) == told
    assert max(map(len, text.splitlines())) <= columns


def test_a_table_without_rows_still_has_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain(printed(monkeypatch, 30, HEADERS[1:4], [])).split()[:3] == ["mean", "low", "high"]


def test_without_colour_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[3" not in printed(monkeypatch, 80, NO_COLOR="1")


@pytest.mark.parametrize(("terminal", "redrawn"), [("xterm-256color", True), ("dumb", False)])
def test_progress_moves_the_cursor_only_where_that_is_understood(
    terminal: str, redrawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", terminal)
    show = counting("graded")
    for done in range(1, 201):
        show(done, 200)
    assert ("\x1b" in screen.getvalue()) == redrawn
    assert screen.getvalue().endswith("" if redrawn else "graded 200 of 200\n")
    assert Display().terminal == redrawn


def test_elsewhere_columns_are_as_wide_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("scenario", "score", "endings"), ROWS)
    assert capsys.readouterr().out == (
        "scenario                   score  endings\n"
        "a_long_name_of_a_scenario  0.500  user_ended 1\n"
        "b                              -  agent_failed 12, user_ended 7\n"
    )
