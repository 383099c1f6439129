"""The formulas of central differences for compiled code, and loops over all dofs made of them.

A compiled function hands its options on to what it calls where that sets none, and on disk functions are
told apart by their names, not by their options. So all functions here set all options, and what is compiled
into its callers is kept on disk within these alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.extending import register_jitable

from ..._types import FloatArray, IntArray
from ..central import central_formulas
from ..central.central_formulas import inertia_terms, kicked, leapfrog, velocity_squares

#: Nothing is allocated (``_nrt``), so that no references are counted, which would cost as much as a step.
_OPTIONS = {"error_model": "numpy", "_nrt": False}
#: Inlined by LLVM: ``inline="always"`` has dropped statements of long loops.
_INLINED = {**_OPTIONS, "fastmath": False, "forceinline": True}
_KEPT = {**_OPTIONS, "cache": True, "forceinline": False}

for _each in (
    leapfrog,
    kicked,
    velocity_squares,
    inertia_terms,
    central_formulas.mean_velocity,
    central_formulas.newton_impact,
    central_formulas.constrained_position,
    central_formulas.constrained_time,
    central_formulas.internal_part,
    central_formulas.work,
):
    register_jitable(**_INLINED)(_each)


def inlined(function: Callable[..., Any]) -> Any:
    """The function compiled into its callers."""
    return numba.njit(**_INLINED)(function)


def kept(function: Callable[..., Any]) -> Any:
    """The function compiled and kept on disk."""
    return numba.njit(**_KEPT, fastmath=False)(function)


def reordered(function: Callable[..., Any]) -> Any:
    """The function compiled and kept on disk, its sums in the order that is fastest."""
    return numba.njit(**_KEPT, fastmath={"reassoc", "contract"})(function)


@kept
def drift(u: FloatArray, v: FloatArray, h: float) -> None:
    """:func:`.leapfrog` in place."""
    for i in range(u.size):
        u[i] = leapfrog(u[i], v[i], h)


@kept
def kick(v_before: FloatArray, f: FloatArray, w: FloatArray, v: FloatArray) -> None:
    """:func:`.kicked` into ``v``."""
    for i in range(v.size):
        v[i] = kicked(v_before[i], w[i], f[i])


def _kick_in_place(v: FloatArray, v_before: FloatArray, f: FloatArray, w: FloatArray) -> None:
    """``v_before = v``, then :func:`.kicked` into ``v``, in one pass."""
    for i in range(v.size):
        v_before[i] = v[i]
        v[i] = kicked(v_before[i], w[i], f[i])


@kept
def rows_kick(
    rows: tuple[IntArray, IntArray, FloatArray],
    load: FloatArray,
    u: FloatArray,
    f: FloatArray,
    v: FloatArray,
    v_before: FloatArray,
    w: FloatArray,
) -> None:
    """``f = load - K u`` with K in CSR format, then :func:`kick_in_place`, in one pass."""
    start, column, K = rows
    for i in range(start.size - 1):
        a = load[i]
        for k in range(start[i], start[i + 1]):
            a -= K[k] * u[column[k]]
        f[i] = a
        v_before[i] = v[i]
        v[i] = kicked(v_before[i], w[i], a)


def _central_sums(
    m: FloatArray, v_before: FloatArray, v: FloatArray, f: FloatArray, u: FloatArray
) -> tuple[float, float, float, float, float]:
    """Sums for the energies of central differences in one pass; velocities half a step before and after f, u.

    Returns:
        Kinetic (86) and complementary energy (87), then ``v_before.f, v.f, u.f``.
    """
    mean = jump = before = after = stored = 0.0
    for i in range(m.size):
        squares = velocity_squares(v_before[i], v[i])
        mean += m[i] * squares[0]
        jump += m[i] * squares[1]
        before += v_before[i] * f[i]
        after += v[i] * f[i]
        stored += u[i] * f[i]
    kinetic, complementary = inertia_terms(mean, jump)
    return kinetic, complementary, before, after, stored


def _power_sums(
    v_before: FloatArray, v: FloatArray, u: FloatArray, f: FloatArray
) -> tuple[float, float, float]:
    """``v_before.f, v.f, u.f``."""
    before = after = stored = 0.0
    for i in range(f.size):
        before += v_before[i] * f[i]
        after += v[i] * f[i]
        stored += u[i] * f[i]
    return before, after, stored


@reordered
def central_sums_with_load(
    m: FloatArray, v_before: FloatArray, v: FloatArray, f: FloatArray, u: FloatArray, load: FloatArray
) -> tuple[float, float, float, float, float, float, float, float]:
    """:func:`central_sums`, then :func:`power_sums` of the load, in one pass."""
    mean = jump = before = after = stored = l0 = l1 = l2 = 0.0
    for i in range(m.size):
        squares = velocity_squares(v_before[i], v[i])
        mean += m[i] * squares[0]
        jump += m[i] * squares[1]
        before += v_before[i] * f[i]
        after += v[i] * f[i]
        stored += u[i] * f[i]
        l0 += v_before[i] * load[i]
        l1 += v[i] * load[i]
        l2 += u[i] * load[i]
    kinetic, complementary = inertia_terms(mean, jump)
    return kinetic, complementary, before, after, stored, l0, l1, l2


central_sums, power_sums = reordered(_central_sums), reordered(_power_sums)
kick_in_place = kept(_kick_in_place)
#: For few dofs, where a call takes longer than the sum.
few_sums, few_powers = inlined(_central_sums), inlined(_power_sums)
few_kicks = inlined(_kick_in_place)
