"""The arrays of features and the compiled functions that read and write them."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import numpy as np
from mpi4py import MPI

from ...._types import AnyArray
from ....systems.elements.compiler import address, compiled, record
from ..tables import FACING

#: Sums are not reordered: all ranks find the same.
_FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")
_FILES = ("vectors.c", "motion.c", "border.c", "collide.c", "tree.c", "cover.c", "inside.c", "pairs.c")
_KINDS = {"d": "double *", "i": "int32_t *", "l": "int64_t *", "B": "uint8_t *"}


class FeatureTable:
    """The structure of ``features.h``, with the arrays that it points to.

    Attributes:
        numbers: The structure, for its numbers.
    """

    def __init__(self) -> None:
        self.numbers = record(_text("features.h"), "features *")
        self._arrays: dict[str, AnyArray] = {}

    def set(self, **arrays: AnyArray) -> None:
        """Set arrays, which are kept."""
        for name, values in arrays.items():
            array = self._arrays[name] = np.ascontiguousarray(values)
            setattr(self.numbers, name, pointer(array))

    def __getitem__(self, name: str) -> AnyArray:
        return self._arrays[name]

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function, which takes the structure first."""
        return getattr(_library(), name)(self.numbers, *map(_passed, arguments))

    def listed(
        self, name: str, capacity: int, arguments: tuple[Any, ...], *columns: AnyArray
    ) -> list[AnyArray]:
        """Call a function that writes a list; again where it is longer than the capacity.

        Args:
            name: Name of the function.
            capacity: Length of the list that is likely.
            arguments: What it takes between the structure and the capacity.
            columns: An empty array of the shape and the type of an entry for each array that it writes.

        Raises:
            MemoryError: No memory is left.
        """
        while True:
            arrays = [np.empty((capacity, *each.shape), each.dtype) for each in columns]
            count = self.call(name, *arguments, capacity, *arrays)
            if count < 0:
                raise MemoryError("no memory is left for the search of features")
            if count <= capacity:
                return [each[:count] for each in arrays]
            capacity = count + count // 4


def pointer(array: AnyArray) -> Any:
    """Address of an array; of one without entries, one that is not used."""
    full = array if array.size else np.zeros(1, array.dtype)
    return address(full, _KINDS[array.dtype.char])


def _passed(argument: Any) -> Any:
    return pointer(argument) if isinstance(argument, np.ndarray) else argument


@functools.cache
def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _library() -> Any:
    declared = "#include <stdint.h>\n" + _text("features.h")
    halve = resources.files(__name__.rsplit(".", 2)[0]).joinpath("halve.h").read_text(encoding="utf-8")
    source = [declared, f"#define FACING ({FACING})", halve, *map(_text, _FILES)]
    return compiled("\n".join(source), _FLAGS, MPI.COMM_SELF, _text("features.h"))
