"""Surfaces of obstacles: zero level set of the gap function with sharp edges, by dual contouring.

Marching cubes cut off edges. In dual contouring every cell of the grid that the surface passes has one
point, the least-squares intersection of the tangent planes at the crossings with the edges of the cell: it
lies on an edge or tip of the obstacle if the cell contains one. Ju, Losasso, Schaefer and Warren, Dual
contouring of Hermite data, ACM Trans. Graph. 21 (2002), doi:10.1145/566654.566586.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._types import BoolArray, FloatArray, IntArray
from ..contact.obstacles import Cone, Cylinder, MovingObstacle, Obstacle, UnionObstacle
from .drawing import load_pyvista
from .skin import in_space

#: Angle between faces above which there is an edge between them [degrees].
SHARP = 30.0
#: Shift of the grid over the cell size, so that its planes do not coincide with faces of obstacles.
_SHIFT = (0.437, 0.381, 0.469)
#: Relative eigenvalue of the least-squares matrix below which it is truncated.
_BLUNT = 0.03


def surface(
    obstacle: Obstacle, low: ArrayLike, high: ArrayLike, *, cells: int = 60, t: float = 0.0, away: float = 0.0
) -> Any:
    """Surface of an obstacle (zero gap) within a box, as a mesh of pyvista; lines in two dimensions.

    Parts thinner than a cell of the sampling grid may be missing.

    Args:
        obstacle: The shape, in 2 or 3 dimensions.
        low, high: Opposite corners of the box, shape (gdim,) [m].
        cells: Cells of the grid along the longest side of the box.
        t: Time [s].
        away: Depth inside the obstacle at which the surface is computed [m].

    Returns:
        ``pyvista.PolyData`` with the point data ``"normals"``, unit normals into the free side; at edges one
        point per face. Empty where the gap has no zero.

    Raises:
        ValueError: Corners that are not in order or have another dimension, fewer than one cell.
        ImportError: pyvista is missing (extra ``plot``).
        RuntimeError: No display, and a VTK that crashes without one.
    """
    corners = corners_of_box(obstacle.gdim, low, high)
    check_cells(cells)
    pyvista, gdim = load_pyvista(), obstacle.gdim
    points, pieces = _pieces(obstacle, corners, int(cells), t, away)
    if not len(pieces):
        return pyvista.PolyData()
    if gdim == 2:
        mesh = pyvista.PolyData(in_space(points), lines=_counted(pieces))
        mesh["normals"] = in_space(obstacle.normal(points, t))
        for i, sign in enumerate((-1.0, 1.0)):
            for axis in np.eye(3)[:2]:
                mesh = mesh.clip(normal=sign * axis, origin=(*corners[i], 0.0))
        return mesh
    for i, sign in enumerate((1.0, -1.0)):
        for axis in range(3):
            clipped = clip(pieces, sign * (points[:, axis] - corners[i, axis]))
            points, pieces = clipped.at(points), clipped.pieces
    if not len(pieces):
        return pyvista.PolyData()
    mesh = pyvista.PolyData(points, faces=_counted(pieces)).compute_normals(
        cell_normals=False,
        split_vertices=True,
        feature_angle=SHARP,
        consistent_normals=False,
        auto_orient_normals=False,
    )
    mesh.rename_array("Normals", "normals")
    return mesh


def _pieces(
    obstacle: Obstacle, corners: FloatArray, cells: int, t: float, away: float
) -> tuple[FloatArray, IntArray]:
    """Points, shape (n, gdim) [m], and lines or triangles between them, oriented to the free side."""
    size = float(np.max(np.diff(corners, axis=0))) / cells
    if obstacle.gdim == 3 and away == 0.0:
        if isinstance(obstacle, Cylinder) and obstacle.length is not None:
            length, radius = obstacle.length, obstacle.radius
            return _revolved(obstacle, [(0, 0), (radius, 0), (radius, length), (0, length)], size)
        if isinstance(obstacle, Cone) and obstacle.height is not None:
            rim = obstacle.height * np.tan(np.radians(obstacle.half_angle))
            return _revolved(obstacle, [(0, 0), (rim, obstacle.height), (0, obstacle.height)], size)
    return _Dual(obstacle, corners, cells, t, away).pieces()


def _revolved(shape: Cylinder | Cone, profile: Sequence[Any], size: float) -> tuple[FloatArray, IntArray]:
    """Triangulated surface of revolution about the axis of a shape, whose rim may be thinner than ``size``.

    Args:
        shape: The shape with the axis.
        profile: Corners as distances from and along the axis [m], the shape on their left.
        size: Edge length of the triangles [m].
    """
    ends = np.array(profile, dtype=np.float64)
    parts = [1 + int(np.linalg.norm(b - a) / size) for a, b in zip(ends, ends[1:])]
    sides = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(ends, ends[1:], parts)]
    curve = np.vstack([*sides, ends[-1:]])
    right = np.cross(shape.axis, np.eye(3)[np.argmin(np.abs(shape.axis))])
    right /= np.linalg.norm(right)
    count = max(48, int(2 * np.pi * ends[:, 0].max() / size))
    phi = 2 * np.pi * np.arange(count) / count
    ring = np.outer(np.cos(phi), right) + np.outer(np.sin(phi), np.cross(shape.axis, right))
    points = shape.point + curve[:, 1, None, None] * shape.axis + curve[:, 0, None, None] * ring
    i, j = (each.ravel() for each in np.meshgrid(np.arange(len(curve) - 1), np.arange(count), indexing="ij"))
    a, b, c, d = (k * count + m % count for k, m in ((i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)))
    # Points on the axis are merged.
    tips = curve[:, 0] == 0
    pieces = np.concatenate([np.array([a, b, c]).T[~tips[i]], np.array([a, c, d]).T[~tips[i + 1]]])
    first = np.arange(len(curve) * count)
    first[tips.repeat(count)] -= first[tips.repeat(count)] % count
    pieces = first[pieces]
    return points.reshape(-1, 3), pieces[:, ::-1] if shape.inside else pieces


def facing(found: Any, back: FloatArray) -> Any:
    """The part of a surface whose normals point towards the eye."""
    if not found.n_points:
        return found
    normals = np.asarray(found["normals"], dtype=np.float64)
    front = clip(found.faces.reshape(found.n_cells, 4)[:, 1:], normals @ back - 1e-3)
    if not len(front.pieces):
        return load_pyvista().PolyData()
    seen = load_pyvista().PolyData(front.at(np.asarray(found.points)), faces=_counted(front.pieces))
    seen["normals"] = front.at(normals)
    seen.point_data.active_normals_name = "normals"
    return seen


class Kept(NamedTuple):
    """Clipped triangles, with the interpolation of values to their points.

    Attributes:
        pieces: Triangles of new points, shape (m, 3).
        first, second: Numbers of the old points between which each new point lies, shape (n,).
        share: Weight of the second one, shape (n,).
    """

    pieces: IntArray
    first: IntArray
    second: IntArray
    share: FloatArray

    def at(self, values: FloatArray) -> FloatArray:
        """Values at the old points, interpolated to the new ones."""
        share = self.share.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray((1 - share) * values[self.first] + share * values[self.second])


def clip(triangles: IntArray, values: FloatArray) -> Kept:
    """The part of triangles where ``values``, linear between their points, are not negative.

    Coincident points remain distinct. (The VTK filter merges them and drops all but one of their normals.)
    """
    good = values >= 0
    number = good[triangles].sum(axis=1)
    mixed = triangles[(number == 1) | (number == 2)]
    # The point that differs from both others comes first.
    odd = np.argmax(good[mixed] == (good[mixed].sum(axis=1, keepdims=True) == 1), axis=1)
    mixed = np.take_along_axis(mixed, (odd[:, None] + np.arange(3)) % 3, axis=1)
    ends = np.sort(mixed[:, [[0, 1], [0, 2]]].reshape(-1, 2), axis=1)
    edges, where = np.unique(ends, axis=0, return_inverse=True)
    new = where.reshape(-1, 2) + len(values)
    tip = good[mixed[:, 0]]
    clipped = np.concatenate(
        [
            triangles[number == 3],
            np.column_stack([mixed[tip, 0], new[tip]]),
            np.column_stack([new[~tip, 0], mixed[~tip, 1:]]),
            np.column_stack([new[~tip, 0], mixed[~tip, 2], new[~tip, 1]]),
        ]
    )
    low, high = values[edges[:, 0]], values[edges[:, 1]]
    every = np.arange(len(values))
    first, second = np.concatenate([every, edges[:, 0]]), np.concatenate([every, edges[:, 1]])
    share = np.concatenate([np.zeros(len(values)), low / (low - high)])
    used, pieces = np.unique(clipped, return_inverse=True)
    return Kept(pieces.reshape(-1, 3), first[used], second[used], share[used])


def _counted(pieces: IntArray) -> IntArray:
    """Pieces in the format of VTK: the number of points of each, then the points."""
    return np.column_stack([np.full(len(pieces), pieces.shape[1]), pieces]).ravel()


def region(
    obstacle: Obstacle, low: ArrayLike, high: ArrayLike, *, cells: int = 60, t: float = 0.0, away: float = 0.0
) -> Any:
    """Interior of a two-dimensional obstacle within a box, as a mesh of pyvista; see :func:`surface`."""
    first, last = corners_of_box(2, low, high)
    h = np.max(last - first) / (4 * cells)
    counts = np.ceil((last - first) / h).astype(int)
    grid = load_pyvista().ImageData(
        dimensions=(*(counts + 1), 1), origin=(*first, 0.0), spacing=(*(last - first) / counts, 1.0)
    )
    grid["gap"] = obstacle.gap(np.asarray(grid.points, dtype=np.float64)[:, :2], t) + away
    return grid.clip_scalar(scalars="gap", value=0.0)


class _Dual:
    """Dual contouring: points in the cells of a grid, and pieces between the cells around its edges."""

    def __init__(self, obstacle: Obstacle, corners: FloatArray, cells: int, t: float, away: float) -> None:
        self._obstacle, self._t, self._away = obstacle, t, away
        size, gdim = np.diff(corners, axis=0)[0], obstacle.gdim
        counts = np.maximum(np.rint(size / size.max() * cells), 1).astype(int)
        self._h = size / counts
        # One cell more on either side: parts beyond the box are cut off later.
        self._origin, self._shape = corners[0] - (1 + np.array(_SHIFT[:gdim])) * self._h, counts + 4
        lines = [o + h * np.arange(n) for o, h, n in zip(self._origin, self._h, self._shape)]
        lattice = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, gdim)
        self._inside = (self._gap(lattice) < 0).reshape(self._shape)

    def _gap(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._obstacle.gap(x, self._t)) + self._away

    def pieces(self) -> tuple[FloatArray, IntArray]:
        """Points, shape (n, gdim) [m], and lines or triangles, oriented to the free side."""
        gdim, rings, crossings = len(self._h), [], []
        for axis in range(gdim):
            nodes, ring, outwards = self._edges(axis)
            crossings.append(self._crossings(nodes, axis))
            rings.append(np.where(outwards[:, None], ring, ring[:, ::-1]))
        around, x = np.concatenate(rings), np.concatenate(crossings)
        used, ring = np.unique(around, return_inverse=True)
        points = self._points(used, ring.reshape(around.shape), x)
        return points, ring.reshape(around.shape) if gdim == 2 else self._split(points, ring.reshape(-1, 4))

    def _edges(self, axis: int) -> tuple[IntArray, IntArray, BoolArray]:
        """Edges along an axis that the surface crosses: first nodes, cells around, orientation."""
        gdim, last = len(self._h), self._shape[axis] - 1
        first = self._inside.take(range(last), axis)
        nodes = np.argwhere(first != self._inside.take(range(1, last + 1), axis))
        others = [(axis + i) % gdim for i in range(1, gdim)]
        # Without edges at the boundary of the grid, which are not surrounded by cells.
        inner = (nodes[:, others] > 0) & (nodes[:, others] < self._shape[others] - 1)
        nodes = nodes[inner.all(axis=1)]
        steps = np.array([[1, 1], [0, 1], [0, 0], [1, 0]] if gdim == 3 else [[1], [0]])
        back = np.zeros((len(steps), gdim), dtype=int)
        back[:, others] = steps
        cells = np.moveaxis(nodes[:, None] - back, -1, 0)
        ring = np.ravel_multi_index(tuple(cells), tuple(self._shape - 1))
        outwards = first[tuple(nodes.T)]
        return nodes, ring, outwards if gdim == 3 or axis == 1 else ~outwards

    def _crossings(self, nodes: IntArray, axis: int) -> FloatArray:
        """Zeros of the gap on edges by bisection and a final secant step, shape (m, gdim) [m]."""
        a = self._origin + self._h * nodes
        b = a + self._h * np.eye(len(self._h))[axis]
        swap = ~self._inside[tuple(nodes.T)]
        a[swap], b[swap] = b[swap], a[swap]
        for _ in range(6):
            middle = (a + b) / 2
            within = (self._gap(middle) < 0)[:, None]
            a, b = np.where(within, middle, a), np.where(within, b, middle)
        low, high = self._gap(a), self._gap(b)
        share = -low / np.where(high > low, high - low, 1.0)
        crossings: FloatArray = a + np.clip(share, 0.0, 1.0)[:, None] * (b - a)
        return crossings

    def _points(self, cells: IntArray, ring: IntArray, x: FloatArray) -> FloatArray:
        """Point of each cell, shape (cells, gdim) [m], from the crossings and the cells around each."""
        count, each = cells.size, ring.shape[1]
        n, index = self._obstacle.normal(x, self._t), ring.ravel()

        def gathered(values: FloatArray) -> FloatArray:
            flat = np.repeat(values.reshape(len(x), int(np.prod(values.shape[1:]))), each, axis=0)
            sums = [np.bincount(index, column, count) for column in flat.T]
            return np.array(sums, dtype=np.float64).T.reshape(count, *values.shape[1:])

        # Least squares n.(p - x) = 0 about the mean of the crossings, by a truncated pseudo-inverse.
        number = np.bincount(index, minlength=count)[:, None]
        mean = gathered(x) / number
        matrix = gathered(n[:, :, None] * n[:, None, :])
        right = gathered(n * np.einsum("mi,mi->m", n, x)[:, None]) - np.einsum("cij,cj->ci", matrix, mean)
        values, vectors = np.linalg.eigh(matrix)
        share = np.einsum("cij,ci->cj", vectors, right)
        firm = values > _BLUNT * values[:, -1:]
        share = np.where(firm, share / np.where(firm, values, 1.0), 0.0)
        points = mean + np.einsum("cij,cj->ci", vectors, share)
        low = self._origin + self._h * np.array(np.unravel_index(cells, tuple(self._shape - 1))).T
        # An edge may lie slightly outside the cell.
        within: FloatArray = np.clip(points, low - self._h / 2, low + 1.5 * self._h)
        return within

    def _split(self, points: FloatArray, quads: IntArray) -> IntArray:
        """Triangles of quadrilaterals, split along the diagonal that is closer to the surface."""
        off = [np.abs(self._gap((points[quads[:, i]] + points[quads[:, i + 2]]) / 2)) for i in (0, 1)]
        turned = np.where((off[1] < off[0])[:, None], np.roll(quads, -1, axis=1), quads)
        split = np.concatenate([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])
        a, b = points[split[:, 1]] - points[split[:, 0]], points[split[:, 2]] - points[split[:, 0]]
        triangles: IntArray = split[np.cross(a, b).any(axis=1)]
        return triangles


def check_cells(cells: int) -> None:
    """Raise a ValueError where ``cells`` is not a whole number from 1 on."""
    if not (cells >= 1 and cells == int(cells)):
        raise ValueError(f"cells must be a whole number from 1 on, but is {cells}")


def corners_of_box(gdim: int, low: ArrayLike, high: ArrayLike) -> FloatArray:
    """The corners as an array, shape (2, gdim) [m]; a ValueError unless low < high in all dimensions."""
    first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    fits = first.shape == last.shape == (gdim,) and gdim > 1
    if not (fits and np.all(np.isfinite([first, last])) and np.all(first < last)):
        raise ValueError(
            f"an obstacle in 2 or 3 directions, here {gdim}, is drawn between corners low < high of "
            f"as many numbers, not {low!r} and {high!r}"
        )
    return np.array([first, last])


def around(obstacle: Obstacle) -> FloatArray:
    """Corners of a box around a bounded obstacle with a margin, shape (2, gdim) [m]."""
    low, high = obstacle.bounds()
    room = 0.02 * np.max(high - low)
    return np.array([low - room, high + room])


def moved(at_rest: Any, obstacle: MovingObstacle, t: float) -> Any:
    """The mesh of a rigidly moved obstacle at ``t``, from that at rest."""
    gdim, mesh, turn = obstacle.gdim, at_rest.copy(), obstacle.turn(t)
    x = np.asarray(at_rest.points, dtype=np.float64)[:, :gdim] - obstacle.center
    mesh.points = in_space(x @ turn.T + obstacle.center + obstacle.displacement(t))
    if "normals" in mesh.point_data:
        mesh["normals"] = in_space(np.asarray(at_rest["normals"])[:, :gdim] @ turn.T)
    return mesh


def rest_places(obstacle: Obstacle, x: FloatArray, t: float) -> FloatArray:
    """Positions, in the obstacle at rest, of its material points at ``x`` at ``t``, shape (p, gdim) [m]."""
    if isinstance(obstacle, MovingObstacle):
        arm = x - obstacle.center - obstacle.displacement(t)
        return rest_places(obstacle.obstacle, arm @ obstacle.turn(t) + obstacle.center, t)
    if isinstance(obstacle, UnionObstacle) and obstacle.moving:
        nearest = np.argmin([each.gap(x, t) for each in obstacle.members], axis=0)
        places = np.array([rest_places(each, x, t) for each in obstacle.members])
        return np.asarray(places[nearest, np.arange(len(x))])
    return x
