"""``play --steps``: a session whose every step is a command of its own, as an assistant with a shell alone plays it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_scenarios import Suite

from sandbox_mcp.app.cli import group
from sandbox_mcp.app.cli.play import command
from sandbox_mcp.engine.trajectory import Message, Trajectory, read_trajectory
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session.replay import differences

OFF = '{"on": false}'


class Player:
    """Somebody who types commands, with a folder of their own and the logs elsewhere."""

    def __init__(self, place: Path, name: str = "seat") -> None:
        self.folder, self.out = place / name, place / "out"

    def types(self, *words: str, typed: str = "") -> Result:
        return CliRunner().invoke(command, [words[0], "--steps", str(self.folder), *words[1:]], input=typed)

    def begins(self, scenario: str, *options: str) -> Mapping[str, Any]:
        return _answer(self.types(scenario, *options, "--out", str(self.out), "--json"))

    def takes(self, verb: str, *words: str, read: str = "", typed: str = "") -> Mapping[str, Any]:
        code = read or _answer(self.types("show", "--json"))["read"]
        return _answer(self.types(verb, "--read", code, *words, "--json", typed=typed))

    def log(self, name: str) -> Trajectory:
        return read_trajectory(self.out / "logs" / f"{name}.jsonl")


def _answer(result: Result) -> Mapping[str, Any]:
    assert result.exit_code == 0, f"{result.output}{result.exception!r}"
    return json.loads(result.stdout)


@pytest.fixture
def player(tmp_path: Path) -> Player:
    return Player(tmp_path)


def test_a_session_in_steps_is_one_like_any_other(player: Player) -> None:
    begun = player.begins("wifi_off", "--model", "frontier", "--param", "style=terse")
    called = player.takes("call", "set_wifi_status", OFF, read=begun["read"])
    assert called["results"][0] | {"text": ""} == {"tool": "set_wifi_status", "result": {"result": None}, "text": ""}
    assert player.takes("say", "Wifi is off.", read=called["read"])["over"] is True
    log = player.log("wifi_off-base-s0-t0")
    assert log.started.agent == {"name": "steps", "model": "frontier", "parameters": {"style": "terse"}}
    assert log.ended
    assert log.ended.reason == "user_ended"
    assert list(differences(log)) == []


def test_an_answer_is_read_before_the_next_step(player: Player) -> None:
    begun = player.begins("wifi_off")
    assert "read the last answer first" in str(player.types("call", "set_wifi_status", OFF).exception)
    player.takes("call", "set_wifi_status", OFF, read=begun["read"])
    late = player.types("say", "--read", begun["read"], "Off.")
    assert "is not the code of the last answer" in str(late.exception)
    assert len(player.takes("show", read="x")["so_far"]) == 1


def test_another_session_waits_until_the_one_in_the_folder_is_over(player: Player) -> None:
    player.begins("wifi_off")
    assert "a session goes on" in str(player.types("landlord_number", "--out", str(player.out)).exception)
    assert player.takes("end")["reason"] == "agent_failed"
    assert player.begins("wifi_off")["seen_before"] == ["set_wifi_status"]
    assert "the session is over" not in player.types("show").stdout
    assert {path.name for path in (player.out / "logs").iterdir()} == {"wifi_off-base-s0-t0.jsonl"}


def test_a_player_never_comes_across_name_goal_or_script(player: Player) -> None:
    name = "signed_out_too_soon"
    told = player.types(name, "--out", str(player.out)).stdout
    told += player.types("show").stdout + player.types("show", "--json").stdout
    told += "".join(path.read_text() for path in player.folder.iterdir())
    user = Suite().get(name).user
    assert user.opening in told
    for secret in (name, user.goal[:40], user.script.answers[0].say, "milestone", "minefield"):
        assert secret not in told


def test_what_was_shown_is_shown_once_more(player: Player) -> None:
    begun = player.begins("wifi_off", "--variant", "argument_name_scrambled")
    tool = next(tool for tool in begun["tools"] if tool["name"] == "set_wifi_status")
    [argument] = tool["input_schema"]["properties"]
    assert argument != "on"
    player.takes("call", tool["name"], json.dumps({argument: False}), read=begun["read"])
    shown = _answer(player.types("show", "--json"))
    assert shown["tools"] == begun["tools"]
    assert [line["arguments"] for line in shown["so_far"]] == [{argument: False}]


def test_calls_of_one_step_are_a_batch(player: Player) -> None:
    begun = player.begins("landlord_number", "--variant", "all_tools")
    asked = ["get_current_timestamp", "search_contacts", '{"relationship": "landlord"}']
    results = player.takes("call", *asked, read=begun["read"])["results"]
    assert [result["tool"] for result in results] == ["get_current_timestamp", "search_contacts"]
    part = next((player.out / "partial").glob("*.part"))
    calls = [event for event in read_trajectory(part).events if event.event == "tool_call"]
    assert len({call.batch for call in calls}) == 1


@pytest.mark.parametrize("text", ["- a list", "--json?", "-5 degrees", "call", "two\nlines"])
@pytest.mark.parametrize("piped", [False, True])
def test_a_reply_may_look_like_anything(player: Player, text: str, *, piped: bool) -> None:
    begun = player.begins("wifi_off")
    player.takes("say", "-" if piped else text, read=begun["read"], typed=text)
    log = next(path for path in player.out.glob("*/wifi_off*") if path.suffix in (".jsonl", ".part"))
    said = [event.content for event in read_trajectory(log).events if isinstance(event, Message)]
    assert text in said


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["call"], "no tool is named"),
        (["call", OFF], "in place of a tool's name"),
        (["call", "set_wifi_status", '{"on": no}'], "is not JSON"),
        (["call", "set_wifi_status", "-"], "is not JSON"),
        (["say"], "nothing is said"),
        (["say", "Wifi", "is", "off."], "3 texts are said"),
        (["say", " "], "the text is empty"),
        (["end", "now"], "'end' takes no words"),
    ],
)
def test_a_slip_of_the_shell_is_no_step(player: Player, words: list[str], problem: str) -> None:
    begun = player.begins("wifi_off")
    slip = player.types(*words, "--read", begun["read"])
    assert problem in f"{slip.output}{slip.exception}"
    assert _answer(player.types("show", "--json"))["so_far"] == []


def test_where_nothing_was_begun_it_is_told_how(player: Player) -> None:
    assert "nothing was begun" in str(player.types("show").exception)
    assert not player.folder.exists()


def test_players_share_a_folder_of_logs(tmp_path: Path) -> None:
    for name in ("first", "second"):
        Player(tmp_path, name).begins("wifi_off")
    for name in ("second", "first"):
        Player(tmp_path, name).takes("say", "I cannot.")
        Player(tmp_path, name).types("end")
    assert len(list((tmp_path / "out" / "logs").iterdir())) == 2


def test_the_user_may_say_what_is_written(player: Player, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("Please!\n")
    begun = player.begins("wifi_off", "--user", "replay", "--user-lines", str(tmp_path / "lines.txt"))
    assert player.takes("say", "Must I?", read=begun["read"])["user"] == "Please!"
    assert player.takes("say", "No.")["over"] is True


def test_a_session_goes_on_in_a_world_of_ones_own(
    player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(group, ["worlds", "new", "workshop"]).exit_code == 0
    files = ("--world", "workshop/workshop/__init__.py", "--scenarios", "workshop/scenarios")
    monkeypatch.setenv(FILES, "")
    begun = player.begins("workshop_book", *files)
    monkeypatch.setenv(FILES, "")  # a later command is told of no world
    booking = '{"name": "Bertha Krüger", "item": "Bread knife", "days": 3}'
    [result] = player.takes("call", "book_repair", booking, read=begun["read"])["results"]
    assert result["result"]["item"] == "Bread knife"
