"""The ToolTalk metric on sessions that have nothing to do with ToolTalk's files, and on some that have."""

import json

import pytest
from sandbox_grader.grading.metric import Subject, Verdict
from sandbox_grader.grading.similarity import exact
from sandbox_grader.papers.tooltalk import ToolTalk

from sandbox_mcp.engine.trajectory import (
    CallError,
    Message,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    SessionStarted,
    ToolCall,
    ToolSpec,
    assemble,
)  # fmt: skip
from tests.each import each

MODES = ("strict", "paper", "compat")
TOOLTALK = {"format": "tooltalk", "prefix_replay": True}


def tool(name, action):
    return ToolSpec(name=name, tool=name, domain="", action=action, description="", input_schema={"type": "object"})


TOOLS = (tool("send", True), tool("remove", True), tool("search", False))


def ask(text="?"):
    return lambda seq: Message(
        seq=seq, clock=0.0, sender="user", recipient="agent", content=text, visible_to=("user", "agent")
    )


def do(name, error=None, result=None, known=True, kind="execution", **arguments):
    fault = None if error is None else CallError(kind=kind, type="Error", message=error)
    return lambda seq: ToolCall(
        seq=seq, clock=0.0, call=f"c{seq}", batch=f"b{seq}", caller="agent", name=name, tool=name if known else None,
        arguments=arguments, result=result, error=fault,
    )  # fmt: skip


def session(*steps, tools=TOOLS, origin=None):
    events = [step(seq) for seq, step in enumerate(steps, start=1)]
    started = SessionStarted(session="s", scenario="s", tools=tools, origin=origin)
    return assemble([started, *events, SessionEnded(seq=len(events) + 1, clock=0.0, reason="user_ended")])


def want(name, action=None, result=None, error=None, **arguments):
    return ReferenceCall(tool=name, arguments=arguments, action=action, result=result, error=error)


def turns(*calls_per_turn):
    return tuple(ReferenceTurn(calls=tuple(calls)) for calls in calls_per_turn)


def grade(trajectory, *solutions, mode="strict", metric=None):
    return (metric or ToolTalk()).grade(Subject(trajectory, solutions), mode)


def details(verdict, kind):
    return [item for item in verdict.details if item["kind"] == kind]


