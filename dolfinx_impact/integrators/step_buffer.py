"""Buffer of consecutive steps of a run as arrays, from which histories and logs are extracted."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from ..algebra import kernels
from ..algebra.operators import SparseRows
from . import energy
from .energy import EnergyBalance

#: Approximate size of a buffer by default [numbers], and its largest number of steps.
_NUMBERS = 500_000
_MOST = 32_768


class Steps:
    """States after consecutive steps, rank-local, with the arrays of a history.

    Args:
        integrator: The integrator.
        rows: Rows of ``u`` and ``v`` to record, k on this rank.
        balance: The energy balance, or None.
        capacity: Largest number of states; by default for a few megabytes, the same on all ranks (then the
            constructor is collective).
        fine: Whether to store the time steps within a step too.

    Attributes:
        count: Number of stored states; rows of the arrays from there on are undefined.
        t, t_v: Times of ``u`` and of ``v``, shape (capacity,) [s].
        u, v_t, v: Displacements and velocities at ``t``, velocities at ``t_v``, shape (capacity, k) [m, m/s].
        gap, r: Gaps and normal impulses at ``t``, shape (capacity, p) [m, N s].
        r_t: Tangential impulses, shape (capacity, p, gdim), without friction (capacity, 0) [N s].
        energies: Columns :data:`.energy.TERMS`, shape (capacity, 8) [J]; of bodies with history one more.
        fine: :attr:`~.Integrator.fine_records` of the scheme, shape (capacity, substeps, p) each; undefined
            for the initial state.
        further: :attr:`~.Integrator.point_records` of the scheme, shape (capacity, p) each.
        r_features: :attr:`~.Integrator.r_features` where paths of features are tested, shape (capacity, 1)
            [N s], else (capacity, 0).
        covered: :meth:`.ContactNodes.covered` where it changes, shape (capacity, p), else (capacity, 0).
        lost_force: Largest ratio of :class:`.LostForce`, shape (capacity,); zeros until that has written it.
        pushed: Work of damping forces where they push, ``EnergyBalance.pushed``, shape (capacity,) [J];
            of compiled loops alone, which may have that of several steps in the first of them.
        table: All columns except ``fine``, one row per state; the other arrays are views of it.
        widths, first: Number of columns of each array, and of its first one.
    """

    def __init__(
        self,
        integrator: Any,
        rows: SparseRows,
        balance: EnergyBalance | None,
        capacity: int | None = None,
        *,
        fine: bool = True,
    ) -> None:
        self.integrator, self.rows, self.balance = integrator, rows, balance
        k, p, contact = rows.count, integrator.r.size, integrator.contact
        #: Whether parts of the points' areas have nothing opposite.
        self.partly = contact is not None and contact.nodes.partly
        self.widths = widths = {
            "t": 1,
            "t_v": 1,
            "u": k,
            "v_t": k,
            "v": k,
            "gap": p,
            "r": p,
            "r_t": integrator.r_t.size,
            "energies": len(energy.TERMS) + (0 if balance is None else len(balance.further)),
            **{name: p for name in integrator.point_records},
            "r_features": int(contact is not None and contact.swept),
            "covered": p if self.partly else 0,
            "lost_force": 1,
        }
        ends = np.cumsum(list(widths.values()))
        self.first = {name: int(end) - width for (name, width), end in zip(widths.items(), ends)}
        n = capacity
        if n is None:  # the same on all ranks, since observers are called collectively
            width = int(ends[-1]) + sum(each.size for each in integrator.fine_records.values())
            widest = integrator.system.comm.allreduce(width, op=MPI.MAX)
            n = min(_MOST, max(1, _NUMBERS // widest))
        self.capacity, self.count = n, 0
        # One row per step: contiguous for compiled loops.
        self.table = np.zeros((n, int(ends[-1])))
        self._columns = {name: self.table[:, end - widths[name] : end] for name, end in zip(widths, ends)}
        self.t, self.t_v = self._columns["t"][:, 0], self._columns["t_v"][:, 0]
        self.u, self.v_t, self.v = (self._columns[name] for name in ("u", "v_t", "v"))
        self.gap, self.r = self._columns["gap"], self._columns["r"]
        self.r_t = self._columns["r_t"].reshape(n, *integrator.r_t.shape)
        self.energies = self._columns["energies"]
        records = integrator.fine_records.items() if fine else ()
        self.fine = {name: np.zeros((n, *each.shape)) for name, each in records}
        self.further = {name: self._columns[name] for name in integrator.point_records}
        self.r_features = self._columns["r_features"]
        self.covered, self.lost_force = self._columns["covered"], self._columns["lost_force"][:, 0]
        self.pushed = np.zeros(n)

    def cut(self) -> Steps:
        """The stored states in a buffer of that capacity."""
        if self.count == self.capacity:
            return self
        short = Steps(self.integrator, self.rows, self.balance, self.count, fine=False)
        short.table[:], short.count = self.table[: self.count], self.count
        return short

    def append(self) -> None:
        """Store the current state of the integrator."""
        i, s = self.count, self.integrator
        self.t[i], self.t_v[i] = s.t, s.v_time
        self.u[i], self.v[i] = self.rows(s.u), self.rows(s.v)
        self.v_t[i] = kernels.load().row_sums(self.rows.weights, s.v_mean_at(self.rows.dofs))
        self.gap[i], self.r[i], self.r_t[i] = s.gap(), s.r, s.r_t
        self.r_features[i] = s.r_features
        for name, values in self.further.items():
            values[i] = getattr(s, name)
        if self.partly:
            self.covered[i] = s.contact.nodes.covered(s.of_contact(s.u))
        if self.fine:
            for name, values in s.fine_records.items():
                self.fine[name][i] = values
        if self.balance is not None:
            self.energies[i] = self.balance.terms()
        self.count += 1


class CompiledLoop(Protocol):
    """Compiled loop over the steps of an integrator, with the same results as its ``step``."""

    def fill(self, part: Steps, steps: int) -> None:
        """Advance by ``steps`` steps and store the state after each in ``part``, from its first row on.

        Where a step fails, ``part`` has those before it, if any, and the next call raises the error.
        """


def compiled_loop(scheme: Any, rows: SparseRows, balance: EnergyBalance | None) -> CompiledLoop:
    """The compiled loop of a scheme: ``scheme.compiled_loop(rows, balance)`` where its class names that.

    Args:
        scheme: The scheme, started.
        rows: Recorded rows of ``u`` and ``v``.
        balance: The energy balance, or None; it is started before the first step of the loop.

    Raises:
        NotCompiled: The reason why there is none; see :func:`.kernels.declared`.
    """
    method = kernels.declared(scheme, "compiled_loop")
    if method is None:
        raise kernels.NotCompiled(f"{type(scheme).__name__} makes its steps one by one")
    loop: CompiledLoop = method(rows, balance)
    return loop
