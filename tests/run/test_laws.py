"""Laws of runs, for whatever happens: a crash at any moment, endpoints that stumble, any way to share the work."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox_clients.reference import ReferenceAgent, RefuseAgent
from sandbox_scenarios.variants import VARIANTS

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import Brain, ModelReply, PlannedFault
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.run.unit import Shard
from sandbox_mcp.engine.trajectory import Event, LogWriter
from sandbox_mcp.play.users.scripted import ScriptedUser
from tests.clients.sessions import SUITE, solver
from tests.laws import at_least
from tests.run.runs import FEW, Logs, batch, logs, model, played, without_agent

SLOW = settings(deadline=None, max_examples=at_least(8), suppress_health_check=[HealthCheck.function_scoped_fixture])


@contextmanager
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as place:
        yield Path(place)


def undisturbed(**plan: Any) -> tuple[Logs, Any]:
    with folder() as out:
        summary, _ = played(out, **plan)
        return logs(out), summary


WHOLE, SUMMARY = undisturbed()
EVENTS = sum(map(len, WHOLE.values()))


# crashes


class Power(BaseException):
    """The power goes out: nothing is caught, nothing is tidied up."""


@dataclass
class Outage:
    """Lets a number of events be written, then the power goes out in the middle of the next."""

    left: int

    def write(self, write: Any, log: LogWriter, event: Event) -> None:
        if self.left == 0:
            os.write(log._descriptor, b'{"event":"mess')
            raise Power
        self.left -= 1
        write(log, event)


@SLOW
@given(st.lists(st.integers(0, EVENTS - 1), min_size=1, max_size=3))
def test_however_often_the_power_goes_out_the_run_ends_as_if_it_never_had(moments: list[int]) -> None:
    with folder() as out:
        for moment in moments:
            interrupted(out, moment)
        summary, _ = played(out)
        assert logs(out) == WHOLE
        assert summary == SUMMARY


def interrupted(out: Path, moment: int) -> None:
    write = LogWriter.write
    outage = Outage(moment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LogWriter, "write", lambda log, event: outage.write(write, log, event))
        try:
            played(out)
        except (Power, BaseExceptionGroup):
            assert outage.left == 0


@SLOW
@given(st.integers(0, EVENTS - 1))
def test_what_was_whole_before_a_crash_is_not_touched_again(moment: int) -> None:
    with folder() as out:
        interrupted(out, moment)
        before = {path: path.read_bytes() for path in (out / "logs").iterdir()}
        played(out)
        assert {path: path.read_bytes() for path in before} == before


# sharing the work


@SLOW
@given(st.integers(1, 6).flatmap(lambda count: st.permutations(range(1, count + 1))), st.integers(1, 4))
def test_any_number_of_shards_in_any_order_is_the_whole_run(order: list[int], jobs: int) -> None:
    with folder() as out:
        for index in order:
            summary, _ = played(out, shard=Shard(index, len(order)), jobs=jobs)
        assert logs(out) == WHOLE
        assert summary == SUMMARY


@SLOW
@given(st.lists(st.sampled_from(FEW), min_size=1, max_size=8))
def test_any_sequence_of_commands_that_covers_the_run_is_the_run(names: list[str]) -> None:
    with folder() as out:
        for name in (*names, *FEW):
            summary, _ = played(out, scenarios=(name,))
        assert logs(out) == WHOLE
        assert summary == SUMMARY


def test_shards_may_run_at_the_same_time_in_one_folder(tmp_path: Path) -> None:
    async def both() -> None:
        async with anyio.create_task_group() as group:
            for index in (1, 2):
                group.start_soon(batch(tmp_path, shard=Shard(index, 2)).run)

    anyio.run(both)
    assert logs(tmp_path) == WHOLE


# who drives, and how


@pytest.mark.parametrize("transport", ["direct", "memory"])
def test_no_variant_depends_on_the_transport_or_on_the_number_of_jobs(tmp_path: Path, transport: str) -> None:
    plan = {"variants": tuple(VARIANTS), "scenarios": FEW}
    played(tmp_path / "a", jobs=1, transport="direct", **plan)
    played(tmp_path / "b", jobs=5, transport=transport, **plan)
    assert logs(tmp_path / "a") == logs(tmp_path / "b")


def test_trials_differ_in_nothing_but_their_number(tmp_path: Path) -> None:
    played(tmp_path, scenarios=("colleagues_to_friends",), trials=3)
    found = list(logs(tmp_path).values())
    numbers = {(events[0].pop("trial"), events[0].pop("session")) for events in found}
    assert len(numbers) == 3
    assert found[0] == found[1] == found[2]


def test_another_seed_gives_other_ids_and_nothing_else(tmp_path: Path) -> None:
    for seed in (1, 2):
        played(tmp_path / str(seed), scenarios=("new_neighbour",), seed=seed)
    first, second = (next(iter(logs(tmp_path / str(seed)).values())) for seed in (1, 2))
    created = [[change for event in log for change in event.get("changes", ())] for log in (first, second)]
    assert created[0] != created[1]
    assert [event["event"] for event in first] == [event["event"] for event in second]


def test_a_model_that_knows_the_answers_does_what_the_reference_agent_does(tmp_path: Path) -> None:
    played(tmp_path / "reference", ReferenceAgent(), transport="memory")
    with running(Endpoint(solver())) as url:
        played(tmp_path / "model", model(url), transport="memory", jobs=3)
    assert without_agent(logs(tmp_path / "reference")) == without_agent(logs(tmp_path / "model"))


# endpoints that stumble


@dataclass
class Stumbling:
    """Fails in ways of its own before some answers; which, the conversation decides."""

    brain: Brain
    faults: tuple[PlannedFault, ...]
    every: int
    stumbled: int = 0

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        place = len(prompt.steps) + sum(len(turn.user) for turn in prompt.turns)
        fault = self.faults[place % len(self.faults)]
        if place % self.every == 0 and fault.strikes(tries):
            self.stumbled += 1
            return fault
        return await self.brain.decide(prompt, tries)


FAULTS = st.builds(
    PlannedFault,
    kind=st.sampled_from(["status", "half", "invalid_json", "empty"]),
    status=st.sampled_from([408, 409, 429, 500, 502, 503]),
    retry_after=st.sampled_from([None, 0.0]),
    times=st.integers(1, 3),
)


@settings(deadline=None, max_examples=at_least(3))
@given(st.lists(FAULTS, min_size=1, max_size=3), st.integers(1, 3))
def test_faults_that_pass_leave_no_trace_in_any_log(faults: list[PlannedFault], every: int) -> None:
    with folder() as out, running(Endpoint(solver())) as url:
        played(out, model(url), jobs=2, scenarios=FEW[:3])
        smooth = without_endpoint(logs(out))
    stumbling = Stumbling(solver(), tuple(faults), every)
    with folder() as out, running(Endpoint(stumbling)) as url:
        played(out, model(url), jobs=2, scenarios=FEW[:3])
        assert without_endpoint(logs(out)) == smooth


def without_endpoint(found: Logs) -> Logs:
    """The logs without the endpoint's address, whose port is another each time."""
    for events in found.values():
        events[0]["agent"].pop("base_url")
    return found


# the floor


def test_the_refusing_agent_scores_what_the_grader_says_it_would_in_every_variant(tmp_path: Path) -> None:
    summary, _ = played(tmp_path, RefuseAgent(), variants=tuple(VARIANTS))
    assert all(row["score"] == row["refusal"] for row in summary["scenarios"])


def test_a_session_that_was_played_twice_is_the_same_session() -> None:
    """The user is asked anew each time and keeps nothing of its own, which is what makes all of this hold."""
    script = SUITE.get("colleagues_to_friends").user.script
    assert ScriptedUser(script) == ScriptedUser(script)
