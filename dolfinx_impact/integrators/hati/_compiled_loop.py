"""The fine steps of HATI in one compiled loop; nothing is solved and nothing allocated in it.

Fekak et al. (2017), Algorithm 1, 2(b); contact as in Algorithm 2; energies (86)-(90) and (93).
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ...algebra.kernels._numba import (
    add_signals,
    central_sums,
    central_sums_with_load,
    copy,
    drift,
    kick_in_place,
    pair_product,
    power_sums,
    rows_force,
    rows_kick,
    solve_symmetric,
    trapezoidal_sums,
)

_pairs_1, _pairs_2, _pairs_3 = (pair_product(size) for size in (1, 2, 3))


class Stiffness(NamedTuple):
    """Blocks of -K right of the diagonal, summed over pairs of nodes, or with ``block`` 0 the rows of K."""

    block: int
    start: NDArray
    column: NDArray
    values: NDArray


class Side(NamedTuple):
    """The explicit subdomain, its own dofs only; the last two are scratch for loads and damping.

    Dofs keep their order, here and on the other side, so that sums do not depend on who makes the steps.
    """

    mass: NDArray
    inverse_mass: NDArray
    kick: NDArray
    constant: NDArray
    patterns: NDArray
    stiffness: Stiffness
    rate: float
    has_loads: bool
    load: NDArray
    damped: NDArray


class Link(NamedTuple):
    """``H^-1`` in sparse rows, the dofs of the pairs on the side, scratch for its argument."""

    start: NDArray
    column: NDArray
    values: NDArray
    at: NDArray
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
    """The implicit subdomain: ``factors`` are those of the solver, ``at`` the dofs of the pairs.

    Then the state u, v, a, the forces at the last coarse time, and scratch.
    """

    mass: NDArray
    constant: NDArray
    patterns: NDArray
    stiffness: Stiffness
    factors: tuple[NDArray, ...]
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
def _force(stiffness: Stiffness, load: NDArray, u: NDArray, f: NDArray) -> None:
    """``f = load - K u``."""
    block, start, column, values = stiffness
    if block == 0:
        rows_force(start, column, values, load, u, f)
        return
    copy(load, f)
    if block == 1:
        _pairs_1(start, column, values, u, f)
    elif block == 2:
        _pairs_2(start, column, values, u, f)
    else:
        _pairs_3(start, column, values, u, f)


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
        terms: :data:`.energy.TERMS` of the explicit side, ``interface`` its part of (93) [J].
        powers: Powers of the forces at v_{n+1/2}, kept like those of
            :class:`.CentralDifferenceBalance`.
    """
    (mass, inverse_mass, kicks, constant, patterns, stiffness, rate, has_loads, load, damped) = side
    block, start, column, values = stiffness
    glue_start, glue_column, glue, at, defects = link
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
        if block == 0 and rate == 0.0:
            rows_kick(start, column, values, load, u, f, v, v_before, kicks)
        else:
            _force(stiffness, load, u, f)
            if rate > 0.0:
                for j in range(size):
                    damped[j] = rate * mass[j] * v[j]
                    f[j] -= damped[j]
            kick_in_place(v, v_before, f, kicks)
        # -- the interface, (71) and (74)
        part = (i + 1) / steps
        for k in range(linked):
            defects[k] = (1 - part) * old[k] + part * new[k] - 0.5 * (v_before[at[k]] + v[at[k]])
        given = 0.0
        for k in range(linked):
            multiplier = 0.0
            for j in range(glue_start[k], glue_start[k + 1]):
                multiplier += glue[j] * defects[glue_column[j]]
            given += v_before[at[k]] * (0.5 * (multipliers[k] + multiplier))
            multipliers[k] = multiplier
            v[at[k]] += kicks[at[k]] * multiplier
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
    (mass, constant, patterns, stiffness, LDL, at, rate, u, v, a, internal, load, damped, b, u_before,
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
        _force(stiffness, load, u, b)
        if rate > 0.0:
            for k in range(size):
                b[k] -= rate * mass[k] * v[k]
        solve_symmetric(*LDL, b, a)
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
        solve_symmetric(*LDL, b, a)
        for k in range(size):
            u[k] += beta * h * h * a[k]
            v[k] += gamma * h * a[k]
        if follows:
            _force(stiffness, load, u, b)
            for k in range(size):
                damped[k] = rate * mass[k] * v[k]
                internal[k] = load[k] - (b[k] - damped[k]) - damped[k]
            before_it, after_it = (internal_before, load_before, damped_before), (internal, load, damped)
            sums = trapezoidal_sums(mass, v, u, u_before, before_it, after_it)
            terms[0], terms[2], work, external, dissipated = sums
            terms[3] += work
            terms[4] += external
            terms[6] += dissipated
            taken = 0.0
            for k in range(linked):
                taken += (u[at[k]] - u_before[at[k]]) * (0.5 * (began[k] + multipliers[k]))
            terms[7] -= taken
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
