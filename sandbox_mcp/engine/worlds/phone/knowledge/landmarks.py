"""Real places with the coordinates and addresses they really have.

Policy: only facts that hardly change: name, kind, address, coordinates to about 100 m, and the public phone number
where it is well known. No phone number is invented for a real place; opening hours and ratings are, and places that
show them say so.
"""

from dataclasses import dataclass
from functools import cache

from sandbox_mcp.engine.worlds.phone.knowledge.tables import rows


@dataclass(frozen=True, slots=True)
class Landmark:
    """One real place; ``phone_number`` is empty where it is not known."""

    name: str
    category: str
    street: str
    city: str
    region: str
    country_code: str
    latitude: float
    longitude: float
    phone_number: str


@cache
def landmarks() -> tuple[Landmark, ...]:
    """All landmarks, in the order of their table."""
    return tuple(
        Landmark(
            row["name"],
            row["category"],
            row["street"],
            row["city"],
            row["region"],
            row["country_code"],
            float(row["latitude"]),
            float(row["longitude"]),
            row["phone_number"],
        )
        for row in rows("landmarks.tsv")
    )
