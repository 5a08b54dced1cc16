"""Prompts, whatever the protocol: turns of the user, and the steps that the model has taken in each.

Policy: all that an endpoint knows is in the request. What the assistant did without anything in between is one step,
however many messages a client makes of it, and so is what the user said.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sandbox_mcp.engine.tools.user_tools import END
from sandbox_mcp.play.models.asking import FunctionCall


@dataclass(frozen=True, slots=True)
class ModelStep:
    """One answer of the model: text, calls, and the outputs of those that were carried out, by call id."""

    text: str
    calls: tuple[FunctionCall, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """Words of the user, and the steps of the model about them so far."""

    user: str
    steps: tuple[ModelStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as the model is shown it: what it is for, and the names of its arguments."""

    description: str = ""
    arguments: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a model.

    ``tools`` are those offered, by name, with whatever prefix the client gave it. ``deferred`` are the names of tools
    that can be had, but have to be loaded first.
    """

    model: str
    system: str
    turns: tuple[PromptTurn, ...]
    tools: Mapping[str, Offer]
    deferred: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[ModelStep, ...]:
        """All answers of the model so far."""
        return tuple(step for turn in self.turns for step in turn.steps)

    def without_example(self) -> "Prompt":
        """The conversation that counts, where a simulated user was shown another one first, which it left."""
        left = [
            number
            for number, turn in enumerate(self.turns, start=1)
            if any(call.name == END for step in turn.steps for call in step.calls)
        ]
        return replace(self, turns=self.turns[left[-1] :]) if left else self

    def offered(self, name: str) -> str | None:
        """The name under which a tool is offered: its own, or its own behind a prefix; None if it is not."""
        if name in self.tools:
            return name
        prefixed = [tool for tool in self.tools if tool.endswith(name) and not tool[-len(name) - 1].isalnum()]
        return min(prefixed, key=len, default=None)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of a request's history, before entries are put together."""

    kind: Literal["system", "user", "assistant", "output"]
    text: str
    calls: tuple[FunctionCall, ...] = ()
    call_id: str = ""


def assemble(model: str, entries: Iterable[HistoryEntry], tools: Mapping[str, Offer]) -> Prompt:
    """Put a request's history together."""
    history = list(entries)
    system = "\n".join(entry.text for entry in history if entry.kind == "system")
    turns: list[PromptTurn] = []
    for entry in history:
        if entry.kind == "user":
            text = entry.text
            if turns and not turns[-1].steps:
                text = "\n".join((turns.pop().user, text))
            turns.append(PromptTurn(text))
        elif entry.kind == "assistant":
            last = turns.pop() if turns else PromptTurn("")
            steps, step = last.steps, ModelStep(entry.text, entry.calls)
            if steps and not steps[-1].outputs:  # nothing has come of the last step yet, so it goes on
                text = "\n".join(filter(None, (steps[-1].text, entry.text)))
                steps, step = steps[:-1], ModelStep(text, (*steps[-1].calls, *entry.calls))
            turns.append(PromptTurn(last.user, (*steps, step)))
        elif entry.kind == "output" and turns and turns[-1].steps:
            last = turns.pop()
            step = last.steps[-1]
            done = ModelStep(step.text, step.calls, {**step.outputs, entry.call_id: entry.text})
            turns.append(PromptTurn(last.user, (*last.steps[:-1], done)))
    return Prompt(model, system, tuple(turns), tools)
