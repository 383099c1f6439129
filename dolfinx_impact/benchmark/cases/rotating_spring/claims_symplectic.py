"""Whether the schemes are symplectic on the rotating spring, and what that is worth.

The map F of a step without contact, in the scheme's own variables (u_n, v_{n+1/2}) or (u_n, v_n), is
symplectic where ``DF^T J DF = J`` with ``J = [0 I; -I 0]``, all masses being equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...convergence import norm35
from ...runs import Runs
from ...verdict import Verdict
from . import case as rotating_spring
from .measures import CASE, CD, MJ, ROUNDING, RUBS, refined

#: Change of the start by which derivatives are taken [m, m/s]; its square is their error.
CHANGE = 1e-5
#: What is no rounding of such derivatives.
LIMIT = 1e-8


def judge_symplectic(runs: Runs) -> Verdict:
    """Decides ``distasio-spring-symplectic``."""
    return Verdict.below(
        (
            "Largest entry of DF^T J DF - J for a step F without contact in (u_n, v_{n+1/2}), by differences "
            f"of {CHANGE:g} m and m/s, whose own error is about their square."
        ),
        defect(runs, CD),
        LIMIT,
    )


def judge_not_symplectic(runs: Runs) -> Verdict:
    """Decides ``csma-spring-symplectic``."""
    drift, size = runs(CASE, MJ).results["momentum_drift"], defect(runs, MJ)
    return Verdict.above(
        (
            "Largest entry of DF^T J DF - J for a step F of Moreau-Jean without contact in (u_n, v_n); its "
            f"angular momentum changes by up to {drift:.2g} of itself. CD-Lagrange keeps both."
        ),
        size if drift > ROUNDING else 0.0,
        LIMIT,
    )


def judge_better(runs: Runs, starts: int = 9, h: float = 1e-4) -> Verdict:
    """Decides ``csma-spring-better``."""
    ratios, listed = [], []
    for law, name in (({}, "without"), (RUBS, "with")):
        errors = np.mean([_errors(runs, float(vy0), h, law) for vy0 in np.linspace(1.9, 2.1, starts)], axis=0)
        ratios.append(errors[1] / errors[0])
        listed.append(f"{errors[0]:.3g} against {errors[1]:.3g} {name} friction")
    return Verdict.above(
        (
            "Error of Moreau-Jean's position over that of CD-Lagrange in norm (35), over 5 s, mean over "
            f"{starts} starts about the paper's, the smaller ratio ({', '.join(listed)}); the reference is "
            f"CD-Lagrange at h = {h:g} s."
        ),
        min(ratios),
        1.0,
    )


def defect(runs: Runs, scheme: str) -> float:
    """Largest entry of ``DF^T J DF - J`` for the second step from the start."""
    first, second = (_derivative(runs, scheme, n) for n in (1, 2))
    step, unit = second @ np.linalg.inv(first), np.eye(2)
    J = np.block([[0 * unit, unit], [-unit, 0 * unit]])
    return float(np.abs(step.T @ J @ step - J).max())


def _derivative(runs: Runs, scheme: str, n: int) -> NDArray:
    """Of the state after n steps by the start."""
    end, columns = 2 * rotating_spring.PARAMETERS["h"].default, []
    for name in ("x0", "y0", "vx0", "vy0"):
        states = []
        for sign in (1, -1):
            changed = {name: rotating_spring.PARAMETERS[name].default + sign * CHANGE}
            run = runs(CASE, scheme, t_end=end, **changed)
            states.append(np.append(run["u"][n], run["v"][n]))
        columns.append((states[0] - states[1]) / (2 * CHANGE))
    return np.column_stack(columns)


def _errors(runs: Runs, vy0: float, h: float, law: dict[str, float]) -> list[float]:
    """Of the positions of both schemes, from a start with another velocity across the spring."""
    fine = refined(runs, h, rotating_spring.PARAMETERS["h"].default, t_end=5, vy0=vy0, **law)
    made = [runs(CASE, scheme, t_end=5, vy0=vy0, **law) for scheme in (CD, MJ)]
    return [norm35(run["u"][1:], fine["u"][1:]) for run in made]
