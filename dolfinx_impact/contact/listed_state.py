"""Several contacts of one system at given displacements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._types import BoolArray, FloatArray
from ..algebra.operators import SparseRows
from ..algebra.stacked_rows import wider
from .state import ContactState

if TYPE_CHECKING:
    from .contact_set import ContactSet


class ListedState(ContactState):
    """States of the members, their points one contact after the other.

    Args:
        contact: The contacts, in the state of now.
        t: Time at which the obstacles have their places [s].
        closed: Mask of the closed points of all members, shape (p,).
        members: The states of the members.
        gap: Gaps of all points, shape (p,) [m]; None where those of the closed ones alone were looked at.

    Attributes:
        members: As given.
    """

    __slots__ = ("members",)
    contact: ContactSet

    def __init__(
        self,
        contact: ContactSet,
        t: float,
        closed: BoolArray,
        members: Sequence[ContactState],
        gap: FloatArray | None = None,
    ) -> None:
        super().__init__(contact, t, closed, gap)
        self.members = tuple(members)

    @property
    def outdated(self) -> bool:
        """See :attr:`.ContactState.outdated`; also where a member alone has gone on."""
        return super().outdated or any(each.outdated for each in self.members)

    @property
    def bases(self) -> FloatArray:
        """See :attr:`.ContactState.bases`; without friction only the normal rows."""
        contact, L = self.contact, self.L
        if contact.friction > 0:
            return np.concatenate([each.bases for each in self.members])
        if contact.stacked:
            return self._wider([each.bases[:, 0] for each in self.members])[:, None, :]
        return L.weights[:, None, :] if isinstance(L, SparseRows) else np.ones((L.count, 1, 1))

    def surface_velocity(self, t: float) -> FloatArray:
        """See :meth:`.ContactState.surface_velocity`."""
        if self.contact.shared:  # flat and at rest
            return np.zeros((self.closed.size, self.L.components))
        return self._wider([each.surface_velocity(t) for each in self.members])

    def surface_way(self, since: float) -> FloatArray:
        """See :meth:`.ContactState.surface_way`."""
        if self.contact.shared:
            return np.zeros((self.closed.size, self.L.components))
        return self._wider([each.surface_way(since) for each in self.members])

    def surface_acceleration(self, t: float, step: float) -> FloatArray:
        """See :meth:`.ContactState.surface_acceleration`."""
        if self.contact.shared:
            return self.surface_velocity(t)
        return self._wider([each.surface_acceleration(t, step) for each in self.members])

    def approach_velocity(self, v: FloatArray, t: float) -> FloatArray:
        """See :meth:`.ContactState.approach_velocity`."""
        if not (self.contact.stacked and self.contact.moving):
            return super().approach_velocity(v, t)
        return np.concatenate([each.approach_velocity(v, t) for each in self.members])

    def _wider(self, vectors: Sequence[FloatArray]) -> FloatArray:
        """Vectors at the points of all members, padded to those of L."""
        width = self.contact.L.components
        return np.concatenate([wider(each, width) for each in vectors])
