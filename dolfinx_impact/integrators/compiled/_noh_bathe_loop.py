"""The step of :class:`.NohBathe` in a compiled loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._types import FloatArray
from ..central.noh_bathe_formulas import PART, Q0, Q1, Q2
from . import _central_loop as central
from . import _shared as shared
from ._arrays import LoopState
from ._kernels import inlined

if TYPE_CHECKING:
    from ._arrays import LoopColumns, LoopModel, LoopPoints


class Substeps(NamedTuple):
    """The state, and arrays of the integrator besides; ``forced`` has the velocities of the forces.

    Then scratch: the smooth impulse and the displacements before of a substep, the forces at its beginning,
    and a row as wide as one of the table. ``pushed`` is ``EnergyBalance.pushed`` [J], shape (1,).
    """

    s: LoopState
    forced: LoopState
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
def _move(h: float, w: Substeps, inverse: FloatArray) -> None:
    """Displacements at the end of a substep of length h, and the velocities of the forces there."""
    s, forced = w.s, w.forced
    for j in range(s.u.size):
        w.u_before[j], s.v_before[j] = s.u[j], s.v[j]
        s.u[j] = s.u[j] + h * (s.v[j] + 0.5 * h * (inverse[j] * w.f_position[j]))
        forced.v[j] = s.v[j] + h * (inverse[j] * w.f_position[j])


@inlined
def _follow(w: Substeps, m: LoopModel, terms: FloatArray) -> None:
    """Works of a substep in :data:`.energy.TERMS`, as :class:`.NohBatheBalance` has them."""
    s, internal, external, damped, smooth = w.s, 0.0, 0.0, 0.0, 0.0
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


@inlined
def _smooth_impulse(part: int, tau: float, w: Substeps, before: bool) -> None:
    """Impulse of the smooth forces of a substep: of those at its beginning, then of that at its end."""
    s = w.s
    for j in range(s.u.size):
        if not before:
            w.impulse[j] += (0.5 * tau if part == 0 else tau * Q2) * s.f[j]
        elif part == 0:
            w.impulse[j] = 0.5 * tau * s.f[j]
        else:
            w.impulse[j] = tau * Q0 * w.f_start[j] + tau * (0.5 + Q1) * s.f[j]


@inlined
def _sum_impulses(c: LoopPoints, first: FloatArray, step: FloatArray, columns: LoopColumns) -> None:
    """Add the impulses of the first substep to those of the second."""
    for k in range(c.dofs.shape[0]):
        step[columns.r + k] += first[columns.r + k]
    for k in range(c.dofs.shape[0] * columns.directions):
        step[columns.r_t + k] += first[columns.r_t + k]


def advance(  # type: ignore[no-untyped-def]
    steps, clock, w, m, c, record, energies, functions
):
    """Noh and Bathe (2013) with impulses, as :meth:`.NohBathe.advance` has it.

    Args:
        steps: Number of steps.
        clock, w, m, c, record, energies: What their classes say; the powers are not used.
        functions: External, internal and damping forces, energy and surface, compiled; not called where there
            are none.

    Returns:
        The number of steps made: all.
    """
    s, h, columns, terms = w.s, clock.h, record.columns, energies.terms
    for i in range(steps):
        t, step = shared.end(clock, i), record.table[i]
        for j in range(s.u.size):
            w.f_start[j] = s.f[j]
        for part in range(2):
            tau = PART * h if part == 0 else (1 - PART) * h
            end = t - (1 - PART) * h if part == 0 else t
            row = w.row if part == 0 else step
            _move(tau, w, m.inverse_mass)
            _smooth_impulse(part, tau, w, True)
            central.forces(end, w.forced, m, m.amplitudes[i, part], functions)
            central.sum_forces(w.forced, m)
            _smooth_impulse(part, tau, w, False)
            for j in range(s.u.size):
                s.v[j] = s.v_before[j] + m.inverse_mass[j] * w.impulse[j]
            central.impulses(tau, c, s, m.inverse_mass, functions[4], row, columns)
            central.act(c, m.inverse_mass, row, columns, s.v)
            if energies.follows:
                _follow(w, m, terms)
                if m.calls_damping:
                    w.pushed[0] += central.push(tau, w.forced.v, m.damped)
                terms[5] += _contact_work(c, row, columns, s)
            _hold(c, row, columns, s, m, w.f_position)
        _sum_impulses(c, w.row, step, columns)
        if energies.follows:
            kinetic = stored = 0.0
            for j in range(s.u.size):
                kinetic += 0.5 * m.mass[j] * s.v[j] ** 2
                stored += 0.5 * s.u[j] * w.internal[j]
            terms[0] = kinetic
            terms[2] = stored if m.linear else central.stored_energy(s.u, m, functions[3], terms[2])
        shared.store(i, clock, record, energies, s.u, s.v, s.v)
    return steps
