"""What a replaying user says: files of lines, recorded sessions, and what cannot be replayed."""

import json
from pathlib import Path
from typing import Any

import pytest
from sandbox_clients.reference import RefuseAgent
from sandbox_grader.importers import importer
from sandbox_scenarios import Suite

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.users import replayed_users
from sandbox_mcp.app.run.utterances import recorded_lines, written_lines
from sandbox_mcp.engine.trajectory import TrajectoryError, to_line
from sandbox_mcp.play.session import SessionSpec
from tests.clients.sessions import SUITE, write
from tests.each import each
from tests.run.runs import logs, played

LATE = SUITE.get("late_for_dinner_low_battery")
WIFI = SUITE.get("wifi_off")


def lines(path: Path, text: str, scenario: Any = LATE) -> tuple[str, ...]:
    path.write_text(text, encoding="utf-8")
    return written_lines(path).of(SessionSpec(scenario))


def test_a_text_has_one_utterance_a_line_for_every_scenario(tmp_path: Path) -> None:
    text = "\ufeffWren.\n\n  Yes, do. \n"
    assert lines(tmp_path / "lines.txt", text) == lines(tmp_path / "lines.txt", text, WIFI) == ("Wren.", "Yes, do.")


@each(
    ("name", "text"),
    [("a.yaml", "wifi_off:\n  - yes\n  - 'Oh: no.'"), ("a.json", '{"wifi_off": ["yes", "Oh: no."]}')],
)
def test_yaml_and_json_have_a_list_for_each_scenario(tmp_path: Path, name: str, text: str) -> None:
    assert lines(tmp_path / name, text, WIFI) == ("yes", "Oh: no.")


def test_an_opening_that_was_written_down_is_not_said_twice(tmp_path: Path) -> None:
    assert lines(tmp_path / "lines.txt", f"{WIFI.user.opening}\nThanks.", WIFI) == ("Thanks.",)


@each(
    ("name", "text", "problem"),
    [
        ("a.txt", "", "are empty; expected one utterance a line"),
        ("a.txt", " \n\n", "are empty"),
        ("a.yaml", "", "are empty; expected one utterance a line, or a list for each scenario"),
        ("a.yaml", "- Yes.", "must map names of scenarios"),
        ("a.yaml", "wifi_off: [", "a.yaml:2: is not valid YAML"),
        ("a.yaml", "wifi_off: Yes.", "'wifi_off' must be a list of texts to say, not 'Yes.'"),
        ("a.yaml", "wifi_off: []", "'wifi_off' must be a list"),
        ("a.yaml", "wifi_off: [3]", "'wifi_off' must be a list"),
        ("a.yaml", "wifi_of: [Yes.]", "have nothing for scenario 'wifi_off'; did you mean 'wifi_of'?"),
        ("a.json", "{", "are not JSON"),
    ],
)
def test_a_file_that_says_nothing_is_told(tmp_path: Path, name: str, text: str, problem: str) -> None:
    with pytest.raises(RunError, match=problem):
        lines(tmp_path / name, text, WIFI)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read: No such file"):
        written_lines(tmp_path / "none.txt")
    with pytest.raises(TrajectoryError):
        recorded_lines(tmp_path / "none")


def test_a_run_is_played_again_with_the_same_words(tmp_path: Path) -> None:
    names = ("car_fixed", "when_the_dough_is_done")  # one is confirmed, one has two turns
    played(tmp_path / "first", scenarios=names, trials=2)
    users = replayed_users(recorded_lines(tmp_path / "first"))
    summary, _ = played(tmp_path / "again", users=users, scenarios=names, trials=2)
    assert summary["score"] == 1.0
    said = [log[1:] for run in ("first", "again") for log in logs(tmp_path / run).values()]
    assert said[:4] == said[4:]


