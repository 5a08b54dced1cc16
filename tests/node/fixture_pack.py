"""The tools that the conformance suite calls by name, as an extra pack over those of a session.

They stand where the world stands otherwise. What lists them, calls them and shapes their results is the product.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SamplingMessage,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sandbox_mcp.engine.tools import PresentedTool, Tool
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.mcp_server import PreparedResult, complete
from sandbox_mcp.play.session import CallResult

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
"""A picture of one point."""
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
"""A sound without samples."""
Given = Mapping[str, Any]
Body = Callable[[Context, Given], Awaitable[CallResult | PreparedResult]]


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def demanding(**properties: Any) -> dict[str, Any]:
    return {**object_of(**properties), "required": list(properties)}


TEXT = {"type": "string"}
NOTHING = object_of()


@dataclass(frozen=True, slots=True)
class Contents:
    """A result that is not JSON: pictures, sounds, documents."""

    items: tuple[Mapping[str, Any], ...]

    def wire(self, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
        return complete({"content": list(self.items), "structuredContent": {}, "isError": False}, stamp)


@dataclass(frozen=True, slots=True)
class Asks:
    """A result that asks the client for something first."""

    requests: Mapping[str, Mapping[str, Any]]
    state: str | None = None

    def wire(self, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
        state = {} if self.state is None else {"requestState": self.state}
        return {"resultType": "input_required", "inputRequests": self.requests, **state, "_meta": stamp}


@dataclass(frozen=True, slots=True)
class Fixture:
    """A tool of the suite: how it is listed and what it does."""

    shown: PresentedTool
    body: Body


TOOLS: dict[str, Fixture] = {}


def tool(name: str, schema: Mapping[str, Any] = NOTHING) -> Callable[[Body], Body]:
    """Add a tool to the pack; the function's docstring is its description."""

    def add(body: Body) -> Body:
        about = body.__doc__ or ""
        made = Tool(name, "conformance", False, False, "agent", body, about, (), NOTHING)
        TOOLS[name] = Fixture(PresentedTool(made, name, about, (), {}, schema), body)
        return body

    return add


@tool("test_simple_text")
async def simple_text(_: Context, __: Given) -> CallResult:
    """Gives a text, as a result of the phone does."""
    return CallResult({"text": "plain"})


