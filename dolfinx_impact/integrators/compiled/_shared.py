"""Parts of a step that compiled loops share.

Tuples of arrays are named as in the loops: ``s`` is a state with ``u, v, v_before, f``, ``m`` a model with
``mass, inverse_mass, kick, load, damped, has_loads``, ``c`` a contact with ``dofs, weights, offset, diagonal,
restitution, tolerance, touching``. Rows of arrays are given for one step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._types import FloatArray, IntArray
from ...algebra.kernels._numba import copy, pair_product, rows_force
from ...algebra.pair_blocks import PairBlocks
from ..central.central_formulas import internal_part, mean_velocity, newton_impact, work
from ._kernels import central_sums, central_sums_with_load, few_powers, few_sums, inlined, power_sums

if TYPE_CHECKING:
    from ._arrays import Clock, Energies, Record

_pairs_1, _pairs_2, _pairs_3 = (pair_product(size) for size in (1, 2, 3))


@inlined
def end(clock: Clock, i: int) -> float:
    """Time of the end of step i of a call [s]."""
    t: float = clock.t0 + (clock.n + i + 1) * clock.h
    return t


@inlined
def store(
    i: int,
    clock: Clock,
    record: Record,
    energies: Energies,
    u: FloatArray,
    v_before: FloatArray,
    v: FloatArray,
) -> None:
    """Put what is recorded of a state into its row; ``v_before`` and ``v`` as for :func:`mean_row`."""
    step, columns, dofs, weights = record.table[i], record.columns, record.dofs, record.weights
    step[0] = end(clock, i)
    step[1] = step[0] + clock.shift * clock.h
    if energies.follows:
        for k in range(energies.terms.size):
            step[columns.energies + k] = energies.terms[k]
    for k in range(dofs.shape[0]):
        step[columns.u + k] = row(dofs, weights, k, u)
        step[columns.v_t + k] = mean_row(dofs, weights, k, v_before, v)
        step[columns.v + k] = row(dofs, weights, k, v)


@inlined
def row(dofs: IntArray, weights: FloatArray, k: int, x: FloatArray) -> float:
    """``(L x)_k``."""
    total = 0.0
    for j in range(dofs.shape[1]):
        total += weights[k, j] * x[dofs[k, j]]
    return total


@inlined
def mean_row(dofs: IntArray, weights: FloatArray, k: int, v_before: FloatArray, v: FloatArray) -> float:
    """``(L v_n)_k`` with the mean velocity (44b)."""
    total = 0.0
    for j in range(dofs.shape[1]):
        dof = dofs[k, j]
        total += weights[k, j] * mean_velocity(v_before[dof], v[dof])
    return total


@inlined
def pairs_force(block: int, pairs: PairBlocks, load: FloatArray, u: FloatArray, f: FloatArray) -> None:
    """``f = load - K u``, K summed over pairs of nodes with ``block`` dofs each."""
    copy(load, f)
    if block == 1:
        _pairs_1(pairs, u, f)
    elif block == 2:
        _pairs_2(pairs, u, f)
    else:
        _pairs_3(pairs, u, f)


class Stiffness(NamedTuple):
    """K as a sum over pairs of nodes, or with ``block`` 0 its rows."""

    block: int
    pairs: PairBlocks
    start: IntArray
    column: IntArray
    values: FloatArray


@inlined
def stored_force(stiffness: Stiffness, load: FloatArray, u: FloatArray, f: FloatArray) -> None:
    """``f = load - K u``."""
    if stiffness.block == 0:
        rows_force(stiffness.start, stiffness.column, stiffness.values, load, u, f)
    else:
        pairs_force(stiffness.block, stiffness.pairs, load, u, f)


@inlined
def add_damping(rate: float, mass: FloatArray, v: FloatArray, damped: FloatArray) -> None:
    """``damped = rate M v``."""
    for j in range(v.size):
        damped[j] = rate * mass[j] * v[j]


@inlined
def is_closed(gap: float, tolerance: float, touching: bool) -> bool:
    """Whether a gap counts as closed in (47)."""
    return gap <= tolerance if touching else gap < -tolerance


@inlined
def approach(c: Any, k: int, s: Any) -> float:
    """``L (v* + e v_before)`` of point k, Newton's impact law (8) and (47)."""
    free, e = row(c.dofs, c.weights, k, s.v), c.restitution
    change: float = newton_impact(free, row(c.dofs, c.weights, k, s.v_before), e) if e > 0.0 else free
    return change


