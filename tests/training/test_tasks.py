"""Tasks: splits by family, order by difficulty, rows."""

import json

import pytest

from sandbox_mcp.play.training import TaskError, TrainingTask, tasks
from sandbox_mcp.play.training.tasks import SPLITS, described, difficulty_of, family_of, split_of
from tests.suite import SUITE


def test_splits_keep_families_whole_and_leave_no_scenario_out() -> None:
    by_split = {split: {task.scenario for task in tasks(SUITE, split=split)} for split in SPLITS}
    families = {split: {family_of(SUITE, name) for name in names} for split, names in by_split.items()}
    assert set().union(*by_split.values()) == set(SUITE.names())
    assert not families["train"] & families["test"] | families["train"] & families["validation"]
    assert not families["validation"] & families["test"]


def test_every_world_has_something_to_train_on() -> None:
    for world in SUITE.worlds_played():
        assert "train" in {split_of(SUITE, name) for name in SUITE.names(world)}


def test_the_easiest_come_first() -> None:
    found = [difficulty_of(SUITE.get(task.scenario)) for task in tasks(SUITE, ["wifi*"], easiest_first=True)]
    assert found == sorted(found)
    assert all(2 <= difficulty_of(SUITE.get(t.scenario)) <= 3 for t in tasks(SUITE, difficulty=(2, 3)))


def test_a_row_says_which_episode_it_is() -> None:
    task = TrainingTask("wifi_off", "all_tools", 3, 2)
    assert TrainingTask.of({**task.row(), "prompt": "whatever"}) == task


@pytest.mark.parametrize(
    "row", [{}, {"scenario": ""}, {"scenario": "wifi_off", "seed": -1}, {"scenario": "x", "seed": "1"}]
)
def test_a_row_that_is_none_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(TaskError):
        TrainingTask.of(row)


def test_an_unknown_split_is_told() -> None:
    with pytest.raises(TaskError, match="unknown split 'dev'; known: train, validation, test, all"):
        tasks(SUITE, split="dev")


def test_what_trainers_are_told_does_not_say_what_solves_a_task() -> None:
    for task in tasks(SUITE)[::20]:
        told = json.dumps(described(SUITE, task, 0, "all"))
        scenario = SUITE.get(task.scenario)
        assert scenario.user.goal not in told
        assert all(item.about not in told for item in scenario.milestones if len(item.about) > 20)
