"""Shares: who is meant, and prices that follow from the day alone."""

from datetime import UTC, date, datetime
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge.stocks import OfflineStocks, Quote, find_listing, listings, trading_day
from tests.each import each

STOCKS = OfflineStocks()
SATURDAY = datetime(2024, 5, 18, 18, tzinfo=UTC).timestamp()
DAY = 86400


def symbol(query: str) -> str | None:
    listing = find_listing(query)
    return listing and listing.symbol


def quote(query: str, now: float = SATURDAY) -> Quote:
    found = STOCKS.search(query, now)
    assert found is not None
    return found


@each(
    ("query", "expected"),
    [
        ("Apple", "AAPL"),
        ("apple inc.", "AAPL"),
        ("AAPL", "AAPL"),
        ("aapl", "AAPL"),
        ("Apple stock price", "AAPL"),
        ("Microsoft", "MSFT"),
        ("Mircosoft", "MSFT"),
        ("Google", "GOOGL"),
        ("Alphabet", "GOOGL"),
        ("Facebook", "META"),
        ("Amazon", "AMZN"),
        ("Amazon.com", "AMZN"),
        ("Tesla", "TSLA"),
        ("Nvidia", "NVDA"),
        ("Coca Cola", "KO"),
        ("Coca-Cola", "KO"),
        ("McDonald's", "MCD"),
        ("mcdonalds", "MCD"),
        ("Disney", "DIS"),
        ("Walt Disney Company", "DIS"),
        ("JP Morgan", "JPM"),
        ("Johnson and Johnson", "JNJ"),
        ("AT&T", "T"),
        ("T", "T"),
        ("T-Mobile", "TMUS"),
        ("V", "V"),
        ("Visa", "V"),
        ("Ford", "F"),
        ("General Motors", "GM"),
        ("P&G", "PG"),
        ("3M", "MMM"),
        ("Berkshire", "BRK.B"),
        ("Exxon", "XOM"),
        ("IBM", "IBM"),
        ("Toyota", "7203"),
        ("7203", "7203"),
        ("Samsung", "005930"),
        ("Nestle", "NESN"),
        ("Nestlé", "NESN"),
        ("loreal", "OR"),
        ("LVMH", "MC"),
        ("Volkswagen", "VOW3"),
        ("SAP", "SAP"),
        ("TSMC", "2330"),
    ],
)
def test_companies_by_symbol_name_and_nickname(query: str, expected: str) -> None:
    assert symbol(query) == expected


@each("query", ["", " ", "xyzzy", "the", "stock price", "Acme Rocket Skates", "!!!", "QQQQ", "Apple " * 40_000])
def test_what_names_no_company_is_not_found(query: str) -> None:
    assert STOCKS.search(query, SATURDAY) is None


def test_a_symbol_in_capitals_wins_over_a_name() -> None:
    assert symbol("C") == "C"
    assert symbol("TEAM") == "TEAM"


def test_among_equal_matches_the_table_decides() -> None:
    assert symbol("General") == next(
        listing.symbol for listing in listings() if any(name.startswith("general") for name in listing.names)
    )


def test_a_quote_in_full() -> None:
    found = quote("Apple")
    assert (found.symbol, found.name, found.exchange, found.currency) == ("AAPL", "Apple Inc.", "NASDAQ", "USD")
    assert (found.price, found.previous_close, found.trading_day) == (100.63, 100.49, "2024-05-17")
    assert (found.change, found.change_percent) == (0.14, 0.14)
    assert set(found.as_dict()) == {
        "symbol", "name", "exchange", "currency", "price", "previous_close", "change", "change_percent", "trading_day",
    }  # fmt: skip


def test_there_are_many_companies_on_many_exchanges() -> None:
    assert len(listings()) >= 190
    assert len({listing.exchange.code for listing in listings()}) >= 12


def test_a_symbol_is_listed_once_on_an_exchange() -> None:
    assert len({(listing.symbol, listing.exchange.code) for listing in listings()}) == len(listings())


