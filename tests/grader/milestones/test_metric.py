"""The metric as reports see it: values, what stands beside the score, what is not scored, and summaries."""

from typing import Any

import pytest
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Mode, Subject, Verdict
from sandbox_grader.grading.metrics import FAMILIES, families, metric
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.milestones import ToolSandbox
from sandbox_grader.milestones.baselines import REFUSAL, idle, refusing
from sandbox_grader.milestones.metric import corrected
from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import EndReason, SessionStarted, Trajectory, assemble, parse_trajectory, to_line
from tests.each import each
from tests.grader.milestones.sessions import OPENING, Play, facts, milestone, row, say, scenario, state

OFF = milestone("off", state("setting", "is", row(wifi=False)))
TOLD = milestone("told", say(facts(("off",))), after=("off",))
WIFI_OFF = scenario(OFF, TOLD)
FAMILY = ToolSandbox()


def verdict(played: Trajectory, asked: Scenario | None = WIFI_OFF, mode: Mode = "strict") -> Verdict:
    return FAMILY.grade(Subject(played, scenario=asked), mode)


def right() -> Play:
    return Play().sets(wifi=False).says("Wifi is off")


class TestValues:
    def test_of_a_right_session(self):
        assert verdict(right().done()).values == {
            "score": 1.0,
            "milestones": 1.0,
            "minefields": 0.0,
            "turn_count": 3,
            "idle": 0.0,
            "refusal": 0.0,
            "corrected": 1.0,
            "unwanted": 0,
            "score_low": 1.0,
            "score_high": 1.0,
            "doubts": 0,
            "false_claims": 0,
            "false_claim": None,
        }

    def test_paper_is_strict(self):
        assert verdict(right().done(), mode="paper") == verdict(right().done())

    def test_harm_is_seen_in_the_parts(self):
        values = verdict(right().changes("rm", "contact", "c1", None).done()).values
        assert (values["score"], values["milestones"], values["unwanted"]) == (0, 1, 1)

    def test_compat_has_no_word_for_unwanted_changes(self):
        assert "unwanted" not in verdict(right().done(), mode="compat").values

    def test_grading_twice_says_the_same(self):
        assert verdict(right().done()) == verdict(right().done())


class TestInconclusive:
    def test_without_a_scenario(self):
        assert verdict(right().done(), None) == Verdict(inconclusive="no scenario: milestones are part of one")

    def test_without_a_state(self):
        played = right().done()
        bare = Trajectory(SessionStarted(session="s", scenario="x"), played.events, played.ended)
        assert verdict(bare).inconclusive == "the log records no state of the world"


class TestUnscored:
    def scores(self, reason: EndReason | None, *, cut: bool = False) -> Scores:
        return grade(right().done(reason, cut=cut), WIFI_OFF, metrics=["toolsandbox"])

    @each("reason", ["agent_failed", "user_failed", "abandoned"])
    def test_what_broke_outside_the_agent(self, reason: EndReason):
        found = self.scores(reason)
        assert (found.scored, found.score, found.value()) == (False, 1, None)
        assert found.reason == f"incomplete: the session ended with {reason!r}"

    @each("reason", ["user_ended", "max_turns", "max_calls", "recorded"])
    def test_other_endings_count(self, reason: EndReason):
        assert self.scores(reason).scored

    def test_a_log_that_stops(self):
        assert self.scores(None).reason == "incomplete: the log has no end"

    def test_a_log_that_was_cut(self):
        assert str(self.scores("user_ended", cut=True).reason).endswith("last line is cut off")


class TestDoingNothing:
    def test_is_measured_on_logs_like_any_other(self):
        silent, refused = idle(WIFI_OFF), refusing(WIFI_OFF)
        assert [event.content for event in silent.events] == [OPENING]
        assert [event.content for event in refused.events] == [OPENING, REFUSAL]
        again = parse_trajectory(
            b"".join(to_line(e).encode() for e in (refused.started, *refused.events, refused.ended))
        )
        assert again.events == refused.events

    def test_stands_beside_the_score(self):
        polite = scenario(OFF, milestone("sorry", say(facts(("sorry",)))))
        values = verdict(right().done(), polite).values
        assert (values["idle"], values["refusal"], values["score"], values["corrected"]) == (0, 0.5, 0.5, 0)

    @each(
        ("score", "refusal", "expected"),
        [
            (1, 0, 1),
            (0.5, 0, 0.5),
            (0.75, 0.5, 0.5),
            (0.5, 0.5, 0),
            (0, 0.5, -1),
            (0, 0.9, -1),
            (1, 1, None),
            (0, 1, None),
        ],
    )
    def test_corrected(self, score: float, refusal: float, expected: float | None):
        assert corrected(score, refusal) == (None if expected is None else pytest.approx(expected))


class TestSummary:
    def summarise(self, *graded: tuple[Subject, Verdict]) -> Any:
        return FAMILY.summarise(graded, "strict")

    def one(
        self, played: Play, reason: EndReason | None = "user_ended", variant: str = "base"
    ) -> tuple[Subject, Verdict]:
        session = played.done(reason)
        started = SessionStarted(session="s", scenario="example", world=session.started.world, variant=variant)
        subject = Subject(Trajectory(started, session.events, session.ended), scenario=WIFI_OFF)
        return subject, FAMILY.grade(subject, "strict")

    def test_means_with_their_number(self):
        summary = self.summarise(self.one(right()), self.one(Play()))
        assert summary["overall"]["n"] == 2
        assert summary["overall"]["score"] == 0.5
        assert summary["overall"]["turn_count"] == 1.5
        assert summary["categories"] == {"single_tool_call": summary["overall"]}

    def test_by_variant(self):
        summary = self.summarise(self.one(right(), variant="b"), self.one(Play(), variant="a"))
        assert {name: group["score"] for name, group in summary["variants"].items()} == {"a": 0, "b": 1}

    def test_what_cannot_be_told_is_counted_not_averaged(self):
        unknown = (self.one(right())[0], Verdict(inconclusive="no scenario"))
        summary = self.summarise(self.one(right()), unknown)
        assert (summary["overall"]["score"], summary["inconclusive"]) == (1, 1)

    def test_of_nothing(self):
        summary = self.summarise()
        assert summary["overall"] == {"n": 0, **dict.fromkeys(list(summary["overall"])[1:])}

    def test_undefined_numbers_are_left_out_of_their_mean(self):
        empty = Subject(Play().done(), scenario=scenario())
        summary = self.summarise((empty, FAMILY.grade(empty, "strict")), self.one(right()))
        assert summary["overall"]["corrected"] == 1


class TestFamilies:
    def test_ours_comes_first(self):
        assert next(iter(families())).name == "toolsandbox"

    def test_every_family_says_where_it_comes_from(self):
        assert all(family.name in FAMILIES and family.source for family in families())

    def test_an_unknown_one_is_an_error_that_names_the_known(self):
        with pytest.raises(GraderError, match="unknown metric family 'bleu'; known: toolsandbox, tooltalk"):
            metric("bleu")


def test_a_log_and_its_events_tell_the_same():
    played = right().done()
    again = assemble([played.started, *played.events, played.ended])
    assert verdict(again).values == verdict(played).values
