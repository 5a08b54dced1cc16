"""The lobby: a person types "run the scenario X", and a host's model is told by the tools how to go on."""

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import PromptReference
from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.worlds import FILES, named
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.server.lobby.names import PAGE
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat, StoredSeat
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.state_folder import StateDir
from sandbox_mcp.play.users.composing import THANKS
from tests.each import each
from tests.server.serving_kit import ERAS, MODERN, SUITE, Served, client, recorded, served, text_of

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)
CONTROL = ["list_scenarios", "start_scenario", "send_message_to_user", "end_scenario"]


@asynccontextmanager
async def lobby(era: str, manager: SessionManager | None = None) -> AsyncGenerator[tuple[Client, list[OpenSession]]]:
    """A client in a lobby of its own, and the sessions that were announced to its person."""
    manager = SessionManager(SUITE) if manager is None else manager
    announced: list[OpenSession] = []
    server = lobby_server(manager.suite, Lobby(manager, ManagedSeat(manager), announced.append))
    async with Client(server, mode=era) as connected:
        yield connected, announced


async def names(of: Client) -> list[str]:
    return [tool.name for tool in (await of.list_tools(cache_mode="bypass")).tools]


def logs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


@each_era
async def test_the_list_of_tools_never_changes(era: str) -> None:
    async with lobby(era) as (me, _):
        before = await names(me)
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        during = await names(me)
        await me.call_tool("end_scenario", {})
        after = await names(me)
    assert before == during == after == [*CONTROL, *phone.agent_tools]


@each_era
async def test_before_a_scenario_is_started_the_world_says_so(era: str) -> None:
    async with lobby(era) as (me, announced):
        for name, arguments in (
            ("set_wifi_status", {"on": False}),
            ("send_message_to_user", {"content": "hello"}),
            ("end_scenario", {}),
            ("no_such_tool", {}),
        ):
            result = await me.call_tool(name, arguments)
            assert result.is_error
            assert "start_scenario" in text_of(result)
    assert not announced


@each_era
async def test_starting_tells_how_to_go_on_and_what_the_user_says(era: str) -> None:
    async with lobby(era) as (me, announced):
        started = (await me.call_tool("start_scenario", {"name": "wifi_off"})).structured_content
    assert started["user_says"] == SUITE.get("wifi_off").user.opening
    assert "send_message_to_user" in started["instructions"]
    assert [session.session.spec.scenario.name for session in announced] == ["wifi_off"]


@each_era
async def test_a_scenario_from_start_to_end(era: str) -> None:
    async with lobby(era) as (me, announced):
        listed = (await me.call_tool("list_scenarios", {})).structured_content
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        running = (await me.call_tool("list_scenarios", {})).structured_content
        await me.call_tool("set_wifi_status", {"on": False})
        told = (await me.call_tool("send_message_to_user", {"content": "Wifi is off."})).structured_content
        again = await me.call_tool("start_scenario", {"name": "wifi_off", "seed": 2})
    assert listed["running"] is None
    assert running["running"] == "wifi_off"
    assert told["conversation_over"]
    assert told["reply"] in THANKS
    assert not again.is_error
    first, second = (session.session.spec for session in announced)
    assert (first.variant, first.user_channel, first.seed, second.seed) == ("all_tools", "tool", 0, 2)


async def test_null_for_a_seed_is_no_seed() -> None:
    async with lobby(MODERN) as (me, announced):
        started = await me.call_tool("start_scenario", {"name": "wifi_off", "seed": None})
        listed = await me.call_tool("list_scenarios", {"search": None, "page": None})
    assert (started.is_error, listed.is_error) == (False, False)
    assert [session.session.spec.seed for session in announced] == [0]


@each_era
async def test_what_is_played_is_recorded_like_any_session(era: str) -> None:
    async with lobby(era) as (me, announced):
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        await me.call_tool("set_wifi_status", {"on": False})
        await me.call_tool("send_message_to_user", {"content": "Wifi is off."})
    log = recorded(announced[0])
    assert log.ended
    assert (log.started.user_channel, log.ended.reason) == ("tool", "user_ended")
    assert log.started.agent["kind"] == "host"
    assert log.started.agent["client"] == "mcp"


