"""``sandbox-mcp worlds``: what it lists and shows, a new world that passes at once, and what ``check`` finds."""
# ruff: noqa: E501 - one sin a line

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.authoring.new_world import SCENARIOS, WORLD
from sandbox_mcp.app.authoring.world_check import RULES, check_world
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds import BUILT_IN, FILES, load, named
from tests.e2e.processes import run_in_turn

ROOT = Path(__file__).resolve().parents[2]
DECLARED = Path(__file__).parent / "declared"


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, "")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["worlds", *map(str, arguments)])


def test_every_built_in_world_is_listed_and_so_is_one_in_a_file() -> None:
    found = json.loads(run("list", "--json", "--world", DECLARED / "library.py").stdout)
    assert [item["name"] for item in found][: len(BUILT_IN)] == list(BUILT_IN)
    assert next(item for item in found if item["name"] == "library")["events"] == 1


def test_a_world_shows_its_tables_tools_and_what_its_agent_is_told() -> None:
    shown = run("show", "library", "--world", DECLARED / "library.py")
    assert shown.exit_code == 0
    for told in (
        "Never lend a stained book.",
        "id of reader or null",
        "updates book (due, reader, state)",
        "the user acts",
    ):
        assert told in shown.stdout
    told = json.loads(run("show", "library", "--json", "--world", DECLARED / "library.py").stdout)
    assert told["gates"] == {"opening": "unlock"}


def test_it_shows_what_its_columns_are_for() -> None:
    shown = run("show", "house", "--world", DECLARED / "house.py").stdout
    assert "called heating or radiators" in shown
    assert "a single row" in shown
    shown = run("show", "phone").stdout
    for told in ("true of the user", "a person's name", "unsaid", "lasting"):
        assert told in shown


def test_a_world_that_is_not_there_is_one_line() -> None:
    assert isinstance(run("show", "zoo").exception, SandboxError)


@pytest.mark.parametrize("name", BUILT_IN)
def test_nothing_is_found_in_a_world_of_ours(name: str) -> None:
    assert check_world(named(name)) == ()


