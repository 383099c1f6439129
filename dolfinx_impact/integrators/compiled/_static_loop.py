"""The step of :class:`.StaticContact` in a compiled loop, for linear systems and flat smooth contact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra.kernels._numba import copy, solve_symmetric
from . import _central_loop as central
from . import _one_step_loop as one_step
from . import _shared as shared
from ._arrays import LoopState
from ._kernels import drift, inlined, kick_in_place
from ._one_step_loop import ContactProblem

if TYPE_CHECKING:
    from ._arrays import Energies, LoopModel, LoopPoints

_EPS = float(np.finfo(np.float64).eps)


class StaticWorks(NamedTuple):
    """Forces on the dofs c at the last step: internal, load, damping and contact ones [N]; then scratch.

    The scratch are velocities that are zero at c, and the displacements of c before a step.
    """

    inner: FloatArray
    load: FloatArray
    drag: FloatArray
    reaction: FloatArray
    v_before: FloatArray
    v: FloatArray
    u_before: FloatArray


class StaticState(NamedTuple):
    """The state, and the equilibrium of the massless dofs ``at`` with the contact forces lam [N].

    ``factors`` are those of K_cc. The last ones are scratch: which points are closed, the correction of u_c
    and its part by the contact, the contact forces on all dofs, and the displacements before a step.
    """

    s: LoopState
    at: IntArray
    length: float
    factors: tuple[AnyArray, ...]
    lam: FloatArray
    problem: ContactProblem
    works: StaticWorks
    v_force: FloatArray
    closed: BoolArray
    x: FloatArray
    change: FloatArray
    pushed: FloatArray
    u_start: FloatArray


@inlined
def _collect(h: float, c: LoopPoints, q: StaticState) -> int:
    """The problem of the points that are closed; their number, -1 where they are too many for the loop."""
    count, p = 0, q.problem
    for k in range(c.dofs.shape[0]):
        if q.closed[k]:
            if count == p.which.size:
                return -1
            p.which[count], p.c[count] = k, _free_gap(h, c, k, q)
            count += 1
    return count


@inlined
def _free_gap(h: float, c: LoopPoints, k: int, q: StaticState) -> float:
    """``(g + L x) / h`` with the correction of u_c without contact."""
    gap = c.offset[k] + shared.row(c.dofs, c.weights, k, q.s.u)
    free: float = gap / h + shared.row(c.dofs, c.weights, k, q.x) / h
    return free


@inlined
def _touch(h: float, c: LoopPoints, q: StaticState) -> int:
    """Forces over h of the closed points, which are joined by those that would penetrate.

    ``0 <= g + L (x + h K_cc^-1 L^T z)  _|_  z >= 0``, x the correction of u_c without contact.

    Returns:
        The number of closed points, -1 where the loop does not find their forces.
    """
    p = q.problem
    for k in range(c.dofs.shape[0]):
        q.closed[k] = _free_gap(h, c, k, q) <= 0.0 or q.lam[k] > 0.0
    while True:
        count: int = _collect(h, c, q)
        if count < 0 or (count > 0 and not one_step.solve_problem(count, p)):
            return -1
        joined = False
        for k in range(c.dofs.shape[0]):
            if not q.closed[k]:
                b = _free_gap(h, c, k, q)
                for i in range(count):
                    b += p.H[k, p.which[i]] * p.r[i]
                if b < 0.0:
                    q.closed[k] = joined = True
        if not joined:
            return count


@inlined
def _settle(h: float, c: LoopPoints, q: StaticState) -> bool:
    """Equilibrium of the dofs c from the forces ``f``, see :meth:`.StaticLayer.settle`."""
    s, p = q.s, q.problem
    solve_symmetric(q.factors, s.f, q.x)
    count: int = _touch(h, c, q)
    if count < 0:
        return False
    one_step.write_impulses(count, p, q.lam)
    for k in range(q.lam.size):
        q.lam[k] *= h
    for j in range(q.pushed.size):
        q.pushed[j] = 0.0
    _add_forces(c, q.lam, q.pushed)
    largest, size = 0.0, 0.0
    solve_symmetric(q.factors, q.pushed, q.change)
    for j in q.at:
        q.x[j] += q.change[j]
        largest, size = max(largest, abs(q.x[j])), max(size, abs(s.u[j]))
        if not math.isfinite(q.x[j]):
            return False
    if largest > 4 * _EPS * (size + q.length):
        for j in q.at:
            s.u[j] += q.x[j]
    return True


@inlined
def _add_forces(c: LoopPoints, lam: FloatArray, out: FloatArray) -> None:
    """``out += L^T lam``."""
    for k in range(lam.size):
        if lam[k] != 0.0:
            for j in range(c.dofs.shape[1]):
                out[c.dofs[k, j]] += c.weights[k, j] * lam[k]


@inlined
def _kick(h: float, q: StaticState, m: LoopModel) -> None:
    """Velocities of the dofs with mass by the forces, and ``(u_c' - u_c) / h`` of the others."""
    s, at, before = q.s, q.at, q.works.u_before
    kick_in_place(s.v, s.v_before, s.f, m.kick)
    for j in range(s.v.size):
        q.v_force[j] = s.v_before[j]
    for i in range(at.size):
        s.v_before[at[i]] = s.v[at[i]] = (s.u[at[i]] - before[i]) / h


@inlined
def _follow(h: float, q: StaticState, m: LoopModel, energies: Energies) -> None:
    """Terms of :class:`.StaticBalance`: those of the dofs with mass, and the works at the others."""
    s, w, terms = q.s, q.works, energies.terms
    for j in range(s.v.size):
        w.v_before[j], w.v[j] = s.v_before[j], s.v[j]
    for j in q.at:
        w.v_before[j] = w.v[j] = 0.0
    masses = LoopState(s.u, w.v, w.v_before, s.f)
    terms[2] = shared.energy_terms(h, masses, m, s.u.size <= central.FEW, 0.0, 0.0, energies)  # (84)
    for i in range(q.at.size):
        j = q.at[i]
        half = 0.5 * (s.u[j] - w.u_before[i])
        drag = m.damped[j]
        inner = m.load[j] - s.f[j] - drag
        terms[3] += half * (w.inner[i] + inner)
        terms[4] += half * (w.load[i] + m.load[j])
        terms[6] += half * (w.drag[i] + drag)
        terms[5] += half * (w.reaction[i] + q.pushed[j])
        w.inner[i], w.load[i], w.drag[i], w.reaction[i] = inner, m.load[j], drag, q.pushed[j]


def advance(  # type: ignore[no-untyped-def]
    steps, clock, q, m, c, record, energies, functions
):
    """Central differences with contact dofs without mass, as :meth:`.StaticContact.advance` has it.

    Args:
        steps: Number of steps.
        clock, q, m, c, record, energies: What their classes say.
        functions: Not called.

    Returns:
        Number of steps made: fewer where the next one has an equilibrium that the loop does not find; the
        state is then that before it.
    """
    s, h, columns, points = q.s, clock.h, record.columns, c.dofs.shape[0]
    for i in range(steps):
        step = record.table[i]
        for k in range(q.at.size):
            q.works.u_before[k] = s.u[q.at[k]]
        copy(s.u, q.u_start)
        drift(s.u, s.v, h)
        central.forces(shared.end(clock, i), s, m, m.amplitudes[i], functions)
        central.sum_forces(s, m)
        if not _settle(h, c, q):
            copy(q.u_start, s.u)
            return i
        central.forces(shared.end(clock, i), s, m, m.amplitudes[i], functions)
        central.sum_forces(s, m)
        _kick(h, q, m)
        for k in range(points):
            step[columns.gap + k] = c.offset[k] + shared.row(c.dofs, c.weights, k, s.u)
            step[columns.r + k] = h * q.lam[k]
        if energies.follows:
            _follow(h, q, m, energies)
        shared.store(i, clock, record, energies, s.u, s.v_before, s.v)
    return steps
