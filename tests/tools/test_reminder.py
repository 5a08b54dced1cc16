"""Reminders."""

from tests.each import each
from tests.tools.phone import DAY, HOUR, NOW, REMINDERS, Phone


def ids(found: list[dict[str, str]]) -> list[str]:
    return [row["reminder_id"] for row in found]


class TestAdding:
    def test_a_reminder_is_made_now(self) -> None:
        phone = Phone()
        key = phone.do("add_reminder", content="Call Bob", reminder_timestamp=NOW + HOUR)
        assert phone.row("reminder", key) == {
            "reminder_id": key,
            "content": "Call Bob",
            "creation_timestamp": NOW,
            "reminder_timestamp": NOW + HOUR,
            "latitude": None,
            "longitude": None,
        }

    def test_a_place_may_be_given_or_null(self) -> None:
        phone = Phone()
        moment = NOW + HOUR
        with_place = phone.do("add_reminder", content="x", reminder_timestamp=moment, latitude=1, longitude=-2.5)
        without = phone.do("add_reminder", content="x", reminder_timestamp=moment, latitude=None, longitude=None)
        assert phone.row("reminder", with_place)["latitude"] == 1.0
        assert phone.row("reminder", without)["longitude"] is None

    def test_half_a_place_will_do(self) -> None:
        assert Phone().do("add_reminder", content="x", reminder_timestamp=NOW, latitude=1)

    def test_it_may_be_in_the_past(self) -> None:
        assert Phone().do("add_reminder", content="x", reminder_timestamp=NOW - DAY)

    @each("moment", [315529200, 2524604400.0])
    def test_the_ends_of_the_calendar_are_in_it(self, moment: float) -> None:
        assert Phone().do("add_reminder", content="x", reminder_timestamp=moment)

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        wanted: dict[str, object] = {
            "content": "x",
            "reminder_timestamp": 315529199.5,
            "latitude": 90.5,
            "longitude": -180.5,
        }
        assert phone.fails("add_reminder", **wanted) == (
            "ValueError: `reminder_timestamp` 315529199.5 is out of range; "
            "expected seconds since 1970 from 315529200.0 to 2524604400.0"
        )
        wanted["reminder_timestamp"] = NOW
        assert phone.fails("add_reminder", **wanted) == (
            "ValueError: `latitude` 90.5 is out of range; expected degrees from -90.0 to 90.0"
        )
        wanted["latitude"] = 90
        assert phone.fails("add_reminder", **wanted) == (
            "ValueError: `longitude` -180.5 is out of range; expected degrees from -180.0 to 180.0"
        )


class TestChanging:
    def test_what_is_not_given_stays_but_it_counts_as_made_now(self) -> None:
        phone = Phone()
        assert phone.do("modify_reminder", reminder_id="r-dentist", reminder_timestamp=NOW + DAY) is None
        assert phone.row("reminder", "r-dentist") == {
            **REMINDERS[1],
            "creation_timestamp": NOW,
            "reminder_timestamp": NOW + DAY,
        }

    def test_a_place_can_be_taken_away(self) -> None:
        phone = Phone()
        phone.do("modify_reminder", reminder_id="r-dentist", latitude=None, longitude=None)
        row = phone.row("reminder", "r-dentist")
        assert (row["latitude"], row["longitude"]) == (None, None)

    def test_a_null_is_something_to_change(self) -> None:
        Phone().do("modify_reminder", reminder_id="r-plants", latitude=None)

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        assert phone.fails("modify_reminder", reminder_id="zz", reminder_timestamp=0, latitude=99).startswith(
            "ValueError: `reminder_timestamp` 0.0 is out of range"
        )
        assert phone.fails("modify_reminder", reminder_id="zz", latitude=99).startswith("ValueError: `latitude` 99.0")
        assert phone.fails("modify_reminder", reminder_id="zz") == (
            "ValueError: nothing to change was given; expected at least one of `content`, `reminder_timestamp`, "
            "`latitude`, `longitude`"
        )
        assert phone.fails("modify_reminder", reminder_id="zz", content="x") == (
            "NoDataError: no reminder has the id 'zz'"
        )


class TestRemoving:
    def test_a_reminder_is_removed_once(self) -> None:
        phone = Phone()
        assert phone.do("remove_reminder", reminder_id="r-books") is None
        assert ids(phone.rows("reminder")) == ["r-dentist", "r-plants"]
        assert phone.fails("remove_reminder", reminder_id="r-books").startswith("NoDataError: no reminder has")


class TestSearching:
    @each(
        ("wanted", "found"),
        [
            ({"reminder_id": "r-plants"}, ["r-plants"]),
            ({"content": "library"}, ["r-books"]),
            ({"content": "dentist appointment"}, ["r-dentist"]),
            ({"creation_timestamp_lowerbound": NOW - 2 * DAY}, ["r-dentist", "r-plants"]),
            ({"creation_timestamp_upperbound": NOW - 2 * DAY}, ["r-books", "r-dentist"]),
            ({"reminder_timestamp_lowerbound": NOW}, ["r-dentist", "r-plants"]),
            ({"reminder_timestamp_upperbound": NOW}, ["r-books"]),
            ({"reminder_timestamp_lowerbound": NOW - DAY, "reminder_timestamp_upperbound": NOW - DAY}, ["r-books"]),
            ({"latitude": 41.8896}, ["r-dentist"]),
            ({"latitude": 41.8896, "longitude": 1.0}, []),
            ({"latitude": 41.8897}, []),
            ({"content": "library", "reminder_timestamp_lowerbound": NOW}, []),
        ],
    )
    def test_everything_given_must_fit_and_bounds_include_their_ends(
        self, wanted: dict[str, object], found: list[str]
    ) -> None:
        assert ids(Phone().do("search_reminder", **wanted)) == found

    def test_a_reminder_is_told_whole(self) -> None:
        assert Phone().do("search_reminder", reminder_id="r-dentist") == [REMINDERS[1]]

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        names = [
            "latitude",
            "longitude",
        ]
        wanted = dict.fromkeys(names, -999.0)
        for name in names:
            assert phone.fails("search_reminder", **wanted).startswith(f"ValueError: `{name}` -999.0 is out of range")
            del wanted[name]

    def test_without_anything_to_search_for_all_are_listed(self) -> None:
        phone = Phone()
        everything = ids(phone.do("search_reminder"))
        assert everything == [row["reminder_id"] for row in phone.rows("reminder")]
        assert ids(phone.do("search_reminder", reminder_timestamp_lowerbound=0)) == everything
