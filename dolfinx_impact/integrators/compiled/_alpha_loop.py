"""The step of :class:`.GeneralizedAlpha` in a compiled loop, for linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._types import FloatArray
from ...algebra.kernels._numba import solve_symmetric
from . import _one_step_loop as one_step
from . import _shared as shared
from ._kernels import inlined, reordered
from ._one_step_loop import ContactProblem

if TYPE_CHECKING:
    from ._arrays import Energies, LoopPoints
    from ._one_step_loop import OneStepModel


class AlphaConstants(NamedTuple):
    """Constants of :class:`.GeneralizedAlpha`: theta = 1 - af, and factors of its formulas for a step h.

    ``acting`` is ``h gamma / (1 - am)``, ``remembers`` the factor of M a in the smooth impulse, ``moves`` is
    ``h beta / gamma``, ``predicts`` the factor of a in the predicted position.
    """

    theta: float
    forecast: float
    gamma: float
    acting: float
    remembers: float
    moves: float
    predicts: float


class AlphaState(NamedTuple):
    """Constants, the arrays of the integrator, which the loop advances, and the contact problem."""

    constants: AlphaConstants
    u: FloatArray
    v: FloatArray
    u_before: FloatArray
    v_before: FloatArray
    a: FloatArray
    w: FloatArray
    predicted: FloatArray
    remembered: FloatArray
    problem: ContactProblem


@inlined
def _predict(h: float, s: AlphaState, m: OneStepModel) -> None:
    """Position without the new velocity, the impulse that a gives, and the mean position into ``m.x``."""
    k, (start, column, M) = s.constants, m.mass
    one_step.keep_before(s)
    for j in range(s.u.size):
        s.predicted[j] = s.u[j] + (h * s.v[j] - k.predicts * s.a[j])
        product = 0.0
        for i in range(start[j], start[j + 1]):
            product += M[i] * s.a[column[i]]
        s.remembered[j] = product * k.remembers
        m.x[j] = (1 - k.theta) * s.u_before[j] + k.theta * s.predicted[j]


@inlined
def _free_step(s: AlphaState, m: OneStepModel) -> None:
    """The velocity without contact: ``A dv = h [gamma F_theta + (1 - am - gamma) M a] / (1 - am)``."""
    shared.stored_force(m.stiffness, m.load, m.x, m.f)
    for j in range(m.f.size):
        m.f[j] = m.f[j] * s.constants.acting + s.remembered[j]
    solve_symmetric(m.factors, m.f, m.dv)
    for j in range(m.dv.size):
        s.v[j] += m.dv[j]


@inlined
def _collect(h: float, c: LoopPoints, s: AlphaState) -> int:
    """Closed points and their free velocities; their number, -1 where they are too many for the loop."""
    count, p = 0, s.problem
    for k in range(c.dofs.shape[0]):
        gap = one_step.forecast_gap(c, k, s.constants.forecast * h, s)
        if not shared.is_closed(gap, c.tolerance, c.touching):
            continue
        if count == p.which.size:
            return -1
        p.c[count] = shared.approach(c, k, s)
        p.which[count] = k
        count += 1
    return count


@inlined
def _touch(h: float, c: LoopPoints, s: AlphaState, m: OneStepModel) -> int:
    """Contact of the step: ``v += [(1 - c) A^-1 + c M^-1] L^T r`` and ``M w = L^T r``.

    Returns:
        The number of closed points, -1 where the loop does not find their impulses.
    """
    for j in range(s.w.size):
        s.w[j] = 0.0
    count: int = _collect(h, c, s)
    if count > 0:
        if not one_step.solve_problem(count, s.problem):
            return -1
        if one_step.right_side(c, count, s.problem, m.f):
            solve_symmetric(m.factors, m.f, m.dv)
            solve_symmetric(m.mass_factors, m.f, s.w)
            for j in range(m.dv.size):
                s.v[j] += (1 - m.direct) * m.dv[j] + m.direct * s.w[j]
    return count


@inlined
def _move(h: float, s: AlphaState, m: OneStepModel) -> None:
    """Position and auxiliary acceleration at the end of the step."""
    k = s.constants
    for j in range(s.u.size):
        dv = s.v[j] - s.v_before[j]
        s.u[j] = s.predicted[j] + k.moves * (s.v[j] - m.direct * s.w[j] - s.v_before[j])
        s.a[j] = s.a[j] * ((k.gamma - 1) / k.gamma) + (dv - s.w[j]) / (h * k.gamma)


@reordered
def _loss(s: AlphaState, m: OneStepModel) -> float:
    """``(u' - u).(F + F')/2 - (v + v')/2 . J``, the loss of :class:`.GeneralizedAlphaBalance`."""
    k, total = s.constants, 0.0
    for j in range(s.u.size):
        first, last = m.load[j] - m.before[j], m.load[j] - m.after[j]
        smooth = ((1 - k.theta) * first + k.theta * last) * k.acting + s.remembered[j]
        total += (s.u[j] - s.u_before[j]) * (0.5 * (first + last))
        total -= 0.5 * (s.v_before[j] + s.v[j]) * smooth
    return total


@inlined
def _follow(c: LoopPoints, s: AlphaState, m: OneStepModel, r: FloatArray, energies: Energies) -> None:
    """Terms of :class:`.GeneralizedAlphaBalance`; the internal forces become those before the next step."""
    terms = energies.terms
    one_step.internal_forces(m, s.u, m.after)
    internal, external, _, stored = one_step.works(s.u, s.u_before, m.load, m.before, m.after)
    loss = _loss(s, m)
    for j in range(m.after.size):
        m.before[j], m.x[j] = m.after[j], 0.0
    terms[0] = 0.5 * one_step.squares(m.mass, s.v, m.x)
    terms[2] = 0.5 * stored
    terms[3] += internal
    terms[4] += external
    terms[5] += one_step.contact_work(c, s, r, 0.5)
    terms[6] += loss


def advance(  # type: ignore[no-untyped-def]
    steps, clock, s, m, c, record, energies, functions
):
    """Nonsmooth generalized-alpha, as :meth:`.GeneralizedAlpha.advance` has it; see :mod:`._theta_loop`."""
    h, columns, points = clock.h, record.columns, c.dofs.shape[0]
    if energies.follows:
        one_step.internal_forces(m, s.u, m.before)
    for i in range(steps):
        step = record.table[i]
        _predict(h, s, m)
        _free_step(s, m)
        count = _touch(h, c, s, m)
        if count < 0:
            for j in range(s.v.size):
                s.v[j] = s.v_before[j]
            return i
        r = step[columns.r : columns.r + points]
        one_step.write_impulses(count, s.problem, r)
        _move(h, s, m)
        if energies.follows:
            _follow(c, s, m, r, energies)
        shared.store(i, clock, record, energies, s.u, s.v, s.v)
        one_step.store_gaps(c, s.u, step, columns)
    return steps
