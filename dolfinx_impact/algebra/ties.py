"""Contact problems beside ties: impulses of any sign that stop their points are eliminated first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._types import BoolArray, FloatArray
from . import complementarity, coulomb


def solve(H: FloatArray, b: FloatArray, bilateral: FloatArray) -> FloatArray:
    """Impulses of complementarity, where those of ties have any sign and stop their points, shape (p,)."""
    tied = bilateral > 0
    return _with_ties(complementarity.solve, H, b, tied, ~tied)


def coulomb_solve(
    H: FloatArray, b: FloatArray, mu: FloatArray, d: int, tied: BoolArray, start: FloatArray | None
) -> FloatArray:
    """Impulses with friction, d components a point, where ties have a normal one of any sign alone."""
    if not tied.any():
        return coulomb.solve(H, b, mu, d, start=start)
    free, along = np.repeat(~tied, d), np.zeros(b.size, dtype=bool)
    along[::d] = tied

    def law(H: FloatArray, b: FloatArray) -> FloatArray:
        return coulomb.solve(H, b, mu[~tied], d, start=None if start is None else start[free])

    return _with_ties(law, H, b, along, free)


def _with_ties(
    law: Callable[[FloatArray, FloatArray], FloatArray],
    H: FloatArray,
    b: FloatArray,
    tied: BoolArray,
    free: BoolArray,
) -> FloatArray:
    """Impulses by a law for those that are free, where those of ties make ``H r + b`` zero; others are 0.

    Args:
        law: Function of H and b of the free impulses.
        H: Delassus operator, shape (n, n).
        b: Free velocities, shape (n,).
        tied, free: Masks, shape (n,).
    """
    r, cross = np.zeros(b.size), H[np.ix_(free, tied)]
    right = np.column_stack([H[np.ix_(tied, free)], b[tied]])
    # Ties whose rows depend on each other have no unique impulses.
    given = np.linalg.lstsq(H[np.ix_(tied, tied)], right, rcond=1e-13)[0]
    r[free] = law(H[np.ix_(free, free)] - cross @ given[:, :-1], b[free] - cross @ given[:, -1])
    r[tied] = -given[:, -1] - given[:, :-1] @ r[free]
    return r
