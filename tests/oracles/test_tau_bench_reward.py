"""The metrics beside the reward that tau-bench recorded: the correlation is right, and real sessions show one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.tau_bench import METRICS, Point, correlation, main, points, report, spearman
from tests.each import each

RECALL, SUCCESS = ("tooltalk", "recall"), ("tooltalk", "success")
numbers = st.sampled_from((0.0, 0.25, 0.5, 1.0, 2.0))


@pytest.fixture(scope="module")
def found(benchmark_data: Path) -> list[Point]:
    files = sorted((benchmark_data / "taubench").glob("*.json"))
    if not files:
        pytest.skip("the data folder holds no sessions of tau-bench")
    return points(files)


def test_every_real_session_has_a_reward_and_tooltalks_and_toolscans_values(found: list[Point]):
    assert {point.reward for point in found} <= {0.0, 1.0}
    assert all(key in point.values for point in found for key in METRICS if key[0] != "mtu_bench")


def test_mtus_values_are_there_wherever_the_session_ended(found: list[Point]):
    right = [point for point in found if ("mtu_bench", "right") in point.values]
    assert len(found) * 0.9 <= len(right)


@each("metric", [RECALL, SUCCESS])
def test_doing_what_the_task_asks_for_goes_with_the_reward(metric: tuple[str, str], found: list[Point]):
    result = correlation(found, metric, draws=300)
    assert result.rho is not None
    assert result.low is not None
    assert result.high is not None
    assert 0 < result.low < result.rho < result.high < 1  # how strong it is differs from one set of sessions to another


def test_it_is_what_scipy_says(found: list[Point]):
    stats = pytest.importorskip("scipy.stats")
    pairs = [(point.values[RECALL], point.reward) for point in found]
    assert spearman(pairs) == pytest.approx(float(stats.spearmanr(*zip(*pairs, strict=True)).statistic))


@given(st.lists(st.tuples(numbers, numbers), max_size=30))
def test_spearman_is_between_minus_one_and_one_and_has_no_direction(pairs: list[tuple[float, float]]):
    rho = spearman(pairs)
    if rho is not None:
        assert -1 - 1e-9 <= rho <= 1 + 1e-9
        assert spearman([(b, a) for a, b in pairs]) == pytest.approx(rho)
        assert spearman([(-a, b) for a, b in pairs]) == pytest.approx(-rho)
        assert spearman([(a**3, b) for a, b in pairs]) == pytest.approx(rho)


@each("pairs", [[], [(1.0, 2.0)], [(1.0, 0.0), (1.0, 1.0), (1.0, 0.5)]])
def test_what_never_varies_correlates_with_nothing(pairs: list[tuple[float, float]]):
    assert spearman(pairs) is None


def point(task: str, reward: float, recall: float) -> Point:
    return Point(task, reward, {RECALL: recall})


def test_trials_of_one_task_count_as_one_when_sureness_is_told():
    """Ten copies of each session change no correlation; as trials of the same tasks they add no sureness either."""
    once = [point(str(n), n % 2, (n % 2 + n % 3) / 3) for n in range(12)]
    copies = [item for item in once for _ in range(10)]
    one, many = correlation(once, RECALL, 400), correlation(copies, RECALL, 400)
    assert many.rho == pytest.approx(one.rho)
    assert (many.low, many.high) == (pytest.approx(one.low), pytest.approx(one.high))


def test_the_same_sessions_give_the_same_table():
    some = [point(str(n), n % 2, n / 10) for n in range(10)]
    assert report(some, 50) == report(some, 50)
    assert "| tooltalk recall | +0." in report(some, 50)
    assert "| tooltalk success | - | never varies | 0 |" in report(some, 50)


def test_without_data_it_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SANDBOX_MCP_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="name files of 'historical_trajectories'"):
        main([])
