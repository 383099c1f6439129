"""The compiled loop of :mod:`.central`: the step of :class:`.CentralDifferences` in numba's words.

Di Stasio et al. (2019), Algorithms 1 and 2 for contact and friction at velocity level, (20)-(24) for flat
obstacles at position level; energies as in Fekak et al. (2017), (84)-(90).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
from numba import types

from ..._types import FloatArray, IntArray
from ...algebra.kernels._numba import add_signals, rows_force
from ..central_formulas import constrained_position, constrained_time
from . import _shared as shared
from ._kernels import drift, few_kicks, inlined, kick_in_place, rows_kick

if TYPE_CHECKING:
    from ...algebra.pair_blocks import PairBlocks
    from ...contact.compiled import Surface
    from ...systems.compiled import Force

#: Up to so many dofs a loop in place is faster than a call of a vectorised one.
_FEW = 8


class LoopState(NamedTuple):
    """Arrays of the integrator, which the loop advances."""

    u: FloatArray
    v: FloatArray
    v_before: FloatArray
    f: FloatArray


class LoopModel(NamedTuple):
    """The system; the last three are scratch for loads, internal forces and damping."""

    mass: FloatArray
    inverse_mass: FloatArray
    kick: FloatArray
    constant: FloatArray
    stiffness: FloatArray
    pairs: PairBlocks
    block: int
    row_start: IntArray
    row_column: IntArray
    row_values: FloatArray
    patterns: FloatArray
    rate: float
    has_loads: bool
    has_damping: bool
    linear: bool
    calls_external: bool
    calls_internal: bool
    calls_damping: bool
    calls_energy: bool
    load: FloatArray
    part: FloatArray
    damped: FloatArray


class LoopPoints(NamedTuple):
    """The contact: L by dofs and weights, positions and gaps at u = 0, the diagonal of H where flat."""

    dofs: IntArray
    weights: FloatArray
    x: FloatArray
    offset: FloatArray
    diagonal: FloatArray
    at_position: bool
    restitution: float
    tolerance: float
    friction: float
    touching: bool
    flat: bool


class CurvedPoint(NamedTuple):
    """Scratch for a point on a curved obstacle: where it is, and the normal there."""

    x: FloatArray
    normal: FloatArray


class Recorded(NamedTuple):
    """Rows that are recorded."""

    dofs: IntArray
    weights: FloatArray


class LoopColumns(NamedTuple):
    """First columns of what goes into the table, one row a step; ``directions`` is 0 without friction."""

    u: int
    v_t: int
    v: int
    gap: int
    r: int
    r_t: int
    energies: int
    directions: int


@numba.njit(cache=True, error_model="numpy")
def nothing(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """A force that is not there."""
    out[:] = 0.0


@numba.njit(cache=True, error_model="numpy")
def no_energy(u: FloatArray) -> float:
    """The energy of no force."""
    return 0.0


@numba.njit(cache=True, error_model="numpy")
def no_surface(x: FloatArray, normal: FloatArray) -> float:
    """The gap of no obstacle."""
    return 0.0


def compiled_for(*arrays: Any, loop: Callable[..., None] | None = None) -> Callable[..., None]:
    """The loop, by default that of this module, for arguments like these; functions go in as pointers."""
    return _compiled(_advance if loop is None else loop, *(numba.typeof(each) for each in arrays))


@functools.cache
def _compiled(steps: Callable[..., None], *arrays: Any) -> Callable[..., None]:
    """The loop for arguments of these types."""
    vector = types.float64[::1]
    force = types.FunctionType(types.void(types.float64, vector, vector, vector))
    energy = types.FunctionType(types.float64(vector))
    surface = types.FunctionType(types.float64(vector, vector))
    data = [types.int64, types.int64, types.float64, types.float64, types.boolean, *arrays]
    signature = types.void(*data, force, force, force, energy, surface)
    # Nothing is allocated in it, and references need no counting: that would cost as much as a step.
    loop: Callable[..., None] = numba.njit(
        signature, cache=True, error_model="numpy", fastmath=False, _nrt=False
    )(steps)
    return loop


@inlined
def _forces(
    t: float,
    s: LoopState,
    m: LoopModel,
    amplitudes: FloatArray,
    external: Force,
    internal: Force,
    damping: Force,
) -> None:
    """Loads, internal forces that are not stored as pairs or rows, and damping, with the velocity before."""
    u, v, size = s.u, s.v, s.u.size
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
def _free_step(s: LoopState, m: LoopModel) -> None:
    """``v*`` of (47), the velocity without contact; sums as PointMasses.force and Body.force have them."""
    u, f, size, stored_rows = s.u, s.f, s.u.size, m.row_start.size > 0
    if stored_rows and not m.has_damping:
        rows_kick(m.row_start, m.row_column, m.row_values, m.load, u, f, s.v, s.v_before, m.kick)
        return
    if stored_rows:
        rows_force(m.row_start, m.row_column, m.row_values, m.load, u, f)
    elif m.block > 0:
        shared.pairs_force(m.block, m.pairs, m.load, u, f)
    else:
        for j in range(size):
            f[j] = m.load[j] - m.part[j]
    if m.has_damping:
        for j in range(size):
            f[j] -= m.damped[j]
    if size > _FEW:
        kick_in_place(s.v, s.v_before, f, m.kick)
    else:
        few_kicks(s.v, s.v_before, f, m.kick)


@inlined
def _gap(c: LoopPoints, k: int, s: LoopState, place: CurvedPoint, surface: Surface) -> float:
    """Gap of a point at ``u``; where the obstacle is curved its normal goes into L."""
    gap: float
    if c.flat:
        gap = c.offset[k] + shared.row(c.dofs, c.weights, k, s.u)
        return gap
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
def _impulses(
    h: float,
    c: LoopPoints,
    s: LoopState,
    inverse_mass: FloatArray,
    place: CurvedPoint,
    surface: Surface,
    step: FloatArray,
    columns: LoopColumns,
) -> None:
    """Gaps and normal impulses of all points, from the velocity without contact, into the step's row."""
    for k in range(c.dofs.shape[0]):
        gap, r = _gap(c, k, s, place, surface), 0.0
        if c.at_position:
            b = _constrained_gap(c, k, h, s) / constrained_time(h, c.restitution)
            r = shared.impulse(b, _delassus(c, k, inverse_mass))
        elif shared.is_closed(gap, c.tolerance, c.touching):
            r = shared.impulse(shared.approach(c, k, s), _delassus(c, k, inverse_mass))
        step[columns.gap + k], step[columns.r + k] = gap, r


