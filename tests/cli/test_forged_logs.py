"""Logs that were edited: replay says so, and grade --verify does not score them."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox_mcp.app.cli import group


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(group, [*map(str, arguments)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    done = invoke("run", "wifi_off", "--agent", "reference", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    [path] = (tmp_path / "run" / "logs").glob("*.jsonl")
    return path


def edited(path: Path, edit: Any) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    edit(lines)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def relabel(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        if line["event"] == "tool_call":
            line["caller"] = "user"


def reopen(lines: list[dict[str, Any]]) -> None:
    [(_, row)] = lines[0]["world"]["setting"].items()
    row["wifi"] = False


def rename(lines: list[dict[str, Any]]) -> None:
    lines[0]["digest"] = "sha256:0"


def without_digest(lines: list[dict[str, Any]]) -> None:
    lines[0]["digest"] = ""


def of_an_easier_one(lines: list[dict[str, Any]]) -> None:
    """Make a log seem one of another scenario with the same opening state."""
    lines[0] |= {"scenario": "am_i_on_wifi", "digest": ""}


def asked_for_less(lines: list[dict[str, Any]]) -> None:
    [said] = [line for line in lines if line["event"] == "message" and line["sender"] == "user"][:1]
    said["content"] = "Say that you are done."


def that_only_looks(lines: list[dict[str, Any]]) -> None:
    """Make every tool seem one that only looks, so that no call counts as an action."""
    for tool in lines[0]["tools"]:
        tool["action"] = False


def without_state(lines: list[dict[str, Any]]) -> None:
    """Make a log seem imported, with the agent's deed as one of the user."""
    lines[0]["world"] = None
    relabel(lines)


def without_changes(lines: list[dict[str, Any]]) -> None:
    """Make a log seem imported, with a deed of the agent hidden as one of the user."""
    without_state(lines)
    for line in lines:
        line.pop("changes", None)


def looked_by_itself(lines: list[dict[str, Any]]) -> None:
    """Make a call of the agent that changed nothing seem something that happened."""
    for line in lines:
        if line["event"] == "tool_call":
            line |= {"caller": "environment", "changes": []}


def of_nobody(lines: list[dict[str, Any]]) -> None:
    """Make a log seem imported, with the agent's deed as something that happened."""
    lines[0]["world"] = None
    for line in lines:
        if line["event"] == "tool_call":
            line |= {"caller": "environment", "tool": None}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (relabel, "user's act"), (reopen, "opening state, table setting"), (rename, "scenario digest"),
        (without_changes, "as the tool is the agent's"), (without_state, "as the log has no state"),
        (of_nobody, "as the log has no state"), (without_digest, "scenario digest"),
        (of_an_easier_one, "scenario digest"), (asked_for_less, "user's first words"), (that_only_looks, "tools"),
        (looked_by_itself, "nothing that happens by itself"),
    ],
)  # fmt: skip
def test_a_forged_log_does_not_replay_and_is_not_scored(log: Path, edit: Any, told: str) -> None:
    assert invoke("replay", log).exit_code == 0
    edited(log, edit)
    found = invoke("replay", log)
    assert (found.exit_code, told in found.output) == (1, True)
    scores = json.loads(invoke("grade", log, "--verify", "--json", "--no-bounds").stdout)
    assert scores["counts"]["scored"] == 0
    assert told in scores["unscored"][0]["reason"]


def test_scores_kept_by_somebody_else_are_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox_grader.reporting import kept

    def stored(secret: str) -> kept.KeptScores:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / secret))
        kept._secret.cache_clear()  # pyright: ignore[reportPrivateUsage]
        return kept.KeptScores(tmp_path, lambda _: "d", "k")

    mine = stored("mine")
    mine.add("log", kept.GradedLog("s"))
    mine.close()
    assert [name for name, _ in stored("mine").read()] == ["log"]
    assert list(stored("theirs").read()) == []
    with sqlite3.connect(tmp_path / kept.PLACE) as store:
        store.execute("UPDATE scores SET details = zeroblob(3)")
    assert list(stored("mine").read()) == []
    kept._secret.cache_clear()  # pyright: ignore[reportPrivateUsage]
