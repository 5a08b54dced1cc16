"""Sessions in a state folder: any process goes on where the last one stopped, whatever moment it was stopped at."""

import dataclasses
import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import Trajectory, TrajectoryError, mend_log, read_trajectory
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge
from sandbox_mcp.play.session import SessionError, SessionSpec, file_lock
from sandbox_mcp.play.session.file_lock import FileLock
from sandbox_mcp.play.session.manager import USERS, SessionManager, UnknownUserError
from sandbox_mcp.play.session.state_folder import StateDir, StateError, StoredSession
from sandbox_mcp.play.users import UserTurn
from sandbox_mcp.play.users.composing import THANKS
from tests.each import each
from tests.laws import at_least
from tests.suite import SUITE

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def process(folder: Path, session: str = "mine", scenario: str = "wifi_off", **spec: Any) -> StoredSession:
    """The session as a new process finds it."""
    manager = SessionManager(SUITE)
    chosen = {"variant": "all_tools", "user_channel": "tool", **spec}
    return StateDir(folder, manager).open(SessionSpec(SUITE.get(scenario), session_id=session, **chosen))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def without_wall(trajectory: Trajectory) -> list[Any]:
    return [dataclasses.replace(event, wall={}) for event in (trajectory.started, *trajectory.events)]


async def test_a_process_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    await process(tmp_path).call("set_wifi_status", {"on": False})
    seen = await process(tmp_path).call("get_wifi_status", {})
    told = await process(tmp_path).call("send_message_to_user", {"content": "Wifi is off."})
    late = await process(tmp_path).call("get_wifi_status", {})
    log = read_trajectory(tmp_path / "mine.jsonl")
    assert seen.structured == {"result": False}
    assert told.structured["conversation_over"]
    assert told.structured["reply"] in THANKS
    assert late.error
    assert log.ended
    assert [event.seq for event in log.events] == list(range(1, len(log.events) + 1))


async def test_many_processes_leave_the_log_that_one_leaves(tmp_path: Path) -> None:
    deeds: list[tuple[str, Any]] = [
        ("set_wifi_status", {"on": False}),
        ("add_reminder", {"content": "one", "reminder_timestamp": 1800000000}),
        ("set_wifi_status", {"on": False}),
        ("add_reminder", {"content": "two", "reminder_timestamp": 1800000000}),
        ("send_message_to_user", {"content": "Which phone do you mean?"}),
        ("remove_reminder", {"reminder_id": "nope"}),
    ]
    alone = process(tmp_path / "one")
    for name, arguments in deeds:
        await alone.call(name, arguments)
        await process(tmp_path / "many").call(name, arguments)
    one, many = (read_trajectory(tmp_path / folder / "mine.jsonl") for folder in ("one", "many"))
    assert without_wall(one) == without_wall(many)


async def test_processes_that_live_at_the_same_time_see_each_other(tmp_path: Path) -> None:
    one, other = process(tmp_path), process(tmp_path)
    await one.call("set_wifi_status", {"on": False})
    assert (await other.call("get_wifi_status", {})).structured == {"result": False}
    await other.call("set_wifi_status", {"on": True})
    assert (await one.call("get_wifi_status", {})).structured == {"result": True}
    log = read_trajectory(tmp_path / "mine.jsonl")
    assert [event.seq for event in log.events] == list(range(1, len(log.events) + 1))


@settings(max_examples=at_least(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.floats(0, 1))
def test_a_log_cut_anywhere_can_be_gone_on_with(tmp_path: Path, cut: float) -> None:
    import anyio

    async def play() -> None:
        path = tmp_path / "mine.jsonl"
        path.unlink(missing_ok=True)
        session = process(tmp_path)
        for on in (False, True, False):
            await session.call("set_wifi_status", {"on": on})
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * cut)])
        kept = whole[: int(len(whole) * cut)].count(b'"event":"tool_call"') if cut else 0
        again = process(tmp_path)
        state = (await again.call("get_wifi_status", {})).structured["result"]
        log = read_trajectory(path)
        assert log.cut is False
        assert [event.seq for event in log.events] == list(range(1, len(log.events) + 1))
        calls = [event for event in log.events if event.event == "tool_call"]
        assert len(calls) - 1 in (kept, kept - 1)
        assert state is (len(calls) - 1 in (0, 2))

    anyio.run(play)


async def test_a_log_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    process(tmp_path)
    with pytest.raises(SessionError, match="the log is of scenario, variant and seed"):
        process(tmp_path, seed=1)
    with pytest.raises(SessionError, match="the log is of scenario"):
        process(tmp_path, scenario="ferry_countdown")