@inlined
def _act(
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
def _stored_energy(u: FloatArray, m: LoopModel, energy: Callable[[FloatArray], float], known: float) -> float:
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
def _push(h: float, v: FloatArray, damped: FloatArray) -> float:
    """Work of damping forces with the velocities that they were computed with, where they push [J]."""
    work = 0.0
    for j in range(v.size):
        work -= h * v[j] * damped[j]
    return work if work > 0.0 else 0.0  # also where it is not a number


@inlined
def _record(recorded: Recorded, s: LoopState, step: FloatArray, columns: LoopColumns) -> None:
    """Displacements, mean velocities (44b) and half-step velocities of the recorded rows."""
    dofs, weights = recorded
    for k in range(dofs.shape[0]):
        step[columns.u + k] = shared.row(dofs, weights, k, s.u)
        step[columns.v_t + k] = shared.mean_row(dofs, weights, k, s.v_before, s.v)
        step[columns.v + k] = shared.row(dofs, weights, k, s.v)


def _advance(  # type: ignore[no-untyped-def]
    steps,
    n,
    t0,
    h,
    follows,
    s,
    m,
    c,
    place,
    recorded,
    table,
    columns,
    terms,
    powers,
    amplitudes,
    external,
    internal,
    damping,
    energy,
    surface,
):
    """Fekak et al. (2017), Algorithm 2, as :meth:`.CentralDifferences.advance` has it.

    Args:
        steps, n, t0, h: Number of steps, steps made before, time of the start, time step [s].
        follows: Whether energies are followed.
        s, m, c, place, recorded, columns: What their classes say.
        table: Where the states go, one row a step.
        terms, powers: Energies, as :func:`._shared.energy_terms` changes them, and after the powers the work
            of damping where it pushes, ``EnergyBalance.pushed`` [J].
        amplitudes: Signals of the loads at the end of each step, shape (steps, k).
        external, internal, damping, energy, surface: Compiled functions, not called where there are none.
    """
    few, points, directions = s.u.size <= _FEW, c.dofs.shape[0], columns.directions
    for i in range(steps):
        t, step = t0 + (n + i + 1) * h, table[i]
        drift(s.u, s.v, h)  # (44a)
        _forces(t, s, m, amplitudes[i], external, internal, damping)
        _free_step(s, m)  # (47)
        _impulses(h, c, s, m.inverse_mass, place, surface, step, columns)  # (48)
        _act(c, m.inverse_mass, step, columns, s.v)
        if follows:
            r, r_t = step[columns.r : columns.r + points], step[columns.r_t :]
            before = shared.contact_work(c, r, r_t, directions, s.v_before)
            after = shared.contact_work(c, r, r_t, directions, s.v)
            stored = shared.energy_terms(h, s, m, m.has_damping, few, before, after, terms, powers)  # (84)
            terms[2] = stored if m.linear else _stored_energy(s.u, m, energy, terms[2])
            if m.calls_damping:
                powers[4] += _push(h, s.v_before, m.damped)
            for k in range(terms.size):
                step[columns.energies + k] = terms[k]
        step[0], step[1] = t, t + 0.5 * h
        _record(recorded, s, step, columns)
