"""Build the bundle that MCP hosts install with a click: ``python packaging/build_mcpb.py FOLDER``.

Policy: the bundle carries our own source and fetches none of it by name; only what it depends on comes from the index,
by uv. What its manifest says of us is taken from pyproject.toml and from the server, so that it cannot differ. The
official tool validates and packs where it is at hand; without it the bundle is packed here, and that is said.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parents[1]
PARTS = ROOT / "packaging" / "mcpb"
PAPERS = ("README.md", "LICENSE", "NOTICE")
TOOL = Path("@anthropic-ai", "mcpb", "dist", "cli", "cli.js")
DATED = (1980, 1, 1, 0, 0, 0)
"""The date of every file in a bundle that is packed here, so that equal sources give equal bundles."""


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project, and of the packages that it consists of."""
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {**read["project"], "packages": read["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}


def manifest() -> dict[str, Any]:
    """The bundle's manifest: what is written by hand, and what the project and the server know of themselves."""
    from sandbox_mcp.engine.worlds import default
    from sandbox_mcp.play.server.lobby.server import BUTTON
    from sandbox_mcp.play.server.lobby.texts import button, lobby_tools

    ours = project()
    written = json.loads((PARTS / "manifest.json").read_text(encoding="utf-8"))
    return {
        "manifest_version": written.pop("manifest_version"),
        **{key: ours[key] for key in ("name", "version", "description", "license", "keywords")},
        **written,
        "compatibility": {**written["compatibility"], "runtimes": {"python": ours["requires-python"]}},
        "tools": [
            {"name": tool.name, "description": tool.description.split("\n")[0]}
            for tool in lobby_tools(default(), shows=True)
        ],
        "prompts": [
            {
                "name": BUTTON.name,
                "description": BUTTON.description,
                "arguments": ["scenario"],
                "text": button("${arguments.scenario}"),
            }
        ],
    }


def bundled_project() -> str:
    """The pyproject.toml of the bundle: what to install, and that the bundle itself is not to be built."""
    ours = project()
    lines = [f"{key} = {json.dumps(ours[key])}" for key in ("name", "version", "requires-python")]
    needed = "".join(f"    {json.dumps(item)},\n" for item in ours["dependencies"])
    return "[project]\n" + "\n".join(lines) + f"\ndependencies = [\n{needed}]\n\n[tool.uv]\npackage = false\n"


def stage(folder: Path) -> Path:
    """Lay out in a folder what the bundle holds."""
    for package in project()["packages"]:
        ignored = shutil.ignore_patterns("__pycache__", "*.py[co]", ".*")
        shutil.copytree(ROOT / package, folder / "src" / package, ignore=ignored)
    shutil.copy(PARTS / "server.py", folder / "src")
    for paper in PAPERS:
        shutil.copy(ROOT / paper, folder)
    (folder / "pyproject.toml").write_text(bundled_project(), encoding="utf-8")
    text = json.dumps(manifest(), indent=2, ensure_ascii=False)
    (folder / "manifest.json").write_text(f"{text}\n", encoding="utf-8")
    return folder


def pack(folder: Path, bundle: Path) -> None:
    """Zip a folder, in a fixed order and with fixed dates."""
    with ZipFile(bundle, "w", ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = ZipInfo(path.relative_to(folder).as_posix(), DATED)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), ZIP_DEFLATED)


def official_tool() -> list[str] | None:
    """The command of the official tool, None where it or node is not at hand."""
    modules = Path(os.environ.get("SANDBOX_MCP_NODE_MODULES") or ROOT / ".node" / "node_modules").resolve()
    own = modules / "node" / "bin" / "node"
    node = str(own) if own.exists() else shutil.which("node")
    return [node, str(modules / TOOL)] if node and (modules / TOOL).exists() else None


def pack_officially(folder: Path, bundle: Path, tool: Sequence[str]) -> None:
    """Have the official tool check the manifest and zip the folder."""
    for action in (["validate", str(folder / "manifest.json")], ["pack", str(folder), str(bundle)]):
        done = subprocess.run([*tool, *action], check=False, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            sys.exit(f"the official tool refused to {action[0]} the bundle:\n{done.stdout}{done.stderr}")


def build(out: Path, tool: Sequence[str] | None) -> Path:
    """Build the bundle in a folder, and beside it the server.json that a release publishes."""
    ours = project()
    out.mkdir(parents=True, exist_ok=True)
    bundle = out.resolve() / f"{ours['name']}-{ours['version']}.mcpb"
    with tempfile.TemporaryDirectory() as temporary:
        folder = stage(Path(temporary) / ours["name"])
        if tool is None:
            pack(folder, bundle)
        else:
            pack_officially(folder, bundle, tool)
    published = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    published["packages"][0]["fileSha256"] = hashlib.sha256(bundle.read_bytes()).hexdigest()
    (out / "server.json").write_text(f"{json.dumps(published, indent=2)}\n", encoding="utf-8")
    return bundle


def main() -> None:
    """Build what the command line asks for, and print where it is."""
    arguments = argparse.ArgumentParser(description="Build the .mcpb bundle and its server.json.")
    arguments.add_argument("out", type=Path, metavar="FOLDER", help="where they go")
    out: Path = arguments.parse_args().out
    tool = official_tool()
    if tool is None:
        sys.stderr.write("not validated: the official tool is not at hand, see packaging/README.md\n")
    sys.stdout.write(f"{build(out, tool)}\n")


if __name__ == "__main__":
    main()