class TestScores:
    @each("mode", MODES)
    def test_the_solution_itself_succeeds(self, mode):
        played = session(ask(), do("search", q="ann"), do("send", to="ann", content="Hi there"))
        verdict = grade(played, turns([want("search", q="ann"), want("send", to="ann", content="Hi there")]), mode=mode)
        assert verdict.values["success"] is True
        assert (verdict.values["precision"], verdict.values["recall"]) == (1.0, 1.0)

    @each("mode", MODES)
    def test_doing_nothing_achieves_nothing(self, mode):
        values = grade(session(ask()), turns([want("send", to="ann")]), mode=mode).values
        assert (values["recall"], values["success"], values["soft_success"]) == (0.0, False, 0.0)

    @each("mode", MODES)
    def test_an_action_nobody_wanted_is_incorrect(self, mode):
        values = grade(
            session(ask(), do("send", to="ann"), do("remove", id=1)), turns([want("send", to="ann")]), mode=mode
        ).values
        assert (values["bad_actions"], values["incorrect_action_rate"], values["success"]) == (1, 0.5, False)

    @each("mode", MODES)
    def test_a_query_nobody_wanted_only_costs_precision(self, mode):
        values = grade(
            session(ask(), do("send", to="ann"), do("search", q="x")), turns([want("send", to="ann")]), mode=mode
        ).values
        assert (values["precision"], values["success"]) == (0.5, True)

    @each("mode", MODES)
    def test_an_action_that_failed_is_not_incorrect_but_stays_an_action(self, mode):
        played = session(ask(), do("remove", error="no such id", id=9), do("send", to="ann"))
        values = grade(played, turns([want("send", to="ann")]), mode=mode).values
        assert (values["bad_actions"], values["actions"], values["success"]) == (0, 2, True)

    @each("mode", MODES)
    def test_the_same_action_twice_is_one_too_many(self, mode):
        played = session(ask(), do("send", to="ann"), do("send", to="ann"))
        assert grade(played, turns([want("send", to="ann")]), mode=mode).values["bad_actions"] == 1

    @each("mode", MODES)
    def test_an_unknown_tool_is_no_action(self, mode):
        played = session(ask(), do("sned", known=False, error="unknown", kind="unknown_tool"))
        values = grade(played, turns([want("send", to="ann")]), mode=mode).values
        assert (values["predictions"], values["actions"], values["bad_actions"]) == (1, 0, 0)

    @each("mode", MODES)
    def test_where_nothing_is_wanted_recall_is_whole(self, mode):
        values = grade(session(ask()), turns([]), mode=mode).values
        assert (values["recall"], values["success"]) == (1.0, True)

    def test_free_text_may_be_worded_differently(self):
        played = session(ask(), do("send", to="ann", content="The meeting starts at noon"))
        solution = turns([want("send", to="ann", content="The meetings start at noon!")])
        assert grade(played, solution).values["success"] is True
        assert grade(played, solution, metric=ToolTalk(similarity=exact)).values["success"] is False

    def test_names_of_free_text_arguments_are_configuration(self):
        played = session(ask(), do("send", to="to Ann"))
        solution = turns([want("send", to="To: Ann")])
        assert grade(played, solution).values["success"] is False
        assert grade(played, solution, metric=ToolTalk(free_text=frozenset({"to"}))).values["success"] is True

    def test_calls_may_come_in_any_turn_of_a_session_that_was_not_replayed(self):
        played = session(ask(), ask(), do("send", to="ann"))
        assert grade(played, turns([want("send", to="ann")], [])).values["success"] is True

    def test_but_must_come_in_their_own_where_it_was(self):
        played = session(ask(), ask(), do("send", to="ann"), origin={"format": "other", "prefix_replay": True})
        solution = turns([want("send", to="ann")], [])
        assert grade(played, solution, mode="paper").values["success"] is False
        assert grade(played, solution, mode="compat").values["success"] is True

    def test_the_largest_matching_counts_where_the_greedy_one_is_smaller(self):
        played = session(ask(), do("send", to="ann", content="Hi"), do("send", to="ann"))
        solution = turns([want("send", to="ann"), want("send", to="ann", content="Hi")])
        assert grade(played, solution, mode="compat").values["matches"] == 1
        assert grade(played, solution, mode="paper").values["matches"] == 2


class TestSolutions:
    def test_the_alternative_served_best_counts(self):
        played = session(ask(), do("remove", id=1))
        verdict = grade(played, turns([want("send", to="ann")]), turns([want("remove", id=1)]))
        assert (verdict.values["success"], verdict.values["solution"]) == (True, 1)

    def test_of_equally_good_ones_the_first(self):
        one = turns([want("send", to="ann")])
        assert grade(session(ask(), do("send", to="ann")), one, one).values["solution"] == 0

    def test_a_logs_own_reference_is_used_where_no_other_is_given(self):
        started = SessionStarted(session="s", scenario="s", tools=TOOLS, reference=(turns([want("send", to="ann")]),))
        verdict = grade(assemble([started, ask()(1), do("send", to="ann")(2)]))
        assert verdict.values["success"] is True

    @each("mode", MODES)
    def test_without_a_reference_nothing_is_said(self, mode):
        verdict = grade(session(ask()), mode=mode)
        assert verdict.values == {}
        assert "no reference solution" in verdict.inconclusive


class TestLabels:
    def test_a_tool_that_nobody_labelled_is_counted_as_a_query(self):
        values = grade(session(ask(), do("send", to="ann"), tools=()), turns([want("remove", id=1)])).values
        assert (values["unlabelled"], values["actions"]) == (1, 0)

    def test_the_reference_may_label_it(self):
        values = grade(session(ask(), do("send", to="bob"), tools=()), turns([want("send", True, to="ann")])).values
        assert (values["unlabelled"], values["bad_actions"]) == (0, 1)

    def test_the_sessions_own_list_goes_first(self):
        values = grade(session(ask(), do("search", q=2)), turns([want("search", True, q=1)])).values
        assert values["actions"] == 0


