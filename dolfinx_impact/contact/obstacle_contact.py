"""Contact of points, or of the nodes of a body, with rigid obstacles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import arguments, parallel
from .._types import AnyArray, BoolArray, FloatArray, Int32Array, IntArray
from ..algebra import coulomb, kernels
from ..algebra.contact_operator import ascending
from ..algebra.operators import SparseRows
from ..systems.system import System
from .active_sides import ActiveSides
from .base import Contact
from .compiled import CompiledContact, Surface
from .obstacles import Obstacle
from .obstacles.composed import as_obstacle
from .obstacles.moving import acceleration, carried
from .obstacles.shapes import lengths
from .state import ContactState
from .tunnelling import TunnellingCheck

#: Distance from a side at which a point counts as outside of it, relative to the system's length.
_MARGIN = 1e-9
#: Distance of a normal's length from 1 at which a user's obstacle is refused.
_UNIT = 1e-6
#: Part of a normal that counts as none.
_NO_PART = 1e-12


class ObstacleContact(Contact):
    """Contact of points with a rigid obstacle: one row of L per point and face of the obstacle.

    For obstacles with edges (a box, a bounded cylinder or cone, unions with one) gap and normal are those of
    the side through which a point has entered, as long as it is inside: see :mod:`.active_sides`.

    Args:
        system: The system.
        dofs: Dofs of each point, one per direction, owned by this rank, shape (p, gdim).
        obstacle: The shape, or a list of shapes for their :class:`~.obstacles.UnionObstacle`; corners and
            unions have several faces.
        x: Positions of the points at zero displacement, shape (p, gdim) [m]; by default zero, for dofs that
            are positions.
        order: Keys that sort the points of all ranks, shape (p, m); by default their first dofs.
        restitution: Newton's coefficient e of every point, 0 to 1.
        gap_tolerance: See :class:`Contact`.
        touching: See :class:`Contact`.
        friction: Coulomb's coefficient mu, at least 0; without effect on a line.
        drift_correction: See :class:`Contact`.
        allow_penetration: See :class:`Contact`.

    Raises:
        ValueError: An obstacle of another dimension, dofs that do not exist, or that are constrained and not
            across the normals; see :class:`Contact`.
    """

    L: SparseRows
    #: Location of the points in messages.
    _where = "points"

    def __init__(
        self,
        system: System,
        dofs: ArrayLike,
        obstacle: Obstacle | Sequence[Obstacle],
        *,
        x: FloatArray | None = None,
        order: FloatArray | None = None,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        obstacle = as_obstacle(obstacle)
        arguments.system(system)
        numbers = _point_dofs(system, dofs)
        self.system, self.obstacle = system, obstacle
        self.faces = tuple(getattr(obstacle, "faces", (obstacle,)))
        self.moving = bool(getattr(obstacle, "moving", False))
        self.constant = all(face.flat for face in self.faces) and not self.moving
        # User-defined functions may fail on a single rank.
        self._fallible = any(getattr(face, "fallible", True) for face in self.faces)
        count = len(self.faces)
        keys = numbers[:, :1].astype(np.float64) if order is None else order
        sorted_points = ascending(keys)
        keys, numbers = keys[sorted_points], numbers[sorted_points]
        x = np.zeros(numbers.shape) if x is None else x[sorted_points]
        if count > 1:
            keys = np.column_stack([np.repeat(keys, count, axis=0), np.tile(np.arange(count), len(keys))])
        numbers = np.repeat(numbers, count, axis=0)
        self._x = np.repeat(x, count, axis=0)
        rows = SparseRows(numbers, self.together(lambda: self._normals(self._x.copy(), 0.0)), keys)
        super().__init__(
            system,
            rows,
            restitution=restitution,
            gap_tolerance=gap_tolerance,
            touching=touching,
            friction=friction,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )
        self._gap0 = self.together(lambda: self._gaps(self._x, 0.0))
        if self.constant:
            self.together(lambda: self._refuse_scaled(rows.weights, np.ones(len(rows.weights), bool), 0.0))
        self._positions, self._evaluated_at = self._x, 0.0  # of the last evaluation
        self._surface_velocities: tuple[FloatArray, dict[float, FloatArray]] = (self._positions, {})
        self._tunnelling = TunnellingCheck(self.faces, self.moving, self.gap_tolerance)
        self.thickness = self._tunnelling.thickness
        #: Error of this rank, raised on all ranks by :meth:`agree_on_failure`; None without.
        self.failure: Exception | None = None
        if any(getattr(face, "sides", 1) > 1 for face in self.faces):
            margin = _MARGIN * system.length
            self._sides = ActiveSides(self.faces, self._points(), self.gap_tolerance, margin)
        #: Whether a derived class has another gap than the obstacle's.
        kind = type(self)
        self._own_gap = (kind.gap, kind._evaluate) != (ObstacleContact.gap, ObstacleContact._evaluate)
        self._refuse_constrained()

    def _points(self) -> FloatArray:
        """Positions of the points at the last evaluation, shape (points, gdim) [m]."""
        return self._positions[:: len(self.faces)]

    def places(self, u: FloatArray) -> FloatArray:
        """Current positions at ``u``, one per row of L, shape (p, gdim) [m]."""
        return self._x + self.L.at_points(u)

    def _refuse_constrained(self) -> None:
        """Raise a ValueError where L acts on constrained dofs at zero displacement. Collective.

        Where normals turn later, as those of curved obstacles at an axis, what is held is infinitely heavy.
        """
        acting = np.abs(self.L.weights) > _NO_PART
        if not self.constant:
            acting |= np.isin(self.L.dofs, self.system.prescribed.dofs)
        if self.comm.allreduce(bool(np.any(self.system.constrained[self.L.dofs] & acting))):
            raise ValueError(
                f"contact on {self._where} acts on dofs that are constrained or whose motion is prescribed: "
                "free them or leave them out"
            )

    def _gaps(self, x: FloatArray, t: float) -> FloatArray:
        """Gaps of the rows with their points at ``x``, shape (p,) [m]."""
        count, gaps = len(self.faces), np.empty(len(x))
        time = (t,) if self.moving else ()
        for k, face in enumerate(self.faces):
            gaps[k::count] = face.gap(x[k::count], *time)
        if self._fallible and np.isnan(np.add.reduce(gaps)) and np.isnan(gaps).any():
            place = x[np.flatnonzero(np.isnan(gaps))[0]]
            raise ValueError(
                f"the gap of the obstacle is NaN at x = {place.tolist()} m at t = {t:.6g} s: a body may pass "
                "there"
            )
        return gaps

    def least_gaps(self, x: FloatArray, t: float) -> FloatArray:
        """Least gap over the faces at any points ``x``, shape (n, gdim) [m], at ``t``. Collective."""
        time = (t,) if self.moving else ()
        gaps: FloatArray = self.together(
            lambda: np.min([np.asarray(face.gap(x, *time)) for face in self.faces], axis=0)
        )
        return gaps

    @property
    def where(self) -> str:
        """Name of the points in messages."""
        return self._where

    def _normals(self, x: FloatArray, t: float) -> FloatArray:
        """Normals of the rows with their points at ``x``, shape (p, gdim)."""
        count, normals = len(self.faces), np.empty(x.shape)
        time = (t,) if self.moving else ()
        for k, face in enumerate(self.faces):
            normals[k::count] = face.normal(x[k::count], *time)
        return normals

    def _refuse_scaled(self, normals: FloatArray, closed: BoolArray, t: float) -> None:
        """Raise a ValueError for a user's obstacle with a normal at a closed row that is no unit vector."""
        if not self._fallible:
            return
        sizes = lengths(normals[closed])
        wrong = ~(np.abs(sizes - 1.0) < _UNIT)
        if wrong.any():
            raise ValueError(
                f"the normal of the obstacle has the length {sizes[wrong][0]:.6g} at t = {t:.6g} s, but "
                "normals are unit vectors: divide them by np.linalg.norm(normal, axis=1, keepdims=True)"
            )

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the points at displacements ``u`` at ``t``, shape (p,) [m]."""
        if self.constant:
            flat: FloatArray = self._gap0 + self.L(u)
            return flat
        x, sides = self.places(u), self._sides
        if sides is not None:
            of_sides: FloatArray = self.together(lambda: sides.gaps(x[:: len(self.faces)], t).ravel())
            return of_sides
        gaps: FloatArray = self.together(lambda: self._gaps(x, t))
        return gaps

    def _evaluate(self, u: FloatArray, v: FloatArray | None, t: float) -> FloatArray:
        """See :meth:`.Contact.at`: gaps; writes the normals at ``u`` into :attr:`L`."""
        if self.constant:
            return self.gap(u, t)
        self._positions, self._evaluated_at = self.places(u), t

        def gaps_and_rows() -> FloatArray:
            if self._sides is not None:
                self._update_sides(v, t)
                self._check_tunnelling(t)
                gaps, normals = self._sides.rows(np.arange(len(self._points())), self._points(), t)
                self._refuse_scaled(normals, self.closed(gaps), t)
                self.L.weights[:] = normals.reshape(self.L.weights.shape)
                return gaps.ravel()
            self._check_tunnelling(t)
            normals, gaps = self._normals(self._positions, t), self._gaps(self._positions, t)
            self._refuse_scaled(normals, self.closed(gaps), t)
            self.L.weights[:] = normals
            return gaps

        gaps: FloatArray = self.together(gaps_and_rows)
        return super()._evaluate(u, v, t) if self._own_gap else gaps

    def _update_sides(self, v: FloatArray | None, t: float) -> IntArray:
        """Update the active sides at the present positions at ``t``; returns the points that have one."""
        assert self._sides is not None
        x, time = self._points(), (t,) if self.moving else ()
        boxes = [_in_box(x, face, time, self.gap_tolerance) for face in self.faces]
        near = boxes[0] if len(boxes) == 1 else np.unique(np.concatenate(boxes))
        velocity = None if v is None else self.L.at_points(v)[:: len(self.faces)]
        self._sides.update(near, x, t, velocity)
        return np.flatnonzero((self._sides.active >= 0).any(axis=1))

    def together(self, evaluate: Callable[[], Any]) -> Any:
        """Result of ``evaluate``; an error on one rank is raised on all. Collective."""
        agrees = self._fallible and not self._agreeing
        return parallel.together(self.system.comm, evaluate) if agrees else evaluate()

    def _active_set(self, u: FloatArray, v: FloatArray | None, t: float) -> BoolArray:
        """See :meth:`.Contact.at`: closed points; only those in the bounding box of a face are evaluated."""
        if self._own_gap:
            return super()._active_set(u, v, t)
        if self.constant:
            return self.closed(self._gap0 + self.L(u))
        self._positions, self._evaluated_at = self.places(u), t
        closed: BoolArray = self.together(lambda: self._closed_near(v, t))
        return closed

    def _closed_near(self, v: FloatArray | None, t: float) -> BoolArray:
        """Mask of the closed points at the present positions at ``t``, shape (p,); updates their rows."""
        closed, count = np.zeros(len(self._positions), dtype=bool), len(self.faces)
        if self._sides is not None:
            inside = self._update_sides(v, t)
            self._check_tunnelling(t)
            x = self._points()[inside]
            gaps, normals = self._sides.rows(inside, x, t, active_only=True)
            acting = self.closed(gaps) & (self._sides.active[inside] >= 0)
            self._refuse_scaled(normals, acting, t)
            rows = (inside[:, None] * count + np.arange(count))[acting]
            closed[rows], self.L.weights[rows] = True, normals[acting]
            return closed
        self._check_tunnelling(t)
        time = (t,) if self.moving else ()
        for k, face in enumerate(self.faces):
            x = self._positions[k::count]
            near = _in_box(x, face, time, self.gap_tolerance)
            hit = near[self.closed(face.gap(self._some(x, near), *time))] if near.size else near
            if hit.size:
                at: Any = hit * count + k if hit.size < len(x) else slice(k, None, count)
                closed[at] = True
                self.L.weights[at] = face.normal(self._some(x, hit), *time)
        self._refuse_scaled(self.L.weights, closed, t)
        return closed

    def _some(self, x: FloatArray, which: IntArray) -> FloatArray:
        """Points by ascending numbers; a copy unless they are all and no user's function gets them."""
        return x if which.size == len(x) and not self._fallible else x.take(which, axis=0)

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """See :meth:`.Contact.compiled`; the surface is that of a curved obstacle, which is asked for it."""
        self._refuse_uncompiled()
        if surface is None and not self.constant:
            surface = kernels.ask(self.obstacle, "offers no compiled gap")
        return super().compiled(surface, self._x if x is None else x)

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        self._positions, self._evaluated_at, self.failure = self.places(u), t, None
        self._tunnelling.accept_step(self._points(), t)
        sides = self._sides
        if sides is not None:
            self.together(lambda: sides.start(self._points(), t))

    def accept(self, state: ContactState | None) -> None:
        """See :meth:`.Contact.accept`."""
        super().accept(state)
        if self.thickness < np.inf:
            self._tunnelling.accept_step(self._points(), self._evaluated_at)

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Contact.resume`."""
        super().resume(past)
        self._tunnelling.restart()

    def _check_tunnelling(self, t: float) -> None:
        """Store the error of points that tunnelled in this step as :attr:`failure`; on one rank raise it."""
        error = self._tunnelling.error_at(self._points(), t, self._sides)
        self.failure = self.failure or error  # of several substeps the first
        if self.failure is not None and self.comm.size == 1:
            raise self.failure

    def local_bases(self) -> FloatArray:
        """Local bases: normals and tangents, shape (p, gdim, gdim)."""
        weights = self.L.weights
        return np.concatenate([weights[:, None, :], coulomb.tangents(weights)], axis=1)

    def surface_velocity(self, t: float) -> FloatArray:
        """Velocities of the obstacle at the points, shape (p, gdim) [m/s].

        Stored for the last times at the present positions; otherwise collective where the obstacle moves.
        """
        if not self.moving:
            return np.zeros(self._x.shape)
        if self._surface_velocities[0] is not self._positions:
            self._surface_velocities = (self._positions, {})
        velocities = self._surface_velocities[1]
        if t not in velocities:
            if len(velocities) > 1:
                velocities.clear()
            velocities[t] = self.together(lambda: self._velocities(t))
        return velocities[t].copy()

    def surface_way(self, since: float, t: float) -> FloatArray:
        """See :meth:`.ContactState.surface_way`. Collective where the obstacle moves."""
        ways = np.zeros(self._x.shape)
        if self.moving:
            count = len(self.faces)
            for k, face in enumerate(self.faces):
                x = self._positions[k::count]
                ways[k::count] = x - self.together(partial(carried, face, x, t, since))
        return ways

    def surface_acceleration(self, t: float, step: float) -> FloatArray:
        """See :meth:`.ContactState.surface_acceleration`. Collective where the obstacle moves."""
        accelerations = np.zeros(self._x.shape)
        if self.moving:
            count = len(self.faces)
            for k, face in enumerate(self.faces):
                x = self._positions[k::count]
                accelerations[k::count] = self.together(partial(acceleration, face, x, t, step))
        return accelerations

    def _velocities(self, t: float) -> FloatArray:
        count, velocities = len(self.faces), np.empty(self._x.shape)
        for k, face in enumerate(self.faces):
            velocities[k::count] = face.velocity(self._positions[k::count], t)
        return velocities


def _point_dofs(system: System, dofs: ArrayLike) -> Int32Array:
    """Validated dofs of the points, shape (p, gdim). Collective."""
    numbers, error = arguments.local_dofs("each of dofs", dofs, system)
    if error is None and numbers.size and numbers.ndim != 2:
        error = ValueError(
            f"dofs must have a row for each point and a column for each direction, as [[0, 1]], but is "
            f"{arguments.shown(dofs)}"
        )
    elif error is None and any(np.unique(row).size < row.size for row in numbers):
        error = ValueError(f"dofs names a dof twice in one point: {arguments.shown(dofs)}")
    parallel.agree(system.comm, error)
    return numbers.astype(np.int32)


def _in_box(x: FloatArray, face: Obstacle, time: tuple[float, ...], tolerance: float) -> IntArray:
    """Numbers of the points in the bounding box of a face, outside of which its gap is positive."""
    inside = np.ones(len(x), dtype=bool)
    if hasattr(face, "bounds"):
        for i, (low, high) in enumerate(zip(*face.bounds(*time))):
            if low > -np.inf:
                inside &= x[:, i] >= low - tolerance
            if high < np.inf:
                inside &= x[:, i] <= high + tolerance
    return np.flatnonzero(inside)
