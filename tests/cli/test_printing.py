"""Tables fit the terminal they are printed to, and stay as they are where there is none."""

import io
import re
import sys
from collections import Counter

import pytest

from sandbox_mcp.cli.printing import print_table

ROWS = [("a_long_name_of_a_scenario", 0.5, "user_ended 1"), ("b", None, "agent_failed 12, user_ended 7")]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, columns: int, **environment: str) -> str:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    print_table(("scenario", "score", "endings"), ROWS)
    return screen.getvalue()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = plain(printed(monkeypatch, 30, NO_COLOR="1"))
    assert max(map(len, text.splitlines())) <= 30


def test_nothing_is_cut_away(monkeypatch: pytest.MonkeyPatch) -> None:
    text = plain(printed(monkeypatch, 30, NO_COLOR="1"))
    assert Counter("".join(ROWS[0][0] + ROWS[1][2])) - Counter(text) == Counter()


def test_without_colour_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[3" not in printed(monkeypatch, 80, NO_COLOR="1")


def test_elsewhere_columns_are_as_wide_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("scenario", "score", "endings"), ROWS)
    assert capsys.readouterr().out == (
        "scenario                   score  endings\n"
        "a_long_name_of_a_scenario  0.500  user_ended 1\n"
        "b                              -  agent_failed 12, user_ended 7\n"
    )
