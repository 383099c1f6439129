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


def sector(inner, outer, cells, **names):
    """A quarter of a ring with straight edges."""
    mesh = dmesh.create_rectangle(ALONE, [[0, 0], [1, 1]], list(cells), dmesh.CellType.quadrilateral)
    x = mesh.geometry.x
    r, angle = inner + (outer - inner) * x[:, 0], 0.5 * np.pi * x[:, 1]
    x[:, 0], x[:, 1] = r * np.cos(angle), r * np.sin(angle)
    return di.named(mesh, x=lambda x: np.isclose(x[0], 0), y=lambda x: np.isclose(x[1], 0), **names)


def test_a_coarse_shaft_in_a_coarse_ring_is_no_deep_overlap():
    """Chords of 18 and 22 degrees: nodes are inside by more than the gaps, and contact closes them."""
    shaft = sector(6.0, 20.01, (3, 4), skin=lambda x: np.hypot(x[0], x[1]) > 19.0)
    ring = sector(19.99, 40.0, (4, 5), bore=lambda x: np.hypot(x[0], x[1]) < 20.5)
    held = {f"{part}/{name}": (i,) for part in ("shaft", "ring") for i, name in enumerate("xy")}
    parts = di.mesh.join({"shaft": shaft, "ring": ring})
    body = di.Solid(parts, density=1.0, law=di.LinearElastic(1.0, 0.3), degree=2, fixed=held)
    fit = di.SurfaceContact(body, "shaft/skin", "ring/bore", allow_penetration=True)
    scheme = di.Static(body, 0.5, contact=fit, closing=1.0)
    scheme.start(0.0, 0.0, allow_penetration=True)
    deepest = fit.gap(scheme.u).min()
    scheme.step()
    scheme.step()
    assert scheme.r.max() > 0 and fit.gap(scheme.u).min() > -1e-12 > deepest
