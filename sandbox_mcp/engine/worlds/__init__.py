"""Worlds by name: our own, those that installed packages declare, and those in files or on tapes that were named.

Policy: a world is found by name alone, the same way wherever it is asked for, so that a session, a worker process and a
grader on another machine find the same one. A world's code runs with the rights of whoever plays or grades in it.
"""

import os
import sys
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.own_code import files_read, others_code
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.calling import place_of
from sandbox_mcp.engine.tools.declaring import JOINED
from sandbox_mcp.engine.world.faults import WorldError

if TYPE_CHECKING:
    from sandbox_mcp.engine.worlds.recorded.live import LiveWorld

LOOKUPS = (
    "patent", "movies", "travel", "sports", "tools", "data", "social", "media", "spaceflight", "video_images",
)  # fmt: skip
BUILT_IN = {
    "phone": "sandbox_mcp.engine.worlds.phone:phone",
    "office": "sandbox_mcp.engine.worlds.office:office",
    "desk": "sandbox_mcp.engine.worlds.desk:desk",
    "hotline": "sandbox_mcp.engine.worlds.hotline:hotline",
    **{name: f"sandbox_mcp.engine.worlds.lookups.{name}:{name}" for name in LOOKUPS},
}
"""Where our own worlds are declared."""
DEFAULT = "phone"
"""The world of a scenario that names none."""
GROUP = "sandbox_mcp.worlds"
"""The entry points under which packages declare worlds."""
FILES = "SANDBOX_MCP_WORLDS"
"""The environment variable that lists files with worlds; processes that are started here inherit it."""
TAPE = ".jsonl"
"""How the name of a file ends that is a tape of a real server and no Python."""


