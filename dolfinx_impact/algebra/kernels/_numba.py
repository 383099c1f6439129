"""Kernels over all dofs compiled by numba (see :mod:`dolfinx_impact.algebra.kernels`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..._types import AnyArray, BoolArray, FloatArray, Forces, IntArray

COMPILED = True
#: Largest number of steps of the active set method.
ACTIVE_SET_STEPS = 30
# All options that a caller would hand on: what is kept on disk must not depend on who called first.
_OPTIONS = {"cache": True, "error_model": "numpy", "forceinline": False, "_nrt": True}
#: Blocks are read once and in order, but hardware asks for the next ones too late: twice the time [numbers].
_AHEAD = 384
_jit = numba.njit(**_OPTIONS, fastmath=False)
#: For arrays in a tuple, where nothing is allocated: references need no counting.
_jit_uncounted = numba.njit(**{**_OPTIONS, "_nrt": False}, fastmath=False)
_jit_reordered = numba.njit(**_OPTIONS, fastmath={"reassoc", "contract"})


@intrinsic
def prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Ask for an entry of an array ahead of its use; the place may lie beyond the end."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        at = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(ask, [at, whole(0), whole(3), whole(1)])  # to read, to keep in all caches, data
        return context.get_dummy_value()

    return types.void(array, place), code


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
    ends: IntArray,
    lines: FloatArray,
    inverse: FloatArray,
    then: FloatArray,
    u: FloatArray,
    v: FloatArray,
    out: FloatArray,
) -> None:
    """Write minus the smallest and the largest squared stretch, and the largest logarithmic stretch rate.

    The fourth number is the largest ratio of the squared length to ``then``, or of ``then`` to it.
    """
    least, most, fastest, changed = np.inf, 0.0, 0.0, 1.0
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
        if now > changed * then[k]:
            changed = now / then[k]
        if then[k] > changed * now:
            changed = then[k] / now
    out[0], out[1], out[2], out[3] = -least, most, fastest, changed


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
def add_vectors(
    dofs: IntArray, weights: FloatArray, r: FloatArray, f: FloatArray, d: FloatArray, out: FloatArray
) -> None:
    """``out += D (L^T r + W^T f)`` of rows with dofs and weights of shape (p, k), all of r before f.

    Args:
        dofs, weights: Dofs of the rows, and their weights in L.
        r, f: A number and a vector of each row, shapes (p,) and (p, k); f has shape (0, k) for none.
        d: Diagonal of D, shape (0,) for the identity.
        out: Updated.
    """
    for i in range(r.size):
        if r[i] != 0.0:
            for k in range(dofs.shape[1]):
                scale = d[dofs[i, k]] if d.size > 0 else 1.0
                out[dofs[i, k]] += weights[i, k] * r[i] * scale
    for i in range(f.shape[0]):
        for k in range(dofs.shape[1]):
            if f[i, k] != 0.0:
                scale = d[dofs[i, k]] if d.size > 0 else 1.0
                out[dofs[i, k]] += f[i, k] * scale


@_jit
def add_friction(
    dofs: IntArray,
    normals: FloatArray,
    inverse: FloatArray,
    friction: FloatArray,
    v: FloatArray,
    moved: FloatArray,
    r: FloatArray,
    r_t: FloatArray,
) -> None:
    """Write tangential impulses at points with dofs and one mass each: ``-m v_T`` within the disc of mu r.

    Args:
        dofs, normals: Those of the points, shape (p, k).
        inverse: Inverse masses at the dofs, shape (p, k), 0 along constrained ones.
        friction: Coulomb's coefficients, shape (p,).
        v: Velocities without contact.
        moved: Velocities of the obstacle, shape (p, k); shape (0, k) for none.
        r: Normal impulses, shape (p,).
        r_t: Written where r is not zero, shape (p, k).
    """
    for i in range(r.size):
        if r[i] == 0.0:
            continue
        largest, normal, square = 0.0, 0.0, 0.0
        for k in range(dofs.shape[1]):
            w = inverse[i, k]
            largest = max(largest, w)
            r_t[i, k] = v[dofs[i, k]] + normals[i, k] * r[i] * w
            if moved.shape[0] > 0:
                r_t[i, k] -= moved[i, k]
            normal += normals[i, k] * r_t[i, k]
        mass = 1.0 / largest
        for k in range(dofs.shape[1]):
            r_t[i, k] = -(r_t[i, k] - normal * normals[i, k]) * mass
            square += r_t[i, k] * r_t[i, k]
        length, radius = math.sqrt(square), friction[i] * r[i]
        if length > radius:
            for k in range(dofs.shape[1]):
                r_t[i, k] *= radius / length


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


@_jit_uncounted
def solve_symmetric(factors: tuple[AnyArray, ...], b: FloatArray, x: FloatArray) -> None:
    """Solve ``A x = b`` at the dofs of A; other entries of x stay.

    Args:
        factors: ``A = L D L^T``: the dofs in the order of elimination, the strictly lower part of L and the
            strictly upper part of L^T in CSR format, the inverse of D, and a work array.
        b, x: Right-hand side and solution.
    """
    order, lower_start, lower_column, lower, upper_start, upper_column, upper, inverse_pivots, y = factors
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

    Takes :class:`.PairBlocks`: A must be symmetric with zero row sums, as the stiffness of a free body. The
    force of a rigid translation is exactly zero. Entries of ``f`` beyond the rows (ghosts) receive partial
    sums, which are to be discarded.
    """
    product: Callable[..., None] = {1: _pairs_1, 2: _pairs_2, 3: _pairs_3}[size]
    return product


