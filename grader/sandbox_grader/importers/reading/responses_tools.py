"""Calls of the tools that OpenAI's Responses API brings itself: what they were asked, and what came of them.

Policy: any item whose type ends in ``_call`` is a call, named by what stands before. What the provider ran itself has
its outcome in the same item, as far as the response was asked to include it; what the client ran has it in an item that
names the call. A command that ended with another code than 0 failed. Pictures are not kept.
"""

from types import MappingProxyType
from typing import Any, Final

from sandbox_grader.importers.reading.build import CallOutcome, SessionBuilder
from sandbox_grader.importers.reading.content import outcome_of
from sandbox_grader.importers.reading.json_values import JsonNode, is_array, is_object
from sandbox_grader.importers.reading.values import Given, arguments_of, failure

BY_THE_CLIENT: Final = frozenset({"computer_call", "local_shell_call", "shell_call", "apply_patch_call"})
RESULTS: Final = MappingProxyType({"code_interpreter_call": "outputs", "file_search_call": "results"})
"""Under which member an item holds what came of its call."""
SOURCES: Final = "sources"
"""Under which member of its action a web search holds what it found."""
_BESIDE: Final = frozenset(
    {"id", "call_id", "type", "status", "created_by", "caller", "result", "execution", *RESULTS.values()}
)
"""Members that are not arguments; ``result`` is the picture that was made."""


def is_call(kind: str) -> bool:
    """True if an item is the call of a tool that the API brings itself."""
    return kind.endswith("_call") and kind not in ("function_call", "custom_tool_call", "mcp_call")


def is_output(kind: str) -> bool:
    """True if an item holds what came of such a call."""
    return kind.endswith(("_call_output", "tool_search_output")) and kind not in (
        "function_call_output",
        "custom_tool_call_output",
    )


def is_the_clients(item: JsonNode) -> bool:
    """True if the client ran the call, so that its outcome is an item of its own."""
    return item.members().get("type") in BY_THE_CLIENT or item.members().get("execution") == "client"


def add_call(builder: SessionBuilder, kind: str, item: JsonNode, batch: str) -> None:
    """Add a call, with its outcome where the item itself holds it."""
    members, name = item.members(), kind.removesuffix("_call")
    answered_later = is_the_clients(item) or members.get("type") == "tool_search_call"
    id_ = item.label_at("call_id")
    if id_ is None and not answered_later:  # a call without an output is known by its own id
        id_ = item.label_at("id")
    action = members.get("action")
    if "arguments" in members:
        given = arguments_of(members["arguments"])
    elif is_object(action):
        given = Given({key: value for key, value in action.items() if key != SOURCES})
    else:
        given = Given({key: value for key, value in members.items() if key not in _BESIDE and value is not None})
    opened = builder.call(name, given, batch=batch, id_=id_, offered=True)
    found = members.get(RESULTS[kind]) if kind in RESULTS else action.get(SOURCES) if is_object(action) else None
    if members.get("result") is not None:
        builder.lose(item, "a picture is not kept")
    if members.get("status") == "failed":
        builder.answer(opened, CallOutcome(error=failure(f"the call of {name} failed")))
    elif found is not None or (members.get("status") == "completed" and not answered_later):
        builder.answer(opened, CallOutcome(found))


def add_output(builder: SessionBuilder, kind: str, item: JsonNode) -> None:
    """Add the outcome of a call; without a call named, it belongs to the one open call of that tool."""
    id_ = item.label_at("call_id")
    name = kind.removesuffix("_output").removesuffix("_call")
    builder.settle(item, id_, _outcome(builder, item), name=name if id_ is None else None)


def _outcome(builder: SessionBuilder, item: JsonNode) -> CallOutcome:
    members, output = item.members(), item.get("output")
    if members.get("status") == "failed":
        told = output.value if output is not None and isinstance(output.value, str) else ""
        return CallOutcome(error=failure(told or "the call failed"))
    if output is None:
        return CallOutcome(members.get("tools"))
    runs = [run for run in output.value if is_object(run)] if is_array(output.value) else []
    wrong = next((text for run in runs if (text := _wrong(run))), None)
    if wrong is not None:
        return CallOutcome(error=failure(wrong))
    if runs and all("outcome" in run for run in runs):
        return CallOutcome(output.value)
    return outcome_of(builder, output, failed=None)


def _wrong(run: dict[str, Any]) -> str | None:
    """Reason for which a shell's command failed, None if it did not."""
    outcome = run.get("outcome")
    if not is_object(outcome) or (outcome.get("type") == "exit" and outcome.get("exit_code") in (0, None)):
        return None
    ending = f"exit code {outcome.get('exit_code')}" if outcome.get("type") == "exit" else str(outcome.get("type"))
    return str(run.get("stderr") or run.get("stdout") or ending)
