"""Samples of all ranks as rows of numbers, whose order no partition changes, and how many a run may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._types import AnyArray, FloatArray, IntArray
from ..algebra.operators import SparseRows
from ..integrators import energy
from ..integrators.step_buffer import Steps
from .parallel_layout import gather_on_root, scatter_from_root

_MOST_BYTES = 1_000_000_000
#: Samples that any history may have: the first, the last and one between.
_LEAST = 3


class SampleRows:
    """Layout of rank-local samples, rows of ``Steps.table``: their columns are distributed. Collective.

    Args:
        steps: A buffer of samples.

    Attributes:
        columns: Number of columns of all ranks of each array of the buffer.
    """

    def __init__(self, steps: Steps) -> None:
        s = steps.integrator
        self._comm, contact = s.system.comm, s.contact
        rows = _places(self._comm, steps.rows)
        points = (np.zeros(0, dtype=np.intp), 0) if contact is None else _places(self._comm, contact.L)
        self.columns: dict[str, int] = {}
        mine: list[IntArray] = []
        for name, width in steps.widths.items():
            begin = sum(self.columns.values())
            if name in ("t", "t_v", "energies", "r_features", "lost_force"):
                places, self.columns[name] = np.arange(width), width
            else:
                at, total = rows if name in ("u", "v_t", "v") else points
                each = _numbers_each(steps, name)
                places, self.columns[name] = np.add.outer(each * at, np.arange(each)).ravel(), each * total
            mine.append(begin + places)
        self._mine = np.concatenate(mine)
        first = steps.first["energies"]
        self._energies = slice(first, first + steps.widths["energies"])
        self._widths: list[int] = self._comm.allgather(self._mine.size)
        self._all: list[IntArray] = self._comm.gather(self._mine) or []
        if self._all:  # on rank 0, whose times are those of all
            self._sources = np.unique(np.concatenate(self._all), return_index=True)[1]

    def collect(self, local: FloatArray) -> Callable[[], FloatArray] | None:
        """Gather samples on rank 0. Collective.

        Args:
            local: Samples of this rank, shape (n, columns of this rank); not changed afterwards.

        Returns:
            On rank 0 the function that makes rows of them, shape (n, columns), not collective; else None.
        """
        comm, n = self._comm, len(local)
        energies = local[:, self._energies]
        if comm.size > 1:
            energies = comm.allreduce(np.ascontiguousarray(energies), op=MPI.SUM)
            flat = gather_on_root(comm, local.ravel())
            if flat is None:
                return None
            parts = np.split(flat, n * np.cumsum(self._widths)[:-1])
            local = np.concatenate([part.reshape(n, k) for part, k in zip(parts, self._widths)], axis=1)

        def rows() -> FloatArray:
            table: FloatArray = np.take(local, self._sources, axis=1)
            table[:, self._mine[self._energies]] = energies
            return table

        return rows

    def gather(self, local: AnyArray) -> AnyArray | None:
        """See :class:`.Layout`; of samples, shape (n, columns of this rank)."""
        rows = self.collect(local)
        return None if rows is None else rows()

    def scatter(self, stored: AnyArray | None) -> AnyArray:
        """Samples of this rank. Rank 0 gets the energies, others -0.0: ``-0.0 + x`` is x, also for -0.0."""
        comm = self._comm
        if comm.size == 1:
            assert stored is not None
            return np.take(stored, self._mine, axis=1)
        n, flat = comm.bcast(None if stored is None else len(stored), root=0), None
        if stored is not None:
            flat = np.concatenate([np.take(stored, each, axis=1).ravel() for each in self._all])
        local = scatter_from_root(comm, flat, [n * width for width in self._widths]).reshape(
            n, self._mine.size
        )
        if comm.rank > 0:
            local[:, self._energies] = -0.0
        return local


class SampleLimit:
    """The number of samples that a history may have: it is kept in memory. Collective.

    Args:
        integrator: The integrator.
        rows: Recorded rows of ``u`` and ``v``.
        fixed: Whether the user has given the number of steps between samples.
    """

    def __init__(self, integrator: Any, rows: SparseRows, fixed: bool) -> None:
        self._fixed, k, p = fixed, rows.count, integrator.r.size
        self._size = 8 * parallel.total(integrator.system.comm, 3 * k + 2 * p) + 8 * (2 + len(energy.TERMS))
        self._most = max(_LEAST, int(_MOST_BYTES / self._size))

    def factor(self, every: int, begin: int, steps: int) -> int:
        """By how much ``every`` has to be larger, for samples of the steps from ``begin`` to ``steps``.

        Raises:
            ValueError: By more than 1, and the user has given it.
        """
        samples = number_of_samples(every, begin, steps)
        if samples <= self._most:
            return 1
        # Two more than the quotient are the first and the last.
        fits = max(every + 1, int(np.ceil((steps - begin) / max(1.0, _MOST_BYTES / self._size - 2))))
        if self._fixed:
            raise ValueError(
                f"the history would take {samples * self._size / 1e9:.1f} GB ({samples} samples), more "
                f"than {_MOST_BYTES / 1e9:g} GB: record fewer dofs, or every={fits} steps"
            )
        return -(-fits // every)

    def takes(self, samples: int, every: int) -> bool:
        """Whether so many samples of an adapted step are not too many.

        Raises:
            ValueError: They are, and the user has given the number of steps between them.
        """
        if samples > self._most and self._fixed:
            self.factor(every, 0, every * (samples - 1))
        return samples <= self._most

    def cut(self, samples: int) -> int:
        """So many samples, or as many as there may be."""
        return min(samples, self._most)


def number_of_samples(every: int, begin: int, steps: int) -> int:
    """Number of samples from the step ``begin``, a sample, to the last step, another one."""
    return 1 + steps // every - begin // every + (steps % every != 0)


def _numbers_each(steps: Steps, name: str) -> int:
    """Number of columns of a row or point."""
    if name == "r_t":
        s = steps.integrator
        return int(s.contact.L.components) if s.has_friction else 0
    return int(steps.partly) if name == "covered" else 1


def _places(comm: MPI.Comm, rows: SparseRows) -> tuple[IntArray, int]:
    """Places of this rank's rows in the order of all ranks, and the number of all. Collective."""
    order = rows.sorting(comm)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    begin = sum(comm.allgather(rows.count)[: comm.rank])
    return places[begin : begin + rows.count], order.size
