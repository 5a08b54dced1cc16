"""Text messages. Sending needs cellular service and exactly one owner in the address book."""

from operator import attrgetter

from sandbox_mcp.engine.tools.definition import UNSET
from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError
from sandbox_mcp.engine.world.tables import Moment, Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.phone.tables import Contact, Messaging, Setting
from sandbox_mcp.engine.worlds.phone.tools.rules import check_phone_number, fuzzy, given, within
from sandbox_mcp.engine.worlds.phone.world import phone

FUZZY = 50.0


@phone.action(
    group="messaging",
    adds=[Messaging],
    said=[
        "sent",
        "texted",
        "messaged",
        "told",
        "let",
        "informed",
        "notified",
        "replied",
        "forwarded",
        "relayed",
        "delivered",
    ],
)
def send_message_with_phone_number(tx: Tx, phone_number: str, content: Text) -> str:
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
    if not tx.one(Setting).cellular:
        raise ConnectionError("cellular service is off")
    contacts = tx.all(Contact)
    owners = [contact for contact in contacts if contact.is_self]
    if not owners:
        raise NoDataError("the address book has no entry for the phone's owner, so there is nobody to send as")
    if len(owners) > 1:
        raise DuplicateError("the address book has more than one entry for the phone's owner")
    sent = tx.add(
        Messaging,
        sender_person_id=owners[0].person_id,
        sender_phone_number=owners[0].phone_number,
        recipient_person_id=next((one.person_id for one in contacts if one.phone_number == phone_number), None),
        recipient_phone_number=phone_number,
        content=content,
        creation_timestamp=tx.now,
    )
    return sent.message_id


@phone.query(group="messaging")
def search_messages(
    tx: Tx,
    message_id: str = UNSET,
    sender_person_id: str = UNSET,
    sender_phone_number: str = UNSET,
    recipient_person_id: str = UNSET,
    recipient_phone_number: str = UNSET,
    content: Text = UNSET,
    creation_timestamp_lowerbound: Moment = UNSET,
    creation_timestamp_upperbound: Moment = UNSET,
) -> list[Messaging]:
    """Find text messages, sent or received, that fit everything that is given; all of them if nothing is.

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
        ValueError: a phone number is not valid.
    """
    for number in (sender_phone_number, recipient_phone_number):
        if number is not UNSET:
            check_phone_number(number)
    low, high = creation_timestamp_lowerbound, creation_timestamp_upperbound
    wanted = given(
        message_id=message_id,
        sender_person_id=sender_person_id,
        sender_phone_number=sender_phone_number,
        recipient_person_id=recipient_person_id,
        recipient_phone_number=recipient_phone_number,
    )
    rows = tx.all(Messaging, **wanted)
    rows = within(rows, attrgetter("creation_timestamp"), low, high)
    if content is not UNSET:
        rows = fuzzy(rows, attrgetter("content"), content, FUZZY)
    return rows
