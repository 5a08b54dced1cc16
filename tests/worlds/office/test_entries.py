"""What an account keeps: alarms, the calendar, mail, messages and reminders; and the weather."""

from typing import Any

import pytest

from tests.each import each
from tests.worlds.office.desk import Desk, at, mail

LUNCH = {
    "name": "Lunch", "event_type": "event", "start_time": "2027-03-09 12:00:00", "end_time": "2027-03-09 13:00:00",
}  # fmt: skip


class TestOwners:
    @each(
        ("tool", "arguments"),
        [
            ("DeleteAlarm", {"alarm_id": "early"}),
            ("DeleteEvent", {"event_id": "standup"}),
            ("ModifyEvent", {"event_id": "standup", "new_name": "x"}),
            ("CompleteReminder", {"reminder_id": "plants"}),
            ("DeleteReminder", {"reminder_id": "plants"}),
        ],
    )
    def test_what_belongs_to_others_is_not_there(self, tool: str, arguments: dict[str, str]) -> None:
        assert "NoDataError: there is no" in Desk(who="kai").refusal(tool, **arguments)


class TestAlarms:
    def test_are_kept_with_two_digits(self) -> None:
        desk = Desk()
        desk.call("AddAlarm", time="7:05:00")
        assert [alarm["time"] for alarm in desk.call("FindAlarms")["alarms"]] == ["06:30:00", "07:05:00"]

    @each("time", ["07:05", "25:00:00", "seven", "2027-03-09 07:00:00"])
    def test_ring_at_a_time_of_day(self, time: str) -> None:
        assert "expected something like '17:30:00'" in Desk().refusal("AddAlarm", time=time)

    def test_are_found_between_two_times(self) -> None:
        assert Desk().call("FindAlarms", start_range="06:30:01", end_range="09:00:00") == {"alarms": []}

    def test_a_range_runs_forward(self) -> None:
        assert "must not be later" in Desk().refusal("FindAlarms", start_range="09:00:00", end_range="06:00:00")

    def test_can_be_deleted(self) -> None:
        desk = Desk()
        desk.call("DeleteAlarm", alarm_id="early")
        assert [row["alarm_id"] for row in desk.rows("alarm")] == ["kais"]


class TestTheCalendar:
    def test_has_what_was_entered(self) -> None:
        desk = Desk()
        id_ = desk.call("CreateEvent", **LUNCH)["event_id"]
        found = desk.call("QueryCalendar", start_time="2027-03-09 12:59:00", end_time="2027-03-09 23:59:59")["events"]
        rest = {"location": None, "description": None, "attendees": None}
        assert found == [{"event_id": id_, **LUNCH, **rest}]

    def test_whoever_enters_a_meeting_takes_part(self) -> None:
        desk = Desk()
        desk.call("CreateEvent", **{**LUNCH, "event_type": "meeting"}, attendees=["kai"])
        assert desk.rows("event")[-1]["attendees"] == ("kai", "ines")

    @each(
        ("wrong", "why"),
        [
            ({"event_type": "meeting"}, "a meeting needs `attendees`"),
            ({"event_type": "party"}, "event_type must be one of 'meeting', 'event'"),
            ({"start_time": "2027-03-09 14:00:00"}, "`start_time` must not be later than `end_time`"),
            ({"start_time": "2027-03-07 12:00:00"}, "which is in the past; it is 2027-03-08 09:00:00"),
            ({"start_time": "2027-02-29 12:00:00"}, "expected something like '2027-03-08 17:30:00'"),
            ({"attendees": "kai"}, "attendees must be array or null"),
        ],
    )
    def test_takes_nothing_that_cannot_be(self, wrong: dict[str, Any], why: str) -> None:
        assert why in Desk().refusal("CreateEvent", **{**LUNCH, **wrong})

    def test_only_what_is_named_changes(self) -> None:
        desk = Desk()
        before = desk.rows("event")[0]
        desk.call("ModifyEvent", event_id="standup", new_location="Loft")
        assert desk.rows("event")[0] == {**before, "location": "Loft"}

    @each(
        ("change", "why"),
        [
            ({"new_name": "x", "new_start_time": "2027-03-09 10:00:00"}, "together"),
            ({"new_name": "x", "new_end_time": "2027-03-09 10:00:00"}, "together"),
            ({"new_start_time": "2027-03-01 10:00:00", "new_end_time": "2027-03-09 10:00:00"}, "in the past"),
            ({}, "give at least one thing"),
            ({"new_attendees": []}, "a meeting needs attendees"),
        ],
    )
    def test_a_change_that_is_refused_changes_nothing(self, change: dict[str, Any], why: str) -> None:
        assert why in Desk().refusal("ModifyEvent", event_id="standup", **change)

    @each(
        ("start", "end", "count"),
        [
            ("09:00:00", "09:00:00", 1),
            ("09:05:00", "09:10:00", 1),
            ("09:15:00", "18:00:00", 1),
            ("09:15:01", "18:00:00", 0),
        ],
    )
    def test_is_asked_for_whatever_overlaps(self, start: str, end: str, count: int) -> None:
        asked = {"start_time": f"2027-03-09 {start}", "end_time": f"2027-03-09 {end}"}
        assert len(Desk().call("QueryCalendar", **asked)["events"]) == count

    def test_of_somebody_who_has_none_is_empty(self) -> None:
        asked = {"start_time": "2027-03-09 00:00:00", "end_time": "2027-03-10 00:00:00"}
        assert Desk(who="kai").call("QueryCalendar", **asked) == {"events": []}


