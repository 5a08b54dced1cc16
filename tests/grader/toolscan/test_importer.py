"""Importing recorded ToolScan runs, and grading them with the adopted definitions."""

import json

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.grading.metric import Subject
from sandbox_grader.importers import importer
from sandbox_grader.papers.toolscan import ToolScan
from sandbox_grader.papers.toolscan import importer as toolscan

from sandbox_mcp.engine.trajectory import Message, ToolCall, assemble, parse_trajectory, to_line
from tests.each import each

APIS = {
    "search": {
        "description": "Finds things.",
        "parameters": {
            "query": {"type": "str", "required": True, "description": "words"},
            "limit": {"type": "number", "required": False},
        },
    },
    "finish": {"parameters": {"answer": {"type": ["string", "number", "array"], "required": True}}},
}
FINISH = 'Action: finish with Action Input: {"answer": "a"}'


def act(text, name="search"):
    return f"Action: {name} with Action Input: {text}"


def case(*messages, truth=({"search": [{"query": "x"}]},), **more):
    return {"id": "one", "api_list": APIS, "ground_truth": list(truth), "messages": list(messages), **more}


@pytest.fixture
def read(tmp_path):
    """Imports cases, one per line."""

    def _read(*cases, **flags):
        path = tmp_path / "cases.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in cases))
        return list(toolscan.read([path], **flags))

    return _read


def calls(imported):
    return [event for event in imported.events if isinstance(event, ToolCall)]


def kinds(imported):
    return [call.error and call.error.kind for call in calls(imported)]


def grade(imported, mode="strict"):
    return ToolScan().grade(Subject(assemble(imported.events)), mode).values


class TestMessages:
    def test_every_message_is_a_call(self, read):
        (imported,) = read(case(act('{"query": "x"}'), FINISH))
        assert [(call.tool, call.arguments) for call in calls(imported)] == [
            ("search", {"query": "x"}),
            ("finish", {"answer": "a"}),
        ]
        assert kinds(imported) == [None, None]

    @pytest.mark.parametrize(
        ("message", "kind"),
        [
            ("foo", "invalid_format"),
            (act("{query: x}"), "invalid_format"),
            (act("[1]"), "invalid_format"),
            (act('{"query": NaN}'), "invalid_format"),
            (act("{}", "serch"), "unknown_tool"),
            (act('{"query": "x", "nope": 1}'), "unknown_argument"),
            (act("{}"), "missing_argument"),
            (act('{"query": 5}'), "wrong_type"),
            (act('{"query": "x", "limit": null}'), None),
        ],
    )
    def test_its_fault_is_told_as_toolscan_checks_it(self, read, message, kind):
        assert kinds(read(case(message))[0]) == [kind]

    def test_what_cannot_be_read_is_kept_as_text(self, read):
        nameless, named = calls(read(case("foo", act("{query: x}")))[0])
        assert (nameless.name, nameless.tool, nameless.raw_arguments) == ("", None, "foo")
        assert (named.name, named.tool, named.raw_arguments) == ("search", "search", "{query: x}")

    def test_the_message_is_kept_word_for_word(self, read):
        message = 'Thought: \n Action: search with Action Input: {"query": "x"}'
        assert calls(read(case(message))[0])[0].meta["text"] == message

    @pytest.mark.parametrize("text", ["{'query': 'x', 'limit': True}", '{"query": "x', '{"query": None}'])
    def test_python_literals_are_no_json(self, read, text):
        assert kinds(read(case(act(text)))[0]) == ["invalid_format"]

    def test_nothing_is_ever_run(self, read, tmp_path):
        target = tmp_path / "ran"
        text = f"{{'query': open({str(target)!r}, 'w').name}}"
        (imported,) = read(case(act(text)))
        assert (kinds(imported), grade(imported, "compat")["errors"]["ife"]) == (["invalid_format"], 1)
        assert not target.exists()

    def test_the_answer_is_also_a_message_to_the_user(self, read):
        (imported,) = read(case(act('{"answer": [1]}', "finish"), goal="How many?"))
        messages = [(event.sender, event.content) for event in imported.events if isinstance(event, Message)]
        assert messages == [("user", "How many?"), ("agent", "[1]")]


