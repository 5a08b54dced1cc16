"""Our scenarios as ToolSandbox's evaluator would see them."""

from typing import Any

from sandbox_grader.milestones import case
from sandbox_grader.milestones.compat import evaluate
from sandbox_grader.milestones.translate import to_case
from sandbox_scenarios.model import CallConstraint, Expected, Scenario, ValueRef

from tests.each import each
from tests.grader.milestones.sessions import Play, call, contact, facts, milestone, reminder, row, say, scenario, state


def seen(asked: Scenario, played: Play) -> case.Case:
    return to_case(asked, played.done()).case


def score(asked: Scenario, played: Play) -> float:
    return evaluate(seen(asked, played)).milestone_score


def only(constraint: Any) -> case.CaseConstraint:
    (made,) = seen(scenario(milestone("m", constraint)), Play()).milestones.nodes[0].constraints
    return made


class TestSessions:
    def test_a_call_is_two_messages_and_changes_hang_on_the_second(self):
        played = Play().changes("add", "reminder", "n", reminder("n"), content="x")
        _, asked, answered = seen(scenario(), played).messages
        assert (asked.sender, asked.recipient, asked.content) == ("agent", "environment", 'add({"content": "x"})')
        assert (answered.sender, answered.calls) == ("environment", (case.RecordedCall("add", {"content": "x"}, None),))
        assert answered.changes == (case.RowChange("reminder", "add", 1, reminder("n")),)

    def test_a_failed_call_is_answered_and_not_recorded(self):
        answered = seen(scenario(), Play().calls("add", error="ValueError")).messages[2]
        assert (answered.content, answered.calls) == ("ValueError happened", None)

    def test_rows_become_positions(self):
        played = Play().changes("rm", "contact", "c1", None).changes("edit", "contact", "c2", contact("c2", "Bo"))
        played.changes("rm", "contact", "gone", None)
        changes = [change for message in seen(scenario(), played).messages for change in message.changes]
        assert changes == [
            case.RowChange("contact", "remove", 0),
            case.RowChange("contact", "update", 0, contact("c2", "Bo")),
        ]

    def test_events_can_be_found_again(self):
        assert to_case(scenario(), Play().calls("x").says("y").done()).seqs == (1, 2, 2, 3)

    def test_the_opening_is_no_turn(self):
        played = Play().calls("x").says("done")
        assert evaluate(seen(scenario(), played)).turn_count == 3

    def test_the_range_starts_at_the_opening(self):
        played = Play(opening=None).says("rules", "system", "agent").says("Go.", "user", "agent")
        assert seen(scenario(), played).first_index() == 1

    def test_a_number_too_long_to_write_is_left_out(self):
        assert seen(scenario(), Play().calls("x", result=10**5000)).messages[2].content == ""


class TestTables:
    @each(
        ("kind", "expected"), [("is", "snapshot"), ("adds", "addition"), ("removes", "removal"), ("updates", "update")]
    )
    def test_kinds(self, kind: str, expected: str):
        made = only(state("contact", kind, row(name="Ann")))
        assert (made.kind, made.rows) == (expected, ({"name": "Ann"},))
        assert made.reference == (None if kind == "is" else case.LO)

    def test_unchanged_is_a_guardrail(self):
        asked = scenario(
            milestone("m", call("x")), milestone("n", call("x"), state("contact", "unchanged", since="m"), after=("m",))
        )
        _, guardrail = seen(asked, Play()).milestones.nodes[1].constraints
        assert (guardrail.kind, guardrail.reference) == ("guardrail", 0)

    @each(
        ("name", "expected", "measured"),
        [
            ("name", Expected(value="x"), case.Measured("exact")),
            ("content", Expected(value="x"), case.Measured("rouge_l")),
            ("latitude", Expected(value=1), case.Measured("close", 0.001)),
            ("latitude", Expected("close", 1, within=2), case.Measured("close", 2)),
            ("name", Expected("any"), case.Measured("one")),
            ("name", Expected("one_of", ("a", "b")), case.Measured("one_of")),
            ("name", Expected("contains", "a"), case.Measured("contains")),
            ("name", Expected("facts", (("a",),)), case.Measured("mentions")),
            ("name", Expected(ref=ValueRef("m")), case.Measured("one")),
        ],
    )
    def test_measures(self, name: str, expected: Expected, measured: case.Measured):
        asked = scenario(
            milestone("m", call("x")), milestone("n", state("reminder", "adds", {name: expected}), after=("m",))
        )
        (made,) = seen(asked, Play()).milestones.nodes[1].constraints
        assert made.measures == {name: measured}

    def test_all_facts_of_a_column(self):
        asked = scenario(milestone("m", state("reminder", "adds", row(content=facts(("milk", "oats"), ("bread",))))))
        texts = ["Bread and Oats", "bread", "milk, bread"]
        added = [Play().changes("add", "reminder", "n", reminder("n", content)) for content in texts]
        assert [score(asked, played) for played in added] == [1, 0, 1]

    def test_played(self):
        asked = scenario(milestone("m", state("reminder", "adds", row(content="bread", reminder_timestamp=5.0))))
        assert score(asked, Play().changes("add", "reminder", "n", reminder("n", "bread", 5.5))) == 1
        one_of = scenario(milestone("m", state("reminder", "adds", row(content=Expected("one_of", ("a", "b"))))))
        assert score(one_of, Play().changes("add", "reminder", "n", reminder("n", "b"))) == 1


