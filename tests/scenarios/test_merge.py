"""What ``extends`` means: a branch says only what is different."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios.merge import RESERVED, merge, written_as

from tests.each import each

BASE: dict[str, Any] = {
    "name": "base",
    "about": "A base.",
    "abstract": True,
    "tools": ["a", "b"],
    "clock": {"now": 1, "zone": "UTC"},
    "world": {"contact": {"ann": {"name": "Ann", "phone_number": "+1"}, "bob": {"name": "Bob"}}},
    "user": {"goal": "g", "knows": ["x"], "script": {"then": ["t1"], "confirm": "Yes."}},
    "allows": {"setting": ["wifi"]},
}


def test_what_a_branch_does_not_say_is_inherited() -> None:
    assert merge(BASE, {})["tools"] == ["a", "b"]


def test_name_about_abstract_and_extends_are_never_inherited() -> None:
    assert not set(RESERVED) & set(merge(BASE, {}))


def test_a_list_replaces_and_a_plus_adds() -> None:
    assert merge(BASE, {"tools": ["c"]})["tools"] == ["c"]
    assert merge(BASE, {"tools+": ["c"]})["tools"] == ["a", "b", "c"]
    assert merge(BASE, {"without+": ["c"]})["without"] == ["c"]


@each(
    ("branch", "path", "value"),
    [
        ({"clock": {"zone": "Asia/Tokyo"}}, ("clock",), {"now": 1, "zone": "Asia/Tokyo"}),
        ({"world": {"contact": {"ann": {"name": "Anna"}}}}, ("world", "contact", "ann", "phone_number"), "+1"),
        ({"world": {"contact": {"ann": {"name": "Anna"}}}}, ("world", "contact", "bob"), {"name": "Bob"}),
        ({"user": {"goal": "h"}}, ("user", "script", "confirm"), "Yes."),
        ({"user": {"knows+": ["y"]}}, ("user", "knows"), ["x", "y"]),
        ({"user": {"script": {"then+": ["t2"]}}}, ("user", "script", "then"), ["t1", "t2"]),
        ({"user": {"script": {"then": ["t2"]}}}, ("user", "script", "then"), ["t2"]),
        ({"allows": {"contact": ["*"]}}, ("allows",), {"setting": ["wifi"], "contact": ["*"]}),
        ({"allows": {"setting+": ["cellular"]}}, ("allows", "setting"), ["wifi", "cellular"]),
    ],
)
def test_mappings_are_merged_key_by_key(branch: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    found: Any = merge(BASE, branch)
    for key in path:
        found = found[key]
    assert found == value


@each(
    ("branch", "gone"),
    [
        ({"world": {"contact": {"bob": None}}}, ("world", "contact", "bob")),
        ({"world": {"contact": None}}, ("world", "contact")),
        ({"clock": {"zone": None}}, ("clock", "zone")),
        ({"user": {"script": None}}, ("user", "script")),
        ({"world": {"contact": {"nobody": None}}}, ("world", "contact", "nobody")),
    ],
)
def test_a_null_takes_away(branch: dict[str, Any], gone: tuple[str, ...]) -> None:
    found: Any = merge(BASE, branch)
    for key in gone[:-1]:
        found = found[key]
    assert gone[-1] not in found


def test_a_plus_on_anything_but_a_list_is_left_to_be_refused() -> None:
    assert merge(BASE, {"tools+": "c"})["tools+"] == "c"
    assert merge(BASE, {"user": {"goal+": "more"}})["user"]["goal+"] == "more"


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
entries = st.dictionaries(
    st.sampled_from(["world", "clock", "user", "tools", "tools+", "allows", "reference", "milestones+"]), values
)


@given(base=entries, branch=entries)
def test_merging_changes_neither_of_the_two(base: dict[str, Any], branch: dict[str, Any]) -> None:
    before = repr((base, branch))
    merge(base, branch)
    assert repr((base, branch)) == before


@given(base=entries)
def test_a_branch_that_says_nothing_is_what_it_extends(base: dict[str, Any]) -> None:
    assert merge(merge({}, base), {}) == merge({}, base)


@given(base=entries, branch=entries.filter(lambda entry: not {"tools", "tools+"} <= set(entry)))
def test_what_a_branch_says_it_says_whatever_it_extends(base: dict[str, Any], branch: dict[str, Any]) -> None:
    """But for mappings, which mix, and additions, which end with what was added."""
    merged = merge(base, branch)
    for key, value in branch.items():
        if key.endswith("+") and isinstance(value, list):
            whole = merged[key[:-1]]
            assert whole[len(whole) - len(value) :] == value
        elif not isinstance(value, dict):
            assert merged[key] == value


@each(
    ("entry", "path", "place"),
    [
        ({"tools": ["c"]}, ("tools", 0), ("tools", 0)),
        ({"tools+": ["c"]}, ("tools", 2), ("tools+", 0)),
        ({"tools+": ["c"]}, ("tools", 1), ()),
        ({"tools+": ["c"]}, ("tools",), ("tools+",)),
        ({"user": {"script": {"then+": ["t2"]}}}, ("user", "script", "then", 1), ("user", "script", "then+", 0)),
        ({"user": {"script": {"then+": ["t2"]}}}, ("user", "script", "then", 0), ("user", "script")),
        ({"user": {"goal": "h"}}, ("user", "opening"), ("user",)),
        ({}, ("tools", 0), ()),
        ({"milestones": [{"id": "a"}]}, ("milestones", 0, "id"), ("milestones", 0, "id")),
    ],
)
def test_a_path_of_the_whole_is_found_where_it_was_written(
    entry: dict[str, Any], path: tuple[str | int, ...], place: tuple[str | int, ...]
) -> None:
    assert written_as(entry, BASE, path) == place