def test_another_agent_hears_the_same_words(tmp_path: Path) -> None:
    played(tmp_path / "first", scenarios=("when_the_dough_is_done",))
    users = replayed_users(recorded_lines(tmp_path / "first" / "logs"))
    played(tmp_path / "other", RefuseAgent(), users, scenarios=("when_the_dough_is_done",))
    heard = [
        [event["content"] for event in log if event.get("sender") == "user"]
        for run in ("first", "other")
        for log in logs(tmp_path / run).values()
    ]
    assert heard[0] == heard[1]
    assert len(heard[0]) > 1


def test_what_was_not_recorded_is_told_before_anything_is_played(tmp_path: Path) -> None:
    played(tmp_path / "first", scenarios=("wifi_off",))
    users = replayed_users(recorded_lines(tmp_path / "first"))
    with pytest.raises(RunError, match="no session of scenario 'wifi_off', variant 'base', trial 1, seed 0"):
        played(tmp_path / "again", users=users, scenarios=("wifi_off",), trials=2)
    assert not (tmp_path / "again").exists()


def test_a_scenario_that_opens_otherwise_by_now_is_told(tmp_path: Path) -> None:
    played(tmp_path / "first", scenarios=("wifi_off",))
    log = tmp_path / "first" / "logs" / "wifi_off-base-s0-t0.jsonl"
    write(log, log.read_text().replace(WIFI.user.opening, "Switch it off!"))
    with pytest.raises(RunError, match="began with other words, so the scenario has changed since"):
        recorded_lines(log).of(SessionSpec(WIFI))


def test_two_runs_in_which_the_user_said_other_words_are_not_mixed(tmp_path: Path) -> None:
    played(tmp_path / "first", scenarios=("when_the_dough_is_done",))
    played(tmp_path / "same", scenarios=("when_the_dough_is_done",))
    assert len(recorded_lines(tmp_path).sessions) == 1
    (tmp_path / "lines.txt").write_text("Go on, please.")
    other = replayed_users(written_lines(tmp_path / "lines.txt"))
    played(tmp_path / "other", RefuseAgent(), other, scenarios=("when_the_dough_is_done",))
    with pytest.raises(RunError, match=r"said something else in .*; name the folder of one run"):
        recorded_lines(tmp_path)


def test_the_seed_decides_where_there_are_several(tmp_path: Path) -> None:
    for seed in (3, 4):
        played(tmp_path, scenarios=("wifi_off",), seed=seed)
    found = recorded_lines(tmp_path)
    assert [line.partition(" ")[0] for line in found.of(SessionSpec(WIFI, seed=4))] == ["/end"]
    with pytest.raises(RunError, match="seed 5"):
        found.of(SessionSpec(WIFI, seed=5))


def test_a_folder_holds_one_set_of_lines(tmp_path: Path) -> None:
    for number, text in enumerate(("Thanks.", "Thank you.")):
        (tmp_path / f"{number}.txt").write_text(text)
    one, other = (replayed_users(written_lines(tmp_path / f"{number}.txt")) for number in range(2))
    played(tmp_path / "run", users=one, scenarios=("wifi_off",))
    with pytest.raises(RunError, match="holds a run with another user"):
        played(tmp_path / "run", users=other, scenarios=("wifi_off",))


def test_an_imported_session_lends_its_words_to_the_scenario_that_it_begins_like(tmp_path: Path) -> None:
    told = {"a": "Thanks.", "b": "And the radio?"}
    for name, words in told.items():
        messages = [("user", WIFI.user.opening), ("assistant", "Done."), ("user", words), ("assistant", "Done.")]
        chat = {"messages": [{"role": who, "content": said} for who, said in messages]}
        (tmp_path / f"{name}.json").write_text(json.dumps(chat))
        [session] = importer("openai-chat")([tmp_path / f"{name}.json"])
        (tmp_path / f"{name}.jsonl").write_text("".join(map(to_line, session.events)))
    mine = tmp_path / "mine.yaml"
    mine.write_text("family: mine\nscenarios:\n- {name: mine, extends: wifi_off}\n")
    scenario = Suite((mine,)).get("mine")
    found = recorded_lines(tmp_path, (mine,))
    said = [found.of(SessionSpec(scenario, trial=trial)) for trial in (0, 1)]
    assert said == [(words,) for words in told.values()]
