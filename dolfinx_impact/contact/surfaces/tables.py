"""The compiled functions of contact between surfaces, and the arrays that they read and write."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import numpy as np
from mpi4py import MPI

from ..._types import AnyArray
from ...systems.elements.compiler import address, compiled, record
from .facet_shape import FacetShape

#: Largest mean gap of a segment over the larger diameter of its facets; facets that lean by 60 degrees and
#: touch at a corner have 0.43.
LARGEST_GAP = 0.6
#: Largest mean penetration of a segment over the sum of the heights of both cells.
DEPTH = 0.5
#: Facets face each other up to this cosine of their outward normals.
FACING = -0.5
#: The same where paths are tested: what leans by more has rows of features, which weighted gaps would let in.
NEARLY = -0.9

#: Results of one source are the same bits wherever they are asked for: nothing is reassociated.
_FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function")
_FILES = ("facet_maps.h", "tables.h", "sleep.c", "segments.c", "layers.c", "places.c", "rows.c", "corners.c")
_TYPES = {"double *": np.float64, "int64_t *": np.int64, "int32_t *": np.int32, "uint8_t *": np.uint8}


class Tables:
    """The arrays of a contact of surfaces on this rank, as ``tables.h`` declares them. Collective.

    Args:
        shape: Shape functions of the facets.
        gdim: Dimension of space.
        divided: Whether points of a facet that no neighbour covers may have places of their own.
        comm: The ranks of the contact.
        facing: Facets face each other up to this cosine of their outward normals.

    Attributes:
        functions: The compiled functions; each takes :attr:`pointer` first.
        pointer: The tables, for calls.
    """

    def __init__(
        self, shape: FacetShape, gdim: int, comm: MPI.Comm, *, divided: bool, facing: float = FACING
    ) -> None:
        declared = _text("tables.h")
        source = [_definitions(shape, gdim, divided, facing), *map(_text, _FILES)]
        self.functions = compiled("\n".join(source), _FLAGS, comm, declared)
        self.pointer = record(declared, "tables *")
        self._kinds = {name: field.type.cname for name, field in _fields(self.pointer)}
        self._arrays: dict[str, AnyArray] = {}

    def set(self, **values: AnyArray | float) -> None:
        """Set arrays, which are kept and not copied where they have the declared type, and numbers."""
        for name, value in values.items():
            kind = _TYPES.get(self._kinds[name])
            if kind is None:
                setattr(self.pointer, name, value)
                continue
            array = np.asarray(value)
            array = array.view(np.uint8) if array.dtype == bool else array
            array = self._arrays[name] = np.ascontiguousarray(array, dtype=kind)
            # An address that is not used: arrays without entries have none.
            full = array if array.size else np.zeros(1, dtype=kind)
            setattr(self.pointer, name, address(full, self._kinds[name]))

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def __getitem__(self, name: str) -> AnyArray:
        return self._arrays[name]


def _fields(pointer: Any) -> list[tuple[str, Any]]:
    import cffi

    found: list[tuple[str, Any]] = cffi.FFI().typeof(pointer).item.fields
    return found


def _definitions(shape: FacetShape, gdim: int, divided: bool, facing: float) -> str:
    """Numbers of the facets, as constants of the source."""
    rule, weights = shape.rule
    sizes = {
        "G": gdim,
        "N": shape.nodes.shape[2],
        "C": shape.corners.size,
        "P": shape.points.size,
        "Q": weights.size,
        "SIMPLEX": int(shape.simplex),
        "DIVIDED": int(divided),
        "LARGEST_GAP": LARGEST_GAP,
        "DEPTH": DEPTH,
        "FACING": f"({facing})",
    }
    lists = {"POINTS": shape.points, "RULE": rule.ravel(), "WEIGHTS": weights}
    lines = [f"#define {name} {value}" for name, value in sizes.items()]
    lines += [f"static const double {name}[] = {{{_numbers(values)}}};" for name, values in lists.items()]
    lines.append(f"static const int CORNER[] = {{{_numbers(shape.corners)}}};")
    return "\n".join(lines)


def _numbers(values: AnyArray) -> str:
    return ", ".join(map(repr, values.tolist()))


@functools.cache
def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
