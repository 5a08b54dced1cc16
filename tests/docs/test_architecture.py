"""The page about the architecture, held against the code: every place, class and function it names is there."""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("sandbox_mcp", "scenarios/sandbox_scenarios", "grader/sandbox_grader", "clients/sandbox_clients")
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROOMS = ("", "sandbox_mcp/engine", "sandbox_mcp/play", "sandbox_mcp/app")
NAMES = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL))
PLACES = [name for name in NAMES if "/" in name]
CLASSES = [name for name in NAMES if re.fullmatch(r"[A-Z][A-Za-z]+(\.[a-z_]+)?", name)]
FUNCTIONS = [name for name in NAMES if re.fullmatch(r"[a-z][a-z_]+", name)]


@cache
def statements() -> list[tuple[str, ast.stmt]]:
    """What stands at the top of every module of ours, with the file."""
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return [
        (path.relative_to(ROOT).as_posix(), node)
        for path in paths
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    ]


@cache
def definitions() -> dict[str, list[str]]:
    """Every public class and function of ours, and every method as Class.method, with the files that define it."""
    found: dict[str, list[str]] = defaultdict(list)
    for file, node in statements():
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found[node.name].append(file)
            for method in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    found[f"{node.name}.{method.name}"].append(file)
    return found


@each("place", sorted(set(PLACES)))
def test_every_place_is_there(place: str) -> None:
    assert (ROOT / place).is_dir() if place.endswith("/") else (ROOT / place).is_file()


@each("name", sorted({*CLASSES, *FUNCTIONS}))
def test_every_class_and_function_is_there(name: str) -> None:
    assert definitions()[name]


def test_every_package_is_on_the_page() -> None:
    folders = (path.parent for package in PACKAGES for path in (ROOT / package).rglob("__init__.py"))
    packages = sorted(f"{folder.relative_to(ROOT).as_posix()}/" for folder in folders if folder.name != "sandbox_mcp")
    assert packages == sorted(re.findall(r"^\| `([^`]+/)` \|", PAGE.partition("## Glossary")[0], re.MULTILINE))


def test_the_layers_are_those_that_are_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [each["layers"] for each in project["tool"]["importlinter"]["contracts"] if "layers" in each]
    (told,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert told.splitlines() == layers


def test_the_glossary_is_short() -> None:
    words = PAGE.partition("## Glossary")[2].partition("\n## ")[0]
    assert 10 <= len(re.findall(r"^\| `", words, re.MULTILINE)) <= 20


def test_a_class_name_means_one_thing_in_all_packages() -> None:
    classes = {name: files for name, files in definitions().items() if name[0].isupper() and "." not in name}
    assert {name: files for name, files in classes.items() if files[1:]} == {}


@cache
def aliases() -> dict[str, list[str]]:
    """Every public name that is assigned to and reads like a class, as an alias of a type does, with its files."""
    found: dict[str, list[str]] = defaultdict(list)
    for file, node in statements():
        for name in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(name, ast.Name) and re.match(r"[A-Z]+[a-z]", name.id):
                found[name.id].append(file)
    return found


def test_no_other_name_takes_a_word_of_the_glossary() -> None:
    assert aliases().keys() & {name for name in CLASSES if "." not in name} == set()


def test_an_alias_means_one_thing_and_is_not_named_like_a_class() -> None:
    """In worlds names are those of what the world is about, which has events, seats and tasks of its own."""
    taken = {
        name: outside
        for name, files in aliases().items()
        if (outside := [file for file in (*files, *definitions().get(name, ())) if "/worlds/" not in file])[1:]
    }
    assert taken == {}


def test_the_picture_names_packages_that_exist() -> None:
    picture = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    named = re.findall(r'class="room"[^>]*>([^<]+)<', picture)
    assert len(named) > 8
    assert [name for name in named if not any((ROOT / base / name).is_dir() for base in ROOMS)] == []


def test_a_stranger_gets_here_from_the_readme() -> None:
    assert "(docs/architecture.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


MOST_CLASSES = 890
"""As many public classes there may be; whoever needs fewer lowers it."""


def test_a_class_name_means_one_thing_and_there_are_no_more_of_them() -> None:
    names = Counter(
        node.name
        for _, statement in statements()
        for node in ast.walk(statement)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
    assert 300 < names.total() <= MOST_CLASSES
