"""What is written down at the desk: the handbook, the team's mails, notes on records, and who works here."""

from typing import TypedDict

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, has, page_of
from sandbox_mcp.engine.worlds.desk.tables import DeskMail, Employee, HandbookPage, RecordNote
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "papers"


class _Heading(TypedDict):
    """A page of the handbook without its text."""

    number: str
    title: str


class _Headings(PageOfRows):
    """Pages of the handbook."""

    rows: list[_Heading]


class _MailHead(TypedDict):
    """A mail without its text."""

    number: str
    day: str
    sender: str
    subject: str


class _MailHeads(PageOfRows):
    """Mails, oldest first."""

    rows: list[_MailHead]


class _Notes(PageOfRows):
    """Notes, oldest first."""

    rows: list[RecordNote]


class _Employees(PageOfRows):
    """Employees by name."""

    rows: list[Employee]


@desk.query(group=GROUP)
def list_handbook(tx: Tx, page: int = 1) -> _Headings:
    """List the titles of the handbook's pages.

    Args:
        page: Page of the list.
    """
    return _headings(tx.all(HandbookPage), page)


@desk.query(group=GROUP)
def search_handbook(tx: Tx, text: str, page: int = 1) -> _Headings:
    """Find the pages of the handbook in whose title or text a text occurs.

    Args:
        text: Word, or part of one.
        page: Page of the list.
    """
    return _headings([item for item in tx.all(HandbookPage) if has(text, item.title, item.body)], page)


@desk.query(group=GROUP)
def read_handbook(tx: Tx, number: str) -> HandbookPage:
    """Read a page of the handbook.

    Args:
        number: Number of the page, such as H-12.
    """
    return tx.one(HandbookPage, number=number)


@desk.query(group=GROUP)
def list_mails(tx: Tx, page: int = 1) -> _MailHeads:
    """List the mails in the team's mailbox, oldest first.

    Args:
        page: Page of the list.
    """
    return _heads(tx.all(DeskMail), page)


@desk.query(group=GROUP)
def search_mails(tx: Tx, text: str, page: int = 1) -> _MailHeads:
    """Find the mails in which a text occurs: in sender, subject or text.

    Args:
        text: Word, or part of one.
        page: Page of the list.
    """
    return _heads([mail for mail in tx.all(DeskMail) if has(text, mail.sender, mail.subject, mail.body)], page)


@desk.query(group=GROUP)
def read_mail(tx: Tx, number: str) -> DeskMail:
    """Read a mail.

    Args:
        number: Number of the mail, such as M-104.
    """
    return tx.one(DeskMail, number=number)


@desk.query(group=GROUP)
def list_notes(tx: Tx, about: str, page: int = 1) -> _Notes:
    """List the notes on a record.

    Args:
        about: Number of the record, such as C-17 or J-3.
        page: Page of the list.
    """
    rows, of = page_of(sorted(tx.all(RecordNote, about=about), key=_day), page)
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def search_notes(tx: Tx, text: str, page: int = 1) -> _Notes:
    """Find the notes in which a text occurs, on whatever record.

    Args:
        text: Word, or part of one.
        page: Page of the list.
    """
    rows, of = page_of(
        sorted((item for item in tx.all(RecordNote) if has(text, item.text, item.author)), key=_day), page
    )
    return {"rows": rows, **of}


@desk.query(group=GROUP)
def list_employees(tx: Tx, branch: str = "", role: str = "", page: int = 1) -> _Employees:
    """List the people who work here, by name.

    Args:
        branch: Only of this branch.
        role: Only those whose role has this text in it.
        page: Page of the list.
    """
    found = [one for one in tx.all(Employee) if branch in ("", one.branch) and has(role, one.role)]
    rows, of = page_of(sorted(found, key=lambda one: one.name), page)
    return {"rows": rows, **of}


def _day(note: RecordNote) -> str:
    return note.day


def _headings(found: list[HandbookPage], page: int) -> _Headings:
    rows, of = page_of(sorted(found, key=lambda item: int(item.number.partition("-")[2])), page)
    return {"rows": [{"number": item.number, "title": item.title} for item in rows], **of}


def _heads(found: list[DeskMail], page: int) -> _MailHeads:
    rows, of = page_of(sorted(found, key=lambda mail: (mail.day, mail.number)), page)
    return {
        "rows": [
            {"number": mail.number, "day": mail.day, "sender": mail.sender, "subject": mail.subject} for mail in rows
        ],
        **of,
    }
