"""Interface between two subdomains on parts of one mesh, and its coupling operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from scipy import linalg, sparse

from ... import parallel
from ..._types import AnyArray, FloatArray
from ...algebra import kernels
from ...algebra.operators import sparse_rows
from ...contact.base import Contact
from ...systems.body import Body

_NEGLIGIBLE = 1e-15  # of the largest entry of H^-1
_BLOCK = 20_000_000  # numbers in the right sides of a block solve, 160 MB


class Interface:
    """Dofs on cells of both subdomains, with one copy in each: ``L_E v_E + L_I v_I = 0``.

    Fekak et al. (2017), doi:10.1007/s00466-017-1397-0, (59), with ``L_E = +1`` and ``L_I = -1`` on interface
    dofs. An interface dof has the same local number in both bodies and belongs to the rank that owns it.

    Args:
        fine: The explicit subdomain.
        coarse: The implicit subdomain.

    Attributes:
        dofs: Local numbers of the owned interface dofs, the same in both bodies, shape (q of this rank,).
        total: Number of interface dofs of all ranks, q.
        mine: Range of the dofs of this rank among those of all ranks.

    Raises:
        ValueError: Bodies that are not parts of one mesh, overlap, have no common free dofs, or constrain
            different ones. Collective.
    """

    def __init__(self, fine: Body, coarse: Body) -> None:
        for name, body in (("fine", fine), ("coarse", coarse)):
            if not isinstance(body, Body):
                raise ValueError(f"{name} must be a Solid or a Frame, not {body!r}")
        self.comm = fine.comm
        parallel.agree(self.comm, _mismatch(fine, coarse))
        common = fine.active & coarse.active
        different = common & (fine.constrained != coarse.constrained)
        error = None
        if different.any():
            error = ValueError(
                "dofs of the interface are constrained in one subdomain only: give fixed= and prescribed= to "
                "both alike"
            )
        parallel.agree(self.comm, error)
        self.dofs = np.flatnonzero(common & ~fine.constrained)
        counts = self.comm.allgather(self.dofs.size)
        self.total, before = sum(counts), sum(counts[: self.comm.rank])
        self.mine = slice(before, before + self.dofs.size)
        if self.total == 0:
            raise ValueError(
                "the explicit and the implicit subdomain are not connected: they share no dofs that are free"
            )

    def refuse_contact(self, contact: Contact) -> None:
        """Raise a ValueError if a contact point lies on the interface. Collective."""
        rows = contact.nodes.loaded
        # Rows that change act on all dofs of their points at one time or another.
        fixed = rows is contact.L and contact.constant
        shared = np.intersect1d(rows.dofs[rows.weights != 0.0] if fixed else rows.dofs, self.dofs)
        error = None
        if shared.size:
            error = ValueError(
                f"{shared.size} contact dofs lie on the interface between explicit and implicit subdomain: "
                "leave at least one layer of explicit cells between them, or name fewer facets"
            )
        parallel.agree(self.comm, error)

    def gather(self, x: FloatArray) -> FloatArray:
        """Values at the interface dofs of all ranks, shape (total,), replicated. Collective."""
        return parallel.gather_rows(self.comm, x)

    def compliance(self, solver: Any, size: int) -> tuple[FloatArray, FloatArray | None]:
        """``L_I A^-1 L_I^T``, shape (total, total), by block solves of some columns each. Collective.

        Returns:
            It, and all of ``A^-1 L_I^T``, shape (size, total), where one block has it; None else.
        """
        width, mine = (
            max(1, min(self.total, _BLOCK // max(size, 1))),
            np.arange(self.mine.start, self.mine.stop),
        )
        width, parts = self.comm.allreduce(width, op=MPI.MIN), []
        for first in range(0, self.total, width):
            columns = np.zeros((size, min(width, self.total - first)))
            here = (mine >= first) & (mine < first + columns.shape[1])
            columns[self.dofs[here], mine[here] - first] = 1.0
            solutions = solver.solve_block(columns)
            parts.append(solutions[self.dofs])
        operator = self.gather(np.hstack(parts))
        return (operator + operator.T) / 2, solutions if len(parts) == 1 else None


class Glue:
    """``H^-1`` with ``H = H_E + H_I``, Fekak et al. (71)-(73): multipliers from velocity jumps.

    Entries of the inverse below 1e-15 of the largest are dropped: the coupling of distant interface dofs of
    the implicit subdomain within a coarse step is negligible.

    Args:
        interface: The interface.
        H: Interface operator, shape (total, total), symmetric positive definite [m/s/N].

    Attributes:
        inverse: ``H^-1`` over the interface dofs of all ranks, sparse [N s/m].
        rows: Its rows at the interface dofs of this rank in CSR format (starts, columns, values).
    """

    def __init__(self, interface: Interface, H: FloatArray) -> None:
        self.interface = interface
        inverse = linalg.inv(H)
        inverse = (inverse + inverse.T) / 2
        inverse[np.abs(inverse) < _NEGLIGIBLE * np.abs(inverse).max()] = 0.0
        self.inverse = sparse.csr_matrix(inverse)
        self.rows = sparse_rows(self.inverse[interface.mine])
        self._loops, self._out = kernels.load(), np.zeros(interface.dofs.size)

    def compiled(self) -> tuple[AnyArray, ...]:
        """The ``rows``, for compiled loops."""
        return self.rows

    def multipliers(self, defects: FloatArray) -> FloatArray:
        """Multipliers ``Lambda = H^-1 defects`` of (71), shape (q of this rank,) [N]. Collective.

        Args:
            defects: Velocity jumps of the free problems, shape (q of this rank,) [m/s].
        """
        self._out[:] = 0.0
        self._loops.subtract_rows(*self.rows, -self.interface.gather(defects), self._out)
        return self._out


def _mismatch(fine: Body, coarse: Body) -> ValueError | None:
    same = fine.mesh is coarse.mesh and fine.space.ufl_element() == coarse.space.ufl_element()
    if not same or not np.array_equal(fine.global_dofs(), coarse.global_dofs()):
        return ValueError(
            "fine and coarse must be bodies on parts of one mesh with the same elements: "
            "make both from it with cells=..."
        )
    if fine.cells is None or coarse.cells is None:
        return ValueError("one of the subdomains has all cells of the mesh: give each its own with cells=...")
    if np.intersect1d(fine.cells, coarse.cells).size:
        return ValueError("the subdomains overlap: each cell belongs to one of them")
    return None
