"""Kernels over all dofs in NumPy (see :mod:`dolfinx_impact.algebra.kernels`)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..._types import FloatArray, Forces, IntArray

COMPILED = False


def gather(values: FloatArray, places: IntArray, out: FloatArray) -> None:
    """``out = values[places]``."""
    np.take(values, places, out=out, mode="clip")


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
    i, j = ends.T
    now = lines + u[j] - u[i]
    length = np.einsum("ij,ij->i", now, now)
    square, ratio = length * inverse, length / then
    rate = np.einsum("ij,ij->i", now, v[j] - v[i]) / length
    out[0], out[1] = np.max(-square, initial=-np.inf), np.max(square, initial=0.0)
    out[2] = np.max(np.abs(rate), initial=0.0)
    out[3] = max(np.max(ratio, initial=1.0), np.max(1 / ratio, initial=1.0))


def dot(x: FloatArray, y: FloatArray) -> float:
    """``x.y``."""
    return float(np.dot(x, y))


def row_sums(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Sums of ``weights * values`` along each row, shape (p,)."""
    sums: FloatArray = np.einsum("pk,pk->p", weights, values)
    return sums


def add_vectors(
    dofs: IntArray, weights: FloatArray, r: FloatArray, f: FloatArray, d: FloatArray, out: FloatArray
) -> None:
    """``out += D (L^T r + W^T f)`` of rows with dofs of shape (p, k): see the compiled version."""
    hit = r.nonzero()[0]
    np.add.at(out, dofs[hit], weights[hit] * r[hit, None] * (d[dofs[hit]] if d.size else 1.0))
    if len(f):
        hit = np.flatnonzero(f.any(axis=1))
        np.add.at(out, dofs[hit], f[hit] * (d[dofs[hit]] if d.size else 1.0))


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
    """Write tangential impulses of points with one mass each: see the compiled version."""
    hit = r.nonzero()[0]
    n, w = normals[hit], inverse[hit]
    after = v[dofs[hit]] + n * r[hit, None] * w
    if len(moved):
        after -= moved[hit]
    found = -(after - np.einsum("pk,pk->p", n, after)[:, None] * n) / w.max(axis=1, keepdims=True)
    length, radius = np.sqrt(np.add.reduce(found * found, axis=1)), friction[hit] * r[hit]
    outside = length > radius
    found[outside] *= (radius[outside] / length[outside])[:, None]
    r_t[hit] = found


def fused_update(u: FloatArray, v: FloatArray, f: FloatArray, w: FloatArray, h: float) -> None:
    """``v += w f``, then ``u += h v``: the minimal explicit step without contact."""
    v += w * f
    u += h * v


def trapezoidal_sums(
    m: FloatArray, v: FloatArray, u: FloatArray, u_before: FloatArray, before: Forces, after: Forces
) -> tuple[float, float, float, float, float]:
    """Energies at the end of a step, works of mean forces in it: see the compiled version."""
    du = u - u_before
    works = [np.dot(du, f0 + f1) / 2 for f0, f1 in zip(before, after)]
    return np.dot(m, v * v) / 2, np.dot(u, after[0]) / 2, works[0], works[1], works[2]


def subtract_rows(start: IntArray, column: IntArray, K: FloatArray, u: FloatArray, f: FloatArray) -> None:
    """``f -= K u`` with K in CSR format."""
    n = start.size - 1
    rows = (K, column.astype(np.int32), start.astype(np.int32))
    f[:n] -= sparse.csr_matrix(rows, shape=(n, u.size)) @ u
