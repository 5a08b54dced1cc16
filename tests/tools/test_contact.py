"""The address book."""

from tests.each import each
from tests.tools.phone import ANN, BOB, CONTACTS, EVE, ME, Phone, contact


def ids(found: list[dict[str, str]]) -> list[str]:
    return [row["person_id"] for row in found]


class TestAdding:
    def test_a_person_is_added_with_a_new_id(self) -> None:
        phone = Phone()
        key = phone.do("add_contact", name="Zed Moss", phone_number="+493023125001")
        assert phone.row("contact", key) == contact(key, "Zed Moss", "+493023125001", None)

    def test_with_all_there_is_to_say(self) -> None:
        phone = Phone(contacts=CONTACTS[1:])
        arguments = {"name": "Me", "phone_number": "+13125550142", "relationship": "self", "is_self": True}
        key = phone.do("add_contact", **arguments)
        assert phone.row("contact", key) == {"person_id": key, **arguments}

    def test_a_relationship_may_be_null(self) -> None:
        assert Phone().do("add_contact", name="Zed", phone_number="+493023125001", relationship=None)

    def test_the_same_person_may_be_added_twice(self) -> None:
        phone = Phone()
        added = [phone.do("add_contact", name="Ann Okafor", phone_number="+17735550113") for _ in range(2)]
        assert len(set(added)) == 2

    def test_a_number_is_kept_as_it_was_written(self) -> None:
        phone = Phone()
        key = phone.do("add_contact", name="Zed", phone_number="+49 30 23125 001")
        assert phone.row("contact", key)["phone_number"] == "+49 30 23125 001"

    @each("number", ["030 23125001", "call me", "", "+", "0049302312500", "+999", "+1" + "7" * 1000])
    def test_what_is_no_number_is_refused(self, number: str) -> None:
        text = Phone().fails("add_contact", name="Zed", phone_number=number)
        assert text.startswith(f"ValueError: {number!r} is not a phone number; expected international form")

    def test_there_is_one_owner(self) -> None:
        text = Phone().fails("add_contact", name="Me too", phone_number="+493023125001", is_self=True)
        assert text == "DuplicateError: the address book already has an entry for the phone's owner"

    def test_the_number_is_looked_at_before_the_owner(self) -> None:
        assert Phone().fails("add_contact", name="X", phone_number="x", is_self=True).startswith("ValueError")


class TestChanging:
    def test_what_is_not_given_stays(self) -> None:
        phone = Phone()
        assert phone.do("modify_contact", person_id=BOB, relationship="friend") is None
        assert phone.row("contact", BOB) == contact(BOB, "Bob Reyes", "+13125550178", "friend")

    def test_the_row_keeps_its_place(self) -> None:
        phone = Phone()
        phone.do("modify_contact", person_id=ANN, name="Ann O.", phone_number="+17735550114")
        assert ids(phone.rows("contact")) == [ME, ANN, BOB, EVE]

    def test_the_owner_may_say_again_that_it_is_the_owner(self) -> None:
        Phone().do("modify_contact", person_id=ME, is_self=True)

    def test_the_owner_may_change(self) -> None:
        phone = Phone()
        phone.do("modify_contact", person_id=ME, is_self=False)
        phone.do("modify_contact", person_id=ANN, is_self=True)
        assert ids([row for row in phone.rows("contact") if row["is_self"]]) == [ANN]

    def test_errors_in_their_order(self) -> None:
        phone = Phone()
        assert phone.fails("modify_contact", person_id="zz") == (
            "ValueError: nothing to change was given; expected at least one of `name`, `phone_number`, `relationship`, "
            "`is_self`"
        )
        everything = {"person_id": "zz", "phone_number": "x", "is_self": True}
        assert phone.fails("modify_contact", **everything).startswith("ValueError: 'x' is not a phone number")
        everything["phone_number"] = "+493023125001"
        assert phone.fails("modify_contact", **everything).startswith("DuplicateError: the address book already has")
        everything["is_self"] = False
        assert phone.fails("modify_contact", **everything) == "NoDataError: no contact has the id 'zz'"


