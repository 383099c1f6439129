"""Several contacts of one system as one: a single system of rows."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .. import arguments
from ..algebra.operators import Rows, SharedRows
from .base import Contact
from .obstacles import Obstacle, Union


#: What a scheme takes: a contact, several of one system, or none.
Contacts = Contact | Sequence[Contact] | None


def as_contact(given: Any) -> Contact | None:
    """The contact itself; of several one system of rows; None for none. Collective for several.

    Raises:
        ValueError: Something else.
    """
    arguments.contact(given)
    if not isinstance(given, (list, tuple)):
        return given  # type: ignore[no-any-return]
    if len(given) < 2:
        return as_contact(given[0]) if given else None
    return ContactSet(given)


class ContactSet(Contact):
    """Contacts of one system, each with its own restitution, friction and obstacle, solved together.

    ``contact=[a, b]`` of a scheme makes one. Its points are those of the members one after another.

    Args:
        members: The contacts.

    Attributes:
        members: As given.

    Raises:
        ValueError: Something else than contacts, contacts of different systems, friction beside contacts of
            another kind, node pairs beside contacts that are not flat or have friction.
    """

    def __init__(self, members: Sequence[Contact]) -> None:
        self.members = tuple(members)
        wrong = [each for each in self.members if not isinstance(each, Contact)]
        if wrong:
            raise ValueError(f"contact= takes a contact or a list of contacts, not {wrong[0]!r} in a list")
        if any(each.system is not self.members[0].system for each in self.members):
            raise ValueError("the contacts of a list must be made for the same system")
        first = self.members[0]
        self.constant = all(each.constant for each in self.members)
        self.moving = any(each.moving for each in self.members)
        self._check_friction()
        ends = np.cumsum([each.count for each in self.members])
        self._parts = [slice(int(end) - each.count, int(end)) for end, each in zip(ends, self.members)]
        super().__init__(first.system, self._joined_rows(), gap_tolerance=first.gap_tolerance)
        self.touching, self.directions = first.touching, first.directions
        self.restitution = max(each.restitution for each in self.members)
        self.friction = max(each.friction for each in self.members)
        self.drift_correction = max(each.drift_correction for each in self.members)
        self.allow_penetration = all(each.allow_penetration for each in self.members)
        self.thickness = min(each.thickness for each in self.members)

    def _check_friction(self) -> None:
        shapes = {(each.frames().shape[1:], each.directions) for each in self.members
                  if not each.rows.collective}  # fmt: skip
        if any(each.friction > 0 for each in self.members) and len(shapes) > 1:
            kinds = ", ".join(type(each).__name__ for each in self.members)
            raise ValueError(
                f"with friction all contacts of a list must have the directions of space, not {kinds}"
            )
        shared = self.members[0].comm.allreduce(any(each.rows.collective for each in self.members))
        if shared and not (self.constant and all(each.friction == 0 for each in self.members)):
            raise ValueError("node pairs stand in a list with flat contacts without friction only")
        self._shared = bool(shared)

    def _joined_rows(self) -> Rows:
        """The rows of all members; those with fewer dofs are filled up with weights of zero."""
        longest = max(each.rows.order.shape[1] for each in self.members)
        order = [_wider(each.rows.order, longest) for each in self.members]
        keys = np.concatenate([np.insert(keys, 0, i, axis=1) for i, keys in enumerate(order)])
        if self._shared:
            return self._shared_rows(keys)
        width = max(each.rows.dofs.shape[1] for each in self.members)
        dofs = np.concatenate([_repeated(each.rows.dofs, width) for each in self.members])
        weights = np.concatenate([_wider(each.rows.weights, width) for each in self.members])
        return Rows(dofs, weights, keys)

    def _shared_rows(self, keys: NDArray) -> Rows:
        """Rows whose entries lie on several ranks, by the place of each among those of all ranks."""
        comm = self.members[0].comm
        counts = np.array(comm.allgather([each.count for each in self.members]))  # (ranks, members)
        before = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        points, dofs, weights = [], [], []
        for i, each in enumerate(self.members):
            # Of a member's points in rank order: the rank of each, and its place among those of the rank.
            rank = np.repeat(np.arange(comm.size), counts[:, i])
            place = before[rank] + counts[rank, :i].sum(axis=1) + np.arange(rank.size)
            place -= np.concatenate([[0], np.cumsum(counts[:, i])])[rank]
            rows, k = each.rows, each.rows.dofs.shape[1]
            own = np.repeat(np.arange(each.total)[each.mine], k)
            mine = rows.point if isinstance(rows, SharedRows) else own
            points.append(place[mine])
            dofs.append(rows.dofs.ravel())
            weights.append(rows.weights.ravel())
        point, dof, weight = (np.concatenate(part) for part in (points, dofs, weights))
        return SharedRows(comm, point, dof, weight, keys)

    @property
    def obstacle(self) -> Obstacle | None:
        """The union of the members' obstacles; None where there are none."""
        known = [getattr(each, "obstacle", None) for each in self.members]
        shapes = [each for each in known if each is not None]
        return Union(shapes) if shapes else None

    def _of_points(self, name: str) -> NDArray:
        values = self._filled[name]
        for each, part in zip(self.members, self._parts):
            values[part] = getattr(each, name)
        return values

    # -- gaps and rows

    @property
    def time(self) -> float:  # type: ignore[override]
        """Time at which gaps and normals are asked for [s]."""
        return self.members[0].time

    @time.setter
    def time(self, t: float) -> None:
        for each in self.members:
            each.time = t

    def gap(self, u: NDArray) -> NDArray:
        """Gaps of all members, shape (p,) [m]."""
        return np.concatenate([each.gap(u) for each in self.members])

    def evaluate(self, u: NDArray) -> NDArray:
        """See :meth:`.Contact.evaluate`."""
        return self._brought_up_to_date(lambda each: each.evaluate(u))

    def evaluate_along(self, u: NDArray, v: NDArray) -> NDArray:
        """See :meth:`.Contact.evaluate_along`."""
        return self._brought_up_to_date(lambda each: each.evaluate_along(u, v))

    def touch(self, u: NDArray, v: NDArray | None = None) -> NDArray[np.bool_]:
        """See :meth:`.Contact.touch`."""
        return self._brought_up_to_date(lambda each: each.touch(u, v))

    def _brought_up_to_date(self, look: Callable[[Contact], NDArray]) -> NDArray:
        """What every member finds, its rows taken over."""
        found = []
        for each, part in zip(self.members, self._parts):
            found.append(look(each))
            if not each.constant:
                self.rows.weights[part, : each.rows.weights.shape[1]] = each.rows.weights
        return np.concatenate(found)

    def closed(self, gap: NDArray) -> NDArray[np.bool_]:
        """Which points count as closed, each by its own tolerance, shape (p,)."""
        parts = zip(self.members, self._parts)
        return np.concatenate([each.closed(gap[part]) for each, part in parts])

    def frames(self) -> NDArray:
        """See :meth:`.Contact.frames`; without friction the normal rows alone."""
        if self.friction == 0:
            return super().frames()
        return np.concatenate([each.frames() for each in self.members])

    def surface_velocity(self, t: float) -> NDArray:
        """See :meth:`.Contact.surface_velocity`."""
        if self._shared:
            return np.zeros(self.rows.dofs.shape)
        width = self.rows.dofs.shape[1]
        return np.concatenate([_wider(each.surface_velocity(t), width) for each in self.members])

    def slip(self, v: NDArray, t: float = 0.0) -> NDArray:
        """See :meth:`.Contact.slip`."""
        return np.concatenate([each.slip(v, t) for each in self.members])

    def places(self, u: NDArray) -> NDArray | None:
        """See :meth:`.Contact.places`."""
        found = [each.places(u) for each in self.members]
        return None if any(x is None for x in found) else np.concatenate(found)  # type: ignore[arg-type]

    def approach(self) -> Rows | None:
        """See :meth:`.Contact.approach`; None unless all members have such rows."""
        every = [each.approach() for each in self.members]
        kept = [rows for rows in every if rows is not None]
        if len(kept) < len(every):
            return None
        width, keys = (max(getattr(rows, name).shape[1] for rows in kept) for name in ("dofs", "order"))
        return Rows(
            np.concatenate([_repeated(rows.dofs, width) for rows in kept]),
            np.concatenate([_wider(rows.weights, width) for rows in kept]),
            np.concatenate([np.insert(_wider(each.order, keys), 0, i, axis=1)
                            for i, each in enumerate(kept)]),
        )

    def restitution_laws(self) -> tuple[float, ...]:
        """See :meth:`.Contact.restitution_laws`."""
        return tuple(sorted({each.restitution for each in self.members}))

    # -- what a step leaves to the next one

    @property
    def remembers(self) -> bool:
        """Whether the next step needs more of this one than positions and velocities."""
        return any(each.remembers for each in self.members)

    def speeds(self, u: NDArray, v: NDArray) -> NDArray:
        """See :meth:`.Contact.speeds`; zero where nothing can be jumped over."""
        found = [each.speeds(u, v) * (each.thickness < np.inf) for each in self.members]
        return np.concatenate(found)

    @property
    def failure(self) -> Exception | None:  # type: ignore[override]
        """What ends the run, where this rank alone may have seen it."""
        failures = [getattr(each, "failure", None) for each in self.members]
        return next((each for each in failures if each is not None), None)

    def start(self, u: NDArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        for each in self.members:
            each.start(u, t)

    def keep(self) -> None:
        """See :meth:`.Contact.keep`."""
        super().keep()
        for each in self.members:
            each.keep()

    def past(self) -> dict[str, NDArray]:
        """See :meth:`.Contact.past`; other members' points have NaN."""
        kept = super().past()
        for i, (each, part) in enumerate(zip(self.members, self._parts)):
            for name, values in each.past().items():
                if name not in ("closed", "L"):
                    whole = np.full((self.count, *values.shape[1:]), np.nan)
                    whole[part] = values
                    kept[f"{i}.{name}"] = whole
        return kept

    def resume(self, past: Mapping[str, NDArray]) -> None:
        """See :meth:`.Contact.resume`."""
        super().resume(past)
        for i, (each, part) in enumerate(zip(self.members, self._parts)):
            mine = {name: values[part] for name, values in past.items() if name.startswith(f"{i}.")}
            each.resume({name.split(".", 1)[1]: values for name, values in mine.items()})


def _wider(values: NDArray, width: int) -> NDArray:
    """Columns of zeros behind those given."""
    return np.pad(values, ((0, 0), (0, width - values.shape[1])))


def _repeated(dofs: NDArray, width: int) -> NDArray:
    """The first column repeated behind those given, shape (p, width)."""
    return np.hstack([dofs, np.repeat(dofs[:, :1], width - dofs.shape[1], axis=1)])
