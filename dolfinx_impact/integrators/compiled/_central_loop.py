"""The step of :class:`.CentralDifferences` in a compiled loop.

Di Stasio et al. (2019), Algorithms 1 and 2 for contact and friction at velocity level, (20)-(24) for flat
obstacles at position level; energies as in Fekak et al. (2017), (84)-(90).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._types import FloatArray
from ...algebra.kernels._numba import add_signals, rows_force
from ..central.central_formulas import constrained_position, constrained_time
from . import _shared as shared
from ._kernels import drift, few_kicks, inlined, kick_in_place, rows_kick

if TYPE_CHECKING:
    from ...contact.compiled import Surface
    from ._arrays import LoopColumns, LoopModel, LoopPoints, LoopState

#: Up to so many dofs a loop in place is faster than a call of a vectorised one.
FEW = 8


@inlined
def forces(t: float, s: LoopState, m: LoopModel, amplitudes: FloatArray, functions: Any) -> None:
    """Loads, internal forces that are not stored as pairs or rows, and damping, with the velocity before."""
    u, v, size = s.u, s.v, s.u.size
    external, internal, damping = functions[0], functions[1], functions[2]
    if amplitudes.size > 0:
        add_signals(m.constant, m.patterns, amplitudes, m.load)
    if m.calls_external:
        m.load[:] = 0.0
        external(t, u, v, m.load)
        for j in range(size):
            m.load[j] += m.constant[j]
    if m.stiffness.size > 0:
        for j in range(size):
            m.part[j] = 0.0
            for k in range(size):
                m.part[j] += m.stiffness[j, k] * u[k]
    elif m.calls_internal:
        m.part[:] = 0.0
        internal(t, u, v, m.part)
    if m.calls_damping:
        m.damped[:] = 0.0
        damping(t, u, v, m.damped)
    elif m.rate > 0.0:
        shared.add_damping(m.rate, m.mass, v, m.damped)


@inlined
def sum_forces(s: LoopState, m: LoopModel) -> None:
    """All smooth forces into ``f``; sums as PointMasses.force and Body.force have them."""
    u, f = s.u, s.f
    if m.rows[0].size > 0:
        rows_force(*m.rows, m.load, u, f)
    elif m.block > 0:
        shared.pairs_force(m.block, m.pairs, m.load, u, f)
    else:
        for j in range(u.size):
            f[j] = m.load[j] - m.part[j]
    if m.has_damping:
        for j in range(u.size):
            f[j] -= m.damped[j]


@inlined
def free_step(s: LoopState, m: LoopModel) -> None:
    """``v*`` of (47), the velocity without contact."""
    if m.rows[0].size > 0 and not m.has_damping:
        rows_kick(m.rows, m.load, s.u, s.f, s.v, s.v_before, m.kick)
        return
    sum_forces(s, m)
    if s.u.size > FEW:
        kick_in_place(s.v, s.v_before, s.f, m.kick)
    else:
        few_kicks(s.v, s.v_before, s.f, m.kick)


@inlined
def gap_of(c: LoopPoints, k: int, s: LoopState, surface: Surface) -> float:
    """Gap of a point at ``u``; where the obstacle is curved its normal goes into L."""
    gap: float
    if c.flat:
        gap = c.offset[k] + shared.row(c.dofs, c.weights, k, s.u)
        return gap
    place = c.place
    for j in range(place.x.size):
        place.x[j] = c.x[k, j] + s.u[c.dofs[k, j]]
    gap = surface(place.x, place.normal)
    for j in range(place.x.size):
        c.weights[k, j] = place.normal[j]
    return gap


@inlined
def _delassus(c: LoopPoints, k: int, inverse_mass: FloatArray) -> float:
    """Diagonal entry of H, (49)."""
    if c.flat:
        entry: float = c.diagonal[k]
        return entry
    H = 0.0
    for j in range(c.dofs.shape[1]):
        H += c.weights[k, j] * c.weights[k, j] * inverse_mass[c.dofs[k, j]]
    return H


@inlined
def _constrained_gap(c: LoopPoints, k: int, h: float, s: LoopState) -> float:
    """Gap at the position of (19) without contact."""
    free, e = 0.0, c.restitution
    for j in range(c.dofs.shape[1]):
        i = c.dofs[k, j]
        free += c.weights[k, j] * constrained_position(s.u[i], s.v[i], s.v_before[i], h, e)
    gap: float = c.offset[k] + free
    return gap


@inlined
def impulses(
    h: float,
    c: LoopPoints,
    s: LoopState,
    inverse_mass: FloatArray,
    surface: Surface,
    step: FloatArray,
    columns: LoopColumns,
) -> None:
    """Gaps and normal impulses of all points, from the velocity without contact, into the step's row."""
    for k in range(c.dofs.shape[0]):
        gap, r = gap_of(c, k, s, surface), 0.0
        if c.at_position:
            b = _constrained_gap(c, k, h, s) / constrained_time(h, c.restitution)
            r = shared.impulse(b, _delassus(c, k, inverse_mass))
        elif shared.is_closed(gap, c.tolerance, c.touching):
            r = shared.impulse(shared.approach(c, k, s), _delassus(c, k, inverse_mass))
        step[columns.gap + k], step[columns.r + k] = gap, r


