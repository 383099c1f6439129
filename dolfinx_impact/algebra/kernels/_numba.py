"""Kernels over all dofs compiled by numba (see :mod:`dolfinx_impact.algebra.kernels`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numba
import numpy as np

from ..._types import BoolArray, FloatArray, Forces, IntArray

COMPILED = True
#: Largest number of steps of the active set method.
ACTIVE_SET_STEPS = 30
# All options that a caller would hand on: what is kept on disk must not depend on who called first.
_OPTIONS = {"cache": True, "error_model": "numpy", "forceinline": False, "_nrt": True}
_jit = numba.njit(**_OPTIONS, fastmath=False)
_jit_reordered = numba.njit(**_OPTIONS, fastmath={"reassoc", "contract"})


@_jit
def copy(x: FloatArray, out: FloatArray) -> None:
    """``out = x``."""
    for i in range(x.size):
        out[i] = x[i]


@_jit
def gather(values: FloatArray, places: IntArray, out: FloatArray) -> None:
    """``out = values[places]``."""
    for i in range(places.size):
        out[i] = values[places[i]]


@_jit_reordered
def measure_lines(
    ends: IntArray, lines: FloatArray, inverse: FloatArray, u: FloatArray, v: FloatArray, out: FloatArray
) -> None:
    """Write minus the smallest and the largest squared stretch, and the largest logarithmic stretch rate."""
    least, most, fastest = np.inf, 0.0, 0.0
    for k in range(ends.shape[0]):
        i, j = ends[k, 0], ends[k, 1]
        now, rate = 0.0, 0.0
        for c in range(u.shape[1]):
            line = lines[k, c] + u[j, c] - u[i, c]
            now += line * line
            rate += line * (v[j, c] - v[i, c])
        square, rate = now * inverse[k], abs(rate / now)
        if square < least:
            least = square
        if square > most:
            most = square
        if rate > fastest:
            fastest = rate
    out[0], out[1], out[2] = -least, most, fastest


@_jit
def dot(x: FloatArray, y: FloatArray) -> float:
    """``x.y``, summed in order."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@_jit
