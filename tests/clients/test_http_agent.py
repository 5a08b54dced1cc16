"""Agents behind an address: a real HTTP server that acts over MCP, and servers that fail."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from sandbox_clients.base import AgentError, AgentTurn, Brief, ToolRequest, UnknownAgentError
from sandbox_clients.http_agent import HttpAgent
from sandbox_clients.mcp_tools import McpTarget
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.models.retrying import Pacing
from tests.agents.kit import FIVE
from tests.clients.sessions import SUITE
from tests.each import each
from tests.run.runs import played

Handler = Callable[[Request], Awaitable[Response]]
BRIEF = Brief("Be kind.", McpTarget("http://127.0.0.1:9/mcp", {"Authorization": "Bearer secret"}))


@dataclass
class Site:
    """A server with one handler, and what it was asked."""

    handler: Handler
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/agent", self.answer, methods=["POST"])])

    async def answer(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        self.keys.append(request.headers.get("authorization"))
        return await self.handler(request)


@contextmanager
def site(handler: Handler) -> Iterator[tuple[Site, str]]:
    """Such a server, and its address."""
    made = Site(handler)
    with running(made) as base:
        yield made, base.replace("/v1", "/agent")


def saying(*answers: Response) -> Handler:
    """Answers in this order, the last one for ever."""
    left = list(answers)

    async def answer(_: Request) -> Response:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def talked(handler: Handler, *said: str, **settings: Any) -> tuple[Site, list[AgentTurn], list[float]]:
    """A conversation with an agent behind such a server: what it was asked and answered, and how long was waited."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def work(url: str) -> list[AgentTurn]:
        agent = HttpAgent.of(url, AgentSettings(EndpointSettings("m", **settings)))
        paced = HttpAgent(agent.name, agent.url, agent.settings, Pacing(sleep, lambda: 1.0))
        async with paced.converse(BRIEF) as conversation:
            return [await conversation.turn(text) for text in said]

    with site(handler) as (made, url):
        return made, anyio.run(work, url), waited


HELLO = JSONResponse({"text": "Hello."})


def a_model_of_its_own(model_url: str) -> Handler:
    """An agent of somebody's own: function calling against a model, with the tools from where it is told they are."""
    memory: dict[str, list[Any]] = {}

    async def answer(request: Request) -> Response:
        asked = await request.json()
        talk = memory.setdefault(asked["session"], [{"role": "system", "content": asked["instructions"]}])
        talk.append(asked["messages"][-1])
        target = McpTarget(asked["mcp"]["url"], asked["mcp"]["headers"])
        async with httpx2.AsyncClient(base_url=model_url) as model, target.connect() as tools:
            functions = [
                {"type": "function", "function": {"name": tool.name, "parameters": tool.input_schema}}
                for tool in await tools.list()
            ]
            while True:
                body = {"model": "m", "messages": talk, "tools": functions}
                said = (await model.post("chat/completions", json=body)).json()
                message = said["choices"][0]["message"]
                talk.append(message)
                calls = [(call["id"], call["function"]) for call in message.get("tool_calls", ())]
                if not calls:
                    return JSONResponse({"text": message["content"], "usage": {"requests": 1}})
                requests = [ToolRequest(made["name"], json.loads(made["arguments"])) for _, made in calls]
                outputs = zip(calls, await tools.call_together(requests), strict=True)
                talk += [{"role": "tool", "tool_call_id": key, "content": output.text} for (key, _), output in outputs]

    return answer


def test_an_agent_of_somebodys_own_finishes_the_five_scenarios(tmp_path: Path) -> None:
    brain = Solver([SUITE.get(name) for name in FIVE])
    with running(Endpoint(brain)) as model, site(a_model_of_its_own(model)) as (made, url):
        agent = agent_named(url, AgentSettings(EndpointSettings(retries=0)))
        summary, _ = played(tmp_path, agent, scenarios=FIVE, transport="http", jobs=2)
    assert {found["scenario"]: found["score"] for found in summary["scenarios"]} == dict.fromkeys(FIVE, 1.0)
    assert summary["tokens"]["agent"]["requests"] == len(made.bodies)


def test_every_message_brings_all_that_was_said_and_where_the_tools_are() -> None:
    made, turns, _ = talked(saying(HELLO), "Hi", "Bye", parameters={"temperature": 0})
    assert [turn.text for turn in turns] == ["Hello.", "Hello."]
    assert made.bodies[1] == {
        "session": made.bodies[0]["session"],
        "instructions": "Be kind.",
        "mcp": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer secret"}},
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "Bye"},
        ],
        "settings": {
            "model": "m",
            "base_url": None,
            "parameters": {"temperature": 0},
            "max_steps": 30,
            "timeout": 120.0,
            "retries": 5,
        },
    }


