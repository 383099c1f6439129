"""How far a solid is deformed and how fast, and whether it is turned inside out."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import basix
import numpy as np
import ufl
from dolfinx import fem, la
from mpi4py import MPI
from numpy.typing import NDArray

from .. import _compat, parallel
from ..algebra import kernels
from ..materials import kinematics
from .element_forms import compile_expression

if TYPE_CHECKING:
    from .solid import Solid

#: Lines join nodes of a cell that are so near in the reference cell, over the degree: its neighbours.
_NEAR = 1.8


class Deformation:
    """Stretches of the lines between neighbouring nodes, and ``det F`` at the points of quadrature.

    Args:
        solid: The body.
    """

    def __init__(self, solid: Solid) -> None:
        self._solid, self._comm, self._owned = solid, solid.comm, solid.owned
        local = solid.mesh.topology.index_map(solid.mesh.topology.dim).size_local
        cells = np.arange(local) if solid.cells is None else solid.cells
        self._cells = cells[cells < local].astype(np.int32)
        points = _compat.interpolation_points(solid.space)
        near = [
            (i, j) for i, j in itertools.combinations(range(len(points)), 2)
            if np.linalg.norm(points[i] - points[j]) <= _NEAR / solid.degree
        ]  # fmt: skip
        nodes = np.asarray(solid.space.dofmap.list)[self._cells]
        ends = np.sort(nodes[:, np.array(near)].reshape(-1, 2), axis=1)
        self._ends = np.unique(ends, axis=0).astype(np.uint32)
        x = solid.x[:, : solid.block]
        self._lines = x[self._ends[:, 1]] - x[self._ends[:, 0]]
        self._inverse = 1 / np.einsum("ij,ij->i", self._lines, self._lines)
        self._u, self._v = (la.vector(solid.space.dofmap.index_map, solid.block) for _ in range(2))
        self._found, self._most = np.zeros(3), np.zeros(3)
        self._measure = kernels.load().measure_lines

    def lines(self, u: NDArray, v: NDArray) -> tuple[float, float, float]:
        """The least and the largest stretch of the lines, and the largest rate of a logarithm of one [1/s].

        They do not see rigid motions. Collective.

        Args:
            u: Displacements, owned entries first; ghosts need not be fresh, shape (size,) [m].
            v: Velocities, likewise [m/s].
        """
        for mine, given in ((self._u, u), (self._v, v)):
            mine.array[: self._owned] = given[: self._owned]
            if self._comm.size > 1:
                mine.scatter_forward()
        d = self._solid.block
        moved, moving = self._u.array.reshape(-1, d), self._v.array.reshape(-1, d)
        self._measure(self._ends, self._lines, self._inverse, moved, moving, self._found)
        found = self._found
        if self._comm.size > 1:
            self._comm.Allreduce(self._found, self._most, op=MPI.MAX)
            found = self._most
        return float(np.sqrt(max(0.0, -found[0]))), float(np.sqrt(found[1])), float(found[2])

    def inside_out(self, u: NDArray) -> bool:
        """Whether ``det F`` is not positive where forces of nonlinear laws are summed. Collective.

        Args:
            u: Displacements, as in :meth:`lines`.
        """
        field, expression, values = self._volume
        field.x.array[: self._owned] = u[: self._owned]
        field.x.scatter_forward()
        if self._cells.size:
            expression.eval(self._solid.mesh, self._cells, values)
        return parallel.largest(self._comm, np.where(values > 0, 0.0, 1.0)) > 0

    @functools.cached_property
    def _volume(self) -> tuple[fem.Function, fem.Expression, NDArray]:
        """A field, its ``det F``, and room for that at all points. Collective."""
        solid, field = self._solid, fem.Function(self._solid.space)
        rule = kinematics.quadrature(solid.mesh, solid.degree, solid.state, False)
        kind = basix.QuadratureType.gll if "quadrature_rule" in rule else basix.QuadratureType.default
        rule_degree = rule["quadrature_degree"]
        points = np.asarray(basix.make_quadrature(solid.mesh.basix_cell(), rule_degree, rule=kind)[0])
        volume = ufl.det(kinematics.deformation_gradient(field, solid.state))
        expression = compile_expression(volume, points, self._comm)
        return field, expression, np.zeros((self._cells.size, len(points)))
