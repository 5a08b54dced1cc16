"""How work is handed out on Ray, as far as that needs no Ray; with it: tests/ray."""

from collections import deque
from importlib.util import find_spec
from pathlib import Path

import pytest
from sandbox_grader.scores import Scores

from sandbox_mcp.run.on_ray import FEWEST, MOST, _Work
from sandbox_mcp.run.unit import Unit
from tests.e2e.processes import run
from tests.each import each

UNITS = [Unit("wifi_off", trial=trial) for trial in range(10_000)]


def work(units: list[Unit], lanes: int = 4, most: int = 10**9) -> tuple[_Work, list[Unit]]:
    told: list[Unit] = []
    room = iter(range(most))
    return _Work(deque(units), lambda: next(room, None) is not None, lambda unit, _: told.append(unit), lanes), told


def play(plan: _Work, seconds: float) -> list[int]:
    """Plays all, each session in so many seconds, and says how many went out at a time."""
    sizes: list[int] = []
    scores = Scores("", "", "", 0, (), "strict", {})
    while batch := plan.next():
        sizes.append(len(batch))
        plan.done(batch, [scores] * len(batch), seconds * len(batch))
    return sizes


def test_every_unit_is_handed_out_once_and_told_of() -> None:
    plan, told = work(UNITS)
    play(plan, 0.003)
    assert told == UNITS
    assert plan.empty.is_set()


def test_sessions_that_are_over_in_a_moment_go_out_by_the_hundred() -> None:
    sizes = play(work(UNITS)[0], 0.003)
    assert max(sizes) == MOST
    assert len(sizes) < len(UNITS) / 50


def test_sessions_that_take_long_go_out_few_at_a_time() -> None:
    assert max(play(work(UNITS)[0], 60.0)) == FEWEST


def test_at_the_end_no_lane_is_left_without_work() -> None:
    assert play(work(UNITS[:8])[0], 0.003) == [1] * 8


def test_nothing_begins_that_is_not_allowed() -> None:
    plan, told = work(UNITS, most=10)
    play(plan, 0.003)
    assert told == UNITS[:10]
    assert plan.left == 0


def test_what_an_actor_lost_is_not_asked_for_twice() -> None:
    plan, told = work(UNITS, most=10)
    plan.begun.extend(UNITS[-3:])
    play(plan, 0.003)
    assert told == [*UNITS[-3:], *UNITS[:10]]


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    done = run("run", "wifi_off", "--agent", "reference", "--executor", "ray", "--out", str(tmp_path))
    assert (done.code, done.err.splitlines()) == (
        2,
        ["sandbox-mcp: --executor ray needs Ray; install it with: pip install 'sandbox-mcp-eval[ray]'"],
    )


@each("option", [("--ray-address", "head:6379"), ("--ray-actors", "2")])
def test_options_of_ray_need_its_executor(tmp_path: Path, option: tuple[str, str]) -> None:
    done = run("run", "wifi_off", "--agent", "reference", "--out", str(tmp_path), *option)
    assert done.code == 2
    assert "say something of --executor ray alone" in done.err
