"""Mail: searching the inbox, and sending. Source: ToolTalk, appendix A, plug-in Email.

Policy: what is sent stands among what the account has sent and is not delivered, so that no answer has to come.
"""

from typing import TypedDict

from sandbox_mcp.engine.world.tables import Text
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.office.rules import Filter, MatchType, check_address, me, written
from sandbox_mcp.engine.worlds.office.tables import Email
from sandbox_mcp.engine.worlds.office.world import office

GROUP = "email"


class _MailSent(TypedDict):
    """The id of a mail that was sent."""

    email_id: str


class Mail(TypedDict):
    """One mail."""

    email_id: str
    date: str | None
    sender: str
    receivers: list[str]
    subject: str
    body: str


class _FoundMail(TypedDict):
    """Mail, the newest first."""

    emails: list[Mail]


@office.action(name="SendEmail", group=GROUP, adds=[Email], reaches="to", said=["sent", "mailed", "emailed"])
def send_email(tx: Tx, to: list[str], subject: Text, body: Text) -> _MailSent:
    """Send a mail from the account that is logged in.

    Args:
        to: The mail addresses it goes to.
        subject: Its subject.
        body: Its text.
    """
    owner = me(tx)
    if not to:
        raise ValueError("`to` must have at least one mail address")
    for address in to:
        check_address("to", address)
    mail = tx.add(
        Email, account=owner.account_id, folder="sent", date=tx.now, sender=owner.email, receivers=to, subject=subject,
        body=body,
    )  # fmt: skip
    return {"email_id": mail.email_id}


@office.query(name="SearchInbox", group=GROUP)
def search_inbox(
    tx: Tx,
    query: str | None = None,
    match_type: MatchType = "any",
    sender: str | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
) -> _FoundMail:
    """Find the newest five mails of the inbox that fit; at least one thing to search by is needed.

    Args:
        query: Words to look for in subject and text.
        match_type: Whether "any" of the words is enough or "all" of them are needed.
        sender: The mail address it came from.
        start_date: The earliest moment, such as 2027-03-08 00:00:00.
        end_date: The latest moment.
    """
    owner = me(tx)
    wanted = Filter(tx, query, match_type, sender, (start_date, end_date))
    inbox = tx.all(Email, account=owner.account_id, folder="inbox")
    found = wanted.newest(tx, inbox, lambda mail: (mail.date, mail.sender, f"{mail.subject}\n{mail.body}"))
    return {
        "emails": [
            {
                "email_id": mail.email_id,
                "date": written(tx, mail.date),
                "sender": mail.sender,
                "receivers": mail.receivers,
                "subject": mail.subject,
                "body": mail.body,
            }
            for mail in found
        ]
    }
