"""Open sessions: found by token and nothing else, recorded without loss, given up when nobody uses them."""

import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from sandbox_clients.base import ToolRequest
from sandbox_scenarios import ScenarioError

from sandbox_mcp.app.run.transports import DirectTarget
from sandbox_mcp.engine.trajectory import MemoryLog, Message, SessionEnded, ToolCall, parse_trajectory, read_trajectory
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge
from sandbox_mcp.engine.worlds.phone.knowledge.holidays import OfflineHolidays
from sandbox_mcp.engine.worlds.phone.knowledge.stocks import OfflineStocks, Quote
from sandbox_mcp.engine.worlds.phone.knowledge.units import OfflineUnits
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.agent_calls import CallResult
from sandbox_mcp.play.session.log_files import LogFiles
from sandbox_mcp.play.session.manager import (
    SessionManager,
    TooManySessionsError,
    UnknownSessionError,
    UnknownUserError,
)
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.users import Line, ScriptedUser, UserTurn
from tests.each import each
from tests.suite import SUITE

pytestmark = pytest.mark.anyio
WIFI_OFF = SUITE.get("wifi_off")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def begin(manager: SessionManager, scenario: str = "wifi_off", user: Any = None, **spec: Any) -> OpenSession:
    chosen = manager.suite.get(scenario)
    return manager.create(SessionSpec(chosen, **spec), user or ScriptedUser(chosen.user.script))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class SlowUser:
    """A user that answers when it is told to."""

    kind = "slow"

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self.answer = anyio.Event()

    def describe(self) -> dict[str, Any]:
        return {}

    async def respond(self, dialogue: tuple[Line, ...]) -> UserTurn:
        self.asked.set()
        await self.answer.wait()
        return UserTurn(f"You said: {dialogue[-1].text}")


async def test_a_session_is_found_by_its_token_until_it_is_closed() -> None:
    manager = SessionManager(SUITE)
    session = begin(manager)
    assert manager.get(session.token) is session
    assert list(manager) == [session]
    await manager.close(session.token)
    with pytest.raises(UnknownSessionError) as error:
        manager.get(session.token)
    assert session.token not in str(error.value)
    assert session.session.ended == "abandoned"


async def test_an_empty_manager_is_a_manager() -> None:
    manager = SessionManager(SUITE)
    assert len(manager) == 0
    assert manager


async def test_a_variant_that_does_not_exist_opens_nothing(tmp_path: Path) -> None:
    manager = SessionManager(SUITE, log_dir=tmp_path)
    with pytest.raises(ScenarioError, match="unknown variant 'odd'"):
        begin(manager, variant="odd")
    assert (len(manager), names_in(tmp_path)) == (0, [])


async def test_users_are_made_by_name() -> None:
    manager = SessionManager(SUITE, users={"slow": lambda _: SlowUser()})
    assert manager.user("slow", WIFI_OFF).kind == "slow"
    with pytest.raises(UnknownUserError, match="unknown user 'odd'; known: slow"):
        manager.user("odd", WIFI_OFF)


async def test_equal_presentations_are_shared() -> None:
    manager = SessionManager(SUITE)
    one, other = (
        begin(manager, "wifi_off", variant="all_tools"),
        begin(manager, "wifi_off", variant="all_tools", seed=9),
    )
    third = begin(manager, "ferry_countdown", variant="all_tools")
    base = begin(manager, "wifi_off")
    with_channel = begin(manager, "wifi_off", user_channel="tool")
    assert one.presentation is other.presentation
    assert (one.presentation is third.presentation) == (
        [tool.name for tool in one.presentation.listed] == [tool.name for tool in third.presentation.listed]
    )
    assert base.presentation is not one.presentation
    assert [tool.name for tool in with_channel.presentation.listed] == ["set_wifi_status", "send_message_to_user"]
    assert base.session.tools is with_channel.session.tools or base.session.tools == with_channel.session.tools


async def test_logs_of_equal_sessions_are_files_of_their_own(tmp_path: Path) -> None:
    manager = SessionManager(SUITE, log_dir=tmp_path / "deep" / "logs")
    sessions = [begin(manager) for _ in range(3)]
    await manager.close_all()
    names = [session.path.name for session in sessions if session.path]
    assert names == ["wifi_off-base-s0-t0.jsonl", "wifi_off-base-s0-t0-2.jsonl", "wifi_off-base-s0-t0-3.jsonl"]
    assert all(read_trajectory(session.path or "").complete for session in sessions)


