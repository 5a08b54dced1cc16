"""Driver of the solvers: an agent that knows only what the user says and what the tools tell.

Solvers were written without a look at how instances are made, solved and judged. Rules that a solver keeps are looked
up in the handbook of the instance at hand, so that one that is not told there stops it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from itertools import pairwise
from typing import Any, TypeAlias

from sandbox_mcp.play.session import settled
from sandbox_mcp.play.session.session import Session

Row: TypeAlias = Mapping[str, Any]
Solver: TypeAlias = Callable[[Session], None]
SOLVERS: dict[str, Solver] = {}
"""Solvers by their families."""


def solves(family: str) -> Callable[[Solver], Solver]:
    """Make a function the solver of a family."""

    def register(solver: Solver) -> Solver:
        SOLVERS[family] = solver
        return solver

    return register


class Unsolved(AssertionError):
    """Stop of a solver: what it was told does not say what to do."""


def found(pattern: str, text: str) -> tuple[str, ...]:
    """Groups of the one place where a pattern occurs in a text."""
    places = list(re.finditer(pattern, text))
    if len(places) != 1:
        raise Unsolved(f"{pattern!r} occurs {len(places)} times in {text!r}")
    return places[0].groups()


class Desk:
    """Agent at the desk: calls tools, reads lists whole and keeps what was announced."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.wish = session.begin()
        told = re.findall(r"It is \w+, (\S+) ", session.spec.instructions)
        self.today = date.fromisoformat(told[0]) if told else date.min
        self.notices: list[str] = []

    def say(self, words: str) -> str:
        """Answer of the user, empty if they have left."""
        return settled(self.session.say(words)).text or ""

    def call(self, tool: str, **arguments: object) -> Row:
        """Result of a tool that does not fail."""
        result = self.session.call(tool, arguments)
        if result.error is not None:
            raise Unsolved(f"{tool} {arguments}: {result.error}")
        self.notices += result.structured.get("notices", ())
        return result.structured

    def all(self, tool: str, **arguments: object) -> Iterator[Row]:
        """Rows of all pages of a list."""
        page, pages = 0, 1
        while page < pages:
            page += 1
            told = self.call(tool, page=page, **arguments)
            yield from told["rows"]
            pages = told["pages"]

    def mails(self, text: str) -> list[Row]:
        """Mails with a text, oldest first."""
        mails = [self.call("read_mail", number=row["number"]) for row in self.all("search_mails", text=text)]
        days = [mail["day"] for mail in mails]
        if any(one > other for one, other in pairwise(days)) or len(set(days)) < len(days):
            raise Unsolved(f"which of {mails} is the newest?")
        return mails

    def pages(self, text: str) -> list[Row]:
        """Pages of the handbook with a text."""
        return [self.call("read_handbook", number=row["number"]) for row in self.all("search_handbook", text=text)]

    def rule(self, *sentences: str) -> None:
        """Look sentences up in the handbook."""
        for sentence in sentences:
            if not self.pages(sentence):
                raise Unsolved(f"nothing says {sentence!r}")
