"""The step of :class:`.NewtonThetaStep` in a compiled loop, where no point of contact is closed.

Di Stasio et al. (2019), (33), midpoint (38), by Newton's method with tangents of differences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._types import FloatArray
from ..one_step.step_equation import MOST, NEGLIGIBLE, PATIENCE, ROUNDING, TOLERANCE
from . import _central_loop as central
from . import _shared as shared
from ._kernels import inlined, kept
from ._one_step_loop import forecast_gap, keep_before

if TYPE_CHECKING:
    from ._arrays import Energies, LoopModel, LoopPoints, LoopState

#: Rounding of forces, as :class:`.StepEquation` has it.
_EPS = 4 * 2.0**-52


class NewtonState(NamedTuple):
    """Constants of the scheme, and its arrays, which the loop advances."""

    theta: float
    forecast: float
    midpoint: bool
    u: FloatArray
    v: FloatArray
    u_before: FloatArray
    v_before: FloatArray


class NewtonModel(NamedTuple):
    """The system, and scratch.

    Attributes:
        system: Masses and forces.
        length: Length of the system [m].
        nothing: No amplitudes of loads, shape (0,).
        point: Where forces are evaluated, and they there.
        first: Forces at the start of a step.
        rest: The residual of the equation of the step [kg m/s].
        x: Right-hand side, then the correction [m/s].
        end: The velocity before a correction [m/s].
        matrix: ``M + a D + b K``, shape (k, k) [kg].
        parts: Internal, external and damping forces at the start, the end, in between, shape (3, 3, k).
    """

    system: LoopModel
    length: float
    nothing: FloatArray
    point: LoopState
    first: FloatArray
    rest: FloatArray
    x: FloatArray
    end: FloatArray
    matrix: FloatArray
    parts: FloatArray


@inlined
def _forces(t: float, m: NewtonModel, functions: Any) -> None:
    """All forces at ``m.point``."""
    central.forces(t, m.point, m.system, m.nothing, functions)
    central.sum_forces(m.point, m.system)


@inlined
def _go_to_force_point(t: float, h: float, s: NewtonState, m: NewtonModel) -> float:
    """Where F_theta is evaluated, into ``m.point``; its time."""
    theta, p = s.theta, m.point
    for j in range(s.u.size):
        end = s.u_before[j] + h * ((1 - theta) * s.v_before[j] + theta * s.v[j])
        if s.midpoint:
            p.u[j] = (1 - theta) * s.u_before[j] + theta * end
            p.v[j] = (1 - theta) * s.v_before[j] + theta * s.v[j]
        else:
            p.u[j], p.v[j] = end, s.v[j]
    return t - (1 - theta) * h if s.midpoint else t


@inlined
def _residual(t: float, h: float, s: NewtonState, m: NewtonModel, functions: Any) -> float:
    """``M (v - v_n) - h F_theta`` into ``m.rest``; its norm by M^-1, squared."""
    theta, system, norm = s.theta, m.system, 0.0
    _forces(_go_to_force_point(t, h, s, m), m, functions)
    for j in range(s.u.size):
        acting = m.point.f[j] if s.midpoint else (1 - theta) * m.first[j] + theta * m.point.f[j]
        m.rest[j] = system.mass[j] * (s.v[j] - s.v_before[j]) - h * acting
        if system.inverse_mass[j] == 0.0:  # held
            m.rest[j] = 0.0
        norm += m.rest[j] * m.rest[j] / system.mass[j]
    return norm


@inlined
def _add_slopes(t: float, x: FloatArray, part: float, m: NewtonModel, functions: Any) -> None:
    """Add ``-part dF/dx`` by central differences to the matrix; ``x`` is u or v of the point."""
    for k in range(x.size):
        here = x[k]
        step = 1e-6 * max(m.length, abs(here))
        for sign in (1.0, -1.0):
            x[k] = here + sign * step
            _forces(t, m, functions)
            for j in range(x.size):
                m.matrix[j, k] -= sign * part * m.point.f[j] / (2 * step)
        x[k] = here


@kept
def _solve(A: FloatArray, b: FloatArray) -> bool:
    """Solve ``A x = b`` by elimination with row pivots, x into b; whether A is regular. Both are changed."""
    n = b.size
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if not abs(A[p, k]) > 0.0:  # NaN too
            return False
        if p != k:
            for j in range(k, n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return True


@inlined
def _correct(t: float, h: float, s: NewtonState, m: NewtonModel, functions: Any) -> bool:
    """Velocity of the step linearised at the present one; whether there is one. Old ones go into ``end``."""
    size, weight, held = s.u.size, h * s.theta, m.system.inverse_mass
    for j in range(size):
        m.end[j], m.x[j] = s.v[j], m.rest[j]
        for k in range(size):
            m.matrix[j, k] = m.system.mass[j] if j == k else 0.0
    if weight > 0.0:
        time = _go_to_force_point(t, h, s, m)
        _add_slopes(time, m.point.u, weight * s.theta * h, m, functions)
        _add_slopes(time, m.point.v, weight, m, functions)
    for j in range(size):
        if held[j] == 0.0:
            for k in range(size):
                m.matrix[j, k] = m.matrix[k, j] = 0.0
            m.matrix[j, j] = 1.0
    if not _solve(m.matrix, m.x):
        return False
    for j in range(size):
        s.v[j] -= m.x[j]
    return True


@inlined
def _scales(h: float, s: NewtonState, m: NewtonModel) -> tuple[float, float]:
    """Scale of velocities, and their change by the rounding of forces [m/s]."""
    size, largest = 0.0, 0.0
    for j in range(s.u.size):
        kick = h * m.system.inverse_mass[j] * abs(m.point.f[j])
        speed = abs(s.v[j]) + abs(s.v_before[j]) + kick
        size = max(size, speed) if math.isfinite(speed) else math.inf
        largest = max(largest, abs(s.u_before[j]))
    return size, _EPS * (largest + m.length) / max(s.theta * s.theta * h, 0.25 * h)


@inlined
def _solve_step(t: float, h: float, s: NewtonState, m: NewtonModel, functions: Any) -> bool:
    """Find the velocity; False where a correction must be shortened, or Newton's method does not converge."""
    if not s.midpoint:
        for j in range(s.u.size):
            m.point.u[j], m.point.v[j] = s.u_before[j], s.v_before[j]
        _forces(t - h, m, functions)
        for j in range(s.u.size):
            m.first[j] = m.point.f[j]
    norm = _residual(t, h, s, m, functions)
    for iteration in range(1, MOST + 1):
        size, rounding = _scales(h, s, m)
        if not (math.isfinite(size) and _correct(t, h, s, m, functions)):
            return False
        change = 0.0
        for j in range(s.v.size):
            change = max(change, abs(s.v[j] - m.end[j]))
        now = _residual(t, h, s, m, functions)
        gains = now <= (1 - 1e-4) ** 2 * norm or change <= NEGLIGIBLE * size + 10 * rounding
        if not (gains and math.isfinite(now)):
            return False
        norm = now
        size, rounding = _scales(h, s, m)
        if change <= ROUNDING * size:
            return True
        if iteration > PATIENCE and change <= max(TOLERANCE * size, rounding):
            return True
    return False


