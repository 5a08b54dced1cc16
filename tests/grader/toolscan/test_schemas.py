"""What ToolScan's checks find wrong with a call, and its type names as JSON Schema."""

from sandbox_grader.papers.toolscan.schemas import fault, fits, json_types, schema_of

from tests.each import each

APIS = {
    "search": {
        "parameters": {
            "query": {"type": "str", "required": True, "description": "words"},
            "limit": {"type": "NUMBER", "required": False},
        }
    },
    "free": {"parameters": {}},
}


def kind(name, **given):
    found = fault(name, given, APIS)
    return found and found.kind


class TestFault:
    def test_a_right_call_has_none(self):
        assert fault("search", {"query": "x", "limit": 3}, APIS) is None

    @each(
        ("name", "given", "expected"),
        [
            ("serch", {}, "unknown_tool"),
            ("search", {"query": "x", "nope": 1}, "unknown_argument"),
            ("search", {"limit": 1}, "missing_argument"),
            ("search", {"query": 1}, "wrong_type"),
            ("free", {"query": "x"}, "unknown_argument"),
        ],
    )
    def test_its_class(self, name, given, expected):
        assert kind(name, **given) == expected

    def test_the_first_class_with_an_offender_wins(self):
        assert kind("search", nope=1, limit="x") == "unknown_argument"
        assert kind("search", limit="x") == "missing_argument"

    def test_null_is_absent(self):
        assert kind("search", query=None) == "missing_argument"
        assert kind("search", query="x", limit=None) is None

    def test_all_offenders_are_named_with_what_is_known(self):
        assert fault("search", {"a": 1, "b": 2}, APIS).message == (
            "search has no argument a, b; its arguments: query, limit"
        )
        assert fault("free", {"a": 1}, APIS).message == "free has no argument a; its arguments: none"
        assert fault("serch", {}, APIS).message == "there is no function 'serch'; known: free, search"


class TestTypes:
    @each(
        ("declared", "kinds"),
        [
            ("str", ("string",)),
            ("STRING", ("string",)),
            ("num", ("number",)),
            ("float", ("number",)),
            ("int", ("integer",)),
            ("BOOL", ("boolean",)),
            ("list", ("array",)),
            (["string", "number"], ("string", "number")),
            ("DATE", ()),
            (["string", "DATE"], ()),
            (None, ()),
        ],
    )
    def test_names(self, declared, kinds):
        assert json_types(declared) == kinds

    @each(
        ("value", "kind", "fitting"),
        [
            (True, "number", False),
            (True, "integer", False),
            (True, "boolean", True),
            (1, "boolean", False),
            (3.0, "integer", True),
            (3.5, "integer", False),
            (3, "number", True),
            ("3", "integer", False),
            ("x", "string", True),
            ([], "array", True),
            ({}, "object", True),
            ({}, "array", False),
        ],
    )
    def test_values(self, value, kind, fitting):
        assert fits(value, [kind]) is fitting

    def test_an_unknown_type_fits_everything(self):
        assert fits(object(), [])

    def test_one_of_several_is_enough(self):
        assert fits("x", ["number", "string"])
        assert not fits([], ["number", "string"])


def test_a_schema():
    assert schema_of(APIS["search"]["parameters"] | {"day": {"type": "DATE"}, "any": {"type": ["str", "int"]}}) == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "words"},
            "limit": {"type": "number", "description": ""},
            "day": {"description": ""},
            "any": {"type": ["string", "integer"], "description": ""},
        },
        "required": ["query"],
    }
