"""Files as they could be, not as they should be: sound ones in which something was changed, at any depth."""

import copy
import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.laws import at_least

BOUNDED = settings(max_examples=at_least(12), deadline=None, suppress_health_check=list(HealthCheck))

ODD_TEXTS = st.sampled_from(
    [
        "",
        " ",
        "\x00",
        "\x1b[2J",
        "\ud800",
        "é" * 300,
        "{" * 500,
        '{"a":',
        "None",
        "1e999",
        "-0",
        "../../x",
        "=1+1",
        "###",
    ]
)
KEYS = st.sampled_from(["type", "role", "content", "id", "name", "arguments"]) | st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD_TEXTS | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value inside a value."""
    found = [path]
    if isinstance(value, dict):
        found += [place for key, item in value.items() for place in places(item, (*path, key))]
    elif isinstance(value, list):
        found += [place for index, item in enumerate(value) for place in places(item, (*path, index))]
    return found


@st.composite
def changed(draw: st.DrawFn, sample: Any) -> Any:
    """A value in which up to four things were replaced, taken away or doubled."""
    value = copy.deepcopy(sample)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(places(value)))
        if not path:
            value = draw(VALUES)
            continue
        home = value
        for step in path[:-1]:
            home = home[step]
        deed = draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        if deed == "replace":
            home[path[-1]] = draw(VALUES)
        elif deed == "remove":
            del home[path[-1]]
        elif isinstance(home, list):
            home.insert(path[-1], copy.deepcopy(home[path[-1]]))
    return value


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes of which some were changed, and the end cut off."""
    broken = bytearray(data)
    for _ in range(draw(st.integers(0, 5)) if broken else 0):
        broken[draw(st.integers(0, len(broken) - 1))] = draw(st.integers(0, 255))
    return bytes(broken[: draw(st.integers(0, len(broken)))])


def written(name: str, value: Any) -> bytes:
    """A value as a file of that name, whatever it has become; halves of surrogate pairs are written as escapes."""
    lines = value if name.endswith(".jsonl") and isinstance(value, list) else [value]
    return "\n".join(json.dumps(line) for line in lines).encode()
