"""Manners of hosts, as data: how they tell failures, speak in the user's name, keep thoughts, and pass calls on.

Policy: a text counts as a failure where it begins with a sentence that a host, an SDK or Python writes for failures and
for nothing else; a result that merely speaks of errors is a result. What a host puts into the user's place is told by
the tags and brackets that it puts around it, at either end of a message.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sandbox_grader.grading.values import is_array, is_object
from sandbox_grader.importers.reading.values import literal
from sandbox_mcp.engine.world.faults import ErrorKind

FAILED: Final[tuple[tuple[ErrorKind, str], ...]] = (
    ("unknown_tool", r"(?:No such tool|No tool (?:named|called)|Unknown tool|Could not find tool|unsupported call)\b"),
    ("unknown_tool", r"(?:The )?[Tt]ool (?:with name )?\S{0,200} ?(?:not found|is not available)(?=[.:;,]|\Z| in\b)"),
    ("unknown_tool", r"(?:The )?[Tt]ool \S{1,200} does not exist\b|(?:Error: )?\S{1,200} is not a valid tool\b"),
    ("unknown_tool", r"Function \S{1,200} (?:is )?not (?:found|defined)(?=[.:;,]|\Z)"),
    ("unknown_tool", r"Error executing tool\. Tool \S{1,200} not found"),
    ("invalid_format", r"(?:Input|Output) validation error\b|InputValidationError\b|MCP error -32602\b"),
    ("invalid_format", r"(?:failed|unable) to parse (?:function |tool |call )?arguments\b|\d+ validation errors?\b"),
    ("invalid_format", r"Tool (?:input|output) validation failed\b|Validation errors?:"),
    ("invalid_format", r"(?:Could not|Failed to|Unable to) (?:parse|validate) (?:tool |function |call )?arguments\b"),
    ("invalid_format", (r"(?:Invalid|Missing required) (?:tool |function )?(?:arguments?|parameters?|inputs?|JSON)"
     r"(?: '[^'\n]{1,80}')?(?=:|\.?\s*\Z)")),
    ("invalid_format", r"Invalid (?:arguments|parameters|params) (?:for|provided)\b"),
    ("refused", r"aborted by user\b|(?:The )?(?:[Tt]ool|Command) (?:\w{1,20} )?(?:was )?(?:denied|rejected)\b"),
    ("refused", r"(?:Tool|Command) (?:execution |call |use )?(?:was )?(?:cancell?ed|interrupted)\b"),
    ("refused", (r"(?:(?:Operation|Execution|Call|Action) (?:was )?)?(?:[Cc]ancell?ed|[Aa]borted|[Ii]nterrupted)"
     r"(?: by (?:the )?user)?\.?\s*\Z|(?:Rejected|Denied) by (?:the )?user\b|Skipped due to\b")),
    ("refused", r"\[(?:[Tt]ool (?:\w{1,20}) (?:was )?(?:aborted|interrupted|cancell?ed|denied)|Operation Cancelled)\]"),
    ("refused", r"CANCELL?ED\.?\s*\Z"),
    ("refused", r"(?:The user|User) (?:doesn't want to|does not want to|chose not to)\b"),
    ("refused", r"(?:The )?[Uu]ser (?:rejected|denied|declined|cancell?ed) (?:th|your|permission|tool|MCP|request)"),
    ("execution", (r"(?i:(?:the )?(?:(?:unhandled|uncaught|fatal|internal|unexpected|runtime|tool|function|command|"
     r"request|operation|action|execution)[ _](?:call )?){1,3}(?:[^\s:]{1,80} )?(?:failed|error|exception)"
     r"(?: occurred)?(?: with (?:an )?(?:error|exception))?)(?=: | - |\.?\s*\Z)")),
    ("execution", r"(?:The )?(?:[Tt]ool|[Ff]unction|[Cc]ommand)(?: \S{1,80})? (?:returned|raised|threw) an? e"),
    ("execution", r"Exception(?: occurred)?:|(?:Error|ERROR) - |Timeout(?:: |\.?\s*\Z)|panic: |\[?tool_error\]?[: ]"),
    ("execution", r"(?:Unauthorized|Forbidden|Permission denied|Access denied|Internal Server Error)\.?\s*\Z"),
    ("execution", (r"[45]\d\d (?:Bad Request|Unauthorized|Forbidden|Not Found|Conflict|Too Many Requests|"
     r"Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout)\b")),
    ("execution", r"(?:\w{1,20}: )?(?:line \d{1,9}: )?\S{1,80}: command not found"),
    ("execution", r"Command '[^'\n]{1,2000}' returned non-zero"),
    ("execution", r"Tool result missing\b|No result received from\b"),
    ("refused", r"\[Request (?:interrupted|cancell?ed) by user|exec command rejected by user"),
    ("refused", r"Permission to use \S{1,200} has been denied|\S{1,60} requested permissions to\b"),
    ("execution", r"An error occurred (?:while|when|during|in|invoking|executing|calling|running)\b"),
    ("execution", r"Tool execution (?:failed|aborted|error|timed out)\b|(?:I )?[Ee]ncountered (?:an )?error\b"),
    ("execution", r"Traceback \(most recent call last\):|MCP error -?\d+|<tool_use_error>|<error>"),
    ("execution", r"(?:Error|ERROR|error|Permission denied|Access denied|tool call error|[Ee]xecution error):"),
    ("execution", r"\[(?:ERROR|Error)\]:? [^\n]{1,2000}\Z"),
    ("execution", r"Error (?:executing|calling|invoking|running|while|when|occurred|during|processing)\b"),
    ("execution", r"Error in (?:calling|executing|running|tool|function)\b|Execution error in\b"),
    ("execution", r"Error from (?:server|tool)\b|Error code:? ?-?\d|[Tt]ool call failed\b"),
    ("execution", r"Failed to (?:execute|call|invoke|run) (?:the )?(?:[Tt]ool|function|command)\b"),
    ("execution", r"(?:MCP tool \S{1,200} reported tool error|(?:exec_command|apply_patch verification) failed)\b"),
    ("execution", r"failed in sandbox\b|sandbox (?:denied|error)\b"),
    ("execution", r"Command failed\b|(?:HTTP|HTTP error|Request failed with status(?: code)?) [45]\d\d\b"),
    ("execution", r"[45]\d\d (?:Client|Server) Error:|(?:\w{1,60}\.){0,8}(?:exceptions?|errors?)\.[A-Z]\w{0,60}: "),
    ("execution", (r"(?:Uncaught )?(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)"
     r"(?:\([^)\n]{0,60}\)| \[\w{1,60}\])?(?::[ \n]|:?\Z)")),
    ("execution", r"[A-Z]\w{0,60}(?:Error|Exception)\((?:'[^'\n]{0,400}'|\"[^\"\n]{0,400}\"),?\)\Z"),
    ("execution", r"(?:Tool |(?:The )?(?:[Rr]equest|[Oo]peration) |[Cc]ommand )?\S{0,80} ?timed out(?: after|\Z)"),
    ("execution", r"Timed out (?:while )?waiting\b"),
)  # fmt: skip
"""The kind of a failure to how its text begins, the first that fits counts."""
CODES: Final = re.compile(
    r"\s*<?(?:return_?code|exit_?code|exit code|exit status|process exited with code|command failed with exit code|"
    r"command exited with code)\b>?[:=]? ?(-?\d{1,9})\b",
    re.IGNORECASE,
)
"""How a text begins that tells the exit code of a command; another code than 0 is a failure."""
CODED: Final = ("return_code", "returncode", "exit_code", "exitCode", "returnCode")
FAULTY: Final = ("error", "errorText", "error_message", "errorMessage", "errors")
WHY: Final = ("message", "reason", "detail", "msg")
BESIDE_FAULTS: Final = frozenset(
    {
        *FAULTY, *WHY, "code", "status", "type", "error_type", "error_code", "details", "extensions",
        "success", "ok", "isError", "is_error", "validationErrors", "title", "instance", "statusCode", "status_code",
        "timestamp", "path",
    }
)  # fmt: skip
"""Members of an object that is nothing but an account of a failure."""
ANSWERED: Final = ("status", "code", "statusCode", "status_code")
"""Members that have the code of an HTTP answer; those from 400 to 599 are failures."""
UNDONE: Final = ("error", "failed", "failure")
ERRORS: Final = ("isError", "is_error")
"""States of a call that failed, and the flags of MCP's results."""
_FAILED: Final[tuple[tuple[ErrorKind, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(rf"\A\s*(?:[❌⚠✖✗⛔🚫]\W{{0,3}})?(?:{begins})")) for kind, begins in FAILED
)


def failure_in(text: str, value: Any) -> ErrorKind | None:
    """The kind of failure that a result's text, or the value it stands for, tells; None where it tells of none."""
    if text.lstrip().startswith("{'"):
        value = literal(text) or value
    if is_object(value):
        codes = [code for name in CODED if isinstance(code := value.get(name), int) and not isinstance(code, bool)]
        flagged = any(value.get(name) is False for name in ("success", "ok"))
        flagged = (
            flagged
            or str(value.get("status")).lower() in UNDONE
            or any(value.get(name) in range(400, 600) for name in ANSWERED)
        )
        members = {name for name, member in value.items() if member is not None}
        told = members <= BESIDE_FAULTS and (flagged or any(value.get(name) for name in FAULTY))
        told = told or (members == {"detail"} and bool(value["detail"]))  # as FastAPI and Django answer
        return "execution" if told or any(codes) or any(value.get(name) is True for name in ERRORS) else None
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
    told = next((value[name] for name in (*FAULTY, *WHY) if isinstance(value.get(name), str)), None)
    parts: Any = value.get("content") if any(value.get(name) is True for name in ERRORS) else None
    texts = [str(part["text"]) for part in parts if is_object(part) and "text" in part] if is_array(parts) else []
    return told or "\n".join(texts) or None


CARRIER: Final = re.compile(
    r"(?:[a-z]+[_-])*(?:call|use|run|execute|invoke|access)_?(?:mcp_?)?tool|mcp_?call", re.IGNORECASE
)
"""Name of a host's tool that calls another one by its name."""
CALLED: Final = ("tool_name", "toolName", "tool", "name", "function_name")
GIVEN: Final = (
    "arguments", "args", "input", "params", "parameters", "tool_args", "tool_arguments", "tool_input", "toolArgs",
    "toolArguments", "toolInput",
)  # fmt: skip
"""Members of the arguments of such a tool: the other one's name, and its arguments."""


def carried_in(name: str, arguments: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Name and arguments of the tool that a call of a host's own tool calls; None where it calls none."""
    if not CARRIER.fullmatch(name):
        return None
    called = next((arguments[member] for member in CALLED if isinstance(arguments.get(member), str)), None)
    given = [arguments[member] for member in GIVEN if member in arguments]
    return (called, given[0]) if called and len(given) == 1 else None


HOSTS: Final = frozenset(
    {
        "skill", "instructions", "rules", "system", "system_warning", "system-message", "reminder", "user_info",
        "user_action", "user-memory-input", "info-msg", "model_switch", "project_layout", "git_status", "goal_context",
        "session_context", "additional_data", "personality_spec", "background-task", "persisted-output",
        "permissions instructions", "qwen:user-prompt-submit-context", "budget:token_budget", "token_budget_warning",
        "context_window_warning", "mode_change", "realtime_conversation",
    }
)  # fmt: skip
"""Tags around what a host says in the user's place, in small letters."""
OF_HOSTS: Final = frozenset(
    {
        "aborted", "attached", "bash", "boilerplate", "caveat", "collaboration", "command", "compaction", "cursor",
        "datetime", "diagnostics", "environment", "hook", "ide", "instructions", "internal", "notification",
        "reminder", "skills", "stderr", "stdout", "subagent", "teammate", "viewed", "workspace",
    }
)  # fmt: skip
"""Words that only hosts' tags have among others, as in ``ide_opened_file`` and ``local-command-stdout``."""
USERS: Final = frozenset({"user_query", "userrequest", "user_request", "user-request", "user_message", "user_input"})
"""Tags that a host puts around the user's own words, in small letters; whatever stands beside them is the host's."""
MAYBE_USERS: Final = frozenset({"task", "feedback"})
"""Such tags that people write, too: they count where nothing but the host's words stand beside them."""
_TAGGED: Final = re.compile(r"<([A-Za-z][\w:-]{0,60}(?: instructions)?)(?: [^<>\n]{0,200})?>")
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_BRACKETED: Final = re.compile(
    r"\[Request interrupted by user[^\]\n]{0,60}\]|# AGENTS\.md instructions for [^\n]*\n|"
    r"Caveat: The messages below were generated by the user while running local commands\b[^\n]*|"
    r"(?:Read the output file to retrieve the result|Full transcript available at): [^\n]*"
)
_WHOLE: Final = re.compile(
    r"This session is being continued from a previous conversation\b|Stop hook feedback:|"
    r"\[ERROR\] You did not use a tool\b|\[SYSTEM NOTIFICATION - NOT USER INPUT\]"
)
"""How a message begins that is the host's to its end."""
_HEADED: Final = re.compile(r"^# AGENTS\.md instructions for [^\n]*$", re.MULTILINE)
"""What stands above the instructions of a project, which end with their tag, or with the message."""
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]\n]{0,60}\]\Z")


