"""Find r with ``0 <= r  _|_  H r + b >= 0``; the residual of every answer is checked.

H is the Delassus operator (symmetric, positive semi-definite). The solution is the
minimiser of ``r.H r/2 + b.r`` over ``r >= 0``, so ``max(0, -H^-1 b)`` is one only
where H is diagonal.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

TOLERANCE = 1e-10
_ACTIVE_SET_STEPS = 30
_SWEEPS = 20_000
#: Up to so many points, those of a corner, every choice of who pushes is tried.
_FEW = 3


class NotConverged(RuntimeError):
    """A solver ended above its tolerance; nothing of its result was used."""


def residual(H: NDArray, b: NDArray, r: NDArray) -> float:
    """``||min(r, H r + b)||_inf`` with every row scaled to unit diagonal, over ``||b||_inf``.

    Args:
        H: Delassus operator, shape (p, p) or its diagonal (p,) [1/kg].
        b: Free velocities, shape (p,) [m/s].
        r: Impulses, shape (p,) [N s].
    """
    diagonal = H if H.ndim == 1 else np.diag(H)
    scale = np.sqrt(diagonal)
    w = H * r + b if H.ndim == 1 else H @ r + b
    worst = np.max(np.abs(np.minimum(r * scale, w / scale)), initial=0.0)
    largest = np.max(np.abs(b / scale), initial=0.0)
    return float(worst / largest) if largest > 0 else float(worst)


def solve(H: NDArray, b: NDArray, *, tolerance: float = TOLERANCE) -> NDArray:
    """Solve the complementarity problem.

    Args:
        H: Delassus operator, shape (p, p), symmetric with a positive diagonal; or its
            diagonal alone, shape (p,), which has a closed form [1/kg]. Not symmetric it may be
            where all its principal minors are positive.
        b: Free velocities, shape (p,) [m/s].
        tolerance: Largest accepted :func:`residual`.

    Returns:
        The impulses r, shape (p,) [N s].

    Raises:
        NotConverged: When no method reaches the tolerance.
    """
    b = np.asarray(b, dtype=np.float64)
    if b.size == 0:
        return np.zeros(0)
    if not (np.all(np.isfinite(b)) and np.all(np.isfinite(H))):
        raise NotConverged("the contact problem has values that are not finite: did the run explode?")
    if H.ndim == 1:
        return np.maximum(0.0, -b / H)
    refuse_negative(np.diag(H))
    scale = 1.0 / np.sqrt(np.diag(H))
    S, c = H * np.outer(scale, scale), b * scale
    reached = []
    methods = (_active_set, _least_squares, _gauss_seidel)
    for method in methods if b.size > _FEW else (_enumeration, *methods):
        x = method(S, c)
        if x is None:
            continue
        r = scale * x
        reached.append(residual(H, b, r))
        if reached[-1] <= tolerance:
            return r
    raise NotConverged(
        f"the contact problem of {b.size} points was not solved: residuals {reached} are above "
        f"{tolerance:g}. Is H symmetric positive semi-definite, and does the problem have a solution?"
    )


def refuse_negative(diagonal: NDArray) -> None:
    """Raise NotConverged where an impulse would pull its own point."""
    if not np.all(diagonal > 0):
        raise NotConverged(
            f"the contact operator has the diagonal entry {diagonal.min():.3g} 1/kg: is the body unstable at "
            "this deformation, or is a point held?"
        )


def _enumeration(S: NDArray, c: NDArray) -> NDArray:
    """The best of all choices of who pushes: exact, also where some of them cannot all push at once."""
    found: list[NDArray] = []
    for choice in itertools.product((False, True), repeat=c.size):
        x = _on_active(S, c, np.array(choice))
        if x is not None:
            found.append(x)
    return min(found, key=lambda x: float(np.max(np.abs(np.minimum(x, S @ x + c)))))


def _active_set(S: NDArray, c: NDArray) -> NDArray | None:
    """Primal-dual active set: a guess of who pushes, corrected until it fits. Exact."""
    active = c < 0.0
    for _ in range(_ACTIVE_SET_STEPS):
        x = _on_active(S, c, active)
        if x is None:
            return None
        now = np.where(active, x > 0.0, S @ x + c < 0.0)
        if np.array_equal(now, active):
            return x
        active = now
    return None


def _least_squares(S: NDArray, c: NDArray) -> NDArray | None:
    """Non-negative least squares on the Cholesky factor; finite for positive definite S."""
    try:
        factor = linalg.cholesky(S)
        x, _ = optimize.nnls(factor, -linalg.solve_triangular(factor, c, trans="T"))
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    exact = _on_active(S, c, x > 0.0)
    return x if exact is None or np.any(exact < 0.0) else exact


def _on_active(S: NDArray, c: NDArray, active: NDArray) -> NDArray | None:
    x = np.zeros_like(c)
    if active.any():
        block = S[np.ix_(active, active)]
        try:
            if np.array_equal(block, block.T):
                x[active] = linalg.cho_solve(linalg.cho_factor(block), -c[active])
            else:
                x[active] = np.linalg.solve(block, -c[active])
        except np.linalg.LinAlgError:
            return None
    return x


def _gauss_seidel(S: NDArray, c: NDArray) -> NDArray:
    """Projected Gauss-Seidel: also for singular S (more contacts than the body can feel)."""
    x = np.zeros_like(c)
    bound = 0.01 * TOLERANCE * np.max(np.abs(c))
    for _ in range(_SWEEPS):
        largest = 0.0
        for i in range(c.size):
            new = max(0.0, x[i] - (S[i] @ x + c[i]))
            largest = max(largest, abs(new - x[i]))
            x[i] = new
        if largest <= bound:
            break
    return x
