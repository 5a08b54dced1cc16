"""Builders for scenario files in tests."""

from pathlib import Path
from textwrap import dedent, indent

from scenarios import Scenario, ScenarioFileError, Suite

HERE = "# here"
"""Marks the line that an error should name."""
USER = "user: {goal: You want something., opening: Please do something.}"


def entry(body: str = "", name: str = "mine", base: str = "lakeside") -> str:
    """One scenario on a built-in world, with a user, as an item of ``scenarios``."""
    head = f"- name: {name}\n  extends: {base}\n  {USER}\n"
    return indent(head + indent(dedent(body), "  "), "  ")


def file_of(*entries: str) -> str:
    """A scenario file with these entries."""
    return "family: mine\nscenarios:\n" + "".join(item if item.endswith("\n") else item + "\n" for item in entries)


def written(folder: Path, text: str | bytes, name: str = "mine.yaml") -> Path:
    """The text as a file in a folder."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def scenario_of(folder: Path, body: str = "") -> Scenario:
    """The scenario with that body."""
    return Suite([written(folder, file_of(entry(body)))]).get("mine")


def fault_of(folder: Path, text: str | bytes, name: str = "mine") -> ScenarioFileError:
    """The error that a file makes."""
    path = written(folder, text)
    try:
        Suite([path]).get(name)
    except ScenarioFileError as error:
        return error
    raise AssertionError("the file has no fault")


def marked_line(text: str) -> int:
    """The line with the mark, counted from 1."""
    return 1 + next(number for number, line in enumerate(text.splitlines()) if HERE in line)
