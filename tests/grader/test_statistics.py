"""Statistics: against formulas worked by hand, and against scipy on the cases it covers."""

import math
import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.reporting.statistics import (
    Estimate,
    PairedDifference,
    ScoredSession,
    clustered_mean,
    compare,
    flaky,
    mean_score,
    pass_at,
    pass_hat,
)

from tests.each import each

SCORES = st.floats(0, 1, allow_nan=False)


def paired(a: list[ScoredSession], b: list[ScoredSession]) -> PairedDifference:
    known = {(session.scenario, session.trial): session for session in b}
    keys = [(session, (session.scenario, session.trial)) for session in a]
    return compare([(session, known[key]) for session, key in keys if key in known])


def run(**scores: list[float]) -> list[ScoredSession]:
    return [ScoredSession(name, trial, score) for name, values in scores.items() for trial, score in enumerate(values)]


@given(st.lists(SCORES, min_size=2, max_size=30))
def test_with_one_trial_each_the_interval_is_students(values: list[float]) -> None:
    from scipy import stats

    found = clustered_mean({str(i): [value] for i, value in enumerate(values)})
    error = statistics.stdev(values) / math.sqrt(len(values))
    reach = stats.t.ppf(0.975, len(values) - 1) * error
    assert found.mean == pytest.approx(statistics.fmean(values))
    assert found.low == pytest.approx(found.mean - reach, abs=1e-9)
    assert found.high == pytest.approx(found.mean + reach, abs=1e-9)


@given(st.lists(SCORES, min_size=2, max_size=10), st.integers(2, 5))
def test_repeating_equal_trials_adds_no_certainty(values: list[float], times: int) -> None:
    once = clustered_mean({str(i): [value] for i, value in enumerate(values)})
    often = clustered_mean({str(i): [value] * times for i, value in enumerate(values)})
    assert often.low == pytest.approx(once.low, abs=1e-9)


def test_one_scenario_has_no_interval() -> None:
    assert mean_score(run(a=[1.0, 0.0])).low is None


def test_the_interval_of_a_score_stays_within_0_and_1() -> None:
    found = mean_score(run(a=[1.0], b=[1.0], c=[0.0]))
    assert (found.low, found.high) == (0.0, 1.0)


@given(st.integers(2, 400))
def test_where_all_came_out_alike_chance_would_have_made_it_so_in_one_of_20_runs(clusters: int) -> None:
    share = mean_score(run(**{f"s{number}": [1.0] for number in range(clusters)})).unseen
    assert share is not None
    assert (1 - share) ** clusters == pytest.approx(0.05)


def test_an_interval_with_width_says_itself_what_could_be_otherwise() -> None:
    assert mean_score(run(a=[1.0], b=[0.5])).unseen is None
    assert mean_score(run(a=[1.0])).unseen is None


def test_no_values_no_mean() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        clustered_mean({})


def _cluster(source: random.Random) -> list[float]:
    """Four trials of one scenario, more like each other than like those of other scenarios."""
    centre = source.gauss(0.5, 0.1)
    return [source.gauss(centre, 0.05) for _ in range(4)]


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    source = random.Random(7)
    covered = 0
    for _ in range(300):
        draws = {str(c): _cluster(source) for c in range(20)}
        found = clustered_mean(draws)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.5 <= found.high
    assert 270 <= covered <= 297


@each(("k", "expected"), [(1, 0.5), (2, 1 - 1 / 6), (3, 1.0)])
def test_pass_at_k(k: int, expected: float) -> None:
    found = pass_at(k, run(a=[1.0, 1.0, 0.0, 0.5]))
    assert found is not None
    assert found.mean == pytest.approx(expected)


@each(("k", "expected"), [(1, 0.5), (2, 1 / 6), (3, 0.0)])
def test_pass_hat_k(k: int, expected: float) -> None:
    found = pass_hat(k, run(a=[1.0, 1.0, 0.0, 0.5]))
    assert found is not None
    assert found.mean == pytest.approx(expected)


def test_scenarios_with_too_few_trials_are_left_out() -> None:
    found = pass_at(2, run(a=[1.0], b=[1.0, 0.0]))
    assert found is not None
    assert found.clusters == 1
    assert pass_at(3, run(a=[1.0])) is None


def test_k_must_be_positive() -> None:
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        pass_at(0, run(a=[1.0]))


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=8), st.integers(1, 8))
def test_pass_hat_never_exceeds_pass_at(scores: list[float], k: int) -> None:
    one, all_of = pass_at(k, run(a=scores)), pass_hat(k, run(a=scores))
    assert (one is None) == (all_of is None)
    if one and all_of:
        assert all_of.mean <= one.mean + 1e-12