def row_sums(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Sums of ``weights * values`` along each row, in order, shape (p,)."""
    out = np.zeros(weights.shape[0])
    for k in range(out.size):
        for j in range(weights.shape[1]):
            out[k] += weights[k, j] * values[k, j]
    return out


@_jit
def fused_update(u: FloatArray, v: FloatArray, f: FloatArray, w: FloatArray, h: float) -> None:
    """``v += w f``, then ``u += h v``: the minimal explicit step without contact."""
    for i in range(u.size):
        v[i] += w[i] * f[i]
        u[i] += h * v[i]


@_jit_reordered
def trapezoidal_sums(
    m: FloatArray, v: FloatArray, u: FloatArray, u_before: FloatArray, before: Forces, after: Forces
) -> tuple[float, float, float, float, float]:
    """Energies at the end of a step, and works of the mean of the forces at its ends.

    Args:
        m, v, u, u_before: Masses, velocities, displacements at the end and at the beginning.
        before, after: Three forces at the beginning and at the end.

    Returns:
        ``m v^2/2, u.f/2`` with the first force, then the works of all three.
    """
    (f0, g0, h0), (f1, g1, h1) = before, after
    kinetic = stored = first = second = third = 0.0
    for i in range(m.size):
        du = u[i] - u_before[i]
        kinetic += m[i] * v[i] * v[i]
        stored += u[i] * f1[i]
        first += du * (f0[i] + f1[i])
        second += du * (g0[i] + g1[i])
        third += du * (h0[i] + h1[i])
    return kinetic / 2, stored / 2, first / 2, second / 2, third / 2


@_jit
def solve_symmetric(
    order: IntArray,
    lower_start: IntArray,
    lower_column: IntArray,
    lower: FloatArray,
    upper_start: IntArray,
    upper_column: IntArray,
    upper: FloatArray,
    inverse_pivots: FloatArray,
    y: FloatArray,
    b: FloatArray,
    x: FloatArray,
) -> None:
    """Solve ``A x = b`` at the dofs ``order``, where ``A = L D L^T`` in this order; ``y`` is a work array.

    The strictly lower part of L and the strictly upper part of L^T are in CSR format.
    """
    n = order.size
    for i in range(n):
        a = b[order[i]]
        for k in range(lower_start[i], lower_start[i + 1]):
            a -= lower[k] * y[lower_column[k]]
        y[i] = a
    for i in range(n - 1, -1, -1):
        a = y[i] * inverse_pivots[i]
        for k in range(upper_start[i], upper_start[i + 1]):
            a -= upper[k] * y[upper_column[k]]
        y[i] = a
        x[order[i]] = a


@_jit
def active_set(
    n: int, S: FloatArray, c: FloatArray, active: BoolArray, factor: FloatArray, x: FloatArray
) -> bool:
    """Primal-dual active set method for ``0 <= x  _|_  S x + c >= 0``, S symmetric.

    Args:
        n: Number of points: the first entries of all arrays, which may be longer.
        S, c: Scaled contact operator and free velocities.
        active, factor: Work arrays: the active set, Cholesky factors of S on it.
        x: The solution.

    Returns:
        Whether it has converged.
    """
    for i in range(n):
        active[i] = c[i] < 0.0
    for _ in range(ACTIVE_SET_STEPS):
        if not _solve_on_active(n, S, c, active, factor, x):
            return False
        changed = False
        for i in range(n):
            if active[i]:
                now = x[i] > 0.0
            else:
                w = c[i]
                for j in range(n):
                    w += S[i, j] * x[j]
                now = w < 0.0
            factor[i, i] = 1.0 if now else 0.0
            changed |= now != active[i]
        if not changed:
            return True
        for i in range(n):
            active[i] = factor[i, i] > 0.0
    return False


@_jit
def _solve_on_active(
    n: int, S: FloatArray, c: FloatArray, active: BoolArray, factor: FloatArray, x: FloatArray
) -> bool:
    """``S x = -c`` on the active set by Cholesky factors, 0 elsewhere; False where S is singular there."""
    for i in range(n):
        x[i] = 0.0
        if not active[i]:
            continue
        a = -c[i]
        for j in range(i):
            if active[j]:
                b = S[i, j]
                for k in range(j):
                    if active[k]:
                        b -= factor[i, k] * factor[j, k]
                factor[i, j] = b / factor[j, j]
                a -= factor[i, j] * x[j]
        pivot = S[i, i]
        for k in range(i):
            if active[k]:
                pivot -= factor[i, k] * factor[i, k]
        if not pivot > 0.0:
            return False
        factor[i, i] = math.sqrt(pivot)
        x[i] = a / factor[i, i]
    for i in range(n - 1, -1, -1):
        if active[i]:
            for j in range(i + 1, n):
                if active[j]:
                    x[i] -= factor[j, i] * x[j]
            x[i] /= factor[i, i]
    return True


@_jit
def add_signals(constant: FloatArray, patterns: FloatArray, amplitudes: FloatArray, load: FloatArray) -> None:
    """``load = constant + sum_k amplitudes_k patterns_k``."""
    for i in range(load.size):
        a = constant[i]
        for k in range(amplitudes.size):
            a += patterns[k, i] * amplitudes[k]
        load[i] = a


@_jit
def rows_force(
    start: IntArray, column: IntArray, K: FloatArray, load: FloatArray, u: FloatArray, f: FloatArray
) -> None:
    """``f = load - K u`` with K in CSR format."""
    for i in range(start.size - 1):
        a = load[i]
        for k in range(start[i], start[i + 1]):
            a -= K[k] * u[column[k]]
        f[i] = a


@_jit
def subtract_rows(start: IntArray, column: IntArray, K: FloatArray, u: FloatArray, f: FloatArray) -> None:
    """``f -= K u`` with K in CSR format."""
    for i in range(start.size - 1):
        a = f[i]
        for k in range(start[i], start[i + 1]):
            a -= K[k] * u[column[k]]
        f[i] = a


@functools.cache
def pair_product(size: int) -> Callable[..., None]:
    """``f += sum over pairs A_ij (u_j - u_i)`` for symmetric matrices with blocks of ``size``.

    Reads only the strictly upper triangular blocks: A must be symmetric with zero row sums, as the
    stiffness of a free body. The force of a rigid translation is exactly zero. Entries of ``f`` beyond the
    rows (ghosts) receive partial sums, which are to be discarded.
    """
    product: Callable[..., None] = {1: _pairs_1, 2: _pairs_2, 3: _pairs_3}[size]
    return product


@_jit
def _pairs_1(start: IntArray, column: IntArray, A: FloatArray, u: FloatArray, f: FloatArray) -> None:
    for i in range(start.size - 1):
        a, x = f[i], u[i]
        for k in range(start[i], start[i + 1]):
            j = column[k]
            force = A[k] * (u[j] - x)
            a += force
            f[j] -= force
        f[i] = a


@_jit
def _pairs_2(start: IntArray, column: IntArray, A: FloatArray, u: FloatArray, f: FloatArray) -> None:
    for i in range(start.size - 1):
        a0, a1 = f[2 * i], f[2 * i + 1]
        x0, x1 = u[2 * i], u[2 * i + 1]
        for k in range(start[i], start[i + 1]):
            j, b = 2 * column[k], 4 * k
            d0, d1 = u[j] - x0, u[j + 1] - x1
            a0 += A[b] * d0 + A[b + 1] * d1
            a1 += A[b + 2] * d0 + A[b + 3] * d1
            f[j] -= A[b] * d0 + A[b + 2] * d1
            f[j + 1] -= A[b + 1] * d0 + A[b + 3] * d1
        f[2 * i], f[2 * i + 1] = a0, a1


@_jit
def _pairs_3(start: IntArray, column: IntArray, A: FloatArray, u: FloatArray, f: FloatArray) -> None:
    for i in range(start.size - 1):
        a0, a1, a2 = f[3 * i], f[3 * i + 1], f[3 * i + 2]
        x0, x1, x2 = u[3 * i], u[3 * i + 1], u[3 * i + 2]
        for k in range(start[i], start[i + 1]):
            j, b = 3 * column[k], 9 * k
            d0, d1, d2 = u[j] - x0, u[j + 1] - x1, u[j + 2] - x2
            a0 += A[b] * d0 + A[b + 1] * d1 + A[b + 2] * d2
            a1 += A[b + 3] * d0 + A[b + 4] * d1 + A[b + 5] * d2
            a2 += A[b + 6] * d0 + A[b + 7] * d1 + A[b + 8] * d2
            f[j] -= A[b] * d0 + A[b + 3] * d1 + A[b + 6] * d2
            f[j + 1] -= A[b + 1] * d0 + A[b + 4] * d1 + A[b + 7] * d2
            f[j + 2] -= A[b + 2] * d0 + A[b + 5] * d1 + A[b + 8] * d2
        f[3 * i], f[3 * i + 1], f[3 * i + 2] = a0, a1, a2
