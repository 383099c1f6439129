"""Displacements that ``dirichletbc`` objects prescribe, as a motion in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from dolfinx import fem
from mpi4py import MPI

from .. import arguments, parallel
from .._types import FloatArray, IntArray
from .loads import Motion


class BoundaryValues(Motion):
    """Prescribed displacements of the dofs of Dirichlet conditions, whose values are read at every call.

    Args:
        bcs: The conditions, of ``dolfinx.fem.dirichletbc``.
        space: The function space of the system.
        at_time: Context in which Functions and Constants are those of a time [s].
    """

    def __init__(
        self,
        bcs: Sequence[Any],
        space: fem.FunctionSpace,
        at_time: Callable[[float], AbstractContextManager[None]],
    ) -> None:
        super().__init__(space.mesh.comm)
        self._bcs, self._at_time = tuple(bcs), at_time
        index_map, bs = space.dofmap.index_map, space.dofmap.bs
        self._values = np.zeros((index_map.size_local + index_map.num_ghosts) * bs)
        self.dofs = held_dofs(self._bcs, index_map.size_local * bs)
        # A rank may have no condition.
        self.any = bool(self._comm.allreduce(bool(self._bcs), op=MPI.LOR))

    def __call__(self, t: float) -> FloatArray:
        """Prescribed displacements at ``t``, shape (k,) [m]. Collective."""
        with self._at_time(t):
            at = self._set()
        error = None if np.all(np.isfinite(at)) else ValueError(f"a dirichletbc is not finite at t = {t:g} s")
        self._agree(error)
        return at

    def are_zero(self) -> bool:
        """Whether all values are zero now, on all ranks. Collective."""
        found: bool = self._comm.allreduce(not self._set().any(), op=MPI.LAND)
        return found

    def refuse_motion(self) -> None:
        """Raise a ValueError on all ranks if a value is not zero now. Collective."""
        error = None
        if self._set().any():
            error = ValueError(
                "a dirichletbc that was zero when the system was made has another value: give update=, or "
                "make the system with the value that it starts from"
            )
        self._agree(error)

    def _set(self) -> FloatArray:
        for bc in self._bcs:
            bc.set(self._values)
        at: FloatArray = self._values[self.dofs]
        return at

    def _agree(self, error: ValueError | None) -> None:
        if self._comm.size > 1:
            parallel.agree(self._comm, error)
        elif error is not None:
            raise error


def held_dofs(bcs: Sequence[Any], owned: int) -> IntArray:
    """Owned dofs of Dirichlet conditions, ascending."""
    every = [np.asarray(bc.dof_indices()[0]) for bc in bcs]
    dofs = np.unique(np.concatenate([np.zeros(0, dtype=np.int32), *every])).astype(np.intp)
    held: IntArray = dofs[dofs < owned]
    return held


def checked_conditions(bcs: Any, space: fem.FunctionSpace) -> tuple[Any, ...]:
    """The conditions as a tuple.

    Raises:
        ValueError: Something else than Dirichlet conditions of this space.
    """
    given = arguments.sequence("bcs", bcs, "bcs=[fem.dirichletbc(...)]")
    for bc in given:
        if not hasattr(bc, "dof_indices"):
            raise ValueError(f"bcs are of dolfinx.fem.dirichletbc, but one is {arguments.shown(bc)}")
        if not space._cpp_object.contains(bc.function_space):
            raise ValueError("a dirichletbc is of another function space: make it with dofs of V or V.sub(i)")
    return tuple(given)
