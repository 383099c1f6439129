"""Von Mises stress at the nodes of a solid, for postprocessing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import ufl
from dolfinx import fem, la
from ufl.algorithms import extract_coefficients

from .. import _compat
from .._types import FloatArray, Int32Array, IntArray
from ..materials import StVenantKirchhoff, kinematics
from ..materials.law import THIN, constants_of
from ..materials.reduced_dimension import Thin
from ..systems.continuum import Continuum
from ..systems.elements.law_code import MEAN_DILATATION
from ..systems.form_system import FormSystem
from ..systems.solid import Solid

#: Distance from the axis of a body of revolution, over the length of the body, up to which a node is on it.
_ON_AXIS = 1e-10


class VonMises:
    """Von Mises stress of the Cauchy stress at the nodes of a solid.

    It is evaluated at the nodes of every cell with the law of the cell, and averaged over the cells at a
    node, weighted by their undeformed volumes. Linear laws have the stress of small strains. On the axis of a
    body of revolution ``u_r / r`` is replaced by its limit ``du_r/dr``. User-defined law classes in plane
    stress or on a line do not provide the stretches of the stress-free directions, which are taken as 1.
    With ``locking="mean-dilatation"`` the law takes the volume ratio of the cell; the pressures that
    ``"nodal-pressure"`` averages have no part in this stress.

    Args:
        solid: A :class:`.Solid`; or a :class:`.FormSystem` with ``stress``: a scalar is averaged as it is.

    Attributes:
        volume: Undeformed volume of the cells at each local node, 0 at nodes off the body, shape (nodes,)
            [m3].

    Raises:
        ValueError: A body without stress; a law with functions at quadrature points.
    """

    def __init__(self, solid: Continuum) -> None:
        if not has_stress(solid):
            raise ValueError(
                f"the stress is that of a Solid, not of a {type(solid).__name__}; a FormSystem needs stress="
            )
        self._u, self._bs, self._mesh = fem.Function(solid.space), solid.block, solid.mesh
        index_map = solid.space.dofmap.index_map
        self._sums = la.vector(index_map, 1)
        points = _compat.interpolation_points(solid.space)
        sizes, nodes = _cell_volumes(solid), np.asarray(solid.space.dofmap.list)
        self._parts, self._ratios = [], _ratios_of_cells(solid, self._u)
        for stress, cells in _stresses(solid, self._u, self._ratios):
            if any(each.ufl_element().has_custom_quadrature for each in extract_coefficients(stress)):
                raise ValueError(
                    "the stress at the nodes is not known where a law has functions at quadrature points: "
                    "give it functions of a DG space"
                )
            # On every rank, also those without such cells: compilation is collective.
            expression = fem.Expression(stress, points)
            values = np.zeros((cells.size, len(points)))
            self._parts.append((expression, cells, nodes[cells].ravel(), sizes[cells, None], values))
        self._add(lambda expression, cells, values: values.fill(1.0))
        self.volume = self._sums.array.copy()
        self._inverse = np.divide(1.0, self.volume, out=np.zeros_like(self.volume), where=self.volume > 0)

    def __call__(self, u: FloatArray) -> FloatArray:
        """Von Mises stress at ``u``, shape (local nodes,) [Pa], with updated ghosts. Collective.

        It is 0 at nodes without cells of the body.

        Args:
            u: Displacements, shape (size,) [m]; ghosts need not be updated.
        """
        owned = self._sums.index_map.size_local * self._bs
        self._u.x.array[:owned] = u[:owned]
        self._u.x.scatter_forward()
        if self._ratios is not None:
            self._ratios.update()
        self._add(lambda expression, cells, values: expression.eval(self._mesh, cells, values))
        stress: FloatArray = self._sums.array * self._inverse
        return stress

    def _add(self, evaluate: Any) -> None:
        """Sum cell values, weighted by the volumes of the cells, into the nodes."""
        sums = self._sums.array
        sums[:] = 0.0
        for expression, cells, nodes, sizes, values in self._parts:
            if cells.size:
                evaluate(expression, cells, values)
                values *= sizes
                sums += np.bincount(nodes, values.ravel(), sums.size)
        self._sums.scatter_reverse(la.InsertMode.add)
        self._sums.scatter_forward()


class _Ratios:
    """Volume ratios of the cells, of which mean dilatation takes the stress.

    Args:
        solid: The body.
        u: Its displacements, zero now.

    Attributes:
        function: The ratios, constant in each owned cell.
    """

    def __init__(self, solid: Solid, u: fem.Function) -> None:
        self.function = fem.Function(fem.functionspace(solid.mesh, ("DG", 0)))
        volume = _weighted(solid) * ufl.det(kinematics.deformation_gradient(u, solid.hypothesis))
        test = ufl.TestFunction(self.function.function_space)
        self._form = fem.form(volume * test * solid.dx(metadata={"quadrature_degree": 2}))
        self._rest = fem.assemble_vector(self._form).array.copy()

    def update(self) -> None:
        """Evaluate the ratios at the displacements. Collective."""
        now = fem.assemble_vector(self._form).array
        np.divide(now, self._rest, out=self.function.x.array, where=self._rest > 0)


def _ratios_of_cells(body: Continuum, u: fem.Function) -> _Ratios | None:
    """Volume ratios, where a stress depends on them."""
    needed = isinstance(body, Solid) and any(map(_takes_ratio, body.materials, body._ways))
    return _Ratios(body, u) if needed else None  # type: ignore[arg-type]


def _takes_ratio(material: Any, way: str | None) -> bool:
    """Whether the von Mises stress depends on the volume ratio of the cell."""
    law = material.law
    return way == MEAN_DILATATION and not law.linear and not getattr(law, "splits", False)


def has_stress(body: Any) -> bool:
    """Whether a body defines its stress."""
    return isinstance(body, Solid) or (isinstance(body, FormSystem) and body.stress is not None)


def _stresses(body: Continuum, u: fem.Function, ratios: _Ratios | None) -> list[tuple[Any, Int32Array]]:
    """Von Mises stress at ``u``, a UFL scalar [Pa], and the owned cells where it holds. Collective."""
    if isinstance(body, FormSystem):
        local = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
        cells = np.arange(local) if body.cells is None else body.cells
        stress = body.stress_at(u)
        scalar = stress if stress.ufl_shape == () else _von_mises(stress)
        return [(scalar, cells[cells < local].astype(np.int32))]
    assert isinstance(body, Solid)
    F, state, laws = _deformation_gradient(u, body), body.hypothesis, []
    for material, way in zip(body.materials, body._ways):
        sigma = cauchy(material.law, F, state)
        if ratios is not None and _takes_ratio(material, way):
            # But for a pressure: the Kirchhoff stress of the law at Fbar over det F.
            change = ratios.function / ufl.det(F)
            sigma = change * cauchy(material.law, change ** (1 / 3) * F, state)
        laws.append(_von_mises(sigma))
    return list(zip(laws, _cells_of_materials(body)))


def cauchy(law: Any, F: Any, state: str) -> Any:
    """Cauchy stress of a reduced law, a 3x3 UFL tensor [Pa]; of a linear law the stress of small strains.

    Args:
        law: The law, reduced to the state.
        F: The embedded deformation gradient, see :func:`.kinematics.deformation_gradient`.
        state: The state of the body.
    """
    P, embedded = law.stress(F), 3 - THIN.get(state, 0)
    sigma = P if law.linear else P * F.T / (ufl.det(F) * _free_stretch(law, F, embedded))
    # The derivative of a reduced energy along stress-free directions is meaningless.
    return ufl.as_matrix([[sigma[i, j] if max(i, j) < embedded else 0.0 for j in range(3)] for i in range(3)])


def _free_stretch(law: Any, F: Any, embedded: int) -> Any:
    """Product of the stretches of the stress-free directions, which ``F`` does not contain.

    Args:
        law: The law, reduced to the state.
        F: The embedded deformation gradient.
        embedded: Number of the other directions.
    """
    if embedded < 3 and isinstance(law, Thin):
        return ufl.det(law._filled(F, constants_of(F, law._values))) / ufl.det(F)
    if embedded < 3 and isinstance(law, StVenantKirchhoff):
        # No stress: lambda tr E + 2 mu E33 = 0.
        strain = (F.T * F - ufl.Identity(3)) / 2
        trace, ratio = strain[0, 0], law.nu
        if embedded == 2:
            trace, ratio = trace + strain[1, 1], law.nu / (1 - law.nu)
        return ufl.sqrt(1 - 2 * ratio * trace) ** (3 - embedded)
    return 1.0


def _deformation_gradient(u: Any, solid: Solid) -> Any:
    F = kinematics.deformation_gradient(u, solid.hypothesis)
    if solid.hypothesis != "axisymmetric":
        return F
    r = ufl.SpatialCoordinate(solid.mesh)[0]
    off_axis = ufl.gt(abs(r), _ON_AXIS * solid.length)
    # Both branches are evaluated: the divisor must not be zero.
    hoop = ufl.conditional(off_axis, 1 + u[0] / ufl.conditional(off_axis, r, 1.0), F[0, 0])
    return ufl.as_matrix([[F[0, 0], F[0, 1], 0], [F[1, 0], F[1, 1], 0], [0, 0, hoop]])


def _von_mises(sigma: Any) -> Any:
    deviator = sigma - ufl.tr(sigma) / 3 * ufl.Identity(3)
    return ufl.sqrt(1.5 * ufl.inner(deviator, deviator))


def _cells_of_materials(solid: Solid) -> list[Int32Array]:
    """Owned cells of each material, in the order of ``solid.materials``. Collective."""
    local = solid.mesh.topology.index_map(solid.mesh.topology.dim).size_local
    mappings = [each for each in (solid.law, solid.density) if isinstance(each, Mapping)]
    if mappings:
        regions: list[IntArray] = [solid.named.cells(name) for name in sorted(set().union(*mappings))]
    else:
        regions = [np.arange(local) if solid.cells is None else solid.cells]
    return [np.unique(cells[cells < local]).astype(np.int32) for cells in regions]


def _cell_volumes(solid: Continuum) -> FloatArray:
    """Undeformed volumes of owned cells of the body, 0 for other cells, shape (cells,) [m3]. Collective."""
    space = fem.functionspace(solid.mesh, ("DG", 0))
    volumes = fem.assemble_vector(fem.form(_weighted(solid) * ufl.TestFunction(space) * solid.dx))
    found: FloatArray = volumes.array[np.asarray(space.dofmap.list)[:, 0]]
    return found


def _weighted(solid: Continuum) -> Any:
    """Volume per measure of the mesh."""
    return kinematics.thickness(solid.mesh, solid.hypothesis, solid.cross_section)
