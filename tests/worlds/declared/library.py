"""A lending library: a world as a user would declare it, with every kind of column, tool and event."""

from typing import Literal, Self, TypedDict

from sandbox_mcp import Id, Moment, NoDataError, Secret, Table, Text, Tx, World, column, key

DAY = 86400.0
State = Literal["in", "lent", "lost"]


class Branch(Table, single=True):
    """The library's own house."""

    id: Id[Self] = key()
    open: bool
    staffed: bool = True


class Reader(Table):
    """Somebody with a card."""

    id: Id[Self] = key()
    name: str
    pin: Secret
    likes: list[str] = column(default=[])


class Book(Table):
    """One copy of a book."""

    id: Id[Self] = key()
    title: Text
    state: State = "in"
    reader: Id[Reader] | None = None
    due: Moment | None = None
    stained: bool = column(default=False, hidden=True)


class Genre(Table, fixed="genres.csv"):
    """How books are classed: looked up, never changed."""

    code: Id[Self] = key()
    name: str
    shelf: int
    near: list[str]


class Wish(TypedDict):
    """One book that somebody wants, and for how long."""

    title: str
    days: int


library = World(
    "library", tables=[Branch, Reader, Book, Genre], policy="Never lend a stained book.", place="at the library"
)


@library.query
def find_books(tx: Tx, state: list[State] | None = None) -> list[Book]:
    """List the books, all of them or those in some states."""
    return [book for book in tx.all(Book) if not state or book.state in state]


@library.query
def find_genre(tx: Tx, name: str) -> Genre:
    """Find a genre by its name."""
    return tx.one(Genre, name=name)


@library.query
def find_reader(tx: Tx, name: str) -> Reader:
    """Find a reader by name."""
    return tx.one(Reader, name=name)


@library.action(updates=[Book.state, Book.reader, Book.due])
def lend(tx: Tx, book: Id[Book], reader: Id[Reader], wishes: list[Wish] | None = None) -> Book:
    """Lend a book for as long as the reader wishes, or a week."""
    row = tx.get(Book, book)
    if row.state != "in":
        raise ValueError(f"the book is {row.state}")
    days = next((wish["days"] for wish in wishes or [] if wish["title"] == row.title), 7)
    return tx.change(row, state="lent", reader=tx.get(Reader, reader).id, due=tx.now + days * DAY)


@library.action(updates=[Branch.open])
def lock_up(tx: Tx, from_: str = "now") -> str:
    """Lock the door."""
    tx.change(tx.one(Branch), open=False)
    return from_


@library.action(updates=[Branch.open])
def unlock(tx: Tx) -> None:
    """Unlock the door."""
    tx.change(tx.one(Branch), open=True)


@library.action(adds=[Reader])
def enrol(tx: Tx, name: str) -> Book:
    """Make a card, and by mistake a book as well."""
    return tx.add(Book, title=name)


@library.action
def stumble(tx: Tx) -> None:
    """Fail as code fails."""
    raise KeyError("shelf")


@library.query
def doze(tx: Tx, days: float) -> None:
    """Let some days pass."""
    tx.wait(days * DAY)


@library.user_action
def open_book(tx: Tx) -> str:
    """Look into the book that was lent."""
    book = next(iter(tx.all(Book, state="lent")), None)
    if book is None:
        raise NoDataError("no book was lent")
    return "There are stains." if book.stained else "It is clean."


@library.event(Book, at="due")
def overdue(tx: Tx, book: Book) -> str:
    """A book that does not come back is lost."""
    tx.change(book, state="lost", due=None)
    return f"{book.title!r} is overdue."


@library.gate("opening", opened_by=unlock)
def is_open(tx: Tx) -> bool:
    """the library is closed."""
    return tx.one(Branch).open
