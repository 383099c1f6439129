"""VTU files: the cells of one rank with values at their nodes, binary."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from dolfinx import fem, plot

from ..._types import AnyArray, FloatArray, IntArray

_TYPES = {"float64": "Float64", "int32": "Int32", "uint8": "UInt8"}
_LAGRANGE_HEXAHEDRON = 72
#: Name of the array that tells VTK which points are there in another piece too.
_SHARED = "vtkGhostType"


class Piece:
    """The owned cells of this rank, of any degree, as VTK has them.

    Cells of degree 2 and above are VTK's Lagrange cells. The order of the nodes of hexahedra is that of
    VTK 8, which a file of version 1.0 has by definition: later ones convert it, and all can read it.

    Args:
        space: Lagrange space, scalar or blocked.

    Attributes:
        nodes: Nodes of the owned cells, local numbers.
        x: Their coordinates, shape (nodes, 3) [m].
        cells: Places of the nodes of each cell in ``nodes``, shape (cells, nodes of a cell).
    """

    def __init__(self, space: fem.FunctionSpace) -> None:
        flat, kinds, x = plot.vtk_mesh(space)
        per_cell = space.dofmap.dof_layout.num_dofs
        cells: AnyArray = np.asarray(flat).reshape(-1, per_cell + 1)[:, 1:]
        if np.any(kinds == _LAGRANGE_HEXAHEDRON):
            cells = cells[:, _order_of_vtk_8(per_cell)]
        nodes, places = np.unique(cells, return_inverse=True)
        self.nodes: IntArray = nodes
        self.cells: AnyArray = places.reshape(cells.shape).astype(np.int32)
        self.x: FloatArray = x[nodes]
        comm, owned = space.mesh.comm, space.dofmap.index_map.size_local
        # Of points that several pieces have, one counts in sums and glyphs.
        self._shared = {_SHARED: (nodes >= owned).astype(np.uint8)} if comm.size > 1 else {}
        self._mesh = self._described(np.asarray(kinds, np.uint8))

    def fields(self, functions: Iterable[fem.Function]) -> dict[str, AnyArray]:
        """Values at the nodes by the names of the functions, with the mark of shared points."""
        fields: dict[str, AnyArray] = {}
        for function in functions:
            width = function.function_space.dofmap.bs
            values = function.x.array.reshape(-1, width)[self.nodes]
            fields[function.name] = values[:, 0] if width == 1 else values
        return fields | self._shared

    def write(self, file: Any, fields: Mapping[str, AnyArray]) -> None:
        """Write the cells with :meth:`fields` to an open binary file."""
        sizes = f'NumberOfPoints="{self.nodes.size}" NumberOfCells="{len(self.cells)}"'
        before, after = document("UnstructuredGrid", f"<Piece {sizes}>\n")
        file.write(before)
        file.write(self._mesh)
        file.write(b"<PointData>\n")
        for name, values in fields.items():
            file.write(_array(name, values))
        file.write(b"</PointData>\n</Piece>\n")
        file.write(after)

    def _described(self, kinds: AnyArray) -> bytes:
        """Points and cells, the same in all samples."""
        count, per_cell = self.cells.shape
        cells = {
            "connectivity": self.cells.ravel(),
            "offsets": per_cell * np.arange(1, count + 1, dtype=np.int32),
            "types": kinds,
        }
        inside = b"".join(_array(name, values) for name, values in cells.items())
        return b"<Points>\n%b</Points>\n<Cells>\n%b</Cells>\n" % (_array("Points", self.x), inside)


def array_of(tag: str, name: str, values: AnyArray) -> str:
    """Attributes of an array in its tag, which is not closed."""
    components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim > 1 else ""
    return f'<{tag} type="{_TYPES[values.dtype.name]}" Name={quoteattr(name)}{components}'


def document(kind: str, inside: str) -> tuple[bytes, bytes]:
    """A file of VTK, in two parts between which more may stand."""
    order = f"{sys.byteorder.capitalize()}Endian"
    head = f'<VTKFile type="{kind}" version="1.0" byte_order="{order}" header_type="UInt64">'
    before, after = f'<?xml version="1.0"?>\n{head}\n<{kind}>\n{inside}', f"</{kind}>\n</VTKFile>\n"
    return before.encode(), after.encode()


def _array(name: str, values: AnyArray) -> bytes:
    """An array with its values, the number of bytes in front."""
    data = base64.b64encode(np.uint64(values.nbytes).tobytes() + values.tobytes())
    return b'%b format="binary">%b</DataArray>\n' % (array_of("DataArray", name, values).encode(), data)


def _order_of_vtk_8(count: int) -> IntArray:
    """Places of the nodes of a hexahedron in the order of VTK 9: its last two edges change places."""
    inside = round(count ** (1 / 3)) - 2
    order: IntArray = np.arange(count)
    first, last = 8 + 10 * inside, 8 + 12 * inside
    order[first:last] = np.roll(order[first:last], inside)
    return order
