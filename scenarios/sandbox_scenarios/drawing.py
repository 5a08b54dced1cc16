"""An instance of a scenario: other people, numbers, words, days and telephone numbers, replaced together.

Policy: a value is replaced wherever it stands in the merged entry (rows, brief, script, solutions and milestones), so
that the story stays true. The choices are declared under ``draws``; days (see :mod:`sandbox_scenarios.dates`),
telephone numbers and ids need no declaration. Nothing drawn stands in the scenario already, and no two things
become the same.

Where replaced values stand is worked out once per scenario; an instance then costs as much as what changes in it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from random import Random
from typing import Any, cast

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world.fixed import Renamed, renamed
from sandbox_scenarios.dates import DATED, Dates, Moved
from sandbox_scenarios.homes import is_named
from sandbox_scenarios.pools import POOLS
from sandbox_scenarios.problem import ProblemError

KEPT = "same"
"""As the kind of a literal: it stays, though a base draws it. ``dates: years`` keeps all of days but their years."""
TOGETHER = "|"
"""Parts what is drawn together: ``four|240: [five|300, six|360]``."""
CLASSES = ("dates", "phones", "names")
"""What is drawn without a declaration, and can be kept by naming it."""
_PARTS = ("about", "clock", "user", "reference", "milestones", "minefields", "end_states", "events", "original")
_NAMING = frozenset({"id", "after", "tool", "tools", "as", "since", "table", "act", "sender", "recipient", "deed"})
_INSIDE = frozenset({"arguments", "is", "adds", "updates", "removes"})
"""Below these keys the keys are those of columns and arguments."""
_REFERENCE = re.compile(r"@[a-z_]+\.[\w-]+|\$[A-Za-z][\w-]*(\.[\w.-]+)?|[a-z_]+:[A-Za-z][\w-]*")
_FILLED = re.compile(r"\$\{[^{}]*\}")
_NOUN = 4
_NUMERAL = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|\w*hundred|more)\b"
)
_DRAWN = 3
"""How many digits of a telephone number are drawn."""
_DAY = re.compile(r"(?:(?:\d{4}-)?\d\d-)?\d\d")
_DIGITS = r"(?P<phone>(?<![\w.])\+?\(?\d[\d ().\-]{5,20}\d(?![\w]))"
_MOMENT = r"(?P<moment>(?<![\w.])[123]\d{9}(?![\w]))"

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Values:
    """What one instance has in the place of the written words."""

    words: Mapping[str, str]
    phones: Mapping[str, str]
    moved: Moved
    fixed: Renamed


_Part = str | Callable[[_Values], str]


@dataclass(frozen=True, slots=True)
class _Template:
    """A text with its replacements."""

    parts: tuple[_Part, ...]

    def __call__(self, values: _Values) -> str:
        return "".join([part if isinstance(part, str) else part(values) for part in self.parts])


class Draws:
    """What can be drawn in one scenario, and where it stands."""

    def __init__(self, merged: Mapping[str, Any], home: World) -> None:
        """Find everything replaced.

        Raises:
            ProblemError: a kind is unknown.
        """
        self._merged = merged
        given = cast("dict[Any, Any]", merged.get("draws") or {})
        self._declared = {
            str(literal): kind for literal, kind in given.items() if literal not in CLASSES and kind != KEPT
        }
        for literal, kind in self._declared.items():
            _check_kind(literal, kind)
        kept = {name for name in CLASSES if given.get(name) == KEPT}
        leaves = list(self._leaves())
        texts = [leaf for _, leaf in leaves if isinstance(leaf, str)]
        self._text = "\n".join(texts)
        self._taken = {word for text in texts for word in re.findall(r"\w+", text)}
        self._fitting: dict[str, dict[str, bool]] = {}
        self._fixed = tuple(schema for schema in home.tables.values() if schema.fixed)
        history = len(self._fixed) == len(home.tables)  # where nothing changes, days are those of what is looked up
        self._dates = None if history or "dates" in kept else self._days(leaves)
        self._phones = () if "phones" in kept else tuple(dict.fromkeys(self._numbers(leaves)))
        self._forms = {
            form: whole for whole in self._declared for part in whole.split(TOGETHER) for form in _forms_of(part)
        }
        self._facts = self._drawn_days()
        known = renamed(self._fixed, "")
        self._known = frozenset((*known.ids, *known.names, *known.parts))
        self._folded = {text.casefold(): text for text in (*known.parts, *known.names, *known.ids)}
        self._pattern = self._compiled()
        self._tree = _tree(self._slots(leaves))

    def _leaves(self) -> Iterator[tuple[Path, Any]]:
        world = self._merged.get("world")
        place = "world" if world and not is_named(world) else "state"
        yield from _walk(self._merged.get(place), (place,), rows=True)
        for part in _PARTS:
            if part in self._merged:
                told = self._merged[part]
                if part == "user" and isinstance(told, dict):  # the demonstration is another conversation
                    told = {key: value for key, value in cast("dict[str, Any]", told).items() if key != "demonstration"}
                yield from _walk(told, (part,))

    def _days(self, leaves: Sequence[tuple[Path, Any]]) -> Dates | None:
        clock = cast("dict[str, Any]", self._merged.get("clock") or {})
        if not isinstance(now := clock.get("now"), datetime):
            return None
        moments = [leaf for _, leaf in leaves if isinstance(leaf, datetime)]
        draws = cast("dict[str, Any]", self._merged.get("draws") or {})
        return Dates(now, str(clock.get("zone") or "UTC"), moments, years_only=draws.get("dates") == "years")

    def _drawn_days(self) -> dict[str, Callable[[Moved], str]]:
        """How the days among what may be drawn are written once the days of an instance have moved."""
        found: dict[str, Callable[[Moved], str]] = {}
        parts = (
            (kind, at, part) for all_, kind in self._declared.items() for at, part in enumerate(all_.split(TOGETHER))
        )
        for kind, at, part in parts:
            if not self._dates or not _is_day(part):
                continue
            for day in [str(option).split(TOGETHER)[at] for option in _options(kind)]:
                written = re.fullmatch(DATED, day)
                read = self._dates.rewritten(str(written.lastgroup), day) if written else self._dates.fact(day)
                if read is not None:
                    found[day] = read
        return found

    @staticmethod
    def _numbers(leaves: Sequence[tuple[Path, Any]]) -> Iterator[str]:
        """The digits of every telephone number written as one."""
        for path, leaf in leaves:
            if isinstance(leaf, str) and "phone" in str(path[-1]) and re.fullmatch(r"\+?[\d ().-]{7,20}", leaf):
                yield re.sub(r"\D", "", leaf)

    def _compiled(self) -> re.Pattern[str]:
        literals = "|".join(re.escape(form) for form in sorted(self._forms, key=len, reverse=True))
        words = [rf"(?P<word>(?<!\w)(?:{literals})(?!\w))"] if literals else []
        single = (literal for literal in self._declared if " " not in literal and TOGETHER not in literal)
        lower = {literal.lower(): literal for literal in single if literal[:1].isupper()}
        several = [f"{literal}s" for literal in lower.values() if f"{literal}s" not in self._forms]
        if several:
            words.append(rf"(?P<several>(?<!\w)(?:{'|'.join(map(re.escape, several))})(?!\w))")
        self._addressed = {text: literal for text, literal in lower.items() if text not in self._forms}
        if self._addressed:
            names = "|".join(map(re.escape, sorted(self._addressed, key=len, reverse=True)))
            words.append(rf"(?P<address>(?<!\w)(?:{names})(?=[.@_])|(?<=[.@_])(?:{names})(?![^\W_]))")
        dialled = [_DIGITS] if self._phones else []
        dates = [_MOMENT, DATED] if self._dates else []
        named = "|".join(re.escape(text) for text in sorted(self._known, key=len, reverse=True))
        ids = [rf"(?P<known>(?<![\w@])(?:{named})(?!\w))"] if named else []
        return re.compile("|".join([*words, *ids, *dates, *dialled]) or r"(?!)")

    def _slots(self, leaves: Sequence[tuple[Path, Any]]) -> Iterator[tuple[Path, Callable[[_Values], Any]]]:
        for path, leaf in leaves:
            if (slot := self._slot(path, leaf)) is not None:
                yield path, slot
        user = cast("dict[str, Any]", self._merged.get("user") or {})
        for path, leaf in _walk(user.get("demonstration"), ("user", "demonstration")):
            if isinstance(leaf, str) and (told := self._template(leaf, names_only=True)) is not None:
                yield path, told
        if self._dates:
            for path, parts in self._numbered():
                for name, moved in self._dates.numbers(parts).items():
                    yield (*path, name), lambda values, moved=moved: moved(values.moved)

    def _numbered(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The arguments of calls that name a day by its numbers."""

        def within(value: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
            if isinstance(value, dict):
                if isinstance(cast("dict[str, Any]", value).get("day"), int):
                    yield path, cast("dict[str, Any]", value)
                for key, inner in cast("dict[str, Any]", value).items():
                    yield from within(inner, (*path, key))
            elif isinstance(value, list):
                for index, inner in enumerate(cast("list[Any]", value)):
                    yield from within(inner, (*path, index))

        for part in ("reference", "milestones", "minefields"):
            yield from within(self._merged.get(part), (part,))

    def _slot(self, path: Path, leaf: Any) -> Callable[[_Values], Any] | None:
        if isinstance(leaf, bool):
            return None
        if isinstance(leaf, date):
            return self._of_moment(leaf)
        if isinstance(leaf, int | float):
            return self._of_number(leaf)
        if self._dates and path[-2:] == ("month", "contains") and (part := self._dates.part_of_month(leaf)):
            return lambda values: part(values.moved)
        if "contains" in path and leaf not in self._forms and (known := self._meant(leaf)) is not None:
            return lambda values: values.fixed.of(known).casefold()
        days = self._dates if leaf not in self._forms else None
        if days and "date" in path and _DAY.fullmatch(leaf) and (fact := days.fact(leaf)):
            return lambda values: fact(values.moved)
        return self._template(leaf)

    def _of_moment(self, leaf: date) -> Callable[[_Values], date] | None:
        if str(leaf) in self._forms:
            kind = type(leaf)
            return lambda values: kind.fromisoformat(values.words[str(leaf)]) + timedelta(days=values.moved.days)
        return (lambda values: leaf + timedelta(days=values.moved.days)) if self._dates else None

    def _of_number(self, leaf: float) -> Callable[[_Values], float] | None:
        near = self._dates is not None and self._dates.is_near(leaf)
        if str(leaf) in self._known:
            return lambda values: int(values.fixed.of(str(leaf)))
        if str(leaf) in self._forms:
            kind = type(leaf)
            return lambda values: kind(values.words[str(leaf)]) + near * values.moved.days * 86400
        if near:
            return lambda values: leaf + values.moved.days * 86400
        if self._dates and isinstance(leaf, int) and (year := self._dates.rewritten("year", str(leaf))):
            return lambda values: int(year(values.moved))
        return None

    def _meant(self, part: str) -> str | None:
        """The id or name of a fixed table whose part in small letters a milestone asks for."""
        if part in self._folded:
            return self._folded[part]
        fits = [name for folded, name in self._folded.items() if part in folded and name in self._text]
        return fits[0] if len(fits) == 1 else None

    def _template(self, text: str, *, names_only: bool = False) -> _Template | None:
        """A text with everything replaced in it; of a demonstration, which has days of its own, names and numbers."""
        if _REFERENCE.fullmatch(text):
            return None
        filled = [found.span() for found in _FILLED.finditer(text)]
        parts, end = list[_Part](), 0
        for found in self._pattern.finditer(text):
            if any(first < found.end() and found.start() < last for first, last in filled):
                continue
            named = found.lastgroup in ("address", "phone") or found[0][0].isupper() or _is_thing(found[0])
            part = self._part(found) if named or not names_only else None
            if part is not None and not (
                names_only and found.lastgroup in ("dm", "md", "month", "range", "iso", "year")
            ):
                parts += [text[end : found.start()], part]
                end = found.end()
        return _Template((*parts, text[end:])) if parts else None

    def _part(self, found: re.Match[str]) -> Callable[[_Values], str] | None:
        text, kind = found[0], found.lastgroup
        if kind == "word":
            return self._word(text)
        if kind == "several":  # as in "my two Marias"
            return lambda values: _several(values.words[text[:-1]])
        if kind == "address":
            return lambda values: values.words[self._addressed[text]].lower()
        if kind == "known":
            return lambda values: values.fixed.of(text)
        if kind == "moment":
            near = self._dates is not None and self._dates.is_near(int(text))
            return (lambda values: str(int(text) + values.moved.days * 86400)) if near else None
        if kind != "phone" and self._dates and kind is not None:
            day = self._dates.rewritten(kind, text)
            return None if day is None else lambda values: day(values.moved)
        digits = re.sub(r"\D", "", text)
        whole = next((item for item in self._phones if item.endswith(digits[-7:])), None) if len(digits) > 6 else None
        return None if whole is None else lambda values: _dialled(text, values.phones[whole])

    def _word(self, text: str) -> Callable[[_Values], str]:
        """What is drawn for a literal; days and moments among it move with those of the instance."""
        if self._dates and re.fullmatch(_MOMENT, text) and self._dates.is_near(int(text)):
            return lambda values: str(int(values.words[text]) + values.moved.days * 86400)
        if not (self._facts and _is_day(text)):
            return lambda values: values.words[text]
        return lambda values: day(values.moved) if (day := self._facts.get(values.words[text])) else values.words[text]

    def _values(self, name: str, label: str) -> _Values:
        random = Random(f"{name}/{label}")  # noqa: S311  (to be drawn again)
        moved = self._dates.drawn(random) if self._dates else Moved()
        used = set[str]()
        words: dict[str, str] = {}
        fixed = renamed(self._fixed, label)
        for literal, kind in self._declared.items():
            drawn = self._drawn(literal, kind, random, used)
            parts = drawn.split(TOGETHER)
            for old, new in zip(literal.split(TOGETHER), parts, strict=True):
                words |= dict(zip(_forms_of(old), _forms_of(_renamed(new, parts, fixed)), strict=True))
        return _Values(words, self._dialled(random), moved, fixed)

    def words(self, name: str, label: str) -> Mapping[str, str]:
        """Every literal that an instance replaces, and what stands there instead. Raises like :meth:`merged`."""
        drawn = self._values(name, label).words
        literals = [part for literal in self._declared for part in literal.split(TOGETHER)]
        return {literal: drawn[literal] for literal in literals}

    def merged(self, name: str, label: str) -> dict[str, Any]:
        """The entry of an instance.

        Raises:
            ProblemError: whatever may be drawn for a literal stands in the scenario already.
        """
        values = self._values(name, label)
        rest = {key: value for key, value in self._merged.items() if key not in ("draws", "choose")}
        return cast("dict[str, Any]", _rebuilt(rest, self._tree, values))

    def _drawn(self, literal: str, kind: Any, random: Random, used: set[str]) -> str:
        options, fitting = _options(kind), self._fitting.setdefault(literal, {})
        for _ in range(200):
            drawn = str(random.choice(options))
            if drawn not in used:
                if drawn not in fitting:
                    fitting[drawn] = not self._stands(drawn, literal)
                if fitting[drawn]:
                    used.add(drawn)
                    return drawn
        raise ProblemError(("draws", literal), f"whatever may be drawn for {literal!r} stands in the scenario already")

    def _stands(self, drawn: str, literal: str) -> bool:
        """Tell whether a word of a draw stands in the scenario; of what belongs together, all of the first part.

        Whoever lists what belongs together has seen its smaller words.
        """
        if TOGETHER not in literal:
            return bool(self._taken.intersection(re.findall(r"\w\w+", drawn)).difference(re.findall(r"\w+", literal)))
        new = drawn.partition(TOGETHER)[0]
        return new not in literal and bool(re.search(rf"(?<!\w){re.escape(new)}(?!\w)", self._text))

    def _dialled(self, random: Random) -> dict[str, str]:
        made: dict[str, str] = {}
        taken = set(self._phones)
        for number in self._phones:
            drawn = 2 if "55501" in number[-8:] else _DRAWN  # numbers of films end in 0100 to 0199
            new = number
            while new in taken:
                new = number[:-drawn] + str(random.randrange(10**drawn)).zfill(drawn)
            taken.add(new)
            made[number] = new
        return made


def _is_thing(text: str) -> bool:
    """Tell whether a literal is called by a noun, which means the same in any conversation, as a number does not."""
    return text.replace(" ", "").isalpha() and len(text) >= _NOUN and not _NUMERAL.search(text)


def _is_day(text: str) -> bool:
    """Tell whether a literal is a day, as a milestone has it or as people write it with its month."""
    written = re.fullmatch(DATED, text)
    return bool(written and written.lastgroup in ("iso", "dm", "md")) or ("-" in text and bool(_DAY.fullmatch(text)))


def _check_kind(literal: str, kind: Any) -> None:
    parts = literal.count(TOGETHER)
    if isinstance(kind, list) and any(str(one).count(TOGETHER) != parts for one in cast("list[Any]", kind)):
        told = f"each of what {literal!r} may become needs as many parts as it has, with {TOGETHER} between them"
        raise ProblemError(("draws", literal), told)
    fits = kind in POOLS if isinstance(kind, str) else isinstance(kind, list) and len(cast("list[Any]", kind)) > 0
    if isinstance(kind, dict):
        given = cast("dict[str, Any]", kind)
        bounds: Any = given.get("number")
        fits = len(given) == 1 and isinstance(bounds, list) and len(cast("list[Any]", bounds)) in (2, 3)
    if not fits:
        kinds = ", ".join(POOLS)
        told = f"expected one of {kinds}, {KEPT}, a list of texts, or {{number: [least, most]}}"
        raise ProblemError(("draws", literal), f"{kind!r} is no kind of draw; {told}")


def _options(kind: Any) -> Sequence[Any]:
    if isinstance(kind, str):
        return POOLS[kind]
    if isinstance(kind, list):
        return cast("list[Any]", kind)
    least, most, *step = cast("list[int]", kind["number"])
    return range(least, most + 1, step[0] if step else 1)


def _renamed(part: str, parts: Sequence[str], fixed: Renamed) -> str:
    """What is drawn as this instance calls it: a name of a fixed table, or in small letters a word of one beside it."""
    for name in parts:
        words = name.casefold().split()
        becomes = fixed.of(name).casefold().split()
        if part in words and name != part and len(becomes) == len(words):
            return becomes[words.index(part)]
    return fixed.of(part)


@lru_cache(maxsize=4096)
def _forms_of(literal: str) -> tuple[str, ...]:
    """A literal as it may be written: spelt out, with a capital, and last, to win where they are the same, as it is."""
    return "-".join(literal), literal[:1].upper() + literal[1:], literal


def _several(name: str) -> str:
    """Several people or things of one name."""
    return f"{name}es" if name.endswith(("s", "x", "z")) else f"{name}s"


def _dialled(written: str, digits: str) -> str:
    """A number in the way in which another one was written; only its last digits are others."""
    left = list(digits[-_DRAWN:])
    shown = [left.pop() if char.isdigit() and left else char for char in reversed(written)]
    return "".join(reversed(shown))


def _walk(value: Any, path: Path, *, rows: bool = False) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        for key, inner in parts.items():
            named = not rows and (key in _NAMING or ("from" in parts and key in ("from", "path", "source", "to")))
            if not named:
                yield from _walk(inner, (*path, key), rows=rows or key in _INSIDE)
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from _walk(inner, (*path, index), rows=rows)
    elif value is not None:
        yield path, value


def _tree(slots: Iterator[tuple[Path, Callable[[_Values], Any]]]) -> dict[Any, Any]:
    tree: dict[Any, Any] = {}
    for path, slot in slots:
        here = tree
        for part in path[:-1]:
            here = here.setdefault(part, {})
        here[path[-1]] = slot
    return tree


def _rebuilt(value: Any, tree: Any, values: _Values) -> Any:
    if not isinstance(tree, dict):
        return tree(values)
    made: Any = dict(cast("dict[Any, Any]", value)) if isinstance(value, dict) else list(value)
    for key, inner in cast("dict[Any, Any]", tree).items():
        made[key] = _rebuilt(value[key], inner, values)
    return made
