"""The ToolScan metric on sessions of ours: faults from the log, repetitions in a world that changes."""

import json

from sandbox_grader.grading.metric import Subject, Verdict
from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.papers.toolscan import ToolScan
from sandbox_grader.papers.toolscan.scores import PATTERNS

from sandbox_mcp.engine.trajectory import (
    CallError,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    SessionStarted,
    ToolCall,
    assemble,
)  # fmt: skip
from sandbox_mcp.engine.world.state import Change
from tests.each import each

CHANGE = (Change("setting", "1", None, {"wifi": True}),)


def do(name="search", kind=None, changes=(), caller="agent", known=True, **arguments):
    """A call; ``kind`` is the kind of its fault."""
    fault = None if kind is None else CallError(kind=kind, type="Error", message="no")
    return lambda seq: ToolCall(
        seq=seq, clock=0.0, call=f"c{seq}", batch=f"b{seq}", caller=caller, name=name, tool=name if known else None,
        arguments=arguments, error=fault, changes=changes,
    )  # fmt: skip


def session(*steps, reason="user_ended"):
    events = [step(seq) for seq, step in enumerate(steps, start=1)]
    end = [] if reason is None else [SessionEnded(seq=len(events) + 1, clock=0.0, reason=reason)]
    return assemble([SessionStarted(session="s", scenario="s"), *events, *end])


def solution(*calls):
    return (ReferenceTurn(calls=tuple(ReferenceCall(tool=tool, arguments=given) for tool, given in calls)),)


def grade(trajectory, *solutions, mode="strict", **settings):
    return ToolScan(**settings).grade(Subject(trajectory, solutions), mode)


def errors(*steps, mode="strict"):
    """The errors that are not nought, of a session whose solution is one search."""
    counted = grade(session(*steps), solution(("search", {})), mode=mode).values["errors"]
    return {name: count for name, count in counted.items() if count}


class TestPatterns:
    @each("mode", ["strict", "paper", "compat"])
    def test_a_perfect_session(self, mode):
        values = grade(session(do("search", q=1)), solution(("search", {"q": 1})), mode=mode).values
        assert {values[name] for name in (*PATTERNS, "mean_of_seven")} == {1.0}
        assert (values["success"], values["finished"]) == (True, True)

    @each(
        ("kind", "pattern"),
        [
            ("unknown_tool", "ifn"),
            ("invalid_format", "ife"),
            ("unknown_argument", "ian"),
            ("missing_argument", "missing_required"),
            ("wrong_type", "iat"),
        ],
    )
    def test_faults_of_the_log_are_patterns(self, kind, pattern):
        assert errors(do(), do(kind=kind)) == {pattern: 1}

    @each("kind", ["execution", "refused"])
    def test_the_tools_own_errors_and_refusals_are_none(self, kind):
        assert errors(do(), do("other", kind=kind)).keys() <= {"excess"}

    def test_a_share_is_of_the_calls_made(self):
        values = grade(
            session(do(), do(), do(kind="wrong_type"), do(kind="wrong_type")), solution(("search", {}))
        ).values
        assert (values["iat"], values["calls_made"], values["denominator"]) == (0.5, 4, "calls_made")
        assert values["by_steps_limit"]["iat"] == 0.8

    def test_the_limit_is_a_setting(self):
        values = grade(session(do(kind="wrong_type")), solution(("search", {})), steps_limit=4).values
        assert values["by_steps_limit"]["iat"] == 0.75

    def test_missing_and_wrong_values_are_of_the_solutions_calls(self):
        wanted = solution(("search", {"q": 1}), ("search", {"q": 2}), ("send", {}), ("drop", {}))
        values = grade(session(do(q=1), do(q=3)), wanted).values
        assert (values["iac"], values["iav"]) == (0.5, 0.75)
        assert (values["errors"]["iac"], values["errors"]["iav"]) == (2, 1)

    def test_a_missing_argument_counts_under_values(self):
        wanted = solution(("search", {"q": 1}), ("send", {}))
        values = grade(session(do(kind="missing_argument"), do(q=1), do("send")), wanted).values
        assert (values["iav"], values["ian"], values["errors"]["iav"]) == (0.5, 1.0, 0)

    def test_no_share_falls_below_nothing(self):
        values = grade(session(*[do(kind="missing_argument")] * 5), solution(("search", {"q": 1}))).values
        assert values["iav"] == 0.0

    def test_an_empty_session_is_scored_like_any_other(self):
        values = grade(session(), solution(("search", {}))).values
        assert (values["iac"], values["ife"], values["success"]) == (0.0, 1.0, False)

    def test_calls_of_others_do_not_count(self):
        values = grade(session(do(), do(kind="wrong_type", caller="user")), solution(("search", {}))).values
        assert (values["calls_made"], values["iat"]) == (1, 1.0)

    def test_calls_beyond_the_solution_are_counted_and_cost_nothing(self):
        values = grade(session(do(), do("send")), solution(("search", {}))).values
        assert (values["errors"]["excess"], values["mean_of_seven"], values["success"]) == (1, 1.0, True)

    def test_paper_and_strict_are_alike(self):
        played, wanted = session(do(q=2), do(kind="wrong_type")), solution(("search", {"q": 1}))
        assert grade(played, wanted, mode="paper") == grade(played, wanted, mode="strict")

    def test_free_text_may_be_worded_differently_on_demand(self):
        played, wanted = session(do(content="Meeting at noon!")), solution(("search", {"content": "meeting at noon"}))
        assert grade(played, wanted).values["iav"] == 0.0
        assert grade(played, wanted, similarity=rouge_l).values["iav"] == 1.0

    def test_markers_of_toolscans_files_mean_nothing_here(self):
        assert grade(session(do(q="x")), solution(("search", {"q": "optional"}))).values["iav"] == 0.0


