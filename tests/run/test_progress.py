"""How far a run is, in one line."""

from dataclasses import dataclass

from sandbox_grader.grading.spending import Price, Prices, Spent

from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.app.run.progress import RunTally
from sandbox_mcp.engine.trajectory.usage import Usage
from tests.each import each
from tests.run.test_summary import scored


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def played(tally: RunTally, name: str, similarity: float | None = 1.0, tokens: int = 0) -> None:
    assert tally.begin()
    tally.count(name, scored(name, similarity, spent=Spent(Usage(tokens, 0, 1))), played=True)


def test_it_says_how_many_are_done_and_running() -> None:
    tally = RunTally(total=5)
    played(tally, "a")
    tally.begin()
    tally.begin()
    assert tally.line().startswith("1/5 done · 2 running · score 1.000")


def test_before_the_first_score_there_is_none() -> None:
    assert RunTally(total=3).line() == "0/3 done · 0 running · no score yet"


def test_the_score_has_an_interval_from_the_second_scenario_on() -> None:
    tally = RunTally(total=2)
    played(tally, "a", 1.0)
    assert "[" not in tally.line()
    played(tally, "b", 0.5)
    assert "score 0.750 [0.000, 1.000]" in tally.line()


def test_what_models_cost_is_told_by_role() -> None:
    tally = RunTally(Prices(Price(1_000, 0)), total=1)
    played(tally, "a", tokens=2_000)
    assert "cost 2.00 (agent 2.00, user 0.00)" in tally.line()


def test_without_prices_tokens_are_told() -> None:
    tally = RunTally(total=1)
    played(tally, "a", tokens=12_345)
    assert "12,345 tokens" in tally.line()


@each(("seconds", "said"), [(1, "9 s left"), (10, "2 min left"), (60, "9 min left"), (3_600, "9.0 h left")])
def test_the_time_left_goes_on_as_it_has(seconds: float, said: str) -> None:
    clock = Clock()
    tally = RunTally(total=10, clock=clock)
    tally.begin()
    clock.now += seconds
    tally.count("a", scored("a"), played=True)
    assert tally.line().endswith(said)


def test_sessions_played_before_say_nothing_about_the_time() -> None:
    tally = RunTally(total=2)
    tally.count("a", scored("a"), played=False)
    assert (tally.seconds_left(), tally.running) == (None, 0)


def test_a_budget_that_is_used_up_stops_the_run_and_is_remembered() -> None:
    tally = RunTally(budget=Budget(tokens=10), total=2)
    played(tally, "a", tokens=10)
    assert (tally.begin(), tally.stopped, tally.running) == (False, "budget", 0)


def test_what_was_set_aside_counts_for_the_budget() -> None:
    tally = RunTally(budget=Budget(tokens=10), total=2, wasted=Spent(Usage(10)))
    assert not tally.begin()


# failures of all alike


def failed(tally: RunTally, name: str, why: str) -> None:
    assert tally.begin()
    score = scored(name, None, ending="agent_failed", detail=why)
    tally.count(name, score, played=True)


@each(
    ("reasons", "stops"),
    [
        (["status 401: no key"] * 3, True),
        ([f"status 401: no key (request req_0{n}f)" for n in range(3)], True),
        (["status 401: no key"] * 2, False),
        (["status 401: no key", "status 401: no key", "broken pipe"], False),
        ([None, "status 401: no key", "status 401: no key", "status 401: no key"], False),
    ],
)
def test_the_first_sessions_that_fail_alike_stop_a_run(reasons: list[str | None], stops: bool) -> None:
    for keep_going in (False, True):
        tally = RunTally(total=9, keep_going=keep_going)
        for number, why in enumerate(reasons):
            played(tally, f"{number}") if why is None else failed(tally, f"{number}", why)
        assert (tally.stopped == "alike") == (stops and not keep_going)


def test_where_nothing_is_left_to_play_nothing_is_stopped() -> None:
    tally = RunTally(total=3)
    for name in "abc":
        failed(tally, name, "status 401")
    assert tally.stopped is None
