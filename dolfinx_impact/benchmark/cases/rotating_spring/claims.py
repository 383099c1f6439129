"""The rotating spring of Di Stasio et al. (2019) and their CSMA paper: without friction, and all claims.

The map F of a step without contact, in the scheme's own variables (u_n, v_{n+1/2}) or (u_n, v_n), is
symplectic where ``DF^T J DF = J`` with ``J = [0 I; -I 0]``, all masses being equal.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...claim import CSMA, DI_STASIO, Measured, above, below, equal, row, table
from ...convergence import norm35, order
from ...runs import FailedRun, Runs
from . import case, claims_friction
from . import measures as m
from .figures import FIGURES
from .measures import BOTH, CASE, CD, DECOUPLED, MJ, ROUNDING, RUBS, VISIBLE

__all__ = ["CLAIMS", "FIGURES"]

#: Change of the start by which derivatives are taken [m, m/s]; its square is their error.
CHANGE = 1e-5
#: What is no rounding of such derivatives.
LIMIT = 1e-8


def _deepest(runs: Runs) -> Measured:
    made = {scheme: runs(CASE, scheme, t_end=5) for scheme in BOTH}
    limit = VISIBLE * made[MJ].summary["parameters"]["radius"]
    return Measured({scheme: m.impact_depths(run).max(initial=0.0) for scheme, run in made.items()}, limit)


def _smallest(runs: Runs, scheme: str) -> Measured:
    run = runs(CASE, scheme, t_end=5)
    depths, limit = m.impact_depths(run), VISIBLE * run.summary["parameters"]["radius"]
    note = f"{np.sum(depths > limit)} of {depths.size} are deep, up to {depths.max(initial=0):.3g} m"
    return Measured(depths.min() if depths.size else 0.0, limit, note=note)


def _growth(runs: Runs) -> Measured:
    deep, shallow = (runs(CASE, CD, h=h).results["penetration_max"] for h in (0.1, 0.01))
    return Measured(deep / shallow if shallow > 0 else 0.0, note=f"{deep:.3g} and {shallow:.3g} m")


def _behind(runs: Runs) -> list[float]:
    """Largest penetration over the way h |v| of a step, with and without friction."""
    found = [runs(CASE, scheme, **law).results for scheme in BOTH for law in ({}, RUBS)]
    return [one["penetration_max"] / one["step_length"] for one in found]


def _central(runs: Runs) -> Measured:
    run = runs(CASE, CD)
    L, hits = m.momentum(run), m.impacts(run)
    change = np.abs(np.diff(L))[hits - 1].max(initial=0.0) / abs(L[0])
    return Measured(change, holds=hits.size > 0, note=f"{hits.size} impulses")


def _swing(runs: Runs, since: float = 0.0, **law: float) -> Measured:
    """Swing of ``x ^ m v`` from a part of the run on, relative."""
    run = runs(CASE, MJ, **law)
    last, L = run["t"] >= since * run["t"][-1], m.momentum(run)
    predicted = np.ptp((m.kept(run) - L)[last]) / abs(L[0])
    return Measured(m.swing(L[last]) / abs(L[0]), note=f"(h^2/4) v ^ F swings by {predicted:.3g}")


def _loss(runs: Runs, scheme: str) -> Measured:
    found = runs(CASE, scheme).results
    drift, other = found["momentum_drift"], found["invariant_drift"]
    note = f"Its largest change is {drift:.3g}, that of x ^ m v + (h^2/4) v ^ F {other:.2g}"
    return Measured(found["momentum_loss"], note=note)


def _order(runs: Runs) -> float:
    steps = (0.1, 0.05, 0.025)
    return order(steps, [max(runs(CASE, MJ, h=h).results["momentum_drift"], 1e-300) for h in steps])


def _drift(runs: Runs, analytic: bool = False) -> Measured:
    run = runs(CASE, CD)
    L, p = m.momentum(run), run.summary["parameters"]
    true = p["m"] * (p["x0"] * p["vy0"] - p["y0"] * p["vx0"]) if analytic else L[0]
    return Measured(np.abs(L - true).max() / abs(true), note=f"{run.results['contact_phases']} impacts")


def _later(runs: Runs, scheme: str) -> Measured:
    """Largest error of the momentum over 100 s over that of the first 10 s."""
    run = runs(CASE, scheme)
    drift = np.abs(m.momentum(run) - m.momentum(run)[0]) / abs(m.momentum(run)[0])
    early, whole = float(drift[run["t"] <= 10].max()), float(drift.max())
    return Measured(whole / early if early > 0 else 0.0, note=f"{whole:.3g} over {early:.3g}")


def _critical(runs: Runs, halvings: int = 8) -> Measured:
    """Multiple of the step from which on CD-Lagrange refuses it."""
    low, high = 1.0, 10.0
    if _goes(runs, high):
        return Measured(high, holds=False, note="CD-Lagrange runs with it")
    for _ in range(halvings):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _goes(runs, middle) else (low, middle)
    return Measured(high, holds=high > 1)


def _goes(runs: Runs, factor: float) -> bool:
    try:
        runs(CASE, CD, h=0.1 * factor, t_end=20)
    except FailedRun:
        return False
    return True


def _unbalanced(runs: Runs) -> Measured:
    """Momentum that forces leave in a step without contact, relative; also of one linear solve about x_n."""
    run = runs(CASE, MJ)
    u, v, F, p = run["u"], run["v"][: len(run["t"])], m.force(run), run.summary["parameters"]
    h, mass, free = run.results["h"], p["m"], run["r"][1:, 0] == 0
    push = mass * np.diff(v, axis=0) - h / 2 * (F[1:] + F[:-1])
    scale, size = mass * np.hypot(*v.T).max(), np.hypot(*u.T)[:-1, None]
    unit, du = u[:-1] / size, np.diff(u, axis=0)
    along = np.sum(du * unit, axis=1)[:, None] * unit
    tangent = -p["k"] * ((1 - p["l0"] / size) * du + p["l0"] / size * along)
    left = h / 2 * np.abs(np.diff(F, axis=0) - tangent)[free].max() / scale
    return Measured(np.abs(push)[free].max() / scale, note=f"A linear solve would leave up to {left:.2g}")


def _not_symplectic(runs: Runs) -> Measured:
    drift = runs(CASE, MJ).results["momentum_drift"]
    note = f"Its angular momentum changes by up to {drift:.2g} of itself"
    return Measured(_defect(runs, MJ), holds=drift > ROUNDING, note=note)


def _defect(runs: Runs, scheme: str) -> float:
    """Largest entry of ``DF^T J DF - J`` for the second step from the start."""
    first, second = (_derivative(runs, scheme, n) for n in (1, 2))
    step, unit = second @ np.linalg.inv(first), np.eye(2)
    J = np.block([[0 * unit, unit], [-unit, 0 * unit]])
    return float(np.abs(step.T @ J @ step - J).max())


def _derivative(runs: Runs, scheme: str, n: int) -> NDArray:
    """Of the state after n steps by the start."""
    end, columns = 2 * case.PARAMETERS["h"].default, []
    for name in ("x0", "y0", "vx0", "vy0"):
        states = []
        for sign in (1, -1):
            changed = {name: case.PARAMETERS[name].default + sign * CHANGE}
            run = runs(CASE, scheme, t_end=end, **changed)
            states.append(np.append(run["u"][n], run["v"][n]))
        columns.append((states[0] - states[1]) / (2 * CHANGE))
    return np.column_stack(columns)


def _better(runs: Runs, starts: int = 9, h: float = 1e-4) -> dict[str, float]:
    """Error of Moreau-Jean's positions over that of CD-Lagrange, mean over starts with other velocities."""
    ratios = {}
    for name, law in (("e = 1", {}), ("friction", RUBS)):
        errors = []
        for vy0 in map(float, np.linspace(1.9, 2.1, starts)):
            fine = m.refined(runs, h, case.PARAMETERS["h"].default, t_end=5, vy0=vy0, **law)
            made = [runs(CASE, scheme, t_end=5, vy0=vy0, **law) for scheme in BOTH]
            errors.append([norm35(run["u"][1:], fine["u"][1:]) for run in made])
        ours, theirs = np.mean(errors, axis=0)
        ratios[name] = theirs / ours
    return ratios


