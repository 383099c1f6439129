"""Zener's impact: the theory of Hertz without waves, numbers of the theory, the energy that waves take."""

import math

import numpy as np
import pytest
from scipy import integrate

from dolfinx_impact.exact import ZenerImpact
from dolfinx_impact.exact.hertz import HertzImpact
from dolfinx_impact.exact.zener import hertz_stiffness, plate_mobility, rod_mobility

STEEL = 2.1e11, 0.3
#: By lambda: restitution, duration over T, largest force over m v0/T, integrated to 1e-10 elsewhere.
KNOWN = [
    (0.0, 1.0, 3.218, 1.1433),
    (0.1, 0.8433, 3.279, 1.0355),
    (0.25, 0.6577, 3.388, 0.9068),
    (0.5, 0.4369, 3.624, 0.7502),
    (1.0, 0.1841, 4.388, 0.5562),
]


@pytest.mark.parametrize("lam, restitution, duration, force", KNOWN)
def test_numbers_of_the_theory(lam, restitution, duration, force):
    zener = ZenerImpact(1.0, 1.0, lam, 1.0)
    assert zener.lam == lam and zener.restitution == pytest.approx(restitution, abs=6e-5)
    assert zener.duration == pytest.approx(duration, abs=6e-4)
    assert zener.peak_force == pytest.approx(force, abs=6e-5)


def test_without_waves_it_is_that_of_hertz():
    hertz = HertzImpact(5e-3, *STEEL, 7850.0, 0.5)
    zener = ZenerImpact(hertz.mass, hertz_stiffness(5e-3, *STEEL), 0.0, 0.5)
    for name in ("duration", "peak_force"):
        assert getattr(zener, name) == pytest.approx(getattr(hertz, name), rel=1e-8)
    assert zener.restitution == pytest.approx(1.0, rel=1e-8)
    t = np.linspace(-0.1, 1.1, 200) * hertz.duration
    assert zener.force(t) == pytest.approx(hertz.force(t), abs=1e-8 * hertz.peak_force)


@pytest.mark.parametrize("lam", [0.1, 0.5, 1.0, 5.0])
def test_waves_take_what_the_sphere_loses(lam):
    """The work of the force on the plate, ``a F^2``, and the impulse, ``(1 + e) m v0``."""
    zener = ZenerImpact(0.02, 1e9, lam * 1e-3, 2.0)
    t = np.linspace(0.0, zener.duration, 20001)
    force, e = zener.force(t), zener.restitution
    lost = 0.5 * zener.mass * zener.v0**2 * (1 - e**2)
    assert integrate.simpson(zener.mobility * force**2, x=t) == pytest.approx(lost, rel=1e-8)
    assert integrate.simpson(force, x=t) == pytest.approx((1 + e) * zener.mass * zener.v0, rel=1e-6)
    assert zener.peak_force == pytest.approx(force.max(), rel=1e-6)


def test_speed_counts_by_its_fifth_root():
    impacts = [ZenerImpact(1e-3, 1e10, 0.01, v) for v in (0.1, 3.2)]
    assert impacts[1].lam / impacts[0].lam == pytest.approx(2.0, rel=1e-12)
    slower, faster = (ZenerImpact(1e-3, 1e10, a, v) for a, v in ((0.02, 0.1), (0.01, 3.2)))
    assert slower.restitution == pytest.approx(faster.restitution, rel=1e-10)


def test_a_plate_and_a_rod():
    """The closed form for one material: lambda = pi^(3/5) / (3^(1/2) 2^(2/5)) (R/h)^2 (v/c)^(1/5)."""
    (E, nu), rho, R, h, v = STEEL, 7850.0, 5e-3, 2.5e-3, 0.5
    mass, k = 4 / 3 * math.pi * R**3 * rho, hertz_stiffness(R, E, nu, E, nu)
    speed = math.sqrt(E / (rho * (1 - nu**2)))
    closed = math.pi**0.6 / (math.sqrt(3) * 2**0.4) * (R / h) ** 2 * (v / speed) ** 0.2
    assert ZenerImpact(mass, k, plate_mobility(E, nu, rho, h), v).lam == pytest.approx(closed, rel=1e-12)
    area = 1e-4
    assert rod_mobility(E, rho, area) == pytest.approx(1 / (rho * math.sqrt(E / rho) * area), rel=1e-12)


@pytest.mark.parametrize(
    "numbers, words",
    [
        ((0.0, 1.0, 1.0, 1.0), "mass must be positive and finite, but is 0"),
        ((1.0, -1.0, 1.0, 1.0), "stiffness must be positive"),
        ((1.0, 1.0, -1.0, 1.0), "mobility must be at least 0"),
        ((1.0, 1.0, 1.0, math.inf), "v0 must be positive and finite"),
    ],
)
def test_refused(numbers, words):
    with pytest.raises(ValueError, match=words):
        ZenerImpact(*numbers)
