"""Whole conversations with the solver, in real sessions, by clients with habits of their own: all come out the same.

The habits are those measured of real frameworks: all calls of an answer at once, one after the other, only the first of
them; names with a prefix; one protocol or the other; the user reached by a harness or with a tool.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.milestones import strict
from sandbox_scenarios import Scenario
from sandbox_scenarios.variants import VARIANTS

from sandbox_mcp.app.endpoint import chat, gemini, messages, responses
from sandbox_mcp.app.endpoint.reply import Move
from sandbox_mcp.app.endpoint.user import ScriptedUserModel
from sandbox_mcp.app.endpoint.wire import WireAnswer, answer
from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.trajectory import MemoryLog, Trajectory
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec
from sandbox_mcp.play.session.tool_channel import SEND_TOOL, send_message
from sandbox_mcp.play.users import Line, ScriptedUser
from tests.clients.sessions import SUITE, run, solver
from tests.each import each
from tests.laws import at_least

NAMES = ("wifi_off", "colleagues_to_friends", "last_text_reply", "late_for_dinner_low_battery", "new_neighbour")


@dataclass
class Habits:
    """How a client uses the protocol. ``most`` is how many calls of one answer it carries out at most."""

    protocol: str = "chat"
    prefix: str = ""
    most: int = 99
    together: bool = True


@dataclass
class ChatHistory:
    """A conversation as chat completions carry it."""

    system: str
    messages: list[Any] = field(default_factory=list[Any])

    def said(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def ask(self, tools: Sequence[Mapping[str, Any]]) -> WireAnswer:
        body = {
            "model": "m",
            "messages": [{"role": "system", "content": self.system}, *self.messages],
            "tools": [{"type": "function", "function": tool} for tool in tools],
        }
        found = decided(body, chat.read)
        self.messages.append(chat.whole(found)["choices"][0]["message"])
        return found

    def returned(self, call_id: str, text: str) -> None:
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": text})


@dataclass
class ResponsesHistory:
    """A conversation as the Responses protocol carries it."""

    system: str
    items: list[Any] = field(default_factory=list[Any])

    def said(self, text: str) -> None:
        self.items.append({"role": "user", "content": [{"type": "input_text", "text": text}]})

    def ask(self, tools: Sequence[Mapping[str, Any]]) -> WireAnswer:
        body = {
            "model": "m",
            "instructions": self.system,
            "input": self.items,
            "tools": [{"type": "function", **tool} for tool in tools],
        }
        found = decided(body, responses.read)
        self.items.extend(responses.whole(found)["output"])
        return found

    def returned(self, call_id: str, text: str) -> None:
        self.items.append({"type": "function_call_output", "call_id": call_id, "output": text})


@dataclass
class MessagesHistory:
    """A conversation as Anthropic's protocol carries it, which has a result for every call or not the call."""

    system: str
    messages: list[Any] = field(default_factory=list[Any])

    def said(self, text: str) -> None:
        aside = {"type": "text", "text": "<system-reminder>\nIt is late.\n</system-reminder>\n"}
        self.messages.append({"role": "user", "content": [aside, {"type": "text", "text": text}]})

    def ask(self, tools: Sequence[Mapping[str, Any]]) -> WireAnswer:
        body = {
            "model": "m",
            "max_tokens": 100,
            "system": [{"type": "text", "text": self.system, "cache_control": {"type": "ephemeral"}}],
            "messages": self.messages,
            "tools": [{"name": tool["name"], "input_schema": tool["parameters"]} | tool for tool in tools],
        }
        found = decided(body, messages.read)
        content = messages.whole(found)["content"]
        self.messages.append({"role": "assistant", "content": [item for item in content if item["type"] == "text"]})
        self.asked = {item["id"]: item for item in content if item["type"] == "tool_use"}
        return found

    def returned(self, call_id: str, text: str) -> None:
        if self.messages[-1]["role"] == "assistant":
            self.messages.append({"role": "user", "content": []})
        self.messages[-2]["content"].append(self.asked[call_id])
        result = {"type": "tool_result", "tool_use_id": call_id, "content": [{"type": "text", "text": text}]}
        self.messages[-1]["content"].append(result)


@dataclass
class GeminiHistory:
    """A conversation as Google's protocol carries it, by a client that keeps no ids."""

    system: str
    contents: list[Any] = field(default_factory=list[Any])

    def said(self, text: str) -> None:
        self.contents.append({"role": "user", "parts": [{"text": text}]})

    def ask(self, tools: Sequence[Mapping[str, Any]]) -> WireAnswer:
        body = {
            "systemInstruction": {"parts": [{"text": self.system}]},
            "contents": self.contents,
            "tools": [{"functionDeclarations": list(tools)}],
        }
        found = decided(body, gemini.read)
        self.asked = {call.id: call for call in found.calls}
        spoken = [{"text": found.text}] if found.text else []
        self.contents.append({"role": "model", "parts": spoken})
        return found

    def returned(self, call_id: str, text: str) -> None:
        if self.contents[-1]["role"] == "model":
            self.contents.append({"role": "user", "parts": []})
        call = self.asked[call_id]
        made = {"name": call.name, "args": json.loads(call.arguments)}
        self.contents[-2]["parts"].append({"functionCall": made})
        response = {"name": call.name, "response": {"output": text}}
        self.contents[-1]["parts"].append({"functionResponse": response})


