"""Importing the benchmark's files: joins, settings, what a session looks like, and what breaks."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers import Imported, importer
from sandbox_grader.papers.mtu_bench import MtuBench

from sandbox_mcp.engine.trajectory import Message, ReferenceCall, SessionEnded, SessionStarted, ToolCall
from tests.each import each
from tests.grader.mtu_bench.building import asking, graded, imported, react, reread, row, says, write
from tests.laws import at_least

ON: Any = {"lamp_on": {"room": "hall"}}
LIGHT = react(("lamp_on", {"room": "hall"}))


def start(session: Imported) -> SessionStarted:
    first = session.events[0]
    assert isinstance(first, SessionStarted)
    return first


def messages(session: Imported, sender: str) -> list[Message]:
    return [event for event in session.events if isinstance(event, Message) and event.sender == sender]


def called(session: Imported) -> list[ToolCall]:
    return [event for event in session.events if isinstance(event, ToolCall)]


def said(session: Imported) -> dict[str, str]:
    """A session's responses by row."""
    return {message.meta["row"]: message.content for message in messages(session, "agent")}


def losses(*sessions: Imported) -> list[str]:
    """What was lost, apart from what every import of the benchmark loses."""
    always = ("no call was executed", "taken to change state")
    return [f"{x.where}: {x.what}" for s in sessions for x in s.losses if not x.what.startswith(always)]


# -- a session ----------------------------------------------------------------------------------------------------


def test_a_dialogue_of_one_turn(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON, asking("Light the hall, please."))], [says("S-S_0", LIGHT)])
    assert session.name == "S-S_0"
    assert [message.content for message in messages(session, "user")] == ["Light the hall, please."]
    assert said(session) == {"S-S_0": LIGHT}
    call = called(session)[0]
    assert (call.name, call.tool, call.arguments, call.error) == ("lamp_on", "lamp_on", {"room": "hall"}, None)
    assert call.meta["result_missing"] is True
    assert isinstance(session.events[-1], SessionEnded)
    assert losses(session) == []


def test_its_start_tells_setting_ground_truth_tools_and_model(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", {" lamp_on": {"room": "hall"}})], [says("S-S_0", LIGHT, "gpt")])
    started = start(session)
    assert started.agent == {"model": "gpt"}
    assert [tool.name for tool in started.tools] == ["lamp_on", "lamp_off"]
    assert started.tools[0].input_schema == {"type": "object", "properties": {"room": {}}, "required": ["room"]}
    assert started.reference[0][0].calls == (ReferenceCall(tool="lamp_on", arguments={"room": "hall"}),)
    origin = dict(started.origin or {})
    assert origin.pop("losses")
    assert origin == {
        "format": "mtu", "file": "bench.jsonl", "setting": "S-S", "form": "S-S",
        "rows": [{"id": "S-S_0", "answer": {" lamp_on": {"room": "hall"}}}],
    }  # fmt: skip


def test_the_turns_of_a_dialogue_come_in_order(tmp_path: Path) -> None:
    rows = [row(f"M-S_4_{turn}", {"": {}}, asking(f"Turn {turn}.")) for turn in (10, 2, 0)]
    (session,) = imported(tmp_path, rows, [says(f"M-S_4_{turn}", f"Thought: {turn}") for turn in (2, 0, 10)])
    assert list(said(session)) == ["M-S_4_0", "M-S_4_2", "M-S_4_10"]
    assert [message.content for message in messages(session, "user")] == ["Turn 0.", "Turn 2.", "Turn 10."]
    assert [turn.calls for turn in start(session).reference[0]] == [(), (), ()]


def test_the_conversation_before_is_kept_with_the_turn(tmp_path: Path) -> None:
    question = asking("And off.", history="user: Light it.\nassistant: : It is lit.")
    (session,) = imported(tmp_path, [row("M-S_0_1", {"": {}}, question)], [says("M-S_0_1", "Thought: no")])
    user = messages(session, "user")[0]
    assert (user.content, user.meta["history"]) == ("And off.", "user: Light it.\nassistant: : It is lit.")


@each("history", ["User: Hi.\nAction: {}\nAssistant: Hello.", "user: Hi.\nobservation: \nassistant: : Hello."])
def test_a_conversation_without_a_heading_is_found_as_well(history: str, tmp_path: Path) -> None:
    question = f"These APIs that you can use:[]\n{history}\nUser: Light it."
    (session,) = imported(tmp_path, [row("M-M_0_1", {}, question)], [says("M-M_0_1", "Thought: no")])
    user = messages(session, "user")[0]
    assert (user.content, user.meta["history"]) == ("Light it.", history)


def test_a_question_without_a_turn_is_kept_whole(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON, "Light it.")], [says("S-S_0", LIGHT)])
    assert messages(session, "user")[0].content == "Light it."
    assert any("kept whole" in loss for loss in losses(session))


