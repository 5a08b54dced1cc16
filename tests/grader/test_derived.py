"""What grading works out from a scenario alone: worked out once, the same when read again, and never out of date."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_grader.grading import derived as module
from sandbox_grader.grading.derived import derived
from sandbox_grader.grading.references import references_of
from sandbox_grader.milestones.baselines import refusing
from sandbox_scenarios import Scenario, Suite

from tests.scenarios.files import entry, file_of, written

CARRY_OUT = """\
import sys
from dataclasses import replace
from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.grading.references import references_of
from sandbox_scenarios import Suite
from sandbox_scenarios.stage import Stage
calls, run = [], Stage.run
Stage.run = lambda stage, call: calls.append(call) or run(stage, call)
for name in Suite().names("*")[::12]:
    scenario = Suite().get(name)
    if not scenario.cache:  # made by a generator, for each process anew
        continue
    log = refusing(scenario)
    print(repr([references_of(scenario, log, later) for later in (0.0, 64.0, -0.5)]))
print(len(calls))
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """A scenario whose cache has nothing but the scenario itself."""
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path / "cache"))
    return Suite([written(tmp_path, file_of(entry()))]).get("mine")


def kept(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.glob("cache/suites/*/*") if not path.name.startswith("scenario-"))


def test_solutions_are_carried_out_by_the_first_process_and_read_by_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path))
    first, second = (
        subprocess.run(
            [sys.executable, "-c", CARRY_OUT], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for _ in range(2)
    )
    assert second[:-1] == first[:-1]
    assert int(first[-1]) > 100
    assert second[-1] == "0"


def worked_out(scenario: Scenario, what: str, value: int) -> int:
    return derived(scenario, what, lambda: value)


def test_what_is_worked_out_is_kept_by_what_it_is(scenario: Scenario) -> None:
    assert [worked_out(scenario, what, value) for what, value in (("one", 1), ("two", 2))] == [1, 2]
    assert [worked_out(scenario, what, 3) for what in ("one", "two", "three")] == [1, 2, 3]


def test_after_the_code_has_changed_it_is_worked_out_anew(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    assert worked_out(scenario, "one", 1) == 1
    monkeypatch.setattr(module, "code_digest", lambda: "other code")
    assert [worked_out(scenario, "one", value) for value in (2, 3)] == [2, 2]


def test_of_a_scenario_that_was_changed_nothing_is_kept_or_taken(scenario: Scenario) -> None:
    other = replace(scenario, milestones=())
    assert [worked_out(item, "one", value) for item, value in ((scenario, 1), (other, 2), (scenario, 3))] == [1, 2, 1]


@pytest.mark.parametrize(
    ("variant", "seed", "expected"),
    [("base", 0, ["solved-base-0.0-mine"]), ("base", 7, []), ("../../mine", 0, []), ("of_a_stranger", 0, [])],
)
def test_a_log_cannot_fill_the_cache(
    scenario: Scenario, tmp_path: Path, variant: str, seed: int, expected: Sequence[str]
) -> None:
    log = refusing(scenario)
    log = replace(log, started=replace(log.started, variant=variant, seed=seed))
    assert len(references_of(scenario, log)) == len(scenario.solutions)
    assert kept(tmp_path) == list(expected)
