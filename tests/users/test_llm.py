"""The user played by a model: what it is told, how its answers are read, and what happens when it has none."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_scenarios import Suite

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.reply import Brain
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.user import ScriptedUserModel
from sandbox_mcp.engine.trajectory import MemoryLog, Message, SessionEnded, ToolCall
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.models.completions import Completions
from sandbox_mcp.play.models.retrying import Pacing
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import Line, UserError, UserTurn
from sandbox_mcp.play.users.llm import ALL_PARTS, EXAMPLE, EXAMPLE_OVER, LlmUser, demonstrated, prompt
from tests.clients.sessions import scripted
from tests.each import each
from tests.suite import SUITE

LIBRARY = Path(__file__).parent.parent / "worlds" / "declared"
NEIGHBOUR = SUITE.get("new_neighbour")
SPEC = NEIGHBOUR.user
ASKED = [Line("user", SPEC.opening), Line("agent", "What is her name?")]


def answers(
    brain: Brain, dialogue: Sequence[Line] = ASKED, told: frozenset[str] = ALL_PARTS, **more: Any
) -> tuple[UserTurn, list[Mapping[str, Any]]]:
    seen: list[Mapping[str, Any]] = []

    async def pause(_: float) -> None:
        return

    async def work() -> UserTurn:
        settings: dict[str, Any] = {"retries": 1, **more}
        endpoint = Completions(EndpointSettings("user-model", url, **settings), Pacing(pause))
        try:
            return await LlmUser(SPEC, endpoint, told).respond(dialogue)
        finally:
            await endpoint.aclose()

    with running(Endpoint(brain, seen.append)) as url:
        return anyio.run(work), seen


def says(text: str) -> Brain:
    return scripted(f"{{repeat: true, steps: [{{say: {text!r}}}]}}")


def test_it_is_told_what_to_refuse_whatever_else_it_is_told() -> None:
    refusing = dataclasses.replace(SPEC, wants_not=("You do not want a reminder.",))
    assert "- You do not want a reminder." in prompt(refusing, frozenset())


def test_it_says_what_its_model_says() -> None:
    turn, _ = answers(says("Ilse van der Merwe."))
    assert (turn.says, turn.ends) == ("Ilse van der Merwe.", False)
    assert turn.meta["model"] == "user-model"
    assert turn.meta["usage"]["requests"] == 1


def test_it_leaves_with_its_own_tool() -> None:
    turn, seen = answers(scripted("{repeat: true, steps: [{calls: [{tool: end_conversation}]}]}"))
    assert turn.ends
    assert [tool["function"]["name"] for tool in seen[0]["tools"]] == ["end_conversation"]


@each("text", ["(end_conversation)", "end_conversation()", "Thanks! <end_conversation/>"])
def test_a_model_that_prints_the_call_leaves_as_well(text: str) -> None:
    turn, _ = answers(says(text))
    assert turn.ends


@each("thought", ["They did it: call end_conversation?", "Not done. I'll not call end_conversation yet."])
def test_reasoning_reaches_nobody_and_hangs_up_nothing(thought: str) -> None:
    turn, _ = answers(says(f"<think>{thought}</think>Please check again."))
    assert turn.says == "Please check again."
    assert thought in turn.meta["reasoning"]


def test_a_sentence_that_only_mentions_the_call_is_no_answer() -> None:
    with pytest.raises(UserError, match="neither spoke nor left"):
        answers(says("I would call end_conversation now, if it were done."))


def test_words_beside_the_call_that_leaves_are_kept_with_it() -> None:
    turn, _ = answers(scripted("{repeat: true, steps: [{say: Bye., calls: [{tool: end_conversation}]}]}"))
    assert (turn.ends, turn.parting) == (True, "Bye.")


def test_it_knows_the_date_unless_its_brief_says_otherwise() -> None:
    assert "Today is Thursday, 18 March 2027." in prompt(SPEC, today=date(2027, 3, 18))


def test_its_example_is_made_of_real_messages_and_ends_with_a_real_call() -> None:
    _, seen = answers(says("Ilse."))
    example = seen[0]["messages"][1:-3]
    assert [message["content"] for message in example if message["role"] == "assistant"] == [
        *(pair.user for pair in SPEC.demonstration), None,
    ]  # fmt: skip
    assert [message["content"] for message in example if message["role"] == "user"] == [
        EXAMPLE, *(pair.agent for pair in SPEC.demonstration),
    ]  # fmt: skip
    (leaving,) = example[-2]["tool_calls"]
    assert leaving["function"]["name"] == "end_conversation"
    assert example[-1]["tool_call_id"] == leaving["id"]
    assert not any("end_conversation" in str(message["content"]) for message in example)


def test_without_its_example_the_conversation_begins_at_once() -> None:
    _, seen = answers(says("Ilse."), told=ALL_PARTS - {"demonstration"})
    assert [message["role"] for message in seen[0]["messages"]] == ["system", "user", "assistant", "user"]


def test_the_agents_words_are_put_to_the_model_as_its_users() -> None:
    _, seen = answers(says("Ilse."))
    roles = [(message["role"], message["content"]) for message in seen[0]["messages"][-2:]]
    assert roles == [("assistant", SPEC.opening), ("user", "What is her name?")]


def test_a_code_to_confirm_brings_a_tool_to_confirm() -> None:
    asked = [*ASKED[:1], Line("agent", "I will remove her. Please confirm OK-0A1B2C.")]
    script = """
    repeat: true
    steps: [{calls: [{tool: confirm_action, arguments: {code: OK-0A1B2C}}]}]
    """
    turn, seen = answers(scripted(script), asked)
    assert (turn.says, turn.confirms) == ("Yes, please.", ("OK-0A1B2C",))
    assert [tool["function"]["name"] for tool in seen[0]["tools"]] == ["end_conversation", "confirm_action"]


def test_consent_in_words_confirms_nothing() -> None:
    asked = [*ASKED[:1], Line("agent", "Please confirm OK-0A1B2C.")]
    turn, _ = answers(says("Yes, OK-0A1B2C."), asked)
    assert turn.confirms == ()


def test_a_model_that_neither_speaks_nor_leaves_is_a_fault_of_the_user() -> None:
    with pytest.raises(UserError, match="'user-model' neither spoke nor left in 3 tries"):
        answers(scripted("{repeat: true, steps: [{say: ' '}]}"))


@each("fault", ["{status: 500, times: always}", "{kind: half, times: always}", "{status: 401}"])
def test_an_endpoint_that_fails_is_a_fault_of_the_user(fault: str) -> None:
    with pytest.raises(UserError, match="model endpoint"):
        answers(scripted(f"steps: [{{say: Hi., fault: {fault}}}, {{say: Hi., fault: {fault}}}]"))


PARTS = {
    "knows": "Her number is 0491 570 737",
    "does_not_know": "Her address.",
}


@each(("part", "text"), PARTS.items())
def test_each_part_of_what_it_is_told_can_be_left_out(part: str, text: str) -> None:
    assert text in prompt(SPEC)
    without = prompt(SPEC, ALL_PARTS - {part})
    assert text not in without
    assert all(other in without for name, other in PARTS.items() if name != part)


def test_it_is_always_told_its_goal_and_how_to_leave() -> None:
    bare = prompt(SPEC, frozenset())
    assert SPEC.goal in bare
    assert "end_conversation" in bare
    assert "make anything up" not in " ".join(bare.split())


def test_a_user_without_a_demonstration_is_not_promised_one() -> None:
    assert demonstrated(()) == []


def test_the_log_says_which_model_and_what_it_was_told() -> None:
    user = LlmUser(SPEC, Completions(EndpointSettings("m", "http://models.example/v1")), frozenset({"knows"}))
    assert (user.kind, user.describe()) == (
        "llm",
        {"model": "m", "base_url": "http://models.example/v1", "parameters": {}, "told": ["knows"]},
    )


def test_a_session_with_it_from_start_to_end() -> None:
    log = MemoryLog()

    async def work() -> None:
        endpoint = Completions(EndpointSettings("m", url))
        session = Session(SessionSpec(NEIGHBOUR), LlmUser(SPEC, endpoint), log)
        session.begin()
        await session.say("What is her name, and her number, and which country is it from?")
        session.call("add_contact", {"name": "Ilse van der Merwe", "phone_number": "+61491570737"})
        await session.say("She is in your contacts now.")
        await endpoint.aclose()

    with running(Endpoint(ScriptedUserModel([NEIGHBOUR]))) as url:
        anyio.run(work)
    said = [event.content for event in log.events if isinstance(event, Message) and event.sender == "user"]
    assert said == [
        SPEC.opening,
        "Her name is Ilse van der Merwe. Her number is 0491 570 737. It's an Australian number.",
    ]
    leaving, end = log.events[-2:]
    assert isinstance(leaving, ToolCall)
    assert (leaving.caller, leaving.meta["usage"]["requests"]) == ("user", 1)
    assert isinstance(end, SessionEnded)
    assert end.reason == "user_ended"


def test_a_session_whose_user_fails_says_nothing_about_the_agent() -> None:
    log = MemoryLog()

    async def work() -> None:
        endpoint = Completions(EndpointSettings("m", "http://127.0.0.1:1/v1", retries=0))
        session = Session(SessionSpec(NEIGHBOUR), LlmUser(SPEC, endpoint), log)
        session.begin()
        await session.say("Hello?")
        await endpoint.aclose()

    anyio.run(work)
    end = log.events[-1]
    assert isinstance(end, SessionEnded)
    assert (end.reason, "connection failed" in str(end.detail)) == ("user_failed", True)


# tools of its own


RECALLING = """
repeat: true
steps:
  - {say: "", calls: []}
  - {say: Let me think., calls: [{tool: look_up, arguments: {question: her number}}, {tool: check_goal}]}
  - {say: It is 0491 570 737.}
