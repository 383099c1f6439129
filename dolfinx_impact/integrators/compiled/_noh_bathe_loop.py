"""The compiled loop of :mod:`.noh_bathe`: the step of :class:`.NohBathe` in numba's words."""

from __future__ import annotations

from typing import NamedTuple

from ..._types import FloatArray
from ...algebra.kernels._numba import rows_force
from ..noh_bathe import PART, Q0, Q1, Q2
from . import _shared as shared
from ._central_loop import (
    LoopColumns,
    LoopModel,
    LoopPoints,
    LoopState,
    _act,
    _forces,
    _impulses,
    _push,
    _record,
)
from ._central_loop import _stored_energy as stored_energy
from ._kernels import inlined


class Work(NamedTuple):
    """Arrays of the integrator besides its state, and scratch; ``row`` is as wide as a row of the table.

    ``pushed`` is ``EnergyBalance.pushed`` [J], shape (1,).
    """

    f_start: FloatArray
    f_position: FloatArray
    impulse: FloatArray
    u_before: FloatArray
    internal: FloatArray
    load: FloatArray
    damped: FloatArray
    row: FloatArray
    pushed: FloatArray


@inlined
def _move(h: float, s: LoopState, forced: LoopState, inverse: FloatArray, w: Work) -> None:
    """Displacements at the end of a substep of length h, and the velocities of the forces there."""
    for j in range(s.u.size):
        w.u_before[j], s.v_before[j] = s.u[j], s.v[j]
        s.u[j] = s.u[j] + h * (s.v[j] + 0.5 * h * (inverse[j] * w.f_position[j]))
        forced.v[j] = s.v[j] + h * (inverse[j] * w.f_position[j])


@inlined
def _sum_forces(forced: LoopState, m: LoopModel) -> None:
    """All smooth forces into f."""
    u, f = forced.u, forced.f
    if m.row_start.size > 0:
        rows_force(m.row_start, m.row_column, m.row_values, m.load, u, f)
    elif m.block > 0:
        shared.pairs_force(m.block, m.pairs, m.load, u, f)
    else:
        for j in range(u.size):
            f[j] = m.load[j] - m.part[j]
    if m.has_damping:
        for j in range(u.size):
            f[j] -= m.damped[j]


@inlined
def _follow(s: LoopState, m: LoopModel, w: Work, terms: FloatArray) -> None:
    """Works of a substep in :data:`.energy.TERMS`, as :class:`.NohBatheBalance` has them."""
    internal = external = damped = smooth = 0.0
    for j in range(s.u.size):
        du = s.u[j] - w.u_before[j]
        now = m.load[j] - m.damped[j] - s.f[j]
        internal += 0.5 * du * (w.internal[j] + now)
        external += 0.5 * du * (w.load[j] + m.load[j])
        damped += 0.5 * du * (w.damped[j] + m.damped[j])
        smooth += 0.5 * (s.v_before[j] + s.v[j]) * w.impulse[j]
        w.internal[j], w.load[j], w.damped[j] = now, m.load[j], m.damped[j]
    terms[3] += internal
    terms[4] += external
    terms[6] += external - internal - smooth


@inlined
def _contact_work(c: LoopPoints, row: FloatArray, columns: LoopColumns, s: LoopState) -> float:
    """``r.L (v_before + v)/2`` of a substep."""
    r, r_t = row[columns.r : columns.r + c.dofs.shape[0]], row[columns.r_t :]
    before = shared.contact_work(c, r, r_t, columns.directions, s.v_before)
    work: float = 0.5 * (before + shared.contact_work(c, r, r_t, columns.directions, s.v))
    return work


