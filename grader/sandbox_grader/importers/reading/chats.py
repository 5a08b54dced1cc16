"""Lists of chat messages as OpenAI's Chat Completions defines them, and the shapes that tau-bench and tau2 made of it.

Policy: ``recipient`` on a message and ``error`` on a tool message are extensions; both are honoured where they are
found. Without ``error`` a failure can only be guessed from the text.
"""

from dataclasses import replace

from sandbox_grader.importers.reading.build import CallOutcome, SessionBuilder
from sandbox_grader.importers.reading.content import joined, outcome_of
from sandbox_grader.importers.reading.json_values import JsonNode
from sandbox_grader.importers.reading.values import arguments_of, parsed
from sandbox_grader.ours import error_in, role_in
from sandbox_mcp.engine.trajectory import Role

_SAID = frozenset(
    {"content", "tool_calls", "function_call", "tool_messages", "refusal", "audio", "reasoning", "reasoning_content",
     "error"}
)  # fmt: skip
"""Members of which a message has at least one: without any it is a message of another form."""


_OF_OTHERS = frozenset({"tool_use", "tool_result", "tool-call", "tool-result", "function_call", "function_call_output"})
"""Types of parts that are calls or results in other formats, of which nothing may be left out."""


def play(builder: SessionBuilder, messages: list[JsonNode]) -> None:
    """Add the messages to a session, in order.

    Raises:
        ImportFormatError: a message lacks what its role needs or has it in another form.
    """
    writers: dict[str, None] = {}
    for message in messages:
        role, stamp = message.need("role").string(), message.members().get("timestamp")
        if not message.members().keys() & _SAID:
            message.need("content")
        content = message.get("content")
        for part in content.items() if content is not None and content.is_array else ():
            if part.is_object and str(part.members().get("type")) in _OF_OTHERS and not message.items_at("tool_calls"):
                raise part.fail(f"is of type {part.members()['type']!r}, which no chat of this format has")
        if role == "assistant":
            writers |= dict.fromkeys(filter(None, [message.label_at("name")]))
            _assistant(builder, message)
        elif role in {"tool", "function"}:
            for result in message.items_at("tool_messages") or [message]:
                id_ = result.label_at("tool_call_id") or result.label_at("id")
                outcome = _outcome(builder, result)
                builder.settle(result, id_ or None, outcome, name=result.string_at("name") or None)
        elif role == "user":
            calls = message.items_at("tool_calls")
            text = joined(message.get("content"), builder)
            if text.strip() or not calls:
                builder.say("user", role_in(message.get("recipient"), "agent"), text, stamp=stamp)
            _calls(builder, message, calls, "user")
        elif role in {"system", "developer"}:
            name = message.get("name")
            sender: Role = "environment" if name is not None and name.value == "environment" else "system"
            text = joined(message.get("content"), builder)
            builder.say(sender, role_in(message.get("recipient"), "agent"), text, stamp=stamp)
        else:
            builder.lose(message, f"a message of the unknown role {role!r} was dropped")
    if len(writers) > 1:
        builder.lose("messages", f"which of several agents wrote what is not kept: {', '.join(writers)} are one agent")


def _assistant(builder: SessionBuilder, message: JsonNode) -> None:
    stamp = message.members().get("timestamp")
    builder.spend(message.object_at("usage"))
    thought = message.get("reasoning_content") or message.get("reasoning")
    if thought is not None:
        builder.note(joined(thought, builder), "reasoning", stamp=stamp)
    audio = message.get("audio")
    if audio is not None:
        builder.lose(audio, "audio is not kept")
    text = joined(message.get("content"), builder) or (message.string_at("refusal") or "")
    legacy = message.get("function_call")
    calls = message.items_at("tool_calls") or ([legacy] if legacy else [])
    recipient = role_in(message.get("recipient"), "user")
    if calls:
        builder.note(text, "text", stamp=stamp)
        _calls(builder, message, calls, "agent")
    elif text or thought is None or recipient != "agent":
        builder.say("agent", recipient, text, stamp=stamp)


def _calls(builder: SessionBuilder, message: JsonNode, calls: list[JsonNode], caller: Role) -> None:
    batch = builder.batch() if calls else ""
    for call in map(parsed, calls):
        function = call.get("function") or call.get("custom") or call
        arguments = function.get("arguments") or function.get("input")
        given = replace(arguments_of(arguments and arguments.value), free=call.get("custom") is not None)
        by: Role = "user" if call.string_at("requestor") == "user" else caller
        name, id_ = function.need("name").string(), call.label_at("id") or None
        builder.call(name, given, batch=batch, id_=id_, caller=by, stamp=message.members().get("timestamp"))


def _outcome(builder: SessionBuilder, result: JsonNode) -> CallOutcome:
    members, content = result.members(), result.get("content")
    stamp = members.get("timestamp")
    wall = {} if stamp is None else {"answered": stamp}
    error = result.object_at("error")
    if error is not None:
        return CallOutcome(error=error_in(error, joined(content, builder)), wall=wall, stated="kind" in error.members())
    failed: bool | None = None
    if "error" in members:
        failed = bool(members["error"])
    elif isinstance(members.get("status"), str):
        failed = members["status"] == "error"
    return outcome_of(builder, content, failed=failed, wall=wall)


def offer_tools(builder: SessionBuilder, tools: list[JsonNode]) -> None:
    """Add tool definitions, with the function inside a member of that name or at the top level."""
    for tool in tools:
        function = tool.get("function") or tool.get("custom") or tool
        name = function.get("name")
        if name is None:
            builder.lose(tool, f"a tool of type {tool.members().get('type')!r} has no name and was dropped")
            continue
        schema = function.get("parameters") or function.get("input_schema") or function.get("inputSchema")
        reads_only = function.members_at("annotations").get("readOnlyHint")
        builder.offer(
            name.string(), function.string_at("description") or "", schema.members() if schema else {},
            action=not reads_only if isinstance(reads_only, bool) else None,
        )  # fmt: skip
