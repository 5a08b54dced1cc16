"""Scores one turn: TS and PS where it takes at most one call, TN and TO where it takes any number.

Policy: ``compat`` scores what the authors' parser reads with the authors' comparison, in which calls beyond the wanted
ones and their order go unnoticed. The other modes score the calls themselves, and hold both against the agent.
Source: MTU-Bench, section 2.2.2 and appendix D; the released code, repaired where it does not run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal

from sandbox_grader.grading.metric import Mode
from sandbox_grader.papers.mtu_bench.compare import contained, same_arguments
from sandbox_grader.papers.mtu_bench.dialogue import DialogueCall, DialogueTurn, Wanted
from sandbox_grader.papers.mtu_bench.formulas import tool_number, tool_order, tool_order_in_code
from sandbox_grader.papers.mtu_bench.parser import NO_CALL, Parsed, ParserCrashError, parse_multi, parse_single

CrashPolicy = Literal["no_call", "wrong"]
"""What an answer counts for that the authors' parser dies on: for one that calls nothing, or for a wrong one."""

OTHER_POLICY: Final[Mapping[CrashPolicy, CrashPolicy]] = {"no_call": "wrong", "wrong": "no_call"}

Calls = Mapping[str, Mapping[str, Any]]
"""Calls by tool name, in order, as the benchmark writes them."""


@dataclass(frozen=True, slots=True)
class TurnScore:
    """The two scores of a turn (TS and PS, or TN and TO), each in 0..1, and whether the turn is right."""

    first: float
    second: float
    right: bool


WRONG: Final = TurnScore(0, 0, right=False)


@dataclass(frozen=True, slots=True)
class Scored:
    """A turn with its score.

    ``crash`` says that the authors' parser dies on it; ``otherwise`` is then its score under the other policy.
    ``keys`` are the tools that compat's TN leaves of the prediction. ``broken`` tells that a call was lost in reading.
    """

    turn: DialogueTurn
    wanted: Wanted
    predicted: Sequence[tuple[str, Mapping[str, Any]]]
    expected: Sequence[tuple[str, Mapping[str, Any]]]
    score: TurnScore
    broken: bool = False
    crash: str | None = None
    otherwise: TurnScore | None = None
    keys: tuple[str, ...] | None = None


def score_turn(turn: DialogueTurn, wanted: Wanted, mode: Mode, policy: CrashPolicy, *, many_tools: bool) -> Scored:
    """Score one turn in the given mode; ``policy`` matters in compat only."""
    if mode == "compat":
        return _score_as_code(turn, wanted, policy, many_tools=many_tools)
    expected, predicted = list(map(_pair, wanted)), list(map(_pair, turn.calls))
    names, goals = [name for name, _ in predicted], [name for name, _ in expected]
    right = names == goals and not any(call.malformed for call in turn.calls) and _same_runs(turn.calls, wanted)
    if many_tools:
        score = TurnScore(tool_number(names, goals), tool_order(names, goals, mode), right)
    else:
        score = TurnScore(float(set(names) == set(goals)), float(right), right)
    return Scored(turn, wanted, predicted, expected, score, broken=turn.malformed)


def _same_runs(calls: Sequence[DialogueCall], wanted: Sequence[DialogueCall]) -> bool:
    """True if calls with the same names in the same order have the same arguments.

    Calls of one tool in a row may have changed places: when two contacts are changed, either may come first.
    """
    for _, run in groupby(range(len(wanted)), key=lambda index: wanted[index].name):
        places = list(run)
        waiting = [calls[index].arguments for index in places]
        for index in places:
            match = next((given for given in waiting if same_arguments(given, wanted[index].arguments)), None)
            if match is None:
                return False
            waiting.remove(match)
    return True


# -- as the authors' code -----------------------------------------------------------------------------------------


def _score_as_code(turn: DialogueTurn, wanted: Wanted, policy: CrashPolicy, *, many_tools: bool) -> Scored:
    expected = turn.answer if turn.answer is not None else _as_calls(wanted, many_tools=many_tools)
    crash = None
    try:
        if turn.answer is None or turn.text is None:  # of another origin: taken for what the parser would have read
            parsed = Parsed(_as_calls(turn.calls, many_tools=many_tools), broken=turn.malformed)
        else:
            parsed = (parse_multi if many_tools else parse_single)(turn.text)
    except ParserCrashError as error:
        crash, parsed = str(error), Parsed({} if many_tools else NO_CALL, broken=True)
    score, keys = _score_many(parsed.calls, expected) if many_tools else (score_one(parsed.calls, expected), None)
    outcomes = {"no_call": score, "wrong": WRONG}
    return Scored(
        turn, wanted, tuple(parsed.calls.items()), tuple(expected.items()),
        score=outcomes[policy] if crash else score,
        broken=parsed.broken,
        crash=crash,
        otherwise=outcomes[OTHER_POLICY[policy]] if crash else None,
        keys=keys,
    )  # fmt: skip


def _as_calls(calls: Sequence[DialogueCall], *, many_tools: bool) -> Calls:
    """Calls as the benchmark writes them: of a tool called twice the last, in a single-tool setting only the first."""
    if many_tools:
        return {call.name: call.arguments for call in calls}
    return {calls[0].name: calls[0].arguments} if calls else NO_CALL


def score_one(predicted: Calls, expected: Calls) -> TurnScore:
    """TS: equal names, no call being one too. PS: TS, and the ground truth's arguments within the prediction's."""
    name, given = next(iter(predicted.items()))
    goal, needed = next(iter((expected or NO_CALL).items()))
    selected = name == goal
    right = selected and contained(needed, given)
    return TurnScore(int(selected), int(right), right)


def _score_many(predicted: Calls, expected: Calls) -> tuple[TurnScore, tuple[str, ...]]:
    """TN and TO, and the tools they rest on: those of the ground truth that were called, marked where arguments differ.

    The prediction's arguments have to be contained in the ground truth's. Tools that were not asked for are dropped,
    unless nothing was asked for at all. Order is that of the ground truth as written, where a name that occurs twice,
    blanks apart, stays twice.
    """
    given = {name.strip(): arguments for name, arguments in predicted.items()}
    needed = {name.strip(): arguments for name, arguments in expected.items()}
    if not given or not needed:
        keys = tuple(given)
        number = float(not given and not needed)
    else:
        called = [name for name in needed if name in given]
        marked = [name if contained(given[name], needed[name]) else f"{name}wrong" for name in called]
        keys = tuple(dict.fromkeys(marked))
        number = tool_number(keys, needed.keys())
    order = tool_order_in_code(keys, [name.strip() for name in expected])
    return TurnScore(number, order, number == 1 and order == 1), keys


def _pair(call: DialogueCall) -> tuple[str, Mapping[str, Any]]:
    return call.name, call.arguments
