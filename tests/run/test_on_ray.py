"""How work is handed out on Ray, as far as that needs no Ray; with it: tests/ray."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from sandbox_clients.reference import ReferenceAgent
from sandbox_grader.grading.scores import Scores
from sandbox_scenarios import Suite

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.on_ray import DEATHS, FEWEST, MOST, RayActor, _Pool, _Work
from sandbox_mcp.app.run.sessions import Crew, RunPlan
from sandbox_mcp.app.run.unit import Unit
from sandbox_mcp.app.run.users import users_named
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.e2e.processes import run
from tests.each import each

UNITS = [Unit("wifi_off", trial=trial) for trial in range(10_000)]
NO_SCORES = Scores("", "", "", 0, (), "strict", {})
LANES = 8


def work(units: list[Unit], lanes: int = 4, most: int = 10**9) -> tuple[_Work, list[Unit]]:
    told: list[Unit] = []
    room = iter(range(most))
    return _Work(deque(units), lambda: next(room, None) is not None, lambda unit, _: told.append(unit), lanes), told


def play(plan: _Work, seconds: float) -> list[int]:
    """Plays all, each session in so many seconds, and says how many went out at a time."""
    sizes: list[int] = []
    while batch := plan.next():
        sizes.append(len(batch))
        plan.done(batch, [NO_SCORES] * len(batch), seconds * len(batch))
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


def test_where_a_budget_may_run_out_sessions_go_out_one_by_one() -> None:
    plan, _ = work(UNITS)
    plan.most = 1
    assert set(play(plan, 0.003)) == {1}


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


class FakeRay:
    """As much of Ray as a pool asks for; of its actors the first ``deaths`` die when all their lanes wait for them."""

    class exceptions:  # noqa: N801  (a module of Ray)
        class RayError(Exception):
            pass

        class RayTaskError(RayError):
            pass

    def __init__(self, deaths: int) -> None:
        self.deaths = deaths
        self.begun = 0

    def remote(self, _: type[Any]) -> Any:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._actor))

    def _actor(self, *_: object) -> Any:
        self.begun += 1
        dead = asyncio.Event() if self.begun <= self.deaths else None
        waiting: list[object] = []

        async def play(units: Sequence[Unit]) -> list[Scores]:
            waiting.append(units)
            if dead:
                if len(waiting) == LANES:
                    dead.set()
                await dead.wait()
                raise self.exceptions.RayError("the actor died")
            return [NO_SCORES] * len(units)

        async def nothing() -> None:
            return None

        return SimpleNamespace(
            **{
                name: SimpleNamespace(remote=lambda *given, do=do: asyncio.ensure_future(do(*given)))
                for name, do in (("serve", nothing), ("ready", nothing), ("play", play), ("close", nothing))
            }
        )

    def kill(self, _: object) -> None:
        """It is gone."""


def pool(folder: Path, deaths: int) -> tuple[Coroutine[Any, Any, None], list[Unit]]:
    plan, told = work(UNITS[:100], lanes=LANES)
    crew = Crew(Suite(), ReferenceAgent(), users_named("scripted", EndpointSettings()), RunFolder(folder))
    crew.folder.prepare()
    run_plan = RunPlan(("wifi_off",), ("base",), trials=100, jobs=LANES, packed=True)
    return _Pool(FakeRay(deaths), lambda: crew, run_plan, 1, plan, crew).play(), told


def test_an_actor_that_dies_dies_once_however_many_of_its_sessions_are_waited_for(tmp_path: Path) -> None:
    playing, told = pool(tmp_path, DEATHS)
    anyio.run(lambda: playing)
    assert sorted(told) == UNITS[:100]


def test_actors_that_die_again_and_again_are_told(tmp_path: Path) -> None:
    playing, _ = pool(tmp_path, DEATHS + 1)
    with pytest.raises(RunError, match="die again and again without playing a session: the actor died"):
        anyio.run(lambda: playing)


def test_a_node_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    elsewhere = RunFolder(tmp_path / "local")
    crew = Crew(Suite(), ReferenceAgent(), users_named("scripted", EndpointSettings()), elsewhere)

    async def ask() -> None:
        actor = RayActor(lambda: crew, RunPlan(("wifi_off",), ("base",), packed=True), Path.cwd(), ())
        await actor.serve()
        await actor.ready()

    with pytest.raises(
        RunError, match=r"does not see the run in '.*local'; name a folder with --out that all nodes see"
    ):
        anyio.run(ask)
    assert not elsewhere.root.exists()


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