class UnknownWorldError(SandboxError):
    """There is no world of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        remedy = "install the package that has it, or name its file with --world"
        super().__init__(f"unknown world {name!r}; known: {', '.join(names())}; {remedy}")


def named(name: str) -> World:
    """The world of that name.

    Raises:
        UnknownWorldError: no world is called that.
        WorldError: its code cannot be loaded, or an installed package gives it a name taken or not its own.
    """
    if name in BUILT_IN:
        return _declared_at(BUILT_IN[name])
    if JOINED in name:
        from sandbox_mcp.engine.worlds.composite import composite

        return composite(*map(named, name.split(JOINED)))
    for path in files():
        for world in (*load(path), *_more_on(path)):
            if world.name == name:
                return world
    installed = _installed()
    if name in installed:
        world = _declared_at(installed[name])
        if world.name != name:
            raise WorldError(f"entry point {name!r} of {GROUP}: {installed[name]!r} declares the world {world.name!r}")
        return world
    raise UnknownWorldError(name)


def default() -> World:
    """The world of scenarios that name none."""
    return named(DEFAULT)


def names() -> tuple[str, ...]:
    """The names of all worlds that can be found here."""
    from_files = (world.name for path in files() for world in load(path))
    return tuple(dict.fromkeys((*BUILT_IN, *from_files, *_installed())))


def files() -> tuple[Path, ...]:
    """The files with worlds that were named so far, without a tape since removed and its world."""
    paths = (Path(part) for part in os.environ.get(FILES, "").split(os.pathsep) if part)
    return tuple(path for path in paths if path.suffix != TAPE or path.exists())


def sources() -> tuple[Path, ...]:
    """The files that decide what the worlds in the named files do.

    They are those files, the rows of their fixed tables, what models answered beside a tape, modules that were
    imported from their folders, and files that were read when they were loaded. Files that their tools open later are
    not known here.

    Raises:
        WorldError: a file cannot be loaded.
    """
    found: dict[Path, None] = {}
    for path in files():
        found[path] = None
        if path.suffix == TAPE:
            from sandbox_mcp.engine.worlds.recorded import fills_beside

            found[fills_beside(path)] = None
            continue
        loaded = _loaded(path.resolve())
        tables = (table for world in loaded.worlds for table in world.tables.values())
        found |= dict.fromkeys(loaded.read)
        found |= dict.fromkeys(table.fixed for table in tables if table.fixed)
        imported = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        beside = f"{path.parent}{os.sep}"
        found |= dict.fromkeys(Path(file) for file in imported if file and file.startswith(beside))
    return tuple(found)


def use_file(path: Path) -> tuple[World, ...]:
    """Let the worlds of a file be found by name from now on, in this process and in those that it starts.

    Raises:
        WorldError: it cannot be loaded, declares no world, or one whose name another file has, or cannot be listed.
    """
    absolute = path.resolve()
    if os.pathsep in str(absolute):
        raise WorldError(f"{str(absolute)!r} has {os.pathsep!r} in its path, which separates files; move or rename it")
    found = load(absolute)
    for other in files() if path.suffix != TAPE else ():  # tapes are named by what is on them
        if taken := {world.name for world in found} & {world.name for world in load(other) if world not in found}:
            expected = "expected another name, or one of the files alone"
            raise WorldError(f"{str(path)!r} declares a world {min(taken)!r}, and so does {str(other)!r}; {expected}")
    if absolute not in files():
        os.environ[FILES] = os.pathsep.join(map(str, (*files(), absolute)))
    return found


def use_tape(path: Path, *, filled: bool = False) -> World:
    """The world on a tape, found by name from now on; ``filled`` is the one in which a model answered for the tape.

    Raises:
        WorldError: the tape cannot be used.
    """
    [world] = use_file(path)
    return _more_on(path)[0] if filled else world


def use_server(path: Path) -> "LiveWorld":
    """The world of the live server that a tape tells of, found by name from now on.

    Raises:
        WorldError: the tape cannot be used, or tells of none.
    """
    from sandbox_mcp.engine.worlds.recorded import live_world_on

    use_file(path)
    return live_world_on(path)


def _more_on(path: Path) -> tuple[World, ...]:
    """The other worlds of a tape: with the answers that a model filled in, and of its server if it is live."""
    if path.suffix != TAPE:
        return ()
    from sandbox_mcp.engine.worlds.recorded import is_live, live_world_on, world_on

    return (world_on(path, filled=True), *([live_world_on(path)] if is_live(path) else ()))


def load(path: Path) -> tuple[World, ...]:
    """The worlds that a file declares; of a tape, the one recorded there. A Python file is loaded once.

    Raises:
        WorldError: it cannot be loaded, or declares no world.
    """
    if path.suffix == TAPE:
        from sandbox_mcp.engine.worlds.recorded import world_on

        return (world_on(path),)
    return _loaded(path.resolve()).worlds


class _Loaded(NamedTuple):
    """Declarations in a Python file, and the files that were read for it."""

    worlds: tuple[World, ...]
    read: tuple[Path, ...]


@lru_cache(maxsize=64)
def _loaded(path: Path) -> _Loaded:
    name = f"sandbox_world_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, path)
    if not path.exists():
        raise WorldError(f"{str(path)!r} does not exist; expected a Python file that declares a World")
    if spec is None or spec.loader is None:
        raise WorldError(f"{str(path)!r} is not a Python file; expected one that declares a World")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        with files_read() as read:
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        place = "" if isinstance(error, SyntaxError) else f"at {place_of(error)}: "
        told = f"{type(error).__name__}: {error}{_remedy(path, error)}"
        raise WorldError(f"{str(path)!r} cannot be loaded: {place}{told}") from error
    found = tuple(value for value in vars(module).values() if isinstance(value, World))
    if not found:
        raise WorldError(f"{str(path)!r} declares no World")
    if ours := [world.name for world in found if world.name in BUILT_IN and Path(world.origin).resolve() == path]:
        raise WorldError(
            f"{str(path)!r} declares a world {ours[0]!r}, which is the name of a built-in one; expected another"
        )
    once = tuple(dict.fromkeys(found))
    called = [world.name for world in once]
    if twice := [name for name in called if called.count(name) > 1]:
        raise WorldError(f"{str(path)!r} declares two worlds of the name {twice[0]!r}; expected a name for each")
    return _Loaded(once, tuple(read))


def _remedy(path: Path, error: BaseException) -> str:
    """Remedy for an import that fails although the module lies beside the world's file, or is its own package."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name and path.name == "__init__.py" and name == path.parent.name:
        return f"; inside the package import with a dot, as in `from .tables import ...`, or install {name!r}"
    if name and ((path.parent / f"{name}.py").exists() or (path.parent / name / "__init__.py").exists()):
        return "; it lies beside the file: make a package of both and import it with a dot, or set PYTHONPATH"
    return ""


def _declared_at(place: str) -> World:
    module, _, attribute = place.partition(":")
    with others_code(f"the world at {place!r} cannot be loaded", WorldError):
        world = getattr(import_module(module), attribute)
    if not isinstance(world, World):
        raise WorldError(f"{place!r} is a {type(world).__name__}, not a World")
    return world


def _installed() -> dict[str, str]:
    from importlib.metadata import entry_points  # looks through everything that is installed

    found: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in BUILT_IN or found.get(entry.name, entry.value) != entry.value:
            other = "this package" if entry.name in BUILT_IN else repr(found[entry.name])
            raise WorldError(f"entry point {entry.value!r} of {GROUP}: {other} has a world {entry.name!r} already")
        found[entry.name] = entry.value
    return found


def found_again(name: str, origin: str) -> World:
    """The world of this name, for a process that it was sent to; ``origin`` is the file that declared it.

    Raises:
        UnknownWorldError: it cannot be found here.
    """
    try:
        return named(name)
    except UnknownWorldError:
        path = Path(origin)
        for world in (*load(path), *_more_on(path)) if path.suffix in (".py", TAPE) else ():
            if world.name == name:
                return world
        raise
