"""ToolTalk's conversations from a checkout, played here: on policy, and prefix by prefix."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from sandbox_clients.function import Asked
from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.scores import grade
from sandbox_grader.importers import importer

from sandbox_mcp import evaluate
from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import ReferenceTurn, SessionStarted, ToolCall, read_trajectory
from sandbox_mcp.play.session import SessionSpec
from tests.each import each
from tests.worlds.office.test_tooltalk import checkout, recorded

MODES: tuple[Mode, ...] = ("strict", "paper", "compat")


def command(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["run", *arguments])


def written(folder: Path) -> Path:
    """A checkout of one conversation: an alarm that was recorded under another id than is drawn here."""
    return checkout(folder, recorded("AddAlarm", {"alarm_id": "x"}, time="07:30:00", session_token="t"))


async def known(asked: Asked) -> str:
    await asked.tools.call("AddAlarm", {"time": "07:30:00"})
    return "Done."


def test_a_model_that_gives_the_ground_truths_answers_reaches_78_of_78(benchmark_data: Path, tmp_path: Path) -> None:
    """It has the conversations by heart: what it answers follows from what it is told, and from nothing else."""
    answers: dict[tuple[str, ...], Any] = {}
    for path in sorted((benchmark_data / "tooltalk").glob("*/*.json")):
        document = json.loads(path.read_text())
        said: tuple[str, ...] = ()
        for turn in document.get("conversation", ()):
            answers[(document["metadata"]["timestamp"], *said)] = turn
            said = (*said, turn["text"])

    async def by_heart(asked: Asked) -> str:
        now = asked.instructions.partition("It is ")[2][:19]
        turn = answers[(now, *(line.text for line in asked.said))]
        for call in turn.get("apis") or ():
            given = {name: v for name, v in call["request"]["parameters"].items() if name != "session_token"}
            await asked.tools.call(call["request"]["api_name"], given)
        return str(turn["text"])

    talks = Conversations(benchmark_data / "tooltalk")
    report = evaluate(by_heart, talks, mode="prefix", variants=["all_tools"], out=tmp_path)
    assert (len(report.sessions), report.score) == (78, 1.0)
    logs = [read_trajectory(path) for path in (tmp_path / "logs").iterdir()]
    reached = {mode: [grade(log, None, mode, metrics=["tooltalk"]) for log in logs] for mode in MODES}
    found = {mode: sum(item.number("tooltalk.success") == 1 for item in items) for mode, items in reached.items()}
    # in 27 conversations a search finds something else by now, which the paper's rule of identical results minds
    assert found == {"strict": 78, "paper": 51, "compat": 78}


def test_the_agent_is_told_place_time_and_who_is_logged_in(benchmark_data: Path) -> None:
    told: list[str] = []

    async def listen(asked: Asked) -> str:
        told.append(asked.instructions)
        return "Hm."

    talks = Conversations(benchmark_data / "tooltalk").select("AddAlarm-easy", "UserLogin-easy")
    evaluate(listen, talks, mode="prefix", jobs=1)
    assert "The user is in New York. It is 2023-09-11 13:00:00. The user is logged in as justinkool." in told[0]
    assert "The user is in Paris. It is 2023-09-11 09:00:00. The user is not logged in." in told[-1]


def test_the_history_shows_what_was_recorded_and_the_world_what_happened_here(tmp_path: Path) -> None:
    folder = written(tmp_path)
    path = folder / "data/easy/one.json"
    document = json.loads(path.read_text())
    again = [{"index": 2, "role": "user", "text": "And now?"}, {"index": 3, "role": "assistant", "text": "There."}]
    path.write_text(json.dumps({**document, "conversation": [*document["conversation"], *again]}))
    shown: list[Any] = []

    async def look(asked: Asked) -> str:
        found = await asked.tools.call("FindAlarms", {})
        shown.append(([call.output.text for step in asked.history if isinstance(step, tuple) for call in step], found))
        return "Hm."

    evaluate(look, Conversations(folder), mode="prefix", variants=["suite_tools"], jobs=1)
    (before, first), (after, second) = shown
    assert (before, after) == ([], ['{"alarm_id":"x"}'])
    assert len(first.value["alarms"]) + 1 == len(second.value["alarms"])
    assert "x" not in {alarm["alarm_id"] for alarm in second.value["alarms"]}


@each("mode", ["prefix", "on-policy"])
def test_a_conversation_is_played_from_the_command_line_and_graded_from_its_log_alone(
    tmp_path: Path, mode: str
) -> None:
    folder, out = written(tmp_path / "checkout"), tmp_path / "run"
    played = command("--tooltalk", str(folder), "--mode", mode, "--agent", "reference", "--out", str(out), "--json")
    summary = json.loads(played.stdout)
    assert summary["scenarios"][0]["score"] == 1.0
    [path] = (out / "logs").iterdir()
    for graded in MODES:
        assert grade(read_trajectory(path), None, graded, metrics=["tooltalk"]).number("tooltalk.success") == 1.0


def test_on_policy_the_user_says_its_lines_whatever_the_agent_does(tmp_path: Path) -> None:
    async def deaf(asked: Asked) -> str:
        return f"{len(asked.said)}?"

    out = tmp_path / "run"
    evaluate(deaf, Conversations(written(tmp_path / "checkout")), out=out)
    log = read_trajectory(next((out / "logs").iterdir()))
    assert log.ended is not None
    assert log.ended.reason == "user_ended"
    assert [call.tool for call in log.events if isinstance(call, ToolCall)] == ["end_conversation"]


def test_prefixes_and_sessions_of_the_same_conversations_are_compared(tmp_path: Path) -> None:
    folder = written(tmp_path / "checkout")
    for mode in ("prefix", "on-policy"):
        evaluate(known, Conversations(folder), mode=mode, out=tmp_path / mode)
    places = (str(tmp_path / "on-policy"), str(tmp_path / "prefix"))
    found = CliRunner().invoke(group, ["compare", *places, "--metric", "tooltalk.success", "--json"])
    assert json.loads(found.stdout)["compared"] == 1


def test_subsets_are_tags(benchmark_data: Path) -> None:
    talks = Conversations(benchmark_data / "tooltalk")
    assert [len(talks.select(f"tooltalk:{name}")) for name in ("easy", "hard", "*")] == [28, 50, 78]


@each(
    ("options", "said"),
    [
        (["--scenarios", "."], "leave out --scenarios"),
        (["--user", "human"], "leave out --user"),
        (["nothing"], "unknown scenario 'nothing'"),
    ],
)
def test_what_does_not_go_with_a_checkout_is_refused(tmp_path: Path, options: list[str], said: str) -> None:
    folder = written(tmp_path)
    found = command("--tooltalk", str(folder), "--agent", "refuse", "--out", str(tmp_path / "run"), *options)
    assert found.exit_code != 0
    assert said in f"{found.stderr} {found.exception}"


def test_a_conversation_that_is_not_as_tooltalk_has_it_is_named(tmp_path: Path) -> None:
    folder = checkout(tmp_path, recorded("OpenSesame", {}))
    found = command("--tooltalk", str(folder), "--agent", "refuse", "--out", str(tmp_path / "run"))
    assert "one.json" in str(found.exception)
    assert "it calls OpenSesame" in str(found.exception)


def forms(turn: ReferenceTurn) -> list[Any]:
    """A turn as values to compare, without the token that no agent gives."""
    calls = [(c.tool, {**c.arguments, "session_token": ""}, c.result, c.error, c.action) for c in turn.calls]
    return [turn.reply, calls]


def test_what_is_completed_is_what_the_importer_reads(benchmark_data: Path) -> None:
    """Kept per conversation and read without building a session, and the same as an import says."""
    talks = Conversations(benchmark_data / "tooltalk")
    for name in talks.names()[::7]:
        [imported] = importer("tooltalk")([Path(talks.get(name).path)])
        started = imported.events[0]
        assert isinstance(started, SessionStarted)
        assert started.origin is not None
        spec = talks.completed(SessionSpec(talks.get(name)))
        assert [forms(turn) for turn in spec.reference[0]] == [forms(turn) for turn in started.reference[0]]
        assert spec.origin is not None
        assert {key: spec.origin[key] for key in ("format", "empty_turns", "conversation")} == {
            key: started.origin[key] for key in ("format", "empty_turns", "conversation")
        }


def test_a_second_trial_is_played_on_the_same_ground_truth_and_told_the_same(tmp_path: Path) -> None:
    """What an agent does in one session leaves nothing behind for the next."""
    talks = Conversations(written(tmp_path))
    report = evaluate(known, talks, mode="prefix", trials=3, out=tmp_path / "run", metric="tooltalk.success")
    logs = [read_trajectory(path) for path in sorted((tmp_path / "run" / "logs").iterdir())]
    assert (len(logs), report.score) == (3, 1.0)
    told = [[replace(event, wall={}) for event in log.events] for log in logs]
    assert told[0] == told[1] == told[2]
