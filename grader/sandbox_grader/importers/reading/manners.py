"""Manners of hosts, as data: how they write that a call failed, what they say in the user's name, where thoughts are.

Policy: a text counts as a failure where it begins with a sentence that a host, an SDK or Python writes for failures and
for nothing else; a result that merely speaks of errors is a result. What a host puts into the user's place is told by
the tags and brackets that it puts around it, at either end of a message.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sandbox_grader.grading.values import is_array, is_object
from sandbox_mcp.engine.world.faults import ErrorKind

FAILED: Final[tuple[tuple[ErrorKind, str], ...]] = (
    ("unknown_tool", r"(?:No such tool available|Unknown tool|Tool \S{1,200} not found|unsupported call)\b"),
    ("unknown_tool", r"Error: \S{1,200} is not a valid tool\b"),
    ("invalid_format", r"(?:Input|Output) validation error\b|InputValidationError\b|MCP error -32602\b"),
    ("invalid_format", r"(?:failed|unable) to parse (?:function |tool |call )?arguments\b|\d+ validation errors?"),
    ("refused", r"aborted by user\b|(?:Tool|Command) (?:execution |call )?(?:was )?(?:denied|rejected|cancell?ed)\b"),
    ("refused", r"(?:The user|User) (?:doesn't want to|does not want to|rejected|denied|declined|chose not)\b"),
    ("refused", r"\[Request (?:interrupted|cancell?ed) by user|exec command rejected by user"),
    ("execution", r"An error occurred while running the tool\b|Tool execution (?:failed|aborted|error|timed out)\b"),
    ("execution", r"Traceback \(most recent call last\):|MCP error -?\d+|<tool_use_error>|<error>"),
    ("execution", r"(?:Error|ERROR|error|Permission denied|Access denied):"),
    ("execution", r"Error (?:executing|calling|invoking|running|while|when|in|from|code|occurred|during|processing)\b"),
    ("execution", r"Failed to (?:execute|call|invoke|run) (?:the )?(?:tool|function|command)\b|Tool call failed\b"),
    ("execution", r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)(?:\([^)\n]{0,60}\))?:(?= |\Z|\n)"),
    ("execution", r"(?:Tool |Request |Command )?\S{0,80} ?timed out(?: after|\Z)|Timed out waiting\b"),
)  # fmt: skip
"""The kind of a failure to how its text begins, the first that fits counts."""
CODES: Final = re.compile(
    r"\s*<?(?:return_?code|exit_?code|exit code|exit status|process exited with code|command failed with exit code|"
    r"command exited with code)\b>?[:=]? ?(-?\d{1,9})\b",
    re.IGNORECASE,
)
"""How a text begins that tells the exit code of a command; another code than 0 is a failure."""
CODED: Final = ("return_code", "returncode", "exit_code", "exitCode", "returnCode")
FAULTY: Final = ("error", "errorText", "error_message", "errorMessage")
BESIDE_FAULTS: Final = frozenset(
    {*FAULTY, "code", "status", "message", "type", "error_type", "error_code", "details", "success", "ok", "isError"}
)
"""Members of an object that is nothing but an account of a failure."""
_FAILED: Final[tuple[tuple[ErrorKind, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(rf"\A\s*(?:{begins})")) for kind, begins in FAILED
)


def failure_in(text: str, value: Any) -> ErrorKind | None:
    """The kind of failure that a result's text, or the value it stands for, tells; None where it tells of none."""
    if is_object(value):
        codes = [code for name in CODED if isinstance(code := value.get(name), int) and not isinstance(code, bool)]
        told = any(value.get(name) for name in FAULTY) and value.keys() <= BESIDE_FAULTS
        return "execution" if told or any(codes) or value.get("isError") is True else None
    code = CODES.match(text)
    if code is not None:
        return "execution" if int(code[1]) else None
    for kind, begins in _FAILED:
        if begins.match(text):
            return kind
    return None


def words_of(value: Any) -> str | None:
    """The words of an object that accounts for a failure: its error, or the texts of MCP's content."""
    if not is_object(value):
        return None
    told = next((value[name] for name in FAULTY if isinstance(value.get(name), str)), None)
    parts: Any = value.get("content") if value.get("isError") is True else None
    texts = [str(part["text"]) for part in parts if is_object(part) and "text" in part] if is_array(parts) else []
    return told or "\n".join(texts) or None


