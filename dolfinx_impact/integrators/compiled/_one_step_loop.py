"""Parts of a step that compiled loops of one-step methods share: its contact problem, and its energies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra.complementarity import EXACT, FEW, TOLERANCE
from ...algebra.kernels._numba import active_set
from . import _shared as shared
from ._kernels import inlined, kept, reordered

if TYPE_CHECKING:
    from ._arrays import LoopColumns, LoopPoints


class OneStepModel(NamedTuple):
    """The system: constant loads, K, factors of ``M + c K``, those of M, and M in CSR format.

    The part ``direct`` of the impulses acts through M alone, the rest with K; with ``direct`` 1 all do.
    Then scratch: positions, forces, changes of the velocity (zero at constrained dofs), and the internal
    forces at both ends of a step.
    """

    load: FloatArray
    stiffness: shared.Stiffness
    factors: tuple[AnyArray, ...]
    mass_factors: tuple[AnyArray, ...]
    direct: float
    mass: tuple[IntArray, IntArray, FloatArray]
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


@inlined
def keep_before(s: Any) -> None:
    """Keep the state before the step."""
    for j in range(s.u.size):
        s.u_before[j], s.v_before[j] = s.u[j], s.v[j]


@inlined
def forecast_gap(c: LoopPoints, k: int, part: float, s: Any) -> float:
    """Gap at ``u_n + part v_n``."""
    total = 0.0
    for j in range(c.dofs.shape[1]):
        i = c.dofs[k, j]
        total += c.weights[k, j] * (s.v_before[i] * part + s.u_before[i])
    gap: float = c.offset[k] + total
    return gap


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
def solve_problem(count: int, p: ContactProblem) -> bool:
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
def right_side(c: LoopPoints, count: int, p: ContactProblem, out: FloatArray) -> bool:
    """``out = L^T r`` of the closed points; whether there is any impulse."""
    acts = False
    for i in range(count):
        acts |= p.r[i] != 0.0
    if acts:
        for j in range(out.size):
            out[j] = 0.0
        for i in range(count):
            k = p.which[i]
            for j in range(c.dofs.shape[1]):
                out[c.dofs[k, j]] += c.weights[k, j] * p.r[i]
    return acts


@inlined
def write_impulses(count: int, p: ContactProblem, r: FloatArray) -> None:
    """The impulses of all points into ``r``."""
    for k in range(r.size):
        r[k] = 0.0
    for i in range(count):
        r[p.which[i]] = p.r[i]


@reordered
def squares(rows: tuple[IntArray, IntArray, FloatArray], v: FloatArray, w: FloatArray) -> float:
    """``(v - w).M (v - w)`` with M in CSR format."""
    start, column, M = rows
    total = 0.0
    for i in range(v.size):
        product = 0.0
        for k in range(start[i], start[i + 1]):
            product += M[k] * (v[column[k]] - w[column[k]])
        total += (v[i] - w[i]) * product
    return total


@reordered
def works(
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
def internal_forces(m: OneStepModel, u: FloatArray, out: FloatArray) -> None:
    """``out = K u``, as the loads minus all forces."""
    shared.stored_force(m.stiffness, m.load, u, m.f)
    for j in range(out.size):
        out[j] = m.load[j] - m.f[j]


@inlined
def contact_work(c: LoopPoints, s: Any, r: FloatArray, theta: float) -> float:
    """``r.L (theta v' + (1 - theta) v)`` [J]."""
    total = 0.0
    for k in range(r.size):
        if r[k] != 0.0:
            earlier = shared.row(c.dofs, c.weights, k, s.v_before)
            total += r[k] * ((1 - theta) * earlier + theta * shared.row(c.dofs, c.weights, k, s.v))
    return total


@inlined
def store_gaps(c: LoopPoints, u: FloatArray, step: FloatArray, columns: LoopColumns) -> None:
    """The gaps at the end of a step."""
    for k in range(c.dofs.shape[0]):
        step[columns.gap + k] = c.offset[k] + shared.row(c.dofs, c.weights, k, u)
