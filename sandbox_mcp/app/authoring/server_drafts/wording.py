"""Words of a draft: what its user wants, and what a reply says, from the tools' descriptions or by a model.

Policy: without a model the words are plain and correct rather than lively, because a person reads and mends them. A
model's words are taken only where every value that the calls need is in them, or is put under what the user knows.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sandbox_mcp.app.authoring.server_drafts.survey import DraftStep, Suggest, Survey, Usable
from sandbox_mcp.app.authoring.server_drafts.values import DraftValue
from sandbox_mcp.app.authoring.server_drafts.wishes import said_value, wish_for
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.worlds.recorded import TapeTool

ARGUMENTS = """A tool of a server is to be tried. Give up to three sets of realistic arguments with which it works in \
the state that is shown. Answer with a JSON list of objects and nothing else.

The tool:
%s

What the server shows:
%s"""
WISH = """Write a test scenario's user for an assistant that will make these calls:
%s

Descriptions of the tools:
%s

Write a person, not a program: no name of a tool or of an argument, and every value that the assistant needs. Answer \
with one JSON object and nothing else:
{"goal": "You want ...", "opening": "The first thing the person writes.", "knows": ["Whole sentences."], \
"does_not_know": ["Whole sentences."]}"""


@dataclass(frozen=True, slots=True)
class DraftWords:
    """The user of a draft."""

    goal: str
    opening: str
    knows: tuple[str, ...]
    does_not_know: tuple[str, ...]


def plain_words(steps: Sequence[DraftStep]) -> DraftWords:
    """The user's words, made of the tools' descriptions and the values."""
    wishes = [wish_for(step) for step in steps]
    opening = " ".join((wishes[0].sentence, *(wish.further for wish in wishes[1:])))
    further = (f" Then you want it to {wish.asked}." for wish in wishes[1:])
    goal = "".join((f"You want the assistant to {wishes[0].asked}.", *further))
    knows = tuple(dict.fromkeys(fact for wish in wishes for fact in wish.facts))
    looked = [step for step in steps if not step.acts]
    unknown = ("You do not know what will be found.",) if looked else ("You do not know how it is done.",)
    return DraftWords(goal, opening, knows or ("You know no more than that.",), unknown)


class DraftingModel:
    """A model at the chat completions endpoint that proposes arguments and words.

    Raises:
        SandboxError: it cannot be asked.
    """

    def __init__(self, model: str) -> None:
        from sandbox_mcp.play.models.asking import OPENAI, EndpointSettings

        self._settings = EndpointSettings(model)
        if self._settings.problem():
            key = f"set {OPENAI.key_variable}, or {OPENAI.url_variable} to the address of an endpoint that needs no key"
            raise SandboxError(f"{model!r} cannot be asked: {self._settings.package_problem() or key}")

    @property
    def suggest(self) -> Suggest:
        """Sets of arguments that it proposes for a tool."""

        def suggested(tool: TapeTool, found: Survey) -> Sequence[Mapping[str, DraftValue]]:
            shown = [
                {"call": item.tool, "arguments": item.arguments, "answer": item.value} for item in found.pool.answers
            ]
            asked = ARGUMENTS % (_json(dict(tool.listed)), _json(shown)[:8000])
            sets = self._asked(asked, "[", "]")
            known = _sources(found)
            return [
                {
                    str(name): known.get(_json(value)) or DraftValue(value)
                    for name, value in cast("dict[str, Any]", one).items()
                }
                for one in (cast("list[Any]", sets) if isinstance(sets, list) else [])[:3]
                if isinstance(one, dict)
            ]

        return suggested

    def words(self, usable: Usable) -> DraftWords:
        """The user's words for some steps; plain ones where its answer cannot be used."""
        plain = plain_words(usable.steps)
        calls = [{"tool": step.tool.name, "arguments": step.plain} for step in usable.steps]
        described = {step.tool.name: step.tool.listed.get("description") for step in usable.steps}
        said = self._asked(WISH % (_json(calls), _json(described)), "{", "}")
        if not isinstance(said, dict):
            return plain
        written = cast("dict[str, Any]", said)
        goal, opening = written.get("goal"), written.get("opening")
        if not isinstance(goal, str) or not isinstance(opening, str) or not opening.strip():
            return plain
        if any(step.tool.name in f"{goal} {opening}" for step in usable.steps):
            return plain
        knows = _lines(written.get("knows"))
        told = f"{opening} {' '.join(knows)}".casefold()
        for step in usable.steps:
            needed = [said_value(item.value) for item in step.arguments.values() if item.source is None]
            if any(value.casefold() not in told for value in needed):
                wish = wish_for(step)
                knows += wish.facts or (f"You want to {wish.asked}.",)
        unknown = tuple(_lines(written.get("does_not_know"))) or plain.does_not_know
        return DraftWords(goal, opening, tuple(knows) or plain.knows, unknown)

    def _asked(self, text: str, begin: str, end: str) -> Any:
        said = asyncio.run(self._ask(text))
        try:
            return json.loads(said[said.find(begin) : said.rfind(end) + 1])
        except ValueError:
            return None

    async def _ask(self, text: str) -> str:
        from sandbox_mcp.play.models.asking import EndpointError
        from sandbox_mcp.play.models.completions import Completions

        endpoint = Completions(self._settings)
        try:
            return (await endpoint.ask([{"role": "user", "content": text}], ())).text
        except EndpointError as error:
            raise SandboxError(f"the model that drafts gave no answer: {error}") from error
        finally:
            await endpoint.aclose()


def _sources(found: Survey) -> Mapping[str, DraftValue]:
    """The values of answers that have to be looked up, by their JSON."""
    return {_json(item.value): item for item in found.pool.to_look_up()}


def _lines(value: Any) -> list[str]:
    return [line for line in cast("list[Any]", value) if isinstance(line, str)] if isinstance(value, list) else []


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
