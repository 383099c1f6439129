"""Coupled Signorini-Coulomb problem at velocity level with a full Delassus operator H.

With ``w = H r + b`` and d components per point (normal first, then d - 1 tangential)::

    0 <= w_N  _|_  r_N >= 0,    r_T = projection of r_T - rho w_T on the disc |r_T| <= mu r_N

Di Stasio et al. (2019), (41)-(42), for any rho > 0; ``b = (L_N (v_free + e v_before), L_T v_free)``.
With H positive definite a solution exists; with strong normal-tangential coupling there may be several. For
several faces at one node H is singular: the impulses need not be unique (their sum is), and with restitution
and large friction coefficients a solution need not exist.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain

import numpy as np

from .._types import FloatArray
from . import complementarity, corner_node, friction_pyramid
from .complementarity import NotConverged

_ROUNDS, _FEW_ROUNDS = 100, 5
_SWEEPS = 20
_NEWTON_STEPS = 20
_ROUNDING = 1e-15
#: Diagonal entry of a tangent over that of the normal from which down it is round-off.
_HELD = float(np.finfo(np.float64).eps) ** 2
#: Least one by which a tangent is scaled: impulses there are known to round-off of the normal ones.
_TILTED = 1e-8
#: Values of rho in the natural map: at small slip velocities only a large rho resolves their direction.
_WEIGHTS = (1.0, 1e2, 1e4, 1e6, 1e8, 1e10)
#: Compliances that are added to the diagonal, 1 after scaling, one after another.
_COMPLIANCES = 10.0 ** -np.arange(13)
#: Largest number of unknowns for which the weights are used: a few nodes with several faces.
_FEW = 90


def tangents(normals: FloatArray) -> FloatArray:
    """Unit tangents that complete each normal to an orthonormal basis.

    Args:
        normals: Unit normals, shape (p, d), d = 1, 2 or 3.

    Returns:
        Shape (p, d - 1, d). In 2D the normal rotated by 90 degrees; in 3D the basis of Duff et al.,
        J. Comput. Graph. Tech. 6 (2017), which is stable for all directions.
    """
    n, d = normals, normals.shape[1]
    if d == 1:
        return np.zeros((len(n), 0, 1))
    found = np.empty((len(n), d - 1, d))
    if d == 2:
        found[:, 0, 0], found[:, 0, 1] = -n[:, 1], n[:, 0]
        return found
    x, y, z = n.T
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    found[:, 0, 0], found[:, 0, 1], found[:, 0, 2] = 1.0 + sign * x * x * a, sign * x * y * a, -sign * x
    found[:, 1, 0], found[:, 1, 1], found[:, 1, 2] = x * y * a, sign + y * y * a, -y
    return found


def residual(H: FloatArray, b: FloatArray, r: FloatArray, mu: float | FloatArray, dimension: int) -> float:
    """Natural residual of the problem scaled to unit diagonal, relative to the scaled ``||b||_inf``.

    The tangential components of a point share one scale, which preserves its friction disc.

    Args:
        H: Delassus operator, shape (p d, p d) [1/kg].
        b: Free velocities, shape (p d,) [m/s].
        r: Impulses, shape (p d,) [N s].
        mu: Coulomb's coefficient.
        dimension: Number d of components per point.
    """
    S, c, scale = _scaled(H, b, dimension)
    return _misfit(S, c, r / scale, _coefficients(scale, mu, dimension), dimension)


def solve(
    H: FloatArray,
    b: FloatArray,
    mu: float | FloatArray,
    dimension: int,
    *,
    tolerance: float = complementarity.TOLERANCE,
    start: FloatArray | None = None,
) -> FloatArray:
    """Solve the frictional contact problem.

    Args:
        H: Delassus operator, shape (p d, p d), ordered by points, with positive definite diagonal blocks
            [1/kg].
        b: Free velocities, shape (p d,) [m/s].
        mu: Coulomb's coefficient, one number or one per point.
        dimension: Number d of components per point: 1, 2 or 3.
        tolerance: Largest accepted :func:`residual`.
        start: Impulses close to the solution, shape (p d,) [N s]: Newton's method starts there, and all else
            is tried only where it does not find the solution to round-off.

    Returns:
        Impulses r, shape (p d,) [N s].

    Raises:
        NotConverged: When the tolerance is not reached.
    """
    b = np.asarray(b, dtype=np.float64)
    if b.size == 0:
        return np.zeros(0)
    if not (np.isfinite(b).all() and np.isfinite(H).all()):
        raise NotConverged("the contact problem has values that are not finite: did the run explode?")
    if dimension == 1 or not np.any(mu):
        r, normal = np.zeros(b.size), slice(0, None, dimension)
        r[normal] = complementarity.solve(H[normal, normal], b[normal], tolerance=tolerance)
        return r
    H = _without_held(H, dimension)
    complementarity.refuse_negative(H.diagonal())
    S, c, scale = _scaled(H, b, dimension)
    m = _coefficients(scale, mu, dimension)
    x = _from_start(S, c, m, dimension, None if start is None else start / scale)
    reached = _misfit(S, c, x, m, dimension)
    if not reached <= tolerance:
        raise NotConverged(
            f"the frictional contact problem of {b.size // dimension} points was not solved: residual "
            f"{reached:.3g} is above {tolerance:g}. At several faces of one node there may be no solution: "
            "lower friction or restitution; else, is H symmetric positive semi-definite?"
        )
    return scale * x


def _without_held(H: FloatArray, d: int) -> FloatArray:
    """H with tangents along held directions, whose rows are zero, as of points of their own.

    Impulses there move nothing; they are zero then where the obstacle does not slide.
    """
    diagonal = H.diagonal().reshape(-1, d)
    held = np.abs(diagonal) <= _HELD * diagonal[:, :1]
    if not held.any():
        return H
    H, rows = H.copy(), np.flatnonzero(held)
    H[rows, rows] = np.repeat(diagonal[:, 0], d)[rows]
    return H


def _scaled(H: FloatArray, b: FloatArray, d: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """H and b scaled to unit diagonal (mean over the tangents), and ``scale`` with ``r = scale x``."""
    diagonal = H.diagonal().reshape(-1, d).copy()
    if d > 1:
        tangential = diagonal[:, 1:].sum(axis=1, keepdims=True) / (d - 1)
        diagonal[:, 1:] = np.maximum(tangential, _TILTED * diagonal[:, :1])
    scale = 1.0 / np.sqrt(diagonal.ravel())
    return H * np.outer(scale, scale), b * scale, scale


def _coefficients(scale: FloatArray, mu: float | FloatArray, d: int) -> FloatArray:
    """Coulomb's coefficient of every point for the scaled impulses, shape (p,)."""
    by_point = scale.reshape(-1, d)
    return mu * by_point[:, 0] / by_point[:, -1]