def test_tools_are_read_from_python_literals_and_wrapped_lists(tmp_path: Path) -> None:
    required = [{"name": "q", "type": "Dict"}]
    optional = [{"name": "n", "type": "float", "description": "How many.", "default": 3.5}]
    described = {"name": "find", "description": 'It\'s a "search".'}
    tools = [described | {"required_parameters": required, "optional_parameters": optional}]
    for written in (repr(tools), json.dumps(tools), json.dumps({"apis": tools})):
        question = f"APIs that you can use:\n{written}\nUser: Find it."
        (session,) = imported(tmp_path, [row("S-S_0", {"": {}}, question)], [says("S-S_0", "Thought: no")])
        (tool,) = start(session).tools
        assert (tool.name, tool.description) == ("find", 'It\'s a "search".')
        assert tool.input_schema == {
            "type": "object",
            "properties": {
                "q": {"type": "object"},
                "n": {"type": "number", "description": "How many.", "default": 3.5},
            },
            "required": ["q"],
        }


def test_optional_parameters_may_be_named_with_their_defaults(tmp_path: Path) -> None:
    tools = [{"name": "find", "required_parameters": {}, "optional_parameters": {"where": "here"}}]
    (session,) = imported(tmp_path, [row("S-S_0", {"": {}}, asking("Hi.", tools=tools))], [says("S-S_0", "no")])
    assert start(session).tools[0].input_schema["properties"] == {"where": {"default": "here"}}


