"""Values in scenario files, and what they become.

Policy: a plain value is compared by the default measure of its column; a mapping with one known key names another.
A date and time without a zone is wall time in the scenario's zone; ``@table.label`` is the id of the row so labelled.
"""

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache
from typing import Any, cast

from sandbox_mcp.engine.world import to_timestamp
from sandbox_scenarios.errors import ValueProblemError
from sandbox_scenarios.facts import facts_of, keys_of, texts_of
from sandbox_scenarios.model import Expected, Fact, ValueConversion, ValueRef
from sandbox_scenarios.wordings import wordings

_NAMESPACE = uuid.UUID("6f1d3a52-7c1e-4b0e-9b57-2f3c8f0f6a11")
MEASURES = ("exact", "close", "contains", "one_of", "set", "rouge", "any", "facts", "from")
CONVERSIONS: tuple[ValueConversion, ...] = ("raw", "float", "int", "text")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_POSITION = re.compile(r"-?[0-9]{1,9}")
LABEL = re.compile(r"[^\W\d][\w-]*")
"""How the results of calls may be called that others refer to."""


@lru_cache(maxsize=65536)
def row_id(table: str, label: str, instance: str = "") -> str:
    """The id of the row that scenario files call ``label``: opaque to agents, the same in all sessions.

    It is ``uuid5`` of the label, written out: an object for each of a thousand rows costs more than the hash.
    """
    text = f"{table}/{label}@{instance}" if instance else f"{table}/{label}"
    made = hashlib.sha1(_NAMESPACE.bytes + text.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(made[16], 16) & 3]
    return f"{made[:8]}-{made[8:12]}-5{made[13:16]}-{variant}{made[17:20]}-{made[20:32]}"


