"""``serve`` over stdio, as hosts start it: real processes, both eras, killed and continued."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from sandbox_mcp.engine.trajectory import ToolCall, read_trajectory
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.state_folder import StateDir
from sandbox_mcp.play.users.composing import THANKS
from tests.e2e.processes import ERAS, ROOT, StdioProcess, run
from tests.suite import SUITE
from tests.warm import program

pytestmark = pytest.mark.anyio
each_era = pytest.mark.parametrize("era", ERAS)
LATE = "late_for_dinner_low_battery"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def server(*args: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=program(), args=["serve", *args], cwd=str(ROOT)
    )  # fmt: skip


def only_log(folder: Path) -> Path:
    (path,) = folder.glob("*.jsonl")
    return path


async def ask(client: Client, tool: str, /, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def play_late_for_dinner(client: Client) -> None:
    """The whole scenario, the agent speaking through the tool."""
    await ask(client, "get_low_battery_mode_status")
    text = "Cellular service is off because of low battery mode. Shall I turn low battery mode off?"
    asked = await ask(client, "send_message_to_user", content=text)
    assert asked["reply"] == "You can turn low battery mode off, my charger is right here."
    await ask(client, "set_low_battery_mode_status", on=False)
    await ask(client, "set_cellular_service_status", on=True)
    (wren,) = (await ask(client, "search_contacts", name="Wren"))["result"]
    await ask(
        client, "send_message_with_phone_number", phone_number=wren["phone_number"], content="20 minutes late, sorry!"
    )
    told = await ask(client, "send_message_to_user", content="The message to Wren is sent.")
    assert (told["reply"] in THANKS, told["conversation_over"]) == (True, True)


def assert_played(log: Path) -> None:
    trajectory = read_trajectory(log)
    assert trajectory.ended
    assert trajectory.ended.reason == "user_ended"
    assert trajectory.started.scenario == LATE
    assert trajectory.started.user_channel == "tool"
    sent = [event for event in trajectory.events if isinstance(event, ToolCall) and event.changes]
    assert [change.table for event in sent for change in event.changes][-1] == "messaging"


@each_era
async def test_a_whole_scenario_through_the_lobby(era: str, tmp_path: Path) -> None:
    async with Client(server("--log-dir", str(tmp_path)), mode=era) as client:
        started = await ask(client, "start_scenario", name=LATE)
        assert started["user_says"] == SUITE.get(LATE).user.opening
        await play_late_for_dinner(client)
    assert_played(only_log(tmp_path))


@each_era
async def test_a_whole_scenario_that_was_named_at_the_start(era: str, tmp_path: Path) -> None:
    options = ("--scenario", LATE, "--variant", "3_distraction_tools", "--user-channel", "tool", "--seed", "4")
    async with Client(server(*options, "--log-dir", str(tmp_path)), mode=era) as client:
        await play_late_for_dinner(client)
    assert_played(only_log(tmp_path))
    started = read_trajectory(only_log(tmp_path)).started
    assert (started.variant, started.seed) == ("3_distraction_tools", 4)


@each_era
async def test_a_process_for_every_call_is_one_session(era: str, tmp_path: Path) -> None:
    options = server(
        "--state-dir", str(tmp_path), "--session", "mine", "--scenario", "wifi_off", "--variant", "all_tools"
    )
    for name, arguments in (("set_wifi_status", {"on": False}), ("get_wifi_status", {})):
        async with Client(options, mode=era) as client:
            result = await ask(client, name, **arguments)
    assert result == {"result": False}
    assert [event.seq for event in read_trajectory(tmp_path / "mine.jsonl").events] == [1, 2, 3, 4, 5]


async def test_processes_that_are_started_together_share_the_session(tmp_path: Path) -> None:
    options = server(
        "--state-dir", str(tmp_path), "--session", "mine", "--scenario", "wifi_off", "--variant", "all_tools"
    )

    async def add(number: int) -> None:
        async with Client(options, mode="legacy") as client:
            await ask(client, "add_reminder", content=f"r{number}", reminder_timestamp=1800000000)

    async with anyio.create_task_group() as together:
        for number in range(3):
            together.start_soon(add, number)
    log = read_trajectory(tmp_path / "mine.jsonl")
    calls = [event for event in log.events if isinstance(event, ToolCall)]
    assert [event.seq for event in log.events] == list(range(1, len(log.events) + 1))
    assert len({call.result for call in calls}) == 3


def test_a_killed_process_is_continued_where_it_stopped(tmp_path: Path) -> None:
    options = ("--state-dir", str(tmp_path), "--session", "mine")
    first = StdioProcess(*options, "--scenario", "wifi_off", "--variant", "all_tools")
    first.call("set_wifi_status", '{"on": false}')
    first.kill()
    with (tmp_path / "mine.jsonl").open("ab") as log:
        log.write(b'{"event":"tool_call","seq":5,"clo')  # as if it had been killed while writing
    second = StdioProcess(*options)
    seen = second.call("get_wifi_status")
    said = second.close()
    log_after = read_trajectory(tmp_path / "mine.jsonl")
    assert seen["structuredContent"] == {"result": False}
    assert [event.seq for event in log_after.events] == [1, 2, 3, 4, 5]
    assert not log_after.complete  # it can be gone on with
    assert f"log: {tmp_path / 'mine.jsonl'}" in said


def test_a_lobby_in_a_state_folder_goes_on_as_well(tmp_path: Path) -> None:
    options = ("--state-dir", str(tmp_path))
    first = StdioProcess(*options)
    first.call("start_scenario", '{"name": "wifi_off"}')
    first.kill()
    second = StdioProcess(*options)
    assert second.call("list_scenarios")["structuredContent"]["running"] == "wifi_off"
    assert not second.call("set_wifi_status", '{"on": false}')["isError"]
    second.close()


def test_whatever_is_written_to_the_pipe_gets_an_answer_or_does_no_harm(tmp_path: Path) -> None:
    process = StdioProcess("--scenario", "wifi_off", "--log-dir", str(tmp_path))
    for arguments in (
        "[1]", '"off"', "7", "null", '{"on": "\\ud800"}', '{"\\udfff": 1}', '{"on": NaN}', '{"on": 1e999}',
        json.dumps({"on": "x" * 1_000_000}),
    ):  # fmt: skip
        assert process.call("set_wifi_status", arguments)["isError"], arguments
    for nonsense in ("{", "[]", "null", "\x00", "[" * 5000, '{"jsonrpc": "2.0"}', '{"x": "\\ud800"', "\udcff"):
        process.line(nonsense)
        answer = process.answer()
        assert answer["id"] is None
        assert answer["error"]["code"] in (-32700, -32600)
    process.line("")  # which is not a message and needs no answer
    assert not process.call("set_wifi_status", '{"on": false}')["isError"]
    process.close()
    assert read_trajectory(only_log(tmp_path)).ended


def test_when_the_host_goes_the_session_is_closed_and_the_person_told_where_the_log_is(tmp_path: Path) -> None:
    process = StdioProcess("--scenario", "wifi_off", "--log-dir", str(tmp_path))
    said = process.close()
    log = read_trajectory(only_log(tmp_path))
    assert log.ended
    assert log.ended.reason == "abandoned"
    assert "user: Please turn off the wifi on my phone." in said
    assert f"log: {only_log(tmp_path)}" in said


@pytest.mark.skipif(os.name != "posix", reason="sends a signal as a terminal does")
def test_a_person_who_interrupts_it_gets_a_closed_log(tmp_path: Path) -> None:
    process = StdioProcess("--scenario", "wifi_off", "--log-dir", str(tmp_path))
    process.call("set_wifi_status", '{"on": false}')
    process.process.send_signal(signal.SIGINT)
    _, said = process.process.communicate(timeout=100)
    log = read_trajectory(only_log(tmp_path))
    assert process.process.returncode == 0, said
    assert b"Traceback" not in said
    assert log.ended
    assert log.ended.reason == "abandoned"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--scenario", "wifi_of"], "unknown scenario 'wifi_of'; did you mean 'wifi_off'"),
        (["--scenario", "wifi_off", "--variant", "odd"], "unknown variant 'odd'; known: base"),
        (["--session", "x"], "say which with --state-dir"),
        (["--session", "x", "--state-dir", "{tmp}"], "say which --scenario to begin"),
        (["--session", "../x", "--state-dir", "{tmp}", "--scenario", "wifi_off"], "session id '../x'"),
        (["--seed", "1"], "go with --scenario"),
        (["--user", "llm"], "name one with --user-model"),
        (["--http", "--port", "0", "--session", "old", "--state-dir", "{tmp}"], "is not a trajectory log"),
        (["--http", "--session", "../x", "--state-dir", "{tmp}"], "session id '../x'"),
        (["--http", "--session", "x", "--state-dir", "{tmp}"], "say which --scenario to begin"),
        (["--scenarios", "{tmp}/none.yaml", "--scenario", "x"], "does not exist"),
        (["--scenario", "wifi_off", "--log-dir", "{tmp}/file/logs"], "choose another with --log-dir"),
        (["--scenario", "wifi_off", "--session", "old", "--state-dir", "{tmp}"], "is not a trajectory log"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(tmp_path: Path, args: list[str], says: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "old.jsonl").write_text("not a log\n")
    done = run("serve", *(arg.replace("{tmp}", str(tmp_path)) for arg in args))
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("sandbox-mcp: ")


def test_a_session_is_not_continued_as_something_else(tmp_path: Path) -> None:
    manager = SessionManager(SUITE)
    StateDir(tmp_path, manager).open(SessionSpec(manager.suite.get("wifi_off"), session_id="mine"))
    for option, value in (("--seed", "1"), ("--variant", "all_tools"), ("--user-channel", "tool")):
        done = run("serve", "--state-dir", str(tmp_path), "--session", "mine", option, value)
        assert done.code == 2
        assert f"was begun with {option}" in done.err
