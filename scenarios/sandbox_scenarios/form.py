"""Whether a parsed file has the form of a scenario file, and in plain words its faults where it has not.

Policy: all that was read of a file is checked before anything of it is merged, so that a fault is told where it stands.
What is sound beside a fault can still be read, so that whoever mends a file sees everything to be mended.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.merge import merge
from sandbox_scenarios.problem import PartPath, closest
from sandbox_scenarios.schema import RawFile
from sandbox_scenarios.yaml_lines import Lines

MOST_SHOWN = 200
"""Characters of a value that a message shows."""
_WORDS = {
    "missing": "is missing",
    "model_type": "expected a mapping, not {input!r}",
    "dict_type": "expected a mapping, not {input!r}",
    "list_type": "expected a list, not {input!r}",
    "string_type": "expected text, not {input!r}",
    "bool_type": "expected true or false, not {input!r}",
    "bool_parsing": "expected true or false, not {input!r}",
    "int_type": "expected a whole number, not {input!r}",
    "int_parsing": "expected a whole number, not {input!r}",
    "int_from_float": "expected a whole number, not {input!r}",
    "float_type": "expected a number, not {input!r}",
    "float_parsing": "expected a number, not {input!r}",
    "too_short": "expected at least {min_length} item",
    "greater_than": "expected more than {gt}, not {input!r}",
    "greater_than_equal": "expected at least {ge}, not {input!r}",
    "literal_error": "expected {expected}, not {input!r}",
    "string_pattern_mismatch": "expected lower-case letters, digits and _ only, a letter first, not {input!r}",
}
"""What to say for each type of fault that pydantic finds here."""
_LEANED_ON = frozenset({"name", "extends", "world", "state"})
"""What other parts of an entry cannot be read without."""
_UNREAD = MappingProxyType(
    {
        "milestones": {"id": "unread"},
        "minefields": {"id": "unread"},
        "reference": {"turns": [{"reply": "unread"}]},
    }
)
"""What stands for an item of a list whose form is wrong."""


def validate(data: Any, path: str, lines: Lines) -> list[dict[str, Any]]:
    """The entries of a file as they would be with nothing to extend; a file of another form is refused.

    Raises:
        ScenarioFileError: with the line of each fault.
    """
    alone = _alone(data)
    try:
        RawFile.model_validate(alone)
    except ValidationError as error:
        faults: list[ScenarioFileError] = []
        for fault in _told(cast("Sequence[Mapping[str, Any]]", error.errors(include_url=False))):
            where: list[str | int] = [part for part in fault["loc"] if not _is_tag(part)]
            name: Any = None
            if len(where) > 1 and where[0] == "scenarios" and isinstance(number := where[1], int):
                entry = data["scenarios"][number]
                name = cast("dict[str, Any]", entry).get("name") if isinstance(entry, dict) else None
            told = [f"scenario {name!r}"] if isinstance(name, str) and name else []
            parts = [str(part) for part in (where[2:] if told else where)]
            if fault["type"] == "extra_forbidden":
                key = parts.pop()
                hint = "" if key.endswith("+") else f"; {closest(key, _keys_at(where[:-1]))}"
                text = f"unknown key {key!r}{hint}"
            else:
                words = _WORDS.get(fault["type"], str(fault["msg"]))
                text = words.format(**fault.get("ctx", {}), input=_Shown(fault["input"]))
                if not where and isinstance(fault["input"], list):
                    text = "the file is a list; put its entries under 'scenarios:'"
            problem = ": ".join(filter(None, (*told, ".".join(parts), text)))
            faults.append(ScenarioFileError(path, lines.of(where), problem))
        raise ScenarioFileError.together(faults) from error
    return alone["scenarios"]


def _keys_at(where: Sequence[str | int]) -> list[str]:
    """The keys that a mapping at a place of a file may have, in whatever form it may take there."""
    hints: list[Any] = [RawFile]
    for part in where:
        hints = [inner for hint in hints for form in _forms(hint) for inner in _inside(form, part)]
    models = (form for hint in hints for form in _forms(hint) if _is_model(form))
    return list(dict.fromkeys(key for model in models for key in _fields(model)))


def _forms(hint: Any) -> Iterator[Any]:
    """Forms that an annotation allows, one by one."""
    if get_origin(hint) is Annotated:
        yield from _forms(get_args(hint)[0])
    elif get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            yield from _forms(option)
    else:
        yield hint


def _inside(form: Any, part: str | int) -> Iterator[Any]:
    """The annotation of what stands at a key or position of a value of this form, if something may."""
    if _is_model(form):
        yield from (hint for key, hint in _fields(form).items() if key == part)
    elif get_origin(form) in (list, dict):
        yield get_args(form)[-1]


def _is_model(form: Any) -> bool:
    return isinstance(form, type) and issubclass(form, BaseModel)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def leave_out_faults(data: Any) -> dict[int, set[PartPath]]:
    """Remove the parts of a parsed file that have the wrong form; returns them by the numbers of their entries.

    Parts are named by the keys and positions that lead to them in their entry. An entry with nothing left to be
    read, because its world or what it extends has a fault, has the empty path, and is abstract from now on.
    """
    out: dict[int, set[PartPath]] = {}
    try:
        RawFile.model_validate(_alone(data))
    except ValidationError as error:
        file: dict[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        for place in [fault["loc"] for fault in error.errors(include_url=False)]:
            if len(place) == 1 and place[0] != "scenarios":
                file.pop(str(place[0]), None)
                file["family"] = "unread"
            elif len(place) > 1 and isinstance(number := place[1], int):
                out.setdefault(number, set()).add(_left_out(file["scenarios"], number, place[2:]))
    return out


def _left_out(entries: list[Any], number: int, part: PartPath) -> PartPath:
    """Take a part out of an entry, or one item of it where that can be done without moving the others."""
    entry = entries[number]
    key = str(part[0]) if part else ""
    written = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    if not key or key in _LEANED_ON:
        named = key != "name" and isinstance(written.get("name"), str)
        entries[number] = {"name": written["name"] if named else f"unread_{number}", "abstract": True}
        return ()
    listed: Any = written.get(key)
    apart = key in _UNREAD and isinstance(listed, list)
    if apart and len(part) > 1 and isinstance(part[1], int):
        listed[part[1]] = _UNREAD[key]
        return part[:2]
    for name in (key, f"{key}+"):
        written.pop(name, None)
    return (key,)


def _alone(data: Any) -> Any:
    """The file as it would be with nothing to extend, so that ``tools+`` is seen as ``tools``."""
    file: dict[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    entries = file.get("scenarios")
    if not isinstance(entries, list):
        return cast("Any", data)
    listed = cast("list[Any]", entries)
    plain = [merge({}, cast("dict[str, Any]", item)) if isinstance(item, dict) else item for item in listed]
    return {**file, "scenarios": plain}


def _telling(faults: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The first fault, or what explains it: a misspelt key rather than the missing one, of two forms the nearer."""
    first = faults[0]["loc"]
    place = next((index for index, part in enumerate(first) if _is_tag(part)), len(first) - 1)
    same = [fault for fault in faults if fault["loc"][:place] == first[:place]]
    return max(same, key=lambda fault: (len(fault["loc"]), fault["type"] == "extra_forbidden"))


def _told(faults: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The faults that a reader has to mend, the most telling first.

    Of a place that fits none of several forms one fault is told, and a key is not said to be missing where another is
    misspelt.
    """
    told: dict[PartPath, Mapping[str, Any]] = {}
    misspelt = {fault["loc"][:-1] for fault in faults if fault["type"] == "extra_forbidden"}
    first = _telling(faults)
    for fault in (first, *faults):
        loc = fault["loc"]
        tag = next((index for index, part in enumerate(loc) if _is_tag(part)), None)
        if fault["type"] == "missing" and loc[:-1] in misspelt:
            continue
        if tag is None:
            told.setdefault(loc, fault)
        elif loc[:tag] not in told:
            told[loc[:tag]] = _telling([item for item in faults if item["loc"][:tag] == loc[:tag]])
    return list(told.values())


def _is_tag(part: str | int) -> bool:
    """True if part of a fault's place is pydantic's name for a form, not something that stands in the file."""
    return isinstance(part, str) and (part.startswith("Raw") or "[" in part or part == "str")


@dataclass(frozen=True, slots=True)
class _Shown:
    """A value as it is shown in a message: of a long one the beginning."""

    value: object

    def __repr__(self) -> str:
        text = repr(self.value)
        return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