def _natural(S: FloatArray, c: FloatArray, x: FloatArray, m: FloatArray, d: int) -> FloatArray:
    """``min(x_N, w_N)`` and ``x_T - projection(x_T - w_T)``, shape (p, d)."""
    r, w = x.reshape(-1, d), (S @ x + c).reshape(-1, d)
    out = np.empty_like(r)
    out[:, 0] = np.minimum(r[:, 0], w[:, 0])
    trial, radius = r[:, 1:] - w[:, 1:], m * np.maximum(r[:, 0], 0.0)
    size = np.linalg.norm(trial, axis=1)
    over = size > radius
    trial[over] *= (radius[over] / size[over])[:, None]
    out[:, 1:] = r[:, 1:] - trial
    return out


def _misfit(S: FloatArray, c: FloatArray, x: FloatArray, m: FloatArray, d: int) -> float:
    one = c.size == d
    worst = _misfit_of_point(S, c, x, float(m[0])) if one else float(np.abs(_natural(S, c, x, m, d)).max())
    largest = float(np.abs(c).max())
    return worst / largest if largest > 0 else worst


def _from_start(S: FloatArray, c: FloatArray, m: FloatArray, d: int, start: FloatArray | None) -> FloatArray:
    """Newton's solution from ``start`` where that is exact to round-off, otherwise without one."""
    if c.size == d:
        return _one_point(S, c, m[0])
    if start is not None and np.any(start):
        near = _newton(S, c, start, m, d)
        if _misfit(S, c, near, m, d) <= 10 * _ROUNDING:
            return near
    return _all_points(S, c, m, d)


def _all_points(S: FloatArray, c: FloatArray, m: FloatArray, d: int) -> FloatArray:
    """Nonlinear block Gauss-Seidel, with Newton on the whole problem where it converges slowly."""

    def misfit(y: FloatArray) -> float:
        return _misfit(S, c, y, m, d)

    x: FloatArray = np.zeros(c.size)
    best = x
    F = corner_node.factor(S) if d == 3 else None
    if F is not None:
        best = _in_corner(S, c, m, F)
        if misfit(best) <= complementarity.TOLERANCE or not corner_node.can_stick(F, c):
            return best
    for turn in range(_ROUNDS if c.size > _FEW else _FEW_ROUNDS):
        x, settled = _sweep(S, c, x.copy(), m, d)
        best = min(best, x, _newton(S, c, x, m, d), key=misfit)
        if settled or misfit(best) <= 10 * _ROUNDING:
            break
        if c.size <= _FEW:
            if turn == 0:
                near = [_newton(S, c, start, m, d) for start in friction_pyramid.starts(S, c, m, d)]
                best = min([best, *near], key=misfit)
                if misfit(best) <= complementarity.TOLERANCE:
                    break
            best = min(best, _weighted(S, c, x, m, d), key=misfit)
            if misfit(best) <= 10 * _ROUNDING:
                break
    if misfit(best) > complementarity.TOLERANCE:  # a point with a held direction may have no solution alone
        best = min(best, _regularised(S, c, m, d), key=misfit)
    return best


