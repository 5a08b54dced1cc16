"""Dates of holidays in every country.

Policy: dates come from the package ``holidays`` (about 250 countries); observed substitutes do not count. A name is
first sought in the country it mentions ("Canadian Thanksgiving"), then in the phone's own, then among observances
with a fixed date, then in all others. Within one step: the best match, then a public holiday, then the name closest in
length, then the earlier date; among all others, the date that the most people keep. "Day" alone names nothing.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, Protocol

from sandbox_mcp.engine.world.clock import to_timestamp, zone_info
from sandbox_mcp.engine.worlds.phone.knowledge.bundle import LONGEST_NAME
from sandbox_mcp.engine.worlds.phone.knowledge.errors import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.tables import countries

YEARS = range(1900, 2101)
"""The years for which dates are given; the library's movable feasts are estimates outside of it."""

WORD_MATCH = 85
"""How alike (0 to 100, normalised edit distance) a word of the question and one of a name must be."""

SHARE_OF_NAME = 3
"""A question must have at least one in this many of the name's words: "king" is not Martin Luther King Jr. Day."""

_FILLERS = frozenset({"day", "days", "holiday", "the", "of", "s", "and", "observed", "national", "public", "festival"})
_SPELLING = {
    "labour": "labor",
    "saint": "st",
    "christmastime": "christmas",
    "paddys": "patricks",
    "jnr": "jr",
    "mom": "mother",
}
_ALIASES = {
    "xmas": "christmas day",
    "christmas": "christmas day",
    "xmas eve": "christmas eve",
    "mlk day": "martin luther king jr day",
    "mlk jr day": "martin luther king jr day",
    "presidents day": "washingtons birthday",
    "president day": "washingtons birthday",
    "july 4th": "us independence day",
    "4th of july": "us independence day",
    "fourth of july": "us independence day",
    "july fourth": "us independence day",
    "turkey day": "us thanksgiving",
    "black friday": "us day after thanksgiving",
    "indigenous peoples day": "us columbus day",
    "lunar new year": "chinese new year",
    "spring festival": "chinese new year",
    "new years": "new years day",
    "new year": "new years day",
    "easter": "easter sunday",
    "bastille day": "french national day",
    "eid": "eid al fitr",
    "eid ul fitr": "eid al fitr",
    "eid ul adha": "eid al adha",
    "deepavali": "diwali",
    "divali": "diwali",
}  # what people say -> what the library says, both normalised
_OBSERVANCES = {
    "Valentine's Day": (2, 14),
    "International Women's Day": (3, 8),
    "Women's Day": (3, 8),
    "Pi Day": (3, 14),
    "St. Patrick's Day": (3, 17),
    "April Fools' Day": (4, 1),
    "Earth Day": (4, 22),
    "Star Wars Day": (5, 4),
    "Cinco de Mayo": (5, 5),
    "Halloween": (10, 31),
    "Day of the Dead": (11, 2),
    "Guy Fawkes Night": (11, 5),
    "Bonfire Night": (11, 5),
    "Singles' Day": (11, 11),
    "Christmas Eve": (12, 24),
    "Kwanzaa": (12, 26),
    "New Year's Eve": (12, 31),
}  # days kept on a fixed month and day that the library has for few countries or none
_DEMONYMS = {
    "american": "US", "us": "US", "usa": "US", "british": "GB", "uk": "GB", "english": "GB", "scottish": "GB",
    "irish": "IE", "canadian": "CA", "mexican": "MX", "french": "FR", "german": "DE", "italian": "IT", "spanish": "ES",
    "portuguese": "PT", "dutch": "NL", "belgian": "BE", "swiss": "CH", "austrian": "AT", "polish": "PL", "czech": "CZ",
    "greek": "GR", "turkish": "TR", "russian": "RU", "ukrainian": "UA", "swedish": "SE", "norwegian": "NO",
    "danish": "DK", "finnish": "FI", "japanese": "JP", "chinese": "CN", "korean": "KR", "indian": "IN",
    "thai": "TH", "vietnamese": "VN", "indonesian": "ID", "filipino": "PH", "philippine": "PH", "australian": "AU",
    "brazilian": "BR", "argentine": "AR", "chilean": "CL", "colombian": "CO", "peruvian": "PE", "egyptian": "EG",
    "israeli": "IL", "kenyan": "KE", "nigerian": "NG", "malaysian": "MY", "singaporean": "SG", "pakistani": "PK",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Holiday:
    """A holiday of one year: its date as ISO 8601, and the timestamp of the local midnight at which it begins."""

    name: str
    date: str
    country_code: str
    timestamp: float


@dataclass(frozen=True, slots=True)
class _Day:
    """One name of one day in one country; ``rank``: 0 public holiday, 1 other, 2 of a part of the country."""

    name: str
    words: str
    day: date
    country: str
    rank: int


class HolidaySource(Protocol):
    """Anything that knows holidays."""

    def search(self, holiday_name: str, year: int, zone: str, country: str = "US") -> Holiday | None:
        """The holiday of that name and year, its midnight read in ``zone``, sought in ``country`` first."""
        ...


class OfflineHolidays:
    """The ``holidays`` library, in English."""

    def search(self, holiday_name: str, year: int, zone: str, country: str = "US") -> Holiday | None:
        """The holiday of that name and year, or None where no country has one.

        Args:
            holiday_name: What it is called, roughly; may name a country ("Labour Day in Australia").
            year: Which year's; None outside of 1900 to 2100.
            zone: IANA time zone of the midnight.
            country: ISO 3166 code of the country meant when none is named; one that the library does not
                have is as good as none.

        Raises:
            InvalidQuestionError: no such country or time zone.
        """
        country = country.strip().upper()
        if country not in _codes() and country not in countries():
            raise InvalidQuestionError(f"unknown country {country!r}; expected an ISO 3166 code such as 'US' or 'DE'")
        try:
            zone_info(zone)
        except ValueError as error:
            raise InvalidQuestionError(str(error)) from error
        known = year in YEARS and len(holiday_name) <= LONGEST_NAME
        found = _find(_normal(holiday_name), year, country) if known else None
        if found is None:
            return None
        midnight = datetime.combine(found.day, time(), zone_info(zone))
        return Holiday(found.name, found.day.isoformat(), found.country, to_timestamp(midnight, zone))


@lru_cache(maxsize=2048)
def _find(asked: str, year: int, home: str) -> _Day | None:
    asked = _ALIASES.get(asked, asked)
    named, rest = _named_country(asked)
    home = home if home in _codes() else ""
    at_home = [(named, asked), (named, rest)] if named else [(home, asked)] if home else []
    observances = [_Day(name, _normal(name), date(year, *on), "", 1) for name, on in _OBSERVANCES.items()]
    steps: list[tuple[str, int, Callable[[], Iterable[_Day]]]] = []
    steps += [(text, 1, partial(_days, country, year)) for country, text in at_home]
    steps += [(asked, 2, lambda: observances)]
    steps += [(text, 2, partial(_regional, country, year)) for country, text in at_home]
    steps += [(asked, 1, partial(_days, home, year))] if named and home else []
    for text, least, days in steps:
        if found := _best(text, days(), least):
            return found
    return _most_kept(asked, year)


def _best(asked: str, days: Iterable[_Day], least: int) -> _Day | None:
    """The day of one country that the question means, if one matches at least that well."""
    scored = [(match, day) for day in days if (match := _match(asked, day.words)) >= least]

    def order(pair: tuple[int, _Day]) -> tuple[int, int, int, date, str]:
        match, day = pair
        return -match, day.rank, abs(len(day.words) - len(asked)), day.day, day.name

    return min(scored, key=order)[1] if scored else None


def _most_kept(asked: str, year: int) -> _Day | None:
    """The day of any country that the question means, on the date that the most people keep."""
    matches = [(match, day) for day in _everywhere(year) if (match := _match(asked, day.words))]
    top = max((match for match, _ in matches), default=0)
    finalists = [day for match, day in matches if match == top]
    people: Counter[date] = Counter()
    for country, day in {(day.country, day.day) for day in finalists}:
        people[day] += _population(country)

    def order(day: _Day) -> tuple[int, date, int, str, str]:
        return -people[day.day], day.day, -_population(day.country), day.country, day.name

    return min(finalists, key=order, default=None)


def _match(asked: str, name: str) -> int:
    """3: the same words; 2: the same but for fillers such as "day"; 1: every word asked is in the name; 0: no match."""
    if asked == name:
        return 3
    wanted, words = _telling(asked), _telling(name)
    if not wanted or not words:
        return 0
    if wanted == words:
        return 2
    enough = len(wanted) * SHARE_OF_NAME >= len(words)
    return 1 if enough and all(any(_alike(word, other) for other in words) for word in wanted) else 0


@lru_cache(maxsize=65536)
def _telling(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split() if word not in _FILLERS)


@lru_cache(maxsize=65536)
def _alike(word: str, other: str) -> bool:
    if word == other:
        return True
    if min(len(word), len(other)) < 4:
        return False
    from rapidfuzz import fuzz

    return fuzz.ratio(word, other) >= WORD_MATCH


def _normal(name: str) -> str:
    """Lower case, no punctuation, one spelling."""
    words = re.sub(r"[^\w\s]", " ", re.sub(r"['’.]", "", name.casefold())).split()
    return " ".join(_SPELLING.get(word, word) for word in words)


def _entity_days(entity: Any, rank: int) -> Iterator[_Day]:
    """Every name of every day of a calendar; a day that only stands in for another has none."""
    for day, title in entity.items():
        for part in re.split(r"; | / ", title):
            inside = " ".join(re.findall(r"\(([^)]{0,80})\)", part)).lower()
            if "observed" in inside or "substitute" in part.lower():
                continue
            outside = re.sub(r"\s{0,4}\([^)]{0,80}\)", "", part)
            for name in (outside, inside) if inside and "estimated" not in inside else (outside,):
                yield _Day(name, _normal(name), day, entity.country, rank)


@lru_cache(maxsize=1024)
def _days(country: str, year: int) -> tuple[_Day, ...]:
    """Every named day of a country, public holidays before others."""
    public = _entity(country, year)
    others = [category for category in public.supported_categories if category != "public"]
    more = _entity_days(_entity(country, year, categories=others), 1) if others else ()
    return (*_entity_days(public, 0), *more)


@lru_cache(maxsize=64)
def _regional(country: str, year: int) -> tuple[_Day, ...]:
    """Days that are kept in parts of a country."""
    parts = _entity(country, year).subdivisions
    days = (day for part in parts for day in _entity_days(_entity(country, year, subdiv=part), 2))
    return tuple(dict.fromkeys(days))


@lru_cache(maxsize=16)
def _everywhere(year: int) -> tuple[_Day, ...]:
    return tuple(day for country in sorted(_codes()) for day in _days(country, year))


def _named_country(asked: str) -> tuple[str, str]:
    """The code of the country that a question names, if any, and the question without it."""
    padded = f" {asked} "
    for phrase, code in _country_phrases().items():
        if f" {phrase} " in padded:
            rest = re.sub(rf"\b(?:in\s+(?:the\s+)?)?{phrase}\b", " ", asked)
            return code, " ".join(rest.split())
    return "", asked


def _population(country: str) -> int:
    return int(countries()[country]["population"]) if country in countries() else 0


@cache
def _country_phrases() -> dict[str, str]:
    """Names of countries and nations, longest first, so that "south korea" is not "korea"."""
    names = {module.replace("_", " "): codes[1] for module, codes in _registry().items()}
    both = names | _DEMONYMS
    return {phrase: both[phrase] for phrase in sorted(both, key=lambda phrase: (-len(phrase), phrase))}


def _entity(country: str, year: int, **options: Any) -> Any:
    """The library's calendar; its warnings about years without data are dropped, as None already says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = import_module("holidays")
        return library.country_holidays(country, years=year, language="en_US", observed=False, **options)


def _registry() -> dict[str, tuple[str, ...]]:
    return import_module("holidays.registry").COUNTRIES


@cache
def _codes() -> frozenset[str]:
    return frozenset(codes[1] for codes in _registry().values())
