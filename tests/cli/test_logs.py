"""Commands that read logs: replay, import, export; what they say and which exit code they give."""

import json
import shutil
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory import LogWriter, read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.engine.trajectory.packs import PackWriter
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.session.full_disks import no_file_beyond
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "one.jsonl"
    with LogWriter(path) as writer:
        session = Session(SessionSpec(WIFI_OFF), ScriptedUser(WIFI_OFF.user.script), writer)
        session.begin()
        session.call("set_wifi_status", {"on": False})
        anyio.run(session.say, "Wifi is now off.")
    return path


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def test_replay_agrees(log: Path) -> None:
    done = invoke("replay", log.parent)
    assert (done.exit_code, done.stdout) == (0, f"{log}: agrees\n")


def test_replay_tells_what_differs(log: Path) -> None:
    lines = log.read_text().splitlines()
    log.write_text(
        "\n".join(line.replace('"wifi":false', '"wifi":true') if '"tool_call"' in line else line for line in lines)
        + "\n"
    )
    done = invoke("replay", log)
    assert done.exit_code == 1
    assert "changes: recorded" in done.stdout


def test_replay_in_json(log: Path) -> None:
    assert json.loads(invoke("replay", log, "--json").stdout) == {str(log): []}


@each(
    ("arguments", "problem"),
    [
        (("replay", "nowhere"), "nowhere: does not exist; expected a log or a folder of logs"),
        (("grade", "nowhere"), "nowhere: does not exist; expected a log or a folder of logs"),
        (("export", "atif", "nowhere"), "nowhere: does not exist; expected a log or a folder of logs"),
    ],
)
def test_a_path_that_does_not_exist(arguments: tuple[str, ...], problem: str) -> None:
    error = invoke(*arguments).exception
    assert isinstance(error, SandboxError)
    assert str(error) == problem


def test_a_folder_without_logs(tmp_path: Path) -> None:
    assert "holds no log" in str(invoke("grade", tmp_path).exception)


def test_a_log_in_the_middle_of_which_a_line_is_broken(log: Path) -> None:
    lines = log.read_text().splitlines()
    lines[2] = lines[2][:40]
    log.write_text("\n".join(lines) + "\n")
    done = invoke("grade", log)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sandbox-mcp: {log}:3: is not a log event")


def test_a_log_of_a_newer_schema(log: Path) -> None:
    log.write_text(log.read_text().replace('"schema":1', '"schema":2', 1))
    assert "was written with log schema 2; this version reads up to 1" in invoke("grade", log).stderr


def test_a_log_that_cannot_be_read_does_not_keep_the_others_from_being_graded(log: Path) -> None:
    broken = log.with_name("broken.jsonl")
    broken.write_text("hello\n")
    done = invoke("grade", log.parent)
    assert done.exit_code == 2
    assert "1.000" in done.stdout
    assert done.stderr.startswith(f"sandbox-mcp: {broken}:1: is not a trajectory log: not JSON")


@each(
    "command",
    ["table breakdown/calls RUN", "compare RUN RUN", "export training RUN --min-score 0", "agreement SHEET --run RUN"],
)
def test_what_shows_the_other_logs_ends_with_2(log: Path, tmp_path: Path, command: str) -> None:
    sheet, broken = tmp_path / "sheet.csv", log.with_name("broken.jsonl")
    broken.unlink(missing_ok=True)
    invoke("annotate", log.parent, "-o", sheet)
    sheet.write_text(sheet.read_text().rstrip().removesuffix(",,,,,") + ",yes,,,,\n")
    asked = command.replace("RUN", str(log.parent)).replace("SHEET", str(sheet)).split()
    assert invoke(*asked).exit_code == 0
    broken.write_text("hello\n")
    done = invoke(*asked)
    assert (done.exit_code, bool(done.stdout)) == (2, True)
    assert "broken.jsonl:1: is not a trajectory log" in done.stderr