HEAD = """
import datetime, random, time
from pathlib import Path
from typing import Literal, Self
from sandbox_mcp import Id, Moment, Secret, Table, Text, Tx, World, column, key
SEEN: list[str] = []
COUNT = 0
class Thing(Table):
    id: Id[Self] = key()
    name: str
    size: int
class Other(Table):
    id: Id[Self] = key()
    name: str
class Late(Table):
    id: Id[Self] = key()
    name: str
    size: int
    due: Moment | None = None
w = World("sinful", tables=[Thing, Late])
"""
EVENT = '@w.event(Late, at="due", updates=[Late.size])\ndef sin(tx: Tx, row: Late) -> str | None:\n    """Happen."""\n'
GATE = '@w.query\ndef unlock(tx: Tx) -> int:\n    """Open."""\n    return 1\n@w.gate("sin", opened_by=unlock)\ndef sin(tx: Tx) -> bool:\n    """Be open."""\n'
SINS = {
    "host_clock": ['@w.query\ndef sin(tx: Tx) -> float:\n    """Tell."""\n    return time.time()'],
    "host_clock ": ['@w.query\ndef sin(tx: Tx) -> str:\n    """Tell."""\n    return datetime.datetime.now().isoformat()'],
    "host_clock  ": ['from time import time as now\n@w.query\ndef sin(tx: Tx) -> bool:\n    """Tell."""\n    return now() > 0'],
    "host_clock   ": ['from datetime import datetime as dt\n@w.query\ndef sin(tx: Tx) -> bool:\n    """Tell."""\n    return dt.now().year > 0'],
    "chance": ['def toss() -> int:\n    return random.randrange(6)\n@w.query\ndef sin(tx: Tx) -> int:\n    """Throw."""\n    return toss()'],
    "outside_io": ['@w.query\ndef sin(tx: Tx) -> str:\n    """Read."""\n    return Path("/etc/hostname").read_text()'],
    "module_state": ['@w.query\ndef sin(tx: Tx, name: str) -> int:\n    """Count."""\n    SEEN.append(name)\n    return len(SEEN)'],
    "module_state ": ['@w.query\ndef sin(tx: Tx) -> int:\n    """Count."""\n    global COUNT\n    COUNT += 1\n    return COUNT'],
    "past_the_transaction": ['@w.action\ndef sin(tx: Tx) -> None:\n    """Write."""\n    tx.transaction.insert("thing", "id", {"name": "x", "size": 1})'],
    "undeclared_table": ['@w.query\ndef sin(tx: Tx) -> list[Other]:\n    """List."""\n    return tx.all(Other)'],
    "undeclared_effect": ['@w.action(adds=[Thing])\ndef sin(tx: Tx, thing: Id[Thing]) -> Thing:\n    """Write."""\n    return tx.change(tx.get(Thing, thing), size=1)'],
    "undeclared_effect ": ['@w.query\ndef sin(tx: Tx) -> Thing:\n    """Look."""\n    return tx.add(Thing, name="x", size=1)'],
    "undeclared_effect  ": [f'{EVENT}    tx.change(row, name="gone")'],
    "undeclared_effect   ": [f'{GATE}    tx.add(Thing, name="x", size=1)\n    return True'],
    "secret": ['class Safe(Table):\n    id: Id[Self] = key()\n    code: Secret\nw = World("w", tables=[Safe])\n@w.query\ndef sin(tx: Tx, safe: Id[Safe]) -> str:\n    """Look."""\n    return tx.get(Safe, safe).code'],
    "secret ": ['class Safe(Table):\n    id: Id[Self] = key()\n    code: str = column(hidden=True)\nw = World("w", tables=[Safe])\n@w.query\ndef sin(tx: Tx, safe: Id[Safe]) -> str:\n    """Look."""\n    raise ValueError("it is " + tx.get(Safe, safe).code)'],
    "result": ['@w.query\ndef sin(tx: Tx) -> list[str]:\n    """List."""\n    return [row.size for row in tx.all(Thing)]'],
    "not_repeatable": ['class Box:\n    n = 0\nbox = iter(range(99999))\n@w.query\ndef sin(tx: Tx) -> int:\n    """Count."""\n    return next(box)'],
    "broken": ['@w.query\ndef sin(tx: Tx, name: str) -> str:\n    """Find."""\n    return {}[name]'],
    "broken ": [f"{EVENT}    return row.nmae"],
    "broken  ": [f'{GATE}    return {{}}["x"]'],
    "result ": [f"{EVENT}    return row.size"],
    "result  ": [f"{GATE}    return 1"],
    "not_repeatable ": [f"box = iter(range(99999))\n{EVENT}    tx.change(row, size=next(box))"],
    "docstring": ['@w.query\ndef sin(tx: Tx) -> int:\n    return 1'],
    "dangling": ['class Film(Table, fixed="films.csv"):\n    id: Id[Self] = key()\n    after: Id[Self] | None = None\nw = World("w", tables=[Film])'],
    "dangling ": ['class Film(Table, fixed="films.csv"):\n    id: Id[Self] = key()\n    after: list[Id[Self]] = []\nw = World("w", tables=[Film])'],
    "declaration": ['@w.query\ndef sin(tx: Tx, name) -> int:\n    """Find."""\n    return 1'],
}  # fmt: skip


EDGE_SINS = {
    "n: int": "10 / n",
    "n: float": "10 / (n + 1)",
    "name: str": "ord(name[0])",
    "name: str ": "{len(name): 1}[min(len(name), 99)]",
    "day: str": "datetime.date.fromisoformat(day).year // (9999 - datetime.date.fromisoformat(day).year)",
    "names: list[str]": "len(names[0])",
    "names: list[str] ": "ord(names[0][0])",
    "box: Box": "10 / box['size']",
    "boxes: list[Box]": "ord(boxes[0]['name'][0])",
    "due: Moment": "10 / (due // 253_402_300_799 - 1)",
}
"""Parameters, and what breaks at an edge of theirs and nowhere else."""


@pytest.mark.parametrize("parameter", EDGE_SINS)
def test_what_breaks_at_the_edge_of_an_argument_is_found(tmp_path: Path, parameter: str) -> None:
    declared = "class Box(TypedDict):\n    name: str\n    size: int\n"
    tool = f'@w.query\ndef sin(tx: Tx, {parameter.strip()}) -> float:\n    """Reckon."""\n    return float({EDGE_SINS[parameter]})'
    text = f"from typing import TypedDict\n{HEAD}\n{declared}{tool}\n"
    (tmp_path / "sinful.py").write_text(text, encoding="utf-8")
    (world,) = load(tmp_path / "sinful.py")
    assert "broken" in {finding.rule for finding in check_world(world)}


