"""Virtual time, time zones with all their nights, and ids that only look random."""

import os
import time
import uuid
import zoneinfo
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.world import Clock, IdStream, to_local, to_timestamp, zone_info
from tests.each import each
from tests.world.worlds import world

ZONES = ("UTC", "Europe/Paris", "America/Chicago", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia")
moments = st.integers(315529200, 2524604400).map(float)


def wall(*parts: int) -> datetime:
    return datetime(*parts)  # noqa: DTZ001 - wall time, read in the zone under test


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


class TestClock:
    def test_an_event_takes_one_step(self) -> None:
        assert Clock(10.0, "UTC", 0.5).advanced() == Clock(10.5, "UTC", 0.5)

    def test_or_as_long_as_it_is_said_to_take(self) -> None:
        assert Clock(10.0, "UTC", 0.5).advanced(60) == Clock(70.0, "UTC", 0.5)

    def test_a_world_ticks(self) -> None:
        target = world(now=10.0)
        assert (target.tick(), target.tick(5), target.clock.now) == (11.0, 16.0, 16.0)

    def test_it_stands_still_otherwise(self) -> None:
        target = world(now=10.0)
        with target.transaction() as tx:
            tx.delete("animal", "a1")
        assert target.clock.now == 10.0


class TestZones:
    @each("moment", [1e12, 1e17, -1e18, 1e300])
    def test_a_moment_beyond_every_calendar_is_refused_whatever_the_machine_says(self, moment: float) -> None:
        with pytest.raises(ValueError, match="out of range"):
            to_local(moment, "Europe/Paris")

    @each(
        ("zone", "parts", "moment"),
        [
            ("Europe/Paris", (2025, 3, 29, 20, 45), utc(2025, 3, 29, 19, 45)),
            ("Europe/Paris", (2025, 3, 30, 17, 0), utc(2025, 3, 30, 15, 0)),
            ("Asia/Kathmandu", (2025, 12, 24, 18, 0), utc(2025, 12, 24, 12, 15)),
            ("Australia/Adelaide", (2028, 2, 29, 11, 40), utc(2028, 2, 29, 1, 10)),
            ("America/Chicago", (2025, 5, 16, 9, 30), utc(2025, 5, 16, 14, 30)),
        ],
    )
    def test_wall_time_is_read_in_the_zone(self, zone: str, parts: tuple[int, ...], moment: float) -> None:
        assert to_timestamp(wall(*parts), zone) == moment
        assert to_local(moment, zone).replace(tzinfo=None) == wall(*parts)

    def test_a_time_that_happens_twice_means_the_first(self) -> None:
        assert to_timestamp(wall(2025, 10, 26, 2, 30), "Europe/Paris") == utc(2025, 10, 26, 0, 30)

    def test_a_time_that_is_skipped_is_read_with_the_offset_before(self) -> None:
        moment = to_timestamp(wall(2025, 3, 30, 2, 30), "Europe/Paris")
        assert moment == utc(2025, 3, 30, 1, 30)
        assert to_local(moment, "Europe/Paris").hour == 3

    def test_a_clock_may_change_by_half_an_hour(self) -> None:
        before, after = (to_timestamp(wall(2025, 4, 6, hour, 0), "Australia/Lord_Howe") for hour in (1, 3))
        assert after - before == 2.5 * 3600

    def test_a_whole_day_may_be_missing(self) -> None:
        before, after = (to_timestamp(wall(2011, 12, day, 12, 0), "Pacific/Apia") for day in (29, 31))
        assert after - before == 24 * 3600

    def test_a_wall_time_that_knows_its_zone_keeps_it(self) -> None:
        assert to_timestamp(datetime(2025, 1, 1, tzinfo=UTC), "Asia/Tokyo") == utc(2025, 1, 1)

    @given(moments, st.sampled_from(ZONES))
    def test_there_and_back_again(self, moment: float, zone: str) -> None:
        local = to_local(moment, zone)
        assert to_timestamp(local, zone) == moment
        naive = to_timestamp(local.replace(tzinfo=None, fold=0), zone)
        assert naive == moment if not local.fold else naive < moment

    @given(moments, st.sampled_from(ZONES))
    def test_the_hosts_own_zone_plays_no_part(self, moment: float, zone: str) -> None:
        answers = set()
        for host in ("America/Los_Angeles", "Asia/Tokyo"):
            with host_zone(host):
                answers.add((to_local(moment, zone).isoformat(), to_timestamp(wall(2025, 6, 1, 12, 0), zone)))
        assert len(answers) == 1

    def test_the_hosts_table_of_zones_plays_no_part(self, tmp_path: Path) -> None:
        with files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").open("rb") as elsewhere:
            (tmp_path / "Europe").mkdir()
            (tmp_path / "Europe" / "Paris").write_bytes(elsewhere.read())
        before = zoneinfo.TZPATH
        zoneinfo.reset_tzpath([str(tmp_path)])
        zoneinfo.ZoneInfo.clear_cache()
        try:
            assert zone_info.__wrapped__("Europe/Paris").utcoffset(wall(2025, 1, 1)) == timedelta(hours=1)
        finally:
            zoneinfo.reset_tzpath(before)
            zoneinfo.ZoneInfo.clear_cache()

    @each("name", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "Europe", "a\0b", "x" * 999])
    def test_an_unknown_zone(self, name: str) -> None:
        with pytest.raises(ValueError, match=r"unknown time zone .*; expected an IANA name such as 'Europe/Paris'"):
            zone_info(name)

    @given(st.text(max_size=20))
    def test_a_zone_is_known_or_refused_in_words(self, name: str) -> None:
        with suppress(ValueError):
            assert zone_info(name).key == name


class host_zone:  # noqa: N801 - reads as what it does
    """The process pretends to be somewhere else."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.before = os.environ.get("TZ")
        os.environ["TZ"] = self.name
        time.tzset()

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = self.before
        time.tzset()


class TestIds:
    def test_an_id_is_a_version_4_uuid(self) -> None:
        made = uuid.UUID(IdStream("s").id("contact", 0))
        assert (made.version, made.variant) == (4, uuid.RFC_4122)

    def test_it_depends_on_seed_table_and_number_alone(self) -> None:
        assert IdStream("s").id("contact", 3) == IdStream("s").id("contact", 3)

    def test_it_never_changes_between_versions(self) -> None:
        """Recorded sessions are replayed with it."""
        assert IdStream("wifi_off/base/0").id("contact", 0) == "173fd1e4-a53e-460c-9446-ce54993e1344"

    @given(st.lists(st.tuples(st.text(max_size=3), st.sampled_from(["a", "ab"]), st.integers(0, 99)), unique=True))
    def test_different_ones_differ(self, keys: list[tuple[str, str, int]]) -> None:
        made = {IdStream(seed).id(table, number) for seed, table, number in keys}
        assert len(made) == len(keys)

    def test_each_table_counts_for_itself(self) -> None:
        target = world("s")
        with target.transaction() as tx:
            first = tx.insert("animal", "id", {})
            other = tx.insert("field", "id", {})
            second = tx.insert("animal", "id", {})
        ids = IdStream("s")
        assert (first, other, second) == (ids.id("animal", 0), ids.id("field", 0), ids.id("animal", 1))

    def test_an_id_is_not_used_again_after_its_row_is_gone(self) -> None:
        target = world("s")
        with target.transaction() as tx:
            tx.delete("animal", tx.insert("animal", "id", {}))
        with target.transaction() as tx:
            assert tx.insert("animal", "id", {}) == IdStream("s").id("animal", 1)