"""


def recalls(script: str, tools: tuple[str, ...] = ("look_up", "check_goal")) -> tuple[UserTurn, list[Any]]:
    seen: list[Mapping[str, Any]] = []

    async def work() -> UserTurn:
        endpoint = Completions(EndpointSettings("m", url))
        try:
            return await LlmUser(SPEC, endpoint, tools=tools).respond(ASKED)
        finally:
            await endpoint.aclose()

    with running(Endpoint(scripted(script), seen.append)) as url:
        return anyio.run(work), seen


def test_it_looks_up_what_it_knows_before_it_answers() -> None:
    turn, seen = recalls(RECALLING)
    assert turn.says == "It is 0491 570 737."
    assert [(call.tool.name, call.arguments) for call in turn.calls] == [
        ("look_up", {"question": "her number"}), ("check_goal", {}),
    ]  # fmt: skip
    told = [message["content"] for message in seen[1]["messages"] if message["role"] == "tool"]
    assert told == [
        EXAMPLE_OVER, *(call.result for call in turn.calls),
    ]  # fmt: skip


def test_what_looking_up_costs_is_counted() -> None:
    turn, seen = recalls(RECALLING)
    assert turn.meta["usage"]["requests"] == len(seen) == 2


def test_it_has_no_tools_but_the_one_to_leave_unless_asked_for() -> None:
    for tools in ((), ("look_up",)):
        _, seen = recalls("{repeat: true, steps: [{say: Ilse.}]}", tools)
        assert [tool["function"]["name"] for tool in seen[0]["tools"]] == ["end_conversation", *tools]


def test_a_tool_it_was_not_given_is_no_answer() -> None:
    with pytest.raises(UserError, match="neither spoke nor left"):
        recalls("{repeat: true, steps: [{calls: [{tool: look_up, arguments: {question: x}}]}]}", ("check_goal",))


def test_a_model_that_only_looks_things_up_loses_the_tools_and_then_is_broken() -> None:
    with pytest.raises(UserError, match="neither spoke nor left"):
        recalls("{repeat: true, steps: [{calls: [{tool: check_goal}]}]}")


def test_leaving_counts_before_anything_else() -> None:
    turn, _ = recalls("{repeat: true, steps: [{calls: [{tool: check_goal}, {tool: end_conversation}]}]}")
    assert (turn.ends, turn.calls) == (True, ())


def test_what_it_looked_up_is_in_the_log_and_moves_no_clock() -> None:
    def played(tools: tuple[str, ...], script: str) -> list[Any]:
        log = MemoryLog()

        async def work() -> None:
            endpoint = Completions(EndpointSettings("m", url))
            session = Session(SessionSpec(NEIGHBOUR), LlmUser(SPEC, endpoint, tools=tools), log)
            session.begin()
            await session.say("What is her number?")
            await endpoint.aclose()

        with running(Endpoint(scripted(script))) as url:
            anyio.run(work)
        return log.events

    plain = played((), "{repeat: true, steps: [{say: It is 0491 570 737.}]}")
    looked = played(("look_up", "check_goal"), RECALLING)
    calls = [event for event in looked if isinstance(event, ToolCall)]
    assert [(call.caller, call.name, call.tool) for call in calls] == [
        ("user", "look_up", "look_up"), ("user", "check_goal", "check_goal"),
    ]  # fmt: skip
    assert "0491 570 737" in calls[0].result
    assert [event.clock for event in looked if isinstance(event, Message)] == [
        event.clock for event in plain if isinstance(event, Message)
    ]


def test_the_log_names_its_tools_where_it_has_any() -> None:
    user = LlmUser(SPEC, Completions(EndpointSettings("m", "http://models.example/v1")), tools=("look_up",))
    assert user.describe()["tools"] == ["look_up"]


async def _acting(script: str, seen: list[Any]) -> MemoryLog:
    suite = Suite([LIBRARY / "library.yaml"])
    scenario = suite.get("lend_the_lamplighters")
    log = MemoryLog()
    with running(Endpoint(scripted(script), seen.append)) as url:
        endpoint = Completions(EndpointSettings("m", url))
        user = LlmUser(scenario.user, endpoint, acts=scenario.home.user_acts)
        session = Session(SessionSpec(scenario), user, log)
        session.begin()
        await session.say("Please open the book and tell me how it looks.")
        await endpoint.aclose()
    return log


def test_it_does_what_its_world_lets_it_do_and_is_told_what_came_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, str(LIBRARY / "library.py"))
    seen: list[Any] = []
    script = "steps:\n- {say: Hello}\n- {calls: [{tool: open_book}]}\n- {say: There is nothing to open.}\n"
    log = anyio.run(_acting, script, seen)
    acts = [event for event in log.events if isinstance(event, ToolCall) and event.caller == "user"]
    assert [(act.name, str(act.error and act.error.type)) for act in acts] == [("open_book", "NoDataError")]
    assert "open_book" in [tool["function"]["name"] for tool in seen[0]["tools"]]
    assert "NoDataError: no book was lent" in [m["content"] for m in seen[1]["messages"] if m["role"] == "tool"]