def test_flaky_scenarios_are_those_that_flip() -> None:
    assert flaky(run(a=[1.0, 0.0], b=[1.0, 1.0], c=[0.0, 0.4])) == (("a", "base"),)


def test_a_run_against_itself_shows_nothing() -> None:
    both = run(a=[1.0, 0.0], b=[0.5, 0.5])
    found = paired(both, both)
    assert (found.difference.mean, found.p_value, found.higher, found.lower) == (0.0, 1.0, (), ())
    other = paired(run(a=[0.933333333, 1 / 3, 0.6]), run(a=[0.6, 0.933333333, 1 / 3]))  # which rounding leaves 6e-17 of
    assert (other.higher, other.lower) == ((), ())
    assert str(Estimate(-1e-17, None, None, 1, 3)) == "0.000 (one scenario, no interval)"


def test_pairs_are_matched_by_scenario_and_trial() -> None:
    found = paired(run(a=[0.0, 1.0], b=[0.0]), run(a=[1.0, 1.0], b=[0.5], c=[1.0]))
    assert found.difference.sessions == 3
    assert found.difference.mean == pytest.approx(0.5)
    assert (found.only_a, found.only_b) == (0, 1)
    assert found.higher == ("a", "b")


def test_mcnemar_is_the_exact_binomial_test() -> None:
    a = run(**{f"s{i}": [0.0] for i in range(10)})
    b = run(**{f"s{i}": [1.0 if i < 8 else 0.0] for i in range(10)})
    assert paired(a, b).p_value == pytest.approx(2 * 0.5**8)


def test_the_smallest_detectable_difference_shrinks_with_more_scenarios() -> None:
    source = random.Random(3)
    sizes = []
    for count in (10, 40, 160):
        a = [ScoredSession(str(i), 0, float(source.random() < 0.5)) for i in range(count)]
        b = [ScoredSession(str(i), 0, float(source.random() < 0.5)) for i in range(count)]
        sizes.append(paired(a, b).smallest)
    assert sizes[0] > sizes[1] > sizes[2]


@each("gain", [0.0, 0.1])
def test_where_every_scenario_differs_alike_no_smallest_difference_is_made_up(gain: float) -> None:
    a, b = run(a=[0.3], b=[0.2], c=[0.1]), run(a=[0.3 + gain], b=[0.2 + gain], c=[0.1 + gain])
    assert paired(a, b).smallest is None


def test_nothing_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        compare([])


def test_variants_of_a_scenario_are_one_cluster() -> None:
    base = [ScoredSession(str(i), 0, i % 2) for i in range(6)]
    alike = [replace(session, variant="all_tools") for session in base]
    once, twice = mean_score(base), mean_score([*base, *alike])
    assert (twice.clusters, twice.sessions) == (6, 12)
    assert (twice.mean, twice.low, twice.high) == pytest.approx((once.mean, once.low, once.high))


@given(st.lists(SCORES, min_size=1, max_size=5), st.lists(SCORES, min_size=1, max_size=5))
def test_a_variant_that_was_played_more_often_does_not_count_more(some: list[float], more: list[float]) -> None:
    sessions = [ScoredSession("a", i, v, "base") for i, v in enumerate(some)]
    sessions += [ScoredSession("a", i, v, "all_tools") for i, v in enumerate(more)]
    assert mean_score(sessions).mean == pytest.approx((statistics.fmean(some) + statistics.fmean(more)) / 2)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=8))
def test_the_difference_is_that_of_the_means(pairs: list[tuple[float, float]]) -> None:
    a, b = (run(**{f"s{i // 2}": [pair[side]] for i, pair in enumerate(pairs)}) for side in (0, 1))
    assert paired(a, b).difference.mean == pytest.approx(mean_score(b).mean - mean_score(a).mean, abs=1e-9)


def test_a_value_beyond_1_is_not_cut() -> None:
    assert mean_score(run(a=[3.0], b=[5.0])).high > 5


@given(st.lists(st.floats(-5, 9), min_size=2, max_size=12))
def test_an_interval_lies_where_its_values_can(values: list[float]) -> None:
    free = clustered_mean({str(n): [value] for n, value in enumerate(values)})
    found = mean_score(run(**{f"s{n}": [value] for n, value in enumerate(values)}))
    least, most = (0 if min(values) >= 0 else -math.inf), (1 if min(values) >= 0 and max(values) <= 1 else math.inf)
    assert found.low == pytest.approx(max(least, free.low))
    assert found.high == pytest.approx(min(most, free.high))
