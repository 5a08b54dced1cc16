"""How the authors' code compares ToolTalk's calls: every rule, with the blind spots that their data does not show."""

import pytest
from sandbox_grader.grading.similarity import exact
from sandbox_grader.papers.tooltalk.comparing import AsCoded, OriginalFails
from sandbox_grader.papers.tooltalk.tools import COMPAT, TOOLS

from sandbox_mcp.engine.trajectory import CallError, ReferenceCall, ToolCall
from tests.each import each


def call(tool, arguments, result=None, error=None):
    fault = None if error is None else CallError(kind="execution", type="Error", message=error)
    return ToolCall(
        seq=1, clock=0.0, call="c1", batch="b1", caller="agent", name=tool, tool=tool,
        arguments=arguments, result=result, error=fault,
    )  # fmt: skip


def wanted(tool, arguments, result=None, error=None):
    return ReferenceCall(tool=tool, arguments=arguments, result=result, error=error)


def differs(tool, given, reference, similarity=exact):
    """The difference between (arguments, result, error) of a call and of the reference."""
    return AsCoded(similarity)(call(tool, *given), wanted(tool, *reference))


def half_alike(target, text):
    return 1.0 if target == text else 0.85


DEFAULT_TOOLS = sorted(TOOLS.keys() - COMPAT.keys())
SEARCHES = [
    ("FindAlarms", "alarms", "alarm_id"),
    ("QueryCalendar", "events", "event_id"),
    ("SearchInbox", "emails", "email_id"),
    ("SearchMessages", "messages", "message_id"),
]


def found(key, id_key, *ids):
    return {key: [{id_key: id_, "more": "text"} for id_ in ids]}


REMINDER = {"task": "Buy milk", "due_date": "2023-09-12 09:00:00"}
ONE_REMINDER = found("reminders", "reminder_id", 1)


class TestOutcome:
    def test_another_tool_never_matches(self):
        assert AsCoded(exact)(call("AddAlarm", {}), wanted("DeleteAlarm", {})) == "calls AddAlarm"

    @each(("given", "reference"), [("late", None), (None, "late"), ("late", "early")])
    def test_exception_texts_must_be_equal(self, given, reference):
        assert "ended with" in differs("AddAlarm", ({}, None, given), ({}, None, reference))

    def test_equal_exceptions_match(self):
        failed = ({"username": "a"}, None, "The password is incorrect.")
        assert differs("UserLogin", failed, failed) is None


class TestDefault:
    @each("tool", DEFAULT_TOOLS)
    def test_result_and_arguments_must_be_equal(self, tool):
        right = ({"a": 1}, {"status": "ok"})
        assert differs(tool, right, right) is None
        assert "result" in differs(tool, ({"a": 1}, {"status": "no"}), right)
        assert "'a'" in differs(tool, ({"a": 2}, {"status": "ok"}), right)

    def test_arguments_that_the_reference_lacks_may_be_anything(self):
        assert differs("QueryUser", ({"username": "a", "email": "b"}, {}), ({"username": "a"}, {})) is None

    def test_an_argument_that_the_reference_has_must_be_there(self):
        assert differs("QueryUser", ({}, {}), ({"username": "a"}, {})) == (
            "argument 'username' is absent where the reference has 'a'"
        )

    def test_null_is_no_value_but_equals_null(self):
        assert differs("QueryUser", ({"username": None}, {}), ({"username": "a"}, {}))
        assert differs("QueryUser", ({"username": None}, {}), ({"username": None}, {})) is None

    def test_case_matters_also_where_the_tool_ignores_it(self):
        assert differs("CurrentWeather", ({"location": "london"}, {}), ({"location": "London"}, {}))

    def test_the_session_token_is_an_argument_like_any_other(self):
        assert differs("DeleteAlarm", ({"session_token": "x"}, {}), ({"session_token": "y"}, {}))

    def test_values_are_compared_as_python_compares_them(self):
        assert differs("DeleteAlarm", ({"n": True}, {}), ({"n": 1.0}, {})) is None


class TestResultIgnored:
    @each("tool", ["AddAlarm", "CreateEvent", "SendEmail", "SendMessage", "AddReminder"])
    def test_what_a_writing_tool_returned_does_not_matter(self, tool):
        assert differs(tool, ({}, {"id": 1}), ({}, {"id": 2})) is None

    def test_but_of_a_modified_event_it_does(self):
        assert "result" in differs("ModifyEvent", ({}, {"status": 1}), ({}, {"status": 2}))

    def test_a_time_must_be_written_the_same_way(self):
        assert differs("AddAlarm", ({"time": "7:00:00"},), ({"time": "07:00:00"},))


