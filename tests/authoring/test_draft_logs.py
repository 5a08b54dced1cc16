"""Drafts over logged tools: from logs without a state, and from tapes, to scenarios that grade these logs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from sandbox_grader.importers import importer
from sandbox_grader.reporting.many import grade_many
from sandbox_grader.reporting.scenario_of_log import SuiteFinder
from sandbox_scenarios import Suite
from sandbox_scenarios.lint import lint

from sandbox_mcp.app.authoring.drafting.from_logs import draft_logs, draft_tape
from sandbox_mcp.app.authoring.drafting.logged_tools import input_schema, merged
from sandbox_mcp.app.authoring.drafting.sources import is_tape, sessions_in
from sandbox_mcp.app.authoring.over_tapes import unanswered
from sandbox_mcp.app.cli.import_ import command as import_
from sandbox_mcp.app.cli.scenarios import new
from sandbox_mcp.engine.trajectory import to_line
from sandbox_mcp.engine.worlds.recorded import read_tape

DOCS = Path(__file__).resolve().parents[2] / "docs"


def chat(*turns: tuple[str, list[tuple[str, dict[str, Any], Any]], str], **more: Any) -> dict[str, Any]:
    """A session as an OpenAI chat: per turn the user's words, calls with results, and the reply."""
    messages: list[dict[str, Any]] = []
    for said, calls, reply in turns:
        messages.append({"role": "user", "content": said})
        for name, arguments, result in calls:
            id_ = f"c{len(messages)}"
            call = {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            messages.append({"role": "assistant", "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": id_, "content": json.dumps(result)})
        messages.append({"role": "assistant", "content": reply})
    return {"messages": messages, **more}


FOUND = ("find_order", {"number": "A-1042"}, {"id": "ord_77f3", "item": "kettle"})
CANCELLED = ("cancel_order", {"id": "ord_77f3"}, {"status": "cancelled"})
GOOD = chat(("Please cancel order A-1042.", [FOUND, CANCELLED], "Order A-1042 is cancelled."))
BAD = chat(("Please cancel order A-1042.", [("refund", {"amount": 9999}, "ok")], "Order A-1042 is cancelled."))


def drafted(folder: Path, *sessions: Any) -> tuple[Path, list[Path]]:
    """A file of drafts from these chats, and the chats as imported logs."""
    logs: list[Path] = []
    for number, session in enumerate(sessions):
        path = folder / f"s{number}.json"
        path.write_text(json.dumps(session))
        for item in importer("auto")([path]):
            logs.append(folder / f"{item.name}-{number}.jsonl")
            logs[-1].write_text("".join(map(to_line, item.events)))
    out = folder / "mine.yaml"
    found = sessions_in([folder / f"s{n}.json" for n in range(len(sessions))], "auto", Suite([]), print)
    draft_logs(found, Suite([]), out, "mine")
    return out, logs


def scores(out: Path, logs: list[Path]) -> list[float | None]:
    return [
        item.value("toolsandbox.score") for item in grade_many(logs, SuiteFinder((out,)), jobs=1, keep=False).sessions
    ]


def test_the_session_that_a_draft_was_made_from_scores_1_and_another_way_does_not(tmp_path: Path) -> None:
    out, logs = drafted(tmp_path, GOOD, BAD)

    assert scores(out, logs) == [1.0, 0.0]


def test_a_scenario_is_drafted_for_each_task(tmp_path: Path) -> None:
    other = chat(
        ("What is in order B-7?", [("find_order", {"number": "B-7"}, {"item": "green teapot"})], "A green teapot.")
    )
    out, logs = drafted(tmp_path, GOOD, other)

    assert len(Suite([out]).names("*")) == 2
    assert scores(out, logs) == [1.0, 1.0]


def test_a_session_without_a_name_is_of_the_named_task_that_begins_alike(tmp_path: Path) -> None:
    named = {**GOOD, "metadata": {"scenario": "kettle"}}
    out, logs = drafted(tmp_path, GOOD, named)
    assert (list(Suite([out]).names("*")), scores(out, logs)) == (["kettle"], [1.0, 1.0])


def test_a_user_who_speaks_again_before_the_agent_answers_is_found_by_all_that_was_said(tmp_path: Path) -> None:
    twice = chat(("Please cancel order A-1042.", [FOUND, CANCELLED], "Order A-1042 is cancelled."))
    twice["messages"].insert(3, {"role": "user", "content": "Be quick."})
    other = chat(("Please cancel order A-1042.", [("find_order", {"number": "A-1042"}, {"id": "x"})], "It is x."))
    out, logs = drafted(tmp_path, twice, other)
    assert scores(out, logs) == [1.0, 1.0]


def test_a_draft_lints_clean_and_its_solution_is_on_the_tape(tmp_path: Path) -> None:
    out, _ = drafted(tmp_path, GOOD, BAD)
    suite = Suite([out])

    rules = {item.rule for item in (*lint(suite, suite.names("*")), *unanswered(suite, suite.names("*")))}

    assert not rules


def test_acting_calls_are_asked_for_with_values_that_the_log_looked_up(tmp_path: Path) -> None:
    out, _ = drafted(tmp_path, GOOD)
    (scenario,) = yaml.safe_load(out.read_text())["scenarios"]

    asked = next(item for item in scenario["milestones"] if item.get("tool") == "cancel_order")

    assert asked["arguments"] == {"id": {"exact": "ord_77f3"}}
    assert scenario["reference"][0]["turns"][0]["calls"][1]["arguments"] == {"id": "$order.id"}


def test_a_small_number_that_a_reply_reports_has_to_be_reported(tmp_path: Path) -> None:
    cold = ("get_temperature", {"city": "Oslo"}, {"temp": -3})
    texts = ("It is -3 °C in Oslo.", "Oslo is at minus three degrees now.", "It is 3 °C in Oslo.", "I looked at Oslo.")
    out, logs = drafted(tmp_path, *(chat(("How cold is it in Oslo?", [cold], text)) for text in texts))
    assert [score == 1.0 for score in scores(out, logs)] == [True, True, False, False]


def test_tools_that_act_and_were_not_called_are_suggested_as_minefields(tmp_path: Path) -> None:
    out, _ = drafted(tmp_path, GOOD, BAD)

    assert re.search(r"^  # - \{id: called_refund, tool: refund\}$", out.read_text(), re.MULTILINE)


def test_the_session_with_the_highest_reward_is_the_solution(tmp_path: Path) -> None:
    worse, better = {**BAD, "reward": 0.0}, {**GOOD, "reward": 1.0}
    path = tmp_path / "tau.json"
    rows: list[dict[str, Any]] = [
        {"task_id": 3, "trial": n, "reward": item["reward"], "info": {}, "traj": item["messages"]}
        for n, item in enumerate((worse, better))
    ]
    path.write_text(json.dumps(rows))
    out = tmp_path / "mine.yaml"

    draft_logs(sessions_in([path], "tau-bench", Suite([]), print), Suite([]), out, "mine")

    assert Suite([out]).get("tau_bench_3").tools == ("find_order", "cancel_order")


def test_two_sessions_that_were_answered_otherwise_share_a_tape(tmp_path: Path) -> None:
    later = ("find_order", {"number": "A-1042"}, {"id": "ord_99aa", "item": "kettle"})
    again = chat(
        ("Cancel my kettle, order A-1042.", [later, ("cancel_order", {"id": "ord_99aa"}, "ok")], "Cancelled it.")
    )
    out, logs = drafted(tmp_path, GOOD, again)

    assert scores(out, logs) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([1, 2], {"type": "integer"}),
        ([1, 2.5], {"type": "number"}),
        ([1, "x", None], {"type": ["integer", "null", "string"]}),
        ([["a"], []], {"type": "array", "items": {"type": "string"}}),
        (
            [{"a": 1}, {"b": True}],
            {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}},
        ),
    ],
)
def test_types_are_merged_over_all_calls(values: list[Any], schema: dict[str, Any]) -> None:
    assert merged(values) == schema


