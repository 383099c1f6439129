"""Static equilibrium: of a chain above a floor, and of a body with all contacts closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from .._types import BoolArray, FloatArray
from ..algebra.complementarity import NotConverged
from ..systems.body import Body
from ..systems.chain import Chain
from .base import Contact

_MAX_ITERATIONS = 300
#: Smaller pivots, relative to the largest one, are round-off: the body has a rigid-body mode.
_SINGULAR = 1e-12


@dataclass(frozen=True)
class Equilibrium:
    """A local minimum of the chain's energy above a floor.

    Attributes:
        positions: Positions of the nodes, shape (2 n,) [m].
        forces: Contact forces of the internal nodes 1, 2, ..., at least 0, shape (n - 2,) [N].
        active: Numbers of the nodes in contact with the floor.
        residual: Largest unbalanced force [N].
    """

    positions: FloatArray
    forces: FloatArray
    active: tuple[int, ...]
    residual: float


def static_equilibrium(
    chain: Chain, floor: ArrayLike, start: FloatArray, *, tolerance: float = 1e-12
) -> Equilibrium:
    """Minimise the chain's energy without load subject to ``y_i >= floor`` at the internal nodes.

    Projected Newton method with the tangent of the UFL form (Bertsekas, SIAM J. Control Optim. 20 (1982)):
    monotone descent from ``start`` to a local minimum; saddle points are left along directions of negative
    curvature.

    Args:
        chain: The chain.
        floor: Lower bound of the heights, one number or one per node, shape (bars - 1,) [m].
        start: Initial positions, shape (size,) [m].
        tolerance: Accepted unbalanced force relative to k times the length of a bar.

    Raises:
        ValueError: A floor or start of another shape or with values that are not finite.
        NotConverged: No minimum was found.
    """
    lower = np.full(chain.size, -np.inf)
    lower[chain.heights] = _finite("floor", floor, chain.heights.size)
    x = np.maximum(_finite("start", start, chain.size), lower)
    x[chain.constrained] = chain.rest[chain.constrained]
    length = float(np.hypot(*(chain.rest[2:4] - chain.rest[:2])))
    accepted, last = tolerance * chain.k * length, np.inf
    for _ in range(_MAX_ITERATIONS):
        force = chain.internal_force(x)
        free, worst = _unbalanced(chain, x, force, lower)
        step, minimum = _descent(chain.forms.tangent(x)[np.ix_(free, free)], force[free], worst <= accepted)
        if minimum and worst <= accepted and worst > last / 2:
            pressing = ~free & ~chain.constrained
            forces = np.where(pressing, force, 0.0)[chain.heights]
            return Equilibrium(x, forces, tuple(int(i) + 1 for i in np.flatnonzero(forces)), worst)
        full = np.zeros(chain.size)
        full[free] = step * min(1.0, length / 2 / max(np.max(np.abs(step), initial=0.0), 1e-300))
        x, last = _line_search(chain, x, full, lower, worst, length), worst
    raise NotConverged(
        f"no static equilibrium in {_MAX_ITERATIONS} steps: a force of {worst:.3g} N is unbalanced"
    )


def _finite(name: str, values: ArrayLike, size: int) -> FloatArray:
    given = np.asarray(values, dtype=np.float64)
    if given.shape not in ((), (size,)) or not np.all(np.isfinite(given)):
        raise ValueError(f"{name} must be finite, one number or shape ({size},), but is {values!r}")
    return np.broadcast_to(given, (size,))


def _unbalanced(chain: Chain, x: FloatArray, force: FloatArray, lower: FloatArray) -> tuple[BoolArray, float]:
    """Mask of the inactive dofs, shape (size,), and the largest unbalanced force on them [N]."""
    free = ~chain.constrained & ~((x <= lower) & (force > 0))
    return free, float(np.max(np.abs(force[free]), initial=0.0))


def _descent(tangent: FloatArray, force: FloatArray, balanced: bool) -> tuple[FloatArray, bool]:
    """Newton step with the moduli of the curvatures, and whether all of these are positive.

    At a balanced state with a negative curvature (a saddle point) the step is that eigenvector.
    """
    curvature, modes = np.linalg.eigh(tangent)
    rounding = 1e-12 * curvature[-1]
    minimum = bool(curvature[0] > -rounding)
    if balanced and not minimum:
        return modes[:, 0], False
    return -modes @ ((modes.T @ force) / np.maximum(np.abs(curvature), rounding)), minimum


def _line_search(
    chain: Chain, x: FloatArray, step: FloatArray, lower: FloatArray, worst: float, length: float
) -> FloatArray:
    """Backtracking on the step projected to the floor until energy or unbalanced force decrease."""
    energy, force = chain.energy(x), chain.internal_force(x)
    rounding = 1e-14 * chain.k * length**2
    for halvings in range(40):
        trial = np.maximum(x + 0.5**halvings * step, lower)
        change = chain.energy(trial) - energy
        if change < min(0.0, 1e-4 * float(force @ (trial - x))) - rounding:
            return trial
        if change <= rounding:
            if _unbalanced(chain, trial, chain.internal_force(trial), lower)[1] < worst / 2:
                return trial
    return x


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
    u, rows, p = np.zeros(body.size), contact.L, contact.count
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
