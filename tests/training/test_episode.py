"""Episodes in process: what they are told, how they end, and what they earn."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.grading.rewards import RewardError, reward_of

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.run_sources import find_runs
from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.play.session.tool_channel import SEND
from sandbox_mcp.play.training import Episode, RewardSpec, Rollouts, TrainingTask
from sandbox_mcp.play.users import ScriptedUser, UserError
from tests.each import each
from tests.report.sessions import find
from tests.suite import SUITE
from tests.training.kit import played, without_wall

SOME = SUITE.names("*")[::9]


@each("name", SOME)
def test_the_reference_earns_1_and_doing_nothing_0(name: str) -> None:
    assert played(Episode(name, user_channel="harness")).reward().value == 1.0
    assert Episode(name).finish().value == 0.0


@each("name", SOME)
def test_the_rewards_of_steps_add_up_to_the_final_one_exactly(name: str) -> None:
    shaped = Episode(name, user_channel="harness", rewards=RewardSpec(steps=True))
    paid: list[float] = []
    for reward in _paid_of(shaped):
        assert reward is not None
        paid.append(reward)
    final = reward_of(shaped.scenario, shaped.log, RewardSpec()).value
    assert sum(paid) == final


def _paid_of(episode: Episode):
    """Play the reference, and look at the reward of every step."""
    make, say = episode.call_together, episode.say
    paid: list[float | None] = []
    episode.call_together = lambda calls: _after(make(calls), episode, paid)  # type: ignore[method-assign]
    episode.say = lambda text: _after(say(text), episode, paid)  # type: ignore[method-assign]
    played(episode)
    if not paid or (episode.log.ended is not None and episode.log.ended.reason == "agent_ended"):
        paid.append(episode.step_reward())
    return paid


def _after(value, episode: Episode, paid: list[float | None]):
    paid.append(episode.step_reward())
    return value


WORDS = ("Done.", ".", "I'm sorry, I can't help with that.", "Wifi is off.", "What exactly do you mean?")
SHAPED = ("wifi_off", "pharmacy_into_contacts", SUITE.names()[40], SUITE.names()[120])


@given(st.sampled_from(SHAPED), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8), st.data())
def test_the_rewards_of_any_play_add_up_exactly(name: str, moves: list[tuple[int, int]], data: st.DataObject) -> None:
    """Whatever is done, with whatever terms and credit."""
    spec = {
        "credit": data.draw(st.sampled_from(("answered", "partial", "success"))),
        "honesty": data.draw(st.sampled_from((0, 0.1, 0.3))),
        "harm": data.draw(st.sampled_from((0, 0.7))),
        "length": data.draw(st.sampled_from((0, 0.01, 1 / 3))),
    }
    shaped = Episode(name, rewards=RewardSpec(steps=True, **spec))
    paid: list[float] = []
    for tool, word in moves:
        offered = shaped.tools[tool % len(shaped.tools)]
        arguments = {key: _some(schema, word) for key, schema in offered.schema.get("properties", {}).items()}
        shaped.call(offered.name, arguments)
        paid.append(shaped.step_reward())  # type: ignore[arg-type]
        if shaped.over:
            break
    if not shaped.over:
        shaped.finish()
        paid.append(shaped.step_reward())  # type: ignore[arg-type]
    assert sum(paid) == reward_of(shaped.scenario, shaped.log, RewardSpec(**spec)).value


def _some(schema: dict[str, object], number: int) -> object:
    kinds = {"boolean": number % 2 == 0, "integer": number, "number": number / 2, "string": WORDS[number % len(WORDS)]}
    return kinds.get(str(schema.get("type")))


def test_right_calls_without_a_word_earn_what_silence_earns() -> None:
    episode = Episode("wifi_off")
    episode.call("set_wifi_status", {"on": False})
    silent = episode.finish()
    assert (silent.value, silent.score, silent.ending) == (0.0, 0.5, "agent_ended")
    assert reward_of(episode.scenario, episode.log, RewardSpec(credit="partial")).value == 0.5
    assert reward_of(episode.scenario, episode.log, RewardSpec(credit="success")).value == 0.0


def test_what_a_client_wants_kept_is_in_the_log_and_changes_no_reward() -> None:
    episode = Episode("wifi_off", user_channel="harness")
    episode.call("set_wifi_status", {"on": False}, {"token_ids": [1, 2]})
    episode.say("Wifi is off now.", {"result_missing": True})
    assert episode.reward().value == 1.0
    kept = [event.meta["client"] for event in episode.log.events if "client" in event.meta]
    assert kept == [{"token_ids": [1, 2]}, {"result_missing": True}]


def test_harm_and_dishonesty_are_terms_of_their_own() -> None:
    spec = RewardSpec(harm=0.5, honesty=0.25, length=0.125)
    episode = Episode("wifi_off", rewards=spec)
    episode.call(SEND, {"content": "I have turned off the wifi."})
    reward = episode.finish()
    assert reward.counts["honesty"] == 1
    assert reward.terms == {"task": 0.0, "honesty": -0.25, "harm": 0.0, "length": -0.125 * reward.counts["length"]}
    assert reward.value == sum(reward.terms.values())


class Breaking(ScriptedUser):
    """A user whose endpoint is gone."""

    async def respond(self, dialogue):
        raise UserError("no such host")


def test_what_breaks_beside_the_policy_earns_nothing_not_0() -> None:
    scenario = SUITE.get("wifi_off")
    episode = Episode("wifi_off", user=Breaking(scenario.user.script, kind="llm"))
    episode.call("set_wifi_status", {"on": False})
    episode.call(SEND, {"content": "Wifi is off now."})
    reward = episode.reward()
    assert reward.value is None
    assert "user_failed" in (reward.reason or "")
    assert Episode("wifi_off").finish("abandoned").value is None


def test_a_limit_of_time_earns_0() -> None:
    episode = Episode("wifi_off", rewards=RewardSpec(credit="partial"))
    episode.call("set_wifi_status", {"on": False})
    late = episode.finish(late=True)
    assert (late.value, late.ending, late.score) == (0.0, "agent_ended", 0.5)
    assert episode.log.ended is not None
    assert episode.log.ended.detail == "out of time"


def test_the_log_is_that_of_any_session_with_the_same_seed() -> None:
    twice = [played(Episode(TrainingTask("pharmacy_into_contacts", seed=4), user_channel="harness")) for _ in range(2)]
    first, second = (without_wall(item.log) for item in twice)
    assert first == second


@each("given", [{"credit": "some"}, {"harm": -1}, {"harm": True}, {"steps": True, "length": float("nan")}])
def test_a_spec_that_makes_no_sense_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(RewardError):
        RewardSpec.of(given)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(RewardError, match="unknown in rewards: honest; known: credit"):
        RewardSpec.of({"honest": 1})


def test_rollouts_are_logs_that_can_be_read_and_viewed_while_more_come(tmp_path) -> None:
    rollouts, index = Rollouts(tmp_path, every=2), Index(None, find)
    for seed in range(4):
        played(Episode(TrainingTask("wifi_off", seed=seed), user_channel="harness", rollouts=rollouts))
        logs = [read_trajectory(path) for path in find_logs([tmp_path])]
        list(index.add(find_runs([tmp_path])))
        assert len(logs) == index.total(tmp_path.name) == rollouts.kept == seed // 2 + 1
    assert {log.started.seed for log in logs} == {0, 2}
    assert [row["score"] for row in index.rows(tmp_path.name)] == [1.0, 1.0]
    rollouts.close()
    index.close()


IN_PROCESS = """
import sys
for name in ("mcp", "pydantic", "starlette", "uvicorn", "yaml", "openai", "httpx"):
    sys.modules[name] = None
from sandbox_mcp.play.training import Episode
episode = Episode("wifi_off")
episode.call("set_wifi_status", {"on": False})
episode.call("send_message_to_user", {"content": "Wifi is off now."})
print(episode.reward().value)
"""


def test_it_needs_neither_mcp_nor_pydantic_once_the_suite_is_kept() -> None:
    Episode("wifi_off").finish()  # keeps what is built
    done = subprocess.run([sys.executable, "-c", IN_PROCESS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1.0\n", "")
