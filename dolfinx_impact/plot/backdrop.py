"""The obstacle in pictures of solids: surface, grid lines, outline, shadow of the body, motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from ..contact.obstacles import MovingObstacle, Obstacle
from .marks import grid_lines, outline, shadow
from .skin import in_space
from .surfaces import around, facing, moved, region, rest_places, surface

_FILL, _LINES, _EDGES, _BEFORE = "#ece7dd", "#756b58", "#5d5443", "#6f98c0"
COLOR = np.array([201.0, 191.0, 174.0])
#: Offset of lines towards the eye from their surface, over the size of the picture.
_NEARER = 2e-3
#: Part of the largest speed of the obstacle from which on a speed counts as the largest.
_FAST = 0.98


class ObstacleMoment(NamedTuple):
    """The obstacle at a moment.

    Attributes:
        t: Time [s].
        seen: The surface visible from the free side; lines in two dimensions.
        edges: Outline and edges of the surface, None in two dimensions.
        filled: Interior in two dimensions, else None.
    """

    t: float
    seen: Any
    edges: Any
    filled: Any


class Backdrop:
    """An obstacle at the moments of a picture.

    Args:
        obstacle: The shape.
        corners: Corners of the box in which it is drawn, shape (2, gdim) [m].
        times: Times of the moments [s].
        back: Direction towards the eye.
        cells: See :func:`.surface`.
        away: Depth below its surface at which it is drawn [m].

    Attributes:
        places: The obstacle at each moment; a single entry for an obstacle at rest.
    """

    def __init__(
        self,
        obstacle: Obstacle,
        corners: FloatArray,
        times: Sequence[float],
        *,
        back: FloatArray,
        cells: int,
        away: float,
    ) -> None:
        self._obstacle, self._back, self._gdim = obstacle, back, obstacle.gdim
        self._corners, self._cells, self._away = corners, cells, away
        times = times if obstacle.moving else times[:1]
        rigid = _small_rigid(obstacle, corners)
        if rigid is None:
            self.places = [self._place(t) for t in times]
        else:
            self.places = self._moved(rigid, times)
        self._fastest = max(float(np.linalg.norm(self._pace(i)[1])) for i in range(len(self.places)))

    def _place(self, t: float) -> ObstacleMoment:
        options: dict[str, Any] = {"cells": self._cells, "t": t, "away": self._away}
        mesh = surface(self._obstacle, *self._corners, **options)
        if self._gdim == 2:
            return ObstacleMoment(t, mesh, None, region(self._obstacle, *self._corners, **options))
        seen = facing(mesh, self._back)
        return ObstacleMoment(t, seen, outline(seen, self._corners), None)

    def _moved(self, rigid: MovingObstacle, times: Sequence[float]) -> list[ObstacleMoment]:
        """The obstacle at ``times``, from one surface that is moved rigidly."""
        box, cells = around(rigid.obstacle), self._cells
        at_rest = surface(rigid.obstacle, *box, cells=cells)
        if self._gdim == 2:
            filled = region(rigid.obstacle, *box, cells=cells)
            return [ObstacleMoment(t, moved(at_rest, rigid, t), None, moved(filled, rigid, t)) for t in times]
        seen = [facing(moved(at_rest, rigid, t), self._back) for t in times]
        return [ObstacleMoment(t, each, outline(each), None) for t, each in zip(times, seen)]

    def points(self) -> list[FloatArray]:
        """Points of the surfaces at the moments, shape (n, 3) each [m]."""
        return [np.asarray(place.seen.points) for place in self.places]

    def add(self, plotter: Any, i: int, body: Any, *, spacing: float, size: float, sharp: int) -> None:
        """Draw the obstacle at a moment, in place of the previous one.

        Args:
            plotter: Plotter of pyvista.
            i: Index of the moment.
            body: Mesh of the body, which casts a shadow.
            spacing: Distance of the grid lines [m].
            size: Width of the picture [m].
            sharp: Rendered pixels per pixel of the final size.
        """
        index = min(i, len(self.places) - 1)
        place, nearer = self.places[index], _NEARER * size * self._back
        if self._gdim == 2:
            _replace(plotter, "filled", _shifted(place.filled, -nearer), color=_FILL, lighting=False)
            _replace(plotter, "obstacle", place.seen, color=_EDGES, line_width=1.6 * sharp, lighting=False)
            if index > 0:
                first = _shifted(self.places[0].seen, -nearer / 2)
                _replace(plotter, "before", first, color=_BEFORE, line_width=1.2 * sharp, lighting=False)
            return
        self._add_surface(plotter, place, body)
        thin = {"line_width": 0.9 * sharp, "lighting": False}
        if index == i and place.seen.n_points:
            x = np.asarray(place.seen.points, dtype=np.float64)
            lines = grid_lines(place.seen, rest_places(self._obstacle, x, place.t), spacing)
            for axis in range(3):
                line = _shifted(lines[axis], nearer) if axis < len(lines) else None
                _replace(plotter, f"grid {axis}", line, color=_LINES, **thin)
            edges = _shifted(place.edges, 1.5 * nearer)
            _replace(plotter, "edges", edges, color=_EDGES, line_width=1.2 * sharp, lighting=False)
        if index > 0:
            before = _shifted(self._first_outline(), nearer)
            _replace(plotter, "before", before, color=_BEFORE, line_width=1.4 * sharp, lighting=False)

    def _add_surface(self, plotter: Any, place: ObstacleMoment, body: Any) -> None:
        if place.seen.n_points:
            up = np.array([0.0, 0.0, 1.0])
            if self._obstacle.flat:
                up = np.asarray(place.seen["normals"], dtype=np.float64)[0]
            light = shadow(place.seen, body, up)
            place.seen["color"] = np.outer(light, COLOR).astype(np.uint8)
        _replace(plotter, "obstacle", place.seen, scalars="color", rgb=True, ambient=0.35, diffuse=0.65)

    def _first_outline(self) -> Any:
        """Outline at the first moment, including the cuts by the box: a plane has no other edges."""
        return outline(self.places[0].seen)

    def pace(self, i: int) -> tuple[FloatArray, FloatArray, float] | None:
        """A visible point of largest speed [m], its velocity, and the largest speed of all moments [m/s].

        None where the obstacle does not move.
        """
        if not self._fastest > 0 or i >= len(self.places):
            return None
        point, velocity = self._pace(i)
        return (point, velocity, self._fastest) if np.linalg.norm(velocity) > 1e-3 * self._fastest else None

    def _pace(self, i: int) -> tuple[FloatArray, FloatArray]:
        """The leftmost of the fastest visible points [m] and its velocity [m/s]; zeros at rest."""
        place = self.places[i]
        if not (self._obstacle.moving and place.seen.n_points):
            return np.zeros(3), np.zeros(3)
        x = np.asarray(place.seen.points, dtype=np.float64)
        v = in_space(np.asarray(self._obstacle.velocity(x[:, : self._gdim], place.t)))
        speed = np.linalg.norm(v, axis=1)
        right = np.array([1.0, 0.0, 0.0]) if self._gdim == 2 else np.cross([0.0, 0.0, 1.0], self._back)
        fast = np.flatnonzero(speed >= _FAST * speed.max())
        chosen = fast[np.argmin(x[fast] @ right)]
        return x[chosen], v[chosen]


def _small_rigid(obstacle: Obstacle, corners: FloatArray) -> MovingObstacle | None:
    """The obstacle if it is moved rigidly and at most twice as large as the box; None otherwise."""
    if not isinstance(obstacle, MovingObstacle) or obstacle.obstacle.moving:
        return None
    size = np.max(np.diff(obstacle.obstacle.bounds(), axis=0))
    return obstacle if size <= 2 * np.max(np.diff(corners, axis=0)) else None


def _shifted(mesh: Any, shift: FloatArray) -> Any:
    copy = mesh.copy()
    if copy.n_points:
        copy.points = np.asarray(copy.points) + shift
    return copy


def _replace(plotter: Any, name: str, mesh: Any, **look: Any) -> None:
    plotter.remove_actor(name, render=False)
    if mesh is not None and mesh.n_points:
        plotter.add_mesh(mesh, name=name, render=False, reset_camera=False, **look)
