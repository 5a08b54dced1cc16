"""Session URLs over real HTTP: any client, any number of connections, nothing malformed ends a run."""

import json
from typing import Any

import anyio
import pytest

from sandbox_mcp.engine.tools.calling import MAX_ARGUMENT_CHARACTERS
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.play.session.manager import SessionManager
from tests.each import each
from tests.server.serving_kit import ERAS, MODERN, SUITE, RawMcp, Served, client, opened_in, recorded, served

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)


def calls_in(session: Any) -> list[ToolCall]:
    return [event for event in recorded(session).events if isinstance(event, ToolCall)]


@each_era
async def test_two_sessions_on_one_server_do_not_touch(server: Served, era: str) -> None:
    one, other = opened_in(server.manager, variant="all_tools"), opened_in(server.manager, variant="all_tools")
    async with client(server.url(one), era) as first, client(server.url(other), era) as second:
        await first.call_tool("set_wifi_status", {"on": False})
        seen = (await second.call_tool("get_wifi_status", {})).structured_content
    assert seen == {"result": True}
    assert len(calls_in(one)) == len(calls_in(other)) == 1


@each_era
async def test_a_new_connection_for_every_call_is_one_session(server: Served, era: str) -> None:
    session = opened_in(server.manager, variant="all_tools")
    for name, arguments in (("set_wifi_status", {"on": False}), ("get_wifi_status", {})):
        async with client(server.url(session), era) as fresh:
            result = await fresh.call_tool(name, arguments)
    assert result.structured_content == {"result": False}
    assert [call.name for call in calls_in(session)] == ["set_wifi_status", "get_wifi_status"]


async def test_both_eras_meet_in_one_session(server: Served) -> None:
    session = opened_in(server.manager, variant="all_tools")
    async with client(server.url(session), "legacy") as old, client(server.url(session), MODERN) as new:
        await old.call_tool("set_wifi_status", {"on": False})
        assert (await new.call_tool("get_wifi_status", {})).structured_content == {"result": False}


@each_era
async def test_two_clients_at_once_lose_their_race_whoever_comes_first(era: str) -> None:
    seen: list[Any] = []

    async def call(server: Served, session: Any, name: str, arguments: dict[str, Any]) -> None:
        async with client(server.url(session), era) as mine:
            ready.append(name)
            if len(ready) == 2:
                both_are_connected.set()
            await both_are_connected.wait()
            seen.append((name, (await mine.call_tool(name, arguments)).structured_content))

    async with served(SessionManager(SUITE, batch_window=0.5)) as server:
        for order in (("set_wifi_status", "get_wifi_status"), ("get_wifi_status", "set_wifi_status")):
            session = opened_in(server.manager, variant="all_tools")
            ready: list[str] = []
            both_are_connected = anyio.Event()
            async with anyio.create_task_group() as together:
                for name in order:
                    arguments = {"on": False} if name.startswith("set") else {}
                    together.start_soon(call, server, session, name, arguments)
            assert len({event.batch for event in calls_in(session)}) == 1
    assert [result for name, result in seen if name == "get_wifi_status"] == [{"result": True}] * 2


@each_era
async def test_many_clients_at_once_leave_a_whole_log(server: Served, era: str) -> None:
    session = opened_in(server.manager, variant="all_tools")

    async def add(number: int) -> None:
        async with client(server.url(session), era) as mine:
            await mine.call_tool("add_reminder", {"content": f"r{number}", "reminder_timestamp": 1800000000})

    async with anyio.create_task_group() as together:
        for number in range(6):
            together.start_soon(add, number)
    events = recorded(session).events
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len({call.result for call in calls_in(session)}) == 6


