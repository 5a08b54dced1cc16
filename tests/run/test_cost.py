"""Prices, what is spent, and budgets that are kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sandbox_clients.base import AgentTurn
from sandbox_clients.function import Asked
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.spending import Price, Prices, Spent

from sandbox_mcp import Suite, evaluate
from sandbox_mcp.app.cli.grade import command as grade
from sandbox_mcp.app.run.cost import Budget, checked
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory.usage import Usage
from tests.each import each

AGENT = Prices(agent=Price(2, 10))


def spent(prompt: int = 0, completion: int = 0, user: int = 0) -> Spent:
    return Spent(Usage(prompt, completion, 1), Usage(user, 0, 1))


def test_a_price_is_per_million_tokens() -> None:
    assert Price.parse("2.5/10").of(Usage(1_000_000, 100_000)) == 3.5


@each("text", ["", "2", "a/b", "1/2/3", "-1/2", "nan/1", "inf/1"])
def test_a_malformed_price_is_refused(text: str) -> None:
    with pytest.raises(GraderError, match="IN/OUT"):
        Price.parse(text)


def test_cost_is_told_by_role() -> None:
    assert Prices(Price(2, 10), Price(1, 1)).of(spent(1_000_000, 0, user=500_000)) == {
        "agent": 2.0,
        "user": 0.5,
        "total": 2.5,
    }


def test_tokens_without_a_price_make_the_sum_unknown() -> None:
    assert AGENT.of(spent(1, user=1)) == {"agent": 0.000002, "user": None, "total": None}


def test_a_role_without_a_model_costs_nothing() -> None:
    assert AGENT.of(spent(1_000_000))["total"] == 2.0


def test_a_budget_of_money_needs_the_price_of_every_model() -> None:
    with pytest.raises(RunError, match="--price"):
        checked(Budget(money=1), Prices(), modelled_user=False)
    with pytest.raises(RunError, match="--user-price"):
        checked(Budget(money=1), AGENT, modelled_user=True)
    assert checked(Budget(money=1), AGENT, modelled_user=False) == Budget(money=1)


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.lists(st.integers(0, 10**5), min_size=1, max_size=30),
)
def test_one_at_a_time_a_budget_is_exceeded_by_less_than_one_session_above_the_mean(
    money: int, price: int, sessions: list[int]
) -> None:
    prices, budget, used = Prices(agent=Price(price, 0)), Budget(money=money), Spent()
    for number, tokens in enumerate(sessions):
        if not budget.allows(used, number, 0, prices):
            return
        before = prices.of(used)["total"] or 0.0
        used += spent(tokens)
        mean = before / number if number else 0.0
        assert before + mean <= money * (1 + 1e-9) + 1e-6


@each(
    ("limit", "sessions", "running", "allowed"),
    [(100, 0, 3, True), (100, 1, 0, True), (99, 1, 0, False), (100, 1, 1, False), (150, 1, 1, True)],
)
def test_sessions_under_way_are_expected_to_cost_the_mean(
    limit: int, sessions: int, running: int, allowed: bool
) -> None:
    used: dict[str, Any] = {"prompt": 50 * sessions}
    assert Budget(tokens=limit).allows(spent(**used), sessions, running, Prices()) is allowed


def graded(*paths: object) -> Any:
    found = CliRunner().invoke(grade, [*map(str, paths), "--json", "--quiet"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def run_at(out: Path, prices: Prices, **options: Any) -> Any:
    async def asks_a_model(_: Asked) -> AgentTurn:
        return AgentTurn("Hm.", {"usage": {"prompt_tokens": 500, "completion_tokens": 20, "requests": 1}})

    few = Suite().select("wifi_off", "landlord_number")
    return evaluate(asks_a_model, few, out=out, prices=prices, **options).summary()


@each("pack", [False, True])
def test_graded_again_a_run_costs_what_it_cost(pack: bool, tmp_path: Path) -> None:
    out = tmp_path / str(pack)
    cost = run_at(out, AGENT, pack=pack)["cost"]
    assert cost["total"] > 0
    assert graded(out)["cost"] == graded(out / "logs")["cost"] == cost


def test_what_was_set_aside_is_told_where_the_whole_run_is_graded(tmp_path: Path) -> None:
    run_at(tmp_path, AGENT)
    log, _ = (tmp_path / "logs").iterdir()
    *lines, end = log.read_text("utf-8").splitlines()
    log.write_text("\n".join([*lines, json.dumps({**json.loads(end), "reason": "agent_failed"}), ""]), "utf-8")
    told = run_at(tmp_path, AGENT)
    assert told["cost"]["set_aside"] > 0
    assert {key: graded(tmp_path)[key] for key in ("cost", "tokens")} == {key: told[key] for key in ("cost", "tokens")}
    assert graded(log)["cost"]["set_aside"] == 0


def test_runs_of_different_prices_have_no_cost_in_common(tmp_path: Path) -> None:
    run_at(tmp_path / "a", AGENT)
    run_at(tmp_path / "b", Prices(agent=Price(1, 1)))
    run_at(tmp_path / "c", Prices())
    for other in "bc":
        found = graded(tmp_path / "a", tmp_path / other)
        assert found["cost"] is None
        assert "different prices" in found["warnings"][-1]
    assert graded(tmp_path / "c")["cost"] is None


@each("told", [None, 3, {}, {"agent": 3}, {"agent": {"prompt": "1", "completion": True}}, {"user": {"prompt": -1}}])
def test_what_is_no_price_in_a_manifest_is_none(told: Any) -> None:
    assert not Prices.from_json(told)


@each("prices", [Prices(), AGENT, Prices(Price(1, 2.5), Price(0, 0))])
def test_prices_are_read_as_they_are_written(prices: Prices) -> None:
    assert Prices.from_json(prices.to_json()) == prices


def test_a_cost_that_a_log_states_is_the_cost_where_no_price_is_given() -> None:
    stated, other = Usage(7, 2, 1, 0.5), Usage(7, 2, 1)
    assert Prices().of(Spent(stated + stated))["total"] == 1.0
    assert Prices().of(Spent(stated + other))["total"] is None
    assert Prices(Price(1e6, 0.0), None).of(Spent(stated))["total"] == 7.0
    assert Usage.from_json(stated.to_json()) == stated
    assert "cost" not in other.to_json()
