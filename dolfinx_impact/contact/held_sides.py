"""Which side of each solid carries a point, remembered from step to step.

In lasting contact at velocity level a point lies inside of the solid at all times, and next to an edge the
nearest side may be another one than that which it came through. So a point *holds* at most one side of each
solid:

1. It keeps a side while it is inside that solid. If it has left it and is inside another one, the side there
   with the nearest normal takes over (a seam between tiles), unless it lies higher (a wall next to a
   floor); else the side is lost (an edge).
2. It is lifted out by the sides that it holds, ``x' = x + sum (margin - g) n``. While x' is inside of a
   solid, of the solids entered on the way from the lifted position of the step before to x', the one entered
   first is taken, of its sides the one crossed last on that way, and x is lifted by that one too.

So a wall that stands on a floor is met by the lifted point, and the side of the next tile is not.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .obstacles import Shape
from .obstacles.shapes import Obstacle, Solid

#: Sides are crossed at once where their places on the way differ by less than this part of it.
_AT_ONCE = 1e-9


class HeldSides:
    """The sides that points hold, as the last :meth:`look` found them, and as the step before left them.

    Args:
        obstacles: The solids; a rigid shape without edges has one side.
        x: Positions of the points, shape (p, gdim) [m].
        tolerance: A gap up to this is inside [m].
        margin: How far outside of the sides that it holds a point is lifted [m].

    Attributes:
        held: Number of the side of each solid that a point holds, -1 for none, shape (p, solids).
        lifted: Lifted positions, shape (p, gdim) [m].
    """

    def __init__(self, obstacles: Sequence[Obstacle], x: NDArray, tolerance: float, margin: float) -> None:
        self.solids: list[Solid] = [as_solid(each) for each in obstacles]
        self.tolerance, self.margin = tolerance, max(margin, 2 * tolerance)
        self.held = np.full((len(x), len(self.solids)), -1, dtype=np.int8)
        self.lifted = x.copy()
        self.start(x, 0.0)

    def start(self, x: NDArray, t: float) -> None:
        """Begin at ``x``; a point inside of a solid knows no way that it came."""
        self.held[:], self.lifted[:], self._t = -1, x, t
        depth = np.max([-solid.side_gaps(x, t).max(axis=1) for solid in self.solids], axis=0)
        self.lifted[depth > self.margin] = np.nan
        self.keep()

    def keep(self) -> None:
        """Make the last :meth:`look` the past of the next one."""
        self._held_before, self._origin, self._t_before = self.held.copy(), self.lifted.copy(), self._t

    def past(self) -> dict[str, NDArray]:
        """What the next :meth:`look` starts from, a row for each point and solid: side, origin with time."""
        time = np.full((len(self._origin), 1), self._t_before)
        origin = np.repeat(np.hstack([self._origin, time]), len(self.solids), axis=0)
        return {"sides": self._held_before.ravel().astype(np.float64), "origin": origin}

    def resume(self, past: Mapping[str, NDArray]) -> None:
        """Go on from a :meth:`past`."""
        origin = past["origin"][:: len(self.solids)]
        self.held[:], self.lifted[:] = past["sides"].reshape(self.held.shape), origin[:, :-1]
        self._t = float(origin[0, -1]) if len(origin) else 0.0
        self.keep()

    def look(self, which: NDArray, x: NDArray, t: float, v: NDArray | None) -> None:
        """Find the sides that points hold at ``t``.

        Args:
            which: Numbers of the points that may be inside of a solid; all others are outside of all.
            x: Positions of all points, shape (p, gdim) [m].
            t: Time [s].
            v: Their velocities, which decide where sides are crossed at once, shape (p, gdim) [m/s]; a point
                at rest relative to such an edge holds none of them yet.
        """
        self.held[:], self.lifted[:], self._t = -1, x, t
        which = np.union1d(which, np.flatnonzero((self._held_before >= 0).any(axis=1)))
        if which.size:
            speeds = np.zeros((which.size, x.shape[1])) if v is None else v[which]
            points = _Points(self, which, x[which], t, speeds)
            points.hold_on()
            points.enter(self._origin[which], self._t_before)
            self.held[which], self.lifted[which] = points.held, points.lifted

    def way(self, j: int, x: NDArray) -> tuple[NDArray, NDArray]:
        """Where points at ``x`` came from and where they are, for solid j, shape (p, gdim) each [m].

        Lifted by the others that carry them, so that what lies flush in a floor is not in the way; NaN where
        solid j itself carried a point before, or no way is known.
        """
        begin = np.where(self._held_before[:, j, None] >= 0, np.nan, self._origin)
        return begin, np.where(self.held[:, j, None] >= 0, x, self.lifted)

    def gaps(self, x: NDArray, t: float) -> NDArray:
        """Gaps at ``x`` with the sides held now, shape (p, solids) [m]; nothing is changed."""
        return self.rows(np.arange(len(x)), x, t)[0]

    def rows(
        self, which: NDArray, x: NDArray, t: float, *, held_only: bool = False
    ) -> tuple[NDArray, NDArray]:
        """Gaps, shape (n, solids) [m], and normals, shape (n, solids, gdim), of points ``which`` at ``x``.

        Of a side that is held those of the side; of a solid of which none is held those at the lifted point,
        for which it is open: with ``held_only`` infinite and zero.
        """
        points = _Points(self, which, x, t, np.zeros_like(x), self.held[which])
        gaps, normals = np.full(points.held.shape, np.inf), np.zeros((*points.held.shape, x.shape[1]))
        for j, solid in enumerate(self.solids):
            on, off = points.held[:, j] >= 0, points.held[:, j] < 0
            gaps[on, j], normals[on, j] = points.side_of(j, np.flatnonzero(on))
            if off.any() and not held_only:
                at = points.lifted[off]
                gaps[off, j], normals[off, j] = solid.gap(at, t), solid.normal(at, t)
        return gaps, normals


class _Points:
    """Some points at one time, and the sides that they hold."""

    def __init__(
        self, past: HeldSides, which: NDArray, x: NDArray, t: float, v: NDArray, held: NDArray | None = None
    ) -> None:
        self._past, self._solids, self._t, self._v = past, past.solids, t, v
        self.x, self.held = x, past._held_before[which].copy() if held is None else held
        self.lifted = x.copy()
        if held is not None:
            self._lift()

    def side_of(self, j: int, rows: NDArray) -> tuple[NDArray, NDArray]:
        """Gaps and normals of the sides of solid j that the points ``rows`` hold."""
        x, side = self.x[rows], self.held[rows, j].astype(np.intp)
        if not rows.size:
            return np.zeros(0), np.zeros(x.shape)
        gaps = self._solids[j].side_gaps(x, self._t)[np.arange(rows.size), side]
        return gaps, self._solids[j].side_normals(x, side, self._t)

    def hold_on(self) -> None:
        """Rule 1."""
        left = np.zeros(self.held.shape, dtype=bool)
        for j in np.flatnonzero((self.held >= 0).any(axis=0)):
            rows = np.flatnonzero(self.held[:, j] >= 0)
            left[rows, j] = ~self._inside(j, rows)
        for j in np.flatnonzero(left.any(axis=0)):
            rows = np.flatnonzero(left[:, j])
            gaps, normals = self.side_of(j, rows)
            out = self.x[rows] + (self._past.margin - gaps)[:, None] * normals
            self.held[rows, j] = -1
            for i in range(len(self._solids)):
                over = (self.held[rows, i] < 0) & self._inside(i, rows)
                if i != j and over.any():
                    side = self._most_alike(i, rows[over], normals[over])
                    beyond = self._solids[i].side_gaps(out[over], self._t)[np.arange(side.size), side] >= 0.0
                    self.held[rows[over][beyond], i] = side[beyond]
        self._lift()

    def _inside(self, i: int, rows: NDArray) -> NDArray[np.bool_]:
        """Which of the points ``rows`` are inside of solid i."""
        gaps = self._solids[i].side_gaps(self.x[rows], self._t)
        return np.max(gaps, axis=1) <= self._past.tolerance

    def _most_alike(self, i: int, rows: NDArray, normals: NDArray) -> NDArray[np.intp]:
        """The sides of solid i whose normals are nearest to those given."""
        x, solid = self.x[rows], self._solids[i]
        alike = [np.sum(solid.side_normals(x, np.full(rows.size, k), self._t) * normals, axis=1)
                 for k in range(solid.sides)]  # fmt: skip
        return np.argmax(alike, axis=0)

    def _lift(self) -> None:
        """Out of the solids by the sides that are held."""
        self.lifted[:] = self.x
        for j in range(len(self._solids)):
            rows = np.flatnonzero(self.held[:, j] >= 0)
            gaps, normals = self.side_of(j, rows)
            self.lifted[rows] += (self._past.margin - gaps)[:, None] * normals

    def enter(self, origin: NDArray, t_before: float) -> None:
        """Rule 2; ``origin`` are lifted positions at ``t_before``, NaN where none is known."""
        for _ in self._solids:
            place = np.full(self.held.shape, np.inf)
            side = np.zeros(self.held.shape, dtype=np.intp)
            for i, solid in enumerate(self._solids):
                free = np.flatnonzero(self.held[:, i] < 0)
                end = solid.side_gaps(self.lifted[free], self._t) if free.size else np.zeros((0, 1))
                into = (end <= self._past.tolerance).all(axis=1)
                rows = free[into]
                if rows.size:
                    found = self._crossed_last(i, rows, end[into], origin, t_before)
                    place[rows, i], side[rows, i] = found
            entered = np.flatnonzero(np.isfinite(place).any(axis=1))
            if not entered.size:
                return
            first = self._entered_first(entered, place[entered], side[entered])
            self.held[entered, first] = side[entered, first]
            self._lift()

    def _crossed_last(
        self, i: int, rows: NDArray, end: NDArray, origin: NDArray, t_before: float
    ) -> tuple[NDArray, NDArray[np.intp]]:
        """Where on its way each point enters solid i, 0 to 1, and through which side."""
        near, begin = self._past.margin, self._solids[i].side_gaps(origin[rows], t_before)
        with np.errstate(invalid="ignore", divide="ignore"):
            crossing = np.where(begin > near, begin / (begin - end), np.where(begin >= -near, 0.0, -1.0))
        lost = ~(crossing >= 0.0).any(axis=1)  # no way is known, or it began inside: the nearest side
        depth = end - end.max(axis=1, keepdims=True)
        crossing[lost] = np.where(depth[lost] >= -near, 0.0, -1.0)
        several = np.count_nonzero(crossing >= 0.0, axis=1) > 1
        for k in np.flatnonzero(several & ~lost):
            self._leave_out_buried(i, rows[k], crossing[k], origin[rows[k]], t_before)
        place = crossing.max(axis=1)
        side = np.argmax(crossing, axis=1)
        tied = crossing >= place[:, None] - _AT_ONCE
        for k in np.flatnonzero(np.count_nonzero(tied, axis=1) > 1):
            *_, (second, _), (first, side[k]) = sorted(self._ways_out(i, rows[k], np.flatnonzero(tied[k])))
            if first == second and first[1] <= 0.0:
                place[k] = np.inf  # at rest on an edge: the step in which it moves will tell
        return place, side

    def _leave_out_buried(self, i: int, row: int, crossing: NDArray, origin: NDArray, t0: float) -> None:
        """Take sides that are crossed within another solid, at a seam, out of ``crossing`` of one point."""
        for k in np.argsort(-crossing)[: np.count_nonzero(crossing >= 0.0)]:
            place = crossing[k]
            t, at = t0 + place * (self._t - t0), np.array([k])
            x = (origin + place * (self.lifted[row] - origin))[None]
            x = x + 3 * self._past.margin * self._solids[i].side_normals(x, at, t)
            if not self._within_another(i, x, t):
                crossing[crossing > place + _AT_ONCE] = -1.0
                return

    def _within_another(self, i: int, x: NDArray, t: float) -> bool:
        return any(j != i and bool(np.all(s.side_gaps(x, t) <= self._past.tolerance))
                   for j, s in enumerate(self._solids))  # fmt: skip

    def _ways_out(self, i: int, row: int, sides: NDArray) -> list[tuple[tuple[bool, float], int]]:
        """Of sides crossed at once whether each leads out of all solids, and how fast it is approached."""
        found = []
        for k in sides:
            at, x = np.array([k]), self.x[row : row + 1]
            normal = self._solids[i].side_normals(x, at, self._t)
            gap = self._solids[i].side_gaps(x, self._t)[0, k]
            out = self.lifted[row : row + 1] + (self._past.margin - gap) * normal
            buried = any(
                bool(np.all(s.side_gaps(out, self._t) <= self._past.tolerance))
                for j, s in enumerate(self._solids) if j != i and self.held[row, j] < 0
            )  # fmt: skip
            own = self._solids[i].velocity(x, self._t)[0] if self._solids[i].moving else 0.0
            found.append(((not buried, -float(normal[0] @ (self._v[row] - own))), int(k)))
        return found

    def _entered_first(self, rows: NDArray, place: NDArray, side: NDArray) -> NDArray[np.intp]:
        first = np.argmin(place, axis=1)
        tied = place <= place.min(axis=1, keepdims=True) + _AT_ONCE
        for k in np.flatnonzero(np.count_nonzero(tied, axis=1) > 1):
            row = int(rows[k])
            first[k] = max(
                (self._ways_out(int(i), row, side[k, i : i + 1])[0][0], -int(i))
                for i in np.flatnonzero(tied[k])
            )[1] * -1  # fmt: skip
        return first


def as_solid(obstacle: Any) -> Solid:
    """The obstacle itself; one of the user's that has no sides as one without edges."""
    return obstacle if hasattr(obstacle, "side_gaps") else _Smooth(obstacle)  # type: ignore[no-any-return]


class _Smooth(Shape):
    """An obstacle of the user's that has no sides: one without edges."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.gdim)
        self.obstacle, self.moving = obstacle, bool(getattr(obstacle, "moving", False))

    def gap(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Its gap [m]."""
        return self.obstacle.gap(x, t) if self.moving else self.obstacle.gap(x)

    def normal(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Its normals."""
        return self.obstacle.normal(x, t) if self.moving else self.obstacle.normal(x)

    def velocity(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Its velocities [m/s]."""
        return self.obstacle.velocity(x, t) if self.moving else super().velocity(x, t)
