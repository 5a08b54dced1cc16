"""Builders for scenario files in tests."""

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent

from sandbox_scenarios import Scenario, ScenarioFileError, Suite

HERE = "# here"
"""Marks the line that an error should name."""
USER = "user: {goal: You want something., opening: Please do something.}"
SOUND = """\
family: mine
scenarios:
  - name: mine
    extends: lakeside
    about: Tell somebody something.
    categories: [multiple_tool_call, single_user_turn]
    tools: [search_contacts, send_message_with_phone_number]
    user:
      goal: You want Tomas to know that the match is at nine.
      knows: [Tomas is a colleague.]
      does_not_know: [His phone number.]
      opening: Text Tomas that the match is at nine.
      script:
        answers:
          - {about: [number], say: Look into my contacts.}
    reference:
      - turns:
          - calls:
              - {tool: search_contacts, arguments: {name: Tomas}, as: found}
              - tool: send_message_with_phone_number
                arguments: {phone_number: $found.0.phone_number, content: The match is at nine.}
            reply: I texted Tomas.
    milestones:
      - {id: found, tool: search_contacts}
      - id: sent
        after: [found]
        table: messaging
        adds: {recipient_person_id: "@contact.tomas", content: {facts: [[match], [nine]]}}
      - id: told
        after: [sent]
        message: {content: {facts: [[texted, told, sent]]}}
"""
"""A file with a sound scenario: a contact is found and gets a message."""


def changed(text: str, changes: Mapping[str, str]) -> str:
    """The text with parts of it replaced; each part occurs once."""
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


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


def rules_told() -> set[str]:
    """The rules of quick lint that the page for authors tells: the names in the first column of their table."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "authoring.md").read_text(encoding="utf-8")
    table = page.partition("Quick lint reads the scenario:")[2].partition("Deep lint plays it")[0]
    return {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line[1:].partition("|")[0])}
