"""How hosts write that a call failed, what they say in the user's name, and where models put their thoughts."""

import json
from typing import Any

from sandbox_grader.importers.reading.manners import cost_in, failure_in, speakers_in, tokens_in
from sandbox_grader.importers.reading.values import decode, failure

from sandbox_mcp.engine.talk.text import parted
from tests.each import each

FAILURES = [
    "Error: no such file",
    "Error executing tool find: nope",
    "Error calling tool 'find': nope",
    "Error invoking tool 'find' with kwargs {} with error:\n x\n Please fix the error and try again.",
    "ValueError: wifi is already on",
    "requests.exceptions.ConnectionError: refused",
    "ToolException: nope",
    "An error occurred while running the tool. Please try again. Error: nope",
    "MCP error -32602: Input validation error",
    "Input validation error: 'on' is a required property",
    "Traceback (most recent call last):\n  File x\nKeyError: 'a'",
    "<tool_use_error>File has not been read yet.</tool_use_error>",
    "aborted by user after 3.2s",
    "The user doesn't want to proceed with this tool use.",
    "Unknown tool: fly",
    "exit code: 1\nls: cannot access",
    "<returncode>2</returncode>\nfailed",
    '{"error": "Invoking `find()` failed as the following mandatory input parameters are not present"}',
    '{"return_code": 1, "stdout": "", "stderr": "no"}',
    '{"output": "", "exit_code": 127}',
    "return_code: 1\nstdout: nothing",
    "Tool 'find' timed out after 5 seconds",
    "Tool with name find not found. Please select a tool that is available.",
    "Tool input validation failed for find. Please fix the following errors and try again:\n- on: Required",
    "Claude requested permissions to use mcp__s__find, but you haven't granted it yet.",
    "user cancelled MCP tool call",
    "[Operation Cancelled] Reason: User denied execution.",
    "tool call error: tool call failed for `s/find`\n\nCaused by:\n    nope",
    "MCP tool 'find' reported tool error for function call: {}",
    "An error occurred invoking 'find'.",
    "requests.exceptions.ConnectTimeout: nope",
    "ValueError('nope')",
    "TimeoutError",
    "Request failed with status code 500",
    "404 Client Error: Not Found for url: https://x",
    '{"status": "error", "message": "nope"}',
    '{"success": false, "error": "nope", "data": null}',
    '{"ok": false, "reason": "no such account"}',
    '{"is_error": true, "content": []}',
    '{"detail": "Not found."}',
    '{"detail": [{"loc": ["body", "on"], "msg": "field required", "type": "value_error.missing"}]}',
    '{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no such order", "instance": "/orders/3"}',
    '{"statusCode": 422, "message": "on must be a boolean"}',
    "Cancelled",
    "[ERROR] no such account",
    "Tool error: nope",
    "Unhandled exception: nope",
    "Exception: nope",
    "Tool 'find' failed with error: nope",
    "The tool returned an error: nope",
    "ERROR - nope",
    "Request failed: 500",
    "No such tool: fly",
    "Function fly not found",
    "Invalid tool input: on",
    "Missing required parameter 'on'",
    "Could not parse tool arguments",
    "Aborted",
    "Operation canceled by user",
    "Skipped due to queued user message.",
    "Permission denied",
    "503 Service Unavailable",
    "bash: fly: command not found",
    "Command 'x' returned non-zero exit status 1.",
    "The operation timed out",
    "TypeError [ERR_INVALID_ARG_TYPE]: nope",
    "{'error': 'nope'}",
    '{"data": null, "errors": [{"message": "nope"}]}',
    '{"status": "FAILED", "message": "nope"}',
    '{"code": 500, "msg": "nope"}',
    "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2",
]
REMINDER = "<system-reminder>\nx\n</system-reminder>"
HOOK = "<session-start-hook>x</session-start-hook>"
TEAM = '<teammate-message id="a">x</teammate-message>'
AGENTS = "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"
PLAIN = "# AGENTS.md instructions for /repo\n\nUse tabs."
RESULTS = [
    "Errors found in the log: none",
    "0 errors",
    "Order cancelled",
    "Permission denied rates fell in 2020",
    "Timeout set to 30 s",
    "Aborted landings were rare in 1969.",
    "Rejected",
    "Denied",
    "Tool box: hammer",
    "{'error': None, 'rows': 3}",
    '{"errors": [], "data": {}}',
    '{"errors": [{"line": 3}], "fixed": 2}',
    '{"status": 404, "orders": [1]}',
    "Error-free run, 12 of 12",
    "Error rate: 0.1 %",
    "Errors: 0",
    "Error code list: 404 means not found",
    "Error in translation was fixed",
    "User rejected offers: 4",
    "The tool is available in blue.",
    "TypeError in JavaScript explained",
    '{"status": "failed", "orders": 3}',
    '{"message": "Your order failed to ship", "order": {"id": 3}}',
    '{"success": true, "error": ""}',
    "exit code: 0\ndone",
    '{"return_code": 0, "stdout": "ok"}',
    '{"error": null, "rows": [1]}',
    '{"detail": "a long walk", "title": "Sunday"}',
    '{"detail": ""}',
    '{"status": 200, "message": "done"}',
    '{"code": 500, "street": "Long Lane"}',
    "[ERROR] 10:02 disk full\n[INFO] 10:03 disk freed",
    "Cancelled 3 orders",
    '{"error": "last week\'s", "rows": [1], "title": "Error report"}',
    "The ValueError: it is a class of Python",
    "ErrorLog opened",
    "failed: 0, passed: 9",
    "Users timed out last week: 3",
    "",
    "null",
]


