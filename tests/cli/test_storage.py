"""Logs in object storage: read there by URL, written there by a run, and never lost or overwritten on the way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory.storage import STAMPS, StorageError, StoredCopy
from tests.each import each

fsspec: Any = pytest.importorskip("fsspec")
PLAY = ("--agent", "reference", "--transport", "direct", "--no-bounds", "--quiet")


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[str]:
    """A place in memory that is empty, with a folder for copies."""
    monkeypatch.setenv("SANDBOX_MCP_STORAGE", str(tmp_path / "copies"))
    name = f"/{request.node.name.partition('[')[0]}"
    yield f"memory:/{name}"
    memory = fsspec.filesystem("memory")
    if memory.exists(name):
        memory.rm(name, recursive=True)


def files(url: str) -> dict[str, bytes]:
    memory, root = fsspec.core.url_to_fs(url)
    return {path.removeprefix(root + "/"): memory.cat_file(path) for path in memory.find(root)}


def call(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def play(out: str, *more: str, trials: int = 2) -> Result:
    done = call("run", "wifi_off", "landlord_number", *PLAY, "--trials", trials, "--out", out, *more)
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize("pack", ["--pack", "--no-pack"])
def test_a_run_is_written_to_a_url_and_read_from_it(bucket: str, tmp_path: Path, pack: str) -> None:
    play(f"{bucket}/run", pack)
    stored = files(f"{bucket}/run")
    assert {"run.json", "summary.json"} < set(stored)
    assert any(name.endswith(".jsonl.zst") for name in stored) == (pack == "--pack")
    assert not any("partial" in name or "/." in name or name.startswith(".") for name in stored)
    graded = call("grade", f"{bucket}/run", "--no-bounds")
    assert (graded.exit_code, "4 scored sessions, mean score 1.000" in graded.output) == (0, True)
    assert call("replay", f"{bucket}/run").exit_code == 0
    assert call("compare", f"{bucket}/run", f"{bucket}/run").exit_code == 0
    assert call("report", f"{bucket}/run", "-o", tmp_path / "report.html").exit_code == 0
    assert "wifi_off" in (tmp_path / "report.html").read_text()


def test_one_log_and_one_session_of_a_pack_have_urls_too(bucket: str) -> None:
    play(f"{bucket}/packed", "--pack")
    play(f"{bucket}/plain", "--no-pack")
    pack = next(name for name in files(f"{bucket}/packed") if name.endswith(".zst"))
    for url in ("plain/logs/wifi_off-base-s0-t1.jsonl", f"packed/{pack}/wifi_off-base-s0-t1.jsonl"):
        done = call("grade", f"{bucket}/{url}", "--no-bounds")
        assert (done.exit_code, done.output.count("wifi_off-base-s0-t1")) == (0, 1), done.output
    assert "4 scored" not in call("grade", f"{bucket}/packed/{pack}/wifi_off-base-s0-t1.jsonl").output
    assert "4 scored" in call("grade", f"{bucket}/packed/{pack}", "--no-bounds").output
    memory, root = fsspec.core.url_to_fs(f"{bucket}/packed/{pack}")
    memory.pipe_file(f"{root}.left-out", b"wifi_off-base-s0-t1\n")
    assert "3 scored" in call("grade", f"{bucket}/packed/{pack}", "--no-bounds").output


def test_a_run_goes_on_from_another_machine(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(bucket, "--pack", trials=1)
    before = files(bucket)
    monkeypatch.setenv("SANDBOX_MCP_STORAGE", str(tmp_path / "elsewhere"))
    done = play(bucket, "--pack", trials=3)
    assert "3" in done.output
    after = files(bucket)
    packs = [name for name in after if name.endswith(".zst")]
    assert len(packs) == 2
    assert all(after[name] == data for name, data in before.items() if name.endswith(".zst"))
    assert "6 scored" in call("grade", bucket, "--no-bounds").output


def test_what_a_killed_command_left_in_the_copy_is_sent_by_the_next(bucket: str) -> None:
    copy = StoredCopy.of(bucket, to_write=True)
    play(str(copy.path), "--no-pack")
    assert files(bucket) == {}
    play(bucket, "--no-pack")
    assert sum(name.endswith(".jsonl") for name in files(bucket)) == 4


def test_only_what_has_changed_is_copied(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    play(bucket)
    fetched: list[str] = []
    memory = fsspec.filesystem("memory")
    get_file = type(memory).get_file

    def noting(self: object, path: str, *rest: object, **more: object) -> None:
        fetched.append(path)
        get_file(self, path, *rest, **more)

    monkeypatch.setattr(type(memory), "get_file", noting)
    call("grade", bucket, "--no-bounds")
    assert fetched == []
    log = next(name for name in files(bucket) if name.endswith(".jsonl"))
    memory.pipe_file(f"{fsspec.core.url_to_fs(bucket)[1]}/{log}", files(bucket)[log] + b"\n")
    call("grade", bucket, "--no-bounds")
    assert [path.rpartition("/")[2] for path in fetched] == [log.rpartition("/")[2]]


def test_what_was_changed_in_both_places_is_never_overwritten(bucket: str) -> None:
    play(bucket, "--no-pack")
    copy = StoredCopy.of(bucket, to_write=True)
    name = "logs/wifi_off-base-s0-t0.jsonl"
    theirs = files(bucket)[name] + b"theirs\n"
    fsspec.filesystem("memory").pipe_file(f"{fsspec.core.url_to_fs(bucket)[1]}/{name}", theirs)
    (copy.folder / name).write_text("ours\n")
    with pytest.raises(StorageError, match=r"was changed in .* and in its copy"):
        copy.send()
    with pytest.raises(StorageError, match=r"was changed in .* and in its copy"):
        StoredCopy.of(bucket)
    assert files(bucket)[name] == theirs
    assert (copy.folder / name).read_text() == "ours\n"


def test_what_was_copied_without_a_note_of_it_is_no_conflict(bucket: str) -> None:
    play(bucket, "--no-pack")
    copy = StoredCopy.of(bucket, to_write=True)
    (copy.folder / STAMPS).unlink()
    assert StoredCopy.of(bucket).send() == 0
    assert call("grade", bucket, "--no-bounds").exit_code == 0


def test_files_by_url_need_no_copy(bucket: str, tmp_path: Path) -> None:
    play(f"file://{tmp_path / 'a run'}".replace(" ", "%20"))
    assert (tmp_path / "a run" / "run.json").exists()
    assert call("grade", (tmp_path / "a run").as_uri(), "--no-bounds").exit_code == 0
    assert not (tmp_path / "copies").exists()


def test_a_file_system_of_this_machine_by_fsspec(bucket: str, tmp_path: Path) -> None:
    play(f"local://{tmp_path}/run", "--pack")
    assert any((tmp_path / "run" / "logs").glob("*.jsonl.zst"))
    assert "4 scored" in call("grade", f"local://{tmp_path}/run", "--no-bounds").output


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nowhere://bucket/run", "'nowhere://bucket/run' cannot be opened: Protocol not known: nowhere"),
        ("memory://nothing/here", "'memory://nothing/here' holds no log; expected files that end in .jsonl"),
    ],
)
def test_a_place_that_cannot_be_used_is_told(bucket: str, url: str, told: str) -> None:
    done = call("grade", url)
    assert isinstance(done.exception, StorageError)
    assert told in str(done.exception)


@each(
    "command",
    [
        ("grade", "{run}", "-o", "{url}/scores.json"),
        ("report", "{run}", "-o", "{url}/report.html"),
        ("export", "pack", "{run}", "-o", "{url}/packs"),
        ("run", "wifi_off", *PLAY, "--out", "{run}", "--scores", "{url}/scores.json"),
        ("serve", "--http", "--log-dir", "{url}/logs"),
    ],
)
def test_what_is_kept_on_this_machine_is_not_written_to_a_folder_that_is_named_like_a_url(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    play("run")
    done = call(*(part.format(run="run", url=bucket) for part in command))
    assert (done.exit_code, "is a URL, and this is kept on this machine; expected a path" in done.output) == (2, True)
    assert {path.name for path in tmp_path.iterdir()} <= {"run", "copies"}


def test_the_nodes_of_a_cluster_need_a_folder(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "the nodes of the cluster at head:6379 have to see the folder that --out names"
    done = call("run", "wifi_off", *PLAY, "--out", bucket, "--executor", "ray", "--ray-address", "head:6379")
    assert told in str(done.exception)
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    done = call("run", "wifi_off", *PLAY, "--out", bucket, "--executor", "ray")
    assert told in str(done.exception)


@pytest.mark.parametrize("url", ["file://", "file://runs/first"])
def test_a_file_url_without_a_folder_of_this_machine_is_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (("grade", url), ("run", "wifi_off", *PLAY, "--out", url)):
        done = call(*command)
        assert (done.exit_code, list(tmp_path.iterdir())) == (2, [])
        assert "names no place on this machine; expected file:///FOLDER" in " ".join(done.stderr.split())