class TestRepetition:
    def test_the_same_call_again(self):
        assert errors(do(q=1), do(q=1))["rac"] == 1

    @each("other", [{"q": 2}, {}, {"q": 1, "r": 1}])
    def test_with_other_arguments_it_is_none(self, other):
        assert "rac" not in errors(do(q=1), do(**other))

    def test_null_arguments_do_not_make_a_difference(self):
        assert errors(do(q=1), do(q=1.0, r=None))["rac"] == 1

    def test_after_a_change_of_the_world_it_is_none(self):
        assert "rac" not in errors(do(q=1), do("set", changes=CHANGE), do(q=1))

    def test_whoever_made_the_change(self):
        assert "rac" not in errors(do(q=1), do("set", changes=CHANGE, caller="user"), do(q=1))

    def test_its_own_change_does_not_excuse_it(self):
        assert errors(do("send", changes=CHANGE), do("send", changes=CHANGE), do("send", changes=CHANGE))["rac"] == 2

    def test_a_call_that_was_kept_from_running_is_not_repeated(self):
        assert "rac" not in errors(do(q=1, kind="wrong_type"), do(q=1))
        assert "rac" not in errors(do(q=1), do(q=1, kind="refused"))

    def test_one_that_failed_by_itself_is(self):
        assert errors(do(q=1, kind="execution"), do(q=1, kind="execution"))["rac"] == 1

    def test_the_details_name_the_call_repeated(self):
        verdict = grade(session(do(q=1), do("send"), do(q=1)), solution(("search", {"q": 1})))
        assert (verdict.details[2]["pattern"], verdict.details[2]["reason"]) == ("rac", "repeats c1")

    def test_to_the_authors_code_a_change_does_not_matter(self):
        assert errors(do(q=1), do("set", changes=CHANGE), do(q=1), mode="compat") == {"rac": 1}


class TestAsCoded:
    """What the authors' code would count in a session that its loop did not play."""

    @each(
        ("step", "counted"),
        [
            (do(kind="unknown_tool", known=False), {"ifn": 1}),
            (do(kind="unknown_argument"), {"ian": 1}),
            (do(kind="missing_argument"), {"ian": 1, "missing_required": 1}),
            (do(kind="wrong_type"), {"iat": 1}),
            (do("", kind="invalid_format", known=False), {"ife": 2}),
            (do(kind="invalid_format"), {"ife": 1, "ian": 1}),
            (do("serch", kind="invalid_format", known=False), {"ife": 1, "ifn": 1}),
        ],
    )
    def test_counts(self, step, counted):
        assert errors(do(), step, mode="compat") == counted

    def test_nothing_is_bounded(self):
        values = grade(
            session(do(), *[do("", kind="invalid_format", known=False)] * 6), solution(("search", {})), mode="compat"
        ).values
        assert (values["ife"], values["denominator"]) == (-0.2, "steps_limit")

    def test_an_empty_session_scores_nothing(self):
        values = grade(session(), solution(("search", {})), mode="compat").values
        assert {values[name] for name in PATTERNS} == {0.0}

    def test_a_solution_without_calls_has_no_verdict(self):
        assert "divides" in grade(session(do()), solution(), mode="compat").inconclusive

    def test_nor_has_one_of_which_nothing_tells_whether_it_finished(self):
        graded = grade(session(do(), reason="recorded"), solution(("search", {})), mode="compat")
        assert "whether the run finished" in graded.inconclusive

    def test_nor_has_a_session_without_a_solution(self):
        assert "no reference solution" in grade(session(do()), mode="compat").inconclusive