@inlined
def _touches(h: float, c: LoopPoints, s: NewtonState, m: NewtonModel, functions: Any) -> bool:
    """Whether a point is closed at the forecast, where the step has an impulse, or has no gap there."""
    part = s.forecast * h
    for k in range(c.dofs.shape[0]):
        if c.flat:
            gap = forecast_gap(c, k, part, s)
        else:
            for j in range(s.u.size):
                m.point.u[j] = s.v_before[j] * part + s.u_before[j]
            gap = central.gap_of(c, k, m.point, functions[4])
        if shared.is_closed(gap, c.tolerance, c.touching) or math.isnan(gap):
            return True
    return False


@inlined
def _parts_at(t: float, m: NewtonModel, functions: Any, out: FloatArray) -> None:
    """Internal, external and damping forces at ``m.point``."""
    _forces(t, m, functions)
    system = m.system
    for j in range(m.x.size):
        damped = system.damped[j] if system.has_damping else 0.0
        out[0, j] = system.load[j] - m.point.f[j] - damped
        out[1, j], out[2, j] = system.load[j], damped


@inlined
def _parts_of(
    t: float, u: FloatArray, v: FloatArray, m: NewtonModel, functions: Any, out: FloatArray
) -> None:
    """Those at a state."""
    for j in range(u.size):
        m.point.u[j], m.point.v[j] = u[j], v[j]
    _parts_at(t, m, functions, out)


