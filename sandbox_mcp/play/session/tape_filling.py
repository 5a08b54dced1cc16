"""Asking a model for what a tape has no answer to, for scenarios that say which one may be asked.

Policy: the model is told what the server said of the tool, the nearest recorded calls and the acting calls so far, and
nothing of the scenario, so that it cannot help. An answer not in the form of the tool's is asked for once
more. Where there is no usable answer, the session ends as one whose world broke, which counts against neither side.
Everything else in the process waits meanwhile, because calls happen one after another.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.value_schemas import fits_schema

if TYPE_CHECKING:
    from sandbox_mcp.engine.worlds.recorded import Fill, FillQuestion
    from sandbox_mcp.play.models.asking import EndpointSettings

TRIES = 2
ROLE = """You stand in for a server of tools. Calls that it answered were recorded; you answer one that was not.
Answer as that server would: in the same form, the same words for the same cases, and in agreement with everything it \
answered. What you cannot know you choose plausibly, once and for all. %r stands for a secret that was right.
Answer with one JSON object and nothing else, with one of these keys:
{"object": ...} the result as an object, where the tool gives objects
{"text": "..."} the result as text, where it gives text
{"error": "..."} what the server says where it refuses the call"""
"""What a model is told first, but for what stands for a secret."""


class _FillError(Exception):
    """The model gave no usable answer for a tape. Not what a tool may raise: the world broke."""


def filler(model: str) -> "Callable[[FillQuestion], Fill]":
    """What asks this model for an answer that a tape does not have.

    Raises:
        SandboxError: the model cannot be asked; the message says the reason.
    """
    from sandbox_mcp.play.models.asking import OPENAI, EndpointSettings

    settings = EndpointSettings(model)
    if settings.problem():
        key = f"set {OPENAI.key_variable}, or {OPENAI.url_variable} to the address of an endpoint that needs no key"
        raise SandboxError(f"{model!r} is to answer, and cannot be asked: {settings.package_problem() or key}")
    return lambda question: _answer(settings, question)


def looked_up(scenario: Scenario, knowledge: object) -> object:
    """The sources that a session's tools look things up in: ``knowledge``, or a model where the scenario says so.

    Raises:
        SandboxError: the model cannot be asked; the message says the reason.
    """
    if not scenario.fill:
        return knowledge
    from sandbox_mcp.engine.worlds.recorded import Fills
    from sandbox_mcp.play.models.asking import OPENAI, EndpointSettings

    if not isinstance(scenario.home.knowledge, Fills):
        return knowledge
    settings = EndpointSettings(scenario.fill)
    if settings.problem():
        key = f"set {OPENAI.key_variable}, or {OPENAI.url_variable} to the address of an endpoint that needs no key"
        needed = settings.package_problem() or key
        raise SandboxError(f"scenario {scenario.name!r} lets {scenario.fill!r} answer, which cannot be asked: {needed}")
    kept = scenario.home.knowledge
    return Fills(kept.path, lambda question: _answer(settings, question), kept.plain)


def _answer(settings: "EndpointSettings", question: "FillQuestion") -> "Fill":
    from sandbox_mcp.engine.worlds.recorded import REDACTED, Fill

    messages = [{"role": "system", "content": ROLE % (REDACTED,)}, {"role": "user", "content": _told(question)}]
    problem = ""
    for _ in range(TRIES):
        try:
            with ThreadPoolExecutor(1) as pool:  # the loop that this is called from, if any, cannot wait
                said = pool.submit(asyncio.run, _asked(settings, messages)).result()
        except Exception as error:
            raise _FillError(f"{settings.model!r} could not be asked: {error}") from error
        try:
            return Fill(_result(said, question), settings.model)
        except ValueError as error:
            problem = str(error)
            again = {"role": "user", "content": f"That was not usable: {problem}. Answer again, in the form described."}
            messages += [{"role": "assistant", "content": said or "-"}, again]
    raise _FillError(f"{settings.model!r} gave no usable answer to {question.asked[0]}: {problem}")


async def _asked(settings: "EndpointSettings", messages: list[dict[str, str]]) -> str:
    from sandbox_mcp.play.models.completions import Completions

    endpoint = Completions(settings)
    try:
        return (await endpoint.ask(messages, ())).text
    finally:
        await endpoint.aclose()


def _told(question: "FillQuestion") -> str:
    calls = [
        {"tool": call.deed[0], "arguments": loads(call.deed[1]), "after": len(call.after), "result": call.result}
        for call in question.examples
    ]
    parts: Mapping[str, Any] = {
        "The tool": dict(question.tool.listed),
        "Recorded calls that are most like it, each with the number of acting calls before it": calls,
        "The acting calls so far": [{"tool": tool, "arguments": loads(given)} for tool, given in question.after],
        "The call to answer": {"tool": question.asked[0], "arguments": loads(question.asked[1])},
    }
    return "\n\n".join(f"{name}:\n{json.dumps(part, ensure_ascii=False)}" for name, part in parts.items())


def _result(said: str, question: "FillQuestion") -> Mapping[str, Any]:
    """A result as a server's travels, out of what a model said."""
    begin, end = said.find("{"), said.rfind("}")
    found: Any = loads(said[begin : end + 1] or "null")
    if not isinstance(found, dict) or len(cast("dict[str, Any]", found)) != 1:
        raise ValueError("expected one JSON object with one key")
    [(kind, value)] = cast("dict[str, Any]", found).items()
    if kind in ("text", "error") and isinstance(value, str):
        if kind == "text" and _gives_objects(question):
            raise ValueError("the tool gives objects, not text")
        content = [{"type": "text", "text": value}]
        return {"content": content, **({"isError": True} if kind == "error" else {})}
    if kind != "object" or not isinstance(value, dict):
        raise ValueError("expected 'object' with an object, or 'text' or 'error' with a text")
    schema: Any = question.tool.listed.get("outputSchema")
    if isinstance(schema, Mapping) and not fits_schema(value, cast("Mapping[str, Any]", schema)):
        raise ValueError("the object does not have the form of the tool's outputSchema")
    if not _gives_objects(question):
        raise ValueError("the tool gives text, not an object")
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return {"content": [{"type": "text", "text": text}], "structuredContent": value}


def _gives_objects(question: "FillQuestion") -> bool:
    """True if the tool's results are objects, as the server said or as its recorded results are."""
    if isinstance(question.tool.listed.get("outputSchema"), Mapping):
        return True
    own = [call for call in question.examples if call.deed[0] == question.tool.name and not call.refused]
    return bool(own) and all(isinstance(call.result.get("structuredContent"), Mapping) for call in own)