@each("text", FAILURES)
def test_what_hosts_write_for_failures_is_one(text: str) -> None:
    assert failure_in(text, decode(text)) is not None


@each("text", RESULTS)
def test_what_merely_speaks_of_errors_is_a_result(text: str) -> None:
    assert failure_in(text, decode(text)) is None


@each(
    ("text", "type_"),
    [
        ("An error occurred while running the tool. Please try again. Error: ValueError: on", "ValueError"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'", "KeyError"),
        ("nope", "Error"),
    ],
)
def test_the_class_of_an_error_is_found_behind_what_a_host_puts_before_it(text: str, type_: str) -> None:
    assert failure(text).type == type_


@each(
    ("text", "parts"),
    [
        ("Please go on.", [("Please go on.", False)]),
        ("", [("", False)]),
        (f"{REMINDER}\nOff, please.", [(REMINDER, True), ("Off, please.", False)]),
        (f"Off.\n{REMINDER}", [("Off.", False), (REMINDER, True)]),
        ("[Request interrupted by user for tool use]", [("[Request interrupted by user for tool use]", True)]),
        ("<turn_aborted>\nx\n</turn_aborted>", [("<turn_aborted>\nx\n</turn_aborted>", True)]),
        ("<b>bold</b> is what I want", [("<b>bold</b> is what I want", False)]),
        ("Why does it say <system-reminder> there?", [("Why does it say <system-reminder> there?", False)]),
        (f"{REMINDER}\n<skill>a</skill>", [(REMINDER, True), ("<skill>a</skill>", True)]),
        ("Off.\n[Request interrupted by user]", [("Off.", False), ("[Request interrupted by user]", True)]),
        (f"{HOOK}\nOff.", [(HOOK, True), ("Off.", False)]),
        (f"Off.\n{TEAM}", [("Off.", False), (TEAM, True)]),
        ("<context>x</context>\n<user_query>\nOff.\n</user_query>", [("<context>x</context>", True), ("Off.", False)]),
        (f"<task>\nOff.\n</task>\n{TEAM}", [("Off.", False), (TEAM, True)]),
        ("<task>Off.</task> and <b>now</b>", [("<task>Off.</task> and <b>now</b>", False)]),
        ("<document_name>x</document_name> sort it", [("<document_name>x</document_name> sort it", False)]),
        (f"Off.\n\n{AGENTS}", [("Off.", False), (AGENTS, True)]),
        (f"{AGENTS}\n\nOff.", [(AGENTS[:34], True), (AGENTS[36:], True), ("Off.", False)]),
        (f"Off.\n\n{PLAIN}", [("Off.", False), (PLAIN, True)]),
        (f"{REMINDER}\nOff.\n{AGENTS}\n{REMINDER}",
            [(REMINDER, True), ("Off.", False), (AGENTS, True), (REMINDER, True)]),
        ("Put '# AGENTS.md instructions for x' on top", [("Put '# AGENTS.md instructions for x' on top", False)]),
        ("Stop hook feedback:\n- x", [("Stop hook feedback:\n- x", True)]),
        *(
            (f"{told}\nOff.", [(told, True), ("Off.", False)])
            for told in (
                "<session-context>x</session-context>",
                "<codex_internal_context>x</codex_internal_context>",
                "<compaction_summary>x</compaction_summary>",
                "<budget:token_budget>9</budget:token_budget>",
                "<mode-change>x</mode-change>",
            )
        ),
        ("This session is being continued from a previous conversation.",
            [("This session is being continued from a previous conversation.", True)]),
        ("<travel_budget>9</travel_budget>", [("<travel_budget>9</travel_budget>", False)]),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_host_says_in_the_users_place_is_told_from_the_users_words(
    text: str, parts: list[tuple[str, bool]]
) -> None:
    assert list(speakers_in(text)) == parts


@each(
    ("text", "thought", "said"),
    [
        ("<think>\nhm\n</think>\n\nOff.", "hm", "Off."),
        ("hm\n</think>\n\nOff.", "hm", "Off."),
        ("<think>hm", "hm", ""),
        ("[THINK]hm[/THINK]Off.", "hm", "Off."),
        ("<thinking>a</thinking><thinking>b</thinking>Off.", "a\nb", "Off."),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Off.", "hm", "Off."),
        ("Use the tag <think> for it.", "", "Use the tag <think> for it."),
        ("<seed:think>hm</seed:think>Off.", "hm", "Off."),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Off.<|END_RESPONSE|>", "hm", "Off."),
        ("◁think▷hm◁/think▷Off.", "hm", "Off."),
        ("<think>hm</think><answer>Off.</answer>", "hm", "Off."),
        ("<think>a</think>Off.<think>b</think>", "a\nb", "Off."),
        ("<|channel>thought\nhm<channel|>Off.", "hm", "Off."),
        ("a < b", "", "a < b"),
    ],
)
def test_thoughts_that_stand_in_an_answer_are_kept_apart(text: str, thought: str, said: str) -> None:
    assert parted(text) == (thought, said)


@each(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 2}, (7, 2)),
        ({"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 5}, (12, 2)),
        ({"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}, (7, 3)),
        ({"inputTokens": 7, "outputTokens": 2}, (7, 2)),
        ({"input": 7, "output": 2, "cacheRead": 5, "cacheWrite": 1}, (13, 2)),
        ({"input": 7, "output": 2, "cache": {"read": 5, "write": 1}}, (13, 2)),
    ],
)
def test_any_providers_account_of_tokens_is_read(usage: dict[str, int], tokens: tuple[int, int]) -> None:
    told = tokens_in(json.loads(json.dumps(usage)))
    assert told is not None
    assert (told["prompt_tokens"], told["completion_tokens"]) == tokens


@each("account", [{"cost": 0.5}, {"total_cost_usd": 0.5}, {"costUSD": 0.5}, {"cost": {"input": 0.1, "total": 0.5}}])
def test_a_cost_that_a_host_states_is_read(account: dict[str, Any]) -> None:
    assert cost_in(account) == 0.5
    assert cost_in({"cost": None}) is None


def test_an_account_without_tokens_is_none() -> None:
    assert tokens_in({"cost": 1}) is None


def test_what_a_host_writes_behind_its_notification_is_the_hosts() -> None:
    told = "<task-notification><task-id>b1</task-id></task-notification>"

    found = list(speakers_in(f"{told}\nRead the output file to retrieve the result: /t/b1"))

    assert [is_hosts for _, is_hosts in found] == [True, True]
