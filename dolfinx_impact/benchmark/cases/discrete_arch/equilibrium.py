"""Static equilibrium of a chain above a floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._types import BoolArray, FloatArray
from ....algebra.complementarity import NotConverged
from .chain import Chain

_MAX_ITERATIONS = 300


@dataclass(frozen=True)
class Equilibrium:
    """A local minimum of the chain's energy above a floor."""

    positions: FloatArray  #: Of the nodes, shape (2 n,) [m].
    forces: FloatArray  #: Of contact at the internal nodes 1, 2, ..., at least 0, shape (n - 2,) [N].
    active: tuple[int, ...]  #: Numbers of the nodes in contact with the floor.
    residual: float  #: Largest unbalanced force [N].


def static_equilibrium(
    chain: Chain, floor: float | FloatArray, start: FloatArray, *, tolerance: float = 1e-12
) -> Equilibrium:
    """Minimise the chain's energy without load subject to ``y_i >= floor`` at the internal nodes.

    Projected Newton method with the tangent of the UFL form (Bertsekas, SIAM J. Control Optim. 20 (1982)):
    monotone descent from ``start`` to a local minimum; saddle points are left along directions of negative
    curvature.

    Args:
        chain: The chain.
        floor: Lower bound of the heights, one number or one per node, shape (bars - 1,) [m].
        start: Initial positions, shape (size,) [m].
        tolerance: Accepted unbalanced force relative to k times the length of a bar.

    Raises:
        NotConverged: No minimum was found.
    """
    lower = np.full(chain.size, -np.inf)
    lower[chain.heights] = floor
    x = np.maximum(start, lower)
    x[chain.constrained] = chain.rest[chain.constrained]
    length = float(np.hypot(*(chain.rest[2:4] - chain.rest[:2])))
    accepted, last = tolerance * chain.k * length, np.inf
    for _ in range(_MAX_ITERATIONS):
        force = chain.internal_force(x)
        free, worst = _unbalanced(chain, x, force, lower)
        step, minimum = _descent(chain.tangent(x)[np.ix_(free, free)], force[free], worst <= accepted)
        if minimum and worst <= accepted and worst > last / 2:
            pressing = ~free & ~chain.constrained
            forces = np.where(pressing, force, 0.0)[chain.heights]
            return Equilibrium(x, forces, tuple(int(i) + 1 for i in np.flatnonzero(forces)), worst)
        full = np.zeros(chain.size)
        full[free] = step * min(1.0, length / 2 / max(np.max(np.abs(step), initial=0.0), 1e-300))
        x, last = _line_search(chain, x, full, lower, worst, length), worst
    left = f"a force of {worst:.3g} N is unbalanced"
    raise NotConverged(f"no static equilibrium in {_MAX_ITERATIONS} steps: {left}")


def _unbalanced(chain: Chain, x: FloatArray, force: FloatArray, lower: FloatArray) -> tuple[BoolArray, float]:
    """Mask of the inactive dofs, shape (size,), and the largest unbalanced force on them [N]."""
    free = ~chain.constrained & ~((x <= lower) & (force > 0))
    return free, float(np.max(np.abs(force[free]), initial=0.0))


def _descent(tangent: FloatArray, force: FloatArray, balanced: bool) -> tuple[FloatArray, bool]:
    """Newton step with the moduli of the curvatures, and whether all of these are positive.

    At a balanced state with a negative curvature (a saddle point) the step is that eigenvector.
    """
    curvature, modes = np.linalg.eigh(tangent)
    rounding = 1e-12 * curvature[-1]
    minimum = bool(curvature[0] > -rounding)
    if balanced and not minimum:
        return modes[:, 0], False
    return -modes @ ((modes.T @ force) / np.maximum(np.abs(curvature), rounding)), minimum


def _line_search(
    chain: Chain, x: FloatArray, step: FloatArray, lower: FloatArray, worst: float, length: float
) -> FloatArray:
    """Backtracking on the step projected to the floor until energy or unbalanced force decrease."""
    energy, force = chain.stored_energy(x), chain.internal_force(x)
    rounding = 1e-14 * chain.k * length**2
    for halvings in range(40):
        trial = np.maximum(x + 0.5**halvings * step, lower)
        change = chain.stored_energy(trial) - energy
        if change < min(0.0, 1e-4 * float(force @ (trial - x))) - rounding:
            return trial
        if change <= rounding:
            if _unbalanced(chain, trial, chain.internal_force(trial), lower)[1] < worst / 2:
                return trial
    return x
