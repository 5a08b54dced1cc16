"""``run --instructions``: a text of one's own for the agent, recorded, and one per folder."""

import json
import re
from pathlib import Path

from click.testing import CliRunner, Result

from sandbox_mcp.app.cli.run import command
from sandbox_mcp.engine.trajectory import Message, read_trajectory
from sandbox_mcp.engine.worlds import named, names


def ran(out: Path, *options: str) -> Result:
    return CliRunner().invoke(command, ["wifi_off", "--agent", "reference", "--out", str(out), *options])


def chosen(folder: Path, text: str | bytes, name: str = "careful.txt") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_the_agent_is_told_the_text_of_the_file_and_the_log_names_it(tmp_path: Path) -> None:
    result = ran(tmp_path / "run", "--instructions", chosen(tmp_path, "Ask before you delete.\n"))
    assert result.exit_code == 0, result.output
    log = read_trajectory(tmp_path / "run" / "logs" / "wifi_off-base-s0-t0.jsonl")
    told = [event.content for event in log.events if isinstance(event, Message) and event.recipient == "agent"]
    named = {"name": "careful.txt", "text": "Ask before you delete."}
    assert (told[0], log.started.agent["instructions"]) == (named["text"], named)
    assert json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["agent"]["instructions"] == named


def test_a_folder_holds_one_text(tmp_path: Path) -> None:
    ran(tmp_path / "run", "--instructions", chosen(tmp_path, "Be brief."))
    again = ran(tmp_path / "run", "--instructions", chosen(tmp_path, "Be thorough."))
    assert again.exit_code != 0
    assert "choose another folder with --out" in str(again.exception)


def test_instructions_that_say_nothing_are_refused(tmp_path: Path) -> None:
    assert "are empty" in str(ran(tmp_path / "run", "--instructions", chosen(tmp_path, " \n")).exception)


def test_instructions_that_are_no_text_are_refused(tmp_path: Path) -> None:
    assert "UTF-8" in str(ran(tmp_path / "run", "--instructions", chosen(tmp_path, b"\xff\xfe")).exception)


def test_one_shot_is_built_in_and_its_example_has_tools_of_no_world(tmp_path: Path) -> None:
    result = ran(tmp_path / "run", "--instructions", "one-shot")
    assert result.exit_code == 0, result.output
    log = read_trajectory(tmp_path / "run" / "logs" / "wifi_off-base-s0-t0.jsonl")
    told = next(event.content for event in log.events if isinstance(event, Message) and event.recipient == "agent")
    assert "An example" in told
    assert log.started.agent["instructions"] == {"name": "one-shot", "text": told}
    tools = {tool for world in names() for tool in named(world).agent_tools}
    assert not tools & set(re.findall(r"\w+_\w+", told))


def test_neither_a_file_nor_a_built_in_is_refused_by_naming_what_there_is(tmp_path: Path) -> None:
    problem = str(ran(tmp_path / "run", "--instructions", "two-shot").exception)
    assert "'two-shot'" in problem
    assert "'one-shot'" in problem
    text = str(ran(tmp_path / "run", "--instructions", "Be brief. " * 100).exception)
    assert "there is no such file; expected a file of text" in text
    assert len(text) < 250
