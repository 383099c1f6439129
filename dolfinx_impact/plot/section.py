"""Visible part of a body at a moment: its skin, or the part behind a plane with the cut."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import FloatArray
from .drawing import load_pyvista


class Parts(NamedTuple):
    """Topology and undeformed geometry of the visible part of a body.

    Attributes:
        pieces: Node numbers of the pieces of the skin, shape (m, 3) or (m, 4).
        cells: Node numbers of the cells that the plane cuts, shape (k, 4) tetrahedra or (k, 8) hexahedra.
        x: Undeformed positions of these nodes, shape (n, 3) [m].
        gdim, names: Geometric dimension and names of the axes.
        part_of_pieces, part_of_cells: Number of the part of each of these, or None where parts are not drawn.
    """

    pieces: Any
    cells: Any
    x: Any
    gdim: int
    names: str
    part_of_pieces: Any = None
    part_of_cells: Any = None


class CutPlane(NamedTuple):
    """A plane in the undeformed body; the part on the side of the normal is removed.

    Attributes:
        point: A point of the plane, shape (3,) [m].
        normal: Unit normal, shape (3,).
    """

    point: FloatArray
    normal: FloatArray


class CutBody:
    """The body as meshes of pyvista. On rank 0 alone.

    Args:
        parts: Visible part of the body.
        plane: Cutting plane, or None.
    """

    def __init__(self, parts: Parts, plane: CutPlane | None) -> None:
        self._pieces, self._x, self._plane = parts.pieces, np.asarray(parts.x, dtype=np.float64), plane
        pyvista, pieces = load_pyvista(), parts.pieces
        faces = np.column_stack([np.full(len(pieces), pieces.shape[1]), pieces]).ravel()
        self._skin = pyvista.PolyData(self._x.copy(), faces=faces)
        self._cut = None
        if parts.part_of_pieces is not None:
            self._skin.cell_data["part"] = parts.part_of_pieces
        if plane is not None and len(parts.cells):
            cells = parts.cells
            kind = pyvista.CellType.TETRA if cells.shape[1] == 4 else pyvista.CellType.HEXAHEDRON
            self._cut = pyvista.UnstructuredGrid({kind: cells}, self._x)
            if parts.part_of_cells is not None:
                self._cut.cell_data["part"] = parts.part_of_cells

    def at(self, shot: Any) -> Any:
        """The body at a moment, with the point data ``"shade"``.

        Args:
            shot: The moment.
        """
        mesh = self._skin.copy()
        mesh.point_data["shade"] = shot.values
        if self._plane is None:
            mesh.points = shot.points
            return mesh
        point, normal = self._plane
        mesh.point_data["now"] = shot.points
        mesh = mesh.clip(normal=normal, origin=point)
        if self._cut is not None:
            self._cut.point_data["shade"], self._cut.point_data["now"] = shot.values, shot.points
            mesh = mesh.append_polydata(self._cut.slice(normal=normal, origin=point))
        mesh.points = np.array(mesh.point_data["now"])
        return mesh

    def edge(self, shot: Any) -> float:
        """Median length of the edges between visible nodes [m]."""
        ends = np.asarray(shot.points)[self._pieces[:, :2]]
        return float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)))