def _in_corner(S: FloatArray, c: FloatArray, m: FloatArray, F: FloatArray) -> FloatArray:
    """First candidate for the faces of one node that solves the problem, or the best of them."""
    best: FloatArray = np.zeros(c.size)
    least = _misfit(S, c, best, m, 3)
    for x in chain(corner_node.candidates(F, c, m), _one_face(S, c, m)):
        now = _misfit(S, c, x, m, 3)
        if 10 * _ROUNDING < now < 1e-6:
            x = _newton(S, c, x, m, 3)
            now = _misfit(S, c, x, m, 3)
        if now < least:
            best, least = x, now
        if least <= 1e3 * _ROUNDING:
            break
    return best


def _one_face(S: FloatArray, c: FloatArray, m: FloatArray) -> Iterator[FloatArray]:
    """Candidates with an impulse at one face only."""
    for k in range(m.size):
        block, x = slice(3 * k, 3 * k + 3), np.zeros(c.size)
        if c[3 * k] < 0.0:
            x[block] = _one_point(S[block, block], c[block], m[k])
            yield x


def _weighted(S: FloatArray, c: FloatArray, x: FloatArray, m: FloatArray, d: int) -> FloatArray:
    """Best Newton iterate over the natural maps of all weights rho."""
    best, least = x, _misfit(S, c, x, m, d)
    for rho in _WEIGHTS:
        for start in (x, best):
            trial = _newton(S, c, start, m, d, rho)
            now = _misfit(S, c, trial, m, d)
            if now < least:
                best, least = trial, now
            if least <= 10 * _ROUNDING:
                return best
    return best


def _regularised(S: FloatArray, c: FloatArray, m: FloatArray, d: int) -> FloatArray:
    """Solution along ``S + epsilon I`` as epsilon goes to 0, each with the impulses before as its centre.

    Where rows on shared dofs make S singular, Newton's method meets singular Jacobians; here it does not,
    since every point keeps compliance. Centred, as in the proximal point method (Rockafellar, 1976), the
    last term vanishes at the solution.
    """
    x: FloatArray = np.zeros(c.size)
    for epsilon in _COMPLIANCES:
        regular, centred = S + epsilon * np.eye(c.size), c - epsilon * x
        x, _ = _sweep(regular, centred, x.copy(), m, d)
        x = _newton(regular, centred, x, m, d)
    return x


def _sweep(S: FloatArray, c: FloatArray, x: FloatArray, m: FloatArray, d: int) -> tuple[FloatArray, bool]:
    """Gauss-Seidel sweeps with exact solution at each point; whether the iterates have become stationary."""
    bound = _ROUNDING * np.abs(c).max()
    for _ in range(_SWEEPS):
        before = x.copy()
        for k in range(m.size):
            block = slice(k * d, (k + 1) * d)
            free = c[block] + S[block] @ x - S[block, block] @ x[block]
            x[block] = _one_point(S[block, block], free, m[k])
        if np.abs(x - before).max() <= bound:
            return x, True
    return x, False


def _newton(
    S: FloatArray, c: FloatArray, x: FloatArray, m: FloatArray, d: int, rho: float | None = None
) -> FloatArray:
    """Semi-smooth Newton on the natural map (Alart and Curnier, 1991); returns the best iterate.

    With a weight rho of w the steps are minimum-norm solutions, since rows on shared dofs make the Jacobian
    singular.
    """
    best, least = x, _misfit(S, c, x, m, d)
    for _ in range(_NEWTON_STEPS):
        weight = 1.0 if rho is None else rho
        jacobian = _jacobian(weight * S, weight * c, x, m, d)
        rest = _natural(weight * S, weight * c, x, m, d).ravel()
        try:
            if rho is None:
                x = x - np.linalg.solve(jacobian, rest)
            else:
                x = x - np.linalg.lstsq(jacobian, rest, 1e-13)[0]
        except np.linalg.LinAlgError:
            break
        now = _misfit(S, c, x, m, d)
        if not now < 1e6:
            break
        if now < least:
            best, least = x, now
        if now <= _ROUNDING:
            break
    return best


