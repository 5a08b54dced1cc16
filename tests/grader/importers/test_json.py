"""How foreign JSON is read: every fault has a place, and nothing comes through that the log could not hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers.reading.json_values import (
    MAX_DEPTH,
    JsonNode,
    depth,
    load,
    load_lines,
    load_whole,
    loads,
    shown,
)

from tests.each import each
from tests.grader.importers.test_broken_input import values


def node(value):
    return JsonNode(value, "f.json")


def nested(levels):
    return "[" * levels + "]" * levels


class TestNode:
    def test_knows_the_path_of_what_is_inside(self):
        inner = node({"messages": [{"odd key": {"x": 1}}]}).need("messages").items()[0].need("odd key").need("x")
        assert inner.where == 'messages[0]["odd key"].x'

    @each(
        ("ask", "problem"),
        [
            (lambda n: n.need("b"), "lacks 'b'; it has \"a\""),
            (lambda n: n.need("a").string(), "a: expected a string, found 5"),
            (lambda n: n.need("a").items(), "a: expected an array, found 5"),
            (lambda n: n.need("a").members(), "a: expected an object, found 5"),
            (lambda n: n.items(), "expected an array, found an object"),
            (lambda n: n.number(), "expected a number, found an object"),
            (lambda n: n.label(), "expected a string or a number, found an object"),
        ],
    )
    def test_says_where_something_is_not_as_expected(self, ask, problem):
        with pytest.raises(ImportFormatError) as caught:
            ask(node({"a": 5}))
        assert str(caught.value) == f"f.json: {problem}"

    def test_a_null_is_absent(self):
        empty = node({"a": None})
        assert empty.get("a") is None
        assert empty.string_at("a") is None
        assert empty.items_at("a") == []
        assert empty.members_at("a") == {}
        assert empty.whole_at("a") == 0

    def test_truth_is_no_number(self):
        with pytest.raises(ImportFormatError, match="expected a number, found true"):
            node(True).number()

    @each(("value", "label"), [("x", "x"), (7, "7"), (7.5, "7.5")])
    def test_an_id_may_be_a_number(self, value, label):
        assert node(value).label() == label

    def test_long_values_are_cut_in_messages(self):
        assert shown("x" * 100) == '"' + "x" * 56 + "..."


class TestLoads:
    @each("text", ["NaN", "Infinity", "-Infinity", "1e999"])
    def test_numbers_beyond_json_become_null_and_are_counted(self, text):
        assert loads(f"[{text}, 1]") == ([None, 1], 1)

    def test_lone_surrogates_are_replaced_and_pairs_are_not(self):
        assert loads('["\\ud800", "\\ud83d\\ude00", {"\\udc00": 1}]') == (["\ufffd", "😀", {"\ufffd": 1}], 0)

    def test_takes_what_the_log_can_hold(self):
        assert depth(loads(nested(MAX_DEPTH))[0]) == MAX_DEPTH

    @each("levels", [MAX_DEPTH + 1, 900, 100_000])
    def test_refuses_what_is_nested_too_deep(self, levels):
        with pytest.raises(ValueError, match="nests deeper than 150 levels"):
            loads(nested(levels))

    @given(values)
    def test_what_json_can_say_is_read_as_it_is(self, value):
        text = json.dumps(value)
        found, replaced = loads(text)
        if not replaced and "\\ud" not in text:
            assert found == value


class TestLoad:
    def test_a_document(self, tmp_path):
        path = tmp_path / "a.json"
        path.write_text('\ufeff{\n"a": [1]\n}')
        [top] = load(path).nodes
        assert top.value == {"a": [1]}
        assert top.line is None

    @each("name", ["a.jsonl", "a.NDJSON", "a.json", "a"])
    def test_lines_are_recognised_by_name_or_by_the_first_of_them(self, tmp_path, name):
        path = tmp_path / name
        path.write_text('{"a": 1}\n\n[2]\n')
        loaded = load(path)
        assert loaded.lines
        assert [(top.value, top.line) for top in loaded.nodes] == [({"a": 1}, 1), ([2], 3)]

    def test_a_last_line_cut_off_is_dropped_and_named(self):
        loaded = load_lines(b'{"a": 1}\n{"a": ', "f")
        assert loaded.cut
        assert [top.value for top in loaded.nodes] == [{"a": 1}]
        assert [loss.where for loss in loaded.losses] == ["line 2"]

    def test_a_last_line_without_newline_counts_if_it_is_whole(self):
        loaded = load_lines(b'{"a": 1}\n{"a": 2}', "f")
        assert not loaded.cut
        assert len(loaded.nodes) == 2

    @each("data", [b'{"a": 1}\n{"a": \n', b'{"a": 1}\n{"a": \n{"a": 2}'])
    def test_any_other_broken_line_is_an_error(self, data):
        with pytest.raises(ImportFormatError, match=r"f:2: is not JSON"):
            load_lines(data, "f")

    @each("data", [b"", b"\n \n"])
    def test_no_line_at_all_is_an_error(self, data):
        with pytest.raises(ImportFormatError, match="f: is empty"):
            load_lines(data, "f")

    def test_a_separator_inside_a_text_ends_no_line(self):
        assert len(load_lines('{"a": "x\u2028y"}\n'.encode(), "f").nodes) == 1

    def test_numbers_beyond_json_are_a_loss(self):
        [loss] = load_whole(b"[NaN, 1e999]", "f").losses
        assert loss.what.endswith("2 numbers")

    def test_a_broken_document_names_the_line(self):
        with pytest.raises(ImportFormatError, match=r"f:3: is not JSON: "):
            load_whole(b'{\n"a": 1,\n}', "f")

    def test_bytes_that_are_no_text_name_the_line(self):
        with pytest.raises(ImportFormatError, match=r"f:2: is not UTF-8 \(byte 0xff\)"):
            load_whole(b'{\n"\xff"}', "f")

    def test_a_number_too_long_for_python_is_an_error(self):
        with pytest.raises(ImportFormatError, match="is not usable JSON"):
            load_whole(b"9" * 5000, "f")

    def test_a_directory_cannot_be_read(self, tmp_path):
        with pytest.raises(ImportFormatError, match="is a folder; name the files in it"):
            load(tmp_path)


@given(st.text())
def test_every_text_shows_on_one_line(text):
    assert "\n" not in shown(text)


@each("name", ["log.json", "log.jsonl", "log.txt"])
@each("space", ["\n", "\r\n\r\n", "", " "])
def test_documents_over_several_lines_behind_each_other_are_read_like_lines(tmp_path, name, space):
    written = [{"a": [1, {"b": "}{"}]}, [2, 3], [], {"c": None}]
    path = tmp_path / name
    path.write_bytes(space.join(json.dumps(item, indent=2) for item in written).encode())
    found = load(path)
    assert ([item.value for item in found.nodes], found.lines) == ([item for item in written if item != []], True)
    assert found.nodes[0].line == 1


@each("behind", ["nonsense", "{", "5", ",", "{}x"])
def test_what_stands_behind_a_document_and_is_none_is_a_fault(tmp_path, behind):
    path = tmp_path / "log.json"
    path.write_text('{\n "a": 1\n}\n' + behind)
    with pytest.raises(ImportFormatError, match="is not JSON"):
        load(path)
