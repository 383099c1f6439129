"""Parts of a system that no support holds: statics has no answer for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ... import parallel
from ..._types import BoolArray, FloatArray
from ...contact.base import Contact
from ...systems.system import System
from .rigid_motions import free_rigid_motion, is_rigid_in_pieces

#: A motion is free where its stiffness is below this part of the largest one, over the masses.
_FREE = 1e-12
_PRODUCTS = 12
#: Size from which on what is left of a vector of size 1 moves.
_MOVES = 1e-3
#: Vectors with ties, more than free motions of the parts; squares of the ties' strains that count as none.
_VECTORS, _TIED = 24, 1e-12


def refuse_free_parts(system: System, contact: Contact | None) -> None:
    """Raise a ValueError where a part can move at rest without a force. Collective.

    By products with ``(M + K/s)^-1 M``, s far below the stiffness of all elastic motions: what they leave of
    a vector is free to move, but for what ties hold. As soft are slender parts, so that of bodies on a mesh
    the rigid motions of their parts decide then.
    """
    tied = _tied(contact)
    motion, comm = _free_motion(system, tied), system.comm
    size = parallel.largest(comm, np.abs(motion))
    if size < _MOVES:
        return
    motion /= size
    if is_rigid_in_pieces(system) and _resisted(system, motion):
        motion = free_rigid_motion(system, tied)[: system.owned]  # or the part is slender alone
    size = parallel.largest(comm, np.abs(motion))
    if size == 0.0:
        return
    raise ValueError(
        f"{_name(system, np.abs(motion) > 0.1 * size)} is free to move: hold it, or take "
        "MoreauJean(theta=1, position=True), whose mass holds it"
    )


def _tied(contact: Contact | None) -> list[Contact]:
    """The contacts with ties. Collective."""
    members = () if contact is None else contact.members
    return [each for each in members if parallel.anywhere(each.comm, each.bilateral.any())]


def _resisted(system: Any, motion: FloatArray) -> bool:
    """Whether the motion changes a force on what it moves. Collective."""
    n = system.owned
    u, rest, still, moved = (np.zeros(system.size) for _ in range(4))
    system.force(0.0, u, rest, still)
    u[:n] = 1e-6 * system.length * motion
    system.force(0.0, u, rest, moved)
    return parallel.anywhere(system.comm, (still != moved)[:n][np.abs(motion) > 0.1].any())


def _free_motion(system: Any, tied: list[Contact]) -> FloatArray:
    """A motion of size 1 that nothing resists, shape (owned,); 0 where there is none. Collective."""
    critical = float(system.critical_time_step())
    if not np.isfinite(critical):
        return np.asarray(~system.constrained, dtype=np.float64)
    solver = system.implicit_solver(critical**2 / (4.0 * _FREE), "lumped")
    motions = [_remaining(system, solver, k) for k in range(_VECTORS if tied else 1)]
    if not tied:
        return motions[0]
    # Coefficients of motions that no tie resists; those of what does not move at all are left out.
    basis = np.array([np.append(each, np.zeros(system.size - system.owned)) for each in motions])
    gaps = np.array([np.concatenate([each.L(x)[each.bilateral] for each in tied]) for x in basis])
    comm = system.comm
    moves, strains = (comm.allreduce(each @ each.T) for each in (basis[:, : system.owned], gaps))
    values, vectors = np.linalg.eigh(moves)
    kept = vectors[:, values > _MOVES**2 * max(values[-1], 1.0)]
    if not kept.shape[1]:
        return np.zeros(system.owned)
    values, parts = linalg.eigh(kept.T @ strains @ kept, kept.T @ moves @ kept)
    if values[0] > _TIED:
        return np.zeros(system.owned)
    free = (kept @ parts[:, 0]) @ basis[:, : system.owned]
    return np.asarray(free / max(parallel.largest(comm, np.abs(free)), 1e-300))


def _remaining(system: Any, solver: Any, number: int) -> FloatArray:
    """What products leave of a vector of size 1, one for each number, shape (owned,)."""
    n, x, b = system.owned, np.zeros(system.size), np.zeros(system.size)
    x[:n] = np.cos(1.0 + number + (1.7 + 0.3 * number) * system.global_dofs()[:n])
    x[:n][system.constrained] = 0.0
    for _ in range(_PRODUCTS):
        b[:n] = system.mass * x[:n]
        solver.solve(b, x)
    found: FloatArray = x[:n].copy()
    found[system.constrained] = 0.0
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
