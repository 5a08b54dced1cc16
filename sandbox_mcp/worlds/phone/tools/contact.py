"""The address book. Names and relationships are searched by resemblance, everything else exactly."""

from typing import Any, TypedDict, cast

from sandbox_mcp.tools.definition import UNSET, DuplicateError, NoDataError, action, query
from sandbox_mcp.world import Transaction
from sandbox_mcp.worlds.phone.tools.rules import BEST, check_phone_number, fuzzy, given
from sandbox_mcp.worlds.phone.world import phone

FUZZY = 90.0


class FoundContact(TypedDict):
    """One person in the address book."""

    person_id: str
    name: str
    phone_number: str
    relationship: str | None
    is_self: bool


def _check_self(tx: Transaction, is_self: Any, apart_from: str | None = None) -> None:
    if is_self is True and any(row["is_self"] and row["person_id"] != apart_from for row in tx.rows("contact")):
        raise DuplicateError("the address book already has an entry for the phone's owner")


@action("contact")
def add_contact(
    tx: Transaction, name: str, phone_number: str, relationship: str | None = None, is_self: bool = False
) -> str:
    """Add a person to the address book.

    Args:
        name: Full name of the person.
        phone_number: Phone number in international form with a country code.
        relationship: What the person is to the phone's owner, such as "friend" or "dentist".
        is_self: Whether this entry is the phone's owner.

    Returns:
        the id of the new entry.

    Raises:
        ValueError: the phone number is not valid.
        DuplicateError: the owner already has an entry.
    """
    check_phone_number(phone_number)
    _check_self(tx, is_self)
    row = {"name": name, "phone_number": phone_number, "relationship": relationship, "is_self": is_self}
    return tx.insert("contact", "person_id", row)


@action("contact", destructive=True)
def modify_contact(
    tx: Transaction,
    person_id: str,
    name: str = UNSET,
    phone_number: str = UNSET,
    relationship: str = UNSET,
    is_self: bool = UNSET,
) -> None:
    """Change what the address book says about a person. What is not given stays as it is.

    Args:
        person_id: Id of the entry to change.
        name: New full name.
        phone_number: New phone number in international form with a country code.
        relationship: New relationship to the phone's owner.
        is_self: Whether this entry is the phone's owner.

    Raises:
        ValueError: nothing to change was given, or the phone number is not valid.
        DuplicateError: another entry already is the owner.
        NoDataError: there is no entry with that id.
    """
    values = given(name=name, phone_number=phone_number, relationship=relationship, is_self=is_self)
    if not values:
        raise ValueError(
            "nothing to change was given; expected at least one of `name`, `phone_number`, `relationship`, `is_self`"
        )
    if phone_number is not UNSET:
        check_phone_number(phone_number)
    _check_self(tx, is_self, apart_from=person_id)
    if tx.row("contact", person_id) is None:
        raise NoDataError(f"no contact has the id {person_id!r}")
    tx.update("contact", person_id, values)


@action("contact", destructive=True)
def remove_contact(tx: Transaction, person_id: str) -> None:
    """Remove a person from the address book.

    Args:
        person_id: Id of the entry to remove.

    Raises:
        NoDataError: there is no entry with that id.
    """
    if tx.row("contact", person_id) is None:
        raise NoDataError(f"no contact has the id {person_id!r}")
    tx.delete("contact", person_id)


@query("contact")
def search_contacts(
    tx: Transaction,
    person_id: str = UNSET,
    name: str = UNSET,
    phone_number: str = UNSET,
    relationship: str = UNSET,
    is_self: bool = UNSET,
) -> list[FoundContact]:
    """Find people in the address book who fit everything that is given.

    Name and relationship need only resemble what is given, and then at most the five best entries are returned, best
    first. The rest must be equal.

    Args:
        person_id: Id of the entry.
        name: Name, or a good part of it.
        phone_number: Phone number in international form with a country code.
        relationship: Relationship to the phone's owner.
        is_self: True to find the phone's owner.

    Returns:
        the entries found, which may be none.

    Raises:
        ValueError: nothing to search for was given, or the phone number is not valid.
    """
    if phone_number is not UNSET:
        check_phone_number(phone_number)
    exact = given(person_id=person_id, phone_number=phone_number, is_self=is_self)
    similar = given(name=name, relationship=relationship)
    if not exact and not similar:
        raise ValueError("nothing to search for was given; expected at least one argument")
    rows = tx.rows("contact")
    for column, value in exact.items():
        rows = [row for row in rows if row[column] == value]
    for column, wanted in similar.items():
        rows = fuzzy(rows, column, wanted, FUZZY, limit=None)
    return [cast("FoundContact", dict(row)) for row in (rows[:BEST] if similar else rows)]


phone.include(add_contact, modify_contact, remove_contact, search_contacts)