@each_era
async def test_a_running_scenario_is_not_lost_by_accident(era: str) -> None:
    async with lobby(era) as (me, announced):
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        second = await me.call_tool("start_scenario", {"name": "ferry_countdown"})
        ended = await me.call_tool("end_scenario", {})
        third = await me.call_tool("start_scenario", {"name": "ferry_countdown"})
    assert text_of(second).startswith("ScenarioRunningError: scenario 'wifi_off'")
    assert ended.structured_content == {"ended": "wifi_off"}
    assert not third.is_error
    assert announced[0].session.ended == "abandoned"


@each(
    ("arguments", "says"),
    [
        ({"name": "wifi_of"}, "did you mean 'wifi_off'"),
        ({"name": "zzzzzz"}, "see list_scenarios"),
        ({"name": "x" * 10_000}, "UnknownScenarioError"),
        ({}, "MissingArgumentError"),
        ({"name": 7}, "ArgumentTypeError"),
        ({"scenario": "wifi_off"}, "ArgumentNameError"),
        ({"name": "wifi_off", "seed": "one"}, "ArgumentTypeError"),
        ({"name": "wifi_off", "seed": -(2**63)}, "ValueError: seed must be from"),
    ],
)
async def test_a_scenario_that_cannot_be_started(arguments: dict[str, Any], says: str) -> None:
    async with lobby(MODERN) as (me, announced):
        result = await me.call_tool("start_scenario", arguments)
    assert result.is_error
    assert says in text_of(result)
    assert len(text_of(result)) < 500
    assert not announced


async def test_a_broken_file_is_told_to_the_person_and_not_to_the_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.yaml").write_text("family: mine\nscenarios:\n  - name: odd\n    toools: []\n")
    async with lobby(MODERN, SessionManager(Suite([tmp_path]))) as (me, _):
        results = [await me.call_tool("list_scenarios", {}), await me.call_tool("start_scenario", {"name": "odd"})]
    assert all(result.is_error and "mine.yaml" not in text_of(result) for result in results)
    assert "mine.yaml:4" in capsys.readouterr().err


async def test_a_full_server_says_so() -> None:
    manager = SessionManager(SUITE, max_sessions=1)
    async with lobby(MODERN, manager) as (one, _), lobby(MODERN, manager) as (other, _):
        await one.call_tool("start_scenario", {"name": "wifi_off"})
        refused = await other.call_tool("start_scenario", {"name": "wifi_off"})
    assert text_of(refused).startswith("TooManySessionsError")


@each_era
async def test_the_names_come_in_pages(era: str) -> None:
    async with lobby(era) as (me, _):
        pages = [(await me.call_tool("list_scenarios", {})).structured_content]
        while pages[-1]["next_page"]:
            pages.append((await me.call_tool("list_scenarios", {"page": pages[-1]["next_page"]})).structured_content)
    assert [name for page in pages for name in page["scenarios"]] == list(SUITE.names())
    assert {page["total"] for page in pages} == {len(SUITE.names())}
    assert max(len(page["scenarios"]) for page in pages) == PAGE


@each_era
async def test_the_names_are_searched_by_words(era: str) -> None:
    async with lobby(era) as (me, _):
        found = (await me.call_tool("list_scenarios", {"search": "Off wifi"})).structured_content
    assert found["scenarios"] == [name for name in SUITE.names() if "wifi" in name and "off" in name]
    assert "closest" not in found


async def test_a_search_without_success_names_the_closest() -> None:
    async with lobby(MODERN) as (me, _):
        found = (await me.call_tool("list_scenarios", {"search": "turn off wifi"})).structured_content
    assert (found["scenarios"], found["total"], found["next_page"]) == ([], 0, None)
    assert "wifi_off" in found["closest"]


@each("page", [0, -1, 1000])
async def test_a_page_that_is_not_there_is_refused(page: int) -> None:
    async with lobby(MODERN) as (me, _):
        refused = await me.call_tool("list_scenarios", {"page": page})
    last = math.ceil(len(SUITE.names()) / PAGE)
    assert text_of(refused) == f"ValueError: there is no page {page}; pages are from 1 to {last}"


@each("name", ["wifi_off", "Wifi off", "wifi-off", " WIFI_OFF "])
async def test_case_blanks_and_hyphens_do_not_count(name: str) -> None:
    async with lobby(MODERN) as (me, announced):
        started = (await me.call_tool("start_scenario", {"name": name})).structured_content
    assert started["scenario"] == "wifi_off"
    assert [session.session.spec.scenario.name for session in announced] == ["wifi_off"]