@each_era
@each(
    ("arguments", "text"),
    [
        ('["on", false]', "must be one JSON object"),
        ('"turn it off"', "must be one JSON object"),
        ("7", "must be one JSON object"),
        ("true", "must be one JSON object"),
        ("null", "MissingArgumentError"),
        ('{"on": NaN}', "; JSON has neither NaN nor infinities"),
        ('{"on": 1e999}', "; JSON has neither NaN nor infinities"),
        ('{"on": "\\ud800"}', "; half of a surrogate pair is no text"),
        ('{"\\udfff": false}', "; half of a surrogate pair is no text"),
        ('{"on": ' + "[" * 150 + "]" * 150 + "}", "; arguments are nested at most 100 deep"),
        ('{"on": "\\u0000"}', "ArgumentTypeError"),
        ('{"on": 1' + "0" * 400 + "}", "ArgumentTypeError"),
        ('{"a\\u0000b": 1}', "ArgumentNameError"),
    ],
)
async def test_arguments_that_are_not_what_a_tool_takes_are_tool_errors(
    server: Served, era: str, arguments: str, text: str
) -> None:
    session = opened_in(server.manager)
    raw = await RawMcp(server.http, server.url(session), era).open()
    answer = await raw.call("set_wifi_status", arguments)
    after = await raw.call("set_wifi_status", '{"on": false}')
    assert answer["result"]["isError"]
    assert text in answer["result"]["content"][0]["text"]
    assert not after["result"]["isError"]
    assert [call.error is None for call in calls_in(session)] == [False, True]


@each_era
@each("size", [1_000_000, MAX_ARGUMENT_CHARACTERS])
async def test_a_megabyte_of_argument_is_a_tool_error(server: Served, era: str, size: int) -> None:
    session = opened_in(server.manager)
    raw = await RawMcp(server.http, server.url(session), era).open()
    answer = await raw.call("set_wifi_status", json.dumps({"on": "x" * size}))
    assert answer["result"]["isError"]
    assert len(answer["result"]["content"][0]["text"]) < 1000
    assert len(session.lines() or b"") < MAX_ARGUMENT_CHARACTERS * 2


@each_era
async def test_a_body_beyond_the_limit_is_refused_unread(era: str) -> None:
    async with served(max_body=100_000) as server:
        session = opened_in(server.manager)
        raw = await RawMcp(server.http, server.url(session), era).open()
        answer = await raw.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y" * 200_000}})
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "too_large"


@each_era
async def test_a_body_sent_in_pieces_has_the_same_limit(era: str) -> None:
    async def pieces() -> Any:
        for _ in range(50):
            yield b"x" * 10_000

    async with served(max_body=100_000) as server:
        session = opened_in(server.manager)
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "MCP-Protocol-Version": "2025-11-25" if era == "legacy" else MODERN,
        }
        answer = await server.http.post(server.url(session), content=pieces(), headers=headers)
        assert answer.status_code == 413


@each("name", ["null", "7", '["set_wifi_status"]', '"\\ud800"'])
async def test_a_name_that_is_no_text_is_a_tool_error(server: Served, name: str) -> None:
    """Of the older protocol; the newer one checks the name against a header before anybody sees it."""
    session = opened_in(server.manager)
    raw = await RawMcp(server.http, server.url(session), "legacy").open()
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": {name}, "arguments": {{}}}}}}'
    answer = (await raw.post(body)).json()
    assert answer["result"]["content"][0]["text"].startswith("UnknownToolError")


async def test_an_unknown_session_is_not_found(server: Served) -> None:
    session = opened_in(server.manager)
    for path in ("/s/nope/mcp", f"/s/{session.token}x/mcp", f"/s/{session.token}", "/s//mcp"):
        answer = await server.http.post(path, content=b"{}")
        assert answer.status_code == 404
        assert set(answer.json()["error"]) == {"code", "message"}


@each_era
async def test_a_closed_session_is_not_found(server: Served, era: str) -> None:
    session = opened_in(server.manager)
    raw = await RawMcp(server.http, server.url(session), era).open()
    await server.manager.close(session.token)
    assert (await raw.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).status_code == 404


async def test_a_connection_can_be_ended_when_its_session_is_gone(server: Served) -> None:
    session = opened_in(server.manager)
    raw = await RawMcp(server.http, server.url(session), "legacy").open()
    await server.manager.close(session.token)
    ended = [await server.http.delete(raw.url, headers=raw.session) for _ in range(2)]
    assert [answer.status_code for answer in ended] == [200, 404]
    assert (await server.http.delete(raw.url)).json()["error"]["code"] == "unknown_session"


