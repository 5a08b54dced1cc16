"""``play``: a person on either side, behind a pipe and at a real terminal, recorded and graded like any session."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli.play import command
from sandbox_mcp.engine.trajectory import Trajectory, read_trajectory
from sandbox_mcp.play.session.replay import differences
from tests.each import each

LATE = "late_for_dinner_low_battery"
AT_WORK = """\
/help
/tools
/tool send_message_with_phone_number
set_low_battery_mode_status off
set_low_battery_mode_status on=false
set_cellular_service_status {"on": true}
search_contacts name=Wren
send_message_with_phone_number phone_number=nonsense content=x
send_message_with_phone_number phone_number=+17735550113 content="Twenty minutes late, sorry"
I texted Wren.
"""


def played(out: Path, *arguments: str, typed: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--out", str(out)], input=typed)


def log(out: Path, name: str) -> Trajectory:
    return read_trajectory(out / "logs" / f"{name}.jsonl")


def test_a_person_solves_a_scenario_as_the_agent(tmp_path: Path) -> None:
    result = played(tmp_path, LATE, typed=AT_WORK)
    assert result.exit_code == 0, result.output
    assert "score 1.000" in result.stdout
    trajectory = log(tmp_path, f"{LATE}-base-s0-t0")
    assert trajectory.ended
    assert (trajectory.started.agent["name"], trajectory.ended.reason) == ("human", "user_ended")
    assert list(differences(trajectory)) == []


def test_the_agents_person_sees_words_tools_results_and_faults(tmp_path: Path) -> None:
    seen = played(tmp_path, LATE, typed=AT_WORK).stderr
    for text in (
        "user: Text my sister Wren",
        "TOOL name=value",
        "search_contacts [person_id] [name]",
        "phone_number: string Number to send to",
        "cannot read 'off': arguments of set_low_battery_mode_status",
        '"name":"Wren Okafor"',
        "failed: ValueError",
    ):
        assert text in seen


def test_a_person_talks_to_an_agent_as_the_user(tmp_path: Path) -> None:
    result = played(tmp_path, "wifi_off", "--as", "user", "--agent", "reference", typed="Thanks!\n/end\n")
    assert result.exit_code == 0, result.output
    assert "Your goal: You want wifi" in result.stderr
    assert "assistant: Wifi is now off." in result.stderr
    assert "score 1.000" in result.stdout
    assert log(tmp_path, "wifi_off-base-s0-t0").started.user == {"kind": "human", "channel": "terminal"}


def test_a_user_who_leaves_too_early_is_told_so_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text("async def agent(asked):\n    return 'Shall I?'\n")
    sys.path.insert(0, str(tmp_path))
    try:
        result = played(tmp_path / "run", "wifi_off", "--as", "user", "--agent", "asking:agent", typed="")
    finally:
        sys.path.remove(str(tmp_path))
    assert "user: early_end (#6), 'Shall I?': left while the assistant waited for a yes or no" in result.stdout
    assert "not scored: spoiled_by_user" in result.stdout


@each("typed", ["", "/quit\n", "get_wifi_status\n"])
def test_giving_up_as_the_agent_is_recorded_and_not_scored(tmp_path: Path, typed: str) -> None:
    result = played(tmp_path, "wifi_off", typed=typed)
    assert result.exit_code == 0
    assert "agent_failed (the person at the terminal gave up)" in result.stdout
    assert "not scored: incomplete" in result.stdout


def test_every_session_is_a_further_trial(tmp_path: Path) -> None:
    for _ in range(2):
        played(tmp_path, "wifi_off", "--seed", "3", "--variant", "all_tools", typed="No.\n")
    assert log(tmp_path, "wifi_off-all_tools-s3-t1").started.trial == 1


def test_a_session_that_is_being_played_elsewhere_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "partial" / "wifi_off-base-s0-t0.jsonl.part"
    elsewhere.parent.mkdir()
    elsewhere.write_text("going on")
    played(tmp_path, "wifi_off", typed="No.\n")
    assert (elsewhere.read_text(), log(tmp_path, "wifi_off-base-s0-t1").started.trial) == ("going on", 1)


def test_the_user_may_be_one_that_says_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("Please!")
    lines = ("--user", "replay", "--user-lines", str(tmp_path / "lines.txt"))
    played(tmp_path / "run", "wifi_off", *lines, typed="No.\nNo!\n")
    heard = [e.content for e in log(tmp_path / "run", "wifi_off-base-s0-t0").events if e.event == "message"]
    assert "Please!" in heard


@each(
    ("arguments", "problem"),
    [
        (["--as", "user"], "name one with --agent"),
        (["--agent", "reference"], "leave out --agent"),
        (["--user", "human"], "cannot play the user as well"),
        (["--as", "user", "--agent", "refuse", "--user", "llm"], "leave out --user llm"),
        (["--variant", "basic"], "unknown variant 'basic'"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, arguments: list[str], problem: str) -> None:
    result = played(tmp_path / "out", "wifi_off", *arguments, typed="")
    assert problem in f"{result.output}{result.exception}"
    assert not (tmp_path / "out").exists()


AT_ITS_TERMINAL = """
import fcntl, signal, sys, termios
if sys.argv.pop(1) == "ignored":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from sandbox_mcp.app.cli import main
main()
"""
"""Makes the terminal the process's own, so that Ctrl-C reaches it, and runs the command line."""


class Pty:
    """The command at a terminal of its own."""

    def __init__(self, *arguments: str, interrupts: str = "heard") -> None:
        self._mine, theirs = os.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AT_ITS_TERMINAL, interrupts, "play", *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env={**os.environ, "TERM": "dumb"},
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def until(self, text: str) -> str:
        """What is shown from now on up to a text."""
        start = len(self.seen)
        watchdog = threading.Timer(60, self.process.kill)
        watchdog.start()
        while text not in self.seen[start:]:
            try:
                more = os.read(self._mine, 65536)
            except OSError:  # Linux tells so that the other end is closed
                more = b""
            assert more, self.seen
            self.seen += more.decode()
        watchdog.cancel()
        return self.seen[start:]

    def types(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def close(self) -> int:
        code = self.process.wait(60)
        os.close(self._mine)
        return code


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_at_a_terminal_lines_are_edited_and_completed(tmp_path: Path) -> None:
    terminal = Pty("wifi_off", "--out", str(tmp_path))
    assert "Please turn off the wifi" in terminal.until("you> ")
    terminal.types("set_wifi_s\ton=true\x7f\x7f\x7f\x7ffalse\n")  # tabulator, then four backspaces
    assert '{"result":null}' in terminal.until("you> ")
    terminal.types("Wifi is off.\n")
    shown = terminal.until(".jsonl")
    assert "set_wifi_status(on=false)" in shown
    assert "score 1.000" in shown
    assert terminal.close() == 0


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("interrupts", ["heard", "ignored"])
def test_at_a_terminal_ctrl_c_stops_at_once(tmp_path: Path, interrupts: str) -> None:
    """Also where whoever started it has interrupts ignored, as a shell does for what runs in the background."""
    terminal = Pty("wifi_off", "--out", str(tmp_path), interrupts=interrupts)
    terminal.until("you> ")
    terminal.types("\x03\n")  # the line's end is for an interrupt that comes before the line is waited for
    assert "interrupted" in terminal.until("interrupted")
    assert terminal.close() == 130
