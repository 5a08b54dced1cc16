"""From what a caller sent to a call, or to what is wrong with it: in a fixed order, with all offenders named."""

import json
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from sandbox_mcp.engine.tools import Bound, Outcome, Parameter, bind, fits, speak
from sandbox_mcp.engine.tools.calling import MAX_ARGUMENT_CHARACTERS, MAX_DEPTH
from sandbox_mcp.engine.tools.value_schemas import converted, fits_plainly, fits_schema
from sandbox_mcp.engine.trajectory import CallError, SessionStarted, ToolCall, parse_trajectory, to_line
from sandbox_mcp.engine.worlds.phone import phone
from tests.each import each
from tests.tools.phone import NOW, OFFERED, Phone

NEVER_NULL = [
    (tool.name, item.name)
    for tool in phone.agent_tools.values()
    for item in tool.parameters
    if not item.required and "null" not in item.types
]
"""Every argument that may be left out but not be null, with its tool."""
FITTING: dict[str, Any] = {"string": "x", "number": 1.5, "integer": 1, "boolean": True}


def sample(parameter: Parameter) -> Any:
    """Some value of the right type."""
    return FITTING[parameter.types[0]]


@given(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
    st.sampled_from(
        (
            {}, {"type": "string"}, {"type": "null"}, {"type": "boolean"}, {"type": ["string", "null"]}, {"type": None},
            {"type": "number"}, {"type": ["integer", "boolean"]}, {"type": "string", "minLength": 2}, {"enum": ["x"]},
        )
    ),
)  # fmt: skip
def test_what_plainly_fits_a_schema_fits_it(value: object, schema: dict[str, Any]) -> None:
    assert fits_schema(value, schema) or not fits_plainly(value, schema)


def fault(tool: str, arguments: object) -> tuple[str, str]:
    """The kind of a fault, and what the caller is told."""
    outcome = Phone().call(tool, arguments)
    assert outcome.fault is not None
    return outcome.fault.kind, outcome.fault.text


class TestOrder:
    """A call with everything wrong with it is mended one kind of fault at a time."""

    def test_first_the_tool_has_to_exist(self) -> None:
        kind, text = fault("add_remainder", "{")
        assert kind == "unknown_tool"
        assert text.startswith('UnknownToolError: there is no tool "add_remainder"; available tools: ')
        assert "add_reminder" in text

    def test_then_the_arguments_have_to_be_an_object(self) -> None:
        kind, text = fault("add_reminder", "[1, 2]")
        assert kind == "invalid_format"
        assert text == (
            "ArgumentFormatError: the arguments of add_reminder must be one JSON object "
            '{"content": ..., "reminder_timestamp": ..., "latitude": ..., "longitude": ...}, not "[1, 2]"'
        )

    def test_then_their_names_have_to_be_known(self) -> None:
        kind, text = fault("add_reminder", {"text": 1, "when": 2, "latitude": "north"})
        assert kind == "unknown_argument"
        assert text == (
            'ArgumentNameError: add_reminder has no argument "text", "when"; '
            "it takes content, reminder_timestamp, latitude, longitude"
        )

    def test_then_none_may_be_missing(self) -> None:
        kind, text = fault("add_reminder", {"latitude": "north"})
        assert kind == "missing_argument"
        assert text == "MissingArgumentError: add_reminder also needs content, reminder_timestamp"

    def test_then_their_types_have_to_be_right(self) -> None:
        kind, text = fault("add_reminder", {"content": 3, "reminder_timestamp": "soon", "latitude": 99})
        assert kind == "wrong_type"
        assert text == (
            "ArgumentTypeError: add_reminder: content must be string, not 3; "
            'reminder_timestamp must be number, not "soon"'
        )

    def test_then_the_tool_may_say_no(self) -> None:
        kind, text = fault("add_reminder", {"content": "x", "reminder_timestamp": NOW, "latitude": 99})
        assert kind == "execution"
        assert text.startswith("ValueError: `latitude` 99.0 is out of range")

    def test_then_it_works(self) -> None:
        outcome = Phone().call("add_reminder", {"content": "x", "reminder_timestamp": NOW, "latitude": 9})
        assert outcome.fault is None


