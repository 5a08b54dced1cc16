"""Code of the user's own, named as ``module:attribute``.

Policy: a module that lies in the working directory is meant before an installed one of its name. The directory itself
goes to the end of the import path, so that nothing else in it ever takes the place of what this program imports.
"""

import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

from sandbox_mcp.engine.errors import SandboxError, first_line

PYTHON = Path(traceback.__file__).parent
"""Where Python's own library lies."""
OURS = frozenset({"sandbox_mcp", "sandbox_grader", "sandbox_scenarios", "sandbox_clients"})
"""The packages of this project."""


_READ: ContextVar[dict[Path, None] | None] = ContextVar("_READ", default=None)


class OwnCodeError(SandboxError):
    """An object named by ``module:attribute`` cannot be loaded; the message says which half of the name and why."""


def own_code(place: str) -> Any:
    """Load the object that ``module:attribute`` names; the attribute may have dots.

    Raises:
        OwnCodeError: the module cannot be imported, or it lacks the attribute.
    """
    module, _, attribute = place.partition(":")
    if not module or not attribute:
        raise OwnCodeError(f"expected MODULE:ATTRIBUTE, got {place!r}")
    if module.endswith(".py") or "/" in module or "\\" in module:
        stem = Path(module.replace("\\", "/")).stem
        hint = f"go to its folder and name the module as an import would: {stem}:{attribute}"
        raise OwnCodeError(f"{module!r} is a file; {hint}")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    with others_code(f"module {module!r} cannot be imported", OwnCodeError):
        _import_from_working_directory(module.partition(".")[0])
        found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise OwnCodeError(f"module {module!r} has no {attribute!r}")
    return found


@contextmanager
def others_code(failed: str, kind: type[SandboxError]) -> Generator[None]:
    """Run code of others; whatever it raises, an exit included, becomes one line: what failed, how, and in which line.

    Raises:
        SandboxError: of this ``kind``, or as that code raised it.
    """
    try:
        yield
    except SandboxError:
        raise
    except (Exception, SystemExit) as error:
        raise kind(f"{failed}: {told(error)}") from error


@contextmanager
def files_read() -> Generator[dict[Path, None]]:
    """Files opened for reading meanwhile by this thread, but for Python's own and those of installed packages."""
    found: dict[Path, None] = {}
    _listen()
    token = _READ.set(found)
    try:
        yield found
    finally:
        _READ.reset(token)


@cache
def _listen() -> None:
    """Hear of every file opened from now on; Python has no way to stop that again."""
    sys.addaudithook(_note_file)


def _note_file(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or (found := _READ.get()) is None:
        return
    file, _, flags = arguments
    if isinstance(file, bytes | str) and not flags & (os.O_WRONLY | os.O_RDWR):
        path = Path(os.fsdecode(file)).absolute()
        installed = any(Path(prefix) in path.parents for prefix in (sys.prefix, sys.base_prefix))
        if not installed and path.suffix not in (".py", ".pyc"):
            found[path] = None


def told(error: BaseException) -> str:
    """Describe an error in code of others in one line, with the file and line of theirs where it occurred."""
    line = first_line(error)
    if isinstance(error, ImportError | SyntaxError) and line:  # they say what and where themselves
        return line
    return f"{type(error).__name__}{': ' if line else ''}{line}{place_of(error)}"


def place_of(error: BaseException) -> str:
    """In which file and line of theirs code of others broke, in brackets; empty where none of it is known.

    A line of the user's own says more than one of an installed package, which it called.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_of_others(frame.filename)]
    own = [frame for frame in frames if "site-packages" not in Path(frame.filename).parts]
    last = (own or frames)[-1:]
    return "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)


def in_python(path: Path) -> bool:
    """True if a file is of Python's own library."""
    return PYTHON in path.parents and "site-packages" not in path.parts


def _is_of_others(file: str) -> bool:
    path = Path(file)
    ours = any(folder.name in OURS and (folder / "__init__.py").exists() for folder in path.parents)
    return not (file.startswith("<") or in_python(path) or ours)


def _import_from_working_directory(name: str) -> None:
    """Import the module of that name that lies there, if one does, though another may be installed."""
    spec = PathFinder.find_spec(name, [str(Path.cwd())])
    if spec is None or spec.loader is None:
        return
    loaded = sys.modules.get(name)
    file = getattr(loaded, "__file__", None)
    if file and spec.origin and Path(file).resolve() == Path(spec.origin).resolve():
        return
    if loaded is not None or name in sys.stdlib_module_names:
        raise ImportError(f"{spec.origin} has the name of another module that is in use; rename it")
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
