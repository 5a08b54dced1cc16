"""Imports conversations in the form of OpenAI's Responses API: lists of items, or requests and responses.

Policy: results pair with calls by ``call_id``. Responses that name their predecessor continue its session. Calls with
no result between them are one batch; a call that runs inside the response, of an MCP server or of a tool that the API
brings itself, is a batch of its own. Of the events of a stream only the last counts, which holds the whole response.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import CallOutcome, Ending, Names, OpenCall, SessionBuilder, stem
from sandbox_grader.importers.reading.content import joined, outcome_of
from sandbox_grader.importers.reading.documents import ConversationItems, TaskNames, conversations, exchange_in
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, is_object, load
from sandbox_grader.importers.reading.responses_tools import add_call, add_output, is_call, is_output, is_the_clients
from sandbox_grader.importers.reading.values import arguments_of, encode, failure, stated

CALLS = frozenset({"function_call", "custom_tool_call"})
RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
STREAMED = frozenset({"response.completed", "response.incomplete", "response.failed"})
"""Events of a stream that hold the response as it became."""
HOLDERS = ("input", "output", "items", "data")
"""The members of an object that hold items."""


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file holds no items of that form.
    """
    names = Names()
    for path in paths:
        loaded, faults = load(path), Faults()
        chains = _chained(loaded)
        if not chains:
            raise loaded.nodes[0].empty("holds events of a stream that did not come to its end")
        tasks = TaskNames(path, len(chains) > 1)
        for parts in chains:
            with faults.aside():
                builder = SessionBuilder("openai-responses", str(path), stem(path), loaded.losses)
                player, given = ItemPlayer(builder), ""
                end, detail = None, None
                for part in parts:
                    player.play(part.items)
                    if part.holder is not None:
                        given = given or _response_ids(part.holder)[1] or ""
                        end, detail = _holder(part.holder, player)
                if builder.last is None:
                    raise parts[0].empty(Path(builder.origin["file"]), "holds a conversation without items")
                tasks.name(builder, parts[0].holder)
                end = end or ("recorded" if builder.whole and not loaded.cut and detail is None else None)
                yield builder.finish(names.unique(stem(path), given), end, detail if end else None)
        faults.tell()


def _is_item(node: JsonNode) -> bool:
    members = node.members() if node.is_object else {}
    holds = "responses_create_params" in members or is_object(members.get("response"))
    return ("role" in members or "type" in members) and not holds and not _is_event(node)


def _is_event(node: JsonNode) -> bool:
    """True if a value is an event of a streamed response."""
    kind = node.members().get("type") if node.is_object else None
    return isinstance(kind, str) and kind.startswith("response.")


def _chained(loaded: Loaded) -> list[list[ConversationItems]]:
    """The conversations of a file, each with the responses that continued it."""
    chains: list[list[ConversationItems]] = []
    by_response: dict[str, list[ConversationItems]] = {}
    for conversation in conversations(loaded, _is_item):
        event = conversation.holder
        if event is not None and _is_event(event) and event.members()["type"] not in STREAMED:
            continue
        before, own = _response_ids(conversation.holder)
        chain = by_response.get(before) if before is not None else None
        if chain is None:
            chains.append(chain := [])
        chain.append(conversation)
        if own is not None:
            by_response[own] = chain
    return chains


def _response_ids(holder: JsonNode | None) -> tuple[str | None, str | None]:
    if holder is None:
        return None, None
    request, response = exchange_in(holder)
    before = request.label_at("previous_response_id") or response.label_at("previous_response_id")
    return before, response.label_at("id")


def _holder(holder: JsonNode, player: "ItemPlayer") -> Ending:
    """Play a request and its response. Tells how the response failed, or what made it stop early."""
    request, response = exchange_in(holder)
    if not any(name in found.members() for found in (request, response) for name in HOLDERS):
        raise holder.fail(f"holds none of {', '.join(HOLDERS)}")
    builder = player.builder
    if _is_event(holder):
        builder.lose(holder, "what was asked does not stand in the events of a stream")
    model = response.string_at("model") or request.string_at("model")
    builder.head = replace(builder.head, agent=stated(model=model) or builder.head.agent)
    tools = request.items_at("tools") or response.items_at("tools")
    chats.offer_tools(builder, [tool for tool in tools if tool.members().get("type") in ("function", "custom")])
    player.instruct(request.get("instructions"))
    for name in ("input", "items", "data"):
        player.hear(request.get(name))
    player.play(_written(response))
    builder.spend(response.object_at("usage"))
    status = response.members().get("status")
    if status == "failed":
        error = response.object_at("error")
        return "agent_failed", (error and error.string_at("message")) or "the response failed"
    if status in ("incomplete", "cancelled", "in_progress", "queued"):
        builder.lose(response, f"the response is {status}")
        return None, str(status)
    return None, None


def _written(response: JsonNode) -> list[JsonNode]:
    """The items of a response; of lists of them, of which each goes on with the one before, those of the last.

    Raises:
        ImportFormatError: a list does not begin with the one before.
    """
    items = response.items_at("output")
    if not items or not all(item.is_array for item in items):
        return items
    for before, after in pairwise(items):
        if after.value[: len(before.value)] != before.value:
            raise after.fail("is a list of items that does not begin with those of the list before")
    return items[-1].items()


