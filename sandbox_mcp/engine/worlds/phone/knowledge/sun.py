"""Positions of the sun and the moon: sunrise, solar noon, sunset and the phase of the moon.

Policy: the equations of NOAA's solar calculator in their short form, right to about two minutes between the polar
circles; the sun is up when its upper edge is, refraction included. The phase counts mean lunar months from a known
new moon and is right to about half a day.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from math import acos, cos, degrees, pi, radians, sin, tan

ZENITH_DEGREES = 90.833
NEW_MOON = datetime(2000, 1, 6, 18, 14, tzinfo=UTC).timestamp()
LUNAR_MONTH_DAYS = 29.530588853
PHASES = (
    "New Moon", "Waxing Crescent", "First Quarter", "Waxing Gibbous", "Full Moon", "Waning Gibbous", "Last Quarter",
    "Waning Crescent",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SunDay:
    """One day's sun, as timestamps; ``sunrise`` and ``sunset`` are None where it stays up or down all day.

    ``noon_elevation`` is in degrees above the horizon.
    """

    sunrise: float | None
    noon: float
    sunset: float | None
    noon_elevation: float


def sun_on(latitude: float, longitude: float, day: date) -> SunDay:
    """The sun of the solar day whose noon is closest to 12:00 local mean time of ``day``."""
    angle = 2 * pi / 365 * (day.timetuple().tm_yday - 1)
    declination = (
        0.006918
        - 0.399912 * cos(angle)
        + 0.070257 * sin(angle)
        - 0.006758 * cos(2 * angle)
        + 0.000907 * sin(2 * angle)
        - 0.002697 * cos(3 * angle)
        + 0.00148 * sin(3 * angle)
    )
    sundial_ahead_minutes = 229.18 * (
        0.000075 + 0.001868 * cos(angle) - 0.032077 * sin(angle) - 0.014615 * cos(2 * angle) - 0.040849 * sin(2 * angle)
    )
    noon_minute = 720 - 4 * longitude - sundial_ahead_minutes
    noon = datetime.combine(day, time(), UTC).timestamp() + 60 * noon_minute
    elevation = 90 - abs(latitude - degrees(declination))
    if abs(latitude) > 89.9:
        return SunDay(None, noon, None, elevation)
    here = radians(latitude)
    cosine = cos(radians(ZENITH_DEGREES)) / (cos(here) * cos(declination)) - tan(here) * tan(declination)
    if not -1 < cosine < 1:
        return SunDay(None, noon, None, elevation)
    half_day = 240 * degrees(acos(cosine))
    return SunDay(noon - half_day, noon, noon + half_day, elevation)


def moon_phase(timestamp: float) -> tuple[str, int]:
    """The name of the phase, and how much of the disc is lit, in percent."""
    share = (timestamp - NEW_MOON) / 86400 / LUNAR_MONTH_DAYS % 1
    return PHASES[round(share * 8) % 8], round(50 * (1 - cos(2 * pi * share)))
