"""The page about scenario files is right: its examples load and play, its tables name what there is."""

import re
from pathlib import Path

import pytest
import yaml
from sandbox_grader.grading.scores import grade
from sandbox_scenarios import Suite
from sandbox_scenarios.model import Script
from sandbox_scenarios.schema import RawConstraint, RawScenario, RawScript, RawUser
from sandbox_scenarios.values import Resolver

from sandbox_mcp.engine.worlds.phone import phone
from tests.each import each
from tests.scenarios.playing import play

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scenarios.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
GENERATORS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
KEYS = ("draws", "choose", "faults", "events", "end_states", "user")
"""Examples that show one key alone; each is tried in a branch of a scenario of its own."""
PLAYABLE = (
    "book_club", "firewood", "firewood_asks", "sum_of_notes", "whereabouts", "books_moved", "book_club_no_contacts",
    *(f"with_{key}" for key in KEYS),
)  # fmt: skip


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    folder = tmp_path_factory.mktemp("examples")
    for number, example in enumerate(EXAMPLES):
        (folder / f"{number}.yaml").write_text(_whole(example), encoding="utf-8")
    (generator,) = GENERATORS
    (folder / "totals.py").write_text(generator, encoding="utf-8")
    return Suite([folder])


def _whole(example: str) -> str:
    """An example as a file: one that shows a key alone is put into a branch of ``book_club``."""
    key = example.partition(":")[0]
    if key not in KEYS:
        return example
    branch = f"name: with_{key}\nextends: book_club\n{example}"
    return "family: examples\nscenarios:\n  - " + branch.replace("\n", "\n    ").rstrip() + "\n"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that starts with that heading cell."""
    lines = TEXT[TEXT.index(f"| {heading} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def keys(heading: str) -> list[str]:
    return [key for row in rows(heading) for key in re.findall(r"`(\w+)`", row[0])]


def written(model: type[RawScenario | RawUser | RawScript]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def test_every_example_is_a_scenario_file_and_all_load(examples: Suite) -> None:
    assert sorted(scenario.name for scenario in examples.all()) == sorted(PLAYABLE)


@each("name", PLAYABLE)
def test_the_solutions_of_the_examples_score_1(examples: Suite, name: str) -> None:
    scenario = examples.get(name)
    for solution in scenario.solutions:
        assert grade(play(scenario, solution), scenario).score == 1.0


def test_the_page_names_every_key_of_a_scenario_in_order() -> None:
    assert keys("key") == written(RawScenario)


def test_the_page_names_every_key_of_the_user_and_its_script() -> None:
    assert sorted(keys("key of `user`")) == sorted(written(RawUser))
    assert keys("key of `script`") == written(RawScript)


def test_the_page_tells_the_defaults_of_the_script() -> None:
    text = {row[0]: row[1] for row in rows("key of `script`")}
    assert f'"{Script().confirm}"' in text["`confirm`"]
    assert f'"{Script().unknown}"' in text["`unknown`"]
    assert f"{Script().patience} if left out" in text["`patience`"]


def test_the_page_names_every_column_and_which_may_be_null() -> None:
    told = {row[0].strip("`"): re.findall(r"`(\w+)`(\??)", row[1]) for row in rows("table")}
    assert told == {
        name: [(column.name, "?" if column.nullable else "") for column in schema.columns]
        for name, schema in phone.tables.items()
    }


@each("cell", [row[0].strip("`") for row in rows("value")])
def test_every_value_on_the_page_is_one_that_files_may_have(cell: str) -> None:
    value = yaml.safe_load(cell)
    expected = Resolver("UTC", {"contact": frozenset({"wren"})}).expected(value)
    named = next(iter(value)) if isinstance(value, dict) else None
    assert named in (expected.measure, "from" if expected.ref else None)


def test_every_constraint_on_the_page_can_be_written() -> None:
    told = {key for row in rows("constraint") for key in re.findall(r"`(\w+): ", row[0])}
    schema = {field.alias or name for name, field in RawConstraint.model_fields.items()}
    assert told <= schema
    assert schema - told <= {"since", "attempt"}, "told in the text below the table"
    assert all(f"`{word}" in TEXT for word in ("since: other", "attempt: true"))