class ItemPlayer:
    """Adds items to a session; remembers what later items refer to."""

    __slots__ = ("_asked", "_batch", "_instructions", "builder", "stamp")

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self._batch: str | None = None
        self._instructions: str | None = None
        self._asked: dict[str, JsonNode] = {}
        self.stamp: str | None = None

    def instruct(self, instructions: JsonNode | None) -> None:
        """Add the system's instructions unless they are the ones already given."""
        if instructions is None:
            return
        text = instructions.string() if isinstance(instructions.value, str) else None
        if text is None:
            self.play(instructions.items())
        elif text != self._instructions:
            self.builder.say("system", "agent", text)
        self._instructions = text

    def hear(self, given: JsonNode | None) -> None:
        """Add a request's input: a text of the user, or items."""
        if given is None:
            return
        if isinstance(given.value, str):
            self.builder.say("user", "agent", given.string())
        else:
            self.play(given.items())

    def play(self, items: list[JsonNode]) -> None:
        """Add items in order."""
        for index, item in enumerate(items):
            kind = item.string_at("type") or "message"
            if not (kind in CALLS | {"reasoning"} or (is_call(kind) and is_the_clients(item))):
                self._batch = None
            self._item(kind, item, (items[later] for later in range(index + 1, len(items))))

    def _item(self, kind: str, item: JsonNode, following: Iterator[JsonNode]) -> None:
        if kind == "message":
            self._message(item, following)
        elif kind in CALLS:
            self._call(item)
        elif kind in RESULTS:
            self.result(item)
        elif kind == "reasoning":
            texts = [joined(item.get(member), self.builder) for member in ("content", "summary")]
            self.builder.note(next(filter(None, texts), ""), "reasoning", stamp=self.stamp)
            if not any(texts):
                self.builder.lose(item, "reasoning that the provider encrypted is not kept")
        elif is_call(kind):
            batch = self._batch or self.builder.batch()
            self._batch = batch if is_the_clients(item) else None
            add_call(self.builder, kind, item, batch)
        elif is_output(kind):
            add_output(self.builder, kind, item)
        elif kind == "mcp_call":
            self._mcp_call(item)
        elif kind == "mcp_list_tools":
            chats.offer_tools(self.builder, item.items_at("tools"))
        elif kind == "mcp_approval_request":
            self._asked[item.need("id").label()] = item
        elif kind == "mcp_approval_response":
            self._approval(item)
        else:
            self.builder.lose(item, f"an item of type {kind!r} is not kept")

    def result(self, item: JsonNode) -> None:
        """Give a call the result that an item holds."""
        outcome = outcome_of(self.builder, item.get("output"), failed=None)
        self.builder.settle(item, item.label_at("call_id"), outcome)

    def _message(self, item: JsonNode, following: Iterator[JsonNode]) -> None:
        kinds = (after.string_at("type") or "message" for after in following)
        after = next((kind for kind in kinds if kind != "reasoning"), "")
        if "content" not in item.members():
            item.need("content")
        role, text = item.need("role").string(), joined(item.get("content"), self.builder)
        if role == "assistant":
            calls = is_call(after) or after in CALLS | {"mcp_call", "mcp_approval_request"}
            self.builder.write(text, calls=calls, stamp=self.stamp)
        elif role == "user":
            self.builder.say("user", "agent", text, stamp=self.stamp)
        elif role in {"system", "developer"}:
            self.builder.say("system", "agent", text, stamp=self.stamp)
        else:
            self.builder.lose(item, f"a message of the unknown role {role!r} was dropped")

    def _call(self, item: JsonNode) -> None:
        self._batch = self._batch or self.builder.batch()
        space, name = item.string_at("namespace"), item.need("name").string()
        arguments = item.get("arguments") or item.get("input")
        custom = item.members().get("type") == "custom_tool_call"
        given = replace(arguments_of(arguments and arguments.value), free=custom)
        id_, called = item.label_at("call_id") or item.label_at("id"), f"{space}__{name}" if space else name
        self.builder.call(called, given, batch=self._batch, id_=id_, stamp=self.stamp)
        if item.members().get("status") == "incomplete":
            self.builder.lose(item, "the call was cut off while it was written")

    def _mcp_call(self, item: JsonNode) -> None:
        error, output = item.get("error"), item.get("output")
        opened = self._run(item)
        if error is not None:
            message = error.get("message") if error.is_object else None
            said = encode(error.value) if message is None else message.string()
            text = error.value if isinstance(error.value, str) else said
            self.builder.answer(opened, self.builder.judge(text, failed=True))
        elif output is not None:
            self.builder.answer(opened, self.builder.judge(joined(output, self.builder), failed=False))

    def _run(self, item: JsonNode) -> OpenCall:
        return self.builder.call(
            item.need("name").string(), arguments_of(item.members().get("arguments")), batch=self.builder.batch(),
            id_=item.label_at("id"), offered=True, server=item.string_at("server_label"),
        )  # fmt: skip

    def _approval(self, item: JsonNode) -> None:
        asked = self._asked.pop(item.need("approval_request_id").label(), None)
        if asked is None or item.members().get("approve") is not False:
            return
        reason = item.string_at("reason") or "the user did not approve the call"
        self.builder.answer(self._run(asked), CallOutcome(error=failure(reason, "refused")))
