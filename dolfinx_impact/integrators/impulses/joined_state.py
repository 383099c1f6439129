"""A contact at given displacements together with rows of features."""

from __future__ import annotations

import numpy as np

from ..._types import BoolArray, FloatArray
from ...algebra import coulomb
from ...algebra.contact_operator import ContactOperator
from ...algebra.node_rows import NodeRows
from ...algebra.stacked_rows import StackedRows, wider
from ...contact.state import ContactState


class JoinedState(ContactState):
    """The points of a contact, then rows of features, all of which are closed.

    Args:
        state: The contact.
        closed: Its points that are taken as closed, shape (p,).
        rows: The rows of features of this rank.
        friction: Coulomb's coefficients of these, shape (m,).
    """

    __slots__ = ("_features", "_friction", "_rows", "_state")

    def __init__(self, state: ContactState, closed: BoolArray, rows: NodeRows, friction: FloatArray) -> None:
        super().__init__(state.contact, state.t, np.append(closed, np.ones(rows.count, dtype=bool)))
        self._state, self._features, self._friction = state, rows, friction
        members = state.L.members if isinstance(state.L, StackedRows) else (state.L,)
        self._rows = StackedRows([*members, rows], np.zeros((self.closed.size, 1)))

    @property
    def L(self) -> ContactOperator:
        """See :attr:`.ContactState.L`."""
        return self._rows

    @property
    def frictions(self) -> FloatArray:
        """See :attr:`.ContactState.frictions`."""
        return np.append(self._state.frictions, self._friction)

    @property
    def bilateral(self) -> BoolArray:
        """See :attr:`.ContactState.bilateral`."""
        return np.append(self._state.bilateral, np.zeros(self._features.count, dtype=bool))

    @property
    def bases(self) -> FloatArray:
        """See :attr:`.ContactState.bases`."""
        own = self._features.normals()
        bases = np.concatenate([own[:, None, :], coulomb.tangents(own)], axis=1)
        return np.concatenate([self._state.bases, bases])

    def surface_velocity(self, t: float) -> FloatArray:
        """See :meth:`.ContactState.surface_velocity`; zero for features."""
        velocity = self._state.surface_velocity(t)
        rest = np.zeros((self._features.count, velocity.shape[1]))
        return np.concatenate([wider(velocity, self._rows.components), wider(rest, self._rows.components)])