class TestFigures:
    @each(("reason", "finished"), [("user_ended", True), ("max_turns", False), ("recorded", None), (None, None)])
    def test_how_it_ended(self, reason, finished):
        assert grade(session(do(), reason=reason), solution(("search", {}))).values["finished"] is finished

    def test_success_needs_an_end_unless_nothing_tells(self):
        ended = {
            reason: grade(session(do(), reason=reason), solution(("search", {}))).values["success"]
            for reason in ("max_turns", "recorded")
        }
        assert ended == {"max_turns": False, "recorded": True}

    @each("calls", [(), (do(q=2),)])
    def test_and_every_call_with_the_right_values(self, calls):
        assert grade(session(*calls), solution(("search", {"q": 1}))).values["success"] is False

    def test_without_a_solution_five_patterns_remain(self):
        values = grade(session(do(kind="wrong_type"), do())).values
        assert (values["iat"], values["iac"], values["iav"], values["mean_of_seven"], values["success"]) == (
            0.5,
            *[None] * 4,
        )

    def test_the_log_may_carry_its_solution(self):
        started = SessionStarted(session="s", scenario="s", reference=(solution(("search", {})),))
        assert ToolScan().grade(Subject(assemble([started, do()(1)])), "strict").values["iac"] == 1.0

    def test_details_say_what_became_of_the_solutions_calls(self):
        verdict = grade(session(do(q=2)), solution(("search", {"q": 1}), ("send", {})))
        assert [item for item in verdict.details if item["kind"] == "reference"] == [
            {"kind": "reference", "tool": "search", "status": "wrong_value", "argument": "q"},
            {"kind": "reference", "tool": "send", "status": "not_called", "argument": None},
        ]
        assert json.loads(json.dumps(verdict.details)) == list(verdict.details)


class TestSummary:
    def graded(self, *sessions):
        subjects = [Subject(item, (solution(("search", {"q": 1})),)) for item in sessions]
        return [(subject, ToolScan().grade(subject, "strict")) for subject in subjects]

    def test_scores_are_plain_means_and_errors_sums(self):
        report = ToolScan().summarise(self.graded(session(do(q=1)), session(do(q=2), do(kind="wrong_type"))), "strict")
        assert (report["iav"], report["iat"], report["success"], report["finished"]) == (0.5, 0.75, 0.5, 1.0)
        assert (report["errors"]["iat"], report["sessions"], report["denominator"]) == (1, 2, "calls_made")

    def test_figures_that_a_session_lacks_are_left_out(self):
        graded = self.graded(session(do(q=1)))
        bare = Subject(session(do(q=1)))
        graded.append((bare, ToolScan().grade(bare, "strict")))
        report = ToolScan().summarise(graded, "strict")
        assert (report["iac"], report["ife"], report["answer_correct"]) == (1.0, 1.0, None)

    def test_inconclusive_sessions_are_counted_and_not_averaged(self):
        graded = self.graded(session(do(q=1)))
        report = ToolScan().summarise([*graded, (graded[0][0], Verdict(inconclusive="?"))], "compat")
        assert (report["sessions"], report["inconclusive"], report["mode"]) == (1, 1, "compat")

    def test_of_no_sessions_nothing_is_averaged(self):
        report = ToolScan().summarise([], "strict")
        assert (report["sessions"], report["iac"], report["errors"]) == (0, None, {})

    def test_no_figure_is_called_a_success_rate(self):
        assert not [name for name in ToolScan().summarise(self.graded(session()), "strict") if "rate" in name]
