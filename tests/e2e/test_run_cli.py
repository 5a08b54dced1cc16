"""``sandbox-mcp run`` and ``sandbox-mcp endpoint`` as a user types them: real processes, real files, real HTTP."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import ModelReply, PlannedFault
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from tests.clients.sessions import SUITE, solver, write
from tests.warm import program

ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}


def sandbox_mcp(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *map(str, arguments)],
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def until(condition: Callable[[], Any], seconds: float = 240.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)
    return found


def test_a_run_prints_tables_and_leaves_logs_manifest_and_summary(tmp_path: Path) -> None:
    done = sandbox_mcp("run", "wifi_of?", "landlord_number", "--agent", "reference", "--out", tmp_path)
    assert done.returncode == 0
    assert "landlord_number  base     1/1     1.000    0.000" in done.stdout
    assert "[2/2]" in done.stderr
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == [
        "landlord_number-base-s0-t0.jsonl",
        "wifi_off-base-s0-t0.jsonl",
    ]
    assert json.loads((tmp_path / "summary.json").read_text())["score"] == 1.0


def test_with_json_stdout_is_one_document(tmp_path: Path) -> None:
    done = sandbox_mcp("run", "category:insufficient_information", "--agent", "refuse", "--out", tmp_path, "--json")
    summary = json.loads(done.stdout)
    assert summary["score"] == summary["refusal"]
    assert summary == json.loads((tmp_path / "summary.json").read_text())


def test_a_missed_threshold_is_exit_code_1(tmp_path: Path) -> None:
    codes = [
        sandbox_mcp("run", "wifi_off", "--agent", agent, "--out", tmp_path / agent, "--threshold", "0.9").returncode
        for agent in ("reference", "refuse")
    ]
    assert codes == [0, 1]


def test_a_run_in_which_nothing_could_be_scored_is_exit_code_1_and_says_why(tmp_path: Path) -> None:
    endpoint = ("--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--max-retries", 0)
    done = sandbox_mcp("run", "wifi_off", "--agent", "openai", *endpoint, "--out", tmp_path)
    assert done.returncode == 1
    assert "not scored: wifi_off (base, trial 0)" in done.stderr
    assert "connection failed" in done.stderr


def test_an_agent_of_ones_own_is_run_by_module_and_attribute(tmp_path: Path) -> None:
    write(
        tmp_path / "mine.py",
        "async def agent(asked):\n"
        "    done = await asked.tools.call('set_wifi_status', {'on': False})\n"
        "    return 'That failed.' if done.is_error else 'Wifi is off.'\n",
    )
    done = subprocess.run(
        [program(), "run", "wifi_off", "--agent", "mine:agent", "--out", "out", "--json"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert json.loads(done.stdout)["score"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("wifi_of", "--agent", "reference"), "unknown scenario 'wifi_of'; did you mean 'wifi_off'"),
        (("--agent", "referense"), "unknown agent 'referense'; did you mean 'reference'"),
        (("--agent", "openai"), "name one with --model"),
        (("--agent", "reference", "--shard", "3/2"), "shard '3/2' is not of the form I/N"),
        (("--agent", "reference", "--variant", "upside_down"), "unknown variant 'upside_down'"),
        (("--agent", "reference", "--scenarios", "no-such-folder"), "does not exist"),
        (("--agent", "reference", "--user", "llm"), "the llm user needs to know which model to ask"),
        (("--agent", "reference", "--trials", "0"), "invalid value for '--trials'"),
        (("--agent", "reference", "--param", "temperature"), "is not of the form NAME=JSON"),
        ((), "missing option '--agent'"),
    ],
)
def test_bad_usage_is_exit_code_2_and_one_clear_line(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = sandbox_mcp("run", *arguments, "--out", tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_is_taken_from_the_environment_and_kept_nowhere(tmp_path: Path) -> None:
    with running(Endpoint(solver())) as url:
        model = ("--model", "m", "--base-url", url.replace("http://", "http://name:word@"), "--api-key-env", "MY_KEY")
        done = sandbox_mcp("run", "wifi_off", "--agent", "openai", *model, "--out", tmp_path, MY_KEY="sk-secret")
    assert done.returncode == 0, done.stderr
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file()) + done.stdout + done.stderr
    assert "sk-secret" not in kept
    assert "name:word" not in kept


# killed in the middle


@dataclass
class Waking:
    """Hangs before it answers about one scenario, until it is told to wake up."""

    brain: Solver
    about: str
    awake: bool = False
    asked: list[str] = field(default_factory=list[str])

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        said = prompt.turns[0].user
        self.asked.append(said)
        if self.about in said and prompt.steps and not self.awake:
            return PlannedFault("hang", times=None)
        return await self.brain.decide(prompt, tries)


def test_killed_in_the_middle_and_run_again_nothing_is_lost_or_counted_twice(tmp_path: Path) -> None:
    brain = Waking(solver(), SUITE.get("wifi_off").user.opening)
    names = ("landlord_number", "wifi_off", "ferry_countdown")
    with running(Endpoint(brain)) as url:
        command = ["run", *names, "--agent", "openai", "--model", "m", "--base-url", url, "--jobs", "1", "--json"]
        killed = tmp_path / "killed"
        process = subprocess.Popen(
            [program(), *command, "--out", str(killed)], stderr=subprocess.DEVNULL, env=ENVIRONMENT
        )
        until(
            lambda: any('"tool_call"' in half.read_text() for half in killed.glob("partial/wifi_off-base-s0-t0.*.part"))
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert [path.name for path in (killed / "logs").iterdir()] == ["landlord_number-base-s0-t0.jsonl"]
        brain.awake = True
        before = len(brain.asked)
        again = sandbox_mcp(*command, "--out", killed)
        assert not any("landlord" in said for said in brain.asked[before:]), "what was done is not done again"
        undisturbed = sandbox_mcp(*command, "--out", tmp_path / "undisturbed")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == json.loads(undisturbed.stdout)
    assert [path.name for path in (killed / "aside").iterdir()] == ["wifi_off-base-s0-t0.1.jsonl.aside"]
    for name in names:
        logs = (folder / "logs" / f"{name}-base-s0-t0.jsonl" for folder in (killed, tmp_path / "undisturbed"))
        first, second = ([_timeless(line) for line in log.read_text().splitlines()] for log in logs)
        assert first == second


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_so_in_one_line_and_can_go_on(tmp_path: Path, how: signal.Signals) -> None:
    brain = Waking(solver(), SUITE.get("wifi_off").user.opening)
    with running(Endpoint(brain)) as url:
        command = ["run", "wifi_off", "--agent", "openai", "--model", "m", "--base-url", url, "--out", str(tmp_path)]
        process = subprocess.Popen(
            [program(), *command], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, preexec_fn=_at_a_keyboard
        )
        until(lambda: len(brain.asked) == 2)
        process.send_signal(how)
        _, said = process.communicate(timeout=240)
        assert (process.returncode, said.strip().splitlines()[-1]) == (130, "sandbox-mcp: interrupted")
        assert "Traceback" not in said
        assert f"0 sessions kept in {str(tmp_path)!r}; the same command goes on from there" in said
        brain.awake = True
        again = sandbox_mcp(*command, "--threshold", 1)
    assert again.returncode == 0, again.stderr


STUBBORN = """
import os, sys, time
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("executor", "how", "tell"),
    [
        pytest.param("tasks", signal.SIGTERM, os.kill, id="a scheduler"),
        pytest.param("processes", signal.SIGTERM, os.kill, id="a scheduler, with processes"),
        pytest.param("processes", signal.SIGTERM, os.killpg, id="a scheduler that tells the whole group"),
        pytest.param("processes", signal.SIGKILL, os.kill, id="killed"),
    ],
)
def test_a_run_that_is_stopped_leaves_no_agent_behind(
    tmp_path: Path, executor: str, how: signal.Signals, tell: Callable[[int, int], None]
) -> None:
    pids = tmp_path / "pids"
    agent = f"command:{sys.executable} {write(tmp_path / 'agent.py', STUBBORN)} {pids}"
    options = ["--executor", executor, "--jobs", "2", "--no-bounds", "--out", str(tmp_path / "run")]
    run = subprocess.Popen(
        [program(), "run", "wifi_off", "landlord_number", "--agent", agent, *options], stderr=subprocess.PIPE,
        text=True, env=ENVIRONMENT, preexec_fn=_at_a_keyboard, start_new_session=True,
    )  # fmt: skip
    until(lambda: pids.exists() and pids.read_text().count("\n") == 2)
    tell(run.pid, how)
    _, said = run.communicate(timeout=240)
    until(lambda: not any(_lives(int(line)) for line in pids.read_text().splitlines()))
    assert how == signal.SIGKILL or (run.returncode, "Traceback" in said) == (130, False), said


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_disk_that_fills_up_is_told_in_one_line(tmp_path: Path) -> None:
    done = sandbox_mcp("run", "wifi_off", "--agent", "reference", "--out", tmp_path)
    size = max(path.stat().st_size for path in (tmp_path / "logs").iterdir())
    options = ["run", "wifi_off", "landlord_number", "--agent", "reference", "--out", str(tmp_path / "new")]
    for room in (0, 300, size - 100):
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # cut-off bytecode would be found by everybody else
        command = [program(), *options]
        done = subprocess.run(
            command, capture_output=True, text=True, preexec_fn=limit, check=False, timeout=240, env=env
        )
        assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (2, 1, False), done.stderr
        assert "File too large" in done.stderr
        assert str(tmp_path / "new") in done.stderr
    assert sandbox_mcp(*options, "--threshold", 1).returncode == 0


