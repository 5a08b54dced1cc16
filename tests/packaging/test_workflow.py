"""The workflow of this repository does what .ci/run does, and keeps the pictures that it leaves."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
JOB: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["suite"]
STEPS: list[dict[str, Any]] = JOB["steps"]


def kept() -> dict[str, str]:
    return {step["with"]["name"]: step["with"]["path"] for step in STEPS if "upload-artifact" in step.get("uses", "")}


def test_everything_that_ci_runs_is_run() -> None:
    [script] = [step["run"].split()[-1] for step in STEPS if "run" in step]
    assert (ROOT / script).is_file()


def test_pictures_and_pages_are_kept_where_make_leaves_them_even_if_something_failed() -> None:
    makefile = (ROOT / "Makefile").read_text()
    [shots] = re.findall(r"^SHOTS \?= (\S+)", makefile, re.MULTILINE)
    [site] = re.findall(r"^\t@echo \"(\S+)/index\.html\"", makefile, re.MULTILINE)
    assert kept() == {"screenshots": shots, "documentation": site}
    assert all(step["if"] == "always()" for step in STEPS if "upload-artifact" in step.get("uses", ""))


def test_every_python_that_make_tries_is_there_and_the_oldest_is_the_one_that_runs() -> None:
    [given] = [step["with"]["python-version"] for step in STEPS if "setup-python" in step.get("uses", "")]
    versions = re.findall(r"3\.\d+", given)
    tried = re.findall(r"3\.\d+", re.findall(r"\$\{@:-([^}]*)\}", (ROOT / "packaging/pythons.sh").read_text())[0])
    [oldest] = re.findall(r'requires-python = ">=(\S+)"', (ROOT / "pyproject.toml").read_text())
    assert (versions[-1], sorted(versions[:-1])) == (oldest, sorted(tried))
