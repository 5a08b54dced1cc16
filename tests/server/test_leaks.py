"""No channel leaks the answer: all that a session URL or the lobby hands out is searched for what no agent may know.

What counts as the answer is taken from the scenario itself, every word of it that the user does not say.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sandbox_scenarios import Scenario

from sandbox_mcp.engine.worlds import default
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.server.lobby.texts import HOW_TO_PLAY, INSTRUCTIONS, lobby_tools
from sandbox_mcp.play.session.manager import SessionManager
from tests.server.serving_kit import ENVELOPE, MODERN, SUITE, RawMcp, Served, opened_in, served

pytestmark = pytest.mark.anyio
METHODS = [
    "server/discover", "tools/list", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
    "resources/read", "completion/complete", "logging/setLevel", "ping", "roots/list", "sampling/createMessage",
    "tasks/list", "api/sessions", "session/score", "",
]  # fmt: skip
PUBLIC = json.dumps([[tool.description, tool.input_schema()] for tool in phone.agent_tools.values()])
"""What any agent may read of the tools; a scenario may happen to use the same words."""
PATHS = ["", "/", "/score", "/trajectory", "/state", "/../api/scenarios", "/mcp/../../api", "/openapi.json"]


def hidden(scenario: Scenario) -> Iterator[str]:
    """Every text of a scenario that its agent must never be shown."""
    user = scenario.user
    yield user.goal
    yield scenario.about
    yield from (*user.knows, *user.does_not_know, *user.script.then)
    yield from (answer.say for answer in user.script.answers)
    yield from (exchange.agent for exchange in user.demonstration)
    yield from (milestone.about for milestone in (*scenario.milestones, *scenario.minefields))
    yield from (turn.reply for solution in scenario.solutions for turn in solution.turns)
    yield from ("milestone", "minefield", "idle_score", "reference_solution")


def secrets(scenario: Scenario) -> set[str]:
    """Each hidden text, as it is and as JSON writes it."""
    texts = {text for text in hidden(scenario) if text and text != scenario.user.opening and text not in PUBLIC}
    assert texts
    return texts | {json.dumps(text)[1:-1] for text in texts}


def assert_clean(seen: str, scenario: Scenario) -> None:
    assert not [text for text in secrets(scenario) if text in seen]


async def everything(server: Served, url: str, era: str) -> str:
    """All that can be had at an MCP endpoint, by right or by trying."""
    raw = await RawMcp(server.http, url, era).open()
    seen = [json.dumps(raw.session)]
    params: dict[str, Any] = {"_meta": ENVELOPE} if era == MODERN else {}
    for number, method in enumerate(METHODS):
        for more in ({}, {"name": "wifi_off", "uri": "session://current", "cursor": "1"}):
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, **more}}
            answer = await raw.post(body, {"Mcp-Method": method, "Mcp-Name": more.get("name", "")})
            seen.append(answer.text + str(answer.headers))
    for name in (*phone.agent_tools, "score", "get_marks", "send_message_to_user"):
        seen += [json.dumps(await raw.call(name, "{}"))]
    for method in ("GET", "PUT", "OPTIONS", "HEAD", "PATCH"):
        if (era, method) != ("legacy", "GET"):  # which holds a stream open for notifications, of which there are none
            answer = await server.http.request(method, url, headers={"MCP-Protocol-Version": MODERN})
            seen.append(answer.text + str(answer.headers))
    seen += [json.dumps(await raw.call("set_wifi_status", odd)) for odd in ("[]", "7", '{"x": 1}', '"{"')]
    seen += [(await server.http.get(url.removesuffix("/mcp") + path)).text for path in PATHS]
    return "\n".join(seen)


@pytest.mark.parametrize("era", ["legacy", MODERN])
@pytest.mark.parametrize("channel", ["harness", "tool"])
@pytest.mark.parametrize("name", ["wifi_off", "late_for_dinner_low_battery", "forget_number_no_removal"])
async def test_a_session_url_hands_out_nothing_but_its_tools(server: Served, era: str, channel: Any, name: str) -> None:
    scenario = SUITE.get(name)
    session = opened_in(server.manager, name, user_channel=channel)
    seen = await everything(server, server.url(session), era)
    assert_clean(seen, scenario)
    listed = {tool.name for tool in session.presentation.listed}
    raw = await RawMcp(server.http, server.url(session), era).open()
    params: dict[str, Any] = {"_meta": ENVELOPE} if era == MODERN else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
    tools = (await raw.post(body, {"Mcp-Method": "tools/list"})).text
    assert not [tool for tool in phone.agent_tools if tool not in listed and f'"{tool}"' in tools]
    other = [scenario for scenario in SUITE.names() if scenario in seen.replace("wifi_off", "")]
    assert not other


@pytest.mark.parametrize("era", ["legacy", MODERN])
async def test_the_lobby_hands_out_names_and_nothing_more(era: str) -> None:
    name = "late_for_dinner_low_battery"
    async with served() as server:
        before = await everything(server, f"{server.base}/mcp", era)
        raw = await RawMcp(server.http, f"{server.base}/mcp", era).open()
        begun = json.dumps(await raw.call("start_scenario", json.dumps({"name": name})))
        during = await everything(server, f"{server.base}/mcp", era)
        ended = json.dumps(await raw.call("end_scenario", "{}"))
    seen = before + begun + during + ended
    assert not [text for text in set().union(*map(secrets, SUITE.all())) if text in seen]
    assert not [text for text in (str(server.manager.log_dir), "jsonl") if text in begun + ended]


async def test_a_message_of_the_user_is_all_that_is_learnt_of_the_script() -> None:
    async with served(SessionManager(SUITE)) as server:
        session = opened_in(server.manager, "late_for_dinner_low_battery", user_channel="tool")
        raw = await RawMcp(server.http, server.url(session), "legacy").open()
        answer = await raw.call("send_message_to_user", json.dumps({"content": "What is your name?"}))
    assert set(answer["result"]["structuredContent"]) <= {"reply", "conversation_over", "notices"}
    assert "_meta" not in answer["result"]


def test_the_texts_of_the_lobby_name_no_scenario() -> None:
    texts = " ".join(
        f"{tool.name} {tool.description} {json.dumps(dict(tool.schema))}" for tool in lobby_tools(default())
    )
    assert not [name for name in SUITE.names() if name in f"{texts} {INSTRUCTIONS} {HOW_TO_PLAY}"]