def test_of_many_logs_with_the_same_fault_the_first_are_named_and_the_others_counted(log: Path) -> None:
    for number in range(25):
        log.with_name(f"broken_{number:02}.jsonl").write_text("hello\n")
    log.with_name("another.jsonl").write_text("")
    lines = invoke("grade", log.parent, "--quiet", "--no-bounds").stderr.splitlines()
    assert sum("broken_" in line for line in lines) == 10
    assert [line for line in lines if "15 more logs:1: is not a trajectory log: not JSON" in line]
    assert sum("another.jsonl" in line for line in lines) == 1


@each("command", ["grade FOLDER", "table breakdown/calls FOLDER", "compare FOLDER FOLDER", "replay FOLDER"])
def test_a_pack_that_cannot_be_read_keeps_no_other_log_from_being_used(log: Path, command: str) -> None:
    spoilt = log.with_name("spoilt.jsonl.zst")
    spoilt.write_bytes(b"nothing of the kind")
    done = invoke(*command.replace("FOLDER", str(log.parent)).split())
    assert (done.exit_code, bool(done.stdout)) == (2, True)
    assert f"{spoilt}: is not a pack of logs" in done.stderr


def test_what_is_wrong_with_a_pack_is_said_once(log: Path) -> None:
    one = log.read_bytes()
    with PackWriter(log.parent, "many") as writer:
        for number in range(30):
            writer.add(f"log_{number:02}", one)
    data = bytearray((log.parent / "many-1.jsonl.zst").read_bytes())
    data[40] ^= 0xFF
    (log.parent / "many-1.jsonl.zst").write_bytes(data)
    lines = invoke("grade", log.parent, "--quiet", "--no-bounds").stderr.splitlines()
    assert [line.endswith("(30 logs)") for line in lines if "is damaged" in line] == [True]


def test_logs_that_cannot_be_read_are_listed_in_json(log: Path) -> None:
    broken = log.with_name("broken.jsonl")
    broken.write_text("hello\n")
    done = invoke("grade", log.parent, "--json")
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert len(found["sessions"]) == 1
    assert [item["path"] for item in found["unreadable"]] == [str(broken)]
    assert "is not a trajectory log: not JSON" in found["unreadable"][0]["reason"]


def test_explanations_are_of_the_logs_that_could_be_read(log: Path) -> None:
    log.with_name("a_broken_one.jsonl").write_text("hello\n")
    done = invoke("grade", log.parent, "--explain")
    assert (done.exit_code, "score 1.000" in done.stdout) == (2, True)


@each("threshold", ["5", "-0.1", "nan"])
def test_a_threshold_is_a_share(log: Path, threshold: str) -> None:
    done = invoke("grade", log, "--threshold", threshold)
    assert done.exit_code == 2
    assert "toolsandbox.score is from 0 to 1" in done.stderr


@each(
    ("arguments", "problem"),
    [
        (
            ("grade", "--metric", "tooltalk.success", "--threshold", "nan"),
            "--threshold nan cannot be used; expected a number",
        ),
        (
            ("grade", "--threshold-by", "low"),
            "--threshold-by low says how --threshold is held, which is missing",
        ),
        (("export", "training", "--min-score", "nan"), "Invalid value for '--min-score': 'nan' is not a number"),
    ],
)
def test_a_limit_that_nothing_could_exceed_is_refused(log: Path, arguments: tuple[str, ...], problem: str) -> None:
    done = invoke(*arguments, log)
    assert (done.exit_code, problem in done.stderr) == (2, True), done.output


def test_a_log_cut_in_the_middle_of_a_line_is_graded_as_incomplete(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-200])
    done = invoke("grade", log, "--json")
    (session,) = json.loads(done.stdout)["sessions"]
    assert session["scored"] is False
    assert session["reason"]


def test_a_reason_has_a_column_where_a_session_has_one(log: Path) -> None:
    header, row = invoke("grade", log).stdout.splitlines()[:2]
    assert (header.split(), row.split()[2]) == (["session", "score", "turns", "recall", "precision"], "1")
    log.with_name("two.jsonl").write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    header, *rows = invoke("grade", log.parent).stdout.splitlines()[:3]
    assert header.endswith("not scored because")
    assert [row.endswith("incomplete: the log has no end") for row in rows] == [False, True]


