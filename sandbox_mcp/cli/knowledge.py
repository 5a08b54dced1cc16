"""Options that say what search tools look things up in: live sources, a recording of them, or neither."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sandbox_mcp.errors import SandboxError
from sandbox_mcp.own_code import OwnCodeError, own_code

Command = Callable[..., Any]


def knowledge_options(command: Command) -> Command:
    """Give a command the options ``--knowledge``, ``--record`` and ``--replay``."""
    for option in (
        click.option(
            "--replay", "replay_tape", type=click.Path(path_type=Path), help="Look things up in this recording."
        ),
        click.option(
            "--record", "record_tape", type=click.Path(path_type=Path), help="Record what live sources answer."
        ),
        click.option(
            "--knowledge",
            "live",
            metavar="MODULE:ATTRIBUTE",
            help="Live sources for search tools: a Knowledge, or what makes one. Offline sources without it.",
        ),
    ):
        command = option(command)
    return command


def chosen_knowledge(live: str | None, record_tape: Path | None, replay_tape: Path | None) -> object:
    """What the options ask for; None for the offline sources.

    Raises:
        SandboxError: the options contradict each other, or name something that is neither knowledge nor a tape.
    """
    if replay_tape and (live or record_tape):
        raise SandboxError("--replay takes every answer from the recording; leave out --knowledge and --record")
    if record_tape and not live:
        raise SandboxError("--record needs live sources to record; name them with --knowledge")
    from sandbox_mcp.worlds.phone.knowledge import QuestionTapeError, tape

    try:
        if replay_tape:
            return tape.replay(replay_tape)
        knowledge = _live(live) if live else None
        return tape.record(knowledge, record_tape) if knowledge and record_tape else knowledge
    except QuestionTapeError as error:
        raise SandboxError(str(error)) from error


def _live(name: str) -> Any:
    from sandbox_mcp.worlds.phone.knowledge import Knowledge

    try:
        found: Any = own_code(name)
    except OwnCodeError as error:
        raise SandboxError(f"--knowledge {name!r}: {error}") from error
    knowledge = found if isinstance(found, Knowledge) else found()
    if not isinstance(knowledge, Knowledge):
        raise SandboxError(f"--knowledge {name!r} gives a {type(knowledge).__name__}; expected a Knowledge")
    return knowledge
