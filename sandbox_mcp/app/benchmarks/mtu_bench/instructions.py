"""Instructions for an agent that answers a row: to call tools, or to write down in words what it would call.

Policy: both ask for the same and differ in how an answer is given. ``text`` is the way in which the benchmark's authors
asked, in words of our own: no tools are offered, those of the row are listed, and calls are read from the text as the
importer reads them.
"""

import json
from typing import Final

from sandbox_grader.papers.mtu_bench.importer import BenchmarkRow

from sandbox_mcp.app.benchmarks.mtu_bench.tools import described
from sandbox_mcp.app.run.options import AnswerForm

TASK: Final = "You are an assistant. Answer the user's last message, and nothing that may come after it."
VALUES: Final = (
    "Take every value from the conversation and make none up. If something that a tool needs has not been said, or no "
    "tool serves the request, or the conversation holds the answer already, call none."
)
ONE: Final = "At most one call is needed."
MANY: Final = (
    "Several calls may be needed; make them in the order in which they depend on each other, and none without need."
)
BY_CALLS: Final = "Use the tools where they serve the request; then reply."
REFERENCES: Final = "Where a call needs what an earlier one returns, write Tool.field as the value."
FORM: Final = """Write what you think, then the call:
Thought: why this call, or why none
Action: the tool's name
Action Input: its arguments, one JSON object on one line"""
FORM_MANY: Final = "Write Action and Action Input once more for every further call."
FORM_NONE: Final = "Where there is nothing to call, write the thought and no action."


def instructions(row: BenchmarkRow, form: AnswerForm, *, many: bool, history: bool, task: str = "") -> str:
    """Instructions for the agent; ``many`` allows several calls, ``history`` puts the conversation so far below.

    ``task`` is said in place of our own words on what to do; the form of an answer is told all the same.
    """
    today = f"Today is {row.question.today}." if row.question.today else ""
    amount = MANY if many else ONE
    if form == "calls":
        parts = [task or f"{TASK} {BY_CALLS} {VALUES} {amount}", today]
    else:
        form_of = "\n".join(filter(None, (FORM, FORM_MANY if many else "", FORM_NONE, REFERENCES if many else "")))
        tools = ["The tools:"]
        for tool in row.question.tools or ():
            shown = {"name": tool.name, "description": described(tool), "parameters": tool.schema}
            tools.append(json.dumps(shown, ensure_ascii=False))
        parts = [task or f"{TASK} {VALUES} {amount}", today, form_of, "\n".join(tools)]
    if history and row.question.history:
        parts.append(f"The conversation so far:\n{row.question.history}")
    return "\n\n".join(filter(None, parts))
