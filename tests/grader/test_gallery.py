"""``grade --gallery``: for every class of error the example in which it stands alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from sandbox_clients.function import Asked
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores
from sandbox_grader.reporting.gallery import gallery

from sandbox_mcp import evaluate
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.run.by_hand import PlayableSuite


def call(pattern: str | None, tool: str = "look", reason: str = "why") -> Mapping[str, Any]:
    return {"kind": "call", "call": "c1", "tool": tool, "executed": True, "pattern": pattern, "reason": reason}


def session(name: str, *details: Mapping[str, Any], reason: str | None = None) -> Scores:
    return Scores(name, name, "base", 0, (), "strict", {"toolscan": Verdict({}, details)}, reason=reason)


def test_the_example_is_the_session_in_which_the_error_stands_alone() -> None:
    mixed, pure = (
        session("mixed", call("ian"), call("iat"), call(None)),
        session("pure", call(None), call("ian", "find")),
    )
    found = {item.error: item for item in gallery([mixed, pure])}
    assert (found["incorrect argument name"].session, found["incorrect argument name"].tool) == ("pure", "find")
    assert (found["incorrect argument type"].session, found["incorrect argument name"].sessions) == ("mixed", 2)


def test_of_equals_the_shorter_counts_and_what_is_not_scored_shows_nothing() -> None:
    long, short = session("long", call(None), call(None), call("rac")), session("short", call("rac"))
    broken = session("broken", call("ife"), reason="incomplete")
    assert [(item.error, item.session) for item in gallery([long, short, broken])] == [("repeated API calls", "short")]


def test_a_run_shows_its_own_errors(tmp_path: Path) -> None:
    async def muddled(asked: Asked) -> str:
        await asked.tools.call("set_wifi_status", {"of": True})
        await asked.tools.call("set_wifi", {"on": True})
        return "Hm."

    evaluate(muddled, PlayableSuite().select("wifi_off"), out=tmp_path)
    shown = CliRunner().invoke(group, ["grade", str(tmp_path), "--gallery"])
    assert "incorrect argument name" in shown.stdout
    told = json.loads(CliRunner().invoke(group, ["grade", str(tmp_path), "--gallery", "--json"]).stdout)
    assert {"incorrect argument name", "incorrect function name"} <= {item["error"] for item in told["gallery"]}