async def test_many_logs_are_written_with_few_open_files(tmp_path: Path) -> None:
    files = LogFiles(limit=3)
    logs = [files.new(tmp_path, "log") for _ in range(10)]
    started = parse_trajectory(begin(SessionManager(SUITE)).lines() or b"").started
    for _ in range(3):
        for log in logs:
            log.write(started)
    open_now = len(files._recent)
    for log in logs:
        log.release()
    assert open_now == 3
    assert [len(log.path.read_text().splitlines()) for log in logs] == [3] * 10


async def test_a_log_given_by_the_caller_is_the_callers() -> None:
    log = MemoryLog()
    manager = SessionManager(SUITE)
    session = manager.create(SessionSpec(WIFI_OFF), ScriptedUser(WIFI_OFF.user.script), sink=log)
    await session.call("set_wifi_status", {"on": False})
    assert isinstance(log.events[-1], ToolCall)
    assert session.path is None


async def test_the_limit_counts_sessions_that_go_on() -> None:
    manager = SessionManager(SUITE, max_sessions=2)
    first, second = begin(manager), begin(manager)
    with pytest.raises(TooManySessionsError, match="the limit is 2 open sessions"):
        begin(manager)
    await second.end("abandoned")
    third = begin(manager)
    assert list(manager) == [first, third]


def leave_alone(*sessions: OpenSession) -> None:
    """Make it an hour and a minute since they were used."""
    for session in sessions:
        session.used -= 3660


async def test_sessions_that_nobody_uses_are_given_up() -> None:
    manager = SessionManager(SUITE)
    idle, used = begin(manager), begin(manager)
    leave_alone(idle, used)
    await used.call("set_wifi_status", {"on": False})
    await manager.reap()
    assert list(manager) == [used]
    assert idle.session.ended == "abandoned"


async def test_a_session_at_work_is_not_given_up() -> None:
    manager, user = SessionManager(SUITE, idle_seconds=0.0), SlowUser()
    session = begin(manager, user=user)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.say, "hello")
        await user.asked.wait()
        await manager.reap()
        assert list(manager) == [session]
        user.answer.set()


async def test_the_reaper_goes_on_by_itself() -> None:
    manager = SessionManager(SUITE, idle_seconds=0.01)
    begin(manager)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(manager.reap_forever)
        with anyio.fail_after(60):
            while len(manager):  # noqa: ASYNC110
                await anyio.sleep(0.005)
        tasks.cancel_scope.cancel()


async def test_a_request_is_use_though_it_be_no_call() -> None:
    manager = SessionManager(SUITE)
    looked_at, idle = begin(manager), begin(manager)
    leave_alone(looked_at, idle)
    manager.get(looked_at.token)
    await manager.reap()
    assert list(manager) == [looked_at]
    assert idle.session.over


class FullDisk:
    """Where the end of a session no longer fits."""

    def write(self, event: Any) -> None:
        if isinstance(event, SessionEnded):
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("way", ["reap", "close_all"])
async def test_a_log_that_cannot_be_written_keeps_no_other_session_open(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    manager = SessionManager(SUITE, idle_seconds=0.0)
    manager.create(SessionSpec(WIFI_OFF), ScriptedUser(WIFI_OFF.user.script), sink=FullDisk())
    other = begin(manager)
    await anyio.sleep(0.01)
    await getattr(manager, way)()
    assert list(manager) == []
    assert other.session.ended == "abandoned"
    assert "No space left on device" in caplog.text


@each("how", ["end", "say", "call", "before"])
async def test_who_watches_a_session_is_told_once_that_it_is_over(how: str) -> None:
    session, told = begin(SessionManager(SUITE, batch_window=0)), list[str]()
    if how == "before":
        await session.end("abandoned")
    session.when_over(lambda: told.append("over"))
    if how == "say":
        await session.say("Wifi is off.")
    if how == "call":
        session.session.turns = WIFI_OFF.max_turns
        await session.call("get_wifi_status", {})
    await session.end("abandoned")
    assert told == ["over"]


async def test_a_call_waits_until_the_user_has_answered() -> None:
    user, order = SlowUser(), list[str]()
    session = begin(SessionManager(SUITE, batch_window=0), user=user)

    async def call() -> None:
        await session.call("set_wifi_status", {"on": False})
        order.append("called")

    async def say() -> None:
        await session.say("hello")
        order.append("answered")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(say)
        await user.asked.wait()
        tasks.start_soon(call)
        await anyio.sleep(0.02)
        assert order == []
        user.answer.set()
    events = parse_trajectory(session.lines() or b"").events
    assert order == ["answered", "called"]
    assert [type(event) for event in events[-2:]] == [Message, ToolCall]


async def test_an_answer_is_recorded_even_if_whoever_asked_has_gone() -> None:
    user = SlowUser()
    session = begin(SessionManager(SUITE), user=user)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.say, "hello")
        await user.asked.wait()
        tasks.cancel_scope.cancel()
        user.answer.set()
    assert session.session.dialogue[-1] == Line("user", "You said: hello")


