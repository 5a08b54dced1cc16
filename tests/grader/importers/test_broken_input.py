"""Whatever a file holds, an importer raises its one error or returns sessions that can be written and read again."""

import copy
import gzip
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox_grader.errors import ImportFormatError

from sandbox_mcp.engine.trajectory import Event, Message, ToolCall
from tests.each import each
from tests.grader.importers.samples import SAMPLES, encoded, read, read_bytes
from tests.laws import at_least

FORMATS = sorted(SAMPLES)
FUZZ = settings(max_examples=at_least(20), deadline=None, suppress_health_check=list(HealthCheck))

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
words = """
    role content type id name arguments messages tool_calls error params result method input output items data text
    tool_use tool_result assistant user system tool function_call call_id samples events tasks simulations steps
    source agent schema_version resourceSpans spanId attributes uuid parentUuid message timestamp traj task_id
"""
names = st.sampled_from(sorted(words.split()))
values = st.recursive(
    scalars | names,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | st.text(max_size=6), inner, max_size=5),
    max_leaves=20,
)


def survives(format_: str, data: bytes) -> None:
    """Read the bytes; only the importers' own error may come out, and it names the file."""
    error = failure(format_, data)
    if error is not None:
        assert error.path in str(error)
        assert error.problem
        assert "\n" not in error.problem


def failure(format_: str, data: bytes) -> ImportFormatError | None:
    try:
        read_bytes(format_, data)
    except ImportFormatError as error:
        return error
    return None


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at] + [path for key, item in inner for path in places(item, (*at, key))]


def changed(value: Any, path: tuple[Any, ...], how: str, new: Any) -> Any:
    """A copy of a value in which the one at ``path`` was replaced, deleted or repeated."""
    if not path:
        return new
    result = copy.deepcopy(value)
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    if how == "delete":
        del holder[path[-1]]
    elif how == "repeat" and isinstance(holder, list):
        holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
    else:
        holder[path[-1]] = new
    return result


@pytest.mark.parametrize("format_", FORMATS)
@FUZZ
@given(value=values, lines=st.booleans())
def test_any_json_value(format_, value, lines):
    survives(
        format_, encoded("x.jsonl", value if isinstance(value, list) else [value]) if lines else encoded("", value)
    )


@pytest.mark.parametrize("format_", FORMATS)
@FUZZ
@given(data=st.data())
def test_a_valid_log_with_one_to_three_values_changed(format_, data):
    name, value = SAMPLES[format_]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(value)))
        how = data.draw(st.sampled_from(("replace", "delete", "repeat")))
        value = changed(value, path, how, data.draw(values))
    survives(format_, encoded(name, value if isinstance(value, list) or name.endswith("json") else [value]))


@pytest.mark.parametrize("format_", FORMATS)
@FUZZ
@given(data=st.data())
def test_a_valid_log_cut_off_anywhere(format_, data):
    whole = encoded(*SAMPLES[format_])
    survives(format_, whole[: data.draw(st.integers(0, len(whole) - 1))])


@pytest.mark.parametrize("format_", FORMATS)
@FUZZ
@given(data=st.data())
def test_a_valid_log_with_bytes_overwritten(format_, data):
    whole = bytearray(encoded(*SAMPLES[format_]))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    survives(format_, bytes(whole))


@pytest.mark.parametrize("format_", FORMATS)
@FUZZ
@given(data=st.binary(max_size=200))
def test_any_bytes(format_, data):
    survives(format_, data)


@each("format_", FORMATS)
def test_a_valid_log_is_read(format_):
    name, value = SAMPLES[format_]
    assert read(format_, value, name)


@each("format_", FORMATS)
@each(
    "text",
    ["", "null", "[]", "{}", "[[]]", "[null]", "[{}]", "0", '"x"', "nonsense", "[" * 5000, "\ufeff[]", "9" * 5000],
    ids=range(13),
)
def test_a_file_of_another_form_is_refused_with_its_path(format_, text):
    error = failure(format_, text.encode())
    if error is None:
        # An empty list of runs is a run of nothing, which only the formats that hold many sessions can say.
        assert format_ in {"tau-bench", "atif"}
        assert "[]" in text
    else:
        assert "log.json" in str(error)


