"""The obstacle in pictures of solids: surface, grid and outline, the body's shadow, how it moves."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

from ..contact.obstacles import Moving, Obstacle
from .marks import grid_lines, outline, shadow
from .skin import in_space
from .surfaces import around, facing, moved, region, rest_places, surface

_FILL, _LINES, _EDGES, _BEFORE = "#ece7dd", "#756b58", "#5d5443", "#6f98c0"
COLOR = np.array([201.0, 191.0, 174.0])
#: How much nearer to the eye lines are drawn than what they are on, over the size of the picture.
_NEARER = 2e-3
#: Of the largest speed of the obstacle, what counts as large as that.
_FAST = 0.98


class Place(NamedTuple):
    """The obstacle at a moment.

    Attributes:
        t: When [s].
        seen: The surface that is seen from the free side, lines in the plane.
        edges: Its outline and edges.
        filled: What it fills in the plane, or None.
    """

    t: float
    seen: Any
    edges: Any
    filled: Any


class Backdrop:
    """An obstacle at some moments.

    Args:
        obstacle: The shape.
        corners: Of the box in which it is drawn, shape (2, gdim) [m].
        times: Of the moments [s].
        back: Direction towards the eye.
        cells: See :func:`.surface`.
        away: How much farther than its surface it is drawn [m].

    Attributes:
        places: Where it is at the moments; one for all where it is at rest.
    """

    def __init__(
        self, obstacle: Obstacle, corners: NDArray, times: Sequence[float], *, back: NDArray, cells: int,
        away: float,
    ) -> None:  # fmt: skip
        self._obstacle, self._back, self._gdim = obstacle, back, obstacle.gdim
        self._corners, self._cells, self._away = corners, cells, away
        times = times if obstacle.moving else times[:1]
        whole = _whole(obstacle, corners)
        if whole is None:
            self.places = [self._place(t) for t in times]
        else:
            self.places = self._moved(whole, times)
        self._fastest = max(float(np.linalg.norm(self._pace(i)[1])) for i in range(len(self.places)))

    def _place(self, t: float) -> Place:
        options: dict[str, Any] = {"cells": self._cells, "t": t, "away": self._away}
        found = surface(self._obstacle, *self._corners, **options)
        if self._gdim == 2:
            return Place(t, found, None, region(self._obstacle, *self._corners, **options))
        seen = facing(found, self._back)
        return Place(t, seen, outline(seen, self._corners), None)

    def _moved(self, whole: Moving, times: Sequence[float]) -> list[Place]:
        """The surface is looked for but once."""
        box, cells = around(whole.obstacle), self._cells
        at_rest = surface(whole.obstacle, *box, cells=cells)
        if self._gdim == 2:
            filled = region(whole.obstacle, *box, cells=cells)
            return [Place(t, moved(at_rest, whole, t), None, moved(filled, whole, t)) for t in times]
        seen = [facing(moved(at_rest, whole, t), self._back) for t in times]
        return [Place(t, each, outline(each), None) for t, each in zip(times, seen)]

    def points(self) -> list[NDArray]:
        """Of the surfaces at the moments, shape (n, 3) each [m]."""
        return [np.asarray(place.seen.points) for place in self.places]

    def add(self, plotter: Any, i: int, body: Any, *, spacing: float, size: float, sharp: int) -> None:
        """Draw it in the place of the moment before.

        Args:
            plotter: Of pyvista.
            i: Number of the moment.
            body: What throws a shadow.
            spacing: Of the lines of the grid [m].
            size: Of what is seen [m].
            sharp: Pixels of the picture a pixel of its size.
        """
        at = min(i, len(self.places) - 1)
        place, nearer = self.places[at], _NEARER * size * self._back
        if self._gdim == 2:
            _replace(plotter, "filled", _shifted(place.filled, -nearer), color=_FILL, lighting=False)
            _replace(plotter, "obstacle", place.seen, color=_EDGES, line_width=1.6 * sharp, lighting=False)
            if at > 0:
                first = _shifted(self.places[0].seen, -nearer / 2)
                _replace(plotter, "before", first, color=_BEFORE, line_width=1.2 * sharp, lighting=False)
            return
        self._add_surface(plotter, place, body)
        thin = {"line_width": 0.9 * sharp, "lighting": False}
        if at == i and place.seen.n_points:
            x = np.asarray(place.seen.points, dtype=np.float64)
            lines = grid_lines(place.seen, rest_places(self._obstacle, x, place.t), spacing)
            for axis in range(3):
                line = _shifted(lines[axis], nearer) if axis < len(lines) else None
                _replace(plotter, f"grid {axis}", line, color=_LINES, **thin)
            edges = _shifted(place.edges, 1.5 * nearer)
            _replace(plotter, "edges", edges, color=_EDGES, line_width=1.2 * sharp, lighting=False)
        if at > 0:
            before = _shifted(self._first_outline(), nearer)
            _replace(plotter, "before", before, color=_BEFORE, line_width=1.4 * sharp, lighting=False)

    def _add_surface(self, plotter: Any, place: Place, body: Any) -> None:
        if place.seen.n_points:
            up = np.array([0.0, 0.0, 1.0])
            if self._obstacle.flat:
                up = np.asarray(place.seen["normals"], dtype=np.float64)[0]
            light = shadow(place.seen, body, up)
            place.seen["color"] = np.outer(light, COLOR).astype(np.uint8)
        _replace(plotter, "obstacle", place.seen, scalars="color", rgb=True, ambient=0.35, diffuse=0.65)

    def _first_outline(self) -> Any:
        """Also where the box cuts it: of a plane nothing else is seen."""
        return outline(self.places[0].seen)

    def pace(self, i: int) -> tuple[NDArray, NDArray, float] | None:
        """A point that is seen and moves as fast as any [m], its velocity [m/s], the largest of all moments.

        None where it does not move.
        """
        if not self._fastest > 0 or i >= len(self.places):
            return None
        point, velocity = self._pace(i)
        return (point, velocity, self._fastest) if np.linalg.norm(velocity) > 1e-3 * self._fastest else None

    def _pace(self, i: int) -> tuple[NDArray, NDArray]:
        """Of the fast points the one at the left."""
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


def _whole(obstacle: Obstacle, corners: NDArray) -> Moving | None:
    """A rigidly moved obstacle that is not much larger than the box, whose surface is looked for but once."""
    if not isinstance(obstacle, Moving) or obstacle.obstacle.moving:
        return None
    size = np.max(np.diff(obstacle.obstacle.bounds(), axis=0))
    return obstacle if size <= 2 * np.max(np.diff(corners, axis=0)) else None


def _shifted(mesh: Any, shift: NDArray) -> Any:
    found = mesh.copy()
    if found.n_points:
        found.points = np.asarray(found.points) + shift
    return found


def _replace(plotter: Any, name: str, mesh: Any, **look: Any) -> None:
    plotter.remove_actor(name, render=False)
    if mesh is not None and mesh.n_points:
        plotter.add_mesh(mesh, name=name, render=False, reset_camera=False, **look)
