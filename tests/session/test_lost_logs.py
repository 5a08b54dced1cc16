"""Logs that cannot be written: what is not in the log has not happened, and the session is over."""

import os
import shutil
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import LogWriter, Trajectory, read_trajectory
from sandbox_mcp.play.session import AgentCall, CallResult, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.state_folder import StateDir
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.laws import at_least
from tests.session.full_disks import no_file_beyond
from tests.suite import SUITE

pytestmark = pytest.mark.anyio
WIFI_OFF = SUITE.get("wifi_off")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def begin(folder: Path, **spec: object) -> OpenSession:
    manager = SessionManager(SUITE, log_dir=folder, batch_window=0)
    return manager.create(SessionSpec(WIFI_OFF, **spec), ScriptedUser(WIFI_OFF.user.script))  # pyright: ignore[reportArgumentType]


def size_of(session: OpenSession) -> int:
    assert session.path
    return session.path.stat().st_size


def log_of(session: OpenSession) -> Trajectory:
    assert session.path
    return read_trajectory(session.path)


def happened(told: CallResult) -> bool:
    return (told.error or "").partition(":")[0] not in ("LogError", "SessionOverError")


async def test_a_call_that_is_not_recorded_has_not_happened_and_says_so(tmp_path: Path) -> None:
    session = begin(tmp_path)
    with no_file_beyond(size_of(session) + 10):
        told = await session.call("set_wifi_status", {"on": False})
    assert (told.error or "").startswith("LogError: this did not happen")
    assert [event.event for event in log_of(session).events] == ["message"] * 3


async def test_a_session_whose_log_was_lost_goes_on_no_more(tmp_path: Path) -> None:
    session = begin(tmp_path)
    with no_file_beyond(size_of(session)):
        await session.call("set_wifi_status", {"on": False})
    later = await session.call("set_wifi_status", {"on": False})
    assert (session.session.ended, (later.error or "").partition(":")[0]) == ("log_failed", "SessionOverError")


async def test_once_there_is_room_again_the_log_says_how_it_ended(tmp_path: Path) -> None:
    session = begin(tmp_path)
    with no_file_beyond(size_of(session)):
        await session.call("set_wifi_status", {"on": False})
    await session.end("abandoned")
    ended = log_of(session).ended
    assert (ended and ended.reason, ended and ended.detail) == ("log_failed", "File too large")


async def test_of_calls_sent_together_those_that_were_recorded_have_happened(tmp_path: Path) -> None:
    session = begin(tmp_path)
    before = size_of(session)
    session.session.call("set_wifi_status", {"on": False})
    line = size_of(session) - before
    with no_file_beyond(size_of(session) + line + line // 2):
        told = session.session.call_batch([AgentCall("set_wifi_status", {"on": on}) for on in (True, False)])
    recorded = [event.arguments["on"] for event in log_of(session).events if event.event == "tool_call"][1:]
    assert recorded == [on for on, item in zip((True, False), told, strict=True) if happened(item)]
    assert len(recorded) == 1


@each("room", [0, 50, 300])
async def test_words_that_cannot_be_recorded_end_the_session(tmp_path: Path, room: int) -> None:
    session = begin(tmp_path)
    with no_file_beyond(size_of(session) + room):
        reply = await session.say("Wifi is off.")
    assert (reply.over, reply.reason) == (True, "log_failed")


async def test_the_tool_that_reaches_the_user_says_it_too(tmp_path: Path) -> None:
    session = begin(tmp_path, user_channel="tool")
    with no_file_beyond(size_of(session)):
        told = await session.call("send_message_to_user", {"content": "Wifi is off."})
    assert (told.error or "").startswith("LogError: this did not happen")


@settings(max_examples=at_least(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(room=st.integers(0, 3000), then=st.integers(0, 3))
def test_wherever_the_disk_fills_up_the_log_stays_whole(tmp_path: Path, room: int, then: int) -> None:
    """Every line once and in order, whatever is tried afterwards, and only a true end is an end."""

    async def play() -> None:
        session = begin(tmp_path)
        with no_file_beyond(size_of(session) + room):
            answers = [await session.call("set_wifi_status", {"on": False}) for _ in range(4)]
        answers += [await session.call("set_wifi_status", {"on": False}) for _ in range(then)]
        await session.end("abandoned")
        recorded = [event for event in log_of(session).events if event.event == "tool_call"]
        assert len(recorded) == sum(map(happened, answers))
        ended = log_of(session).ended
        assert ended
        assert ended.reason == session.session.ended

    anyio.run(play)


async def test_a_session_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    whole = size_of(begin(tmp_path / "other"))
    for room in (0, 100, whole - 100):
        with no_file_beyond(room), pytest.raises(OSError, match="too large"):
            begin(tmp_path)
    assert os.listdir(tmp_path) == ["other"]  # noqa: PTH208


@each("way", ["folder", "file", "released"])
async def test_a_log_that_was_removed_is_not_begun_anew(tmp_path: Path, way: str) -> None:
    session = begin(tmp_path / "logs")
    assert session.path
    if way == "released":
        session._release()
    shutil.rmtree(tmp_path / "logs") if way != "file" else session.path.unlink()
    told = await session.call("get_wifi_status", {})
    assert ((told.error or "").partition(":")[0], session.session.ended) == ("LogError", "log_failed")
    assert not session.path.exists()


@each("way", ["folder", "file", "cut"])
async def test_nor_is_one_in_a_state_folder(tmp_path: Path, way: str) -> None:
    state = StateDir(tmp_path / "state", SessionManager(SUITE, batch_window=0))
    session = state.open(SessionSpec(WIFI_OFF, session_id="mine"))
    assert session.path
    if way == "folder":
        shutil.rmtree(tmp_path / "state")
    elif way == "file":
        session.path.unlink()
    else:
        session.path.write_bytes(b"")
    told = await session.call("get_wifi_status", {})
    assert ((told.error or "").partition(":")[0], session.session.ended) == ("SessionOverError", "log_failed")


async def test_a_session_that_had_ended_keeps_its_end(tmp_path: Path) -> None:
    session = begin(tmp_path)
    await session.end("abandoned")
    shutil.rmtree(tmp_path)
    await session.call("get_wifi_status", {})
    assert session.session.ended == "abandoned"


def test_a_line_that_does_not_fit_is_taken_back(tmp_path: Path) -> None:
    session = begin(tmp_path)
    assert session.path
    events = [log_of(session).started, *log_of(session).events]
    before = session.path.read_bytes()
    with LogWriter(session.path) as log:
        with no_file_beyond(len(before) + 7), pytest.raises(OSError, match="too large"):
            log.write(events[1])
        assert session.path.read_bytes() == before
