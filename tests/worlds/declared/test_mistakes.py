"""What a declaration cannot mean is told in one line, with what was expected, before anything is played."""

import os
from pathlib import Path

import pytest

from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds import load, use_file
from tests.each import each

TOP = """
from typing import Literal, Self
from sandbox_mcp import Id, Moment, Table, Tx, World, column, key

class R(Table):
    id: Id[Self] = key()
    n: str

class Elsewhere(Table):
    id: Id[Self] = key()
"""
TABLE = "class S(Table):\n    id: Id[Self] = key()\n    {}\nw = World('w', tables=[R, S])\n"
TOOL = "w = World('w', tables=[R])\n@w.query\ndef q({}) -> str:\n    'Q.'\n    return ''\n"
ACTION = "w = World('w', tables=[R])\n@w.action({})\ndef q(tx: Tx) -> str:\n    'Q.'\n    return ''\n"


NESTED = """
from typing import TypedDict
class N(TypedDict):
    inner: list['N']
w = World('w')
@w.query
def q(tx: Tx, node: N) -> str:
    'Q.'
    return ''
"""


def wrong_in(folder: Path, declared: str) -> str:
    """What is said of a world that is declared so."""
    file = folder / f"w{len(list(folder.iterdir()))}.py"
    file.write_text(TOP + declared, encoding="utf-8")
    try:
        for world in load(file):
            world.check()
    except WorldError as error:
        return str(error)
    return "nothing"


@each(
    ("column", "problem"),
    [
        ("x: Id[Elsewhere]", "table 's': column 'x' holds ids of table 'elsewhere', which world 'w' does not have"),
        ("x: list[Id[Elsewhere]]", "column 'x' holds ids of table 'elsewhere', which world 'w' does not have"),
        ("x: int = '3'", "the default of column 'x' of table 's' holds integer, not '3'"),
        ("x: Literal['a', 'b'] = 'c'", "the default of column 'x' of table 's' is one of 'a', 'b', not 'c'"),
        ("x: Moment = None", "the default of column 'x' of table 's' holds timestamp, not None"),
        (
            "x: Id[str]",
            "table 's': column 'x': Id[str] is the id of no table; expected one of a table, such as Id[Order]",
        ),
        ("x: list[list[str]]", "table 's': column 'x' is annotated list[list[str]]; expected"),
        ("x: Literal[1, 'a']", "table 's': column 'x' may be 1 or 'a'; expected texts only, or whole numbers only"),
        ("x: str = column(measure='fuzzy')", "measure is 'fuzzy'; expected exact, close or rouge"),
    ],
)
def test_of_a_column(tmp_path: Path, column: str, problem: str) -> None:
    assert problem in wrong_in(tmp_path, TABLE.format(column))


@each(
    ("parameters", "problem"),
    [
        ("tx: Tx, *names: str", "tool 'q' of world 'w': '*names' takes any number of arguments; expected"),
        ("tx: Tx, **names: str", "tool 'q' of world 'w': '**names' takes any number of arguments; expected"),
        ("tx: Tx, name: str, /", "'name' has no name to be given by; expected a parameter that no '/' follows"),
        ("tx: Tx, names: set[str]", "'names': JSON has nothing for the annotation set[str]; expected"),
        ("tx: Tx, row: R", "'row': no caller can give a row of R; expected its id, Id[R]"),
        ("tx: Tx, row: Id[int]", "'row': Id[int] is the id of no table; expected"),
        ("tx: Tx, row: Id[Elsewhere]", "'row' holds ids of table 'elsewhere', which world 'w' does not have"),
        ("tx: Tx, n: int = 'x'", "the default of 'n' must be integer, not 'x'"),
        ("tx: Tx, n: Literal['a'] = 'b'", "the default of 'n' must be one of 'a', not 'b'"),
    ],
)
def test_of_an_argument(tmp_path: Path, parameters: str, problem: str) -> None:
    assert problem in wrong_in(tmp_path, TOOL.format(parameters))


@each(
    ("said", "problem"),
    [
        ("adds=R", "adds is R; expected a list of tables, such as [R]"),
        ("updates=R.n", "updates is R.n; expected a list of columns and tables, such as [R.n]"),
        ("removes=['r']", "removes names 'r'; expected tables"),
        ("adds=[Elsewhere]", "tool 'q' of world 'w' writes to table 'elsewhere', which the world does not list"),
        ("updates=[Elsewhere.id]", "tool 'q' of world 'w' writes to table 'elsewhere', which the world does not list"),
        ("name='my tool!'", "'my tool!' cannot be a tool's name; expected letters, digits, _, - and ."),
    ],
)
def test_of_an_action(tmp_path: Path, said: str, problem: str) -> None:
    assert problem in wrong_in(tmp_path, ACTION.format(said))


