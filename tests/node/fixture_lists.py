"""The resources and prompts that the conformance suite reads by name, beside what a session offers by itself."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from sandbox_mcp.play.server.context import Context
from tests.node.fixture_pack import PIXEL, TEXT, answers, demanding

BEFORE, AFTER = "test://template/", "/data"
WATCHED = "test://watched-resource"
CONTENTS: Mapping[str, TextResourceContents | BlobResourceContents] = {
    "test://static-text": TextResourceContents(uri="test://static-text", mime_type="text/plain", text="a text"),
    "test://static-binary": BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PIXEL),
    WATCHED: TextResourceContents(uri=WATCHED, mime_type="text/plain", text="watched"),
}


class Resources:
    """The suite's resources over those of a session, whose handlers are ``ours``."""

    def __init__(self, ours: Mapping[str, Any]) -> None:
        self._ours = ours

    def handlers(self) -> dict[str, Any]:
        return {
            **self._ours,
            "on_list_resources": self._list,
            "on_list_resource_templates": self._templates,
            "on_read_resource": self._read,
            "on_subscribe_resource": self._subscribe,
            "on_unsubscribe_resource": self._unsubscribe,
        }

    async def _list(self, ctx: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        ours = await self._ours["on_list_resources"](ctx, params)
        theirs = [Resource(name=uri, uri=uri, mime_type=held.mime_type) for uri, held in CONTENTS.items()]
        return ListResourcesResult(resources=[*ours.resources, *theirs])

    async def _templates(self, _: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        template = ResourceTemplate(
            name="template", uri_template=f"{BEFORE}{{id}}{AFTER}", mime_type="application/json"
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def _read(self, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        if uri.startswith(BEFORE) and uri.endswith(AFTER):
            text = f'{{"id": "{uri[len(BEFORE) : -len(AFTER)]}", "templateTest": true}}'
            held = TextResourceContents(uri=uri, mime_type="application/json", text=text)
            return ReadResourceResult(contents=[held])
        if uri in CONTENTS:
            return ReadResourceResult(contents=[CONTENTS[uri]])
        return await self._ours["on_read_resource"](ctx, params)

    async def _subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        watched = str(params.uri) in CONTENTS
        return EmptyResult() if watched else await self._ours["on_subscribe_resource"](ctx, params)

    async def _unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        watched = str(params.uri) in CONTENTS
        return EmptyResult() if watched else await self._ours["on_unsubscribe_resource"](ctx, params)


def argument(name: str) -> PromptArgument:
    return PromptArgument(name=name, description="Any text.", required=True)


PROMPTS = (
    Prompt(name="test_simple_prompt", description="One message."),
    Prompt(
        name="test_prompt_with_arguments",
        description="A message with two texts in it.",
        arguments=[argument("arg1"), argument("arg2")],
    ),
    Prompt(
        name="test_prompt_with_embedded_resource",
        description="A message that holds a document.",
        arguments=[argument("resourceUri")],
    ),
    Prompt(name="test_prompt_with_image", description="A message that is a picture."),
    Prompt(name="test_input_required_result_prompt", description="Needs something from the client's human."),
)


def said(content: Any) -> GetPromptResult:
    return GetPromptResult(messages=[PromptMessage(role="user", content=content)])


async def list_prompts(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
    return ListPromptsResult(prompts=list(PROMPTS))


async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            return said(TextContent(text="a prompt"))
        case "test_prompt_with_arguments":
            return said(TextContent(text=f"{given['arg1']} and {given['arg2']}"))
        case "test_prompt_with_embedded_resource":
            held = TextResourceContents(uri=given["resourceUri"], mime_type="text/plain", text="embedded")
            return said(EmbeddedResource(resource=held))
        case "test_prompt_with_image":
            return said(ImageContent(data=PIXEL, mime_type="image/png"))
        case "test_input_required_result_prompt":
            return said(TextContent(text="in context")) if answers(ctx, "user_context") else _which_context()
        case _:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name!r}")


def _which_context() -> InputRequiredResult:
    form = ElicitRequestFormParams(message="Which context?", requested_schema=demanding(context=TEXT))
    return InputRequiredResult(input_requests={"user_context": ElicitRequest(params=form)})


async def complete_argument(_: Context, __: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=[], total=0, has_more=False))


async def set_level(_: Context, __: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()