QUERY = '@w.query\ndef sin(tx: Tx) -> str:\n    """Tell."""\n    '
HIDDEN_SINS = {
    "from time import time as now\n    return str(now() > 0)": "host_clock",
    "import secrets\n    return str(len(secrets.token_hex(4)))": "chance",
    "import threading\n    return threading.current_thread().name": "outside_io",
    "import sys\n    return str(len(sys.argv))": "outside_io",
}
HELPERS = """
import itertools
DEEP: dict[str, dict[str, int]] = {"a": {}}
PAIR = ([], 1)
NUMBERS = itertools.count()
class Box:
    n = 0
def known(tx: Tx) -> set[str]:
    return {row.name for row in tx.all(Thing)}
"""


@pytest.mark.parametrize("sin", HIDDEN_SINS)
def test_a_name_that_trials_seldom_show_is_found_in_the_code(tmp_path: Path, sin: str) -> None:
    (tmp_path / "sinful.py").write_text(f"{HEAD}{HELPERS}{QUERY}{sin}\n", encoding="utf-8")
    [world] = load(tmp_path / "sinful.py")
    assert {finding.rule for finding in check_world(world) if ".py:" in finding.place} == {HIDDEN_SINS[sin]}


@pytest.mark.parametrize(
    "sin",
    ['DEEP["a"][f"{len(str(DEEP))}"] = 1', "PAIR[0].append(1)", "Box.n += 1", 'globals()["COUNT"] += 1'],
)
def test_a_value_of_a_module_that_changes_is_found_by_trial(tmp_path: Path, sin: str) -> None:
    (tmp_path / "sinful.py").write_text(f"{HEAD}{HELPERS}{QUERY}{sin}\n    return ''\n", encoding="utf-8")
    [world] = load(tmp_path / "sinful.py")
    assert {finding.rule for finding in check_world(world)} == {"module_state"}


@pytest.mark.parametrize(
    "fine",
    [
        'return ", ".join(sorted(known(tx) | {"x"}))',
        "return datetime.datetime.fromtimestamp(tx.now, tz=datetime.UTC).isoformat()",
        "names = [row.name for row in tx.all(Thing)]\n    names.sort()\n    return str(names)",
        "return str(len(known(tx) - {'x'}) + DEEP['a'].get('b', 0) + PAIR[1] + Box.n)",
        "seen: dict[str, dict[str, int]] = {'a': {}}\n    seen['a']['b'] = 1\n    return str(seen)",
        "def note(*, SEEN: list[str]) -> None:\n        SEEN.append('x')\n    note(SEEN=[])\n    return ''",
    ],
)
def test_what_only_looks_like_a_sin_is_none(tmp_path: Path, fine: str) -> None:
    (tmp_path / "fine.py").write_text(f"{HEAD}{HELPERS}{QUERY}{fine}\n", encoding="utf-8")
    assert check_world(load(tmp_path / "fine.py")[0]) == ()


def test_every_rule_is_tried() -> None:
    assert {name.strip() for name in SINS} == set(RULES)


@pytest.mark.parametrize("sin", SINS)
def test_a_planted_sin_is_found(tmp_path: Path, sin: str) -> None:
    (tmp_path / "sinful.py").write_text(f"{HEAD}\n{SINS[sin][0]}\n", encoding="utf-8")
    (tmp_path / "films.csv").write_text("id,after\nf1,\nf2,f1\nf3,f9\n", encoding="utf-8")
    (world,) = load(tmp_path / "sinful.py")
    assert sin.strip() in {finding.rule for finding in check_world(world)}


def test_a_world_without_sins_has_no_finding_and_the_exit_code_tells(tmp_path: Path) -> None:
    tool = '@w.query\ndef fine(tx: Tx) -> list[str]:\n    """List."""\n    return sorted({row.name for row in tx.all(Thing)})'
    (tmp_path / "fine.py").write_text(f"{HEAD}\n{tool}\n", encoding="utf-8")
    assert run("check", "--world", tmp_path / "fine.py").exit_code == 0
    found = run("check", "--json", "--world", DECLARED / "library.py", "library")
    assert (found.exit_code, {item["rule"] for item in json.loads(found.stdout)["findings"]}) == (
        1, {"undeclared_effect", "broken"},
    )  # fmt: skip


