"""The way in from Python: the lines of docs/python.md as they stand, in a script, in a test and where a loop runs."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader import GraderError, Verdict
from sandbox_grader.report import Report

import sandbox_mcp
from sandbox_mcp import Metric, Suite, evaluate, grade
from sandbox_mcp.endpoint.app import Endpoint
from sandbox_mcp.endpoint.server import running
from sandbox_mcp.run.errors import RunError
from tests.clients.sessions import solver
from tests.docs.test_generated import loaded
from tests.e2e.processes import run_in_turn
from tests.run.runs import FEW

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST, OWN_METRIC = PYTHON.findall((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))


async def agent(asked: Any) -> str:
    await asked.tools.call("set_wifi_status", {"on": False})
    return "Wifi is off now."


@pytest.mark.parametrize("loop", [False, True], ids=["script", "notebook"])
def test_the_first_lines_run_as_they_stand(
    loop: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a suite of a few scenarios, because all of them take half a minute."""
    knowing = solver()  # of all, as all other tests of this process share it
    few = tuple(name for name in Suite().names() if name.startswith("wifi_") or name in (*FEW, "anzac_eve"))
    monkeypatch.setattr("sandbox_scenarios.loader.Suite.names", lambda *_: few)
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    async def kernel() -> None:
        exec(FIRST, {})

    with running(Endpoint(knowing)) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        asyncio.run(kernel()) if loop else exec(FIRST, {})
    assert "wifi_off" in capsys.readouterr().out


def test_where_a_loop_runs_already_it_plays_in_a_thread() -> None:
    async def cell() -> Report:
        return evaluate(agent, Suite().select("wifi_off"))

    assert asyncio.run(cell()).score == 1.0


def test_a_report_tells_score_interval_failures_and_reliability() -> None:
    report = evaluate(agent, Suite().select("wifi_off", "landlord_number"), trials=3)
    assert (report.score, report.pass_k(3).mean) == (0.5, 0.5)
    assert report.interval == (0.0, 1.0)
    assert {session.scenario for session in report.failures} == {"landlord_number"}
    assert "milestone" in report.failures[0].explain()


def test_a_report_compares_with_another() -> None:
    one = evaluate(agent, Suite().select("wifi_off", "landlord_number"))
    found = one.compare(evaluate("reference", Suite().select("landlord_number")))
    assert (found.difference, found.left_out) == (1.0, ("1 session of 1 scenario that only A has",))
    assert "left out: 1 session of 1 scenario that only A has" in str(found)


def test_printing_shows_the_tables_of_run() -> None:
    text = str(evaluate(agent, Suite().select("wifi_off")))
    assert "wifi_off  base     1/1     1.000    0.000  3.000  user_ended 1" in text


def test_a_data_frame_has_a_row_per_session() -> None:
    pytest.importorskip("pandas")
    frame = evaluate(agent, Suite().select("wifi_off"), trials=2).to_pandas()
    assert list(frame["toolsandbox.score"]) == [1.0, 1.0]
    assert {"ending", "prompt_tokens", "cost", "model", "categories"} <= set(frame.columns)


def test_without_pandas_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(GraderError, match="a data frame needs the package 'pandas'; install it with: pip"):
        Report().to_pandas()


def test_by_hand_a_session_is_played_and_graded() -> None:
    with Suite()["wifi_off"].open() as phone:
        phone.call("set_wifi_status", on=False)
        assert phone.say("Wifi is off now.") is None
        assert grade(phone.log).score == 1.0


def test_by_hand_a_refusal_is_an_error() -> None:
    with Suite()["wifi_off"].open() as phone, pytest.raises(sandbox_mcp.errors.SandboxError, match="no tool"):
        phone.call("no_such_tool")


def test_a_session_left_by_hand_is_abandoned() -> None:
    with Suite()["wifi_off"].open(variant="all_tools") as phone:
        pass
    assert (grade(phone.log).ending, grade(phone.log).scored) == ("abandoned", False)


def test_own_scenarios_are_graded_by_hand_too(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("family: own\nscenarios:\n  - {name: mine, extends: wifi_off}\n")
    with Suite([own])["mine"].open() as phone:
        phone.call("set_wifi_status", on=False)
        assert grade(phone.log).score == 0.5


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(RunError, match="expected an async function, an Agent, or a name"):
        evaluate(lambda asked: "hello", Suite().select("wifi_off"))


def test_a_metric_of_ones_own_is_asked_shown_and_counted() -> None:
    found: dict[str, Any] = {}
    exec(OWN_METRIC, found)
    report = evaluate(agent, Suite().select("wifi_off"), metrics=[found["Brevity"]()], metric="toolsandbox.score")
    assert report.sessions[0].number("brevity.words") == 4
    assert "brevity: words 4\n  4 words in all" in report.sessions[0].explain()
    assert report.families()["brevity"]["words"] == 4


PLUGIN = """
from sandbox_grader import Metric, Verdict
from sandbox_grader.importers import Imported
from sandbox_mcp.trajectory import SessionEnded, SessionStarted


class Calls(Metric):
    name = "calls"
    source = "theirs"

    def grade(self, subject, mode):
        return Verdict({"made": len(subject.trajectory.events)}, [{"text": "counted"}])


def read(paths):
    for path in paths:
        started = SessionStarted(session=path.stem, scenario="theirs")
        yield Imported(path.stem, (started, SessionEnded(seq=1, clock=0.0, reason="recorded")))
"""
POINTS = """[sandbox_mcp.metrics]
calls = their_package:Calls
[sandbox_mcp.importers]
theirs = their_package:read
"""


def test_metrics_and_importers_of_an_installed_package_are_found(tmp_path: Path) -> None:
    site, info = tmp_path / "site", tmp_path / "site" / "their_package-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "their_package.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "log.txt").write_text("")
    commands = [
        "import theirs log.txt -o imported",
        "grade imported --explain",
        "grade imported --metric calls.made --threshold 1",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    imported, explained, judged = run_in_turn(
        sys.executable, [line.split() for line in commands], tmp_path, environment
    )
    assert imported.code in (0, None), imported.err
    assert "calls: nothing to say\n  counted" in explained.out, explained.err
    assert "threshold 1 missed: the mean calls.made is 0.000, 1.000 below it" in judged.err
    assert judged.code == 1


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = "('mcp', 'openai', 'scipy', 'networkx', 'pydantic', 'yaml', 'anyio', 'rich', 'pandas', 'click')"
    code = f"import sys, sandbox_mcp; dir(sandbox_mcp); print([m for m in sys.modules if m.split('.')[0] in {heavy}])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_public_name_resolves() -> None:
    assert all(getattr(sandbox_mcp, name) for name in sandbox_mcp.__all__)
    assert set(dir(sandbox_mcp)) == set(sandbox_mcp.__all__)


def test_a_subclass_of_metric_needs_only_grade() -> None:
    class Nothing(Metric):
        name = "nothing"
        source = "ours"

        def grade(self, subject: Any, mode: Any) -> Verdict:
            return Verdict(inconclusive="nothing to see")

    assert evaluate(agent, Suite().select("wifi_off"), metrics=[Nothing()]).sessions[0].unscored("nothing")


def test_the_reference_is_current() -> None:
    reference = loaded("reference")
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run: python docs/reference.py"
