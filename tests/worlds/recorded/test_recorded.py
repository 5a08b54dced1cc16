"""A tape as a world: what is answered, what is refused, and that scenarios over it are scenarios like any."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_grader import grade
from sandbox_scenarios import Suite
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.stage import Stage

from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.tools import plan
from sandbox_mcp.engine.tools.calling import Bound, Outcome, bind, call, present
from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds import load
from sandbox_mcp.engine.worlds.recorded import read_tape
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each

HERE = Path(__file__).parent
TAPE = HERE / "lamps.jsonl"
LINES = TAPE.read_text().splitlines()
LOOK = {"number": 2}
LIGHT: Mapping[str, Any] = {"number": 2, "lit": True, "pin": "4711"}


@pytest.fixture
def stage() -> Stage:
    return Stage.of(Suite([HERE / "lamps.yaml"]).get("light_the_second_lamp"))


def made(stage: Stage, name: str, arguments: Mapping[str, Any]) -> Outcome:
    offered = {tool: present(item) for tool, item in stage.home.agent_tools.items()}
    return call(stage.running, offered, name, dict(arguments))


def told(outcome: Outcome) -> str:
    assert outcome.fault is not None
    return outcome.fault.text


def test_equal_arguments_are_answered_differently_after_an_acting_call(stage: Stage):
    assert made(stage, "get-lamp", LOOK).result == {"lit": False}
    assert made(stage, "get-lamp", {"number": 2.0}).result == {"lit": False}
    assert made(stage, "set_lamp", LIGHT).result == "Lamp 2 is lit now."
    assert made(stage, "get-lamp", LOOK).result == {"lit": True}


def test_what_is_not_one_object_is_given_as_it_travelled(stage: Stage):
    assert made(stage, "picture", {}).result == [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]


def test_an_error_of_the_server_is_told_and_changes_nothing(stage: Stage):
    assert told(made(stage, "set_lamp", {**LIGHT, "number": 12})) == "RecordedError: there is no lamp 12"
    assert made(stage, "get-lamp", LOOK).result == {"lit": False}


def test_what_was_never_asked_is_refused_with_the_nearest_call(stage: Stage):
    text = told(made(stage, "get-lamp", {"number": 3}))
    assert text == (
        'NotRecordedError: the tape has no answer to get-lamp {"number": 3} before any acting call; '
        'the nearest recorded call is get-lamp {"number": 2} before any acting call (line 5)'
    )


def test_an_acting_call_is_not_answered_a_second_time(stage: Stage):
    made(stage, "set_lamp", LIGHT)
    assert "after 1 acting call, the last set_lamp" in told(made(stage, "set_lamp", LIGHT))


def test_two_tapes_of_one_server_are_not_taken_for_each_other(tmp_path: Path):
    for name, lit in (("dark", "false"), ("bright", "true")):
        answer = f'"structuredContent": {{"lit": {lit}}}'
        (tmp_path / f"{name}.jsonl").write_text(TAPE.read_text().replace('"structuredContent": {"lit": false}', answer))
        text = (HERE / "lamps.yaml").read_text().replace("lamps.jsonl", f"{name}.jsonl")
        for was in ("family: lamps", "name: dark_room", "extends: dark_room", "name: light_the_second_lamp"):
            text = text.replace(was, f"{was}_{name}")
        (tmp_path / f"{name}.yaml").write_text(text)
    suite = Suite([tmp_path])
    manager, seen = SessionManager(suite), dict[str, Any]()
    for name in ("dark", "bright"):
        scenario = suite.get(f"light_the_second_lamp_{name}")
        opened = manager.create(SessionSpec(scenario), ScriptedUser.of(scenario.user))
        seen[name] = opened.session.call("get-lamp", LOOK).structured
    assert seen == {"dark": {"lit": False}, "bright": {"lit": True}}


def test_a_secret_may_be_any_and_does_not_reach_the_state(stage: Stage):
    assert made(stage, "set_lamp", {**LIGHT, "pin": "0000"}).result == "Lamp 2 is lit now."
    assert "0000" not in str(stage.running.snapshot.table("act"))


def test_trials_of_a_race_use_up_nothing(stage: Stage):
    offered = {tool: present(item) for tool, item in stage.home.agent_tools.items()}
    calls = [bind(offered, name, dict(given)) for name, given in (("get-lamp", LOOK), ("set_lamp", LIGHT))]
    found = plan(stage.running, [item for item in calls if isinstance(item, Bound)], stage.gates)
    assert found.racing == {0, 1}
    assert made(stage, "set_lamp", LIGHT).result == "Lamp 2 is lit now."


def test_a_server_that_says_nothing_is_taken_to_act_and_to_destroy(stage: Stage):
    tools = stage.home.agent_tools
    assert [tools[name].action for name in ("get-lamp", "set_lamp", "picture")] == [False, True, False]
    assert tools["set_lamp"].destructive


def test_references_in_a_schema_are_written_out(stage: Stage):
    schema = stage.home.agent_tools["get-lamp"].input_schema()
    assert schema["properties"] == {"number": {"type": "integer", "minimum": 1, "description": "Which lamp."}}


@each(
    ("content", "text"),
    [
        ([{"type": "text", "text": "no"}, {"type": "image"}], 'no\n{"type": "image"}'),
        (["plainly no"], '"plainly no"'),
        ("no at all", '"no at all"'),
        ([], "the server gave no reason"),
    ],
)
def test_an_error_is_told_however_the_server_put_it(tmp_path: Path, content: Any, text: str):
    lines: list[Any] = [{"kind": "tool", "name": "try", "inputSchema": {"properties": [], "required": 3}}]
    lines += [{"kind": "call", "tool": "try", "arguments": {}, "result": {"isError": True, "content": content}}]
    (tmp_path / "odd.jsonl").write_text("\n".join([LINES[0], *map(json.dumps, lines)]) + "\n", encoding="utf-8")
    [world] = load(tmp_path / "odd.jsonl")
    running = Running(Snapshot({}), Clock(0.0), IdStream(""))
    outcome = call(running, {"try": present(world.agent_tools["try"])}, "try", {})
    assert told(outcome) == f"RecordedError: {text}"


TANGLED = {f"D{n}": {"properties": {f"p{m}": {"$ref": f"#/$defs/D{m}"} for m in range(12)}} for n in range(12)}


@each(
    ("schema", "value", "accepted"),
    [
        ({"type": "object", "properties": {"any": True}}, {"any": [1]}, True),
        ({"anyOf": [True, {"type": "string"}]}, 3, True),
        ({"type": "array", "items": True}, [1, "a"], True),
        ({"type": "object", "additionalProperties": False, "patternProperties": {"^x-": {}}}, {"x-a": 1}, True),
        ({"$ref": "#/$defs/a~1b%20c"}, 3, True),
        ({"$ref": "#/$defs/a~1b%20c"}, "three", False),
        ({"$ref": "#/$defs/D0"}, {"p1": {"p2": 3}}, True),
        ({"$ref": "#/$defs/D0"}, {"p1": {"p2": {}}}, True),
        ({"$ref": "#"}, {"x": 3}, True),
        ({"type": "object", "properties": {"required": {"type": "integer", "required": True}}}, {"required": 3}, True),
        ({"type": "object", "properties": {"items": {"type": "integer"}}}, {"items": "three"}, False),
        ({"type": ["strange", "string"], "enum": "no", "anyOf": {"a": 1}, "items": 3}, "a", True),
        ({"type": ["strange", "string"], "enum": "no", "anyOf": {"a": 1}, "items": 3}, 3, False),
        ({"type": "object", "required": ["a", 7]}, {"a": 1}, True),
        ({"type": "object", "properties": 5, "required": True}, {"a": 1}, True),
        (True, [1], True),
        ("what?", 3, True),
    ],
)
def test_schemas_are_used_as_servers_write_them(tmp_path: Path, schema: Any, value: Any, accepted: bool):
    given = {"type": "object", "properties": {"x": schema}, "$defs": {**TANGLED, "a/b c": {"type": "integer"}}}
    tool = {"kind": "tool", "name": "try", "inputSchema": given, "annotations": {"readOnlyHint": True}}
    (tmp_path / "odd.jsonl").write_text(f"{LINES[0]}\n{json.dumps(tool)}\n", encoding="utf-8")
    [world] = load(tmp_path / "odd.jsonl")
    bound = bind({"try": present(world.agent_tools["try"])}, "try", {"x": value})
    assert isinstance(bound, Bound) is accepted


@each(
    ("given", "kept"),
    [({"pin": 4711}, True), ({"pin": "a"}, True), ({"pin": "[redacted]"}, False), ({"pin": None}, False), ({}, False)],
)
def test_results_are_announced_as_the_server_says_only_where_they_are_so(
    tmp_path: Path, given: Mapping[str, Any], kept: bool
):
    said = {"type": "object", "properties": {"pin": {"type": ["integer", "string"]}}, "required": ["pin"]}
    lines: list[Any] = [
        json.loads(LINES[0]),
        {"kind": "tool", "name": "read", "inputSchema": {"type": "object"}, "outputSchema": said},
        {"kind": "call", "tool": "read", "arguments": {}, "result": {"content": [], "structuredContent": given}},
    ]
    (tmp_path / "tape.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    [world] = load(tmp_path / "tape.jsonl")
    assert world.agent_tools["read"].result_schema == (said if kept else {"type": "object"})


def test_no_value_is_asked_for_in_a_header_too(tmp_path: Path):
    properties = {"region": {"type": "string", "x-mcp-header": "Region"}, "x-mcp-header": {"type": "string"}}
    given = {"type": "object", "properties": properties}
    tool = {"kind": "tool", "name": "try", "inputSchema": given, "annotations": {"readOnlyHint": True}}
    (tmp_path / "mirrored.jsonl").write_text(f"{LINES[0]}\n{json.dumps(tool)}\n", encoding="utf-8")
    [world] = load(tmp_path / "mirrored.jsonl")
    schema = present(world.agent_tools["try"]).schema
    assert schema["properties"] == {"region": {"type": "string"}, "x-mcp-header": {"type": "string"}}


def test_the_digest_of_a_scenario_follows_the_tape_and_not_its_place(tmp_path: Path):
    original = Suite([HERE / "lamps.yaml"]).get("light_the_second_lamp").digest
    for name in ("lamps.yaml", "lamps.jsonl"):
        shutil.copy(HERE / name, tmp_path)
    assert Suite([tmp_path]).get("light_the_second_lamp").digest == original
    (tmp_path / "lamps.jsonl").write_text("\n".join(LINES[:-1]) + "\n")
    assert Suite([tmp_path]).get("light_the_second_lamp").digest != original


def test_a_suite_knows_the_world_of_scenarios_over_a_tape():
    suite, (world,) = Suite([HERE / "lamps.yaml"]), load(TAPE)
    assert suite.names(world.name) == ("light_the_second_lamp",)
    assert suite.home.name == world.name


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def test_scenarios_over_a_tape_lint_run_grade_and_replay(tmp_path: Path):
    scenarios, out = ("--scenarios", HERE / "lamps.yaml"), tmp_path / "runs"
    assert invoke("scenarios", "lint", *scenarios).exit_code == 0
    for agent, score in (("reference", 1.0), ("refuse", 0.0)):
        assert invoke("run", "--agent", agent, *scenarios, "--out", out / agent).exit_code == 0
        graded = invoke("grade", out / agent, *scenarios, "--json")
        assert json.loads(graded.stdout)["sessions"][0]["metrics"]["toolsandbox"]["score"] == score
    assert invoke("replay", out / "reference", "--world", TAPE).exit_code == 0


def test_a_tool_may_have_the_name_of_the_one_that_takes_actions_as_text(tmp_path: Path):
    for name in ("lamps.yaml", "lamps.jsonl"):
        (tmp_path / name).write_text((HERE / name).read_text(encoding="utf-8").replace("set_lamp", "act"), "utf-8")
    suite = Suite([tmp_path / "lamps.yaml"])
    assert lint_scenario(suite, "light_the_second_lamp").complaints == ()
    scenario = suite.get("light_the_second_lamp")
    for variant in ("base", "text_actions"):
        log = RehearsalStage(scenario).rehearse(scenario.solutions[0], variant).log
        assert grade(log, scenario).score == 1


def test_a_draft_names_its_tape_by_the_way_from_its_own_file(tmp_path: Path):
    for name in ("lamps.yaml", "lamps.jsonl"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "drafts").mkdir()
    ran = invoke("run", "--agent", "reference", "--scenarios", tmp_path / "lamps.yaml", "--out", tmp_path / "out")
    assert ran.exit_code == 0
    [log] = (tmp_path / "out" / "logs").iterdir()
    draft = tmp_path / "drafts" / "lit.yaml"
    made = invoke("scenarios", "new", "--from", log, "--world", tmp_path / "lamps.jsonl", "-o", draft)
    assert made.exit_code == 0, made.output
    assert "world: {recorded: ../lamps.jsonl}" in draft.read_text(encoding="utf-8")


def test_what_only_looks_may_be_said_on_the_tape_afterwards(tmp_path: Path):
    lines = [json.loads(line) for line in LINES]
    for line in lines:
        if line.get("name") == "get-lamp":
            line["annotations"] = {"readOnlyHint": False}
    tape = tmp_path / "edited.jsonl"

    def positions() -> list[int]:
        tape.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return [len(call.after) for call in read_tape(tape).calls if call.deed[0] == "get-lamp"]

    assert positions() == [0, 2]
    del lines[1]["annotations"]
    lines[1]["reads"] = True
    assert positions() == [0, 1]


def test_commands_that_list_know_a_tape_by_its_file():
    scenarios = ("--scenarios", HERE / "lamps.yaml")
    listed = invoke("scenarios", "list", "--world", TAPE, *scenarios, "--json")
    assert [item["name"] for item in json.loads(listed.stdout)] == ["light_the_second_lamp"]


def test_the_tools_of_a_tape_are_checked_as_those_of_a_server(tmp_path: Path):
    tool: dict[str, Any] = {"kind": "tool", "name": "do", "inputSchema": {"type": "object", "properties": {"what": {}}}}
    lines = ({"kind": "server", "tape": 1, "name": "vague"}, tool)
    (tmp_path / "vague.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = invoke("worlds", "check", "--world", tmp_path / "vague.jsonl", "--json")
    assert done.exit_code == 1
    found = {finding["rule"] for finding in json.loads(done.stdout)["findings"]}
    assert found >= {"no_description", "untyped_argument", "undescribed_argument", "no_annotations"}


@each(
    ("written", "problem"),
    [
        ("{recorded: gone.jsonl}", "gone.jsonl': cannot be read"),
        ("{recorded: 5}", "expected the path of a tape such as tape.jsonl, not 5"),
        ("{recorded: a.jsonl, contact: {}}", "a recorded world is a tape and nothing else"),
    ],
)
def test_a_world_that_is_no_tape_is_told_with_its_line(tmp_path: Path, written: str, problem: str):
    text = (HERE / "lamps.yaml").read_text().replace("{recorded: lamps.jsonl}", written)
    (tmp_path / "lamps.yaml").write_text(text)
    suite = Suite([tmp_path / "lamps.yaml"])
    for use in (lambda: suite.home, suite.all):
        with pytest.raises(ScenarioFileError, match=r"lamps\.yaml:5: scenario") as raised:
            use()
        assert problem in str(raised.value)


def test_a_line_that_was_being_written_is_left_out(tmp_path: Path):
    tape = tmp_path / "cut.jsonl"
    tape.write_text("\n".join(LINES)[:-20])
    assert load(tape)[0].agent_tools.keys() == {"get-lamp", "set_lamp", "picture"}


@each(
    ("lines", "problem"),
    [
        ([], "is empty"),
        (LINES[:1], "has no tool"),
        (LINES[1:], "line 1: stands before any line of the kind 'server'"),
        (["[]", *LINES], "line 1: is not a JSON object"),
        (["{", *LINES], "line 1: is not JSON"),
        (LINES[:3] + LINES[5:6], "line 4: calls 'picture', which the lines before it do not list"),
        ([LINES[0].replace('"tape": 1', '"tape": 7')], "line 1: is of format 7; this version reads 1"),
        ([*LINES[:3], json.dumps({"kind": "tool", "name": "end_conversation", "inputSchema": {}})], "end_conversation"),
    ],
)
def test_what_is_no_tape_is_told_with_its_line(tmp_path: Path, lines: list[str], problem: str):
    tape = tmp_path / "broken.jsonl"
    tape.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(WorldError, match=r"broken\.jsonl") as raised:
        load(tape)
    assert problem in str(raised.value)


def test_lint_asks_for_no_secret_of_which_any_value_is_right(tmp_path: Path):
    text = (HERE / "lamps.yaml").read_text(encoding="utf-8")
    asked = '{tool: set_lamp, arguments: {number: 2, lit: true, pin: "4711"}}\n    - {table'
    assert asked in text
    (tmp_path / "lamps.yaml").write_text(text.replace(asked, asked.replace(', pin: "4711"', "")), encoding="utf-8")
    (tmp_path / "lamps.jsonl").write_bytes((HERE / "lamps.jsonl").read_bytes())
    assert lint_scenario(Suite([tmp_path]), "light_the_second_lamp").complaints == ()


LISTING = {
    "kind": "tool", "name": "list-lamps", "annotations": {"readOnlyHint": True},
    "inputSchema": {"type": "object", "properties": {
        "most": {"type": "number", "default": 10}, "room": {"type": ["string", "null"], "default": None},
        "by": {"type": "object", "default": {"down": True, "name": "wattage"}},
    }},
}  # fmt: skip
DIMMED = {"type": "object", "properties": {"by": {"type": "integer", "default": 1}}}
DIM = {"kind": "tool", "name": "dim", "inputSchema": DIMMED}


def answered(tool: str, arguments: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    return {
        "kind": "call",
        "tool": tool,
        "arguments": arguments,
        "result": {"content": [{"type": "text", "text": text}]},
    }


@each(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        {"anyOf": [{"properties": {"by": {"type": "integer"}}, "required": ["by"]}]},
        {"$ref": "#/$defs/Dim", "$defs": {"Dim": DIMMED}},
    ],
)
def test_arguments_that_the_server_took_though_it_lists_none_are_taken(tmp_path: Path, schema: Mapping[str, Any]):
    refused = answered("dim", {"at": 1}, "no")
    lines = [
        json.loads(LINES[0]),
        {**DIM, "inputSchema": schema},
        {**refused, "result": {**refused["result"], "isError": True}},
        answered("dim", {"by": 2}, "dim"),
    ]
    (tmp_path / "dim.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    [world] = load(tmp_path / "dim.jsonl")
    offered = {name: present(tool) for name, tool in world.agent_tools.items()}
    running = Running(Snapshot({}), Clock(0.0), IdStream(""))
    assert "ArgumentNameError" in told(call(running, offered, "dim", {"at": 1}))
    assert call(running, offered, "dim", {"by": 2}).result == "dim"


@each(
    ("recorded", "asked", "equal"),
    [
        ({}, {"most": 10}, True),
        ({}, {"most": 10.0, "room": None, "by": {"name": "wattage", "down": True}}, True),
        ({"most": 10, "room": None}, {}, True),
        ({"most": 10, "room": "hall"}, {"room": "hall"}, True),
        ({}, {"most": 11}, False),
        ({}, {"room": ""}, False),
        ({}, {"by": {"down": 1, "name": "wattage"}}, False),
        ({}, {"by": {"name": "wattage"}}, False),
    ],
)
def test_a_default_that_is_spelled_out_is_as_good_as_left_out(
    tmp_path: Path, recorded: Mapping[str, Any], asked: Mapping[str, Any], equal: bool
):
    lines = [
        json.loads(LINES[0]),
        LISTING,
        DIM,
        answered("dim", {"by": 1}, "dim"),
        answered("list-lamps", recorded, "these"),
    ]
    (tmp_path / "listing.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    [world] = load(tmp_path / "listing.jsonl")
    offered = {name: present(tool) for name, tool in world.agent_tools.items()}
    for dimmed in (dict[str, Any](), {"by": 1}):
        running = Running(Snapshot({}), Clock(0.0), IdStream(""))
        assert call(running, offered, "dim", dimmed).result == "dim"
        outcome = call(running, offered, "list-lamps", dict(asked))
        assert outcome.result == "these" if equal else "NotRecordedError" in told(outcome)