@dataclass(frozen=True, slots=True)
class Resolver:
    """Turns what a file says into what it means, in one scenario's zone and with its labelled rows."""

    zone: str
    labels: Mapping[str, frozenset[str]]
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    instance: str = ""

    def plain(self, value: Any) -> Any:
        """A value with times as timestamps and ``@table.label`` as ids, also deep inside.

        Without rows in the scenario, as on a live server, nothing has a label, and ``@ann`` is the text that it is.

        Raises:
            ValueProblemError: it names a row that does not exist.
        """
        if isinstance(value, str):
            return self._labelled(value) if self.labels and value.startswith("@") else value
        if isinstance(value, datetime):
            return to_timestamp(value, self.zone)
        if isinstance(value, date):
            raise ValueProblemError(
                f"{value.isoformat()} is a date without a time; write it as text in quotes, or add a time"
            )
        if isinstance(value, list):
            return [self.plain(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in cast("dict[str, Any]", value).items()}
        return value

    def _labelled(self, text: str) -> str:
        table, _, label = text[1:].partition(".")
        known = self.labels.get(table)
        if known is None:
            raise ValueProblemError(f"{text!r} names no table; known: {', '.join(sorted(self.labels))}")
        if label not in known:
            raise ValueProblemError(
                f"{text!r} names no row of this scenario's world; known: {', '.join(sorted(known))}"
            )
        return self.row_id(table, label)

    def row_id(self, table: str, label: str) -> str:
        """The id of a labelled row in this instance."""
        return row_id(table, label, self.instance)

    def expected(self, value: Any) -> Expected:
        """Parse the expected value of a milestone, and its measure.

        Raises:
            ValueProblemError: the mapping does not name one known measure, or its parts do not fit.
        """
        if isinstance(value, list):
            told = "write one_of: [...] for one of several values, set: [...] for a list of these in any order"
            raise ValueProblemError(f"{value!r} is a list; {told}")
        if not isinstance(value, dict):
            return Expected(value=self.plain(value))
        parts = cast("dict[str, Any]", value)
        named = [key for key in parts if key in MEASURES]
        if len(named) != 1:
            raise ValueProblemError(
                f"expected a plain value or a mapping with one of {', '.join(MEASURES)}; found {keys_of(parts)}"
            )
        build = {"facts": self._facts, "from": self._reference}.get(named[0], self._measured)
        return build(named[0], parts)

    def _measured(self, measure: Any, parts: dict[str, Any]) -> Expected:
        allowed = {measure, "within"} if measure == "close" else {measure}
        _only(parts, allowed)
        target = self.plain(parts[measure])
        if measure == "any":
            return Expected(measure="any")
        if measure in ("one_of", "set"):
            if not isinstance(target, list) or (measure == "one_of" and not target):
                raise ValueProblemError(f"{measure} expects a list of values")
            return Expected(measure=measure, value=tuple(cast("list[Any]", target)))
        if measure == "close" and not _number(parts.get("within")):
            raise ValueProblemError("close also needs within, the tolerance as a number")
        if measure == "close" and not _number(target):
            raise ValueProblemError(f"close expects a number or a moment, not {target!r}")
        if measure in ("contains", "rouge") and not isinstance(target, str):
            raise ValueProblemError(f"{measure} expects text, not {target!r}")
        return Expected(measure=measure, value=target, within=parts.get("within"))

    def _facts(self, _: str, parts: dict[str, Any]) -> Expected:
        _only(parts, {"facts", "avoid", "denies", "values", "synonyms"})
        claims = self._claims(parts["facts"], "facts")
        denies = self._claims(parts.get("denies") or [], "denies")
        facts = tuple(wording for fact in claims for wording in wordings(fact))
        given: Any = parts.get("values") or {}
        if not isinstance(given, dict):
            raise ValueProblemError(f"values expects a mapping, not {given!r}")
        values = {name: _value_ref(item) for name, item in cast("dict[str, Any]", given).items()}
        avoid = _texts(parts.get("avoid") or [], "avoid")
        if not facts and not avoid and not denies:
            raise ValueProblemError("facts expects at least one fact, or something to avoid")
        denied = (wording for fact in denies for words in wordings(fact) for wording in words)
        _check_placeholders((*avoid, *denied, *(wording for fact in facts for wording in fact)), values)
        typed = claims if any(fact.type != "text" for fact in claims) else ()
        synonyms = tuple(_texts(item, "synonyms") for item in _list(parts.get("synonyms") or [], "synonyms"))
        if any(len(group) < 2 for group in synonyms):
            raise ValueProblemError("synonyms expects lists of words that may stand for each other")
        return Expected(
            measure="facts", value=facts, avoid=avoid, values=values, claims=typed, denies=denies, synonyms=synonyms
        )

    def _claims(self, items: Any, what: str) -> tuple[Fact, ...]:
        """The facts of a list, with ``table:label`` in the place of a name as the name of the row so labelled."""
        facts = [fact for item in _list(items, what) for fact in facts_of(item)]
        return tuple(
            replace(fact, value=tuple(map(self._name, fact.value))) if fact.type == "name" else fact for fact in facts
        )

    def _name(self, value: Any) -> Any:
        table, colon, label = str(value).partition(":")
        if not colon or table not in self.labels:
            return value
        known = self.names.get(table, {})
        if label not in known:
            raise ValueProblemError(f"{value!r} names no row with a name; known: {', '.join(sorted(known)) or 'none'}")
        return known[label]

    def _reference(self, _: str, parts: dict[str, Any]) -> Expected:
        measure = "close" if "within" in parts else None
        if measure and not _number(parts["within"]):
            raise ValueProblemError(f"within is the tolerance as a number, not {parts['within']!r}")
        ref = _value_ref({key: item for key, item in parts.items() if key != "within"})
        return Expected(measure=measure, within=parts.get("within"), ref=ref)


def _value_ref(value: Any) -> ValueRef:
    if not isinstance(value, dict):
        raise ValueProblemError(f"expected a mapping with from and perhaps path, source, to, decimals; found {value!r}")
    parts = cast("dict[str, Any]", value)
    decimals = _list(parts.get("decimals", []), "decimals")
    if not all(isinstance(item, int) and item >= 0 for item in decimals):
        raise ValueProblemError(f"decimals expects whole numbers from 0 up, not {decimals!r}")
    _only(parts, {"from", "path", "source", "to", "decimals"})
    source, to = parts.get("source", "result"), parts.get("to", "raw")
    if source not in ("result", "arguments"):
        raise ValueProblemError(f"source {source!r} is unknown; expected result or arguments")
    if to not in CONVERSIONS:
        raise ValueProblemError(f"to {to!r} is unknown; expected one of {', '.join(CONVERSIONS)}")
    if not isinstance(parts.get("from"), str):
        raise ValueProblemError("from expects the id of a milestone")
    return ValueRef(parts["from"], source, parse_path(parts.get("path", "")), to, tuple(decimals))


def parse_path(text: object) -> tuple[str | int, ...]:
    """``0.person_id`` as keys and positions; whole numbers are positions."""
    return tuple(int(part) if _POSITION.fullmatch(part) else part for part in str(text).split(".") if part)


def reference_in(text: str) -> str | None:
    """``label.path`` where the whole text is ``$label.path``; None for any other, such as "$20 each"."""
    label, _, _ = text[1:].partition(".")
    return text[1:] if text.startswith("$") and LABEL.fullmatch(label) else None


def _check_placeholders(texts: Sequence[str], values: Mapping[str, ValueRef]) -> None:
    used = {name for text in texts for name in _PLACEHOLDER.findall(text)}
    for name in sorted(used - set(values)):
        raise ValueProblemError(f"nothing in values is called {name!r}; known: {', '.join(values) or 'nothing'}")
    for name in sorted(set(values) - used):
        raise ValueProblemError(f"no text says where the value {name!r} goes; expected {{{name}}} in one of them")


def _texts(items: Any, what: str) -> tuple[str, ...]:
    return texts_of(_list(items, what), what)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueProblemError(f"{what} expects a list, not {value!r}")
    return cast("list[Any]", value)


def _only(parts: Mapping[str, Any], allowed: set[str]) -> None:
    extra = sorted(set(parts) - allowed)
    if extra:
        raise ValueProblemError(f"unknown key {', '.join(map(repr, extra))}; expected {', '.join(sorted(allowed))}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
