"""The address book. Names and relationships are searched by resemblance, everything else exactly."""

from operator import attrgetter
from typing import Any

from sandbox_mcp.engine.tools.definition import UNSET
from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError
from sandbox_mcp.engine.world.tables import Id, Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Contact
from sandbox_mcp.engine.worlds.phone.tools.rules import BEST, check_phone_number, fuzzy, given
from sandbox_mcp.engine.worlds.phone.world import phone

FUZZY = 90.0


def _contact(tx: Tx, person_id: str) -> Contact:
    found = tx.find(Contact, Id(person_id))
    if found is None:
        raise NoDataError(f"no contact has the id {person_id!r}")
    return found


def _check_self(tx: Tx, is_self: Any, apart_from: str | None = None) -> None:
    if is_self is True and any(contact.person_id != apart_from for contact in tx.all(Contact, is_self=True)):
        raise DuplicateError("the address book already has an entry for the phone's owner")


@phone.action(
    group="contact", adds=[Contact], said=["added", "saved", "created", "stored", "entered", "in your contacts"]
)
def add_contact(tx: Tx, name: str, phone_number: str, relationship: Text | None = None, is_self: bool = False) -> str:
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
    added = tx.add(Contact, name=name, phone_number=phone_number, relationship=relationship, is_self=is_self)
    return added.person_id


@phone.action(
    group="contact",
    updates=[Contact.name, Contact.phone_number, Contact.relationship, Contact.is_self],
    said=["changed", "updated", "modified", "renamed", "edited", "corrected", "now"],
)
def modify_contact(
    tx: Tx,
    person_id: str,
    name: str = UNSET,
    phone_number: str = UNSET,
    relationship: Text = UNSET,
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
    tx.change(_contact(tx, person_id), **values)


@phone.action(group="contact", removes=[Contact], said=["removed", "deleted", "erased", "cleared", "gone"])
def remove_contact(tx: Tx, person_id: str) -> None:
    """Remove a person from the address book.

    Args:
        person_id: Id of the entry to remove.

    Raises:
        NoDataError: there is no entry with that id.
    """
    tx.remove(_contact(tx, person_id))


@phone.query(group="contact")
def search_contacts(
    tx: Tx,
    person_id: str = UNSET,
    name: str = UNSET,
    phone_number: str = UNSET,
    relationship: Text = UNSET,
    is_self: bool = UNSET,
) -> list[Contact]:
    """Find people in the address book who fit everything that is given; all of them if nothing is.

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
        ValueError: the phone number is not valid.
    """
    if phone_number is not UNSET:
        check_phone_number(phone_number)
    exact = given(person_id=person_id, phone_number=phone_number, is_self=is_self)
    similar = given(name=name, relationship=relationship)
    rows = tx.all(Contact, **exact)
    for column, wanted in similar.items():
        rows = fuzzy(rows, attrgetter(column), wanted, FUZZY, limit=None)
    return rows[:BEST] if similar else rows
