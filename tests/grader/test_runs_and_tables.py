"""Runs from folders and from files, compared; and scores as CSV, JUnit and JSON."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.reporting.comparison import compare_graders, holm
from sandbox_grader.reporting.counting import mixed
from sandbox_grader.reporting.grade_logs import read_report
from sandbox_grader.reporting.report import Report

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import LogWriter, read_trajectory
from sandbox_mcp.play.session import Session as LiveSession
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")


def record(folder: Path, *, trial: int = 0, does_it: bool = True, ends: bool = True) -> Path:
    """Play one session of a known scenario and leave its log in ``folder``."""
    import anyio

    path = folder / f"trial{trial}.jsonl"
    with LogWriter(path) as log:
        session = LiveSession(SessionSpec(WIFI_OFF, trial=trial), ScriptedUser(WIFI_OFF.user.script), log)
        session.begin()
        if does_it:
            session.call("set_wifi_status", {"on": False})
        if ends:
            anyio.run(session.say, "Wifi is now off.")
    return path


def find(name: str) -> object:
    return SUITE.get(name)


def invoke(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    return done.exit_code, done.output


def scored_session(scenario: str, **more: object) -> dict[str, object]:
    """One session with a full score as ``grade --json`` prints it."""
    metrics = {"toolsandbox": {"score": 1.0}}
    told = {"id": scenario, "scenario": scenario, "variant": "base", "trial": 0, "scored": True, "metrics": metrics}
    return told | more


VALUES = {"milestones": 1.0, "turn_count": 3, "idle": 0.0, "refusal": 0.0, "corrected": 0.0}


def scores(
    scenario: str = "a",
    score: float = 1.0,
    *,
    session: str = "",
    variant: str = "base",
    trial: int = 0,
    reason: str | None = None,
    details: Sequence[Any] = (),
    **talk: Any,
) -> Scores:
    """One graded session, of ToolTalk too where that has values."""
    verdicts = {"toolsandbox": Verdict({**VALUES, "score": score}, details)}
    if talk:
        verdicts = {"toolsandbox": Verdict(inconclusive="no scenario"), "tooltalk": Verdict(talk)}
    return Scores(session or scenario, scenario, variant, trial, (), "strict", verdicts, reason)


def test_a_report_has_its_score_by_tier_and_by_mechanism() -> None:
    hard = [replace(scores("a", 1.0), tier="hard", mechanisms=("faults", "zones"), course=SessionCourse(calls=30))]
    hard.append(replace(scores("b", 0.0), tier="hard", mechanisms=("zones",), course=SessionCourse(calls=20)))
    report = Report([*hard, replace(scores("c", 1.0), tier="basic"), scores("d", 1.0)], "strict", "run")
    tiers = report.summary()["tiers"]
    assert {name: (item["scenarios"], item["score"]) for name, item in tiers.items()} == {
        "basic": (1, 1),
        "hard": (2, 0.5),
    }
    assert tiers["hard"]["calls"] == 25
    assert {name: item["score"] for name, item in tiers["hard"]["mechanisms"].items()} == {"faults": 1, "zones": 0.5}
    assert Scores.from_json(hard[0].to_json()) == hard[0]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    folder = tmp_path / "good"
    for trial in range(2):
        record(folder, trial=trial)
    return folder


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    folder = tmp_path / "bad"
    record(folder, trial=0, does_it=False)
    record(folder, trial=1)
    return folder


def test_a_folder_and_its_scores_are_the_same_run(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.json"
    assert invoke("grade", good, "--out", out)[0] == 0
    again = read_report(out, find)
    assert again.counted == read_report(good, find).counted
    written = json.loads(out.read_text())
    assert again.to_json() == {**written, "bounds": None}, "floor and ceiling are measured anew where they are shown"


def test_certainty_names_what_flips(bad: Path) -> None:
    found = read_report(bad, find).summary()
    assert found["flaky"] == ["wifi_off/base"]
    assert found["pass@2"]["mean"] == 1.0
    assert found["pass^2"]["mean"] == 0.0


def test_compare_says_which_run_is_better(good: Path, bad: Path) -> None:
    code, output = invoke("compare", bad, good, "--json")
    found = json.loads(output)
    assert code == 0
    assert found["difference"]["mean"] == pytest.approx(0.5)
    assert found["higher"] == ["wifi_off"]


def test_compare_prints_a_table(good: Path, bad: Path) -> None:
    code, output = invoke("compare", bad, good)
    assert code == 0
    assert "one scenario, no interval" in output
    assert "McNemar p = 1" in output


def test_compare_says_where_nothing_varied(tmp_path: Path) -> None:
    sessions = [scored_session(name) for name in ("a", "b")]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"mode": "strict", "sessions": sessions}))
    assert json.loads(invoke("compare", path, path, "--json")[1])["smallest_detectable"] is None
    assert "nothing varied from scenario to scenario, so the smallest difference" in invoke("compare", path, path)[1]


def test_sessions_of_only_one_run_are_told(good: Path, bad: Path) -> None:
    record(good, trial=2)
    _, output = invoke("compare", bad, good)
    assert "compared: 2 sessions of 1 scenario that both played" in output
    assert "left out: 1 session of 1 scenario that only B has" in output


def test_runs_of_different_modes_are_told() -> None:
    found = Report([scores("a")]).compare(Report([scores("a")], "compat"))
    assert list(found.warnings) == ["graded in different modes: strict and compat"]


def test_two_gradings_of_one_run_show_what_flipped_and_why() -> None:
    old = Report([scores("a", details=[{"said": "met"}]), scores("b")])
    new = Report([scores("a", 0.5, details=[{"said": "missed"}]), scores("b")])
    changed = {"id": "a", "old": 1.0, "new": 0.5, "gone": ['{"said": "met"}'], "come": ['{"said": "missed"}']}
    assert compare_graders(old, new) == [changed]


def test_reports_without_a_name_are_called_by_their_places() -> None:
    with pytest.raises(GraderError, match=r"^A and B cannot be compared: they have no session in common"):
        Report().compare(Report())
    with pytest.raises(GraderError, match=r"^A and B cannot be compared: B has 'a/base', trial 0, twice"):
        Report([scores("a")]).compare(Report([scores("a"), scores("a", 0.5)]))


def test_gradings_of_different_runs_are_refused() -> None:
    with pytest.raises(GraderError, match="not two gradings of one run: a in only one"):
        compare_graders(Report([scores("a")]), Report())
    with pytest.raises(GraderError, match="new has session 'a' 2 times; grade each run by itself"):
        compare_graders(Report([scores("a")]), Report([scores("a"), scores("a", 0.5)], name="new"))


def test_scores_of_a_folder_with_an_unreadable_log_say_so_when_compared(good: Path, tmp_path: Path) -> None:
    (good / "broken.jsonl").write_text("hello\n")
    out = tmp_path / "scores.json"
    assert invoke("grade", good, "--out", out)[0] == 2
    (warning,) = read_report(out, find).warnings
    assert "is not a trajectory log: not JSON" in warning


@each("text", ["[]", "[" * 100_000, json.dumps({"mode": "strict", "sessions": [scored_session("a", agent="x")]})])
def test_a_file_without_scores_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.json"
    path.write_text(text)
    with pytest.raises(GraderError, match="holds no scores; expected what 'grade --json' prints"):
        read_report(path, find)


def test_a_threshold_that_is_missed_gives_exit_code_1(bad: Path) -> None:
    code, output = invoke("grade", bad, "--threshold", "0.9")
    assert code == 1
    assert "threshold 0.9 missed: the mean toolsandbox.score is 0.500, 0.400 below it" in output


def test_a_threshold_that_is_met_gives_exit_code_0(good: Path) -> None:
    assert invoke("grade", good, "--threshold", "0.9")[0] == 0


def test_csv_has_a_row_per_session(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    invoke("grade", good, "--out", out)
    table = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["toolsandbox.score"] for row in table] == ["1.0", "1.0"]
    assert table[0]["scenario"] == "wifi_off"


def test_junit_fails_what_did_not_score_fully(bad: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.xml"
    invoke("grade", bad, "--out", out)
    suite = ElementTree.parse(out).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")


def test_junit_says_how_long_each_session_took(tmp_path: Path) -> None:
    (log,) = (record(tmp_path),)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line, time in ((lines[0], 1000.0), (lines[-1], 1002.5)):
        line["wall"] = {"time": time}
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    invoke("grade", tmp_path, "--out", tmp_path / "scores.xml")
    suite = ElementTree.fromstring((tmp_path / "scores.xml").read_text())
    assert (suite.get("time"), [case.get("time") for case in suite]) == ("2.500", ["2.500"])


@each("times", [(1000.0, 900.0), (None, 5.0), (0.0, 1e300), ("noon", 2.0)])
def test_real_times_that_cannot_be_are_not_told(times: tuple[Any, Any], tmp_path: Path) -> None:
    log = record(tmp_path)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lines[0]["wall"], lines[-1]["wall"] = ({} if time is None else {"time": time} for time in times)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert grade(read_trajectory(log), WIFI_OFF).seconds is None


def test_junit_skips_what_was_not_scored(tmp_path: Path) -> None:
    record(tmp_path / "logs", ends=False)
    out = tmp_path / "scores.xml"
    invoke("grade", tmp_path / "logs", "--out", out)
    assert ElementTree.parse(out).getroot().get("skipped") == "1"


def test_parquet_holds_the_same_rows(good: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the parquet extra is not installed")
    out = tmp_path / "scores.parquet"
    invoke("grade", good, "--out", out)
    assert parquet.read_table(out).column("toolsandbox.score").to_pylist() == [1.0, 1.0]


@each("other", ["text", 10**30])
def test_a_column_that_parquet_cannot_hold_is_named(tmp_path: Path, other: Any) -> None:
    pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
    mixed = [replace(scores(name), verdicts={"own": Verdict({"x": value})}) for name, value in (("a", 1), ("b", other))]
    with pytest.raises(GraderError, match=r"column 'own\.x' has values of several kinds, or numbers too long"):
        Report(mixed).write(tmp_path / "new" / "x.parquet")
    assert not (tmp_path / "new").exists()


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match=r"expected a file that ends with \.json, \.csv, \.xml"):
        Report().write(tmp_path / "scores.txt")


def test_junit_holds_whatever_a_broken_agent_wrote(good: Path, tmp_path: Path) -> None:
    [log, *_] = sorted(good.iterdir())
    *lines, end = log.read_text().splitlines()
    broken = {**json.loads(end), "reason": "agent_failed", "detail": "\x1b[31mno\x00 \ufffe model\x1b[0m"}
    log.write_text("\n".join([*lines, json.dumps(broken)]) + "\n")
    code, _ = invoke("grade", log, "--out", tmp_path / "scores.xml")
    [skipped] = ElementTree.fromstring((tmp_path / "scores.xml").read_text()).iter("skipped")
    assert (code, "[31mno  model[0m" in skipped.attrib["message"]) == (0, True)


def test_two_sessions_of_the_same_place_are_refused() -> None:
    twice = Report([scores("x"), scores("x", 0.0, session="s2")])
    with pytest.raises(GraderError, match="has 'x/base', trial 0, twice"):
        twice.compare(Report([scores("x")]))


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    session = {**scored_session("x"), "metrics": {"toolsandbox": {"score": "1.0"}}}
    (tmp_path / "scores.json").write_text(json.dumps({"mode": "strict", "sessions": [session]}))
    with pytest.raises(GraderError, match=r"the score '1\.0' is not a number"):
        read_report(tmp_path / "scores.json", find)


# one pipeline


def fifteen(variants: Sequence[str] = ("base", "all_tools"), *, right: int = 7, count: int = 15) -> Report:
    """Scenarios whose variants go the same way, ``right`` of them well."""
    return Report(
        [scores(f"s{i:02}", float(i < right), session=f"s{i}{v}", variant=v) for i in range(count) for v in variants]
    )


def test_variants_add_no_certainty_wherever_the_interval_is_told(tmp_path: Path) -> None:
    one, two = fifteen(("base",)), fifteen()
    two.write(tmp_path / "two.json")
    found = json.loads(invoke("compare", tmp_path / "two.json", tmp_path / "two.json", "--json")[1])
    assert two.interval == one.interval
    assert (found["a"]["toolsandbox.score"]["clusters"], found["difference"]["clusters"]) == (15, 15)
    assert found["a"]["toolsandbox.score"] == pytest.approx(two.summary()["estimate"])


def test_a_run_and_grade_tell_the_same_interval(tmp_path: Path) -> None:
    names = ("wifi_off", "forget_number_no_removal", "landlord_number")
    options = ("--variant", "base", "--variant", "all_tools", "--transport", "direct", "--out", tmp_path / "run")
    ran = json.loads(
        CliRunner().invoke(group, ["run", *names, "--agent", "refuse", *map(str, options), "--json"]).stdout
    )
    graded = json.loads(CliRunner().invoke(group, ["grade", str(tmp_path / "run"), "--json"]).stdout)
    assert ran["estimate"] == graded["estimate"]
    assert ran["estimate"]["clusters"] == 3


def test_only_what_both_played_is_compared() -> None:
    small, large = fifteen(("base",), count=4, right=4), fifteen(("base",), right=2)
    found = small.compare(large)
    assert (found.a.score, found.b.score, found.difference) == (1.0, 0.5, -0.5)
    assert found.found.only_a == 2
    assert found.left_out == ("11 sessions of 11 scenarios that only B has",)


def test_what_one_of_them_did_not_score_is_left_out_and_said() -> None:
    found = Report([scores("a"), scores("b", reason="incomplete")]).compare(Report([scores("a"), scores("b")]))
    assert found.left_out == ("1 session of 1 scenario that one of them did not score",)


def test_a_run_is_compared_across_its_variants() -> None:
    sessions = [*fifteen(("base",), right=15).sessions, *fifteen(("terse_errors", "free_text"), right=5).sessions]
    found = {item.b.name: item for item in Report(sessions).across_variants()}
    assert {name: (item.a.name, round(item.difference, 6)) for name, item in found.items()} == {
        "free_text": ("base", round(-2 / 3, 6)),
        "terse_errors": ("base", round(-2 / 3, 6)),
    }


def test_the_command_compares_across_variants(tmp_path: Path) -> None:
    fifteen().write(tmp_path / "run.json")
    code, output = invoke("compare", tmp_path / "run.json", "--across", "variant")
    assert code == 0
    assert "A: base" in output
    assert "B: all_tools" in output


def test_one_variant_cannot_be_compared_across() -> None:
    with pytest.raises(GraderError, match="has one variant only: base"):
        fifteen(("base",)).across_variants()


def test_imported_runs_are_compared_by_the_metric_that_is_asked_for(tmp_path: Path) -> None:
    for name, success in (("a", True), ("b", False)):
        graded = [scores(f"tooltalk/{i}", success=success, recall=0.5).to_json() for i in range(3)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"mode": "strict", "sessions": graded}))
    files = (tmp_path / "a.json", tmp_path / "b.json")
    assert "no session in common with a toolsandbox.score" in str(
        CliRunner().invoke(group, ["compare", *map(str, files)]).exception
    )
    found = json.loads(invoke("compare", *files, "--metric", "tooltalk.success", "--json")[1])
    assert (found["difference"]["mean"], found["mcnemar"]["only_a"]) == (-1.0, 3)


def test_no_difference_beyond_what_shares_can_differ_by_is_told() -> None:
    a, b = (
        Report([scores("a", 1.0, session=f"{name}a"), scores("b", score, session=f"{name}b")])
        for name, score in (("a", 0.0), ("b", 1.0))
    )
    assert "these are too few scenarios to have found any difference" in str(a.compare(b))


@each(
    ("metric", "told"),
    [
        ("tooltalk.sucess", "tooltalk.recall, tooltalk.success"),
        ("recall", "tooltalk.recall"),
        ("talk.recall", "tooltalk.recall"),
        ("bleu.score", "those of tooltalk, as FAMILY.NAME"),
        ("tooltalk.how", "tooltalk.recall, tooltalk.success"),
    ],
)
def test_an_unknown_metric_is_named_with_those_there_are(metric: str, told: str) -> None:
    with pytest.raises(GraderError) as caught:
        _ = Report([scores(success=True, recall=0.5, how="exactly")], metric=metric).score
    assert str(caught.value) == f"unknown metric {metric!r}; these sessions have {told}"


def test_what_grade_takes_together_is_told(good: Path, bad: Path) -> None:
    done = CliRunner().invoke(group, ["grade", str(good), str(bad), "--json", "--no-bounds"])
    [again] = json.loads(done.stdout)["warnings"]
    assert again.startswith("2 sessions with scenario, variant, trial and agent of another one")
    assert again in done.stderr
    several = [replace(scores(session=name), agent={"name": "mine", "model": name}) for name in ("m-1", "m-2")]
    [agents] = mixed(several)
    assert agents.startswith("sessions of 2 agents are taken together here (mine (m-1): 1, mine (m-2): 1)")
    assert mixed([scores(trial=trial) for trial in range(3)]) == []


def test_passing_follows_the_metric() -> None:
    report = Report([scores(trial=i, session=str(i), success=i < 2) for i in range(4)], metric="tooltalk.success")
    assert (report.score, report.pass_k(2).mean, report.pass_at(4).mean) == (0.5, pytest.approx(1 / 6), 1.0)


# thresholds


def test_a_threshold_is_held_against_the_mean_unless_told_otherwise() -> None:
    report = fifteen(right=9)
    assert report.missed(0.6) is None
    assert "the lower end of the 95 % interval of toolsandbox.score is 0.319, 0.281 below it" in str(
        report.missed(0.6, "low")
    )


def test_with_a_threshold_every_session_must_be_scored() -> None:
    report = Report([scores("a"), scores("b", reason="incomplete")])
    assert report.missed(0.5) == "threshold 0.5 missed: 1 session could not be scored"


def test_without_any_score_a_threshold_is_missed() -> None:
    assert (
        Report([scores(recall=1.0)]).missed(0) == "threshold 0 missed: no session has a toolsandbox.score that counts"
    )


def test_where_the_score_says_nothing_another_metric_is_named() -> None:
    imported = Report([scores(success=True)])
    other = "a toolsandbox.score that counts; another metric can be named, such as tooltalk.success"
    assert imported.missed(0) == f"threshold 0 missed: no session has {other}"
    with pytest.raises(
        GraderError, match=r"and that was scored; another metric can be named, such as tooltalk.success$"
    ):
        imported.compare(imported)


@each(
    ("reached", "told"),
    [
        (0.8998, "0.89980, 0.00020 below it"),
        (0.89, "0.890, 0.010 below it"),
        (0.8999999, "0.89999990, 0.00000010 below"),
    ],
)
def test_what_is_missed_by_little_is_told_in_as_many_digits_as_it_takes(reached: float, told: str) -> None:
    assert told in str(Report([scores("a", reached)]).missed(0.9))


def test_a_report_is_compared_with_a_report() -> None:
    with pytest.raises(GraderError, match=r"^compare takes a Report, such as evaluate\(...\) returns; got NoneType$"):
        Report([scores("a")]).compare(None)  # type: ignore[arg-type]


@each(("threshold", "failures"), [("0.4", "1"), ("1", "2"), ("0", "0")])
def test_junit_follows_the_threshold(tmp_path: Path, threshold: str, failures: str) -> None:
    report = Report([scores("a"), scores("b", 0.5), scores("c", 0.1)])
    report.write(tmp_path / "scores.xml", float(threshold))
    assert ElementTree.parse(tmp_path / "scores.xml").getroot().get("failures") == failures


def test_grade_prints_and_stores_pass_at_k_and_pass_hat_k(bad: Path, tmp_path: Path) -> None:
    _, output = invoke("grade", bad, "--out", tmp_path / "scores.json")
    assert "pass@2  1.000" in output
    assert "pass^2  0.000" in output
    assert json.loads((tmp_path / "scores.json").read_text())["pass^2"]["mean"] == 0.0


def test_several_runs_are_compared_with_the_first(good: Path, bad: Path) -> None:
    code, out = invoke("compare", good, bad, bad)
    rows = [line for line in out.splitlines() if line.startswith(str(bad))]
    assert (code, len(rows)) == (0, 2)
    found = json.loads(invoke("compare", good, bad, bad, "--json")[1])
    assert [item["b"]["run"] for item in found] == [str(bad)] * 2
    assert all(item["p_holm"] >= item["mcnemar"]["p"] for item in found)


@pytest.mark.parametrize("arguments", [["--across", "variant"], ["--graders"]])
def test_what_takes_one_run_or_two_says_so(arguments: list[str], good: Path) -> None:
    code, out = invoke("compare", good, good, good, *arguments)
    assert (code, "compare takes two runs or more" in out) == (2, True)


@given(st.lists(st.floats(0, 1), max_size=9))
def test_adjusted_p_values_keep_their_order_and_are_never_smaller(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    assert [adjusted[i] for i in sorted(range(len(p_values)), key=p_values.__getitem__)] == sorted(adjusted)


def test_holm_multiplies_the_smallest_by_the_number_of_tests() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_a_run_writes_what_a_ci_system_shows(tmp_path: Path) -> None:
    place = tmp_path / "scores.xml"
    code, _ = invoke("run", "wifi_off", "--agent", "reference", "--out", tmp_path / "run", "--scores", place)
    [case] = ElementTree.fromstring(place.read_text())
    assert (code, case.get("classname")) == (0, "wifi_off")
    assert float(case.get("time") or 0) > 0


def test_a_file_of_scores_of_unknown_form_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    place = str(tmp_path / "run")
    done = CliRunner().invoke(group, ["run", "wifi_off", "--agent", "reference", "--out", place, "--scores", "x.txt"])
    assert ("ends with .json, .csv, .xml" in str(done.exception), (tmp_path / "run").exists()) == (True, False)
