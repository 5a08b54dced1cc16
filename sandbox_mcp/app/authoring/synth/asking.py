"""Prompts for a model that drafts, and the reading of its answers.

Policy: it gets everything that an author would look at: the world's rows, the tools, the scenario it starts from, and
one form to answer in. It is shown no milestone, so that none can be written to please them.
"""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.schema import RawTurn, RawUser

from sandbox_mcp.app.authoring.synth.orders import DraftOrder
from sandbox_mcp.engine.world import to_local
from sandbox_mcp.engine.world.fixed import FixedRows

ROLE = (
    "You write test scenarios for assistants that act through tools. A scenario has a person who wants something, "
    "and a solution: the calls an excellent assistant makes, and what it replies. Everything has to follow from the "
    "data and the tools you are shown; what the person asks for has to be checkable in the data afterwards. Write "
    "people, not programs: they never say the name of a tool, an argument or an id."
)
FORM = """Answer with one JSON object and nothing else:
{
  "name": "lower_case_words",
  "about": "One sentence that says what is special about it.",
  "user": {
    "goal": "You want ... (told to the person, without how it is done)",
    "opening": "The first thing the person writes.",
    "knows": ["Whole sentences on what the person can tell when asked."],
    "does_not_know": ["Whole sentences on what it cannot tell."],
    "script": {"answers": [{"about": ["word", "of a question"], "say": "Its answer."}], "then": ["A later wish."]}
  },
  "reference": [
    {"calls": [{"tool": "...", "arguments": {"...": "..."}, "as": "found"}], "reply": "What the assistant says then."}
  ]
}
One item of "reference" for each message of the person. A call may name its result with "as"; "$found.0.person_id" is
then a value of that result as an argument, and "${found.0.name}" the same inside a reply or a text. Never write an id
yourself: look it up. Moments are written as the arguments want them; those in seconds since 1970 come from calls that
reckon. Replies state what was found or done in plain words. "script" may be left out."""
TASKS: Mapping[str, str] = {
    "tools": (
        "Invent a person with a wish that takes several of the tools below, and among them the tool {required}. Make "
        "it a wish that people really have."
    ),
    "constraint": (
        "Take the scenario below and make its wish harder by a constraint or two: conditions that the right person, "
        "message or time has to meet, a format, an exception. The same tools have to be needed: {required}."
    ),
    "rewording": (
        "Take the scenario below and write another opening for the same wish, in quite other words: shorter, longer, "
        "hurried, polite, as a question, as a story. What is wanted, and every name, number and time that the "
        'assistant needs, has to be said as before. Leave out "reference", and repeat the goal as it is.'
    ),
    "irrelevance": (
        "Write a wish of the same person that sounds as if it belonged to the tools below, and that none of them can "
        "fulfil, nor any mixture of them. The solution makes no call that changes anything and says plainly what "
        "cannot be done."
    ),
    "state": (
        "Take the scenario below and let it begin in another state of its world, so that something has to be done "
        "first: a service that is off, an account that is not logged in, an entry that stands elsewhere. Say so under "
        '"state", by table and by the row as the data have it: {{"TABLE": {{"COLUMN": VALUE}}}}. '
        "The wish stays; the solution finds out and deals with it."
    ),
    "turns": (
        "Take the scenario below and let the person begin vaguely: the details come only when the assistant asks for "
        'them. Put them into "script.answers"; the first reply of the solution asks, and the second turn does it.'
    ),
    "withheld": (
        "Take the scenario below and imagine the assistant without the tool {withheld}. The wish stays. The solution "
        "does nothing that needs it, does not make anything up, and says plainly what cannot be done."
    ),
}
"""What is asked for, by kind or, for a branch, by its twist."""


SAMPLE = 40
"""So many rows are shown of a table that stands in a file of its own, and can be long."""


class DraftAnswer(BaseModel):
    """Answer of a model that drafted."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str = ""
    about: str = Field(min_length=1)
    user: RawUser
    reference: list[RawTurn] = []
    state: dict[str, Any] = {}


def question(order: DraftOrder, suite: Suite) -> str:
    """Prompt for one draft."""
    task = TASKS[order.twist or order.kind].format(required=", ".join(order.required), withheld=order.withheld)
    scenario = suite.get(order.original) if order.original else suite.base(order.base)
    clock = scenario.clock
    now = to_local(clock.now, clock.zone).strftime("%A, %d %B %Y, %H:%M")
    tables = {name: [dict(row) for row in rows.values()] for name, rows in scenario.world.tables.items() if rows}
    for name, schema in scenario.home.tables.items():
        if schema.fixed is not None:
            tables[name] = [dict(row) for row in islice(FixedRows.of(schema).rows.values(), SAMPLE)]
    tools = {name: scenario.home.agent_tools[name] for name in order.offered}
    shown = {
        name: {"does": tool.description, "arguments": {item.name: item.schema() for item in tool.parameters}}
        for name, tool in tools.items()
    }
    parts = {
        "Your task": task,
        "The data": f"It is {now} ({clock.zone}), {clock.now:.0f} seconds since 1970.\n{_json(tables)}",
        "The tools": _json(shown),
        **({"The scenario": _told(scenario)} if order.original else {}),
        "The form": FORM,
    }
    return "\n\n".join(f"## {title}\n{text}" for title, text in parts.items())


def _told(scenario: Scenario) -> str:
    user = scenario.user
    turns = [
        {
            "calls": [{"tool": call.tool, "arguments": call.arguments, "as": call.label} for call in turn.calls],
            "reply": turn.reply,
        }
        for turn in scenario.solutions[0].turns
    ]
    told = {
        "goal": user.goal, "opening": user.opening, "knows": user.knows, "does_not_know": user.does_not_know,
        "reference": turns,
    }  # fmt: skip
    return _json(told)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def read_draft(text: str) -> DraftAnswer | str:
    """The draft in an answer, or its fault; words around the JSON object do no harm."""
    start = text.find("{")
    try:
        value: Any = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {error}"
    if not isinstance(value, dict):
        return "there is no JSON object in it"
    try:
        return DraftAnswer.model_validate(cast("dict[str, Any]", value))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
