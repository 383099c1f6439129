"""Rows of vectors on their way between the ranks."""

from __future__ import annotations

import cffi
import numpy as np
from mpi4py import MPI

from ...._types import FloatArray, IntArray
from ....systems.elements.compiler import address
from .messages import Messages, library, structure, succeed

_NONE = cffi.FFI().NULL


class Transfer:
    """Rows that are carried from the vectors of one rank to those of another one, again and again.

    Args:
        comm: Communicator.
        width: Numbers of a row.
        given, sent: The rows that this rank gives, those for each rank one after the other, shape (n,), and
            their number for each rank.
        taken, received: The rows that it takes, shape (m,), and their number from each rank.
        tag: Tag of the messages.
    """

    def __init__(
        self,
        comm: MPI.Comm,
        width: int,
        given: IntArray,
        sent: IntArray,
        taken: IntArray,
        received: IntArray,
        tag: int,
    ) -> None:
        out, into = np.empty((given.size, width)), np.empty((taken.size, width))
        self._pointer = structure(
            "transfer",
            between=Messages(comm, out, sent, into, received, tag),
            width=width,
            gives=given.size,
            takes=taken.size,
            own=int(sent[comm.rank]),
            own_given=int(sent[: comm.rank].sum()),
            own_taken=int(received[: comm.rank].sum()),
            given_row=np.ascontiguousarray(given, np.int64),
            taken_row=np.ascontiguousarray(taken, np.int64),
            given=out,
            taken=into,
        )

    def carry(self, values: FloatArray, out: FloatArray) -> None:
        """Write rows of values into rows of ``out``; what is not taken stays. Collective."""
        succeed(library().carry(self._pointer, *_rows(values), *_rows(out)))

    def add(self, values: FloatArray, factors: FloatArray | None, out: FloatArray) -> None:
        """Add rows of values, times factors of the same shape, in the order of the ranks. Collective."""
        by = _NONE if factors is None else address(factors)
        at, length = _rows(values)
        succeed(library().carry_sums(self._pointer, at, by, length, *_rows(out)))


def _rows(x: FloatArray) -> tuple[object, int]:
    """Address of the first row, and how many numbers later each other one begins."""
    assert x.shape[1] == 1 or x.strides[1] == x.itemsize or not x.size
    return address(x), x.strides[0] // x.itemsize
