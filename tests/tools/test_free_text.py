"""Actions as free text: read back exactly, never evaluated, and the same session as with calls."""

import anyio
from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios.variants import presented

from sandbox_mcp.engine.tools.free_text import parse, render
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True)


@given(NAMES, st.dictionaries(NAMES, JSON, max_size=4))
def test_what_is_rendered_is_read_back(name: str, arguments: dict[str, object]) -> None:
    assert parse(render(name, arguments)) == (name, arguments)


@each("name", ["users/list", "user.profile/get-all", "имя-ß"])
def test_names_are_as_servers_may_choose_them(name: str) -> None:
    given = {"$top": 5, "filter[name]": "x", "@type": None, "größe": 1}
    assert parse(render(name, given)) == (name, given)


@given(st.text())
def test_no_text_whatever_is_more_than_no_action(text: str) -> None:
    parsed = parse(text)
    assert parsed is None or isinstance(parsed[1], dict)


@each(
    "text",
    [
        "", "set_wifi_status", "set_wifi_status(", "set_wifi_status(on=True)", "set_wifi_status(on=false",
        "f(on=false))", "f(on=1 off=2)", "f(on=1,, off=2)", "f(on=1, on=2)", "f(1)", "f(__import__('os'))",
        "f(x=__import__('os').getcwd())",
    ],
)  # fmt: skip
def test_what_is_no_action(text: str) -> None:
    assert parse(text) is None


@each("text", [" get_wifi_status ( ) ", "get_wifi_status()\n"])
def test_blanks_do_not_matter(text: str) -> None:
    assert parse(text) == ("get_wifi_status", {})


def opened() -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    session = Session(SessionSpec(WIFI_OFF, "text_actions"), ScriptedUser(WIFI_OFF.user.script), log)
    session.begin()
    return session, log


def act(session: Session, action: object) -> str:
    return session.call("act", {"action": action}).text


def test_only_one_tool_is_offered_and_it_lists_the_others() -> None:
    (tool,) = presented(WIFI_OFF, "text_actions").values()
    assert tool.name == "act"
    assert "set_wifi_status(on: boolean)" in tool.description


def test_an_action_does_what_the_call_does() -> None:
    session, log = opened()
    assert act(session, "set_wifi_status(on=false)") == '{"result":null}'
    call = log.events[-1]
    assert isinstance(call, ToolCall)
    assert (call.name, call.tool, call.arguments) == ("set_wifi_status", "set_wifi_status", {"on": False})
    assert anyio.run(session.say, "Wifi is off.").reason == "user_ended"


@each(
    ("action", "kind"),
    [
        ("turn the wifi off please", "invalid_format"),
        ("set_wlan(on=false)", "unknown_tool"),
        ("set_wifi_status(off=true)", "unknown_argument"),
        ("set_wifi_status()", "missing_argument"),
        ('set_wifi_status(on="false")', "wrong_type"),
        ("set_wifi_status(on=true)", "execution"),
        (5, "wrong_type"),
    ],
)
def test_faults_are_of_the_same_kinds(action: object, kind: str) -> None:
    session, log = opened()
    act(session, action)
    call = log.events[-1]
    assert isinstance(call, ToolCall)
    assert call.error is not None
    assert call.error.kind == kind


def test_the_tools_themselves_are_not_offered() -> None:
    session, _ = opened()
    assert session.call("set_wifi_status", {"on": False}).text.startswith("UnknownToolError")


def test_an_action_of_many_arguments_is_read_in_one_go() -> None:
    parsed = parse("f(" + " ,\n ".join(f"a{number} = {number}" for number in range(20_000)) + " )")
    assert parsed == ("f", {f"a{number}": number for number in range(20_000)})
