"""Bodies of two parts that collide: blocks with meshes that do not match, and discs."""

import functools

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.benchmark.boxes import disc

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


def discs(rings_upper=5, rings_lower=4, *, offset=0.6, gap=0.02):
    """Two neo-Hookean discs before an oblique impact."""
    lam, mu = 1.5, 1.0
    nu = lam / 2 / (lam + mu)
    mesh = _disc_meshes(rings_upper, rings_lower, offset, gap)
    return di.Solid(mesh, law=di.NeoHookean(2 * mu * (1 + nu), nu), density=1.0)


@functools.cache
def _disc_meshes(rings_upper, rings_lower, offset, gap):
    """The discs on one mesh; once, since partitioners throw dice."""
    half = np.array([offset, np.sqrt(4 - offset**2)]) / 2 * (1 + gap / 2)
    return di.mesh.join({"upper": disc(rings_upper, 1.0, half), "lower": disc(rings_lower, 1.0, -half)})