SLIPS = {
    "said is the text 'done'": '@w.action(said="done")\ndef slip(tx: Tx) -> None:\n    """Do."""',
    "slip() is async; expected a plain function": '@w.query\nasync def slip(tx: Tx) -> int:\n    """Look."""\n    return 1',
    "slip() is a generator; expected a plain function": '@w.query\ndef slip(tx: Tx) -> list[int]:\n    """Look."""\n    yield 1',
    "in <module>: NameError": '@w.query\ndef slip(tx: Tx) -> list[Gone]:\n    """Look."""\n    return []',
    "called is the text 'bell'; expected a list": 'class Door(Table):\n    id: Id[Self] = key()\n    bell: bool = column(called="bell")',
}


@pytest.mark.parametrize("told", SLIPS)
def test_a_slip_in_a_declaration_is_told_with_its_place_when_the_file_is_loaded(tmp_path: Path, told: str) -> None:
    (tmp_path / "sinful.py").write_text(f"{HEAD}\n{SLIPS[told]}\n", encoding="utf-8")
    with pytest.raises(WorldError, match=re.escape(told)) as slip:
        load(tmp_path / "sinful.py")
    assert "sinful.py:" in str(slip.value)


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        (
            '@w.query\ndef slip(name: str) -> str:\n    """Look."""\n    return name',
            "the first parameter is 'name'; expected the transaction",
        ),
        (
            '@w.query\ndef slip() -> int:\n    """Look."""\n    return 1',
            "there is no parameter; expected the transaction",
        ),
        (
            '@w.action(reaches="whom")\ndef slip(tx: Tx, to: str) -> None:\n    """Send."""',
            "reaches names 'whom', not one of its arguments: to",
        ),
    ],
)
def test_a_slip_in_a_tool_is_told_by_check(tmp_path: Path, slip: str, told: str) -> None:
    (tmp_path / "sinful.py").write_text(f"{HEAD}\n{slip}\n", encoding="utf-8")
    [finding] = check_world(load(tmp_path / "sinful.py")[0])
    assert (finding.rule, told in finding.problem) == ("declaration", True)


SELDOM = '''
class Owner(Table, owner="me"):
    id: Id[Self] = key()
    me: bool
    since: Moment
@w.action(updates=[Thing.name])
def rename(tx: Tx, thing: Id[Thing], owner: Id[Owner]) -> Thing:
    """Rename a thing."""
    row = tx.get(Owner, owner)
    if not row.me or row.since < tx.now + 3 * 86400 or tx.get(Thing, thing).size > 5:
        raise ValueError("not now")
    return tx.change(tx.get(Thing, thing), size=3)
'''


def test_a_tool_that_says_no_is_tried_until_it_does_not(tmp_path: Path) -> None:
    world = HEAD.replace("w = World", SELDOM.partition("@w")[0] + "w = World").replace(
        "tables=[Thing", "tables=[Owner, Thing"
    )
    (tmp_path / "sinful.py").write_text(world + "@w" + SELDOM.partition("@w")[2], encoding="utf-8")
    assert [finding.rule for finding in check_world(load(tmp_path / "sinful.py")[0])] == ["undeclared_effect"]


def test_an_event_that_a_made_up_state_does_not_allow_is_named_and_no_sin(tmp_path: Path) -> None:
    (tmp_path / "careful.py").write_text(f"{HEAD}\n{EVENT}    raise ValueError('not now')\n", encoding="utf-8")
    told = run("check", "--world", tmp_path / "careful.py")
    assert (told.exit_code, "sin() refused every made-up call, last with ValueError: not now" in told.stderr) == (
        0,
        True,
    )


def test_a_tool_that_always_says_no_is_named_and_an_example_helps(tmp_path: Path) -> None:
    tool = '@w.query\ndef read(tx: Tx, day: str) -> int:\n    """Read a day.\n\n    Args:\n        day: EXAMPLE\n    """\n    return datetime.date.fromisoformat(day).day'
    (tmp_path / "vague.py").write_text(f"{HEAD}\n{tool.replace('EXAMPLE', 'The day.')}\n", encoding="utf-8")
    (tmp_path / "clear.py").write_text(
        f"{HEAD}\n{tool.replace('EXAMPLE', 'The day, such as 2026-03-05.')}\n", encoding="utf-8"
    )
    vague, clear = (run("check", "--world", tmp_path / name) for name in ("vague.py", "clear.py"))
    assert (vague.exit_code, "read() refused every made-up call, last with ValueError" in vague.stderr) == (0, True)
    assert "refused" not in clear.stderr


