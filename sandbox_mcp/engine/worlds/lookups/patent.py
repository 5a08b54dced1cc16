"""A patent register: records, claims, citations and classes, found in more ways than one needs."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known, window

Status = Literal["in force", "lapsed", "expired", "pending"]


class PatentClass(Table, fixed="data/patent_classes.csv"):
    """A class of the register."""

    code: Id[Self] = key()
    title: str


class Patent(Table, fixed="data/patents.csv"):
    """A patent; days are written as 2024-05-31."""

    number: Id[Self] = key()
    title: str
    inventors: list[str]
    assignee: str
    patent_class: Id[PatentClass]
    filed: str
    granted: str | None
    status: Status
    office: str
    cites: list[str]


class Claim(Table, fixed="data/patent_claims.csv"):
    """What one claim of a patent says; claim 1 stands for itself, others may depend on an earlier one."""

    id: Id[Self] = key()
    number: Id[Patent]
    place: int
    depends_on: int | None
    text: str


class _PatentLine(TypedDict):
    """A patent in a list."""

    number: str
    title: str


class _ClaimLine(TypedDict):
    """A claim in a list; ``depends_on`` is null where it stands for itself."""

    place: int
    depends_on: int | None
    text: str


patent = World(
    "patent",
    tables=[PatentClass, Patent, Claim],
    instructions="You answer questions with the help of a patent register.",
    user="You talk to an assistant that can search a patent register for you.",
    place="in the patent register",
)


def _lines(rows: list[Patent]) -> list[_PatentLine]:
    return [_PatentLine(number=row.number, title=row.title) for row in first(rows, None)]


def _titled(tx: Tx, title: str) -> list[Patent]:
    return [row for row in tx.all(Patent) if has_words(row.title, title)]


def _invented(tx: Tx, inventor: str) -> list[Patent]:
    named = (row for row in tx.all(Patent) for name in row.inventors if has_words(name, inventor))
    return list(dict.fromkeys(named))  # two inventors of one patent may have the name


def _assigned(tx: Tx, assignee: str) -> list[Patent]:
    return [row for row in tx.all(Patent) if has_words(row.assignee, assignee)]


@patent.query
def get_patents_with_title(tx: Tx, title: str) -> list[_PatentLine]:
    """List the patents whose title has certain words, the oldest filing first, 25 at most.

    Args:
        title: One or more words of the title, in any order.
    """
    return _lines(_titled(tx, title))


@patent.query
def get_patents_with_title_and_date(
    tx: Tx, title: str, after: str | None = None, before: str | None = None
) -> list[_PatentLine]:
    """List the patents whose title has certain words, filed in a window of time, the oldest first, 25 at most.

    Args:
        title: One or more words of the title, in any order.
        after: The first day of filing that counts, such as 2011-01-31.
        before: The last day of filing that counts.
    """
    counts = window(after, before)
    return _lines([row for row in _titled(tx, title) if counts(row.filed)])


@patent.query
def get_patents_with_inventor(tx: Tx, inventor: str) -> list[_PatentLine]:
    """List the patents of an inventor, the oldest filing first, 25 at most.

    Args:
        inventor: The inventor's name, or the part of it that is known.
    """
    return _lines(_invented(tx, inventor))


@patent.query
def get_patents_with_inventor_and_date(
    tx: Tx, inventor: str, after: str | None = None, before: str | None = None
) -> list[_PatentLine]:
    """List the patents of an inventor that were filed in a window of time, the oldest first, 25 at most.

    Args:
        inventor: The inventor's name, or the part of it that is known.
        after: The first day of filing that counts, such as 2011-01-31.
        before: The last day of filing that counts.
    """
    counts = window(after, before)
    return _lines([row for row in _invented(tx, inventor) if counts(row.filed)])


@patent.query
def get_patents_with_assignee(tx: Tx, assignee: str, status: Status | None = None) -> list[_PatentLine]:
    """List the patents that a company or a person owns, the oldest filing first, 25 at most.

    Args:
        assignee: The owner's name, or the part of it that is known.
        status: Only patents in this state.
    """
    return _lines([row for row in _assigned(tx, assignee) if status in (None, row.status)])


@patent.query
def get_patents_with_assignee_and_date(
    tx: Tx, assignee: str, after: str | None = None, before: str | None = None
) -> list[_PatentLine]:
    """List the patents that a company or a person owns, filed in a window of time, the oldest first, 25 at most.

    Args:
        assignee: The owner's name, or the part of it that is known.
        after: The first day of filing that counts, such as 2011-01-31.
        before: The last day of filing that counts.
    """
    counts = window(after, before)
    return _lines([row for row in _assigned(tx, assignee) if counts(row.filed)])


@patent.query
def get_patents_with_class(tx: Tx, code: Id[PatentClass], status: Status | None = None) -> list[_PatentLine]:
    """List the patents of one class, the oldest filing first, 25 at most.

    Args:
        code: The code of the class, such as A47J.
        status: Only patents in this state.
    """
    code = Id[PatentClass](known(tx, PatentClass, code, "class").code)
    return _lines([row for row in tx.all(Patent, patent_class=code) if status in (None, row.status)])


@patent.query
def get_patents_citing_number(tx: Tx, number: Id[Patent]) -> list[_PatentLine]:
    """List the later patents that cite a patent, the oldest filing first, 25 at most.

    Args:
        number: The number of the patent that is cited.
    """
    known(tx, Patent, number, "patent")
    return _lines([row for row in tx.all(Patent) if number in row.cites])


@patent.query
def get_patents_cited_by_number(tx: Tx, number: Id[Patent]) -> list[_PatentLine]:
    """List the earlier patents that a patent cites, the oldest filing first, 25 at most.

    Args:
        number: The number of the patent that cites them.
    """
    cited = known(tx, Patent, number, "patent").cites
    return _lines(sorted((known(tx, Patent, other, "patent") for other in cited), key=lambda row: row.filed))


@patent.query
def get_patent_with_number(tx: Tx, number: Id[Patent]) -> Patent:
    """Get the record of a patent: title, inventors, owner, class, days, state and office.

    Args:
        number: The number of the patent.
    """
    return known(tx, Patent, number, "patent")


@patent.query
def get_patent_claims_with_number(tx: Tx, number: Id[Patent]) -> list[_ClaimLine]:
    """List the claims of a patent in full.

    Args:
        number: The number of the patent.
    """
    rows = tx.all(Claim, number=known(tx, Patent, number, "patent").number)
    return [_ClaimLine(place=row.place, depends_on=row.depends_on, text=row.text) for row in rows]


@patent.query
def get_patent_classes_with_title(tx: Tx, title: str) -> list[PatentClass]:
    """List the classes of the register whose title has certain words.

    Args:
        title: One or more words of the class's title.
    """
    return [row for row in tx.all(PatentClass) if has_words(row.title, title)]


@patent.query
def get_patent_class_with_code(tx: Tx, code: Id[PatentClass]) -> PatentClass:
    """Get the title of a class.

    Args:
        code: The code of the class, such as A47J.
    """
    return known(tx, PatentClass, code, "class")
