"""Every command that prints data prints it as JSON too."""

from collections.abc import Iterator

import click
import pytest

from sandbox_mcp.app.cli import group
from tests.each import each

WITHOUT = {
    "serve": "speaks MCP",
    "endpoint": "speaks the providers' protocols",
    "mirror": "speaks MCP",
    "view": "serves pages",
    "demo": "shows a session",
    "scenarios rows": "writes JSON lines in any case",
    "worlds learn": "writes a tape",
    "annotate": "writes a file",
    "report": "writes a page",
    "export": "writes files",
    "import-suite": "writes files",
    "agents install": "makes environments",
    "scenarios new": "prints a scenario, which is YAML",
    "scenarios schema": "prints JSON in any case",
}
"""Commands that print no data, and what they do."""


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command that can be called, by what it is called."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, *path, name)
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield " ".join(path), command


@each(("name", "command"), [pytest.param(*each, id=each[0]) for each in commands(group)])
def test_a_command_prints_json_or_no_data(name: str, command: click.Command) -> None:
    offers = any("--json" in option.opts for option in command.params)
    assert offers or name in WITHOUT, "give it --json, or say here why it prints no data"
    assert not (offers and name in WITHOUT), "it has --json now: take it off this list"
