"""Nothing that a scenario needs is unknowable: a date has to be said, returned, or counted from today."""

import pytest
from sandbox_scenarios import Suite
from sandbox_scenarios.lint.dates import dates

from sandbox_mcp.engine.worlds.office.world import office
from tests.each import each
from tests.suite import SUITE


def test_the_office_would_be_unknowable_if_it_did_not_tell_the_date(monkeypatch: pytest.MonkeyPatch) -> None:
    offices = Suite(world="office")
    scenarios = [item for item in offices.load(offices.names()) if item.home is office]
    assert [item.name for item in scenarios if list(dates(item))] == []
    monkeypatch.setattr(office, "_situation", None)
    found = {item.name for item in scenarios if list(dates(item))}
    assert {"office_add_reminder", "office_create_event", "office_move_event", "office_whole_day"} <= found
    assert "office_weather_now" not in found


@each("name", ["tea_for_four_minutes", "backup_at_stamp", "heritage_day_fire", "patent_sable_in_2014", "noted_last"])
def test_what_is_said_returned_or_relative_is_knowable(name: str) -> None:
    assert list(dates(SUITE.get(name))) == []
