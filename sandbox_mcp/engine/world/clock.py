"""Virtual time and seeded ids: the two things that would otherwise differ between two runs.

Policy: nothing in a world reads the host's clock, time zone, table of time zones or random source. Local times that a
change of daylight saving makes ambiguous mean the first of the two; times that it skips are read with the offset before
the change.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_VERSION_4 = 0x40008 << 60
_FIXED = 0xF000C << 60
"""Where a UUID of version 4 says that it is one. Source: RFC 9562, section 5.4."""
_ZONE = re.compile(r"[\w+-]+(/[\w+-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since the epoch, the zone they are read in, and how many seconds one event takes."""

    now: float
    zone: str = "UTC"
    step: float = 1.0

    def advanced(self, seconds: float | None = None) -> "Clock":
        """The clock ``seconds`` later, or one step later."""
        return Clock(self.now + (self.step if seconds is None else seconds), self.zone, self.step)


@lru_cache(maxsize=256)
def zone_info(name: str) -> "ZoneInfo":
    """The time zone of that IANA name.

    Raises:
        ValueError: there is no such zone.
    """
    from importlib.resources import files  # they take longer than the rest of this module, and many commands need none
    from zoneinfo import ZoneInfo

    try:
        if not _ZONE.fullmatch(name):
            raise KeyError(name)
        with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as table:
            return ZoneInfo.from_file(table, key=name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"unknown time zone {name!r}; expected an IANA name such as 'Europe/Paris'") from error


def to_local(timestamp: float, zone: str) -> datetime:
    """The local wall time of a timestamp, aware of its zone.

    Raises:
        ValueError: no calendar has such a moment, or there is no such zone.
    """
    try:
        return datetime.fromtimestamp(timestamp, UTC).astimezone(zone_info(zone))
    except (OverflowError, OSError) as error:  # which of them it is depends on the machine and on how far out it lies
        raise ValueError(f"the moment {timestamp!r} is out of range; expected seconds since 1970") from error


def to_timestamp(wall: datetime, zone: str) -> float:
    """The timestamp of a wall time; one without a zone is read in ``zone``."""
    return (wall if wall.tzinfo else wall.replace(tzinfo=zone_info(zone))).timestamp()


@dataclass(frozen=True, slots=True)
class IdStream:
    """Ids that look random and are not: the n-th id of a table depends only on the seed, the table and n."""

    seed: str

    def id(self, table: str, n: int) -> str:
        """The n-th id (from 0) of ``table`` as a version 4 UUID in text form."""
        digest = hashlib.sha256(f"{self.seed}\x00{table}\x00{n}".encode()).digest()
        text = f"{int.from_bytes(digest[:16], 'big') & ~_FIXED | _VERSION_4:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
