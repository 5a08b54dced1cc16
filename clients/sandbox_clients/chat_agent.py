"""The loop of all agents that ask a model themselves, whatever the protocol: ask, act, until it answers.

Policy: the model gets the session's instructions, the tools as they are presented, and every output as text, errors
included; it is never told what else to do. Calls of one answer are one batch. What it writes in place of arguments is
passed on as it is, so that the session can name its fault. A model that never stops calling is stopped
after ``max_steps`` answers per user message; this is its own doing and counts.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sandbox_clients.base import (
    Agent,
    AgentError,
    AgentTurn,
    Brief,
    Conversation,
    ToolInfo,
    ToolOutput,
    ToolRequest,
    Tools,
    UnknownAgentError,
)
from sandbox_clients.react_text import CORRECTION, EMPTY, OBSERVATION, STOP, WrittenStep, prompt, read_step
from sandbox_mcp.engine.talk.text import without_reasoning
from sandbox_mcp.engine.trajectory.model_text import as_arguments
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import EndpointError, FunctionCall, ModelAnswer, ModelEndpoint
from sandbox_mcp.play.users import Line

if TYPE_CHECKING:
    from sandbox_clients.settings import AgentSettings

STOPPED = "max_steps"
Output = tuple[FunctionCall, ToolOutput]
"""A call that the model asked for, and what came of it."""


class Asking(ABC):
    """One conversation with a model, kept in the form that its protocol wants."""

    @abstractmethod
    def hear(self, text: str) -> None:
        """Take in what the user says."""

    @abstractmethod
    async def ask(self) -> ModelAnswer:
        """Ask for the model's next answer.

        Raises:
            EndpointError: there was no usable answer.
        """

    @abstractmethod
    def keep(self, answer: ModelAnswer) -> None:
        """Take in an answer of the model."""

    @abstractmethod
    def give(self, outputs: Sequence[Output]) -> None:
        """Take in what came of all calls of the last answer, in their order."""

    def recall_said(self, text: str) -> None:
        """Take in what the model is to believe that it said."""
        self.keep(ModelAnswer(text, (), Usage()))

    def recall_done(self, outputs: Sequence[Output]) -> None:
        """Take in calls that the model is to believe it asked for in one answer, with what came of them."""
        self.keep(ModelAnswer("", tuple(call for call, _ in outputs), Usage()))
        self.give(outputs)

    def correction(self, answer: ModelAnswer) -> str | None:
        """Message for a model whose answer makes no sense; None if it is fine."""
        del answer
        return None


@dataclass(slots=True)
class _ReactAsking(Asking):
    """A conversation in steps of text (ReAct), held as a conversation without tools; ``step`` is the model's last step.

    One action is one step. What a tool returned, refusals included, goes back as the user's message. A step that cannot
    be read is the model's own doing: it is told the form again, the step counts, and the log keeps what it wrote.
    """

    inner: Asking
    step: WrittenStep = EMPTY
    made: int = 0

    def hear(self, text: str) -> None:
        """Take in what the user says."""
        self.inner.hear(text)

    async def ask(self) -> ModelAnswer:
        """Ask for the model's next step; its call is the action that it wrote, if it wrote one."""
        answer = await self.inner.ask()
        self.step = step = read_step(without_reasoning(answer.text))
        if step.action is not None:
            self.made += 1
            return replace(answer, text="", calls=(FunctionCall(f"step_{self.made}", step.action, step.arguments),))
        return replace(answer, text=answer.text if step.answer is None else step.answer, calls=())

    def keep(self, answer: ModelAnswer) -> None:
        """Take in the last step, without what the model wrote after it."""
        self.inner.keep(replace(answer, text=self.step.written, calls=(), parts=()))

    def give(self, outputs: Sequence[Output]) -> None:
        """Take in what the action came to."""
        for _, output in outputs:
            self.inner.hear(f"{OBSERVATION} {output.text}")

    def recall_said(self, text: str) -> None:
        """Take in a final answer that the model is to believe it wrote."""
        self.inner.recall_said(f"Final Answer: {text}")

    def recall_done(self, outputs: Sequence[Output]) -> None:
        """Take in actions that the model is to believe it wrote, each a step of its own."""
        for call, output in outputs:
            self.inner.recall_said(f"Action: {call.name}\nAction Input: {call.arguments}")
            self.inner.hear(f"{OBSERVATION} {output.text}")

    def correction(self, answer: ModelAnswer) -> str | None:
        """The form of a step, for a model that wrote neither an action nor a final answer."""
        del answer
        return CORRECTION if self.step.action is None and self.step.answer is None else None


