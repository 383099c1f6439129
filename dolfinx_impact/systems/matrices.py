"""PETSc matrices of a body and solvers with them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy import sparse

from .._types import BoolArray, FloatArray, Int32Array, Int64Array, IntArray
from ..algebra import kernels
from ..algebra.sparse_solver import SMALL, FactorisedSolver, SymmetricSolver
from ..mesh import NamedMesh
from . import mass_handover, mass_lumping
from .element_forms import is_matrix
from .stiffness import StoredStiffness
from .tangent import TangentSolver


class Assembled:
    """Mixin of :class:`.Body` for matrices and solvers; attributes declared here are those of the body."""

    comm: MPI.Comm
    mesh: dmesh.Mesh
    named: NamedMesh
    space: fem.FunctionSpace
    owned: int
    size: int
    block: int
    cells: IntArray | None
    dx: Any
    constrained: BoolArray
    #: Whether the pattern of M is that of K.
    one_pattern = True

    @property
    def mass(self) -> FloatArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg]. Collective."""
        raise NotImplementedError

    @property
    def stiffness(self) -> StoredStiffness:
        """The stored stiffness. Collective."""
        raise NotImplementedError

    def _stiffness_form(self) -> Any:
        """Bilinear form of the stiffness over the body's cells."""
        raise NotImplementedError

    def _mass_form(self) -> Any:
        """Bilinear form of the consistent mass over the body's cells."""
        raise NotImplementedError

    def global_dofs(self) -> Int64Array:
        """Global number of each local dof, shape (size,)."""
        raise NotImplementedError

    def implicit_solver(
        self,
        factor: float,
        mass: str,
        massless: IntArray | None = None,
        *,
        mass_factor: float = 1.0,
        prefix: str = "impact_theta_",
    ) -> FactorisedSolver:
        """Factorised ``mass_factor M + factor K`` with constrained dofs eliminated. Collective.

        Args:
            factor: Factor of the stiffness [s2].
            mass: ``"consistent"`` or ``"lumped"``.
            massless: Owned dofs whose rows and columns of M are set to zero; for ``factor = 0`` the solution
                is zero there.
            mass_factor: Factor of the mass.
            prefix: Prefix of the PETSc options.
        """
        matrix = self._assemble_petsc(self._square_form())
        matrix.scale(factor)
        none = np.zeros(0, dtype=np.intp)
        without = none if massless is None else massless
        copy = self._mass_copy(mass, without)
        kinds = matrix.Structure
        structure = kinds.SUBSET_NONZERO_PATTERN if self.one_pattern else kinds.DIFFERENT_NONZERO_PATTERN
        matrix.axpy(mass_factor, copy, structure)
        more = without if factor == 0.0 else none
        held = np.union1d(np.flatnonzero(self.constrained), more).astype(np.intp)
        matrix.zeroRowsColumns(self._petsc_rows(matrix, held), diag=1.0)
        matrix.setOption(matrix.Option.SPD, True)
        return FactorisedSolver(matrix, held, prefix=prefix)

    def loop_solver(
        self, factor: float, mass_factor: float, prefix: str, mass: str = "lumped"
    ) -> SymmetricSolver | None:
        """Factors of ``mass_factor M + factor K`` for compiled loops; None where PETSc solves.

        PETSc solves on several ranks, without numba, for many dofs, without symmetric factors, and where
        PETSc options with the prefix are set.

        Args:
            factor, mass_factor, prefix: See :meth:`implicit_solver`.
            mass: ``"consistent"`` or ``"lumped"``.
        """
        from petsc4py import PETSc

        free = np.flatnonzero(~self.constrained)
        asked = PETSc.Options(prefix).getAll()
        if self.comm.size > 1 or not kernels.load().COMPILED or free.size > SMALL or asked:
            return None
        M = sparse.diags(self.mass)
        if _known_mass(mass) == "consistent":
            start, columns, values = self._consistent[0].getValuesCSR()
            M = sparse.csr_matrix((values, columns, start), (self.owned, self.owned))
        matrix = mass_factor * M.tocsr()[free][:, free]
        if factor != 0.0:
            matrix = matrix + factor * self.stiffness.scipy()[free][:, free]
        return SymmetricSolver.where_it_exists(matrix, free, self.size)

    def linearised(self, mass: str) -> TangentSolver:
        """Solver of the linearised step of an implicit scheme. Collective.

        Args:
            mass: ``"consistent"`` or ``"lumped"``.
        """
        mass_copy = self._mass_copy(mass, np.zeros(0, dtype=np.intp))
        return TangentSolver(self, *self._tangent_forms(), mass_copy)

    def _tangent_forms(self) -> tuple[Any, Any]:
        """Form of K with all diagonal entries; that of damping beyond ``alpha M + beta K``, or None."""
        return self._square_form(), None

    def _mass_copy(self, mass: str, massless: IntArray) -> Any:
        """M in the sparsity pattern of K, with zero rows and columns at ``massless``. Collective."""
        if _known_mass(mass) == "lumped":
            copy = self._assemble_petsc(self._square_form())
            copy.zeroEntries()
            diagonal = copy.getDiagonal()
            diagonal.array[:] = self.mass
            copy.setDiagonal(diagonal)
        else:
            copy = self._consistent[0].copy()
        copy.zeroRowsColumns(self._petsc_rows(copy, massless), diag=0.0)
        return copy

    def _square_form(self) -> Any:
        """Stiffness form whose pattern has all diagonal entries, also of dofs without cells of the body."""
        return self._padded(self._stiffness_form())

    def _padded(self, form: Any) -> Any:
        if self.cells is None or is_matrix(form):
            return form
        u, w = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        everywhere = ufl.Measure("dx", domain=self.mesh, subdomain_data=self.named.cell_tags)
        return form + fem.Constant(self.mesh, 0.0) * ufl.inner(u, w) * everywhere

    def _petsc_rows(self, matrix: Any, dofs: IntArray) -> Int32Array:
        return self.global_dofs()[dofs].astype(matrix.getOwnershipRanges().dtype)

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """Write ``M v`` into the owned entries of ``out``, shape (size,). Collective."""
        if mass == "lumped":
            np.multiply(self.mass, v[: self.owned], out=out[: self.owned])
            return
        matrix, x, y = self._consistent
        x.array[:] = v[: self.owned]
        matrix.mult(x, y)
        out[: self.owned] = y.array_r

    def cell_masses(self) -> FloatArray:
        """Parts of the nodal masses in each owned cell, up to a factor, shape (cells, nodes). Collective.

        By volume, unless a class knows better.
        """
        return mass_lumping.cell_masses(self.space, 1.0, self.dx)

    def masses_without(self, dofs: IntArray) -> FloatArray:
        """Lumped masses, those of the nodes of ``dofs`` handed to neighbours, shape (owned,). Collective.

        Args:
            dofs: Owned dofs, on any rank none or more.

        Raises:
            ValueError: Nodes without a neighbour that keeps its mass.
        """
        return mass_handover.of_body(self, dofs)

    def mass_matrix(self, mass: str = "lumped") -> Any:
        """M as a PETSc matrix, ``"lumped"`` or ``"consistent"``. Collective."""
        if _known_mass(mass) == "consistent":
            return self._consistent[0]
        from petsc4py import PETSc

        # AIJ: PETSc's diagonal type converts to other formats incorrectly on several ranks.
        size = ((self.owned, None), (self.owned, None))
        first = self.space.dofmap.index_map.local_range[0] * self.block
        columns = np.arange(first, first + self.owned, dtype=PETSc.IntType)
        start = np.arange(self.owned + 1, dtype=PETSc.IntType)
        return PETSc.Mat().createAIJ(size, csr=(start, columns, self.mass), comm=self.comm)

    def stiffness_matrix(self) -> Any:
        """K as a PETSc matrix (BAIJ or AIJ), without elimination of constrained dofs. Collective."""
        return self.stiffness.petsc()

    def _assemble_petsc(self, form: Any) -> Any:
        """A form as a PETSc matrix; a copy of a matrix. Collective."""
        from dolfinx.fem import petsc

        if is_matrix(form):
            return form.copy()
        matrix = petsc.assemble_matrix(fem.form(form))
        matrix.assemble()
        return matrix

    @functools.cached_property
    def _consistent(self) -> tuple[Any, Any, Any]:
        matrix = self._assemble_petsc(self._mass_form())
        return matrix, *matrix.createVecs()


def _known_mass(mass: str) -> str:
    if mass not in ("lumped", "consistent"):
        raise ValueError(f"mass must be 'lumped' or 'consistent', not {mass!r}")
    return mass
