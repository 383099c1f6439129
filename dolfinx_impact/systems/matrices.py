"""The matrices of a body, assembled by PETSc, and the solvers made of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray
from scipy import sparse

from ..algebra import kernels
from ..algebra.sparse_solver import SMALL, FactorisedSolver, SymmetricSolver
from ..mesh import NamedMesh
from .stiffness import StoredStiffness
from .tangent import TangentSolver


class Assembled:
    """What implicit schemes and users ask of a body: matrices and solvers, each made once.

    A body has what is declared here; see :class:`.Body`.
    """

    comm: MPI.Comm
    mesh: dmesh.Mesh
    named: NamedMesh
    space: fem.FunctionSpace
    owned: int
    size: int
    block: int
    cells: NDArray | None
    held: NDArray

    @property
    def mass(self) -> NDArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg]. Collective."""
        raise NotImplementedError

    @property
    def stiffness(self) -> StoredStiffness:
        """The stored stiffness. Collective."""
        raise NotImplementedError

    def _stiffness_form(self) -> Any:
        """The stiffness as a bilinear form over the body's cells."""
        raise NotImplementedError

    def _mass_form(self) -> Any:
        """The consistent mass as a bilinear form over the body's cells."""
        raise NotImplementedError

    def global_dofs(self) -> NDArray:
        """Global number of each local dof, shape (size,)."""
        raise NotImplementedError

    def implicit_solver(
        self, factor: float, mass: str, massless: NDArray | None = None, *, mass_factor: float = 1.0,
        prefix: str = "impact_theta_",
    ) -> FactorisedSolver:  # fmt: skip
        """Factorised ``mass_factor M + factor K``, held dofs eliminated. Collective.

        Args:
            factor: Of the stiffness [s2].
            mass: ``"consistent"`` or ``"lumped"``.
            massless: Owned dofs whose rows and columns of M count as zero; without stiffness the solution
                is zero there.
            mass_factor: Of the mass.
            prefix: Of its PETSc options.
        """
        matrix = self._assemble_petsc(self._square_form())
        matrix.scale(factor)
        none = np.zeros(0, dtype=np.intp)
        without = none if massless is None else massless
        copy = self._mass_copy(mass, without)
        matrix.axpy(mass_factor, copy, matrix.Structure.SUBSET_NONZERO_PATTERN)
        held = np.union1d(np.flatnonzero(self.held), without if factor == 0.0 else none).astype(np.intp)
        matrix.zeroRowsColumns(self._petsc_rows(matrix, held), diag=1.0)
        matrix.setOption(matrix.Option.SPD, True)
        return FactorisedSolver(matrix, held, prefix=prefix)

    def loop_solver(self, factor: float, mass_factor: float, prefix: str) -> SymmetricSolver | None:
        """Factors of ``mass_factor M + factor K``, lumped M, for compiled loops; None where PETSc solves.

        It does on several ranks, without numba, where there are many dofs or no symmetric factors, and where
        options with the prefix ask for a solver.
        """
        from petsc4py import PETSc

        free = np.flatnonzero(~self.held)
        asked = PETSc.Options(prefix).getAll()
        if self.comm.size > 1 or not kernels.load().COMPILED or free.size > SMALL or asked:
            return None
        K = self.stiffness.scipy()[free][:, free]
        try:
            return SymmetricSolver(sparse.diags(mass_factor * self.mass[free]) + factor * K, free, self.size)
        except ArithmeticError:
            return None

    def linearised(self, mass: str) -> TangentSolver:
        """Solver of the linearised step of an implicit scheme. Collective.

        Args:
            mass: ``"consistent"`` or ``"lumped"``.
        """
        mass_copy = self._mass_copy(mass, np.zeros(0, dtype=np.intp))
        return TangentSolver(self, *self._tangent_forms(), mass_copy)

    def _tangent_forms(self) -> tuple[Any, Any]:
        """K with a place on every diagonal, and what damping forces add to ``alpha M + beta K``, or None."""
        return self._square_form(), None

    def _mass_copy(self, mass: str, massless: NDArray) -> Any:
        """The mass in the pattern of the stiffness, rows and columns of ``massless`` zero. Collective."""
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
        """The stiffness with a place on every diagonal, also of dofs that are not inside."""
        return self._padded(self._stiffness_form())

    def _padded(self, form: Any) -> Any:
        if self.cells is None:
            return form
        u, w = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        everywhere = ufl.Measure("dx", domain=self.mesh, subdomain_data=self.named.cell_tags)
        return form + fem.Constant(self.mesh, 0.0) * ufl.inner(u, w) * everywhere

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

    def mass_matrix(self, mass: str = "lumped") -> Any:
        """The mass as a PETSc matrix, ``"lumped"`` or ``"consistent"``. Collective."""
        if _known_mass(mass) == "consistent":
            return self._consistent[0]
        from petsc4py import PETSc

        # AIJ: PETSc's own diagonal type converts to other formats with garbage on several ranks.
        size = ((self.owned, None), (self.owned, None))
        first = self.space.dofmap.index_map.local_range[0] * self.block
        columns = np.arange(first, first + self.owned, dtype=PETSc.IntType)
        start = np.arange(self.owned + 1, dtype=PETSc.IntType)
        return PETSc.Mat().createAIJ(size, csr=(start, columns, self.mass), comm=self.comm)

    def stiffness_matrix(self) -> Any:
        """K as a PETSc matrix in its fastest format, held dofs not eliminated. Collective."""
        return self.stiffness.petsc()

    def _assemble_petsc(self, form: Any) -> Any:
        from dolfinx.fem import petsc

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
