"""One test goes through many cases: a case that fails is told as a test of its own would be."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.each import each

SUITE = """
import pytest
from tests.each import each

TRIED = []

@pytest.fixture
def anyio_backend():
    return "asyncio"

@each("small", [1, 2, 3])
@each(("name", "large"), [pytest.param("a", 10, id="ten"), ("b", 20)])
def test_products(small, name, large, tmp_path, monkeypatch, capsys):
    assert not list(tmp_path.iterdir()) and capsys.readouterr().out == ""
    (tmp_path / name).touch()
    print("left behind")
    TRIED.append((small, large))
    assert small * large != 40

@pytest.mark.anyio
@each("number", [1, 2])
async def test_awaited(number):
    assert number == 1

@pytest.mark.timeout(0.3)
@each("seconds", [5, 6], ids=["long", "longer"])
def test_endless(seconds):
    __import__("time").sleep(seconds)

@each("number", [1, 2])
def test_skipped_here_and_there(number):
    if number == 1:
        pytest.skip("not this one")

@each("number", [1, 2])
def test_skipped(number):
    pytest.skip("none of them")

@each("letter", "xy")
class TestClass:
    @each("number", [7, 8])
    def test_method(self, letter, number):
        assert letter == "x"

def test_all_were_tried():
    assert sorted(TRIED) == [(1, 10), (1, 20), (2, 10), (2, 20), (3, 10), (3, 20)]
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of these tests."""
    path = tmp_path_factory.mktemp("suite") / "test_suite.py"
    path.write_text(SUITE)
    root = Path(__file__).resolve().parents[1]
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(path),
        "-rA",
        "-c",
        str(root / "pyproject.toml"),
        "--rootdir",
        str(root),
    ]
    done = subprocess.run([*command, "-p", "no:cacheprovider"], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout


@each(
    "line",
    [
        r"SUBFAILED\[b-20-2\] .*::test_products - assert \(2 \* 20\) != 40",
        r"FAILED .*::test_products - contains 1 failed subtest",
        r"PASSED .*::test_all_were_tried",
        r"SUBFAILED\[2\] .*::test_awaited - assert 2 == 1",
        r"FAILED .*::test_endless - Failed: Timeout .*",
        r"E +in the case 'long'",
        r"PASSED .*::test_skipped_here_and_there",
        r"SKIPPED .* none of them",
        r"SUBFAILED\[7-y\] .*::TestClass::test_method - .*",
    ],
)
def test_what_becomes_of_a_case_is_told(report: str, line: str) -> None:
    assert re.search(f"^{line}$", report, re.MULTILINE), report


def test_nothing_else_fails(report: str) -> None:
    assert report.count("FAILED") == 5 + 3


def test_an_argument_that_the_test_does_not_take_is_told() -> None:
    with pytest.raises(TypeError, match="the test has no argument nmae"):
        each("nmae", ["x"])(test_an_argument_that_the_test_does_not_take_is_told)