@each("format_", FORMATS)
def test_a_broken_document_is_refused_with_its_line(format_):
    name, value = SAMPLES[format_]
    if name.endswith(".jsonl"):
        data = encoded(name, value).replace(b"\n", b"\n{broken\n", 1)
        line = 2
    else:
        data = json.dumps(value, indent=1).encode() + b"}"
        line = data.count(b"\n") + 1
    with pytest.raises(ImportFormatError) as caught:
        read_bytes(format_, data, name)
    assert caught.value.line == line
    assert f"{name}:{line}: is not JSON" in str(caught.value)


@each("format_", FORMATS)
def test_bytes_that_are_no_utf_8_are_refused(format_):
    with pytest.raises(ImportFormatError, match="is not UTF-8"):
        read_bytes(format_, b'"\xff"\n')


@each("format_", FORMATS)
def test_a_missing_file_is_refused(format_, tmp_path):
    from sandbox_grader.importers import importer

    with pytest.raises(ImportFormatError, match="cannot be read: No such file"):
        list(importer(format_)([tmp_path / "none.json"]))


@each("format_", FORMATS)
def test_numbers_beyond_json_and_broken_characters_are_replaced(format_):
    name, value = SAMPLES[format_]
    data = encoded(name, value).replace(b"X1", b"X\\ud800").replace(b"0.1", b"NaN")
    assert read_bytes(format_, data, name)


@each("format_", FORMATS)
def test_no_files_are_no_sessions(format_):
    from sandbox_grader.importers import importer

    assert list(importer(format_)([])) == []


@each("format_", FORMATS)
def test_a_file_that_was_written_twice_gives_twice_as_much_or_says_what_it_leaves_out(format_: str) -> None:
    name, value = SAMPLES[format_]
    if name.endswith(".jsonl"):  # every line with its ids once more, but saying something else
        changed = json.loads(json.dumps(value).replace("Where", "When").replace("find", "seek"))
        data = encoded(name, value) + encoded(name, changed)
    else:
        data = encoded(name, value) + b"\n" + encoded(name, value)
    once = read_bytes(format_, encoded(name, value))
    try:
        twice = read_bytes(format_, data)
    except ImportFormatError:
        return
    losses = [sum(len(session.losses) for session in sessions) for sessions in (once, twice)]
    steps = [sum(is_step(event) for session in sessions for event in session.events) for sessions in (once, twice)]
    assert losses[1] > losses[0] or steps[1] >= 2 * steps[0], (losses, steps)


def is_step(event: Event) -> bool:
    return isinstance(event, ToolCall) or (isinstance(event, Message) and event.sender in ("user", "agent"))


def test_a_number_too_long_for_python_is_told_without_pythons_remedy() -> None:
    error = failure("openai-chat", b'{"messages": ' + b"9" * 5000 + b"}")
    assert error is not None
    assert "4300 digits" in str(error)
    assert "sys." not in str(error)


@each("format_", [name for name in FORMATS if name != "toolsandbox-results"])
def test_a_file_may_be_packed_by_gzip_or_be_utf_16(format_: str) -> None:
    name, value = SAMPLES[format_]
    plain = encoded(name, value)
    told = [session.events[1:] for session in read_bytes(format_, plain, name)]
    for data in (gzip.compress(plain), plain.decode().encode("utf-16"), b"\xef\xbb\xbf" + plain):
        for called in (name, f"{name}.gz"):
            assert [session.events[1:] for session in read_bytes(format_, data, called)] == told


@each(
    ("data", "told"),
    [
        (gzip.compress(b"[]")[:-9], "is damaged and cannot be unpacked by gzip"),
        (b"PK\x03\x04...", "is a zip archive; unpack it first"),
        (b"\x28\xb5\x2f\xfd...", "is a Zstandard file; unpack it first"),
        (b"\xff\xfe\x00\xd8", "begins as UTF-16 and cannot be read as that"),
        (b'["\xe9"]', "is not UTF-8 (byte 0xe9); save it as UTF-8"),
    ],
)
def test_a_file_that_is_packed_or_written_otherwise_is_told_what_to_do(data: bytes, told: str) -> None:
    error = failure("openai-chat", data)
    assert error is not None
    assert told in error.problem
