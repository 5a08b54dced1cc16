"""Sources that search tools look things up in, as options name them: live ones, a recording, or the offline ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.own_code import OwnCodeError, others_code, own_code
from sandbox_mcp.engine.tools.declared import Sources
from sandbox_mcp.engine.world.faults import ToolFault


def chosen_knowledge(live: str | None, record_tape: Path | None, replay_tape: Path | None) -> object:
    """What the options ask for, for the first world that takes it; None for what worlds know by themselves.

    Raises:
        SandboxError: the options contradict each other, or name neither knowledge nor a recording.
    """
    if replay_tape and (live or record_tape):
        raise SandboxError("--replay takes every answer from the recording; leave out --knowledge and --record")
    if record_tape and not live:
        raise SandboxError("--record needs live sources to record; name them with --knowledge")
    if replay_tape:  # by the first world that can read it
        problems: list[str] = []
        for replay in (sources.replay for _, sources in _with_sources() if sources.replay):
            try:
                return replay(replay_tape)
            except ToolFault as error:
                problems.append(str(error))
        raise SandboxError("; ".join(problems))
    if not live:
        return None
    knowledge, world, sources = _live(live)
    if record_tape is None:
        return knowledge
    if sources.record is None:
        raise SandboxError(f"the world {world!r} does not say how what it looks up is recorded; leave out --record")
    try:
        return sources.record(knowledge, record_tape)
    except ToolFault as error:
        raise SandboxError(str(error)) from error


def _with_sources() -> Iterator[tuple[str, Sources]]:
    """The worlds whose knowledge may come from elsewhere: those of files and packages first, then our own."""
    from sandbox_mcp.engine.worlds import BUILT_IN, named, names

    for name in sorted(names(), key=BUILT_IN.__contains__):
        sources = named(name).sources
        if sources is not None:
            yield name, sources


def _live(name: str) -> tuple[Any, str, Sources]:
    """The sources that ``--knowledge`` names, or makes when called, with the world that takes them."""
    try:
        found: Any = own_code(name)
    except OwnCodeError as error:
        raise SandboxError(f"--knowledge {name!r}: {error}") from error
    worlds = list(_with_sources())
    kinds = tuple(sources.kind for _, sources in worlds)
    with others_code(f"--knowledge {name!r} failed", SandboxError):
        knowledge = found() if callable(found) and not isinstance(found, kinds) else found
    for world, sources in worlds:
        if isinstance(knowledge, sources.kind):
            return knowledge, world, sources
    expected = " or ".join(f"a {sources.kind.__name__} for the world {world!r}" for world, sources in worlds)
    raise SandboxError(f"--knowledge {name!r} gives a {type(knowledge).__name__}; expected {expected}")
