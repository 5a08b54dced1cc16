"""Text messages."""

from tests.each import each
from tests.tools.phone import ANN, BOB, CONTACTS, DAY, HOUR, ME, MESSAGES, NOW, Phone, contact


def ids(found: list[dict[str, str]]) -> list[str]:
    return [row["message_id"] for row in found]


class TestSending:
    def test_a_message_goes_from_the_owner_to_the_contact(self) -> None:
        phone = Phone()
        key = phone.do("send_message_with_phone_number", phone_number="+13125550178", content="Hi Bob")
        assert phone.row("messaging", key) == {
            "message_id": key,
            "sender_person_id": ME,
            "sender_phone_number": "+13125550142",
            "recipient_person_id": BOB,
            "recipient_phone_number": "+13125550178",
            "content": "Hi Bob",
            "creation_timestamp": NOW,
        }

    def test_a_stranger_has_no_person_id(self) -> None:
        phone = Phone()
        key = phone.do("send_message_with_phone_number", phone_number="+493023125001", content="Hello")
        assert phone.row("messaging", key)["recipient_person_id"] is None

    def test_of_two_with_one_number_the_first_gets_it(self) -> None:
        twins = (*CONTACTS, contact("p-twin", "Bob Reyes", "+13125550178", None))
        phone = Phone(contacts=twins)
        key = phone.do("send_message_with_phone_number", phone_number="+13125550178", content="Hi")
        assert phone.row("messaging", key)["recipient_person_id"] == BOB

    def test_errors_in_their_order(self) -> None:
        nobody = CONTACTS[1:]
        text = {"phone_number": "Ann", "content": "Hi"}
        phone = Phone(contacts=nobody, cellular=False)
        assert phone.fails("send_message_with_phone_number", **text).startswith("ValueError: 'Ann' is not a phone")
        text["phone_number"] = "+17735550113"
        assert phone.fails("send_message_with_phone_number", **text) == "ConnectionError: cellular service is off"
        assert (
            Phone(contacts=nobody)
            .fails("send_message_with_phone_number", **text)
            .startswith("NoDataError: the address book has no entry for the phone's owner")
        )
        two = (*CONTACTS, contact("p-2", "Me too", "+1", None, is_self=True))
        assert (
            Phone(contacts=two)
            .fails("send_message_with_phone_number", **text)
            .startswith("DuplicateError: the address book has more than one entry for the phone's owner")
        )


class TestSearching:
    @each(
        ("wanted", "found"),
        [
            ({"message_id": "m-ask"}, ["m-ask"]),
            ({"sender_person_id": ANN}, ["m-ask"]),
            ({"sender_phone_number": "+12245550190"}, ["m-parcel"]),
            ({"recipient_person_id": ME}, ["m-parcel", "m-ask"]),
            ({"recipient_phone_number": "+17735550113"}, ["m-answer"]),
            ({"recipient_person_id": ME, "sender_person_id": ANN}, ["m-ask"]),
            ({"recipient_person_id": ME, "sender_person_id": BOB}, []),
            ({"content": "Your parcel is waiting"}, ["m-parcel"]),
            ({"content": "dinner on Saturday"}, ["m-ask"]),
            ({"content": "dinner on Saturday", "recipient_person_id": ANN}, []),
            ({"creation_timestamp_lowerbound": NOW - DAY}, ["m-ask", "m-answer"]),
            ({"creation_timestamp_upperbound": NOW - DAY}, ["m-parcel", "m-ask"]),
            ({"creation_timestamp_lowerbound": NOW - HOUR, "creation_timestamp_upperbound": NOW - HOUR}, ["m-answer"]),
            ({"creation_timestamp_lowerbound": NOW}, []),
        ],
    )
    def test_everything_given_must_fit_and_bounds_include_their_ends(
        self, wanted: dict[str, object], found: list[str]
    ) -> None:
        assert ids(Phone().do("search_messages", **wanted)) == found

    def test_a_message_is_told_whole(self) -> None:
        assert Phone().do("search_messages", message_id="m-parcel") == [MESSAGES[0]]

    def test_the_most_like_come_first_five_at_most(self) -> None:
        phone = Phone()
        for number in range(7):
            phone.do("send_message_with_phone_number", phone_number="+17735550113", content=f"parcel number {number}")
        found = phone.do("search_messages", content="Your parcel is waiting at locker 27")
        assert ids(found)[0] == "m-parcel"
        assert len(found) <= 5

    def test_texts_of_any_length_are_searched_without_holding_everybody_up(self) -> None:
        phone, long = Phone(), "".join(f"lot {number} of the auction; " for number in range(9000))
        phone.do("send_message_with_phone_number", phone_number="+17735550113", content=long)
        assert len(phone.do("search_messages", content=long[: len(long) // 2])) == 1
        assert (
            ids(phone.do("search_messages", content="Your parcel is waiting at locker 27" + " " * 100_000))[0]
            == "m-parcel"
        )

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        wanted: dict[str, object] = {
            "sender_phone_number": "x",
            "recipient_phone_number": "y",
        }
        for name, start in (
            ("sender_phone_number", "ValueError: 'x' is not a phone number"),
            ("recipient_phone_number", "ValueError: 'y' is not a phone number"),
        ):
            assert phone.fails("search_messages", **wanted).startswith(start)
            del wanted[name]

    def test_without_anything_to_search_for_all_are_listed(self) -> None:
        phone, ever = Phone(), {"creation_timestamp_lowerbound": 0, "creation_timestamp_upperbound": 1e12}
        everything = ids(phone.do("search_messages"))
        assert everything == [row["message_id"] for row in phone.rows("messaging")]
        assert ids(phone.do("search_messages", **ever)) == everything
