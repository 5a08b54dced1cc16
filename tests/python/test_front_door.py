"""The way in from Python: the lines of docs/python.md as they stand, in a script, in a test and where a loop runs."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from sandbox_grader import GraderError, Verdict, read_report
from sandbox_grader.reporting.report import Report
from sandbox_scenarios import ScenarioError

import sandbox_mcp
from sandbox_mcp import Metric, Suite, evaluate, grade
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.play.users import ScriptedUser
from tests.clients.sessions import solver
from tests.docs.test_generated import loaded
from tests.e2e.processes import Done, run_in_turn
from tests.each import each
from tests.run.runs import FEW

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST, OWN_METRIC = PYTHON.findall((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))


@pytest.fixture
def passing_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders are made that nobody asked for."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


async def agent(asked: Any) -> str:
    await asked.tools.call("set_wifi_status", {"on": False})
    return "Wifi is off now."


def test_the_lines_in_the_readme_run_as_they_stand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, lines = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    exec(mine, names)
    monkeypatch.setitem(sys.modules, "mine", SimpleNamespace(agent=names["agent"]))
    exec(lines, {})
    table, _, explained = capsys.readouterr().out.partition("pass^1")
    assert "wifi_off" in table
    assert "graded strict" in explained


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
    assert "wifi_off  base     1/1     1.000    0.000  1.000  user_ended 1" in text


def test_a_report_names_itself_in_one_line() -> None:
    report = evaluate(agent, Suite().select("wifi_off"), trials=2)
    assert repr(report) == "<Report 'agent': 2 sessions by toolsandbox.score, graded strict>"


def test_a_notebook_shows_reports_and_comparisons_as_they_are_printed() -> None:
    class Printer:
        def __init__(self) -> None:
            self.shown = ""

        def text(self, told: str) -> None:
            self.shown += told

    report = evaluate(agent, Suite().select("wifi_off", "wifi_off_polite"))
    for told in (report, report.compare(report)):
        printer = Printer()
        getattr(told, "_repr_pretty_")(printer, cycle=False)  # noqa: B009  (IPython's name)
        assert printer.shown == str(told)


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


def test_by_hand_the_user_is_the_one_of_any_session() -> None:
    with Suite()["coach_by_another_name"].open() as phone:
        told = phone.session.spec.scenario.user
        assert told.wants_not
        assert phone.session.user == ScriptedUser.of(told, phone.session.spec.scenario.clock)


@each(
    ("wrong", "said"),
    [
        ("phone.call(3)", "the name of a tool is a text; got 3"),
        ("phone.say(3)", "what is said is a text; got 3"),
        ("Suite()[0]", "the name of a scenario is a text; got 0"),
        ("Suite().select(['wifi_off'])", "selector ['wifi_off'] is not a text; name several side by side"),
        ("grade(phone)", "grade takes a log, the path of one, or phone.log of what was played by hand; found Sess"),
        ("grade(None)", "grade takes a log, the path of one, or phone.log of what was played by hand; found NoneT"),
        ("grade(phone.log, 'wifi_off')", "grade takes a scenario, such as Suite()['wifi_off']; found 'wifi_off'"),
        ("grade(phone.log, metrics=[Metric])", "metric 'Metric' is a class; expected an object of it: Metric()"),
        ("grade(phone.log, metrics=[3])", "metric 3 cannot be asked; expected a family's name, or an object with"),
        ("evaluate('openai')", "the openai agent needs to know which model to ask; name one with model="),
        ("evaluate(agent, user='llm')", "the llm user needs to know which model to ask; name one with model="),
        (
            "evaluate('openai', model='m', base_url='x')",
            "the openai agent cannot ask 'x'; base_url= must be an address",
        ),
        ("evaluate(agent, metrics=[Metric])", "metric 'Metric' is a class; expected an object of it: Metric()"),
    ],
)
def test_what_is_not_what_it_should_be_is_told_in_a_line(wrong: str, said: str) -> None:
    with Suite()["wifi_off"].open() as phone:
        before = phone.log.events
        with pytest.raises(sandbox_mcp.engine.errors.SandboxError) as told:
            eval(wrong, {**globals(), "phone": phone})
        assert str(told.value).startswith(said)
        assert phone.log.events == before


def test_a_metric_by_name_and_a_scenario_at_hand_are_as_good_as_a_list_and_a_scenario() -> None:
    with Suite()["wifi_off"].open() as phone:
        phone.call("set_wifi_status", on=False)
    scores = grade(phone.log, Suite()["wifi_off"], metrics="tooltalk")
    assert (list(scores.verdicts), scores.number("tooltalk.recall")) == (["tooltalk"], 1.0)
    report = evaluate(agent, Suite().select("wifi_off"), metrics="tooltalk", metric="tooltalk.recall")
    assert report.score == 1.0


def test_a_folder_of_logs_is_read_into_a_report_like_any_other(tmp_path: Path) -> None:
    played = evaluate(agent, Suite().select("wifi_off", "landlord_number"), out=tmp_path)
    read = read_report(str(tmp_path))
    assert (read.score, read.interval) == (played.score, played.interval)
    assert played.compare(read).difference == 0
    with pytest.raises(GraderError, match=r"is a folder; sandbox_grader\.read_report makes a Report of the logs in it"):
        grade(tmp_path)


def test_by_hand_a_refusal_is_an_error() -> None:
    with Suite()["wifi_off"].open() as phone, pytest.raises(sandbox_mcp.engine.errors.SandboxError, match="no tool"):
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


class _Called:
    async def __call__(self, asked: Any) -> str:
        return await agent(asked)


async def _with_word(word: str, asked: Any) -> str:
    return f"{await agent(asked)} {word}"


@each(
    ("given", "name"),
    [(_Called(), "_Called"), (_Called().__call__, "__call__"), (partial(_with_word, "Done."), "_with_word")],
)
def test_whatever_is_called_like_an_async_function_is_an_agent(given: Any, name: str) -> None:
    report = evaluate(given, Suite().select("wifi_off"))
    assert (report.score, report.sessions[0].agent["name"]) == (1.0, name)


def test_what_an_agents_tasks_raised_is_told_and_not_that_there_were_tasks() -> None:
    async def broken() -> None:
        raise ValueError("of the task")

    async def in_tasks(asked: Any) -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(broken())
        return "never"

    [session] = evaluate(in_tasks, Suite().select("wifi_off")).sessions
    assert session.detail.startswith("the agent raised ValueError: of the task (test_front_door.py, line ")


def test_rows_are_in_the_order_of_reports_however_sessions_ended() -> None:
    async def later_first(asked: Any) -> str:
        await anyio.sleep(0.0 if asked.said[0].text == Suite().get("wifi_off_polite").user.opening else 0.05)
        return "Wifi is off now."

    report = evaluate(later_first, Suite().select("wifi_off", "wifi_off_polite"), trials=2)
    places = [(item.scenario, item.trial) for item in report.ordered]
    assert [(item.scenario, item.trial) for item in report.sessions] != places
    frame = report.to_pandas()
    assert list(zip(frame["scenario"], frame["trial"], strict=True)) == places
    assert [(item["scenario"], item["trial"]) for item in report.to_json()["sessions"]] == places


@each(
    ("option", "value", "expected"),
    [
        ("suite", ["wifi_off"], "a Suite, such as"),
        ("variants", [], "at least one"),
        ("trials", 0, "a whole number from 1"),
        ("trials", 1.5, "a whole number from 1"),
        ("jobs", 0, "a whole number from 1"),
        ("jobs", -3, "a whole number from 1"),
        ("seed", "x", "a whole number"),
        ("max_turn_seconds", 0, "more than 0"),
        ("max_turn_seconds", None, "more than 0"),
        ("row_answers", "words", "calls or text"),
        ("transport", "nope", "memory, http, direct"),
        ("mode", "nope", "on-policy or prefix"),
        ("shard", "1/2", "a Shard object"),
        ("prices", "1/2", "a Prices object"),
        ("budget", 5, "a Budget object"),
        ("executor", "processes", "an Executor"),
        ("variants", None, "at least one"),
        ("metric", None, "a text, FAMILY.NAME"),
        ("model", 3, "a text, NAME"),
        ("base_url", 3, "a text, URL"),
        ("knowledge", "mine:sources", "sources, such as a Knowledge object"),
        ("instructions", 3, "a text"),
        ("watch", 3, "a function of a Progress"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_anything_is_played(option: str, value: Any, expected: str) -> None:
    options: dict[str, Any] = {"suite": Suite().select("wifi_off"), option: value}
    with pytest.raises(RunError, match=f"^{option}=.* cannot be used; expected {expected}"):
        evaluate(agent, **options)


def test_one_variant_one_file_and_paths_may_be_given_as_text(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("family: own\nscenarios:\n  - {name: mine, extends: wifi_off}\n")
    for places in (str(own), own, [str(own)]):
        assert Suite(places).select("mine").names() == ("mine",)
    report = evaluate(agent, Suite(str(own)).select("mine"), variants="all_tools")
    assert [item.variant for item in report.sessions] == ["all_tools"]
    report.write(str(tmp_path / "scores.csv"))
    assert "mine" in (tmp_path / "scores.csv").read_text()


def test_a_mode_that_there_is_not_is_refused() -> None:
    with Suite()["wifi_off"].open() as phone:
        pass
    with pytest.raises(GraderError, match="unknown mode 'nope'; known: strict, paper, compat"):
        grade(phone.log, mode=cast("Any", "nope"))


def test_a_metric_of_ones_own_sums_up_as_it_says() -> None:
    class Longest(Metric):
        name = "longest"
        source = "ours"

        def grade(self, subject: Any, mode: Any) -> Verdict:
            return Verdict({"events": len(subject.trajectory.events)})

        def summarise(self, graded: Any, mode: Any) -> Any:
            return {"most": max(verdict.values["events"] for _, verdict in graded)}

    report = evaluate(agent, Suite().select("wifi_off"), metrics=[Longest()], metric="longest.events")
    assert report.families()["longest"] == {"most": 6}
    assert report.score == 6


@each("options", [{"metric": "nope.x"}, {"metrics": ["nope"]}, {"user": 3}, {"user": "nope"}])
def test_what_there_is_not_is_told_before_anything_is_played(options: Any) -> None:
    asked: list[Any] = []

    async def listen(one: Any) -> str:
        asked.append(one)
        return "Hm."

    with pytest.raises(sandbox_mcp.engine.errors.SandboxError, match=r"^unknown (metric family|user) .*; known: "):
        evaluate(listen, Suite().select("wifi_off"), **options)
    assert asked == []


@each(
    ("broken", "said"),
    [
        ("1 / 0", "metric 'broken' failed: ZeroDivisionError: division by zero (test_front_door.py, line"),
        ("{'n': 1}", "metric 'broken' answered with dict; expected a Verdict"),
        ("None", "metric 'broken' answered with NoneType; expected a Verdict"),
        ("Verdict({'n': {1}})", "metric 'broken': n is {1}; expected what JSON can hold"),
        ("Verdict({'n': float('nan')})", "metric 'broken': n is nan; expected what JSON can hold"),
        ("Verdict({'n': 1}, ['text'])", "metric 'broken': among its details is 'text'; expected objects"),
        ("Verdict(None)", "metric 'broken': its values are None; expected a mapping"),
        ("Verdict({}, None)", "metric 'broken': its details are None; expected a list"),
        ("Verdict({1: 2})", "metric 'broken': among its values is one named 1; expected texts as names"),
        ("Verdict(inconclusive=3)", "metric 'broken': it is inconclusive for 3; expected a reason, or None"),
    ],
)
def test_a_metric_that_breaks_or_says_something_else_is_told_in_a_line(broken: str, said: str) -> None:
    class Broken(Metric):
        name = "broken"
        source = "ours"

        def grade(self, subject: Any, mode: Any) -> Verdict:
            return eval(broken)

    with Suite()["wifi_off"].open() as phone:
        pass
    with pytest.raises(GraderError, match=f"^{re.escape(said)}"):
        grade(phone.log, metrics=[Broken()])


@each(
    ("broken", "said"),
    [
        ("graded[0][1].values['m']", r"metric 'broken' failed to sum up: KeyError: 'm' \(test_front_door"),
        ("[1]", "metric 'broken' summed up as list; expected a mapping"),
        ("{'n': {1}}", r"metric 'broken': n is \{1\}; expected what JSON can hold"),
    ],
)
def test_a_metric_that_cannot_sum_up_is_told_in_a_line(broken: str, said: str, passing_place: Path) -> None:
    class Broken(Metric):
        name = "broken"
        source = "ours"

        def grade(self, subject: Any, mode: Any) -> Verdict:
            return Verdict({"n": 1})

        def summarise(self, graded: Any, mode: Any) -> Any:
            return eval(broken)

    with pytest.raises(GraderError, match=f"^{said}"):
        evaluate(agent, Suite().select("wifi_off"), metrics=[Broken()])


class Fragile(Metric):
    """A metric that can be mended between two calls: it sums up, or grades, only when it may."""

    name, source = "fragile", "ours"
    grades = sums_up = False

    def grade(self, subject: Any, mode: Any) -> Verdict:
        return Verdict({"n": 1 // self.grades})

    def summarise(self, graded: Any, mode: Any) -> Any:
        return {"all": len(graded) // self.sums_up}


@each("grades", [False, True])
def test_what_was_played_is_kept_where_a_metric_breaks_and_counts_once_it_is_mended(
    grades: bool, passing_place: Path
) -> None:
    metric, chosen = Fragile(), Suite().select("wifi_off")
    metric.grades = grades
    with pytest.raises(GraderError, match="metric 'fragile' failed") as broke:
        evaluate(agent, chosen, metrics=[metric])
    [note] = broke.value.__notes__
    [place] = re.findall(r"the same call with out='(.*)' goes on from there", note)
    assert Path(place).parent == passing_place
    metric.grades = metric.sums_up = True

    async def not_asked_again(one: Any) -> str:
        raise AssertionError

    not_asked_again.__name__ = agent.__name__
    report = evaluate(not_asked_again, chosen, metrics=[metric], out=place)
    assert report.families()["fragile"] == {"all": 1}


def test_a_run_without_a_place_leaves_nothing_behind(passing_place: Path) -> None:
    evaluate(agent, Suite().select("wifi_off"))
    with pytest.raises(ScenarioError, match="variant"):
        evaluate(agent, Suite().select("wifi_off"), variants="nope")
    with pytest.raises(GraderError):
        evaluate(agent, Suite().select("wifi_off"), metric="nope.x")
    assert list(passing_place.iterdir()) == []


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
from sandbox_mcp.engine.trajectory import SessionEnded, SessionStarted


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
    commands = [
        "import theirs log.txt -o imported",
        "grade imported --explain",
        "grade imported --metric calls.made --threshold 1",
    ]
    imported, explained, judged = _with_installed(tmp_path, PLUGIN, POINTS, commands)
    assert imported.code in (0, None), imported.err
    assert "calls: nothing found\n  counted" in explained.out, explained.err
    assert "threshold 1 missed: the mean calls.made is 0.000, 1.000 below it" in judged.err
    assert judged.code == 1


BROKEN = """
from sandbox_mcp.engine.worlds.office import office

