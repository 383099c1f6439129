"""Pressures of nearly incompressible bodies as their elements have them, and how rough they are.

Elements that average volumes have one volume ratio J for each cell (mean dilatation), or one for each node
(nodal pressure), whose volume is a part of that of every cell around it; what the stress of a cell has is
the mean over its nodes. Plain elements are seen by the volumes of their cells.
"""

from __future__ import annotations

import basix
import numpy as np
from numpy.typing import NDArray

from .... import Solid, parallel
from ....systems.elements.law_code import NODAL_PRESSURE

_DEGREE = 3  #: Of a quadrature that is exact for volumes of bilinear and trilinear cells, and of their rings.

_SAME = 1e-9  #: Part by which pressures that are all the same differ by rounding.


class Pressures:
    """Volume ratios and pressures of a body with the energy ``kappa (ln J)^2 / 2`` of volumes.

    Points and cells are those of the whole body on every rank; cells in an order that does not depend on
    the number of ranks. Collective, as all methods are that take displacements.

    Args:
        body: The body, of degree 1.
        bulk: Bulk modulus kappa [Pa].

    Attributes:
        x: Points at rest, shape (n, gdim) [m].
        cells: Their numbers in every cell.
    """

    def __init__(self, body: Solid, bulk: float) -> None:
        self._body, self._bulk, comm = body, bulk, body.comm
        topology, index_map = body.mesh.topology, body.space.dofmap.index_map
        owned = topology.index_map(topology.dim).size_local
        nodes = np.asarray(body.space.dofmap.list)[:owned]
        numbers = index_map.local_to_global(nodes.ravel()).reshape(nodes.shape)
        first = parallel.gather_rows(comm, np.asarray(topology.original_cell_index[:owned]))
        self.cells: NDArray = parallel.gather_rows(comm, numbers)[np.argsort(first)]
        self.x = self._whole(body.x[:, : body.gdim])
        self._at_nodes = body.locking == NODAL_PRESSURE
        self._kind = getattr(basix.CellType, topology.cell_name())
        points, self._weights = basix.make_quadrature(self._kind, _DEGREE)
        element = basix.create_element(basix.ElementFamily.P, self._kind, 1)
        values: NDArray = np.asarray(element.tabulate(1, np.asarray(points)))[..., 0]
        self._shapes, self._slopes = values[0], np.moveaxis(values[1:], 0, -1)
        self._rest, self._beside = self._volumes(self.x), self._neighbours()

    def points(self, u: NDArray) -> NDArray:
        """Points displaced by u, shape (n, gdim) [m]. Collective."""
        return self.x + self._whole(u[: self._body.size].reshape(-1, self._body.block))

    def ratios(self, u: NDArray) -> NDArray:
        """Volume ratios J of the cells, or of the nodes. Collective."""
        return self._volumes(self.points(u)) / self._rest

    def pressure(self, u: NDArray) -> NDArray:
        """``-kappa ln J / J`` in every cell, positive in compression [Pa]. Collective."""
        J = self.ratios(u)
        pressures: NDArray = -self._bulk * np.log(J) / J
        return pressures[self.cells].mean(axis=1) if self._at_nodes else pressures

    def roughness(self, p: NDArray) -> float:
        """How far pressures of cells are from a smooth field.

        The root mean square of what those inside differ from the mean of their neighbours (across facets),
        over that of what all differ from their mean. It is 2 for a checkerboard, and tends to 0 with
        the size of the cells for a smooth field; 0 for pressures that are all the same.
        """
        whole = (self._beside >= 0).all(axis=1)
        off = p[whole] - p[self._beside[whole]].mean(axis=1)
        spread = float(np.std(p))
        return float(np.sqrt(np.mean(off**2))) / spread if spread > _SAME * np.abs(p).max() else 0.0

    def _whole(self, local: NDArray) -> NDArray:
        """Rows of all nodes from those of this rank. Collective."""
        owned = self._body.owned // self._body.block
        return parallel.gather_rows(self._body.comm, np.ascontiguousarray(local[:owned]))

    def _volumes(self, x: NDArray) -> NDArray:
        """Volumes of the cells or nodes, those of the full rings where axisymmetric [m3]."""
        at = x[self.cells]
        jacobian = np.linalg.det(np.einsum("cai,qaj->cqij", at, self._slopes))
        if self._body.hypothesis == "axisymmetric":
            jacobian = jacobian * 2 * np.pi * np.einsum("ca,qa->cq", at[..., 0], self._shapes)
        volumes: NDArray = np.abs(jacobian) @ self._weights
        if not self._at_nodes:
            return volumes
        corners = self.cells.shape[1]
        parts: NDArray = np.bincount(self.cells.ravel(), np.repeat(volumes / corners, corners), len(x))
        return parts

    def _neighbours(self) -> NDArray:
        """Cells across every facet of a cell, -1 for none."""
        facets = basix.topology(self._kind)[-2]
        keys = np.sort(np.concatenate([self.cells[:, facet] for facet in facets]), axis=1)
        _, which, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(which.ravel(), kind="stable")
        pairs = order[count[which.ravel()][order] == 2].reshape(-1, 2)
        beside = np.full(len(keys), -1)
        beside[pairs] = pairs[:, ::-1] % len(self.cells)
        return beside.reshape(len(facets), -1).T
