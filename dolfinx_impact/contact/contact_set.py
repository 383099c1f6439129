"""Union of several contacts of one system, with one common contact operator L."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import arguments
from .._types import AnyArray, BoolArray, FloatArray, IntArray
from ..algebra.contact_operator import ContactOperator
from ..algebra.operators import SharedSparseRows, SparseRows, of_points
from ..algebra.stacked_rows import StackedRows, wider
from .base import Contact
from .listed_nodes import ListedNodes, joined, repeated
from .listed_state import ListedState
from .obstacles import UnionObstacle
from .state import ContactState

#: Coefficients of a contact and of its points.
_OF_POINTS = {"restitution": "restitutions", "friction": "frictions", "drift_correction": "feedbacks"}
#: The ``contact`` argument of schemes: a contact, several of one system, or None.
Contacts = Contact | Sequence[Contact] | None


def as_contact(given: Any) -> Contact | None:
    """The contact itself; several as a :class:`ContactSet`; None for none. Collective for several.

    Raises:
        ValueError: Something else.
    """
    arguments.contact(given)
    if not isinstance(given, (list, tuple)):
        return given  # type: ignore[no-any-return]
    if len(given) < 2:
        return as_contact(given[0]) if given else None
    return ContactSet([each for several in given for each in _alone(several)])


def _alone(contact: Any) -> Sequence[Any]:
    """The contacts of one that has points between nodes, which the scheme has with the others."""
    if not getattr(contact, "between_nodes", False) or not isinstance(contact, ContactSet):
        return (contact,)
    contact.take()
    return contact.members


class ContactSet(Contact):
    """Contacts of one system with their own restitution, friction and obstacle, solved as one problem.

    ``contact=[a, b]`` of a scheme creates one. Its points are those of the members, concatenated.

    Args:
        members: The contacts.

    Attributes:
        parts: The range of points of each member.

    Raises:
        ValueError: Members that are not contacts, contacts of different systems, friction together with
            contacts that have no tangents (:class:`.DofBound`, node pairs without friction), node pairs
            together with contacts that are curved or have friction.
    """

    compiled = None  # type: ignore[assignment]
    _NODES = ListedNodes

    def __init__(self, members: Sequence[Contact]) -> None:
        self._members = tuple(members)
        wrong = [each for each in members if not isinstance(each, Contact)]
        if wrong:
            raise ValueError(f"contact= takes a contact or a list of contacts, not {wrong[0]!r} in a list")
        if any(isinstance(each, ContactSet) for each in members):
            raise ValueError("contact= takes one list: give the contacts of the list within it themselves")
        if len({id(each) for each in members}) < len(members):
            raise ValueError("a contact stands twice in the list: its points would be counted twice")
        if any(each.system is not self.members[0].system for each in self.members):
            raise ValueError("the contacts of a list must be made for the same system")
        first = self.members[0]
        self.constant = all(each.constant for each in self.members)
        self.moving = any(each.moving for each in self.members)
        self.swept = any(each.swept for each in self.members)
        self.velocity_level_only = any(each.velocity_level_only for each in self.members)
        self.between_nodes = any(each.between_nodes for each in self.members)
        self._check_friction()
        ends = np.cumsum([each.count for each in self.members])
        self.parts = [slice(int(end) - each.count, int(end)) for end, each in zip(ends, self.members)]
        super().__init__(first.system, self._joined_rows(), gap_tolerance=first.gap_tolerance)
        self.touching, self.directions = first.touching, first.directions
        self.restitution = max(each.restitution for each in self.members)
        self.friction = max(each.friction for each in self.members)
        self.drift_correction = max(each.drift_correction for each in self.members)
        self.allow_penetration = all(each.allow_penetration for each in self.members)
        self.thickness = min(each.thickness for each in self.members)
        shapes = [shape for each in self.members if (shape := getattr(each, "obstacle", None)) is not None]
        #: The union of the members' obstacles; None where there are none.
        self.obstacle = UnionObstacle(shapes) if shapes else None

    @property
    def members(self) -> tuple[Contact, ...]:
        """The contacts, as given."""
        return self._members

    def _check_friction(self) -> None:
        self.shared = False
        self.stacked = self.velocity_level_only
        shapes = {(each.now(0.0).bases.shape[1:], each.directions) for each in self.members}
        if any(each.friction > 0 for each in self.members) and len(shapes) > 1:
            kinds = ", ".join(type(each).__name__ for each in self.members)
            raise ValueError(
                f"with friction all contacts of a list must have the directions of space, not {kinds}: leave "
                "friction out, or what has no tangents (DofBound, node pairs without friction)"
            )
        if self.stacked:
            return
        shared = self.members[0].comm.allreduce(any(each.L.collective for each in self.members))
        if shared and not (self.constant and all(each.friction == 0 for each in self.members)):
            raise ValueError("node pairs stand in a list with flat contacts without friction only")
        self.shared = bool(shared)

    def _joined_rows(self) -> ContactOperator:
        """Rows of all members; those with fewer dofs are padded with zero weights."""
        longest = max(each.L.order.shape[1] for each in self.members)
        order = [wider(each.L.order, longest) for each in self.members]
        keys = np.concatenate([np.insert(keys, 0, i, axis=1) for i, keys in enumerate(order)])
        if self.stacked:
            return StackedRows([each.L for each in self.members], keys)
        if self.shared:
            return self._shared_rows(keys)
        rows = [of_points(each.L) for each in self.members]
        width = max(each.dofs.shape[1] for each in rows)
        dofs = np.concatenate([repeated(each.dofs, width) for each in rows])
        weights = np.concatenate([wider(each.weights, width) for each in rows])
        return SparseRows(dofs, weights, keys)

    def _shared_rows(self, keys: IntArray) -> SharedSparseRows:
        """Distributed rows of all members, numbered by rank and then by member."""
        comm = self.members[0].comm
        counts = np.array(comm.allgather([each.count for each in self.members]))  # (ranks, members)
        before = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        points, dofs, weights = [], [], []
        for i, each in enumerate(self.members):
            # For each of a member's points in rank order: its rank, and its number in the set.
            rank = np.repeat(np.arange(comm.size), counts[:, i])
            place = before[rank] + counts[rank, :i].sum(axis=1) + np.arange(rank.size)
            place -= np.concatenate([[0], np.cumsum(counts[:, i])])[rank]
            rows: Any = each.L
            local = np.repeat(np.arange(each.total)[each.mine], rows.dofs.size // max(1, rows.count))
            points.append(place[rows.point if isinstance(rows, SharedSparseRows) else local])
            dofs.append(rows.dofs.ravel())
            weights.append(rows.weights.ravel())
        point, dof = np.concatenate(points), np.concatenate(dofs)
        return SharedSparseRows(comm, point, dof, np.concatenate(weights), keys)

    @property
    def bilateral(self) -> BoolArray:
        """See :attr:`.Contact.bilateral`."""
        return np.concatenate([each.bilateral for each in self.members])

    def _of_points(self, name: str) -> FloatArray:
        values = self._coefficients[name]
        for each, part in zip(self.members, self.parts):
            values[part] = getattr(each, _OF_POINTS[name])
        return values

    # -- gaps and rows

    def press(self, which: BoolArray) -> None:
        """See :meth:`.Contact.press`."""
        for each, part in zip(self.members, self.parts):
            each.press(which[part])

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Gaps of all members at ``t``, shape (p,) [m]."""
        return np.concatenate([each.gap(u, t) for each in self.members])

    def gap_on_all_ranks(self, u: FloatArray, t: float) -> FloatArray:
        """See :meth:`.Contact.gap_on_all_ranks`; each member agrees on its own errors."""
        return np.concatenate([each.gap_on_all_ranks(u, t) for each in self.members])

    def at(
        self, u: FloatArray, v: FloatArray | None = None, t: float = 0.0, *, every: bool = False
    ) -> ListedState:
        """See :meth:`.Contact.at`."""
        self.evaluations += 1
        states = [each.at(u, v, t, every=every) for each in self.members]
        for each, part in zip(self.members, self.parts):
            if not each.constant and not self.stacked:
                weights = of_points(each.L).weights
                of_points(self.L).weights[part, : weights.shape[1]] = weights
        closed = np.concatenate([each.closed for each in states])
        return ListedState(
            self, t, closed, states, np.concatenate([s.gap for s in states]) if every else None
        )

    def now(self, t: float) -> ListedState:
        """See :meth:`.Contact.now`."""
        return ListedState(self, t, self.closed_before.copy(), [each.now(t) for each in self.members])

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("contacts of a list have bases and velocities in a state alone: at(u, v, t)")

    local_bases = surface_velocity = surface_acceleration = _refuse  # type: ignore[assignment]

    def closed(self, gap: FloatArray) -> BoolArray:
        """Mask of the closed points, shape (p,), with the tolerance of each member."""
        parts = zip(self.members, self.parts)
        return np.concatenate([each.closed(gap[part]) for each, part in parts])

    def places(self, u: FloatArray) -> FloatArray | None:
        """See :meth:`.Contact.places`; NaN at points of members that do not know theirs."""
        return joined(self.members, [each.places(u) for each in self.members])

    def approach(self) -> SparseRows | None:
        """See :meth:`.Contact.approach`; None unless all members provide such rows."""
        members = [rows for each in self.members if (rows := each.approach()) is not None]
        if len(members) < len(self.members):
            return None
        width, keys = (max(getattr(rows, name).shape[1] for rows in members) for name in ("dofs", "order"))
        return SparseRows(
            np.concatenate([repeated(rows.dofs, width) for rows in members]),
            np.concatenate([wider(rows.weights, width) for rows in members]),
            np.concatenate(
                [np.insert(wider(each.order, keys), 0, i, axis=1) for i, each in enumerate(members)]
            ),
        )

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        for each in self.members:
            each.start(u, t)

    def accept(self, state: ContactState | None) -> None:
        """See :meth:`.Contact.accept`."""
        super().accept(state)
        states = state.members if isinstance(state, ListedState) else (None,) * len(self.members)
        for each, own in zip(self.members, states):
            each.accept(own)

    def past(self) -> dict[str, AnyArray]:
        """See :meth:`.Contact.past`; variables of a member are NaN at the points of the others."""
        history: dict[str, AnyArray] = {}
        if self.stacked and self.drift_correction > 0 and not self.constant:
            history["closed"] = self.closed_before.astype(np.float64)
        elif not self.stacked:
            history = super().past()
        # Rows that are not copied into common ones belong to the members.
        common = ("closed",) if self.stacked else ("closed", "L")
        for i, (each, part) in enumerate(zip(self.members, self.parts)):
            for name, values in each.past().items():
                if name not in common:
                    padded = np.full((self.count, *values.shape[1:]), np.nan)
                    padded[part] = values
                    history[f"{i}.{name}"] = padded
        return history

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Contact.resume`."""
        super().resume(past)
        for i, (each, part) in enumerate(zip(self.members, self.parts)):
            history = {name: values[part] for name, values in past.items() if name.startswith(f"{i}.")}
            each.resume({name.split(".", 1)[1]: values for name, values in history.items()})
