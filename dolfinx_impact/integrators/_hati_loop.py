"""The fine steps of HATI in one compiled loop; nothing is solved and nothing allocated in it.

Fekak et al. (2017), Algorithm 1, 2(b); contact as in Algorithm 2; energies (86)-(90) and (93).
"""

from __future__ import annotations

from typing import NamedTuple

import numba
from numpy.typing import NDArray

from .._numba_kernels import (
    central_sums,
    central_sums_with_load,
    copy,
    drift,
    kick_in_place,
    power_sums,
    rows_force,
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
    """The interface: dofs sorted by block, ends and entries of the blocks of ``H^-1``, scratch."""

    at: NDArray
    ends: NDArray
    blocks: NDArray
    defects: NDArray
    before: NDArray


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
    """Arrays that the loop advances: the state, Lambda, and what contacts did in every fine step."""

    u: NDArray
    v: NDArray
    v_before: NDArray
    f: NDArray
    multipliers: NDArray
    r: NDArray
    gap: NDArray
    before: NDArray


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _multiply(ends: NDArray, blocks: NDArray, x: NDArray, out: NDArray) -> None:
    """``out = B x`` with dense blocks on the diagonal of B."""
    k = 0
    for b in range(ends.size - 1):
        for i in range(ends[b], ends[b + 1]):
            total = 0.0
            for j in range(ends[b], ends[b + 1]):
                total += blocks[k] * x[j]
                k += 1
            out[i] = total


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
    follows: bool, h: float, side: Side, link: Link, pairs: Pairs, state: State, old: NDArray, new: NDArray,
    amplitudes: NDArray, terms: NDArray, powers: NDArray,
):  # fmt: skip
    """Make as many fine steps as ``amplitudes`` has rows.

    Args:
        follows: Whether energies are followed.
        h: Fine step [s].
        side, link, pairs, state: What they say.
        old, new: Free velocities of the implicit side at both ends, (74), sorted like ``link.at`` [m/s].
        amplitudes: Signals of the loads at the end of each step, shape (m, k).
        terms: :data:`~dolfinx_impact.energy.TERMS` of the explicit side, ``interface`` its part of (93) [J].
        powers: Powers of the forces at v_{n+1/2}, as :class:`~.energy.CentralDifferenceBalance` keeps them.
    """
    (mass, inverse_mass, kicks, constant, patterns, start, column, values, rate, has_loads, load,
     damped) = side  # fmt: skip
    at, ends, blocks, defects, last = link
    dofs, weights, offset, diagonal, e, tolerance, touching = pairs
    u, v, v_before, f, multipliers, r, gap, before = state
    _, _, stored, work, external, contact, dissipated, interface = terms
    kinetic = jump = 0.0
    power, external_power, damping_power, contact_power = powers
    steps, signals = amplitudes.shape
    size, points = u.size, dofs.shape[0]
    for i in range(steps):
        drift(u, v, h)
        if signals > 0:
            copy(constant, load)
            for k in range(signals):
                for j in range(size):
                    load[j] += patterns[k, j] * amplitudes[i, k]
        rows_force(start, column, values, load, u, f)
        if rate > 0.0:
            for j in range(size):
                damped[j] = rate * mass[j] * v[j]
                f[j] -= damped[j]
        kick_in_place(v, v_before, f, kicks)
        # -- the interface, (71) and (74)
        part = (i + 1) / steps
        for k in range(at.size):
            last[k] = multipliers[k]
            defects[k] = (1 - part) * old[k] + part * new[k] - 0.5 * (v_before[at[k]] + v[at[k]])
        _multiply(ends, blocks, defects, multipliers)
        for k in range(at.size):
            v[at[k]] += kicks[at[k]] * multipliers[k]
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
            given = 0.0
            for k in range(at.size):
                given += v_before[at[k]] * 0.5 * (last[k] + multipliers[k])
            interface += h * given
    terms[0], terms[1], terms[2], terms[3] = kinetic, -jump, stored, work
    terms[4], terms[5], terms[6], terms[7] = external, contact, dissipated, interface
    powers[0], powers[1], powers[2], powers[3] = power, external_power, damping_power, contact_power