def test_conversations_have_sessions_of_their_own() -> None:
    first, _, _ = talked(saying(HELLO), "Hi")
    second, _, _ = talked(saying(HELLO), "Hi")
    assert first.bodies[0]["session"] != second.bodies[0]["session"]


def test_what_it_took_is_kept_with_the_answer() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "requests": 1}
    _, (turn,), _ = talked(saying(JSONResponse({"text": "Hi.", "usage": usage, "meta": {"version": "7"}})), "Hi")
    assert turn.meta == {"usage": usage, "version": "7"}


def test_a_key_is_sent_only_if_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("MY_KEY", "mine\r\n")
    silent, _, _ = talked(saying(HELLO), "Hi")
    telling, _, _ = talked(saying(HELLO), "Hi", key_variable="MY_KEY")
    assert silent.keys + telling.keys == [None, "Bearer mine"]


async def drop(_: Request) -> Response:
    """Begin an answer, and drop the connection in the middle of it."""
    return Response("", headers={"content-length": "100"})


@pytest.mark.filterwarnings("ignore")
@each(("status", "headers", "pauses"), [(429, {"retry-after": "3"}, [3.0]), (503, {}, [1.0]), (500, {}, [1.0])])
def test_what_may_pass_is_tried_again(status: int, headers: dict[str, str], pauses: list[float]) -> None:
    made, (turn,), waited = talked(saying(Response("busy", status, headers), HELLO), "Hi")
    assert (turn.text, waited) == ("Hello.", pauses)
    assert made.bodies[0] == made.bodies[1], "the same session and messages, so that it can be told from another"


def test_a_lost_connection_is_tried_again() -> None:
    seen: list[Request] = []

    async def answer(request: Request) -> Response:
        seen.append(request)
        return await drop(request) if len(seen) == 1 else HELLO

    _, (turn,), waited = talked(answer, "Hi")
    assert (turn.text, waited) == ("Hello.", [1.0])


@each(
    ("answer", "problem"),
    [
        (JSONResponse({"error": "no such session"}, 404), "status 404: no such session"),
        (Response("go away", 401), "status 401: go away"),
        (Response("[" * 100_000, 404), "status 404: [[["),
        (Response("", 307, {"location": "/other"}), "status 307"),
        (Response("busy", 500), "status 500: busy (3 tries)"),
        (Response("Hello."), "answered with 'Hello.'; expected an object with text"),
        (JSONResponse(["Hello."]), "answered with '[\"Hello.\"]'; expected an object with text"),
        (JSONResponse({"answer": "Hello."}), "expected a reply with text"),
        (Response('{"text": "Hi.", "meta": {"x": 1e999}}'), "expected an object with text"),
        (JSONResponse({"text": "Hi.", "usage": {"requests": -1}}), "a usage with requests -1; expected a whole number"),
    ],
)
def test_anything_else_is_told(answer: Response, problem: str) -> None:
    with pytest.raises(AgentError) as caught:
        talked(saying(answer), "Hi", retries=2)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("agent at http://127.0.0.1:")


def test_an_address_where_nobody_listens() -> None:
    async def work() -> None:
        settings = AgentSettings(EndpointSettings(retries=9, pause=0))
        async with HttpAgent.of("http://127.0.0.1:1/agent", settings).converse(BRIEF) as conversation:
            await conversation.turn("Hi")

    with pytest.raises(AgentError, match=r"agent at http://127.0.0.1:1/agent: connection failed: .* \(3 tries\)"):
        anyio.run(work)


def test_logs_see_no_credentials() -> None:
    agent = agent_named(
        "http://me:word@agents.example:8000/mine?token=word",
        AgentSettings(EndpointSettings("m", "http://me:word@models.example/v1")),
    )
    assert agent.name == "http://agents.example:8000/mine"
    assert "word" not in json.dumps([agent.name, agent.describe()])


@each(
    "address",
    ["http://", "https://:80/x", "http://host:port/x", "http://[::1/x", "http://exa mple/x", "http://host:80/x\ty"],
)
def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(UnknownAgentError, match="is not an address"):
        agent_named(address)


def test_a_key_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UnknownAgentError, match="'MY_KEY', which is not set"):
        agent_named("http://agents.example", AgentSettings(EndpointSettings(key_variable="MY_KEY")))