def _jacobian(S: FloatArray, c: FloatArray, x: FloatArray, m: FloatArray, d: int) -> FloatArray:
    """A generalised Jacobian of the natural map."""
    w, J, unit = S @ x + c, S.copy(), np.eye(c.size)
    for k in range(m.size):
        normal, side = k * d, slice(k * d + 1, (k + 1) * d)
        if x[normal] <= w[normal]:
            J[normal] = unit[normal]
        trial, radius = x[side] - w[side], m[k] * max(x[normal], 0.0)
        size = np.linalg.norm(trial)
        if size > radius:
            z = trial / size
            turning = radius / size * (np.eye(d - 1) - np.outer(z, z))
            J[side] = unit[side] - turning @ (unit[side] - S[side])
            if radius > 0.0:
                J[side, normal] -= m[k] * z
    return J


def _one_point(S: FloatArray, c: FloatArray, m: float) -> FloatArray:
    """Solution at one point to round-off, by cases: open, stick, or the best slip candidate."""
    if c[0] >= 0.0:
        return np.zeros(c.size)
    stick = -_solved(S, c)
    if stick[0] >= 0.0 and math.sqrt(stick[1:] @ stick[1:]) <= m * stick[0]:
        return stick
    slips = _slips_2d(S, c, m) if c.size == 2 else _slips_3d(S, c, m)
    # Near the boundary of the disc round-off may leave no slip candidate; sticking then fits to round-off.
    return min([stick, *slips], key=lambda x: _misfit_of_point(S, c, x, m))


def _misfit_of_point(S: FloatArray, c: FloatArray, x: FloatArray, m: float) -> float:
    """The largest component of :func:`_natural` of one point, which is asked most, with few arrays."""
    w = S @ x + c
    trial, radius = x[1:] - w[1:], m * max(float(x[0]), 0.0)
    size = math.sqrt(trial @ trial)
    if size > radius:
        trial *= radius / size
    return max(float(np.abs(x[1:] - trial).max()), abs(min(float(w[0]), float(x[0]))))


def _solved(A: FloatArray, b: FloatArray) -> FloatArray:
    """Solution of ``A x = b``; the shortest one where A is singular: of a tangent whose direction is held.

    Where normals tilt with the surface, as at an axis, its row is a multiple of that of the normal, not zero.
    """
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        x = np.linalg.lstsq(A, b, rcond=1e-13)[0]
    return np.asarray(x, dtype=np.float64)


def _slips_2d(S: FloatArray, c: FloatArray, m: float) -> list[FloatArray]:
    """Slip candidates ``x_T = +-m x_N`` with ``w_N = 0``."""
    candidates = []
    for side in (m, -m):
        slope = S[0, 0] + side * S[0, 1]
        if slope > 0.0:
            candidates.append(-c[0] / slope * np.array([1.0, side]))
    return candidates


def _slips_3d(S: FloatArray, c: FloatArray, m: float) -> list[FloatArray]:
    """Slip candidates ``w_T = -alpha x_T``, ``|x_T| = m x_N``, ``w_N = 0``: roots alpha >= 0 of a quartic.

    With x_N eliminated ``(A + alpha) x_T = a``, hence ``x_T = (alpha + adj A) a / det(A + alpha)``;
    compare Bonnefon and Daviet, Inria report (2011).
    """
    N, column, row = S[0, 0], S[1:, 0], S[0, 1:]
    A, a = S[1:, 1:] - np.outer(column, row) / N, column * c[0] / N - c[1:]
    trace, determinant = np.trace(A), A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    adjoint_a = trace * a - A @ a
    det = np.array([1.0, trace, determinant])
    side = [np.array([a[i], adjoint_a[i]]) for i in (0, 1)]
    normal = -np.polyadd(c[0] * det, row[0] * side[0] + row[1] * side[1]) / N
    quartic = np.polyadd(np.polymul(side[0], side[0]), np.polymul(side[1], side[1]))
    roots = np.roots(np.polysub(quartic, m * m * np.polymul(normal, normal)))
    near = np.abs(roots.imag) <= 1e-4 * (1.0 + np.abs(roots))
    real = roots.real[near & (roots.real >= -1e-6)]
    return [_polished(N, row, c[0], A, a, m, max(alpha, 0.0)) for alpha in real]


def _polished(
    N: float, row: FloatArray, c_n: float, A: FloatArray, a: FloatArray, m: float, alpha: float
) -> FloatArray:
    """Slip impulse for alpha, refined by Newton on ``|x_T| - m x_N``, which the quartic squares."""
    for _ in range(4):
        shifted = A + alpha * np.eye(2)
        x_t = _solved(shifted, a)
        change = -_solved(shifted, x_t)
        size, x_n = float(np.linalg.norm(x_t)), -float(c_n + row @ x_t) / N
        slope = float(x_t @ change) / size + m * float(row @ change) / N if size > 0.0 else 0.0
        if slope == 0.0:
            break
        before, alpha = alpha, max(0.0, alpha - (size - m * x_n) / slope)
        if alpha == before:
            break
    x_t = _solved(A + alpha * np.eye(2), a)
    return np.concatenate([[-(c_n + row @ x_t) / N], x_t])
