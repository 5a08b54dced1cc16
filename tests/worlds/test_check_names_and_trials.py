"""Findings of ``worlds check`` by forbidden names and by trials: where sins hide, and what is none."""
# ruff: noqa: E501 - one sin a line

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandbox_mcp.app.authoring.world_check import WorldFinding, check_world
from sandbox_mcp.app.authoring.world_check.other_process import HASH_SEED
from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds import FILES, load

HEAD = """
import bisect, collections, contextlib, dataclasses, datetime, functools, heapq, io, itertools, logging, os, random
import statistics, time, types, urllib.parse, uuid
from collections import Counter, defaultdict, deque
from os import environ, getpid
from pathlib import Path
from sys import argv, stdout
from typing import Self, TypedDict
from sandbox_mcp import Id, Secret, Table, Tx, World, column, key
class Line(Table):
    id: Id[Self] = key()
    name: str
    load: float
class Lot(Table):
    id: Id[Self] = key()
    pin: Secret = "0"
    floor: int = column(hidden=True, default=0)
grid = World("grid", tables=[Line, Lot])
"""

LOST = "class Lost(Table):\n    id: Id[Self] = key()\n"


def tool(body: str, before: str = "", arguments: str = "tx: Tx", gives: str = "str") -> str:
    lines = "\n".join(f"    {line}" for line in body.split("; "))
    return f'{HEAD}{before}\n@grid.query\ndef sin({arguments}) -> {gives}:\n    """Tell."""\n{lines}\n'


def found_in(folder: Path, text: str) -> tuple[WorldFinding, ...]:
    (folder / "grid.py").write_text(text, encoding="utf-8")
    return check_world(load(folder / "grid.py")[0])


