"""A real small model over real HTTP: it plays, is the user, judges, drafts and fills. `make test-model` brings it.

Nothing is expected of what it can do. What is held is that whatever it says is recorded, graded and replayed like any
other agent's, and that none of it breaks a run.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.trajectory import Trajectory, read_trajectory
from sandbox_mcp.play.session.replay import differences

PYTHON = "SANDBOX_MCP_SMALL_MODEL"
"""The Python of the environment that can serve the model."""
PROGRAM = str(Path(sys.executable).with_name("sandbox-mcp"))
ROOT = Path(__file__).resolve().parents[2]
SHORT = ("--param", "temperature=0", "--param", "max_tokens=64")
pytestmark = [
    pytest.mark.skipif(PYTHON not in os.environ, reason="needs a real model; run make test-model"),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def endpoint() -> Generator[tuple[str, ...]]:
    """Options that name the model and its address."""
    line = [os.environ[PYTHON], str(ROOT / "packaging" / "small_model.py")]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as it:
        assert it.stdout
        assert it.stdin
        address = it.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the server of the model did not start"
        yield "--model", "smollm2", "--base-url", f"{address}/v1"
        it.stdin.close()


def run(*words: str, at: Path, codes: tuple[int, ...] = (0,)) -> str:
    """What a command prints, which ends with one of these codes and shows no stack trace."""
    done = subprocess.run(
        [PROGRAM, *words], cwd=at, env={**os.environ, "OPENAI_API_KEY": "none"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in codes, f"{words}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


def logs(at: Path) -> list[Trajectory]:
    return [read_trajectory(path) for path in sorted((at / "out" / "logs").glob("*.jsonl"))]


def graded(at: Path) -> list[dict[str, Any]]:
    return json.loads(run("grade", "out", "--json", "--no-bounds", "--no-keep", "--quiet", at=at))["sessions"]


@pytest.mark.parametrize("react", [(), ("--react",)], ids=["tools", "react"])
def test_it_plays(endpoint: tuple[str, ...], react: tuple[str, ...], tmp_path: Path) -> None:
    names = ("wifi_off",) if react else ("wifi_off", "tea_for_four_minutes")
    run(
        "run",
        *names,
        "--agent",
        "openai",
        *endpoint,
        *SHORT,
        *react,
        "--max-steps",
        "2",
        "--out",
        "out",
        at=tmp_path,
        codes=(0, 1),
    )
    played = logs(tmp_path)
    assert len(played) == len(names)
    for log in played:
        assert log.ended
        assert log.ended.reason in ("user_ended", "max_turns", "max_calls"), log.ended
        assert list(differences(log)) == []
        assert any(event.event == "message" and event.sender == "agent" for event in log.events)
    assert all(0 <= item["metrics"]["toolsandbox"]["score"] <= 1 for item in graded(tmp_path) if item["scored"])


def test_it_is_the_user(endpoint: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--user", "llm", *(f"--user-{word[2:]}" if word.startswith("--") else word for word in endpoint))
    limits = ("--user-param", "temperature=0", "--user-param", "max_tokens=48")
    run("run", "wifi_off", "--agent", "reference", *options, *limits, "--out", "out", at=tmp_path, codes=(0, 1))
    [log] = logs(tmp_path)
    assert log.started.user["kind"] == "llm"
    assert log.ended
    assert log.ended.reason in ("user_ended", "max_turns", "agent_failed"), (
        log.ended
    )  # the reference has one reply only
    said = [event.content for event in log.events if event.event == "message" and event.recipient == "agent"]
    assert not any("<think>" in text or "end_conversation" in text for text in said[1:])


def test_it_judges(endpoint: tuple[str, ...], tmp_path: Path) -> None:
    run("run", "wifi_off", "--agent", "reference", "--out", "out", at=tmp_path)
    _, model, _, address = endpoint
    told = run(
        "grade", "out", "--judge", model, "--judge-base-url", address, "--judge-answers", "answers.ndjson", "--json",
        "--no-bounds", "--quiet", at=tmp_path, codes=(0, 2),
    )  # fmt: skip
    if told:  # an answer that is no verdict is said in one line
        assert json.loads(told)["sessions"][0]["metrics"]["toolsandbox"]["score"] == 1


def test_it_drafts(endpoint: tuple[str, ...], tmp_path: Path) -> None:
    words = ("synth", "rewording", "wifi_off", *endpoint, "--count", "1", "--mend", "0", "--out", "drafts")
    run(*words, "--json", at=tmp_path, codes=(0, 1))


def test_it_fills(endpoint: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solution looks at a lamp that nobody recorded; whatever the model answers, the session is kept apart."""
    _, model, _, address = endpoint
    tapes = ROOT / "tests" / "worlds" / "recorded"
    (tmp_path / "lamps.jsonl").write_text((tapes / "lamps.jsonl").read_text())
    text = (tapes / "lamps.yaml").read_text().replace("recorded: lamps.jsonl", f"recorded: lamps.jsonl, fill: {model}")
    first = "      - {tool: set_lamp"
    text = text.replace(first, f"      - {{tool: get-lamp, arguments: {{number: 5}}}}\n{first}", 1)
    (tmp_path / "lamps.yaml").write_text(text)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    name = "light_the_second_lamp"
    run("run", name, "--scenarios", "lamps.yaml", "--agent", "reference", "--out", "out", at=tmp_path, codes=(0, 1))
    for log in logs(tmp_path):
        calls = [event for event in log.events if event.event == "tool_call" and event.arguments == {"number": 5}]
        assert all(call.meta.get("filled") or call.error for call in calls)