@inlined
def _follow(t: float, h: float, s: NewtonState, m: NewtonModel, energies: Energies, functions: Any) -> float:
    """Terms of :class:`.ThetaBalance` after a step; the parts at the end become those at the next start.

    Returns:
        The work of damping where it pushes, ``EnergyBalance.pushed`` [J].
    """
    theta, mass, terms = s.theta, m.system.mass, energies.terms
    before, after, mean = m.parts[0], m.parts[1], m.parts[2]
    if s.midpoint:
        _parts_at(_go_to_force_point(t, h, s, m), m, functions, mean)
    _parts_of(t, s.u, s.v, m, functions, after)
    terms[0] = pushed = 0.0
    terms[2] = central.stored_energy(s.u, m.system, functions[3], terms[2])
    for j in range(s.u.size):
        du, dv = s.u[j] - s.u_before[j], s.v[j] - s.v_before[j]
        change = after[0, j] - before[0, j]
        if s.midpoint:
            terms[3] += du * (mean[0, j] - (theta - 0.5) * change)
            terms[4] += du * mean[1, j]
            terms[6] += du * mean[2, j]
        else:
            terms[3] += du * 0.5 * (before[0, j] + after[0, j])
            terms[4] += du * ((1 - theta) * before[1, j] + theta * after[1, j])
            terms[6] += du * ((1 - theta) * before[2, j] + theta * after[2, j])
        if theta != 0.5:
            terms[6] += (theta - 0.5) * (mass[j] * dv * dv + du * change)
        terms[0] += 0.5 * mass[j] * s.v[j] * s.v[j]
        pushed -= h * s.v[j] * after[2, j]
        for k in range(3):
            before[k, j] = after[k, j]
    return pushed if pushed > 0.0 else 0.0  # also where it is not a number


def advance(  # type: ignore[no-untyped-def]
    steps, clock, s, m, c, record, energies, functions
):
    """The theta method, as :class:`.NewtonThetaStep` has it.

    Args:
        steps: Number of steps.
        clock, s, m, c, record: What their classes say.
        energies: Likewise; the powers are the works of damping in the steps, where it pushes [J].
        functions: External, internal and damping forces, energy and surface, compiled.

    Returns:
        Number of steps made: fewer where in the next one a point is closed, a correction is to be shortened,
        or Newton's method does not converge; the state is then that before it.
    """
    h, columns = clock.h, record.columns
    if energies.follows:
        _parts_of(shared.end(clock, -1), s.u, s.v, m, functions, m.parts[0])
    for i in range(steps):
        t, step = shared.end(clock, i), record.table[i]
        keep_before(s)
        if _touches(h, c, s, m, functions):
            return i
        if not _solve_step(t, h, s, m, functions):
            for j in range(s.v.size):
                s.v[j] = s.v_before[j]
            return i
        for j in range(s.u.size):
            s.u[j] += (1 - s.theta) * h * s.v_before[j] + s.theta * h * s.v[j]
        if energies.follows:
            energies.powers[i] = _follow(t, h, s, m, energies, functions)
        for j in range(s.u.size):
            m.point.u[j] = s.u[j]
        for k in range(c.dofs.shape[0]):
            step[columns.gap + k] = central.gap_of(c, k, m.point, functions[4])
            step[columns.r + k] = 0.0
            for j in range(columns.directions):
                step[columns.r_t + k * columns.directions + j] = 0.0
        shared.store(i, clock, record, energies, s.u, s.v, s.v)
    return steps
