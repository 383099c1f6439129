"""The step of :class:`.ThetaMethod` in a compiled loop, for linear systems.

Di Stasio et al. (2019), (33), (8); sums in the order of :class:`.FactorisedThetaStep`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._types import FloatArray
from ...algebra.kernels._numba import solve_symmetric
from . import _one_step_loop as one_step
from . import _shared as shared
from ._kernels import inlined, kept
from ._one_step_loop import ContactProblem

if TYPE_CHECKING:
    from ._arrays import Energies, LoopPoints
    from ._one_step_loop import OneStepModel


class ThetaState(NamedTuple):
    """Constants of the scheme, its arrays, which the loop advances, and the contact problem."""

    theta: float
    forecast: float
    u: FloatArray
    v: FloatArray
    u_before: FloatArray
    v_before: FloatArray
    problem: ContactProblem


@kept
def _predict(theta: float, h: float, s: ThetaState, x: FloatArray) -> None:
    """``x = u_n + theta h v_n``; keeps the state before the step."""
    for j in range(x.size):
        s.u_before[j], s.v_before[j] = s.u[j], s.v[j]
        x[j] = s.v[j] * (theta * h) + s.u[j]


@inlined
def _free_step(theta: float, h: float, s: ThetaState, m: OneStepModel) -> None:
    """The velocity without contact, (33)."""
    _predict(theta, h, s, m.x)
    shared.stored_force(m.stiffness, m.load, m.x, m.f)
    for j in range(m.f.size):
        m.f[j] *= h
    solve_symmetric(m.factors, m.f, m.dv)
    for j in range(m.dv.size):
        s.v[j] += m.dv[j]


@kept
def _move(theta: float, h: float, s: ThetaState) -> None:
    """``u_{n+1}`` from the velocities at both ends."""
    for j in range(s.u.size):
        s.u[j] = (s.u[j] + s.v_before[j] * ((1 - theta) * h)) + s.v[j] * (theta * h)


@inlined
def _end_gap(c: LoopPoints, k: int, theta: float, h: float, s: ThetaState) -> float:
    """Gap at ``u_{n+1}`` without contact."""
    total = 0.0
    for j in range(c.dofs.shape[1]):
        i = c.dofs[k, j]
        moved = h * ((1 - theta) * s.v_before[i] + theta * s.v[i])
        total += c.weights[k, j] * (s.u_before[i] + moved)
    gap: float = c.offset[k] + total
    return gap


@inlined
def _collect(h: float, c: LoopPoints, s: ThetaState) -> int:
    """Closed points and their free velocities; their number, -1 where they are too many for the loop."""
    count, theta, p = 0, s.theta, s.problem
    for k in range(c.dofs.shape[0]):
        if not c.at_position:
            gap = one_step.forecast_gap(c, k, s.forecast * h, s)
            if not shared.is_closed(gap, c.tolerance, c.touching):
                continue
        if count == p.which.size:
            return -1
        if c.at_position:
            p.c[count] = _end_gap(c, k, theta, h, s) / (theta * h)
        else:
            p.c[count] = shared.approach(c, k, s)
        p.which[count] = k
        count += 1
    return count


@inlined
def _touch(h: float, c: LoopPoints, s: ThetaState, m: OneStepModel) -> int:
    """Contact of the step; the number of closed points, -1 where the loop does not find their impulses."""
    count: int = _collect(h, c, s)
    if count > 0:
        if not one_step.solve_problem(count, s.problem):
            return -1
        if one_step.right_side(c, count, s.problem, m.f):  # v += A^-1 L^T r
            if m.direct == 1.0:
                solve_symmetric(m.mass_factors, m.f, m.dv)
            else:
                solve_symmetric(m.factors, m.f, m.dv)
            for j in range(m.dv.size):
                s.v[j] += m.dv[j]
    return count


@inlined
def _follow(c: LoopPoints, s: ThetaState, m: OneStepModel, r: FloatArray, energies: Energies) -> None:
    """Terms of :class:`.ThetaBalance` after a step; the internal forces become those before the next."""
    terms, theta = energies.terms, s.theta
    one_step.internal_forces(m, s.u, m.after)
    internal, external, change, stored = one_step.works(s.u, s.u_before, m.load, m.before, m.after)
    for j in range(m.after.size):
        m.before[j], m.x[j] = m.after[j], 0.0
    terms[0] = 0.5 * one_step.squares(m.mass, s.v, m.x)
    terms[2] = 0.5 * stored
    terms[3] += internal
    terms[4] += external
    terms[5] += one_step.contact_work(c, s, r, theta)
    if theta != 0.5:
        terms[6] += (theta - 0.5) * (one_step.squares(m.mass, s.v, s.v_before) + change)


def advance(  # type: ignore[no-untyped-def]
    steps, clock, s, m, c, record, energies, functions
):
    """The theta method, as :class:`.FactorisedThetaStep` has it.

    Args:
        steps: Number of steps.
        clock, s, m, c, record, energies: What their classes say; the powers are not used.
        functions: Not used.

    Returns:
        Number of steps made: fewer where the next one has a contact problem that the loop does not solve; the
        state is then that before it.
    """
    h, columns, points = clock.h, record.columns, c.dofs.shape[0]
    if energies.follows:
        one_step.internal_forces(m, s.u, m.before)
    for i in range(steps):
        step = record.table[i]
        _free_step(s.theta, h, s, m)
        count = _touch(h, c, s, m)
        if count < 0:
            for j in range(s.v.size):
                s.v[j] = s.v_before[j]
            return i
        r = step[columns.r : columns.r + points]
        one_step.write_impulses(count, s.problem, r)
        _move(s.theta, h, s)
        if energies.follows:
            _follow(c, s, m, r, energies)
        shared.store(i, clock, record, energies, s.u, s.v, s.v)
        one_step.store_gaps(c, s.u, step, columns)
    return steps
