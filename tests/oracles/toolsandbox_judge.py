"""Run by a Python that has ToolSandbox: what its own evaluator says of sessions that were played elsewhere.

Usage: python toolsandbox_judge.py DUMP.PY NOW CASES.JSON VERDICTS.JSON. A case has the scenario's name, the rows before
the first message, and the messages in the neutral form of the milestone corpus. Rows have the ids of whoever played;
they are told by their place among the rows that the scenario begins with.
"""

import copy
import datetime
import json
import sys
from importlib import util
from pathlib import Path

KEYS = {"setting": "device_id", "contact": "person_id", "messaging": "message_id", "reminder": "reminder_id"}
ROLES = {"user": "USER", "agent": "AGENT", "environment": "EXECUTION_ENVIRONMENT", "system": "SYSTEM"}


def module_at(path):
    spec = util.spec_from_file_location("dump", path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_their_ids(case, context, spaces):
    text = json.dumps(case)
    for name, key in KEYS.items():
        theirs = context.get_database(namespace=spaces[name.upper()]).to_dicts()
        for number, row in enumerate(theirs):
            text = text.replace(case["tables"][name][number][key], row[key])
    return json.loads(text)


def played(scenario, case, spaces, pl):
    """The context after the session: every message after the user's first, each with the state that it left."""
    context = copy.deepcopy(scenario.starting_context)
    case = in_their_ids(case, context, spaces)
    tables = {name: [dict(row) for row in rows] for name, rows in case["tables"].items()}
    asked = []
    opening = next(at for at, message in enumerate(case["messages"]) if message["sender"] == "user")
    for number, message in enumerate(case["messages"][opening + 1 :]):
        for change in message["changes"]:
            rows = tables[change["table"]]
            if change["op"] == "add":
                rows.append(change["after"])
            elif change["op"] == "remove":
                del rows[change["key"]]
            else:
                rows[change["key"]] = change["after"]
        for name in {change["table"] for change in message["changes"]}:
            space = spaces[name.upper()]
            context.update_database(space, pl.DataFrame(tables[name], schema=context.dbs_schemas[space]))
        calls, content = message["tool_calls"], message["content"]
        name, call_id = None, None
        if message["recipient"] == "environment":
            name, call_id = content.partition("(")[0], f"call_{number}"
            asked.append((name, call_id))
            given = json.loads(content.partition("(")[2][:-1] or "{}")
            content = (
                f"{call_id}_parameters = {given}\n{call_id}_response = {name}(**{call_id}_parameters)\n"
                f"print(repr({call_id}_response))"
            )
        elif message["sender"] == "environment":
            name, call_id = asked.pop(0)
        traces = calls and [
            json.dumps({"tool_name": call["tool"], "arguments": call["arguments"], "result": call["result"]})
            for call in calls
        ]
        context.add_to_database(
            spaces["SANDBOX"],
            [
                {
                    "sender": ROLES[message["sender"]],
                    "recipient": ROLES[message["recipient"]],
                    "content": content,
                    "openai_tool_call_id": call_id,
                    "openai_function_name": name,
                    "tool_call_exception": None if calls or message["sender"] != "environment" else content,
                    "tool_trace": traces,
                    "visible_to": message["visible_to"] and [ROLES[role] for role in message["visible_to"]],
                }
            ],
        )
    return context


def kept(context, folder):
    """What ToolSandbox keeps of a session."""
    folder.mkdir(parents=True)
    text = json.dumps(context.to_dict(serialize_console=False), default=str)
    (folder / "execution_context.json").write_text(text)


def main(dump, now, cases, verdicts):
    dumper = module_at(dump)
    from tool_sandbox.common.execution_context import DatabaseNamespace

    dumper.stop_the_clock(datetime.datetime.fromisoformat(now))
    import polars as pl

    spaces = {str(space): space for space in DatabaseNamespace}
    scenarios = dumper.scenarios()
    with Path(verdicts).open("w") as out:
        for case in json.loads(Path(cases).read_text()):
            scenario = scenarios[case["scenario"]]
            context = played(scenario, case, spaces, pl)
            kept(context, Path(verdicts).parent / "trajectories" / case["id"])
            found = scenario.evaluation.evaluate(execution_context=context, max_turn_count=scenario.max_messages)
            line = {
                "id": case["id"],
                "score": found.similarity,
                "milestone_score": found.milestone_similarity,
                "minefield_score": found.minefield_similarity,
                "turn_count": found.turn_count,
            }
            out.write(json.dumps(line) + "\n")
            out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
