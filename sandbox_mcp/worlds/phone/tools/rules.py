"""Rules that several domains share: what a valid phone number, moment or position is, and how fuzzy search works.

Policy: ranges and thresholds are ToolSandbox's, so that a call that was valid there is valid here.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from sandbox_mcp.world import Row

EARLIEST, LATEST = 315529200.0, 2524604400.0
"""The timestamps a phone accepts, both inclusive: 1979-12-31 to 2050-01-01, roughly."""
BEST = 5
"""How many rows a fuzzy search returns at most."""
WANTED, COMPARED = 500, 10_000
"""How many characters of what is wanted, and of a row's text, a fuzzy search looks at: it costs their product."""
LONGEST_NUMBER = 250
"""Nothing longer is looked at as a phone number."""


def check_phone_number(number: str) -> None:
    """Refuse what is no phone number with a country code.

    Raises:
        ValueError: it does not start with ``+`` or cannot be a number of any country.
    """
    if len(number) > LONGEST_NUMBER or not _is_phone_number(number):
        raise ValueError(
            f"{number!r} is not a phone number; expected international form with a country code, such as '+14155550123'"
        )


@lru_cache(maxsize=4096)
def _is_phone_number(number: str) -> bool:
    from phonenumbers import NumberParseException, parse

    try:
        parse(number)
    except NumberParseException:
        return False
    return True


def check_timestamp(name: str, timestamp: float) -> None:
    """Refuse a moment outside the phone's calendar.

    Raises:
        ValueError: it is out of range.
    """
    if not EARLIEST <= timestamp <= LATEST:
        raise ValueError(
            f"`{name}` {timestamp!r} is out of range; expected seconds since 1970 from {EARLIEST} to {LATEST}"
        )


def check_position(latitude: float | None, longitude: float | None, suffix: str = "") -> None:
    """Refuse coordinates that are not on Earth; None passes.

    Raises:
        ValueError: one is out of range.
    """
    _check_range(f"latitude{suffix}", latitude, 90.0)
    _check_range(f"longitude{suffix}", longitude, 180.0)


def _check_range(name: str, value: float | None, limit: float) -> None:
    if value is not None and not -limit <= value <= limit:
        raise ValueError(f"`{name}` {value!r} is out of range; expected degrees from {-limit} to {limit}")


def fuzzy(rows: Iterable[Row], column: str, wanted: str, threshold: float, limit: int | None = BEST) -> list[Row]:
    """The best rows whose text resembles ``wanted``, best first, ties in table order; all of them without ``limit``.

    Resemblance is rapidfuzz's WRatio after lower-casing and trimming, kept from ``threshold`` (0 to 100) up. Only the
    beginnings of very long texts count.
    """
    from rapidfuzz import fuzz, process, utils

    candidates = [row for row in rows if row[column] is not None]
    found = process.extract(
        wanted[:WANTED],
        [str(row[column])[:COMPARED] for row in candidates],
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        score_cutoff=threshold,
        limit=limit,
    )
    return [candidates[index] for _, _, index in found]


def keep(rows: Iterable[Row], test: Callable[[Row], bool]) -> list[Row]:
    """The rows that pass a test, in order."""
    return [row for row in rows if test(row)]
