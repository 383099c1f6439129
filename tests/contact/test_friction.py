"""Coulomb friction of explicit velocity-level contact: stick, slip, energy, parallel solids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import mesh


def thrown(angle, mu, e, dimension=3, h=1e-3, mass=2.0):
    """A point mass thrown at a plane; one impact, the velocities around it and the impulses."""
    system = di.PointMasses([mass] * dimension)
    normal = np.eye(dimension)[-1]
    contact = di.ObstacleContact(
        system, [range(dimension)], di.Plane(0 * normal, normal), restitution=e, friction=mu
    )
    integrator = di.CDLagrange(system, h, contact)
    speed = np.append(np.sin(angle) * np.ones(dimension - 1) / np.sqrt(dimension - 1), -np.cos(angle))
    integrator.start(0.01 * normal, 3.0 * speed)
    result = di.simulate(integrator, t_end=0.1, progress=False)
    return 3.0 * speed, integrator.v, result


@given(
    angle=st.floats(0.0, 1.3),
    mu=st.floats(0.0, 2.0),
    e=st.floats(0.0, 1.0),
    dimension=st.sampled_from([2, 3]),
)
def test_impact_of_a_point_is_that_of_coulomb_and_newton(angle, mu, e, dimension):
    before, after, result = thrown(angle, mu, e, dimension)
    assert after[-1] == pytest.approx(-e * before[-1], abs=1e-13)
    r_n = 2.0 * (1 + e) * -before[-1]
    slip = np.linalg.norm(before[:-1])
    rubbed = min(2.0 * slip, mu * r_n)
    expected = before[:-1] * (1 - rubbed / 2.0 / slip) if slip > 0 else before[:-1]
    assert after[:-1] == pytest.approx(expected, abs=1e-12)
    if mu > 0 and e > 1e-6:
        assert result["r_t"].shape == (101, 1, dimension)
        assert result["r_t"].sum(axis=(0, 1))[:-1] == pytest.approx(2.0 * (after - before)[:-1], abs=1e-12)
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    assert result["contact"][-1] <= 1e-13


def test_friction_stops_a_sliding_mass_where_it_must():
    """A mass pressed on the floor slides v^2 / (2 mu g) and stays there."""

    def weight(t, u, v, out):
        out[:] = 0.0, -9.81

    system = di.PointMasses([1.0, 1.0], weight)
    floor = di.ObstacleContact(system, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.3)
    integrator = di.CDLagrange(system, 1e-3, floor)
    integrator.start([0.0, 0.0], [2.0, 0.0])
    result = di.simulate(integrator, t_end=0.8, progress=False)
    assert integrator.u[0] == pytest.approx(2.0**2 / (2 * 0.3 * 9.81), abs=2e-3)
    assert abs(integrator.v[0]) < 1e-15
    assert np.abs(result["residual"]).max() < 1e-13
    assert np.all(np.linalg.norm(result["r_t"][:, 0], axis=1) <= 0.3 * result["r"][:, 0] * (1 + 1e-14))


@pytest.mark.parametrize("scheme, rounding", [(di.CDLagrange, 1e-12), (di.MoreauJean, 1e-11)])
def test_solid_sliding_along_a_wall(scheme, rounding):
    """A bar thrown aslant: impulse is momentum change in both directions; the balance closes."""
    named = mesh.read(mesh.package_mesh("bar.geo"), parameters={"dimension": 3, "elements": 6, "lateral": 2})
    bar = di.Solid(named, density=7847.0, law=di.LinearElastic(2.1e11, 0.3))
    wall = di.RigidContact(bar, "contact", di.Plane((-1e-5, 0, 0), (1, 0, 0)), friction=0.2)
    explicit = scheme is di.CDLagrange
    integrator = scheme(bar, 0.7 * bar.critical_time_step() if explicit else 4e-6, contact=wall)
    integrator.start(0.0, bar.rigid_velocity((-5.0, 2.0, 0.0)))
    result = di.simulate(integrator, t_end=1e-4, progress=False)
    momentum = np.zeros(bar.size)
    bar.mass_product(integrator.v, "lumped" if explicit else "consistent", momentum)
    sums = [MPI.COMM_WORLD.allreduce(float(np.sum(momentum[: bar.owned][i::3]))) for i in range(3)]
    scale = 1e-12 if explicit else 1e-10
    assert sums[0] == pytest.approx(result["r"].sum() - 5.0 * bar.total_mass, abs=scale)
    assert sums[1] == pytest.approx(result["r_t"][..., 1].sum() + 2.0 * bar.total_mass, abs=scale)
    assert result["r_t"][..., 1].sum() < -0.1
    most = 0.2 * result["r"] * (1 + 1e-12) if explicit else 0.2 * result["r"] * (1 + 1e-9) + 1e-12
    assert np.all(np.linalg.norm(result["r_t"], axis=2) <= most)
    assert np.abs(result["residual"]).max() < rounding * result["kinetic"][0]
    assert result["r_t"].shape == (result["t"].size, 9, 3)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda c: c(-0.1), "friction must be a coefficient of at least 0, but is -0.1"),
        (lambda c: di.PaoliSchatzman(c(0.1).system, 0.1, c(0.1)), "position level.*friction.*CDLagrange"),
    ],
)
def test_what_has_no_friction_says_so(wrong, words):
    def contact(mu):
        system = di.PointMasses([1.0, 1.0])
        return di.ObstacleContact(system, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=mu)

    with pytest.raises(ValueError, match=words):
        wrong(contact)


@pytest.mark.parametrize("speed, sticks", [(1.2, True), (-3.0, False)])
def test_different_masses_of_a_point_are_a_problem_of_two(speed, sticks):
    """On an oblique plane the normal impulse changes the slip; against the 2x2 problem by hand."""
    mass, mu, n = np.array([1.0, 4.0]), 0.5, np.array([0.6, 0.8])
    system = di.PointMasses(mass)
    contact = di.ObstacleContact(system, [[0, 1]], di.Plane((0.0, 0.0), n), friction=mu)
    s = di.CDLagrange(system, 1e-3, contact)
    t = np.array([-0.8, 0.6])
    v0 = -2.0 * n + speed * t
    s.start(1e-4 * n, v0)
    s.step()
    frame = np.stack([n, t])
    H, b = (frame / mass) @ frame.T, frame @ v0
    r = -np.linalg.solve(H, b)
    if abs(r[1]) > mu * r[0]:
        side = np.sign(r[1])
        r[0] = -b[0] / (H[0, 0] + mu * side * H[0, 1])
        r[1] = mu * side * r[0]
    assert sticks == (abs(r[1]) < mu * r[0])
    assert s.r == pytest.approx([r[0]], rel=1e-12)
    assert s.r_t[0] == pytest.approx(r[1] * t, rel=1e-12)
    assert s.v == pytest.approx(v0 + frame.T @ r / mass, rel=1e-12)
