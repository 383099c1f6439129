"""Bodies of full dimension: internal forces, tangents and viscous forces from UFL forms."""

from __future__ import annotations

import functools
from typing import Any

import basix
import numpy as np
import ufl
from dolfinx import fem, la

from .. import arguments
from .._types import FloatArray, Int32Array, IntArray
from ..materials import kinematics
from ..mesh.named_mesh import as_named
from ..mesh.quality import refuse_curved
from .body import Body
from .compiled import Compiled
from .forces.deformation import Deformation
from .forces.element_forms import ElementForm
from .forces.internal_forces import AssembledForms
from .masses.mass_lumping import scalar_element


class Continuum(Body):
    """A body of cells of full dimension: ``M dv = (f - F_int(u) - D v) dt + L^T dr``, forces from forms.

    Subclasses define :meth:`_internal_form`, :meth:`_energy_form` where there is an energy, and
    :meth:`_viscous_form` where :attr:`has_viscosity`; or :meth:`_stiffness_form` where linear.

    Args:
        mesh: The mesh; a :class:`~dolfinx_impact.mesh.NamedMesh` where parts are named.
        hypothesis: Kinematic hypothesis in 2D: ``"plane-strain"`` (default), ``"plane-stress"`` or
            ``"axisymmetric"``.
        cross_section: Cross-sectional area of a line mesh [m2], or thickness of a plane mesh [m].
        options: Those of :class:`.Body`.

    Attributes:
        hypothesis: The kinematic hypothesis; ``"line"`` and ``"solid"`` in 1D and 3D.
        displacement: The function that represents u in the forms.
        velocity: The function that represents v in the forms.
    """

    loop_solver = Body.loop_solver

    def __init__(
        self, mesh: Any, *, hypothesis: str | None = None, cross_section: float = 1.0, **options: Any
    ) -> None:
        named = as_named(mesh)
        bare = named.mesh
        arguments.number("cross_section", cross_section, "be positive", above=0.0)
        gdim = bare.geometry.dim
        if gdim != bare.topology.dim:
            raise ValueError(
                f"a {type(self).__name__} is of full dimension, but its cells have dimension "
                f"{bare.topology.dim} of {gdim}"
            )
        self.hypothesis = kinematics.state_of(bare, hypothesis)
        if self.hypothesis in ("3d", "axisymmetric") and cross_section != 1.0:
            kind = "a body of revolution" if gdim == 2 else "a body in space"
            raise ValueError(
                f"cross_section is the area of a line or the thickness of a plane mesh, but this is {kind}: "
                "leave it out"
            )
        super().__init__(named, block=gdim, **options)
        refuse_curved(self.space, self.cells)
        self.cross_section = float(cross_section)
        self._weight = kinematics.thickness(self.mesh, self.hypothesis, self.cross_section)
        self.displacement, self.velocity = fem.Function(self.space), fem.Function(self.space)
        self._w = ufl.TestFunction(self.space)

    # -- defined by subclasses

    def _internal_form(self) -> Any:
        """Linear form ``F_int . w`` at :attr:`displacement`."""
        raise NotImplementedError

    def _energy_form(self) -> Any:
        """The stored energy at :attr:`displacement`."""
        raise NotImplementedError

    def _viscous_form(self) -> Any:
        """Linear form of the damping forces beyond ``alpha M + beta K``."""
        raise NotImplementedError

    @property
    def energy_known(self) -> bool:
        """Whether there is a stored energy."""
        raise NotImplementedError

    # -- forces

    def _stiffness_form(self) -> Any:
        return ufl.derivative(self._internal_form(), self.displacement)

    def assembled_forces(self) -> AssembledForms:
        """See :meth:`.Body.assembled_forces`."""
        energy = self._energy_form() if self.energy_known else None
        return AssembledForms(self._internal_form(), energy, self.displacement)

    def law_coefficients(self) -> tuple[FloatArray, ...]:
        """Values that nonlinear forces read anew: all constants, and this rank's of each function."""
        if self.linear:
            return (np.zeros(0),)
        constants, *functions = self.forces.coefficients()
        if self.has_viscosity:
            further, *others = self._viscous.coefficients()
            constants, functions = np.append(constants, further), [*functions, *others]
        return (constants, *functions)

    @functools.cached_property
    def deformation(self) -> Deformation:
        """Stretches and stretch rates of the body. Collective at the first access."""
        return Deformation(self)

    def _refuse_inside_out(self, u: FloatArray) -> None:
        """See :meth:`.Body._refuse_inside_out`."""
        if not self.linear and self.deformation.inside_out(u):
            raise ValueError("u turns an element inside out (det F <= 0): there is no critical time step")

    def _law_changed(self) -> bool:
        """Whether functions or constants of a law have changed since the last call. Collective."""
        if self.linear:
            return False
        now, self._seen = np.concatenate(self.forces.coefficients()), getattr(self, "_seen", None)
        changed = self._seen is None or not np.array_equal(now, self._seen)
        self._seen = now
        return bool(self.comm.allreduce(changed))

    def compiled(self) -> Compiled:
        """See :meth:`.Body.compiled`; nonlinear forces and viscous ones are refused there."""
        return super().compiled()

    def _add_viscosity(self, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        if self.has_viscosity:
            out[: self.owned] += self._viscous.vector(u, v)

    @property
    def conservative(self) -> bool:
        """Whether all forces of the body have a potential, and thus symmetric tangents."""
        return self.energy_known and not self.has_viscosity

    @functools.cached_property
    def _viscous(self) -> ElementForm:
        fields = [self.displacement, self.velocity]
        return ElementForm(self._viscous_form(), self.space, fields)

    def add_viscous_tangent(
        self, u: FloatArray, v: FloatArray | None, x: FloatArray, out: FloatArray
    ) -> None:
        """See :meth:`.Body.add_viscous_tangent`."""
        at = np.zeros(self.size) if v is None else v
        out[: self.owned] += self._viscous_tangent.vector(u, at, x)

    @functools.cached_property
    def _viscous_tangent(self) -> ElementForm:
        u, v, x = self.displacement, self.velocity, fem.Function(self.space)
        return ElementForm(ufl.derivative(self._viscous_form(), v, x), self.space, [u, v, x])

    def tangent_forms(self) -> tuple[Any, Any]:
        """See :meth:`.Body.tangent_forms`; includes the derivative of damping forces in u."""
        if self.mass_damped or (self.linear and not self.has_viscosity):
            return super().tangent_forms()
        u, v, internal = self.displacement, self.velocity, self._internal_form()
        parts = []
        if self.stiffness_damping > 0:
            parts.append(fem.Constant(self.mesh, self.stiffness_damping) * ufl.derivative(internal, u, v))
        if self.has_viscosity:
            parts.append(self._viscous_form())
        damping = sum(parts)
        return self.matrices.padded(ufl.derivative(internal + damping, u)), ufl.derivative(damping, v)

    # -- facets

    def facet_areas(self, name: str | int) -> FloatArray:
        """Areas of the owned nodes on named facets, in the order of :meth:`nodes`, shape (n,) [m2].

        Row sums, at zero displacement; of the full revolution where axisymmetric. Collective.
        """
        first = self._w if self._w.ufl_shape == () else self._w[0]
        areas = fem.assemble_vector(fem.form(self._weight * first * self._facet_measure(name)))
        areas.scatter_reverse(la.InsertMode.add)
        at: FloatArray = areas.array[self.nodes(name) * self.block]
        return at

    def outer_facets(self, name: str | int | None) -> tuple[IntArray, IntArray]:
        """Named facets on the outside of the body: owned cells, number of the facet in each. Collective.

        None names all of them.

        Those with one cell of the body, whatever lies behind them: the interface of a part of the mesh is on
        the outside of a body that is this part. Facets of other parts are left out.

        Raises:
            ValueError: Facets with cells of the body on both sides, or none with any.
        """
        topology, tdim, (facets_of, counts) = self.mesh.topology, self.mesh.topology.dim, self.facet_cells
        named = la.vector(topology.index_map(tdim - 1), 1)
        cells = self._owned_cells()
        if name is None:
            row, number = np.nonzero(counts[facets_of[cells]] == 1)
            return cells[row], number
        named.array[self.named.facets(name)] = 1.0
        named.scatter_reverse(la.InsertMode.add)
        named.scatter_forward()
        chosen, at = named.array[facets_of[cells]] > 0.0, counts[facets_of[cells]]
        inside, outside = self.comm.allreduce(np.array([(chosen & (at == n)).sum() for n in (2, 1)]))
        if not inside and not outside:
            raise ValueError(f"{name!r} has no facets on cells of the body: name others")
        if inside or not outside:
            which = f"{inside // 2} of the facets {name!r}" if outside else f"the facets {name!r}"
            raise ValueError(
                f"{which} lie inside the body, not on its surface: name facets with one cell of the body, as "
                "those of an interface for a body that is one of its sides (cells=)"
            )
        row, number = np.nonzero(chosen & (at == 1))
        return cells[row], number

    def boundary_nodes(self) -> Int32Array:
        """Owned nodes of all facets with one cell of the body, in the order of :meth:`nodes`. Collective."""
        return self._nodes_on(np.flatnonzero(self.facet_cells[1] == 1).astype(np.int32))

    def facet_sizes(self, name: str | int | None) -> FloatArray:
        """Mean diameter of named facets (None: of the boundary) at their owned nodes, shape (n,) [m].

        In the order of :meth:`nodes`, or of :meth:`boundary_nodes`. Collective.
        """
        facets_of, counts = self.facet_cells
        chosen = counts == 1
        if name is not None:
            chosen = np.isin(np.arange(counts.size), self.named.facets(name))
        cells = self._owned_cells()
        row, number = np.nonzero(chosen[facets_of[cells]])
        layout, index_map = self.space.dofmap.dof_layout, self.space.dofmap.index_map
        fdim = self.mesh.topology.dim - 1
        sums, counted = la.vector(index_map, 1), la.vector(index_map, 1)
        for k in np.unique(number):
            closure = layout.entity_closure_dofs(fdim, int(k))
            nodes = np.asarray(self.space.dofmap.list)[cells[row[number == k]]][:, closure]
            at = self.x[nodes]
            arms = np.linalg.norm(at - at.mean(axis=1, keepdims=True), axis=2)
            np.add.at(sums.array, nodes, 2.0 * arms.max(axis=1, keepdims=True))
            np.add.at(counted.array, nodes, 1.0)
        for each in (sums, counted):
            each.scatter_reverse(la.InsertMode.add)
        at_nodes = self.boundary_nodes() if name is None else self.nodes(name)
        sizes: FloatArray = sums.array[at_nodes] / np.maximum(counted.array[at_nodes], 1.0)
        return sizes

    def _owned_cells(self) -> IntArray:
        """Cells of the body that this rank owns."""
        owned = self.mesh.topology.index_map(self.mesh.topology.dim).size_local
        return np.arange(owned) if self.cells is None else self.cells[self.cells < owned]

    @functools.cached_property
    def facet_cells(self) -> tuple[IntArray, IntArray]:
        """Facets of each local cell, and the number of cells of the body at each facet. Collective."""
        topology, tdim = self.mesh.topology, self.mesh.topology.dim
        topology.create_entities(tdim - 1)
        topology.create_connectivity(tdim, tdim - 1)
        topology.create_connectivity(tdim - 1, tdim)
        of_cell = len(basix.topology(scalar_element(self.space).cell_type)[tdim - 1])
        facets = topology.connectivity(tdim, tdim - 1).array.reshape(-1, of_cell)
        counts = la.vector(topology.index_map(tdim - 1), 1)
        np.add.at(counts.array, facets[self._owned_cells()].ravel(), 1.0)
        counts.scatter_reverse(la.InsertMode.add)
        counts.scatter_forward()
        return facets, counts.array.astype(np.int64)

    def _facet_measure(self, name: str | int) -> Any:
        """Measure ``ds`` over the named facets on the outside of the body. Collective."""
        entities = np.column_stack(self.outer_facets(name)).astype(np.int32).ravel()
        return ufl.Measure("ds", domain=self.mesh, subdomain_data=[(1, entities)])(1)
