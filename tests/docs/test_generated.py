"""Generated pages are what the code says now."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.worlds.phone import phone
from tests.each import each

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def generate() -> Any:
    return loaded("generate")


def loaded(name: str) -> Any:
    """A program of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_tools_is_current(generate: Any) -> None:
    assert (DOCS / "tools.md").read_text(encoding="utf-8") == generate.page(), "run: python docs/generate.py"


@each("name", phone.tools)
def test_only_actions_write(generate: Any, name: str) -> None:
    tool = phone.tools[name]
    assert not generate.sample(tool).changes or tool.action


@each("name", phone.tools)
def test_a_result_fits_its_schema(generate: Any, name: str) -> None:
    import jsonschema

    tool = phone.tools[name]
    outcome = generate.sample(tool)
    jsonschema.validate({"result": outcome.result} if tool.wrapped else outcome.result, tool.output_schema())