TOGETHER = """
import asyncio

asked, all_here = [], asyncio.Event()


async def agent(opening):
    asked.append(opening)
    if len(asked) == 100:
        all_here.set()
    await all_here.wait()
    return "Wifi is now off."
"""


def test_more_sessions_than_files_may_be_open_at_first(tmp_path: Path) -> None:
    """As where a thousand wait for a model, on a system that begins with a thousand files and allows many more."""
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    (tmp_path / "together.py").write_text(TOGETHER)
    options = ["--agent", "together:agent", "--trials", "100", "--jobs", "100", "--out", "run", "--no-bounds"]
    command = [sys.executable, "-m", "sandbox_mcp.app.cli", "run", "wifi_off", *options]  # its limits are its own
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=few, check=False, timeout=240, cwd=tmp_path, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "run" / "logs").glob("*.jsonl"))) == 100


def _at_a_keyboard() -> None:
    """Heed interrupts, which whatever runs these tests in the background may have taught its children to ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _timeless(line: str) -> Any:
    return {key: value for key, value in json.loads(line).items() if key != "wall"}


# the endpoint


@contextmanager
def endpoint(*arguments: str) -> Iterator[str]:
    """The endpoint as its own process; gives its base URL."""
    process = subprocess.Popen([program(), "endpoint", "--port", "0", *arguments], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("listening on "), line + process.stderr.read()
        yield line.split()[2].rstrip(";")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        if process.stderr is not None:
            process.stderr.close()


DRY = ("wifi_off", "new_neighbour", "colleagues_to_friends", "late_for_dinner_low_battery", "forget_number_no_removal")
"""One or more of every category."""
ELSEWHERE = ("sports_island_goals", "office_complete_reminder")
"""Of other worlds than the phone."""


def test_a_dry_run_of_a_whole_stack_without_a_key(tmp_path: Path) -> None:
    with endpoint() as url, endpoint("--as-user") as user_url:
        agent = ("--agent", "openai", "--model", "m", "--base-url", url)
        user = ("--user", "llm", "--user-model", "u", "--user-base-url", user_url)
        done = sandbox_mcp("run", *DRY, *ELSEWHERE, *agent, *user, "--out", tmp_path, "--json", "--threshold", 1)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["scored"] == len(DRY) + len(ELSEWHERE)


def test_an_endpoint_that_is_told_to_fail_first_is_lived_through(tmp_path: Path) -> None:
    with endpoint("--scenario", "wifi_off", "--fault", "429", "--retry-after", "0", "--fault-times", "2") as url:
        assert httpx2.post(f"{url}/chat/completions", json={"messages": [{"role": "user"}]}).status_code == 429
        model = ("--agent", "openai", "--model", "m", "--base-url", url)
        done = sandbox_mcp("run", "wifi_off", *model, "--out", tmp_path, "--threshold", 1)
    assert done.returncode == 0, done.stderr


ASKING = """
import os, sys, httpx2
url, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
asked = httpx2.post(f"{url}/chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "Hi."}]})
print(key, asked.json()["choices"][0]["message"]["content"])
sys.exit(7)
"""


def test_an_endpoint_lasts_as_long_as_the_program_that_it_is_for(tmp_path: Path) -> None:
    script = write(tmp_path / "script.yaml", "steps:\n  - say: Hello.\n")
    done = sandbox_mcp("endpoint", "--script", script, "--", sys.executable, "-c", ASKING)
    assert (done.returncode, done.stdout) == (7, "any Hello.\n")


def test_a_program_that_is_not_there_is_told_in_one_line() -> None:
    done = sandbox_mcp("endpoint", "--scenario", "wifi_off", "--", "no-such-program")
    assert (done.returncode, "'no-such-program' cannot be started" in done.stderr) == (2, True)


def test_an_endpoint_with_a_script_of_ones_own(tmp_path: Path) -> None:
    script = write(tmp_path / "script.yaml", "steps: [{say: 'No, thank you.'}]")
    with endpoint("--script", str(script)) as url:
        answered = httpx2.post(f"{url}/chat/completions", json={"messages": [{"role": "user", "content": "Hi"}]}).json()
    assert answered["choices"][0]["message"]["content"] == "No, thank you."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--scenario", "wifi_of"), "unknown scenario 'wifi_of'"),
        (("--fault", "200"), "unknown fault '200'; expected a status from 400 to 599, or hang"),
        (("--fault", "hang", "--retry-after", "3"), "--retry-after is for a --fault that is a status, such as 429"),
        (("--script", "pyproject.toml", "--as-user"), "goes with neither --scenario nor --as-user"),
        (("--script", "no-such-file"), "does not exist"),
        (("--script", "LICENSE"), "LICENSE:"),
    ],
)
def test_an_endpoint_that_cannot_be_started_is_told_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = sandbox_mcp("endpoint", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = sandbox_mcp("endpoint", "--port", port)
    assert done.returncode == 2
    assert done.stderr == (
        f"sandbox-mcp: cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port\n"
    )
