"""Seeded noise: fixed values, the right spread, no jumps."""

from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge.seeded import choice, field, fraction, gaussian, integer, smooth
from tests.each import each

KEYS = st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=3)


def test_values_never_change() -> None:
    """Whatever changes these changes every invented price, shop and rainy day."""
    assert integer("a", 1) == 9484037261928657086
    assert integer() == 16406829232824261652
    assert choice("abcdef", "k") == "e"
    assert fraction("x") == pytest.approx(0.17750681999964513, abs=1e-15)
    assert gaussian("g") == pytest.approx(0.8449977133723592, abs=1e-12)
    assert smooth(1.5, "s") == pytest.approx(0.49463247536318017, abs=1e-12)
    assert field(10, 20, 3.5, 2.5, "f") == pytest.approx(-0.061238616771408405, abs=1e-12)


def test_the_parts_of_a_key_are_kept_apart() -> None:
    assert integer("ab", "c") != integer("a", "bc")
    assert integer("a", "b") != integer("b", "a")


@given(KEYS)
@settings(deadline=None)
def test_fractions_lie_strictly_between_0_and_1(key: list[str | int]) -> None:
    assert 0 < fraction(*key) < 1


@given(KEYS, st.lists(st.integers(), min_size=1, max_size=9))
@settings(deadline=None)
def test_a_choice_is_one_of_the_options(key: list[str | int], options: list[int]) -> None:
    assert choice(options, *key) in options


def test_fractions_are_evenly_spread() -> None:
    values = [fraction("spread", n) for n in range(4000)]
    tenths = [sum(n / 10 <= value < (n + 1) / 10 for value in values) for n in range(10)]
    assert all(330 < count < 470 for count in tenths)


def test_gaussians_have_mean_0_and_variance_1() -> None:
    values = [gaussian("normal", n) for n in range(4000)]
    assert fmean(values) == pytest.approx(0, abs=0.06)
    assert pstdev(values) == pytest.approx(1, abs=0.05)


@each("offset", [0, 0.25, 0.5, 0.9])
def test_smooth_noise_has_the_same_spread_between_its_knots(offset: float) -> None:
    values = [smooth(n + offset, "spread") for n in range(3000)]
    assert fmean(values) == pytest.approx(0, abs=0.08)
    assert pstdev(values) == pytest.approx(1, abs=0.06)


@given(st.floats(-1e5, 1e5))
@settings(deadline=None)
def test_smooth_noise_does_not_jump(position: float) -> None:
    assert abs(smooth(position + 1e-4, "s") - smooth(position, "s")) < 0.01


@given(st.floats(-89, 89), st.floats(-180, 180), st.floats(0, 1e5))
@settings(deadline=None)
def test_the_field_does_not_jump_in_space(latitude: float, longitude: float, time: float) -> None:
    here = field(latitude, longitude, time, 2.5, "f")
    assert abs(field(latitude + 1e-4, longitude, time, 2.5, "f") - here) < 0.01
    assert abs(field(latitude, longitude + 1e-4, time, 2.5, "f") - here) < 0.01


def test_the_field_is_closed_at_the_date_line() -> None:
    assert field(10.3, 180, 5, 2.5, "f") == pytest.approx(field(10.3, -180, 5, 2.5, "f"))


def test_places_far_apart_are_independent() -> None:
    pairs = [(field(0, 3 * n, 0, 2.5, "i"), field(50, 3 * n, 0, 2.5, "i")) for n in range(120)]
    covariance = fmean(a * b for a, b in pairs)
    assert abs(covariance) < 0.3
