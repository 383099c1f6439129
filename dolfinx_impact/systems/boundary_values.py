"""Displacements that ``dirichletbc`` objects prescribe, as a motion in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        update: Sets Functions and Constants for a time [s].
    """

    def __init__(self, bcs: Sequence[Any], space: fem.FunctionSpace, update: Callable[[float], None]) -> None:
        super().__init__(space.mesh.comm)
        self._bcs, self._update = tuple(bcs), update
        index_map, bs = space.dofmap.index_map, space.dofmap.bs
        self._values = np.zeros((index_map.size_local + index_map.num_ghosts) * bs)
        self.dofs = held_dofs(self._bcs, index_map.size_local * bs)
        self.any = bool(self._bcs)

    def __call__(self, t: float) -> FloatArray:
        """Prescribed displacements at ``t``, shape (k,) [m]. Collective."""
        self._update(t)
        for bc in self._bcs:
            bc.set(self._values)
        at: FloatArray = self._values[self.dofs]
        error = None if np.all(np.isfinite(at)) else ValueError(f"a dirichletbc is not finite at t = {t:g} s")
        if self._comm.size > 1:
            parallel.agree(self._comm, error)
        elif error is not None:
            raise error
        return at


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


def all_zero(bcs: Sequence[Any], space: fem.FunctionSpace) -> bool:
    """Whether all conditions prescribe zero now, on all ranks. Collective."""
    index_map, bs = space.dofmap.index_map, space.dofmap.bs
    values = np.zeros((index_map.size_local + index_map.num_ghosts) * bs)
    for bc in bcs:
        bc.set(values)
    found: bool = space.mesh.comm.allreduce(not values.any(), op=MPI.LAND)
    return found
