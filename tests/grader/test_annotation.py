"""Agreement of people with each other and with metrics: the figures, on examples that can be checked by hand."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.reporting.annotation import AnnotatedSheet, agreements, read_sheet, session_key
from sandbox_grader.reporting.statistics import cohens_kappa, correlation

from tests.each import each
from tests.grader.milestones.sessions import Play

pairs = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(-50, 50)).map(lambda p: (float(p[0]), float(p[1]))), max_size=30
)


def test_kappa_of_cohens_kind_of_table() -> None:
    # 20 times both yes, 15 both no, 5 and 10 times only one of them: observed 0.7, expected 0.5
    table = [("y", "y")] * 20 + [("n", "n")] * 15 + [("y", "n")] * 5 + [("n", "y")] * 10
    assert cohens_kappa(table) == pytest.approx(0.4)


def test_kappa_knows_nothing_where_both_always_say_the_same() -> None:
    assert cohens_kappa([("y", "y")] * 5) is None


@given(pairs)
def test_the_correlation_is_that_of_scipy(numbers: list[tuple[float, float]]) -> None:
    from scipy.stats import pearsonr

    r, low, high = correlation(numbers)
    if r is None:
        assert len(numbers) < 2 or len({x for x, _ in numbers}) == 1 or len({y for _, y in numbers}) == 1
        return
    expected = pearsonr([x for x, _ in numbers], [y for _, y in numbers])
    assert r == pytest.approx(float(expected.statistic), abs=1e-9)
    if low is not None:
        interval = expected.confidence_interval()
        assert (low, high) == (
            pytest.approx(float(interval.low), abs=1e-9),
            pytest.approx(float(interval.high), abs=1e-9),
        )


@each("same", [0.0, 0.1, 1 / 3])
def test_nothing_goes_with_what_never_changes(same: float) -> None:
    never = [(same, float(other)) for other in (1, 2, 5)] + [(same + same * 1e-16, 3.0)]
    assert correlation(never) == correlation([(y, x) for x, y in never]) == (None, None, None)


@given(pairs)
def test_agreement_is_the_same_from_both_sides(numbers: list[tuple[float, float]]) -> None:
    other = [(y, x) for x, y in numbers]
    assert correlation(other)[0] == pytest.approx(correlation(numbers)[0])
    assert cohens_kappa(other) == pytest.approx(cohens_kappa(numbers))


def test_yes_and_1_are_one_answer_and_what_is_empty_does_not_count() -> None:
    one = AnnotatedSheet("ana", {"success": {"s1": "yes", "s2": "no", "s3": "yes"}})
    other = AnnotatedSheet("bo", {"success": {"s1": "1", "s2": "0"}})
    [found] = agreements([one, other], {}, {})
    assert (found.n, found.share, found.kappa, found.pearson) == (2, 1.0, 1.0, pytest.approx(1.0))


@each("odd", ["1e300", "inf", "nan", "a lot"])
def test_a_number_beyond_any_answer_is_a_word(odd: str) -> None:
    [found] = agreements([AnnotatedSheet(rater, {"quality": {"s1": odd, "s2": "2"}}) for rater in "ab"], {}, {})
    assert (found.n, found.share, found.pearson) == (2, 1.0, None)


def test_a_sheet_saved_by_a_spreadsheet_with_semicolons_is_read(tmp_path: Path) -> None:
    long = "a line of a conversation\n" * 8_000
    told = f'\ufeffid;conversation;success;quality\nabc;"{long}";Yes;7,5\n'
    (tmp_path / "ana.csv").write_text(told, encoding="utf-8")
    assert read_sheet(tmp_path / "ana.csv").answers == {"success": {"abc": "yes"}, "quality": {"abc": "7,5"}}


@each(
    ("text", "told"),
    [
        ("", "has no column 'id'"),
        ("name\nx\n", "has no column 'id'"),
        ("id,a\nx,1\nx,2\n", "two answers in 'a'"),
        ("id,a\n,\n,1\n", "'1' in 'a' is said of no session: its row has no 'id'"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(GraderError, match=told):
        read_sheet(tmp_path / "sheet.csv")


def test_a_sheet_of_no_sessions_has_no_answers(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("id,scenario,success,comment\n")
    assert read_sheet(tmp_path / "sheet.csv").answers == {}


def test_a_session_is_called_alike_wherever_its_log_lies_and_never_like_a_number() -> None:
    log = Play().says("Done.").done()
    assert session_key(log) == session_key(replace(log, path="elsewhere"))
    assert re.fullmatch("s[0-9a-f]{12}", session_key(log))
    with pytest.raises(GraderError, match=r"^odd\.jsonl: it holds a number that JSON cannot"):
        session_key(replace(log, path="odd.jsonl", events=(replace(log.events[0], clock=float("inf")),)))
