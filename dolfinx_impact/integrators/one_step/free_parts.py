"""Parts of a system that no support holds: statics has no answer for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import parallel
from ..._types import BoolArray, FloatArray
from ...systems.system import System

#: A motion is free where its stiffness is below this part of the largest one, over the masses.
_FREE = 1e-12
_PRODUCTS = 12


def refuse_free_parts(system: System) -> None:
    """Raise a ValueError where a part can move at rest without a force. Collective.

    By products with ``(M + K/s)^-1 M``, s far below the stiffness of all elastic motions: what they leave of
    a vector is free to move.
    """
    critical = float(system.critical_time_step())
    if np.isfinite(critical):
        solver = system.implicit_solver(critical**2 / (4.0 * _FREE), "lumped")
        motion = _remaining(system, solver)
    else:
        motion = np.ones(system.owned)
    motion[system.constrained] = 0.0
    size = parallel.largest(system.comm, np.abs(motion))
    if size < 1e-3:
        return
    raise ValueError(
        f"{_name(system, np.abs(motion) > 0.1 * size)} is free to move: hold it, or take "
        "MoreauJean(theta=1, position=True), whose mass holds it"
    )


def _remaining(system: Any, solver: Any) -> FloatArray:
    """What products leave of a vector of size 1, shape (owned,)."""
    n, x, b = system.owned, np.zeros(system.size), np.zeros(system.size)
    x[:n] = np.cos(1.0 + 1.7 * system.global_dofs()[:n])
    x[:n][system.constrained] = 0.0
    for _ in range(_PRODUCTS):
        b[:n] = system.mass * x[:n]
        solver.solve(b, x)
    found: FloatArray = x[:n].copy()
    return found


def _name(system: Any, moving: BoolArray) -> str:
    """The part that moves, by its cells or the place of a node, on all ranks. Collective."""
    named = getattr(system, "named", None)
    dofs = np.flatnonzero(moving)
    own = None
    if dofs.size and named is not None:
        node = int(dofs[0]) // system.block
        place = ", ".join(f"{value:.4g}" for value in system.x[node, : system.gdim])
        own = f"the part at ({place}) m"
        for name, (dim, _) in named.names.items():
            if dim == system.mesh.topology.dim and node in system.space.dofmap.list[named.cells(name)]:
                own = f"part {name!r}"
                break
    elif dofs.size:
        own = f"dof {int(dofs[0])} of the {type(system).__name__}"
    names: list[str | None] = system.comm.allgather(own)
    return next(each for each in names if each is not None)
