"""Conversations of the agents that ask a model themselves, with a model behind a real endpoint."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_clients.anthropic_agent import AnthropicAgent, Messages
from sandbox_clients.base import AgentError, AgentTurn
from sandbox_clients.chat_agent import ChatAgent
from sandbox_clients.openai_agent import OpenAIAgent
from sandbox_clients.responses_agent import Responses, ResponsesAgent

from sandbox_mcp.app.endpoint import chat, messages, responses
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import ModelStep, Prompt
from sandbox_mcp.app.endpoint.reply import Brain
from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.play.models.asking import ANTHROPIC, OPENAI, EndpointSettings, ModelEndpoint, Provider
from sandbox_mcp.play.models.completions import Completions
from sandbox_mcp.play.models.retrying import Pacing
from tests.clients.sessions import WIFI_OFF, Opened, opened, run


@dataclass(frozen=True)
class Kind:
    """An agent, how it connects to an endpoint, and how the endpoint reads its requests."""

    agent: Callable[..., ChatAgent]
    endpoint: Callable[..., ModelEndpoint]
    read: Callable[[Mapping[str, Any]], Prompt]
    provider: Provider = OPENAI


KINDS = {
    "openai": Kind(OpenAIAgent, Completions, chat.read),
    "responses": Kind(ResponsesAgent, Responses, responses.read),
    "anthropic": Kind(AnthropicAgent, Messages, messages.read, ANTHROPIC),
}


@dataclass
class Played:
    """What came of a conversation: what the agent said, what the session recorded, what the endpoint was asked."""

    kind: Kind
    turns: list[AgentTurn] = field(default_factory=list[AgentTurn])
    seen: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    waited: list[float] = field(default_factory=list[float])
    session: Opened | None = None
    failed: str = ""

    @property
    def said(self) -> list[str]:
        return [turn.text for turn in self.turns]

    @property
    def calls(self) -> Any:
        assert self.session is not None
        return self.session.calls

    @property
    def prompts(self) -> list[Prompt]:
        """The requests as the endpoint understands them."""
        return [self.kind.read(body) for body in self.seen]

    @property
    def last(self) -> ModelStep:
        """The model's last answer before the last request, with what its calls came to."""
        return self.prompts[-1].steps[-1]

    @property
    def returned(self) -> Sequence[str]:
        """What the model was told of the calls of its last answer, in their order."""
        return [self.last.outputs[call.id] for call in self.last.calls]


@dataclass
class Play:
    """Plays conversations with whatever model is put behind the endpoint."""

    endpoint: Endpoint
    url: str

    def __call__(
        self,
        agent: str,
        brain: Brain,
        *said: str,
        scenario: Any = WIFI_OFF,
        kind: Any = "memory",
        max_steps: int = 30,
        react: bool = False,
        **settings: Any,
    ) -> Played:
        """Let an agent hear these messages; a fault of the agent is told in the result."""
        meant = KINDS[agent]
        found = Played(meant)
        self.endpoint.brain, self.endpoint.on_request = brain, found.seen.append
        self.endpoint.seen.clear()

        async def pause(seconds: float) -> None:
            found.waited.append(seconds)

        async def work() -> None:
            given = {"base_url": self.url, "retries": 2, "timeout": 5.0, "provider": meant.provider, **settings}
            playing = meant.agent(
                meant.endpoint(EndpointSettings("some-model", **given), Pacing(pause, lambda: 1.0)), max_steps, react
            )
            try:
                async with opened(scenario, kind) as found.session, playing.converse(found.session.brief) as chat:
                    for message in said:
                        found.turns.append(await chat.turn(message))
            finally:
                await playing.aclose()

        try:
            run(work)
        except* AgentError as errors:
            found.failed = str(inner_errors(errors)[0])
        return found
