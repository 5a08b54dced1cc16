"""Who plays the user, as the command line says it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli.run import command
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.user import ScriptedUserModel
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.users import users_named
from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.clients.sessions import SUITE
from tests.each import each

LATE = "late_for_dinner_low_battery"


def ran(*arguments: object, typed: str | None = None) -> Result:
    return CliRunner().invoke(
        command, [*map(str, arguments), "--agent", "reference", "--transport", "direct"], input=typed
    )


def said(out: Path) -> list[str]:
    (log,) = (out / "logs").glob("*.jsonl")
    return [e.content for e in read_trajectory(log).events if e.event == "message" and e.sender == "user"]


def test_a_person_types_what_the_user_says(tmp_path: Path) -> None:
    result = ran(LATE, "--user", "human", "--out", tmp_path, typed="Wren, my sister.\n/end\n")
    assert result.exit_code == 0, result.output
    assert said(tmp_path) == [SUITE.get(LATE).user.opening, "Wren, my sister."]
    assert "you> Wren, my sister." in result.stderr
    assert "you> " not in result.stdout


def test_lines_of_a_file_are_said_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "lines.yaml").write_text(f"{LATE}: [Wren., Thanks.]")
    result = ran(LATE, "--user", "replay", "--user-lines", tmp_path / "lines.yaml", "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert said(tmp_path / "run")[1:] == ["Wren.", "Thanks."]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["user"]["kind"] == "replay"


@each(
    ("arguments", "problem"),
    [
        (["--user", "replay"], "give one of them"),
        (["--user", "replay", "--user-lines", "a", "--user-log", "b"], "give one of them"),
        (["--user-lines", "a"], "--user-lines is for --user replay, and the user is scripted"),
        (["--user-tools", "look_up"], "--user-tools is for --user llm, and the user is scripted"),
        (["--user", "human", "--jobs", "2"], "the human user plays one session at a time, not 2 at a time"),
        (["--user", "human", "-"], "the human user needs standard input"),
        (["--user", "llm", "--model", "m", "--user-tools", "look_upp"], "did you mean 'look_up'?"),
        (["--user-without", "knows"], "--user-without is for --user llm, and the user is scripted"),
        (["--user", "llm", "--model", "m", "--user-base-url", "x"], "cannot ask 'x'; --user-base-url must be an addr"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, arguments: list[str], problem: str) -> None:
    result = ran("wifi_off", *arguments, "--out", tmp_path / "run")
    assert problem in f"{result.output}{result.exception}"
    assert not (tmp_path / "run").exists()


def test_the_llm_users_tools_are_switched_one_by_one(tmp_path: Path) -> None:
    seen: list[Any] = []
    with running(Endpoint(ScriptedUserModel([SUITE.get(LATE)]), seen.append)) as url:
        model = ("--user-model", "m", "--user-base-url", url, "--user-tools", "check_goal, look_up")
        ran(LATE, "--user", "llm", *model, "--out", tmp_path)
    tools = ["look_up", "check_goal"]
    assert json.loads((tmp_path / "run.json").read_text())["user"]["tools"] == tools
    assert [tool["function"]["name"] for tool in seen[0]["tools"]] == ["end_conversation", *tools]


def test_the_llm_user_says_before_the_first_session_which_package_is_missing(monkeypatch: pytest.MonkeyPatch):
    missing: Callable[[str], None] = lambda _: None  # noqa: E731 - as short as it is
    monkeypatch.setattr("sandbox_mcp.play.models.asking.find_spec", missing)
    with pytest.raises(RunError, match="the llm user needs the package 'openai'; install it with: pip install openai"):
        users_named("llm", EndpointSettings("m", "http://127.0.0.1:9/v1"))
