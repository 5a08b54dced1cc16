"""The original's loop on scripted messages: what it executes and counts, oddities included."""

import pytest
from sandbox_grader.papers.toolscan.loop import LoopInput, cannot_start, replay
from sandbox_grader.papers.toolscan.messages import read_literal, split

from tests.each import each


def api(**types):
    """A tool from argument names to types; a type with ``?`` is optional."""
    return {
        "parameters": {
            name: {"type": kind.rstrip("?"), "required": not kind.endswith("?")} for name, kind in types.items()
        }
    }


APIS = {
    "search": api(query="str", limit="number?"),
    "detail": api(id="int"),
    "flag": api(on="bool"),
    "free": api(),
    "odd": api(when="DATE?"),
    "short": api(q="str?"),
}


def run(*messages, **settings):
    return replay(LoopInput(APIS, **settings), messages)


def act(name, text="{}"):
    return f"Action: {name} with Action Input: {text}"


def counts(tally):
    """The counts that are not nought."""
    names = ("ifn", "ian", "iat", "ife", "rac", "missing")
    return {name: getattr(tally, name) for name in names if getattr(tally, name)}


SEARCH, FINISH = act("search", '{"query": "x"}'), act("finish", '{"answer": "a"}')


class TestReading:
    @each(
        ("message", "name", "given"),
        [
            ("Action: a with Action Input: {}", "a", "{}"),
            ("  a with Action Input: {}  ", "a", "{}"),
            ("Thought: now\nAction: a with Action Input: {}", "a", "{}"),
            ("Action: a\nwith\nAction Input:\n{}", "a", "{}"),
            ("Action:  with Action Input: {}", "", "{}"),
            ("Action: a with Action Input:", "a", ""),
            ("I go with Action Input: {}", "I go", "{}"),
        ],
    )
    def test_a_message_names_an_action_and_its_input(self, message, name, given):
        said = split(message)
        assert (said.name, said.input) == (name, given)

    @each("message", ["", "foo", "Action: a", "Action: a with Action Input: {\n}"])
    def test_others_name_none(self, message):
        assert split(message) is None

    @each(
        ("text", "value"),
        [
            ('{"a": 1}', {"a": 1}),
            ("{'a': True, 'b': None}", {"a": True, "b": None}),
            ('{"a": "x', {"a": "x"}),
            ('{"a": (1, 2)}', {"a": (1, 2)}),
            ("{1, 2}", {1, 2}),
        ],
    )
    def test_python_literals_are_read(self, text, value):
        assert read_literal(text) == value

    @each(
        "text",
        ["", '{"a": true}', '{"a": null}', "{a: 1}", '{"a": 1', "5", "[1]", '{"a": "\\', "{" * 300, '{"a": len("x")}'],
    )
    def test_others_are_not(self, text):
        with pytest.raises(ValueError, match=r"."):
            read_literal(text)

    def test_nothing_is_ever_run(self, tmp_path):
        target = tmp_path / "ran"
        with pytest.raises(ValueError, match="malformed"):
            read_literal(f"{{'a': open({str(target)!r}, 'w')}}")
        assert not target.exists()


class TestFaults:
    def test_a_call_without_fault_is_executed(self):
        tally = run(SEARCH, FINISH)
        assert (counts(tally), tally.finished, tally.output) == ({}, True, "a")
        assert tally.route == {"search": [{"query": "x"}]}

    def test_an_unknown_function(self):
        tally = run(act("serch"))
        assert (counts(tally), tally.route) == ({"ifn": 1}, {})

    @each("given", ['{"query": "x", "nope": 1}', '{"query": "x", "nope": 1, "none": 2}'])
    def test_unknown_argument_names_count_once_per_call(self, given):
        assert counts(run(act("search", given))) == {"ian": 1}

    def test_a_missing_argument_counts_as_a_wrong_name(self):
        assert counts(run(act("search"))) == {"ian": 1, "missing": 1}

    def test_a_call_may_have_faults_of_two_kinds(self):
        assert counts(run(act("search", '{"query": 1, "nope": 1}'))) == {"ian": 1, "iat": 1}

    @each(
        ("name", "given", "wrong"),
        [
            ("detail", '{"id": "1"}', True), ("detail", '{"id": 1.0}', True), ("detail", '{"id": True}', False),
            ("search", '{"query": "x", "limit": 1.5}', False), ("search", '{"query": "x", "limit": True}', False),
            ("search", '{"query": "x", "limit": None}', True), ("flag", '{"on": 1}', True),
            ("flag", '{"on": True}', False),
        ],
    )  # fmt: skip
    def test_types_are_pythons(self, name, given, wrong):
        assert counts(run(act(name, given))) == ({"iat": 1} if wrong else {})

    def test_a_type_of_unknown_name_ends_the_run(self):
        tally = run(SEARCH, act("odd", '{"when": "today"}'), FINISH)
        assert (tally.finished, counts(tally), tally.stopped) == (False, {}, "TypeError: unknown type 'DATE'")

    def test_as_long_as_nobody_gives_a_value_it_does_not_matter(self):
        assert run(act("odd"), FINISH).finished

    def test_a_repetition_is_counted_and_not_kept(self):
        tally = run(SEARCH, SEARCH, SEARCH)
        assert (counts(tally), tally.route) == ({"rac": 2}, {"search": [{"query": "x"}]})

    def test_inputs_are_compared_as_python_compares_them(self):
        assert counts(run(act("detail", '{"id": 1}'), act("detail", '{"id": True}'))) == {"rac": 1}


