"""A finite element solid as a system: linear elastic so far, with its stiffness stored."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence, Union

import numpy as np
import ufl
from dolfinx import fem, la
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from . import mass as masses
from . import parallel
from .body import Body
from .laws import Law
from .loads import Signal, checked_signal, vector
from .mesh import NamedMesh

#: A force per area, constant, or a direction of it with its signal in time.
Traction = Union[Sequence[float], tuple[Sequence[float], Signal]]


class Solid(Body):
    """An elastic body that fills its space: ``M dv = (f - K u - alpha M v) dt + L^T dr``.

    Args:
        mesh: The mesh; a :class:`~dolfinx_impact.mesh.NamedMesh` where parts are named.
        density: Mass per volume [kg/m3], positive.
        law: The elastic law.
        degree: Degree of the Lagrange elements.
        section: What the mesh's measure lacks to a volume: the cross-section of a line
            mesh [m2], the thickness of a plane one [m].
        cells: Names of the cells that the body consists of; all by default.
        gravity: Acceleration, one number a space direction [m/s2].
        body_force: Force per volume, one number a space direction [N/m3].
        traction: Force per area on named facets [N/m2]: ``{"end": (0, 0, -1e5)}``, or with a signal
            in time ``{"end": ((0, 0, -1e5), signal)}``.
        shaken: ``(direction, signal)``: the ground accelerates by ``signal(t)`` [m/s2] along the
            direction, and displacements are those relative to it.
        fixed: Facet names whose displacement is held at zero; a mapping gives the held
            directions of each, ``{"foot": (0, 2)}``.
        moved: Facets whose displacement follows a signal; see :class:`.Body`.
        damping: alpha of the damping force ``alpha M v`` [1/s].

    Attributes:
        space: The vector-valued function space.
        x: Coordinates of the local nodes, shape (nodes, 3) [m].
        held: Which owned dofs are held, shape (owned,).
        total_mass: Mass of the body [kg].

    Raises:
        ValueError: Bad constants, an unknown name, or a space that cannot be lumped
            (raised when the lumped mass is first asked for).
    """

    def __init__(
        self,
        mesh: NamedMesh | dmesh.Mesh,
        *,
        density: float,
        law: Law,
        degree: int = 1,
        section: float = 1.0,
        cells: str | Sequence[str] | None = None,
        gravity: Sequence[float] | None = None,
        body_force: Sequence[float] | None = None,
        traction: Mapping[str, Traction] | None = None,
        shaken: tuple[Sequence[float], Signal] | None = None,
        fixed: Sequence[str] | Mapping[str, Sequence[int]] = (),
        moved: Mapping[str, Mapping[int, Signal]] | None = None,
        damping: float = 0.0,
    ) -> None:
        for name, value in (("density", density), ("section", section)):
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be positive, but is {value}")
        if not getattr(law, "linear", False):
            raise ValueError(f"a Solid takes linear laws so far, but {law!r} does not say linear = True")
        bare = mesh.mesh if isinstance(mesh, NamedMesh) else mesh
        gdim = bare.geometry.dim
        if gdim != bare.topology.dim:
            raise ValueError(
                f"a Solid fills its space, but its cells have dimension {bare.topology.dim} of {gdim}"
            )
        super().__init__(
            mesh, block=gdim, degree=degree, cells=cells, fixed=fixed, moved=moved, damping=damping
        )
        self.law, self.section, self.density = law, float(section), float(density)
        self._rho, self._section = (fem.Constant(self.mesh, x) for x in (self.density, self.section))
        volume = fem.form(self._rho * self._section * self.dx)
        self.total_mass = parallel.total(self.comm, fem.assemble_scalar(volume))
        self._take_accelerations(gravity, shaken)
        if body_force is not None:
            force = vector("body_force", body_force, gdim)
            if force.any():
                self.loads.add(self._body_force(force))
        for name, given in (traction or {}).items():
            self._take_traction(name, given)

    def _lump(self) -> NDArray:
        return masses.row_sums(self.space, self._rho * self._section, self.dx, self.inside)

    def inertia(self, direction: Sequence[float] | NDArray) -> NDArray:
        return self._body_force(self.density * np.asarray(direction))

    def _stiffness_form(self) -> Any:
        u = fem.Function(self.space)
        energy = self._section * self.law.energy_density(u) * self.dx
        return ufl.derivative(ufl.derivative(energy, u), u)

    def _mass_form(self) -> Any:
        u, w = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        return self._rho * self._section * ufl.inner(u, w) * self.dx

    def _body_force(self, per_volume: NDArray) -> NDArray:
        """Nodal forces of a uniform force per volume, shape (size,) [N]. Collective."""
        return self._assemble_load(per_volume, self.dx)

    def _take_traction(self, name: str, given: Any) -> None:
        gdim, signal = self.mesh.geometry.dim, None
        value = given
        if isinstance(given, (tuple, list)) and len(given) == 2 and callable(given[1]):
            value, signal = given[0], checked_signal(f"traction[{name!r}]", given[1])
        pattern = self._assemble_load(vector(f"traction[{name!r}]", value, gdim), self._facet_measure(name))
        self.loads.add(pattern, signal)

    def _facet_measure(self, name: str) -> Any:
        """``ds`` over named facets at cells of the body. Collective."""
        facets, fdim = np.unique(self.named.facets(name)), self.mesh.topology.dim - 1
        self.mesh.topology.create_connectivity(fdim, fdim + 1)
        facets = np.intersect1d(facets, dmesh.exterior_facet_indices(self.mesh.topology))
        if not self.comm.allreduce(facets.size):
            raise ValueError(f"traction[{name!r}]: these facets lie inside the mesh, not on its surface")
        if self.cells is not None:
            cells = self.mesh.topology.connectivity(fdim, fdim + 1)
            facets = np.array([f for f in facets if np.any(np.isin(cells.links(f), self.cells))], np.int32)
        tags = dmesh.meshtags(self.mesh, fdim, facets.astype(np.int32), np.ones(facets.size, np.int32))
        return ufl.Measure("ds", domain=self.mesh, subdomain_data=tags)(1)

    def _assemble_load(self, density: NDArray, measure: Any) -> NDArray:
        test = ufl.TestFunction(self.space)
        load = fem.Constant(self.mesh, density * self.section)
        form = fem.assemble_vector(fem.form(ufl.inner(load, test) * measure))
        form.scatter_reverse(la.InsertMode.add)
        form.scatter_forward()
        return self._free_of_held(form.array.copy())
