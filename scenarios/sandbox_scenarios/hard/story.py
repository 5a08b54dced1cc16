"""A family's story in the making: rows, rules on paper, and the entry that they become.

A family draws its rows, writes its rules down, works out what has to become of the rows, and hands all that to
:meth:`Story.entry`. Policy: papers that matter stand among others, in any order; numbers say nothing; every rule that is
written down decides something in every instance, of which :func:`exercised` is the proof.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from sandbox_scenarios.generating import Draw
from sandbox_scenarios.hard.papers import DeskRows, at, day, handbook, mailbox

PAGE = 20
"""Rows on a page of a list."""
_Answer = TypeVar("_Answer")


def call(tool: str, **arguments: object) -> dict[str, Any]:
    """A call of a reference."""
    return {"tool": tool, "arguments": arguments}


def paged(count: int, tool: str, **arguments: object) -> list[dict[str, Any]]:
    """Calls that read a list of so many rows to its end."""
    return [call(tool, **arguments, page=page) for page in range(1, 1 + max(1, -(-count // PAGE)))]


def exercised(answer: Callable[[frozenset[str]], _Answer], rules: Collection[str]) -> bool:
    """True if each of the rules changes the answer: whoever overlooks one is wrong."""
    whole = answer(frozenset(rules))
    return all(answer(frozenset(rules) - {one}) != whole for one in rules)


@dataclass(slots=True)
class Story:
    """One instance of a family, on a day."""

    draw: Draw
    today: date
    rows: dict[str, DeskRows] = field(default_factory=dict[str, DeskRows])
    _pages: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _mails: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    _taken: set[str] = field(default_factory=set[str])

    def number(self, letter: str) -> str:
        """A number that nothing else has, such as C-4711."""
        while (made := f"{letter}-{self.draw.randrange(1100, 9900)}") in self._taken:
            pass
        self._taken.add(made)
        return made

    def numbers(self, letter: str, count: int) -> list[str]:
        """Several numbers, in any order."""
        return [self.number(letter) for _ in range(count)]

    def add(self, table: str, **cells: Any) -> dict[str, Any]:
        """A row."""
        rows = self.rows.setdefault(table, {})
        rows[f"{table}_{len(rows)}"] = cells
        return cells

    def staff(self, **roles: str) -> dict[str, str]:
        """Names of people who work here, by what the family calls them; their roles are on the list of employees."""
        return {
            key: self.add("employee", name=self.draw.person(), role=role, branch="main office")["name"]
            for key, role in roles.items()
        }

    def page(self, title: str, body: str) -> None:
        """A page of the handbook that matters."""
        self._pages.append((title, body))

    def mail(self, later: int, sender: str, subject: str, body: str) -> None:
        """A mail that matters, so many days after today."""
        self._mails.append({"day": day(self.today, later), "sender": sender, "subject": subject, "body": body})

    def note(self, about: str, later: int, author: str, text: str) -> None:
        """A note on a record."""
        self.add("note", about=about, day=day(self.today, later), author=author, text=text)

    def shuffled(self, *tables: str) -> None:
        """Put rows of tables in any order, so that those that matter do not stand first."""
        for table in tables:
            items = list(self.rows[table].items())
            self.draw.shuffle(items)
            self.rows[table] = dict(items)

    def papers(self, people: Sequence[str]) -> list[dict[str, Any]]:
        """Put pages and mails among others, once all are written; calls that find and read those that matter."""
        pages = self.rows["page"] = handbook(self.draw, self._pages)
        mails = self.rows["mail"] = mailbox(self.draw, self._mails, self.today, people)
        titles = {page["title"]: page["number"] for page in pages.values()}
        numbers = [next(row["number"] for row in mails.values() if row.items() >= mail.items()) for mail in self._mails]
        return [
            *paged(len(pages), "list_handbook"),
            *(call("read_handbook", number=titles[title]) for title, _ in self._pages),
            *paged(len(mails), "list_mails"),
            *(call("read_mail", number=number) for number in numbers),
        ]

    def entry(
        self,
        wish: tuple[str, str],
        turns: Sequence[Mapping[str, Any]],
        wanted: Sequence[tuple[str, str, Mapping[str, Any]]],
        **more: Any,
    ) -> dict[str, Any]:
        """The scenario of goal and opening, the reference's turns, and what becomes of rows (``updates``, table, cells).

        ``more`` are further keys of a scenario, such as ``events``.
        """
        goal, opening = wish
        user = {"goal": goal, "opening": opening, **more.pop("user", {})}
        return {
            "clock": {"now": at(self.today, *more.pop("hour", (9, 10))), "zone": "Europe/Berlin"},
            "state": self.rows,
            "user": user,
            "reference": [{"turns": list(turns)}],
            "milestones": [
                {"id": f"end_{place}", "table": table, kind: cells} for place, (kind, table, cells) in enumerate(wanted)
            ],
            **more,
        }