class TestMail:
    @pytest.fixture
    def desk(self) -> Desk:
        old = [mail(f"m{day}", f"2027-03-0{day} 08:00:00", subject=f"Day {day}") for day in range(1, 7)]
        other = mail("bill", "2027-03-07 12:00:00", "shop@store.example", "Invoice", "The Lamp you bought")
        future = mail("soon", "2027-03-08 09:00:01", subject="Day 8")
        return Desk(email={row["email_id"]: row for row in (*old, other, future)})

    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            ({"query": "day"}, ["m6", "m5", "m4", "m3", "m2"]),
            ({"query": "lamp DAY", "start_date": "2027-03-05 00:00:00"}, ["bill", "m6", "m5"]),
            ({"query": "lamp day", "match_type": "all"}, []),
            ({"query": "lamp bought", "match_type": "all"}, ["bill"]),
            ({"sender": "Shop@store.example"}, ["bill"]),
            ({"start_date": "2027-03-02 08:00:00", "end_date": "2027-03-03 08:00:00"}, ["m3", "m2"]),
        ],
    )
    def test_the_newest_five_that_fit_are_found(self, desk: Desk, asked: dict[str, str], found: list[str]) -> None:
        assert [row["email_id"] for row in desk.call("SearchInbox", **asked)["emails"]] == found

    def test_from_the_future_is_not_there_yet(self, desk: Desk) -> None:
        assert desk.call("SearchInbox", start_date="2027-03-08 00:00:00") == {"emails": []}
        desk.running.tick(1)
        assert len(desk.call("SearchInbox", start_date="2027-03-08 00:00:00")["emails"]) == 1

    @pytest.mark.parametrize(
        ("asked", "why"),
        [
            ({}, "give at least one of"),
            ({"match_type": "all"}, "give at least one of"),
            ({"query": "a", "match_type": "some"}, "match_type must be one of 'any', 'all'"),
            ({"start_date": "2027-03-03 00:00:00", "end_date": "2027-03-02 00:00:00"}, "must not be later"),
            ({"start_date": "2027-03-03"}, "expected something like"),
        ],
    )
    def test_a_search_has_to_make_sense(self, desk: Desk, asked: dict[str, str], why: str) -> None:
        assert why in desk.refusal("SearchInbox", **asked)

    def test_that_is_sent_stands_among_what_was_sent(self, desk: Desk) -> None:
        desk.call("SendEmail", to=["a@b.example", "c@d.example"], subject="Hi", body="Text")
        sent = desk.rows("email")[-1]
        assert (sent["folder"], sent["sender"], sent["receivers"]) == (
            "sent",
            "ines@office.example",
            ("a@b.example", "c@d.example"),
        )

    def test_that_is_sent_is_in_no_inbox(self) -> None:
        desk = Desk()
        desk.call("SendEmail", to=["ines@office.example"], subject="Hi", body="Text")
        assert desk.call("SearchInbox", query="hi") == {"emails": []}

    @each(
        ("to", "why"),
        [
            ("a@b.example", "to must be array"),
            ([], "at least one"),
            (["a@b.example", "kai"], "`to` has 'kai'"),
            ([7], "to[0] must be string"),
        ],
    )
    def test_goes_to_a_list_of_addresses(self, to: Any, why: str) -> None:
        assert why in Desk().refusal("SendEmail", to=to, subject="s", body="b")


