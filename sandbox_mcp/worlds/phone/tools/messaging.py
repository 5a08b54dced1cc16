"""Text messages. Sending needs cellular service and exactly one owner in the address book."""

from typing import TypedDict, cast

from sandbox_mcp.tools.definition import UNSET, DuplicateError, NoDataError, action, query
from sandbox_mcp.world import Transaction
from sandbox_mcp.worlds.phone.tools.rules import check_phone_number, check_timestamp, fuzzy, given, within
from sandbox_mcp.worlds.phone.tools.setting import setting
from sandbox_mcp.worlds.phone.world import phone

FUZZY = 50.0


class TextMessage(TypedDict):
    """One text message."""

    message_id: str
    sender_person_id: str | None
    sender_phone_number: str
    recipient_person_id: str | None
    recipient_phone_number: str
    content: str
    creation_timestamp: float


@action("messaging")
def send_message_with_phone_number(tx: Transaction, phone_number: str, content: str) -> str:
    """Send a text message to a phone number.

    Args:
        phone_number: Number to send to, in international form with a country code.
        content: What the message says.

    Returns:
        the id of the message sent.

    Raises:
        ValueError: the phone number is not valid.
        ConnectionError: cellular service is off.
        NoDataError: the address book has no entry for the phone's owner.
        DuplicateError: the address book has several entries for the phone's owner.
    """
    check_phone_number(phone_number)
    if not setting(tx, "cellular"):
        raise ConnectionError("cellular service is off")
    contacts = tx.rows("contact")
    owners = [row for row in contacts if row["is_self"]]
    if not owners:
        raise NoDataError("the address book has no entry for the phone's owner, so there is nobody to send as")
    if len(owners) > 1:
        raise DuplicateError("the address book has more than one entry for the phone's owner")
    recipient = next((row["person_id"] for row in contacts if row["phone_number"] == phone_number), None)
    row = {
        "sender_person_id": owners[0]["person_id"],
        "sender_phone_number": owners[0]["phone_number"],
        "recipient_person_id": recipient,
        "recipient_phone_number": phone_number,
        "content": content,
        "creation_timestamp": tx.now,
    }
    return tx.insert("messaging", "message_id", row)


@query("messaging")
def search_messages(
    tx: Transaction,
    message_id: str = UNSET,
    sender_person_id: str = UNSET,
    sender_phone_number: str = UNSET,
    recipient_person_id: str = UNSET,
    recipient_phone_number: str = UNSET,
    content: str = UNSET,
    creation_timestamp_lowerbound: float = UNSET,
    creation_timestamp_upperbound: float = UNSET,
) -> list[TextMessage]:
    """Find text messages, sent or received, that fit everything that is given.

    The content need only resemble what is given, and then at most the five best messages are returned, best first.
    The rest must be equal; time bounds include their ends.

    Args:
        message_id: Id of the message.
        sender_person_id: Id of the person who sent it.
        sender_phone_number: Phone number of who sent it.
        recipient_person_id: Id of the person who received it.
        recipient_phone_number: Phone number of who received it.
        content: What the message is about.
        creation_timestamp_lowerbound: Earliest moment it may have been sent, in seconds since 1970.
        creation_timestamp_upperbound: Latest moment it may have been sent, in seconds since 1970.

    Returns:
        the messages found, which may be none.

    Raises:
        ValueError: nothing to search for was given, or a phone number or time bound is not valid.
    """
    for number in (sender_phone_number, recipient_phone_number):
        if number is not UNSET:
            check_phone_number(number)
    low, high = creation_timestamp_lowerbound, creation_timestamp_upperbound
    bounds = given(creation_timestamp_lowerbound=low, creation_timestamp_upperbound=high)
    for name, bound in bounds.items():
        check_timestamp(name, bound)
    wanted = given(
        message_id=message_id,
        sender_person_id=sender_person_id,
        sender_phone_number=sender_phone_number,
        recipient_person_id=recipient_person_id,
        recipient_phone_number=recipient_phone_number,
    )
    if not wanted and not bounds and content is UNSET:
        raise ValueError("nothing to search for was given; expected at least one argument")
    rows = [row for row in tx.rows("messaging") if all(row[column] == value for column, value in wanted.items())]
    rows = within(rows, "creation_timestamp", low, high)
    if content is not UNSET:
        rows = fuzzy(rows, "content", content, FUZZY)
    return [cast("TextMessage", dict(row)) for row in rows]


phone.include(send_message_with_phone_number, search_messages)