@each("listing", listings(), ids=lambda listing: f"{listing.exchange.code} {listing.symbol}")
def test_every_company_is_found_by_its_name(listing: object) -> None:
    from sandbox_mcp.engine.worlds.phone.knowledge.stocks import Listing

    assert isinstance(listing, Listing)
    found = find_listing(listing.name)
    assert found is not None
    assert found.name == listing.name


@each(
    ("query", "currency"),
    [
        ("Shell", "GBP"),
        ("SAP", "EUR"),
        ("Roche", "CHF"),
        ("Sony", "JPY"),
        ("Tencent", "HKD"),
        ("BHP", "AUD"),
        ("Infosys", "INR"),
    ],
)
def test_prices_are_in_the_exchanges_currency(query: str, currency: str) -> None:
    assert quote(query).currency == currency


@each(
    ("query", "moment", "expected"),
    [
        ("AAPL", datetime(2024, 5, 20, 13, 29, tzinfo=UTC), "2024-05-17"),  # Monday, a minute before the bell
        ("AAPL", datetime(2024, 5, 20, 13, 30, tzinfo=UTC), "2024-05-20"),
        ("AAPL", datetime(2024, 5, 18, 18, 0, tzinfo=UTC), "2024-05-17"),  # Saturday
        ("AAPL", datetime(2024, 5, 19, 18, 0, tzinfo=UTC), "2024-05-17"),  # Sunday
        ("AAPL", datetime(2024, 5, 21, 3, 0, tzinfo=UTC), "2024-05-20"),  # still Monday evening in New York
        ("Toyota", datetime(2024, 5, 19, 23, 59, tzinfo=UTC), "2024-05-17"),  # before Monday's opening in Tokyo
        ("Toyota", datetime(2024, 5, 20, 0, 1, tzinfo=UTC), "2024-05-20"),
        ("SAP", datetime(2024, 5, 20, 7, 1, tzinfo=UTC), "2024-05-20"),
    ],
)
def test_the_trading_day_begins_when_the_exchange_opens(query: str, moment: datetime, expected: str) -> None:
    assert quote(query, moment.timestamp()).trading_day == expected


def test_the_price_holds_for_its_trading_day() -> None:
    opening = datetime(2024, 5, 20, 13, 30, tzinfo=UTC).timestamp()
    assert len({quote("AAPL", opening + hours * 3600).price for hours in range(24)}) == 1


def test_yesterdays_price_is_todays_previous_close() -> None:
    tuesday = datetime(2024, 5, 21, 18, tzinfo=UTC).timestamp()
    assert quote("AAPL", tuesday).previous_close == quote("AAPL", tuesday - DAY).price
    monday = tuesday - DAY
    assert quote("AAPL", monday).previous_close == quote("AAPL", monday - 3 * DAY).price


def test_companies_have_levels_of_their_own() -> None:
    assert len({quote(listing.name).price for listing in listings()}) > 0.95 * len(listings())


def test_daily_moves_are_of_a_few_percent_at_most() -> None:
    moves = [abs(quote("AAPL", SATURDAY + n * DAY).change_percent) for n in range(500)]
    assert fmean(moves) < 2
    assert max(moves) < 10


MOMENTS = st.floats(946_684_800, 2_524_608_000)
QUERIES = st.sampled_from(["AAPL", "Ford", "Shell", "Toyota", "Roche", "Tencent"])


@given(QUERIES, MOMENTS)
@settings(deadline=None)
def test_quotes_add_up(query: str, now: float) -> None:
    found = quote(query, now)
    assert found.price > 0
    assert found.change == pytest.approx(found.price - found.previous_close, abs=0.006)
    assert found.change_percent == pytest.approx(100 * found.change / found.previous_close, abs=0.006)
    assert date.fromisoformat(found.trading_day).weekday() < 5


@given(st.text(max_size=25))
@settings(deadline=None)
def test_any_text_is_a_company_or_none(query: str) -> None:
    assert find_listing(query) == find_listing(query)


@given(MOMENTS)
@settings(deadline=None)
def test_trading_days_never_run_backwards(now: float) -> None:
    exchange = listings()[0].exchange
    assert trading_day(exchange, now) <= trading_day(exchange, now + 3600)
