"""What is seen of a body at a moment: its skin, or what a plane leaves of it and the cut."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .drawing import load_pyvista


class Parts(NamedTuple):
    """What does not change with time.

    Attributes:
        pieces: Of the skin, numbers of nodes, shape (m, 3) or (m, 4).
        cells: What the plane passes, numbers of nodes, shape (k, 4) tetrahedra or (k, 8) hexahedra.
        x: Places at rest of these nodes, shape (n, 3) [m].
        gdim, names: Number and names of the directions.
    """

    pieces: Any
    cells: Any
    x: Any
    gdim: int
    names: str


class Plane(NamedTuple):
    """A plane of the body at rest: what the normal points at is cut away.

    Attributes:
        point: [m].
        normal: Unit vector.
    """

    point: NDArray
    normal: NDArray


class Body:
    """The body as meshes of pyvista. On rank 0 alone.

    Args:
        parts: Of the body.
        plane: Where it is cut, or None.
    """

    def __init__(self, parts: Parts, plane: Plane | None) -> None:
        self._pieces, self._x, self._plane = parts.pieces, np.asarray(parts.x, dtype=np.float64), plane
        pyvista, pieces = load_pyvista(), parts.pieces
        faces = np.column_stack([np.full(len(pieces), pieces.shape[1]), pieces]).ravel()
        self._skin = pyvista.PolyData(self._x.copy(), faces=faces)
        self._cut = None
        if plane is not None and len(parts.cells):
            cells = parts.cells
            kind = pyvista.CellType.TETRA if cells.shape[1] == 4 else pyvista.CellType.HEXAHEDRON
            self._cut = pyvista.UnstructuredGrid({kind: cells}, self._x)

    def at(self, shot: Any) -> Any:
        """The body at a moment, with the point data ``"shade"``.

        Args:
            shot: The moment.
        """
        found = self._skin.copy()
        found.point_data["shade"] = shot.values
        if self._plane is None:
            found.points = shot.points
            return found
        point, normal = self._plane
        found.point_data["now"] = shot.points
        found = found.clip(normal=normal, origin=point)
        if self._cut is not None:
            self._cut.point_data["shade"], self._cut.point_data["now"] = shot.values, shot.points
            found = found.append_polydata(self._cut.slice(normal=normal, origin=point))
        found.points = np.array(found.point_data["now"])
        return found

    def edge(self, shot: Any) -> float:
        """Length of an edge between visible nodes, the median [m]."""
        ends = np.asarray(shot.points)[self._pieces[:, :2]]
        return float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)))