class TestMessages:
    def test_go_to_whoever_is_named(self) -> None:
        desk = Desk()
        desk.call("SendMessage", receiver="a_friend", message="On my way")
        (sent,) = desk.rows("message")
        assert (sent["sender"], sent["receiver"], sent["folder"]) == ("ines", "a_friend", "sent")

    def test_say_something(self) -> None:
        assert "must not be empty" in Desk().refusal("SendMessage", receiver="kai", message=" ")

    def test_received_are_found_and_those_sent_are_not(self) -> None:
        got = {"message_id": "m", "account": "ines", "folder": "inbox", "timestamp": at("2027-03-07 10:00:00")}
        desk = Desk(message={"m": {**got, "sender": "kai", "receiver": "ines", "message": "Lunch on Tuesday?"}})
        desk.call("SendMessage", receiver="kai", message="Lunch it is")
        assert desk.call("SearchMessages", query="lunch")["messages"] == [
            {"message_id": "m", "timestamp": "2027-03-07 10:00:00", "sender": "kai", "message": "Lunch on Tuesday?"}
        ]


class TestReminders:
    def test_are_listed_with_all_there_is(self) -> None:
        desk = Desk()
        desk.call("AddReminder", task="Pay rent", due_date="2027-03-31 12:00:00")
        last = desk.call("GetReminders")["reminders"][-1]
        assert (last["task"], last["due_date"], last["status"]) == ("Pay rent", "2027-03-31 12:00:00", "pending")

    def test_stay_when_they_are_complete(self) -> None:
        desk = Desk()
        desk.call("CompleteReminder", reminder_id="plants")
        assert [task["status"] for task in desk.call("GetReminders")["reminders"]] == ["complete", "complete"]

    def test_are_completed_once(self) -> None:
        assert "is complete already" in Desk().refusal("CompleteReminder", reminder_id="tax")

    def test_need_a_date_that_exists(self) -> None:
        assert "`due_date` is 'Friday'" in Desk().refusal("AddReminder", task="x", due_date="Friday")

    @each(("zone", "due"), [("Europe/Berlin", "0001-01-01 00:00:00"), ("America/New_York", "9999-12-31 23:59:59")])
    def test_stay_readable_whatever_date_is_asked_for(self, zone: str, due: str) -> None:
        desk = Desk(zone=zone)
        assert f"{due} is out of range" in desk.refusal("AddReminder", task="x", due_date=due)
        assert len(desk.call("GetReminders")["reminders"]) == 2


class TestTheWeather:
    def test_is_told_to_anybody(self) -> None:
        assert Desk(who=None).call("CurrentWeather", location=" Oslo ")["weather"]["date"] == "2027-03-08"

    def test_is_forecast_for_three_days_from_tomorrow(self) -> None:
        dates = [day["date"] for day in Desk().call("ForecastWeather", location="Lisbon")["forecast"]]
        assert dates == ["2027-03-09", "2027-03-10", "2027-03-11"]

    def test_that_is_usual_is_told_by_month(self) -> None:
        assert set(Desk().call("HistoricWeather", location="Chicago", month="JULY")["weather"]) == {
            "min_temp", "max_temp", "record_min_temp", "record_max_temp", "avg_rainfall", "snow_days",
        }  # fmt: skip

    @each(
        ("tool", "arguments", "why"),
        [
            ("CurrentWeather", {"location": "Atlantis"}, "no weather is known for 'Atlantis'"),
            ("HistoricWeather", {"location": "Oslo", "month": "Mar"}, "expected a month such as 'March'"),
            ("HistoricWeather", {"location": "Atlantis", "month": "March"}, "no usual weather is known"),
        ],
    )
    def test_that_is_not_known_is_not_made_up(self, tool: str, arguments: dict[str, str], why: str) -> None:
        assert why in Desk().refusal(tool, **arguments)

    def test_of_days_far_off_is_not_known(self) -> None:
        desk = Desk()
        desk.running.tick(60 * 86400)
        assert "on 2027-05-07" in desk.refusal("CurrentWeather", location="Oslo")
