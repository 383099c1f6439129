"""Generalized-alpha with contact at position and velocity level."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

CELLS = 50


def bar():
    """A free bar of length, density, modulus and area 1 that flies towards a wall."""
    line = dmesh.create_interval(MPI.COMM_SELF, CELLS, [0.0, 1.0])
    return di.Solid(di.named(line), density=1.0, law=di.LinearElastic(1.0, 0.0))


def scheme_of(kind, steps, gap, **options):
    body = bar()
    tip = int(np.flatnonzero(np.isclose(body.x[:, 0], 1.0))[0])
    contact = di.DofBound(body, tip, upper=gap)
    scheme = kind(body, steps * body.critical_time_step(), contact=contact, position=True, **options)
    scheme.start(0.0, 1.0)
    return scheme


def energy(scheme):
    """By sums of one's own, from u and v."""
    body = scheme.body
    order = np.argsort(body.x[:, 0])
    stretch = np.diff(scheme.u[order]) * CELLS
    return 0.5 * float(body.mass @ scheme.v**2) + 0.5 * float(stretch @ stretch) / CELLS


@pytest.mark.parametrize("gaps", [(0.11,), pytest.param((0.013, 0.37), marks=pytest.mark.slow)])
@pytest.mark.parametrize("steps", [1.0, 5.0, 20.0, 100.0])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 1.0])
def test_energy_stays_below_the_start(rho, steps, gaps):
    for gap in gaps:
        scheme = scheme_of(di.GeneralizedAlpha, steps, gap, rho_inf=rho)
        before, momentum, pushed = energy(scheme), scheme.body.mass.sum(), 0.0
        for _ in range(int(3.0 / scheme.dt) + 3):
            scheme.step()
            pushed += scheme.r[0]
            assert energy(scheme) < before * (1 + 1e-12)
            assert scheme.gap()[0] > -1e-14
        assert pushed > 0.0
        if rho == 1.0:  # no reaction is remembered: impulses are the change of momentum
            change = momentum - float(scheme.body.mass @ scheme.v)
            assert pushed == pytest.approx(change, rel=1e-10)


@pytest.mark.parametrize("steps", [1.0, 20.0])
def test_without_damping_it_is_the_theta_method(steps):
    one = scheme_of(di.GeneralizedAlpha, steps, 0.11, rho_inf=1.0)
    other = scheme_of(di.MoreauJean, steps, 0.11, theta=0.5)
    for _ in range(int(2.0 / one.dt) + 3):
        one.step()
        other.step()
        assert one.u == pytest.approx(other.u, abs=1e-11)
        assert one.v == pytest.approx(other.v, abs=1e-10)
        assert one.r == pytest.approx(other.r, abs=1e-11)


def test_rest_carries_the_weight():
    body = di.PointMasses(2.0, load=[-19.62])
    scheme = di.GeneralizedAlpha(
        body, 0.05, contact=di.DofBound(body, 0, lower=0.0), rho_inf=0.0, position=True
    )
    scheme.start(0.3, 0.0)
    for _ in range(60):
        scheme.step()
    assert scheme.r / scheme.dt == pytest.approx(19.62, rel=1e-10)
    assert np.abs(scheme.u).max() < 1e-15


def test_balance_closes_and_restart_is_equal():
    def made():
        body = bar()
        tip = int(np.flatnonzero(np.isclose(body.x[:, 0], 1.0))[0])
        contact = di.DofBound(body, tip, upper=0.05)
        return di.GeneralizedAlpha(
            body, 5 * body.critical_time_step(), contact=contact, position=True, rho_inf=0.3
        )

    whole = made()
    whole.start(0.0, 1.0)
    result = di.simulate(whole, t_end=20 * whole.dt)
    assert np.abs(result["residual"]).max() < 1e-12
    first, second = made(), made()
    first.start(0.0, 1.0)
    for _ in range(7):
        first.step()
    second.resume(first.state())
    for _ in range(13):
        second.step()
    assert np.array_equal(second.u, whole.u) and np.array_equal(second.v, whole.v)
