"""The compiled loop of :mod:`.block`: the step of :class:`.CentralDifferences` in numba's words.

Di Stasio et al. (2019), Algorithms 1 and 2 for contact and friction at velocity level, (20)-(24) for flat
obstacles at position level; energies as in Fekak et al. (2017), (84)-(90).
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, NamedTuple

import numba
import numpy as np
from numba import types
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
)

_pairs_1, _pairs_2, _pairs_3 = (pair_product(size) for size in (1, 2, 3))
#: Up to so many dofs a loop in place is faster than a call of a vectorised one.
_FEW = 8
_jit = numba.njit(cache=True, error_model="numpy", inline="always")


class State(NamedTuple):
    """Arrays of the integrator, which the loop advances."""

    u: NDArray
    v: NDArray
    v_before: NDArray
    f: NDArray


class Model(NamedTuple):
    """The system; the last three are scratch for loads, internal forces and damping."""

    mass: NDArray
    inverse_mass: NDArray
    kick: NDArray
    constant: NDArray
    stiffness: NDArray
    start: NDArray
    column: NDArray
    blocks: NDArray
    block: int
    row_start: NDArray
    row_column: NDArray
    row_values: NDArray
    patterns: NDArray
    rate: float
    has_loads: bool
    has_damping: bool
    linear: bool
    calls_external: bool
    calls_internal: bool
    calls_damping: bool
    calls_energy: bool
    load: NDArray
    part: NDArray
    damped: NDArray


class Points(NamedTuple):
    """The contact: L by dofs and weights, positions and gaps at u = 0, the diagonal of H where flat."""

    dofs: NDArray
    weights: NDArray
    x: NDArray
    offset: NDArray
    diagonal: NDArray
    at_position: bool
    restitution: float
    tolerance: float
    friction: float
    touching: bool
    flat: bool


class Recorded(NamedTuple):
    """Rows that are recorded."""

    dofs: NDArray
    weights: NDArray


class Columns(NamedTuple):
    """First columns of what goes into the table, one row a step; ``directions`` is 0 without friction."""

    u: int
    v_t: int
    v: int
    gap: int
    r: int
    r_t: int
    energies: int
    directions: int


@_jit
def nothing(t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
    """A force that is not there."""
    out[:] = 0.0


@_jit
def no_energy(u: NDArray) -> float:
    """The energy of no force."""
    return 0.0


@_jit
def no_surface(x: NDArray, normal: NDArray) -> float:
    """The gap of no obstacle."""
    return 0.0


def compiled_for(*arrays: Any) -> Callable[..., None]:
    """The loop for arguments like these; functions are called through pointers."""
    return _compiled(*(numba.typeof(each) for each in arrays))


@functools.cache
def _compiled(*arrays: Any) -> Callable[..., None]:
    vector = types.float64[::1]
    force = types.FunctionType(types.void(types.float64, vector, vector, vector))
    energy = types.FunctionType(types.float64(vector))
    surface = types.FunctionType(types.float64(vector, vector))
    data = [types.int64, types.int64, types.float64, types.float64, types.boolean, *arrays]
    signature = types.void(*data, force, force, force, energy, surface)
    return numba.njit(signature, cache=True, error_model="numpy")(_advance)


@_jit
def _row(dofs: NDArray, weights: NDArray, k: int, x: NDArray) -> float:
    total = 0.0
    for j in range(dofs.shape[1]):
        total += weights[k, j] * x[dofs[k, j]]
    return total


@_jit
def _curved_gap(
    dofs: NDArray, weights: NDArray, k: int, x0: NDArray, u: NDArray, x: NDArray, normal: NDArray,
    surface: Callable,
) -> float:  # fmt: skip
    """Gap of a point at ``u``; its normal goes into L."""
    for j in range(x.size):
        x[j] = x0[k, j] + u[dofs[k, j]]
    gap = surface(x, normal)
    for j in range(x.size):
        weights[k, j] = normal[j]
    return gap


@_jit
def _free_gap(
    dofs: NDArray, weights: NDArray, k: int, h: float, e: float, u: NDArray, v: NDArray, v_before: NDArray
) -> float:
    """``L c`` at the position ``c = (u* + e u_{n-1}) / (1 + e)`` of (19) without contact."""
    free = 0.0
    for j in range(dofs.shape[1]):
        i = dofs[k, j]
        free += weights[k, j] * ((u[i] + h * v[i] + e * (u[i] - h * v_before[i])) / (1.0 + e))
    return free


@_jit
def _law(dofs: NDArray, weights: NDArray, k: int, e: float, v: NDArray, v_before: NDArray) -> float:
    """``L (v* + e v_before)`` of Newton's law, (8)."""
    b = _row(dofs, weights, k, v)
    return b + e * _row(dofs, weights, k, v_before) if e > 0.0 else b


