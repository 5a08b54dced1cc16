"""Options of a run, which are stated once."""

import pickle
import re
from pathlib import Path

import click
import pytest

from sandbox_mcp.app.cli.run import command
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.options import DEFAULTS, OPTIONS, RunKeywords, RunOptions
from tests.each import each

SOURCE = Path(__file__).parents[2] / "sandbox_mcp"
BY_OBJECT = {
    "selectors", "scenarios", "world", "tooltalk", "rows", "agent", "user", "knowledge", "instructions", "shard",
    "budget", "executor", "ray_address", "ray_actors",
}  # fmt: skip
"""Options for which ``evaluate`` takes an object, or that come in its ``options`` alone."""


def test_python_takes_the_options_that_the_command_line_takes() -> None:
    assert set(RunKeywords.__annotations__) == set(OPTIONS) - BY_OBJECT


def test_the_command_line_has_every_option_with_its_default() -> None:
    params = {param.name: param for param in command.params if isinstance(param, click.Option)}
    assert set(OPTIONS) - set(params) == {"selectors", "model"}  # an argument, and one that may be named several times
    context = click.Context(command)
    for name in set(OPTIONS) & set(params):
        if params[name].required:
            continue  # it has no default on the command line
        found, default = params[name].get_default(context), getattr(DEFAULTS, name)
        assert found == default or (not found and not default), name


def test_an_option_is_named_by_the_code_that_heeds_it_and_by_nothing_in_between() -> None:
    """The fourth file beside its description, the code that heeds it and the page: a test."""
    for name in ("fill", "user_tools", "ray_actors", "max_retries", "react", "record"):
        passing = re.compile(rf"(options\\.|[\"']){name}\\b")
        found = [
            path.name
            for path in SOURCE.rglob("*.py")
            if path.parts[-2] in ("run", "cli") and passing.search(path.read_text())
        ]
        assert set(found) - {"options.py", "play.py", "serve.py"} <= {"from_options.py", "run.py", "inspect_task.py"}, (
            name
        )


def test_options_go_to_workers_as_they_are() -> None:
    options = RunOptions(params={"temperature": 0}, scenarios=(Path("a.yaml"),), out=Path("x"))
    assert pickle.loads(pickle.dumps(options)) == options


def test_what_was_given_makes_the_same_options() -> None:
    given = RunOptions(variants=("all_tools",), params={"stop": ["x"]}, out=Path("runs/a"), pack=False, budget=2.5)
    assert RunOptions().but(given.given()) == given


@each(
    ("name", "value"),
    [("variants", 3), ("trials", True), ("seed", 1.5), ("out", ""), ("params", [1]), ("rows", [1]), ("react", 1)],
)
def test_a_value_of_another_type_is_refused(name: str, value: object) -> None:
    with pytest.raises(RunError, match=f"^{name}=.* cannot be used; expected "):
        RunOptions().but({name: value})
