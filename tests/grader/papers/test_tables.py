"""The papers' tables: the engine's laws, and MTU-Bench's figures from the responses that were published."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.importers import importer
from sandbox_grader.papers import PAPERS, paper_tables
from sandbox_grader.papers.shared.figures import (
    MeanOfColumns,
    MetricMean,
    MostFrequent,
    ObservedMean,
    PairedGain,
    Total,
)
from sandbox_grader.papers.shared.forms import FORMS
from sandbox_grader.papers.shared.table import LabelledRun, PaperColumn, PaperTable, published
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.statistics import clustered_mean, mean_of_means

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import parse_trajectory, to_line
from tests.each import each

SHARES = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=4)
ALL = [table for paper in PAPERS for table in paper_tables(paper)]


def scores(scenario: str, value: float, trial: int = 0, variant: str = "base", model: str = "m", **more: Any) -> Scores:
    verdicts = {"own": Verdict({"score": value}, [{"value": value}, {"value": 1.0}])}
    return Scores(scenario, scenario, variant, trial, (), "compat", verdicts, agent={"model": model}, **more)


def run(*sessions: Scores, label: str = "") -> LabelledRun:
    return LabelledRun(Report(list(sessions), "compat", "a run"), label)


MEAN = PaperColumn("score", MetricMean("own.score"), never="nothing can")
TABLE = PaperTable("own", "t", "a table | of ours", (MEAN,), "a run", "play it", printed=False)


@given(st.dictionaries(st.text(max_size=3), SHARES, min_size=2, max_size=6))
def test_the_mean_of_one_mean_is_that_mean(values: dict[str, list[float]]) -> None:
    one, other = mean_of_means([values]), clustered_mean(values)
    assert [one.mean, one.low, one.high] == pytest.approx([other.mean, other.low, other.high], abs=1e-9)


@given(st.dictionaries(st.text(max_size=3), SHARES, min_size=2, max_size=6))
def test_averaging_a_column_with_itself_adds_no_certainty(values: dict[str, list[float]]) -> None:
    one, twice = mean_of_means([values]), mean_of_means([values, values])
    assert [twice.low, twice.high] == pytest.approx([one.low, one.high], abs=1e-9)


def test_columns_over_other_dialogues_are_more_certain_together() -> None:
    one, other = {"a": [0.0], "b": [1.0]}, {"c": [0.0], "d": [1.0]}
    apart, together = mean_of_means([one, other]), mean_of_means([one, {"a": [0.0], "b": [1.0]}])
    assert apart.high is not None
    assert together.high is not None
    assert apart.high < together.high


def test_an_average_wants_all_of_its_columns() -> None:
    full, empty = ObservedMean(lambda _: [0.5]), ObservedMean(lambda _: [])
    assert MeanOfColumns((full, empty)).of([scores("a", 1)]) is None
    assert MeanOfColumns((full, full)).of([scores("a", 1)]) is not None


def test_what_is_gained_is_paired_by_scenario() -> None:
    gain = PairedGain("own.score", lambda s: s.variant == "base", lambda s: s.variant == "other")
    found = gain.of([scores("a", 0.2), scores("a", 0.7, variant="other"), scores("b", 1.0)])
    assert found is not None
    assert (found.mean, found.sessions) == (pytest.approx(0.5), 1)


def test_a_session_that_is_not_scored_contributes_nothing() -> None:
    assert MetricMean("own.score").of([scores("a", 1.0, reason="it broke")]) is None


def test_a_total_of_nothing_is_not_known() -> None:
    assert Total(lambda _: []).of([scores("a", 1.0)]) is None


def test_runs_of_one_model_are_one_row_and_a_label_makes_one() -> None:
    filled = TABLE.filled([run(scores("a", 1.0)), run(scores("b", 0.0)), run(scores("a", 0.5), label="mine")])
    assert [(row.label, row.cells[0].found and row.cells[0].found.mean) for row in filled.rows] == [
        ("m", 0.5),
        ("mine", 0.5),
    ]


def test_without_runs_every_cell_is_missing() -> None:
    assert [str(missing) for missing in TABLE.filled([]).missing] == ["every row: score: nothing can"]


def test_a_column_that_may_be_missing_stays_where_the_paper_has_figures() -> None:
    (table,) = paper_tables("mtu-bench/table7")
    assert [column.name for column in table.filled([]).table.columns][:2] == ["normal", "hard"]
    maybe = PaperColumn("more", MetricMean("own.more"), optional=True)
    assert replace(TABLE, columns=(MEAN, maybe)).filled([run(scores("a", 1.0))]).table.columns == (MEAN,)


@each("form", FORMS)
def test_no_form_lets_a_text_out_of_its_cell(form: str) -> None:
    odd = "=<b>|&\n_"
    table = replace(TABLE, columns=(MEAN, PaperColumn("why", MostFrequent(lambda _: (odd,)))))
    text = FORMS[form]([table.filled([run(scores("a", 1.0), label=odd)])])
    safe = {
        "md": r"=<b>\|&\n_",
        "csv": "'=<b>|&\n_",
        "html": r"=&lt;b&gt;|&amp;\n_",
        "latex": r"|\&\textbackslash{}n\_",
    }
    assert text.count(safe[form]) == (2 if form != "csv" else 3), "as a label, and as what stands in a column"


def test_a_csv_has_a_line_for_every_cell() -> None:
    text = FORMS["csv"]([TABLE.filled([run(scores("a", 1.0), scores("b", 0.0))])])
    (line,) = csv.DictReader(io.StringIO(text))
    assert (line["table"], line["row"], line["column"], line["value"]) == ("own/t", "m", "score", "50.0")


@each("table", ALL, ids=lambda table: table.asked)
def test_every_printed_figure_has_a_column(table: PaperTable) -> None:
    columns = [column.name for column in table.columns]
    assert len(set(columns)) == len(columns)
    for row in table.published.values():
        assert not row.keys() - set(columns)


@each("table", ALL, ids=lambda table: table.asked)
def test_every_table_says_what_fills_it(table: PaperTable) -> None:
    assert table.needs
    assert all(column.never or (column.command or table.command).startswith("sandbox-mcp ") for column in table.columns)


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(GraderError, match="unknown paper 'gaia'; known: "):
        paper_tables("gaia")
    with pytest.raises(GraderError, match="mtu-bench has no table 'table1'; known: table2"):
        paper_tables("mtu-bench/table1")


# -- MTU-Bench ----------------------------------------------------------------------------------------------------


SETTINGS = ("S-S", "S-M", "M-S", "M-M")


def published_files(data: Path, setting: str) -> list[Path]:
    folder = data / "mtu_bench"
    return [folder / f"benchmark/{setting}_eval.jsonl", folder / f"responses/{setting}_gpt4_response.jsonl"]


@pytest.fixture(scope="module")
def gpt4(benchmark_data: Path) -> dict[str, Any]:
    """The filled tables of the published responses, by name."""
    sessions = [
        grade(parse_trajectory("".join(map(to_line, found.events)).encode()), None, "compat", metrics=["mtu_bench"])
        for setting in SETTINGS
        for found in importer("mtu")(published_files(benchmark_data, setting))
    ]
    return {table.name: table.filled([run(*sessions)]).to_json() for table in paper_tables("mtu-bench")}


def test_the_command_prints_what_is_in_a_folder(benchmark_data: Path, tmp_path: Path) -> None:
    files = map(str, published_files(benchmark_data, "S-M"))
    assert CliRunner().invoke(group, ["import", "mtu", *files, "-o", str(tmp_path)]).exit_code == 0
    done = CliRunner().invoke(group, ["table", "mtu-bench/table10", f"GPT-4={tmp_path}", "--quiet"])
    assert "| GPT-4 | 57.77 [47.24, 68.30] (paper 57.77) | 58.37 [47.77, 68.98] (paper 58.37) |" in done.stdout


def values(table: Any) -> dict[str, Any]:
    (row,) = table["rows"]
    return {name: cell["value"] for name, cell in row["cells"].items()}


def test_the_hard_rows_are_those_that_the_paper_prints(gpt4: dict[str, Any]) -> None:
    for name in ("table9", "table10"):
        printed = published("mtu-bench", name)["GPT-4"]
        found = {column: value for column, value in values(gpt4[name]).items() if value is not None}
        assert found
        assert found == {column: printed[column] for column in found}


def test_all_rows_are_what_the_original_scorer_says(gpt4: dict[str, Any], benchmark_data: Path) -> None:
    oracle = json.loads((benchmark_data / "mtu_bench/oracle/gpt4_parser_crash_is_no_call.json").read_text())
    found = values(gpt4["all"])
    for setting in SETTINGS:
        figures = oracle[setting]["metrics"]
        wanted = {f"{setting} {name}": value for name, value in figures.items() if name.isupper()}
        wanted[f"{setting} Avg."] = figures["average"]
        assert {name: found[name] for name in wanted} == wanted


def test_cells_that_cannot_be_filled_say_why(gpt4: dict[str, Any]) -> None:
    (missing,) = gpt4["table9"]["missing"]
    assert "do not say which dialogues are hard" in missing["why"]
    assert [missing["command"].split()[3] for missing in gpt4["all"]["missing"]] == ["OOD_eval.jsonl"]


def test_errors_of_each_class_are_counted(gpt4: dict[str, Any]) -> None:
    found = values(gpt4["table14"])
    assert [found[f"S-M {name}"] for name in ("missed", "excessive", "incorrect", "action sum")] == [8, 6, 4, 18]
    assert [found[f"M-M {name}"] for name in ("missed", "excessive", "parameter", "format", "sum")] == [
        17,
        28,
        43,
        1,
        94,
    ]


def test_figures_by_length_take_every_turn_once(gpt4: dict[str, Any]) -> None:
    (row,) = gpt4["figure5b"]["rows"]
    assert sum(cell.get("observations", 0) for cell in row["cells"].values()) == 94 + 121


def test_the_data_are_described_setting_by_setting(gpt4: dict[str, Any]) -> None:
    rows = {row["row"]: row["cells"] for row in gpt4["table7"]["rows"]}
    assert [rows[setting]["dialogues"]["value"] for setting in SETTINGS] == [104, 94, 85, 80]
    assert [rows[setting]["turns"]["value"] for setting in SETTINGS] == [104, 94, 473, 266]
    assert [rows["S-M"][part]["value"] for part in ("normal", "hard")] == [55, 39]
    assert [rows["S-M"][part]["printed"] for part in ("normal", "hard")] == [55, 39]
    assert rows["M-M"]["hard"]["value"] is None
    assert rows["S-S"]["turns without a call %"]["value"] == 25.0
    assert rows["S-M"]["calls wanted per turn"]["value"] == round(315 / 94, 2)


def test_sizes_are_read_from_a_models_name() -> None:
    (table,) = paper_tables("mtu-bench/figure6")
    names = ("Llama-2-13B", "qwen2.5-0.5b-instruct", "gpt-4")
    filled = table.filled([run(scores("a", 1.0, model=name)) for name in names])
    assert [row.cells[0].found and row.cells[0].found.mean for row in filled.rows] == [13.0, 0.5, None]


@each("mode", ["compat", "strict"])
def test_of_another_benchmarks_turns_the_first_call_is_scored(mode: Any) -> None:
    def calls(*names: str) -> Any:
        return {n: {} for n in names} if mode == "compat" else [{"tool": n, "arguments": {}} for n in names]

    turns = [
        {"pred": calls("a", "x"), "gt": calls("a", "b"), "right": False},
        {"pred": calls(), "gt": calls(), "right": True},
        {"pred": calls("x"), "gt": calls(), "right": False},
    ]
    verdict = Verdict({"setting": "M-M"}, turns)
    found = Scores("s", "s", "base", 0, (), mode, {"mtu_bench": verdict}, agent={"model": "m"}, origin="tooltalk")
    (table,) = paper_tables("mtu-bench/table5")
    (row,) = table.filled([run(found)]).rows
    figures = {c.name: cell.found.mean for c, cell in zip(table.columns, row.cells, strict=True) if cell.found}
    assert figures["ToolTalk TS"] == pytest.approx(2 / 3)
    assert figures["ToolTalk TPR"] == pytest.approx(2 / 3)
    assert not any(name.startswith(("OOD", "API-Bank")) for name in figures)


def test_dialogues_that_were_not_scored_make_none_shorter() -> None:
    rows = [{"id": f"row {turn}", "gt": ["f()"]} for turn in range(3)]
    whole = {"mtu_bench": Verdict({"setting": "M-S"}, rows)}
    told, course = replace(scores("a", 1.0), verdicts=whole), SessionCourse(tools=8)
    broke = replace(told, scenario="b", reason="it broke", course=SessionCourse(tools=2))
    (table,) = paper_tables("mtu-bench/table7")
    [row] = table.filled([run(replace(told, course=course), broke)]).to_json()["rows"]
    assert {name: row["cells"][name]["value"] for name in ("turns per dialogue", "tools offered")} == {
        "turns per dialogue": 3,
        "tools offered": 8,
    }
