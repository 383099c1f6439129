"""Stress at the nodes of a solid, to look at."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import ufl
from dolfinx import fem, la
from numpy.typing import NDArray
from ufl.algorithms import extract_coefficients

from .. import _compat
from ..materials import StVenantKirchhoff, kinematics
from ..materials.law import THIN, constants_of
from ..materials.reduced_dimension import Thin
from ..systems.solid import Solid

#: Nodes of a body of revolution lie on the axis up to this part of the body's length.
_ON_AXIS = 1e-10


class VonMises:
    """The von Mises stress of the Cauchy stress, at the nodes of a solid.

    It is evaluated at the nodes of every cell, with that cell's law, and averaged over the cells at a node,
    weighted by their volumes at rest. The stress of linear laws is that of small strains. On the axis
    of a body of revolution ``u_r / r`` is its limit ``du_r/dr``. The stretches of the free directions
    of a class of your own that is a law in plane stress, or on a line, are not known: taken as 1.

    Args:
        solid: The body.

    Attributes:
        volume: Volume of the body's cells at each local node, 0 where there are none, shape (nodes,) [m3].

    Raises:
        ValueError: Something that is no solid; a law with functions at quadrature points.
    """

    def __init__(self, solid: Solid) -> None:
        if not isinstance(solid, Solid):
            raise ValueError(f"the stress is that of a Solid, not of a {type(solid).__name__}")
        self._u, self._bs, self._mesh = fem.Function(solid.space), solid.block, solid.mesh
        index_map = solid.space.dofmap.index_map
        self._sums = la.vector(index_map, 1)
        F = _deformation_gradient(self._u, solid)
        points = _compat.interpolation_points(solid.space)
        sizes, nodes = _cell_volumes(solid), np.asarray(solid.space.dofmap.list)
        self._parts = []
        for material, cells in zip(solid.materials, _cells_of_materials(solid)):
            stress = _von_mises(cauchy(material.law, F, solid.state))
            if any(each.ufl_element().has_custom_quadrature for each in extract_coefficients(stress)):
                raise ValueError(
                    "the stress at the nodes is not known where a law has functions at quadrature points: "
                    "give it functions of a DG space"
                )
            # On every rank, also those without such cells: compiling is collective.
            expression = fem.Expression(stress, points)
            values = np.zeros((cells.size, len(points)))
            self._parts.append((expression, cells, nodes[cells].ravel(), sizes[cells, None], values))
        self._add(lambda expression, cells, values: values.fill(1.0))
        self.volume = self._sums.array.copy()
        self._inverse = np.divide(1.0, self.volume, out=np.zeros_like(self.volume), where=self.volume > 0)

    def __call__(self, u: NDArray) -> NDArray:
        """The stress at displacements ``u``, shape (local nodes,) [Pa]: owned ones, then ghosts, fresh.

        Nodes without cells of the body get 0. Collective.

        Args:
            u: Displacements, owned entries first; ghosts need not be fresh, shape (size,) [m].
        """
        owned = self._sums.index_map.size_local * self._bs
        self._u.x.array[:owned] = u[:owned]
        self._u.x.scatter_forward()
        self._add(lambda expression, cells, values: expression.eval(self._mesh, cells, values))
        return self._sums.array * self._inverse

    def _add(self, evaluate: Any) -> None:
        """Sums over the cells at the nodes, weighted by the cells' volumes."""
        sums = self._sums.array
        sums[:] = 0.0
        for expression, cells, nodes, sizes, values in self._parts:
            if cells.size:
                evaluate(expression, cells, values)
                values *= sizes
                sums += np.bincount(nodes, values.ravel(), sums.size)
        self._sums.scatter_reverse(la.InsertMode.add)
        self._sums.scatter_forward()


def cauchy(law: Any, F: Any, state: str) -> Any:
    """Cauchy stress of a reduced law, 3x3 UFL [Pa]; of a linear one that of small strains.

    Args:
        law: The law, reduced to the state.
        F: The embedded deformation gradient, see :func:`.kinematics.deformation_gradient`.
        state: The state of the body.
    """
    P, held = law.stress(F), 3 - THIN.get(state, 0)
    sigma = P if law.linear else P * F.T / (ufl.det(F) * _free_stretch(law, F, held))
    # No stress acts along the free directions; what an energy that is reduced says of them means nothing.
    return ufl.as_matrix(
        [[sigma[i, j] if max(i, j) < held else 0.0 for j in range(3)] for i in range(3)]
    )  # fmt: skip


def _free_stretch(law: Any, F: Any, held: int) -> Any:
    """Product of the stretches of the free directions, which ``F`` does not know."""
    if held < 3 and isinstance(law, Thin):
        return ufl.det(law._filled(F, constants_of(F, law._values))) / ufl.det(F)
    if held < 3 and isinstance(law, StVenantKirchhoff):
        # Free of stress: lambda tr E + 2 mu E33 = 0.
        strain = (F.T * F - ufl.Identity(3)) / 2
        along, ratio = strain[0, 0], law.nu
        if held == 2:
            along, ratio = along + strain[1, 1], law.nu / (1 - law.nu)
        return ufl.sqrt(1 - 2 * ratio * along) ** (3 - held)
    return 1.0


def _deformation_gradient(u: Any, solid: Solid) -> Any:
    F = kinematics.deformation_gradient(u, solid.state)
    if solid.state != "axisymmetric":
        return F
    r = ufl.SpatialCoordinate(solid.mesh)[0]
    away = ufl.gt(abs(r), _ON_AXIS * solid.length)
    # The divisor is never zero, also where the quotient is not taken.
    across = ufl.conditional(away, 1 + u[0] / ufl.conditional(away, r, 1.0), F[0, 0])
    return ufl.as_matrix([[F[0, 0], F[0, 1], 0], [F[1, 0], F[1, 1], 0], [0, 0, across]])


def _von_mises(sigma: Any) -> Any:
    deviator = sigma - ufl.tr(sigma) / 3 * ufl.Identity(3)
    return ufl.sqrt(1.5 * ufl.inner(deviator, deviator))


def _cells_of_materials(solid: Solid) -> list[NDArray]:
    """Owned cells of each material, in the order of ``solid.materials``. Collective."""
    local = solid.mesh.topology.index_map(solid.mesh.topology.dim).size_local
    mappings = [given for given in (solid.law, solid.density) if isinstance(given, Mapping)]
    if mappings:
        found = [solid.named.cells(name) for name in sorted(set().union(*mappings))]
    else:
        found = [np.arange(local) if solid.cells is None else solid.cells]
    return [np.unique(cells[cells < local]).astype(np.int32) for cells in found]


def _cell_volumes(solid: Solid) -> NDArray:
    """Volumes of the local cells of the body [m3]; of owned ones only. Collective."""
    space = fem.functionspace(solid.mesh, ("DG", 0))
    weight = kinematics.thickness(solid.mesh, solid.state, solid.section)
    volumes = fem.assemble_vector(fem.form(weight * ufl.TestFunction(space) * solid.dx))
    return volumes.array[np.asarray(space.dofmap.list)[:, 0]]