def test_tools_that_only_the_ground_truth_knows_are_added(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", {"blink": {}})], [says("S-S_0", react(("blink", {})))])
    assert called(session)[0].tool == "blink"
    assert any("'blink'" in loss for loss in losses(session))


@each(
    ("response", "names"),
    [
        (react(("lamp_on", {}), ("lamp_off", {})), ["lamp_on", "lamp_off"]),
        ("Action: \"lamp_on\"\nAction Input: {'room': 'hall', 'dim': True}", ["lamp_on"]),
        ("Action:lamp_on Action Input: {}", ["lamp_on"]),
        ("Action: lamp_on\nActionInput: {}", ["lamp_on"]),
        ("Action: None\nAction Input: None", []),
        ("Action: None.", []),
        ("Action: No call, as the room is unknown.\nAction Input: None", []),
        ("Thought: nothing", []),
    ],
)
def test_what_a_reader_takes_for_calls(response: str, names: list[str], tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", response)])
    assert [call.name for call in called(session)] == names
    assert messages(session, "agent")[0].recipient == ("agent" if names else "user")
    assert "fault" not in messages(session, "agent")[0].meta


def test_nested_arguments_are_read_although_the_authors_parser_cannot(tmp_path: Path) -> None:
    response = "Action: lamp_on\nAction Input: {'where': {\"room\": 'Ann\\'s', 'tags': [None, \"it's\"]}} and so on"
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", response)])
    assert called(session)[0].arguments == {"where": {"room": "Ann's", "tags": [None, "it's"]}}


@each("written", ["{room: hall}", "{'room': ", "in the hall", "[1]", "{'room': open('x')}"])
def test_arguments_that_are_none_stay_text(written: str, tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", f"Action: lamp_on\nAction Input: {written}")])
    (call,) = called(session)
    assert (call.arguments, call.raw_arguments) == ({}, written.strip())
    assert call.error is not None
    assert call.error.kind == "invalid_format"


def test_an_action_without_input_is_a_fault(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", "Action: light the hall")])
    assert "light the hall" in messages(session, "agent")[0].meta["fault"]
    assert graded(tmp_path, [row("S-S_0", ON)], [says("S-S_0", "Action: do")], "paper")["S-S"]["errors"]["format"] == 1


def test_a_tool_that_was_not_offered_is_unknown(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", react(("boil", {})))])
    (call,) = called(session)
    assert call.tool is None
    assert call.error is not None
    assert call.error.kind == "unknown_tool"


# -- settings -----------------------------------------------------------------------------------------------------


@each(
    ("answers", "many", "setting"),
    [
        ({"x_0": ON, "x_1": {"": {}}}, False, "S-S"),
        ({"x_0": ON}, False, "S-S"),
        ({"x_0": ON}, True, "S-M"),
        ({"x_0": ON, "x_1": {}}, False, "S-M"),
        ({"x_0": ON, "x_1": {"lamp_on": {}, "lamp_off": {}}}, False, "S-M"),
        ({"x_0_0": ON, "x_0_1": {"": {}}}, True, "M-S"),
        ({"x_0_0": {}, "x_0_1": ON}, False, "M-M"),
        ({"x_0_1": {"": {}}}, False, "M-S"),
        ({"x_0_0": {"": {}}, "x_1_0": {"": {}}}, False, "S-S"),
    ],
)
def test_the_setting_is_computed_from_the_file(
    answers: dict[str, Any], many: bool, setting: str, tmp_path: Path
) -> None:
    rows = [row(id_, answer, asking("Go.", many=many)) for id_, answer in answers.items()]
    sessions = imported(tmp_path, rows, [says(id_, LIGHT) for id_ in answers])
    assert {(start(session).origin or {})["setting"] for session in sessions} == {setting}
    assert {start(session).categories[0] for session in sessions} == {setting}


def test_files_out_of_distribution_mix_their_forms(tmp_path: Path) -> None:
    rows = [
        row("OOD_0_0", {"lamp_on": '{"room": "hall"}'}),
        row("OOD_0_0", {"": "{}"}),
        row("OOD_5_0", {}, asking("Hi.", many=True)),
        row("OOD_5_1", {"lamp_on": {}, "lamp_off": {}}, asking("Both.", many=True)),
    ]
    sessions = imported(tmp_path, rows, [says(item["id"], LIGHT) for item in rows])
    origins = {session.name: start(session).origin or {} for session in sessions}
    assert {name: (origin["setting"], origin["form"]) for name, origin in origins.items()} == {
        "OOD_0": ("OOD", "S-S"), "OOD_0b": ("OOD", "S-S"), "OOD_5": ("OOD", "M-M"),
    }  # fmt: skip
    assert start(sessions[0]).reference[0][0].calls[0].arguments == {"room": "hall"}
    figures = graded(tmp_path, rows, [says(item["id"], LIGHT) for item in rows])["OOD"]
    assert (figures["n"], figures["dialogues"], figures["TS"], figures["SR"]) == (4, 3, 50.0, 0.0)
    assert {"PS", "TN", "TO"} < figures.keys()


# -- joins --------------------------------------------------------------------------------------------------------


def test_responses_are_joined_by_id_whatever_their_order(tmp_path: Path) -> None:
    rows = [row("S-S_0", ON), row("S-S_1", {"": {}})]
    first, second = imported(tmp_path, rows, [says("S-S_1", "Thought: b"), says("S-S_0", "Thought: a")])
    assert {**said(first), **said(second)} == {"S-S_0": "Thought: a", "S-S_1": "Thought: b"}


def test_twins_are_two_dialogues_under_one_name(tmp_path: Path) -> None:
    rows = [row(id_, {}) for id_ in ("M-M_7_0", "M-M_7_1", "M-M_8_0", "M-M_7_0", "M-M_7_1")]
    texts = [("M-M_7_0", "a0"), ("M-M_7_0", "b0"), ("M-M_8_0", "c"), ("M-M_7_1", "a1"), ("M-M_7_1", "b1")]
    responses = [says(id_, text) for id_, text in texts]
    sessions = imported(tmp_path, rows, responses)
    assert [(session.name, said(session)) for session in sessions] == [
        ("M-M_7", {"M-M_7_0": "a0", "M-M_7_1": "a1"}),
        ("M-M_8", {"M-M_8_0": "c"}),
        ("M-M_7b", {"M-M_7b_0": "b0", "M-M_7b_1": "b1"}),
    ]


def test_more_twins_than_letters(tmp_path: Path) -> None:
    names = [session.name for session in imported(tmp_path, [row("OOD_0_0", {})] * 28)]
    assert (names[1], names[25], names[26], names[27]) == ("OOD_0b", "OOD_0z", "OOD_0ba", "OOD_0bb")


@each("swapped", [False, True])
def test_a_mislabelled_response_goes_to_the_next_row_by_its_words(swapped: bool, tmp_path: Path) -> None:
    rows = [
        row("S-M_3", ON, asking("Light the kitchen.", many=True)),
        row("S-M_4", ON, asking("Warm the cellar.", many=True)),
    ]
    responses = [says("S-M_3", "Thought: the kitchen is dark"), says("S-M_3", "Thought: the cellar is cold")]
    sessions = imported(tmp_path, rows, responses[::-1] if swapped else responses)
    assert [said(session) for session in sessions] == [
        {"S-M_3": "Thought: the kitchen is dark"}, {"S-M_4": "Thought: the cellar is cold"},
    ]  # fmt: skip
    assert any("labelled 'S-M_3'" in loss for loss in losses(*sessions))


def test_order_decides_where_words_do_not_tell(tmp_path: Path) -> None:
    rows = [row("S-M_3", ON), row("S-M_4", ON)]
    sessions = imported(tmp_path, rows, [says("S-M_3", "Thought: x"), says("S-M_3", "Thought: y")])
    assert [list(said(session).values()) for session in sessions] == [["Thought: x"], ["Thought: y"]]


def test_a_response_too_many_is_an_error(tmp_path: Path) -> None:
    rows = [row("S-M_3", ON), row("S-M_4", ON)]
    responses = [says("S-M_3", "x"), says("S-M_4", "y"), says("S-M_3", "z")]
    with pytest.raises(ImportFormatError, match=r"said\.jsonl:3: answers 'S-M_3' once more") as caught:
        imported(tmp_path, rows, responses)
    assert caught.value.line == 3


def test_a_turn_without_a_response_is_left_out(tmp_path: Path) -> None:
    rows = [row(f"M-S_0_{turn}", {"": {}}) for turn in range(3)]
    (session,) = imported(tmp_path, rows, [says("M-S_0_0", "a"), says("M-S_0_2", "c")])
    assert list(said(session)) == ["M-S_0_0", "M-S_0_2"]
    assert losses(session) == ["M-S_0_1: has no response; this turn is left out"]
    assert MtuBench().grade(reread(session), "compat").values["turns"] == 2


def test_a_dialogue_without_a_response_is_not_scored(tmp_path: Path) -> None:
    rows = [row("S-S_0", ON), row("S-S_1", ON)]
    summary = graded(tmp_path, rows, [says("S-S_0", LIGHT)])
    assert (summary["S-S"]["n"], summary["inconclusive"]) == (1, 1)


def test_a_benchmark_alone_is_imported_without_answers(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON)])
    end = session.events[-1]
    assert isinstance(end, SessionEnded)
    assert end.reason == "abandoned"


def test_rows_with_both_need_no_partner(tmp_path: Path) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON) | says("S-S_0", LIGHT)])
    assert said(session) == {"S-S_0": LIGHT}