def test_export_and_import_bring_a_session_back(log: Path, tmp_path: Path) -> None:
    assert invoke("export", "atif", log, "-o", tmp_path / "atif").exit_code == 0
    done = invoke("import", "atif", tmp_path / "atif" / "one.json", "-o", tmp_path / "back", "--json")
    (written,) = json.loads(done.stdout)
    again = read_trajectory(written["path"])
    assert [call.name for call in again.events if call.event == "tool_call"][:1] == ["set_wifi_status"]


def test_export_to_stdout_is_one_document_a_line(log: Path) -> None:
    assert json.loads(invoke("export", "openai-chat", log).stdout)


def test_unknown_formats_name_the_known_ones(log: Path, tmp_path: Path) -> None:
    assert "unknown export format 'xml'; known: atif, openai-chat, log, pack, training" in str(
        invoke("export", "xml", log).exception
    )
    assert "unknown log format 'xml'; known: agentdojo, anthropic, atif" in str(
        invoke("import", "xml", log, "-o", tmp_path).exception
    )


def test_explain_shows_conversation_milestones_and_score(log: Path) -> None:
    text = invoke("grade", log, "--explain").stdout
    assert "agent calls set_wifi_status(on=false)" in text
    assert "wifi_off" in text
    assert "score 1.000" in text
    assert "conduct: nothing found" in text


class TestPacked:
    """A folder of logs and the same in a pack are one to every command."""

    @pytest.fixture
    def pack(self, log: Path, tmp_path: Path) -> Path:
        assert invoke("export", "pack", log.parent, "-o", tmp_path / "packed").exit_code == 0
        return tmp_path / "packed" / "pack-1.jsonl.zst"

    def test_a_packed_log_comes_out_as_it_was(self, log: Path, pack: Path, tmp_path: Path) -> None:
        done = invoke("export", "log", pack, "-o", tmp_path / "out")
        assert (done.exit_code, done.stderr) == (0, f"exported 1 session to {tmp_path / 'out'}\n")
        assert (tmp_path / "out" / "one.jsonl").read_bytes() == log.read_bytes()

    def test_one_session_can_be_named(self, pack: Path) -> None:
        assert invoke("replay", pack / "one.jsonl").stdout == f"{pack / 'one.jsonl'}: agrees\n"

    @pytest.mark.parametrize("command", [("grade", "--json"), ("replay", "--json"), ("export", "atif")])
    def test_commands_say_the_same_of_it(self, log: Path, pack: Path, command: tuple[str, ...]) -> None:
        one, other = invoke(*command, log), invoke(*command, pack)
        assert one.exit_code == other.exit_code == 0
        assert one.stdout.replace(str(log), "LOG") == other.stdout.replace(str(pack / "one.jsonl"), "LOG")

    def test_a_report_and_a_comparison_are_made_of_it(self, log: Path, pack: Path, tmp_path: Path) -> None:
        assert invoke("report", pack, "-o", tmp_path / "report.html").stderr.startswith(f"{tmp_path}/report.html: 1 s")
        assert invoke("compare", log.parent, pack, "--json").exit_code == 0
        assert invoke("compare", log, pack / "one.jsonl", "--json").exit_code == 0

    def test_logs_of_the_same_name_keep_apart(self, log: Path, pack: Path, tmp_path: Path) -> None:
        assert invoke("export", "log", pack, log, "-o", tmp_path / "out").exit_code == 0
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one-2.jsonl", "one.jsonl"]

    def test_a_log_that_was_cut_off_is_packed_as_far_as_it_goes(self, log: Path, tmp_path: Path) -> None:
        log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes()[:-10])
        assert invoke("export", "pack", log, "-o", tmp_path / "packed").exit_code == 0
        [again] = map(read_trajectory, find_logs([tmp_path / "packed"]))
        assert (again.events, again.ended) == (read_trajectory(log).events, None)

    def test_it_needs_a_folder(self, log: Path) -> None:
        done = CliRunner().invoke(group, ["export", "log", str(log)])
        assert done.exit_code == 2
        assert "export log writes into a folder; name it with -o" in done.output