class TestSession:
    def test_alternatives_are_alternative_solutions(self, read):
        (imported,) = read(case(truth=({"search": [{"query": "x"}, {"query": "y"}]}, {"noargs": [{}]})))
        first, second = imported.events[0].reference
        assert [call.arguments for call in first[0].calls] == [{"query": "x"}, {"query": "y"}]
        assert [call.tool for call in second[0].calls] == ["noargs"]

    def test_tools_are_listed_with_a_schema(self, read):
        tool = read(case())[0].events[0].tools[0]
        assert (tool.name, tool.description) == ("search", "Finds things.")
        assert tool.input_schema["properties"]["query"] == {"type": "string", "description": "words"}
        assert tool.input_schema["required"] == ["query"]

    def test_finish_is_there_even_where_the_list_leaves_it_out(self, read):
        (imported,) = read(case(FINISH, api_list={"search": APIS["search"]}))
        assert [tool.name for tool in imported.events[0].tools] == ["search", "finish"]
        assert kinds(imported) == [None]

    def test_observations_are_the_results_of_calls_that_ran(self, read):
        (imported,) = read(
            case(act("{}"), act('{"query": "x"}'), act('{"query": "y"}'), FINISH, observations=["found"])
        )
        assert [call.result for call in calls(imported)] == [None, "found", None, None]
        assert any("the results of 1 call are absent" in loss.what for loss in imported.losses)

    def test_without_feedback_faulty_calls_ran_too(self, read):
        (imported,) = read(case(act("{}"), observations=["found"], feedback=False))
        assert calls(imported)[0].result == "found"

    def test_an_unknown_type_is_named_as_unchecked(self, read):
        apis = {"search": {"parameters": {"day": {"type": "DATE"}}}}
        assert any("'DATE' is unknown" in loss.what for loss in read(case(api_list=apis))[0].losses)

    def test_the_rest_of_the_case_is_kept(self, read):
        kept = read({"case": case(goal_type=1, answer="42", own=1), "expected": {}})[0].events[0].origin["case"]
        assert (kept["goal_type"], kept["answer"], kept["own"], kept["api_list"]) == (1, "42", 1, APIS)
        assert "messages" not in kept

    def test_verdicts_beside_the_case_are_named_as_lost(self, read):
        assert any(loss.where == "expected" for loss in read({"case": case(), "expected": {}})[0].losses)

    def test_names_are_unique_and_fit_for_files(self, read):
        names = [item.name for item in read(case(id="two GT: 'x'"), case(id="two GT: 'x'"))]
        assert names == ["two-GT-x", "two-GT-x-2"]

    def test_a_log_written_and_read_again_is_the_same(self, read):
        (imported,) = read(case("foo", act("{x}"), act('{"query": "\\ud800"}'), FINISH, feedback=False))
        again = parse_trajectory("".join(map(to_line, imported.events)).encode())
        assert [again.started, *again.events, again.ended] == list(imported.events)


