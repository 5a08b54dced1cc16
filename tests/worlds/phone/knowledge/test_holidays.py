"""When a holiday falls: examples from many countries, slips of the pen, and the rule that settles ties."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.holidays import OfflineHolidays
from tests.each import each
from tests.laws import at_least

HOLIDAYS = OfflineHolidays()


def day_of(name: str, year: int, country: str = "US") -> str | None:
    found = HOLIDAYS.search(name, year, "UTC", country)
    return found and found.date


@each(
    ("name", "year", "expected"),
    [
        ("New Year's Day", 2024, "2024-01-01"),
        ("Martin Luther King Jr. Day", 2024, "2024-01-15"),
        ("Washington's Birthday", 2024, "2024-02-19"),
        ("Memorial Day", 2024, "2024-05-27"),
        ("Juneteenth", 2024, "2024-06-19"),
        ("Independence Day", 2024, "2024-07-04"),
        ("Labor Day", 2024, "2024-09-02"),
        ("Columbus Day", 2024, "2024-10-14"),
        ("Veterans Day", 2024, "2024-11-11"),
        ("Thanksgiving", 2024, "2024-11-28"),
        ("Thanksgiving", 2025, "2025-11-27"),
        ("Christmas Day", 2024, "2024-12-25"),
    ],
)
def test_federal_holidays_of_the_united_states(name: str, year: int, expected: str) -> None:
    assert day_of(name, year) == expected


@each(
    ("name", "expected"),
    [
        ("Groundhog Day", "2024-02-02"),
        ("Valentine's Day", "2024-02-14"),
        ("St. Patrick's Day", "2024-03-17"),
        ("Saint Patricks day", "2024-03-17"),
        ("Good Friday", "2024-03-29"),
        ("Easter", "2024-03-31"),
        ("Mother's Day", "2024-05-12"),
        ("Father's Day", "2024-06-16"),
        ("Halloween", "2024-10-31"),
        ("Election Day", "2024-11-05"),
        ("Christmas Eve", "2024-12-24"),
        ("New Year's Eve", "2024-12-31"),
    ],
)
def test_days_that_are_kept_without_being_public_holidays(name: str, expected: str) -> None:
    assert day_of(name, 2024) == expected


@each(
    ("name", "expected"),
    [
        ("Pi Day", "2024-03-14"),
        ("April Fools' Day", "2024-04-01"),
        ("Earth Day", "2024-04-22"),
        ("Cinco de Mayo", "2024-05-05"),
        ("Day of the Dead", "2024-11-02"),
        ("Guy Fawkes Night", "2024-11-05"),
        ("Singles Day", "2024-11-11"),
    ],
)
def test_observances_on_a_fixed_date(name: str, expected: str) -> None:
    assert day_of(name, 2024) == expected


@each(
    ("name", "country", "expected"),
    [
        ("Christmas", "DE", "2024-12-25"),
        ("German Unity Day", "DE", "2024-10-03"),
        ("Labor Day", "DE", "2024-05-01"),
        ("Thanksgiving", "CA", "2024-10-14"),
        ("Independence Day", "IN", "2024-08-15"),
        ("Independence Day", "MX", "2024-09-16"),
        ("National Day", "FR", "2024-07-14"),
        ("Easter Monday", "GB", "2024-04-01"),
        ("King's Day", "NL", "2024-04-27"),
        ("Chinese New Year", "CN", "2024-02-10"),
        ("Mountain Day", "JP", "2024-08-11"),
        ("Songkran Festival", "TH", "2024-04-13"),
        ("Eid al-Fitr", "SA", "2024-04-09"),
        ("Republic Day", "IT", "2024-06-02"),
        ("Independence Day", "PL", "2024-11-11"),
        ("Freedom Day", "ZA", "2024-04-27"),
        ("Waitangi Day", "NZ", "2024-02-06"),
        ("ANZAC Day", "AU", "2024-04-25"),
        ("Independence Day", "BR", "2024-09-07"),
        ("Constitution Day", "NO", "2024-05-17"),
    ],
)
def test_the_phones_country_comes_first(name: str, country: str, expected: str) -> None:
    found = HOLIDAYS.search(name, 2024, "UTC", country)
    assert found is not None
    assert (found.date, found.country_code) == (expected, country)


@each(
    ("name", "expected"),
    [
        ("Canadian Thanksgiving", "2024-10-14"),
        ("Thanksgiving in Canada", "2024-10-14"),
        ("Canada Day", "2024-07-01"),
        ("Australia Day", "2024-01-26"),
        ("Mexican Independence Day", "2024-09-16"),
        ("Singapore National Day", "2024-08-09"),
        ("Labour Day in Germany", "2024-05-01"),
        ("Bastille Day", "2024-07-14"),
        ("Republic Day in India", "2024-01-26"),
        ("South Korea Hangul Day", "2024-10-09"),
    ],
)
def test_a_country_that_the_name_mentions_wins_over_the_phones(name: str, expected: str) -> None:
    assert day_of(name, 2024, "US") == expected


@each(
    ("name", "expected"),
    [
        ("Boxing Day", ("2024-12-26", "2024-12-26")),
        ("Diwali", ("2024-10-31", "2024-11-01")),
        ("Holi", ("2024-03-25", "2024-03-25")),
        ("Waitangi Day", ("2024-02-06", "2024-02-06")),
        ("Mid-Autumn Festival", ("2024-09-17", "2024-09-17")),
        ("Yom Kippur", ("2024-10-12", "2024-10-12")),
        ("King's Day", ("2024-04-27", "2024-04-27")),
    ],
)
def test_what_the_phones_country_does_not_keep_is_found_elsewhere(name: str, expected: tuple[str, str]) -> None:
    assert day_of(name, 2024, "US") in expected


@each(
    ("name", "expected"),
    [
        ("Chrismas", "2024-12-25"),
        ("Xmas", "2024-12-25"),
        ("christmas DAY", "2024-12-25"),
        ("Thanksgivng Day", "2024-11-28"),
        ("MLK Day", "2024-01-15"),
        ("Presidents' Day", "2024-02-19"),
        ("President’s Day", "2024-02-19"),
        ("4th of July", "2024-07-04"),
        ("july 4th", "2024-07-04"),
        ("Labour Day", "2024-09-02"),
        ("mothers day", "2024-05-12"),
        ("new years eve", "2024-12-31"),
        ("New Year", "2024-01-01"),
        ("Black Friday", "2024-11-29"),
        ("Indigenous Peoples' Day", "2024-10-14"),
        ("Deepavali", "2024-10-31"),
    ],
)
def test_names_need_not_be_exact(name: str, expected: str) -> None:
    assert day_of(name, 2024) == expected


def test_a_day_that_only_some_states_keep_is_found_by_its_name() -> None:
    assert day_of("Cesar Chavez Day", 2024) == "2024-03-31"
    assert day_of("Patriots' Day", 2024) == "2024-04-15"


@each("name", ["", "  ", "Day", "holiday", "the day", "xyzzy", "my birthday party", "!?", "Christmas " * 40_000])
def test_what_names_no_holiday_is_not_found(name: str) -> None:
    assert day_of(name, 2024) is None


def test_the_observed_substitute_is_not_the_holiday() -> None:
    assert day_of("Independence Day", 2026) == "2026-07-04"
    assert date.fromisoformat("2026-07-04").strftime("%A") == "Saturday"


def test_one_word_of_a_long_name_is_not_enough() -> None:
    """ "King" alone must not become Martin Luther King Jr. Day."""
    assert day_of("King's Day", 2024) != "2024-01-15"


def test_among_equal_matches_public_holidays_win_then_the_closest_length() -> None:
    christmas = HOLIDAYS.search("Christmas", 2024, "UTC", "GB")
    assert christmas is not None
    assert christmas.name == "Christmas Day"


def test_a_feast_of_several_days_begins_on_its_first() -> None:
    assert day_of("Chinese New Year", 2026, "CN") == "2026-02-17"
    assert day_of("Eid al-Fitr", 2024, "SA") == "2024-04-09"


def test_elsewhere_the_date_that_most_people_keep_wins() -> None:
    """India's Republic Day, not Ghana's or Italy's, when a country without one is asked."""
    assert day_of("Republic Day", 2024, "US") == "2024-01-26"
    assert day_of("National Day", 2024, "US") == "2024-10-01"


