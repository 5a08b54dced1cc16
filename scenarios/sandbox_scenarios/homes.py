"""The world that a scenario is played in, as its file names it: one installed, or the tape of a real server.

Several of these in a list are one world, in which they are side by side.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import DEFAULT, JOINED, TAPE, named, use_server, use_tape
from sandbox_scenarios.problem import ProblemError

if TYPE_CHECKING:
    from sandbox_mcp.engine.worlds.recorded.live import LiveServer

RECORDED, FILL, SERVER, HERE = "recorded", "fill", "server", "here"
"""Under ``world``: the path of a tape, or how a real server is started; and the folder from which its paths count."""


def home_of(world: Any, worlds: Mapping[str, World]) -> World:
    """The world that a scenario names under ``world``; the default one if it names none, or has rows there.

    Raises:
        ProblemError: it cannot be found.
    """
    if isinstance(world, list):
        return _side_by_side(cast("list[Any]", world), worlds)
    if server := server_in(world):
        return _live(server)
    tape, name = recorded_in(world), world if isinstance(world, str) else DEFAULT
    if tape is None and name in worlds:
        return worlds[name]
    try:
        home = named(name) if tape is None else use_tape(tape, filled=filled_by(world) is not None)
        home.check()
    except SandboxError as error:
        raise ProblemError(("world",), str(error)) from error
    return home


def _side_by_side(listed: Sequence[Any], worlds: Mapping[str, World]) -> World:
    parts: list[World] = []
    for number, part in enumerate(listed):
        if not isinstance(part, str) and not is_named(part):
            told = f"expected the name of a world, {{{RECORDED}: tape{TAPE}}} or {{{SERVER}: COMMAND}}, not {part!r}"
            raise ProblemError(("world", number), told)
        try:
            parts.append(home_of(part, worlds))
        except ProblemError as problem:
            raise ProblemError(("world", number, *problem.path[1:]), problem.text) from problem
    if not parts:
        raise ProblemError(("world",), "the list of worlds is empty")
    from sandbox_mcp.engine.worlds.composite import composite  # a scenario in one world needs no other

    try:
        home = composite(*parts)
        home.check()
    except SandboxError as error:
        raise ProblemError(("world",), str(error)) from error
    return home


def server_in(world: Any) -> "LiveServer | None":
    """The real server that a scenario names as its world; None if it names none.

    Raises:
        ProblemError: what stands there cannot be understood.
    """
    if not isinstance(world, dict) or SERVER not in world:
        return None
    from sandbox_mcp.engine.worlds.recorded.live import LiveServer

    said = cast("dict[str, Any]", world)
    try:
        return LiveServer.reading({name: said[name] for name in said if name != HERE}, Path(said.get(HERE, ".")))
    except (SandboxError, ValueError) as error:
        raise ProblemError(("world",), str(error)) from error


def _live(server: "LiveServer") -> World:
    if not server.tape.exists():
        told = f"nothing is known yet of the server {server.given[SERVER]!r}"
        raise ProblemError(
            ("world",), f"{told}; 'sandbox-mcp worlds learn FILE' starts it once and asks, as 'run' does"
        )
    try:
        home = use_server(server.tape)
        if home.server.digest != server.digest:
            told = (
                f"{str(server.tape)!r} was made for another way to start it; 'sandbox-mcp worlds learn' makes it anew"
            )
            raise ProblemError(("world",), told)
        home.check()
    except SandboxError as error:
        raise ProblemError(("world",), str(error)) from error
    return home


def is_named(world: Any) -> bool:
    """True if worlds are named there, by names or tapes; rows of the default world may stand there instead."""
    return isinstance(world, str | list) or (isinstance(world, dict) and (RECORDED in world or SERVER in world))


def name_of(world: Any, worlds: Mapping[str, World]) -> str:
    """The name of the world written there; worlds with a name of their own are not looked for.

    Raises:
        ProblemError: it cannot be found.
    """
    if isinstance(world, list) and all(isinstance(part, str) for part in cast("list[Any]", world)):
        return JOINED.join(cast("list[str]", world))
    if isinstance(world, str):
        return world
    return home_of(world, worlds).name if is_named(world) else DEFAULT


def identity_of(world: Any, worlds: Mapping[str, World]) -> Any:
    """What a scenario's digest has in the place of the world written there: nothing that tells a path."""
    if isinstance(world, list):
        return [identity_of(part, worlds) for part in cast("list[Any]", world)]
    if server_in(world):
        return home_of(world, worlds).digest
    tape = recorded_in(world)
    return use_tape(tape).digest if tape else world


def recorded_in(world: Any) -> Path | None:
    """The tape of a real server that a scenario names as its world, ``{recorded: tape.jsonl}``; None if it names none.

    Raises:
        ProblemError: more than the tape stands there, or it does not look like one.
    """
    if not isinstance(world, dict) or RECORDED not in world:
        return None
    path = cast("dict[str, Any]", world)[RECORDED]
    if cast("dict[str, Any]", world).keys() - {RECORDED, FILL}:
        told = f"{{{RECORDED}: {path}}}, at most with a model that may answer for it, {FILL}: MODEL"
        raise ProblemError(("world",), f"a recorded world is a tape and nothing else: {told}")
    if not isinstance(path, str) or not path.endswith(TAPE):
        raise ProblemError(("world", RECORDED), f"expected the path of a tape such as tape{TAPE}, not {path!r}")
    return Path(path)


def filled_by(world: Any) -> str | None:
    """The model that may answer where the tape does not, ``{recorded: tape.jsonl, fill: MODEL}``; None for none.

    Raises:
        ProblemError: that does not look like the name of a model.
    """
    if recorded_in(world) is None or FILL not in world:
        return None
    model: Any = world[FILL]
    if not isinstance(model, str) or not model.strip():
        raise ProblemError(("world", FILL), f"expected the name of a model, not {model!r}")
    return model
