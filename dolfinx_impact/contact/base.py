"""Unilateral contact: gap function g(u), contact operator L = dg/du, coefficients of the contact laws.

``g > 0`` is open, ``g < 0`` is penetration; the normal n points from the obstacle to the free side; the
normal velocity is ``L v``, and an impulse ``r >= 0`` [N s] acts on the system as ``+L^T r``.
"""

from __future__ import annotations

import logging
import math
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from .. import arguments, descriptions, parallel
from .._types import AnyArray, BoolArray, FloatArray
from ..algebra import kernels
from ..algebra.contact_operator import ContactOperator
from ..algebra.operators import SparseRows, of_points
from ..systems.loads import derivative
from ..systems.system import System, system_and_parts
from .active_sides import ActiveSides
from .compiled import CompiledContact, Surface
from .nodes import ContactNodes
from .penetration import refuse_penetration
from .state import ContactState

T = TypeVar("T")

logger = logging.getLogger("dolfinx_impact")

#: Names that a class must not define: nothing would ask them.
_GONE = (
    "evaluate",
    "evaluate_along",
    "active_set",
    "approach_velocity",
    "tangential_velocity",
    "keep",
    "note",
    "loaded",
    "point_dofs",
    "covered",
    "facet_sizes",
    "normal_pressure",
    "add_nodal_impulses",
)
#: Name in :meth:`Contact.past` of which rank computes with each point. Only rounding depends on it, and a
#: state may lack it.
RANKS = "ranks"
#: Contacts that no scheme has ever had.
_MADE: dict[int, weakref.ref[Contact]] = {}


def left_out(system: Any) -> list[Contact]:
    """Contacts of a system, and of those in it, that exist but that no scheme has ever had."""
    systems = system_and_parts(system)
    made = [each() for each in list(_MADE.values())]
    return [each for each in made if each is not None and any(each.system is mine for mine in systems)]


def _wrong_keys(L: ContactOperator) -> ValueError | None:
    """Error in the keys by which the points of this rank are sorted, None without one."""
    if L.order.shape[:1] == (L.count,) and (L.order.ndim == 2 or not L.count):
        return None
    return ValueError(
        "the rows of a contact take an order of shape (p, m), keys to sort the points by, as [[0], [1]], but "
        f"it has the shape {L.order.shape} beside {L.count} rows"
    )


def _refuse_gone(kind: type) -> None:
    """Raise a TypeError for a class with methods that nothing asks any more."""
    gone = next(
        (name for name in _GONE if getattr(kind, name, None) is not getattr(Contact, name, None)), None
    )
    if gone is not None:
        raise TypeError(
            f"{kind.__name__} defines {gone}(), which no scheme asks: a contact of one's own has gap(u, t) "
            "and, where L varies, _evaluate(u, v, t), which returns gaps and writes L.weights; besides "
            "_active_set(u, v, t), local_bases(), surface_velocity(t), closed(gap) if those of its base "
            "class do not do"
        )


