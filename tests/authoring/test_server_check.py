"""Checks of servers: what is found in a list and in answers, what is not, and a comparison of two versions."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest
from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from sandbox_mcp.app.authoring.server_check.findings import findings, names_alike
from sandbox_mcp.app.authoring.server_check.seen import SeenServer, seen_of
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds.recorded import TapeTool
from sandbox_mcp.play.server.app import serving_app
from sandbox_mcp.play.session.upstream import Upstream
from tests.each import each

LAMPS = Path(__file__).parent.parent / "worlds" / "live" / "lamp_server.py"
GOOD: dict[str, Any] = {
    "name": "get_lamp",
    "description": "Tell whether the lamp of this number is lit.",
    "inputSchema": {"type": "object", "properties": {"number": {"type": "integer", "description": "Which lamp."}}},
    "annotations": {"readOnlyHint": True},
}


def found(*tools: dict[str, Any], **more: Any) -> set[str]:
    listed = [TapeTool(tool["name"], tool) for tool in tools]
    return {item.rule for item in findings(SeenServer("here", "lamps", "", listed, **more))}


def other(**changed: Any) -> dict[str, Any]:
    return {**GOOD, "name": "paint_wall", "description": "Paint a wall of the house.", **changed}


def argument(**schema: Any) -> dict[str, Any]:
    return other(inputSchema={"type": "object", "properties": {"tone": schema}})


def test_a_tool_without_faults_has_no_finding():
    assert found(GOOD) == set()


@each(
    ("tools", "rule"),
    [
        ([other(name="paint wall!")], "name"),
        ([GOOD, GOOD], "name_twice"),
        ([other(description="")], "no_description"),
        ([other(description="Paints")], "short_description"),
        ([GOOD, other(description=GOOD["description"])], "same_description"),
        ([other(description="Paint a wall.\n\nArgs:\n    number: Which.\n    hue: What.\n")], "untrue_description"),
        ([GOOD, {**GOOD, "name": "get_lamp_now", "description": "Tell it at this moment."}], "confusable_names"),
        ([argument(description="The tone.")], "untyped_argument"),
        ([argument(type="string")], "undescribed_argument"),
        ([other(annotations=None)], "no_annotations"),
        ([other(annotations={"readOnlyHint": True, "destructiveHint": True})], "contradicting_annotations"),
        ([other(name="delete_wall")], "doubtful_annotation"),
    ],
)
def test_a_fault_is_found_and_nothing_else(tools: Sequence[dict[str, Any]], rule: str):
    assert found(*tools) - {"confusable_names" if rule == "name_twice" else "", "same_description"} | {rule} == {rule}
    assert rule in found(*tools)


def test_answers_and_errors_are_looked_at():
    needs = other(
        inputSchema={
            "type": "object",
            "properties": {"tone": {"type": "string", "description": "x"}},
            "required": ["tone"],
        }
    )
    text = {"content": [{"type": "text", "text": "it went wrong"}], "isError": True}
    assert found(needs, refused={"paint_wall": text}) == {"silent_error"}
    assert found(needs, refused={"paint_wall": {**text, "protocol": True}}) == {"silent_error", "protocol_error"}
    assert found(GOOD, answers={"get_lamp": [{"content": [{"type": "text", "text": '{"lit": true}'}]}]}) == {
        "unstructured_result"
    }
    assert found(GOOD, answers={"get_lamp": [{"content": [{"type": "text", "text": "x" * 50_000}]}]}) == {
        "unbounded_result"
    }


@each(
    ("text", "schema"),
    [
        ("Paint a wall in this TONE.", {"type": "string"}),
        ("Paint a wall in these tones.", {"type": "string"}),
        ("Paint a wall.", {"type": "array", "items": {"type": "object", "properties": {"r": {"description": "Red."}}}}),
        ("Paint a wall.", {"anyOf": [{"type": "null"}, {"type": "string", "description": "The tone."}]}),
    ],
)
def test_an_argument_is_described_in_any_spelling_and_by_its_parts(text: str, schema: dict[str, Any]):
    assert found(other(description=text, inputSchema={"type": "object", "properties": {"tone": schema}})) == set()


def test_words_that_all_names_share_make_none_confusable():
    names = ["browser_go", "browser_go_back", "browser_click"]
    assert "confusable_names" not in found(*(other(name=name, description=f"{name} it now.") for name in names))


def test_what_fails_before_it_looks_at_the_call_is_no_silent_error():
    tone = {"type": "string", "description": "x"}
    schema = {"properties": {"tone": tone}, "required": ["tone"]}
    needs = [other(name=name, description=f"{name} a wall.", inputSchema=schema) for name in ("paint", "wash")]
    failing = {"content": [{"type": "text", "text": "no browser here"}], "isError": True}
    vague = {"content": [{"type": "text", "text": "invalid request"}], "isError": True}
    assert found(*needs, refused={"paint": failing, "wash": failing}) == set()
    assert found(*needs, refused={"paint": failing}, failing="no browser here") == set()
    assert found(*needs, refused={"paint": vague, "wash": vague}) == {"silent_error"}


def test_an_argument_with_a_default_may_be_left_out():
    tone = {"type": "string", "description": "x", "default": "blue"}
    lenient = other(inputSchema={"type": "object", "properties": {"tone": tone}, "required": ["tone"]})
    assert found(lenient, refused={"paint_wall": {"content": [{"type": "text", "text": "done"}]}}) == set()


def test_a_list_that_changes_is_found():
    assert found(GOOD, again=[TapeTool("get_lamp", {**GOOD, "description": "Other."})]) == {"changing_list"}


def test_names_are_compared_by_their_words():
    assert names_alike("getLampState", "get_lamp_state") == 1.0
    assert names_alike("a", "b") == 0.0


def test_a_real_server_is_seen_in_both_eras_and_nothing_acts():
    seen = seen_of(Upstream(command=(sys.executable, str(LAMPS))))
    assert set(seen.eras) >= {"2026-07-28", "2025-11-25"}
    assert set(seen.refused) == {"get_lamp"}
    assert {item.rule for item in findings(seen)} >= {"no_annotations"}


def test_the_command_tells_it_and_exits_by_a_limit():
    args = ["check-server", "--json", "--max-findings", "0", "--", sys.executable, str(LAMPS)]
    done = CliRunner().invoke(group, args)
    assert done.exit_code == 1, done.output
    [server] = json.loads(done.stdout)["servers"]
    assert server["tools"] == 4
    assert {"rule", "fact", "reason", "source", "tools"} <= server["findings"][0].keys()


def test_a_tape_is_only_read():
    tape = Path(__file__).parent.parent / "worlds" / "recorded" / "lamps.jsonl"
    done = CliRunner().invoke(group, ["check-server", str(tape)])
    assert done.exit_code == 0, done.output
    assert "lamps: 3 tools" in done.stdout


def test_two_versions_are_compared_over_the_same_wishes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The endpoint chooses the first tool whose description has a word of the wish, as a hasty model does."""

    async def answer(request: Request) -> JSONResponse:
        body = await request.json()
        asked = body["messages"][-1]["content"]
        if not body.get("tools"):
            text = asked[asked.index('"description": "') + 16 :].split('"')[0]
            message: dict[str, Any] = {
                "role": "assistant",
                "content": json.dumps([f"Please: {text}", f"I want this: {text}"]),
            }
        else:
            names = [tool["function"]["name"] for tool in body["tools"] if tool["function"]["description"] in asked]
            name = (names or [body["tools"][0]["function"]["name"]])[0]
            call = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return JSONResponse({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}})

    def tape(name: str, tools: Sequence[dict[str, Any]]) -> Path:
        lines: list[Any] = [{"kind": "server", "tape": 1, "name": name}, *({"kind": "tool", **tool} for tool in tools)]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return tmp_path / f"{name}.jsonl"

    good = tape("good", [GOOD, other()])
    bad = tape("bad", [other(description="Does something."), {**GOOD, "description": "Does something."}])
    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving_app(app)) as base,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{base}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        done = CliRunner().invoke(group, ["check-server", "--json", "--model", "m", "--against", str(bad), str(good)])
    assert done.exit_code == 0, done.output
    choices = json.loads(done.stdout)["choices"]
    assert choices["shares"] == {str(good): 1.0, str(bad): 0.5}
    low, high = choices["difference_interval"]
    assert low <= -0.5 <= high <= 0


def test_a_server_that_does_not_start_is_told_with_its_last_words():
    made = CliRunner().invoke(group, ["check-server", "--", sys.executable, "-c", "raise SystemExit('no lamps today')"])
    assert made.exit_code
    assert "it says last: no lamps today" in f"{made.stderr}{made.exception}"
