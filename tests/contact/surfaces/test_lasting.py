"""Surfaces and ties in steps far above the critical one: position under the stiffness, then Newton's law."""

import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.surfaces import (
    COMM,
    LAW,
    RUBBER,
    against_each_other,
    anywhere,
    box,
    discs,
    largest,
    layers,
    momenta,
    total,
)

import dolfinx_impact as di


def started(body, contact, critical, v0=0.0, *, theta=1.0, dt=None):
    """A scheme at both levels with steps of so many critical ones."""
    dt = critical * body.critical_time_step() if dt is None else dt
    s = di.MoreauJean(body, dt, theta=theta, contact=contact, position=True)
    s.start(0.0, v0)
    return s


def pressing(contact_options=None, *, kind="quadrilateral", cells=(3, 4), depth=0.06, along=0.0, **options):
    """A layer pressed down on another one within 10 very long steps, then moved along."""
    mesh = options.pop("mesh", None) or layers(*cells, kind, gap=1e-3, parts=2)
    d = mesh.mesh.geometry.dim

    def ramp(t):
        return np.minimum(t, 10.0) / 10.0

    top = {k: lambda t: 0.0 * t for k in range(d - 1)}
    top[0] = lambda t: along * np.clip(t - 10.0, 0.0, 5.0) / 5.0
    top[d - 1] = lambda t: -depth * ramp(t)
    body = di.Solid(
        mesh,
        law=options.pop("law", RUBBER),
        density=1e-6,
        fixed=["lower/bottom"],
        prescribed={"upper/top": top},
        **options,
    )
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top", **(contact_options or {}))
    return started(body, contact, None, dt=1.0)


def nodes_of(body, u):
    return u[: body.owned].reshape(-1, body.block)[:, : body.gdim]


# -- patch tests


def rollers(n, depth):
    """Two columns of other meshes, one on the other, on rollers at the bottom and at a side."""
    made = {}
    for name, cells, low in (("upper", n[0], 0.5), ("lower", n[1], 0.0)):
        part = dmesh.create_rectangle(
            COMM, [(0.0, low), (1.0, low + 0.5)], cells, dmesh.CellType.quadrilateral
        )
        ends = {"top": low + 0.5, "bottom": low}
        made[name] = di.named(
            part,
            side=lambda x: np.isclose(x[0], 0.0),
            **{k: lambda x, y=y: np.isclose(x[1], y) for k, y in ends.items()},
        )
    return di.Solid(
        di.mesh.join(made),
        law=RUBBER,
        density=1e-6,
        fixed={"upper/side": (0,), "lower/side": (0,), "lower/bottom": (1,)},
        prescribed={"upper/top": {1: lambda t: -depth * np.minimum(t, 6.0) / 6.0}},
    )


def test_patch_of_other_meshes_is_uniform():
    """Compressed by 30 % over a straight interface: the deformation is that of one piece."""
    body = rollers([(3, 2), (4, 3)], 0.3)
    s = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top"), None, dt=1.0)
    for _ in range(12):
        s.step()
    n = body.owned // body.block
    X, u = body.x[:n], nodes_of(body, s.u)
    assert np.abs(u[:, 1] + 0.3 * X[:, 1]).max() <= 1e-10
    widening = largest(u[:, 0])
    assert np.abs(u[:, 0] - widening * X[:, 0]).max() <= 1e-10 and widening > 0.1
    gap = s.gap()
    assert largest(gap[np.isfinite(gap)]) <= 1e-14
