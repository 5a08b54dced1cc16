"""The real command, started as a user starts it: help, exit codes, one line for every mistake."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from sandbox_mcp.app import cli
from sandbox_mcp.app.cli import COMMANDS, group
from tests.each import each
from tests.warm import program

COLD = (sys.executable, "-m", "sandbox_mcp.app.cli")
"""A process that has yet to import what it needs."""


def run(*arguments: str, cwd: Path | None = None, command: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    whole = [*(command or (program(),)), *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=False, cwd=cwd, timeout=120)


def test_help_lists_every_command() -> None:
    done = run("--help", command=COLD)
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


@each("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def all_commands(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command and sub-command by what is typed for it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(click.Context(command)):
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        yield from all_commands(inner, f"{path} {name}".strip())


def test_an_option_is_written_alike_and_explained_in_every_command() -> None:
    written: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    unexplained: list[str] = []
    for path, command in all_commands(group):
        for option in (param for param in command.params if isinstance(param, click.Option)):
            written[max(option.opts, key=len)].add(tuple(sorted(option.opts)))
            unexplained += [] if option.help else [f"{path} {option.opts[-1]}"]
    assert {name: ways for name, ways in written.items() if len(ways) > 1} == {}
    assert unexplained == []


def test_every_command_that_shows_progress_can_be_told_not_to() -> None:
    modules = {path.stem: path.read_text(encoding="utf-8") for path in Path(cli.__file__).parent.glob("*.py")}
    shows = {name for name, text in modules.items() if re.search(r"= counting\(|, counting\(|Display\(", text)}
    quiet = {
        path.split()[0] for path, command in all_commands(group) if any("--quiet" in p.opts for p in command.params)
    }
    assert {"grade", "report", "run", "scenarios"} <= shows
    assert shows - quiet == set()


@each("path", ["scenarios", "worlds", "agents"])
def test_a_list_of_commands_says_each_in_a_whole_sentence(path: str) -> None:
    listed = run(path, "--help").stdout.partition("Commands:\n")[2].splitlines()
    assert listed
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


MISTAKES = {
    "an unknown command": (["rnu"], "unknown command 'rnu'; did you mean 'run'?"),
    "nothing like a command": (["xyzzy"], "unknown command 'xyzzy'; known: demo, serve, connect"),
    "an unknown option": (["run", "--agnet", "x"], "no such option '--agnet' (did you mean"),
    "a missing option": (["run"], "missing option '--agent'"),
    "no number": (["grade", "logs", "--threshold", "x"], "invalid value for '--threshold'"),
    "an unknown category": (["scenarios", "list", "--category", "single_tool"], "did you mean 'single_tool_call'"),
    "a port without a network": (["serve", "--port", "9000"], "--port is for serving over HTTP; add --http"),
    "a table without runs": (
        ["table", "breakdown"],
        "'breakdown' has no printed figures to show; name runs to fill it",
    ),
    "no table": (["table"], "table takes the name of a paper: "),
    "a choice that was not made": (["synth"], "Choose from: tools, constraint, rewording"),
    "a file of no known form": (
        ["grade", ".", "--out", "x.doc"],
        "'x.doc': expected a file that ends with .json,",
    ),
    "a page of another form": (
        ["report", "logs", "--out", "x.pdf"],
        "--out 'x.pdf': expected a file that ends with .html",
    ),
    "scores below a file": (
        ["run", "wifi_off", "--agent", "refuse", "--out", "x", "--scores", "in.json/scores.json"],
        "'in.json/scores.json' cannot be written: Not a directory",
    ),
    "logs of a server below a file": (
        ["serve", "--log-dir", "in.json/logs"],
        "cannot write logs to 'in.json/logs': Not a directory; choose another with --log-dir",
    ),
    "a mistyped figure": (
        ["run", "wifi_off", "--agent", "refuse", "--out", "x", "--metric", "tooltalk.sucess"],
        "unknown metric 'tooltalk.sucess'; tooltalk has tooltalk.action_precision",
    ),
    "a place without a name": (
        ["run", "wifi_off", "--agent", "refuse", "--out", ""],
        "'--out' / '-o': the name is empty; '.' is",
    ),
    "logs without a name": (["grade", ""], "'PATHS...': the name is empty"),
    "a scenario without a name": (["run", "", "--agent", "refuse", "--out", "x"], "unknown scenario ''"),
    "a file in place of a folder": (
        ["import", "openai-chat", "in.json", "--out", "in.json"],
        "'in.json' is there already, and is not a folder; name another place",
    ),
    "a way to ask without a model": (
        ["run", "wifi_off", "--agent", "reference", "--react", "--out", "x"],
        "--react is for the agents openai, responses, anthropic, and the agent is 'reference'",
    ),
    "an interpreter without a framework": (
        ["run", "wifi_off", "--agent", "refuse", "--agent-python", "x", "--out", "x"],
        "--agent-python is for the agents claude-code,",
    ),
    "a token without a network": (["serve", "--token", "x"], "--token is for serving over HTTP; add --http"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_every_mistake_is_told_in_one_line_of_one_form(case: str, tmp_path: Path) -> None:
    arguments, told = MISTAKES[case]
    (tmp_path / "in.json").write_text("{}")
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sandbox-mcp: ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_all_faults_of_scenario_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "form.yaml").write_text(
        "family: form\nscenarios:\n  - name: x\n    max_turns: many\n    milestones:\n"
        "      - {id: a, tabel: setting}\n      - {id: b, message: {contnet: hello}}\n"
    )
    (tmp_path / "names.yaml").write_text(
        "family: names\nscenarios:\n  - name: y\n    extends: lakeside\n    user: {goal: g, opening: o}\n"
        "    tools: [set_wfi_status]\n    milestones:\n"
        "      - {id: a, table: setting, is: {wfi: false}}\n      - {id: b, tool: get_wfi_status}\n"
        "  - name: z\n    user: {goal: g, opening: o}\n"
    )
    form = run("scenarios", "lint", "--scenarios", "form.yaml", cwd=tmp_path)
    names = run("scenarios", "lint", "--scenarios", "names.yaml", cwd=tmp_path)
    assert (form.returncode, names.returncode) == (2, 2)
    assert [line.split(": ")[1] for line in form.stderr.splitlines()] == [f"form.yaml:{n}" for n in (3, 3, 4, 6, 7)]
    assert [line.split(": ")[1] for line in names.stderr.splitlines()] == [f"names.yaml:{n}" for n in (6, 8, 9, 10)]
    assert "it has no clock; write 'clock: {now: " in names.stderr


def test_a_clock_without_its_time_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        "family: x\nscenarios:\n  - name: x\n    user: {goal: g, opening: o}\n    clock: {zone: UTC}\n"
    )
    assert (
        "its clock lacks 'now'; write 'clock: "
        in run("scenarios", "lint", "--scenarios", "x.yaml", cwd=tmp_path).stderr
    )


def test_a_scenario_is_shown_as_json_with_its_world_and_its_rows() -> None:
    shown = json.loads(run("scenarios", "show", "wifi_off", "--json").stdout)
    assert (shown["name"], shown["world"]) == ("wifi_off", "phone")
    assert "setting" in shown["state"]


def test_the_summary_of_a_run_is_told_from_a_log(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text(json.dumps({"score": 1, "counts": {}}, indent=2))
    told = run("grade", "summary.json", cwd=tmp_path).stderr
    assert "summary.json: is one JSON document and no trajectory log" in told
    assert "logs" in told


def test_an_unknown_scenario_gets_suggestions_and_one_line() -> None:
    done = run("scenarios", "show", "wifi_of")
    assert done.returncode == 2
    assert done.stderr.startswith("sandbox-mcp: unknown scenario 'wifi_of'; did you mean 'wifi_off'")
    assert done.stderr.count("\n") == 1


def test_broken_yaml_is_told_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("family: mine\nscenarios:\n  - name: x\n    tools: [a\n")
    done = run("scenarios", "list", "--scenarios", "mine.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sandbox-mcp: mine.yaml:")
    assert done.stderr.count("\n") == 1


def test_results_go_to_stdout_and_talk_to_stderr() -> None:
    done = run("scenarios", "list")
    assert "wifi_off" in done.stdout
    assert done.stderr == ""


def test_output_that_is_not_read_to_its_end_is_no_failure() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [program(), "scenarios", "list"], stdout=write, stderr=subprocess.PIPE, check=False, timeout=120
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_run_goes_on_when_nobody_reads_its_progress_any_more(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    args = ("run", "wifi_*", "--agent", "refuse", "--no-bounds", "--threshold", "0.5", "--out", str(tmp_path), "--json")
    done = subprocess.run([program(), *args], stdout=subprocess.PIPE, stderr=write, check=False, timeout=120)
    os.close(write)
    counts = json.loads(done.stdout)["counts"]
    assert (done.returncode, counts["played"]) == (1, counts["planned"])


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes the streams")
def test_a_process_without_streams_does_its_work(tmp_path: Path) -> None:
    line = f"{shlex.join([*COLD, 'run', 'wifi_off', '--agent', 'reference', '--out', str(tmp_path)])} >&- 2>&-"
    done = subprocess.run(["/bin/sh", "-c", line], check=False, timeout=120)
    assert (done.returncode, (tmp_path / "summary.json").exists()) == (0, True)


def test_the_version_is_the_packages() -> None:
    from sandbox_mcp import __version__

    assert run("-V").stdout == run("--version").stdout
    assert run("--version").stdout == f"sandbox-mcp, version {__version__}\n"


@each(("typed", "offered"), [("gr", ["plain,grade"]), ("xyzzy --o", [])])
def test_a_shell_completes_what_is_typed(typed: str, offered: list[str]) -> None:
    words = {"COMP_WORDS": f"sandbox-mcp {typed}", "COMP_CWORD": str(len(typed.split()))}
    done = subprocess.run(
        [str(Path(sys.executable).with_name("sandbox-mcp"))],
        env={**os.environ, **words, "_SANDBOX_MCP_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout.split(), done.stderr) == (offered, "")


def test_without_a_command_the_help_is_shown_as_it_stands() -> None:
    done = run()
    assert done.returncode == 2
    assert "Commands:\n" in done.stderr
    assert len(done.stderr.splitlines()) > len(COMMANDS)