_SECTION, _2_3 = "Rotating spring", "Sect. 2.3"
#: The coupled scheme keeps an invariant of its own; the other one takes its impulse along the normal at
#: the end of a step without contact, not at the position at which it acts.
_VARIANTS = (
    ("", MJ, "the coupled scheme"),
    ("-decoupled", DECOUPLED, "the decoupled variant, as CSMA (2019) prints it, H = L M^-1 L^T"),
)
_FORECAST = "the gap forecast by h/2 closes as often before the wall as behind it"
_LOSS = "relative loss over 100 s; the coupled scheme keeps x ^ m v + (h^2/4) v ^ F, x ^ m v swings"
_LATER = "largest error over 100 s over that of the first 10 s; bounded where an invariant is kept"
_DEFECT = "largest entry of DF^T J DF - J for a step F without contact, by differences of 1e-5"
_csma = partial(row, paper=CSMA)

CLAIMS = (*table(CASE, DI_STASIO, [
    row("distasio-spring-critical", _SECTION, "The step 0.1 s is of the order of the critical one.",
        _critical, below(10.0), "multiple of the step 0.1 s from which on CD-Lagrange refuses it"),
    row("distasio-spring-newton", _SECTION,
        "Large rotations make the case nonlinear: implicit schemes need Newton's method.",
        _unbalanced, below(ROUNDING), "relative unbalanced momentum of a step without contact, Moreau-Jean"),
    row("distasio-spring-inside", "Figs. 15, 17",
        "The wall holds the mass inside, but for a residual penetration.",
        _behind, below(1.0), "penetration over the way h |v| of a step: contact is found at its end"),
    row("distasio-fig15-large", "Fig. 15", "Both schemes penetrate the wall by much.",
        _deepest, above(), "deepest penetration of an impact in 5 s [m]; limit: a hundredth of the radius"),
    *(row(f"distasio-fig15-penetration-{id}", "Fig. 15", f"{name} penetrates by much at each impact{which}.",
          _smallest, above(), f"least depth of an impact in 5 s [m], negative before the wall; {why}",
          scheme=scheme)
      for id, scheme, name, which, why in (
          ("cd", CD, "CD-Lagrange", "", "it looks at the new position"),
          ("mj", MJ, "Moreau-Jean", " (the coupled scheme)", _FORECAST),
          ("decoupled", DECOUPLED, "Moreau-Jean", " (the decoupled variant)", _FORECAST))),
    row("distasio-fig15-large-step", "Fig. 15", "The penetration comes from the large time step.",
        _growth, above(math.sqrt(10)), "largest penetration at h = 0.1 s over that at 0.01 s; half an order"),
    row("distasio-fig16-central-impulse", "Fig. 16",
        "Without friction the impulse is parallel to the position and leaves the angular momentum alone.",
        _central, below(ROUNDING), "relative change of x ^ m v by an impulse, which points to the centre"),
    row("distasio-fig16-oscillates", "Fig. 16", "The angular momentum of Moreau-Jean oscillates.",
        _swing, above(ROUNDING), "relative swing of x ^ m v; its sum with (h^2/4) v ^ F is kept"),
    *(row(f"distasio-fig16-loss{id}", "Fig. 16",
          f"The angular momentum of Moreau-Jean loses more than 10 % over 100 s ({which}).",
          _loss, above(0.1), _LOSS, scheme=scheme) for id, scheme, which in _VARIANTS),
    row("distasio-fig16-convergence", "Fig. 16",
        "Moreau-Jean conserves the angular momentum at convergence only.",
        _order, equal(2, 0.2), "order in h of the largest change of x ^ m v, that of (h^2/4) v ^ a"),
    row("distasio-fig16-exact", "Fig. 16", "CD-Lagrange conserves the angular momentum exactly.",
        _drift, below(ROUNDING), "relative change of x ^ m v: force and impulse at t_n point along u_n"),
    *(row(f"distasio-spring-long{id}", _SECTION,
          f"The error of Moreau-Jean's angular momentum can become large in long simulations ({which}).",
          _later, above(2.0), _LATER, scheme=scheme) for id, scheme, which in _VARIANTS),
    row("distasio-spring-symplectic", "Time integration schemes", "CD-Lagrange is symplectic.",
        lambda runs: _defect(runs, CD), below(LIMIT), _DEFECT),
    row("distasio-fig18-oscillates", "Fig. 18",
        "In its tangent state Moreau-Jean's angular momentum still oscillates.",
        _swing, above(ROUNDING), "swing of x ^ m v in the last 20 s, relative", since=0.8, **RUBS),
    _csma("csma-spring-exact", f"{_2_3}, Fig. 4",
          "CD-Lagrange conserves the angular momentum at its analytical value.",
          _drift, below(ROUNDING), "relative error of x ^ m v over 100 s", analytic=True),
    *(_csma(f"csma-spring-loss{id}", f"{_2_3}, Fig. 4",
            f"Moreau-Jean loses more than 10 % of the angular momentum over 100 s ({which}).",
            _loss, above(0.1), _LOSS, scheme=scheme) for id, scheme, which in _VARIANTS),
    _csma("csma-spring-symplectic", _2_3,
          "A scheme that does not keep the discrete angular momentum is not symplectic.",
          _not_symplectic, above(LIMIT), f"{_DEFECT}, of Moreau-Jean"),
    *(_csma(f"csma-spring-error{id}", _2_3,
            f"Not conserving the angular momentum can cause a large error ({which}).",
            _later, above(2.0), _LATER, scheme=scheme) for id, scheme, which in _VARIANTS),
    _csma("csma-spring-better", "Sect. 3",
          "For large rotations with impact a symplectic scheme such as CD-Lagrange gives better results.",
          _better, above(1.0), "error of Moreau-Jean over that of CD-Lagrange, norm (35), mean of 9 starts"),
]), *claims_friction.CLAIMS)  # fmt: skip
