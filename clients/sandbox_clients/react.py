"""ReAct prompting over any protocol: the model reasons and acts in text, and the protocol's own calls are not used.

Policy: one action is one step. What a tool returned, refusals included, goes back as the user's message. A step that
cannot be read is the model's own doing: it is told the form again, the step counts, and the log keeps what it wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sandbox_clients.chat_agent import Asking, Output
from sandbox_clients.react_text import CORRECTION, EMPTY, OBSERVATION, WrittenStep, read_step
from sandbox_mcp.models.asking import FunctionCall, ModelAnswer


@dataclass(slots=True)
class ReactAsking(Asking):
    """A conversation in steps of text, held as a conversation without tools; ``step`` is the model's last step."""

    inner: Asking
    step: WrittenStep = EMPTY
    made: int = 0

    def hear(self, text: str) -> None:
        """Take in what the user says."""
        self.inner.hear(text)

    async def ask(self) -> ModelAnswer:
        """Ask for the model's next step; its call is the action that it wrote, if it wrote one."""
        answer = await self.inner.ask()
        self.step = step = read_step(answer.text)
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
