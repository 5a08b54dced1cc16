"""Reckoning with moments, in the phone's time zone, also in the nights when clocks change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from tests.each import each
from tests.tools.phone import DAY, HOUR, NOW, Phone

ZONES = ("UTC", "America/Chicago", "Europe/Paris", "Asia/Kathmandu", "Australia/Lord_Howe")
moments = st.integers(400_000_000, 2_400_000_000)


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


def info(*parts: int, weekday: int) -> dict[str, int]:
    names = ("year", "month", "day", "hour", "minute", "second")
    return {**dict(zip(names, parts, strict=True)), "isoweekday": weekday}


def paris() -> Phone:
    return Phone(zone="Europe/Paris")


class TestClock:
    def test_it_tells_the_worlds_time(self) -> None:
        phone = Phone()
        assert phone.do("get_current_timestamp") == NOW
        phone.world.tick(90)
        assert phone.do("get_current_timestamp") == NOW + 90


class TestDates:
    def test_a_moment_is_read_in_the_phones_zone(self) -> None:
        assert Phone().do("timestamp_to_datetime_info", timestamp=NOW) == info(2025, 5, 16, 9, 30, 0, weekday=5)
        assert paris().do("timestamp_to_datetime_info", timestamp=NOW) == info(2025, 5, 16, 16, 30, 0, weekday=5)

    def test_a_fraction_of_a_second_is_dropped(self) -> None:
        assert Phone().do("timestamp_to_datetime_info", timestamp=NOW + 0.9)["second"] == 0

    def test_sunday_is_the_seventh_day(self) -> None:
        assert Phone().do("timestamp_to_datetime_info", timestamp=NOW + 2 * DAY)["isoweekday"] == 7

    def test_a_date_becomes_a_moment_in_the_phones_zone(self) -> None:
        date = {"year": 2025, "month": 5, "day": 16, "hour": 9, "minute": 30, "second": 0}
        assert Phone().do("datetime_info_to_timestamp", **date) == NOW
        assert paris().do("datetime_info_to_timestamp", **date) == NOW - 7 * HOUR

    def test_a_leap_day_exists_in_leap_years_only(self) -> None:
        noon = {"month": 2, "day": 29, "hour": 12, "minute": 0, "second": 0}
        assert Phone(zone="UTC").do("datetime_info_to_timestamp", year=2028, **noon) == utc(2028, 2, 29, 12)
        assert "day is out of range" in Phone().fails("datetime_info_to_timestamp", year=2027, **noon)

    def test_a_time_that_happens_twice_means_the_first(self) -> None:
        date = {"year": 2025, "month": 10, "day": 26, "hour": 2, "minute": 30, "second": 0}
        assert paris().do("datetime_info_to_timestamp", **date) == utc(2025, 10, 26, 0, 30)

    @each(
        ("part", "value"),
        [("month", 13), ("month", 0), ("day", 32), ("hour", 24), ("minute", 60), ("second", -1), ("year", 0)],
    )
    def test_what_no_calendar_has_is_told_in_words_that_no_version_of_python_changes(
        self, part: str, value: int
    ) -> None:
        date = {"year": 2025, "month": 5, "day": 16, "hour": 9, "minute": 30, "second": 0, part: value}
        told = {
            "year": "year 0 is out of range",
            "month": "month must be in 1..12",
            "day": "day is out of range for month",
            "hour": "hour must be in 0..23",
            "minute": "minute must be in 0..59",
            "second": "second must be in 0..59",
        }
        assert Phone().fails("datetime_info_to_timestamp", **date) == f"ValueError: {told[part]}"

    @given(st.tuples(st.integers(0, 10_000), *(st.integers(-1, last) for last in (14, 33, 25, 61, 61))))
    def test_the_calendar_is_pythons(self, parts: tuple[int, ...]) -> None:
        date = dict(zip(("year", "month", "day", "hour", "minute", "second"), parts, strict=True))
        outcome = Phone(zone="UTC").call("datetime_info_to_timestamp", date)
        try:
            expected = datetime(*parts, tzinfo=UTC).timestamp()
        except ValueError:
            expected = None
        assert (outcome.result if outcome.fault is None else None) == expected

    def test_a_number_too_large_for_any_calendar_is_told_plainly(self) -> None:
        date = {"year": 10**30, "month": 5, "day": 16, "hour": 9, "minute": 30, "second": 0}
        text = Phone().fails("datetime_info_to_timestamp", **date)
        assert text == "ValueError: a part of the date or time is far out of range"

    @given(moments, st.sampled_from(ZONES))
    def test_there_and_back_again(self, moment: int, zone: str) -> None:
        phone = Phone(zone=zone)
        parts = phone.do("timestamp_to_datetime_info", timestamp=moment)
        del parts["isoweekday"]
        back = phone.do("datetime_info_to_timestamp", **parts)
        assert back == moment or moment - back in (HOUR, HOUR / 2), "a time that happens twice means the first"


class TestShifting:
    @each(
        ("amounts", "seconds"),
        [
            ({}, 0),
            ({"weeks": 1}, 7 * DAY),
            ({"days": -2}, -2 * DAY),
            ({"hours": 36}, 36 * HOUR),
            ({"minutes": -90}, -90 * 60),
            ({"seconds": 100_000}, 100_000),
            ({"weeks": 1, "days": -7, "hours": 1, "minutes": -60, "seconds": 5}, 5),
        ],
    )
    def test_by_amounts_of_time(self, amounts: dict[str, int], seconds: float) -> None:
        assert Phone().do("shift_timestamp", timestamp=NOW, **amounts) == NOW + seconds

    def test_a_fraction_of_a_second_is_kept(self) -> None:
        assert Phone().do("shift_timestamp", timestamp=NOW + 0.25, days=1) == NOW + DAY + 0.25

    def test_a_day_later_is_the_same_time_of_day(self) -> None:
        evening = utc(2025, 3, 29, 19, 45)
        assert paris().do("shift_timestamp", timestamp=evening, days=1) == evening + 23 * HOUR

    def test_an_hour_is_an_hour_also_when_clocks_change(self) -> None:
        late = utc(2025, 3, 29, 23, 30)
        assert paris().do("shift_timestamp", timestamp=late, hours=3) == late + 3 * HOUR

    def test_time_does_not_run_backwards_when_an_hour_happens_twice(self) -> None:
        second_half_past_two = utc(2025, 10, 26, 1, 30)
        assert paris().do("shift_timestamp", timestamp=second_half_past_two) == second_half_past_two
        assert paris().do("shift_timestamp", timestamp=second_half_past_two, minutes=5) == second_half_past_two + 300

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        assert phone.fails("shift_timestamp", timestamp=0, days=10**9).startswith("ValueError: `timestamp` 0.0 is out")
        for amounts in ({"days": 10**9}, {"weeks": -(10**6)}, {"hours": 10**12}, {"seconds": 10**300}):
            text = phone.fails("shift_timestamp", timestamp=NOW, **amounts)
            assert text == "ValueError: the amounts lead out of the calendar"

    @given(moments, st.integers(-1000, 1000), st.integers(-(10**6), 10**6), st.sampled_from(ZONES))
    @example(404839800, -610, 0, "Australia/Lord_Howe")  # which has moved by one hour and a half since
    def test_days_keep_the_time_of_day_and_seconds_are_seconds(
        self, moment: int, days: int, seconds: int, zone: str
    ) -> None:
        phone = Phone(zone=zone)
        later = phone.do("shift_timestamp", timestamp=moment, days=days)
        before, after = (datetime.fromtimestamp(at, ZoneInfo(zone)).replace(tzinfo=None) for at in (moment, later))
        assert abs(after - before - timedelta(days)) <= timedelta(hours=1), "a time that is left out is an hour off"
        assert phone.do("shift_timestamp", timestamp=moment, seconds=seconds) == moment + seconds


class TestDifferences:
    @each(
        ("later", "days", "seconds"),
        [(0, 0, 0), (DAY, 1, 0), (DAY + 61.5, 1, 61), (-1, -1, 86399), (-DAY, -1, 0), (-2 * DAY - 5, -3, 86395)],
    )
    def test_whole_days_and_what_is_left(self, later: float, days: int, seconds: int) -> None:
        found = Phone().do("timestamp_diff", timestamp_0=NOW, timestamp_1=NOW + later)
        assert found == {"days": days, "seconds": seconds}

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        assert phone.fails("timestamp_diff", timestamp_0=0, timestamp_1=-1).startswith("ValueError: `timestamp_0` 0.0")
        assert phone.fails("timestamp_diff", timestamp_0=NOW, timestamp_1=-1).startswith("ValueError: `timestamp_1`")

    @given(moments, moments)
    def test_the_parts_make_up_the_whole(self, first: int, second: int) -> None:
        found = Phone().do("timestamp_diff", timestamp_0=first, timestamp_1=second)
        assert found["days"] * DAY + found["seconds"] == second - first
        assert 0 <= found["seconds"] < DAY


class TestDurations:
    @each(
        ("seconds", "parts"),
        [(0, (0, 0, 0)), (59.9, (0, 0, 59)), (3661, (1, 1, 1)), (86400, (24, 0, 0)), (1e6, (277, 46, 40))],
    )
    def test_hours_minutes_and_seconds(self, seconds: float, parts: tuple[int, int, int]) -> None:
        found = Phone(zone="Asia/Kolkata").do("seconds_to_hours_minutes_seconds", seconds=seconds)
        assert (found["hour"], found["minute"], found["second"]) == parts

    def test_a_length_is_never_negative(self) -> None:
        text = Phone().fails("seconds_to_hours_minutes_seconds", seconds=-1)
        assert text == "ValueError: `seconds` -1.0 is negative; expected a length of time"
