"""Run files: options of a run as YAML, written by hand or read back from the folder of a run.

Policy: a run file says what a command line would say, by the long names of options. Paths in it are meant from where
the command is given, as on a command line. The manifest of a run keeps the options that it was given, without what may
be secret in addresses; of a run that was started from Python, or by an earlier version, options are taken from what
its manifest says of agent, user and sessions.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import yaml

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import MANIFEST, manifest_in
from sandbox_mcp.app.run.options import RunOptions, checked_options, field_named
from sandbox_mcp.play.models.asking import public_address


def read_run_file(path: Path, also: Collection[str] = ()) -> dict[str, Any]:
    """Options in a run file, or those of the run whose folder ``path`` is, by the names that the file uses.

    Values are checked and returned as the file has them. Keys in ``also`` are options of a command alone, and are
    returned unchecked.

    Raises:
        RunError: the file cannot be read, or has an unknown option or cannot be used.
    """
    if path.is_dir():
        return _of_folder(path)
    try:
        data: Any = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"run file {str(path)!r} cannot be read: {error}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise RunError(f"{path}: is not YAML: {' '.join(str(error).split()) or 'too deep'}") from error
    if not isinstance(data, dict):
        raise RunError(f"{path}: expected options with their values, such as 'agent: reference'")
    given = {str(key).replace("-", "_"): value for key, value in cast("dict[Any, Any]", data).items()}
    try:
        checked_options({key: value for key, value in given.items() if key not in also})
    except RunError as error:
        raise RunError(f"{path}: {error}") from error
    return given


def _of_folder(path: Path) -> dict[str, Any]:
    manifest = manifest_in(path)
    if not manifest:
        raise RunError(
            f"{str(path)!r} is not the folder of a run: it has no {MANIFEST}; name a run file or such a folder"
        )
    kept: Any = manifest.get("options")
    stated = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
    options = {key: value for key, value in stated.items() if field_named(key)}
    return {**(options or _told_by(manifest)), "out": str(path)}


def _told_by(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a manifest without any amounts to."""
    agent, user = manifest["agent"], manifest["user"]
    told = {
        "selectors": list(manifest["scenarios"]),
        "variant": manifest.get("variants"),
        "trials": manifest.get("trials"),
        "seed": manifest.get("seed"),
        "agent": agent.get("name"),
        "model": agent.get("model"),
        "base_url": agent.get("base_url"),
        "param": agent.get("parameters"),
        "max_steps": agent.get("max_steps"),
        "user": user.get("kind"),
        "transport": manifest.get("transport"),
    }
    found: dict[str, Any] = {}
    for key, value in told.items():
        try:
            found |= {key: value} if value is not None and checked_options({key: value}) else {}
        except RunError:
            continue  # as a user made in Python, which no option names
    return RunOptions().but(found).given()


def kept_options(options: RunOptions) -> dict[str, Any]:
    """Options as the manifest of a run keeps them: what was selected, without its folder and without secrets."""
    options = replace(options, selectors=options.selected)
    return {key: _public(value) for key, value in options.given().items() if key not in ("out", "instance_seed")}


def _public(value: Any) -> Any:
    return public_address(value) if isinstance(value, str) and value.startswith(("http://", "https://")) else value


def as_yaml(options: RunOptions, more: Mapping[str, Any]) -> str:
    """Text of a run file."""
    return yaml.safe_dump({**options.given(), **more}, sort_keys=False, allow_unicode=True, width=120)
