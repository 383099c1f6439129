"""Von Mises stress at the nodes of a solid, for postprocessing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import ufl
from dolfinx import fem
from ufl.algorithms import extract_coefficients
from ufl.algorithms.analysis import extract_constants

from .. import _compat
from .._types import FloatArray, Int32Array, IntArray
from ..materials import HistoryLaw, StVenantKirchhoff, kinematics
from ..materials.law import THIN, constants_of
from ..materials.reduced_dimension import Thin
from ..systems.continuum import Continuum
from ..systems.elements.history import QuadraturePoints
from ..systems.elements.law_code import MEAN_DILATATION
from ..systems.form_system import FormSystem
from ..systems.solid import Solid
from .history_field import von_mises_at_points
from .nodal_averages import CellMeans, NodalAverages, PointValues, volume_per_measure

#: Distance from the axis of a body of revolution, over the length of the body, up to which a node is on it.
_ON_AXIS = 1e-10


class VonMises:
    """Von Mises stress of the Cauchy stress at the nodes of a solid.

    It is evaluated at the nodes of every cell with the law of the cell, and averaged over the cells at a
    node, weighted by their undeformed volumes. Laws with history have it at the quadrature points, with the
    state there: its mean over the points of a cell is that of all nodes of the cell. Linear laws have the
    stress of small strains. On the axis of a body of revolution ``u_r / r`` is replaced by its limit
    ``du_r/dr``. User-defined law classes in plane stress or on a line do not provide the stretches of the
    stress-free directions, which are taken as 1.
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
        self._u, self._bs = fem.Function(solid.space), solid.block
        self._ratios = _ratios_of_cells(solid, self._u)
        self._parts = _parts(solid, self._u, self._ratios)
        self._averages = NodalAverages(solid, [part.cells for part in self._parts])
        self.volume = self._averages.volume

    def __call__(self, u: FloatArray) -> FloatArray:
        """Von Mises stress at ``u``, shape (local nodes,) [Pa], with updated ghosts. Collective.

        It is 0 at nodes without cells of the body.

        Args:
            u: Displacements, shape (size,) [m]; ghosts need not be updated. Of a material with history those
                at the time of the state.
        """
        owned = self._averages.index_map.size_local * self._bs
        self._u.x.array[:owned] = u[:owned]
        self._u.x.scatter_forward()
        if self._ratios is not None:
            self._ratios.update()
        return self._averages([part.evaluate() for part in self._parts])


class _Part(NamedTuple):
    """Cells of one law.

    Attributes:
        cells: Owned cells.
        evaluate: Function of the von Mises stress, one value a node or one a cell, shape (cells, ...) [Pa].
    """

    cells: IntArray
    evaluate: Callable[[], FloatArray]


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
        volume = volume_per_measure(solid) * ufl.det(kinematics.deformation_gradient(u, solid.hypothesis))
        test = ufl.TestFunction(self.function.function_space)
        self._form = fem.form(volume * test * solid.dx(metadata={"quadrature_degree": 2}))
        self._rest = fem.assemble_vector(self._form).array.copy()

    def update(self) -> None:
        """Evaluate the ratios at the displacements. Collective."""
        now = fem.assemble_vector(self._form).array
        np.divide(now, self._rest, out=self.function.x.array, where=self._rest > 0)


def _ratios_of_cells(body: Continuum, u: fem.Function) -> _Ratios | None:
    """Volume ratios, where a stress depends on them."""
    if not isinstance(body, Solid):
        return None
    pairs = zip(body.materials, body._ways)
    return _Ratios(body, u) if any(_takes_ratio(material.law, way) for material, way in pairs) else None


def _takes_ratio(law: Any, way: str | None) -> bool:
    """Whether the von Mises stress depends on the volume ratio of the cell."""
    return way == MEAN_DILATATION and not law.linear and not getattr(law, "splits", False)


def has_stress(body: Any) -> bool:
    """Whether a body defines its stress."""
    return isinstance(body, Solid) or (isinstance(body, FormSystem) and body.stress is not None)


def has_coefficients(body: Any) -> bool:
    """Whether the stress of a body has Functions or Constants of the script, which may change in a run."""
    if isinstance(body, FormSystem):
        u = body.displacement
        stress = body.stress_at(u)
        return bool({*extract_coefficients(stress), *extract_constants(stress)} - {u})
    F = fem.Constant(body.mesh, np.eye(3))

    def found(law: Any) -> set[Any]:
        stress = law.stress(F)
        return {*extract_coefficients(stress), *extract_constants(stress)} - {F}

    # The constants of a law of the package are made anew every time.
    return any(found(m.law) & found(m.law) for m in body.materials if not isinstance(m.law, HistoryLaw))


def _parts(body: Continuum, u: fem.Function, ratios: _Ratios | None) -> list[_Part]:
    """Von Mises stress at ``u`` where it holds. Collective."""
    if isinstance(body, FormSystem):
        local = body.mesh.topology.index_map(body.mesh.topology.dim).size_local
        cells = np.arange(local) if body.cells is None else body.cells
        stress = body.stress_at(u)
        scalar = stress if stress.ufl_shape == () else _von_mises(stress)
        return [_at_nodes(body, scalar, cells[cells < local])]
    assert isinstance(body, Solid)
    F, parts = _deformation_gradient(u, body), []
    for material, way, cells in zip(body.materials, body._ways, _cells_of_materials(body)):
        if not isinstance(material.law, HistoryLaw):
            of_cell = ratios if _takes_ratio(material.law, way) else None
            parts.append(_at_nodes(body, _scalar(material.law, F, body.hypothesis, of_cell), cells))
    history = body.history
    for points in [] if history is None else history.points_with("dissipated"):
        parts.append(_with_history(body, points, F, ratios))
    return parts


def _at_nodes(body: Continuum, scalar: Any, cells: IntArray) -> _Part:
    """A UFL scalar at the nodes of cells. Collective."""
    if any(each.ufl_element().has_custom_quadrature for each in extract_coefficients(scalar)):
        raise ValueError(
            "the stress at the nodes is not known where a law has functions at quadrature points: "
            "give it functions of a DG space"
        )
    places = _compat.interpolation_points(body.space)
    return _Part(cells, PointValues(body, scalar, cells, places))


def _with_history(body: Solid, points: QuadraturePoints, F: Any, ratios: _Ratios | None) -> _Part:
    """The means over the points of cells with history. Collective."""
    way = next(way for material, way in zip(body.materials, body._ways) if material.law is points.law)
    of_cell, means = ratios if _takes_ratio(points.law, way) else None, CellMeans(body, points)
    found = von_mises_at_points(body, points, F, lambda law: _scalar(law, F, body.hypothesis, of_cell))
    return _Part(points.cells, lambda: means(found()))


def _scalar(law: Any, F: Any, state: str, ratios: _Ratios | None) -> Any:
    """Von Mises stress of a law, a UFL scalar [Pa]; with ratios of cells that of mean dilatation."""
    if ratios is None:
        return _von_mises(cauchy(law, F, state))
    # But for a pressure: the Kirchhoff stress of the law at Fbar over det F.
    change = ratios.function / ufl.det(F)
    return _von_mises(change * cauchy(law, change ** (1 / 3) * F, state))


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
