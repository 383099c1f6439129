"""Active side of each obstacle with edges, tracked from step to step.

With contact at velocity level a point in lasting contact penetrates a little in every step; next to an edge
the nearest side need not be the one through which it entered. Therefore a point has at most one *active
side* per obstacle:

1. A side stays active while the point is inside that obstacle. If the point has left it and is inside
   another one, the side of that obstacle with the most similar normal becomes active (a seam between tiles),
   unless its plane lies higher (a wall next to a floor); otherwise no side is active (the point passed an
   edge).
2. The point is projected to the outside of its active sides, ``x' = x + sum (margin - g) n``. While x' is
   inside an obstacle: of the obstacles entered on the path from the projected position of the last step to
   x', the one entered first becomes active, with that of its sides which was crossed last on the path, and x
   is projected by this side too.

Thus the projected point meets a wall that stands on a floor, but not the lateral side of the next tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._types import AnyArray, BoolArray, FloatArray, IntArray
from .obstacles import Shape
from .obstacles.shapes import EdgedObstacle, Obstacle

#: Crossings whose parameters on the path [0, 1] differ by less are simultaneous.
_SIMULTANEOUS = 1e-9


class ActiveSides:
    """Active sides of points: at the last :meth:`update`, and at the end of the last step.

    Args:
        obstacles: The obstacles; one without edges has a single side.
        x: Positions of the points, shape (p, gdim) [m].
        tolerance: A gap up to this counts as inside [m].
        margin: Distance from the active sides to which a point is projected [m].

    Attributes:
        active: Number of each point's active side of each obstacle, -1 for none, shape (p, obstacles).
        projected: Projected positions, shape (p, gdim) [m].
    """

    def __init__(self, obstacles: Sequence[Obstacle], x: FloatArray, tolerance: float, margin: float) -> None:
        self.obstacles: list[EdgedObstacle] = [as_edged(each) for each in obstacles]
        self.tolerance, self.margin = tolerance, max(margin, 2 * tolerance)
        self.active = np.full((len(x), len(self.obstacles)), -1, dtype=np.int8)
        self.projected = x.copy()
        self.start(x, 0.0)

    def start(self, x: FloatArray, t: float) -> None:
        """Start at ``x``; for a point inside an obstacle the path by which it entered is unknown (NaN)."""
        self.active[:], self.projected[:], self._t = -1, x, t
        depth = np.max([-obstacle.side_gaps(x, t).max(axis=1) for obstacle in self.obstacles], axis=0)
        self.projected[depth > self.margin] = np.nan
        self.accept_step()

    def accept_step(self) -> None:
        """Store the result of the last :meth:`update` as that of the completed step."""
        self._active_before, self._origin, self._t_before = self.active.copy(), self.projected.copy(), self._t

    def past(self) -> dict[str, AnyArray]:
        """State at the end of the last step, one row per point and obstacle: active side, origin and time."""
        time = np.full((len(self._origin), 1), self._t_before)
        origin = np.repeat(np.hstack([self._origin, time]), len(self.obstacles), axis=0)
        return {"sides": self._active_before.ravel().astype(np.float64), "origin": origin}

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """Restore the state returned by :meth:`past`."""
        origin = past["origin"][:: len(self.obstacles)]
        self.active[:], self.projected[:] = past["sides"].reshape(self.active.shape), origin[:, :-1]
        self._t = float(origin[0, -1]) if len(origin) else 0.0
        self.accept_step()

    def update(self, which: IntArray, x: FloatArray, t: float, v: FloatArray | None) -> None:
        """Determine the active sides at ``t``.

        Args:
            which: Numbers of the points that may be inside an obstacle; all others are outside of all.
            x: Positions of all points, shape (p, gdim) [m].
            t: Time [s].
            v: Their velocities, which select among sides crossed simultaneously, shape (p, gdim) [m/s]; a
                point at rest relative to such an edge has no active side yet.
        """
        self.active[:], self.projected[:], self._t = -1, x, t
        looked_at: BoolArray = np.any(self._active_before >= 0, axis=1)
        looked_at[which] = True
        which = np.flatnonzero(looked_at)
        if which.size:
            velocities = np.zeros((which.size, x.shape[1])) if v is None else v.take(which, axis=0)
            points = _SidedPoints(self, which, x.take(which, axis=0), t, velocities)
            points.retain()
            points.activate(self._origin.take(which, axis=0), self._t_before)
            self.active[which], self.projected[which] = points.active, points.projected

    def path(self, j: int, x: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Start and end of the path in this step of points at ``x``, as obstacle j sees it.

        Points are projected by their active sides of other obstacles, so that an obstacle flush with a floor
        does not obstruct them.

        Returns:
            Two arrays of shape (p, gdim) [m], and a mask of the points that had an active side of obstacle j
            at the start, shape (p,); the start is NaN where the path is unknown.
        """
        end = np.where(self.active[:, j, None] >= 0, x, self.projected)
        return self._origin, end, self._active_before[:, j] >= 0

    def gaps(self, x: FloatArray, t: float) -> FloatArray:
        """Gaps at ``x`` with the present active sides, shape (p, obstacles) [m]; the state is unchanged."""
        return self.rows(np.arange(len(x)), x, t)[0]

    def rows(
        self, which: IntArray, x: FloatArray, t: float, *, active_only: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Gaps and normals of the points ``which`` at ``x``.

        Where an obstacle has an active side they are those of the side, elsewhere those of the obstacle at
        the projected position, where it is open; with ``active_only`` infinity and zero instead.

        Returns:
            Gaps, shape (n, obstacles) [m], and normals, shape (n, obstacles, gdim).
        """
        points = _SidedPoints(self, which, x, t, np.zeros_like(x), self.active[which])
        if not active_only:
            points.project()
        gaps, normals = np.full(points.active.shape, np.inf), np.zeros((*points.active.shape, x.shape[1]))
        for j, obstacle in enumerate(self.obstacles):
            on, off = points.active[:, j] >= 0, points.active[:, j] < 0
            gaps[on, j], normals[on, j] = points.active_side(j, np.flatnonzero(on))
            if off.any() and not active_only:
                y = points.projected[off]
                gaps[off, j], normals[off, j] = obstacle.gap(y, t), obstacle.normal(y, t)
        return gaps, normals


class _SidedPoints:
    """A subset of the points at one time, with their active sides."""

    def __init__(
        self,
        parent: ActiveSides,
        which: IntArray,
        x: FloatArray,
        t: float,
        v: FloatArray,
        active: IntArray | None = None,
    ) -> None:
        self._obstacles, self._t, self._v = parent.obstacles, t, v
        self._tolerance, self._margin = parent.tolerance, parent.margin
        self.x, self.active = x, parent._active_before[which].copy() if active is None else active
        self.projected = x.copy()

    def active_side(self, j: int, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Gaps and normals of the active sides of obstacle j at the points ``rows``."""
        x, side = self.x.take(rows, axis=0), self.active[rows, j].astype(np.intp)
        if not rows.size:
            return np.zeros(0), np.zeros(x.shape)
        gaps = self._obstacles[j].side_gaps(x, self._t)[np.arange(rows.size), side]
        return gaps, self._obstacles[j].side_normals(x, side, self._t)

    def retain(self) -> None:
        """Rule 1 of the module: keep active sides or hand them over."""
        left = np.zeros(self.active.shape, dtype=bool)
        for j in map(int, np.flatnonzero((self.active >= 0).any(axis=0))):
            rows = np.flatnonzero(self.active[:, j] >= 0)
            left[rows, j] = ~self._inside(j, rows)
        for j in map(int, np.flatnonzero(left.any(axis=0))):
            rows = np.flatnonzero(left[:, j])
            gaps, normals = self.active_side(j, rows)
            out = self.x[rows] + (self._margin - gaps)[:, None] * normals
            self.active[rows, j] = -1
            for i in range(len(self._obstacles)):
                over = (self.active[rows, i] < 0) & self._inside(i, rows)
                if i != j and over.any():
                    side = self._closest_side(i, rows[over], normals[over])
                    all_gaps = self._obstacles[i].side_gaps(out[over], self._t)
                    beyond = all_gaps[np.arange(side.size), side] >= 0.0
                    self.active[rows[over][beyond], i] = side[beyond]
        self.project()

    def _inside(self, i: int, rows: IntArray) -> BoolArray:
        """Which of the points ``rows`` are inside obstacle i."""
        gaps = self._obstacles[i].side_gaps(self.x.take(rows, axis=0), self._t)
        inside: BoolArray = gaps[:, 0] <= self._tolerance
        for gap in gaps.T[1:]:
            inside &= gap <= self._tolerance
        return inside

    def _closest_side(self, i: int, rows: IntArray, normals: FloatArray) -> IntArray:
        """The sides of obstacle i whose normals are closest to the given ones."""
        x, obstacle = self.x[rows], self._obstacles[i]
        cosines = [
            np.sum(obstacle.side_normals(x, np.full(rows.size, k), self._t) * normals, axis=1)
            for k in range(obstacle.sides)
        ]
        closest: IntArray = np.argmax(cosines, axis=0)
        return closest

    def project(self) -> None:
        """Project the points to the outside of their active sides."""
        self.projected[:] = self.x
        for j in range(len(self._obstacles)):
            rows = np.flatnonzero(self.active[:, j] >= 0)
            gaps, normals = self.active_side(j, rows)
            for k, normal in enumerate(normals.T):
                self.projected[rows, k] += (self._margin - gaps) * normal

    def activate(self, origin: FloatArray, t_before: float) -> None:
        """Rule 2 of the module: activate the sides through which points have entered.

        Args:
            origin: Projected positions at ``t_before``, shape (n, gdim) [m]; NaN where unknown.
            t_before: Time of the end of the last step [s].
        """
        for _ in self._obstacles:
            place = np.full(self.active.shape, np.inf)
            side = np.zeros(self.active.shape, dtype=np.intp)
            for i, obstacle in enumerate(self._obstacles):
                free = np.flatnonzero(self.active[:, i] < 0)
                end = obstacle.side_gaps(self.projected[free], self._t) if free.size else np.zeros((0, 1))
                into = (end <= self._tolerance).all(axis=1)
                rows = free[into]
                if rows.size:
                    crossed = self._last_crossing(i, rows, end[into], origin, t_before)
                    place[rows, i], side[rows, i] = crossed
            entered = np.flatnonzero(np.isfinite(place).any(axis=1))
            if not entered.size:
                return
            first = self._first_entered(entered, place[entered], side[entered])
            self.active[entered, first] = side[entered, first]
            self.project()

    def _last_crossing(
        self, i: int, rows: IntArray, end: FloatArray, origin: FloatArray, t_before: float
    ) -> tuple[FloatArray, IntArray]:
        """Path parameter in [0, 1] at which each point enters obstacle i, and the side that it crosses."""
        near, begin = self._margin, self._obstacles[i].side_gaps(origin[rows], t_before)
        with np.errstate(invalid="ignore", divide="ignore"):
            crossing = np.where(begin > near, begin / (begin - end), np.where(begin >= -near, 0.0, -1.0))
        unknown = ~(crossing >= 0.0).any(axis=1)  # no path, or it starts inside: take the nearest side
        depth = end - end.max(axis=1, keepdims=True)
        crossing[unknown] = np.where(depth[unknown] >= -near, 0.0, -1.0)
        several = np.count_nonzero(crossing >= 0.0, axis=1) > 1
        for k in np.flatnonzero(several & ~unknown):
            self._drop_buried_crossings(i, rows[k], crossing[k], origin[rows[k]], t_before)
        place = crossing.max(axis=1)
        side = np.argmax(crossing, axis=1)
        tied = crossing >= place[:, None] - _SIMULTANEOUS
        for k in np.flatnonzero(np.count_nonzero(tied, axis=1) > 1):
            *_, (second, _), (first, side[k]) = sorted(self._exit_ranks(i, rows[k], np.flatnonzero(tied[k])))
            if first == second and first[1] <= 0.0:
                place[k] = np.inf  # at rest on an edge: undecided until the point moves
        return place, side

    def _drop_buried_crossings(
        self, i: int, row: int, crossing: FloatArray, origin: FloatArray, t0: float
    ) -> None:
        """Remove from one point's ``crossing`` sides that are crossed inside another obstacle (a seam)."""
        for k in np.argsort(-crossing)[: np.count_nonzero(crossing >= 0.0)]:
            place = crossing[k]
            t, side = t0 + place * (self._t - t0), np.array([k])
            x = (origin + place * (self.projected[row] - origin))[None]
            x = x + 3 * self._margin * self._obstacles[i].side_normals(x, side, t)
            if not self._inside_another(i, x, t):
                crossing[crossing > place + _SIMULTANEOUS] = -1.0
                return

    def _inside_another(self, i: int, x: FloatArray, t: float) -> bool:
        return any(
            j != i and bool(np.all(each.side_gaps(x, t) <= self._tolerance))
            for j, each in enumerate(self._obstacles)
        )

    def _exit_ranks(self, i: int, row: int, sides: IntArray) -> list[tuple[tuple[bool, float], int]]:
        """Ranks of sides crossed simultaneously: whether a side leads out of all obstacles, closing speed."""
        ranks = []
        for k in sides:
            side, x = np.array([k]), self.x[row : row + 1]
            normal = self._obstacles[i].side_normals(x, side, self._t)
            gap = self._obstacles[i].side_gaps(x, self._t)[0, k]
            out = self.projected[row : row + 1] + (self._margin - gap) * normal
            buried = any(
                bool(np.all(each.side_gaps(out, self._t) <= self._tolerance))
                for j, each in enumerate(self._obstacles)
                if j != i and self.active[row, j] < 0
            )
            own = self._obstacles[i].velocity(x, self._t)[0] if self._obstacles[i].moving else 0.0
            ranks.append(((not buried, -float(normal[0] @ (self._v[row] - own))), int(k)))
        return ranks

    def _first_entered(self, rows: IntArray, place: IntArray, side: IntArray) -> IntArray:
        """The obstacle that each point enters first; among simultaneous ones that whose side leads out."""
        first: IntArray = np.argmin(place, axis=1)
        tied = place <= place.min(axis=1, keepdims=True) + _SIMULTANEOUS
        for k in np.flatnonzero(np.count_nonzero(tied, axis=1) > 1):
            row = int(rows[k])
            first[k] = (
                max(
                    (self._exit_ranks(int(i), row, side[k, i : i + 1])[0][0], -int(i))
                    for i in np.flatnonzero(tied[k])
                )[1]
                * -1
            )
        return first


def as_edged(obstacle: Any) -> EdgedObstacle:
    """The obstacle itself; a user-defined one without sides as an obstacle with a single side."""
    return obstacle if hasattr(obstacle, "side_gaps") else _SmoothObstacle(obstacle)


class _SmoothObstacle(Shape):
    """A user-defined obstacle without edges as an obstacle with a single side."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.gdim)
        self.obstacle, self.moving = obstacle, bool(getattr(obstacle, "moving", False))

    def gap(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Gaps of the obstacle [m]."""
        return self.obstacle.gap(x, t) if self.moving else self.obstacle.gap(x)

    def normal(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Normals of the obstacle."""
        return self.obstacle.normal(x, t) if self.moving else self.obstacle.normal(x)

    def velocity(self, x: FloatArray, t: float = 0.0) -> FloatArray:
        """Velocities of the obstacle [m/s]."""
        return self.obstacle.velocity(x, t) if self.moving else super().velocity(x, t)