HOSTS: Final = (
    "system-reminder", "system_reminder", "task-notification", "ide_opened_file", "ide_selection", "ide_diagnostics",
    "command-name", "command-message", "command-args", "command-contents", "local-command-stdout",
    "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr",
    "user-prompt-submit-hook", "user-memory-input", "turn_aborted", "subagent_notification", "skill",
    "environment_context", "environment_details", "user_instructions", "user_shell_command", "permissions instructions",
    "collaboration_mode", "INSTRUCTIONS", "skills_instructions", "plugins_instructions", "apps_instructions",
    "personality_spec", "model_switch", "session_context", "teammate-message", "background-task", "new-diagnostics",
    "attached_files", "open_and_recently_viewed_files", "cursor_commands", "git_status", "user_info", "rules",
    "persisted-output", "hook_context", "goal_context", "qwen:user-prompt-submit-context",
)  # fmt: skip
"""Tags around what a host says in the user's place."""
_TAGGED: Final = re.compile(rf"<({'|'.join(HOSTS)}|[a-z]{{1,20}}_instructions)(?: [^<>\n]{{0,200}})?>")
_BRACKETED: Final = re.compile(
    r"\[Request interrupted by user[^\]\n]{0,60}\]|# AGENTS\.md instructions for [^\n]*\n|"
    r"(?:Read the output file to retrieve the result|Full transcript available at): [^\n]*"
)


def speakers_in(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of what stands as said by a user, in order, each with whether it is the host's."""
    head, tail, own = list[str](), list[str](), text
    while (found := _host_part(own)) is not None:
        head.append(own[:found].strip())
        own = own[found:].lstrip()
    while own.rstrip().endswith(">") and (start := _host_tail(own)) is not None:
        tail.insert(0, own[start:].strip())
        own = own[:start].rstrip()
    yield from ((part, True) for part in head)
    if own.strip() or not (head or tail):
        yield own, False
    yield from ((part, True) for part in tail)


def _host_part(text: str) -> int | None:
    """Where the host's words end with which a text begins."""
    start = len(text) - len(text.lstrip())
    bracketed = _BRACKETED.match(text, start)
    if bracketed:
        return len(text) if bracketed[0].startswith("#") and "<INSTRUCTIONS>" not in text else bracketed.end()
    tag = _TAGGED.match(text, start)
    if tag is None:
        return None
    closing = text.find(f"</{tag[1]}>", tag.end())
    return None if closing < 0 else closing + len(tag[1]) + 3


def _host_tail(text: str) -> int | None:
    """Where the host's words begin with which a text ends."""
    stripped = text.rstrip()
    tag = stripped[stripped.rfind("</") + 2 : -1]
    opening = stripped.rfind(f"<{tag}>")
    return opening if opening > 0 and _TAGGED.match(stripped, opening) else None


_OPEN, _CLOSE = (
    r"<(think|thinking|thought|reasoning|reflection)>|\[THINK\]|<\|channel\|>analysis<\|message\|>",
    (r"</(?:think|thinking|thought|reasoning|reflection)>|\[/THINK\]|<\|end\|>"),
)
_OPENED: Final = re.compile(rf"\s*(?:{_OPEN})")
_CLOSED: Final = re.compile(_CLOSE)
_FINAL: Final = re.compile(r"(?<!\s)\s*(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>|<\|return\|>\Z")


def parted(text: str) -> tuple[str, str]:
    """The thoughts that a model wrote into its answer, and the answer without them.

    A model whose template opens the thoughts leaves the closing tag alone; one that was cut off, the opening one.
    """
    if "<" not in text and "[THINK]" not in text and "[/THINK]" not in text:
        return "", text
    thoughts: list[str] = []
    rest = text
    opened = _OPENED.match(rest)
    first = None if opened else _CLOSED.search(rest)
    if first is not None and first[0] in ("</think>", "[/THINK]"):
        thoughts.append(rest[: first.start()].strip())
        rest = rest[first.end() :]
    while opened := _OPENED.match(rest):
        closed = _CLOSED.search(rest, opened.end())
        thoughts.append(rest[opened.end() : closed.start() if closed else None].strip())
        rest = rest[closed.end() :] if closed else ""
    said = _FINAL.sub("", rest)
    return "\n".join(filter(None, thoughts)), said.strip() if thoughts else said


READ: Final = (
    "prompt_tokens", "input_tokens", "inputTokens", "promptTokens", "promptTokenCount", "prompt_token_count", "input",
    "total_prompt_tokens",
)  # fmt: skip
WRITTEN: Final = (
    "completion_tokens", "output_tokens", "outputTokens", "completionTokens", "candidatesTokenCount",
    "candidates_token_count", "output", "total_completion_tokens",
)  # fmt: skip
THOUGHT: Final = ("thoughtsTokenCount", "thoughts_token_count", "thoughts")
CACHED: Final = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
)
"""Members of Anthropic's counts, which has them beside the tokens that were read."""


def tokens_in(usage: Mapping[str, Any], requests: int = 1) -> dict[str, int] | None:
    """The tokens that any provider's account tells; None where it has none. Cached ones were read, thoughts written."""
    read, written = (_count(usage, names) for names in (READ, WRITTEN))
    if read is None and written is None:
        return None
    beside = sum(int(usage.get(name) or 0) for name in CACHED if _is_count(usage.get(name)))
    thought = _count(usage, THOUGHT) or 0
    return {"prompt_tokens": (read or 0) + beside, "completion_tokens": (written or 0) + thought, "requests": requests}


def _count(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((int(usage[name]) for name in names if _is_count(usage.get(name))), None)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