def test_a_name_that_another_world_has_is_refused(tmp_path: Path) -> None:
    for file, name in (("phone", "phone"), ("one", "attic"), ("two", "attic")):
        (tmp_path / f"{file}.py").write_text(HEAD.replace('"sinful"', repr(name)), encoding="utf-8")
    phone = run("list", "--world", tmp_path / "phone.py").exception
    twice = run("list", "--world", tmp_path / "one.py", "--world", tmp_path / "two.py").exception
    assert "declares a world 'phone', which is the name of a built-in one" in str(phone)
    assert "declares a world 'attic', and so does" in str(twice)
    assert "two.py" in str(twice)


def test_an_installed_world_that_cannot_be_loaded_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "leaking-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: leaking\nVersion: 1.0\n", encoding="utf-8")
    (installed / "entry_points.txt").write_text("[sandbox_mcp.worlds]\nattic = leaking:attic\n", encoding="utf-8")
    (tmp_path / "leaking.py").write_text("raise RuntimeError('no roof')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    listed = run("list")
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == list(BUILT_IN)
    assert str(listed.exception) == (
        "world 'attic': the world at 'leaking:attic' cannot be loaded: RuntimeError: no roof (leaking.py, line 1)"
    )


@pytest.mark.parametrize("name", ["Shop", "1shop", "a-b", "class", "../x"])
def test_a_name_that_no_world_can_have_is_refused(tmp_path: Path, name: str) -> None:
    assert isinstance(run("new", name, "--in", tmp_path / "new").exception, SandboxError)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "told"), [("office", "there is a world 'office' already"), ("json", "the place of the module 'json'"), ("pytest", "the place of the module 'pytest'")]
)  # fmt: skip
def test_a_name_that_something_else_has_is_refused(tmp_path: Path, name: str, told: str) -> None:
    assert told in str(run("new", name, "--in", tmp_path / "new").exception)
    assert not (tmp_path / "new").exists()


def test_what_a_world_prints_is_not_among_the_findings(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(f"{HEAD}\n{QUERY}print('noise')\n    return ''\n", encoding="utf-8")
    told = run("check", "--json", "--world", tmp_path / "loud.py")
    assert [item["rule"] for item in json.loads(told.stdout)["findings"]] == ["outside_io"]
    assert "noise" in told.stderr


def test_nothing_is_written_over(tmp_path: Path) -> None:
    assert run("new", "workshop", "--in", tmp_path / "new").exit_code == 0
    assert "exists already" in str(run("new", "workshop", "--in", tmp_path / "new").exception)


def test_the_page_shows_what_a_new_world_consists_of() -> None:
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    shown = [WORLD, SCENARIOS.partition("\n- name: NAME_book")[0]]
    assert all(text.replace("NAME", "workshop") in page for text in shown)


def test_a_new_world_installed_in_a_clean_environment_is_found_by_name_and_passes_at_once(tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert run("new", "workshop", "--in", made).exit_code == 0
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=made, check=True, capture_output=True)
    venv.create(tmp_path / "clean", symlinks=os.name != "nt")
    paths = sysconfig.get_paths(vars={"base": str(tmp_path / "clean"), "platbase": str(tmp_path / "clean")})
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(paths["purelib"])
    here = "\n".join(
        map(str, (sysconfig.get_path("purelib"), *(ROOT / part for part in ("", "scenarios", "grader", "clients"))))
    )
    Path(paths["purelib"], "ours.pth").write_text(here, encoding="utf-8")
    python = Path(paths["scripts"], "python")
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS", FILES)}
    told = {
        "worlds check workshop": "0 findings",
        "scenarios lint --deep --scenarios scenarios": "0 complaints",
        "run world:workshop --scenarios scenarios --agent reference --threshold 1 --out a": "",
        "grade a --scenarios scenarios --mode compat --threshold 1": "",
        "replay a": "",
    }
    for done, words in zip(run_in_turn(python, [line.split() for line in told], made, env), told.values(), strict=True):
        assert (done.code, words in done.err) == (0, True), done.err
    own = subprocess.run([python, "-m", "pytest", "-q"], cwd=made, env=env, check=False, capture_output=True, text=True)
    assert (own.returncode, "3 passed" in own.stdout) == (0, True), own.stdout
