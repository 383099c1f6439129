"""Static equilibrium of a body with all contacts closed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .._types import FloatArray
from ..algebra.operators import of_points
from ..systems.body import Body
from .base import Contact

#: Smaller pivots, relative to the largest one, are round-off: the body has a rigid-body mode.
_SINGULAR = 1e-12


def tied_equilibrium(
    body: Body, contact: Contact, *, hold: Sequence[int] = ()
) -> tuple[FloatArray, FloatArray]:
    """Static equilibrium under constant loads with all contacts closed: ``K u = f + L^T r, g(u) = 0``.

    Args:
        body: The body, on one rank.
        contact: Its contact, flat.
        hold: Further dofs to constrain, against rigid-body modes.

    Returns:
        Displacements, shape (size,) [m], and contact forces, shape (p,) [N].

    Raises:
        ValueError: A body on several ranks, a curved obstacle, dofs that do not exist, a body with
            rigid-body modes, contact forces that would be tensile.
    """
    if body.comm.size > 1 or not contact.constant:
        raise ValueError("the tied equilibrium is that of a body whole on one rank, with flat obstacles")
    free = ~body.constrained
    if any(dof not in range(body.owned) for dof in hold):
        raise ValueError(f"hold takes dofs 0 to {body.owned - 1}, not {list(hold)}")
    free[list(hold)] = False
    u, rows, p = np.zeros(body.size), of_points(contact.L), contact.count
    entries = rows.weights.ravel(), (np.repeat(np.arange(p), rows.dofs.shape[1]), rows.dofs.ravel())
    L = sparse.csr_matrix(entries, shape=(p, body.size))[:, free]
    K = body.stiffness.scipy()[free][:, free]
    forces = body.loads.constant.copy()
    body.subtract_internal(u, forces)
    x = _tied(K, L, forces[free], -contact.gap(u))
    u[free], r = x[: x.size - p], x[x.size - p :]
    if np.any(r < 0):
        raise ValueError(f"contacts would have to pull to stay closed: their forces are {r} N")
    return u, r


def _tied(K: sparse.spmatrix, L: sparse.spmatrix, force: FloatArray, offset: FloatArray) -> FloatArray:
    """Solve ``[K, -L^T; L, 0] [u; r] = [force; offset]``, scaled so that small pivots reveal rigid modes."""
    sizes = np.concatenate([np.sqrt(K.diagonal()), np.zeros(L.shape[0])])
    scaled = L @ sparse.diags(1 / sizes[: K.shape[0]])
    sizes[K.shape[0] :] = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    scale = sparse.diags(1 / sizes)
    matrix = (scale @ sparse.bmat([[K, -L.T], [L, None]]) @ scale).tocsc()
    try:
        factors = splu(matrix)
    except RuntimeError:
        pivots = np.zeros(1)
    else:
        pivots = np.abs(factors.U.diagonal())
    if not pivots.min() > _SINGULAR * pivots.max():
        raise ValueError("the body can move freely: hold dofs until nothing but its contacts carries it")
    right = np.concatenate([force, offset]) / sizes
    x = factors.solve(right)
    for _ in range(2):
        x += factors.solve(right - matrix @ x)
    return np.asarray(x / sizes)