@inlined
def impulse(b: float, H: float) -> float:
    """R with ``0 <= b + H r  _|_  r >= 0``, (48) of one point; NaN remains NaN [N s]."""
    r = -b / H
    return 0.0 if r <= 0.0 else r


@inlined
def apply_impulse(c: Any, k: int, r: float, inverse_mass: FloatArray, v: FloatArray) -> None:
    """``v += M^-1 L_k^T r``, (47)."""
    for j in range(c.dofs.shape[1]):
        dof = c.dofs[k, j]
        v[dof] += c.weights[k, j] * r * inverse_mass[dof]


@inlined
def apply_friction(
    c: Any, k: int, limit: float, inverse_mass: FloatArray, v: FloatArray, r_t: FloatArray, at: int
) -> None:
    """Coulomb's law of point k: stop the slip as far as ``|r_t| <= limit`` allows.

    Di Stasio et al. (2019), Algorithm 2, with one mass for all directions. The impulse goes into
    ``r_t`` from entry ``at`` on.
    """
    size, normal, inverse = 0.0, row(c.dofs, c.weights, k, v), inverse_mass[c.dofs[k, 0]]
    for j in range(c.dofs.shape[1]):
        r_t[at + j] = -(v[c.dofs[k, j]] - normal * c.weights[k, j]) / inverse
        size += r_t[at + j] * r_t[at + j]
    size = math.sqrt(size)
    for j in range(c.dofs.shape[1]):
        if size > limit:
            r_t[at + j] *= limit / size
        v[c.dofs[k, j]] += inverse * r_t[at + j]


@inlined
def contact_work(c: Any, r: FloatArray, r_t: FloatArray, directions: int, v: FloatArray) -> float:
    """``r.L v + r_t.v`` [J]; ``directions`` is 0 without friction."""
    total = 0.0
    for k in range(c.dofs.shape[0]):
        if r[k] != 0.0:
            total += r[k] * row(c.dofs, c.weights, k, v)
            for j in range(directions):
                total += r_t[k * directions + j] * v[c.dofs[k, j]]
    return total


@inlined
def energy_terms(
    h: float, s: Any, m: Any, few: bool, before: float, after: float, energies: Energies
) -> float:
    """Terms of the balance (84) after a step, but for the internal energy.

    Args:
        h: Time step [s].
        s, m: State and model.
        few: Whether there are few dofs.
        before, after: Works of the contact impulses with ``v_before`` and with ``v`` [J].
        energies: Their terms, and the powers ``v . (F_int, F_ext, F_damp, L^T r)`` of the step before, are
            changed to those of this one.

    Returns:
        The internal energy of forces ``K u``, ``u.F_int / 2`` [J].
    """
    terms, powers, has_damping = energies.terms, energies.powers, m.has_damping
    l0 = l1 = l2 = d0 = d1 = d2 = 0.0
    if few:
        kinetic, complementary, a0, a1, a2 = few_sums(m.mass, s.v_before, s.v, s.f, s.u)
        if m.has_loads:
            l0, l1, l2 = few_powers(s.v_before, s.v, s.u, m.load)
        if has_damping:
            d0, d1, d2 = few_powers(s.v_before, s.v, s.u, m.damped)
    else:
        if m.has_loads:
            sums = central_sums_with_load(m.mass, s.v_before, s.v, s.f, s.u, m.load)
            kinetic, complementary, a0, a1, a2, l0, l1, l2 = sums
        else:
            kinetic, complementary, a0, a1, a2 = central_sums(m.mass, s.v_before, s.v, s.f, s.u)
        if has_damping:
            d0, d1, d2 = power_sums(s.v_before, s.v, s.u, m.damped)
    terms[0], terms[1] = kinetic, complementary  # (86), (87)
    terms[3] += work(h, powers[0], internal_part(l0, d0, a0))  # (89)
    terms[4] += work(h, powers[1], l0)  # (88)
    terms[5] += work(1.0, powers[3], before)  # (90)
    terms[6] += work(h, powers[2], d0)
    powers[0], powers[1], powers[2], powers[3] = internal_part(l1, d1, a1), l1, d1, after
    energy: float = 0.5 * internal_part(l2, d2, a2)
    return energy
