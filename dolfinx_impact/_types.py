"""Arrays in annotations, by the type of their numbers; shapes stand in the docstrings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Displacements, velocities, forces, gaps, impulses, masses, coordinates.
FloatArray = NDArray[np.float64]
#: Masks, one entry a dof, node, cell or contact point.
BoolArray = NDArray[np.bool_]
#: Local numbers of dofs, nodes, cells and facets as DOLFINx has them.
Int32Array = NDArray[np.int32]
#: Numbers over all ranks.
Int64Array = NDArray[np.int64]
#: Positions in arrays and other whole numbers of any width: NumPy finds positions as ``intp``.
IntArray = NDArray[np.integer[Any]]
#: Arrays of any type, as files and gathering over the ranks have them.
AnyArray = NDArray[Any]
#: Internal, external and damping forces, shape (owned,) each [N].
Forces = tuple[FloatArray, FloatArray, FloatArray]
