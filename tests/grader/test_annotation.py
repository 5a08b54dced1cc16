"""Agreement of people with each other and with metrics: the figures, on examples that can be checked by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.annotation import AnnotatedSheet, agreements, cohens_kappa, correlation, read_sheet
from sandbox_grader.errors import GraderError

from tests.each import each

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


def test_a_sheet_saved_by_a_spreadsheet_with_semicolons_is_read(tmp_path: Path) -> None:
    (tmp_path / "ana.csv").write_text("\ufeffid;success;quality\nabc;Yes;7,5\n", encoding="utf-8")
    assert read_sheet(tmp_path / "ana.csv").answers == {"success": {"abc": "yes"}, "quality": {"abc": "7,5"}}


@each(
    ("text", "told"),
    [("", "has no column 'id'"), ("name\nx\n", "has no column 'id'"), ("id,a\nx,1\nx,2\n", "two answers in 'a'")],
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(GraderError, match=told):
        read_sheet(tmp_path / "sheet.csv")
