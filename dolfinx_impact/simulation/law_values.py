"""Values of the constants and functions in the laws of a body, which a user may change in a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from .._types import FloatArray


class LawValues:
    """How far the coefficients of a body's laws have changed since :meth:`mark`. All methods are collective.

    Args:
        body: The body; one without ``law_coefficients`` has none.
    """

    def __init__(self, body: Any) -> None:
        self._comm = body.comm
        self._read: Callable[[], tuple[FloatArray, ...]] | None = getattr(body, "law_coefficients", None)
        self._then = self._present()
        self._any = bool(self._comm.allreduce(sum(each.size for each in self._then)))

    def mark(self) -> None:
        """Compare with the present values from now on."""
        self._then = self._present()

    def _present(self) -> tuple[FloatArray, ...]:
        return () if self._read is None else tuple(each.copy() for each in self._read())

    def change(self) -> float:
        """Largest relative change, of each constant and of each function in the maximum norm, 0 to 2."""
        if not self._any or self._read is None:
            return 0.0
        (constants, *fields), (first, *functions) = self._read(), self._then
        sizes = np.zeros((2, 1 + len(fields)))
        size = np.maximum(np.abs(constants), np.abs(first))
        changed = np.divide(np.abs(constants - first), size, out=np.zeros_like(size), where=size > 0)
        sizes[:, 0] = np.max(changed, initial=0.0), 1.0
        for i, (now, then) in enumerate(zip(fields, functions), 1):
            sizes[0, i] = np.max(np.abs(now - then), initial=0.0)
            sizes[1, i] = max(np.max(np.abs(now), initial=0.0), np.max(np.abs(then), initial=0.0))
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, sizes, op=MPI.MAX)
        scale = np.where(sizes[1] > 0, sizes[1], 1.0)
        return float(np.max(sizes[0] / scale))
