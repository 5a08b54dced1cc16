"""Reward hacking: policies that do not do what was asked earn next to nothing."""

from statistics import fmean

import pytest
from sandbox_grader.milestones.referring import claims_of
from sandbox_grader.milestones.strict_nodes import hears

from bench.cheats import CHEATS, EXPLOIT, cheated, fresh, of_floor_0, search, steps
from sandbox_mcp.play.training import Episode, RewardSpec
from tests.suite import SUITE
from tests.training.kit import played

MARGIN = 0.02
SOME = SUITE.names()[3::32]


@pytest.fixture(scope="module")
def names() -> list[str]:
    return of_floor_0(fresh(SOME, 77))


def test_cheats_that_solve_nothing_earn_the_floor(names: list[str]) -> None:
    """One that happens to do and say what was wanted, such as reading out the one thing there is, has solved it."""
    for calls, words in CHEATS[::3]:
        rewards = [cheated(name, calls, words).reward() for name in names]
        unsolved = [reward.value or 0.0 for reward in rewards if reward.score != 1]
        assert fmean(unsolved) <= MARGIN, (calls, words)


def test_there_are_at_least_30_cheats() -> None:
    assert len(set(CHEATS)) >= 30


def test_a_search_over_calls_and_words_finds_nothing_that_pays_without_solving(names: list[str]) -> None:
    found = search(names[:4], 300)
    assert [(reward, name, steps(name, course)) for reward, name, course in found if reward > EXPLOIT] == []


@pytest.mark.parametrize("name", SUITE.names()[::64])
def test_the_right_calls_with_nothing_said_earn_nothing(name: str) -> None:
    """Partial credit would give it 0.5 and more."""
    episode = Episode(name, user_channel="harness")
    episode.say = lambda _: type(episode).say(episode, ".")  # type: ignore[method-assign]
    silent = played(episode).reward()
    assert silent.value == 0.0
    assert silent.value <= (silent.score or 0.0)


def explaining() -> list[str]:
    """Scenarios in which a reason is asked for that has more than one part."""
    return [
        name
        for name in SUITE.names()
        for milestone in SUITE.get(name).milestones
        for constraint in milestone.constraints
        if hears(constraint) and len(facts := claims_of(constraint.content)) > 1
        if any(fact.type == "cannot" for fact in facts)
    ]


def test_half_a_reason_earns_nothing() -> None:
    """A policy that denies whatever was asked for says as much; the score counts it half."""
    scores: list[float] = []
    for name in explaining():
        episode = Episode(name, user_channel="harness")
        episode.say("I could not find it: there is no such date, reminder, contact, message or password.")
        earned = episode.finish()
        scores.append(earned.score or 0.0)
        assert earned.value == 0.0, name
    assert any(0 < score < 1 for score in scores)


def test_success_is_all_or_nothing() -> None:
    episode = Episode("wifi_off", rewards=RewardSpec(credit="success"))
    episode.call("set_wifi_status", {"on": False})
    assert episode.finish().value == 0.0
