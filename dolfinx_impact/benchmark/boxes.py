"""Rectangles and boxes whose bottom has a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ..mesh import NamedMesh

_CELLS = {2: dmesh.CellType.quadrilateral, 3: dmesh.CellType.hexahedron}


def box(
    corners: Sequence[Any],
    cells: Sequence[int],
    kind: dmesh.CellType | None = None,
    *,
    bottom: str = "bottom",
    comm: MPI.Comm = MPI.COMM_WORLD,
    ghost_mode: dmesh.GhostMode = dmesh.GhostMode.shared_facet,
) -> NamedMesh:
    """A rectangle or box between two corners [m]; the facets where the last coordinate is least have a name.

    ``cells`` along the edges are quadrilaterals or hexahedra by default. Collective.
    """
    low, high = (np.asarray(corner, dtype=np.float64) for corner in corners)
    dim = len(low)
    make = dmesh.create_rectangle if dim == 2 else dmesh.create_box
    mesh = make(comm, [low, high], list(cells), kind or _CELLS[dim], ghost_mode=ghost_mode)
    near = low[-1] + 1e-9 * (high[-1] - low[-1])
    mesh.topology.create_entities(dim - 1)
    # The function for the boundary alone would leave connectivities that nothing else needs.
    facets = np.sort(dmesh.locate_entities(mesh, dim - 1, lambda x: x[dim - 1] < near))
    tags = dmesh.meshtags(mesh, dim - 1, facets, np.ones(facets.size, dtype=np.int32))
    return NamedMesh(mesh, None, tags, {bottom: (dim - 1, 1)})
