"""A folded strip, bodies that meet at a point, a sphere on edges: equations that the formulas must fulfil."""

import math

import numpy as np
import pytest

from dolfinx_impact import exact
from dolfinx_impact.exact.edge_impact import EdgeImpact, FreeBody, restitution
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
