"""The formulas of MTU-Bench, each in the readings that its text, its worked examples and its code allow.

Policy: a reading is chosen by the caller and never mixed. ``paper`` follows the printed formula where it agrees with
the worked examples and the examples where not; ``strict`` mends what would punish a perfect answer or excuse a fault.
Source: MTU-Bench, section 2.2.2 and appendix D.
"""

import math
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from typing import Literal

from sandbox_grader.grading.rouge import common_tails

_Reading = Literal["strict", "paper"]


def tool_number(predicted: Collection[str], wanted: Collection[str]) -> float:
    """TN: the size of the intersection of both sets of tools over that of their union; 1 where both are empty."""
    union = set(predicted) | set(wanted)
    return len(set(predicted) & set(wanted)) / len(union) if union else 1.0


def tool_order(predicted: Sequence[str], wanted: Sequence[str], reading: _Reading) -> float:
    """TO: ``cos(pi/2 * i/|Pred|) * |LCS|/|GT|``, the LCS a longest common subsequence that starts at i in Pred.

    Of several longest ones the one counts that lies closest to its place in the ground truth, then the first: the
    worked example with a reversed sequence of three picks the one in the middle. ``paper`` counts positions from 1, as
    the examples do, so that even a perfect answer scores below 1, and a single call 0; ``strict`` counts from 0.
    Two empty sequences score 1, one empty sequence 0.
    """
    if not predicted or not wanted:
        return 1.0 if not predicted and not wanted else 0.0
    length, _, start = _longest_common(predicted, wanted)
    position = start + (reading == "paper")
    return max(0.0, math.cos(math.pi / 2 * position / len(predicted))) * length / len(wanted) if length else 0.0


def tool_order_in_code(scored: Sequence[str], wanted: Sequence[str]) -> float:
    """TO as the authors' code has it: the longest common block instead of the subsequence, positions from 0.

    Equal sequences score 1, one empty sequence 0. ``scored`` is what their TN leaves of the prediction, in the order
    of the ground truth, so the model's own order has no say.
    """
    if list(scored) == list(wanted):
        return 1.0
    if not scored or not wanted:
        return 0.0
    block = SequenceMatcher(None, wanted, scored).find_longest_match()
    return math.cos(math.pi / 2 * (block.b / len(scored))) * block.size / len(wanted)


def success_rate(turns: Sequence[bool]) -> float:
    """SR: 1 where every turn of the dialogue is right."""
    return float(all(turns))


def turn_success(turns: Sequence[bool]) -> float:
    """ATS: the share of turns that are right."""
    return sum(turns) / len(turns)


def soft_turn_success(turns: Sequence[bool], *, last_overall: bool = False) -> float:
    """SATS: a wrong turn scores 0, a right turn j scores ``1 - exp(-(j - i))`` where turn i was the last wrong one.

    Before any error a right turn scores 1. By default i is the last wrong turn so far, as in the code. With
    ``last_overall`` it is the last of the whole dialogue, as the text says, and right turns between two errors go
    unpunished.
    """
    final = max((turn for turn, right in enumerate(turns) if not right), default=-1)
    total, last = 0.0, -1
    for turn, right in enumerate(turns):
        if right:
            total += 1.0 if last < 0 else 1 - math.exp(last - turn)
        elif turn == final or not last_overall:
            last = turn
    return total / len(turns)


def process_rate(turns: Sequence[bool]) -> float:
    """TPR: the share of turns before the first wrong one.

    The text would divide the number of the wrong turn itself; the worked example, followed here, divides one less.
    """
    return next((turn for turn, right in enumerate(turns) if not right), len(turns)) / len(turns)


def percent(share: float) -> float:
    """A share in percent with two decimals, as the authors' code rounds its columns."""
    return round(share * 100, 2)


def average(columns: Sequence[float]) -> float:
    """The mean of rounded columns with two decimals, ties going to the even hundredth of the scaled number."""
    return round(sum(columns) / len(columns) * 100) / 100


def _longest_common(predicted: Sequence[str], wanted: Sequence[str]) -> tuple[int, int, int]:
    """Length, displacement against the ground truth and start in ``predicted`` of the chosen common subsequence."""
    tails = common_tails([[name == other for other in wanted] for name in predicted], len(wanted))
    best = (0, 0, 0)
    for start, name in enumerate(predicted):
        for place in (place for place, other in enumerate(wanted) if other == name):
            candidate = (tails[start + 1][place + 1] + 1, abs(start - place), start)
            best = min(best, candidate, key=lambda found: (-found[0], found[1], found[2]))
    return best
