"""``compare --fail-if-worse``: the test, what it writes for pull requests, and runs that are unlike."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores
from sandbox_grader.reporting.report import Report

from sandbox_mcp.app.cli.compare import command
from tests.each import each


def session(scenario: str, score: float, trial: int = 0, **more: Any) -> Scores:
    verdict = Verdict({"score": score, "milestones": score, "turn_count": 3, "refusal": 0.0})
    return Scores(f"{scenario}-{trial}", scenario, "base", trial, (), "strict", {"toolsandbox": verdict}, **more)


def run(values: Sequence[float], **more: Any) -> Report:
    return Report([session(f"s{place}", value, **more) for place, value in enumerate(values)])


def kept(path: Path, report: Report) -> Path:
    path.write_text(json.dumps(report.to_json()))
    return path


FINE = (1.0,) * 8 + (0.5, 0.0)
WORSE = (0.5,) * 4 + (0.25,) * 4 + (0.0, 0.0)
CHANCE = (1.0,) * 7 + (0.0, 1.0, 0.0)


@each(
    ("new", "margin", "code"),
    [(FINE, 0, 0), (WORSE, 0, 1), (WORSE, 0.1, 1), (WORSE, 0.9, 0), (CHANCE, 0, 0), ((1.0,) * 10, 0, 0)],
)
def test_a_drop_beyond_chance_and_margin_fails_the_build(
    new: Sequence[float], margin: float, code: int, tmp_path: Path
) -> None:
    before, after = kept(tmp_path / "a.json", run(FINE)), kept(tmp_path / "b.json", run(new))
    given = [str(before), str(after), "--fail-if-worse", "--margin", str(margin)]
    found = CliRunner().invoke(command, given)
    assert found.exit_code == code, found.output
    [line] = [line for line in found.stderr.splitlines() if "worse" in line]
    assert ("not shown to be worse" in line) == (code == 0)
    assert f"worse is an interval below {-margin or 0:g}" in line
    assert CliRunner().invoke(command, given[:2]).exit_code == 0


def test_one_scenario_is_judged_by_its_difference() -> None:
    found = run([1.0]).compare(run([0.4]))
    assert (found.worse(), found.worse(0.5), found.worse(0.7)) == (True, True, False)


def test_a_comparison_is_written_for_a_pull_request(tmp_path: Path) -> None:
    before, after = kept(tmp_path / "a.json", run(FINE)), kept(tmp_path / "b.json", run(WORSE))
    for form in ("md", "xml"):
        given = [str(before), str(after), "--fail-if-worse", "--out", str(tmp_path / f"gate.{form}")]
        assert CliRunner().invoke(command, given).exit_code == 1
    told = (tmp_path / "gate.md").read_text()
    assert told.splitlines()[2].startswith("**worse: the difference is")
    assert "| s4 | 1.000 | 0.250 |" in told
    suite = ElementTree.fromstring((tmp_path / "gate.xml").read_text())
    assert (suite.get("tests"), suite.get("failures")) == ("11", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["is not worse"]


def test_what_a_scenario_is_called_starts_no_markup(tmp_path: Path) -> None:
    report = Report([session("<img src=x> | [a](b) @all", 0.0)])
    report.write(tmp_path / "run.md")
    told = (tmp_path / "run.md").read_text()
    assert "\\<img src=x\\> \\| \\[a\\]\\(b\\) \\@all" in told
    assert "<img" not in told.replace("\\<", "")


UNLIKE: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"course": SessionCourse(user="scripted")},
        {"course": SessionCourse(user="replay")},
        "the users differ in 2 pairs",
    ),
    ({"agent": {"instructions": {"text": "a"}}}, {"agent": {}}, "the agents got other instructions in 2 pairs"),
    ({"course": SessionCourse(digest="1")}, {"course": SessionCourse(digest="2")}, "the scenario was changed"),
]


@each(("a", "b", "said"), UNLIKE)
def test_runs_that_differ_in_more_than_their_agent_are_told_and_refused(
    a: dict[str, Any], b: dict[str, Any], said: str, tmp_path: Path
) -> None:
    one, two = run((1.0, 0.5), **a), run((1.0, 0.5), **b)
    found = one.compare(two)
    assert any(said in told for told in found.unlike)
    assert set(found.unlike) <= set(found.warnings)
    given = [str(kept(tmp_path / "a.json", one)), str(kept(tmp_path / "b.json", two))]
    assert CliRunner().invoke(command, given).exit_code == 0
    assert said in CliRunner().invoke(command, given).stderr
    refused = CliRunner().invoke(command, [*given, "--strict"])
    assert (refused.exit_code, said in refused.output) == (2, True)


def test_other_instances_variants_and_graders_are_told() -> None:
    instances = Report([session("a@1", 1.0)]).compare(Report([session("a@2", 1.0)]))
    assert "other instances of the scenario were played in 1 pair" in instances.unlike
    more = [session("a", 1.0), replace(session("a", 1.0), variant="all_tools")]
    assert "other variants were played: base and all_tools, base" in Report(more[:1]).compare(Report(more)).unlike
    graders = replace(run((1.0,)), grader="sandbox-mcp 0.0.9").compare(run((1.0,)))
    assert graders.unlike[0].startswith("graded by different versions: sandbox-mcp 0.0.9 and")
    assert run((1.0,)).compare(run((1.0,))).unlike == ()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--margin", "0.1"], "--fail-if-worse forgives, which is missing"),
        (["--fail-if-worse", "--across", "variant"], "are of two runs"),
        (["--out", "gate.txt"], "expected a file that ends with .md, .xml, .json"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], told: str, tmp_path: Path) -> None:
    one = str(kept(tmp_path / "a.json", run((1.0,))))
    paths = [one] if "--across" in arguments else [one, one]
    found = CliRunner().invoke(command, [*paths, *arguments])
    assert (found.exit_code, told in found.output) == (2, True)
