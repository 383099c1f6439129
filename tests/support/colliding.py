"""Bodies of two parts that collide: blocks with meshes that do not match, and discs."""

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD


def block(low, high, cells, kind=None):
    """A rectangle or a box."""
    dim = len(cells)
    kind = kind or ("quadrilateral" if dim == 2 else "hexahedron")
    make = dmesh.create_rectangle if dim == 2 else dmesh.create_box
    return make(COMM, [list(low), list(high)], list(cells), getattr(dmesh.CellType, kind))


def layers(lower, upper, *, dim=2, kind=None, height=0.1, gap=1e-3, shift=0.0, width=1.0):
    """Two layers, one cell thick, with these numbers of cells across, one above the other."""
    across = [1.0] * (dim - 1)
    below = block([0.0] * (dim - 1) + [-height], across + [0.0], [lower] * (dim - 1) + [1], kind)
    start = [shift] * (dim - 1)
    end = [shift + width] * (dim - 1)
    above = block(start + [gap], end + [gap + height], [upper] * (dim - 1) + [1], kind)
    return di.mesh.join({"lower": below, "upper": above})


def towards(body, speed, gdim):
    """Velocities with which both parts meet in the last direction."""
    up = np.zeros(gdim)
    up[-1] = speed
    return body.rigid_velocity(up, cells="lower") + body.rigid_velocity(-up, cells="upper")


def disc(rings, centre):
    """A disc of radius 1 of triangles in rings."""
    points, cells, start = [(0.0, 0.0)], [], [0]
    for k in range(1, rings + 1):
        start.append(len(points))
        angle = 2 * np.pi * np.arange(6 * k) / (6 * k)
        points += list(zip(k / rings * np.cos(angle), k / rings * np.sin(angle)))

    def number(k, j):
        return 0 if k == 0 else start[k] + j % (6 * k)

    for k in range(1, rings + 1):
        for sector in range(6):
            for j in range(k):
                a, b = number(k, sector * k + j), number(k, sector * k + j + 1)
                c = number(k - 1, sector * (k - 1) + j)
                cells.append((c, a, b))
                if j < k - 1:
                    cells.append((c, b, number(k - 1, sector * (k - 1) + j + 1)))
    x, c = np.array(points) + centre, np.array(cells, dtype=np.int64)
    if COMM.rank:
        x, c = x[:0], c[:0]
    element = basix.ufl.element("Lagrange", "triangle", 1, shape=(2,))
    return dmesh.create_mesh(COMM, cells=c, x=x, e=element)


def discs(rings_upper=5, rings_lower=4, *, offset=0.6, gap=0.02):
    """Two neo-Hookean discs before an oblique impact."""
    half = np.array([offset, np.sqrt(4 - offset**2)]) / 2 * (1 + gap / 2)
    mesh = di.mesh.join({"upper": disc(rings_upper, half), "lower": disc(rings_lower, -half)})
    lam, mu = 1.5, 1.0
    nu = lam / 2 / (lam + mu)
    return di.Solid(mesh, law=di.NeoHookean(2 * mu * (1 + nu), nu), density=1.0)


def momenta(s):
    """Linear momentum and angular momentum about the origin of all ranks, plane bodies [kg m/s, kg m2/s]."""
    body = s.system
    m, n = body.mass[:: body.block], body.owned // body.block
    v, x = s.v_mean[: body.owned].reshape(n, -1), body.x[:n, :2] + s.u[: body.owned].reshape(n, -1)
    spin = m @ (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])
    return body.comm.allreduce(np.array([*(m @ v), spin]))
