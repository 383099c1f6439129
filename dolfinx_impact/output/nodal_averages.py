"""Values of cells at the nodes of a body: averages, weighted by the volumes of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import ufl
from dolfinx import fem, la

from .._types import FloatArray, IntArray
from ..materials import kinematics
from ..systems.continuum import Continuum
from ..systems.elements.history import QuadraturePoints
from ..systems.forces.element_forms import number_labels


class NodalAverages:
    """Averages over the cells at each node, weighted by their undeformed volumes.

    Args:
        body: The body.
        parts: Owned cells with values, an array for each of its parts.

    Attributes:
        index_map: That of the nodes.
        volume: Undeformed volume of these cells at each local node, 0 at nodes without, shape (nodes,) [m3].
    """

    def __init__(self, body: Continuum, parts: Sequence[IntArray]) -> None:
        self.index_map = body.space.dofmap.index_map
        self._sums = la.vector(self.index_map, 1)
        sizes, nodes = _cell_volumes(body), np.asarray(body.space.dofmap.list)
        self._parts = [(nodes[cells], sizes[cells, None]) for cells in parts]
        self.volume = self._sum([np.ones((cells.size, 1)) for cells in parts]).copy()
        self._inverse = np.divide(1.0, self.volume, out=np.zeros_like(self.volume), where=self.volume > 0)

    def __call__(self, values: Sequence[FloatArray]) -> FloatArray:
        """The averages, with updated ghosts, shape (local nodes,); 0 at nodes without cells. Collective.

        Args:
            values: For each part one value a cell, shape (cells, 1), or one a node, shape (cells, nodes).
        """
        averages: FloatArray = self._sum(values) * self._inverse
        return averages

    def _sum(self, values: Sequence[FloatArray]) -> FloatArray:
        sums: FloatArray = self._sums.array
        sums[:] = 0.0
        for (nodes, sizes), each in zip(self._parts, values):
            if nodes.size:
                weighted = np.broadcast_to(each * sizes, nodes.shape)
                sums += np.bincount(nodes.ravel(), weighted.ravel(), sums.size)
        self._sums.scatter_reverse(la.InsertMode.add)
        self._sums.scatter_forward()
        return sums


class CellMeans:
    """Means over the quadrature points of cells, weighted by their undeformed volumes.

    Args:
        body: The body.
        points: Its points.
    """

    def __init__(self, body: Continuum, points: QuadraturePoints) -> None:
        volume = volume_per_measure(body) * abs(ufl.JacobianDeterminant(body.mesh))
        found = PointValues(body, volume, points.cells, points.places)() * points.weights
        self._shares = found / found.sum(axis=1, keepdims=True)

    def __call__(self, values: FloatArray) -> FloatArray:
        """The means, shape (cells, 1), of values at the points, shape (cells, points)."""
        means: FloatArray = np.sum(self._shares * values, axis=1, keepdims=True)
        return means


class PointValues:
    """Values of a UFL expression at the same points of all cells.

    Args:
        body: The body.
        expression: The expression.
        cells: Owned cells.
        places: The points in the reference cell, shape (points, dim).
    """

    def __init__(self, body: Continuum, expression: Any, cells: IntArray, places: FloatArray) -> None:
        self._mesh, self._cells = body.mesh, cells.astype(np.int32)
        # On every rank, also those without such cells: compilation is collective.
        self._expression = fem.Expression(number_labels(expression), places)
        self._shape = cells.size, len(places), *expression.ufl_shape

    def __call__(self) -> FloatArray:
        """The values now, shape (cells, points, ...)."""
        if not self._cells.size:
            return np.zeros(self._shape)
        found: FloatArray = np.reshape(self._expression.eval(self._mesh, self._cells), self._shape)
        return found


def _cell_volumes(body: Continuum) -> FloatArray:
    """Undeformed volumes of owned cells of the body, 0 for other cells, shape (cells,) [m3]. Collective."""
    space = fem.functionspace(body.mesh, ("DG", 0))
    volumes = fem.assemble_vector(fem.form(volume_per_measure(body) * ufl.TestFunction(space) * body.dx))
    found: FloatArray = volumes.array[np.asarray(space.dofmap.list)[:, 0]]
    return found


def volume_per_measure(body: Continuum) -> Any:
    """Volume per measure of the mesh."""
    return kinematics.thickness(body.mesh, body.hypothesis, body.cross_section)
