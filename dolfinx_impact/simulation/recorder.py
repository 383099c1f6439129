"""Recorder of the history of a run: filled on every rank, gathered at the end and for checkpoints."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._types import AnyArray, FloatArray, IntArray
from ..algebra.kernels import logger
from ..algebra.operators import SparseRows
from ..contact.base import Contact
from ..integrators import energy
from ..integrators.base import Integrator
from ..integrators.energy import EnergyBalance
from ..integrators.impulses.penalty import Penalty
from ..integrators.lost_force import LostForce
from ..integrators.step_buffer import Steps
from ..output import run_row
from ..output.contact_points import ContactPoints
from ..output.observer import Observer
from ..output.result import Result
from ..systems.body import Body
from ..systems.system import parts, system_and_parts
from .depth import Depth
from .parallel_layout import Layout
from .run_history import RunHistory
from .sample_rows import SampleLimit, SampleRows, number_of_samples

#: Change of a gap that counts as round-off, relative to the system's length.
_ROUND_OFF = 1e-12


class Recorder(Observer):
    """Stores the samples of a run, rank-local until :meth:`result` gathers them.

    Args:
        integrator: The integrator, started.
        steps: Number of steps of the run.
        every: Steps between samples; None for as many as the history takes to be below 1 GB.
        rows: Rows of ``u`` and ``v`` to record.
        balance: The energy balance, or None.
        history: The run so far, of a checkpoint, or None.

    Attributes:
        every: Steps between samples.
        lost_force: What writes the column of that name.
        thinned: Whether samples have been merged; set to False by who has written the others.

    Raises:
        ValueError: A history above 1 GB, or another ``every`` than that of the run so far. Collective.
    """

    def __init__(
        self,
        integrator: Any,
        steps: int,
        every: int | None,
        rows: SparseRows,
        balance: EnergyBalance | None,
        history: RunHistory | None = None,
    ) -> None:
        self._integrator, self._balance, self._rows = integrator, balance, rows
        self._comm = integrator.system.comm
        self._steps, self._seen, self._begin = steps, 0, 0
        self._limit = SampleLimit(integrator, rows, fixed=every is not None)
        self.every, self.thinned = every or 1, False
        if history is not None:
            if every not in (None, history.every):
                raise ValueError(
                    f"the checkpoint has a sample every {history.every} steps, this run every {every}: give "
                    f"every={history.every}, or leave it out"
                )
            self.every, self._begin = history.every, history.begin
        factor = self._limit.factor(self.every, self._begin, steps)
        if history is None:
            self.every *= factor
        samples = number_of_samples(self.every * factor, self._begin, steps)
        self._depth, self.lost_force = Depth(_facet_sizes(integrator)), LostForce(integrator, steps)
        self._history = Steps(integrator, rows, balance, samples, fine=False)
        self._last = np.zeros(self._history.table.shape[1])
        self._impulses, self._tangential = np.zeros_like(integrator.r), np.zeros_like(integrator.r_t)
        self._of_features = np.zeros(self._history.r_features.shape[1])
        if history is not None:
            self._resume(history)
        if factor > 1:
            self._tell() if history is None else self._merge(factor)

    @functools.cached_property
    def layout(self) -> SampleRows:
        """Layout of the samples. Collective when it is first asked for."""
        return SampleRows(self._history)

    @property
    def count(self) -> int:
        """Number of samples."""
        return self._history.count

    def follow(self, part: Steps) -> None:
        """Store the samples among consecutive steps; impulses between two samples are summed."""
        first, last = self._seen, self._seen + part.count
        if first > 0:  # no step leads to the initial state
            self.lost_force.finish(part)
        self._depth.follow(part, first == 0)
        numbers = self._numbers(first, last)
        while not self._limit.takes(self.count + numbers.size, self.every):
            self._merge(2)
            numbers = self._numbers(first, last)
        self._seen = last
        self._reserve(numbers.size)
        history = self._history
        samples, target = numbers - first, slice(history.count, history.count + numbers.size)
        history.table[target] = part.table[samples]
        for sums, values, rest in (
            (history.r, part.r, self._impulses),
            (history.r_t, part.r_t, self._tangential),
            (history.r_features, part.r_features, self._of_features),
        ):
            _sum_between(values[: part.count], samples, self.every, rest, sums[target])
        history.count += numbers.size
        self._last[:] = part.table[part.count - 1]

    def _numbers(self, first: int, last: int) -> IntArray:
        """Numbers of the steps from one to before another that are samples."""
        return np.arange(-(-first // self.every) * self.every, last, self.every)

    def add_impulses(self, scheme: Any) -> None:
        """Add the impulses of a change of the time step, which the next sample then contains."""
        if hasattr(scheme, "r_change"):
            self._impulses += scheme.r_change
            self._tangential += scheme.r_t_change
            self._of_features += getattr(scheme, "r_features_change", 0.0)

    def _reserve(self, samples: int) -> None:
        """Allocate space for further samples: an adapted time step may lead to more than expected."""
        needed = self.count + samples
        if needed > self._history.capacity:
            self._set(self._history.table[: self.count], max(needed, self._limit.cut(2 * needed)))

    def _set(self, table: FloatArray, capacity: int) -> None:
        """Make the rows of a table the samples; those before are not changed, a checkpoint may write them."""
        self._history = Steps(self._integrator, self._rows, self._balance, capacity, fine=False)
        self._history.table[: len(table)] = table
        self._history.count = len(table)

    def _merge(self, factor: int) -> None:
        """Keep one of so many samples, besides the first, with the impulses of those left out before it."""
        old, self.every, self.thinned = self._history, factor * self.every, True
        at: IntArray = np.arange(old.count) + self._begin // (self.every // factor)
        kept = at % factor == 0
        kept[:1] = True
        where = np.flatnonzero(kept)
        capacity = max(where.size, number_of_samples(self.every, self._begin, self._steps))
        self._set(old.table[where], capacity)
        new = self._history
        for sums, values, rest in (
            (new.r, old.r, self._impulses),
            (new.r_t, old.r_t, self._tangential),
            (new.r_features, old.r_features, self._of_features),
        ):
            if where[-1] + 1 < old.count:
                rest += values[where[-1] + 1 : old.count].sum(axis=0)
            sums[: where.size] = np.add.reduceat(values[: where[-1] + 1], np.append(0, where[:-1] + 1))
        self._tell()

    def _tell(self) -> None:
        """Tell of a history that has fewer samples than steps."""
        if self._comm.rank == 0:
            logger.warning(
                f"the history has a sample every {self.every} steps, since more would take more than 1 GB: "
                "record fewer dofs, or give every="
            )

    def _store_last(self) -> None:
        """Store the last step unless it is a sample already."""
        if (self._seen - 1) % self.every == 0 or self._seen - 1 == self._begin:
            return
        self._reserve(1)
        history = self._history
        history.table[history.count] = self._last
        history.r[history.count], history.r_t[history.count] = self._impulses, self._tangential
        history.r_features[history.count] = self._of_features
        history.count += 1

    def samples(self, first: int) -> FloatArray:
        """Samples of this rank from a number on, rows of ``Steps.table``; they are not changed later."""
        return self._history.table[first : self.count]

    def rest(self) -> dict[str, tuple[str | Layout, AnyArray]]:
        """What a checkpoint holds besides the samples: the last step and the impulses since the last sample.

        Collective.

        Returns:
            For each name the layout of the first axis, or its name, and the array.
        """
        arrays: dict[str, tuple[str | Layout, AnyArray]] = {
            "seen": ("number", np.array([self._seen, self.every, self._begin])),
            "depth": ("number", self._depth.of_all(self._comm)),
            "last": (self.layout, self._last[None]),
        }
        if self._integrator.contact is not None:
            arrays["impulses"] = ("points", self._impulses)
            arrays["lost_force"] = ("points", self.lost_force.state())
            if self._integrator.has_friction:
                arrays["tangential"] = ("points", self._tangential)
            if self._of_features.size:
                arrays["of_features"] = ("number", self._of_features)
        return arrays

    def _resume(self, history: RunHistory) -> None:
        """Restore samples and :meth:`rest`. Collective."""
        read, contact = history.arrays.read, self._integrator.contact
        self._seen = int(read("history/seen", "number")[0])
        depth = self._depth
        depth.penetration, depth.approach, depth.at_start = map(float, read("history/depth", "number"))
        if contact is not None:
            self.lost_force.resume(read("history/lost_force", "points"))
        table, self._last[:] = history.samples(self.layout)
        self._set(table, max(self._history.capacity, len(table)))
        if history.stamp is None:  # impulses up to here belong to the samples that are not stored
            self._history.r[0], self._history.r_t[0], self._history.r_features[0] = 0.0, 0.0, 0.0
        elif contact is not None:
            self._impulses[:] = read("history/impulses", "points")
            if self._integrator.has_friction:
                self._tangential[:] = read("history/tangential", "points")
            if self._of_features.size:
                self._of_features[:] = read("history/of_features", "number")

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
        if history.partly:
            covered = parallel.gather_rows(comm, history.covered, axis=1)[:, points]
        arrays["contact_labels"] = np.array(contact.L.sorted_labels(comm) if contact else [], dtype=str)
        if self._balance is not None:
            energies = comm.allreduce(history.energies, op=MPI.SUM)
            arrays.update(zip((*energy.TERMS, *self._balance.further), energies.T))
            arrays["residual"] = energy.residual(arrays)
        hidden, told = self.lost_force.worst(self._largest_stored(arrays))
        if self._of_features.size:
            arrays["r_features"] = history.r_features[:, 0].copy()
        if contact is not None:
            arrays["lost_force"] = history.lost_force.copy()
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
            warnings=[*self._depth.warnings(comm), *told, *warnings],
            certificates=_certificates(contact),
            hidden=hidden,
            tied=tied,
            points=None if contact is None else self._contact_points(arrays, covered, points),
            turned=_rotation(self._integrator),
            added_share=_added_share(system),
            energy_known=all(getattr(each, "energy_known", True) for each in system_and_parts(system)),
            newton=None if self._integrator.halved is None else self._integrator.halved.counts(),
            about=str(self._integrator),
            parameters=run_row.parameters(self._integrator),
        )

    def _largest_stored(self, arrays: Mapping[str, AnyArray]) -> float:
        """Largest stored energy of the samples with plastic work [J]; 0 where it is not known."""
        known = all(getattr(each, "energy_known", True) for each in system_and_parts(self._integrator.system))
        names = [name for name in ("internal", energy.PLASTIC) if known and name in arrays]
        return float(np.abs(sum(arrays[name] for name in names)).max()) if names else 0.0

    def _contact_points(
        self, arrays: Mapping[str, AnyArray], covered: FloatArray, order: IntArray
    ) -> ContactPoints:
        """Places of the points, and what their pressures depend on. Collective."""
        contact, t = self._integrator.contact, arrays["t"]
        places = contact.places(np.zeros(contact.system.size))
        dt = np.diff(t, prepend=t[0])
        # The impulse of the start acts in one step.
        dt[0] = dt[1] / min(self.every, self._seen - 1) if t.size > 1 else self._integrator.dt
        return ContactPoints(
            None if places is None else parallel.gather_rows(self._comm, places)[order],
            contact.nodes.facets(),
            (arrays["r"], arrays["gap"], covered, dt),
        )


def _certificates(contact: Contact | None) -> list[str]:
    """Statements of contacts that test paths within steps, or that are with themselves."""
    members: list[Any] = list(contact.members) if contact else []
    return [str(each.certificate()) for each in members if each.swept or getattr(each, "itself", False)]


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