class TestFormat:
    def test_a_message_without_a_call_counts_twice(self):
        assert counts(run("foo")) == {"ife": 2}

    def test_an_input_that_cannot_be_read_is_also_a_wrong_name(self):
        assert counts(run(act("search", "{query: x}"))) == {"ife": 1, "ian": 1}

    def test_and_lacks_arguments_that_its_text_does_not_mention(self):
        assert counts(run(act("search", "{x: y}"))) == {"ife": 1, "ian": 1, "missing": 1}

    def test_of_an_unknown_function_it_is_a_wrong_function(self):
        assert counts(run(act("serch", "{x: y}"))) == {"ife": 1, "ifn": 1}

    def test_a_missing_input_is_a_format_error_alone_where_nothing_is_required(self):
        tally = run(act("free", ""))
        assert (counts(tally), tally.route) == ({"ife": 1}, {"free": [""]})

    def test_a_letter_that_happens_to_be_an_argument_ends_the_run(self):
        assert "TypeError" in run(act("short", "{q: 1}")).stopped

    def test_a_call_without_a_name_counts_once(self):
        assert counts(run(act(""))) == {"ife": 1}

    def test_and_twice_where_its_input_is_broken_as_well(self):
        assert counts(run(act("", "{x"))) == {"ife": 2}


class TestFinish:
    def test_as_the_first_call_it_fails(self):
        tally = run(FINISH)
        assert (tally.finished, tally.stopped, len(tally.steps)) == (False, "finish before any other call", 1)

    def test_also_after_messages_without_a_call(self):
        assert run("foo", FINISH).stopped == "finish before any other call"

    def test_without_feedback_it_may_come_first(self):
        assert run(FINISH, feedback=False).finished

    def test_after_a_fault_it_is_rejected_with_the_old_feedback(self):
        tally = run(SEARCH, act("serch"), FINISH, FINISH)
        assert (tally.finished, len(tally.steps)) == (False, 4)

    def test_until_another_call_has_none(self):
        assert run(act("serch"), FINISH, SEARCH, FINISH).finished

    def test_a_format_error_leaves_the_old_feedback_alone(self):
        assert run(SEARCH, "foo", FINISH).finished

    def test_nothing_after_it_is_asked_for(self):
        assert len(run(SEARCH, FINISH, SEARCH, SEARCH).steps) == 2

    def test_without_an_answer_the_run_goes_on(self):
        assert (run(SEARCH, act("finish")).finished, run(SEARCH, act("finish"), FINISH).finished) == (False, True)

    @each(("answer", "output"), [("42", "42"), ('["b", "a"]', "['a', 'b']"), ("None", "None")])
    def test_the_answer_is_its_text_and_a_list_is_sorted(self, answer, output):
        assert run(SEARCH, act("finish", f'{{"answer": {answer}}}')).output == output

    def test_written_differently_it_is_a_call_that_ends_the_run(self):
        tally = run(act("Finish", '{"answer": "a"}'))
        assert (tally.finished, tally.route) == (True, {"Finish": [{"answer": "a"}]})

    def test_without_feedback_any_name_with_finish_in_it_does(self):
        assert (run(act("finished"), feedback=False).finished, run(act("finished")).finished) == (True, False)


class TestEnd:
    def test_ten_messages_are_asked_for(self):
        assert len(run(*[SEARCH] * 12).steps) == 10

    def test_the_limit_is_a_setting(self):
        assert len(run(*[SEARCH] * 12, limit=3).steps) == 3

    def test_an_observation_of_a_network_error_ends_the_run(self):
        tally = run(SEARCH, FINISH, observations=["HTTPError 500"])
        assert (tally.finished, tally.stopped, list(tally.route)) == (False, "HTTPError 500", ["search"])

    def test_observations_are_used_up_in_order(self):
        tally = run(SEARCH, act("detail", '{"id": 1}'), FINISH, observations=["fine", "SSLError"])
        assert (tally.stopped, len(tally.steps)) == ("SSLError", 2)

    def test_so_does_an_answer_that_mentions_one(self):
        assert not run(SEARCH, act("finish", '{"answer": "It was a TimeoutError."}')).finished

    def test_and_a_wrong_name_that_does(self):
        assert "HTTPError" in run(act("HTTPErrorLookup"), SEARCH).stopped

    def test_without_a_ground_truth_the_first_call_ends_the_run(self):
        assert run(SEARCH, truth=False).stopped == "TypeError: there is no ground truth"

    def test_without_feedback_faulty_calls_are_executed_and_counted(self):
        tally = run(act("serch"), act("detail", '{"id": "1"}'), feedback=False)
        assert (counts(tally), tally.route) == ({"ifn": 1, "iat": 1}, {"serch": [{}], "detail": [{"id": "1"}]})


def test_types_that_are_no_names_keep_the_original_from_starting():
    apis = {
        "finish": {"parameters": {"answer": {"type": ["string"]}}},
        "a": {"parameters": {"b": {"type": ["string"]}}},
    }
    assert cannot_start(apis) == "argument 'b' of a has no type by name"
    assert cannot_start({"finish": apis["finish"]}) is None


def test_steps_are_explained_in_json():
    steps = run(act("search", "{1, 2}"), act("search", '{"query": b"x"}'), SEARCH).steps
    assert steps[0]["arguments"] == "{1, 2}"
    assert steps[2] == {
        "kind": "step", "step": 3, "executed": True, "name": "search", "arguments": {"query": "x"},
    }  # fmt: skip
