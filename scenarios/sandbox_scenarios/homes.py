"""The world that a scenario is played in, as its file names it: one that is installed, or the tape of a real server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.worlds import DEFAULT, TAPE, named, use_tape
from sandbox_scenarios.problem import ProblemError

RECORDED, FILL = "recorded", "fill"
"""Under ``world``: the path of a tape."""


def home_of(world: Any, worlds: Mapping[str, World]) -> World:
    """The world that a scenario names under ``world``; the default one if it names none, or has rows there.

    Raises:
        ProblemError: it cannot be found.
    """
    tape, name = recorded_in(world), world if isinstance(world, str) else DEFAULT
    if tape is None and name in worlds:
        return worlds[name]
    try:
        home = named(name) if tape is None else use_tape(tape, filled=filled_by(world) is not None)
        home.check()
    except SandboxError as error:
        raise ProblemError(("world",), str(error)) from error
    return home


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
