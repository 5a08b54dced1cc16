"""Who can take part in a run: one person at a time, in this process, and only where somebody can type."""

import io
import sys

import pytest

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.users import human_users, require_person, user_tools, users_named
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.each import each


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())


@pytest.mark.usefixtures("pipe")
@pytest.mark.parametrize(
    ("jobs", "elsewhere", "problem"), [(2, False, "not 2 at a time"), (1, True, "not in processes of their own")]
)
def test_a_person_plays_one_session_at_a_time(jobs: int, elsewhere: bool, problem: str) -> None:
    with pytest.raises(RunError, match=problem):
        human_users().check([], jobs, elsewhere=elsewhere)


@pytest.mark.usefixtures("pipe")
def test_one_at_a_time_a_person_may_play() -> None:
    human_users().check([])


def test_simulated_users_play_any_number() -> None:
    users_named("scripted", EndpointSettings()).check([], 64, elsewhere=True)


@each("closed", [True, False])
def test_somebody_must_be_able_to_type(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    stdin = io.StringIO()
    stdin.close()
    monkeypatch.setattr(sys, "stdin", stdin if closed else None)
    with pytest.raises(RunError, match="needs a terminal or a pipe"):
        require_person()


@each(
    ("given", "tools"),
    [
        ("", ()),
        ("none", ()),
        ("check_goal", ("check_goal",)),
        ("check_goal,look_up", ("look_up", "check_goal")),
        (" look_up , ", ("look_up",)),
    ],
)
def test_tools_of_the_llm_user_by_name(given: str, tools: tuple[str, ...]) -> None:
    assert user_tools(given) == tools


def test_an_unknown_tool_is_told() -> None:
    with pytest.raises(RunError, match="unknown tool 'look' for the llm user; did you mean 'look_up'"):
        user_tools("look")