def picture() -> dict[str, Any]:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def document(uri: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


@tool("test_image_content")
async def image_content(_: Context, __: Given) -> Contents:
    """Gives a picture."""
    return Contents((picture(),))


@tool("test_audio_content")
async def audio_content(_: Context, __: Given) -> Contents:
    """Gives a sound."""
    return Contents(({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"},))


@tool("test_embedded_resource")
async def embedded_resource(_: Context, __: Given) -> Contents:
    """Gives a document."""
    return Contents((document("test://embedded-resource", "text/plain", "embedded"),))


@tool("test_multiple_content_types")
async def multiple_content_types(_: Context, __: Given) -> Contents:
    """Gives a text, a picture and a document."""
    text = {"type": "text", "text": "three things"}
    return Contents((text, picture(), document("test://mixed-content-resource", "application/json", '{"n": 1}')))


@tool("test_error_handling")
async def error_handling(_: Context, __: Given) -> CallResult:
    """Breaks, as a tool with a bug does."""
    raise LookupError("nothing is told of this")


@tool("test_tool_with_logging")
async def tool_with_logging(ctx: Context, _: Given) -> CallResult:
    """Logs three times before it gives its result."""
    for step in ("begun", "at it", "done"):
        params = LoggingMessageNotificationParams(level="info", data=step)
        await ctx.session.send_notification(LoggingMessageNotification(params=params), ctx.request_id)
    return CallResult({"logged": 3})


@tool("test_logging_tool")
async def logging_tool(_: Context, __: Given) -> CallResult:
    """Logs nothing, because nobody asks for it."""
    return CallResult({"logged": 0})


@tool("test_tool_with_progress")
async def tool_with_progress(ctx: Context, _: Given) -> CallResult:
    """Tells how far it is, three times."""
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return CallResult({"done": 100})


@tool("test_sampling", demanding(prompt=TEXT))
async def sampling(ctx: Context, given: Given) -> CallResult:
    """Lets the client's model answer a prompt."""
    message = SamplingMessage(role="user", content=TextContent(text=given["prompt"]))
    answer = await ctx.session.send_request(
        CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100)),
        CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
    )
    return CallResult({"answer": answer.content.model_dump(mode="json")})


async def asked(ctx: Context, message: str, schema: dict[str, Any]) -> CallResult:
    answer = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return CallResult({"action": answer.action, "content": answer.content})


@tool("test_elicitation", demanding(message=TEXT))
async def elicitation(ctx: Context, given: Given) -> CallResult:
    """Lets the client's human fill in a form."""
    return await asked(ctx, given["message"], demanding(username=TEXT, email=TEXT))


@tool("test_elicitation_sep1034_defaults")
async def elicitation_sep1034_defaults(ctx: Context, _: Given) -> CallResult:
    """Shows a form that is filled in already."""
    status = {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}
    form = object_of(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status=status,
        verified={"type": "boolean", "default": True},
    )
    return await asked(ctx, "Is this right?", form)


def titled(*values: str) -> list[dict[str, str]]:
    return [{"const": value, "title": value.title()} for value in values]


@tool("test_elicitation_sep1330_enums")
async def elicitation_sep1330_enums(ctx: Context, _: Given) -> CallResult:
    """Shows a form with all kinds of choices."""
    form = object_of(
        untitledSingle={"type": "string", "enum": ["option1", "option2", "option3"]},
        titledSingle={"type": "string", "oneOf": titled("value1", "value2", "value3")},
        legacyEnum={"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
        titledMulti={"type": "array", "items": {"anyOf": titled("value1", "value2")}},
    )
    return await asked(ctx, "Which?", form)


ADDRESS = {"$anchor": "addressDef", **object_of(street=TEXT, city=TEXT)}


@tool(
    "json_schema_2020_12_tool",
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"address": ADDRESS},
        **object_of(
            name=TEXT,
            address={"$ref": "#/$defs/address"},
            contactMethod={"type": "string", "enum": ["phone", "email"]},
            phone=TEXT,
            email=TEXT,
        ),
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)
async def json_schema_2020_12_tool(_: Context, __: Given) -> CallResult:
    """Is there for its schema."""
    return CallResult({})


@tool("test_x_mcp_header", object_of(region={"type": "string", "x-mcp-header": "Region"}))
async def x_mcp_header(_: Context, given: Given) -> CallResult:
    """Has an argument that travels in a header as well."""
    return CallResult(dict(given))


@tool("test_missing_capability")
async def missing_capability(_: Context, __: Given) -> CallResult:
    """Needs a client that offers sampling; one that does not is stopped before."""
    return CallResult({})


def form(message: str, **properties: Any) -> dict[str, Any]:
    params = {"mode": "form", "message": message, "requestedSchema": demanding(**properties)}
    return {"method": "elicitation/create", "params": params}


def prompt_of(text: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}


ROOTS: Mapping[str, Any] = {"method": "roots/list", "params": {}}


def answers(ctx: Context, *names: str) -> dict[str, Any] | None:
    """What the client brings for all these names, or None where something is missing or makes no sense."""
    brought = (ctx.params or {}).get("inputResponses")
    found = {name: brought.get(name) for name in names} if isinstance(brought, Mapping) else {}
    return found if found and all(isinstance(answer, Mapping) for answer in found.values()) else None


async def until_answered(ctx: Context, requests: Mapping[str, Mapping[str, Any]], state: str | None = None) -> Any:
    found = answers(ctx, *requests)
    return Asks(requests, state) if found is None else CallResult(found)


@tool("test_input_required_result_elicitation")
async def input_required_result_elicitation(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Needs a name that the client's human knows."""
    return await until_answered(ctx, {"user_name": form("What is your name?", name=TEXT)})


@tool("test_streaming_elicitation")
async def streaming_elicitation(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Needs a name as well, from a client that would listen to a stream."""
    return await until_answered(ctx, {"user_name": form("What is your name?", name=TEXT)})


@tool("test_input_required_result_sampling")
async def input_required_result_sampling(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Needs the client's model."""
    return await until_answered(ctx, {"capital_question": prompt_of("What is the capital of France?")})


@tool("test_input_required_result_list_roots")
async def input_required_result_list_roots(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Needs the client's roots."""
    return await until_answered(ctx, {"client_roots": ROOTS})


@tool("test_input_required_result_request_state")
async def input_required_result_request_state(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Gives its own words back to know where it was."""
    if answers(ctx, "confirm") and (ctx.params or {}).get("requestState") == "asked":
        return CallResult({"state": "state-ok"})
    return Asks({"confirm": form("Shall it?", ok={"type": "boolean"})}, "asked")


@tool("test_input_required_result_tampered_state")
async def input_required_result_tampered_state(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Gives out words that must come back as they were."""
    return await until_answered(ctx, {"confirm": form("Shall it?", ok={"type": "boolean"})}, secrets.token_hex(8))


@tool("test_input_required_result_multiple_inputs")
async def input_required_result_multiple_inputs(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Needs three things at once."""
    requests = {
        "user_name": form("What is your name?", name=TEXT),
        "greeting": prompt_of("Hello"),
        "client_roots": ROOTS,
    }
    return await until_answered(ctx, requests, "three")


@tool("test_input_required_result_multi_round")
async def input_required_result_multi_round(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Asks twice, one after the other."""
    state = (ctx.params or {}).get("requestState")
    if state == "second" and answers(ctx, "step2"):
        return CallResult({"rounds": 3})
    if state == "first" and answers(ctx, "step1"):
        return Asks({"step2": form("Which colour?", color=TEXT)}, "second")
    return Asks({"step1": form("What is your name?", name=TEXT)}, "first")


@tool("test_input_required_result_capabilities")
async def input_required_result_capabilities(ctx: Context, _: Given) -> CallResult | PreparedResult:
    """Asks for what this client can give, and for nothing else."""
    offered = ctx.session.client_capabilities
    requests: dict[str, Mapping[str, Any]] = {}
    if offered is not None and offered.sampling is not None:
        requests["sample"] = prompt_of("Hello")
    if offered is not None and offered.elicitation is not None:
        requests["ask"] = form("What is your name?", name=TEXT)
    return Asks(requests, "offered")


def lacks_sampling(ctx: Context) -> bool:
    """Whether a client of the newer protocol has not said that it lets its model be used."""
    offered = ctx.session.client_capabilities
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and (offered is None or offered.sampling is None)
