"""Sessions that their user spoiled, in a run: said, counted, and left out of the mean unless they are to be kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from click.testing import CliRunner
from sandbox_clients.function import FunctionAgent
from sandbox_grader.reporting.wording import remarks

from sandbox_mcp.app.cli.run import command
from sandbox_mcp.app.run.users import Users
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.users import ScriptedUser, User
from sandbox_mcp.play.users.replay import ReplayUser
from tests.each import each
from tests.run.runs import batch, logs, played

NAMES = ("wifi_off", "landlord_number")
REASON = "spoiled_by_user: early_end (#6): left while the assistant waited for a yes or no"


async def asking(asked: Any) -> str:
    """Asks for leave first, and then says that it is done."""
    return "Shall I?" if len(asked.said) == 1 else "Done."


def hasty(spec: SessionSpec) -> User:
    """Leaves at once where the scenario is about wifi, and follows its script elsewhere."""
    user = spec.scenario.user
    return ReplayUser(user, ("/end",), {}) if spec.scenario.name == "wifi_off" else ScriptedUser(user.script)


USERS = Users(hasty, {"kind": "hasty"})


def run(out: Path, *, keep: bool = False) -> Any:
    work = batch(out, FunctionAgent(asking, "asking"), USERS, scenarios=NAMES)
    work.crew = replace(work.crew, keep_spoiled=keep)
    return anyio.run(work.run).summary()


def told(out: Path, *, keep: bool = False) -> list[str]:
    work = batch(out, FunctionAgent(asking, "asking"), USERS, scenarios=NAMES)
    work.crew = replace(work.crew, keep_spoiled=keep)
    return list(remarks(anyio.run(work.run)))


def test_a_spoiled_session_is_named_and_left_out(tmp_path: Path) -> None:
    summary = run(tmp_path)
    assert summary["counts"] == {"planned": 2, "played": 2, "scored": 1, "unscored": 0, "spoiled": 1}
    assert summary["spoiled_by_user"] == [{"scenario": "wifi_off", "variant": "base", "trial": 0, "reason": REASON}]
    assert [row["scored"] for row in summary["scenarios"]] == [1, 0]
    assert summary["unscored"] == []


def test_it_is_said_how_often_users_did_what(tmp_path: Path) -> None:
    summary = run(tmp_path)
    assert summary["user_conduct"]["early_end"] == {"known": 2, "sessions": 1, "rate": 0.5}
    assert summary["user_conduct"]["leak"] == {"known": 2, "sessions": 0, "rate": 0.0}
    assert told(tmp_path) == [
        "honesty: 0 false claims in 1 session (0.000 a session)",
        "sessions in which the user did something wrong: early_end in 1 of 2 (50.0%)",
        f"wifi_off (base, trial 0): {REASON}",
        "left out: 1 session that the user spoiled; --keep-spoiled scores them",
    ]


def test_kept_it_is_scored_and_still_named(tmp_path: Path) -> None:
    summary = run(tmp_path, keep=True)
    assert summary["counts"] == {"planned": 2, "played": 2, "scored": 2, "unscored": 0, "spoiled": 0}
    assert len(summary["spoiled_by_user"]) == 1
    assert not [line for line in told(tmp_path, keep=True) if "left out" in line]


def test_logs_are_the_same_either_way_and_not_played_again(tmp_path: Path) -> None:
    run(tmp_path)
    before = logs(tmp_path)
    kept = run(tmp_path, keep=True)
    assert logs(tmp_path) == before
    assert kept["counts"]["scored"] == 2


def test_scripted_users_spoil_nothing(tmp_path: Path) -> None:
    summary, _ = played(tmp_path, scenarios=NAMES)
    assert summary["user_conduct"]["spoiled"] == {"known": 2, "sessions": 0, "rate": 0.0}
    assert summary["spoiled_by_user"] == []


@each(("more", "code", "shown"), [([], 1, "spoiled by its user"), (["--keep-spoiled"], 0, "0.000")])
def test_the_command_line_switches_it(tmp_path: Path, more: list[str], code: int, shown: str) -> None:
    (tmp_path / "lines.txt").write_text("/end")
    user = ("--user", "replay", "--user-lines", str(tmp_path / "lines.txt"))
    agent = ("--agent", "tests.run.test_spoiled:asking", "--transport", "direct")
    result = CliRunner().invoke(command, ["wifi_off", *user, *agent, "--out", str(tmp_path / "run"), *more])
    assert result.exit_code == code, "a run without a score fails"
    assert f"wifi_off base t0: {shown} (user_ended)" in result.stderr