@each(
    ("zone", "expected"),
    [
        ("UTC", datetime(2024, 12, 25, 0, tzinfo=UTC)),
        ("America/Los_Angeles", datetime(2024, 12, 25, 8, tzinfo=UTC)),
        ("Asia/Kolkata", datetime(2024, 12, 24, 18, 30, tzinfo=UTC)),
        ("Pacific/Auckland", datetime(2024, 12, 24, 11, tzinfo=UTC)),
    ],
)
def test_the_timestamp_is_the_midnight_of_the_phones_zone(zone: str, expected: datetime) -> None:
    found = HOLIDAYS.search("Christmas Day", 2024, zone)
    assert found is not None
    assert found.timestamp == expected.timestamp()


def test_midnight_in_summer_knows_daylight_saving() -> None:
    found = HOLIDAYS.search("Independence Day", 2024, "America/New_York")
    assert found is not None
    assert found.timestamp == datetime(2024, 7, 4, 4, tzinfo=UTC).timestamp()


@each("year", [1899, 2101, 0, -5, 10**9])
def test_years_far_away_have_no_holidays(year: int) -> None:
    assert day_of("Christmas Day", year) is None


@each("year", [1900, 1950, 2000, 2100])
def test_christmas_is_in_every_year_that_is_covered(year: int) -> None:
    assert day_of("Christmas Day", year) == f"{year}-12-25"


