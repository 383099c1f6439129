"""Rest and natural frequencies of a crane that is whole on one rank: of the solid one and of the frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from .... import Contact, Solid
from ....algebra.operators import SparseRows, coordinate_order
from ....contact.statics import tied_equilibrium
from ....systems.body import Body
from ...case import Values
from . import model

#: Lower ones are those of rigid motions [Hz].
_RIGID = 0.1


class MeanGaps(Contact):
    """The mean gap of each wheel, weighted by the areas of the nodes of its tread.

    A force at a mean gap presses evenly on the whole tread.
    """

    def __init__(self, body: Solid, p: Values) -> None:
        dofs, weights = [], []
        for name, sign in (("wheel treads", 1.0), ("rail treads", -1.0)):
            nodes = body.nodes(name)
            nodes = nodes[np.lexsort(coordinate_order(body.x[nodes], body.length).T[::-1])]
            which, area = model.wheel_of(body.x[nodes], p), body.mass[3 * nodes]
            for wheel in range(4):
                own = which == wheel
                dofs.append(3 * nodes[own] + 2)
                weights.append(sign * area[own] / area[own].sum())
        columns, values = (np.hstack([part[:4], part[4:]]) for part in (np.array(dofs), np.array(weights)))
        super().__init__(body, SparseRows(columns, values, np.arange(4.0)[:, None]))

    def gap(self, u: NDArray, t: float = 0.0) -> NDArray:
        """Mean gaps beyond those of the treads as they are drawn, shape (4,) [m]."""
        return self.L(u)


def at_rest(body: Solid, p: Values) -> tuple[NDArray, NDArray]:
    """Equilibrium under gravity with tied wheels that press evenly on their treads.

    Returns:
        Displacements, shape (nodes, 3) [m], and forces of the wheels, shape (4,) [N].
    """
    trolley = np.flatnonzero(body.x[:, 2] > body.x[:, 2].max() - 1e-6)
    corners = trolley[np.lexsort(body.x[trolley].T[::-1])][[0, -1]]
    hold = [3 * corners[0], 3 * corners[0] + 1, 3 * corners[1] + 1]
    u, reactions = tied_equilibrium(body, MeanGaps(body, p), hold=[int(dof) for dof in hold])
    return u.reshape(-1, 3), reactions


def natural_frequencies(body: Body, count: int, tied: SparseRows | None = None) -> list[float]:
    """The lowest natural frequencies but those of rigid motions, ascending [Hz].

    Args:
        body: The body, linear, on one rank.
        count: How many.
        tied: Rows that are held at zero, each of a first dof of its own and others; None for none.
    """
    free = np.flatnonzero(~body.constrained)
    T = _reduction(body.size, free, tied)
    K, M = (T.T @ A @ T for A in (body.stiffness.scipy(), sparse.diags(body.mass)))
    shift = (2 * np.pi * 1.0) ** 2  # rigid motions: K alone is singular
    factors = splu((K + shift * M).tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    inverse: Any = LinearOperator(K.shape, matvec=factors.solve)
    begin = np.random.default_rng(1).normal(size=K.shape[0])  # the same numbers in every run
    values = eigsh(K, count + 6, M, sigma=-shift, OPinv=inverse, v0=begin, return_eigenvectors=False)
    frequencies = np.sort(np.sqrt(np.maximum(values, 0.0))) / (2 * np.pi)
    return [float(f) for f in frequencies[frequencies > _RIGID][:count]]


def _reduction(size: int, free: NDArray, tied: SparseRows | None) -> sparse.csr_matrix:
    """Matrix from independent dofs to all: the first dof of each tied row follows from its others."""
    follows = np.zeros(0, dtype=np.intp) if tied is None else tied.dofs[:, 0]
    kept = np.setdiff1d(free, follows)
    place = np.full(size, -1)
    place[kept] = np.arange(kept.size)
    rows, columns, values = [kept], [np.arange(kept.size)], [np.ones(kept.size)]
    if tied is not None:
        rows.append(np.repeat(follows, tied.dofs.shape[1] - 1))
        columns.append(place[tied.dofs[:, 1:]].ravel())
        values.append((-tied.weights[:, 1:] / tied.weights[:, :1]).ravel())
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_matrix(entries, shape=(size, kept.size))
