"""The image's commands, run without an engine: what the Dockerfile says is parsed and done on this machine.

That the image builds is not tried anywhere; the nearest thing is that it copies what the build needs.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest

from sandbox_mcp.app.cli.serve import DEFAULT_PORT
from tests.e2e.processes import run
from tests.each import each
from tests.packaging.files import ROOT, packages, project, text

BIN = Path(sys.executable).parent


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the Dockerfile with what follows it."""
    joined = re.sub(r"\\\n\s*", "", text("Dockerfile"))
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def said(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def command() -> list[str]:
    """What a container runs."""
    return [*json.loads(said("ENTRYPOINT")[0]), *json.loads(said("CMD")[0])]


def environment() -> dict[str, str]:
    return dict(re.findall(r'(\w+)="([^"]*)"', said("ENV")[0]))


def health_check() -> list[str]:
    return json.loads(said("HEALTHCHECK")[0].partition("CMD ")[2])


def test_the_build_gets_what_the_package_is_made_of() -> None:
    copied = {name for rest in said("COPY") if "--from" not in rest for name in rest.split()[:-1]}
    assert copied == {"pyproject.toml", project()["readme"], *project()["license-files"], *packages()}
    assert all((ROOT / name).exists() for name in copied)


def test_the_build_is_sent_nothing_else() -> None:
    rules = [line for line in text(".dockerignore").splitlines() if line and not line.startswith("#")]
    let_in = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = {name for rest in said("COPY") if "--from" not in rest for name in rest.split()[:-1]}
    assert rules[0] == "*"
    assert let_in == copied
    assert any(fnmatch("a/__pycache__", rule.replace("**/", "*/")) for rule in rules[1:])


@each(("extras", "installed"), [("", "."), ("llm", ".[llm]"), ("llm,storage", ".[llm,storage]")])
def test_it_installs_the_base_and_the_extras_that_are_named(extras: str, installed: str) -> None:
    _, asked, wanted = said("RUN")[0].rpartition("/venv/bin/pip install --no-cache-dir ")
    told = subprocess.run(
        ["sh", "-c", f"echo {wanted}"], env={"EXTRAS": extras}, capture_output=True, text=True, check=True
    )
    assert (asked != "", said("ARG"), told.stdout.strip()) == (True, ['EXTRAS=""'], installed)


def test_it_runs_as_somebody_without_rights() -> None:
    words = [word for word, _ in instructions()]
    assert re.fullmatch(r"[1-9]\d*", said("USER")[0])
    assert words.index("USER") < words.index("CMD")
    assert "chown sandbox /logs" in said("RUN")[1]


def test_its_port_is_the_same_everywhere() -> None:
    ports = {*said("EXPOSE"), *re.findall(r":(\d+)/healthz", said("HEALTHCHECK")[0]), command()[-1]}
    assert ports == {str(DEFAULT_PORT)}


def test_its_logs_go_into_its_volume() -> None:
    assert said("VOLUME") == [environment()["SANDBOX_MCP_LOG_DIR"]]


def test_its_python_is_one_that_the_project_supports() -> None:
    versions = {re.match(r"python:3\.(\d+)-slim", rest)[1] for rest in said("FROM")}
    assert {f"Programming Language :: Python :: 3.{version}" for version in versions} <= set(project()["classifiers"])


@contextmanager
def container(folder: Path, **more: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """The command of the image, with this environment's programs, on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    own = {**environment(), "SANDBOX_MCP_LOG_DIR": str(folder), "PATH": os.environ["PATH"]}
    argv = [part.replace(str(DEFAULT_PORT), port) for part in command()]
    process = subprocess.Popen(
        [str(BIN / argv[0]), *argv[1:]],
        cwd=folder,
        env={**{key: value for key, value in os.environ.items() if not key.startswith("SANDBOX_MCP")}, **own, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, port
    finally:
        process.terminate()
        process.communicate(timeout=30)


def healthy(port: str) -> bool:
    """Whether the image's own check succeeds."""
    argv = [part.replace(str(DEFAULT_PORT), port) for part in health_check()]
    return not subprocess.run([str(BIN / argv[0]), *argv[1:]], capture_output=True, check=False).returncode


def test_its_command_serves_and_its_health_check_notices(tmp_path: Path) -> None:
    with container(tmp_path, SANDBOX_MCP_TOKEN="secret") as (process, port):
        assert process.stderr
        for line in process.stderr:
            if line.startswith("logs: "):
                break
        assert line.strip() == f"logs: {tmp_path}"
        for _ in range(50):
            if healthy(port):
                break
            time.sleep(0.1)
        else:
            pytest.fail("the health check never succeeded")
    assert not healthy(port)


def test_without_a_token_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SANDBOX_MCP_TOKEN", raising=False)
    done = run(*command()[1:])
    assert done.code == 2
    assert "needs --token" in done.err
