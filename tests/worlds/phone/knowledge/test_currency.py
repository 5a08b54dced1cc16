"""Exchange rates: known days of the table, pegs, currencies that came and went."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge import InvalidQuestionError, NoRateError, UnknownCurrencyError
from sandbox_mcp.engine.worlds.phone.knowledge.currency import LAST_RATES, Conversion, OfflineCurrency, currency
from tests.each import each

CURRENCY = OfflineCurrency()


def at(year: int, month: int, day: int, hour: int = 12) -> float:
    return datetime(year, month, day, hour, tzinfo=UTC).timestamp()


def euros(code: str, now: float) -> float:
    """How much of a currency one euro is."""
    return CURRENCY.convert(1, "EUR", code, now).result


@each(
    ("code", "day", "rate"),
    [
        ("USD", (1999, 1, 4), 1.1789),
        ("JPY", (1999, 1, 4), 133.73),
        ("GBP", (1999, 1, 4), 0.7111),
        ("USD", (2024, 5, 17), 1.0844),
        ("USD", (2026, 10, 30), 1.1172),
        ("JPY", (2026, 10, 30), 175.68),
        ("CHF", (2026, 10, 30), 0.9194),
    ],
)
def test_published_reference_rates(code: str, day: tuple[int, int, int], rate: float) -> None:
    assert euros(code, at(*day)) == rate


def test_a_conversion_says_how_it_was_made() -> None:
    assert CURRENCY.convert(100, "eur", "Usd", at(1999, 1, 4)) == Conversion(
        amount=100,
        from_currency_code="EUR",
        to_currency_code="USD",
        rate=1.1789,
        rate_date="1999-01-04",
        result=117.89,
    )


def test_cross_rates_go_through_the_euro() -> None:
    now = at(1999, 1, 4)
    assert CURRENCY.convert(1, "USD", "JPY", now).rate == pytest.approx(133.73 / 1.1789, rel=1e-11)


def test_at_the_weekend_friday_holds() -> None:
    friday, sunday = (CURRENCY.convert(1, "USD", "CNY", at(2024, 5, day)) for day in (17, 19))
    assert sunday == friday
    assert sunday.rate_date == "2024-05-17"


def test_the_day_is_that_of_the_virtual_time_in_utc() -> None:
    assert CURRENCY.convert(1, "USD", "EUR", at(2024, 5, 17, 0)).rate_date == "2024-05-17"
    assert CURRENCY.convert(1, "USD", "EUR", at(2024, 5, 17, 0) - 1).rate_date == "2024-05-16"


def test_after_the_last_day_of_the_release_its_rates_stay() -> None:
    last = CURRENCY.convert(1, "USD", "EUR", at(LAST_RATES.year, LAST_RATES.month, LAST_RATES.day))
    assert CURRENCY.convert(1, "USD", "EUR", at(2040, 1, 1)) == last
    assert last.rate_date == LAST_RATES.isoformat()


@each(
    ("code", "base", "units"),
    [
        ("AED", "USD", 3.6725),
        ("SAR", "USD", 3.75),
        ("QAR", "USD", 3.64),
        ("JOD", "USD", 0.709),
        ("PAB", "USD", 1),
        ("XOF", "EUR", 655.957),
        ("XAF", "EUR", 655.957),
        ("BAM", "EUR", 1.95583),
        ("MOP", "HKD", 1.03),
        ("NAD", "ZAR", 1),
        ("NPR", "INR", 1.6),
        ("BND", "SGD", 1),
        ("GIP", "GBP", 1),
    ],
)
def test_legal_pegs(code: str, base: str, units: float) -> None:
    assert CURRENCY.convert(1, base, code, at(2024, 5, 17)).result == pytest.approx(units, rel=1e-9)


@each(
    ("code", "before", "after", "fixed"),
    [
        ("HRK", (2015, 1, 2), (2025, 1, 2), 7.5345),
        ("LTL", (2010, 1, 4), (2020, 1, 2), 3.4528),
        ("SKK", (2005, 1, 3), (2020, 1, 2), 30.126),
        ("BGN", (2010, 1, 4), (2026, 6, 1), 1.95583),
    ],
)
def test_currencies_that_became_the_euro_keep_their_last_rate(
    code: str, before: tuple[int, int, int], after: tuple[int, int, int], fixed: float
) -> None:
    assert euros(code, at(*after)) == fixed
    assert euros(code, at(*before)) == pytest.approx(fixed, rel=0.3)


@each(
    ("code", "quoted", "not_quoted"),
    [
        ("RUB", (2020, 1, 2), (2023, 1, 2)),
        ("ISK", (2020, 1, 2), (2012, 1, 2)),
        ("CNY", (2006, 1, 2), (2004, 1, 2)),
        ("XCG", (2025, 6, 2), (2024, 6, 3)),
        ("STN", (2020, 1, 2), (2016, 1, 4)),
    ],
)
def test_a_currency_has_rates_only_while_it_is_quoted(
    code: str, quoted: tuple[int, int, int], not_quoted: tuple[int, int, int]
) -> None:
    assert euros(code, at(*quoted)) > 0
    with pytest.raises(NoRateError, match=f"no exchange rate of '{code}'"):
        euros(code, at(*not_quoted))


@each("code", ["ARS", "EGP", "NGN", "VND", "TWD", "XAU"])
def test_a_currency_without_a_source_says_so_and_what_is_known(code: str) -> None:
    with pytest.raises(NoRateError) as caught:
        euros(code, at(2024, 5, 17))
    assert caught.value.code == code
    assert {"USD", "JPY", "AED"} <= set(caught.value.known)


def test_before_the_euro_there_is_no_rate() -> None:
    with pytest.raises(NoRateError, match="known on that date: none"):
        CURRENCY.convert(1, "USD", "EUR", at(1998, 12, 31))


@each("code", ["", "US", "USDX", "ABC", "dollar", "€", "12", "EU R"])
def test_codes_outside_of_iso_4217_are_refused(code: str) -> None:
    with pytest.raises(UnknownCurrencyError) as caught:
        CURRENCY.convert(1, code, "EUR", at(2024, 5, 17))
    assert repr(code) in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_the_code_is_checked_before_the_amount_and_the_rate() -> None:
    with pytest.raises(UnknownCurrencyError, match="'QQQ'"):
        CURRENCY.convert(float("nan"), "ARS", "QQQ", at(1990, 1, 1))


@each("amount", [float("nan"), float("inf")])
def test_only_numbers_can_be_converted(amount: float) -> None:
    with pytest.raises(InvalidQuestionError, match="finite"):
        CURRENCY.convert(amount, "USD", "EUR", at(2024, 5, 17))


@each("code", ["usd", "Usd", " USD "])
def test_codes_may_have_any_case(code: str) -> None:
    assert currency(code).name == "US Dollar"


def test_many_currencies_have_a_rate_today() -> None:
    with pytest.raises(NoRateError) as caught:
        euros("ARS", at(2026, 10, 30))
    assert len(caught.value.known) >= 60


def test_every_currency_of_a_country_is_known() -> None:
    from sandbox_mcp.engine.worlds.phone.knowledge.tables import rows

    codes = {row["currency"] for row in rows("countries.tsv")} - {"", "ANG"}
    assert len(codes) >= 150
    for code in codes:
        assert currency(code).code == code


DAYS = st.dates(date(1999, 1, 4), date(2030, 1, 1))
CODES = st.sampled_from(["USD", "EUR", "JPY", "GBP", "CHF", "SEK", "AED", "XOF", "ZAR", "AUD"])


@given(CODES, CODES, DAYS)
@settings(deadline=None)
def test_rates_are_each_others_inverse(one: str, other: str, day: date) -> None:
    now = at(day.year, day.month, day.day)
    there, back = CURRENCY.convert(1, one, other, now).rate, CURRENCY.convert(1, other, one, now).rate
    assert there * back == pytest.approx(1, rel=1e-9)


@given(CODES, CODES, st.floats(-1e9, 1e9), DAYS)
@settings(deadline=None)
def test_twice_the_amount_is_twice_the_result(one: str, other: str, amount: float, day: date) -> None:
    now = at(day.year, day.month, day.day)
    single, double = (CURRENCY.convert(times * amount, one, other, now).result for times in (1, 2))
    assert double == pytest.approx(2 * single, rel=1e-9, abs=1e-9)


@given(CODES, DAYS)
@settings(deadline=None)
def test_the_rate_is_never_from_the_future_nor_stale(code: str, day: date) -> None:
    quoted = date.fromisoformat(CURRENCY.convert(1, "EUR", code, at(day.year, day.month, day.day)).rate_date)
    assert timedelta(0) <= min(day, LAST_RATES) - quoted <= timedelta(days=6)
