"""Run by a Python that has ToolSandbox: plays planned calls with its own tools in its own environment, and grades that.

Usage: python toolsandbox_player.py DUMP.PY NOW PLANS.JSON VERDICTS.JSON. A plan has the turns of a solution as scenario
files have them, and for each table the ids that whoever planned gave the rows that the scenario begins with.
"""

import copy
import datetime
import json
import re
import sys
from importlib import util
from pathlib import Path

KEYS = {"setting": "device_id", "contact": "person_id", "messaging": "message_id", "reminder": "reminder_id"}


def module_at(path):
    spec = util.spec_from_file_location("dump", path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(reference, results):
    label, _, path = reference.partition(".")
    value = results[label]
    for part in filter(None, path.split(".")):
        value = value[int(part)] if part.lstrip("-").isdigit() else value[part]
    return value


def filled(value, results):
    if not isinstance(value, str):
        return value
    if value.startswith("$") and not value.startswith("${"):
        return found(value[1:], results)
    return re.sub(r"\$\{([^}]*)\}", lambda match: str(found(match[1], results)), value)


class Player:
    """One session in its global context."""

    def __init__(self, contexts, environment, scenario):
        self.contexts, self.environment, self.results, self.calls = contexts, environment, {}, 0
        self.spaces, self.roles = contexts.DatabaseNamespace, contexts.RoleType
        contexts.set_current_context(copy.deepcopy(scenario.starting_context))
        for index, message in enumerate(self.messages()):
            if (message["sender"], message["recipient"]) == ("SYSTEM", "EXECUTION_ENVIRONMENT"):
                environment.respond(ending_index=index)

    def messages(self):
        context = self.contexts.get_current_context()
        return context.get_database(self.spaces.SANDBOX, get_all_history_snapshots=True).to_dicts()

    def say(self, sender, recipient, content, **more):
        row = {"sender": sender, "recipient": recipient, "content": content, **more}
        self.contexts.get_current_context().add_to_database(self.spaces.SANDBOX, [row])

    def call(self, call):
        self.calls += 1
        name, call_id = call["tool"], f"call_{self.calls}"
        given = {key: filled(value, self.results) for key, value in call["arguments"].items()}
        code = (
            f"{call_id}_parameters = {given}\n{call_id}_response = {name}(**{call_id}_parameters)\n"
            f"print(repr({call_id}_response))"
        )
        told = {"openai_tool_call_id": call_id, "openai_function_name": name}
        self.say(self.roles.AGENT, self.roles.EXECUTION_ENVIRONMENT, code, **told)
        self.environment.respond()
        answer = self.messages()[-1]
        if answer["tool_call_exception"]:
            raise RuntimeError(answer["tool_call_exception"])
        if call["as"]:
            self.results[call["as"]] = json.loads(answer["tool_trace"][0])["result"]

    def play(self, turns):
        for number, turn in enumerate(turns):
            if number:
                self.say(self.roles.USER, self.roles.AGENT, "And the rest, please.")
            for call in turn["calls"]:
                self.call(call)
            self.say(self.roles.AGENT, self.roles.USER, filled(turn["reply"], self.results))


def in_their_ids(plan, scenario, spaces):
    text = json.dumps(plan)
    for name, key in KEYS.items():
        rows = scenario.starting_context.get_database(namespace=spaces[name.upper()]).to_dicts()
        for number, row in enumerate(rows):
            text = text.replace(plan["ids"][name][number], row[key])
    return json.loads(text)


def main(dump, now, plans, verdicts):
    dumper = module_at(dump)
    from tool_sandbox.common import execution_context as contexts

    dumper.stop_the_clock(datetime.datetime.fromisoformat(now))
    from tool_sandbox.roles.execution_environment import ExecutionEnvironment

    scenarios, spaces = dumper.scenarios(), {str(space): space for space in contexts.DatabaseNamespace}
    found = {}
    for name, plan in json.loads(Path(plans).read_text()).items():
        scenario = scenarios[name]
        player = Player(contexts, ExecutionEnvironment(), scenario)
        player.play(in_their_ids(plan, scenario, spaces)["turns"])
        context = contexts.get_current_context()
        result = scenario.evaluation.evaluate(execution_context=context, max_turn_count=scenario.max_messages)
        found[name] = {"score": result.similarity}
    Path(verdicts).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
