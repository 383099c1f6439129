"""Kernels over all dofs in NumPy (see :mod:`dolfinx_impact.algebra.kernels`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

COMPILED = False


def gather(values: NDArray, places: NDArray, out: NDArray) -> None:
    """``out = values[places]``."""
    np.take(values, places, out=out, mode="clip")


def measure_lines(
    ends: NDArray, lines: NDArray, inverse: NDArray, u: NDArray, v: NDArray, out: NDArray
) -> None:
    """Write minus the smallest and the largest squared stretch, and the largest logarithmic stretch rate."""
    i, j = ends.T
    now = lines + u[j] - u[i]
    length = np.einsum("ij,ij->i", now, now)
    square = length * inverse
    rate = np.einsum("ij,ij->i", now, v[j] - v[i]) / length
    out[0], out[1] = np.max(-square, initial=-np.inf), np.max(square, initial=0.0)
    out[2] = np.max(np.abs(rate), initial=0.0)


def dot(x: NDArray, y: NDArray) -> float:
    """``x.y``."""
    return float(np.dot(x, y))


def row_sums(weights: NDArray, values: NDArray) -> NDArray:
    """Sums of ``weights * values`` along each row, shape (p,)."""
    return np.einsum("pk,pk->p", weights, values)


def fused_update(u: NDArray, v: NDArray, f: NDArray, w: NDArray, h: float) -> None:
    """``v += w f``, then ``u += h v``: the minimal explicit step without contact."""
    v += w * f
    u += h * v


def trapezoidal_sums(
    m: NDArray, v: NDArray, u: NDArray, u_before: NDArray, before: tuple, after: tuple
) -> tuple[float, float, float, float, float]:
    """Energies at the end of a step, works of mean forces in it: see the compiled version."""
    du = u - u_before
    works = [np.dot(du, f0 + f1) / 2 for f0, f1 in zip(before, after)]
    return np.dot(m, v * v) / 2, np.dot(u, after[0]) / 2, works[0], works[1], works[2]


def subtract_rows(start: NDArray, column: NDArray, K: NDArray, u: NDArray, f: NDArray) -> None:
    """``f -= K u`` with K in CSR format."""
    n = start.size - 1
    rows = (K, column.astype(np.int32), start.astype(np.int32))
    f[:n] -= sparse.csr_matrix(rows, shape=(n, u.size)) @ u
