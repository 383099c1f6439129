"""Where contact that lasts has no equilibrium, or none near: limits of load, snaps, surfaces deep inside."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM, ALONE = MPI.COMM_WORLD, MPI.COMM_SELF


@pytest.mark.parametrize("dt", [0.05, 0.02])
def test_statics_end_at_the_largest_load(dt):
    """A bar of St. Venant-Kirchhoff's law bears E/sqrt(27), at a stretch of 1/sqrt(3), and no more."""
    line = dmesh.create_interval(ALONE, 4, [0.0, 1.0])
    mesh = di.named(line, foot=lambda x: np.isclose(x[0], 0), tip=lambda x: np.isclose(x[0], 1))
    body = di.Solid(
        mesh,
        density=1.0,
        law=di.StVenantKirchhoff(1.0, 0.0),
        fixed=["foot"],
        traction={"tip": ((-1.0,), lambda t: t)},
    )
    tip = int(np.flatnonzero(np.isclose(body.x[: body.owned, 0], 1.0))[0])
    scheme = di.Static(body, dt, contact=di.DofBound(body, tip, upper=0.0))
    scheme.start(0.0, 0.0)
    with pytest.raises(
        di.NotConverged, match="no equilibrium of contact at t = .* does the body buckle"
    ) as told:
        for _ in range(20):
            scheme.step()
    largest, smallest_part = 1 / np.sqrt(27), dt / 256
    at = float(str(told.value).split("t = ")[1].split()[0])
    assert largest - 1e-6 < at < largest + smallest_part
    # Near the limit the load falls by sqrt(3)/2 times the square of the distance to its stretch.
    last = 1 + scheme.u[tip] - 1 / np.sqrt(3)
    assert 0 < last < np.sqrt(2 * smallest_part / np.sqrt(0.75))


def test_a_nose_snaps_behind_an_edge():
    """A mass drawn over an edge of 90 degrees: the step of the jump is made in parts, in words."""
    across, along, mu = 1.0, 10.0, 0.2  # N/m, N/m, -

    def draw(t, u, v, out):
        out[:] = along * t, 0.0  # the other end of the spring along x moves at 1 m/s

    mass = di.PointMasses([1e-4, 1e-4], stiffness=np.diag([along, across]), force=draw)
    turned = np.array([[1.0, 1.0], [-1.0, 1.0]])
    catch = di.Box((1.0, 0.1 - np.sqrt(0.5)), (1.0, 1.0), axes=turned)  # its upper edge is at (1, 0.1)
    contact = di.ObstacleContact(mass, [[0, 1]], catch, friction=mu)
    scheme = di.MoreauJean(mass, 0.02, theta=1.0, contact=contact, position=True)
    scheme.start([0.0, 0.0], [1.0, 0.0])
    run = di.simulate(scheme, t_end=1.6, progress=False)
    (x, y), t = run["u"].T, run["t"]
    push = along * (t - x)
    ramp = (t > 0.95) & (x < 1.0)
    assert ramp.sum() > 2 and y[ramp].max() > 0.08
    assert push[ramp] == pytest.approx((1 + mu) / (1 - mu) * across * y[ramp], rel=5e-3)  # and inertia
    assert push.min() < 0 and np.abs(push[-9:]).max() < 1e-6 and np.abs(y[-9:]).max() < 1e-6
    assert run["gap"].min() > -1e-15
    assert run.newton["halved"] == 1 and run.newton["parts"] > 2
    assert f"1 of 80 steps were halved, down to h/{run.newton['parts']}" in run.summary()
    assert (
        np.diff(run["dissipated"]).min() > 0 and np.abs(run["residual"]).max() < 1e-12 * run["external"][-1]
    )


@pytest.mark.mpi(1, 2, 3)
def test_surfaces_that_begin_deep_inside():
    """From the depth of a cell they close to the exact pressure; from that of two they are refused."""
    quads, closes = dmesh.CellType.quadrilateral, []
    for depth in (0.25, 0.5):
        ends = (0.0, 1.0), (1.0 - depth, 2.0 - depth)
        parts = {
            name: di.named(
                dmesh.create_rectangle(COMM, [[0.0, low], [1.0, high]], [3, 4], quads),
                sides=lambda x: np.isclose(x[0] * (1.0 - x[0]), 0.0),
                low=lambda x, y=low: np.isclose(x[1], y),
                high=lambda x, y=high: np.isclose(x[1], y),
            )
            for name, (low, high) in zip(("lower", "upper"), ends, strict=True)
        }
        body = di.Solid(
            di.mesh.join(parts),
            density=1.0,
            law=di.NeoHookean(1.0, 0.0),
            fixed={"lower/low": (0, 1), "upper/high": (0, 1), "lower/sides": (0,), "upper/sides": (0,)},
        )
        with pytest.raises(ValueError, match="allow_penetration=True"):
            di.SurfaceContact(body, "upper/low", "lower/high")
        contact = di.SurfaceContact(body, "upper/low", "lower/high", allow_penetration=True)
        scheme = di.Static(body, 0.25, contact=contact, closing=1.0)
        try:
            scheme.start(0.0, 0.0, allow_penetration=True)
        except ValueError as error:
            assert "overlap by 0.5 m at" in str(error) and "what lies deeper than a cell is not seen" in str(
                error
            )
            continue
        for _ in range(4):
            scheme.step()
        pressure = contact.pressure(scheme.r, scheme.dt)
        stretch = 1 - depth / 2
        assert pressure[pressure > 0] == pytest.approx(0.5 * (1 / stretch - stretch), rel=1e-9)
        closes.append(depth)
    assert closes == [0.25]
