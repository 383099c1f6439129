"""Discs of triangles in rings."""

from __future__ import annotations

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray


def disc(rings: int, radius: float, centre: NDArray) -> dmesh.Mesh:
    """A disc; ring k has 6 k nodes, the first one at the angle 0. Collective."""
    points: list[NDArray] = [np.zeros((1, 2))]
    cells: list[tuple[int, int, int]] = []
    start = [0]
    for k in range(1, rings + 1):
        start.append(start[-1] + max(1, 6 * (k - 1)))
        angle = 2 * np.pi * np.arange(6 * k) / (6 * k)
        points.append(k / rings * np.column_stack([np.cos(angle), np.sin(angle)]))
        for sector in range(6):
            outer = [start[k] + (sector * k + j) % (6 * k) for j in range(k + 1)]
            inner = [start[k - 1] + (sector * (k - 1) + j) % max(1, 6 * (k - 1)) for j in range(k)]
            cells += [(inner[j], outer[j], outer[j + 1]) for j in range(k)]
            cells += [(inner[j], outer[j + 1], inner[j + 1]) for j in range(k - 1)]
    x, numbers = centre + radius * np.concatenate(points), np.array(cells, dtype=np.int64)
    if MPI.COMM_WORLD.rank > 0:  # one rank has the input, all the cells
        x, numbers = x[:0], numbers[:0]
    element = basix.ufl.element("Lagrange", "triangle", 1, shape=(2,))
    return dmesh.create_mesh(MPI.COMM_WORLD, cells=numbers, x=x, e=element)