class Contact:
    """Unilateral contact of the points of a system: base class, and the interface that schemes use.

    Evaluations take their time as last argument; it matters where the obstacle moves.

    Args:
        system: The system.
        L: Contact operator at the start, one row per point, in ascending order of its keys. A point belongs
            to the rank that owns its dofs, or, where rows are distributed (:class:`.SharedSparseRows`,
            constant L), to the rank that owns the row.
        restitution: Newton's coefficient e, 0 to 1.
        gap_tolerance: A gap up to this [m] counts as closed; default 1e-12 times the
            system's length.
        touching: False for strict activation: a point is closed only where ``g < -gap_tolerance``.
        friction: Coulomb's coefficient mu.
        drift_correction: Gap feedback a in (0, 1] against the drift of velocity-level contact into
            obstacles whose normal varies along the path of a sliding point; True is 0.5, False or 0 none.
            See :class:`~.contact_laws.VelocityLevel`; without effect where L is constant.
        allow_penetration: Accept points that are inside the obstacle at the start.

    Attributes:
        L: Contact operator; rows as of the last :meth:`at`.
        evaluations: Number of calls of :meth:`at`.
        count: Number p of points on this rank.
        closed_before: Points that were closed in the last step, mask of shape (p,).
        total: Number of points of all ranks.
        mine: Range of this rank's points in the rank-ordered concatenation over all ranks.
        constant: Whether L is constant in time.
        moving: Whether the obstacle has a prescribed motion.

    Raises:
        ValueError: A restitution outside [0, 1], a negative tolerance, a drift correction outside [0, 1], or
            no points.
    """

    constant, moving = True, False
    #: Whether only contact laws with a velocity level take it, alone or after that of positions.
    velocity_level_only = False
    #: Whether it has points between nodes, whose places change.
    between_nodes = False
    #: Whether the paths of features within a step are tested; schemes that do not test them refuse it.
    swept = False
    #: Smallest thickness of the obstacle [m]: points that move farther in a step may tunnel through it.
    thickness = math.inf
    #: Error of this rank, raised on all ranks by :meth:`agree_on_failure`; None without.
    failure: Exception | None = None
    #: Active sides of obstacles with edges; None for obstacles without.
    _sides: ActiveSides | None = None
    #: The class of :attr:`nodes`.
    _NODES: type[ContactNodes] = ContactNodes
    evaluations = 0
    #: Whether all ranks will agree on an error of what is computed now.
    _agreeing = False
    #: Number of a point's first dofs that are directions of space; None for all.
    directions: int | None = None

    def __init__(
        self,
        system: System,
        L: ContactOperator,
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        arguments.number("restitution", restitution, "lie in [0, 1]", least=0.0, most=1.0)
        arguments.number("friction", friction, "be a coefficient of at least 0", least=0.0)
        tolerance = 1e-12 * system.length if gap_tolerance is None else gap_tolerance
        arguments.number("gap_tolerance", tolerance, "be a length of at least 0 m", least=0.0)
        arguments.flag("touching", touching)
        parallel.agree(system.comm, _wrong_keys(L))
        _refuse_gone(type(self))
        self.system, self.comm, self.L = system, system.comm, L
        self.restitution, self.touching = float(restitution), bool(touching)
        self.friction, self.drift_correction = float(friction), feedback(drift_correction)
        self.gap_tolerance, self.count = float(tolerance), L.count
        self.allow_penetration = bool(allow_penetration)
        laws = ("restitution", "friction", "drift_correction")
        self._coefficients = {name: np.zeros(self.count) for name in laws}
        self.closed_before, self._no_ties = (np.zeros(self.count, dtype=bool) for _ in range(2))
        counts = self.comm.allgather(self.count)
        self.total, before = sum(counts), sum(counts[: self.comm.rank])
        self.mine = slice(before, before + self.count)
        if self.total == 0:
            raise ValueError("the contact has no points: name facets that have nodes of the body")
        self._nodes = self._NODES(self)
        self._users_gap = not type(self).gap.__module__.startswith("dolfinx_impact.")
        self._users_rows = any(
            not getattr(type(self), name).__module__.startswith("dolfinx_impact.")
            for name in ("gap", "_evaluate", "_active_set")
        )
        key = id(self)
        _MADE[key] = weakref.ref(self, lambda _: _MADE.pop(key, None))
        if self.drift_correction > 0 and self.constant:
            self._tell_no_drift()

    def _tell_no_drift(self) -> None:
        """Log that a drift correction has no effect on normals that do not vary."""
        if self.comm.rank == 0:
            logger.warning(
                "drift_correction has no effect on %s: the normals do not vary, points do not drift; against "
                "penetration that stays from the first touch take a smaller time step",
                type(self).__name__,
            )

    def __repr__(self) -> str:
        return descriptions.of_contact(self)

    @property
    def members(self) -> tuple[Contact, ...]:
        """The contacts of a list; of one contact itself."""
        return (self,)

    @property
    def nodes(self) -> ContactNodes:
        """What output asks of the points."""
        return self._nodes

    def take(self) -> None:
        """Note that a scheme has the contact: what no scheme has is told when a run begins."""
        for each in (self, *self.members):
            _MADE.pop(id(each), None)

    def belongs_to(self, system: System) -> bool:
        """Whether the contact was made for this system, or for one that it contains (``contains``)."""
        return any(each is self.system for each in system_and_parts(system))

    def areas(self) -> FloatArray | None:
        """Areas of the points, shape (p,) [m2], 0 where nothing is opposite; None where they are unknown.

        They belong to the pressures of the last step of the scheme that uses the contact, ``sum p A dt =
        sum r``: at corners those of the side that faces the obstacle. Collective.
        """
        return self.nodes.areas()

    def pressure(self, r: FloatArray, dt: float) -> FloatArray | None:
        """Pressures of the points, shape (p,) [Pa]; None where areas are unknown. Collective.

        Means over the facets of a point's smooth side, of the impulses distributed to the facets by the
        element's own functions: see :mod:`.contact.pressure`. 0 where nothing is opposite.

        Args:
            r: Normal impulses, shape (p,) [N s], such as those of the last step of a scheme.
            dt: Time in which they act, the time step of the scheme [s].
        """
        return self.nodes.pressure(r, dt)

    @property
    def restitutions(self) -> FloatArray:
        """Newton's coefficient e of every point, shape (p,)."""
        return self._of_points("restitution")

    @property
    def frictions(self) -> FloatArray:
        """Coulomb's coefficient mu of every point, shape (p,)."""
        return self._of_points("friction")

    @property
    def feedbacks(self) -> FloatArray:
        """Gap feedback a of every point, shape (p,)."""
        return self._of_points("drift_correction")

    @property
    def bilateral(self) -> BoolArray:
        """Mask of the points whose impulses have any sign (ties), shape (p,)."""
        return self._no_ties

    @property
    def small_parts(self) -> bool:
        """Whether a body on this rank is much smaller than the facets that it touches (surfaces)."""
        return False

    def _of_points(self, name: str) -> FloatArray:
        """A coefficient of the contact laws at every point, shape (p,)."""
        values = self._coefficients[name]
        values[:] = getattr(self, name)
        return values

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Gap at the positions ``u`` at the time ``t`` [s], shape (p,) [m]."""
        raise NotImplementedError

    def respect(self, members: Sequence[Contact]) -> None:
        """Leave to the other contacts of a list what is theirs alone, such as ties. Collective.

        At every start: a contact may stand in several lists.
        """

    def press(self, which: BoolArray) -> None:
        """Take points, by a mask of shape (p,), as closed in the next :meth:`at`, open or not. Collective.

        An iteration over positions knows which points press before their gaps are closed.
        """

    def gap_on_all_ranks(self, u: FloatArray, t: float) -> FloatArray:
        """:meth:`gap`; what a user's class raises on one rank is raised on all. Collective."""
        return self._agreed(partial(self._checked_gap, u, t)) if self._users_gap else self.gap(u, t)

    def _agreed(self, work: Callable[[], T]) -> T:
        """Result of what a user's class computes, which may raise on one rank alone. Collective."""
        self._agreeing = True  # what agrees within would wait for ranks that have left
        try:
            return parallel.together(self.comm, work)
        finally:
            self._agreeing = False

    def _checked_gap(self, u: FloatArray, t: float) -> FloatArray:
        """:meth:`gap` of a user's class, which may neither write into ``u`` nor return anything else."""
        given = u.view()
        given.flags.writeable = False
        kind, found = type(self).__name__, self.gap(given, t)
        try:
            gap = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            gap = None
        if gap is None or gap.shape != (self.count,):
            raise ValueError(
                f"{kind}.gap(u, t) must return an array of shape ({self.count},), a gap [m] of every point "
                f"of this rank, but returns {arguments.shown(found)}"
            )
        if np.isnan(np.add.reduce(gap)) and np.isnan(gap).any():
            raise ValueError(
                f"{kind}.gap(u, t) is NaN at point {np.flatnonzero(np.isnan(gap))[0]} at t = {t:.6g} s: a "
                "body may pass there; return inf where nothing is opposite"
            )
        return gap

    def at(
        self, u: FloatArray, v: FloatArray | None = None, t: float = 0.0, *, every: bool = False
    ) -> ContactState:
        """The contact at ``u`` at ``t``, with rows of L of the closed points. Collective.

        Args:
            u: Displacements [m].
            v: Free velocities [m/s]: at edges they select the side through which points enter.
            t: Time [s].
            every: Whether to give gaps and rows of all points.
        """
        self.evaluations += 1
        if self._users_rows:
            return self._agreed(partial(self._state, u, v, t, every))
        return self._state(u, v, t, every)

    def _state(self, u: FloatArray, v: FloatArray | None, t: float, every: bool) -> ContactState:
        before = of_points(self.L).weights.copy() if self._says_constant_rows() else None
        gap = self._evaluate(u, v, t) if every else None
        closed = self._active_set(u, v, t) if gap is None else self.closed(gap)
        if before is not None:
            self._refuse_varying(before)
        return ContactState(self, t, closed, gap)

    def _says_constant_rows(self) -> bool:
        """Whether a user's class evaluates the contact, and calls its rows of L constant."""
        return self._users_rows and self.constant and isinstance(self.L, SparseRows)

    def _refuse_varying(self, before: FloatArray) -> None:
        """Raise a ValueError for rows of L that are not those before an evaluation, but for round-off."""
        change = np.abs(of_points(self.L).weights - before)
        if np.any(change > 1e-9 * np.max(np.abs(before), initial=0.0)):
            raise ValueError(
                f"{type(self).__name__} writes L.weights that differ from those before, but is constant: say "
                "`constant = False` in the class"
            )

    def evaluate(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Gaps of :meth:`at`, shape (p,) [m], for loops without a scheme; :attr:`L` is L(u). Collective."""
        return self.at(u, None, t, every=True).gap

    def now(self, t: float) -> ContactState:
        """The contact as it stands, with what was closed at the end of the last step; ``t`` is its time."""
        return ContactState(self, t, self.closed_before.copy())

    # -- what at() asks of a class, and what its states read

    def _evaluate(self, u: FloatArray, v: FloatArray | None, t: float) -> FloatArray:
        """Gaps, shape (p,) [m]; updates :attr:`L` to L(u)."""
        return self._checked_gap(u, t) if self._users_gap else self.gap(u, t)

    def _active_set(self, u: FloatArray, v: FloatArray | None, t: float) -> BoolArray:
        """Mask of the closed points, shape (p,); updates their rows of :attr:`L` alone."""
        return self.closed(self._evaluate(u, v, t))

    def local_bases(self) -> FloatArray:
        """See :attr:`.ContactState.bases`; of the last :meth:`at`."""
        # Of rows that ranks share the normal components are all that a rank has.
        rows = self.L
        return rows.weights[:, None, :] if isinstance(rows, SparseRows) else np.ones((self.count, 1, 1))

    def surface_velocity(self, t: float) -> FloatArray:
        """See :meth:`.ContactState.surface_velocity`; of the last :meth:`at`, zero unless :attr:`moving`."""
        return np.zeros((self.count, self.L.components))

    def surface_way(self, since: float, t: float) -> FloatArray:
        """See :meth:`.ContactState.surface_way`; of the last :meth:`at`, at ``t``."""
        if not self.moving:
            return np.zeros((self.count, self.L.components))
        way: FloatArray = 0.5 * (t - since) * (self.surface_velocity(since) + self.surface_velocity(t))
        return way

    def surface_acceleration(self, t: float, step: float) -> FloatArray:
        """See :meth:`.ContactState.surface_acceleration`; of the last :meth:`at`."""
        if not self.moving:
            return np.zeros((self.count, self.L.components))
        at_rest: FloatArray = derivative(self.surface_velocity, t, step)
        return at_rest

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """Initialise at the displacements ``u`` [m] and the time ``t`` [s], without history. Collective."""
        self.closed_before[:] = False

    def refuse_penetration(self, u: FloatArray, t: float) -> None:
        """Raise a ValueError for points inside the obstacle at the start, at ``u`` and ``t``. Collective."""
        refuse_penetration(self, self.gap_on_all_ranks(u, t), self.places(u), "contact points")

    def unseen_overlap(self, u: FloatArray) -> str:
        """What overlaps at ``u`` deeper than gaps tell, in words; empty where they tell all. Collective."""
        return ""

    def warn_of_long_steps(self, u: FloatArray, v: FloatArray, dt: float, t: float = 0.0) -> None:
        """Warn where points with velocities ``v`` at ``t`` may tunnel in a step of ``dt``. Collective."""
        if not self.comm.allreduce(self.thickness, op=MPI.MIN) < math.inf:
            return
        path = dt * parallel.largest(self.comm, self.speeds(u, v, t))
        if path > 0.5 * self.thickness and self.comm.rank == 0:
            warnings.warn(
                f"points of the contact move {path:.3g} m in a step, more than half the thickness of the "
                f"obstacle, {self.thickness:.3g} m: they may jump over it; take a smaller time step",
                stacklevel=4,
            )

    def speeds(self, u: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Speeds of the points relative to the obstacle at ``t``, shape (p,) [m/s]."""
        speeds: FloatArray = np.linalg.norm(self.L.at_points(v) - self.surface_velocity(t), axis=1)
        return speeds

    def agree_on_failure(self) -> None:
        """Raise the :attr:`failure` of any rank on all ranks. Collective."""
        if self.thickness < math.inf and self.comm.size > 1:
            parallel.agree(self.comm, next((each.failure for each in self.members if each.failure), None))

    def accept(self, state: ContactState | None) -> None:
        """Keep what the next step depends on; called once, at the end of a step.

        Args:
            state: The state of the step, the last that :meth:`at` has given; None where none was asked for.
        """
        self.closed_before[:] = False if state is None else state.closed
        if self._sides is not None:
            self._sides.accept_step()

    @property
    def remembers(self) -> bool:
        """Whether the next step depends on more than displacements and velocities."""
        return any(
            each._sides is not None or (each.drift_correction > 0 and not each.constant)
            for each in self.members
        )

    def past(self) -> dict[str, AnyArray]:
        """History variables that the next step depends on, by name, shape (p, ...) each; empty for none."""
        history: dict[str, AnyArray] = {} if self._sides is None else self._sides.past()
        if not (self.drift_correction > 0 and not self.constant):
            return history
        return {
            **history,
            "closed": self.closed_before.astype(np.float64),
            "L": of_points(self.L).weights.copy(),
        }

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """Restore the history returned by :meth:`past`."""
        if "closed" in past:
            self.closed_before[:] = past["closed"] > 0.5
        if "L" in past:
            of_points(self.L).weights[:] = past["L"]
        if self._sides is not None:
            self._sides.resume(past)

    def approach(self) -> SparseRows | None:
        """Rows for the displacement of each point along ``-n`` at zero displacement [m], always the same.

        None where not available.
        """
        return None

    def places(self, u: FloatArray) -> FloatArray | None:
        """Current positions of the points at ``u``, shape (p, gdim) [m]; None where they are unknown."""
        return None

    def closed(self, gap: FloatArray) -> BoolArray:
        """Mask of the points that count as closed at these gaps, shape (p,)."""
        return gap <= self.gap_tolerance if self.touching else gap < -self.gap_tolerance

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """Data for compiled loops.

        A class that changes the gap, or what else a loop does in its place, joins compiled runs by a method
        ``compiled`` of its own: ``return super().compiled()`` where the gap is affine in u with a constant L,
        ``return super().compiled(surface, x)`` where it is curved. Without one its runs go step by step.

        Args:
            surface: Compiled gap and normal of one point, for gaps that are not constant in slope.
            x: Positions of the points at zero displacement, shape (p, k) [m], for these; default zero.

        Raises:
            NotCompiled: The contact is of another kind; the message says which.
        """
        self._refuse_uncompiled()
        if surface is None and not self.constant:
            raise kernels.NotCompiled(f"{type(self).__name__} offers no compiled gap")
        rows = of_points(self.L)
        return CompiledContact(
            rows.dofs,
            rows.weights,
            self.gap(np.zeros(self.system.size)),
            np.zeros(rows.dofs.shape) if x is None else np.ascontiguousarray(x),
            None if self.constant else surface,
            self.restitution,
            self.gap_tolerance,
            self.touching,
            self.friction,
        )

    def _refuse_uncompiled(self) -> None:
        """Raise a NotCompiled for what no compiled loop does, whatever the gap."""
        if not of_points(self.L).distinct:
            raise kernels.NotCompiled("points of the contact share dofs")
        if self.moving:
            raise kernels.NotCompiled("the obstacle moves")
        if self.remembers:
            raise kernels.NotCompiled(
                "the contact remembers sides of an obstacle with edges, or corrects its drift"
            )

    def matrix(self) -> Any:
        """L at the last :meth:`at` as a PETSc matrix, points x dofs, in rank order. Collective."""
        return self.L.petsc_matrix(self.comm, self.system.owned, self.system.global_dofs())


def feedback(given: float | bool) -> float:
    """Gap feedback a, 0 to 1, from a ``drift_correction``.

    Raises:
        ValueError: Something else.
    """
    if isinstance(given, (bool, np.bool_)):
        return 0.5 if given else 0.0
    if not isinstance(given, (int, float, np.number)) or not 0 <= given <= 1:
        raise ValueError(f"drift_correction must be True, False or a number in (0, 1], but is {given!r}")
    return float(given)