@each_era
async def test_once_the_user_has_left_every_tool_says_that_it_is_over(era: str) -> None:
    async with lobby(era) as (me, _):
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        await me.call_tool("set_wifi_status", {"on": False})
        await me.call_tool("send_message_to_user", {"content": "Wifi is off."})
        later = [
            text_of(await me.call_tool(name, arguments))
            for name, arguments in (
                ("get_wifi_status", {}),
                ("send_message_to_user", {"content": "Bye."}),
                ("end_scenario", {}),
            )
        ]
    assert all(text.startswith("NoScenarioError: the scenario 'wifi_off' is over") for text in later)


@each_era
async def test_the_start_button_is_one_prompt_of_a_single_user_message(era: str) -> None:
    async with lobby(era) as (me, _):
        (prompt,) = (await me.list_prompts()).prompts
        (message,) = (await me.get_prompt(prompt.name, {"scenario": "Wifi off"})).messages
    assert (prompt.name, [argument.name for argument in prompt.arguments]) == ("run_scenario", ["scenario"])
    assert (message.role, message.content.type) == ("user", "text")
    assert '"wifi_off"' in message.content.text


@each("arguments", [None, {}, {"scenario": " "}])
async def test_a_start_button_without_a_name_offers_a_choice(arguments: dict[str, str] | None) -> None:
    async with lobby(MODERN) as (me, _):
        (message,) = (await me.get_prompt("run_scenario", arguments)).messages
    assert "list_scenarios" in message.content.text


@each_era
async def test_a_start_button_that_cannot_start_says_why(era: str) -> None:
    async with lobby(era) as (me, _):
        with pytest.raises(MCPError, match="no prompt 'nope'; there is 'run_scenario'"):
            await me.get_prompt("nope")
        with pytest.raises(MCPError, match="no scenario 'wifi_of'; did you mean 'wifi_off'"):
            await me.get_prompt("run_scenario", {"scenario": "wifi_of"})


@each_era
async def test_the_name_is_completed_as_it_is_typed(era: str) -> None:
    button = PromptReference(name="run_scenario")
    async with lobby(era) as (me, _):
        typed = (await me.complete(button, {"name": "scenario", "value": "wifi_o"})).completion
        everything = (await me.complete(button, {"name": "scenario", "value": ""})).completion
        other = (await me.complete(button, {"name": "seed", "value": "wifi"})).completion
        with pytest.raises(MCPError, match="no prompt 'nope'"):
            await me.complete(PromptReference(name="nope"), {"name": "scenario", "value": ""})
    first, *_, last = typed.values
    assert first.startswith("wifi_o")
    assert not last.startswith("wifi_o")
    assert len(typed.values) == typed.total
    assert (len(everything.values), everything.total, everything.has_more) == (100, len(SUITE.names()), True)
    assert other.values == []


async def test_the_instructions_alone_tell_what_to_do() -> None:
    async with lobby("legacy") as (me, _):
        told = me.instructions or ""
    steps = ["start_scenario", "user_says", "send_message_to_user", "conversation_over", "person in this chat"]
    assert [step for step in steps if step not in told] == []


async def test_over_http_a_scenario_outlives_its_connection() -> None:
    async with served() as server:
        for era, (name, arguments) in zip(
            (*ERAS, *ERAS),
            (
                ("start_scenario", {"name": "wifi_off"}),
                ("set_wifi_status", {"on": False}),
                ("get_wifi_status", {}),
                ("send_message_to_user", {"content": "Wifi is off."}),
            ),
            strict=True,
        ):
            async with client(f"{server.base}/mcp", era) as fresh:
                result = await fresh.call_tool(name, arguments)
                assert not result.is_error
    assert result.structured_content["conversation_over"]
    assert result.structured_content["reply"] in THANKS


async def test_over_http_each_token_has_a_seat_of_its_own() -> None:
    async def running(server: Served, token: str) -> Any:
        async with client(f"{server.base}/mcp", MODERN, token) as me:
            return (await me.call_tool("list_scenarios", {})).structured_content["running"]

    async with served(lobby_tokens=("ann", "bob")) as server:
        async with client(f"{server.base}/mcp", "legacy", "ann") as ann:
            await ann.call_tool("start_scenario", {"name": "wifi_off"})
        assert await running(server, "ann") == "wifi_off"
        assert await running(server, "bob") is None
        for headers in ({}, {"Authorization": "Bearer eve"}, {"Authorization": f"Bearer {server.settings.api_token}"}):
            assert (await server.http.post("/mcp", content=b"{}", headers=headers)).status_code == 401


