"""What a served session sends by itself, in both eras through real pipes: notices of timers, questions to a person."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp_types import (
    ElicitResult,
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
)

from sandbox_mcp.engine.trajectory import ToolCall, read_trajectory
from tests.e2e.processes import ERAS, MODERN, http_process
from tests.e2e.test_serve_stdio import only_log, server

pytestmark = pytest.mark.anyio
each_era = pytest.mark.parametrize("era", ERAS)
URI = "world://notices"
TEXT = {"phone_number": "+14155550123", "content": "Your car is fixed."}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def let_go_off(client: Client) -> None:
    for seconds in (1, 500):  # by the second call a second has passed
        assert not (await client.call_tool("set_timer", {"seconds": seconds, "label": "tea"})).is_error


async def notices(client: Client) -> list[str]:
    (content,) = (await client.read_resource(URI, cache_mode="bypass")).contents
    return [notice["text"] for notice in json.loads(content.model_dump()["text"])]


async def test_over_pipes_the_older_protocol_is_told_of_a_timer(tmp_path: Path) -> None:
    told = anyio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            told.set()

    options = server("--scenario", "tea_for_four_minutes", "--log-dir", str(tmp_path))
    async with Client(options, mode="legacy", message_handler=hear) as client:
        await client.session.send_request(SubscribeRequest(params=SubscribeRequestParams(uri=URI)), EmptyResult)
        await let_go_off(client)
        with anyio.fail_after(30):
            await told.wait()
        assert await notices(client) == ["The timer 'tea' has gone off."]


async def test_over_pipes_the_newer_protocol_is_told_of_a_timer(tmp_path: Path) -> None:
    options = server("--scenario", "tea_for_four_minutes", "--log-dir", str(tmp_path))
    async with Client(options, mode=MODERN) as client, client.listen(resource_subscriptions=[URI]) as updates:
        await let_go_off(client)
        with anyio.fail_after(30):
            assert await anext(updates) == ResourceUpdated(uri=URI)
        assert await notices(client) == ["The timer 'tea' has gone off."]


class Person:
    """Somebody at a client who is asked, and always answers the same."""

    def __init__(self, *, agrees: bool) -> None:
        self.asked = 0
        self._agrees = agrees

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked += 1
        if self._agrees:
            return ElicitResult(action="accept", content={"confirm": True})
        return ElicitResult(action="decline")


async def send(target: Any, era: str, person: Person) -> Any:
    async with Client(target, mode=era, elicitation_callback=person) as client:
        return await client.call_tool("send_message_with_phone_number", TEXT)


def callers(log: Path) -> list[str]:
    return [event.caller for event in read_trajectory(log).events if isinstance(event, ToolCall)]


@each_era
@pytest.mark.parametrize("agrees", [True, False])
async def test_over_pipes_the_person_is_asked_and_decides(era: str, agrees: bool, tmp_path: Path) -> None:
    person = Person(agrees=agrees)
    options = server("--scenario", "car_fixed", "--user-channel", "tool", "--log-dir", str(tmp_path))
    result = await send(options, era, person)
    assert person.asked == 1
    assert result.is_error is not agrees
    assert callers(only_log(tmp_path)) == (["agent", "user", "agent"] if agrees else ["agent"])


@pytest.mark.parametrize(
    "options", [["--user-channel", "tool", "--no-elicitation"], ["--user-channel", "harness"]], ids=["off", "harness"]
)
async def test_over_pipes_nobody_is_asked_where_it_is_not_wanted(options: list[str], tmp_path: Path) -> None:
    person = Person(agrees=True)
    result = await send(server("--scenario", "car_fixed", *options, "--log-dir", str(tmp_path)), MODERN, person)
    assert (person.asked, result.is_error) == (0, True)


@pytest.mark.parametrize(
    ("options", "era", "asked"), [([], MODERN, 1), (["--no-elicitation"], MODERN, 0), (["--streams"], "legacy", 1)]
)
async def test_over_http_the_option_counts_too(options: list[str], era: str, asked: int, tmp_path: Path) -> None:
    person = Person(agrees=True)
    begin = ("--scenario", "car_fixed", "--user-channel", "tool", *options, "--log-dir", str(tmp_path))
    with http_process(*begin) as said:
        result = await send(said["agent"], era, person)
    assert (person.asked, result.is_error) == (asked, not asked)


@pytest.mark.parametrize(("options", "asked"), [([], 1), (["--no-elicitation"], 0)])
async def test_in_the_lobby_the_option_counts_too(options: list[str], asked: int, tmp_path: Path) -> None:
    person = Person(agrees=True)
    target = server("--log-dir", str(tmp_path), *options)
    async with Client(target, mode="legacy", elicitation_callback=person) as client:
        await client.call_tool("start_scenario", {"name": "car_fixed"})
        await client.call_tool("send_message_with_phone_number", TEXT)
    assert person.asked == asked


async def test_over_pipes_the_person_plays_the_user(tmp_path: Path) -> None:
    answers = iter(({"reply": "Yes, off."}, {"reply": "/end"}))

    async def person(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content=next(answers))

    options = server("--scenario", "wifi_off", "--user", "human", "--user-channel", "tool", "--log-dir", str(tmp_path))
    async with Client(options, mode="legacy", elicitation_callback=person) as client:
        asked = await client.call_tool("send_message_to_user", {"content": "Off?"})
        await client.call_tool("set_wifi_status", {"on": False})
        told = await client.call_tool("send_message_to_user", {"content": "Wifi is off."})
    assert asked.structured_content == {"reply": "Yes, off.", "conversation_over": False}
    assert told.structured_content == {"reply": None, "conversation_over": True}
    assert read_trajectory(only_log(tmp_path)).started.user == {"kind": "human", "channel": "elicitation"}
