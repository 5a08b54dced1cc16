"""A music library: artists, their albums, songs and concerts, who made a song, and what reviewers say."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known, window

Style = Literal["folk", "jazz", "rock", "electronic", "classical"]
Task = Literal["music", "lyrics", "producer"]


class Artist(Table, fixed="data/media_artists.csv"):
    """A band, or a musician who plays alone."""

    id: Id[Self] = key()
    name: str
    style: Style
    country: str
    founded: int


class Album(Table, fixed="data/media_albums.csv"):
    """An album; days are written as 2024-05-31."""

    id: Id[Self] = key()
    title: str
    artist: Id[Artist]
    released: str
    label: str


class Song(Table, fixed="data/media_songs.csv"):
    """A song on an album; its length in seconds."""

    id: Id[Self] = key()
    title: str
    album: Id[Album]
    place: int
    seconds: int
    plays: int


class Maker(Table, fixed="data/media_makers.csv"):
    """Who did what for a song."""

    id: Id[Self] = key()
    song: Id[Song]
    name: str
    task: Task


class Criticism(Table, fixed="data/media_reviews.csv"):
    """What a magazine says of an album, with one to five stars."""

    id: Id[Self] = key()
    album: Id[Album]
    magazine: str
    stars: int
    verdict: str


class Concert(Table, fixed="data/media_concerts.csv"):
    """A concert; the price is in euros."""

    id: Id[Self] = key()
    artist: Id[Artist]
    day: str
    city: str
    hall: str
    price: int
    sold_out: bool


class _AlbumLine(TypedDict):
    """An album in a list."""

    album: str
    title: str
    released: str
    label: str


class _SongLine(TypedDict):
    """A song in a list; its length in seconds."""

    song: str
    title: str
    place: int
    seconds: int
    plays: int


class _FoundSong(TypedDict):
    """A song that was searched for, and the album it is on."""

    song: str
    title: str
    album: str
    seconds: int


class _MakerLine(TypedDict):
    """A person who made a song, and as what."""

    name: str
    task: Task


class _ReviewOfAlbum(TypedDict):
    """What a magazine says."""

    magazine: str
    stars: int
    verdict: str


class _ConcertLine(TypedDict):
    """A concert in a list; the price is in euros."""

    day: str
    city: str
    hall: str
    price: int
    sold_out: bool


media = World(
    "media",
    tables=[Artist, Album, Song, Maker, Criticism, Concert],
    instructions="You answer questions with the help of a music library.",
    user="You talk to an assistant that can look music up for you.",
    place="in the music library",
)


@media.query
def search_artists(tx: Tx, name: str | None = None, style: Style | None = None) -> list[Artist]:
    """Find artists by name or style, with their country and the year they began.

    Args:
        name: The name, or words of it.
        style: Only artists of this style.
    """
    rows = tx.all(Artist)
    return [row for row in rows if (name is None or has_words(row.name, name)) and style in (None, row.style)]


@media.query
def search_albums(tx: Tx, title: str) -> list[_AlbumLine]:
    """Find albums by words of their title.

    Args:
        title: The title, or words of it.
    """
    return [_album_line(row) for row in tx.all(Album) if has_words(row.title, title)]


def _album_line(row: Album) -> _AlbumLine:
    return _AlbumLine(album=row.id, title=row.title, released=row.released, label=row.label)


@media.query
def search_songs(tx: Tx, title: str) -> list[_FoundSong]:
    """Find songs by words of their title, with the album they are on and their length in seconds, 25 at most.

    Args:
        title: The title, or words of it.
    """
    rows = first((row for row in tx.all(Song) if has_words(row.title, title)), None)
    return [_FoundSong(song=row.id, title=row.title, album=row.album, seconds=row.seconds) for row in rows]


@media.query
def search_artist_albums(
    tx: Tx, artist: Id[Artist], after: str | None = None, before: str | None = None
) -> list[_AlbumLine]:
    """List an artist's albums, the oldest first.

    Args:
        artist: The artist's id.
        after: The first day of release that counts, such as 2019-01-01.
        before: The last day of release that counts.
    """
    counts = window(after, before)
    rows = tx.all(Album, artist=known(tx, Artist, artist, "artist").id)
    chosen = sorted((row for row in rows if counts(row.released)), key=lambda row: row.released)
    return [_album_line(row) for row in chosen]


@media.query
def search_artist_concerts(tx: Tx, artist: Id[Artist], city: str | None = None) -> list[_ConcertLine]:
    """List an artist's coming concerts, the earliest first.

    Args:
        artist: The artist's id.
        city: Only concerts in this city.
    """
    rows = tx.all(Concert, artist=known(tx, Artist, artist, "artist").id)
    chosen = sorted((row for row in rows if city is None or has_words(row.city, city)), key=lambda row: row.day)
    return [
        _ConcertLine(day=row.day, city=row.city, hall=row.hall, price=row.price, sold_out=row.sold_out)
        for row in chosen
    ]


@media.query
def search_album_songs(tx: Tx, album: Id[Album]) -> list[_SongLine]:
    """List the songs of an album in their order, with length in seconds and plays.

    Args:
        album: The album's id.
    """
    rows = sorted(tx.all(Song, album=known(tx, Album, album, "album").id), key=lambda row: row.place)
    return [
        _SongLine(song=row.id, title=row.title, place=row.place, seconds=row.seconds, plays=row.plays) for row in rows
    ]


@media.query
def search_album_reviews(tx: Tx, album: Id[Album]) -> list[_ReviewOfAlbum]:
    """List what magazines say of an album, with one to five stars.

    Args:
        album: The album's id.
    """
    rows = tx.all(Criticism, album=known(tx, Album, album, "album").id)
    return [_ReviewOfAlbum(magazine=row.magazine, stars=row.stars, verdict=row.verdict) for row in rows]


@media.query
def search_song_makers(tx: Tx, song: Id[Song], task: Task | None = None) -> list[_MakerLine]:
    """List who wrote the music and the lyrics of a song and who produced it.

    Args:
        song: The song's id.
        task: Only who did this.
    """
    rows = tx.all(Maker, song=known(tx, Song, song, "song").id)
    return [_MakerLine(name=row.name, task=row.task) for row in rows if task in (None, row.task)]
