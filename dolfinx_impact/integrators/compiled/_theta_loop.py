"""The compiled loop of :mod:`.theta`: the step of :class:`.ThetaMethod` for linear systems in numba's words.

Di Stasio et al. (2019), (33), (8); sums in the order of :class:`.FactorisedThetaStep`. Kernels on
disk name these classes and are found by file and line: rename them together with a change of lines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra.complementarity import EXACT, FEW, TOLERANCE
from ...algebra.kernels._numba import active_set, solve_symmetric
from . import _shared as shared
from ._central_loop import LoopColumns, LoopPoints, Recorded
from ._kernels import inlined, kept, reordered


class ThetaState(NamedTuple):
    """Arrays of the integrator, which the loop advances."""

    u: FloatArray
    v: FloatArray
    u_before: FloatArray
    v_before: FloatArray


class ThetaModel(NamedTuple):
    """The system: constant loads, K, factors of ``M + h^2 theta^2 K`` and of the response, M in CSR format.

    Then scratch: positions, forces, changes of the velocity (zero at constrained dofs), and the internal
    forces at both ends of a step.
    """

    load: FloatArray
    stiffness: shared.Stiffness
    factors: tuple[AnyArray, ...]
    response: tuple[AnyArray, ...]
    mass_start: IntArray
    mass_column: IntArray
    mass: FloatArray
    x: FloatArray
    f: FloatArray
    dv: FloatArray
    before: FloatArray
    after: FloatArray


class ContactProblem(NamedTuple):
    """The contact problem of a step: H of all points, and scratch for the closed ones."""

    H: FloatArray
    which: IntArray
    scale: FloatArray
    S: FloatArray
    c: FloatArray
    active: BoolArray
    factor: FloatArray
    r: FloatArray


@kept
def _predict(theta: float, h: float, s: ThetaState, x: FloatArray) -> None:
    """``x = u_n + theta h v_n``; keeps the state before the step."""
    for j in range(x.size):
        s.u_before[j], s.v_before[j] = s.u[j], s.v[j]
        x[j] = s.v[j] * (theta * h) + s.u[j]


@inlined
def _free_step(theta: float, h: float, s: ThetaState, m: ThetaModel) -> None:
    """The velocity without contact, (33)."""
    _predict(theta, h, s, m.x)
    shared.stored_force(m.stiffness, m.load, m.x, m.f)
    for j in range(m.f.size):
        m.f[j] *= h
    solve_symmetric(*m.factors, m.f, m.dv)
    for j in range(m.dv.size):
        s.v[j] += m.dv[j]


@kept
def _move(theta: float, h: float, s: ThetaState) -> None:
    """``u_{n+1}`` from the velocities at both ends."""
    for j in range(s.u.size):
        s.u[j] = (s.u[j] + s.v_before[j] * ((1 - theta) * h)) + s.v[j] * (theta * h)


@inlined
def _forecast_gap(c: LoopPoints, k: int, part: float, s: ThetaState) -> float:
    """Gap at ``u_n + part v_n``."""
    total = 0.0
    for j in range(c.dofs.shape[1]):
        i = c.dofs[k, j]
        total += c.weights[k, j] * (s.v_before[i] * part + s.u_before[i])
    gap: float = c.offset[k] + total
    return gap


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
def _collect(theta: float, forecast: float, h: float, c: LoopPoints, s: ThetaState, p: ContactProblem) -> int:
    """Closed points and their free velocities; their number, -1 where they are too many for the loop."""
    count = 0
    for k in range(c.dofs.shape[0]):
        if not c.at_position:
            gap = _forecast_gap(c, k, forecast * h, s)
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
def _residual(count: int, p: ContactProblem) -> float:
    """That of :func:`.complementarity.residual` for the scaled problem."""
    worst = largest = 0.0
    for i in range(count):
        scale, w = math.sqrt(p.S[i, i]), p.c[i]
        for j in range(count):
            w += p.S[i, j] * p.r[j]
        misfit = abs(min(p.r[i] * scale, w / scale))
        # NaN counts as the worst.
        worst = worst if misfit <= worst else misfit
        largest = max(largest, abs(p.c[i] / scale))
    return worst / largest if largest > 0.0 else worst


@kept
def _solve_problem(count: int, p: ContactProblem) -> bool:
    """Impulses of the closed points, as :func:`.complementarity.solve` finds them first.

    Returns:
        Whether they are found; if not, the other methods there are to be tried.
    """
    for i in range(count):
        diagonal = p.H[p.which[i], p.which[i]]
        if not (diagonal > 0.0 and math.isfinite(p.c[i])):
            return False
        p.scale[i] = 1.0 / math.sqrt(diagonal)
        p.c[i] *= p.scale[i]
    for i in range(count):
        for j in range(count):
            p.S[i, j] = p.H[p.which[i], p.which[j]] * (p.scale[i] * p.scale[j])
    enough = EXACT if count <= FEW else TOLERANCE
    if not active_set(count, p.S, p.c, p.active, p.factor, p.r) or not _residual(count, p) <= enough:
        return False
    for i in range(count):
        p.r[i] *= p.scale[i]
    return True


@inlined
def _act(c: LoopPoints, count: int, p: ContactProblem, s: ThetaState, m: ThetaModel) -> None:
    """Let the impulses of the closed points act on ``v``: ``v += A^-1 L^T r``."""
    acts = False
    for i in range(count):
        acts |= p.r[i] != 0.0
    if not acts:
        return
    for j in range(m.f.size):
        m.f[j] = 0.0
    for i in range(count):
        k = p.which[i]
        for j in range(c.dofs.shape[1]):
            m.f[c.dofs[k, j]] += c.weights[k, j] * p.r[i]
    solve_symmetric(*m.response, m.f, m.dv)
    for j in range(m.dv.size):
        s.v[j] += m.dv[j]


@inlined
def _touch(
    theta: float, forecast: float, h: float, c: LoopPoints, s: ThetaState, m: ThetaModel, p: ContactProblem
) -> int:
    """Contact of the step; the number of closed points, -1 where the loop does not find their impulses."""
    count: int = _collect(theta, forecast, h, c, s, p)
    if count > 0:
        if not _solve_problem(count, p):
            return -1
        _act(c, count, p, s, m)
    return count


@reordered
def _squares(start: IntArray, column: IntArray, M: FloatArray, v: FloatArray, w: FloatArray) -> float:
    """``(v - w).M (v - w)`` with M in CSR format."""
    total = 0.0
    for i in range(v.size):
        product = 0.0
        for k in range(start[i], start[i + 1]):
            product += M[k] * (v[column[k]] - w[column[k]])
        total += (v[i] - w[i]) * product
    return total


@reordered
def _works(
    u: FloatArray, u_before: FloatArray, load: FloatArray, before: FloatArray, after: FloatArray
) -> tuple[float, float, float, float]:
    """``du.(F_int + F_int')/2, du.f, du.(F_int' - F_int), u'.F_int'``."""
    internal = external = change = stored = 0.0
    for j in range(u.size):
        du = u[j] - u_before[j]
        internal += du * (0.5 * (before[j] + after[j]))
        external += du * load[j]
        change += du * (after[j] - before[j])
        stored += u[j] * after[j]
    return internal, external, change, stored


@inlined
def _internal(m: ThetaModel, u: FloatArray, out: FloatArray) -> None:
    """``out = K u``, as the loads minus all forces."""
    shared.stored_force(m.stiffness, m.load, u, m.f)
    for j in range(out.size):
        out[j] = m.load[j] - m.f[j]


@inlined
def _energies(
    theta: float, c: LoopPoints, s: ThetaState, m: ThetaModel, r: FloatArray, terms: FloatArray
) -> None:
    """Terms of :class:`.ThetaBalance` after a step; the internal forces become those before the next."""
    _internal(m, s.u, m.after)
    internal, external, change, stored = _works(s.u, s.u_before, m.load, m.before, m.after)
    for j in range(m.after.size):
        m.before[j], m.x[j] = m.after[j], 0.0
    terms[0] = 0.5 * _squares(m.mass_start, m.mass_column, m.mass, s.v, m.x)
    terms[2] = 0.5 * stored
    terms[3] += internal
    terms[4] += external
    for k in range(r.size):
        if r[k] != 0.0:
            earlier = shared.row(c.dofs, c.weights, k, s.v_before)
            terms[5] += r[k] * ((1 - theta) * earlier + theta * shared.row(c.dofs, c.weights, k, s.v))
    if theta != 0.5:
        jump = _squares(m.mass_start, m.mass_column, m.mass, s.v, s.v_before)
        terms[6] += (theta - 0.5) * (jump + change)


@inlined
def _record(recorded: Recorded, c: LoopPoints, s: ThetaState, step: FloatArray, columns: LoopColumns) -> None:
    """Displacements and velocities of the recorded rows, and the gaps."""
    dofs, weights = recorded
    for k in range(dofs.shape[0]):
        velocity = shared.row(dofs, weights, k, s.v)
        step[columns.u + k] = shared.row(dofs, weights, k, s.u)
        step[columns.v_t + k] = step[columns.v + k] = velocity
    for k in range(c.dofs.shape[0]):
        step[columns.gap + k] = c.offset[k] + shared.row(c.dofs, c.weights, k, s.u)


@kept
def advance(  # type: ignore[no-untyped-def]
    steps, n, t0, h, theta, forecast, follows, s, m, c, p, recorded, table, columns, terms
):
    """Make steps of the theta method, and keep the state after each in the table.

    Args:
        steps, n, t0, h: Number of steps, steps made before, time of the start, time step [s].
        theta, forecast: Constants of the scheme.
        follows: Whether energies are followed.
        s, m, c, p, recorded, columns: What their classes say.
        table: Where the states go, one row a step.
        terms: :data:`.energy.TERMS`, changed [J].

    Returns:
        Number of steps made: fewer where the next one has a contact problem that the loop does not solve; the
        state is then that before it.
    """
    points = c.dofs.shape[0]
    if follows:
        _internal(m, s.u, m.before)
    for i in range(steps):
        step = table[i]
        _free_step(theta, h, s, m)
        count = _touch(theta, forecast, h, c, s, m, p)
        if count < 0:
            for j in range(s.v.size):
                s.v[j] = s.v_before[j]
            return i
        r = step[columns.r : columns.r + points]
        for k in range(points):
            r[k] = 0.0
        for k in range(count):
            r[p.which[k]] = p.r[k]
        _move(theta, h, s)
        if follows:
            _energies(theta, c, s, m, r, terms)
            for k in range(terms.size):
                step[columns.energies + k] = terms[k]
        step[0] = step[1] = t0 + (n + i + 1) * h
        _record(recorded, c, s, step, columns)
    return steps
