"""What reading a message for one fact comes to: stated, missing or contrary, and why, in words for people."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """``missing``: nothing was said about it. ``contrary``: it was denied, taken back, or something else was said."""

    outcome: Literal["stated", "missing", "contrary"]
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