@_jit
def _pairs_1(pairs: Any, u: FloatArray, f: FloatArray) -> None:
    start, column, A = pairs.start, pairs.column, pairs.blocks
    for i in range(start.size - 1):
        a, x = f[i], u[i]
        for k in range(start[i], start[i + 1]):
            j = column[k]
            force = A[k] * (u[j] - x)
            a += force
            f[j] -= force
        f[i] = a


@_jit
def _pairs_2(pairs: Any, u: FloatArray, f: FloatArray) -> None:
    start, column, A = pairs.start, pairs.column, pairs.blocks
    for i in range(start.size - 1):
        a0, a1 = f[2 * i], f[2 * i + 1]
        x0, x1 = u[2 * i], u[2 * i + 1]
        for k in range(start[i], start[i + 1]):
            j, b = 2 * column[k], 3 * k
            prefetch(A, b + _AHEAD)
            d0, d1 = u[j] - x0, u[j + 1] - x1
            g0, g1 = A[b] * d0 + A[b + 1] * d1, A[b + 1] * d0 + A[b + 2] * d1
            a0 += g0
            a1 += g1
            f[j] -= g0
            f[j + 1] -= g1
        f[2 * i], f[2 * i + 1] = a0, a1
    skew = pairs.skew
    for k in range(skew.shape[0]):
        i, j = 2 * pairs.skew_row[k], 2 * pairs.skew_column[k]
        d0, d1 = u[j] - u[i], u[j + 1] - u[i + 1]
        g0, g1 = skew[k, 0] * d1, -skew[k, 0] * d0
        f[i] += g0
        f[i + 1] += g1
        f[j] += g0
        f[j + 1] += g1


