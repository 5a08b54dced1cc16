"""Grading many logs at once: on several cores and from kept scores, with the same report as one by one."""

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.derived import CODE
from sandbox_grader.grading.scores import KEPT_FROM
from sandbox_grader.reporting import kept
from sandbox_grader.reporting.grade_logs import grade_logs
from sandbox_grader.reporting.kept import FORM, PLACE
from sandbox_grader.reporting.many import grade_many
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.scenario_of_log import SuiteFinder

import sandbox_mcp
from sandbox_mcp.engine.trajectory.finding import packed_logs
from sandbox_mcp.engine.trajectory.packs import PackWriter, can_be_packed
from sandbox_mcp.engine.worlds import FILES
from tests.grader.test_runs_and_tables import record

FIND = SuiteFinder()
TRIALS = KEPT_FROM + 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions that passed, failed and never ended, and a file that is not a log."""
    folder = tmp_path_factory.mktemp("logs")
    for trial in range(TRIALS):
        record(folder, trial=trial, does_it=trial % 3 > 0, ends=trial % 5 > 0)
    (folder / "broken.jsonl").write_text("nonsense\n")
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "logs"))


def logs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def told(report: Report) -> str:
    return json.dumps({**report.to_json(), "paths": [item.path for item in report.sessions]}, sort_keys=True)


def counted(folder: Path, **options: object) -> tuple[Report, int]:
    """The report, and how many logs were graded for it."""
    seen: list[int] = []
    report = grade_many(logs(folder), FIND, watch=lambda done, _: seen.append(done), **options)  # type: ignore[arg-type]
    return report, len(seen)


def test_several_processes_give_the_report_of_one(folder: Path) -> None:
    alone = grade_logs(logs(folder), FIND, skip_unreadable=True)
    assert told(grade_many(logs(folder), FIND, jobs=2, keep=False)) == told(alone)
    assert not (folder / PLACE).exists()


class Deadly(SuiteFinder):
    """Ends the process that looks for a scenario, as the system does with one that has taken all memory."""

    def __call__(self, name: str) -> NoReturn:
        os._exit(9)


def test_a_process_that_is_ended_is_told_in_a_line(folder: Path) -> None:
    with pytest.raises(GraderError, match="a process that was grading is gone"):
        grade_many(logs(folder), Deadly(), jobs=2, keep=False)


def test_a_change_to_whatever_the_worlds_know_makes_kept_scores_old() -> None:
    known = [path for path in Path(str(sandbox_mcp.__file__)).parent.joinpath("worlds").rglob("*") if path.is_file()]
    assert {path.suffix for path in known if path.suffix != ".pyc"} <= set(CODE)


def test_what_is_unchanged_is_not_graded_again(folder: Path) -> None:
    first, graded = counted(folder, jobs=1)
    again, graded_again = counted(folder, jobs=1)
    assert (graded, graded_again) == (TRIALS + 1, 0)
    assert told(again) == told(first)


def test_a_changed_log_is_graded_again_and_no_other(folder: Path) -> None:
    counted(folder, jobs=1)
    changed = folder / "trial1.jsonl"
    changed.write_text(changed.read_text().replace("Wifi is now off.", "Wifi is now on."))
    report, graded = counted(folder, jobs=1)
    assert graded == 1
    assert told(report) == told(grade_logs(logs(folder), FIND, skip_unreadable=True))


def test_grading_some_logs_keeps_what_is_kept_of_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "TOGETHER", 1)
    counted(folder, jobs=1)
    changed = folder / "trial1.jsonl"
    changed.write_text(changed.read_text().replace("Wifi is now off.", "Wifi is now on."))
    grade_many([path for path in logs(folder) if path.name != "trial0.jsonl"][:KEPT_FROM], FIND, jobs=1)
    assert counted(folder, jobs=1)[1] == 0


@pytest.mark.parametrize("option", [{"mode": "compat"}, {"keep_spoiled": True}, {"similarity": "exact"}])
def test_other_options_do_not_take_kept_scores(folder: Path, option: dict[str, object]) -> None:
    counted(folder, jobs=1)
    assert counted(folder, jobs=1, **option)[1] == TRIALS + 1


def test_a_changed_scenario_file_counts_as_a_change(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("family: mine\nscenarios:\n  - name: mine\n    extends: wifi_off\n")
    grade_many(logs(folder), SuiteFinder((mine,)), jobs=1)
    mine.write_text("family: mine\nscenarios:\n  - name: mine\n    extends: wifi_off\n    max_turns: 7\n")
    seen: list[int] = []
    grade_many(logs(folder), SuiteFinder((mine,)), jobs=1, watch=lambda done, _: seen.append(done))
    assert len(seen) == TRIALS + 1


def test_a_scenario_file_is_known_by_what_is_in_it(folder: Path, tmp_path: Path) -> None:
    text = "family: mine\nscenarios:\n  - name: mine\n    extends: wifi_off\n    max_turns: 7\n"

    def graded(place: Path, text: str) -> int:
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
        os.utime(place, (1, 1))
        seen: list[int] = []
        grade_many(logs(folder), SuiteFinder((place,)), jobs=1, watch=lambda done, _: seen.append(done))
        return len(seen)

    here, moved = tmp_path / "mine.yaml", tmp_path / "elsewhere" / "mine.yaml"
    assert [graded(here, text), graded(moved, text), graded(here, text.replace("7", "8"))] == [
        TRIALS + 1,
        0,
        TRIALS + 1,
    ]


SHOP = '''
import json
from pathlib import Path
from typing import Self

from prices import CURRENCY

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key


STOCK = json.loads(Path(__file__).with_name("stock.json").read_text())


class Ware(Table, fixed="wares.csv"):
    """What is sold."""

    id: Id[Self] = key()
    name: str


kept_shop = World("kept_shop", tables=[Ware])
'''


@pytest.mark.parametrize("changed", ["wares.csv", "prices.py", "shop.py", "stock.json"])
def test_a_change_to_what_a_world_of_ones_own_is_made_of_makes_kept_scores_old(
    changed: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_of = {"shop.py": SHOP, "wares.csv": "id,name\nw1,tea\n", "prices.py": "CURRENCY = 'EUR'\n", "stock.json": "{}"}
    for name, text in made_of.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    sys.modules.pop("prices", None)  # that of the test before
    monkeypatch.setenv(FILES, str(tmp_path / "shop.py"))
    counted(folder, jobs=1)
    assert counted(folder, jobs=1)[1] == 0
    with (tmp_path / changed).open("a") as file:
        file.write("\n")
    assert counted(folder, jobs=1)[1] == TRIALS + 1


@pytest.mark.parametrize(
    "home", ["{recorded: lamps.jsonl}", '{"recorded": "lamps.jsonl"}', "\n      recorded : lamps.jsonl"]
)
def test_scores_are_not_kept_where_a_scenario_names_a_tape(home: str, folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"family: mine\nscenarios:\n  - name: mine\n    world: {home}\n    extends: wifi_off\n")
    grade_many(logs(folder), SuiteFinder((mine,)), jobs=1)
    assert not (folder / PLACE).exists()


@pytest.mark.parametrize("start", [0, 50, 90, 97, 110, 3000, 5000])
@pytest.mark.parametrize("step", [1, 53, 211])
def test_kept_scores_that_are_broken_are_no_obstacle_and_soon_whole(folder: Path, start: int, step: int) -> None:
    """Wherever bytes of the file are others than they were: its head, its schema, its tables."""
    first, _ = counted(folder, jobs=1)
    kept = (folder / PLACE).read_bytes()
    turned = (byte ^ 0xFF if number >= start and number % step == 0 else byte for number, byte in enumerate(kept))
    (folder / PLACE).write_bytes(bytes(turned))
    for _ in range(3):
        report, done = counted(folder, jobs=1)
        assert told(report) == told(first)
    assert done == 0


def database(place: Path, *statements: str) -> None:
    with closing(sqlite3.connect(place)) as store:
        for statement in statements:
            store.execute(statement)
        store.commit()


ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
TYPES = "CREATE TABLE scores (chunk INTEGER PRIMARY KEY, key TEXT, counted BLOB, details BLOB, seal TEXT)"
OURS = f"PRAGMA user_version = {FORM}"
ODD_PLACES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda place: place.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "nothing": Path.touch,
    "text that nests": lambda place: place.write_text("[" * 100_000),
    "a half": lambda place: place.write_bytes(b"SQLite format 3\0" + bytes(500)),
    "a view without an end": lambda place: database(
        place, OURS, f"CREATE VIEW scores AS {ENDLESS} SELECT n chunk, '' key, 1 counted, 2 details, '' seal FROM c"
    ),
    "a column that is worked out": lambda place: database(
        place, OURS, "CREATE TABLE scores (chunk, key, counted, details AS (zeroblob(9)), seal)"
    ),
    "values of other types": lambda place: database(
        place, OURS, TYPES, "INSERT INTO scores VALUES (1, 'k', 1e308, NULL, 'é'), (2, 'k', 'x', 7, x'ff')"
    ),
}


@pytest.mark.skipif(sys.platform == "win32", reason="it has neither pipes nor devices as files")
@pytest.mark.parametrize("kind", ODD_PLACES)
def test_whatever_lies_where_scores_are_kept_is_no_obstacle(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "values of other types":
        monkeypatch.setattr("sandbox_grader.reporting.many.scores_key", lambda *_: "k")
    ODD_PLACES[kind](folder / PLACE)
    first, done = counted(folder, jobs=1)
    again, more = counted(folder, jobs=1)
    assert told(first) == told(again) == told(grade_logs(logs(folder), FIND, skip_unreadable=True))
    assert (done, more) == (TRIALS + 1, done if kind == "a folder" else 0)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights of their own")
@pytest.mark.parametrize("end", ["", "-journal", "-wal", "-shm"])
def test_a_link_where_scores_are_kept_leads_to_no_file_of_others(folder: Path, tmp_path: Path, end: str) -> None:
    precious, missing = tmp_path / "precious.db", tmp_path / "missing.db"
    database(precious, "CREATE TABLE scores (mine)", "INSERT INTO scores VALUES (1)")
    before = precious.read_bytes()
    for place in (precious, missing):
        (folder / f"{PLACE}{end}").symlink_to(place)
        report, _ = counted(folder, jobs=1)
        assert len(report.sessions) == TRIALS
        assert not (folder / PLACE).is_symlink()
        (folder / PLACE).unlink()
    assert precious.read_bytes() == before
    assert not missing.exists()


def test_few_logs_leave_nothing_behind(tmp_path: Path) -> None:
    record(tmp_path)
    grade_many(logs(tmp_path), FIND)
    assert [path.name for path in tmp_path.iterdir()] == ["trial0.jsonl"]


def test_a_broken_scenario_file_is_told_by_whichever_process_finds_it(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("family: mine\nscenarios:\n  - name: wifi_off\n    max_turns: many\n")
    with pytest.raises(GraderError) as broken:
        grade_many(logs(folder), SuiteFinder((mine,)), jobs=2)
    assert "expected a whole number" in "\n".join(broken.value.lines)


def test_scores_of_packed_logs_are_kept_as_well(folder: Path, tmp_path: Path) -> None:
    with PackWriter(tmp_path / "packed", "pack") as pack:
        for path in logs(folder):
            if can_be_packed(path.read_bytes()):
                pack.add(path.stem, path.read_bytes())
    assert pack.path
    paths = packed_logs(pack.path)
    first = grade_many(paths, FIND, jobs=1)
    assert sorted(path.name for path in pack.path.parent.iterdir()) == [PLACE, pack.path.name]
    seen: list[int] = []
    again = grade_many(paths, FIND, jobs=1, watch=lambda done, _: seen.append(done))
    assert seen == []
    assert told(again) == told(first)
    assert first.summary()["counts"]["played"] == TRIALS


def test_what_was_graded_before_a_fault_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, _: int) -> None:
        if done == KEPT_FROM:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_many(logs(folder), FIND, jobs=1, watch=stop)
    assert counted(folder, jobs=1)[1] == TRIALS + 1 - KEPT_FROM


def test_a_scenario_file_that_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        for name in ("first", f"of_{folder}"):
            Path("mine.yaml").write_text(
                f"family: mine\nscenarios:\n- {{name: {name}, extends: wifi_off, about: Mine.}}\n"
            )
            assert SuiteFinder((Path("mine.yaml"),))(name) is not None
        assert SuiteFinder((Path("mine.yaml"),))("first") is None
