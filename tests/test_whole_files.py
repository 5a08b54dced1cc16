"""Files are written whole or not at all, and an error of the system names the file that was asked for."""

import os
import threading
from pathlib import Path

import pytest

from sandbox_mcp.engine.whole_files import append_whole, write_whole
from tests.each import each
from tests.session.full_disks import no_file_beyond


def test_a_file_is_there_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.txt", "one\r\ntwo\n")
    write_whole(tmp_path / "a.txt", b"three")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.txt": b"three"}


def test_on_a_full_disk_it_is_as_it_was_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    with no_file_beyond(10), pytest.raises(OSError, match=r"a\.txt") as caught:
        write_whole(path, "x" * 100)
    assert (caught.value.filename, caught.value.strerror) == (str(path), "File too large")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "before"}


def test_what_is_appended_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), b"one\n", path)
        with no_file_beyond(10), pytest.raises(OSError, match=r"a\.txt") as caught:
            append_whole(file.fileno(), b"x" * 100, path)
        append_whole(file.fileno(), b"two\n", path)
    assert caught.value.filename == str(path)
    assert path.read_text() == "one\ntwo\n"


def test_a_folder_that_is_not_there_is_told_by_the_files_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "no" / "a.txt", "x")
    assert caught.value.filename == str(tmp_path / "no" / "a.txt")


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "there")
    write_whole(tmp_path / "link", "x")
    assert (tmp_path / "there").read_text() == "x"
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, "through")
    reader.join()
    assert read == [b"through"]


@each("name", ["a" * 255, "明" * 85, "🌊" * 63])
def test_the_longest_name_that_a_file_may_have_is_written(name: str, tmp_path: Path) -> None:
    write_whole(tmp_path / name, "x")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_nothing_is_left_beside_a_file_when_writing_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.txt", "x")
    assert list(tmp_path.iterdir()) == []