@dataclass(slots=True)
class _Chatting:
    asking: Asking
    model: str
    max_steps: int
    tools: Tools

    async def turn(self, message: str) -> AgentTurn:
        self.asking.hear(message)
        usage, malformed, thought = Usage(), list[str](), list[str]()
        answer: ModelAnswer | None = None
        for _ in range(self.max_steps):
            try:
                answer = await self.asking.ask()
            except EndpointError as error:
                raise AgentError(str(error)) from error
            self.asking.keep(answer)
            usage += answer.usage
            thought += [answer.reasoning] if answer.reasoning else []
            if answer.calls:
                requests = [ToolRequest(call.name, as_arguments(call.arguments)) for call in answer.calls]
                outputs = await self.tools.call_together(requests)
                self.asking.give(list(zip(answer.calls, outputs, strict=True)))
                continue
            correction = self.asking.correction(answer)
            if correction is None:
                return AgentTurn(answer.text, self._meta(usage, answer.finish, malformed, thought))
            malformed.append(answer.text)
            self.asking.hear(correction)
        return AgentTurn(answer.text if answer else "", self._meta(usage, STOPPED, malformed, thought))

    def _meta(
        self, usage: Usage, finish: str | None, malformed: Sequence[str], thought: Sequence[str]
    ) -> dict[str, Any]:
        kept: dict[str, Any] = {"malformed": list(malformed)} if malformed else {}
        if thought:
            kept["reasoning"] = "\n\n".join(thought)
        return {"model": self.model, "usage": usage.to_json(), "finish": finish, **kept}


@dataclass(frozen=True, slots=True)
class ChatAgent(Agent):
    """Puts every user message to a model, and makes the calls it asks for until it answers.

    ``react`` has the model reason and act in text, see :class:`ReactAsking`, without the protocol's own calls.
    """

    endpoint: ModelEndpoint
    max_steps: int = 30
    react: bool = False
    name: str = "chat"
    marks_batches: ClassVar[bool] = True
    called: ClassVar[str]
    """What users call the agent, which is also its usual ``name``."""
    speaks: ClassVar[type[ModelEndpoint]]
    """What its endpoint is."""

    @classmethod
    def of(cls, settings: "AgentSettings") -> Self:
        """The agent with these settings.

        Raises:
            UnknownAgentError: no model is named, the endpoint cannot be asked like this, or the package is missing.
        """
        agent = cls.called
        if not settings.endpoint.model:
            raise UnknownAgentError(f"the {agent} agent needs to know which model to ask; name one with --model")
        meant = replace(settings.endpoint, provider=cls.speaks.provider)
        if problem := meant.problem():
            raise UnknownAgentError(f"the {agent} agent {problem}")
        return cls(cls.speaks(meant), settings.max_steps, settings.react)

    @abstractmethod
    def asking(self, instructions: str, tools: Sequence[ToolInfo], stop: Sequence[str] = ()) -> Asking:
        """Begin a conversation with the model; it is to stop before it writes one of ``stop``."""

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Connect to the tools and list them, once."""
        async with brief.target.connect() as tools:
            offered = await tools.list()
            if self.react:
                asking: Asking = _ReactAsking(self.asking(prompt(brief.instructions, offered), (), STOP))
            else:
                asking = self.asking(brief.instructions, offered)
            # told as if the model had been there
            for place, step in enumerate(brief.history):
                if not isinstance(step, Line):
                    outputs: list[Output] = []
                    for number, past in enumerate(step):
                        arguments = json.dumps(past.arguments, ensure_ascii=False)
                        outputs.append((FunctionCall(f"past_{place}_{number}", past.name, arguments), past.output))
                    asking.recall_done(outputs)
                elif step.speaker == "user":
                    asking.hear(step.text)
                else:
                    asking.recall_said(step.text)
            yield _Chatting(asking, self.endpoint.settings.model, self.max_steps, tools)

    @property
    def takes_history(self) -> bool:
        """True: every protocol carries the whole conversation."""
        return True

    def describe(self) -> Mapping[str, Any]:
        """Describe the model, its endpoint, its prompt and its limits."""
        prompted = {"prompting": "react"} if self.react else {}
        return {**self.endpoint.settings.describe(), "max_steps": self.max_steps, **prompted}

    async def aclose(self) -> None:
        """Close the connection to the endpoint."""
        await self.endpoint.aclose()