class TestText:
    @each(
        ("tool", "argument", "threshold"),
        [
            ("CreateEvent", "name", 0.9), ("CreateEvent", "description", 0.9), ("CreateEvent", "location", 0.9),
            ("ModifyEvent", "new_name", 0.9), ("ModifyEvent", "new_description", 0.9),
            ("ModifyEvent", "new_location", 0.9), ("SendEmail", "subject", 0.9), ("SendEmail", "body", 0.8),
            ("SendMessage", "message", 0.8), ("AddReminder", "task", 0.9),
        ],
    )  # fmt: skip
    def test_free_text_needs_a_likeness(self, tool, argument, threshold):
        pair = ({argument: "given"},), ({argument: "wanted"},)
        assert differs(tool, *pair, similarity=lambda _a, _b: threshold) is None
        assert differs(tool, *pair, similarity=lambda _a, _b: threshold - 0.001)

    def test_the_body_of_a_mail_may_differ_more_than_its_subject(self):
        mail = {"subject": "Hi", "body": "See you"}
        assert differs("SendEmail", ({**mail, "body": "?"},), (mail,), half_alike) is None
        assert differs("SendEmail", ({**mail, "subject": "?"},), (mail,), half_alike)

    def test_null_is_like_no_text(self):
        assert differs("SendMessage", ({"message": None},), ({"message": "Hi"},), lambda _a, _b: 1.0)

    @each("tool", ["CreateEvent", "ModifyEvent"])
    def test_of_events_not_even_null_equals_null(self, tool):
        assert differs(tool, ({"attendees": None},), ({"attendees": None},))


class TestPeople:
    def test_the_receiver_of_a_message_is_never_looked_at(self):
        reference = {"receiver": "hal", "message": "Hi"}
        for receiver in ("somebody else", None):
            assert differs("SendMessage", ({"receiver": receiver, "message": "Hi"},), (reference,)) is None

    def test_recipients_of_a_mail_are_a_set(self):
        assert differs("SendEmail", ({"to": ["b", "a", "a"]},), ({"to": ["a", "b"]},)) is None
        assert differs("SendEmail", ({"to": ["a"]},), ({"to": ["a", "b"]},))

    def test_attendees_are_a_list(self):
        assert differs("CreateEvent", ({"attendees": ["b", "a"]},), ({"attendees": ["a", "b"]},))
        assert differs("ModifyEvent", ({"new_attendees": ["b", "a"]},), ({"new_attendees": ["a", "b"]},))


class TestDueDate:
    def test_only_the_day_counts(self):
        assert differs("AddReminder", ({**REMINDER, "due_date": "2023-09-12 23:59:59"},), (REMINDER,)) is None
        assert differs("AddReminder", ({**REMINDER, "due_date": "2023-09-13 09:00:00"},), (REMINDER,))

    def test_a_date_may_be_given_where_the_reference_has_none(self):
        assert differs("AddReminder", (REMINDER,), ({"task": "Buy milk"},)) is None

    def test_a_null_date_makes_the_evaluator_fail(self):
        with pytest.raises(OriginalFails, match="AddReminder: TypeError"):
            differs("AddReminder", ({**REMINDER, "due_date": None},), (REMINDER,))

    @each("other", [{"session_token": "x"}, {"task": "Buy bread"}])
    def test_but_only_where_all_before_it_matches(self, other):
        reference = {"session_token": "t", **REMINDER}
        given = {**reference, "due_date": None, **other}
        assert differs("AddReminder", (given,), (reference,))


class TestSearches:
    @each(("tool", "key", "id_key"), SEARCHES)
    def test_the_reference_ids_must_be_among_those_found(self, tool, key, id_key):
        reference = ({"query": "x"}, found(key, id_key, 1, 2))
        assert differs(tool, ({"query": "y"}, found(key, id_key, 3, 2, 1)), reference) is None
        assert differs(tool, ({"query": "x"}, found(key, id_key, 1)), reference) == "the result lacks 2"

    @each(("tool", "key", "id_key"), SEARCHES)
    def test_any_search_matches_one_that_found_nothing(self, tool, key, id_key):
        assert differs(tool, ({"a": 1}, found(key, id_key, 9)), ({"b": 2}, {key: []})) is None

    @each(("tool", "key", "id_key"), SEARCHES)
    def test_the_session_token_is_looked_at(self, tool, key, id_key):
        nothing = found(key, id_key)
        assert differs(tool, ({"session_token": "x"}, nothing), ({"session_token": "y"}, nothing))
        assert differs(tool, ({}, nothing), ({"session_token": "y"}, nothing))

    @each(("tool", "key", "id_key"), SEARCHES)
    def test_two_failed_searches_make_the_evaluator_fail(self, tool, key, id_key):
        with pytest.raises(OriginalFails):
            differs(tool, ({}, None, "no"), ({}, None, "no"))


class TestReminders:
    def test_the_request_as_a_whole_must_be_equal(self):
        assert (
            differs("GetReminders", ({"session_token": "t"}, ONE_REMINDER), ({"session_token": "t"}, ONE_REMINDER))
            is None
        )
        assert "as a whole" in differs("GetReminders", ({"t": 1, "extra": 2}, ONE_REMINDER), ({"t": 1}, ONE_REMINDER))

    def test_more_reminders_than_the_reference_has_are_fine(self):
        assert differs("GetReminders", ({}, found("reminders", "reminder_id", 2, 1)), ({}, ONE_REMINDER)) is None
        assert "lacks 1" in differs("GetReminders", ({}, found("reminders", "reminder_id", 2)), ({}, ONE_REMINDER))


def test_the_tables_name_28_tools_18_of_them_actions():
    assert (len(TOOLS), sum(tool.action for tool in TOOLS.values()), len(DEFAULT_TOOLS)) == (28, 18, 17)
    assert COMPAT.keys() <= TOOLS.keys()
