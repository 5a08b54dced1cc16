"""MTU-Bench's rows, played: GPT-4's published answers through the row runner, and what a row offers and records."""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from sandbox_clients.base import AgentTurn
from sandbox_clients.function import Asked
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.importers import importer
from sandbox_grader.papers.mtu_bench import MtuBench
from sandbox_grader.papers.mtu_bench.importer import dialogues, read_history

from sandbox_mcp.app.benchmarks.mtu_bench.instructions import instructions
from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowSuite
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.script import ScriptedModel, parse_script
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.evaluate import evaluate
from sandbox_mcp.engine.trajectory import Trajectory, parse_trajectory, read_trajectory, to_line
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.each import each
from tests.grader.mtu_bench.building import asking, react, row, write
from tests.run.runs import EXITING

ON: Any = {"lamp_on": {"room": "hall"}}
OFF: Any = {"lamp_off": {"room": "hall"}}
SETTINGS = ("S-S", "S-M", "M-S", "M-M")
LAMPS: list[dict[str, Any]] = [
    {
        "name": "lamp_on",
        "description": "Light a lamp.",
        "required_parameters": [{"name": "room", "type": "string", "enum": ["hall", "attic"]}],
        "optional_parameters": [{"name": "level", "type": "integer"}],
        "result_parameters": [{"name": "lamp_id"}, {"name": "power"}],
    },
    {"name": "lamp_off", "description": "Put it out.", "required_parameters": ["room"], "optional_parameters": {}},
]


def rows_in(folder: Path, *rows: Any) -> RowSuite:
    return RowSuite([write(folder / "rows_eval.jsonl", *rows)])


def details(trajectories: Sequence[Trajectory], mode: Any) -> dict[str, Any]:
    """What the metric says of every row, by the row's id."""
    metric = MtuBench()
    verdicts = [metric.grade(Subject(found, found.started.reference), mode) for found in trajectories]
    return {detail["id"]: detail for verdict in verdicts for detail in verdict.details}


def logs(folder: Path) -> list[Trajectory]:
    return list(map(read_trajectory, find_logs([folder])))


def prompts(suite: RowSuite) -> Iterator[tuple[str, tuple[str, str]]]:
    """Every row's label, and what an agent that answers in text is told and asked."""
    for name in suite.names():
        found = suite.get(name).rows
        for turn, _ in found.rows:
            told = instructions(turn, "text", many=found.form[-1] == "M", history=True)
            yield turn.label, (told, turn.question.user or turn.text)


@pytest.fixture(scope="module")
def material(benchmark_data: Path) -> Path:
    return benchmark_data / "mtu_bench"


@pytest.mark.parametrize("setting", SETTINGS)
def test_recorded_answers_played_row_by_row_get_what_their_import_gets(
    setting: str, material: Path, tmp_path: Path
) -> None:
    bench = material / "benchmark" / f"{setting}_eval.jsonl"
    answered = [bench, material / "responses" / f"{setting}_gpt4_response.jsonl"]
    recorded = {row.label: said.text for found in dialogues(answered) for row, said in found.rows if said}
    suite = RowSuite([bench])
    known: dict[tuple[str, str], deque[str]] = defaultdict(deque)
    for label, asked in prompts(suite):
        known[asked].append(recorded[label])

    async def parrot(asked: Asked) -> str:
        assert await asked.tools.list() == ()
        return known[asked.instructions, asked.said[-1].text].popleft()

    evaluate(parrot, suite, row_answers="text", out=tmp_path, jobs=1)
    imported = [
        parse_trajectory("".join(map(to_line, found.events)).encode(), found.name)
        for found in importer("mtu")(answered)
    ]
    assert not any(known.values())
    for mode in get_args(Mode):
        wanted, found = details(imported, mode), details(logs(tmp_path), mode)
        assert len(wanted) == len(recorded)
        assert found == wanted


@pytest.mark.parametrize("setting", [*SETTINGS, "OOD"])
def test_the_ground_truth_called_over_the_tools_is_right_in_every_row(setting: str, material: Path) -> None:
    report = evaluate("reference", RowSuite([material / "benchmark" / f"{setting}_eval.jsonl"]))
    assert report.metric == "mtu_bench.right"
    assert report.score == 1.0


def test_an_agent_that_refuses_is_right_where_nothing_is_to_be_called(material: Path) -> None:
    report = evaluate("refuse", RowSuite([material / "benchmark" / "S-S_eval.jsonl"]))
    assert report.score == pytest.approx(26 / 104)