class TestGrading:
    def test_finish_is_no_call_of_the_task(self, read):
        values = grade(read(case(act('{"query": "x"}'), FINISH))[0])
        assert (values["calls_made"], values["finished"], values["success"]) == (1, True, True)

    def test_what_follows_it_does_not_count(self, read):
        assert grade(read(case(act('{"query": "x"}'), FINISH, "foo", "bar"))[0])["ife"] == 1.0

    def test_a_faulty_finish_does_not_end_the_run(self, read):
        values = grade(read(case(act("{}", "finish")))[0])
        assert (values["finished"], values["errors"]["missing_required"]) == (False, 1)

    def test_a_message_is_one_format_error_at_most(self, read):
        assert grade(read(case("foo", act("{x}")))[0])["errors"]["ife"] == 2

    @pytest.mark.parametrize("marker", ["optional", "any"])
    @pytest.mark.parametrize("text", ['{"query": "x"}', '{"query": "x", "limit": 3}'])
    def test_marked_arguments_may_be_anything(self, read, marker, text):
        truth = ({"search": [{"query": "x", "limit": marker}]},)
        assert grade(read(case(act(text), truth=truth))[0])["iav"] == 1.0

    @pytest.mark.parametrize(
        ("answer", "given", "correct"),
        [("42", '"42"', True), ("42", "42", True), ("42", '"41"', False), ([1], "[1]", True)],
    )
    def test_the_answer_counts_where_the_goal_says_so(self, read, answer, given, correct):
        (imported,) = read(
            case(act('{"query": "x"}'), act(f'{{"answer": {given}}}', "finish"), goal_type=1, answer=answer)
        )
        values = grade(imported)
        assert (values["answer_correct"], values["success"]) == (correct, correct)

    def test_without_an_end_there_is_no_right_answer(self, read):
        assert grade(read(case(goal_type=1, answer="42"))[0])["answer_correct"] is False

    def test_elsewhere_nobody_knows(self, read):
        assert grade(read(case(FINISH))[0])["answer_correct"] is None

    def test_without_feedback_a_wrong_type_ran_and_can_be_held_against_the_truth(self, read):
        values = grade(read(case(act('{"query": 5}'), feedback=False))[0])
        assert (values["iat"], values["iac"], values["iav"]) == (0.0, 1.0, 0.0)

    def test_types_that_are_no_names_leave_the_original_without_a_verdict(self, read):
        apis = {"search": {"parameters": {"q": {"type": ["string"]}}}}
        verdict = ToolScan().grade(Subject(assemble(read(case(api_list=apis))[0].events)), "compat")
        assert verdict.inconclusive == "the original cannot start: argument 'q' of search has no type by name"

    def test_without_a_truth_the_original_stops_at_once(self, read):
        values = grade(read(case(act('{"query": "x"}'), FINISH, truth=()))[0], "compat")
        assert (values["iac"], values["ife"], values["finished"]) == (0.0, 0.0, False)


class TestBrokenFiles:
    @each(
        ("line", "problem"),
        [
            ("{", "is not JSON"),
            ("[5]", "expected an object"),
            ("{}", "lacks 'api_list'"),
            (json.dumps({**case(), "messages": "foo"}), "messages: expected an array"),
            (json.dumps({**case(), "messages": [5]}), r"messages\[0\]: expected a string, found 5"),
            (json.dumps({**case(), "ground_truth": {}}), "ground_truth: expected an array"),
            (json.dumps(case(truth=({"search": [5]},))), r"ground_truth\[0\].search\[0\]: expected an object"),
            (json.dumps(case(feedback="yes")), "feedback: expected true or false"),
            (json.dumps(case(feedback=0)), "feedback: expected true or false"),
            (json.dumps({**case(), "api_list": {"a": {}}}), "api_list.a: lacks 'parameters'"),
            (json.dumps({**case(), "api_list": {"a": {"parameters": {"b": {}}}}}), "parameters.b: lacks 'type'"),
            (json.dumps({**case(), "api_list": {"a": {"parameters": {"b": 1}}}}), "expected an object, found 1"),
        ],
    )
    def test_a_fault_is_named_with_its_place(self, tmp_path, line, problem):
        path = tmp_path / "cases.jsonl"
        path.write_text(json.dumps(case()) + "\n" + line + "\n")
        with pytest.raises(ImportFormatError, match=problem) as error:
            list(importer("toolscan")([path]))
        assert (error.value.path, error.value.line) == (str(path), 2)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(ImportFormatError, match="cannot be read"):
            list(importer("toolscan")([tmp_path / "nothing.jsonl"]))
