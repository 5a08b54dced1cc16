"""The worked examples of the paper's appendix D, in ``paper`` mode: their figures as facts, other words."""

import math

import pytest

from tests.each import each
from tests.grader.mtu_bench.building import Calls, grade

DIM: Calls = [("lamp_dim", {"room": "hall", "level": 3})]
DIM_WRONG: Calls = [("lamp_dim", {"room": "hall", "level": 8})]
OFF: Calls = [("lamp_off", {"room": "hall"})]


def chain(*names: str) -> list[Calls]:
    """One turn that calls these tools without arguments."""
    return [[(name, {}) for name in names]]


def dialogue(marks: str) -> tuple[list[Calls], list[Calls]]:
    """A dialogue whose turns are right where a mark is 1, and its reference."""
    return [DIM if mark == "1" else DIM_WRONG for mark in marks], [DIM for _ in marks]


def test_tool_selection_of_the_wanted_tool() -> None:
    assert grade([DIM_WRONG], [DIM]).values["TS"] == 1


def test_tool_selection_of_another_tool() -> None:
    assert grade([OFF], [DIM]).values["TS"] == 0


def test_parameters_as_wanted() -> None:
    assert grade([DIM], [DIM]).values["PS"] == 1


def test_parameters_with_a_wrong_value_and_a_wrong_name() -> None:
    verdict = grade(
        [[("wake", {"time": "6 PM", "label": "tomorrow"})]], [[("wake", {"time": "6 AM", "date": "tomorrow"})]]
    )
    assert (verdict.values["TS"], verdict.values["PS"]) == (1, 0)


@each(("marks", "rate"), [("11", 1), ("10", 0)])
def test_success_rate(marks: str, rate: float) -> None:
    assert grade(*dialogue(marks)).values["SR"] == rate


@each(("marks", "rate"), [("111", 1.0), ("101", 0.6667)])
def test_averaged_turn_success_rate(marks: str, rate: float) -> None:
    assert round(grade(*dialogue(marks)).values["ATS"], 4) == rate


@each(("marks", "rate"), [("11", 1.0), ("11011", 0.6994)])
def test_soft_averaged_turn_success_rate(marks: str, rate: float) -> None:
    assert round(grade(*dialogue(marks)).values["SATS"], 4) == rate


@each(("marks", "rate"), [("1111", 1.0), ("11011", 0.4)])
def test_task_process_rate(marks: str, rate: float) -> None:
    assert grade(*dialogue(marks)).values["TPR"] == rate


@each(
    ("predicted", "wanted", "score"),
    [(("look", "sum", "render"), ("look", "sum", "render"), 1.0), (("look", "play", "wake"), ("look", "render"), 0.25)],
)
def test_tool_number_accuracy(predicted: tuple[str, ...], wanted: tuple[str, ...], score: float) -> None:
    assert grade(chain(*predicted), chain(*wanted)).values["TN"] == score


@each(("predicted", "score"), [(("rain", "route", "bed"), 0.8660), (("bed", "route", "rain"), 0.1667)])
def test_tool_order_accuracy(predicted: tuple[str, ...], score: float) -> None:
    assert round(grade(chain(*predicted), chain("rain", "route", "bed")).values["TO"], 4) == score


# -- where compat and strict say otherwise ------------------------------------------------------------------------


def test_compat_is_blind_to_tools_too_many() -> None:
    assert grade(chain("look", "play", "wake"), chain("look", "render"), mode="compat").values["TN"] == 0.5
    perfect = grade(chain("look", "render", "play", "wake"), chain("look", "render"), mode="compat").values
    assert (perfect["TN"], perfect["TO"]) == (1, 1)


def test_compat_is_blind_to_order() -> None:
    reversed_ = chain("bed", "route", "rain"), chain("rain", "route", "bed")
    assert grade(*reversed_, mode="compat").values["TO"] == 1
    assert grade(*reversed_, mode="strict").values["TO"] == pytest.approx(math.cos(math.pi / 6) / 3)


def test_strict_gives_a_perfect_answer_full_marks() -> None:
    assert grade(chain("rain", "route", "bed"), chain("rain", "route", "bed"), mode="strict").values["TO"] == 1


def test_strict_lets_every_error_weigh_on_what_follows() -> None:
    marks = dialogue("1010")
    assert grade(*marks, mode="paper").values["SATS"] == 0.5
    assert grade(*marks, mode="strict").values["SATS"] == pytest.approx((2 - math.exp(-1)) / 4)
