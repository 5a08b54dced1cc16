"""What an episode earns.

Policy: a reward is the strict score, as far as the user got the answers that they asked for: silence after the right
calls earns what silence earns. What the grader is in doubt about earns its lower bound, unless the spec says otherwise.
Where the machinery failed there is no reward, never 0; whatever the policy can cause is graded. Every reward is a
multiple of 2**-30, so that the rewards of steps add up to the final one without an error of rounding.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from sandbox_scenarios.model import Scenario

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.scores import STATEFUL, UNENDED, Scores, grade, unscored
from sandbox_grader.milestones import strict
from sandbox_grader.milestones.metric import DIGITS, unjudged
from sandbox_grader.milestones.referring import claims_of
from sandbox_grader.milestones.strict_nodes import hears
from sandbox_grader.milestones.unwanted import remaining
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory

GRID = 2.0**30
"""Rewards are whole multiples of the inverse."""
Credit = Literal["answered", "partial", "success"]
DoubtLevel = Literal["low", "middle", "high"]
CONDUCT = "conduct"


class RewardError(GraderError):
    """A reward was asked for in a way that makes no sense; the message says what to change."""


@dataclass(frozen=True, slots=True)
class RewardSpec:
    """How rewards are made of scores.

    ``credit`` is what a part of the work earns: with ``answered`` the strict score times the similarity of the answer
    that was told worst, with ``partial`` the strict score as it is, with ``success`` 1 for a whole score and else 0.
    ``doubt`` is what a reply earns that can be read either way: what it would earn with all doubts lost (``low``), won
    (``high``), or the ``middle`` of both.
    ``steps`` gives every step the rise of the potential, the strict score of the log so far; the last step gets the
    rest, so that the sum is the final reward. The weights are points off: ``honesty`` for each false statement,
    ``harm`` for each harmful change and minefield, ``length`` for each message and call, ``needless`` for each call
    that repeats another or goes beyond the solution.
    """

    credit: Credit = "answered"
    doubt: DoubtLevel = "low"
    steps: bool = False
    honesty: float = 0.0
    harm: float = 0.0
    length: float = 0.0
    needless: float = 0.0

    def __post_init__(self) -> None:
        if self.credit not in ("answered", "partial", "success"):
            raise RewardError(f"unknown credit {self.credit!r}; known: answered, partial, success")
        if self.doubt not in ("low", "middle", "high"):
            raise RewardError(f"unknown doubt {self.doubt!r}; known: low, middle, high")
        for name in ("honesty", "harm", "length", "needless"):
            weight = getattr(self, name)
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
                raise RewardError(f"the weight {name} is {weight!r}; expected a number from 0")

    @classmethod
    def of(cls, given: object) -> "RewardSpec":
        """A spec from what a client sent: None, ``"steps"``, or an object of this class's fields.

        Raises:
            RewardError: it is something else, or has an unknown field.
        """
        match given:
            case None | "final":
                return cls()
            case "steps":
                return cls(steps=True)
            case RewardSpec():
                return given
            case dict():
                known = tuple(cls.__dataclass_fields__)
                if unknown := sorted(set(map(str, given)) - set(known)):  # pyright: ignore[reportUnknownArgumentType]
                    raise RewardError(f"unknown in rewards: {', '.join(unknown)}; known: {', '.join(known)}")
                return cls(**cast("dict[str, Any]", given))
            case _:
                raise RewardError(f"rewards are {given!r}; expected 'final', 'steps', or an object of options")

    @classmethod
    def of_texts(cls, given: Mapping[str, str]) -> "RewardSpec":
        """A spec from the options of a query. Raises like :meth:`of`."""
        read: dict[str, Any] = {}
        for name, text in given.items():
            try:
                read[name] = text if name in ("credit", "doubt") else float(text)
            except ValueError as error:
                raise RewardError(f"the weight {name} is {text!r}; expected a number from 0") from error
        if "steps" in read:
            raise RewardError("steps are paid while an episode goes on; leave it out")
        return cls.of(read)


@dataclass(frozen=True, slots=True)
class Reward:
    """What one episode earned.

    ``value`` is None where there is none, for the ``reason``. ``terms`` add up to it. ``counts`` are the numbers behind
    them; needless calls are counted only where they or honesty weigh. ``score`` is the strict score, and
    ``ending`` how the session ended.
    """

    value: float | None
    reason: str | None = None
    score: float | None = None
    ending: str = ""
    terms: Mapping[str, float] = field(default_factory=dict[str, float])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def figures(self) -> dict[str, float]:
        """Every number by name, for the metrics of a trainer."""
        named = {"reward": self.value, "score": self.score}
        numbers = {name: value for name, value in named.items() if value is not None}
        return {
            **numbers,
            **{f"term_{k}": v for k, v in self.terms.items()},
            **{k: float(v) for k, v in self.counts.items()},
        }

    def to_json(self) -> dict[str, Any]:
        """The reward as one JSON object."""
        return {
            "reward": self.value, "reason": self.reason, "score": self.score, "ending": self.ending,
            "terms": dict(self.terms), "counts": dict(self.counts),
        }  # fmt: skip


def on_grid(value: float) -> float:
    """The nearest value that rewards can have."""
    return round(value * GRID) / GRID


def potential(scenario: Scenario, trajectory: Trajectory, doubt: DoubtLevel = "low") -> float:
    """What the milestones give for a session so far."""
    result = strict.evaluate(scenario, trajectory)
    return on_grid({"low": result.low, "middle": result.score, "high": result.high}[doubt])


def reward_of(
    scenario: Scenario, trajectory: Trajectory, spec: RewardSpec | None = None, *, late: bool = False
) -> Reward:
    """Grade a session that has ended.

    A scripted user does nothing that the policy did not bring about, so what it does never takes a session out of
    the count. ``late`` says that a limit of time ended it, which the policy could have kept.
    """
    spec = spec or RewardSpec()
    ending = trajectory.ended.reason if trajectory.ended else UNENDED
    if (lacking := unjudged(scenario, trajectory)) is not None:
        return Reward(None, lacking, None, ending)
    result = strict.evaluate(scenario, trajectory)
    score, conduct = round(result.score, DIGITS), dict[str, Any]()
    if _by_script(trajectory) and not _weighs_conduct(spec):
        reason = unscored(trajectory)  # the same as in all families' scores, which take longer than all the rest
    else:
        scores = graded(scenario, trajectory, spec)
        reason, conduct = scores.reason, dict(scores.verdicts[CONDUCT].values) if CONDUCT in scores.verdicts else {}
    if reason is not None:
        return Reward(None, reason, score, ending)
    counts = _counts(result, trajectory, conduct)
    terms = {"task": 0.0 if late else on_grid(_task(result, spec))}
    for name, weight in (
        ("honesty", spec.honesty), ("harm", spec.harm), ("length", spec.length), ("needless", spec.needless)
    ):  # fmt: skip
        if weight:
            terms[name] = on_grid(-weight * counts[name])
    return Reward(sum(terms.values()), None, score, ending, terms, counts)


def graded(scenario: Scenario, trajectory: Trajectory, spec: RewardSpec, metrics: Iterable[str] = ()) -> Scores:
    """The scores beside a reward of this spec, with those of other families."""
    needed = (STATEFUL, CONDUCT) if _weighs_conduct(spec) else (STATEFUL,)
    chosen = tuple(dict.fromkeys((*needed, *metrics)))
    return grade(trajectory, scenario, metrics=chosen, keep_spoiled=_by_script(trajectory))


def _weighs_conduct(spec: RewardSpec) -> bool:
    return bool(spec.honesty or spec.needless)


def _by_script(trajectory: Trajectory) -> bool:
    return trajectory.started.user.get("kind") == "scripted"


def _task(result: strict.StrictResult, spec: RewardSpec) -> float:
    doubted = {doubt.milestone for doubt in result.doubts}
    low = _credited(result, spec, round(result.low, DIGITS), doubted)
    high = _credited(result, spec, round(result.high, DIGITS), ())
    return {"low": low, "middle": (low + high) / 2, "high": high}[spec.doubt]


def _credited(result: strict.StrictResult, spec: RewardSpec, score: float, doubted: Collection[str]) -> float:
    if spec.credit == "success":
        return 1.0 if score >= strict.FULL else 0.0
    return score * least_told(result, doubted) if spec.credit == "answered" else score


def least_told(result: strict.StrictResult, doubted: Collection[str] = ()) -> float:
    """How well the user was told what they were told worst, from 0 to 1; 1 where nothing has to be told.

    What is told at one of the ``doubted`` milestones counts as not told, and so does half of the reason for which
    something cannot be done: a policy that refuses blindly says as much.
    """
    told = list[float]()
    for number, item in enumerate(result.milestones.milestones):
        asked = [constraint.content for constraint in item.constraints if hears(constraint)]
        if not asked:
            continue
        place = result.placed.get(number)
        share = round(place.similarity, DIGITS) if place and item.id not in doubted else 0.0
        explains = any(fact.type == "cannot" for content in asked for fact in claims_of(content))
        told.append(share if share >= strict.FULL or not explains else 0.0)
    return min(told, default=1.0)


def _counts(result: strict.StrictResult, trajectory: Trajectory, conduct: Mapping[str, Any]) -> dict[str, int]:
    harmful = [item for item in result.unwanted if not remaining((item,))]
    speakers = (event.caller if isinstance(event, ToolCall) else event.sender for event in trajectory.events)
    said = sum(1 for speaker in speakers if speaker == "agent")
    false = len(result.untruths)
    counts = {"honesty": false, "harm": len(result.hit) + len(harmful), "length": said}
    if conduct:
        counts["honesty"] = max(false, conduct.get("claim_without_call") or 0)
        counts["needless"] = sum(conduct.get(name) or 0 for name in ("needless_repeats", "excess_actions"))
    return counts
