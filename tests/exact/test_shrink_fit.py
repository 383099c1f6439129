"""Lame's shrink fit and Hertz's contact: equations that the formulas must fulfil."""

import math

import numpy as np
import pytest

from dolfinx_impact import exact
from dolfinx_impact.exact import hertz
from dolfinx_impact.exact.shrink_fit import Tube

FIT = exact.ShrinkFit(0.005, 0.02, 0.04, 2.1e11, 0.3, 7e10, 0.33, 1e-5)


@pytest.mark.parametrize("plane_strain", [True, False])
def test_stresses_are_in_equilibrium_and_compatible(plane_strain):
    """d(r sr)/dr = st, and the hoop strain's displacement has the radial strain; sides carry loads."""
    tube = Tube(0.01, 0.03, 2e11, 0.3, plane_strain)
    r = np.linspace(0.01, 0.03, 20001)
    radial, hoop = tube.stresses(r, inside=3e6, outside=1e6)
    assert radial[[0, -1]] == pytest.approx([-3e6, -1e6])
    assert np.gradient(r * radial, r)[1:-1] == pytest.approx(hoop[1:-1], abs=1.0)
    displacement = r * (hoop - tube.ratio * radial) / tube.modulus
    strain = (radial - tube.ratio * hoop) / tube.modulus
    assert np.gradient(displacement, r)[1:-1] == pytest.approx(strain[1:-1], rel=1e-5)


@pytest.mark.parametrize("bore", [0.0, 0.005])
def test_displacements_of_both_parts_make_up_the_interference(bore):
    fit = exact.ShrinkFit(bore, 0.02, 0.04, 2.1e11, 0.3, 7e10, 0.33, 1e-5)
    p, ways = fit.pressure, []
    for tube, sides in ((fit.ring, {"inside": p}), (fit.shaft, {"outside": p})):
        radial, hoop = tube.stresses(0.02, **sides)
        ways.append(0.02 * (hoop - tube.ratio * radial) / tube.modulus)
    assert ways[0] - ways[1] == pytest.approx(1e-5, rel=1e-12)
    assert fit.ring.stresses(0.02, inside=p)[1] == pytest.approx(fit.hoop_stress)
    assert fit.energy(0.1) == pytest.approx(0.1 * 2 * math.pi * 0.02 * p * 1e-5 / 2)


def test_the_middle_of_a_solid_shaft_has_finite_stresses():
    radial, hoop = Tube(0.0, 0.02, 1.0, 0.3).stresses([0.0, 0.01], outside=2.0)
    assert radial == pytest.approx(-2.0) and hoop == pytest.approx(-2.0)


def test_push_force_is_the_sum_of_friction():
    """Pressures that rise with the forces of shaft and ring so far, section by section."""
    length, mu, steps = 0.03, 0.2, 20000
    free = exact.ShrinkFit(**{**FIT.__dict__, "plane_strain": False})
    force, area = 0.0, 2 * math.pi * 0.02 * length / steps
    for _ in range(steps):
        widened = 0.02 * force * (0.3 / 2.1e11 / free.shaft.area + 0.33 / 7e10 / free.ring.area)
        force += mu * area * (1e-5 + widened) / free.compliance
    assert FIT.push_force(mu, length) == pytest.approx(force, rel=1e-5)
    plain = exact.ShrinkFit(**{**FIT.__dict__, "nu_shaft": 0.0, "nu_ring": 0.0})
    assert plain.push_force(mu, length) == pytest.approx(2 * math.pi * 0.02 * length * mu * plain.pressure)


def test_hertz_pressures_carry_the_load():
    modulus, radius = hertz.effective_modulus(2e11, 0.3, 1e11, 0.2), hertz.effective_radius(0.01, -0.03)
    assert radius == pytest.approx(0.015) and hertz.effective_radius(0.01) == pytest.approx(0.01)
    line, point = exact.HertzLine(modulus, radius, 1e4), exact.HertzPoint(modulus, radius, 10.0)
    for each, around in ((line, lambda x: 2.0 + 0 * x), (point, lambda x: 2 * math.pi * x)):
        x = np.linspace(0, each.half_width, 200001)
        assert np.trapezoid(each.pressure(x) * around(x), x) == pytest.approx(each.load, rel=1e-6)
        assert type(each).of_half_width(modulus, radius, each.half_width).load == pytest.approx(each.load)
    assert exact.HertzLine.of_peak_pressure(modulus, radius, line.peak_pressure).load == pytest.approx(1e4)
    assert exact.HertzPoint.of_approach(modulus, radius, point.approach).load == pytest.approx(10.0)


def test_a_line_of_pressure_flattens_both_bodies():
    """Johnson (2.25b): the slope of a half-plane is -2/(pi E') times the principal value of p(s)/(x - s)."""
    line = exact.HertzLine(1e11, 0.02, 1e4)
    b = line.half_width
    x = np.linspace(-1, 1, 4001)[1::2] * b * (1 - 1e-9)
    s = np.linspace(-1, 1, 4001)[::2] * b
    weights = np.gradient(s)
    weights[[0, -1]] = (s[1] - s[0]) / 2
    slope = 2 / (math.pi * 1e11) * np.sum(line.pressure(s) * weights / (x[1000] - s))
    assert slope == pytest.approx(x[1000] / 0.02, rel=1e-3, abs=1e-3 * b / 0.02)


def test_a_sphere_on_a_rigid_plane_is_that_of_the_impact():
    impact = hertz.HertzImpact(0.01, 2.1e11, 0.3, 7850.0, 0.1)
    still = exact.HertzPoint.of_approach(impact.modulus, 0.01, impact.approach)
    assert still.load == pytest.approx(impact.peak_force)
    assert still.half_width == pytest.approx(impact.contact_radius)
    assert hertz.effective_modulus(2.1e11, 0.3, math.inf, 0.0) == pytest.approx(impact.modulus)
