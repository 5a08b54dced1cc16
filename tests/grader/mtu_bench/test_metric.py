"""The metric on sessions of any origin: settings, turns, alternatives, what is inconclusive, and summaries."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.grading.metric import Subject, Verdict
from sandbox_grader.papers.mtu_bench import MtuBench

from sandbox_mcp.engine.trajectory import CallError, ReferenceTurn
from tests.each import each
from tests.grader.mtu_bench.building import Calls, grade, session, solution

ON: Calls = [("lamp_on", {"room": "hall"})]
OFF: Calls = [("lamp_off", {"room": "hall"})]
BOTH: Calls = [*ON, *OFF]
NOTHING: Calls = []


# -- settings -----------------------------------------------------------------------------------------------------


@each(
    ("wanted", "setting", "scores"),
    [
        ([ON], "S-S", {"TS", "PS"}),
        ([NOTHING], "S-S", {"TS", "PS"}),
        ([BOTH], "S-M", {"TN", "TO"}),
        ([ON, NOTHING], "M-S", {"TS", "PS", "ATS", "SATS", "SR", "TPR"}),
        ([NOTHING, BOTH], "M-M", {"TN", "TO", "ATS", "SATS", "SR", "TPR"}),
    ],
)
@each("mode", ["compat", "paper", "strict"])
def test_the_setting_is_computed_from_the_reference(
    wanted: list[Calls], setting: str, scores: set[str], mode: Any
) -> None:
    values = grade(wanted, wanted, mode=mode).values
    assert values["setting"] == setting
    assert values.keys() - {"setting", "turns", "right", "errors", "kinds"} == scores


def test_one_alternative_with_several_calls_makes_the_setting_multi_tool() -> None:
    assert grade([ON], [ON], [BOTH]).values["setting"] == "S-M"


# -- turns --------------------------------------------------------------------------------------------------------


def test_calls_belong_to_the_user_message_before_them() -> None:
    details = grade([ON, OFF], [ON, OFF]).details
    assert [(detail["id"], [call["tool"] for call in detail["pred"]]) for detail in details] == [
        ("s/1", ["lamp_on"]),
        ("s/2", ["lamp_off"]),
    ]


def test_right_calls_in_the_wrong_turn_are_wrong() -> None:
    assert grade([BOTH, NOTHING], [ON, OFF]).values["ATS"] == 0


def test_a_session_that_stops_early_called_nothing_in_the_rest() -> None:
    values = grade([ON], [ON, OFF]).values
    assert (values["turns"], values["ATS"], values["errors"]["missed"]) == (2, 0.5, 1)


def test_calls_after_the_reference_are_excess() -> None:
    values = grade([ON, NOTHING, OFF], [ON]).values
    assert (values["turns"], values["errors"]["excessive"]) == (3, 1)


def test_small_talk_after_the_reference_is_no_turn() -> None:
    assert grade([ON, NOTHING, NOTHING], [ON]).values["turns"] == 1


def test_calls_of_the_user_and_messages_sent_as_a_tool_do_not_count() -> None:
    calls: Calls = [*ON, ("send_message_to_user", {})]
    assert grade([calls], [ON], user_channel="tool").values["PS"] == 1
    assert grade([calls], [ON], user_channel="harness").values["PS"] == 0


def test_calls_that_failed_count_like_others() -> None:
    failure = CallError(kind="execution", type="ConnectionError", message="no wifi")
    assert grade([ON], [ON], results=[failure]).values["PS"] == 1


def test_a_call_whose_arguments_could_not_be_read_is_a_fault_of_format() -> None:
    fault = CallError(kind="invalid_format", type="ValueError", message="no JSON")
    values = grade([[("lamp_on", {})]], [[("lamp_on", {})]], results=[fault]).values
    assert (values["TS"], values["PS"], values["errors"]["format"]) == (1, 0, 1)


# -- alternatives -------------------------------------------------------------------------------------------------


def test_the_best_alternative_counts() -> None:
    assert grade([OFF], [ON], [OFF]).values["PS"] == 1


def test_alternatives_are_taken_whole() -> None:
    values = grade([ON, ON], [ON, OFF], [OFF, ON]).values
    assert values["ATS"] == 0.5


def test_among_alternatives_right_turns_matter_before_scores() -> None:
    verdict = grade([ON, ON], [BOTH, BOTH], [ON, NOTHING], mode="strict")
    assert verdict.values["ATS"] == 0.5


def test_a_shorter_alternative_is_not_filled_up_to_a_longer_one() -> None:
    assert grade([ON], [ON], [ON, OFF]).values["turns"] == 1


# -- modes --------------------------------------------------------------------------------------------------------


def test_single_tool_settings_hold_excess_against_the_agent_except_in_compat() -> None:
    scores = {mode: grade([BOTH], [ON], mode=mode).values for mode in ("compat", "paper", "strict")}
    assert {mode: (values["TS"], values["PS"]) for mode, values in scores.items()} == {
        "compat": (1, 1), "paper": (0, 0), "strict": (0, 0),
    }  # fmt: skip


def test_compat_holds_sessions_of_any_origin_against_the_reference() -> None:
    wanted: list[Calls] = [[("find", {"city": "York"})]]
    assert grade([[("find", {"city": "New York"})]], wanted, mode="compat").values["PS"] == 1
    assert grade([[("find", {"city": "New York"})]], wanted, mode="paper").values["PS"] == 0


def test_compat_sees_only_the_last_of_two_calls_of_a_tool() -> None:
    twice: Calls = [("set", {"n": 1}), ("set", {"n": 2})]
    assert grade([twice], [twice], mode="compat").details[0]["pred"] == {"set": {"n": 2}}
    assert grade([twice], [twice], mode="paper").details[0]["right"]


def test_details_explain_a_turn() -> None:
    assert grade([OFF], [ON]).details == [
        {
            "id": "s/1",
            "gt": [{"tool": "lamp_on", "arguments": {"room": "hall"}}],
            "pred": [{"tool": "lamp_off", "arguments": {"room": "hall"}}],
            "ts": 0.0,
            "ps": 0.0,
            "right": False,
            "error": "incorrect",
            "kinds": ["tool_selection"],
        }
    ]


# -- inconclusive -------------------------------------------------------------------------------------------------


def test_without_a_reference_nothing_can_be_said() -> None:
    verdict = MtuBench().grade(Subject(session(ON)), "strict")
    assert verdict == Verdict(inconclusive="there is no reference solution to compare with")


def test_the_reference_of_the_log_serves_where_the_subject_has_none() -> None:
    verdict = MtuBench().grade(Subject(session(ON, reference=(solution(ON),))), "strict")
    assert verdict.values["PS"] == 1


@each("reason", ["agent_failed", "user_failed", "abandoned"])
def test_a_session_that_broke_is_not_scored(reason: Any) -> None:
    assert reason in (grade([ON], [ON], end=reason).inconclusive or "")


def test_a_log_that_was_cut_off_is_not_scored() -> None:
    assert "ended" in (grade([ON], [ON], end=None).inconclusive or "")


ROW: dict[str, Any] = {"id": "S-S_0", "answer": {}}


@each("rows", [None, {}, [], ["S-S_0"], [ROW | {"id": 1}], [ROW | {"answer": {"a": "b"}}], [ROW, ROW]])
def test_a_log_of_the_benchmark_with_damaged_rows_is_not_scored(rows: Any) -> None:
    origin = {"format": "mtu", "setting": "S-S", "form": "S-S", "rows": rows}
    assert "import it again" in (grade([ON], [ON], origin=origin).inconclusive or "")


@each("origin", [{}, {"setting": "S-S"}, {"setting": "S-S", "form": "X"}])
def test_a_log_of_the_benchmark_without_its_setting_is_not_scored(origin: dict[str, str]) -> None:
    damaged = {"format": "mtu", "rows": [ROW], **origin}
    assert "import it again" in (grade([ON], [ON], origin=damaged).inconclusive or "")


# -- summaries ----------------------------------------------------------------------------------------------------


def summary(*verdicts: Verdict, mode: Any = "paper") -> dict[str, Any]:
    subject = Subject(session())
    return dict(MtuBench().summarise([(subject, verdict) for verdict in verdicts], mode))


def test_a_summary_by_setting() -> None:
    verdicts = grade([ON], [ON]), grade([OFF], [ON]), grade([ON], [ON]), grade([BOTH, ON], [BOTH, OFF])
    assert summary(*verdicts) == {
        "S-S": {
            "TS": 66.67, "PS": 66.67, "avg": 66.67, "right": 66.67, "n": 3, "dialogues": 3,
            "errors": {"missed": 0, "excessive": 0, "incorrect": 1, "parameter": 0, "format": 0, "sum": 1},
            "kinds": {"tool_selection": 1},
        },
        "M-M": {
            "TN": 50.0, "TO": 35.36, "ATS": 50.0, "SATS": 50.0, "SR": 0.0, "TPR": 50.0, "avg": 39.23,
            "right": 50.0, "n": 2, "dialogues": 1,
            "errors": {"missed": 0, "excessive": 0, "incorrect": 1, "parameter": 0, "format": 0, "sum": 1},
            "kinds": {"wrong_tool": 1},
        },
    }  # fmt: skip


def test_turns_weigh_the_same_in_ts_and_dialogues_in_ats() -> None:
    long = grade([ON, ON, ON], [ON, ON, ON])
    short = grade([OFF, OFF], [ON, ON])
    figures = summary(long, short)["M-S"]
    assert (figures["TS"], figures["ATS"], figures["SR"]) == (60.0, 50.0, 50.0)


def test_figures_do_not_depend_on_the_order_of_sessions() -> None:
    thirds = [grade([ON] * right + [OFF] * (3 - right), [ON] * 3) for right in (0, 1, 1, 1, 2, 2, 3, 1) * 10]
    assert summary(*thirds)["M-S"] == summary(*thirds[::-1])["M-S"] == summary(*sorted(thirds, key=str))["M-S"]


def test_right_sees_arguments_where_tn_and_to_do_not() -> None:
    values = grade([[*ON, ("lamp_off", {"room": "attic"})]], [BOTH], mode="strict").values
    assert (values["TN"], values["TO"], values["right"]) == (1, 1, 0)


def test_inconclusive_sessions_are_counted_and_not_averaged() -> None:
    assert summary(grade([ON], [ON]), grade([ON], [ON], end=None))["inconclusive"] == 1
    assert summary(grade([ON], [ON], end=None)) == {"inconclusive": 1}
    assert summary() == {}


# -- laws ---------------------------------------------------------------------------------------------------------

calls = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.dictionaries(st.sampled_from("xy"), st.integers(0, 2), max_size=2)),
    max_size=3,
)
dialogues = st.lists(calls, min_size=1, max_size=4)
modes = st.sampled_from(["compat", "paper", "strict"])


@given(dialogues, dialogues, modes)
def test_scores_are_shares_and_every_turn_is_explained(done: list[Calls], wanted: list[Calls], mode: Any) -> None:
    verdict = grade(done, wanted, mode=mode)
    scores = [value for value in verdict.values.values() if isinstance(value, float)]
    assert all(0 <= score <= 1 for score in scores)
    assert len(verdict.details) == verdict.values["turns"]


@given(dialogues)
def test_doing_what_the_reference_does_is_perfect(wanted: list[Calls]) -> None:
    values = grade(wanted, wanted, mode="strict").values
    assert {value for value in values.values() if isinstance(value, float)} == {1.0}
    assert values["errors"]["sum"] == 0


@given(dialogues, dialogues)
def test_a_turn_without_a_mistake_is_right_and_the_other_way_round(done: list[Calls], wanted: list[Calls]) -> None:
    assert all(detail["right"] == (detail["error"] is None) for detail in grade(done, wanted).details)


@given(dialogues, dialogues)
def test_another_reference_never_hurts_the_share_of_right_turns(done: list[Calls], wanted: list[Calls]) -> None:
    lone = [detail["right"] for detail in grade(done, wanted).details]
    chosen = [detail["right"] for detail in grade(done, wanted, done).details]
    assert sum(chosen) / len(chosen) >= sum(lone) / len(lone)


def test_a_reference_without_turns_wants_nothing() -> None:
    subject = Subject(session(ON), ((),))
    assert MtuBench().grade(subject, "strict").values["errors"]["excessive"] == 1
    assert MtuBench().grade(Subject(session(()), ((ReferenceTurn(),),)), "strict").values["PS"] == 1