@_jit
def _inertia(dofs: NDArray, weights: NDArray, k: int, inverse_mass: NDArray) -> float:
    """Diagonal entry of H."""
    H = 0.0
    for j in range(dofs.shape[1]):
        H += weights[k, j] * weights[k, j] * inverse_mass[dofs[k, j]]
    return H


@_jit
def _rub(
    dofs: NDArray, weights: NDArray, k: int, limit: float, v: NDArray, inverse_mass: NDArray, i: int,
    table: NDArray, at: int,
) -> None:  # fmt: skip
    """Coulomb's law of one point, Algorithm 2: stop the slip as far as ``|r_t| <= limit`` allows.

    r_t goes into row i of the table from column ``at`` on.
    """
    size, normal = 0.0, _row(dofs, weights, k, v)
    inverse = inverse_mass[dofs[k, 0]]
    for j in range(dofs.shape[1]):
        table[i, at + j] = -(v[dofs[k, j]] - normal * weights[k, j]) / inverse
        size += table[i, at + j] * table[i, at + j]
    size = math.sqrt(size)
    for j in range(dofs.shape[1]):
        if size > limit:
            table[i, at + j] *= limit / size
        v[dofs[k, j]] += inverse * table[i, at + j]


@_jit
def _contact_work(
    dofs: NDArray, weights: NDArray, i: int, table: NDArray, r: int, r_t: int, directions: int, v: NDArray
) -> float:
    """``r.L v + r_t.v`` of step i; r and r_t are columns of the table."""
    work = 0.0
    for k in range(dofs.shape[0]):
        if table[i, r + k] != 0.0:
            work += table[i, r + k] * _row(dofs, weights, k, v)
            for j in range(directions):
                work += table[i, r_t + k * directions + j] * v[dofs[k, j]]
    return work


