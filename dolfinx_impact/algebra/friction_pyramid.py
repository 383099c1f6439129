"""Starting points for the friction problem from friction pyramids, a linear complementarity problem."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._types import FloatArray
from . import complementarity

_EDGES = (8, 16)


def starts(S: FloatArray, c: FloatArray, m: FloatArray, d: int) -> Iterator[FloatArray]:
    """Solutions with friction pyramids of increasing numbers of edges, shape (p d,) each.

    Stewart and Trinkle, Int. J. Numer. Meth. Engng 39 (1996): unknowns of each point are the normal impulse,
    one impulse along each edge, all at least 0, and the slip speed. Solved by Lemke's method.

    Args:
        S: Scaled Delassus operator, shape (p d, p d), d = 2 or 3.
        c: Scaled free velocities, shape (p d,).
        m: Coulomb's coefficients for the scaled impulses, shape (p,).
        d: Number of components per point.
    """
    for edges in _EDGES if d == 3 else (2,):
        angles = 2 * np.pi * (np.arange(edges) + 0.5) / edges
        along = np.stack([np.cos(angles), np.sin(angles)]) if d == 3 else np.array([[1.0, -1.0]])
        point = np.zeros((d, 1 + edges))
        point[0, 0], point[1:, 1:] = 1.0, along
        part = np.kron(np.eye(m.size), point)
        speeds = np.kron(np.eye(m.size), np.append(0.0, np.ones(edges))[:, None])
        limits = np.kron(np.diag(m), np.append(1.0, np.zeros(edges))[None, :]) - speeds.T
        matrix = np.block([[part.T @ S @ part, speeds], [limits, np.zeros((m.size, m.size))]])
        free = np.concatenate([part.T @ c, np.zeros(m.size)])
        for solution in complementarity.lemke(matrix, free):
            yield part @ solution[: part.shape[1]]