SINS = {
    "host_clock": (
        tool("return str(tx.now > STARTED)", "STARTED = time.time()"),
        tool("return str(Shift.year)", "class Shift:\n    year = datetime.date.today().year"),
        tool("clock = time.time; return str(clock() > 0)"),
        tool("return str(Stamp().at > 0)", "@dataclasses.dataclass\nclass Stamp:\n    at: float = dataclasses.field(default_factory=time.time)"),
        tool("return str(at > 0)", arguments="tx: Tx, at: float = time.time()"),
        tool("return str(late(tx.now))", "def late(at: float, now: float = time.time()) -> bool:\n    return at < now"),
        tool("return HOW['age']()", "HOW = {'age': lambda: str(time.monotonic() > 0)}"),
        tool("return str(asked.__name__)", "async def asked() -> float:\n    return time.time()"),
        tool("return str(Meter().at > 0)", "class Meter:\n    @property\n    def at(self) -> float:\n        return time.time()"),
        tool("return str(Meter.read() > 0)", "class Meter:\n    read = staticmethod(time.time)"),
    ),
    "chance": (
        tool("return SALT", "SALT = uuid.uuid4().hex"),
        tool("return str(ORDER)", "ORDER = random.sample(range(9), 9)"),
        tool("return str(PICK([1]))", "PICK = lambda items: random.choice(items)"),
        tool("return str(PICK())", "PICK = functools.partial(random.choice, ['a'])"),
        tool("return str(list(map(random.uniform, [1.0], [1.0])))"),
        tool("return str(random.Random().random() < 2)"),
    ),
    "module_state": (
        tool("Shift.n: int = 3; return ''", "class Shift:\n    n = 0"),
        tool("seen = SEEN; seen.append('x'); return ''", "SEEN: list[str] = []"),
        tool("return note()", "SEEN: list[str] = []\ndef note(into: list[str] = SEEN) -> str:\n    into.append('x')\n    return ''"),
        tool("heapq.heappush(SEEN, 3); return ''", "SEEN: list[int] = []"),
        tool("bisect.insort(SEEN, 3); return ''", "SEEN: list[int] = []"),
        tool("Memo.put(); return ''", "class Memo:\n    items: list[int] = []\n    @classmethod\n    def put(cls) -> None:\n        cls.items.append(1)"),
        tool("seen()['x'] = seen().get('x', 0) + 1; return ''", "SEEN: dict[str, int] = {}\ndef seen() -> dict[str, int]:\n    return SEEN"),
        tool("tx.knowledge.append('x'); return ''").replace("tables=[Line, Lot]", "tables=[Line, Lot], knowledge=list"),
    ),
    "outside_io": (
        tool("return environ['HOME'][:0]"),
        tool("return str(getpid() > 0)"),
        tool("return argv[0][:0]"),
        tool("stdout.write(''); return ''"),
        tool("return str(o.getpid() > 0)", "import os as o"),
        tool("return str(Path.cwd())[:0]"),
        tool("return str(futures.ThreadPoolExecutor)[:0]", "from concurrent import futures"),
        tool("with HERE.open() as file:;     return file.read()", "HERE = Path('/dev/null')"),
        tool("import builtins; builtins.print(end=''); return ''"),
        tool("import importlib; return str(importlib.import_module('time').time() > 0)"),
    ),
    "undeclared_table": (
        tool("table = Lost; return str(len(tx.all(table)))", LOST),
        tool("return str(count(tx, Lost))", LOST + "def count(tx: Tx, table: type[Table]) -> int:\n    return len(tx.all(table))"),
        tool("return str(sum(len(tx.all(table)) for table in (Line, Lost)))", LOST),
        tool("return str(tx.find(KINDS['lost'], 'x'))", LOST + "KINDS = {'lost': Lost}"),
    ),
    "result": (
        tool("return {'a': 1, 'b': 2}", "class Told(TypedDict):\n    a: int", gives="Told"),
        tool("return tx.all(Lot)[0].id", gives="Id[Line]"),
        tool("return [tx.all(Line)[0].id, 'x']", gives="list[Id[Line]]"),
        tool("return {'line': tx.all(Lot)[0].id}", "class Told(TypedDict):\n    line: Id[Line]", gives="Told"),
    ),
    "docstring": (
        f'{tool("return str(tx.now)")}@grid.gate("open", opened_by=sin)\ndef is_open(tx: Tx) -> bool:\n    return True\n',
    ),
    "broken": (
        tool("return tx.all(Line)[0].name"),
        tool("return str(sum(row.load for row in tx.all(Line)) / len(tx.all(Line)))"),
    ),
    "secret": (
        tool("return tx.all(Lot)[0].floor", gives="int"),
        tool("raise ValueError(f'less than {tx.all(Lot)[0].floor:,} is refused')"),
        tool("return tx.all(Lot)[0].pin.upper()"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in SINS.items() for text in texts])
def test_a_sin_is_found_wherever_it_hides(tmp_path: Path, rule: str, text: str) -> None:
    assert {finding.rule for finding in found_in(tmp_path, text)} >= {rule}


SOUND = (
    tool("return str(Box().set('a'))", "class Box:\n    def __init__(self) -> None:\n        self._cells: list[str] = []\n    def set(self, cell: str) -> int:\n        self._cells.append(cell)\n        return len(self._cells)"),
    tool("return ','.join(row.transaction for row in tx.all(Paid))", "class Paid(Table):\n    id: Id[Self] = key()\n    transaction: str\ngrid = World('paying', tables=[Paid])").replace("grid = World(\"grid\", tables=[Line, Lot])\n", ""),
    tool("return str(Span(2).half)", "@dataclasses.dataclass(frozen=True)\nclass Span:\n    whole: int\n    half: int = 0\n    def __post_init__(self) -> None:\n        object.__setattr__(self, 'half', self.whole // 2)"),
    tool("return str(Bag().size)", "class Bag:\n    def __init__(self) -> None:\n        self.__dict__['size'] = 1"),
    tool("return ATLAS", "ATLAS = Path(__file__).parent.joinpath('grid.py').read_text()[:1]"),
    tool("return tx.knowledge.of('x')").replace("grid = World", "class Atlas:\n    @functools.cached_property\n    def all(self) -> dict[str, str]:\n        return {'x': 'y'}\n    def of(self, name: str) -> str:\n        return self.all[name]\ngrid = World").replace("tables=[Line, Lot]", "tables=[Line, Lot], knowledge=Atlas"),
    tool("return min(sorted({row.name for row in tx.all(Line)}), key=len, default='')"),
    tool("return str(DAWN.isoformat())", "DAWN = datetime.time(6)"),
    tool("return {'line': row.id for row in tx.all(Line)[:1]}", gives="dict[str, Id[Line]]"),
    tool("first = next(iter(tx.all(Line)), None); return first.id if first else None", gives="Id[Line] | None"),
    tool("return str(Clock().now())", "class Clock:\n    def now(self) -> int:\n        return 3"),
    tool("return str(random.Random(len(tx.all(Line))).randrange(6))"),
    tool("return ORDER[0]", "ORDER = random.Random(7).sample('abc', 3)"),
    tool("return str(uuid.uuid5(uuid.NAMESPACE_URL, str(tx.now)))"),
    tool("return urllib.parse.quote(name)", arguments="tx: Tx, name: str"),
    tool("return time.strftime('%H:%M', time.gmtime(tx.now))"),
    tool("return os.path.splitext(name)[0] + os.sep", arguments="tx: Tx, name: str"),
    tool("best = 0.0; def see(row: Line) -> None:;     nonlocal best;     best = max(best, row.load); [see(row) for row in tx.all(Line)]; return str(best)"),
    tool("return str(fib(10))", "@functools.cache\ndef fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)"),
    tool("book = Book(); book.add('x'); return book.pages[0]", "class Book:\n    def __init__(self) -> None:\n        self.pages: list[str] = []\n    def add(self, page: str) -> None:\n        self.pages.append(page)"),
    tool("return str(TARIFF.add(3))", "class Tariff:\n    rate = 2\n    def add(self, n: int) -> int:\n        return n + self.rate\nTARIFF = Tariff()"),
    tool("return TARIFF.words", "class Tariff:\n    @functools.cached_property\n    def words(self) -> str:\n        return 'x'\nTARIFF = Tariff()"),
    tool("return ','.join(sorted(RULES))", "RULES: dict[str, object] = {}\ndef rule(function):\n    RULES[function.__name__] = function\n    return function\n@rule\ndef one() -> int:\n    return 1"),
    tool("return ','.join(RULES)", "RULES: list[str] = []\ndef rule(name: str) -> None:\n    RULES.append(name)\nrule('a')"),
    tool("space = types.SimpleNamespace(); setattr(space, 'a', 1); return str(space.a)"),
    tool("return Shop().touch() + Shop().open()", "class Shop:\n    def touch(self) -> str:\n        return ''\n    def open(self) -> str:\n        return ''"),
    tool("open = tx.all(Line); return str(len(open))"),
    tool("return str(hashed('a'))", "def hashed(text: str) -> int:\n    hash = 5381\n    for letter in text:\n        hash = hash * 33 + ord(letter)\n    return hash"),
    tool("return str(sum(map(len, {'a', 'bb'}))) + ','.join(sorted(map(str, {1, 2})))"),
    tool("return DATA[:0]", "DATA = Path(__file__).read_text()"),
    tool("LOG.debug('x'); return ''", "LOG = logging.getLogger('grid')"),
    tool("return str(NAN)", "NAN = float('nan')"),
    tool("return str(PROXY is None)", "class Proxy:\n    def __getattr__(self, name: str) -> object:\n        raise RuntimeError(name)\nPROXY = Proxy()"),
)  # fmt: skip


@pytest.mark.parametrize("text", SOUND)
def test_a_sound_tool_is_accused_of_nothing(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, text) == ()


def test_helpers_in_other_modules_of_a_package_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "auctions_of_ours"
    package.mkdir()
    (package / "__init__.py").write_text("from .tools import house\n", encoding="utf-8")
    (package / "fees.py").write_text("import time as t\nfrom .deep import salt\nfee = lambda: t.time() + salt()\n")
    (package / "deep.py").write_text("from random import random as roll\ndef salt() -> float:\n    return roll()\n")
    (package / "tools.py").write_text(
        "from sandbox_mcp import Tx, World\nfrom . import fees\nhouse = World('house', tables=[])\n"
        '@house.query\ndef fee(tx: Tx) -> float:\n    """Tell."""\n    return fees.fee() * 0\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    world = __import__("auctions_of_ours").house
    assert [(item.place, item.rule) for item in check_world(world)] == [
        ("deep.py:3 in salt", "chance"), ("fees.py:3 in the module", "host_clock"),
    ]  # fmt: skip


ELSEWHERE = (
    "return str(datetime.datetime(2026, 7, 1).timestamp())",
    "return datetime.datetime.fromtimestamp(tx.now).isoformat()",
    "return tx.local().astimezone().isoformat()",
    "return ','.join(Plan({row.name for row in tx.all(Line)} | MANY).names)",
    "return max(Plan(MANY).names, key=len)",
    "return str(MANY)",
    "return str(list(map(str, MANY)))",
    "return ','.join(MANY & {f'{n}' for n in range(10, 90)})",
    "return ','.join(sorted(MANY, key=len))",
    "return ','.join(sorted(MANY, key=hash))",
    "return next(iter(MANY))",
    "first, *_ = MANY; return first",
    "return functools.reduce(lambda one, other: one + other, MANY)",
    "return set(MANY).pop()",
    "SEEN.put(); return str(SEEN.n // 1000)",
)
"""Bodies of tools whose results are the same when they are called again at once, and others in another process."""


def test_differences_of_sets_zones_and_kept_state_are_found_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILES, "")
    monkeypatch.delenv(HASH_SEED, raising=False)
    before = (
        "@dataclasses.dataclass\nclass Plan:\n    names: set[str]\nMANY = {f'{n:02}' for n in range(90)}\n"
        "class Seen:\n    n = 0\n    def put(self) -> None:\n        self.n += 100\nSEEN = Seen()\n"
    )
    tools = [tool(body)[len(HEAD) :].replace("def sin(", f"def sin{n}(") for n, body in enumerate(ELSEWHERE)]
    (tmp_path / "grid.py").write_text(HEAD + before + "".join(tools), encoding="utf-8")
    checked = CliRunner().invoke(group, ["worlds", "check", "--json", "--world", str(tmp_path / "grid.py")])
    found = {item["place"]: item["rule"] for item in json.loads(checked.stdout)["findings"]}
    assert {body: found.get(f"sin{n}") for n, body in enumerate(ELSEWHERE)} == dict.fromkeys(
        ELSEWHERE, "not_repeatable"
    )
