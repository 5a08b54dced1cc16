"""The bundle as the official tool packs it: it passes its checks, and leaves nothing out."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.node.toolbox import node_program, run
from tests.packaging.files import builder

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def mcpb() -> list[str]:
    return node_program("@anthropic-ai", "mcpb", "dist", "cli", "cli.js")


async def test_the_manifest_is_valid(mcpb: list[str], tmp_path: Path) -> None:
    (path := tmp_path / "manifest.json").write_text(json.dumps(builder().manifest()))
    done = await run([*mcpb, "validate", str(path)], tmp_path)
    assert done.code == 0, done.out + done.err


async def test_a_manifest_that_is_not_valid_is_told_apart(mcpb: list[str], tmp_path: Path) -> None:
    manifest = {**builder().manifest(), "server": {"type": "python3"}}
    (path := tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert (await run([*mcpb, "validate", str(path)], tmp_path)).code != 0


async def test_it_packs_the_same_files_as_we_do(mcpb: list[str], tmp_path: Path) -> None:
    official, ours = (builder().build(tmp_path / name, tool) for name, tool in (("official", mcpb), ("ours", None)))
    with ZipFile(official) as one, ZipFile(ours) as other:
        assert {name: one.read(name) for name in one.namelist() if not name.endswith("/")} == {
            name: other.read(name) for name in other.namelist()
        }


async def test_the_official_tool_reads_what_it_packed(mcpb: list[str], tmp_path: Path) -> None:
    bundle = builder().build(tmp_path / "out", mcpb)
    done = await run([*mcpb, "unpack", str(bundle), str(tmp_path / "unpacked")], tmp_path)
    assert done.code == 0, done.out + done.err
    assert (tmp_path / "unpacked" / "src" / "server.py").exists()
