"""Where logs lie: files as given, folders at any depth, and what is told of those that cannot be looked into."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import TrajectoryError
from sandbox_mcp.engine.trajectory.finding import find_logs, logs_at, stamped_logs


class TestFinding:
    def test_files_as_given_and_folders_at_any_depth(self, tmp_path: Path) -> None:
        for name in ("b/deep/two.jsonl", "b/one.jsonl", "b/three.jsonl/in.jsonl", "a.log"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        found = find_logs([tmp_path / "a.log", tmp_path / "b"])
        assert find_logs([tmp_path / "a.log", tmp_path / "b", tmp_path / "b" / "deep", tmp_path / "a.log"]) == found
        assert sorted(log for log, _ in stamped_logs(tmp_path / "b")) == sorted(found.texts[1:])
        assert [path.name for path in found] == ["a.log", "two.jsonl", "one.jsonl", "in.jsonl"]

    def test_a_path_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(TrajectoryError, match="does not exist; expected a log or a folder of logs"):
            find_logs([tmp_path / "none"])

    def test_a_folder_without_logs(self, tmp_path: Path) -> None:
        with pytest.raises(TrajectoryError, match=r"holds no log; expected files that end in \.jsonl"):
            find_logs([tmp_path])


@given(st.lists(st.lists(st.sampled_from(["a", "a-b", "a.b", "A", "b", ".c"]), min_size=1, max_size=3), max_size=8))
def test_logs_are_found_in_the_order_of_paths(places: list[list[str]]) -> None:
    with TemporaryDirectory() as place:
        root = Path(place)
        for *folders, name in places:
            root.joinpath(*folders).mkdir(parents=True, exist_ok=True)
            root.joinpath(*folders, f"{name}.jsonl").touch()
            root.joinpath(*folders, f"{name}.jsonl.zst").touch()  # an empty pack
        assert logs_at(root) == sorted(root.rglob("*.jsonl"))


def test_paths_of_logs_are_written_as_paths_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    for given_as in (".", "runs", "./runs/", "runs/../runs", str(tmp_path)):
        found = find_logs([Path(given_as)])
        assert found.texts == [str(path) for path in Path(given_as).rglob("*.jsonl")]
        assert list(found) == [Path(given_as, "one.jsonl" if "runs" in given_as else "runs/one.jsonl")]
        assert found[:1] == found
        assert found != []


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.jsonl").touch()
    closed, gone = tmp_path / "closed", tmp_path / "gone"  # the second one goes in the moment before it is looked into
    for folder in (closed, gone):
        folder.mkdir()
    look = os.scandir

    def guarded(folder: str) -> Any:  # as permissions do not hold a superuser back
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied", folder)
        if Path(folder) == gone:
            raise FileNotFoundError(2, "No such file or directory", folder)
        return look(folder)

    monkeypatch.setattr(os, "scandir", guarded)
    assert [Path(folder) for folder in find_logs([tmp_path]).closed] == [closed]
    with pytest.raises(TrajectoryError, match=r"closed.*cannot be read: Permission denied"):
        find_logs([closed])