@each(
    ("declared", "problem"),
    [
        (
            "class D(R, name='a.b'):\n    x: int\nw = World('w', tables=[D])",
            "table 'a.b': expected a name without a dot",
        ),
        ("w = World('w', tables=R)", "world 'w': tables is R; expected a list of tables, such as [R]"),
        ("class P:\n    id: int\nw = World('w', tables=[P])", "world 'w' lists P as a table; expected classes"),
        ("w = World('w', tables=[R])\nv = World('w', tables=[R])", "declares two worlds of the name 'w'"),
        ("w = World('w')\nw.query(lambda tx: 1)", "'<lambda>' cannot be a tool's name"),
        (
            "w = World('w')\n@w.query('look')\ndef q(tx: Tx) -> int:\n    'Q.'\n    return 1",
            "'look' is declared to be a tool; expected a function, and options by name, such as group='look'",
        ),
        (
            "w = World('w')\n@w.gate('door', opened_by=None)\ndef door(tx: Tx) -> bool:\n    'Shut.'\n    return True",
            "gate 'door' is opened by None; expected a tool's function or name",
        ),
        (
            "w = World('w', tables=[R])\n@w.event(Elsewhere, at='id')\ndef fall(tx: Tx, row: R) -> None:\n    pass",
            "event 'fall' of world 'w' is about table 'elsewhere', which the world does not list",
        ),
        (
            "w = World('w', tables=[R])\n@w.event(R, at='n')\ndef fall(tx: Tx) -> None:\n    pass",
            "event 'fall' of world 'w' takes 1 argument; expected the transaction and the row",
        ),
        (
            "w = World('w')\n@w.gate('door', opened_by='q')\ndef door(tx: Tx, n) -> bool:\n    'Shut.'\n    pass",
            "gate 'door' of world 'w' takes 2 arguments; expected the transaction",
        ),
        ("w = World('w', knowledge=3)", "world 'w': knowledge is 3; expected a class or function that makes it"),
        ("w = World('w')\n@w.query\nclass Q:\n    'Q.'", "is declared to be a tool; expected a function"),
        (
            "w = World('w')\n@w.query\ndef end_conversation(tx: Tx) -> None:\n    'Q.'",
            "'end_conversation' is the name of a tool that users have in every world; expected another",
        ),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        (
            "w = World('w')\n@w.query\ndef q(tx: Tx) -> set[str]:\n    'Q.'\n    return set()",
            "tool 'q' of world 'w': JSON has nothing for the annotation set[str]; expected",
        ),
        (
            NESTED,
            "tool 'q' of world 'w': 'node': the annotation has itself inside; expected 'dict' at some depth",
        ),
    ],
)
def test_of_a_world(tmp_path: Path, declared: str, problem: str) -> None:
    assert problem in wrong_in(tmp_path, declared)


def test_a_module_that_lies_beside_is_told_how_to_be_imported(tmp_path: Path) -> None:
    (tmp_path / "tariff.py").write_text("", encoding="utf-8")
    assert "'tariff'; it lies beside the file: make a package of both" in wrong_in(tmp_path, "import tariff")
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("from house.tables import Lot\n", encoding="utf-8")
    with pytest.raises(WorldError, match="inside the package import with a dot"):
        load(package / "__init__.py")


def test_a_file_whose_path_separates_files_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / f"a{os.pathsep}b"
    folder.mkdir()
    (folder / "w.py").write_text(f"{TOP}w = World('w', tables=[R])\n", encoding="utf-8")
    with pytest.raises(WorldError, match="in its path, which separates files; move or rename it"):
        use_file(folder / "w.py")


def test_a_row_may_refer_to_a_table_that_is_declared_later(tmp_path: Path) -> None:
    file = tmp_path / "later.py"
    later = "class Later(Table):\n    id: Id[Self] = key()\nw = World('w', tables=[S, Later])\n"
    file.write_text(TOP + TABLE.format("x: Id['Later']").partition("w =")[0] + later, encoding="utf-8")
    [world] = load(file)
    world.check()
    assert world.tables["s"].columns[1].role is not None


def test_knowledge_that_cannot_be_made_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "knows.py"
    file.write_text(TOP + "def made():\n    raise KeyError('x')\nw = World('w', knowledge=made)\n", encoding="utf-8")
    [world] = load(file)
    with pytest.raises(WorldError, match=r"the knowledge of world 'w' cannot be made: KeyError: 'x' \(knows.py, line"):
        _ = world.knowledge


def test_a_file_that_has_moved_is_told_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"moved\.py' does not exist; expected a Python file that declares a World$"):
        load(tmp_path / "moved.py")
    (tmp_path / "world.yaml").write_text("family: w\n", encoding="utf-8")
    with pytest.raises(WorldError, match=r"world\.yaml' is not a Python file; expected one that declares a World$"):
        load(tmp_path / "world.yaml")
