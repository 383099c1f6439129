"""Linear complementarity problem ``0 <= r  _|_  H r + b >= 0`` with checked residuals.

H is the Delassus operator (symmetric, positive semi-definite). The solution minimises ``r.H r/2 + b.r`` over
``r >= 0``; ``max(0, -H^-1 b)`` is a solution only for diagonal H.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg, optimize

from .._types import BoolArray, FloatArray, IntArray
from . import kernels

TOLERANCE = 1e-10
#: Number of points up to which a solution to round-off is sought, and its residual.
FEW, EXACT = 8, 1e-12
#: Number of points up to which the active set method is compiled; LAPACK is faster for more.
COMPILED_POINTS = 32
_ACTIVE_SET_STEPS = 30
#: Eigenvalues and pivots that are round-off, relative to the largest one.
_RANK, _PIVOT = 1e-15, 1e-12
#: Scalings of b in the least-distance problem: ``1 / (1 + (length |y| / |b|)^2)``, which is 0 for infeasible
#: problems, should be close to 1.
_LENGTHS, _FEASIBLE = (1.0, 1e-2, 1e-4, 1e-6), 1e-3
#: Upper bound of accepted residuals for any round-off level.
_ROUNDED = 1e-6


class NotConverged(RuntimeError):
    """A solver did not reach its tolerance; its result was discarded."""


def residual(H: FloatArray, b: FloatArray, r: FloatArray) -> float:
    """``||min(r, H r + b)||_inf`` with rows scaled to unit diagonal, relative to ``||b||_inf``.

    Args:
        H: Delassus operator, shape (p, p) or its diagonal (p,) [1/kg].
        b: Free velocities, shape (p,) [m/s].
        r: Impulses, shape (p,) [N s].
    """
    diagonal = H if H.ndim == 1 else H.diagonal()
    scale = np.sqrt(diagonal)
    w = H * r + b if H.ndim == 1 else H @ r + b
    worst = np.abs(np.minimum(r * scale, w / scale)).max(initial=0.0)
    largest = np.abs(b / scale).max(initial=0.0)
    return float(worst / largest) if largest > 0 else float(worst)


def solve(H: FloatArray, b: FloatArray, *, tolerance: float = TOLERANCE) -> FloatArray:
    """Solve the complementarity problem.

    Args:
        H: Delassus operator, shape (p, p), symmetric with a positive diagonal; or a diagonal H, shape (p,),
            with the closed-form solution [1/kg]. A nonsymmetric H must be a P-matrix.
        b: Free velocities, shape (p,) [m/s].
        tolerance: Largest accepted :func:`residual`. For mass ratios so large that the round-off of ``H r``
            exceeds it, larger residuals are accepted, up to 1e-6.

    Returns:
        Impulses r, shape (p,) [N s]. For singular H they need not be unique; ``H r + b`` is.

    Raises:
        NotConverged: When no method reaches the tolerance.
    """
    b = np.asarray(b, dtype=np.float64)
    if b.size == 0:
        return np.zeros(0)
    if not (np.isfinite(b).all() and np.isfinite(H).all()):
        raise NotConverged("the contact problem has values that are not finite: did the run explode?")
    if H.ndim == 1:
        return np.maximum(0.0, -b / H)
    refuse_negative(H.diagonal())
    scale = 1.0 / np.sqrt(H.diagonal())
    S, c = H * np.outer(scale, scale), b * scale
    enough = min(tolerance, EXACT) if b.size <= FEW else tolerance
    best, least, reached = None, np.inf, np.inf
    for x, accepted in _candidates(S, c, tolerance):
        now = residual(S, c, x)
        reached = min(reached, now)
        if now < least and now <= accepted:
            best, least = scale * x, now
        if now <= enough:
            break
    if best is None:
        reached = min(reached, residual(S, c, np.zeros(c.size)))
        raise NotConverged(
            f"the contact problem of {b.size} points was not solved: residual {reached:.3g} is above "
            f"{tolerance:g}. Is H symmetric positive semi-definite, and does the problem have a solution?"
        )
    return best


def refuse_negative(diagonal: FloatArray) -> None:
    """Raise NotConverged unless all diagonal entries of H are positive."""
    if not (diagonal > 0).all():
        raise NotConverged(
            f"the contact operator has the diagonal entry {diagonal.min():.3g} 1/kg: is the body unstable at "
            "this deformation, or is a point held?"
        )


def _candidates(S: FloatArray, c: FloatArray, tolerance: float) -> Iterator[tuple[FloatArray, float]]:
    """Candidates of successive methods, each with the largest residual at which it is accepted.

    For the least-distance solution, which has minimum norm, residuals at the round-off level of ``S x`` are
    accepted.
    """
    for x in _active_set(S, c):
        yield x, tolerance
    rounding = 4 * c.size * np.finfo(np.float64).eps / np.max(np.abs(c))
    for start in _least_distance(S, c):
        for x in (start, *_refined(S, c, start)):
            yield x, max(tolerance, min(_ROUNDED, rounding * float(np.max(np.abs(S) @ x))))
    for start in lemke(S, c):
        for x in (start, *_refined(S, c, start)):
            yield x, tolerance


def _active_set(S: FloatArray, c: FloatArray) -> Iterator[FloatArray]:
    """Primal-dual active set method; exact to round-off for regular S."""
    loops, p = kernels.load(), c.size
    if loops.COMPILED and p <= COMPILED_POINTS and np.array_equal(S, S.T):
        x = np.zeros(p)
        if loops.active_set(p, S, c, np.zeros(p, dtype=bool), np.zeros((p, p)), x):
            yield x
        return
    active = c < 0.0
    for _ in range(_ACTIVE_SET_STEPS):
        found = _on_active(S, c, active)
        if found is None:
            return
        now = np.where(active, found > 0.0, S @ found + c < 0.0)
        if np.array_equal(now, active):
            yield found
            return
        active = now


def _on_active(S: FloatArray, c: FloatArray, active: BoolArray) -> FloatArray | None:
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


def _refined(S: FloatArray, c: FloatArray, x: FloatArray) -> Iterator[FloatArray]:
    """``x`` after the solution of ``w = 0`` on its active set."""
    on = x > 0.0
    if on.any() and np.all(np.isfinite(x)):
        better = x.copy()
        better[on] -= linalg.lstsq(S[np.ix_(on, on)], (S @ x + c)[on], cond=_RANK)[0]
        yield np.maximum(better, 0.0)


def _least_distance(S: FloatArray, c: FloatArray) -> Iterator[FloatArray]:
    """Least-distance programming for symmetric S = G G^T: the shortest y with ``G y + c >= 0`` is ``G^T x``.

    By non-negative least squares, Lawson and Hanson, Solving least squares problems (1974), ch. 23.
    """
    values, vectors = np.linalg.eigh(S)
    positive = values > _RANK * c.size * values[-1]
    factor = vectors[:, positive] * np.sqrt(values[positive])
    unit = np.append(np.zeros(factor.shape[1]), 1.0)
    for length in _LENGTHS:
        part = length / np.max(np.abs(c))
        columns = np.vstack([factor.T, -part * c])
        try:
            weights, _ = optimize.nnls(columns, unit, maxiter=30 * c.size)
        except RuntimeError:
            continue
        last = 1.0 - columns[-1] @ weights
        if last > _FEASIBLE:
            yield weights / (part * last)


def lemke(S: FloatArray, c: FloatArray) -> Iterator[FloatArray]:
    """Lemke's method with lexicographic pivoting, also for nonsymmetric S.

    Cottle, Pang and Stone, The linear complementarity problem (1992), 4.4 and 4.9. The columns of the tableau
    are w, x, the artificial variable (covering vector of ones) and the values of the basic variables.
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
            return  # ray termination: no solution
        row = _first(table, rows, entering, basis)


def _first(table: FloatArray, rows: IntArray, entering: int, basis: IntArray) -> int:
    """Row of the leaving variable by the ratio test; among ties that of the artificial variable."""
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
