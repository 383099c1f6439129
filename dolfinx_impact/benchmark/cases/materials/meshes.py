"""Meshes of about equal cells: round bars, axisymmetric or a quarter of them, and the section of a ball.

The quarter of a disc has a square of cells around its center, which turns round towards its edge, and rings
of cells between it and the circle.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from ....mesh import NamedMesh, named
from ...boxes import box, create

_GHOSTS = dmesh.GhostMode.shared_facet
GEOMETRIES = ("axisymmetric", "quarter", "tetrahedra")
#: Part of the radius that the square takes along the axes, and how round it is at its edge.
_SQUARE, _ROUND = 0.6, 0.6
#: Corners of the triangles on either side of a diagonal of a quadrilateral, of the first and of the second.
_HALVES = np.array([[[0, 1, 3], [0, 3, 2]], [[0, 1, 2], [1, 3, 2]]])
_AROUND = ((0, 1), (1, 3), (3, 2), (2, 0))  #: Its sides, in order.

Grid = tuple[NDArray, NDArray]  #: Points, shape (n, gdim) [m], and their numbers in every cell.


def bar(geometry: str, size: float, length: float, radius: float) -> NamedMesh:
    """A round bar of cells of about equal size that stands on z = 0. Collective.

    Args:
        geometry: ``"axisymmetric"``: quadrilaterals in (r, z); ``"quarter"``: hexahedra in x, y >= 0;
            ``"tetrahedra"``: those hexahedra divided into six each.
        size: Edges of quadrilaterals and hexahedra [m].
        length, radius: Of the bar [m].

    Returns:
        The mesh, with the facets ``face`` at z = 0, ``end`` and ``side``; ``axis`` at r = 0, or the planes of
        symmetry ``x = 0`` and ``y = 0``.

    Raises:
        ValueError: Sizes that are not positive, or a size above the radius.
    """
    if not 0 < size <= radius < math.inf or not 0 < length < math.inf:
        raise ValueError(
            f"size must be positive and at most the radius, but is {size} m: radius {radius}, length {length}"
        )
    layers = max(1, round(length / size))
    if geometry == "axisymmetric":
        across = max(1, round(radius / size))
        plain = box([[0.0, 0.0], [radius, length]], [across, layers], bottom="face")
        return named(plain, axis=_at(0, 0.0), end=_at(1, length), side=_at(0, radius))
    points, quads = quarter_disc(size, radius)
    x, cells = extruded((points, quads), length, layers)
    kind = "hexahedron"
    if geometry == "tetrahedra":
        cells, kind = _tetrahedra(divided((points, quads))[1], len(points), layers), "tetrahedron"
    whole = create(x, oriented(x, cells) if kind == "tetrahedron" else cells, kind, ghost_mode=_GHOSTS)
    parts: dict[str, Any] = {"x = 0": _at(0, 0.0), "y = 0": _at(1, 0.0), "face": _at(2, 0.0)}
    parts |= {"end": _at(2, length), "side": lambda x: np.hypot(x[0], x[1]) > (1 - 1e-9) * radius}
    return named(whole, **parts)


def ball(size: float, radius: float, kind: str, diagonals: str = "crossed") -> NamedMesh:
    """The section of a ball in (r, z) that touches z = 0 from above, of quadrilaterals or triangles.

    The facets ``axis`` are those at r = 0, ``surface`` those of the circle. Collective.
    """
    points, quads = quarter_disc(size, radius)
    n, mirror = len(points), points * [1.0, -1.0]
    number = np.where(points[:, 1] == 0.0, np.arange(n), np.arange(n, 2 * n))
    used, numbers = np.unique(np.concatenate([quads, number[quads][:, [2, 3, 0, 1]]]), return_inverse=True)
    x, cells = np.vstack([points, mirror])[used], numbers.reshape(-1, 4)
    if kind == "triangle":
        x, cells = divided((x, cells), diagonals)
    off = 1e-9 * radius
    whole = create(x + np.array([0.0, radius]), cells, kind, ghost_mode=_GHOSTS)
    return named(whole, axis=_at(0, 0.0), surface=lambda x: np.hypot(x[0], x[1] - radius) > radius - off)


def quarter_disc(size: float, radius: float) -> Grid:
    """A quarter of a disc in x, y >= 0 of quadrilaterals, their corners as those of ``[0, 1]^2`` in order."""
    square = max(1, round(_SQUARE * radius / size))
    rings = max(1, round(radius / size - square))
    n = square + rings
    inner = radius * square / n
    j, i = np.indices((n + 1, n + 1)).reshape(2, -1)
    numbers = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)  # [j, i]
    # Outside of the square there is a ring in each of two sectors, none beyond the corner.
    a, b = np.minimum(i, square) / square, np.minimum(j, square) / square
    out = (np.maximum(i, j) - square).clip(0) / rings
    largest = np.maximum(np.maximum(a, b), 1e-300)
    angle = np.where(a >= b, b / largest, 2 - a / largest) * np.pi / 4
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    turned = (_ROUND * largest)[:, None]
    core: NDArray = inner * ((1 - turned) * np.column_stack([a, b]) + turned * largest[:, None] * circle)
    x: NDArray = core + out[:, None] * (radius * circle - core)
    x[np.abs(x) < 1e-12 * radius] = 0.0
    second, first = np.indices((n, n)).reshape(2, -1)
    # The rings of both sectors share the nodes between them, beyond the corner.
    numbers[square:, square] = numbers[square, square:]
    kept = (first < square) | (second < square)
    first, second = first[kept], second[kept]
    corners = [numbers[second + d, first + c] for d in (0, 1) for c in (0, 1)]
    return _used(x, np.column_stack(corners))


def divided(grid: Grid, diagonals: str = "parallel") -> Grid:
    """Every quadrilateral divided into two triangles by its shorter diagonal, or into four by both.

    ``diagonals`` are ``"parallel"`` or ``"crossed"``.
    """
    x, quads = grid
    if diagonals == "crossed":
        middle = np.arange(len(x), len(x) + len(quads))
        sides = [np.column_stack([quads[:, a], quads[:, b], middle]) for a, b in _AROUND]
        return np.vstack([x, x[quads].mean(axis=1)]), np.concatenate(sides)
    first, second = (np.linalg.norm(x[quads[:, a]] - x[quads[:, b]], axis=1) for a, b in ((0, 3), (1, 2)))
    ways = (second < first * (1 - 1e-9)).astype(int)
    return x, np.concatenate([quads[k, _HALVES[way]] for k, way in enumerate(ways)])


def extruded(grid: Grid, length: float, layers: int) -> Grid:
    """Layers of hexahedra over quadrilaterals, from z = 0 on."""
    x, quads = grid
    heights = length * np.arange(layers + 1) / layers
    points = np.column_stack([np.tile(x, (layers + 1, 1)), np.repeat(heights, len(x))])
    bottoms = [quads + k * len(x) for k in range(layers + 1)]
    return points, np.concatenate([np.hstack(pair) for pair in zip(bottoms, bottoms[1:])])


def _tetrahedra(triangles: NDArray, n: int, layers: int) -> NDArray:
    """Three in every prism over triangles of ``n`` points: diagonals of its sides start at lower numbers."""
    a, b, c = np.sort(triangles, axis=1).T
    each = [(a, b, c, c + n), (a, b, b + n, c + n), (a, a + n, b + n, c + n)]
    one = np.concatenate([np.column_stack(corners) for corners in each])
    return np.concatenate([one + k * n for k in range(layers)])


def oriented(x: NDArray, cells: NDArray) -> NDArray:
    """Simplices with positive volumes."""
    volumes = np.linalg.det(x[cells[:, 1:]] - x[cells[:, :1]])
    turned = cells.copy()
    turned[volumes < 0, -2:] = cells[volumes < 0][:, [-1, -2]]
    return turned


def _used(x: NDArray, cells: NDArray) -> Grid:
    """The points that cells have."""
    used, numbers = np.unique(cells, return_inverse=True)
    return x[used], numbers.reshape(cells.shape)


def _at(axis: int, value: float) -> Any:
    """A marker of the points at a value of a coordinate."""
    return lambda x: np.isclose(x[axis], value, atol=1e-12)