def _is_hosts(tag: str) -> bool:
    parts = _PARTS.findall(tag)
    return bool({tag.lower(), tag.lower().replace("-", "_")} & HOSTS) or (
        len(parts) > 1 and any(part.lower() in OF_HOSTS for part in parts)
    )


def speakers_in(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of what stands as said by a user, in order, each with whether it is the host's."""
    if not any(mark in text for mark in ("<", "[", ":", "# AGENTS.md", "This session")):
        yield text, False
        return
    if (words := _words_in(text, USERS)) is not None:
        yield from (
            (part.strip(), hosts) for part, hosts in zip(words, (True, False, True), strict=True) if part.strip()
        )
        return
    head, tail, own = list[str](), list[str](), text
    while (found := _host_part(own)) is not None:
        head.append(own[:found].strip())
        own = own[found:].lstrip()
    while (start := _host_tail(own)) is not None:
        tail.insert(0, own[start:].strip())
        own = own[:start].rstrip()
    words = _words_in(own, MAYBE_USERS)
    if words is not None and not (words[0] + words[2]).strip():
        own = words[1].strip()
    yield from ((part, True) for part in head)
    if own.strip() or not (head or tail):
        yield own, False
    yield from ((part, True) for part in tail)


def _words_in(text: str, tags: frozenset[str]) -> tuple[str, str, str] | None:
    """A text before, within and behind the first of these tags at the beginning of a line; None where there is none."""
    for tag in _TAGGED.finditer(text):
        if tag[1].lower() in tags and not text[: tag.start()].rpartition("\n")[2].strip():
            closing = text.rfind(f"</{tag[1]}>")
            return (
                (text[: tag.start()], text[tag.end() : closing], text[closing + len(tag[1]) + 3 :])
                if closing > 0
                else None
            )
    return None


def _host_part(text: str) -> int | None:
    """Where the host's words end with which a text begins."""
    start = len(text) - len(text.lstrip())
    if _WHOLE.match(text, start):
        return len(text)
    bracketed = _BRACKETED.match(text, start)
    if bracketed:
        return len(text) if bracketed[0].startswith("#") and "<INSTRUCTIONS>" not in text else bracketed.end()
    tag = _TAGGED.match(text, start)
    if tag is None or not _is_hosts(tag[1]):
        return None
    closing = text.find(f"</{tag[1]}>", tag.end())
    return None if closing < 0 else closing + len(tag[1]) + 3


def _host_tail(text: str) -> int | None:
    """Where the host's words begin with which a text ends."""
    stripped = text.rstrip()
    for heading in _HEADED.finditer(stripped):
        tagged = "<INSTRUCTIONS>" in stripped[heading.end() :]
        if heading.start() > 0 and (not tagged or stripped.endswith("</INSTRUCTIONS>")):
            return heading.start()
    interrupted = _INTERRUPTED.search(stripped, max(0, len(stripped) - 100))
    if interrupted or not stripped.endswith(">"):
        return interrupted.start() if interrupted else None
    tag = stripped[stripped.rfind("</") + 2 : -1]
    if not _is_hosts(tag):
        return None
    opening = max(stripped.rfind(f"<{tag}>"), stripped.rfind(f"<{tag} "))
    return opening if opening > 0 and _TAGGED.match(stripped, opening) else None


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
    "cacheRead",
    "cacheWrite",
)
"""Members of the counts of those who have them beside the tokens that were read."""


def tokens_in(usage: Mapping[str, Any], requests: int = 1) -> dict[str, int] | None:
    """The tokens that any provider's account tells; None where it has none. Cached ones were read, thoughts written."""
    read, written = (_count(usage, names) for names in (READ, WRITTEN))
    if read is None and written is None:
        return None
    cache = usage.get("cache")
    held: list[Any] = [*(usage.get(name) for name in CACHED), *(cache.values() if is_object(cache) else ())]
    beside = sum(int(number) for number in held if _is_count(number))
    thought = _count(usage, THOUGHT) or 0
    return {"prompt_tokens": (read or 0) + beside, "completion_tokens": (written or 0) + thought, "requests": requests}


COSTS: Final = ("cost", "cost_usd", "total_cost_usd", "total_cost", "costUSD", "costUsd", "agent_cost")
"""Members of an account in US dollars, as hosts state it."""


def cost_in(usage: Mapping[str, Any]) -> float | None:
    """The cost that an account states, in US dollars; None where it states none."""
    told = next((usage[name] for name in COSTS if usage.get(name) is not None), None)
    told = told.get("total") if is_object(told) else told
    return float(told) if _is_count(told) else None


def _count(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((int(usage[name]) for name in names if _is_count(usage.get(name))), None)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
