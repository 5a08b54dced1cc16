"""Trying again: how long is waited, when nothing is left to chance but what should be."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio

from sandbox_mcp.play.models.retrying import FailedTry, Pacing, insist, refused
from tests.each import each
from tests.world.test_clock import host_zone

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def pauses(*failures: FailedTry, chance: float = 1.0, pause: float = 1.0) -> list[float]:
    """How long is waited after each failure, until a try succeeds."""
    waited: list[float] = []
    left = list(failures)

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def once() -> str:
        if left:
            raise left.pop(0)
        return "done"

    pacing = Pacing(sleep, lambda: chance, NOW.timestamp)
    assert anyio.run(insist, once, len(failures), pause, pacing) == "done"
    return waited


BUSY = refused(503, "", None)


@each(("chance", "expected"), [(1.0, [2.0, 4.0]), (0.5, [1.5, 3.0]), (0.0, [1.0, 2.0])])
def test_up_to_half_of_a_pause_is_left_to_chance(chance: float, expected: list[float]) -> None:
    assert pauses(BUSY, BUSY, chance=chance, pause=2.0) == expected


def test_chance_differs_from_one_session_to_another() -> None:
    assert len({Pacing().chance() for _ in range(20)}) > 1


@each(
    ("header", "expected"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("-3", 0.0),
        (format_datetime(NOW + timedelta(seconds=9), usegmt=True), 9.0),
        (format_datetime(NOW - timedelta(hours=1), usegmt=True), 0.0),
        (format_datetime(NOW + timedelta(days=1), usegmt=True), 60.0),
        ("soon", 1.0),
        ("Mon, 99 Foo 2026 99:99:99 GMT", 1.0),
        ("nan", 1.0),
    ],
)
def test_the_endpoint_says_how_long_in_seconds_or_by_a_date(header: str, expected: float) -> None:
    assert pauses(refused(429, "", header)) == [expected]


@each("zone", ["", " -0000"])
def test_a_date_without_a_zone_is_meant_in_utc_wherever_this_is(zone: str) -> None:
    date = f"{NOW + timedelta(seconds=9):%a, %d %b %Y %H:%M:%S}{zone}"
    with host_zone("Asia/Tokyo"):
        assert pauses(refused(429, "", date)) == [9.0]


def test_whatever_the_pause_it_is_at_most_a_minute() -> None:
    assert pauses(BUSY, pause=1000.0) == [60.0]
