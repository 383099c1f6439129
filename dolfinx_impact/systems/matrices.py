"""PETSc matrices of a body and solvers with them."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from scipy import sparse

from .._types import FloatArray, Int32Array, IntArray
from ..algebra import kernels
from ..algebra.sparse_solver import SMALL, FactorisedSolver, SymmetricSolver
from .forces.element_forms import is_matrix


class Matrices:
    """PETSc matrices of a body and solvers with them, assembled when they are asked for.

    Args:
        body: The :class:`.Body`, whose forms they are.
    """

    def __init__(self, body: Any) -> None:
        self._body = weakref.proxy(body)  # a body that nobody uses is freed at once, with its arrays

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
        matrix = self.assemble(self.square_form())
        matrix.scale(factor)
        none = np.zeros(0, dtype=np.intp)
        without = none if massless is None else massless
        copy = self.mass_copy(mass, without)
        one, kinds = self._body.one_pattern, matrix.Structure
        pattern = kinds.SUBSET_NONZERO_PATTERN if one else kinds.DIFFERENT_NONZERO_PATTERN
        matrix.axpy(mass_factor, copy, pattern)
        more = without if factor == 0.0 else none
        held = np.union1d(np.flatnonzero(self._body.constrained), more).astype(np.intp)
        matrix.zeroRowsColumns(self.rows(matrix, held), diag=1.0)
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

        free = np.flatnonzero(~self._body.constrained)
        asked = PETSc.Options(prefix).getAll()
        if self._body.comm.size > 1 or not kernels.load().COMPILED or free.size > SMALL or asked:
            return None
        M = sparse.diags(self._body.mass)
        if _known_mass(mass) == "consistent":
            start, columns, values = self._consistent[0].getValuesCSR()
            M = sparse.csr_matrix((values, columns, start), (self._body.owned, self._body.owned))
        matrix = mass_factor * M.tocsr()[free][:, free]
        if factor != 0.0:
            matrix = matrix + factor * self._body.stiffness.scipy()[free][:, free]
        return SymmetricSolver.where_it_exists(matrix, free, self._body.size)

    def mass_copy(self, mass: str, massless: IntArray) -> Any:
        """M in a pattern that contains that of K, with zero rows and columns at ``massless``. Collective."""
        if not self._body.one_pattern:
            copy = self._union_with_mass(mass)
        elif _known_mass(mass) == "lumped":
            copy = self.assemble(self.square_form())
            copy.zeroEntries()
            diagonal = copy.getDiagonal()
            diagonal.array[:] = self._body.mass
            copy.setDiagonal(diagonal)
        else:
            copy = self._consistent[0].copy()
        copy.zeroRowsColumns(self.rows(copy, massless), diag=0.0)
        return copy

    def _union_with_mass(self, mass: str) -> Any:
        """M in a pattern that contains those of K and of the damping. Collective."""
        whole = self.assemble(self.square_form())
        different = whole.Structure.DIFFERENT_NONZERO_PATTERN
        whole.zeroEntries()
        damping = self._body.tangent_forms()[1]
        if damping is not None:
            pattern = self.assemble(damping)
            pattern.zeroEntries()
            whole.axpy(1.0, pattern, different)
        whole.axpy(1.0, self.mass(mass), different)
        return whole

    def square_form(self) -> Any:
        """Stiffness form whose pattern has all diagonal entries, also of dofs without cells of the body."""
        return self.padded(self._body._stiffness_form())

    def padded(self, form: Any) -> Any:
        """A form with entries on all diagonals, zero where the body has no cells; a matrix as it is."""
        if self._body.cells is None or is_matrix(form):
            return form
        u, w = ufl.TrialFunction(self._body.space), ufl.TestFunction(self._body.space)
        data = form.integrals()[0].subdomain_data()  # DOLFINx allows for one in a form
        everywhere = ufl.Measure("dx", domain=self._body.mesh, subdomain_data=data)
        return form + fem.Constant(self._body.mesh, 0.0) * ufl.inner(u, w) * everywhere

    def rows(self, matrix: Any, dofs: IntArray) -> Int32Array:
        """Global rows of owned dofs, in the integer type of a PETSc matrix."""
        dofs = self._body.global_dofs()[dofs]
        return dofs.astype(matrix.getOwnershipRanges().dtype)

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """Write ``M v`` into the owned entries of ``out``, shape (size,). Collective."""
        if mass == "lumped":
            np.multiply(self._body.mass, v[: self._body.owned], out=out[: self._body.owned])
            return
        matrix, x, y = self._consistent
        x.array[:] = v[: self._body.owned]
        matrix.mult(x, y)
        out[: self._body.owned] = y.array_r

    def mass(self, mass: str = "lumped") -> Any:
        """M as a PETSc matrix, ``"lumped"`` or ``"consistent"``. Collective."""
        if _known_mass(mass) == "consistent":
            return self._consistent[0]
        from petsc4py import PETSc

        # AIJ: PETSc's diagonal type converts to other formats incorrectly on several ranks.
        size = ((self._body.owned, None), (self._body.owned, None))
        first = self._body.space.dofmap.index_map.local_range[0] * self._body.block
        columns = np.arange(first, first + self._body.owned, dtype=PETSc.IntType)
        start = np.arange(self._body.owned + 1, dtype=PETSc.IntType)
        return PETSc.Mat().createAIJ(size, csr=(start, columns, self._body.mass), comm=self._body.comm)

    def stiffness(self) -> Any:
        """K as a PETSc matrix (BAIJ or AIJ), without elimination of constrained dofs. Collective."""
        return self._body.stiffness.petsc()

    def assemble(self, form: Any) -> Any:
        """A form as a PETSc matrix, with the coefficients that are stored; a copy of a matrix. Collective."""
        from dolfinx.fem import petsc

        if is_matrix(form):
            return form.copy()
        with self._body._stored():
            matrix = petsc.assemble_matrix(fem.form(form))
        matrix.assemble()
        return matrix

    @functools.cached_property
    def _consistent(self) -> tuple[Any, Any, Any]:
        matrix = self._body.consistent_mass()
        return matrix, *matrix.createVecs()


def _known_mass(mass: str) -> str:
    if mass not in ("lumped", "consistent"):
        raise ValueError(f"mass must be 'lumped' or 'consistent', not {mass!r}")
    return mass
