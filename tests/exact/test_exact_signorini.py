"""The exact solutions of the bar on rigid ground solve the problem, for any parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from dolfinx_impact.exact import ImpactingBar, SignoriniBar

IMPACT = SignoriniBar(900.0, 1.0, 10.0, 5.0, 10.0, 0.0)
BOUNCES = SignoriniBar(900.0, 1.0, 10.0, 5.0, 0.0, 10.0)
TAU = 1 / 3


def bouncing(E, rho, length, g0, transits, part):
    """A bar that flies for so many 2 tau; ``part`` of its impact speed is there at the start."""
    speed = transits * g0 * length / np.sqrt(E / rho)
    return SignoriniBar(E, rho, length, speed**2 * (1 - part**2) / (2 * g0), part * speed, g0)


POSITIVE = st.floats(0.2, 5.0)
IMPACTS = st.builds(
    SignoriniBar, E=POSITIVE, rho=POSITIVE, length=POSITIVE, h0=POSITIVE, v0=POSITIVE, g0=st.just(0.0)
)
PERIODIC = st.builds(
    bouncing,
    E=POSITIVE,
    rho=POSITIVE,
    length=POSITIVE,
    g0=POSITIVE,
    transits=st.integers(2, 6),
    part=st.floats(0.0, 0.9),
)
OTHERS = st.builds(
    bouncing,
    E=POSITIVE,
    rho=POSITIVE,
    length=POSITIVE,
    g0=POSITIVE,
    transits=st.floats(2.05, 2.95),
    part=st.floats(0.0, 0.9),
)
BARS = st.one_of(st.just(IMPACT), st.just(BOUNCES), IMPACTS, PERIODIC, OTHERS)


def span(bar):
    """Time over which a bar is checked: three periods, or as long as the solution is available."""
    return min(bar.contact_end + 4 * bar.transit if bar.g0 == 0 else 3.3 * bar.period, bar.known_until)


def points(bar, n=400, margin=1e-2):
    """Random heights and times away from the fronts, which all start at a contact or a release.

    Those fall on multiples of 2 tau after the first contact.
    """
    rng = np.random.default_rng(1)
    x, t = rng.uniform(0, bar.length, n), rng.uniform(0, span(bar), n)
    since, reach = t - bar.contact_start, bar.wave_speed
    away = [np.abs((y / bar.length + 1) % 2 - 1) for y in (x + reach * since, x - reach * since)]
    events = np.abs((since / bar.transit + 1) % 2 - 1)
    keep = np.min([*away, events, x / bar.length, 1 - x / bar.length], axis=0) > 2 * margin
    keep &= t < span(bar) - 2 * margin * bar.transit  # a difference must not reach beyond what is known
    return x[keep], t[keep]


def scales(bar):
    """Speed and displacement."""
    speed = bar.impact_speed + bar.g0 * bar.transit
    return speed, speed * span(bar)


@given(BARS)
def test_wave_equation(bar):
    """rho u_tt = E u_xx - rho g: the solution is quadratic between fronts, differences are exact."""
    x, t = points(bar)
    assert x.size > 100
    dx, dt = 1e-2 * bar.length, 1e-2 * bar.transit
    u = bar.displacement
    u_tt = (u(x, t + dt) - 2 * u(x, t) + u(x, t - dt)) / dt**2
    u_xx = (u(x + dx, t) - 2 * u(x, t) + u(x - dx, t)) / dx**2
    speed, size = scales(bar)
    assert np.abs(u_tt - bar.wave_speed**2 * u_xx + bar.g0).max() < 1e-12 * size / dt**2


@given(BARS)
def test_velocity_is_the_rate_of_the_displacement(bar):
    x, t = points(bar)
    dt = 1e-2 * bar.transit
    rate = (bar.displacement(x, t + dt) - bar.displacement(x, t - dt)) / (2 * dt)
    assert np.abs(rate - bar.velocity(x, t)).max() < 1e-12 * scales(bar)[1] / dt


@given(BARS)
def test_stress_at_both_ends(bar):
    """E u_x(0, t) = -r, and the top is free."""
    _, t = points(bar)
    dx = 1e-2 * bar.length
    t = t[np.abs(((t - bar.contact_start) / bar.transit + 0.5) % 1 - 0.5) > 0.05]
    u = [bar.displacement(k * dx, t) for k in range(3)]
    top = [bar.displacement(bar.length - k * dx, t) for k in range(3)]
    limit = 1e-11 * bar.E * scales(bar)[1] / dx
    assert np.abs(bar.E * (4 * u[1] - 3 * u[0] - u[2]) / (2 * dx) + bar.force(t)).max() < limit
    assert np.abs(bar.E * (4 * top[1] - 3 * top[0] - top[2]) / (2 * dx)).max() < limit


@given(BARS)
def test_signorini_conditions(bar):
    """No penetration, no pull, and a force only on the ground."""
    t = np.linspace(0, span(bar), 4001)
    u, r = bar.displacement(0.0, t), bar.force(t)
    size = scales(bar)[1]
    assert u.min() > -1e-13 * size and r.min() >= 0
    assert np.abs(u * r).max() < 1e-13 * size * max(r.max(), 1e-30)
    assert bar.displacement(0.0, 0.0) == pytest.approx(bar.h0, abs=1e-13 * size)


@examples(6)
@given(BARS)
def test_displacement_is_continuous(bar):
    """In time across all events, and in x across the fronts."""
    speed, size = scales(bar)
    # Times of contacts, releases and reflections, and times between them.
    events = bar.contact_start + bar.transit * np.arange(0.0, 60.0, 0.25)
    x = np.linspace(0, bar.length, 33)[:, None]
    t = events[(events > 0) & (events < span(bar) * (1 - 1e-9))]
    d = 1e-7 * bar.transit
    jump = np.abs(bar.displacement(x, t + d) - bar.displacement(x, np.maximum(t - d, 0.0)))
    assert jump.max() < 2 * d * 3 * speed + 1e-13 * size
    fine = np.linspace(0, bar.length, 4001)[:, None]
    steps = np.abs(np.diff(bar.displacement(fine, t + 0.1 * bar.transit), axis=0))
    assert steps[np.isfinite(steps)].max() < 4 * speed / bar.wave_speed * bar.length / 4000


def total_energy(bar, t):
    """Energy with that of the height [J], by Gauss points between the ends and the front."""
    front = bar.length * (1 - abs(((t - bar.contact_start) / bar.transit) % 2 - 1))
    total, d = 0.0, 1e-4 * bar.length
    for low, high in ((0.0, front), (front, bar.length)):
        if high - low < 1e-2 * bar.length:
            return None
        nodes, weights = np.polynomial.legendre.leggauss(3)
        x = (low + high + (high - low) * nodes) / 2
        strain = (bar.displacement(x + d, t) - bar.displacement(x - d, t)) / (2 * d)
        density = bar.rho * (bar.velocity(x, t) ** 2 / 2 + bar.g0 * bar.displacement(x, t))
        total += (high - low) / 2 * float(weights @ (density + bar.E * strain**2 / 2))
    return total


@examples(6)
@given(BARS)
def test_energy_is_conserved(bar):
    found = [total_energy(bar, t) for t in np.random.default_rng(2).uniform(0, span(bar), 30)]
    found = [e for e in found if e is not None]
    start = bar.rho * bar.length * (bar.v0**2 / 2 + bar.g0 * bar.h0)
    assert len(found) > 20
    assert np.abs(np.array(found) - start).max() < 1e-8 * bar.rho * bar.length * scales(bar)[0] ** 2


@given(PERIODIC)
def test_momentum_and_period(bar):
    """The force of a period carries the weight; after a period everything is as before."""
    t = bar.contact_start + np.linspace(0, bar.period, 200_001)[:-1] + bar.period / 400_000
    weight = bar.rho * bar.length * bar.g0
    assert bar.force(t).mean() == pytest.approx(weight, rel=1e-4)
    x, times = points(bar)
    later = times > bar.contact_start
    for function in (bar.displacement, bar.velocity):
        before, after = (function(x[later], times[later] + k * bar.period) for k in (0, 5))
        assert np.abs(after - before).max() < 1e-11 * scales(bar)[1]


def series_1(x, t, terms):
    """(29) up to so many terms, and a bound of the rest."""
    n = np.arange(1, terms + 1)[:, None]
    nu = (n - 0.5) * np.pi / 10
    a = -2 * 10 / (900 * 10 * nu**3)
    return np.sum(a * (1 - np.cos(30 * nu * t)) * np.sin(nu * x), axis=0), np.pi**-3 * 40 / 9 / terms**2


def series_2(x, t, terms):
    """(30) with b_n = 4 g / (c^2 l_n^2), and a bound of the rest."""
    n = np.arange(1, terms + 1)[:, None]
    wave = n * np.pi / 10
    b = 4 * 10 / (900 * wave**2)
    total = np.sum(b * np.cos(30 * wave * t) * np.cos(wave * x), axis=0)
    return total - 2 * 10 * 100 / (3 * 900), 4000 / 900 / np.pi**2 / terms


@pytest.mark.parametrize("k", [0, 1, 3])
def test_against_the_truncated_series(k):
    rng = np.random.default_rng(3)
    x, s = rng.uniform(0, 10, 300), rng.uniform(0, 2 * TAU, 300)
    start = 1.0 + 16 * TAU * k
    shock = -10 * np.minimum(x / 30, TAU - np.abs(s - TAU))
    sums, rest = series_1(x, s, 1000)
    for t in (start + s, start + 10 * TAU - s):  # the second contact runs backwards
        assert np.abs(BOUNCES.displacement(x, t) - shock - sums).max() < rest + 1e-12
    s *= 3  # the flight
    sums, rest = series_2(x, s, 1000)
    found = BOUNCES.displacement(x, start + 2 * TAU + s)
    assert np.abs(found - (5 - 5 * (s - 1) ** 2) - sums).max() < rest + 1e-12
    rigid = BOUNCES.displacement(x, start + 10 * TAU + s)
    assert np.abs(rigid - (5 - 5 * (s - 1) ** 2)).max() < 1e-12


def test_numbers_of_the_paper():
    assert (IMPACT.contact_start, IMPACT.contact_end) == pytest.approx((0.5, 0.5 + 2 * TAU), rel=1e-14)
    assert BOUNCES.contact_start == pytest.approx(1.0, rel=1e-14) and BOUNCES.impact_speed == 10
    assert BOUNCES.period == pytest.approx(16 * TAU, rel=1e-14)
    assert IMPACT.force([0.49, 0.51, 0.9, 1.16, 1.17]) == pytest.approx([0, 300, 300, 300, 0])
    for k in range(5):
        t = (
            1
            + 16 * TAU * k
            + TAU * np.array([1e-9, 1, 2 - 1e-9, 2 + 1e-9, 8 - 1e-9, 8 + 1e-9, 9, 10 - 1e-9, 10 + 1e-9])
        )
        assert BOUNCES.force(t) == pytest.approx([300, 400, 500, 0, 0, 500, 400, 300, 0], rel=1e-7)
    x = np.linspace(0, 10, 21)
    taken_off = BOUNCES.displacement(x, BOUNCES.contact_end)
    assert taken_off == pytest.approx(10 / 900 * (x**2 - 20 * x), abs=1e-13)


def test_impact_is_that_of_the_bar_against_a_wall():
    wall = ImpactingBar(900.0, 1.0, 10.0, 1.0, 5.0, 10.0)
    t, x = np.linspace(0, 2, 301) + 1e-5, np.linspace(0, 10, 20)[:, None]
    assert IMPACT.displacement(x, t) == pytest.approx(5.0 - wall.displacement(x, t), abs=1e-12)
    assert IMPACT.velocity(x, t) == pytest.approx(-wall.velocity(x, t), abs=1e-12)
    assert wall.force == pytest.approx(IMPACT.force(0.8))


@given(OTHERS)
def test_a_bar_that_does_not_repeat_is_known_to_its_second_contact_at_most(bar):
    assert bar.contact_end < bar.known_until < bar.contact_end + bar.flight
    t = np.array([bar.known_until * (1 - 1e-12), bar.known_until * (1 + 1e-12)])
    for found in (bar.displacement(0.0, t), bar.velocity(0.0, t), bar.force(t)):
        assert np.isfinite(found[0]) and np.isnan(found[1])


def test_slow_bars_and_bars_in_the_air():
    stays = SignoriniBar(900.0, 1.0, 10.0, 0.1, 0.0, 10.0)
    assert stays.known_until == stays.contact_end
    hangs = SignoriniBar(900.0, 1.0, 10.0, 5.0, 0.0, 0.0)
    assert hangs.displacement(3.0, [0.0, 1e6]) == pytest.approx([5.0, 5.0]) and hangs.force(1e6) == 0
    pressed = SignoriniBar(900.0, 1.0, 10.0, 0.0, 0.0, 10.0)
    assert pressed.contact_start == 0 and pressed.force(TAU) == pytest.approx(100.0)


@pytest.mark.parametrize(
    "name, value",
    [
        ("E", 0.0),
        ("E", -1.0),
        ("rho", np.nan),
        ("length", np.inf),
        ("h0", -1.0),
        ("v0", -1.0),
        ("g0", -10.0),
        ("g0", np.nan),
    ],
)
def test_what_is_no_bar(name, value):
    values = {"E": 900.0, "rho": 1.0, "length": 10.0, "h0": 5.0, "v0": 10.0, "g0": 0.0, name: value}
    with pytest.raises(ValueError, match=name):
        SignoriniBar(**values)