def test_an_unknown_country_is_refused_by_name() -> None:
    with pytest.raises(InvalidQuestionError, match="unknown country 'XX'; expected an ISO 3166 code"):
        HOLIDAYS.search("Christmas", 2024, "UTC", "XX")


def test_a_country_without_a_calendar_falls_back_on_all_others() -> None:
    """Every country that a phone can be in may be asked, also those that the library leaves out."""
    from sandbox_mcp.engine.worlds.phone.knowledge.tables import rows

    for row in rows("countries.tsv"):
        assert day_of("Christmas Day", 2024, row["code"]) in ("2024-12-25", "2024-01-06", "2024-01-07")


def test_an_unknown_zone_is_refused_by_name() -> None:
    with pytest.raises(InvalidQuestionError, match="unknown time zone 'Mars/Olympus'"):
        HOLIDAYS.search("Christmas", 2024, "Mars/Olympus")


def test_every_country_of_the_library_can_be_asked() -> None:
    import holidays

    countries = holidays.list_supported_countries(include_aliases=False)
    assert len(countries) >= 200
    found = {code: HOLIDAYS.search("Labor Day", 2026, "UTC", code) for code in countries}
    assert all(found.values())


def test_years_in_which_the_library_knows_less_pass_without_a_warning() -> None:
    assert day_of("Independence Day", 1990, "IN") == "1990-08-15"


@given(st.text(max_size=30), st.integers(2020, 2026))
@settings(max_examples=at_least(25), deadline=None)
def test_any_text_has_an_answer_in_the_year_asked_or_none(name: str, year: int) -> None:
    found = HOLIDAYS.search(name, year, "UTC")
    assert found is None or found.date.startswith(str(year))


@given(st.sampled_from(["Christmas Day", "Thanksgiving", "Memorial Day", "Halloween"]), st.integers(1970, 2100))
@settings(max_examples=at_least(15), deadline=None)
def test_case_and_spaces_never_matter(name: str, year: int) -> None:
    assert day_of(name, year) == day_of(f"  {name.upper()} ", year) == day_of(name.lower(), year)
