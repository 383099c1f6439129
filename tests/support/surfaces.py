"""Parts with surfaces that come into contact, and what is measured on them."""

import functools

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.benchmark.boxes import disc
from support.pairs import named

COMM = MPI.COMM_WORLD
LAW = di.LinearElastic(1.0, 0.0)
RUBBER = di.NeoHookean(1.0, 0.3)


def box(cells, low, high, kind="quadrilateral", angle=0.0):
    """A rectangle or box with named ``top`` and ``bottom``, turned about its middle [rad]."""
    d, low, high = len(low), np.array(low, dtype=float), np.array(high, dtype=float)
    make = dmesh.create_rectangle if d == 2 else dmesh.create_box
    mesh = make(COMM, [low, high], list(cells), getattr(dmesh.CellType, kind))
    ends = {"top": high[-1], "bottom": low[-1]}
    parts = named(mesh, **{name: lambda x, z=z: np.isclose(x[d - 1], z) for name, z in ends.items()})
    if angle:
        turn(mesh, angle, 0.5 * (low + high))
    return parts


def turn(mesh, angle, middle):
    """Turn a mesh in the plane of its last two directions."""
    x, d = mesh.geometry.x, len(middle)
    c, s = np.cos(angle), np.sin(angle)
    a, b = x[:, d - 2] - middle[-2], x[:, d - 1] - middle[-1]
    x[:, d - 2], x[:, d - 1] = middle[-2] + c * a - s * b, middle[-1] + s * a + c * b


def layers(upper, lower, kind="quadrilateral", gap=1e-3, height=0.1, wide=1.0, parts=1):
    """Two layers, one above the other, with so many cells along; the lower one is 1 wide."""
    d = 3 if kind in ("hexahedron", "tetrahedron") else 2
    made = {}
    for name, n, a, z in (("upper", upper, 0.5 - wide / 2, gap), ("lower", lower, 0.0, -height)):
        low, high = [a] * (d - 1) + [z], [1.0 - a] * (d - 1) + [z + height]
        made[name] = box([n] * (d - 1) + [parts], low, high, kind)
    return di.mesh.join(made)


@functools.cache
def discs(rings=(5, 4), offset=0.6, gap=0.02):
    """Two discs of radius 1 in rings of triangles, one above the other, aside by the offset."""
    meshes = {}
    for name, n, sign in (("upper", rings[0], 1.0), ("lower", rings[1], -1.0)):
        middle = 0.5 * sign * np.array([offset, np.sqrt(4.0 - offset**2) + gap])
        meshes[name] = disc(n, 1.0, middle)
    return di.mesh.join(meshes)


def against_each_other(body, speed=0.01, along=0.0):
    """Velocities of two parts that meet along the last direction; the upper one slides along the first."""
    e, t = np.eye(body.gdim)[-1], np.eye(body.gdim)[0]
    return body.rigid_velocity(along * t - speed * e, cells="upper") + body.rigid_velocity(
        speed * e, cells="lower"
    )


def total(values):
    return COMM.allreduce(np.asarray(values, dtype=float))


def largest(values):
    return COMM.allreduce(float(np.max(np.abs(values), initial=0.0)), op=MPI.MAX)


def anywhere(mask):
    return COMM.allreduce(bool(np.any(mask)))


def until_contact(s, steps=400):
    """Steps until an impulse acts."""
    for _ in range(steps):
        s.step()
        if anywhere(s.r != 0):
            return s
    raise AssertionError("no contact")


def momenta(s):
    """Linear and angular momentum at the time of ``u``, and the sum of the sizes of the nodal momenta."""
    body = s.system
    g, n = body.gdim, body.owned // body.block
    m = body.mass.reshape(-1, g)[:n]
    v, x = s.v_mean[: body.owned].reshape(-1, g), body.x[:n, :g] + s.u[: body.owned].reshape(-1, g)
    p = m * v
    spin = x[:, 0] * p[:, 1] - x[:, 1] * p[:, 0] if g == 2 else np.cross(x, p)
    return total([*p.sum(axis=0), *np.atleast_1d(spin.sum(axis=0))]), total(np.abs(p).sum())


def dense(contact, inverse_mass):
    """Delassus operator of the normal rows that are set, on one rank, and the same with unit diagonal."""
    L, rows = contact.L, np.flatnonzero(np.diff(contact.L.entries()[0]))
    A = np.zeros((rows.size, inverse_mass.size))
    for k, i in enumerate(rows):
        unit = np.zeros(contact.count)
        unit[i] = 1.0
        L.add_transpose(unit, A[k])
    H = A @ (inverse_mass[:, None] * A.T)
    d = np.sqrt(np.diag(H))
    return H, H / np.outer(d, d)


def positions(contact):
    """Current positions of the nodes to which the entries of L refer, shape (nodes, gdim)."""
    return contact.assembly._tables["x"]


def mortar_areas(contact):
    """Areas of the points, 0 for the corners, which have rows while the others are open."""
    areas = contact.assembly.area.copy()
    areas[contact.assembly.mortar.nodes.size :] = 0.0
    return areas