class TestObjects:
    @each("arguments", [None, "", "{}", {}, " {} "])
    def test_nothing_is_no_arguments(self, arguments: object) -> None:
        assert Phone().call("get_wifi_status", arguments).result is True

    def test_text_is_read_as_json(self) -> None:
        outcome = Phone().call("set_wifi_status", '{"on": false}')
        assert (outcome.fault, outcome.arguments, outcome.raw_arguments) == (None, {"on": False}, None)

    @each(
        "arguments",
        ["{", "on=false", "[]", "null", "3", '"{}"', "{'on': false}", '{"on": NaN}', '{"on": Infinity}', "{}{}",
         "[" * 100_000, '{"a":' * 100_000, "9" * 10_000, [], 3, True, b"{}", {"on": float("nan")}, {"on": {1, 2}},
         {"on": object()}, {("a", "b"): 1}, {"\ud800": 1}, {"on": "\ud800"}, {"on": 10**5000}],
    )  # fmt: skip
    def test_whatever_else_is_no_object(self, arguments: object) -> None:
        outcome = Phone().call("set_wifi_status", arguments)
        assert outcome.fault is not None
        assert outcome.fault.kind == "invalid_format"
        assert outcome.arguments == {}
        assert outcome.raw_arguments
        assert len(outcome.fault.message) < 300

    def test_what_was_sent_is_kept_as_it_was(self) -> None:
        assert Phone().call("set_wifi_status", "on = false").raw_arguments == "on = false"

    def test_a_circle_is_no_object(self) -> None:
        circle: dict[str, Any] = {}
        circle["on"] = circle
        assert fault("set_wifi_status", circle)[0] == "invalid_format"

    @each("arguments", [{"content": "x" * 1_000_000}, '{"content": "' + "x" * 1_000_000 + '"}'])
    def test_a_megabyte_is_too_much_and_is_not_kept(self, arguments: object) -> None:
        outcome = Phone().call("search_messages", arguments)
        assert outcome.fault is not None
        assert f"of at most {MAX_ARGUMENT_CHARACTERS} characters" in outcome.fault.message
        assert len(outcome.raw_arguments or "") <= MAX_ARGUMENT_CHARACTERS + 3

    def test_as_much_as_is_allowed_is_allowed(self) -> None:
        room = MAX_ARGUMENT_CHARACTERS - len('{"content": ""}')
        assert Phone().call("search_messages", {"content": "x" * room}).fault is None
        assert Phone().call("search_messages", {"content": "x" * (room + 1)}).fault is not None

    @each(("depth", "kind"), [(MAX_DEPTH - 1, "wrong_type"), (MAX_DEPTH, "invalid_format")])
    def test_there_is_a_depth_beyond_which_logs_could_not_be_read(self, depth: int, kind: str) -> None:
        nested: Any = 1
        for _ in range(depth):
            nested = [nested]
        outcome = Phone().call("set_wifi_status", {"on": nested})
        assert outcome.fault is not None
        assert outcome.fault.kind == kind
        line = to_line(SessionStarted(session="s", scenario="x")) + to_line(as_event("set_wifi_status", outcome))
        assert len(parse_trajectory(line.encode()).events) == 1

    def test_the_unknown_tool_is_told_before_the_format(self) -> None:
        outcome = Phone().call("nothing", "{")
        assert outcome.fault is not None
        assert outcome.fault.kind == "unknown_tool"
        assert outcome.raw_arguments == "{"

    @each("name", ["", "\ud800", "x" * 100_000, "set_wifi_status ", "SET_WIFI_STATUS", "ünï"])
    def test_no_name_is_too_odd_to_be_refused(self, name: str) -> None:
        kind, text = fault(name, {})
        assert kind == "unknown_tool"
        assert text.encode()
        assert len(text) < 3000

    def test_the_users_tools_are_not_the_agents(self) -> None:
        assert fault("end_conversation", {})[0] == "unknown_tool"

    def test_a_tool_without_arguments_says_so(self) -> None:
        assert fault("get_wifi_status", {"on": True})[1].endswith('has no argument "on"; it takes no arguments')