async def test_a_session_that_is_over_lets_go_of_its_file(tmp_path: Path) -> None:
    manager = SessionManager(SUITE, log_dir=tmp_path)
    session = begin(manager)
    await session.say("Wifi is off.")
    assert session.session.over
    assert not manager._files._recent
    assert isinstance(read_trajectory(session.path or "").ended, SessionEnded)


async def test_a_thousand_sessions_are_open_at_once(tmp_path: Path) -> None:
    manager = SessionManager(SUITE, log_dir=tmp_path, max_sessions=1000)
    sessions = [begin(manager, variant="all_tools") for _ in range(1000)]
    assert len(manager) == 1000
    assert len({session.token for session in sessions}) == 1000
    assert len({id(session.presentation) for session in sessions}) == 1
    assert not (await sessions[0].call("set_wifi_status", {"on": False})).error
    await manager.close_all()


async def test_calls_sent_together_past_mcp_are_recorded_like_any_others() -> None:
    manager = SessionManager(SUITE)
    session = begin(manager)
    gone: list[str] = []
    session.when_over(lambda: gone.append("over"))
    requests = [ToolRequest("set_wifi_status", {"on": False})] * WIFI_OFF.max_calls
    async with DirectTarget(session).connect() as tools:
        await tools.call_together(requests)
        await tools.call_together(requests[:1])
    assert gone == ["over"]


@each(
    ("source", "method", "call"),
    [
        (OfflineHolidays, "search", ToolRequest("search_holiday", {"holiday_name": "Easter", "year": 2031})),
        (OfflineUnits, "convert", ToolRequest("unit_conversion", {"amount": 3, "from_unit": "rod", "to_unit": "m"})),
    ],
)
async def test_others_are_served_while_a_session_looks_up_what_takes_long(
    monkeypatch: pytest.MonkeyPatch, source: Any, method: str, call: ToolRequest
) -> None:
    manager = SessionManager(SUITE, batch_window=0)
    looking, other = begin(manager, "landlord_number", variant="all_tools"), begin(manager)
    asked, served = threading.Event(), threading.Event()
    answer = getattr(source, method)

    def slowly(*question: object) -> object:
        asked.set()
        assert served.wait(60), "the other session had to wait"
        return answer(source(), *question[1:])

    monkeypatch.setattr(source, method, slowly)
    results: list[CallResult] = []

    async def look() -> None:
        results.append(await looking.call(call.name, call.arguments))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        while not asked.is_set():
            await anyio.lowlevel.checkpoint()
        await other.call("set_wifi_status", {"on": False})
        served.set()
    assert results[0].error is None
    log = parse_trajectory(looking.lines() or b"")
    assert [event.name for event in log.events if isinstance(event, ToolCall)] == [call.name]


class AskedSlowly(OfflineStocks):
    """A live source that answers only once another session has been served, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked, self.served, self.times = threading.Event(), threading.Event(), 0

    def search(self, query: str, now: float) -> Quote | None:
        self.times += 1
        self.asked.set()
        assert self.served.wait(60), "the other session had to wait"
        return super().search(query, now)


async def test_others_are_served_while_a_live_source_is_asked_and_it_is_asked_once() -> None:
    stocks = AskedSlowly()
    manager = SessionManager(SUITE, batch_window=0, knowledge=Knowledge(stocks=stocks))
    looking, other = begin(manager, "landlord_number", variant="all_tools"), begin(manager)
    results: list[CallResult] = []

    async def look() -> None:
        results.append(await looking.call("search_stock", {"query": "Apple"}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        while not stocks.asked.is_set():
            await anyio.lowlevel.checkpoint()
        await other.call("set_wifi_status", {"on": False})
        stocks.served.set()
    assert (results[0].error, stocks.times) == (None, 1)


async def test_watchers_hear_of_notices_in_the_thread_they_watch_from_when_sources_are_live() -> None:
    session = begin(
        SessionManager(SUITE, batch_window=0, knowledge=Knowledge()), "landlord_number", variant="all_tools"
    )
    heard: list[threading.Thread] = []
    session.when_announced(lambda: heard.append(threading.current_thread()))
    await session.call("set_timer", {"seconds": 1, "label": "tea"})
    await session.call("get_wifi_status", {})
    await session.call("get_wifi_status", {})
    assert heard == [threading.current_thread()]
