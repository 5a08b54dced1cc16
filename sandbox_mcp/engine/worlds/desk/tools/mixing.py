"""Mixers: dials that are set, samples that are taken, batches that are started."""

from typing import TypedDict

from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds.desk.paging import PageOfRows, page_of
from sandbox_mcp.engine.worlds.desk.tables import Mixer
from sandbox_mcp.engine.worlds.desk.world import desk

GROUP = "mixing"
HIGHEST = 60
"""The highest mark of a dial."""


class Dials(TypedDict):
    """A mixer as its panel shows it; ``samples`` are left."""

    number: str
    hall: str
    dial_a: int
    dial_b: int
    dial_c: int
    samples: int
    state: str
    batch: str | None


class Mixers(PageOfRows):
    """Mixers by number."""

    rows: list[Dials]


class Sample(TypedDict):
    """The three readings of a sample, and how many samples are left."""

    red: int
    green: int
    blue: int
    samples_left: int


@desk.query(group=GROUP)
def list_mixers(tx: Tx, hall: str = "", page: int = 1) -> Mixers:
    """List the mixers with their dials.

    Args:
        hall: Only in this hall.
        page: Page of the list.
    """
    rows, of = page_of([one for one in tx.all(Mixer) if hall in ("", one.hall)], page)
    return {"rows": [_panel(one) for one in rows], **of}


@desk.action(group=GROUP, updates=[Mixer.dial_a, Mixer.dial_b, Mixer.dial_c], destructive=False, said=["set"])
def set_dials(tx: Tx, mixer: str, dial_a: int, dial_b: int, dial_c: int) -> Dials:
    """Set the three dials of a mixer that is idle, each to a mark from 0 to 60.

    Args:
        mixer: Number of the mixer, such as X-2.
        dial_a: Mark of dial A.
        dial_b: Mark of dial B.
        dial_c: Mark of dial C.

    Raises:
        ValueError: a mark is out of range, or the mixer runs.
    """
    found = _idle(tx, mixer)
    for name, mark in (("dial_a", dial_a), ("dial_b", dial_b), ("dial_c", dial_c)):
        if not 0 <= mark <= HIGHEST:
            raise ValueError(f"`{name}` must be from 0 to {HIGHEST}")
    return _panel(tx.change(found, dial_a=dial_a, dial_b=dial_b, dial_c=dial_c))


@desk.action(group=GROUP, updates=[Mixer.samples], destructive=False, said=["sampled"])
def take_sample(tx: Tx, mixer: str) -> Sample:
    """Take a sample of what an idle mixer would make as its dials are set; a mixer gives only so many.

    Args:
        mixer: Number of the mixer, such as X-2.

    Raises:
        ValueError: no sample is left, or the mixer runs.
    """
    found = _idle(tx, mixer)
    if not found.samples:
        raise ValueError(f"mixer {mixer} gives no more samples")
    left = tx.change(found, samples=found.samples - 1).samples
    red, green, blue = readings(found.gains, found.offsets, (found.dial_a, found.dial_b, found.dial_c))
    return {"red": red, "green": green, "blue": blue, "samples_left": left}


@desk.action(group=GROUP, updates=[Mixer.state, Mixer.batch], said=["started"])
def start_batch(tx: Tx, mixer: str, recipe: str) -> Dials:
    """Start a batch of a recipe with the dials as they are set. It cannot be stopped.

    Args:
        mixer: Number of the mixer, such as X-2.
        recipe: Name of the recipe.

    Raises:
        ValueError: the mixer runs.
    """
    return _panel(tx.change(_idle(tx, mixer), state="running", batch=recipe))


def readings(gains: list[int], offsets: list[int], dials: tuple[int, int, int]) -> tuple[int, int, int]:
    """What a sample reads: each reading is its offset, and the sum of the dials by its three gains."""
    red, green, blue = (
        offset + sum(gain * mark for gain, mark in zip(gains[3 * row : 3 * row + 3], dials, strict=True))
        for row, offset in enumerate(offsets)
    )
    return red, green, blue


def _idle(tx: Tx, number: str) -> Mixer:
    found = tx.one(Mixer, number=number)
    if found.state != "idle":
        raise ValueError(f"mixer {number} is {found.state}")
    return found


def _panel(mixer: Mixer) -> Dials:
    return {
        "number": mixer.number, "hall": mixer.hall, "dial_a": mixer.dial_a, "dial_b": mixer.dial_b,
        "dial_c": mixer.dial_c, "samples": mixer.samples, "state": mixer.state, "batch": mixer.batch,
    }  # fmt: skip
