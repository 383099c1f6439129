"""Bodies with cells of different shapes, and fields on them."""

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from dolfinx_impact import NamedMesh, parallel

COMM = MPI.COMM_WORLD
CELLS = {each.name: each for each in dmesh.CellType}


def bent_mesh(cell, cells=None, comm=COMM):
    """No two cells alike; away from the axis of revolution."""
    dim = {"interval": 1, "triangle": 2, "quadrilateral": 2}.get(cell, 3)
    cells = cells or {1: 7, 2: 5, 3: 3}[dim]
    if dim == 1:
        mesh = dmesh.create_interval(comm, cells, [0.2, 1.4])
    else:
        make = dmesh.create_rectangle if dim == 2 else dmesh.create_box
        low = [0.2, 0.0, 0.0][:dim]
        mesh = make(comm, [low, [1.3, 1.0, 1.0][:dim]], [cells] * dim, CELLS[cell])
    x = mesh.geometry.x
    waves = [np.sin(x @ [3.0, 6.0, 9.0] + i) for i in range(dim)]
    for i, wave in enumerate(waves):
        x[:, i] += 0.12 / cells * wave
    return mesh


def smooth(body, size):
    """Displacements of moderate strain, and changes of them."""
    directions = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]])[:, : body.block]
    u = size * np.sin(3.0 * body.x @ directions).ravel()
    return np.ascontiguousarray(u), np.ascontiguousarray(np.cos(5.0 * body.x @ directions).ravel())


def difference(body, one, other):
    """Largest difference relative to the largest entry, over all ranks."""
    n = body.owned
    return parallel.largest(COMM, np.abs(one - other)[:n]) / parallel.largest(COMM, np.abs(other)[:n])


def halves(mesh, is_right=lambda x: x[:, 0] > 0.7):
    """The mesh with its cells to the left and to the right of a plane, or by a function of the midpoints."""
    dim = mesh.topology.dim
    cells = np.arange(mesh.topology.index_map(dim).size_local, dtype=np.int32)
    right = is_right(dmesh.compute_midpoints(mesh, dim, cells))
    tags = dmesh.meshtags(mesh, dim, cells, 1 + right.astype(np.int32))
    none = np.zeros(0, dtype=np.int32)
    facets = dmesh.meshtags(mesh, dim - 1, none, none)
    return NamedMesh(mesh, tags, facets, {"left": (dim, 1), "right": (dim, 2)})
