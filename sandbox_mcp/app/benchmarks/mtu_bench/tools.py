"""The tools of a row as a session offers them: by the schema that the row states, answered from what the file observed.

Policy: a tool accepts any value for the arguments that it lists, because the ground truth itself does not always keep
to the stated types; the metric says which are right. A call returns what a later row's history has
as the observation of a call with equal arguments. Of any other call the file knows nothing. Such a call returns for
each field the reference by which the benchmark passes it on, ``Tool.field``, so that an agent which passes it on writes
what the ground truth writes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_clients.base import PastCall, PastStep, ToolOutput
from sandbox_grader.papers.mtu_bench.compare import same_arguments
from sandbox_grader.papers.mtu_bench.importer import BenchmarkRow, OfferedTool, read_history

from sandbox_mcp.engine.tools import PresentedTool, Tool, present
from sandbox_mcp.engine.tools.definition import Parameter
from sandbox_mcp.play.session import CallResult
from sandbox_mcp.play.users import Line

Observed = Sequence[tuple[str, Mapping[str, Any], str]]
"""Tool, arguments, and what came of them as the file has it."""


def observed_in(rows: Sequence[BenchmarkRow], place: int) -> Observed:
    """Results that later rows give for the calls of the row at that place."""
    for row in rows[place + 1 :]:
        turns = read_history(row.question.history)
        if place < len(turns) and turns[place].observed:
            return [(name, given, turns[place].observed) for name, given in turns[place].calls[-1:]]
    return []


def row_tools(row: BenchmarkRow, observed: Observed) -> dict[str, PresentedTool]:
    """The tools of a row by name; of several of one name the last counts."""
    return {tool.name: _presented(tool, observed) for tool in row.question.tools or ()}


def past_steps(row: BenchmarkRow, tools: Mapping[str, PresentedTool]) -> tuple[PastStep, ...]:
    """The history of a row as steps that an agent takes for its own.

    Nothing where it calls a tool that the row does not offer, for such a history can only be told in words.
    """
    steps: list[PastStep] = []
    for turn in read_history(row.question.history):
        if any(name not in tools for name, _ in turn.calls):
            return ()
        steps.append(Line("user", turn.user))
        made: list[PastCall] = []
        for name, given in turn.calls:
            alone = turn.observed if len(turn.calls) == 1 else ""
            shown = alone or CallResult({"result": tools[name].tool.function(None, **given)}).text
            made.append(PastCall(name, given, ToolOutput(shown)))
        if made:
            steps.append(tuple(made))
        if turn.reply:
            steps.append(Line("agent", turn.reply))
    return tuple(steps)


def described(tool: OfferedTool) -> str:
    """Description of a tool, with the fields of its result."""
    returns = f"Returns: {', '.join(tool.results)}." if tool.results else ""
    return " ".join(filter(None, (tool.description.strip(), returns)))


def _presented(offered: OfferedTool, observed: Observed) -> PresentedTool:
    properties: Mapping[str, Mapping[str, Any]] = offered.schema["properties"]
    parameters = tuple(
        Parameter(name, {}, required=False, description=str(schema.get("description", "")))
        for name, schema in properties.items()
    )

    def answer(_: object, /, **given: Any) -> Any:
        for name, arguments, came in observed:
            if name == offered.name and same_arguments(given, arguments):
                return came
        return {field: f"{offered.name}.{field}" for field in offered.results} or "done"

    tool = Tool(
        name=offered.name, domain="rows", action=False, destructive=False, caller="agent", function=answer,
        description=described(offered), parameters=parameters, result_schema={},
    )  # fmt: skip
    shown = present(tool)
    schema = {**offered.schema, "additionalProperties": False}
    return PresentedTool(tool, shown.name, shown.description, shown.parameters, shown.names, schema)