class TestRemoving:
    def test_a_person_is_removed(self) -> None:
        phone = Phone()
        assert phone.do("remove_contact", person_id=BOB) is None
        assert ids(phone.rows("contact")) == [ME, ANN, EVE]

    def test_once(self) -> None:
        phone = Phone()
        phone.do("remove_contact", person_id=BOB)
        assert phone.fails("remove_contact", person_id=BOB) == f"NoDataError: no contact has the id {BOB!r}"


class TestSearching:
    @each(
        ("wanted", "found"),
        [
            ({"person_id": ANN}, [ANN]),
            ({"phone_number": "+13125550178"}, [BOB]),
            ({"is_self": True}, [ME]),
            ({"is_self": False}, [ANN, BOB, EVE]),
            ({"relationship": "colleague"}, [BOB, EVE]),
            ({"name": "Ann Okafor"}, [ANN]),
            ({"name": "ann"}, [ANN]),
            ({"name": "Okafor, Ann"}, [ANN]),
            ({"name": "Reyes"}, [BOB]),
            ({"name": "Nobody Atall"}, []),
            ({"relationship": "colleague", "name": "Eve"}, [EVE]),
            ({"relationship": "colleague", "is_self": True}, []),
            ({"person_id": "zz"}, []),
            ({"phone_number": "+1 312 555 0178"}, []),
        ],
    )
    def test_everything_given_must_fit(self, wanted: dict[str, object], found: list[str]) -> None:
        assert ids(Phone().do("search_contacts", **wanted)) == found

    def test_an_entry_is_told_whole(self) -> None:
        assert Phone().do("search_contacts", person_id=BOB) == [CONTACTS[2]]

    def test_a_person_without_a_relationship_is_never_like_one(self) -> None:
        phone = Phone(contacts=(contact("p", "Zed", "+493023125001", None),))
        assert phone.do("search_contacts", relationship="None") == []

    def test_at_most_five_are_like_a_name(self) -> None:
        crowd = tuple(contact(f"p{n}", "Kim Lee", "+493023125001", "friend") for n in range(8))
        assert ids(Phone(contacts=crowd).do("search_contacts", name="Kim Lee")) == ["p0", "p1", "p2", "p3", "p4"]

    def test_the_best_come_first(self) -> None:
        people = (contact("far", "Anna Leeson", "+1", "x"), contact("near", "Anne Lee", "+1", "x"))
        assert ids(Phone(contacts=people).do("search_contacts", name="Anne Lee"))[0] == "near"

    def test_a_namesake_is_found_by_what_sets_it_apart(self) -> None:
        crowd = (
            *(contact(f"p{n}", "Kim Lee", "+493023125001", "neighbour") for n in range(7)),
            contact("boss", "Kim Lee", "+493023125002", "boss"),
        )
        assert ids(Phone(contacts=crowd).do("search_contacts", name="Kim Lee", relationship="boss")) == ["boss"]

    def test_names_in_any_script_are_found(self) -> None:
        people = (contact("p", "Nguyễn Hoài An", "+1", None), contact("q", "Оксана Шевченко", "+1", None))
        phone = Phone(contacts=people)
        assert ids(phone.do("search_contacts", name="Nguyễn Hoài An")) == ["p"]
        assert ids(phone.do("search_contacts", name="Оксана")) == ["q"]

    def test_without_anything_to_search_for_all_are_listed(self) -> None:
        phone = Phone()
        assert ids(phone.do("search_contacts")) == [row["person_id"] for row in phone.rows("contact")]

    def test_the_number_is_looked_at_first(self) -> None:
        assert (
            Phone().fails("search_contacts", phone_number="Ann").startswith("ValueError: 'Ann' is not a phone number")
        )
