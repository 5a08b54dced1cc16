"""A drawer of small services: whose domain a name is, what a file's ending means, and which product has a barcode."""

import re
from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.faults import NoDataError
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known, window

_DOMAIN = re.compile(r"[^\W_]+(-+[^\W_]+)*(\.[^\W_]+(-+[^\W_]+)*)+")
FileKind = Literal["image", "sound", "document", "archive", "data", "program"]


class Domain(Table, fixed="data/tools_domains.csv"):
    """A domain that is registered; days are written as 2024-05-31."""

    name: Id[Self] = key()
    owner: str
    registrar: str
    registered: str
    expires: str


class FileType(Table, fixed="data/tools_file_types.csv"):
    """What a file's ending stands for."""

    extension: Id[Self] = key()
    name: str
    kind: FileKind
    mime: str
    since: int
    readable: bool


class Product(Table, fixed="data/tools_products.csv"):
    """What has a barcode; its weight in grams."""

    barcode: Id[Self] = key()
    name: str
    maker: str
    country: str
    grams: int


class _DomainLine(TypedDict):
    """A domain in a list."""

    domain: str
    expires: str


class _FileTypeLine(TypedDict):
    """A kind of file in a list."""

    extension: str
    name: str


class _ProductLine(TypedDict):
    """A product in a list."""

    barcode: str
    name: str


tools = World(
    "tools",
    tables=[Domain, FileType, Product],
    instructions="You answer questions with the help of a few small services on domains, files and barcodes.",
    user="You talk to an assistant that has a few small services at hand.",
    place="in the services' records",
)


@tools.query
def find_domain_with_name(tx: Tx, name: str) -> Domain:
    """Get who has registered a domain, where, when, and until when.

    Args:
        name: The domain in full, such as harbour.example.

    Raises:
        NoDataError: nobody has registered it.
    """
    if not _DOMAIN.fullmatch(name.strip()):
        raise ValueError(f"`name` must be a domain such as harbour.example, not {name!r}")
    found = tx.find(Domain, Id[Domain](name.strip().casefold()))
    if found is None:
        raise NoDataError(f"nobody has registered {name!r}; it is free")
    return found


@tools.query
def find_domains_with_owner(
    tx: Tx, owner: str, expires_after: str | None = None, expires_before: str | None = None
) -> list[_DomainLine]:
    """List the domains that somebody has registered.

    Args:
        owner: The owner's name, or the part of it that is known.
        expires_after: Only domains that expire on this day, such as 2026-12-31, or later.
        expires_before: Only domains that expire on this day or earlier.
    """
    counts = window(expires_after, expires_before, "expires_")
    rows = [row for row in tx.all(Domain) if has_words(row.owner, owner)]
    return [_DomainLine(domain=row.name, expires=row.expires) for row in rows if counts(row.expires)]


@tools.query
def find_domains_with_word(tx: Tx, word: str) -> list[_DomainLine]:
    """List the registered domains whose name has a certain text in it, 25 at most.

    Args:
        word: The text, three letters or more.
    """
    if len(word) < 3:
        raise ValueError("`word` must have at least three letters")
    rows = [row for row in tx.all(Domain) if word.casefold() in row.name]
    return [_DomainLine(domain=row.name, expires=row.expires) for row in first(rows, None)]


@tools.query
def find_file_type_with_extension(tx: Tx, extension: str) -> FileType:
    """Get what a file's ending stands for: name, kind, MIME type, year, and whether people can read it as text.

    Args:
        extension: The ending with or without its dot, such as csv.
    """
    return known(tx, FileType, extension.strip().lstrip(".").casefold(), "kind of file")


@tools.query
def find_file_types_with_kind(tx: Tx, kind: FileKind, readable: bool | None = None) -> list[_FileTypeLine]:
    """List the endings of a kind of file.

    Args:
        kind: The kind.
        readable: True for those that people can read as text only, false for the others.
    """
    rows = [row for row in tx.all(FileType, kind=kind) if readable in (None, row.readable)]
    return [_FileTypeLine(extension=row.extension, name=row.name) for row in rows]


@tools.query
def find_product_with_barcode(tx: Tx, barcode: str) -> Product:
    """Get what has a barcode: name, maker, country and weight in grams.

    Args:
        barcode: The digits under the bars.
    """
    return known(tx, Product, barcode.replace(" ", ""), "product")


@tools.query
def find_products_with_name(tx: Tx, name: str, maker: str | None = None) -> list[_ProductLine]:
    """List the products whose name has certain words.

    Args:
        name: One or more words of the name.
        maker: Only products of this maker.
    """
    rows = [row for row in tx.all(Product) if has_words(row.name, name)]
    return [
        _ProductLine(barcode=row.barcode, name=row.name) for row in rows if maker is None or has_words(row.maker, maker)
    ]
