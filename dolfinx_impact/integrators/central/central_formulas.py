"""The formulas of central differences with contact, each written once.

Fekak et al. (2017), (42)-(49) and (84)-(90); Di Stasio et al. (2019), (8) and (19). They are plain
arithmetic: the step in Python hands them arrays, the compiled loops compile them for numbers
(``compiled/_kernels.py``). Below them stand functions over whole arrays for where numba is not installed;
that module has them compiled.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..._types import FloatArray

#: A number, or an array with one entry a dof or point.
Values = TypeVar("Values", float, FloatArray)


def leapfrog(u: Values, v: Values, h: float) -> Values:
    """``u_{n+1} = u_n + h v_{n+1/2}``, (44a) with the half-step velocity ``v_n + W_n / 2`` [m]."""
    return u + h * v


def kicked(v_before: Values, kick: Values, f: Values) -> Values:
    """``v* = v_{n+1/2} + h M^-1 F``, (47) without contact, with ``kick = h M^-1`` [m/s]."""
    return v_before + kick * f


def mean_velocity(v_before: Values, v: Values) -> Values:
    """Velocity at ``t_n``, (44b): the mean of the half-step velocities around it [m/s]."""
    return 0.5 * (v_before + v)


def velocity_before(v_mean: Values, v: Values) -> Values:
    """``v_{n-1/2}`` from the mean (44b) and ``v_{n+1/2}`` [m/s]."""
    return 2 * v_mean - v


def newton_impact(Lv: Values, Lv_before: Values, e: Values) -> Values:
    """``L (v* + e v_{n+1/2})`` of Newton's impact law (8); with e = 0 that of (47) and (48) [m/s]."""
    return Lv + e * Lv_before


def constrained_position(u: Values, v: Values, v_before: Values, h: float, e: float) -> Values:
    """``(u* + e u_{n-1}) / (1 + e)`` of (19), ``u* = u_n + h v*``, ``u_{n-1} = u_n - h v_{n-1/2}`` [m]."""
    weighted: Any = leapfrog(u, v, h) + e * (u - h * v_before)
    position: Values = weighted / (1.0 + e)
    return position


def constrained_time(h: float, e: float) -> float:
    """How far the position of (19) follows a change of v*, ``h / (1 + e)`` [s]."""
    return h / (1.0 + e)


def velocity_squares(v_before: Values, v: Values) -> tuple[Values, Values]:
    """``(2 v_n)^2`` and ``W_n^2`` with v_n of (44b) and ``W_n`` of (42), for :func:`inertia_terms`."""
    return (v_before + v) ** 2, (v - v_before) ** 2


def inertia_terms(mean: float, jump: float) -> tuple[float, float]:
    """Kinetic (86) and complementary energy (87), ``v.M v / 2`` and ``-W.M W / 8`` [J].

    Args:
        mean, jump: Sums of masses times :func:`velocity_squares`.
    """
    return mean / 8, -(jump / 8)


def internal_part(loads: Values, damped: Values, f: Values) -> Values:
    """Part of the internal forces in a sum over forces, since ``F = F_ext - F_damp - F_int``."""
    return loads - damped - f


def work(h: float, before: Values, after: Values) -> Values:
    """Increment ``[U].<F>`` over a step of (88) and (89), with ``[U] = h v_{n+1/2}``; (90) with h = 1 [J].

    Args:
        h: Time step [s], or 1 with impulses in place of forces.
        before, after: ``v_{n+1/2} . F`` with F at t_n and at t_{n+1}.
    """
    return 0.5 * h * (before + after)


def drift(u: FloatArray, v: FloatArray, h: float) -> None:
    """:func:`leapfrog` in place."""
    u[:] = leapfrog(u, v, h)


def kick(v_before: FloatArray, f: FloatArray, w: FloatArray, v: FloatArray) -> None:
    """:func:`kicked` into ``v``."""
    v[:] = kicked(v_before, w, f)


def central_sums(
    m: FloatArray, v_before: FloatArray, v: FloatArray, f: FloatArray, u: FloatArray
) -> tuple[float, float, float, float, float]:
    """:func:`inertia_terms` and :func:`power_sums`: see the compiled version."""
    mean, jump = velocity_squares(v_before, v)
    return *inertia_terms(np.dot(m, mean), np.dot(m, jump)), *power_sums(v_before, v, u, f)


def central_sums_with_load(
    m: FloatArray, v_before: FloatArray, v: FloatArray, f: FloatArray, u: FloatArray, load: FloatArray
) -> tuple[float, float, float, float, float, float, float, float]:
    """:func:`central_sums`, then :func:`power_sums` of the load."""
    return *central_sums(m, v_before, v, f, u), *power_sums(v_before, v, u, load)


def power_sums(
    v_before: FloatArray, v: FloatArray, u: FloatArray, f: FloatArray
) -> tuple[float, float, float]:
    """``v_before.f, v.f, u.f``, sums over the entries of f."""
    n = f.size
    return np.dot(v_before[:n], f), np.dot(v[:n], f), np.dot(u[:n], f)