@each_era
async def test_with_auth_the_url_alone_is_not_enough(era: str) -> None:
    async with served(auth=True) as server:
        session, other = opened_in(server.manager), opened_in(server.manager)
        without = await server.http.post(server.url(session), content=b"{}")
        wrong = await server.http.post(
            server.url(session), content=b"{}", headers={"Authorization": f"Bearer {other.bearer}"}
        )
        async with client(server.url(session), era, session.bearer) as mine:
            assert not (await mine.call_tool("set_wifi_status", {"on": False})).is_error
    assert (without.status_code, without.headers["www-authenticate"]) == (401, "Bearer")
    assert wrong.status_code == 404  # as if there were no such session


@each_era
async def test_the_tokens_of_harness_and_lobby_open_no_session(era: str) -> None:
    async with served(auth=True, lobby_tokens=("lobby-token",)) as server:
        session = opened_in(server.manager)
        for token in (server.settings.api_token, "lobby-token", session.token):
            headers = {"Authorization": f"Bearer {token}"}
            assert (await server.http.post(server.url(session), content=b"{}", headers=headers)).status_code == 404


async def test_tokens_cannot_be_guessed() -> None:
    manager = SessionManager(SUITE)
    secrets = [value for _ in range(20) for value in (lambda s: (s.token, s.bearer))(opened_in(manager))]
    assert len(set(secrets)) == 40
    assert min(map(len, secrets)) >= 32  # 24 bytes in base64: 192 bits


async def test_nothing_secret_is_recorded(server: Served) -> None:
    created = await server.new()
    log = (await server.api("GET", f"/api/sessions/{created['id']}/trajectory")).text
    assert not any(secret in log for secret in (created["id"], created["bearer"], server.settings.api_token))


@each_era
@each(
    ("headers", "status"),
    [
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "127.0.0.1.evil.example.com:80"}, 421),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example.com"}, 403),
    ],
)
async def test_foreign_names_are_turned_away_before_anything_is_read(
    server: Served, era: str, headers: dict[str, str], status: int
) -> None:
    session = opened_in(server.manager)
    for path in (server.url(session), "/mcp", "/api/scenarios", "/healthz", "/openapi.json"):
        answer = await server.http.post(path, content=b"{}", headers=headers)
        assert answer.status_code == status
        assert session.token not in answer.text


async def test_allowed_names_get_through() -> None:
    async with served(hosts=("sandbox.example",)) as server:
        for headers in (
            {"Host": "sandbox.example"},
            {"Host": "Sandbox.Example:443", "Origin": "https://sandbox.example"},
            {"Host": "localhost:1", "Origin": "http://127.0.0.1:9"},
            {"Host": "[::1]:8930"},
        ):
            assert (await server.http.get("/healthz", headers=headers)).status_code == 200


@each_era
async def test_a_body_that_names_too_much_is_refused_before_it_is_read(server: Served, era: str) -> None:
    session = opened_in(server.manager)
    raw = await RawMcp(server.http, server.url(session), era).open()
    named = "{" + ",".join(f'"k{number}":{number}' for number in range(30_000)) + "}"
    answer = await raw.post(
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{named}}}}}'
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert (
        await server.api("POST", "/api/sessions", {"agent": dict.fromkeys(map(str, range(30_000)))})
    ).status_code == 413


@each_era
@each(
    ("sent", "told"), [('{"id":1.5,"method":"ping"}', "its id must be"), ('[{"id":1,"method":"ping"}]', "one by one")]
)
async def test_what_could_not_be_answered_is_refused_in_words(server: Served, era: str, sent: str, told: str) -> None:
    raw = await RawMcp(server.http, server.url(opened_in(server.manager)), era).open()
    answer = await raw.post(sent)
    assert (answer.status_code, answer.json()["id"], answer.json()["error"]["code"]) == (400, None, -32600)
    assert told in answer.json()["error"]["message"]
