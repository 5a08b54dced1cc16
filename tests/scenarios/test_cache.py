"""What is kept of scenario files between processes: the same as what is built, and never what is out of date."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from sandbox_scenarios import Scenario, Suite, cache, loader
from sandbox_scenarios.cache import SUITES_KEPT, SuiteCache

from sandbox_mcp.engine.worlds import default
from tests.scenarios.files import entry, file_of, written

ALL = """\
import sys
from pathlib import Path
from sandbox_scenarios import Suite
suite = Suite(map(Path, sys.argv[1:]))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that nothing is in."""
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(home: Path) -> dict[str, Path]:
    """The files of the cache by name, whatever folder they are in."""
    return {path.name: path for path in home.glob("suites/*/*")}


def mine(path: Path) -> Scenario:
    """The scenario as a process finds it that has read nothing before."""
    return Suite([path]).get("mine")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a scenario."""
    return written(tmp_path, file_of(entry("about: First.")))


class TestWhatIsKept:
    def test_a_folder_without_files_has_no_scenarios_whatever_is_kept_of_the_built_in_ones(
        self, home: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "empty").mkdir()
        cache = SuiteCache.of({}, loader.BUILT_IN)
        assert all(cache.put("names", world, ("wifi_off",)) for world in ("", "*"))
        assert Suite([tmp_path / "empty"]).names() == Suite([tmp_path / "empty"]).names("*") == ()

    def test_every_scenario_is_read_as_it_was_built(self, home: Path) -> None:
        cache = SuiteCache.of({}, loader.BUILT_IN)
        for scenario in Suite().all("*"):
            cache.put("scenario", scenario.name, scenario)
            again = cache.get("scenario", scenario.name, Scenario)
            assert again is not None
            assert again is not scenario
            assert again == scenario
            assert again.home is scenario.home
        assert set(kept(home)) >= {f"scenario-{name}" for name in Suite().names("*")}

    @pytest.mark.usefixtures("home")
    def test_what_is_read_is_of_the_same_types_as_what_was_built(self) -> None:
        cache = SuiteCache.of({}, loader.BUILT_IN)
        for scenario in Suite().all("*")[::20]:
            cache.put("scenario", scenario.name, scenario)
            assert repr(cache.get("scenario", scenario.name, Scenario)) == repr(scenario)

    @pytest.mark.usefixtures("home")
    def test_a_second_process_neither_parses_nor_validates(self, path: Path) -> None:
        code = ALL + (
            "print(suite.names(), suite.worlds_played(), suite.get('mine').about, suite.get('wifi_off').about)\n"
            "print(any(name in sys.modules for name in ('yaml', 'pydantic')))"
        )
        told = [
            subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
            for _ in range(2)
        ]
        assert [text.splitlines()[0] for text in told] == [told[0].splitlines()[0]] * 2
        assert [text.splitlines()[1] for text in told] == ["True", "False"]

    @pytest.mark.usefixtures("home")
    def test_names_are_those_of_the_world_that_was_asked_for(self, path: Path) -> None:
        for _ in range(2):
            assert Suite([path]).names() == ("mine",)
            assert Suite([path]).names("office") == ()
            assert Suite([path]).names("*") == ("mine",)
            assert Suite([path]).names("ph?ne") == ("mine",)

    @pytest.mark.usefixtures("home")
    def test_the_worlds_that_are_played_are_those_of_the_own_files_each_once(self, tmp_path: Path) -> None:
        second = entry("about: Second.").replace("mine", "second")
        path = written(tmp_path, file_of(entry("about: First."), second))
        for _ in range(2):
            assert Suite([path]).worlds_played() == ("phone",)
            assert set(Suite().worlds_played()) == {Suite().world(name) for name in Suite().names("*")}

    def test_what_is_no_part_of_a_scenario_is_not_kept(self, home: Path) -> None:
        cache = SuiteCache.of({}, loader.BUILT_IN)
        cache.put("scenario", "mine", home)
        assert cache.get("scenario", "mine", Path) is None
        assert kept(home) == {}

    def test_of_worlds_that_were_given_nothing_is_kept(self, home: Path, path: Path) -> None:
        assert Suite([path], worlds=[default()]).get("mine").name == "mine"
        assert kept(home) == {}

    def test_of_a_name_that_could_lead_elsewhere_nothing_is_kept(self, home: Path) -> None:
        cache = SuiteCache.of({}, loader.BUILT_IN)
        for name in ("../mine", "/tmp/mine", "mine\n", "m" * 200):
            cache.put("names", name, ("mine",))
            assert cache.get("names", name, tuple) is None
        assert list(home.rglob("*mine*")) == []

    def test_states_that_have_not_been_used_for_longest_make_room(self, home: Path, tmp_path: Path) -> None:
        for number in range(SUITES_KEPT + 3):
            mine(written(tmp_path, file_of(entry(f"about: Number {number}."))))
            Suite([written(tmp_path, file_of(entry()), "used.yaml")]).get("mine")
        assert len(list((home / "suites").iterdir())) == SUITES_KEPT
        assert mine(tmp_path / "used.yaml").name == "mine"

    def test_what_else_lies_there_stays(self, home: Path, path: Path) -> None:
        (home / "suites").mkdir(parents=True, mode=0o700)
        for number in range(SUITES_KEPT + 3):
            (home / "suites" / f"notes {number}").mkdir()
        mine(path)
        assert len(list((home / "suites").iterdir())) == SUITES_KEPT + 4


