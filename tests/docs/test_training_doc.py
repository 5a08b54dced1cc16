"""The page on training: its Python runs, and says what the page says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_its_python_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS[number], f"training.md, block {number}", "exec"), {})
    assert capsys.readouterr().out


def test_an_episode_earns_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS[0], "training.md", "exec"), {})
    assert capsys.readouterr().out.count("0.5 1.0 {'task': 1.0}") == 2
