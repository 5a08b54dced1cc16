"""An archive of pictures and films: found by tags or by author, with licences, sizes and what is said in them."""

from typing import Literal, Self, TypedDict, TypeVar

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known

Licence = Literal["free", "with credit", "paid"]
Colour = Literal["red", "green", "blue", "yellow", "black and white"]
Orientation = Literal["landscape", "portrait", "square"]


class Image(Table, fixed="data/visual_images.csv"):
    """A picture; its size in pixels, its price in euros."""

    id: Id[Self] = key()
    title: str
    author: str
    tags: list[str]
    colour: Colour
    orientation: Orientation
    width: int
    height: int
    licence: Licence
    price: int
    downloads: int


class Video(Table, fixed="data/visual_videos.csv"):
    """A film; its length in seconds, its price in euros."""

    id: Id[Self] = key()
    title: str
    author: str
    tags: list[str]
    seconds: int
    frames_per_second: int
    licence: Licence
    price: int
    downloads: int


class Caption(Table, fixed="data/visual_captions.csv"):
    """What is said in a film, and at which second."""

    id: Id[Self] = key()
    video: Id[Video]
    second: int
    text: str


class _ImageLine(TypedDict):
    """A picture in a list."""

    image: str
    title: str
    author: str


class _VideoLine(TypedDict):
    """A film in a list."""

    video: str
    title: str
    author: str


class _CaptionLine(TypedDict):
    """What is said, and when."""

    second: int
    text: str


video_images = World(
    "video_images",
    tables=[Image, Video, Caption],
    instructions="You answer questions with the help of an archive of pictures and films.",
    user="You talk to an assistant that can look into an archive of pictures and films for you.",
    place="in the archive",
)


def _image_lines(rows: list[Image]) -> list[_ImageLine]:
    return [_ImageLine(image=row.id, title=row.title, author=row.author) for row in first(rows, None)]


def _video_lines(rows: list[Video]) -> list[_VideoLine]:
    return [_VideoLine(video=row.id, title=row.title, author=row.author) for row in first(rows, None)]


_V = TypeVar("_V", Image, Video)


def _tagged(rows: list[_V], tags: list[str]) -> list[_V]:
    wanted = {tag.strip().casefold() for tag in tags}
    if not wanted:
        raise ValueError("expected at least one tag to look for")
    return [row for row in rows if wanted.issubset(row.tags)]


@video_images.query
def search_images_with_tags(
    tx: Tx, tags: list[str], colour: Colour | None = None, orientation: Orientation | None = None
) -> list[_ImageLine]:
    """Find pictures that have all of some tags, 25 at most.

    Args:
        tags: The tags, such as harbour and boat.
        colour: Only pictures in which this colour prevails.
        orientation: Only pictures of this shape.
    """
    rows = _tagged(tx.all(Image), tags)
    return _image_lines(
        [row for row in rows if colour in (None, row.colour) and orientation in (None, row.orientation)]
    )


@video_images.query
def search_images_with_author(tx: Tx, author: str, licence: Licence | None = None) -> list[_ImageLine]:
    """Find the pictures that somebody made, 25 at most.

    Args:
        author: The name, or a part of it.
        licence: Only pictures under this licence.
    """
    rows = [row for row in tx.all(Image) if has_words(row.author, author)]
    return _image_lines([row for row in rows if licence in (None, row.licence)])


@video_images.query
def search_videos_with_tags(tx: Tx, tags: list[str], max_seconds: int | None = None) -> list[_VideoLine]:
    """Find films that have all of some tags, 25 at most.

    Args:
        tags: The tags, such as harbour and boat.
        max_seconds: Only films of at most this length.
    """
    rows = _tagged(tx.all(Video), tags)
    return _video_lines([row for row in rows if max_seconds is None or row.seconds <= max_seconds])


@video_images.query
def search_videos_with_author(tx: Tx, author: str, licence: Licence | None = None) -> list[_VideoLine]:
    """Find the films that somebody made, 25 at most.

    Args:
        author: The name, or a part of it.
        licence: Only films under this licence.
    """
    rows = [row for row in tx.all(Video) if has_words(row.author, author)]
    return _video_lines([row for row in rows if licence in (None, row.licence)])


@video_images.query
def get_details_of_image(tx: Tx, image: Id[Image]) -> Image:
    """Get a picture's size in pixels, colour, tags, licence, price in euros and number of downloads.

    Args:
        image: The picture's id.
    """
    return known(tx, Image, image, "picture")


@video_images.query
def get_details_of_video(tx: Tx, video: Id[Video]) -> Video:
    """Get a film's length in seconds, frames per second, tags, licence, price in euros and number of downloads.

    Args:
        video: The film's id.
    """
    return known(tx, Video, video, "film")


@video_images.query
def get_captions_of_video(tx: Tx, video: Id[Video]) -> list[_CaptionLine]:
    """List what is said in a film, and at which second.

    Args:
        video: The film's id.
    """
    rows = sorted(tx.all(Caption, video=known(tx, Video, video, "film").id), key=lambda row: row.second)
    return [_CaptionLine(second=row.second, text=row.text) for row in rows]


@video_images.query
def get_images_like_image(tx: Tx, image: Id[Image]) -> list[_ImageLine]:
    """List the pictures that share at least two tags with a picture, 25 at most.

    Args:
        image: The picture's id.
    """
    given = known(tx, Image, image, "picture")
    rows = [row for row in tx.all(Image) if row.id != given.id and len(set(row.tags) & set(given.tags)) >= 2]
    return _image_lines(rows)
