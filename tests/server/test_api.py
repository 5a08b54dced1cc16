"""The HTTP control API: a harness opens sessions, speaks for its agent and collects logs; errors say what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from sandbox_scenarios import Suite
from sandbox_scenarios.variants import VARIANTS

from sandbox_mcp.engine.trajectory import parse_trajectory
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.users import ScriptedUser
from sandbox_mcp.play.users.composing import THANKS
from tests.each import each
from tests.server.serving_kit import ERAS, SUITE, Served, client, served

pytestmark = pytest.mark.anyio


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_new_session_comes_with_all_an_agent_needs(server: Served) -> None:
    created = await server.new(variant="all_tools", seed=3, trial=1, agent={"model": "m"})
    assert created["url"] == f"{server.base}/s/{created['id']}/mcp"
    assert created["opening"] == SUITE.get("wifi_off").user.opening
    assert created["instructions"] == default().briefing
    assert "set_wifi_status" in created["tools"]
    assert (created["variant"], created["seed"], created["trial"], created["over"]) == ("all_tools", 3, 1, False)
    started = server.manager.get(created["id"]).session.spec
    assert started.agent == {"model": "m"}


async def test_null_for_what_may_be_left_out_is_not_given(server: Served) -> None:
    created = await server.new(variant=None, seed=None, trial=None, user=None, user_channel=None, agent=None)
    assert (created["variant"], created["seed"], created["trial"]) == ("base", 0, 0)


async def test_a_harness_chooses_what_its_agent_is_told(server: Served) -> None:
    created = await server.new(instructions="Be brief.", agent={"model": "m"})
    session = server.manager.get(created["id"]).session
    assert created["instructions"] == session.spec.instructions == "Be brief."
    assert session.spec.agent == {"model": "m", "instructions": {"name": "api", "text": "Be brief."}}


async def test_with_the_tool_channel_the_tool_is_among_the_tools(server: Served) -> None:
    assert (await server.new(user_channel="tool"))["tools"] == ["set_wifi_status", "send_message_to_user"]


@each("era", ERAS)
async def test_a_scenario_is_played_by_messages_and_calls(server: Served, era: str) -> None:
    created = await server.new(scenario="late_for_dinner_low_battery")
    session = f"/api/sessions/{created['id']}"
    async with client(created["url"], era) as agent:
        await agent.call_tool("get_low_battery_mode_status", {})
        question = "Cellular service is off because of low battery mode. Shall I turn low battery mode off?"
        asked = (await server.api("POST", f"{session}/messages", {"text": question})).json()
        await agent.call_tool("set_low_battery_mode_status", {"on": False})
        await agent.call_tool("set_cellular_service_status", {"on": True})
        found = (await agent.call_tool("search_contacts", {"name": "Wren"})).structured_content["result"]
        text = {"phone_number": found[0]["phone_number"], "content": "I'm 20 minutes late for dinner."}
        await agent.call_tool("send_message_with_phone_number", text)
        told = (await server.api("POST", f"{session}/messages", {"text": "The message to Wren is sent."})).json()
    log = parse_trajectory((await server.api("GET", f"{session}/trajectory")).content)
    assert asked["reply"].startswith("You can turn low battery mode off")
    assert not asked["over"]
    assert told.pop("parting") in THANKS
    assert told == {"reply": None, "over": True, "reason": "user_ended", "notices": []}
    assert log.ended
    assert log.started.user_channel == "harness"
    assert log.started.limits["max_turns"] == SUITE.get("late_for_dinner_low_battery").max_turns


async def test_a_session_tells_how_it_stands(server: Served) -> None:
    created = await server.new()
    path = f"/api/sessions/{created['id']}"
    before = (await server.api("GET", path)).json()
    await server.api("POST", f"{path}/messages", {"text": "Wifi is off."})
    after = (await server.api("GET", path)).json()
    assert (before["over"], before["reason"], before["turns"]) == (False, None, 0)
    assert (after["over"], after["reason"], after["turns"]) == (True, "user_ended", 1)
    assert "bearer" not in after


async def test_ending_keeps_the_log_and_closing_forgets_the_session(server: Served) -> None:
    path = f"/api/sessions/{(await server.new())['id']}"
    ended = await server.api("POST", f"{path}/end", {"reason": "agent_failed", "detail": "out of money"})
    again = await server.api("POST", f"{path}/end", {"reason": "abandoned"})
    log = parse_trajectory((await server.api("GET", f"{path}/trajectory")).content)
    closed = await server.api("DELETE", path)
    gone = await server.api("GET", path)
    assert ended.json()["reason"] == again.json()["reason"] == "agent_failed"
    assert log.ended
    assert log.ended.detail == "out of money"
    assert (closed.status_code, gone.status_code) == (200, 404)


async def test_ending_needs_no_body(server: Served) -> None:
    path = f"/api/sessions/{(await server.new())['id']}"
    assert (await server.api("POST", f"{path}/end")).json()["reason"] == "abandoned"


async def test_speaking_in_a_session_that_is_over_is_a_conflict(server: Served) -> None:
    path = f"/api/sessions/{(await server.new())['id']}"
    await server.api("POST", f"{path}/end")
    answer = await server.api("POST", f"{path}/messages", {"text": "hello?"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "session_over")


async def test_scenarios_are_listed_without_what_solves_them(server: Served) -> None:
    answer = (await server.api("GET", "/api/scenarios")).json()
    assert [item["name"] for item in answer["scenarios"]] == list(SUITE.names())
    assert answer["variants"] == list(VARIANTS)
    assert answer["users"] == ["scripted"]
    assert set(answer["scenarios"][0]) == {"name", "about", "categories", "max_turns", "max_calls"}


@each(
    ("body", "status", "code", "says"),
    [
        ({"scenario": "wifi_of"}, 404, "unknown_scenario", "did you mean 'wifi_off'"),
        ({"scenario": "wifi_off", "variant": "odd"}, 422, "unknown_variant", "known: base"),
        ({"scenario": "wifi_off", "user": "odd"}, 422, "unknown_user", "known: scripted"),
        ({"scenario": "wifi_off", "user_channel": "odd"}, 422, "invalid_body", "user_channel"),
        ({"scenario": "wifi_off", "sede": 1}, 422, "invalid_body", "sede"),
        ({"scenario": "wifi_off", "trial": -1}, 422, "invalid_body", "trial"),
        ({}, 422, "invalid_body", "scenario: Field required"),
        ([], 422, "invalid_body", "object"),
        (None, 422, "invalid_body", "scenario"),
    ],
)
async def test_a_session_that_cannot_be_opened(server: Served, body: Any, status: int, code: str, says: str) -> None:
    answer = await server.api("POST", "/api/sessions", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert says in answer.json()["error"]["message"]


@each("content", [b"{", b"not json", b"\xff\xfe", b'{"scenario": "\\ud800"}', b"[" * 100_000])
async def test_a_body_that_is_no_json(server: Served, content: bytes) -> None:
    answer = await server.api("POST", "/api/sessions", content=content)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "not_json")


async def test_a_body_that_is_too_long(server: Served) -> None:
    answer = await server.api("POST", "/api/sessions", content=b"x" * (server.settings.max_body + 1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


async def test_a_long_body_in_pieces_is_refused_as_well() -> None:
    async def pieces() -> Any:
        for _ in range(30):
            yield b" " * 10_000

    async with served(max_body=100_000) as server:
        answer = await server.api("POST", "/api/sessions", content=pieces())
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


@each("token", [None, "wrong", "Basic abc", "ünï", "x y"])
async def test_without_its_token_the_api_is_closed(server: Served, token: str | None) -> None:
    headers = {} if token is None else {"Authorization": f"Bearer {token}".encode()}
    for method, path in (("GET", "/api/scenarios"), ("POST", "/api/sessions"), ("GET", "/api/sessions/x/trajectory")):
        answer = await server.http.request(method, path, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["code"] == "unauthorized"


async def test_an_agents_credentials_do_not_open_the_api() -> None:
    async with served(auth=True, lobby_tokens=("lobby-token",)) as server:
        created = await server.new()
        for secret in (created["bearer"], created["id"], "lobby-token"):
            headers = {"Authorization": f"Bearer {secret}"}
            answer = await server.http.get(f"/api/sessions/{created['id']}", headers=headers)
            assert answer.status_code == 401


@each("rest", ["", "/messages", "/end", "/trajectory"])
async def test_an_unknown_session_is_not_found(server: Served, rest: str) -> None:
    method = "POST" if rest in ("/messages", "/end") else "GET"
    answer = await server.api(method, f"/api/sessions/nope{rest}", {"text": "x"} if method == "POST" else None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_session")
    assert "nope" not in answer.text


async def test_wrong_paths_and_methods_are_told_in_the_same_form(server: Served) -> None:
    lost = await server.api("GET", "/api/nothing")
    wrong = await server.api("PUT", "/api/sessions", {})
    assert (lost.status_code, lost.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")


async def test_too_many_sessions() -> None:
    async with served(SessionManager(SUITE, max_sessions=1)) as server:
        first = await server.new()
        full = await server.api("POST", "/api/sessions", {"scenario": "wifi_off"})
        await server.api("POST", f"/api/sessions/{first['id']}/end")
        after = await server.api("POST", "/api/sessions", {"scenario": "wifi_off"})
    assert (full.status_code, full.json()["error"]["code"]) == (503, "too_many_sessions")
    assert after.status_code == 201


async def test_a_log_that_somebody_else_keeps_is_not_at_hand(server: Served) -> None:
    class Elsewhere:
        def write(self, event: Any) -> None:
            json.dumps(event.event)

    scenario = SUITE.get("wifi_off")
    session = server.manager.create(SessionSpec(scenario), ScriptedUser(scenario.user.script), sink=Elsewhere())
    answer = await server.api("GET", f"/api/sessions/{session.token}/trajectory")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_recorded")


async def test_logs_in_files_and_logs_in_memory_read_alike(tmp_path: Path) -> None:
    logs = []
    for folder in (None, tmp_path):
        async with served(SessionManager(SUITE, log_dir=folder)) as server:
            path = f"/api/sessions/{(await server.new())['id']}"
            await server.api("POST", f"{path}/messages", {"text": "Wifi is off."})
            answer = await server.api("GET", f"{path}/trajectory")
            assert answer.headers["content-type"] == "application/jsonl"
            logs.append([{**json.loads(line), "wall": None} for line in answer.text.splitlines()])
    assert logs[0] == logs[1]
    assert names_in(tmp_path) == ["wifi_off-base-s0-t0.jsonl"]


async def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    async with served(SessionManager(SUITE, log_dir=blocked)) as server:
        answer = await server.api("POST", "/api/sessions", {"scenario": "wifi_off"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "no_log")


async def test_a_broken_scenario_file_is_told_with_its_line(tmp_path: Path) -> None:
    broken = tmp_path / "mine.yaml"
    broken.write_text("family: mine\nscenarios:\n  - name: odd\n    toools: []\n")
    async with served(SessionManager(Suite([broken]))) as server:
        answer = await server.api("POST", "/api/sessions", {"scenario": "odd"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "broken_scenario")
    assert "mine.yaml:4" in answer.json()["error"]["message"]


async def test_health_needs_no_token(server: Served) -> None:
    answer = await server.http.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


@each("number", ["NaN", "Infinity", "-Infinity", "[[1e999]]"])
async def test_what_no_log_can_hold_is_refused_before_a_session_begins(server: Served, number: str) -> None:
    body = f'{{"scenario": "wifi_off", "agent": {{"temperature": {number}}}}}'
    answer = await server.api("POST", "/api/sessions", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_body")
    assert "finite" in answer.json()["error"]["message"]


@each("wanted", [{"seed": 2**63}, {"seed": -(10**300)}, {"trial": 10**300}])
async def test_a_number_too_long_for_the_name_of_a_log_is_refused(server: Served, wanted: dict[str, int]) -> None:
    answer = await server.api("POST", "/api/sessions", {"scenario": "wifi_off", **wanted})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_body")


async def test_a_method_that_is_not_allowed_is_told_with_those_that_are(server: Served) -> None:
    answer = await server.api("PUT", "/api/sessions")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_a_bug_of_ours_has_the_form_of_all_errors(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(server.manager), "get", lambda *_: 1 / 0)
    answer = await server.api("GET", "/api/sessions/x")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "division" not in answer.text
