"""Find r with ``0 <= r  _|_  H r + b >= 0``; the residual of every answer is checked.

H is the Delassus operator (symmetric, positive semi-definite). The solution is the
minimiser of ``r.H r/2 + b.r`` over ``r >= 0``, so ``max(0, -H^-1 b)`` is one only
where H is diagonal.
"""

from __future__ import annotations

from typing import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

TOLERANCE = 1e-10
#: Up to so many points an answer is looked for that is exact to round-off.
_FEW, _EXACT = 8, 1e-12
_ACTIVE_SET_STEPS = 30
#: Eigenvalues and pivots below that part of the largest are rounding.
_RANK, _PIVOT = 1e-15, 1e-12
#: Lengths of b in the problem of least distance: ``1 / (1 + (length |y| / |b|)^2)``, which is 0 where there
#: is no y, is to be near to 1.
_LENGTHS, _FEASIBLE = (1.0, 1e-2, 1e-4, 1e-6), 1e-3
#: Whatever the rounding is, no larger residual is accepted.
_ROUNDED = 1e-6


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
        tolerance: Largest accepted :func:`residual`. Where masses differ so much that the rounding of
            ``H r`` is above it, so is the residual, up to 1e-6.

    Returns:
        The impulses r, shape (p,) [N s]. With a singular H they need not be unique; ``H r + b`` is.

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
    enough = min(tolerance, _EXACT) if b.size <= _FEW else tolerance
    best, least, reached = None, np.inf, residual(S, c, np.zeros(c.size))
    for x, accepted in _candidates(S, c, tolerance):
        found = residual(S, c, x)
        reached = min(reached, found)
        if found < least and found <= accepted:
            best, least = scale * x, found
        if found <= enough:
            break
    if best is None:
        raise NotConverged(
            f"the contact problem of {b.size} points was not solved: residual {reached:.3g} is above "
            f"{tolerance:g}. Is H symmetric positive semi-definite, and does the problem have a solution?"
        )
    return best


def refuse_negative(diagonal: NDArray) -> None:
    """Raise NotConverged where an impulse would pull its own point."""
    if not np.all(diagonal > 0):
        raise NotConverged(
            f"the contact operator has the diagonal entry {diagonal.min():.3g} 1/kg: is the body unstable at "
            "this deformation, or is a point held?"
        )


def _candidates(S: NDArray, c: NDArray, tolerance: float) -> Iterator[tuple[NDArray, float]]:
    """Answers of one method after the other, with the largest residual at which each is accepted.

    Where masses differ so much that the rounding of ``S x`` is above the tolerance, to be as good as that is
    accepted of the shortest y: it is never large without need.
    """
    for x in _active_set(S, c):
        yield x, tolerance
    rounding = 4 * c.size * np.finfo(np.float64).eps / np.max(np.abs(c))
    for found in _least_distance(S, c):
        for x in (found, *_refined(S, c, found)):
            yield x, max(tolerance, min(_ROUNDED, rounding * float(np.max(np.abs(S) @ x))))
    for found in lemke(S, c):
        for x in (found, *_refined(S, c, found)):
            yield x, tolerance


def _active_set(S: NDArray, c: NDArray) -> Iterator[NDArray]:
    """Primal-dual active set: a guess of who pushes, corrected until it fits. Exact, for regular S."""
    active = c < 0.0
    for _ in range(_ACTIVE_SET_STEPS):
        x = _on_active(S, c, active)
        if x is None:
            return
        now = np.where(active, x > 0.0, S @ x + c < 0.0)
        if np.array_equal(now, active):
            yield x
            return
        active = now


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


def _refined(S: NDArray, c: NDArray, x: NDArray) -> Iterator[NDArray]:
    """What ``x`` becomes when ``w = 0`` is solved where it pushes."""
    on = x > 0.0
    if on.any() and np.all(np.isfinite(x)):
        better = x.copy()
        better[on] -= linalg.lstsq(S[np.ix_(on, on)], (S @ x + c)[on], cond=_RANK)[0]
        yield np.maximum(better, 0.0)


def _least_distance(S: NDArray, c: NDArray) -> Iterator[NDArray]:
    """Any symmetric S = G G^T: the shortest y with ``G y + c >= 0`` is ``G^T x``.

    Lawson and Hanson, Solving least squares problems (1974), ch. 23: by non-negative least squares.
    """
    values, vectors = np.linalg.eigh(S)
    kept = values > _RANK * c.size * values[-1]
    factor = vectors[:, kept] * np.sqrt(values[kept])
    unit = np.append(np.zeros(factor.shape[1]), 1.0)
    for length in _LENGTHS:
        part = length / np.max(np.abs(c))
        columns = np.vstack([factor.T, -part * c])
        try:
            found, _ = optimize.nnls(columns, unit, maxiter=30 * c.size)
        except RuntimeError:
            continue
        last = 1.0 - columns[-1] @ found
        if last > _FEASIBLE:
            yield found / (part * last)


def lemke(S: NDArray, c: NDArray) -> Iterator[NDArray]:
    """Lemke's pivots, with the lexicographic choice among ties: also where S is not symmetric.

    Cottle, Pang and Stone, The linear complementarity problem (1992), 4.4 and 4.9. The columns are w, x, an
    artificial impulse that pushes all points, and the values of the basic ones.
    """
    p = c.size
    table = np.hstack([np.eye(p), -S, -np.ones((p, 1)), c[:, None]])
    basis, row, entering = np.arange(p), int(np.argmin(c)), 2 * p
    for _ in range(50 * (p + 1)):
        leaving, basis[row] = basis[row], entering
        table[row] /= table[row, entering]
        column = table[:, entering].copy()
        column[row] = 0.0
        table -= np.outer(column, table[row])
        if leaving == 2 * p:
            values = np.zeros(2 * p + 1)
            values[basis] = table[:, -1]
            yield np.maximum(values[p : 2 * p], 0.0)
            return
        entering = leaving + p if leaving < p else leaving - p
        rows = np.flatnonzero(table[:, entering] > _PIVOT)
        if not rows.size:
            return  # a ray: no solution
        row = _first(table, rows, entering, basis)


def _first(table: NDArray, rows: NDArray, entering: int, basis: NDArray) -> int:
    """The row whose basic value reaches zero first; among equal ones the artificial impulse's."""
    p = len(table)
    for k in (2 * p + 1, *range(p)):
        ratios = table[rows, k] / table[rows, entering]
        rows = rows[ratios <= ratios.min() + _PIVOT * max(1.0, abs(ratios.min()))]
        artificial = rows[basis[rows] == 2 * p]
        if artificial.size:
            return int(artificial[0])
        if rows.size == 1:
            break
    return int(rows[0])