class TestWhatChanges:
    @pytest.mark.usefixtures("home")
    def test_a_file_of_the_same_length_and_time_is_another_one(self, tmp_path: Path, path: Path) -> None:
        before = path.stat()
        assert mine(path).about == "First."
        written(tmp_path, file_of(entry("about: Later.")))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        assert mine(path).about == "Later."

    @pytest.mark.usefixtures("home")
    def test_a_file_that_comes_first_wins_though_the_other_one_was_kept(self, tmp_path: Path) -> None:
        folder = tmp_path / "files"
        folder.mkdir()
        written(folder, file_of(entry("about: Second.")), "b.yaml")
        assert mine(folder).about == "Second."
        written(folder, file_of(entry("about: First.")), "a.yaml")
        assert mine(folder).about == "First."

    @pytest.mark.usefixtures("home")
    def test_a_base_that_changes_changes_what_extends_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "files"
        folder.mkdir()
        written(folder, file_of(entry(base="shared")), "a.yaml")
        for zone in ("Asia/Tokyo", "Asia/Seoul"):
            written(folder, file_of(entry(f"clock: {{zone: {zone}}}", name="shared")), "b.yaml")
            assert mine(folder).clock.zone == zone

    def test_a_world_whose_code_has_changed_has_its_scenarios_built_again(
        self, home: Path, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mine(path)
        file = kept(home)["scenario-mine"]
        before = file.read_bytes()
        monkeypatch.setattr(cache, "_code_of", str)
        assert mine(path).about == "First."
        assert file.read_bytes() != before


@pytest.fixture
def suite(home: Path, tmp_path: Path) -> Path:
    """A built-in suite of our own, of which nothing is kept."""
    copytree(loader.BUILT_IN / "worlds", tmp_path / "suite" / "worlds")
    return tmp_path / "suite"


def told(suite: Path, what: str) -> str:
    """What a process of its own tells of a suite that is built in."""
    code = (
        "import sys; from pathlib import Path; from sandbox_scenarios import loader\n"
        "loader.BUILT_IN = Path(sys.argv[1]); loader.BASES = loader.BUILT_IN / 'worlds'\n"
        f"print(loader.Suite().{what})"
    )
    done = subprocess.run([sys.executable, "-c", code, str(suite)], capture_output=True, text=True)
    return done.stdout.removesuffix("\n") or done.stderr


class TestBuiltInFiles:
    def test_one_that_changes_is_read_again(self, suite: Path) -> None:
        for about in ("First.", "A later one."):
            written(suite, file_of(entry(f"about: {about}")))
            assert [told(suite, "get('mine').about") for _ in range(2)] == [about] * 2

    def test_one_that_others_extend_is_read_again(self, suite: Path) -> None:
        written(suite, file_of(entry(base="shared")))
        for zone in ("Asia/Tokyo", "Asia/Kathmandu"):
            written(suite, file_of(entry(f"clock: {{zone: {zone}}}", name="shared")), "z.yaml")
            assert [told(suite, "get('mine').clock.zone") for _ in range(2)] == [zone] * 2

    def test_a_new_one_may_come_first(self, suite: Path) -> None:
        written(suite, file_of(entry("about: Second.")), "b.yaml")
        assert told(suite, "get('mine').about") == "Second."
        written(suite, file_of(entry("about: First.")), "a.yaml")
        assert told(suite, "get('mine').about") == "First."

    def test_a_name_that_another_one_gets_as_well_means_what_it_meant_until_names_are_listed(self, suite: Path) -> None:
        written(suite, file_of(entry(name="other")), "a.yaml")
        written(suite, file_of(entry("about: As it was.")), "b.yaml")
        assert told(suite, "names()") == "('other', 'mine')"
        assert told(suite, "get('mine').about") == "As it was."
        written(suite, file_of(entry("about: Of the same name.")), "a.yaml")
        assert told(suite, "get('mine').about") == "As it was."
        assert "scenario 'mine' also stands in" in told(suite, "names()")


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def broken(whole: bytes, mark: Path) -> Iterator[bytes]:
    """A file after what may have happened to it."""
    yield b""
    yield whole[: len(whole) // 2]
    yield whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
    yield whole + b"more"
    yield b"family: mine\n"
    yield pickle.dumps(Trap(mark))
    yield sealed(pickle.dumps(Trap(mark)))
    yield sealed(pickle.dumps(subprocess.run))
    yield sealed(pickle.dumps("another thing"))
    yield sealed(b"")


def sealed(payload: bytes) -> bytes:
    """What would pass as whole."""
    return blake2b(payload, digest_size=16).digest() + payload


class TestWhatGoesWrong:
    def test_a_damaged_file_is_built_again_and_replaced(self, home: Path, tmp_path: Path, path: Path) -> None:
        expected = mine(path)
        file = kept(home)["scenario-mine"]
        whole, mark = file.read_bytes(), tmp_path / "mark"
        for written_over in broken(whole, mark):
            file.write_bytes(written_over)
            assert mine(path) == expected
            assert not mark.exists()
            assert file.read_bytes() == whole

    def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
        self, tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path / "file"))
        assert mine(path).about == "First."
        assert Suite([path]).names() == ("mine",)

    def test_a_state_that_is_gone_meanwhile_costs_nothing_but_time(self, home: Path, path: Path) -> None:
        suite = Suite([path])
        assert suite.names() == ("mine",)
        for file in kept(home).values():
            file.unlink()
        for folder in (home / "suites").iterdir():
            folder.rmdir()
        assert suite.get("mine").about == "First."

    @pytest.mark.skipif(sys.platform == "win32", reason="there the folder of the profile keeps others out")
    def test_a_folder_that_others_can_write_to_is_left_alone(self, home: Path, path: Path) -> None:
        (home / "suites").mkdir(parents=True)
        (home / "suites").chmod(0o770)
        assert mine(path).about == "First."
        assert kept(home) == {}

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
    def test_what_belongs_to_another_user_is_not_read(self, home: Path, path: Path) -> None:
        mine(path)
        file = kept(home)["scenario-mine"]
        other = Suite([written(path.parent, file_of(entry("about: Planted.")), "other.yaml")]).get("mine")
        planted = next(found for found in home.glob("suites/*/scenario-mine") if found != file).read_bytes()
        file.write_bytes(planted)
        assert mine(path) == other, "it would be read, were it of this user"
        os.chown(file, 12345, 12345)
        assert mine(path).about == "First."

    def test_it_can_be_switched_off(self, home: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SANDBOX_MCP_CACHE", "off")
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        assert mine(path).about == "First."
        assert not home.exists()

    def test_it_is_in_the_users_cache_unless_said_otherwise(
        self, home: Path, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("SANDBOX_MCP_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        mine(path)
        assert set(kept(home / "sandbox-mcp")) == {"scenario-mine"}

    def test_processes_that_begin_at_once_do_not_disturb_each_other(self, home: Path) -> None:
        names = Suite().names()[:6]
        expected = "".join(f"{name} {Suite().get(name).digest}\n" for name in names)
        code = ALL + f"for name in {names!r}: print(name, suite.get(name).digest)"
        begun = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
        assert [process.communicate()[0] for process in begun] == [expected] * 2
        assert {name for name in kept(home) if name.startswith("scenario-")} == {f"scenario-{name}" for name in names}
