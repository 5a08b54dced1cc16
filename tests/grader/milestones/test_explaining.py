"""Reasons in words for readers who have seen nothing but the conversation."""

from typing import Any

from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.milestones import ToolSandbox
from sandbox_grader.milestones.phrases import either, shown
from sandbox_scenarios.model import CallConstraint, Expected, Milestone, ValueRef

from tests.each import each
from tests.grader.milestones.sessions import Play, call, contact, facts, milestone, reminder, row, say, scenario, state

OFF = milestone("off", state("setting", "is", row(wifi=False)))
TOLD = milestone("told", say(facts(("off", "disabled"), ("wifi",), avoid=("is on",))), after=("off",))


def details(played: Play, *milestones: Milestone, mode: Mode = "strict", **more: Any) -> list[Any]:
    subject = Subject(played.done(), scenario=scenario(*milestones, **more))
    return list(ToolSandbox().grade(subject, mode).details)


def reasons(played: Play, *milestones: Milestone) -> list[str]:
    """The reasons of the last milestone."""
    return [reason["text"] for reason in details(played, *milestones)[len(milestones) - 1]["reasons"]]


def test_a_met_milestone_names_the_event_and_has_no_reasons():
    (found,) = details(Play().says("hm").sets(wifi=False), OFF)
    assert {name: found[name] for name in ("id", "seq", "effective", "reasons")} == {
        "id": "off", "seq": 3, "effective": 1.0, "reasons": [],
    }  # fmt: skip


def test_what_was_expected_is_told_by_one_object_in_all_sessions_of_a_scenario():
    known = scenario(OFF)
    played = [Play().sets(wifi=False), Play().says("hm")]
    told = [ToolSandbox().grade(Subject(item.done(), scenario=known), "strict").details[0] for item in played]
    first, second = (item["constraints"][0]["expected"] for item in told)
    assert first is second


def test_scenarios_that_are_equal_to_python_are_still_told_apart():
    expectations = [milestone("off", state("setting", "is", row(wifi=value))) for value in (False, 0)]
    assert [details(Play().sets(wifi=False), item)[0]["effective"] for item in expectations] == [1.0, 0.0]


class TestTables:
    def test_a_wrong_cell(self):
        assert reasons(Play(), OFF) == ["setting: wifi true, expected false"]

    def test_a_state_that_did_not_last(self):
        (found,) = details(Play().sets(wifi=False).sets(wifi=True), OFF)
        assert found["reasons"] == [
            {"constraint": "setting is", "seq": 2, "text": "setting: at the end wifi true, expected false"}
        ]

    def test_a_row_that_is_gone(self):
        added = milestone("added", state("reminder", "adds", row(content="bread")))
        played = Play().changes("add", "reminder", "n", reminder("n", "bread")).changes("rm", "reminder", "n", None)
        assert reasons(played, added) == ["reminder: the row is gone at the end"]

    def test_a_row_that_is_back(self):
        gone = milestone("gone", state("contact", "removes", row(name="Ann")))
        played = Play().changes("rm", "contact", "c1", None).changes("add", "contact", "c1", contact("c1"))
        assert reasons(played, gone) == ["contact: the row is back at the end"]

    def test_too_few_rows(self):
        added = milestone("added", state("reminder", "adds", row(content="bread"), row(content="milk")))
        played = Play().changes("add", "reminder", "n", reminder("n", "bread"))
        assert reasons(played, added) == ["reminder gained 1 row; expected 2"]

    def test_a_row_that_came_is_not_one_that_changed(self):
        changed = milestone("changed", state("reminder", "updates", row(content="bread")))
        played = Play().changes("add", "reminder", "n", reminder("n", "milk"))
        played.changes("edit", "reminder", "n", reminder("n", "bread"))
        assert reasons(played, changed) == [
            "reminder changed 0 rows; expected 1; 1 row came since 'start', which 'adds' asks for"
        ]

    def test_another_number_of_rows_than_there_must_be(self):
        assert reasons(Play(), milestone("one", state("contact", "is", row(name="Ann")))) == [
            "contact has 2 rows; expected 1"
        ]

    def test_the_nearest_row(self):
        added = milestone("added", state("reminder", "adds", row(content="bread", reminder_timestamp=100.0)))
        played = Play().changes("add", "reminder", "a", reminder("a", "milk", 5.0))
        played.changes("add", "reminder", "b", reminder("b", "bread", 105.0))
        assert reasons(played, added) == ["reminder: reminder_timestamp 105.0, expected 100.0 (within 1.0)"]

    def test_a_change_where_there_should_be_none(self):
        quiet = milestone("quiet", state("contact", "unchanged"), say("bye"))
        assert "contact is not as it was at 'start'" in reasons(
            Play().changes("rm", "contact", "c1", None).says("bye"), quiet
        )


