"""Trying again: which faults of an endpoint may pass, and how long to wait before the next try.

Policy: too many requests (429), a timeout or conflict (408, 409), a fault of the server (5xx) and a lost connection may
pass; anything else is told at once. An address at which nobody has ever answered is given up after a few seconds: it is
more likely mistyped, or not started, than busy. The pause doubles from try to try, and up to half of it is left to
chance so that sessions that failed together do not come back together; where the endpoint says how long to wait, that
counts.
"""

import logging
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeVar

PASSING = frozenset({408, 409, 429})
"""Statuses below 500 that are worth another try."""
LONGEST_PAUSE = 60.0
"""Seconds waited at most between two tries, whatever the endpoint asks for."""
UNREACHED = 3
"""Tries at most at an address at which nobody has ever answered."""
LONGEST_TOLD = 200
"""Characters of what an endpoint says that are told."""

T = TypeVar("T")
logger = logging.getLogger(__name__)
"""Tells every further try before its pause, as information: a run shows it, a library keeps it to itself."""


async def _sleep(seconds: float) -> None:
    import anyio

    await anyio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Pacing:
    """Pauses between tries: the sleep, the share of the half left to chance, and the clock."""

    sleep: Callable[[float], Awaitable[None]] = _sleep
    chance: Callable[[], float] = random.random
    now: Callable[[], float] = time.time


class FailedTry(Exception):
    """One failed try.

    ``after`` is the ``Retry-After`` header with which the endpoint asked to wait; ``status`` is that of its answer.
    ``unreached`` is set where nobody has ever answered at the address.
    """

    def __init__(
        self,
        problem: str,
        *,
        passing: bool,
        after: str | None = None,
        status: int | None = None,
        unreached: bool = False,
    ) -> None:
        self.passing = passing
        self.unreached = unreached
        self.status = status
        self.after = after
        super().__init__(problem)


def refused(status: int, said: str, retry_after: str | None) -> FailedTry:
    """The fault that an answer with an error's status is, with its ``Retry-After`` header."""
    problem = f"status {status}: {one_line(said)}" if said.strip() else f"status {status}"
    return FailedTry(problem, passing=status >= 500 or status in PASSING, after=retry_after, status=status)


async def insist(
    once: Callable[[], Awaitable[T]], retries: int, pause: float, pacing: Pacing, *, who: str = "endpoint"
) -> T:
    """Try, and try again up to ``retries`` times while faults may pass, after ``pause`` seconds and then twice that.

    ``who`` is asked, for messages.

    Raises:
        FailedTry: the last one, which tells how many tries there were.
    """
    for tried in range(retries + 1):
        try:
            return await once()
        except FailedTry as fault:
            last = min(retries, UNREACHED - 1) if fault.unreached else retries
            if not fault.passing or tried >= last:
                times = f" ({tried + 1} tries)" if tried else ""
                raise FailedTry(
                    f"{fault}{times}", passing=fault.passing, after=fault.after, status=fault.status
                ) from fault
            asked = _seconds(fault.after, pacing.now())
            wait = pause * 2.0**tried * (1 + pacing.chance()) / 2 if asked is None else asked
            wait = min(wait, LONGEST_PAUSE)
            logger.info("%s: %s; try %d of %d in %.0f s", who, fault, tried + 2, last + 1, wait)
            await pacing.sleep(wait)
    raise AssertionError("unreachable")


def one_line(text: str) -> str:
    """The text in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TOLD else f"{line[:LONGEST_TOLD]}..."


def _seconds(header: str | None, now: float) -> float | None:
    """Seconds to wait from now on, by a ``Retry-After`` of seconds or of a date; None where it says neither."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
        except (ValueError, OverflowError, OSError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)