class TestTypes:
    @each(
        ("kind", "right", "wrong"),
        [
            ("string", ["", "a", "3"], [3, True, None, ["a"], {}]),
            ("number", [3, 2.5, -1, 0, 1e300, 10**300], [True, False, "3", None, [3], 1e301, 10**301]),
            ("integer", [3, -1, 0, 3.0, -0.0, 1e20], [2.5, True, "3", None, 1e301]),
            ("boolean", [True, False], [1, 0, "true", None, 1.0]),
            ("null", [None], [0, "", False, "null", []]),
        ],
    )
    def test_each_type_by_example(self, kind: Any, right: list[Any], wrong: list[Any]) -> None:
        assert [value for value in right if not fits(value, (kind,))] == []
        assert [value for value in wrong if fits(value, (kind,))] == []

    @each("value", [float("nan"), float("inf"), float("-inf")])
    def test_what_is_no_number(self, value: float) -> None:
        assert not fits(value, ("number", "integer"))

    def test_a_boolean_is_no_number(self) -> None:
        assert fault("shift_timestamp", {"timestamp": True})[1].endswith("timestamp must be number, not true")
        assert fault("shift_timestamp", {"timestamp": NOW, "days": True})[1].endswith("days must be integer, not true")

    def test_a_number_is_no_boolean(self) -> None:
        assert fault("set_wifi_status", {"on": 0})[1].endswith("on must be boolean, not 0")

    @each(("days", "told"), [(10**301, "1" + "0" * 79 + "... (302 characters)"), (-(10**301), "-1"), (1e301, "1e+301")])
    def test_a_number_beyond_all_bounds_is_told_from_one_of_another_type(self, days: float, told: str) -> None:
        kind, text = fault("shift_timestamp", {"timestamp": NOW, "days": days})
        assert kind == "wrong_type"
        assert f"days must be integer from -1e+300 to 1e+300, not {told}" in text

    def test_a_number_without_a_fraction_is_an_integer(self) -> None:
        outcome = Phone().call("shift_timestamp", {"timestamp": NOW, "days": 1.0})
        assert outcome.result == NOW + 86400
        assert outcome.arguments == {"timestamp": NOW, "days": 1.0}, "the log keeps what was given"

    def test_a_number_with_a_fraction_is_none(self) -> None:
        assert fault("shift_timestamp", {"timestamp": NOW, "days": 1.5})[1].endswith("days must be integer, not 1.5")

    def test_null_is_a_value_only_where_the_schema_says_so(self) -> None:
        assert Phone().call("modify_reminder", {"reminder_id": "r-books", "latitude": None}).fault is None
        kind, text = fault("modify_reminder", {"reminder_id": None, "content": "x"})
        assert (kind, text) == (
            "wrong_type",
            "ArgumentTypeError: modify_reminder: reminder_id must be string, not null",
        )

    @each(("tool", "argument"), NEVER_NULL)
    def test_null_for_what_may_be_left_out_and_never_be_null_counts_as_not_given(
        self, tool: str, argument: str
    ) -> None:
        given = {item.name: sample(item) for item in phone.agent_tools[tool].parameters if item.required}
        assert bind(OFFERED, tool, {**given, argument: None}) == bind(OFFERED, tool, given)

    def test_either_of_two_types_is_told(self) -> None:
        text = fault("add_reminder", {"content": "x", "reminder_timestamp": NOW, "latitude": "north"})[1]
        assert text.endswith('latitude must be number or null, not "north"')

    def test_whole_numbers_are_numbers_and_the_other_way_round_however_deep(self) -> None:
        schema = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}
        found = converted({"a": [2.0, 3]}, schema)
        assert found == {"a": [2, 3]}
        assert [type(item) for item in found["a"]] == [int, int]

    def test_names_that_are_exchanged_for_each_other_are_told_once(self) -> None:
        shown = {"where": "argument_0", "argument_0": "argument_1", "on": "on"}
        assert speak("`where`, `argument_0` and `on`", shown) == "`argument_0`, `argument_1` and `on`"

    def test_a_long_value_is_cut(self) -> None:
        text = fault("set_wifi_status", {"on": "x" * 5000})[1]
        assert text.endswith("... (5002 characters)")
        assert len(text) < 200


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["+13125550142"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
odd_values = (
    json_values | st.binary(max_size=4) | st.sets(st.integers(), max_size=2) | st.text(st.characters(), max_size=4)
)
names = st.sampled_from([*OFFERED, "nothing"])


@st.composite
def guesses(draw: st.DrawFn) -> tuple[str, Any]:
    """A tool, with arguments that it takes but whose values are anybody's guess."""
    tool = draw(st.sampled_from(list(OFFERED)))
    known = [parameter.name for parameter in OFFERED[tool].parameters]
    near = st.sampled_from([NOW, 0, -1, 41.9, "Ann", "p-ann", "r-books", "+17735550113", True, None, 1e299, 10**40])
    chosen = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    return tool, {name: draw(near | odd_values) for name in chosen}


@given(names, odd_values | st.dictionaries(st.text(max_size=5), odd_values, max_size=3))
@example("set_wifi_status", {"on": "\udfff"})
@example("set_wifi_status", {1: 2})
def test_no_arguments_whatever_make_a_call_raise(name: str, arguments: object) -> None:
    check(name, Phone(), arguments)


@given(names, st.text() | json_values.map(lambda value: json.dumps(value)))
def test_no_text_whatever_makes_a_call_raise(name: str, text: str) -> None:
    check(name, Phone(), text)


@given(guesses())
def test_no_guess_whatever_makes_a_call_raise(guess: tuple[str, Any]) -> None:
    name, arguments = guess
    check(name, Phone(), arguments)


@given(guesses(), st.sets(st.sampled_from(sorted({argument for _, argument in NEVER_NULL}))))
def test_nulls_for_what_was_left_out_change_nothing(guess: tuple[str, Any], padded: set[str]) -> None:
    name, arguments = guess
    nulls = {argument: None for tool, argument in NEVER_NULL if tool == name and argument in padded - set(arguments)}
    plain = bind(OFFERED, name, arguments)
    assume(isinstance(plain, Bound) or plain.raw_arguments is None)  # what is not JSON is kept as it was
    assert repr(bind(OFFERED, name, {**arguments, **nulls})) == repr(plain)


def check(name: str, phone: Phone, arguments: object) -> None:
    """The call has an outcome that is either a result or a fault, and any log can hold it."""
    before = phone.world.snapshot
    outcome = phone.call(name, arguments)
    assert isinstance(outcome, Outcome)
    if outcome.fault is not None:
        assert outcome.fault.message
        assert (outcome.result, outcome.changes) == (None, ())
        assert phone.world.snapshot is before
    assert to_line(as_event(name, outcome)).encode()


def as_event(name: str, outcome: Outcome) -> ToolCall:
    fault = outcome.fault
    return ToolCall(
        seq=1,
        clock=NOW,
        call="c1",
        batch="b1",
        caller="agent",
        name=name,
        tool=outcome.tool.name if outcome.tool else None,
        arguments=outcome.arguments,
        raw_arguments=outcome.raw_arguments,
        result=outcome.result,
        error=CallError(kind=fault.kind, type=fault.type, message=fault.message) if fault else None,
        changes=outcome.changes,
    )


def test_every_tool_is_tried() -> None:
    assert set(OFFERED) == set(phone.agent_tools)


def nested(deep: int) -> list[Any]:
    """An empty list in as many others."""
    found: list[Any] = []
    for _ in range(deep):
        found = [found]
    return found


@each(
    ("given", "why"),
    [
        ({"on": float("nan")}, "JSON has neither NaN nor infinities"),
        ({"on": [{"deep": float("-inf")}]}, "JSON has neither NaN nor infinities"),
        ('{"on": NaN}', "JSON has neither NaN nor infinities"),
        ('{"on": 1e999}', "JSON has neither NaN nor infinities"),
        ({"on": "\ud800"}, "half of a surrogate pair is no text"),
        ({"\udfff": "x" * MAX_ARGUMENT_CHARACTERS, "on": {1}}, "half of a surrogate pair is no text"),
        ('{"on": "\\ud800"}', "half of a surrogate pair is no text"),
        ({"on": 10**4300}, "a whole number has at most 4300 digits"),
        ('{"on": ' + "1" * 4301 + "}", "a whole number has at most 4300 digits"),
        ({"on": nested(5000)}, "arguments are nested at most 100 deep"),
        ('{"on": ' + "[" * 101 + "]" * 101 + "}", "arguments are nested at most 100 deep"),
        ('{"on": ' + "[" * 50_000 + "]" * 50_000 + "}", "arguments are nested at most 100 deep"),
        ({"on": "x" * MAX_ARGUMENT_CHARACTERS}, "arguments are of at most 262144 characters"),
        ({"on": {1, 2}}, "JSON has no set"),
        ({"on": b"off"}, "JSON has no bytes"),
    ],
)
def test_why_arguments_are_no_json_is_told_at_the_end(given: object, why: str) -> None:
    kind, text = fault("set_wifi_status", given)
    assert kind == "invalid_format"
    assert text.startswith('ArgumentFormatError: the arguments of set_wifi_status must be one JSON object {"on": ')
    assert text.endswith(f"; {why}")


@each("given", ["{", "[1]", "off", 7, True, '{"on": false'])
def test_of_what_is_no_object_at_all_nothing_more_is_told(given: object) -> None:
    assert ";" not in fault("set_wifi_status", given)[1]
