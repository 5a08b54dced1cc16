"""The bundle: it says of us what is so, carries what it needs of us, and its entry point is a working server."""

import hashlib
import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from mcp import Client, StdioServerParameters

from tests.packaging.files import ROOT, builder, packages, project


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that was packed without the official tool, which tests/node holds it against."""
    return builder().build(tmp_path_factory.mktemp("built"), None)


@pytest.fixture(scope="module")
def unpacked(built: Path) -> Path:
    folder = built.with_name("unpacked")
    with ZipFile(built) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def manifest(unpacked: Path) -> dict[str, Any]:
    return json.loads((unpacked / "manifest.json").read_text(encoding="utf-8"))


def test_the_manifest_says_what_the_project_says(manifest: dict[str, Any], built: Path) -> None:
    ours = project()
    same = ["name", "version", "description", "license", "keywords"]
    assert {key: manifest[key] for key in same} == {key: ours[key] for key in same}
    assert manifest["compatibility"]["runtimes"] == {"python": ours["requires-python"]}
    assert built.name == f"{ours['name']}-{ours['version']}.mcpb"


def test_the_manifest_has_no_more_than_the_format_allows(manifest: dict[str, Any]) -> None:
    required = {"manifest_version", "name", "version", "description", "author", "server"}
    optional = {"display_name", "long_description", "license", "keywords", "compatibility", "tools", "prompts"}
    assert required <= set(manifest) <= required | optional
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")


def test_the_source_comes_along_and_nothing_else_of_ours(unpacked: Path) -> None:
    held = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    sources = {
        f"src/{path.relative_to(ROOT).as_posix()}"
        for package in packages()
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    papers = {"manifest.json", "pyproject.toml", "README.md", "LICENSE", "NOTICE", "src/server.py"}
    assert held == sources | papers


def test_uv_installs_what_it_depends_on_and_does_not_look_for_the_bundle_itself(unpacked: Path) -> None:
    bundled = tomllib.loads((unpacked / "pyproject.toml").read_text(encoding="utf-8"))
    assert bundled["project"]["dependencies"] == project()["dependencies"]
    assert bundled["project"]["requires-python"] == project()["requires-python"]
    assert bundled["tool"]["uv"] == {"package": False}
    assert "build-system" not in bundled


def test_what_a_release_publishes_names_the_very_bundle(built: Path) -> None:
    (package,) = json.loads(built.with_name("server.json").read_text())["packages"]
    assert package["fileSha256"] == hashlib.sha256(built.read_bytes()).hexdigest()
    assert package["identifier"].endswith(f"/{built.name}")


def test_equal_sources_give_equal_bundles(tmp_path: Path) -> None:
    folder = ROOT / "packaging" / "mcpb"
    for name in ("one", "other"):
        builder().pack(folder, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def logs_below(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.jsonl")]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_entry_point_serves_what_the_manifest_lists(
    unpacked: Path, manifest: dict[str, Any], tmp_path: Path
) -> None:
    """As a host starts it, but with this interpreter in the place of uv's."""
    own = unpacked / "src" / "sandbox_mcp" / "__init__.py"
    own.write_text(own.read_text(encoding="utf-8") + '__version__ += "+bundled"\n', encoding="utf-8")
    start = manifest["server"]["mcp_config"]
    assert (start["command"], start["args"][:3]) == ("uv", ["run", "--directory", "${__dirname}"])
    assert start["args"][3:] == [manifest["server"]["entry_point"]]
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    command = StdioServerParameters(command=sys.executable, args=start["args"][3:], cwd=unpacked, env=env)
    async with Client(command) as host:
        assert host.server_info.version == f"{manifest['version']}+bundled"
        assert [tool.name for tool in (await host.list_tools()).tools] == [tool["name"] for tool in manifest["tools"]]
        assert [prompt.name for prompt in (await host.list_prompts()).prompts] == ["run_scenario"]
        started = await host.call_tool("start_scenario", {"name": "wifi_off"})
    assert not started.is_error
    assert [name.partition("-")[0] for name in logs_below(tmp_path)] == ["wifi_off"]


def test_the_prompt_reads_as_the_server_would_say_it(manifest: dict[str, Any]) -> None:
    (prompt,) = manifest["prompts"]
    assert prompt["arguments"] == ["scenario"]
    assert '"${arguments.scenario}"' in prompt["text"]
