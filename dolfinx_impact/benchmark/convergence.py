"""Errors and orders of convergence as Di Stasio et al. (2019) measure them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def norm35(found: ArrayLike, true: ArrayLike) -> float:
    """``sum |f_i - f(t_i)| / sum |f(t_i)|``, (35) there; shapes (n,), or (n, k) for vectors (Euclidean)."""
    f, reference = (np.asarray(x, dtype=np.float64).reshape(len(np.atleast_1d(x)), -1) for x in (found, true))
    return float(np.linalg.norm(f - reference, axis=1).sum() / np.linalg.norm(reference, axis=1).sum())


def at_times(t: NDArray, values: NDArray, times: NDArray) -> NDArray:
    """Samples ``values``, shape (n, ...), of a run at ``times`` [s] among its own ``t``, or a ValueError."""
    nearest = np.clip(np.searchsorted(t, times - 0.5 * (t[1] - t[0])), 0, len(t) - 1)
    if np.max(np.abs(t[nearest] - times)) > 1e-6 * (t[1] - t[0]):
        raise ValueError("the runs were not sampled at the same times")
    return values[nearest]


def order(steps: Sequence[float] | NDArray, errors: Sequence[float] | NDArray) -> float:
    """Slope of log(error) over log(step), fitted by least squares."""
    return float(np.polyfit(np.log(np.asarray(steps)), np.log(np.asarray(errors)), 1)[0])