def test_several_models_on_one_benchmark(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.jsonl", says("S-S_0", "Thought: a", "ant") | {"cost": float("nan")}),
        write(tmp_path / "bench.jsonl", row("S-S_0", ON)),
        write(tmp_path / "b.jsonl", says("S-S_0", "Thought: b", "bee")),
    ]
    sessions = list(importer("mtu")(paths))
    assert [(session.name, start(session).agent["model"]) for session in sessions] == [
        ("S-S_0-ant", "ant"), ("S-S_0-bee", "bee"),
    ]  # fmt: skip
    assert ["NaN" in str(losses(session)) for session in sessions] == [True, False]


def test_several_settings_in_one_import(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "one.jsonl", row("S-S_0", ON)),
        write(tmp_path / "many.jsonl", row("S-M_0", {**ON, "lamp_off": {}})),
        write(tmp_path / "said.jsonl", says("S-M_0", LIGHT), "", says("S-S_0", LIGHT)),
    ]
    sessions = list(importer("mtu")(paths))
    assert [(session.name, start(session).categories) for session in sessions] == [
        ("S-S_0", ("S-S",)),
        ("S-M_0", ("S-M",)),
    ]


# -- what breaks --------------------------------------------------------------------------------------------------


@each(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ("[1]", "expected an object"),
        ({"question": "q", "answer": {}}, "'id'"),
        ({"id": 3, "answer": {}, "question": "q"}, "id: expected a string"),
        ({"id": "S-S_9", "question": "q"}, "neither 'answer'"),
        ({"id": "S-S_9", "answer": {}}, "'question'"),
        ({"id": "S-S_9", "question": "q", "answer": []}, "answer: expected an object"),
        ({"id": "S-S_9", "question": "q", "answer": {"a": 1}}, r"answer\.a: expected an object"),
        ({"id": "S-S_9", "question": "q", "answer": {"a": "{"}}, r"answer\.a: expected an object or the JSON text"),
        ({"id": "S-S_9", "question": "q", "answer": {"a": "[]"}}, r"answer\.a: expected an object"),
        ({"id": "S-S_9", "response": ["x"]}, "response: expected a string"),
        ({"id": "S-S_9", "response": "x"}, "'S-S_9', which no benchmark file"),
    ],
)
def test_a_broken_line_is_named(line: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=problem) as caught:
        imported(tmp_path, [row("S-S_0", ON), line, row("S-S_1", ON)])
    assert (Path(caught.value.path).name, caught.value.line) == ("bench.jsonl", 2)