def _advance(  # type: ignore[no-untyped-def]
    steps, n, t0, h, follows, s, m, c, recorded, table, columns, terms, powers, amplitudes,
    external, internal, damping, energy, surface,
):  # fmt: skip
    # Fields of the tuples are read once: each reading counts references, which costs as much as a step.
    u, v, v_before, f = s
    (mass, inverse_mass, kicks, constant, K, start, column, blocks, block, row_start, row_column,
     row_values, patterns, rate, has_loads, has_damping, linear, calls_external, calls_internal,
     calls_damping, calls_energy, load, part, damped) = m  # fmt: skip
    (dofs, weights, x0, offset, diagonal, at_position, e, tolerance, friction, touching, flat) = c
    picked, factors = recorded
    at_u, at_v_t, at_v, at_gap, at_r, at_r_t, at_energies, directions = columns
    size, points, width, rows = u.size, dofs.shape[0], dofs.shape[1], picked.shape[0]
    x, normal = np.zeros(width), np.zeros(width)
    _, _, stored, work, external_work, contact_work, dissipated, _ = terms
    power, external_power, damping_power, contact_power = powers
    dense, sparse, stored_rows = K.size > 0, block > 0, row_start.size > 0
    for i in range(steps):
        t = t0 + (n + i + 1) * h
        drift(u, v, h)
        # -- forces, summed as PointMasses.force and Body.force do
        if amplitudes.shape[1] > 0:
            add_signals(constant, patterns, amplitudes[i], load)
        if calls_external:
            load[:] = 0.0
            external(t, u, v, load)
            for j in range(size):
                load[j] += constant[j]
        if dense:
            for j in range(size):
                part[j] = 0.0
                for k in range(size):
                    part[j] += K[j, k] * u[k]
        elif calls_internal:
            part[:] = 0.0
            internal(t, u, v, part)
        if calls_damping:
            damped[:] = 0.0
            damping(t, u, v, damped)
        elif rate > 0.0:
            for j in range(size):
                damped[j] = rate * mass[j] * v[j]
        if sparse:
            copy(load, f)
        elif not stored_rows:
            for j in range(size):
                f[j] = load[j] - part[j]
        if block == 1:
            _pairs_1(start, column, blocks, u, f)
        elif block == 2:
            _pairs_2(start, column, blocks, u, f)
        elif block == 3:
            _pairs_3(start, column, blocks, u, f)
        if stored_rows and not has_damping:
            rows_kick(row_start, row_column, row_values, load, u, f, v, v_before, kicks)
        else:
            if stored_rows:
                rows_force(row_start, row_column, row_values, load, u, f)
            if has_damping:
                for j in range(size):
                    f[j] -= damped[j]
            if size > _FEW:
                kick_in_place(v, v_before, f, kicks)
            else:
                for j in range(size):
                    v_before[j] = v[j]
                    v[j] = v_before[j] + kicks[j] * f[j]
        # -- contact, all impulses from the velocity without it
        for k in range(points):
            if flat:
                gap = offset[k] + _row(dofs, weights, k, u)
            else:
                gap = _curved_gap(dofs, weights, k, x0, u, x, normal, surface)
            table[i, at_gap + k], table[i, at_r + k] = gap, 0.0
            if at_position:
                b = (offset[k] + _free_gap(dofs, weights, k, h, e, u, v, v_before)) / (h / (1.0 + e))
            elif gap <= tolerance if touching else gap < -tolerance:
                b = _law(dofs, weights, k, e, v, v_before)
            else:
                continue
            impulse = -b / (diagonal[k] if flat else _inertia(dofs, weights, k, inverse_mass))
            if not impulse <= 0.0:  # also what is not a number
                table[i, at_r + k] = impulse
        for k in range(points):
            at, impulse = at_r_t + k * directions, table[i, at_r + k]
            for j in range(directions):
                table[i, at + j] = 0.0
            if impulse != 0.0:
                for j in range(width):
                    v[dofs[k, j]] += weights[k, j] * impulse * inverse_mass[dofs[k, j]]
                if directions:
                    _rub(dofs, weights, k, friction * impulse, v, inverse_mass, i, table, at)
        # -- energies
        if follows:
            l0 = l1 = l2 = d0 = d1 = d2 = 0.0
            if size > _FEW:
                if has_loads:
                    sums = central_sums_with_load(mass, v_before, v, f, u, load)
                    kinetic, jump, a0, a1, a2, l0, l1, l2 = sums
                else:
                    kinetic, jump, a0, a1, a2 = central_sums(mass, v_before, v, f, u)
                if has_damping:
                    d0, d1, d2 = power_sums(v_before, v, u, damped)
            else:
                kinetic = jump = a0 = a1 = a2 = 0.0
                for j in range(size):
                    v0, v1 = v_before[j], v[j]
                    kinetic += mass[j] * (v0 + v1) ** 2
                    jump += mass[j] * (v1 - v0) ** 2
                    a0 += v0 * f[j]
                    a1 += v1 * f[j]
                    a2 += u[j] * f[j]
                    if has_loads:
                        l0 += v0 * load[j]
                        l1 += v1 * load[j]
                        l2 += u[j] * load[j]
                    if has_damping:
                        d0 += v0 * damped[j]
                        d1 += v1 * damped[j]
                        d2 += u[j] * damped[j]
                kinetic, jump = kinetic / 8, jump / 8
            if linear:
                stored = 0.5 * (l2 - d2 - a2)
            elif calls_energy:
                stored = energy(u)
            elif dense:
                stored = 0.0
                for j in range(size):
                    stored += 0.5 * u[j] * part[j]
            work += 0.5 * h * (power + (l0 - d0 - a0))
            external_work += 0.5 * h * (external_power + l0)
            dissipated += 0.5 * h * (damping_power + d0)
            done = _contact_work(dofs, weights, i, table, at_r, at_r_t, directions, v_before)
            contact_work += 0.5 * (contact_power + done)
            power, external_power, damping_power = l1 - d1 - a1, l1, d1
            contact_power = _contact_work(dofs, weights, i, table, at_r, at_r_t, directions, v)
            e0 = at_energies
            table[i, e0], table[i, e0 + 1], table[i, e0 + 2] = kinetic, -jump, stored
            table[i, e0 + 3], table[i, e0 + 4], table[i, e0 + 5] = work, external_work, contact_work
            table[i, e0 + 6] = dissipated
        # -- what is recorded
        table[i, 0], table[i, 1] = t, t + 0.5 * h
        for k in range(rows):
            table[i, at_u + k] = _row(picked, factors, k, u)
            table[i, at_v + k] = _row(picked, factors, k, v)
            mean = 0.0
            for j in range(picked.shape[1]):
                dof = picked[k, j]
                mean += factors[k, j] * (0.5 * (v_before[dof] + v[dof]))
            table[i, at_v_t + k] = mean
    powers[:] = np.array([power, external_power, damping_power, contact_power])