class TestReasons:
    def reason(self, *steps, solution):
        return details(grade(session(ask(), *steps), solution), "call")[-1]["reason"]

    def test_a_match_needs_none(self):
        verdict = grade(session(ask(), do("send", to="ann")), turns([want("send", to="ann")]))
        assert details(verdict, "call") == [
            {
                "kind": "call", "turn": 0, "call": "c2", "tool": "send", "action": True,
                "match": True, "matches": 0, "bad": False, "reason": None,
            }
        ]  # fmt: skip
        assert details(verdict, "reference") == [
            {"kind": "reference", "turn": 0, "tool": "send", "matched": True, "by": "c2"}
        ]

    def test_the_difference_to_the_call_that_is_missing(self):
        reason = self.reason(do("send", to="bob"), solution=turns([want("send", to="ann")]))
        assert reason == "argument 'to' is 'bob' where the reference has 'ann'"

    def test_a_tool_that_the_reference_does_not_use(self):
        assert self.reason(do("remove"), solution=turns([want("send")])) == "the reference never calls this tool"

    def test_a_call_too_many(self):
        reason = self.reason(do("send", to="ann"), do("send", to="ann"), solution=turns([want("send", to="ann")]))
        assert reason == "the reference calls this tool less often"

    def test_a_tool_that_does_not_exist(self):
        assert self.reason(do("sned", known=False), solution=turns([want("send")])) == "there is no tool 'sned'"

    def test_a_call_in_the_wrong_turn(self):
        played = session(ask(), ask(), do("send", to="ann"), origin={"format": "other", "prefix_replay": True})
        verdict = grade(played, turns([want("send", to="ann")], []))
        assert details(verdict, "call")[0]["reason"] == "the reference makes this call in another turn"

    def test_details_are_json(self):
        verdict = grade(session(ask(), do("send", to=["a"])), turns([want("send", to=["b"])]))
        assert json.loads(json.dumps(verdict.details)) == list(verdict.details)


class TestFailures:
    def classes(self, *steps, solution, mode="strict"):
        verdict = grade(session(*steps), solution, mode=mode)
        return [(item["turn"], item["failure"]) for item in details(verdict, "turn")]

    def test_an_action_in_a_turn_that_asks_for_none_is_premature(self):
        steps = ask(), do("send", to="?"), ask(), do("send", to="ann")
        assert self.classes(*steps, solution=turns([], [want("send", to="ann")])) == [(0, "premature")]

    def test_an_omitted_call_is_faulty_planning(self):
        assert self.classes(ask(), ask(), solution=turns([], [want("send", to="ann")])) == [(1, "faulty_planning")]

    def test_a_wrong_argument_is_an_incorrect_invocation(self):
        steps = ask(), do("send", to="bob")
        assert self.classes(*steps, solution=turns([want("send", to="ann")])) == [(0, "incorrect_invocation")]

    def test_where_turns_do_not_correspond_the_session_is_one_turn(self):
        steps = ask(), ask(), ask(), do("send", to="bob")
        assert self.classes(*steps, solution=turns([want("send", to="ann")])) == [(0, "incorrect_invocation")]

    @each("mode", MODES)
    def test_a_session_that_succeeded_has_no_failures(self, mode):
        steps = ask(), do("search", q="x"), do("send", to="ann")
        assert self.classes(*steps, solution=turns([want("send", to="ann")]), mode=mode) == []

    def test_a_turn_whose_list_of_calls_is_empty_asks_in_the_authors_code_alone(self):
        origin = {**TOOLTALK, "empty_turns": [0]}
        tools = (tool("AddAlarm", True), tool("DeleteAlarm", True))
        played = session(ask(), do("AddAlarm"), ask(), do("DeleteAlarm"), tools=tools, origin=origin)
        solution = turns([], [want("DeleteAlarm")])
        assert grade(played, solution, mode="compat").values["faulty_planning"] == 1
        assert grade(played, solution, mode="paper").values["premature"] == 1


