"""A finite element body as a system: linear elastic so far, with its stiffness stored."""

from __future__ import annotations

import functools
import math
from typing import Any, Mapping, Sequence

import numpy as np
import ufl
from dolfinx import fem, la
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from . import mass as masses
from . import parallel
from .laws import Law
from .linear import FactorisedSolver
from .mesh import NamedMesh
from .rows import Rows, coordinate_order
from .stiffness import StoredStiffness, largest_eigenvalue
from .system import Compiled


class Solid:
    """An elastic body on a mesh: ``M dv = (f - K u) dt + L^T dr``.

    Args:
        mesh: The mesh; a :class:`~dolfinx_impact.mesh.NamedMesh` where parts are named.
        density: Mass per volume [kg/m3], positive.
        law: The elastic law.
        degree: Degree of the Lagrange elements.
        section: What the mesh's measure lacks to a volume: the cross-section of a line
            mesh [m2], the thickness of a plane one [m].
        gravity: Acceleration, one number a space direction [m/s2].
        body_force: Force per volume, one number a space direction [N/m3].
        fixed: Facet names whose displacement is held at zero; a mapping gives the held
            directions of each, ``{"foot": (0, 2)}``.

    Attributes:
        space: The vector-valued function space.
        x: Coordinates of the local nodes, shape (nodes, 3) [m].
        held: Which owned dofs are held, shape (owned,).
        total_mass: Mass of the body [kg].

    Raises:
        ValueError: Bad constants, an unknown facet name, or a space that cannot be lumped
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
        gravity: Sequence[float] | None = None,
        body_force: Sequence[float] | None = None,
        fixed: Sequence[str] | Mapping[str, Sequence[int]] = (),
    ) -> None:
        for name, value in (("density", density), ("section", section)):
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be positive, but is {value}")
        if not getattr(law, "linear", False):
            raise ValueError(f"a Solid takes linear laws so far, but {law!r} does not say linear = True")
        if degree < 1 or degree != int(degree):
            raise ValueError(f"degree must be a whole number from 1 on, but is {degree}")
        self.named = mesh if isinstance(mesh, NamedMesh) else NamedMesh(mesh, None, None, {})
        self.mesh, self.comm, self.law = self.named.mesh, self.named.mesh.comm, law
        gdim = self.mesh.geometry.dim
        if gdim != self.mesh.topology.dim:
            raise ValueError(
                f"a Solid fills its space, but its cells have dimension {self.mesh.topology.dim} of {gdim}"
            )
        self.space = fem.functionspace(self.mesh, ("Lagrange", degree, (gdim,)))
        index_map = self.space.dofmap.index_map
        self.owned = index_map.size_local * gdim
        self.size = self.owned + index_map.num_ghosts * gdim
        self.x = self.space.tabulate_dof_coordinates()
        self.section, self.density = float(section), float(density)
        self.length = self._extent()
        self.held = self._hold(fixed)
        self._rho, self._section = (fem.Constant(self.mesh, x) for x in (self.density, self.section))
        volume = fem.form(self._rho * self._section * ufl.dx)
        self.total_mass = parallel.total(self.comm, fem.assemble_scalar(volume))
        self._load = self._assemble_load(gravity, body_force)
        self.linear = True
        self.has_loads, self.has_damping = self._load is not None, False

    # -- what the schemes need

    @functools.cached_property
    def mass(self) -> NDArray:
        """Row sums of the mass matrix at the owned dofs, shape (owned,) [kg]. Collective."""
        return masses.row_sums(self.space, self._rho * self._section)

    @functools.cached_property
    def inverse_mass(self) -> NDArray:
        """Inverse lumped masses, 0 at held dofs, shape (owned,) [1/kg]. Collective."""
        inverse = 1.0 / self.mass
        inverse[self.held] = 0.0
        return inverse

    def force(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Loads less K u, shape (size,) [N]; only the owned entries mean something. Collective."""
        self.external(t, u, v, out)
        self.stiffness.subtract_product(u, out)

    def compiled(self) -> Compiled | None:
        """The stored stiffness for compiled loops; None on several ranks, or without pairs.

        Also None where a class of its own computes its forces in another way.
        """
        pairs = self.stiffness.pairs
        own = any(getattr(type(self), name) is not getattr(Solid, name) for name in ("force", "external"))
        if self.comm.size > 1 or pairs is None or own:
            return None
        load = np.zeros(self.size) if self._load is None else self._load
        return Compiled(None, None, None, None, load, pairs=pairs, block=self.mesh.geometry.dim)

    def external(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Gravity and body force, shape (size,) [N]."""
        if self._load is None:
            out[:] = 0.0
        else:
            out[:] = self._load

    def damping(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """No damping."""
        out[:] = 0.0

    def stored_energy(self, u: NDArray) -> float:
        """This rank's share of ``u.K u / 2`` [J]. Collective."""
        product = np.zeros(self.size)
        self.stiffness.subtract_product(u, product)
        return -0.5 * float(u[: self.owned] @ product[: self.owned])

    @functools.cached_property
    def stiffness(self) -> StoredStiffness:
        """The stored stiffness. Collective when first asked for."""
        return StoredStiffness(fem.form(self._stiffness_form()), self.space)

    def critical_time_step(self, inverse_mass: NDArray | None = None) -> float:
        """``2 / omega_max`` of the lumped model [s], to 1e-6 or better. Collective.

        Args:
            inverse_mass: Other inverse masses than its own, shape (owned,) [1/kg].
        """
        return self._critical if inverse_mass is None else self._critical_of(inverse_mass)

    @functools.cached_property
    def _critical(self) -> float:
        return self._critical_of(self.inverse_mass)

    def _critical_of(self, inverse_mass: NDArray) -> float:
        root = np.sqrt(inverse_mass)
        x, y = np.zeros(self.size), np.zeros(self.size)

        def apply(q: NDArray, out: NDArray) -> None:
            x[: self.owned] = root * q
            y[:] = 0.0
            self.stiffness.subtract_product(x, y)
            np.multiply(-root, y[: self.owned], out=out)

        if not self.comm.allreduce(bool(root.any())):
            return math.inf
        return 2.0 / math.sqrt(largest_eigenvalue(self.comm, apply, root * self._rough_field()))

    def implicit_solver(
        self, factor: float, mass: str, massless: NDArray | None = None
    ) -> FactorisedSolver:
        """Factorised ``M + factor K``, held dofs eliminated. Collective.

        Args:
            factor: Of the stiffness [s2].
            mass: ``"consistent"`` or ``"lumped"``.
            massless: Owned dofs whose rows and columns of M count as zero; without stiffness the solution
                is zero there.
        """
        matrix = self._assemble_petsc(self._stiffness_form())
        matrix.scale(factor)
        none = np.zeros(0, dtype=np.intp)
        without = none if massless is None else massless
        matrix.axpy(1.0, self._mass_copy(mass, without), matrix.Structure.SAME_NONZERO_PATTERN)
        held = np.union1d(np.flatnonzero(self.held), without if factor == 0.0 else none).astype(np.intp)
        matrix.zeroRowsColumns(self._petsc_rows(matrix, held), diag=1.0)
        matrix.setOption(matrix.Option.SPD, True)
        return FactorisedSolver(matrix, held, prefix="impact_theta_")

    def _mass_copy(self, mass: str, massless: NDArray) -> Any:
        """The mass in the pattern of the stiffness, rows and columns of ``massless`` zero. Collective."""
        copy = self._consistent[0].copy()
        if _known_mass(mass) == "lumped":
            copy.zeroEntries()
            diagonal = copy.getDiagonal()
            diagonal.array[:] = self.mass
            copy.setDiagonal(diagonal)
        copy.zeroRowsColumns(self._petsc_rows(copy, massless), diag=0.0)
        return copy

    def _petsc_rows(self, matrix: Any, dofs: NDArray) -> NDArray:
        return self.global_dofs()[dofs].astype(matrix.getOwnershipRanges().dtype)

    def mass_product(self, v: NDArray, mass: str, out: NDArray) -> None:
        """Write ``M v`` into the owned entries of ``out``, shape (size,). Collective."""
        if mass == "lumped":
            np.multiply(self.mass, v[: self.owned], out=out[: self.owned])
            return
        matrix, x, y = self._consistent
        x.array[:] = v[: self.owned]
        matrix.mult(x, y)
        out[: self.owned] = y.array_r

    # -- PETSc objects for those who want them

    def mass_matrix(self, mass: str = "lumped") -> Any:
        """The mass as a PETSc matrix, ``"lumped"`` or ``"consistent"``. Collective."""
        if _known_mass(mass) == "consistent":
            return self._consistent[0]
        from petsc4py import PETSc

        # AIJ: PETSc's own diagonal type converts to other formats with garbage on several ranks.
        size = ((self.owned, None), (self.owned, None))
        first = self.space.dofmap.index_map.local_range[0] * self.space.dofmap.bs
        columns = np.arange(first, first + self.owned, dtype=PETSc.IntType)
        start = np.arange(self.owned + 1, dtype=PETSc.IntType)
        return PETSc.Mat().createAIJ(size, csr=(start, columns, self.mass), comm=self.comm)

    def stiffness_matrix(self) -> Any:
        """K as a PETSc matrix in its fastest format, held dofs not eliminated. Collective."""
        return self.stiffness.petsc()

    # -- where things are

    def nodes(self, name: str) -> NDArray[np.int32]:
        """Owned nodes on the facets named ``name``, empty on ranks without any. Collective."""
        return self._nodes_on(self.named.facets(name))

    def _nodes_on(self, facets: NDArray) -> NDArray[np.int32]:
        fdim = self.mesh.topology.dim - 1
        self.mesh.topology.create_connectivity(fdim, fdim + 1)
        found = fem.locate_dofs_topological(self.space, fdim, facets)
        return found[found < self.space.dofmap.index_map.size_local]

    def rows(self, nodes: NDArray | None = None) -> Rows:
        """Rows that pick the displacements of ``nodes`` (all owned ones by default)."""
        bs = self.mesh.geometry.dim
        picked = np.arange(self.owned // bs) if nodes is None else np.asarray(nodes)
        dofs = (picked[:, None] * bs + np.arange(bs)).reshape(-1, 1)
        order = np.column_stack([
            np.repeat(coordinate_order(self.x[picked], self.length), bs, axis=0),
            np.tile(np.arange(bs), picked.size),
        ])
        names = [f"u{'xyz'[i]}" for i in range(bs)] * picked.size
        return Rows(dofs, np.ones(dofs.shape), order, names)

    def global_dofs(self) -> NDArray:
        """Global number of each local dof, shape (size,)."""
        index_map, bs = self.space.dofmap.index_map, self.space.dofmap.bs
        nodes = index_map.local_to_global(np.arange(self.size // bs, dtype=np.int32))
        return (nodes[:, None] * bs + np.arange(bs)).ravel()

    # -- assembly

    def _extent(self) -> float:
        x = self.mesh.geometry.x
        top = np.array([parallel.largest(self.comm, x[:, i]) for i in range(3)])
        bottom = np.array([-parallel.largest(self.comm, -x[:, i]) for i in range(3)])
        return float(np.linalg.norm(top - bottom))

    def _hold(self, fixed: Sequence[str] | Mapping[str, Sequence[int]]) -> NDArray:
        gdim = self.mesh.geometry.dim
        if isinstance(fixed, str):
            fixed = (fixed,)
        every = range(gdim)
        held = np.zeros(self.owned, dtype=bool)
        for name in fixed:
            nodes = self._nodes_on(self.named.facets(name))
            for i in fixed[name] if isinstance(fixed, Mapping) else every:
                if i not in every:
                    raise ValueError(f"fixed[{name!r}]: directions are 0 to {gdim - 1}, not {i}")
                held[nodes * gdim + i] = True
        return held

    def _assemble_load(self, gravity: Any, body_force: Any) -> NDArray | None:
        gdim = self.mesh.geometry.dim
        per_volume = np.zeros(gdim)
        for name, value, factor in (("gravity", gravity, self.density), ("body_force", body_force, 1.0)):
            if value is None:
                continue
            if np.shape(value) != (gdim,) or not np.all(np.isfinite(value)):
                raise ValueError(f"{name} must be {gdim} numbers, one a direction, not {value}")
            per_volume += factor * np.asarray(value, dtype=np.float64)
        if not per_volume.any():
            return None
        test = ufl.TestFunction(self.space)
        load = fem.Constant(self.mesh, per_volume * self.section)
        vector = fem.assemble_vector(fem.form(ufl.inner(load, test) * ufl.dx))
        vector.scatter_reverse(la.InsertMode.add)
        vector.scatter_forward()
        vector.array[: self.owned][self.held] = 0.0
        return vector.array.copy()

    def _stiffness_form(self) -> Any:
        u = fem.Function(self.space)
        energy = self._section * self.law.energy_density(u) * ufl.dx
        return ufl.derivative(ufl.derivative(energy, u), u)

    def _assemble_petsc(self, form: Any) -> Any:
        from dolfinx.fem import petsc

        matrix = petsc.assemble_matrix(fem.form(form))
        matrix.assemble()
        return matrix

    @functools.cached_property
    def _consistent(self) -> tuple[Any, Any, Any]:
        u, w = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        matrix = self._assemble_petsc(self._rho * self._section * ufl.inner(u, w) * ufl.dx)
        return matrix, *matrix.createVecs()

    def _rough_field(self) -> NDArray:
        """A start vector that holds all modes and does not depend on the partition."""
        bs = self.mesh.geometry.dim
        x = self.x[: self.owned // bs] / self.length
        phase = x @ np.array([[1297.0, 911.0, 1103.0], [1471.0, 1031.0, 787.0], [853.0, 1289.0, 1187.0]])
        return np.ascontiguousarray(np.sin(1e3 * phase[:, :bs])).ravel()


def _known_mass(mass: str) -> str:
    if mass not in ("lumped", "consistent"):
        raise ValueError(f"mass must be 'lumped' or 'consistent', not {mass!r}")
    return mass
