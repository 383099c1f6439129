"""The fine steps of HATI in one compiled loop; nothing is solved and nothing allocated in it.

Fekak et al. (2017), Algorithm 1, 2(b); contact as in Algorithm 2; energies (86)-(90) and (93).
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ..._numba_kernels import (
    add_signals,
    central_sums,
    central_sums_with_load,
    drift,
    kick_in_place,
    power_sums,
    rows_force,
    rows_kick,
)


class Side(NamedTuple):
    """The explicit subdomain, its own dofs only; the last two are scratch for loads and damping."""

    mass: NDArray
    inverse_mass: NDArray
    kick: NDArray
    constant: NDArray
    patterns: NDArray
    start: NDArray
    column: NDArray
    values: NDArray
    rate: float
    has_loads: bool
    load: NDArray
    damped: NDArray


class Link(NamedTuple):
    """``H^-1`` in sparse rows, scratch for its argument; the pairs are the first dofs of the side."""

    start: NDArray
    column: NDArray
    values: NDArray
    defects: NDArray


class Pairs(NamedTuple):
    """The contact at velocity level: L by dofs and weights, gaps at u = 0, the diagonal of L M^-1 L^T."""

    dofs: NDArray
    weights: NDArray
    offset: NDArray
    diagonal: NDArray
    restitution: float
    tolerance: float
    touching: bool


class State(NamedTuple):
    """Arrays of the explicit side that the loops advance."""

    u: NDArray
    v: NDArray
    v_before: NDArray
    f: NDArray
    multipliers: NDArray


class Implicit(NamedTuple):
    """The implicit subdomain, its dofs in the order of elimination, ``M~ = L D L^T``.

    ``at`` are the dofs of the pairs, ``free`` is 0 at held dofs; K, L below its diagonal and L^T above it
    in sparse rows; then the state u, v, a, the forces at the last coarse time, and scratch.
    """

    mass: NDArray
    free: NDArray
    constant: NDArray
    patterns: NDArray
    start: NDArray
    column: NDArray
    values: NDArray
    lower_start: NDArray
    lower_column: NDArray
    lower_values: NDArray
    upper_start: NDArray
    upper_column: NDArray
    upper_values: NDArray
    pivots: NDArray
    at: NDArray
    rate: float
    u: NDArray
    v: NDArray
    a: NDArray
    internal: NDArray
    load: NDArray
    damped: NDArray
    b: NDArray
    before: NDArray
    load_before: NDArray
    damped_before: NDArray
    internal_before: NDArray


class Columns(NamedTuple):
    """First columns of what goes into the table, one row a coarse step."""

    u: int
    v_t: int
    v: int
    gap: int
    r: int
    energies: int


@numba.njit(cache=True, error_model="numpy", inline="always")
def _row(dofs: NDArray, weights: NDArray, k: int, x: NDArray) -> float:
    total = 0.0
    for j in range(dofs.shape[1]):
        total += weights[k, j] * x[dofs[k, j]]
    return total


@numba.njit(cache=True, error_model="numpy", inline="always")
def _work(dofs: NDArray, weights: NDArray, r: NDArray, i: int, v: NDArray) -> float:
    """``r.L v`` of fine step i."""
    work = 0.0
    for k in range(dofs.shape[0]):
        if r[i, k] != 0.0:
            work += r[i, k] * _row(dofs, weights, k, v)
    return work


@numba.njit(cache=True, error_model="numpy")
def fine_steps(  # type: ignore[no-untyped-def]
    follows: bool, h: float, side: Side, link: Link, pairs: Pairs, state: State, r: NDArray, gap: NDArray,
    before: NDArray, old: NDArray, new: NDArray, amplitudes: NDArray, terms: NDArray, powers: NDArray,
):  # fmt: skip
    """Make as many fine steps as ``amplitudes`` has rows.

    Args:
        follows: Whether energies are followed.
        h: Fine step [s].
        side, link, pairs, state: What they say.
        r, gap, before: What contacts do: impulses, gaps, normal velocities half a step before, shape (m, p).
        old, new: Free velocities of the implicit side at both ends, (74), shape (pairs,) [m/s].
        amplitudes: Signals of the loads at the end of each step, shape (m, k).
        terms: :data:`~dolfinx_impact.energy.TERMS` of the explicit side, ``interface`` its part of (93) [J].
        powers: Powers of the forces at v_{n+1/2}, kept like those of
            :class:`~dolfinx_impact.energy.CentralDifferenceBalance`.
    """
    (mass, inverse_mass, kicks, constant, patterns, start, column, values, rate, has_loads, load,
     damped) = side  # fmt: skip
    glue_start, glue_column, glue, defects = link
    dofs, weights, offset, diagonal, e, tolerance, touching = pairs
    u, v, v_before, f, multipliers = state
    stored, work, external, contact, dissipated, interface = terms[2:]
    kinetic = jump = 0.0
    power, external_power, damping_power, contact_power = powers
    steps, signals = amplitudes.shape
    size, points, linked = u.size, dofs.shape[0], defects.size
    for i in range(steps):
        drift(u, v, h)
        if signals > 0:
            add_signals(constant, patterns, amplitudes[i], load)
        if rate > 0.0:
            rows_force(start, column, values, load, u, f)
            for j in range(size):
                damped[j] = rate * mass[j] * v[j]
                f[j] -= damped[j]
            kick_in_place(v, v_before, f, kicks)
        else:
            rows_kick(start, column, values, load, u, f, v, v_before, kicks)
        # -- the interface, (71) and (74)
        part = (i + 1) / steps
        for k in range(linked):
            defects[k] = (1 - part) * old[k] + part * new[k] - 0.5 * (v_before[k] + v[k])
        given = 0.0
        for k in range(linked):
            multiplier = 0.0
            for j in range(glue_start[k], glue_start[k + 1]):
                multiplier += glue[j] * defects[glue_column[j]]
            given += v_before[k] * 0.5 * (multipliers[k] + multiplier)
            multipliers[k] = multiplier
            v[k] += kicks[k] * multiplier
        # -- contact, all impulses from the velocity without it
        for k in range(points):
            gap[i, k], r[i, k] = offset[k] + _row(dofs, weights, k, u), 0.0
            before[i, k] = _row(dofs, weights, k, v_before)
            if gap[i, k] <= tolerance if touching else gap[i, k] < -tolerance:
                b = _row(dofs, weights, k, v)
                if e > 0.0:
                    b += e * before[i, k]
                impulse = -b / diagonal[k]
                if not impulse <= 0.0:  # also what is not a number
                    r[i, k] = impulse
        for k in range(points):
            if r[i, k] != 0.0:
                for j in range(dofs.shape[1]):
                    v[dofs[k, j]] += weights[k, j] * r[i, k] * inverse_mass[dofs[k, j]]
        # -- energies
        if follows:
            l0 = l1 = l2 = d0 = d1 = d2 = 0.0
            if has_loads:
                sums = central_sums_with_load(mass, v_before, v, f, u, load)
                kinetic, jump, a0, a1, a2, l0, l1, l2 = sums
            else:
                kinetic, jump, a0, a1, a2 = central_sums(mass, v_before, v, f, u)
            if rate > 0.0:
                d0, d1, d2 = power_sums(v_before, v, u, damped)
            stored = 0.5 * (l2 - d2 - a2)
            work += 0.5 * h * (power + (l0 - d0 - a0))
            external += 0.5 * h * (external_power + l0)
            dissipated += 0.5 * h * (damping_power + d0)
            contact += 0.5 * (contact_power + _work(dofs, weights, r, i, v_before))
            power, external_power, damping_power = l1 - d1 - a1, l1, d1
            contact_power = _work(dofs, weights, r, i, v)
            interface += h * given
    terms[0], terms[1], terms[2], terms[3] = kinetic, -jump, stored, work
    terms[4], terms[5], terms[6], terms[7] = external, contact, dissipated, interface
    powers[0], powers[1], powers[2], powers[3] = power, external_power, damping_power, contact_power


@numba.njit(cache=True, error_model="numpy")
def _solve(  # type: ignore[no-untyped-def]
    lower_start, lower_column, lower_values, upper_start, upper_column, upper_values, pivots, b, x
):
    """``x = (L D L^T)^-1 b``."""
    n = b.size
    for i in range(n):
        y = b[i]
        for k in range(lower_start[i], lower_start[i + 1]):
            y -= lower_values[k] * x[lower_column[k]]
        x[i] = y
    for i in range(n - 1, -1, -1):
        y = x[i] * pivots[i]
        for k in range(upper_start[i], upper_start[i + 1]):
            y -= upper_values[k] * x[upper_column[k]]
        x[i] = y


@numba.njit(cache=True, error_model="numpy")
def coarse_steps(  # type: ignore[no-untyped-def]
    steps, n, t0, h, beta, gamma, follows, side, link, pairs, state, implicit, old, new, fine_amplitudes,
    amplitudes, r, gap, before, fine_terms, powers, terms, picked, factors, table, columns,
):  # fmt: skip
    """Make coarse steps, fine ones within, and keep the state after each in the table.

    Args:
        steps, n, t0: Number of steps, steps made before, time of the start [s].
        h, beta, gamma: Coarse step [s], Newmark's constants.
        follows: Whether energies are followed.
        side, link, pairs, state, implicit: What they say.
        old, new: Free velocity of the last coarse step, and room for the next, shape (pairs,) [m/s].
        fine_amplitudes, amplitudes: Signals at all fine times, shape (steps, m, k), and at the coarse ones.
        r, gap, before: What contacts do in all fine steps, shape (steps, m, p).
        fine_terms, powers, terms: Energies of the explicit side, and those of the implicit one.
        picked, factors: Recorded rows; dofs of the implicit side are counted behind the explicit ones.
        table, columns: Where the states go.
    """
    u_E, v_E, v_before, _, multipliers = state
    (mass, free, constant, patterns, start, column, values, lower_start, lower_column, lower_values,
     upper_start, upper_column, upper_values, pivots, at, rate, u, v, a, internal, load, damped, b, u_before,
     load_before, damped_before, internal_before) = implicit  # fmt: skip
    size, linked, m, points = u.size, old.size, r.shape[1], r.shape[2]
    at_u, at_v_t, at_v, at_gap, at_r, at_energies = columns
    began = np.zeros(linked)
    for i in range(steps):
        # -- the free problem, (61)-(64)
        for k in range(size):
            u_before[k] = u[k]
            u[k] += h * v[k] + (0.5 - beta) * h * h * a[k]
            v[k] += (1 - gamma) * h * a[k]
            load_before[k], internal_before[k], damped_before[k] = load[k], internal[k], damped[k]
        add_signals(constant, patterns, amplitudes[i], load)
        rows_force(start, column, values, load, u, b)
        for k in range(size):
            b[k] = free[k] * (b[k] - rate * mass[k] * v[k])
        _solve(lower_start, lower_column, lower_values, upper_start, upper_column, upper_values, pivots, b, a)
        for k in range(linked):
            new[k] = v[at[k]] + gamma * h * a[at[k]]
            began[k] = multipliers[k]
        fine_steps(
            follows, h / m, side, link, pairs, state, r[i], gap[i], before[i], old, new, fine_amplitudes[i],
            fine_terms, powers,
        )  # fmt: skip
        # -- the constrained problem, (54)
        for k in range(linked):
            b[at[k]] -= multipliers[k]
            old[k] = new[k]
        _solve(lower_start, lower_column, lower_values, upper_start, upper_column, upper_values, pivots, b, a)
        for k in range(size):
            u[k] += beta * h * h * a[k]
            v[k] += gamma * h * a[k]
        if follows:
            _implicit_energies(
                mass, rate, start, column, values, u, v, u_before, load, load_before, internal,
                internal_before, damped, damped_before, terms,
            )  # fmt: skip
            for k in range(linked):
                way = u[at[k]] - u_before[at[k]]
                terms[7] -= way * 0.5 * (began[k] + multipliers[k])
            for k in range(8):
                table[i, at_energies + k] = fine_terms[k] + terms[k]
        # -- what is recorded
        table[i, 0] = table[i, 1] = t0 + (n + i + 1) * h
        for k in range(picked.shape[0]):
            place = mean = 0.0
            for j in range(picked.shape[1]):
                dof = picked[k, j]
                if dof < u_E.size:
                    place += factors[k, j] * u_E[dof]
                    mean += factors[k, j] * (0.5 * (v_before[dof] + v_E[dof]))
                else:
                    place += factors[k, j] * u[dof - u_E.size]
                    mean += factors[k, j] * v[dof - u_E.size]
            table[i, at_u + k], table[i, at_v_t + k], table[i, at_v + k] = place, mean, mean
        for k in range(points):
            total = 0.0
            for j in range(m):
                total += r[i, j, k]
            table[i, at_gap + k], table[i, at_r + k] = gap[i, m - 1, k], total


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _implicit_energies(  # type: ignore[no-untyped-def]
    mass, rate, start, column, values, u, v, u_before, load, load_before, internal, internal_before, damped,
    damped_before, terms,
):  # fmt: skip
    """Energies of the implicit side at the end of a coarse step, and the works in it; its forces there."""
    for i in range(start.size - 1):
        force = 0.0
        for k in range(start[i], start[i + 1]):
            force += values[k] * u[column[k]]
        internal[i] = force
    kinetic = stored = work = external = dissipated = 0.0
    for k in range(u.size):
        damped[k] = rate * mass[k] * v[k]
        way = u[k] - u_before[k]
        kinetic += mass[k] * v[k] * v[k]
        stored += u[k] * internal[k]
        work += way * (internal_before[k] + internal[k])
        external += way * (load_before[k] + load[k])
        dissipated += way * (damped_before[k] + damped[k])
    terms[0], terms[2] = kinetic / 2, stored / 2
    terms[3] += work / 2
    terms[4] += external / 2
    terms[6] += dissipated / 2