@inlined
def _hold(
    c: LoopPoints, row: FloatArray, columns: LoopColumns, s: LoopState, m: LoopModel, out: FloatArray
) -> None:
    """Forces of a~: see :class:`.LastingContact`, of points that have dofs of their own."""
    f, inverse = s.f, m.inverse_mass
    for j in range(f.size):
        out[j] = f[j]
    d = c.dofs.shape[1]
    for k in range(c.dofs.shape[0]):
        r, at = row[columns.r + k], columns.r_t + k * columns.directions
        if not r > 0.0:
            continue
        normal, H, largest, size = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            i, n = c.dofs[k, j], c.weights[k, j]
            normal += n * (inverse[i] * f[i])
            H += n * n * inverse[i]
            largest = max(largest, inverse[i])
        lam = -normal / H
        for j in range(columns.directions):
            size += row[at + j] * row[at + j]
        size = size**0.5
        slides = size >= (1 - 1e-9) * c.friction * r
        for j in range(d):
            i = c.dofs[k, j]
            force = lam * c.weights[k, j]
            if columns.directions > 0 and slides:
                if size > 0.0:
                    force += max(lam, 0.0) * (c.friction * row[at + j] / size)
            elif columns.directions > 0:
                force -= (inverse[i] * f[i] - normal * c.weights[k, j]) / largest
            out[i] += force


# fmt: off
def advance(  # type: ignore[no-untyped-def]
    steps, n, t0, h, follows, s, forced, m, c, w, place, recorded, table, columns, terms, amplitudes,
    external, internal, damping, energy, surface,
):
    # fmt: on
    """Make steps, and keep the state after each in the table.

    Args:
        steps, n, t0, h: Number of steps, steps made before, time of the start, time step [s].
        follows: Whether energies are followed.
        s, m, c, w, place, recorded, columns: What their classes say; ``v_before`` is that of a substep.
        forced: As ``s``, with the velocities of the forces.
        table: Where the states go, one row a step.
        terms: :data:`.energy.TERMS`, changed [J].
        amplitudes: Signals of the loads at the ends of both substeps, shape (steps, 2, k).
        external, internal, damping, energy, surface: Compiled functions, not called where there are none.
    """
    for i in range(steps):
        t, step = t0 + (n + i + 1) * h, table[i]
        for j in range(s.u.size):
            w.f_start[j] = s.f[j]
        for part in range(2):
            tau = PART * h if part == 0 else (1 - PART) * h
            end = t - (1 - PART) * h if part == 0 else t
            row = w.row if part == 0 else step
            _move(tau, s, forced, m.inverse_mass, w)
            for j in range(s.u.size):  # of the forces at the beginning of the substep
                before = (
                    0.5 * tau * s.f[j] if part == 0 else tau * Q0 * w.f_start[j] + tau * (0.5 + Q1) * s.f[j]
                )
                w.impulse[j] = before
            _forces(end, forced, m, amplitudes[i, part], external, internal, damping)
            _sum_forces(forced, m)
            weight = 0.5 * tau if part == 0 else tau * Q2
            for j in range(s.u.size):
                w.impulse[j] += weight * s.f[j]
                s.v[j] = s.v_before[j] + m.inverse_mass[j] * w.impulse[j]
            _impulses(tau, c, s, m.inverse_mass, place, surface, row, columns)
            _act(c, m.inverse_mass, row, columns, s.v)
            if follows:
                _follow(s, m, w, terms)
                if m.calls_damping:
                    w.pushed[0] += _push(tau, forced.v, m.damped)
                terms[5] += _contact_work(c, row, columns, s)
            _hold(c, row, columns, s, m, w.f_position)
        for k in range(c.dofs.shape[0]):
            step[columns.r + k] += w.row[columns.r + k]
        for k in range(c.dofs.shape[0] * columns.directions):
            step[columns.r_t + k] += w.row[columns.r_t + k]
        if follows:
            kinetic = stored = 0.0
            for j in range(s.u.size):
                kinetic += 0.5 * m.mass[j] * s.v[j] ** 2
                stored += 0.5 * s.u[j] * w.internal[j]
            terms[0] = kinetic
            terms[2] = stored if m.linear else stored_energy(s.u, m, energy, terms[2])
            for k in range(terms.size):
                step[columns.energies + k] = terms[k]
        step[0] = step[1] = t
        _record(recorded, LoopState(s.u, s.v, s.v, s.f), step, columns)
