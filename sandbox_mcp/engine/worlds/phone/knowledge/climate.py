"""Usual weather at a place and time of year.

Policy: monthly normals of some 170 reference stations, rounded, spread over the globe. A place's normal is a zonal
mean for its latitude, plus the anomalies of the stations weighted by closeness, brought from sea level to the place's
height at 6.5 K per kilometre. Heights come from the stations, a table of towns, and a table of peaks, each of which
lends its height to its own grid cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import cos, floor, pi
from operator import mul

from sandbox_mcp.engine.worlds.phone.knowledge.distance import haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.tables import rows

GRID_DEGREES = 0.1
"""Places within one grid cell have one climate and one weather."""

LAPSE_PER_METRE = 0.0065
_STATION_KM, _ALONE_KM = 20.0, 1500.0
_TOWN_KM, _LOWLAND_KM = 5.0, 300.0


@dataclass(frozen=True, slots=True)
class Normals:
    """A place's climate: monthly mean temperatures in °C, the daily ranges of January and July in K.

    ``elevation`` is in metres; ``wet_days`` counts days with at least 1 mm in January, April, July and October.
    """

    elevation: float
    means: tuple[float, ...]
    ranges: tuple[float, ...]
    wet_days: tuple[float, ...]

    def mean(self, day_of_year: int) -> float:
        """The usual mean temperature in °C."""
        return _cyclic(self.means, day_of_year)

    def daily_range(self, day_of_year: int) -> float:
        """The usual difference of the day's maximum and minimum in K."""
        return _cyclic(self.ranges, day_of_year)

    def wet_share(self, day_of_year: int) -> float:
        """The share of days with rain or snow."""
        return min(0.95, _cyclic(self.wet_days, day_of_year) / 30.4)

    def seasonality(self) -> float:
        """The difference of the warmest and the coldest month in K."""
        return max(self.means) - min(self.means)


@dataclass(frozen=True, slots=True)
class _Station:
    """A reference station; ``anomalies`` are how much warmer each month is than its latitude, at sea level, in K."""

    latitude: float
    longitude: float
    normals: Normals
    anomalies: tuple[float, ...]


def grid_cell(latitude: float, longitude: float) -> tuple[float, float]:
    """The centre of the grid cell that a point is in."""
    east = round(round(longitude / GRID_DEGREES) * GRID_DEGREES, 1)
    return round(round(latitude / GRID_DEGREES) * GRID_DEGREES, 1) + 0.0, (-180.0 if east == 180.0 else east) + 0.0


@lru_cache(maxsize=4096)
def normals_at(latitude: float, longitude: float) -> Normals:
    """The climate of a grid cell, given its centre."""
    stations = _stations()
    distances = [haversine_km(latitude, longitude, station.latitude, station.longitude) for station in stations]
    weights = [_weight(distance, _STATION_KM) for distance in distances]
    total = sum(weights)
    near = total / (total + _weight(_ALONE_KM, 0))
    height = elevation_at(latitude, longitude)
    anomalies = _weighted(weights, [station.anomalies for station in stations])
    means = [
        _zonal_mean(latitude, month) + near * anomaly - LAPSE_PER_METRE * height
        for month, anomaly in enumerate(anomalies)
    ]
    ranges = _weighted(weights, [station.normals.ranges for station in stations])
    return Normals(height, tuple(means), ranges, _weighted(weights, [station.normals.wet_days for station in stations]))


def _weighted(weights: Sequence[float], rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The weighted mean of each column."""
    total = sum(weights)
    return tuple(sum(map(mul, weights, column)) / total for column in zip(*rows, strict=True))


@lru_cache(maxsize=4096)
def elevation_at(latitude: float, longitude: float) -> float:
    """The assumed height of a grid cell in metres, given its centre."""
    peaks, towns = _heights()
    peak = peaks.get((latitude, longitude))
    if peak is not None:
        return peak
    weighted = [(_weight(haversine_km(latitude, longitude, y, x), _TOWN_KM), height) for y, x, height in towns]
    total = sum(weight for weight, _ in weighted) + _weight(_LOWLAND_KM, 0)
    return sum(weight * height for weight, height in weighted) / total


def _weight(kilometers: float, core: float) -> float:
    return 1 / (kilometers**2 + core**2) ** 2


def _zonal_mean(latitude: float, month: int) -> float:
    """A crude mean temperature of a latitude at sea level: colder and more seasonal towards the poles."""
    warmest = 6.3 if latitude >= 0 else 0.3
    year = max(-16.0, 27.5 - 0.0066 * latitude**2)
    return year + min(16.0, 0.22 * abs(latitude)) * cos(2 * pi * (month - warmest) / 12)


def _cyclic(values: Sequence[float], day_of_year: int) -> float:
    """Linear between the values, which lie evenly spread over the year from mid-January."""
    position = (day_of_year - 15.5) / 365.25 * len(values)
    left = floor(position)
    share = position - left
    return (1 - share) * values[left % len(values)] + share * values[(left + 1) % len(values)]


@cache
def _stations() -> tuple[_Station, ...]:
    found: list[_Station] = []
    for row in rows("climate.tsv"):
        latitude, longitude, height = (float(row[name]) for name in ("latitude", "longitude", "elevation_m"))
        columns = ("mean_temperatures_c", "daily_ranges_c", "wet_days")
        means, ranges, wet_days = (tuple(float(number) for number in row[name].split()) for name in columns)
        at_sea_level = LAPSE_PER_METRE * height
        anomalies = (mean + at_sea_level - _zonal_mean(latitude, month) for month, mean in enumerate(means))
        found.append(_Station(latitude, longitude, Normals(height, means, ranges, wet_days), tuple(anomalies)))
    return tuple(found)


@cache
def _heights() -> tuple[dict[tuple[float, float], float], list[tuple[float, float, float]]]:
    """The heights of the cells with a peak, and of single points."""
    points = [
        (float(r["latitude"]), float(r["longitude"]), float(r["elevation_m"]), r["kind"]) for r in rows("heights.tsv")
    ]
    peaks = {grid_cell(y, x): height for y, x, height, kind in sorted(points, key=lambda p: p[2]) if kind == "peak"}
    towns = [(y, x, height) for y, x, height, kind in points if kind == "town"]
    return peaks, towns + [(s.latitude, s.longitude, s.normals.elevation) for s in _stations()]