def test_a_row_offers_its_own_tools_by_its_own_schema(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def agent(asked: Asked) -> str:
        seen.extend(await asked.tools.list())
        return "Nothing to do."

    evaluate(agent, rows_in(tmp_path, row("S-S_0", ON, asking("Light the hall.", tools=LAMPS))))
    assert [tool.name for tool in seen] == ["lamp_on", "lamp_off"]
    assert seen[0].input_schema["properties"]["room"] == {"type": "string", "enum": ["hall", "attic"]}
    assert seen[0].input_schema["required"] == ["room"]
    assert seen[0].description == "Light a lamp. Returns: lamp_id, power."


def test_a_call_returns_references_to_what_the_file_does_not_know(tmp_path: Path) -> None:
    got: list[Any] = []

    async def agent(asked: Asked) -> str:
        got.append((await asked.tools.call("lamp_on", {"room": "hall", "level": "9"})).value)
        return "Done."

    evaluate(agent, rows_in(tmp_path, row("S-M_0", {**ON, **OFF}, asking("Light it.", many=True, tools=LAMPS))))
    assert got == [{"lamp_id": "lamp_on.lamp_id", "power": "lamp_on.power"}]


HISTORY = (
    "user: Light the hall.\nfunction: \nThought: So be it.\nAction: lamp_on \nAction Input: {'room': 'hall'}\n"
    "observation: : {'lamp_id': 7}\nassistant: : It is lit.\n"
)


def two_turns() -> list[dict[str, Any]]:
    first = row("M-S_0_0", ON, asking("Light the hall.", tools=LAMPS))
    return [first, row("M-S_0_1", {"": {}}, asking("Thanks.", history=HISTORY, tools=LAMPS))]


def test_a_call_that_the_file_observed_returns_what_it_observed(tmp_path: Path) -> None:
    got: list[str] = []

    async def agent(asked: Asked) -> str:
        if "Light" in asked.said[-1].text:
            outputs = [await asked.tools.call("lamp_on", {"room": room}) for room in ("hall", "attic")]
            got.extend(output.text for output in outputs)
        return "Done."

    evaluate(agent, rows_in(tmp_path, *two_turns()))
    assert got == [
        '{"result":"{\'lamp_id\': 7}"}',
        '{"result":{"lamp_id":"lamp_on.lamp_id","power":"lamp_on.power"}}',
    ]


def test_every_row_is_asked_on_its_own_history(tmp_path: Path) -> None:
    asked_of: list[tuple[str, bool, int]] = []

    async def agent(asked: Asked) -> str:
        asked_of.append((asked.said[-1].text, "It is lit." in asked.instructions, len(asked.said)))
        return "Done."

    evaluate(agent, rows_in(tmp_path, *two_turns()), jobs=1)
    assert asked_of == [("Light the hall.", False, 1), ("Thanks.", True, 1)]


def test_in_a_single_tool_row_the_first_calls_are_the_answer(tmp_path: Path) -> None:
    async def agent(asked: Asked) -> AgentTurn:
        await asked.tools.call("lamp_on", {"room": "hall"})
        await asked.tools.call("lamp_off", {"room": "hall"})
        return AgentTurn("Lit, and out again.", {"model": "m"})

    report = evaluate(agent, rows_in(tmp_path, row("S-S_0", ON)), out=tmp_path / "run")
    assert report.score == 1.0
    (log,) = logs(tmp_path / "run")
    assert [event.name for event in log.events if hasattr(event, "name")] == ["lamp_on"]
    assert log.events[-1].meta == {"row": "S-S_0", "model": "m", "calls_beyond": 1}


def test_in_a_multi_tool_row_every_call_counts(tmp_path: Path) -> None:
    async def agent(asked: Asked) -> str:
        await asked.tools.call("lamp_on", {"room": "hall"})
        await asked.tools.call("lamp_off", {"room": "hall"})
        return "Both done."

    question = asking("Light it and put it out.", many=True)
    report = evaluate(agent, rows_in(tmp_path, row("S-M_0", {**ON, **OFF}, question)))
    assert report.score == 1.0


def test_an_agent_that_breaks_says_nothing_about_its_dialogue_and_is_asked_again(tmp_path: Path) -> None:
    suite, tries = rows_in(tmp_path, *two_turns()), list[str]()

    async def agent(asked: Asked) -> str:
        tries.append(asked.said[-1].text)
        if len(tries) == 2:
            raise RuntimeError("out of order")
        await asked.tools.call("lamp_on", {"room": "hall"}) if "Light" in tries[-1] else None
        return "Done."

    first = evaluate(agent, suite, out=tmp_path / "run")
    [reason] = [item.reason for item in first.sessions]
    assert str(reason).startswith(
        "incomplete: the session ended with 'agent_failed' (the agent raised RuntimeError: out of order (test_rows.py, "
    )
    assert evaluate(agent, suite, out=tmp_path / "run").score == 1.0
    assert len(tries) == 4
    evaluate(agent, suite, out=tmp_path / "run")
    assert len(tries) == 4


def test_an_agent_that_never_answers_is_given_up(tmp_path: Path) -> None:
    import anyio

    async def agent(asked: Asked) -> str:
        await anyio.sleep_forever()
        return ""

    report = evaluate(agent, rows_in(tmp_path, row("S-S_0", ON)), max_turn_seconds=0.01)
    assert report.sessions[0].detail == "the agent did not answer within 0.01 seconds"


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a_eval.jsonl", row("S-S_0", ON))
    suite = RowSuite([tmp_path, path])
    assert [len(suite.get(name).rows.rows) for name in suite.names()] == [1]


def test_an_agent_that_exits_ends_its_own_dialogue_alone(tmp_path: Path) -> None:
    report = evaluate(EXITING, rows_in(tmp_path, row("S-S_0", ON)))
    assert str(report.sessions[0].detail).startswith("the agent raised SystemExit: 3 (runs.py, line ")


SCRIPT = parse_script("steps: [{calls: [{tool: lamp_on, arguments: {room: hall}}]}, {say: It is lit.}]")
TEXT = parse_script(json.dumps({"steps": [{"say": react(("lamp_on", {"room": "hall"}))}]}))


@each("transport", ["memory", "http"])
def test_a_model_is_asked_once_for_a_single_tool_row_and_what_it_took_is_kept(transport: Any, tmp_path: Path) -> None:
    requests: list[Any] = []
    with running(Endpoint(ScriptedModel(SCRIPT), requests.append)) as url:
        agent = agent_named("openai", AgentSettings(EndpointSettings("m", url)))
        report = evaluate(agent, rows_in(tmp_path, row("S-S_0", ON)), transport=transport)
    assert report.score == 1.0
    assert [tool["function"]["name"] for tool in requests[0]["tools"]] == ["lamp_on", "lamp_off"]
    assert (len(requests), report.spent.agent.requests) == (1, 1)


def test_a_model_takes_the_history_for_its_own_turns_and_calls(tmp_path: Path) -> None:
    requests: list[Any] = []
    with running(Endpoint(ScriptedModel(parse_script("steps: [{say: You are welcome.}]")), requests.append)) as url:
        agent = agent_named("openai", AgentSettings(EndpointSettings("m", url)))
        evaluate(agent, rows_in(tmp_path, *two_turns()), jobs=1)
    system, *said = requests[1]["messages"]
    assert "conversation so far" not in system["content"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant", "user"]
    assert said[1]["tool_calls"][0]["function"]["name"] == "lamp_on"
    assert [message["content"] for message in said[2:]] == ["{'lamp_id': 7}", "It is lit.", "Thanks."]


def test_a_history_that_calls_what_is_not_offered_is_told_in_words(tmp_path: Path) -> None:
    requests: list[Any] = []
    past = HISTORY.replace("lamp_on", "lamp_sell")
    with running(Endpoint(ScriptedModel(parse_script("steps: [{say: Well.}]")), requests.append)) as url:
        agent = agent_named("openai", AgentSettings(EndpointSettings("m", url)))
        evaluate(agent, rows_in(tmp_path, row("M-S_0_1", {"": {}}, asking("Thanks.", history=past))), jobs=1)
    assert "Action: lamp_sell" in requests[0]["messages"][0]["content"]
    assert len(requests[0]["messages"]) == 2


def test_a_model_that_answers_in_text_is_offered_no_tools_but_told_of_them(tmp_path: Path) -> None:
    requests: list[Any] = []
    with running(Endpoint(ScriptedModel(TEXT), requests.append)) as url:
        agent = agent_named("openai", AgentSettings(EndpointSettings("m", url)))
        report = evaluate(agent, rows_in(tmp_path, row("S-S_0", ON)), row_answers="text")
    assert report.score == 1.0
    assert "tools" not in requests[0]
    assert '"name": "lamp_off"' in requests[0]["messages"][0]["content"]


def test_rows_have_no_variants(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="rows have no variants; expected 'base' alone, got all_tools"):
        evaluate("refuse", rows_in(tmp_path, row("S-S_0", ON)), variants=("all_tools",))


def test_rows_have_no_mode(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="rows are asked on the ground truth's history anyway; leave out --mode prefix"):
        evaluate("refuse", rows_in(tmp_path, row("S-S_0", ON)), mode="prefix")


def test_a_folder_without_rows_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"holds no file of rows; expected files such as M-S_eval\.jsonl, or API-Bank's"):
        RowSuite([tmp_path]).names()


# -- hard cases ---------------------------------------------------------------------------------------------------

SEVEN = {f"p{number}": 1 for number in range(7)}
FIVE = {f"lamp_{number}": {} for number in range(5)}
ODD = [{"name": "bbb", "description": "Light a lamp.", "required_parameters": ["room"], "optional_parameters": {}}]
CLASSES = {
    "hard:many_parameters": [row("S-S_0", {"lamp_on": SEVEN})],
    "hard:nonsense_names": [row("S-S_0", {"bbb": {"room": "hall"}}, asking("Light it.", tools=ODD))],
    "hard:choices": [row("S-S_0", ON, asking("Light the hall.", tools=LAMPS))],
    "hard:no_tool": [row("S-S_0", {"": {}})],
    "hard:many_tools": [row("S-M_0", FIVE)],
    "hard:inherited_parameters": [
        row("M-S_0_0", {"": {}}, asking("Is the hall dark?")),
        row("M-S_0_1", ON, asking("Light it.", history="user: Is the hall dark?\nassistant: : It is.\n")),
    ],
}


@each("tag", CLASSES)
def test_a_hard_case_can_be_selected_by_its_class(tag: str, tmp_path: Path) -> None:
    easy = row("S-S_7", ON, asking("Light the hall."))
    suite = RowSuite([write(tmp_path / "hard_eval.jsonl", *CLASSES[tag], easy)])
    assert suite.select(tag).names() == (CLASSES[tag][0]["id"][:5],)
    assert suite.select("hard:*").names() == suite.select(tag).names()


def test_both_forms_of_a_history_are_read() -> None:
    other = 'User:  Light it.\nAction: {"lamp_on": {"room": "hall"}, "wait": {}}\nAssistant:  It is\nlit.\nUser: Well.'
    (turn,) = read_history(HISTORY)
    assert (turn.user, turn.calls, turn.observed, turn.reply) == (
        "Light the hall.", (("lamp_on", {"room": "hall"}),), "{'lamp_id': 7}", "It is lit.",
    )  # fmt: skip
    first, second = read_history(other)
    assert [name for name, _ in first.calls] == ["lamp_on", "wait"]
    assert (first.reply, second.user, second.calls) == ("It is\nlit.", "Well.", ())


# -- API-Bank -----------------------------------------------------------------------------------------------------

LAMP_CLASS = """
import nothing_that_exists

class LampOn(Base):
    description = "Lights a lamp."
    input_parameters = {"room": {"type": "str", "description": "Which one."}, "levels": {"type": "list(int)"}}
    output_parameters = {"lamp_id": {"type": "int"}}
    database = open("/nowhere")
"""
TALK = [
    {"role": "User", "text": "Hello."},
    {"role": "AI", "text": "Hello. What can I do?"},
    {"role": "User", "text": "Light the hall."},
    {"role": "API", "api_name": "LampOn", "param_dict": {"room": "hall"}, "result": {"output": 7, "exception": None}},
    {"role": "API", "api_name": "Report", "param_dict": {}, "result": {"output": None, "exception": "no report"}},
    {"role": "AI", "text": "It is lit."},
    {"role": "User", "text": "Thanks."},
]


def api_bank(folder: Path, *lines: Any) -> Path:
    (folder / "apis").mkdir()
    (folder / "apis" / "lamp_on.py").write_text(LAMP_CLASS, "utf-8")
    (folder / "apis" / "broken.py").write_text("class Nothing(:", "utf-8")
    return write(folder / "LampOn-level-1-1.jsonl", *(lines or TALK)).parent


def test_a_conversation_of_api_bank_is_rows_of_one_call_each(tmp_path: Path) -> None:
    found = RowSuite([api_bank(tmp_path)]).get("LampOn-level-1-1").rows
    rows = [turn for turn, _ in found.rows]
    assert (found.setting, found.form) == ("API-Bank", "M-S")
    assert [(turn.question.user, dict(turn.answer)) for turn in rows] == [
        ("Hello.", {"": {}}), ("Light the hall.", {"LampOn": {"room": "hall"}}), ("Thanks.", {"": {}}),
    ]  # fmt: skip
    past = read_history(rows[2].question.history)
    assert past[1].calls == (("LampOn", {"room": "hall"}), ("Report", {}))
    assert (past[0].reply, past[1].reply) == ("Hello. What can I do?", "It is lit.")


def test_api_banks_tools_are_read_from_its_classes_and_nothing_is_run(tmp_path: Path) -> None:
    found = RowSuite([api_bank(tmp_path)]).get("LampOn-level-1-1").rows
    (tool,) = found.rows[0][0].question.tools or ()
    assert (tool.name, tool.description, tool.results) == ("LampOn", "Lights a lamp.", ("lamp_id",))
    assert tool.schema["properties"] == {
        "room": {"type": "string", "description": "Which one."}, "levels": {"type": "array"},
    }  # fmt: skip


def test_api_bank_fills_its_columns_of_table_5(tmp_path: Path) -> None:
    folder = api_bank(tmp_path)
    code, _, told = invoke("run", "--rows", folder, "--agent", "reference", "--out", tmp_path / "run", "--quiet")
    assert code == 0, told
    code, out, _ = invoke("table", "mtu-bench/table5", tmp_path / "run", "--json", "--quiet")
    (told_of,) = json.loads(out)
    cells = told_of["rows"][0]["cells"]
    assert [cells[f"API-Bank {name}"]["value"] for name in ("TS", "PS", "SR", "Avg.")] == [100.0] * 4


def test_a_line_of_api_bank_that_lacks_something_is_named(tmp_path: Path) -> None:
    folder = api_bank(tmp_path, TALK[0], {"role": "API", "api_name": "LampOn"})
    with pytest.raises(ImportFormatError, match=r"LampOn-level-1-1\.jsonl:2: .*param_dict"):
        RowSuite([folder]).names()


# -- the command --------------------------------------------------------------------------------------------------


def invoke(*arguments: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_rows_are_run_resumed_graded_and_put_into_tables(tmp_path: Path) -> None:
    bench = write(tmp_path / "S-S_eval.jsonl", row("S-S_0", ON), row("S-S_1", {"": {}}), row("S-S_2", OFF))
    playing = ("run", "--rows", bench, "--agent", "reference", "--out", tmp_path / "run", "--json", "--quiet")
    code, out, _ = invoke(*playing, "S-S_0")
    assert (code, json.loads(out)["counts"]["scored"]) == (0, 1)
    code, out, _ = invoke(*playing)
    assert (code, json.loads(out)["families"]["mtu_bench"]["S-S"]["PS"]) == (0, 100.0)
    code, _, told = invoke("grade", tmp_path / "run", "--metric", "mtu_bench.right", "--quiet")
    assert (code, told) == (0, "")  # rows are no scenarios that could be named
    code, out, _ = invoke("grade", tmp_path / "run", "--metric", "mtu_bench.right", "--json", "--mode", "compat")
    assert json.loads(out)["score"] == 1.0
    code, out, _ = invoke("table", "mtu-bench/table9", f"ours={tmp_path / 'run'}", "--json")
    (told,) = json.loads(out)
    assert told["rows"][0]["cells"]["S-S PS"]["value"] == 100.0


def test_what_cannot_be_selected_or_answered_is_told(tmp_path: Path) -> None:
    bench = write(tmp_path / "S-S_eval.jsonl", row("S-S_0", ON))
    playing = ("run", "--rows", bench, "--agent", "reference", "--out", tmp_path / "run")
    code = CliRunner().invoke(group, [*map(str, playing), "hard:odd"])
    assert isinstance(code.exception, RunError)
    assert str(code.exception) == "no dialogue has a tag 'hard:odd'; known: setting:S-S"
    code = CliRunner().invoke(group, [*map(str, playing), "--row-answers", "text"])
    assert str(code.exception) == "agent 'reference' plays solutions by calls; leave out --row-answers text"


def test_a_run_goes_on_with_the_rows_and_the_form_it_began_with(tmp_path: Path) -> None:
    bench = write(tmp_path / "S-S_eval.jsonl", row("S-S_0", ON))
    playing = ("run", "--rows", bench, "--agent", "refuse", "--out", tmp_path / "run", "--quiet")
    assert invoke(*playing)[0] == 0
    code, _, told = invoke(*playing, "--row-answers", "text")
    assert (code, told) != (0, "")