async def test_a_server_for_harnesses_has_no_lobby() -> None:
    async with served(lobby=False) as server:
        assert (await server.http.post("/mcp", content=b"{}")).status_code == 404


async def test_a_stored_scenario_is_found_by_the_next_process(tmp_path: Path) -> None:
    def fresh() -> Lobby:
        manager = SessionManager(SUITE)
        return Lobby(manager, StoredSeat(StateDir(tmp_path, manager)))

    await fresh().call("start_scenario", {"name": "wifi_off"}, None, {})
    await fresh().call("set_wifi_status", {"on": False}, None, {})
    told = await fresh().call("send_message_to_user", {"content": "Wifi is off."}, None, {})
    over = await fresh().call("get_wifi_status", {}, None, {})
    again = await fresh().call("start_scenario", {"name": "wifi_off"}, None, {})
    assert told.structured["conversation_over"]
    assert told.structured["reply"] in THANKS
    assert over.error
    assert over.error.startswith("NoScenarioError")
    assert again.error is None
    logs = logs_in(tmp_path)
    assert [path.name for path in logs] == ["wifi_off-all_tools-s0-t0-2.jsonl", "wifi_off-all_tools-s0-t0.jsonl"]
    assert [read_trajectory(path).complete for path in logs] == [False, True]


@each(
    ("was", "now"),
    [
        (SUITE.get("wifi_off").digest, "0" * 64),
        ('"scenario":"wifi_off"', '"scenario":"gone"'),
        ('{"event"', "milk, "),
        ('"schema":1', '"schema":9'),
    ],
)
async def test_a_stored_scenario_that_cannot_go_on_is_not_running_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], was: str, now: str
) -> None:
    manager = SessionManager(SUITE)
    await Lobby(manager, StoredSeat(StateDir(tmp_path, manager))).call("start_scenario", {"name": "wifi_off"}, None, {})
    log = tmp_path / "wifi_off-all_tools-s0-t0.jsonl"
    log.write_text(log.read_text().replace(was, now))

    later = SessionManager(SUITE)
    lobby = Lobby(later, StoredSeat(StateDir(tmp_path, later)))
    refused = await lobby.call("get_wifi_status", {}, None, {})
    again = await lobby.call("start_scenario", {"name": "wifi_off"}, None, {})
    assert (refused.error or "").startswith("NoScenarioError")
    assert again.error is None
    assert "cannot go on" in capsys.readouterr().err


async def test_a_state_folder_whose_note_is_damaged_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lobby.json").write_text("{")
    manager = SessionManager(SUITE)
    result = await Lobby(manager, StoredSeat(StateDir(tmp_path, manager))).call("get_wifi_status", {}, None, {})
    assert result.error
    assert str(tmp_path) not in result.error
    assert "lobby.json" in capsys.readouterr().err


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Suite:
    declared = Path(__file__).parent.parent / "worlds" / "declared"
    monkeypatch.setenv(FILES, str(declared / "library.py"))
    return Suite([declared / "library.yaml"])


@each_era
async def test_a_lobby_plays_the_world_of_its_scenarios(era: str, library: Suite) -> None:
    async with lobby(era, SessionManager(library)) as (me, _):
        assert await names(me) == [*CONTROL, *named("library").agent_tools]
        assert era == MODERN or "at the library" in (me.instructions or "")
        begun = await me.call_tool("start_scenario", {"name": "lend_the_lamplighters"})
        assert "Never lend a stained book." in str(begun.structured_content)
        found = await me.call_tool("find_books", {"state": ["in"]})
    assert "The Lamplighters" in text_of(found)


async def test_a_lobby_refuses_a_scenario_of_another_world_and_says_what_serves_it(library: Suite) -> None:
    async with lobby(MODERN, SessionManager(library)) as (me, _):
        refused = await me.call_tool("start_scenario", {"name": "wifi_off"})
    assert "scenario 'wifi_off' is played in world 'phone', not in 'library'" in text_of(refused)
    assert "--world phone" in text_of(refused)