number = 5


def none(paths): ...


def texts(paths):
    yield "a text"


def breaks(paths):
    yield from {}[paths[0]]
"""
BROKEN_POINTS = """[sandbox_mcp.importers]
number = their_package:number
gone = their_package:gone
none = their_package:none
texts = their_package:texts
breaks = their_package:breaks
[sandbox_mcp.metrics]
lost = no_such_package:Metric
[sandbox_mcp.worlds]
shed = their_package:office
"""
BROKEN_SAID = {
    "import number log.txt -o o": "importer 'number' of their_package:number is int; expected a function",
    "import gone log.txt -o o": "'their_package:gone' cannot be imported: AttributeError: module 'their_package' has",
    "import none log.txt -o o": "importer 'none' of their_package:none failed: TypeError: 'NoneType' object is not",
    "import texts log.txt -o o": "importer 'texts' of their_package:texts gave str; expected sessions of type Imported",
    "import breaks log.txt -o o": "failed: KeyError: PosixPath('log.txt') (their_package.py, line 15)",
    "grade nothing.jsonl --metric lost.x": "'lost' of sandbox_mcp.metrics: 'no_such_package:Metric' cannot be imported",
    "worlds show shed": "entry point 'shed' of sandbox_mcp.worlds: 'their_package:office' declares the world 'office'",
}


def test_whatever_is_wrong_with_what_a_package_adds_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "nothing.jsonl").write_text("")
    done = _with_installed(tmp_path, BROKEN, BROKEN_POINTS, list(BROKEN_SAID))
    for one, said in zip(done, BROKEN_SAID.values(), strict=True):
        assert (one.code, one.err.count("\n"), said in one.err.replace("WindowsPath", "PosixPath")) == (2, 1, True), one


HALF_BROKEN = """
from sandbox_grader import Metric, Verdict