@inlined
def act(
    c: LoopPoints, inverse_mass: FloatArray, step: FloatArray, columns: LoopColumns, v: FloatArray
) -> None:
    """Let the impulses act on ``v``, (47), and find those of friction."""
    for k in range(c.dofs.shape[0]):
        r, at = step[columns.r + k], columns.r_t + k * columns.directions
        for j in range(columns.directions):
            step[at + j] = 0.0
        if r != 0.0:
            shared.apply_impulse(c, k, r, inverse_mass, v)
            if columns.directions:
                shared.apply_friction(c, k, c.friction * r, inverse_mass, v, step, at)


@inlined
def stored_energy(u: FloatArray, m: LoopModel, energy: Callable[[FloatArray], float], known: float) -> float:
    """Internal energy where not all forces are linear; where nothing tells it, the one known."""
    if m.calls_energy:
        return energy(u)
    if m.stiffness.size == 0:
        return known
    stored = 0.0
    for j in range(u.size):
        stored += 0.5 * u[j] * m.part[j]
    return stored


@inlined
def push(h: float, v: FloatArray, damped: FloatArray) -> float:
    """Work of damping forces with the velocities that they were computed with, where they push [J]."""
    work = 0.0
    for j in range(v.size):
        work -= h * v[j] * damped[j]
    return work if work > 0.0 else 0.0  # also where it is not a number


def advance(  # type: ignore[no-untyped-def]
    steps, clock, s, m, c, record, energies, functions
):
    """Fekak et al. (2017), Algorithm 2, as :meth:`.CentralDifferences.advance` has it.

    Args:
        steps: Number of steps.
        clock, s, m, c, record: What their classes say.
        energies: Likewise; after the powers stands the work of damping where it pushes,
            ``EnergyBalance.pushed`` [J].
        functions: External, internal and damping forces, energy and surface, compiled; not called where there
            are none.

    Returns:
        The number of steps made: all.
    """
    few, points, columns = s.u.size <= FEW, c.dofs.shape[0], record.columns
    h, terms, powers = clock.h, energies.terms, energies.powers
    for i in range(steps):
        step = record.table[i]
        drift(s.u, s.v, h)  # (44a)
        forces(shared.end(clock, i), s, m, m.amplitudes[i], functions)
        free_step(s, m)  # (47)
        impulses(h, c, s, m.inverse_mass, functions[4], step, columns)  # (48)
        act(c, m.inverse_mass, step, columns, s.v)
        if energies.follows:
            r, r_t = step[columns.r : columns.r + points], step[columns.r_t :]
            before = shared.contact_work(c, r, r_t, columns.directions, s.v_before)
            after = shared.contact_work(c, r, r_t, columns.directions, s.v)
            stored = shared.energy_terms(h, s, m, few, before, after, energies)  # (84)
            terms[2] = stored if m.linear else stored_energy(s.u, m, functions[3], terms[2])
            if m.calls_damping:
                powers[4] += push(h, s.v_before, m.damped)
        shared.store(i, clock, record, energies, s.u, s.v_before, s.v)
    return steps
