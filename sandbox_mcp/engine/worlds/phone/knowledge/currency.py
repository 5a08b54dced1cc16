"""Exchange rates by date.

Policy: the European Central Bank's reference rates, which are kept here up to ``LAST_RATES``, the last one published on
or before the day asked, so that every machine gives the same answer. Currencies that the ECB does not list and that are
pegged by law get their peg; other currencies have no rate, and that is said.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from math import isfinite
from typing import Protocol

from sandbox_mcp.engine.worlds.phone.knowledge.errors import InvalidQuestionError, NoRateError, UnknownCurrencyError
from sandbox_mcp.engine.worlds.phone.knowledge.tables import packed_text, rows

LAST_RATES = date(2026, 10, 30)
"""The newest day of rates that this release uses; later days get this day's rates."""

STALE_AFTER = timedelta(days=10)
"""A currency that the ECB has not quoted for longer than this is not quoted any more."""

SIGNIFICANT_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Conversion:
    """An amount in another currency: ``result = amount * rate``; ``rate_date`` is the day of the rate, as ISO 8601."""

    amount: float
    from_currency_code: str
    to_currency_code: str
    rate: float
    rate_date: str
    result: float


@dataclass(frozen=True, slots=True)
class Currency:
    """An ISO 4217 currency, and its legal peg where it has one: ``units`` of it per unit of ``base``."""

    code: str
    name: str
    base: str = ""
    units: float = 0.0
    since: str = ""


class CurrencySource(Protocol):
    """Anything that knows exchange rates."""

    def convert(self, amount: float, from_currency_code: str, to_currency_code: str, now: float) -> Conversion:
        """``amount`` in another currency, at the rates of the UTC day of the timestamp ``now``."""
        ...


class OfflineCurrency:
    """Dated reference rates."""

    def convert(self, amount: float, from_currency_code: str, to_currency_code: str, now: float) -> Conversion:
        """``amount`` in another currency, at the rates of the UTC day of the timestamp ``now``.

        Raises:
            UnknownCurrencyError: a code is not in ISO 4217, whatever its case.
            InvalidQuestionError: the amount is not a finite number.
            NoRateError: a currency has no rate on that day.
        """
        source, target = currency(from_currency_code), currency(to_currency_code)
        if not isfinite(amount):
            raise InvalidQuestionError(f"amount {amount!r} is not a finite number")
        day = min(datetime.fromtimestamp(now, UTC).date(), LAST_RATES)
        quoted, rates = _rates_on(day)
        for wanted in (source, target):
            if wanted.code not in rates:
                raise NoRateError(wanted.code, day.isoformat(), sorted(rates))
        rate = _rounded(rates[target.code] / rates[source.code])
        return Conversion(amount, source.code, target.code, rate, quoted, _rounded(amount * rate))


def currency(code: str) -> Currency:
    """The currency of an ISO 4217 code in any case.

    Raises:
        UnknownCurrencyError: no currency has that code.
    """
    try:
        return _currencies()[code.strip().upper()]
    except KeyError:
        raise UnknownCurrencyError(code) from None


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


@cache
def _currencies() -> dict[str, Currency]:
    return {
        row["code"]: Currency(
            row["code"], row["name"], row["pegged_to"], float(row["units_per_base"] or 0), row["since"]
        )
        for row in rows("currencies.tsv")
    }


@cache
def _published() -> tuple[list[str], list[str]]:
    """The ECB's codes, and its lines from the oldest to ``LAST_RATES``; a line starts with its day as ISO 8601."""
    header, *lines = packed_text("exchange_rates.csv.gz").splitlines()
    return header.split(",")[1:], [line for line in lines if line[:10] <= LAST_RATES.isoformat()]


@lru_cache(maxsize=64)
def _rates_on(day: date) -> tuple[str, dict[str, float]]:
    """The day whose rates hold on ``day``, and units per euro of every currency quoted or pegged then."""
    codes, lines = _published()
    newest = bisect_right(lines, day.isoformat(), key=lambda line: line[:10])
    if not newest:
        return day.isoformat(), {}
    quoted = lines[newest - 1][:10]
    oldest = (date.fromisoformat(quoted) - STALE_AFTER).isoformat()
    rates = {"EUR": 1.0}
    for line in reversed(lines[max(0, newest - STALE_AFTER.days) : newest]):
        if line[:10] >= oldest:
            quotes = zip(codes, line.split(",")[1:], strict=True)
            rates = {code: float(cell) for code, cell in quotes if code and cell not in {"", "N/A"}} | rates
    pegs = [peg for peg in _currencies().values() if peg.base in rates and peg.since <= day.isoformat()]
    return quoted, {peg.code: _rounded(peg.units * rates[peg.base]) for peg in pegs} | rates
