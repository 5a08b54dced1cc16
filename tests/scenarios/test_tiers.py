"""Tiers, the mixture that is played where nothing is selected, and their selectors."""

from pathlib import Path

import pytest
from sandbox_scenarios import Suite
from sandbox_scenarios.selectors import SelectorError, select
from sandbox_scenarios.tiers import CALLS, calls_of, mixture, tier_of

from sandbox_mcp.app.cli.run import command
from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.app.run.from_options import picked
from sandbox_mcp.app.run.options import RunOptions
from sandbox_mcp.app.run.run_file import kept_options
from tests.suite import SUITE

TOTAL = sum(CALLS.values())


@pytest.mark.parametrize("seed", ["default", "7", "another"])
def test_a_mixture_takes_so_many_calls_whatever_its_seed(seed: str) -> None:
    found = [SUITE.get(name) for name in mixture(SUITE, seed)]
    assert sum(map(calls_of, found)) == TOTAL
    hard = sum(calls_of(item) for item in found if tier_of(item) == "hard")
    assert 0.7 * CALLS["hard"] <= hard <= CALLS["hard"]
    assert {tier_of(item) for item in found} == {"basic", "standard", "hard"}


def test_a_mixture_has_scenarios_of_every_world_that_has_simple_ones() -> None:
    worlds = {SUITE.world(name) for name in mixture(SUITE)}
    assert {SUITE.world(name) for name in SUITE.names("*") if tier_of(SUITE.get(name)) != "hard"} <= worlds


def test_a_seed_decides_the_mixture() -> None:
    assert mixture(SUITE, "7") == mixture(Suite(), "7")
    assert mixture(SUITE, "7") != mixture(SUITE)


def test_runs_without_names_play_the_default_mixture_and_say_so() -> None:
    options = RunOptions(agent="refuse")
    assert picked(PlayableSuite(), options).names() == select(SUITE, ["suite:default"]) == mixture(SUITE)
    assert kept_options(options)["selectors"] == ["suite:default"]


def test_runs_of_ones_own_files_play_all_of_these(tmp_path: Path) -> None:
    given = Path(SUITE.get("wifi_off").path)
    options = RunOptions(agent="refuse", scenarios=(given,))
    assert picked(PlayableSuite(options.scenarios), options).names() == Suite([given]).names()
    assert "selectors" not in kept_options(options)


def test_tiers_are_selected_in_every_world_and_do_not_overlap() -> None:
    found = [name for tier in ("basic", "standard", "hard") for name in select(SUITE, [f"tier:{tier}"])]
    assert sorted(found) == sorted(SUITE.names("*"))
    office = [name for name in select(SUITE, ["tier:basic"]) if SUITE.world(name) == "office"]
    assert sorted(select(SUITE, ["tier:basic", "world:office"])) == sorted(office)
    with pytest.raises(SelectorError):
        select(SUITE, ["tier:impossible"])


def test_help_and_page_say_how_many_calls_it_takes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "suite.md").read_text(encoding="utf-8")
    assert f"takes the reference {TOTAL} calls" in " ".join((command.help or "").split())
    assert f"**{TOTAL} calls**" in page
    assert f"up to {CALLS['hard']} of them, the standard tier {CALLS['standard']} " in page
    assert "about 100 scenarios" in page
    assert len(mixture(SUITE)) == pytest.approx(100, rel=0.1)