@_jit
def _pairs_3(pairs: Any, u: FloatArray, f: FloatArray) -> None:
    start, column, A = pairs.start, pairs.column, pairs.blocks
    for i in range(start.size - 1):
        a0, a1, a2 = f[3 * i], f[3 * i + 1], f[3 * i + 2]
        x0, x1, x2 = u[3 * i], u[3 * i + 1], u[3 * i + 2]
        for k in range(start[i], start[i + 1]):
            j, b = 3 * column[k], 6 * k
            prefetch(A, b + _AHEAD)
            d0, d1, d2 = u[j] - x0, u[j + 1] - x1, u[j + 2] - x2
            g0 = A[b] * d0 + A[b + 1] * d1 + A[b + 2] * d2
            g1 = A[b + 1] * d0 + A[b + 3] * d1 + A[b + 4] * d2
            g2 = A[b + 2] * d0 + A[b + 4] * d1 + A[b + 5] * d2
            a0 += g0
            a1 += g1
            a2 += g2
            f[j] -= g0
            f[j + 1] -= g1
            f[j + 2] -= g2
        f[3 * i], f[3 * i + 1], f[3 * i + 2] = a0, a1, a2
    skew = pairs.skew
    for k in range(skew.shape[0]):
        i, j = 3 * pairs.skew_row[k], 3 * pairs.skew_column[k]
        d0, d1, d2 = u[j] - u[i], u[j + 1] - u[i + 1], u[j + 2] - u[i + 2]
        g0 = skew[k, 0] * d1 + skew[k, 1] * d2
        g1 = skew[k, 2] * d2 - skew[k, 0] * d0
        g2 = -skew[k, 1] * d0 - skew[k, 2] * d1
        f[i] += g0
        f[i + 1] += g1
        f[i + 2] += g2
        f[j] += g0
        f[j + 1] += g1
        f[j + 2] += g2


@_jit
def row_sums_of_blocks(start: IntArray, blocks: FloatArray, bs: int) -> tuple[float, float]:
    """Largest entry of a matrix in BSR format, and largest entry of the sums of its block rows."""
    largest, off, size = 0.0, 0.0, bs * bs
    sums = np.zeros(size)
    for i in range(start.size - 1):
        sums[:] = 0.0
        for k in range(start[i], start[i + 1]):
            for c in range(size):
                value = blocks[k * size + c]
                sums[c] += value
                largest = max(largest, abs(value))
        for c in range(size):
            off = max(off, abs(sums[c]))
    return largest, off


@_jit
def count_pairs(
    start: IntArray, column: IntArray, blocks: FloatArray, bs: int, rounding: float, counts: IntArray
) -> int:
    """Write the numbers of nonzero, strictly upper blocks, by row; return how many are skew."""
    size, skewed = bs * bs, 0
    for i in range(start.size - 1):
        for k in range(start[i], start[i + 1]):
            if column[k] <= i:
                continue
            nonzero, skew = False, False
            for c in range(size):
                value = blocks[k * size + c]
                nonzero = nonzero or value != 0.0
                skew = skew or abs(value - blocks[k * size + c % bs * bs + c // bs]) > rounding
            counts[i] += nonzero
            skewed += nonzero and skew
    return skewed


@_jit
def fill_pairs(
    start: IntArray, column: IntArray, blocks: FloatArray, bs: int, rounding: float, pairs: Any
) -> None:
    """Fill :class:`.PairBlocks` of -K, with the row pointers filled already, from K in BSR format."""
    size, width, at_skew = bs * bs, bs * (bs + 1) // 2, 0
    for i in range(start.size - 1):
        at = pairs.start[i]
        for k in range(start[i], start[i + 1]):
            first = k * size
            nonzero = False
            for c in range(size):
                nonzero = nonzero or blocks[first + c] != 0.0
            if column[k] <= i or not nonzero:
                continue
            pairs.column[at] = column[k]
            c, d, skew = 0, 0, False
            for a in range(bs):
                for b in range(a, bs):
                    value, other = blocks[first + a * bs + b], blocks[first + b * bs + a]
                    pairs.blocks[at * width + c] = -(value + other) / 2
                    skew = skew or abs(value - other) > rounding
                    c += 1
            if skew:
                pairs.skew_row[at_skew], pairs.skew_column[at_skew] = i, column[k]
                for a in range(bs):
                    for b in range(a + 1, bs):
                        value, other = blocks[first + a * bs + b], blocks[first + b * bs + a]
                        pairs.skew[at_skew, d] = -(value - other) / 2
                        d += 1
                at_skew += 1
            at += 1