HISTORIES = {
    "chat": ChatHistory,
    "responses": ResponsesHistory,
    "messages": MessagesHistory,
    "gemini": GeminiHistory,
}


def decided(body: dict[str, Any], read: Callable[[Mapping[str, Any]], Any]) -> WireAnswer:
    """What the solver answers to a request that went through JSON, as on the wire."""
    sent = json.loads(json.dumps(body))
    move = run(solver().decide, read(sent), 0)
    assert isinstance(move, Move)
    return answer(sent, "m", move)


def talked(scenario: Scenario, habits: Habits, variant: str = "base") -> Trajectory:
    """A session that a harness drives with a client of these habits."""
    log = MemoryLog()
    session = Session(SessionSpec(scenario, variant), ScriptedUser(scenario.user.script), log)
    history = HISTORIES[habits.protocol]("Be helpful.")
    history.said(session.begin())
    tools = [functions(habits.prefix + tool.name, tool) for tool in session.tools.values()]
    while not session.over:
        found = history.ask(tools)
        for call_id, text in carried_out(session, found, habits):
            history.returned(call_id, text)
        if not found.calls:
            reply = run(session.say, found.text)
            history.said(reply.text or "")
    return log.trajectory()


def functions(name: str, tool: PresentedTool) -> dict[str, Any]:
    return {"name": name, "description": tool.description, "parameters": tool.schema}


def carried_out(session: Session, found: WireAnswer, habits: Habits) -> list[tuple[str, str]]:
    made = found.calls[: habits.most]
    calls = [AgentCall(call.name.removeprefix(habits.prefix), json.loads(call.arguments)) for call in made]
    batches = [calls] if habits.together else [[call] for call in calls]
    results = [result for batch in batches if batch for result in session.call_batch(batch)]
    return [(call.id, result.text) for call, result in zip(made, results, strict=True)]


def score(scenario: Scenario, trajectory: Trajectory) -> float:
    return strict.evaluate(scenario, trajectory).score


@each("name", NAMES)
@each("protocol", HISTORIES)
def test_every_protocol_leads_to_the_solution(name: str, protocol: str) -> None:
    scenario = SUITE.get(name)
    assert score(scenario, talked(scenario, Habits(protocol))) == 1.0


@settings(deadline=None, max_examples=at_least(12))
@given(
    st.sampled_from(NAMES),
    st.builds(
        Habits,
        protocol=st.sampled_from([*HISTORIES]),
        prefix=st.sampled_from(["", "mcp__sandbox__", "phone_", "a.b-"]),
        most=st.integers(1, 3),
        together=st.booleans(),
    ),
)
def test_no_habit_of_a_client_changes_what_is_achieved(name: str, habits: Habits) -> None:
    scenario = SUITE.get(name)
    trajectory = talked(scenario, habits)
    assert score(scenario, trajectory) == 1.0
    assert trajectory.ended is not None
    assert trajectory.ended.reason == "user_ended"


@each("variant", VARIANTS)
def test_no_variant_changes_what_is_achieved(variant: str) -> None:
    scenario = SUITE.get("colleagues_to_friends")
    assert score(scenario, talked(scenario, Habits(), variant)) == 1.0


@each("name", NAMES)
def test_the_solver_finishes_alone_where_the_user_is_a_tool(name: str) -> None:
    scenario = SUITE.get(name)
    log = MemoryLog()
    spec = SessionSpec(scenario, user_channel="tool")
    session = Session(spec, ScriptedUser(scenario.user.script), log)
    history = ChatHistory(f"The user's first message to you was:\n{session.begin()}")
    history.said("Go ahead.")
    tools = [functions(tool.name, tool) for tool in (*session.tools.values(), SEND_TOOL)]
    while (found := history.ask(tools)).calls:
        for call in found.calls:
            arguments = json.loads(call.arguments)
            sends = call.name == SEND_TOOL.name
            result = run(send_message, session, arguments) if sends else session.call(call.name, arguments)
            history.returned(call.id, result.text)
    assert found.text == "The user has left."
    assert score(scenario, log.trajectory()) == 1.0


@each("name", NAMES)
def test_the_scripted_user_model_says_what_the_scripted_user_says(name: str) -> None:
    """Asked as an LLM user asks its model, it answers every prefix of a dialogue alike."""
    scenario = SUITE.get(name)
    dialogue = [Line("user", scenario.user.opening)]
    model = ScriptedUserModel(SUITE.all())
    for text in ("What is the name?", "And the number?", "Which country?", "All done.", "Anything else?"):
        dialogue.append(Line("agent", text))
        expected = run(ScriptedUser(scenario.user.script).respond, tuple(dialogue))
        move = run(model.decide, chat.read(user_prompt(scenario, dialogue)), 0)
        assert isinstance(move, Move)
        assert (move.text or None, bool(move.calls)) == (expected.says, expected.says is None)
        if expected.says is None:
            return
        dialogue.append(Line("user", expected.says))


def user_prompt(scenario: Scenario, dialogue: Sequence[Line]) -> dict[str, Any]:
    from sandbox_mcp.play.users.llm import END_TOOL, conversation, prompt

    system = {"role": "system", "content": prompt(scenario.user)}
    return {"model": "u", "messages": [system, *conversation(dialogue)], "tools": [END_TOOL]}
