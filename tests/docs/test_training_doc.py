"""The pages on training: their Python runs, and says what the pages say.

Blocks that import a framework are run where that is installed, by ``make test-training``.
"""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FOREIGN = ("openenv", "openreward", "skyrl_gym")
BLOCKS = {
    f"{page.name}, block {number}": block
    for page in sorted(DOCS.glob("training*.md"))
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
    if not any(name in block for name in FOREIGN)
}


@pytest.mark.parametrize("place", BLOCKS)
def test_its_python_runs(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[place], place, "exec"), {})
    assert capsys.readouterr().out


def test_an_episode_earns_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS["training.md, block 0"], "training.md", "exec"), {})
    assert capsys.readouterr().out.count("0.5 1.0 {'task': 1.0}") == 2
