"""Critical time step of central differences with lumped masses.

Damping forces stand at the velocity half a step before. A motion x that grows from step to step first does so
with alternating signs, so that the limit for any damping C, wherever it acts, is the largest h with::

    M - h/2 C - h^2/4 K >= 0

the first of a positive semidefinite C. Without damping it is ``2 / omega_max``; for ``C = alpha M + beta K``
the solution of ``omega_max^2 h^2 + 2 (alpha + beta omega_max^2) h = 4``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._types import FloatArray
from .forces.stiffness import NotFound, Spectrum, spectrum

#: Parts of the largest eigenvalue: negative ones from this on are a mistake, unsymmetric parts too.
_NEGATIVE, _UNSYMMETRIC = 1e-2, 1e-8
#: Largest number of products for a spectrum, without and with an unsymmetric part, and of spectra.
_PRODUCTS, _FEWER, _MOST = 20_000, 2_000, 40

#: Growth in a step that is rounding, and number of halved steps, in :func:`unsymmetric_step`.
_GROWTH, _HALVED = 1e-7, 20

#: ``add(x, out)`` adds the product of a matrix with x, shape (size,), to ``out``.
Product = Callable[[FloatArray, FloatArray], None]


def critical_step(
    body: Any, inverse_mass: FloatArray, u: FloatArray | None, v: FloatArray | None, tolerance: float
) -> float:
    """See :meth:`.Body.critical_time_step` [s]. Collective."""
    at = np.zeros(body.size) if u is None else u

    def add_stiffness(x: FloatArray, out: FloatArray) -> None:
        body.subtract_tangent(at, -x, out)

    if not body.comm.allreduce(bool(inverse_mass.any())):
        return math.inf
    found = rates(body, add_stiffness, inverse_mass, tolerance)
    if u is None and -found.least > _NEGATIVE * max(found.largest, -found.least):
        raise ValueError(
            f"the stiffness at rest is negative: squared frequencies reach from {found.least:.3g} to "
            f"{found.largest:.3g} 1/s2, so that the body flies apart by itself and has no critical step; "
            "is a sign of the energy or of the internal forces wrong?"
        )
    square = max(found.largest, 0.0)
    alpha, beta = body.damping_rate, body.stiffness_damping
    if not body.is_viscous(v):
        return largest_step(square, alpha + beta * square)

    def largest(s: float) -> float:
        def add(x: FloatArray, out: FloatArray) -> None:
            body.add_viscous_tangent(at, v, s * x, out)
            body.subtract_tangent(at, -(s * (s + beta)) * x, out)

        value: float = rates(body, add, inverse_mass, tolerance).largest + alpha * s
        return value

    return damped_step(largest, square, tolerance)


def largest_step(square: float, rate: float) -> float:
    """The h with ``square h^2 + 2 rate h = 4``: the limit of one mode, inf without stiffness and damping [s].

    Args:
        square: Its squared frequency [1/s2].
        rate: Its damping over its mass [1/s].
    """
    both = rate + math.hypot(rate, 2.0 * math.sqrt(square))
    return 4.0 / both if both > 0.0 else math.inf


def damped_step(largest: Callable[[float], float], square: float, tolerance: float) -> float:
    """The largest h with ``M - h/2 C - h^2/4 K >= 0`` for any C, at most that without damping [s].

    ``g(s) = largest(s) / s``, the largest eigenvalue of ``M^-1 (C + s K)``, is convex in ``s = h/2`` and
    grows. A line that lies below it to the left of two points thus meets ``1/s`` above the solution; it
    begins with the slope ``square``, which is the largest.

    Args:
        largest: Largest eigenvalue of ``M^-1 (s C + s^2 K)`` as a function of s.
        square: Largest eigenvalue of ``M^-1 K`` [1/s2].
        tolerance: Relative tolerance.
    """
    s = 1.0 / math.sqrt(square) if square > 0.0 else _without_stiffness(largest)
    slope, last = square, None
    for _ in range(_MOST):
        if not math.isfinite(s):
            return math.inf
        value = largest(s)
        if value <= 1.0 + tolerance:
            break
        g = value / s
        if last is not None:
            slope = max((last[1] - g) / (last[0] - s), 0.0)
        last, rest = (s, g), g - slope * s
        s = 2.0 / (rest + math.sqrt(rest * rest + 4.0 * slope))
    return 2.0 * s / max(value, 1.0)  # largest(s / value) <= 1


def unsymmetric_step(K: FloatArray, C: FloatArray, most: float) -> float:
    """The largest stable step of ``v' = v - h (K u + C v), u' = u + h v'``, where C is not symmetric [s].

    Forces across the velocity, which give and take no energy, do give some where they follow the velocity
    half a step before: the limit is lower than that of the symmetric part. ``most`` where no step is stable,
    as for such a force alone, whose growth goes with the step.

    Args:
        K, C: Stiffness and damping over the masses, shape (k, k).
        most: The limit of the symmetric part [s].
    """
    if not math.isfinite(most) or np.abs(C - C.T).max() <= _UNSYMMETRIC * np.abs(C).max():
        return most

    def stable(h: float) -> bool:
        after = np.eye(len(K)) - h * C, -h * K
        steps = np.block([[after[0], after[1]], [h * after[0], np.eye(len(K)) + h * after[1]]])
        return bool(np.abs(np.linalg.eigvals(steps)).max() <= 1.0 + _GROWTH)

    if stable(most * (1.0 - _UNSYMMETRIC)):
        return most
    low = next((most * 0.5**i for i in range(1, _HALVED) if stable(most * 0.5**i)), None)
    if low is None:
        return most
    high = 2.0 * low
    for _ in range(_MOST):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


def _without_stiffness(largest: Callable[[float], float]) -> float:
    rate = largest(1.0)
    return 1.0 / rate if rate > 0.0 else math.inf


def rates(body: Any, add: Product, inverse_mass: FloatArray, tolerance: float) -> Spectrum:
    """Extreme eigenvalues of ``M^-1 A``; ``add(x, out)`` adds ``A x`` to a zero ``out``. Collective.

    Raises:
        ValueError: They are not found, and the matrix is not symmetric.
        NotFound: They are not found.
    """
    root = np.sqrt(inverse_mass)
    x, y = np.zeros(body.size), np.zeros(body.size)

    def apply(q: FloatArray, out: FloatArray) -> None:
        np.multiply(root, q, out=x[: body.owned])
        y[:] = 0.0
        add(x, y)
        np.multiply(root, y[: body.owned], out=out)

    part = 0.0 if getattr(body, "conservative", True) else _unsymmetric_part(body, apply, root)
    most = _FEWER if part > _UNSYMMETRIC else _PRODUCTS
    try:
        return spectrum(body.comm, apply, root * rough_field(body), tolerance=tolerance, most=most)
    except NotFound:
        if part <= _UNSYMMETRIC:
            raise
        raise ValueError(
            f"the tangent of the forces is not symmetric (by {100 * part:.2g} % of its entries), and the "
            "highest frequency was not found: the internal forces have no energy, or the damping is not "
            "symmetric. Check the signs of their terms, or take an implicit scheme, whose step is not "
            "limited, for example MoreauJean"
        ) from None


def _unsymmetric_part(body: Any, apply: Product, root: FloatArray) -> float:
    """``|x.A y - y.A x|`` of rough fields over the sizes of the products. Collective."""
    x = root * rough_field(body)
    y = root * np.roll(rough_field(body), 1)[: root.size]
    Ax, Ay = np.zeros_like(x), np.zeros_like(x)
    apply(x, Ax)
    apply(y, Ay)
    sums = [x @ Ay, y @ Ax, x @ x, y @ y, Ax @ Ax, Ay @ Ay]
    both = body.comm.allreduce(np.array(sums, dtype=np.float64))
    size = math.sqrt(both[2] * both[5]) + math.sqrt(both[3] * both[4])
    return float(abs(both[0] - both[1]) / size) if size > 0.0 else 0.0


def rough_field(body: Any) -> FloatArray:
    """Start vector with components of all modes, independent of the partition, shape (owned,)."""
    x = body.x[: body.owned // body.block] / body.length
    phase = x @ np.array([[1297.0, 911.0, 1103.0], [1471.0, 1031.0, 787.0], [853.0, 1289.0, 1187.0]])
    # The phase shift avoids an odd field, orthogonal to the even modes of a symmetric body.
    waves = np.sin(1e3 * phase + 1.0)
    if body.block > 3:
        waves = np.hstack([waves, np.sin(1.7e3 * phase + 1.0)])
    return np.ascontiguousarray(waves[:, : body.block]).ravel()