def test_floor_and_ceiling_are_worked_out_once_even_for_one_log(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path / "cache"))
    told = json.loads(invoke("grade", log, "--json").stdout)
    assert told["bounds"]["ceiling"]["score"] == 1
    monkeypatch.setattr(RehearsalStage, "rehearse", None)  # whoever plays the solution now fails
    assert json.loads(invoke("grade", log, "--json").stdout) == told
    assert invoke("grade", log, "--json", "--no-keep").exception


def test_logs_of_the_same_name_are_exported_beside_each_other(log: Path, tmp_path: Path) -> None:
    second = tmp_path / "second" / "one.jsonl"
    second.parent.mkdir()
    second.write_bytes(log.read_bytes())
    (second.parent / "one-2.jsonl").write_bytes(log.read_bytes())
    for form, suffix in (("openai-chat", ".json"), ("log", ".jsonl")):
        done = invoke("export", form, second.parent, log, "-o", tmp_path / form)
        assert "exported 3 sessions" in done.stderr
        assert sorted(path.name for path in (tmp_path / form).iterdir()) == [
            f"one-2{suffix}", f"one-3{suffix}", f"one{suffix}"
        ]  # fmt: skip


FULL = {
    "grade LOG --no-bounds --out OUT/scores.csv": "scores.csv",
    "grade LOG --no-bounds --out OUT/scores.json": "scores.json",
    "export log LOG -o OUT": "one.jsonl",
    "export pack LOG -o OUT": "pack-1.jsonl.zst",
    "export openai-chat LOG -o OUT": "one.json",
    "export training LOG --min-score 0 -o OUT/lines.jsonl": "lines.jsonl",
    "annotate LOG -o OUT/sheet.csv": "sheet.csv",
    "report LOG -o OUT/page.html": "page.html",
}


@each(("line", "named"), FULL.items())
def test_on_a_full_disk_the_file_that_could_not_be_written_is_named(
    line: str, named: str, tmp_path: Path, log: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir(parents=True)
    words = line.replace("LOG", str(log)).replace("OUT", str(out)).split()
    invoke("grade", log, "--no-bounds")  # what is cached is cached by now
    with no_file_beyond(64):
        done = invoke(*words)
    assert named in str(done.exception), done.output
    assert [path.name for path in out.iterdir() if path.stat().st_size] == []


@each(
    "command",
    [
        "grade PLACE",
        "compare PLACE PLACE",
        "table breakdown/world PLACE",
        "export atif PLACE",
        "export training PLACE --min-score 0",
        "replay PLACE",
    ],
)
def test_every_command_that_reads_a_pack_that_was_cut_off_says_so(command: str, log: Path) -> None:
    with PackWriter(log.parent, "1-of-1") as writer:
        for trial in range(1, 3):
            writer.add(f"t{trial}", log.read_bytes().replace(b'"trial":0', f'"trial":{trial}'.encode()))
    assert writer.path
    writer.path.write_bytes(writer.path.read_bytes()[:-60])
    place = str(log.parent)
    said = invoke(*(place if part == "PLACE" else part for part in command.split())).stderr
    assert f"{writer.path}: is cut off at byte" in said
    writer.path.unlink()


def test_a_folder_in_which_scores_are_kept_is_named_once(tmp_path: Path) -> None:
    runner = CliRunner()
    run = ["run", "wifi_off", "landlord_number", "--trials", "18", "--agent", "refuse", "--transport", "direct"]
    assert runner.invoke(group, [*run, "--no-bounds", "--out", str(tmp_path / "run")]).exit_code == 0
    logs = tmp_path / "elsewhere"
    shutil.copytree(tmp_path / "run" / "logs", logs, ignore=shutil.ignore_patterns(".*"))
    before = sorted(path.name for path in logs.iterdir())
    runner.invoke(group, ["grade", str(logs), "--no-keep", "--no-bounds"])
    assert sorted(path.name for path in logs.iterdir()) == before
    told = [runner.invoke(group, ["grade", str(logs), "--no-bounds"]).stderr for _ in range(2)]
    assert [f"scores are kept in {logs}" in text for text in told] == [True, False]
