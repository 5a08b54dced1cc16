"""What a person types in an agent's place, read as calls, words and commands."""

from typing import Any

import pytest
from sandbox_clients.base import ToolInfo

from sandbox_mcp.app.run.typed_calls import Quit, Say, Show, TypedCall, TypingError, meaning
from tests.each import each


def tool(name: str, /, **types: Any) -> ToolInfo:
    return ToolInfo(name, "", {"type": "object", "properties": {key: {"type": kind} for key, kind in types.items()}})


TOOLS = {
    item.name: item
    for item in (
        tool("set_wifi_status", on="boolean"),
        tool("send_text", to="string", content="string", copies="integer"),
        tool("find", name=["string", "null"], limit="integer", tags="array"),
        tool("wait", seconds="number"),
        ToolInfo("untyped", "", {}),
    )
}


@each(
    ("line", "name", "arguments"),
    [
        ("wait", "wait", {}),
        ("wait seconds=1.5", "wait", {"seconds": 1.5}),
        ("  set_wifi_status   on=false ", "set_wifi_status", {"on": False}),
        ('set_wifi_status {"on": true}', "set_wifi_status", {"on": True}),
        ("send_text to=+61491570156 content='On my way, \"soon\"'", "send_text",
         {"to": "+61491570156", "content": 'On my way, "soon"'}),
        ("send_text to=0123 copies=2", "send_text", {"to": "0123", "copies": 2}),
        ('send_text content="1 = 1"', "send_text", {"content": "1 = 1"}),
        ("find name=7 limit=seven tags=[1,2]", "find", {"name": "7", "limit": "seven", "tags": [1, 2]}),
        ("untyped a=1 b=x c={\\\"d\\\":2}", "untyped", {"a": 1, "b": "x", "c": {"d": 2}}),
        ("find other=1", "find", {"other": 1}),
        ("/call wait seconds=2", "wait", {"seconds": 2}),
        ("/call untyped", "untyped", {}),
    ],
)  # fmt: skip
def test_calls(line: str, name: str, arguments: dict[str, Any]) -> None:
    assert meaning(line, TOOLS) == TypedCall(name, arguments)


@each(
    ("line", "said"),
    [
        ("Wifi is off.", "Wifi is off."),
        ("wait a moment", "wait a moment"),
        ("wait, I'm looking", "wait, I'm looking"),
        ("find it yourself", "find it yourself"),
        ("/say wait", "wait"),
        ("/say /help", "/help"),
    ],
)
def test_words(line: str, said: str) -> None:
    assert meaning(line, TOOLS) == Say(said)


@each(
    ("line", "wanted"),
    [("/help", Show("/help")), ("/tools", Show("/tools")), ("/tool wait", Show("/tool", "wait")), ("/quit", Quit())],
)
def test_commands(line: str, wanted: object) -> None:
    assert meaning(line, TOOLS) == wanted


@each(
    ("line", "problem"),
    [
        ("set_wifi_status off", "cannot read 'off': arguments of set_wifi_status are written name=value; it has: on"),
        ("set_wifi_status {on: false}", "the arguments of set_wifi_status are not JSON"),
        ("send_text content='x", "a quote within a value is written inside other quotes"),
        ("/tool waitt", "there is no tool 'waitt'; did you mean 'wait'?"),
        ("set_wifi_statu on=false", "there is no tool 'set_wifi_statu'; did you mean 'set_wifi_status'?"),
        ("/tool", "name a tool"),
        ("/call", "name a tool"),
        ("/say", "cannot do '/say'"),
        ("/leave", "cannot do '/leave'; /help tells"),
    ],
)
def test_what_cannot_be_carried_out_is_told(line: str, problem: str) -> None:
    with pytest.raises(TypingError) as caught:
        meaning(line, TOOLS)
    assert problem in str(caught.value)
