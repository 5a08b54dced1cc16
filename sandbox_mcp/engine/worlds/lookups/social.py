"""A small social network: who is there, who follows whom, what was posted, and what others said and felt about it."""

from typing import Literal, Self, TypedDict

from sandbox_mcp.engine.tools.declaring import World
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.lookups.looking import first, has_words, known, window

Feeling = Literal["like", "laugh", "wonder", "sorry"]


class Member(Table, fixed="data/social_users.csv"):
    """A person with an account."""

    handle: Id[Self] = key()
    name: str
    town: str
    joined: str
    verified: bool


class Follow(Table, fixed="data/social_follows.csv"):
    """Who follows whom, and since when."""

    id: Id[Self] = key()
    follower: Id[Member]
    followed: Id[Member]
    since: str


class Post(Table, fixed="data/social_posts.csv"):
    """What a member wrote for all to read."""

    id: Id[Self] = key()
    author: Id[Member]
    day: str
    text: str
    views: int


class Comment(Table, fixed="data/social_comments.csv"):
    """What a member wrote beneath a post."""

    id: Id[Self] = key()
    post: Id[Post]
    author: Id[Member]
    day: str
    text: str


class Reaction(Table, fixed="data/social_reactions.csv"):
    """How many people felt what about a post."""

    id: Id[Self] = key()
    post: Id[Post]
    feeling: Feeling
    count: int


class _PostLine(TypedDict):
    """A post in a list."""

    post: str
    day: str
    text: str
    views: int


class _CommentLine(TypedDict):
    """A comment in a list."""

    author: str
    day: str
    text: str


class _ReactionLine(TypedDict):
    """A feeling, and how many had it."""

    feeling: Feeling
    count: int


class _FollowerLine(TypedDict):
    """A follower."""

    handle: str
    name: str
    since: str


social = World(
    "social",
    tables=[Member, Follow, Post, Comment, Reaction],
    instructions="You answer questions about what is posted in a social network.",
    user="You talk to an assistant that can look around in a social network for you.",
    place="in the social network",
)


def _user(tx: Tx, handle: str) -> Member:
    return known(tx, Member, handle.removeprefix("@"), "user")


@social.query
def find_user(tx: Tx, name: str) -> list[Member]:
    """Find people by name, with handle, town, and the day they joined, 25 at most.

    Args:
        name: The name, or a part of it.
    """
    return first((row for row in tx.all(Member) if has_words(row.name, name)), None)


@social.query
def get_user_posts(
    tx: Tx, user: Id[Member], after: str | None = None, before: str | None = None, words: str | None = None
) -> list[_PostLine]:
    """List what somebody has posted, the latest first, 25 at most.

    Args:
        user: The handle of who posted.
        after: The first day that counts, such as 2026-01-31.
        before: The last day that counts.
        words: Only posts that have these words.
    """
    counts = window(after, before)
    rows = [
        row
        for row in tx.all(Post, author=_user(tx, user).handle)
        if counts(row.day) and (words is None or has_words(row.text, words))
    ]
    latest = sorted(rows, key=lambda row: row.day, reverse=True)
    return [_PostLine(post=row.id, day=row.day, text=row.text, views=row.views) for row in first(latest, None)]


@social.query
def get_user_followers(tx: Tx, user: Id[Member], after: str | None = None) -> list[_FollowerLine]:
    """List who follows somebody, the newest first.

    Args:
        user: The handle of who is followed.
        after: Only those who began to follow on this day, such as 2026-01-31, or later.
    """
    counts = window(after)
    rows = [row for row in tx.all(Follow, followed=_user(tx, user).handle) if counts(row.since)]
    newest = sorted(rows, key=lambda row: row.since, reverse=True)
    return [_FollowerLine(handle=row.follower, name=_user(tx, row.follower).name, since=row.since) for row in newest]


@social.query
def get_post_comments(tx: Tx, post: Id[Post]) -> list[_CommentLine]:
    """List what was written beneath a post, the earliest first.

    Args:
        post: The post's id.
    """
    rows = sorted(tx.all(Comment, post=known(tx, Post, post, "post").id), key=lambda row: row.day)
    return [_CommentLine(author=row.author, day=row.day, text=row.text) for row in rows]


@social.query
def get_post_reactions(tx: Tx, post: Id[Post]) -> list[_ReactionLine]:
    """Count who felt what about a post.

    Args:
        post: The post's id.
    """
    rows = tx.all(Reaction, post=known(tx, Post, post, "post").id)
    return [_ReactionLine(feeling=row.feeling, count=row.count) for row in rows]