class TestCalls:
    def test_never_called(self):
        either_way = CallConstraint((*call("search", name="Ann").patterns, *call("look_up").patterns))
        assert reasons(Play(), milestone("found", either_way)) == ["search or look_up was never called"]

    def test_wrong_arguments_of_the_nearest_call(self):
        found = milestone("found", call("search", name="Ann", city="Rome"))
        played = Play().calls("search", name="Bob").calls("search", name="Ann", city="Oslo")
        (item,) = details(played, found)
        assert item["reasons"] == [
            {"constraint": "call of search", "seq": 3, "text": "search was called with city 'Oslo', expected 'Rome'"}
        ]

    def test_a_failed_call(self):
        played = Play().calls("search", error="ConnectionError")
        assert reasons(played, milestone("found", call("search"))) == [
            "search failed: ConnectionError: 'ConnectionError happened'"
        ]

    @each(
        ("expected", "text"),
        [
            (Expected("one_of", ("a", "b")), "'a' or 'b'"),
            (Expected("contains", "a"), "a text with 'a'"),
            (Expected("rouge", "a b"), "words like 'a b'"),
            (Expected("close", 5, within=0.5), "5 (within 0.5)"),
            (Expected("facts", (("a", "b"), ("c",))), "'a' or 'b' and 'c'"),
            (Expected(value=None), "nothing"),
        ],
    )
    def test_what_was_expected(self, expected: Expected, text: str):
        played = Play().calls("search", x="zzz")
        assert reasons(played, milestone("m", call("search", x=expected))) == [
            f"search was called with x 'zzz', expected {text}"
        ]

    def test_a_value_that_is_missing(self):
        use = milestone("used", call("send", to=Expected(ref=ValueRef("found", path=("phone",)))), after=("found",))
        found = milestone("found", call("search"))
        played = Play().calls("search", result={"phone": "+1"}).calls("send", to="+2")
        assert reasons(played, found, use) == ["send was called with to '+2', expected '+1'"]
        assert reasons(Play().calls("send", to="+2"), found, use) == [
            "send was called with to '+2', expected the value from 'found', which is missing"
        ]


class TestMessages:
    def test_none(self):
        assert reasons(Play(), milestone("told", say("hi"))) == ["there is no message from agent to user"]

    def test_another_text(self):
        assert reasons(Play().says("good night"), milestone("told", say("good day"))) == [
            "'good night', expected words like 'good day' (which it resembles to 0.50)"
        ]

    def test_what_it_does_not_say(self):
        assert reasons(Play().sets(wifi=False).says("Done"), OFF, TOLD) == [
            "does not say 'off' or 'disabled'; does not say 'wifi': 'Done'"
        ]

    def test_what_it_must_not_say(self):
        assert reasons(Play().sets(wifi=False).says("Wifi is on, not off"), OFF, TOLD) == [
            "says 'is on', which it must not; denies 'off' or 'disabled': 'Wifi is on, not off'"
        ]

    def test_filled_placeholders(self):
        told = milestone("told", say(facts(("{t} degrees",), t=ValueRef("w"))), after=("w",))
        played = Play().calls("weather", result=21.5).says("Warm")
        assert reasons(played, milestone("w", call("weather")), told) == ["does not say '21.5 degrees': 'Warm'"]

    def test_a_placeholder_that_nothing_filled_is_told_as_what_it_was_to_be(self):
        content = facts(("{t} degrees",), t=ValueRef("w"))
        sent = milestone("sent", call("send", content=content), after=("w",))
        told = milestone("told", say(content), after=("w",))
        for played, item in ((Play().calls("send", content="Warm"), sent), (Play().says("Warm"), told)):
            assert "{" not in " ".join(reasons(played, milestone("w", call("weather")), item))

    def test_an_argument_that_was_not_given_is_said_to_be_missing(self):
        item = milestone("sent", call("send", content=facts(("warm",))))
        assert reasons(Play().calls("send"), item) == ["send was called with no content, expected 'warm'"]

    def test_a_claim_without_the_deed(self):
        _, told = details(Play().says("Wifi is off"), OFF, TOLD)
        assert (told["seq"], told["similarity"], told["effective"]) == (2, 1, 0)
        assert [reason["text"] for reason in told["reasons"]] == ["rests on 'off', which was not met"]

    def test_a_half_deed(self):
        sent = milestone("sent", call("send", content="see you at eight"))
        told = milestone("told", say("done"), after=("sent",))
        assert reasons(Play().calls("send", content="see you at nine").says("done"), sent, told) == [
            "rests on 'sent', which was met to 0.75"
        ]


class TestHarm:
    def test_a_minefield(self):
        mine = milestone("mine", call("send"))
        (quiet,) = details(Play(), minefields=(mine,))
        (hit,) = details(Play().calls("send"), minefields=(mine,))
        assert (quiet["met"], quiet["seq"]) == (False, None)
        assert (hit["met"], hit["seq"], hit["similarity"]) == (True, 2, 1)

    def test_unwanted_changes(self):
        played = Play().changes("edit", "contact", "c1", contact("c1", phone="+9")).changes("rm", "contact", "c2", None)
        assert [item["text"] for item in details(played)] == [
            (
                "edit changed a row of contact that was not asked for: phone_number from '+1' to '+9'; "
                "this voids the score"
            ),
            "rm removed a row of contact that was not asked for; this voids the score",
        ]

    def test_a_switch_left_different_says_what_it_costs(self):
        (found,) = details(Play().sets("set_cellular", cellular=False))
        assert found["text"].endswith("cellular from true to false; this leaves 75% of the score")


def test_compat_tells_places_and_no_reasons():
    mine = milestone("mine", say("never say so"))
    off, told, hit = details(Play().sets(wifi=False).says("so"), OFF, TOLD, mode="compat", minefields=(mine,))
    assert (off["seq"], off["effective"], off["reasons"]) == (2, 1, [])
    assert (told["seq"], told["effective"]) == (None, 0)
    assert (hit["met"], hit["seq"], hit["threshold"]) == (True, 3, 0)


class TestPhrases:
    @each(
        ("value", "text"),
        [(True, "true"), (False, "false"), (None, "nothing"), ("a", "'a'"), (1.5, "1.5"), ([1], "[1]")],
    )
    def test_values(self, value: Any, text: str):
        assert shown(value) == text

    def test_long_texts_are_cut(self):
        assert len(shown("x" * 1000)) == 160
        assert shown(10**5000) == "a very long number"

    def test_alternatives(self):
        assert either(["a", 1]) == "'a' or 1"
