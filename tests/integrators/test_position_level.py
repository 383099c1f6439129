"""Paoli-Schatzman and Carpenter: no penetration, the two-step form, the energy balance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import cases

import dolfinx_impact as di

GRAVITY = 9.81


def weight(t, u, v, out):
    out[:] = -GRAVITY


def fall(scheme, e, h=1e-2, height=1.0, t_end=5.0):
    ball = di.PointMasses(1.0, weight)
    integrator = scheme(ball, h, di.DofBound(ball, 0, lower=0.0, restitution=e))
    integrator.start(height, 0.0)
    return di.simulate(integrator, t_end=t_end, progress=False)


@given(e=st.floats(0.0, 1.0), height=st.floats(0.2, 2.0))
def test_leapfrog_form_is_the_two_step_form(e, height):
    """Against the recursion of Di Stasio et al. (20)-(24), written out for one dof."""
    h, steps = 1e-2, 120
    result = fall(di.PaoliSchatzman, e, height=height, t_end=steps * h)
    u = [height + h**2 / 2 * -GRAVITY, height]  # u_{-1}, u_0
    for _ in range(steps):
        free = 2 * u[-1] - u[-2] - h**2 * GRAVITY
        u.append(free + (1 + e) * max(0.0, -(free + e * u[-2]) / (1 + e)))
    assert np.abs(result["u"][:, 0] - u[1:]).max() < 1e-11
    assert np.abs(result["residual"]).max() < 1e-12 * GRAVITY * height


def test_carpenter_does_not_penetrate_and_is_paoli_schatzman():
    carpenter, paoli = (fall(s, 0.0) for s in (di.Carpenter, di.PaoliSchatzman))
    assert carpenter["gap"].min() > -1e-15
    assert np.array_equal(carpenter["u"], paoli["u"])
    rest = carpenter["t"] > 0.6
    assert np.abs(carpenter["u"][rest]).max() < 1e-14
    assert carpenter["r"][rest] == pytest.approx(GRAVITY * 1e-2, rel=1e-9)


def test_elastic_ball_rises_above_its_height():
    """The defect of the scheme reported by Di Stasio et al. (Fig. 4): impacts may add energy."""
    assert fall(di.PaoliSchatzman, 1.0, t_end=20.0)["u"][100:].max() > 1.01


@pytest.mark.parametrize("changes", [{}, {"dimension": 3, "elements": 12, "lateral": 2}])
def test_bar_neither_penetrates_nor_loses_its_balance(changes):
    problem, result, results, _ = cases.run("impacting-bar", "carpenter", **changes)
    assert result["gap"].min() > -1e-17
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"][0]
    pushed = result["r"][:-1] > 0
    assert np.abs(result["gap"][1:][pushed]).max() < 1e-16  # r at t_n closes the gap at t_{n+1}
    assert results["impulse_ratio"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("scheme", [di.Carpenter, di.PaoliSchatzman, di.CDLagrange])
def test_ball_inside_a_circle(scheme):
    """A curved gap: closed exactly by the position level; the balance closes for all."""
    ball = di.PointMasses([2.0, 2.0])
    wall = di.ObstacleContact(ball, [[0, 1]], di.Sphere((0.0, 0.0), 1.4, inside=True))
    integrator = scheme(ball, 0.02, wall)
    integrator.start([0.8, 0.0], [1.0, 2.0])
    result = di.simulate(integrator, t_end=5.0, progress=False)
    assert result["r"].sum() > 1.0
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    if scheme is not di.CDLagrange:
        assert result["gap"].min() > -1e-13
    (x, y), (vx, vy) = result["u"].T, result["v_t"].T
    spin = x * vy - y * vx
    assert spin == pytest.approx(spin[0], abs=0.02 if scheme is di.CDLagrange else 0.2)
    momentum = 2.0 * (integrator.v - np.array([1.0, 2.0]))
    assert np.linalg.norm(momentum) <= result["r"].sum() + 1e-12


@pytest.mark.parametrize("tolerance", [0.0, 1e-6])
def test_curved_gaps_are_closed_as_far_as_rounding_allows(tolerance):
    """The active set concerns the velocity level; the position level has no tolerance."""
    runs = []
    for gap_tolerance in (None, tolerance):
        ball = di.PointMasses([1.0, 1.0])
        wall = di.ObstacleContact(
            ball, [[0, 1]], di.Sphere((0.0, 0.0), 1.4, inside=True), gap_tolerance=gap_tolerance
        )
        integrator = di.Carpenter(ball, 0.02, wall)
        integrator.start([0.8, 0.0], [1.0, 2.0])
        runs.append(di.simulate(integrator, t_end=5.0, progress=False))
    assert np.array_equal(runs[0]["u"], runs[1]["u"]) and runs[0]["gap"].min() > -1e-15


def test_velocity_at_the_start_is_the_given_one():
    """Also where an impulse acts at once: a ball thrown at the ground that it lies on."""
    for scheme in (di.PaoliSchatzman, di.CDLagrange):
        ball = di.PointMasses(1.0, weight)
        integrator = scheme(ball, 1e-2, di.DofBound(ball, 0, lower=0.0, restitution=0.5))
        integrator.start(0.0, -1.0)
        result = di.simulate(integrator, t_end=0.1, progress=False)
        assert result["v_t"][0, 0] == -1.0 and result["r"][0, 0] > 0


def test_carpenter_refuses_restitution():
    ball = di.PointMasses(1.0)
    with pytest.raises(ValueError, match="Carpenter's scheme has no restitution, but the contact has 0.5"):
        di.Carpenter(ball, 0.1, di.DofBound(ball, 0, lower=0.0, restitution=0.5))


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: di.Sphere((0.0, 0.0), 0.0), "radius must be positive"),
        (lambda: di.Sphere((0.0, np.nan), 1.0), "finite center"),
        (lambda: di.ObstacleContact(di.PointMasses(1.0), [[0]], di.Sphere((0.0, 0.0), 1.0)), "2 directions"),
    ],
)
def test_bad_obstacles(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


@given(angle=st.floats(0.0, 6.28), distance=st.floats(0.05, 3.0), inside=st.booleans())
def test_normal_of_a_sphere_is_the_slope_of_its_gap(angle, distance, inside):
    sphere = di.Sphere((0.3, -0.2), 1.0, inside=inside)
    x = np.array([[0.3 + distance * np.cos(angle), -0.2 + distance * np.sin(angle)]])
    slope = [(sphere.gap(x + d) - sphere.gap(x - d))[0] / 2e-6 for d in 1e-6 * np.eye(2)]
    assert sphere.normal(x)[0] == pytest.approx(slope, abs=1e-6)
