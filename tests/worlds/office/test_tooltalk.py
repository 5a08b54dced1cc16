"""ToolTalk's own ground truth, played in the office: accepted call by call, and different where it is known to be."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds.office.tooltalk import KNOWN, replay
from tests.each import each

NOON = "2024-05-06 12:00:00"
DATABASES: dict[str, Any] = {
    "Account": {"ada": {"username": "ada", "password": "pw", "email": "ada@x.example", "phone": None, "name": "Ada"}},
    "Alarm": {
        "ada": {"a1": {"alarm_id": "a1", "time": "07:00:00"}},
        "bob": {"a1": {"alarm_id": "a1", "time": "09:00:00"}},
    },
    "Calendar": {}, "Email": {}, "Message": {}, "Reminder": {},
    "Weather": {"rome": {"2024-05-06": {"date": "2024-05-06", "high": 70, "low": 50, "conditions": "Dry"}}},
    "HistoricWeather": {},
}  # fmt: skip


def recorded(tool: str, response: Any, **parameters: Any) -> dict[str, Any]:
    return {"request": {"api_name": tool, "parameters": parameters}, "response": response, "exception": None}


def checkout(folder: Path, *calls: dict[str, Any]) -> Path:
    (folder / "data/databases").mkdir(parents=True)
    for name, database in DATABASES.items():
        (folder / f"data/databases/{name}.json").write_text(json.dumps(database))
    (folder / "data/easy").mkdir()
    talk = [
        {"index": 0, "role": "user", "text": "Please."},
        {"index": 1, "role": "assistant", "text": "Done.", "apis": calls},
    ]
    user = {"username": "ada", "session_token": "t"}
    document = {"name": "one", "user": user, "metadata": {"timestamp": NOON}, "conversation": talk}
    (folder / "data/easy/one.json").write_text(json.dumps(document))
    return folder


def replayed(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(group, ["replay", "--tooltalk", str(folder), *options])


def test_every_call_of_the_original_is_accepted_and_37_differ_as_known(benchmark_data: Path) -> None:
    told = json.loads(replayed(benchmark_data / "tooltalk", "--json").stdout)
    assert (told["calls"], told["accepted"]) == (266, 266)
    assert {item["conversation"] + "#" + str(item["number"]) for item in told["differences"]} == set(KNOWN)
    assert all(item["known"] for item in told["differences"])


def test_37_differences_are_known() -> None:
    kinds = list(KNOWN.values())
    found = {kind: kinds.count(kind) for kind in KNOWN.values()}
    assert found == {"other content or order": 8, "more found": 21, "another id": 8}


def test_entries_of_two_accounts_may_have_the_same_id(tmp_path: Path) -> None:
    gone = recorded("DeleteAlarm", {"status": "success"}, session_token="t", alarm_id="a1")
    left = recorded("FindAlarms", {"alarms": []}, session_token="t")
    (found,) = replay(checkout(tmp_path, gone, left))
    assert [call.difference for call in found.calls] == [None, None]


def test_the_weather_is_that_of_the_databases(tmp_path: Path) -> None:
    weather = {"weather": {"date": "2024-05-06", "high": 70, "low": 50, "conditions": "Dry"}}
    (found,) = replay(checkout(tmp_path, recorded("CurrentWeather", weather, location="Rome")))
    assert found.calls[0].difference is None


def test_what_came_out_can_be_kept_and_imported(tmp_path: Path) -> None:
    found = recorded("FindAlarms", {"alarms": [{"alarm_id": "a1", "time": "07:00:00"}]}, session_token="t")
    replayed(checkout(tmp_path / "there", found), "-o", str(tmp_path / "out"))
    document = json.loads((tmp_path / "out/one.json").read_text())
    assert document["conversation"][1]["predictions"][0] == {"role": "api", **found}


def test_a_difference_that_is_not_known_is_told(tmp_path: Path) -> None:
    wrong = recorded("FindAlarms", {"alarms": [{"alarm_id": "a1", "time": "07:30:00"}]}, session_token="t")
    done = replayed(checkout(tmp_path, wrong))
    assert done.exit_code == 1
    assert "differing otherwise: 1\n  one#0 FindAlarms" in done.stdout


def test_a_call_that_is_not_accepted_fails(tmp_path: Path) -> None:
    done = replayed(checkout(tmp_path, recorded("FindAlarms", {"alarms": [{"alarm_id": "a7"}]}, session_token="t")))
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "accepted by ToolTalk's metrics: 0 of 1 call")


@each(
    ("file", "text", "why"),
    [
        ("databases/Email.json", None, "lacks Email.json"),
        ("databases/Email.json", "{", "cannot be read"),
        ("easy/one.json", None, "holds no conversations"),
        ("easy/one.json", '{"conversation": []}', "is not as ToolTalk has it"),
    ],
)
def test_what_is_no_checkout_is_one_line(tmp_path: Path, file: str, text: str | None, why: str) -> None:
    spoilt = checkout(tmp_path) / "data" / file
    if text is None:
        spoilt.unlink()
    else:
        spoilt.write_text(text)
    assert why in str(replayed(tmp_path).exception)


def test_a_folder_without_databases_is_one_line(tmp_path: Path) -> None:
    assert "has no folder 'databases'" in str(replayed(tmp_path).exception)