def test_a_definition_stays_as_far_as_calls_keep_to_it() -> None:
    defined = {
        "properties": {"a": {"type": "integer", "description": "one"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }

    found = input_schema([{"a": 1}, {"a": 2, "b": 3, "c": "x"}], defined)

    assert found["properties"] == {
        "a": {"type": "integer", "description": "one"},
        "b": {"type": "integer"},
        "c": {"type": "string"},
    }
    assert found["required"] == ["a"]


NUMBER: dict[str, Any] = {"number": {"type": "integer"}}
LIT: dict[str, Any] = {"content": [{"type": "text", "text": "lamp 2 is lit"}]}


def listed(name: str, description: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"kind": "tool", "name": name, "description": description, "inputSchema": schema, **more}


LAMPS: tuple[dict[str, Any], ...] = (
    {"kind": "server", "tape": 1, "name": "lamps", "version": "1"},
    listed("get-lamp", "Tell if a lamp is lit.", NUMBER, reads=True),
    listed("set_lamp", "Switch a lamp on or off.", {**NUMBER, "lit": {"type": "boolean"}}),
    {"kind": "call", "tool": "set_lamp", "arguments": {"number": 2, "lit": True}, "result": LIT},
)


def lamps(folder: Path) -> Path:
    path = folder / "lamps.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LAMPS))
    return path


def test_a_tape_becomes_a_scenario_that_can_be_done_and_lints_clean(tmp_path: Path) -> None:
    tape, out = lamps(tmp_path), tmp_path / "lamps.yaml"

    made = draft_tape(tape, Suite([]), out, "lamps")

    assert made.holds
    assert is_tape(tape)
    suite = Suite([out])
    assert not [*lint(suite, suite.names("*"))]
    scenario = suite.get("lamps")
    assert "witch a lamp on or off" in scenario.user.opening
    assert scenario.clock.now > 1.7e9


def test_the_documented_scenario_over_a_tape_loads_and_lints_clean(tmp_path: Path) -> None:
    lamps(tmp_path)
    page = (DOCS / "worlds.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- recorded -->\n```yaml\n(.*?)```", page, re.DOTALL)
    assert found
    (tmp_path / "doc.yaml").write_text(found[1])
    suite = Suite([tmp_path / "doc.yaml"])

    assert not [*lint(suite, suite.names("*")), *unanswered(suite, suite.names("*"))]


def test_a_folder_of_logs_in_three_formats_is_drafted_and_graded_by_commands(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(GOOD))
    use = {"type": "tool_use", "id": "1", "name": "refund", "input": {"amount": 9999}}
    bad = [
        {"role": "user", "content": "Please cancel order A-1042."},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]},
        {"role": "assistant", "content": "Order A-1042 is cancelled."},
    ]
    (folder / "b.json").write_text(json.dumps({"messages": bad}))
    answer = {"name": "find_order", "response": {"item": "green teapot"}}
    other = [
        {"role": "user", "parts": [{"text": "What is in order B-7?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find_order", "args": {"number": "B-7"}}}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
        {"role": "model", "parts": [{"text": "It is a green teapot."}]},
    ]
    (folder / "c.json").write_text(json.dumps({"contents": other}))
    (folder / "package.json").write_text('{"name": "mine"}')
    out, imported = tmp_path / "mine.yaml", tmp_path / "imported"

    made = CliRunner().invoke(new, ["--from", str(folder), "-o", str(out)])
    read = CliRunner().invoke(import_, ["auto", str(folder), "-o", str(imported)])
    report = grade_many(sorted(imported.iterdir()), SuiteFinder((out,)), jobs=1, keep=False)

    assert made.exit_code == 0, made.output
    assert "package.json: has the marks of no format" in made.output
    assert read.exit_code == 0, read.output
    assert [item.value("toolsandbox.score") for item in report.sessions] == [1.0, 0.0, 1.0]


def test_a_tape_of_the_drafts_can_be_read_by_itself(tmp_path: Path) -> None:
    drafted(tmp_path, GOOD, BAD)

    tape = read_tape(tmp_path / "mine.tape.jsonl")

    assert [*tape.tools] == ["find_order", "cancel_order", "refund"]
    assert len(tape.calls) == 3
