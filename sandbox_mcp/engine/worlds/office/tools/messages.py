"""Short messages between users: searching those received, and sending. Source: ToolTalk, appendix A, plug-in Messages.

Policy: any receiver is accepted, because not everybody whom people write to has an account here.
"""

from typing import TypedDict

from sandbox_mcp.engine.world.tables import Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.rules import Filter, MatchType, me, written
from sandbox_mcp.engine.worlds.office.tables import ShortMessage
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "messages"


class _MessageSent(TypedDict):
    """The id of a message that was sent."""

    message_id: str


class Note(TypedDict):
    """One message."""

    message_id: str
    timestamp: str | None
    sender: str
    message: str


class _FoundMessages(TypedDict):
    """Messages, the newest first."""

    messages: list[Note]


@office.action(name="SendMessage", group=GROUP, adds=[ShortMessage], reaches="receiver", said=["sent", "messaged"])
def send_message(tx: Tx, receiver: str, message: Text) -> _MessageSent:
    """Send a message from the account that is logged in to another user.

    Args:
        receiver: The username it goes to.
        message: Its text.
    """
    owner = me(tx)
    if not message.strip() or not receiver.strip():
        raise ValueError("`receiver` and `message` must not be empty")
    row = tx.add(
        ShortMessage,
        account=owner.account_id,
        folder="sent",
        timestamp=tx.now,
        sender=owner.username,
        receiver=receiver,
        message=message,
    )
    return {"message_id": row.message_id}


@office.query(name="SearchMessages", group=GROUP)
def search_messages(
    tx: Tx,
    query: str | None = None,
    match_type: MatchType = "any",
    sender: str | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
) -> _FoundMessages:
    """Find the newest five messages received that fit; at least one thing to search by is needed.

    Args:
        query: Words to look for.
        match_type: Whether "any" of the words is enough or "all" of them are needed.
        sender: The username it came from.
        start_date: The earliest moment, such as 2027-03-08 00:00:00.
        end_date: The latest moment.
    """
    owner = me(tx)
    wanted = Filter(tx, query, match_type, sender, (start_date, end_date))
    received = tx.all(ShortMessage, account=owner.account_id, folder="inbox")
    found = wanted.newest(tx, received, lambda note: (note.timestamp, note.sender, note.message))
    return {
        "messages": [
            {
                "message_id": note.message_id,
                "timestamp": written(tx, note.timestamp),
                "sender": note.sender,
                "message": note.message,
            }
            for note in found
        ]
    }
