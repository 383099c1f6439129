"""Recorder of the history of a run: filled on every rank, gathered at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._types import AnyArray, FloatArray, IntArray
from ..algebra.operators import SparseRows
from ..contact.base import Contact
from ..integrators import energy
from ..integrators.base import Integrator
from ..integrators.energy import EnergyBalance
from ..integrators.impulses.penalty import Penalty
from ..integrators.step_buffer import Steps
from ..output import run_row
from ..output.contact_points import ContactPoints
from ..output.observer import Observer
from ..output.result import Result
from ..systems.body import Body
from ..systems.system import parts, system_and_parts
from .depth import Depth

_MOST_BYTES = 1_000_000_000
#: Change of a gap that counts as round-off, relative to the system's length.
_ROUND_OFF = 1e-12


class Recorder(Observer):
    """Stores the samples of a run, rank-local until :meth:`result` gathers them.

    Args:
        integrator: The integrator, started.
        steps: Number of steps of the run.
        every: Steps between samples.
        rows: Rows of ``u`` and ``v`` to record.
        balance: The energy balance, or None.

    Raises:
        ValueError: A history above 1 GB. Collective.
    """

    def __init__(
        self, integrator: Any, steps: int, every: int, rows: SparseRows, balance: EnergyBalance | None
    ) -> None:
        self._every, self._steps, self._seen = every, steps, 0
        self._integrator, self._balance, self._rows = integrator, balance, rows
        self._comm = integrator.system.comm
        samples = 1 + steps // every + (steps % every != 0)
        self._refuse_large(samples)
        self._depth = Depth(_facet_sizes(integrator))
        self._history = Steps(integrator, rows, balance, samples, fine=False)
        #: Whether parts of the areas with something opposite are recorded.
        self._partly = self._history.partly
        self._last = np.zeros(self._history.table.shape[1])
        self._impulses, self._tangential = np.zeros_like(integrator.r), np.zeros_like(integrator.r_t)

    def follow(self, part: Steps) -> None:
        """Store the samples among consecutive steps; impulses between two samples are summed."""
        first, last = self._seen, self._seen + part.count
        self._depth.follow(part, first == 0)
        self._seen = last
        numbers: IntArray = np.arange(-(-first // self._every) * self._every, last, self._every)
        self._reserve(numbers.size)
        history = self._history
        samples, target = numbers - first, slice(history.count, history.count + numbers.size)
        history.table[target] = part.table[samples]
        for sums, values, rest in (
            (history.r, part.r, self._impulses),
            (history.r_t, part.r_t, self._tangential),
        ):
            _sum_between(values[: part.count], samples, self._every, rest, sums[target])
        history.count += numbers.size
        self._last[:] = part.table[part.count - 1]

    def add_impulses(self, scheme: Any) -> None:
        """Add the impulses of a change of the time step, which the next sample then contains."""
        if hasattr(scheme, "r_change"):
            self._impulses += scheme.r_change
            self._tangential += scheme.r_t_change

    def _reserve(self, samples: int) -> None:
        """Allocate space for further samples: an adapted time step may lead to more than expected."""
        history, needed = self._history, self._history.count + samples
        if needed > history.capacity:
            larger = max(needed, 2 * history.capacity)
            self._refuse_large(larger)
            self._history = Steps(self._integrator, self._rows, self._balance, larger, fine=False)
            self._history.table[: history.count] = history.table[: history.count]
            self._history.count = history.count

    def _store_last(self) -> None:
        """Store the last step unless it is a sample already."""
        if (self._seen - 1) % self._every == 0:
            return
        self._reserve(1)
        history = self._history
        history.table[history.count] = self._last
        history.r[history.count], history.r_t[history.count] = self._impulses, self._tangential
        history.count += 1

    def arrays(self) -> dict[str, tuple[str, AnyArray]]:
        """History so far with the last step and the impulses since the last sample, for a checkpoint.

        Collective.

        Returns:
            For each name the layout of the first axis ("rows", "points", "number") and the array.
        """
        samples = Steps(self._integrator, self._rows, self._balance, self._history.count + 1, fine=False)
        samples.table[:-1], samples.table[-1] = self._history.table[: self._history.count], self._last
        common = {
            "seen": ("number", np.array([self._seen, self._every])),
            "times": ("number", np.array([samples.t, samples.t_v])),
            "energies": ("number", self._comm.allreduce(samples.energies, op=MPI.SUM)),
            "depth": ("number", self._depth.of_all(self._comm)),
        }
        local = {**self._by_place(samples), "impulses": ("points", self._impulses)}
        if self._integrator.has_friction:
            local["tangential"] = ("points", self._tangential)
        points = self._integrator.contact is not None
        return common | {name: each for name, each in local.items() if points or each[0] == "rows"}

    def _by_place(self, steps: Steps) -> dict[str, tuple[str, AnyArray]]:
        """Layout and transposed view of each column, with dofs or points along the first axis."""
        columns = {name: ("rows", getattr(steps, name).T) for name in ("u", "v_t", "v")}
        points = {"gap": steps.gap, "r": steps.r, **steps.further}
        columns |= {name: ("points", values.T) for name, values in points.items()}
        if self._partly:
            columns["covered"] = ("points", steps.covered.T)
        if self._integrator.has_friction:
            columns["r_t"] = ("points", np.moveaxis(steps.r_t, 1, 0))
        return columns

    def restore(self, read: Callable[[str, str], AnyArray]) -> None:
        """Restore :meth:`arrays`. Collective.

        Args:
            read: ``read(name, layout)`` returns the rank-local part of an array.

        Raises:
            ValueError: Another ``every``.
        """
        self._seen, every = map(int, read("seen", "number"))
        if every != self._every:
            raise ValueError(f"the checkpoint has a sample every {every} steps, this run every {self._every}")
        depth = self._depth
        depth.penetration, depth.approach, depth.at_start = map(float, read("depth", "number"))
        times = read("times", "number")
        samples = Steps(self._integrator, self._rows, self._balance, times.shape[1], fine=False)
        samples.t[:], samples.t_v[:] = times
        energies = read("energies", "number")
        # -0.0 + x is x, also where x is -0.0.
        samples.energies[:] = energies if self._comm.rank == 0 else -0.0
        for name, (place, view) in self._by_place(samples).items():
            if place == "rows" or self._integrator.contact:
                view[...] = read(name, place)
        if self._integrator.contact:
            self._impulses[:] = read("impulses", "points")
            if self._integrator.has_friction:
                self._tangential[:] = read("tangential", "points")
        self._history.count = 0
        self._reserve(times.shape[1] - 1)
        self._history.count = times.shape[1] - 1
        self._history.table[: self._history.count], self._last[:] = samples.table[:-1], samples.table[-1]

    def result(self, seconds: float, warnings: Sequence[str]) -> Result:
        """The history of all ranks, columns in the order of the rows. Collective.

        Args:
            seconds: See :class:`.Result`.
            warnings: Texts for the summary, beside those on the depth of the contact.
        """
        self._store_last()
        contact, comm, history = self._integrator.contact, self._comm, self._history.cut()
        order = self._rows.sorting(comm)
        arrays: dict[str, Any] = {"t": history.t.copy(), "t_v": history.t_v.copy(), "t_r": history.t.copy()}
        for name, local in (("u", history.u), ("v_t", history.v_t), ("v", history.v)):
            arrays[name] = parallel.gather_rows(comm, local, axis=1)[:, order]
        arrays["labels"] = np.array(self._rows.sorted_labels(comm), dtype=str)
        points = contact.L.sorting(comm) if contact else np.zeros(0, dtype=np.intp)
        by_point: dict[str, AnyArray] = {"gap": history.gap, "r": history.r, **history.further}
        if self._integrator.has_friction:
            by_point["r_t"] = history.r_t[:, :, : contact.directions]
        for name, values in by_point.items():
            arrays[name] = parallel.gather_rows(comm, values, axis=1)[:, points]
        ties = contact.bilateral[None].astype(np.float64) if contact else np.zeros((1, 0))
        tied = parallel.gather_rows(comm, ties, axis=1)[0, points] > 0
        covered = np.ones_like(arrays["gap"])
        if self._partly:
            covered = parallel.gather_rows(comm, history.covered, axis=1)[:, points]
        arrays["contact_labels"] = np.array(contact.L.sorted_labels(comm) if contact else [], dtype=str)
        if self._balance is not None:
            energies = comm.allreduce(history.energies, op=MPI.SUM)
            arrays.update(zip((*energy.TERMS, *self._balance.further), energies.T))
            arrays["residual"] = energy.residual(arrays)
        closes = self._balance is not None and self._balance.closes
        steps = (self._seen - 1) * self._integrator.substeps
        penetration, approach, at_start = map(float, self._depth.of_all(comm))
        system = self._integrator.system
        if approach > 0.0:  # below this a change of a gap is round-off
            approach = max(approach, _ROUND_OFF * system.length)
        return Result(
            arrays,
            balance=closes,
            steps=steps,
            seconds=comm.bcast(seconds),
            penetration=penetration,
            approach=approach,
            penetration_at_start=at_start,
            warnings=[*self._depth.warnings(comm), *warnings],
            tied=tied,
            points=None if contact is None else self._contact_points(arrays, covered, points),
            turned=_rotation(self._integrator),
            added_share=_added_share(system),
            energy_known=all(getattr(each, "energy_known", True) for each in system_and_parts(system)),
            about=str(self._integrator),
            parameters=run_row.parameters(self._integrator),
        )

    def _contact_points(
        self, arrays: Mapping[str, AnyArray], covered: FloatArray, order: IntArray
    ) -> ContactPoints:
        """Places of the points, and what their pressures depend on. Collective."""
        contact, t = self._integrator.contact, arrays["t"]
        places = contact.places(np.zeros(contact.system.size))
        dt = np.diff(t, prepend=t[0])
        # The impulse of the start acts in one step.
        dt[0] = dt[1] / min(self._every, self._seen - 1) if t.size > 1 else self._integrator.dt
        return ContactPoints(
            None if places is None else parallel.gather_rows(self._comm, places)[order],
            contact.nodes.facets(),
            (arrays["r"], arrays["gap"], covered, dt),
        )

    def _refuse_large(self, samples: int) -> None:
        k, p = self._rows.count, self._integrator.r.size
        per_sample = 8 * parallel.total(self._comm, 3 * k + 2 * p) + 8 * (2 + len(energy.TERMS))
        if samples * per_sample > _MOST_BYTES:
            # An adapted step may lead to more steps than those that the start has told.
            steps = max(self._steps, (samples - 1) * self._every)
            fits = max(self._every + 1, int(np.ceil(steps / max(1.0, _MOST_BYTES / per_sample - 2))))
            raise ValueError(
                f"the history would take {samples * per_sample / 1e9:.1f} GB ({samples} samples), more "
                f"than {_MOST_BYTES / 1e9:g} GB: record fewer dofs, or every={fits} steps"
            )


def _facet_sizes(integrator: Any) -> FloatArray | None:
    """Sizes of the facets at the points whose depth is watched; None for none, as by penalty. Collective."""
    contact, yields = integrator.contact, isinstance(getattr(integrator, "enforcement", None), Penalty)
    return contact.nodes.facet_sizes() if isinstance(contact, Contact) and not yields else None


def _rotation(integrator: Integrator) -> float:
    """Rigid rotation of a body with linear laws, which are not valid for large ones [rad]. Collective."""
    body = integrator.body
    if not isinstance(body, Body) or body.gdim == 1 or not body.linear:
        return 0.0
    return 0.0 if getattr(body, "hypothesis", None) == "axisymmetric" else body.rigid_rotation(integrator.u)


def _added_share(system: Any) -> float:
    """Mass added by mass scaling over the mass of the system, of both bodies of HATI."""
    bodies = parts(system)
    added = sum(getattr(each, "added_mass", 0.0) for each in bodies)
    return added / sum(each.total_mass for each in bodies) if added else 0.0


def _sum_between(values: FloatArray, where: IntArray, every: int, rest: FloatArray, out: FloatArray) -> None:
    """Sum the rows between samples, in the same order of additions for any division into parts.

    Args:
        values: Consecutive rows, shape (n, ...).
        where: Indices of the rows that are samples, shape (k,).
        every: Steps between samples.
        rest: Sum of the rows since the last sample; updated.
        out: Sums up to each sample, shape (k, ...).
    """
    after = 0
    if where.size:
        after = int(where[-1]) + 1
        out[0] = added(rest, values[: where[0] + 1])
        rest[...] = 0.0
        if where.size > 1 and every <= where.size:
            between = values[where[0] + 1 : after].reshape(where.size - 1, every, *values.shape[1:])
            out[1:] = between[:, 0] + 0.0  # no negative zeros, as in other sums
            for j in range(1, every):
                out[1:] += between[:, j]
        else:
            for i, (first, last) in enumerate(zip(where[:-1], where[1:])):
                out[i + 1] = added(np.zeros_like(rest), values[first + 1 : last + 1])
    rest[...] = added(rest, values[after:])


def added(rest: FloatArray, values: FloatArray) -> FloatArray:
    """``rest`` plus the rows, added sequentially."""
    sums: FloatArray = np.add.accumulate(np.concatenate([rest[None], values]), axis=0)[-1]
    return sums