class TestToolTalkSessions:
    TOOLS = (tool("SendEmail", True), tool("SendMessage", True), tool("AddReminder", True))

    def grade(self, step, wanted, mode):
        return grade(session(ask(), step, tools=self.TOOLS, origin=TOOLTALK), turns([wanted]), mode=mode)

    def test_a_wrong_receiver_is_seen_by_all_but_the_authors_code(self):
        step, wanted = (
            do("SendMessage", receiver="bob", message="Hi"),
            want("SendMessage", receiver="ann", message="Hi"),
        )
        seen = {mode: self.grade(step, wanted, mode).values["bad_actions"] for mode in MODES}
        assert seen == {"strict": 1, "paper": 1, "compat": 0}

    @each("to", [["someone"], "ann@mail.org", ["ann@mail.org", "b c"]])
    def test_a_malformed_recipient_excuses_an_action_in_the_authors_code_alone(self, to):
        step, wanted = do("SendEmail", error="not valid", to=to), want("SendEmail", to=["ann@mail.org"])
        seen = {mode: self.grade(step, wanted, mode).values["bad_actions"] for mode in MODES}
        assert seen == {"strict": 1, "paper": 1, "compat": 0}

    def test_any_other_failure_excuses_it_everywhere(self):
        step = do("SendEmail", error="User is not logged in", kind="refused", to=["someone"])
        for mode in MODES:
            assert self.grade(step, want("SendEmail", to=["ann@mail.org"]), mode).values["bad_actions"] == 0

    def test_where_the_original_fails_there_is_no_verdict(self):
        step = do("AddReminder", task="a", due_date=None)
        wanted = want("AddReminder", task="a", due_date="2023-09-11 00:00:00")
        assert "original evaluator fails on a call of AddReminder" in self.grade(step, wanted, "compat").inconclusive
        assert self.grade(step, wanted, "paper").values["recall"] == 0.0

    def test_its_rules_are_not_for_other_sessions(self):
        played = session(ask(), do("SendMessage", receiver="bob", message="Hi"), tools=self.TOOLS)
        assert (
            grade(played, turns([want("SendMessage", receiver="ann", message="Hi")]), mode="compat").values["recall"]
            == 0
        )


class TestSummary:
    def graded(self, *pairs, mode="strict"):
        subjects = [Subject(session(*steps), (solution,)) for steps, solution in pairs]
        return [(subject, ToolTalk().grade(subject, mode)) for subject in subjects]

    def test_micro_averages_weigh_calls_and_macro_averages_sessions(self):
        long = turns([want("send", to=name) for name in "abc"])
        graded = self.graded(
            ((ask(), do("send", to="a"), do("send", to="b"), do("send", to="c")), long),
            ((ask(), do("send", to="x")), turns([want("send", to="y")])),
        )
        report = ToolTalk().summarise(graded, "strict")
        assert report["micro"]["recall"] == 0.75
        assert report["macro"]["recall"] == 0.5
        assert report["success_rate"] == 0.5
        assert report["counts"]["bad_actions"] == 1

    def test_shares_of_failures(self):
        wanted = turns([want("send", to="y")])
        graded = self.graded(((ask(), do("send", to="x")), wanted), ((ask(),), wanted), ((ask(),), wanted))
        failures = ToolTalk().summarise(graded, "strict")["failures"]
        assert failures["total"] == 3
        assert failures["faulty_planning"] == {"count": 2, "share": pytest.approx(2 / 3)}
        assert failures["premature"] == {"count": 0, "share": 0.0}

    def test_inconclusive_sessions_are_counted_and_not_averaged(self):
        graded = self.graded(((ask(), do("send", to="a")), turns([want("send", to="a")])))
        graded.append((graded[0][0], Verdict(inconclusive="no reference")))
        report = ToolTalk().summarise(graded, "strict")
        assert (report["sessions"], report["inconclusive"], report["success_rate"]) == (1, 1, 1.0)

    def test_of_no_sessions_nothing_is_averaged(self):
        report = ToolTalk().summarise([], "compat")
        assert (report["mode"], report["success_rate"], report["micro"]["recall"]) == ("compat", None, None)
        assert report["failures"]["premature"] == {"count": 0, "share": None}