class Broken(Metric):
    name = "broken"
    source = "theirs"

    def grade(self, subject, mode):
        raise KeyError("boo")


class Unsummed(Metric):
    name = "unsummed"
    source = "theirs"

    def grade(self, subject, mode):
        return Verdict({"events": len(subject.trajectory.events)})

    def summarise(self, graded, mode):
        return [1]
"""
HALF_BROKEN_POINTS = """[sandbox_mcp.metrics]
broken = their_package:Broken
unsummed = their_package:Unsummed
lost = no_such_package:Metric
toolsandbox = their_package:Broken
"""


def test_a_package_s_metric_that_breaks_is_named_and_stops_nothing_that_did_not_ask_for_it(tmp_path: Path) -> None:
    played = "run wifi_off --agent reference --out run --quiet"
    commands = (played, "grade run --quiet --json", "report run -o run.html --quiet", "grade run --metric broken.x")
    _, graded, page, asked = _with_installed(tmp_path, HALF_BROKEN, HALF_BROKEN_POINTS, commands)
    told = json.loads(graded.out)
    assert (graded.code, told["score"], told["families"]["unsummed"]) == (
        0,
        1.0,
        {"problem": "metric 'unsummed' summed up as list; expected a mapping"},
    )
    assert told["sessions"][0]["metrics"]["broken"]["inconclusive"].startswith(
        "metric 'broken' failed: KeyError: 'boo' (their"
    )
    assert "'no_such_package:Metric' cannot be imported" in graded.err
    assert "sandbox_grader has 'toolsandbox' already; it is left out" in graded.err
    assert (page.code, "1 session" in page.err) == (0, True)
    assert "metric 'broken' failed: KeyError: 'boo'" in asked.out


def _with_installed(folder: Path, code: str, points: str, commands: Sequence[str]) -> list[Done]:
    """What commands come to where a package with this code and these entry points is installed."""
    site, info = folder / "site", folder / "site" / "their_package-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "their_package.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (folder / "log.txt").write_text("")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    return run_in_turn(sys.executable, [line.split() for line in commands], folder, environment)


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
