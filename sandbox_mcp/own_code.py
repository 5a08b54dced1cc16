"""Code of the user's own, named as ``module:attribute``.

Policy: a module that lies in the working directory is meant before an installed one of its name. The directory itself
goes to the end of the import path, so that nothing else in it ever takes the place of what this program imports.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

from sandbox_mcp.errors import SandboxError


class OwnCodeError(SandboxError):
    """What ``module:attribute`` names cannot be loaded; the message says which half of it and why."""


def own_code(place: str) -> Any:
    """What ``module:attribute`` points to; the attribute may have dots.

    Raises:
        OwnCodeError: the module cannot be imported, or it lacks the attribute.
    """
    module, _, attribute = place.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        _import_from_working_directory(module.partition(".")[0])
        found: Any = import_module(module)
    except (ImportError, SyntaxError, ValueError) as error:
        raise OwnCodeError(f"module {module!r} cannot be imported: {error}") from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise OwnCodeError(f"module {module!r} has no {attribute!r}")
    return found


def _import_from_working_directory(name: str) -> None:
    """Import the module of that name that lies there, if one does, though another may be installed.

    Raises:
        ImportError: this program needs the name for a module of its own, so that both cannot be loaded.
    """
    spec = PathFinder.find_spec(name, [str(Path.cwd())])
    if spec is None or spec.loader is None:
        return
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == spec.origin:
        return
    if loaded is not None or name in sys.stdlib_module_names:
        raise ImportError(f"{spec.origin} has the name of another module that is in use; rename it")
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
