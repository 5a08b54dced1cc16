"""``import``: what it writes where, and what it says when there is nothing to write."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.cli import group
from sandbox_mcp.trajectory import read_trajectory

CHAT = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello, too."}]
OTHER = [{"role": "user", "content": "Good-bye."}, {"role": "assistant", "content": "Come back."}]


def brought_in(format_: str, out: Path, *inputs: Path) -> Result:
    return CliRunner().invoke(group, ["import", format_, *map(str, inputs), "-o", str(out)])


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def words_in(folder: Path) -> dict[str, str]:
    return {path.name: read_trajectory(path).events[0].content for path in sorted(folder.glob("*"))}  # pyright: ignore[reportAttributeAccessIssue]


def test_a_file_of_the_same_name_overwrites_nothing(tmp_path: Path) -> None:
    brought_in("openai-chat", tmp_path / "out", written(tmp_path / "a/log.json", CHAT))
    brought_in("openai-chat", tmp_path / "out", written(tmp_path / "b/log.json", OTHER))
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello.", "log-2.jsonl": "Good-bye."}


def test_nor_do_two_of_one_import(tmp_path: Path) -> None:
    files = [written(tmp_path / "a/log.json", CHAT), written(tmp_path / "b/log.json", OTHER)]
    brought_in("openai-chat", tmp_path / "out", *files)
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello.", "log-2.jsonl": "Good-bye."}


def test_the_same_file_again_is_one_log(tmp_path: Path) -> None:
    file = written(tmp_path / "log.json", CHAT)
    for _ in range(2):
        brought_in("openai-chat", tmp_path / "out", file)
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello."}


@pytest.mark.parametrize(
    ("format_", "value"),
    [
        ("tau2", {"tasks": [], "simulations": []}),
        ("tau-bench", []),
        ("openai-chat", []),
        ("openai-responses", []),
        ("anthropic", []),
        ("toolscan", []),
        ("tooltalk", []),
        ("mtu", []),
        ("atif", []),
        ("otel", {"resourceSpans": []}),
        ("inspect", {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": []}),
    ],
)
def test_where_there_is_nothing_to_import_that_is_said(tmp_path: Path, format_: str, value: object) -> None:
    done = brought_in(format_, tmp_path / "out", written(tmp_path / "log.json", value))
    said = done.stderr or str(done.exception)
    assert done.exit_code == 1
    assert "log.json" in said
