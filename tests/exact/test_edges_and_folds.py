"""Folded strip, pressed ring, bodies that meet at a point, sphere on edges: equations fulfilled."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dolfinx_impact import exact
from dolfinx_impact.exact.edge_impact import EdgeImpact, FreeBody, restitution
from dolfinx_impact.exact.pressed_ring import FLAT
from dolfinx_impact.exact.resting_sphere import RestingSphere

rng = np.random.default_rng(3)


def test_constants_of_the_fold():
    fold = exact.FoldedStrip(1.0, 1.0)
    found = [fold.force, fold.energy, fold.arc]
    assert found == pytest.approx([2.871, 2.871, 2.188], abs=5e-4)
    other = exact.FoldedStrip(3.0, 0.5)
    assert [other.force, other.energy, other.arc] == pytest.approx(
        [12 * found[0], 6 * found[1], found[2] / 2]
    )


def test_the_fold_is_an_equilibrium():
    """Integrated from the tip: B da/ds = P x about the place where the strip leaves the plate."""
    fold = exact.FoldedStrip(2.0, 0.3)
    ds, steps = fold.arc / 2 / 20000, 20000
    a, x, y, energy = math.pi / 2, 0.0, 0.0, 0.0
    tip = fold.curvature * fold.stiffness / fold.force  # lever of the force at the tip
    for _ in range(steps):
        bend = fold.force * (tip - x) / fold.stiffness
        half = a + 0.5 * ds * bend
        middle = fold.force * (tip - x - 0.5 * ds * abs(math.cos(a))) / fold.stiffness
        x, y = x + ds * abs(math.cos(half)), y + ds * math.sin(half)
        a, energy = a + ds * middle, energy + 0.5 * fold.stiffness * middle**2 * ds
    assert a == pytest.approx(math.pi, abs=1e-3) and y == pytest.approx(fold.distance / 2, rel=1e-4)
    assert 2 * energy == pytest.approx(fold.energy, rel=1e-4) and x == pytest.approx(tip, rel=1e-3)


def test_shape_of_the_fold():
    fold = exact.FoldedStrip(2.0, 0.3)
    x, y = fold.shape(2001)
    assert np.hypot(np.diff(x), np.diff(y)).sum() == pytest.approx(fold.arc, rel=1e-3)
    assert y[[0, -1]] == pytest.approx([0.0, fold.distance], abs=1e-6)
    assert x.max() == pytest.approx(2 * fold.stiffness / fold.force * fold.curvature / 2, rel=1e-6)


def test_constants_of_the_ring():
    """Small loads: d = (pi/4 - 2/pi) P R^3/B; flat from 1.4355 R on, as two folds, where P does not jump."""
    B, R, d = 3.0, 0.5, 1e-6
    compliance = math.pi / 4 - 2 / math.pi
    assert 1 / compliance == pytest.approx(6.72, abs=5e-3)
    light = exact.PressedRing(B, R, 2 * R - d)
    assert light.force == pytest.approx(B * d / R**3 / compliance, rel=1e-5)
    assert light.energy == pytest.approx(light.force * d / 2, rel=1e-4)
    none = exact.PressedRing(B, R, 2 * R)
    assert none.force == 0.0 and none.energy == pytest.approx(0.0, abs=1e-13)
    assert pytest.approx(1.4355, abs=5e-5) == FLAT
    before, behind = (exact.PressedRing(B, R, FLAT * R * (1 + x)) for x in (1e-9, -1e-9))
    for name in ("force", "energy", "curvature", "flat"):
        assert getattr(before, name) == pytest.approx(getattr(behind, name), rel=1e-7, abs=1e-8)
    for radius in (0.5, 0.7):
        assert exact.PressedRing(B, radius, 0.4).force == pytest.approx(5.742 * B / 0.4**2, rel=1e-4)
    assert exact.PressedRing(B, R, 0.4).flat == pytest.approx(math.pi * R - 2.1884 * 0.4, abs=1e-4)


@pytest.mark.parametrize("high, low", [(2.0, 1.9), (1.8, 1.45), (1.43, 0.3)])
def test_plates_work_what_the_ring_stores(high, low):
    """By Gauss's rule, before and after parts of it lie flat."""
    at, weights = np.polynomial.legendre.leggauss(20)
    places = (high + low) / 2 + (high - low) / 2 * at
    work = weights @ [exact.PressedRing(2.0, 1.0, place).force for place in places] * (high - low) / 2
    stored = [exact.PressedRing(2.0, 1.0, place).energy for place in (low, high)]
    assert work == pytest.approx(stored[0] - stored[1], rel=1e-9)


@pytest.mark.parametrize("place", [1.97, 1.7, 1.4356])
def test_the_ring_is_an_equilibrium(place):
    """Integrated from a plate to the side: B d2a/ds2 = P/2 cos a ends upright, at half the distance."""
    ring = exact.PressedRing(2.0, 1.0, place)
    curvature = math.sqrt(max(ring.curvature**2 - ring.force / 2.0, 0.0))
    end = solve_ivp(
        lambda _, y: [y[1], ring.force / 4.0 * math.cos(y[0]), math.sin(y[0]), (y[1] - 1.0) ** 2],
        (0.0, math.pi / 2),
        [0.0, curvature, 0.0, 0.0],
        rtol=1e-11,
        atol=1e-12,
    ).y[:, -1]
    assert end[:3] == pytest.approx([math.pi / 2, ring.curvature, place / 2], rel=1e-6)
    assert 4 * end[3] == pytest.approx(ring.energy, rel=1e-5)  # 4 times B/2 = 1


def test_distances_that_are_none():
    for place in (0.0, -1.0, 2.1, math.nan):
        with pytest.raises(ValueError, match="distance must be above 0 and at most twice the radius, 2 m"):
            exact.PressedRing(1.0, 1.0, place)


def body(mass):
    half = rng.uniform(-1, 1, (3, 3))
    inertia = half @ half.T + 2 * np.eye(3)
    return FreeBody(mass, inertia, *rng.uniform(-1, 1, (3, 3)))


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_momenta_and_restitution_of_an_impact(mu):
    first, second = body(1.3), body(0.7)
    n = np.array([0.0, 0.6, 0.8])
    d = -mu * np.array([1.0, 0.0, 0.0])
    impact = EdgeImpact(first, second, n, 0.4, d if mu else None)
    after = impact.after()
    change = [each.mass * (end.velocity - each.velocity) for each, end in zip((first, second), after)]
    assert change[0] == pytest.approx(-change[1]) and change[0] == pytest.approx(impact.impulse * (n + d))
    for each, end, way in zip((first, second), after, change):
        turned = each.inertia @ (end.spin - each.spin)
        assert turned == pytest.approx(np.cross(each.arm, way))
    assert restitution(n, (first, second), after) == pytest.approx(0.4)


def test_an_elastic_impact_keeps_the_energy():
    bodies = body(1.3), body(0.7)
    after = EdgeImpact(*bodies, np.array([0.0, 0.0, 1.0]), 1.0).after()

    def energy(pair):
        return sum(b.mass * b.velocity @ b.velocity + b.spin @ b.inertia @ b.spin for b in pair)

    assert energy(after) == pytest.approx(energy(bodies))


def test_a_sphere_on_edges():
    sphere = RestingSphere(0.1, 0.12)
    assert sphere.height == pytest.approx(0.08) and not sphere.falls
    assert 4 * sphere.edge_force(3.0) * 0.8 == pytest.approx(3.0)
    assert RestingSphere(0.1, 0.21).falls and math.isnan(RestingSphere(0.1, 0.21).height)