class TestCalls:
    def test_alternatives_are_golden_calls(self):
        either = CallConstraint(
            (*call("a", x=Expected("one_of", (1, 2))).patterns, *call("b", y=Expected("any")).patterns)
        )
        golden = [
            {"tool": "a", "arguments": {"x": 1}},
            {"tool": "a", "arguments": {"x": 2}},
            {"tool": "b", "arguments": {}},
        ]
        assert only(either).rows[0]["tool_calls"] == golden

    def test_tolerances(self):
        measures = only(call("go", latitude=1.0, name="x")).measures
        assert measures == {"tool_calls": case.Measured("trace_exact", {"latitude": 0.001})}

    def test_a_listed_null_is_recorded_as_a_default(self):
        asked = scenario(milestone("m", call("search", name=None)))
        assert score(asked, Play().calls("search")) == 1
        assert score(asked, Play().calls("search", name="Ann")) == 0

    def test_attempts_go_by_the_name_in_the_text(self):
        asked = scenario(milestone("m", call("send", attempt=True)))
        assert score(asked, Play().calls("send", error="X")) == 1
        assert score(asked, Play().calls("add", content="send it")) == 1

    def test_and_by_the_arguments_if_some_are_named(self):
        mine = CallConstraint((*call("rm", key="c1").patterns, *call("rm", key="c2", sure=True).patterns), attempt=True)
        asked = scenario(milestone("m", mine))
        tried = [{"key": "c1"}, {"key": "c3"}, {"key": "c2"}, {"key": "c2", "sure": True}]
        assert [score(asked, Play().calls("rm", **given)) for given in tried] == [1, 0, 0, 1]

    def test_a_null_among_alternatives_is_a_default_too(self):
        asked = scenario(milestone("m", call("weather", days=Expected("one_of", (0, None)))))
        found = [score(asked, Play().calls("weather", **given)) for given in ({}, {"days": 0}, {"days": 1})]
        assert found == [1, 1, 0]

    def test_what_need_only_be_mentioned_is_not_compared(self):
        asked = scenario(milestone("m", call("send", content=facts(("milk",)), to="+1")))
        assert score(asked, Play().calls("send", content="bread", to="+1")) == 1

    def test_values_from_elsewhere(self):
        ref = ValueRef("m", path=("n",))
        asked = scenario(milestone("m", call("search")), milestone("n", call("use", n=Expected(ref=ref)), after=("m",)))
        assert score(asked, Play().calls("search", result={"n": 7}).calls("use", n=7)) == 1
        assert score(asked, Play().calls("search", result={"n": 7}).calls("use", n=8)) == 0.5

    def test_values_from_two_milestones_are_two_constraints(self):
        first, second = Expected(ref=ValueRef("a")), Expected(ref=ValueRef("b"))
        use = milestone("c", call("use", x=first, y=second), after=("a", "b"))
        asked = scenario(milestone("a", call("one")), milestone("b", call("two")), use)
        assert len(seen(asked, Play()).milestones.nodes[2].constraints) == 2
        assert score(asked, Play().calls("one", result=1).calls("two", result=2).calls("use", x=1, y=2)) == 1


class TestMessages:
    def test_a_fact_is_a_constraint(self):
        asked = scenario(milestone("m", say(facts(("wifi", "wi-fi"), ("off",), avoid=("sorry",)))))
        assert len(seen(asked, Play()).milestones.nodes[0].constraints) == 2
        found = [score(asked, Play().says(reply)) for reply in ("Wi-Fi is off", "Wifi is on", "Sorry, wifi is offline")]
        assert found == [1, 0, 1]

    def test_only_something_to_avoid_asks_for_any_message(self):
        asked = scenario(milestone("m", say(facts(avoid=("sorry",)))))
        assert [score(asked, Play()), score(asked, Play().says("sorry"))] == [0, 1]

    def test_values_in_facts(self):
        told = say(facts(("{t} degrees", "{t}°"), t=ValueRef("m", to="float", decimals=(0, 1))))
        asked = scenario(milestone("m", call("search")), milestone("n", told, after=("m",)))
        assert score(asked, Play().calls("search", result=21.5).says("It is 22 degrees")) == 1
        assert score(asked, Play().calls("search", result=21.5).says("It is 21.5° now")) == 1
        assert score(asked, Play().calls("search", result=21.5).says("It is 23 degrees")) == 0.5

    def test_alternatives_with_and_without_a_value(self):
        told = say(facts(("{t} degrees", "warm"), ("outside",), t=ValueRef("m")))
        asked = scenario(milestone("m", call("search")), milestone("n", told, after=("m",)))
        assert score(asked, Play().calls("search", result=21).says("Warm outside")) == 1
        assert score(asked, Play().calls("search", result=21).says("22 degrees outside")) == 0.5

    def test_a_value_that_is_the_whole_text(self):
        told = say(Expected("exact", ref=ValueRef("m")))
        asked = scenario(milestone("m", call("search")), milestone("n", told, after=("m",)))
        assert score(asked, Play().calls("search", result="Rome").says("Rome")) == 1
        assert score(asked, Play().calls("search", result="Rome").says("In Rome")) == 0.5

    def test_values_in_a_text(self):
        told = say(Expected("contains", "{t}", values={"t": ValueRef("m")}))
        asked = scenario(milestone("m", call("search")), milestone("n", told, after=("m",)))
        assert score(asked, Play().calls("search", result="Rome").says("In Rome.")) == 1