def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "bench.jsonl", row("S-S_0", ON))
    path.write_bytes(path.read_bytes() + b'{"id": "S-S_1"')
    with pytest.raises(ImportFormatError, match="cut off"):
        list(importer("mtu")([path]))


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(ImportFormatError, match="UTF-8"):
        list(importer("mtu")([path]))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"none\.jsonl: cannot be read"):
        list(importer("mtu")([tmp_path / "none.jsonl"]))


def test_responses_alone_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match="no row has an 'answer'"):
        imported(tmp_path, [says("S-S_0", "x")])


def test_an_id_in_two_benchmark_files_is_an_error(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, row("S-S_0", ON)) for name in ("a.jsonl", "b.jsonl")]
    with pytest.raises(ImportFormatError, match=r"'S-S_0' is also in .*a\.jsonl"):
        list(importer("mtu")(paths))


# -- laws ---------------------------------------------------------------------------------------------------------

PIECES = (
    "Action:",
    "Action Input:",
    "{",
    "}",
    "[",
    "]",
    "'",
    '"',
    "\\",
    ":",
    ",",
    "a",
    "None",
    "\n",
    " ",
    "1e999",
    "\ud800",
)
answers = st.lists(st.sampled_from(PIECES), max_size=20).map("".join) | st.text()
plain = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=at_least(25))


@plain
@given(answers)
def test_whatever_a_model_says_survives_log_and_grading(tmp_path: Path, answer: str) -> None:
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", answer)])
    subject = reread(session)
    for mode in ("compat", "paper", "strict"):
        assert MtuBench().grade(subject, mode).inconclusive is None
    assert subject.trajectory.events[1].meta["row"] == "S-S_0"


@plain
@given(
    st.text(), st.recursive(st.none() | st.text(max_size=3) | st.integers(), lambda inner: st.lists(inner, max_size=3))
)
def test_whatever_a_question_looks_like_it_imports(tmp_path: Path, text: str, tools: Any) -> None:
    question = f"APIs that you can use:{text}{json.dumps(tools)}\nUser: {text}"
    assert len(imported(tmp_path, [row("S-S_0", ON, question)], [says("S-S_0", LIGHT)])) == 1


@plain
@given(st.binary(max_size=80))
def test_whatever_a_file_holds_it_is_read_or_refused_with_its_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bench.jsonl"
    path.write_bytes(data)
    with pytest.raises(ImportFormatError, match=r"bench\.jsonl"):
        list(importer("mtu")([path]))


def test_deep_arguments_stay_text(tmp_path: Path) -> None:
    deep = '{"a": ' + "[" * 5000 + "]" * 5000 + "}"
    (session,) = imported(tmp_path, [row("S-S_0", ON)], [says("S-S_0", f"Action: lamp_on\nAction Input: {deep}")])
    assert called(session)[0].raw_arguments == deep
    assert MtuBench().grade(reread(session), "strict").values["errors"]["format"] == 1
