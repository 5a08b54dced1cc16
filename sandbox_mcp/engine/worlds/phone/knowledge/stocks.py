"""Shares of about two hundred companies.

Policy: symbols, names, exchanges and currencies are facts (as of the end of 2025); every price is invented. A price
follows from the symbol and the exchange's trading day alone: a level of its own and noise on four time scales. A
trading day begins when the exchange opens; weekends have Friday's price, public holidays are ignored. A question is a
symbol in capitals, else the name that fits best, else nothing.
"""

import re
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import cache, lru_cache
from math import exp
from typing import Any, Protocol

from sandbox_mcp.engine.world.clock import to_local
from sandbox_mcp.engine.worlds.phone.knowledge.bundle import LONGEST_NAME
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import fold
from sandbox_mcp.engine.worlds.phone.knowledge.seeded import gaussian, smooth
from sandbox_mcp.engine.worlds.phone.knowledge.tables import by_name, rows

NAME_MATCH = 86
"""How alike (0 to 100) a question with a slip of the pen must be to a name."""

_SEED = "stocks 1"
_SWINGS = ((400.0, 0.28), (60.0, 0.11), (9.0, 0.03), (1.0, 0.008))
"""How a price swings: period in days, standard deviation of its logarithm."""

_NOISE_WORDS = frozenset({
    "inc", "incorporated", "corporation", "corp", "company", "co", "plc", "group", "holdings", "holding", "limited",
    "ltd", "sa", "se", "ag", "nv", "aktiengesellschaft", "the", "and", "of", "stock", "stocks", "share", "shares",
    "price",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quote:
    """A share's price on a trading day, in the exchange's currency; ``change`` is against the trading day before."""

    symbol: str
    name: str
    exchange: str
    currency: str
    price: float
    previous_close: float
    change: float
    change_percent: float
    trading_day: str

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return by_name(self)


@dataclass(frozen=True, slots=True)
class StockExchange:
    """A stock exchange: its currency, time zone, opening time, and the size of a usual price there."""

    code: str
    name: str
    currency: str
    time_zone: str
    opens: time
    typical_price: float


@dataclass(frozen=True, slots=True)
class Listing:
    """A company's share on one exchange; ``names`` are its folded names without legal forms, the official one first."""

    symbol: str
    name: str
    exchange: StockExchange
    names: tuple[str, ...]


class StockSource(Protocol):
    """Anything that knows shares."""

    def search(self, query: str, now: float) -> Quote | None:
        """The share that a symbol or a company's name means, with its price at the timestamp ``now``."""
        ...


class OfflineStocks:
    """Real listings at invented prices."""

    def search(self, query: str, now: float) -> Quote | None:
        """The share that a symbol or a company's name means, priced at the timestamp ``now``; None if no name fits."""
        listing = find_listing(query) if len(query) <= LONGEST_NAME else None
        if listing is None:
            return None
        day, exchange = trading_day(listing.exchange, now), listing.exchange
        price, before = _price(listing, day), _price(listing, _weekday(day - timedelta(days=1)))
        change = round(price - before, 2)
        figures = price, before, change, round(100 * change / before, 2), day.isoformat()
        return Quote(listing.symbol, listing.name, exchange.code, exchange.currency, *figures)


def trading_day(exchange: StockExchange, now: float) -> date:
    """The day whose price holds at a moment: today once the exchange has opened, never a Saturday or Sunday."""
    local = to_local(now, exchange.time_zone)
    day = local.date() if local.time() >= exchange.opens else local.date() - timedelta(days=1)
    return _weekday(day)


@lru_cache(maxsize=2048)
def find_listing(query: str) -> Listing | None:
    """The best listing for a question; among equals the one that comes first in the table."""
    text = query.strip()
    if text.isupper() or text.isdigit():
        for listing in listings():
            if text == listing.symbol:
                return listing
    asked = _plain(text)
    fits = [max(_fit(asked, name) for name in listing.names) for listing in listings()] if asked else [0.0]
    best = max(fits)
    if best > 0:
        return listings()[fits.index(best)]
    return next((listing for listing in listings() if fold(text) == listing.symbol.lower()), None)


def _fit(asked: str, name: str) -> float:
    """3: a name; 2 to 3: a name's first words, or words of it; 0 to 1: a name with slips; 0: none of these."""
    if asked == name or asked.replace(" ", "") == name.replace(" ", ""):
        return 3.0
    wanted, words = asked.split(), name.split()
    if set(wanted) <= set(words):
        return 2 + len(wanted) / len(words) / 2 + (0.4 if words[: len(wanted)] == wanted else 0)
    if set(words) <= set(wanted):
        return 2.0
    from rapidfuzz import fuzz

    ratio = max(fuzz.ratio(asked, name), fuzz.ratio(asked, " ".join(words[: len(wanted)]))) if len(asked) > 3 else 0
    return ratio / 100 if ratio >= NAME_MATCH else 0.0


@lru_cache(maxsize=8192)
def _price(listing: Listing, day: date) -> float:
    """The invented price: a level per share, times noise of mean 0 on the logarithm."""
    key = (_SEED, listing.exchange.code, listing.symbol)
    level = listing.exchange.typical_price * exp(0.7 * gaussian(*key, "level"))
    swing = sum(size * smooth(day.toordinal() / days, *key, str(days)) for days, size in _SWINGS)
    return round(level * exp(swing), 2)


def _weekday(day: date) -> date:
    """That day, or the Friday before."""
    return day - timedelta(days=max(0, day.weekday() - 4))


@cache
def listings() -> tuple[Listing, ...]:
    """All shares, in the order of the table."""
    exchanges: dict[str, StockExchange] = {}
    for row in rows("exchanges.tsv"):
        code, opens = row["exchange"], time.fromisoformat(row["opens"])
        size = float(row["typical_price"])
        exchanges[code] = StockExchange(code, row["name"], row["currency"], row["time_zone"], opens, size)
    found: list[Listing] = []
    for row in rows("stocks.tsv"):
        names = tuple(_plain(name) for name in (row["name"], *filter(None, row["aliases"].split(";"))))
        found.append(Listing(row["symbol"], row["name"], exchanges[row["exchange"]], names))
    return tuple(found)


def _plain(name: str) -> str:
    """Folded words without punctuation, legal forms and "stock price"."""
    words = re.findall(r"\w+", re.sub(r"['.]", "", fold(name)))
    return " ".join(word for word in words if word not in _NOISE_WORDS)
