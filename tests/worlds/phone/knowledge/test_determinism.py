"""The same question has the same answer everywhere: in any zone, language and folder, without network or clock."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import sandbox_mcp.engine.worlds.phone.knowledge
from tests.each import each

PACKAGE = Path(sandbox_mcp.engine.worlds.phone.knowledge.__file__).parent
ROOT = PACKAGE.parent.parent

ASK_EVERYTHING = """
import hashlib, json
from dataclasses import asdict
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge

k, now = Knowledge(), 1716000000.0
points = [(37.3346, -122.0091), (40.758, -73.985), (48.8584, 2.2945), (35.66, 139.74), (-33.87, 151.2), (0, -30)]
answers = [
    [k.units.convert(amount, a, b) for amount in (1, 36.6) for a, b in (("C", "F"), ("mile", "km"), ("cup", "ml"))],
    [asdict(k.currency.convert(100, "USD", code, now)) for code in ("EUR", "JPY", "AED")],
    [k.distance.kilometers(*points[0], *point) for point in points],
    [address and asdict(address) for address in (k.gazetteer.address(*point) for point in points)],
    [asdict(k.holidays.search(name, year, zone))
     for name in ("Christmas", "Thanksgiving", "Diwali", "Holi") for year in (2024, 2025)
     for zone in ("America/Los_Angeles", "Asia/Kolkata")],
    [place.as_dict()
     for text in ("coffee", "Paris", "museum") for point in points for place in k.places.search(text, *point)],
    [asdict(k.stocks.search(name, now + day * 86400)) for name in ("Apple", "Toyota", "Shell") for day in range(5)],
    [k.weather.forecast(*point, now, days).as_dict() for point in points for days in (0, 1, 14)],
]
"""
DIGEST = ASK_EVERYTHING + "print(hashlib.sha256(json.dumps(answers, sort_keys=True).encode()).hexdigest())"

GUARD = """
import sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request", "subprocess.Popen", "os.system"):
        raise SystemExit(f"forbidden: {event} {arguments}")
sys.addaudithook(watch)
"""


def run(code: str, folder: Path | None = None, **environment: str) -> str:
    base = {name: value for name, value in os.environ.items() if name not in {"TZ", "LANG", "LC_ALL", "PYTHONHASHSEED"}}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=base | {"PYTHONPATH": str(ROOT)} | environment,
        cwd=folder or ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@cache
def reference() -> str:
    """What a process answers that ends when it touches the network or starts a program."""
    return run(GUARD + DIGEST, TZ="UTC", PYTHONHASHSEED="0")


def test_time_zone_language_hash_seed_and_folder_of_the_host_do_not_matter(tmp_path: Path) -> None:
    host = {"TZ": "Pacific/Kiritimati", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "LANGUAGE": "th", "PYTHONHASHSEED": "77"}
    assert run(DIGEST, tmp_path, **host) == reference()


def test_no_network_is_touched_and_no_program_started() -> None:
    assert reference()
    with pytest.raises(AssertionError, match="forbidden: socket"):
        run(GUARD + "import socket; socket.create_connection(('127.0.0.1', 9))")


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    warmed = (
        "from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge\n"
        "for n in range(40): Knowledge().places.search('bank', n, n)\n"
    )
    assert run(warmed + DIGEST) == reference()


FORBIDDEN = {
    "time": {"time", "localtime", "monotonic", "perf_counter", "sleep", "tzset", "tzname", "timezone"},
    "datetime": {"now", "today", "utcnow"},
    "date": {"today"},
    "os": {"environ", "getenv", "urandom", "getcwd"},
    "random": {"random", "choice", "seed"},
    "uuid": {"uuid1", "uuid4"},
    "locale": {"getlocale", "setlocale"},
}


@each("module", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_no_module_reads_the_hosts_clock_environment_or_chance(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.attr not in FORBIDDEN.get(node.value.id, set()), f"{module.name}:{node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
            assert not imported & {"random", "locale", "secrets", "socket"}, f"{module.name}:{node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "hash", f"{module.name}:{node.lineno}"


def test_only_the_world_below_is_imported() -> None:
    for module in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("sandbox_mcp", "sandbox_grader", "sandbox_scenarios")
            ):
                assert str(node.module).startswith(
                    (
                        "sandbox_mcp.engine.worlds.phone.knowledge",
                        "sandbox_mcp.engine.worlds.letters",
                        "sandbox_mcp.engine.bounded",
                        "sandbox_mcp.engine.world.clock",
                        "sandbox_mcp.engine.tools.definition",
                    )
                )


OPENED = """
import json, sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge
k = Knowledge()
sources = [k.currency, k.distance, k.gazetteer, k.holidays, k.places, k.stocks, k.units, k.weather]
opened.clear()
{ask}
heavy = sorted({{"pint", "holidays", "geographiclib", "numpy", "pydantic", "phonenumbers"}} & set(sys.modules))
ours = sorted({{name.rsplit("/", 1)[-1] for name in opened if "/knowledge/data/" in name}})
print(json.dumps([ours, heavy]))
"""


@pytest.mark.parametrize(
    ("ask", "data", "heavy"),
    [
        ("pass", [], []),
        ("k.units.convert(1, 'm', 'km')", ["units.json"], []),
        ("k.units.convert(1, 'furlong', 'km')", ["units.json"], ["pint"]),
        ("k.distance.kilometers(0, 0, 1, 1)", [], ["geographiclib"]),
        ("k.currency.convert(1, 'USD', 'EUR', 1716000000.0)", ["currencies.tsv", "exchange_rates.csv.gz"], []),
        ("k.holidays.search('Christmas', 2024, 'UTC')", [], ["holidays"]),
        ("k.stocks.search('Apple', 1716000000.0)", ["exchanges.tsv", "stocks.tsv"], []),
        ("k.gazetteer.address(48, 11)", ["countries.tsv", "gazetteer.json.gz", "landmarks.tsv"], []),
        (
            "k.weather.forecast(48, 11, 1716000000.0)",
            ["climate.tsv", "countries.tsv", "gazetteer.json.gz", "heights.tsv"],
            [],
        ),
    ],
)
def test_a_question_loads_the_data_of_its_domain_only(ask: str, data: list[str], heavy: list[str]) -> None:
    opened, imported = json.loads(run(OPENED.format(ask=ask)))
    assert opened == data
    assert [name for name in imported if name != "numpy"] == heavy


def test_importing_the_package_imports_no_domain() -> None:
    listing = "[name for name in sys.modules if name.startswith('sandbox_mcp.engine.worlds.phone.knowledge.')]"
    imported = run(f"import json, sys, sandbox_mcp.engine.worlds.phone.knowledge; print(json.dumps({listing}))")
    assert set(json.loads(imported)) == {
        "sandbox_mcp.engine.worlds.phone.knowledge.errors",
        "sandbox_mcp.engine.worlds.phone.knowledge.bundle",
    }
