"""An excerpt of a file says of its entry what the whole file says, on the same lines."""

from itertools import count
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.excerpt import excerpt
from sandbox_scenarios.loader import BUILT_IN
from sandbox_scenarios.yaml_lines import load

from tests.each import each

TEXT = """\
# about the file
family: mine
scenarios:
  - name: first
    about: One.

  # about the second
  - name: second
    about: Two.
  - name: third
    about: Three.
"""


def test_it_has_the_one_entry_and_the_head_of_the_file() -> None:
    cut = excerpt(TEXT, "second")
    assert cut is not None
    data, _ = load(cut, "x.yaml")
    assert data == {"family": "mine", "scenarios": [{"name": "second", "about": "Two."}]}


def test_the_lines_stay() -> None:
    cut = excerpt(TEXT, "third")
    assert cut is not None
    assert cut.splitlines()[9:] == TEXT.splitlines()[9:]
    assert cut.count("\n") == TEXT.count("\n")


def test_entries_that_an_alias_needs_stay_too() -> None:
    text = (
        "family: x\nscenarios:\n  - name: a\n    max_turns: &n 3\n  - name: b\n    tools: &t [x]\n"
        "  - name: c\n    tools: *t\n    max_turns: *n\n  - name: d\n    tools: [y]\n"
    )
    cut = excerpt(text, "c")
    assert cut is not None
    assert load(cut, "x.yaml")[0]["scenarios"] == load(text, "x.yaml")[0]["scenarios"][:3]


@each(
    "text",
    [
        TEXT.replace("name: second", '"name": second'),
        TEXT.replace("name: first", 'name: "first"'),
        TEXT.replace("- name: first\n    about: One.", "- about: One.\n    name: first"),
        TEXT.replace("name: first", "name: second"),
        TEXT.replace("One.", "One.\r"),
        TEXT.replace("One.", "One.\u2028"),
        TEXT.replace("name: second", "name: other"),
        '{"family": "x", "scenarios": [{"name": "second"}]}',
        "",
    ],
)
def test_what_is_not_laid_out_plainly_is_not_cut(text: str) -> None:
    assert excerpt(text, "second") is None


@each("path", sorted(BUILT_IN.rglob("*.yaml"))[::8], ids=lambda path: path.stem)
def test_every_entry_of_the_suite_is_read_the_same_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for entry in load(text, "x.yaml")[0]["scenarios"][:4]:
        cut = excerpt(text, entry["name"])
        assert cut is not None, "our own files are laid out plainly"
        assert entry in load(cut, "x.yaml")[0]["scenarios"]


PARTS = [
    "    about: >-\n      Folded.\n      - name: inside\n",
    "    about: |\n      Kept.\n\n      scenarios:\n      - name: inside\n",
    "    tools: [a,\n      b]\n",
    "    tools:\n    - a\n    - name: inside\n",
    "    user: {goal: G,\n      opening: 'a * b & c'}\n",
    "    user:\n      goal: '&anchor *anchor'\n",
    "    user: *anchor\n",
    "    world: {setting: *other}\n",
    "    world: *other\n",
    "# a comment\n  # - name: inside\n",
    "\n\n",
]


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=3, unique_by=lambda part: part[:9]), min_size=1, max_size=4))
def test_an_excerpt_that_has_no_fault_says_what_the_whole_says(bodies: list[list[str]]) -> None:
    numbers = count()
    defined = "  - name: base\n    user: &anchor {goal: H}\n    world: &other {}\n"
    text = "family: x\nscenarios:\n" + defined
    text += "".join(f"  - name: e{next(numbers)}\n{''.join(parts)}" for parts in bodies)
    whole, lines = load(text, "x.yaml")
    for number, entry in enumerate(whole["scenarios"]):
        cut = excerpt(text, entry["name"])
        assert cut is not None
        try:
            part, part_lines = load(cut, "x.yaml")
        except ScenarioFileError:
            continue
        place = part["scenarios"].index(entry)
        for key in entry:
            assert part_lines.of(("scenarios", place, key)) == lines.of(("scenarios", number, key))