async def test_a_session_goes_on_with_the_user_that_it_was_begun_with(tmp_path: Path) -> None:
    users = {**USERS, "silent": lambda _: Silent()}
    spec = SessionSpec(SUITE.get("wifi_off"), session_id="mine")
    StateDir(tmp_path, SessionManager(SUITE, users=users, default_user="silent")).open(spec)
    again = StateDir(tmp_path, SessionManager(SUITE, users=users)).named("mine")
    assert again
    assert again.session.user.kind == "silent"
    with pytest.raises(UnknownUserError, match="unknown user 'silent'; known: scripted"):
        StateDir(tmp_path, SessionManager(SUITE)).named("mine")


class Silent:
    """A user that leaves without a word."""

    kind = "silent"

    def describe(self) -> dict[str, Any]:
        return {}

    async def respond(self, dialogue: object) -> UserTurn:
        return UserTurn(None)


async def test_a_file_that_is_no_log_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("shopping list\nmilk\n")
    with pytest.raises(TrajectoryError, match="is not a trajectory log"):
        process(tmp_path)
    assert (tmp_path / "mine.jsonl").read_text() == "shopping list\nmilk\n"


class NoStocks:
    """A source that knows no share."""

    def search(self, query: str, now: float) -> None:
        return None


async def test_a_session_looks_things_up_where_it_is_told_to_whoever_went_on_with_it(tmp_path: Path) -> None:
    manager = SessionManager(SUITE, knowledge=Knowledge(stocks=NoStocks()))
    spec = SessionSpec(SUITE.get("wifi_off"), "all_tools", session_id="mine")
    here, there = (StateDir(tmp_path, manager).open(spec) for _ in range(2))
    for session in (here, there, here):
        assert (await session.call("search_stock", {"query": "Apple"})).structured == {"result": None}


@each("name", ["../up", "a/b", ".hidden", "a b", "x" * 200, "a\x00b"])
def test_an_id_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(StateError, match="session id"):
        process(tmp_path, session=name)
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="cannot use"):
        StateDir(tmp_path / "file" / "state", SessionManager(SUITE))


async def test_ids_are_made_where_none_is_given(tmp_path: Path) -> None:
    state, spec = StateDir(tmp_path, SessionManager(SUITE)), SessionSpec(SUITE.get("wifi_off"), session_id="a")
    process(tmp_path, session="a-2")
    assert [state.begin(spec).session.spec.id for _ in range(3)] == ["a", "a-3", "a-4"]


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    one, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    with one.held(), other.held(within=0) as held:
        assert not held
    with other.held(), one.held(within=0) as held:
        assert not held


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be counted here")
async def test_sessions_that_rest_keep_no_file_open(tmp_path: Path) -> None:
    before = open_files()
    sessions = [process(tmp_path, session=f"s{number}") for number in range(5)]
    for session in sessions:
        await session.call("get_wifi_status", {})
    assert open_files() <= before + 1  # the event loop may need one


def test_where_there_are_no_locks_nobody_waits_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(file_lock, "_take", fail)
    with pytest.raises(StateError, match=r"cannot use .* as state folder: No locks available"):
        process(tmp_path)


@each(
    ("before", "after"),
    [
        (b"", b""),
        (b'{"a":1}\n', b'{"a":1}\n'),
        (b'{"a":1}\n{"b"', b'{"a":1}\n'),
        (b'{"a":1}\n{"b":2}', b'{"a":1}\n{"b":2}\n'),
        (b'{"a', b""),
        (b'{"a":1}\n\n\n', b'{"a":1}\n\n\n'),
        (b'{"a":1}\n\xc3', b'{"a":1}\n'),
    ],
)
def test_a_log_is_made_fit_to_be_appended_to(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(before)
    assert mend_log(path) is (before != after)
    assert path.read_bytes() == after


def test_a_log_that_is_not_there_needs_no_mending(tmp_path: Path) -> None:
    assert mend_log(tmp_path / "none.jsonl") is False


# what is no file of the folder's own


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.lock"])
def test_a_link_across_the_border_of_the_folder_is_not_followed(name: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text("somebody's half a line")
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / name).symlink_to(outside)
    with pytest.raises(StateError, match=f"'{name}' is a link or no regular file"):
        process(folder)
    assert outside.read_text() == "somebody's half a line"


def test_a_pipe_in_the_folder_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.jsonl")
    with pytest.raises(StateError, match="is a link or no regular file"):
        process(tmp_path)


def test_a_folder_in_which_nothing_can_be_made_is_told_at_once() -> None:
    with pytest.raises(StateError, match="cannot use '/sys' as state folder"):
        StateDir(Path("/sys"), SessionManager(SUITE))
