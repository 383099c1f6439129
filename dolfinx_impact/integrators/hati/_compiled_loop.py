"""The fine and coarse steps of HATI in one compiled loop; nothing is allocated in it.

Fekak et al. (2017), Algorithm 1, with Algorithm 2 in 2(b); energies (86)-(90), (92) and (93). Kernels on
disk name the classes of their arguments, and are found by file and line: a class that is renamed while the
functions stay at their lines leaves kernels that numba cannot read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ..._types import AnyArray, FloatArray, IntArray
from ...algebra.kernels._numba import add_signals, copy, solve_symmetric, trapezoidal_sums
from ..central.central_formulas import mean_velocity
from ..compiled import _shared as shared
from ..compiled._kernels import drift, inlined, kept, kick_in_place, rows_kick
from ..compiled._shared import Stiffness, stored_force

if TYPE_CHECKING:
    from ..compiled._arrays import Clock, Energies, LoopColumns, Record


class Side(NamedTuple):
    """The explicit subdomain, its own dofs only; the last two are scratch for loads and damping.

    Dofs keep their order, here and on the other side, so that sums do not depend on who makes the steps.
    """

    mass: FloatArray
    inverse_mass: FloatArray
    kick: FloatArray
    constant: FloatArray
    patterns: FloatArray
    stiffness: Stiffness
    rate: float
    has_loads: bool
    has_damping: bool
    load: FloatArray
    damped: FloatArray


class Link(NamedTuple):
    """``H^-1`` in sparse rows, the dofs of the pairs on the side, scratch for defects and old multipliers.

    ``old`` and ``new`` are the free velocities of the implicit side at both ends of a coarse step, (74),
    shape (pairs,) [m/s].
    """

    start: IntArray
    column: IntArray
    values: FloatArray
    at: IntArray
    defects: FloatArray
    began: FloatArray
    old: FloatArray
    new: FloatArray


class FinePoints(NamedTuple):
    """The contact at velocity level: L by dofs and weights, gaps at u = 0, the diagonal of L M^-1 L^T.

    With friction of node pairs the dofs are those of both nodes; then the tangential impulses of the last
    fine step, and their sums since the last coarse time, have as many entries as there are directions for
    each point, else none.
    """

    dofs: IntArray
    weights: FloatArray
    offset: FloatArray
    diagonal: FloatArray
    restitution: float
    tolerance: float
    touching: bool
    friction: float
    r_t: FloatArray
    sums: FloatArray


class FineState(NamedTuple):
    """Arrays of the explicit side that the loops advance."""

    u: FloatArray
    v: FloatArray
    v_before: FloatArray
    f: FloatArray
    multipliers: FloatArray


class ImplicitArrays(NamedTuple):
    """The implicit subdomain: ``factors`` are those of the solver, ``at`` the dofs of the pairs.

    Then the state u, v, a, the forces at the last coarse time, and scratch.
    """

    mass: FloatArray
    constant: FloatArray
    patterns: FloatArray
    stiffness: Stiffness
    factors: tuple[AnyArray, ...]
    at: IntArray
    rate: float
    u: FloatArray
    v: FloatArray
    a: FloatArray
    internal: FloatArray
    load: FloatArray
    damped: FloatArray
    b: FloatArray
    before: FloatArray
    load_before: FloatArray
    damped_before: FloatArray
    internal_before: FloatArray


class FineRecord(NamedTuple):
    """What contacts do in fine steps: impulses, gaps, and normal velocities half a step before.

    Shape (m, p) for one coarse step, (steps, m, p) for several.
    """

    r: FloatArray
    gap: FloatArray
    before: FloatArray


class Sides(NamedTuple):
    """Both subdomains in coarse steps.

    ``amplitudes`` are the signals of the loads at all fine times, shape (steps, m, k), and ``coarse`` those
    at the coarse ones; ``terms`` are :data:`.energy.TERMS` of the implicit side, changed [J]. Dofs of the
    implicit side among the recorded ones are counted behind the explicit ones.
    """

    side: Side
    link: Link
    pairs: FinePoints
    state: FineState
    implicit: ImplicitArrays
    amplitudes: FloatArray
    coarse: FloatArray
    terms: FloatArray
    beta: float
    gamma: float


@inlined
def _free_step(side: Side, s: FineState) -> None:
    """``v*`` of the explicit side without interface and contact, (67) and (68)."""
    K = side.stiffness
    if K.block == 0 and side.rate == 0.0:
        rows_kick((K.start, K.column, K.values), side.load, s.u, s.f, s.v, s.v_before, side.kick)
        return
    stored_force(K, side.load, s.u, s.f)
    if side.rate > 0.0:
        shared.add_damping(side.rate, side.mass, s.v, side.damped)
        for j in range(s.f.size):
            s.f[j] -= side.damped[j]
    kick_in_place(s.v, s.v_before, s.f, side.kick)


@inlined
def _glue(part: float, link: Link, s: FineState, kick: FloatArray) -> float:
    """Multipliers ``Lambda = H^-1 r`` that keep both sides together, (71), acting on ``v``.

    Args:
        part: Part of the coarse step at the end of this fine one.
        link, s: Interface and state.
        kick: ``h M^-1`` of the explicit side.

    Returns:
        ``v_before . <Lambda>`` over the pairs, the power of the interface in (93) [W].
    """
    power, at = 0.0, link.at
    for k in range(at.size):
        free = mean_velocity(s.v_before[at[k]], s.v[at[k]])
        link.defects[k] = (1 - part) * link.old[k] + part * link.new[k] - free  # (74)
    for k in range(at.size):
        multiplier = 0.0
        for j in range(link.start[k], link.start[k + 1]):
            multiplier += link.values[j] * link.defects[link.column[j]]
        power += s.v_before[at[k]] * (0.5 * (s.multipliers[k] + multiplier))
        s.multipliers[k] = multiplier
        s.v[at[k]] += kick[at[k]] * multiplier
    return power


@inlined
def _contact(
    c: FinePoints, s: FineState, inverse_mass: FloatArray, gap: FloatArray, r: FloatArray, before: FloatArray
) -> None:
    """Gaps, normal velocities before, and impulses (48) of all points, from the velocity without contact."""
    for k in range(gap.size):
        gap[k], r[k] = c.offset[k] + shared.row(c.dofs, c.weights, k, s.u), 0.0
        before[k] = shared.row(c.dofs, c.weights, k, s.v_before)
        if shared.is_closed(gap[k], c.tolerance, c.touching):
            r[k] = shared.impulse(shared.approach(c, k, s), c.diagonal[k])
    for k in range(gap.size):
        if r[k] != 0.0:
            shared.apply_impulse(c, k, r[k], inverse_mass, s.v)


@inlined
def _friction(c: FinePoints, s: FineState, inverse_mass: FloatArray, r: FloatArray) -> None:
    """Friction of node pairs by the formulas of :class:`.PairsDelassus`."""
    directions = c.dofs.shape[1] // 2
    for k in range(r.size):
        normal, size, limit, at = 0.0, 0.0, c.friction * r[k], k * directions
        for j in range(directions):
            slip = -s.v[c.dofs[k, j]] + s.v[c.dofs[k, directions + j]]
            normal += c.weights[k, directions + j] * slip
        for j in range(directions):
            slip = -s.v[c.dofs[k, j]] + s.v[c.dofs[k, directions + j]]
            c.r_t[at + j] = -(slip - normal * c.weights[k, directions + j]) / c.diagonal[k]
            size += c.r_t[at + j] * c.r_t[at + j]
        size = math.sqrt(size)
        for j in range(directions):
            if size > limit:
                c.r_t[at + j] *= limit / size
            c.sums[at + j] += c.r_t[at + j]
            first, second = c.dofs[k, j], c.dofs[k, directions + j]
            s.v[first] += -c.r_t[at + j] * inverse_mass[first]
            s.v[second] += c.r_t[at + j] * inverse_mass[second]


@inlined
def _work(c: FinePoints, r: FloatArray, v: FloatArray) -> float:
    """Work of the impulses of a fine step with velocities v [J]."""
    total: float = shared.contact_work(c, r, r, 0, v)
    directions = c.dofs.shape[1] // 2
    if c.r_t.size > 0:
        for k in range(r.size):
            for j in range(directions):
                total += c.r_t[k * directions + j] * (v[c.dofs[k, directions + j]] - v[c.dofs[k, j]])
    return total


@kept
def fine_steps(
    h: float,
    side: Side,
    link: Link,
    pairs: FinePoints,
    state: FineState,
    record: FineRecord,
    amplitudes: FloatArray,
    energies: Energies,
) -> None:
    """Make as many fine steps as ``amplitudes`` has rows.

    Args:
        h: Fine step [s].
        side, link, pairs, state, record: What they say.
        amplitudes: Signals of the loads at the end of each step, shape (m, k).
        energies: Terms of the explicit side, ``interface`` its part of (93) [J], and powers of the forces at
            v_{n+1/2}, kept like those of :class:`.CentralDifferenceBalance`.
    """
    u, v, v_before, terms = state.u, state.v, state.v_before, energies.terms
    steps, signals = amplitudes.shape
    for i in range(steps):
        r = record.r[i]
        drift(u, v, h)  # (66)
        if signals > 0:
            add_signals(side.constant, side.patterns, amplitudes[i], side.load)
        _free_step(side, state)  # (67), (68)
        given = _glue((i + 1) / steps, link, state, side.kick)  # (71), (74)
        _contact(pairs, state, side.inverse_mass, record.gap[i], r, record.before[i])  # (47), (48)
        if pairs.r_t.size > 0:
            _friction(pairs, state, side.inverse_mass, r)
        if energies.follows:
            first, last = _work(pairs, r, v_before), _work(pairs, r, v)
            terms[2] = shared.energy_terms(h, state, side, False, first, last, energies)  # (84)
            terms[7] += h * given  # (93)


@inlined
def _free_problem(h: float, both: Sides, amplitudes: FloatArray) -> None:
    """The implicit side without multipliers, (61)-(64); its velocities at the pairs go into ``link.new``.

    ``b`` keeps the right side; u and v are those of the predictor.
    """
    s, new, beta, gamma = both.implicit, both.link.new, both.beta, both.gamma
    u, v, a = s.u, s.v, s.a
    for k in range(u.size):
        s.before[k] = u[k]
        u[k] += h * v[k] + (0.5 - beta) * h * h * a[k]
        v[k] += (1 - gamma) * h * a[k]
        s.load_before[k], s.internal_before[k], s.damped_before[k] = s.load[k], s.internal[k], s.damped[k]
    add_signals(s.constant, s.patterns, amplitudes, s.load)
    stored_force(s.stiffness, s.load, u, s.b)
    if s.rate > 0.0:
        for k in range(u.size):
            s.b[k] -= s.rate * s.mass[k] * v[k]
    solve_symmetric(s.factors, s.b, a)
    for k in range(new.size):
        new[k] = v[s.at[k]] + gamma * h * a[s.at[k]]


@inlined
def _constrained_problem(h: float, both: Sides) -> None:
    """The implicit side with the multipliers at the end of the coarse step, (54)."""
    s, multipliers, beta, gamma = both.implicit, both.state.multipliers, both.beta, both.gamma
    u, v, a = s.u, s.v, s.a
    for k in range(multipliers.size):
        s.b[s.at[k]] -= multipliers[k]
    solve_symmetric(s.factors, s.b, a)
    for k in range(u.size):
        u[k] += beta * h * h * a[k]
        v[k] += gamma * h * a[k]


@inlined
def _implicit_energies(
    implicit: ImplicitArrays, began: FloatArray, multipliers: FloatArray, terms: FloatArray
) -> None:
    """Energies of the implicit side after a coarse step, its part of the interface (93) with them.

    Args:
        implicit: The side, with the forces at the beginning of the step.
        began, multipliers: Those at the beginning and at the end.
        terms: :data:`.energy.TERMS` of this side, changed [J].
    """
    s = implicit
    stored_force(s.stiffness, s.load, s.u, s.b)
    shared.add_damping(s.rate, s.mass, s.v, s.damped)
    for k in range(s.u.size):
        s.internal[k] = s.load[k] - (s.b[k] - s.damped[k]) - s.damped[k]
    earlier, later = (s.internal_before, s.load_before, s.damped_before), (s.internal, s.load, s.damped)
    sums = trapezoidal_sums(s.mass, s.v, s.u, s.before, earlier, later)
    terms[0], terms[2], work, external, dissipated = sums
    terms[3] += work
    terms[4] += external
    terms[6] += dissipated
    taken = 0.0
    for k in range(multipliers.size):
        taken += (s.u[s.at[k]] - s.before[s.at[k]]) * (0.5 * (began[k] + multipliers[k]))
    terms[7] -= taken


@inlined
def _record(both: Sides, record: Record, step: FloatArray) -> None:
    """Displacements and velocities of the recorded rows at the coarse time; implicit dofs come last."""
    state, implicit, columns, size = both.state, both.implicit, record.columns, both.state.u.size
    for k in range(record.dofs.shape[0]):
        place = mean = 0.0
        for j in range(record.dofs.shape[1]):
            dof, factor = record.dofs[k, j], record.weights[k, j]
            if dof < size:
                place += factor * state.u[dof]
                mean += factor * mean_velocity(state.v_before[dof], state.v[dof])
            else:
                place += factor * implicit.u[dof - size]
                mean += factor * implicit.v[dof - size]
        step[columns.u + k], step[columns.v_t + k], step[columns.v + k] = place, mean, mean


@inlined
def _record_contact(fine: FineRecord, sums: FloatArray, step: FloatArray, columns: LoopColumns) -> None:
    """The last gaps of a coarse step, and the sums of its impulses."""
    m, points = fine.r.shape
    for k in range(points):
        total = 0.0
        for j in range(m):
            total += fine.r[j, k]
        step[columns.gap + k], step[columns.r + k] = fine.gap[m - 1, k], total
    for k in range(sums.size):
        step[columns.r_t + k] = sums[k]


@kept
def coarse_steps(
    steps: int, clock: Clock, both: Sides, contacts: FineRecord, record: Record, energies: Energies
) -> None:
    """Make coarse steps, fine ones within, and keep the state after each in the table.

    Args:
        steps: Number of steps.
        clock, both, contacts, record: What they say; h is the coarse step.
        energies: Those of the explicit side, see :func:`fine_steps`.
    """
    sums, m, h, link = both.pairs.sums, contacts.r.shape[1], clock.h, both.link
    for i in range(steps):
        step, fine = record.table[i], FineRecord(contacts.r[i], contacts.gap[i], contacts.before[i])
        for k in range(sums.size):
            sums[k] = 0.0
        _free_problem(h, both, both.coarse[i])  # (61)-(64)
        copy(both.state.multipliers, link.began)
        fine_steps(h / m, both.side, link, both.pairs, both.state, fine, both.amplitudes[i], energies)
        _constrained_problem(h, both)  # (54)
        copy(link.new, link.old)
        if energies.follows:
            _implicit_energies(both.implicit, link.began, both.state.multipliers, both.terms)
            for k in range(both.terms.size):
                step[record.columns.energies + k] = energies.terms[k] + both.terms[k]
        step[0] = step[1] = shared.end(clock, i)
        _record(both, record, step)
        _record_contact(fine, sums, step, record.columns)
