"""Measures of the deformation of a solid: stretches, stretch rates, inverted elements."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import basix
import numpy as np
import ufl
from dolfinx import fem, la
from mpi4py import MPI

from ... import _compat, parallel
from ..._types import FloatArray
from ...algebra import kernels
from ...materials import kinematics
from .element_forms import compile_expression

if TYPE_CHECKING:
    from ..continuum import Continuum

#: Lines connect nodes of a cell whose distance in the reference cell, times the degree, is at most this.
_NEAR = 1.8


class Deformation:
    """Stretches of the lines between neighbouring nodes, and ``det F`` at the quadrature points.

    Args:
        solid: The body.
    """

    def __init__(self, solid: Continuum) -> None:
        self._solid, self._comm, self._owned = solid, solid.comm, solid.owned
        local = solid.mesh.topology.index_map(solid.mesh.topology.dim).size_local
        cells = np.arange(local) if solid.cells is None else solid.cells
        self._cells = cells[cells < local].astype(np.int32)
        points = _compat.interpolation_points(solid.space)
        neighbours = [
            (i, j)
            for i, j in itertools.combinations(range(len(points)), 2)
            if np.linalg.norm(points[i] - points[j]) <= _NEAR / solid.degree
        ]
        nodes = np.asarray(solid.space.dofmap.list)[self._cells]
        ends = np.sort(nodes[:, np.array(neighbours)].reshape(-1, 2), axis=1)
        self._ends = np.unique(ends, axis=0).astype(np.uint32)
        x = solid.x[:, : solid.block]
        self._lines = x[self._ends[:, 1]] - x[self._ends[:, 0]]
        self._then = np.einsum("ij,ij->i", self._lines, self._lines)
        self._inverse = 1 / self._then
        self._u, self._v = (la.vector(solid.space.dofmap.index_map, solid.block) for _ in range(2))
        self._local, self._global = np.zeros(4), np.zeros(4)
        self._measure = kernels.load().measure_lines

    def lines(self, u: FloatArray, v: FloatArray) -> tuple[float, float, float, float]:
        """Smallest and largest stretch of the lines, largest logarithmic stretch rate [1/s]. Collective.

        The fourth number is the largest logarithmic strain of a line since :meth:`mark`. They are invariant
        under rigid motions.

        Args:
            u: Displacements, shape (size,) [m]; only owned entries are read.
            v: Velocities, shape (size,) [m/s]; only owned entries are read.
        """
        for field, values in ((self._u, u), (self._v, v)):
            field.array[: self._owned] = values[: self._owned]
            if self._comm.size > 1:
                field.scatter_forward()
        d = self._solid.block
        nodal_u, nodal_v = self._u.array.reshape(-1, d), self._v.array.reshape(-1, d)
        lengths = self._lines, self._inverse, self._then
        self._measure(self._ends, *lengths, nodal_u, nodal_v, self._local)
        extremes = self._local
        if self._comm.size > 1:
            self._comm.Allreduce(self._local, self._global, op=MPI.MAX)
            extremes = self._global
        least, most = float(np.sqrt(max(0.0, -extremes[0]))), float(np.sqrt(extremes[1]))
        return least, most, float(extremes[2]), 0.5 * float(np.log(extremes[3]))

    def mark(self, u: FloatArray) -> None:
        """Set the lengths from which strains are measured to those at ``u``. Collective.

        Args:
            u: Displacements, as in :meth:`lines`.
        """
        self._u.array[: self._owned] = u[: self._owned]
        self._u.scatter_forward()
        nodal = self._u.array.reshape(-1, self._solid.block)
        now = self._lines + nodal[self._ends[:, 1]] - nodal[self._ends[:, 0]]
        self._then = np.einsum("ij,ij->i", now, now)

    def inside_out(self, u: FloatArray) -> bool:
        """Whether ``det F <= 0`` at a quadrature point of the internal forces. Collective.

        On a body of revolution also where a point has passed the axis: with the in-plane part of F turned
        over too the two signs would cancel.

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
    def _volume(self) -> tuple[fem.Function, fem.Expression, FloatArray]:
        """Displacement function, ``det F`` or the hoop stretch if that is less, an array. Collective."""
        solid, field = self._solid, fem.Function(self._solid.space)
        rule = kinematics.quadrature(solid.mesh, solid.degree, solid.hypothesis, False)
        kind = basix.QuadratureType.gll if "quadrature_rule" in rule else basix.QuadratureType.default
        rule_degree = rule["quadrature_degree"]
        points = np.asarray(basix.make_quadrature(solid.mesh.basix_cell(), rule_degree, rule=kind)[0])
        F = kinematics.deformation_gradient(field, solid.hypothesis)
        volume = ufl.det(F)
        if solid.hypothesis == "axisymmetric":
            volume = ufl.min_value(volume, F[2, 2])
        expression = compile_expression(volume, points, self._comm)
        return field, expression, np.zeros((self._cells.size, len(points)))
