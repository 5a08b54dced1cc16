"""A verdict on one fact: stated, missing, contrary or in doubt, and why, in words for people."""

from dataclasses import dataclass
from typing import Literal

ClaimVerdict = Literal["stated", "missing", "contrary", "doubt"]
"""``missing``: nothing was said about it. ``contrary``: it was denied, taken back, or something else was said in its
place. ``doubt``: what was said can be read either way."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one fact; ``shown`` is the value that was stated in its place, if any."""

    outcome: ClaimVerdict
    why: str
    shown: str = ""


def stated(why: str) -> Finding:
    """The message states the fact."""
    return Finding("stated", why)


def missing(why: str) -> Finding:
    """The message says nothing about the fact."""
    return Finding("missing", why)


def contrary(why: str, shown: str = "") -> Finding:
    """The message denies the fact, takes it back or states another."""
    return Finding("contrary", why, shown)


def doubtful(why: str) -> Finding:
    """The message can be read as stating the fact, and as not stating it."""
    return Finding("doubt", why)
