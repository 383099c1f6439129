"""What the schemes do between two impacts, where all is smooth.

Di Stasio et al. (2019), Fig. 8 and 'Time integration schemes', and section 2.1 of their French paper.
Unless a claim says otherwise, the ball of 1 kg falls from 1 m and h = 0.01 s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...claim import CSMA, DI_STASIO, Claim
from ...runs import Runs
from ...verdict import Verdict
from .claims_schemes import ELASTIC, EPS, LOSSY, PLASTIC, SPEED, listed
from .figures import CASE, FLIGHT, GRAVITY, SMOOTH_STEPS, STEP, VELOCITY_LEVEL, smooth_errors

#: The case whose flight is no parabola.
SPRING = "rotating-spring"


def smooth_rounding(runs: Runs, steps: Sequence[float] = SMOOTH_STEPS) -> Verdict:
    """N sums of positions of 1 m, and of velocities that grow to g t."""
    worst = {name: max(smooth_errors(runs, name, steps)) for name in VELOCITY_LEVEL}
    limit = FLIGHT / min(steps) * EPS * (1 + GRAVITY * FLIGHT**2 / 2)
    why = (
        f"largest norm (35) of the position before the first impact, h from {steps[0]:g} to {steps[-1]:g} "
        f"s: {listed(worst)}. It grows with the number of sums: no order can be read off it, but a "
        "first-order scheme would be off by h / 0.2 s"
    )
    return Verdict.below(why, max(worst.values()), limit)


def flight(runs: Runs, restitution: float, t_end: float) -> Verdict:
    """Taylor's polynomial of second order is the whole flight; one rounds four lengths of 1 m."""
    worst = 0.0
    for name in VELOCITY_LEVEL:
        run = runs(CASE, name, restitution=restitution, t_end=t_end)
        z, v, free = run["u"][:, 0], run["v_t"][:, 0], run["r"][:, 0] == 0
        taylor = z[:-1] + STEP * v[:-1] - GRAVITY * STEP**2 / 2
        steps = free[:-1] & free[1:]
        worst = max(worst, float(np.abs(z[1:] - taylor)[steps].max()))
    why = (
        "largest distance [m] of a free step from z + h v - g h^2/2, CD-Lagrange and Moreau-Jean, "
        f"e = {restitution:g}, {t_end:g} s: both make the second order of Taylor's series exactly, and "
        "under a constant force there is no more; the first order alone would be off by "
        f"{GRAVITY * STEP**2 / 2:.1e}"
    )
    # The velocity, too, is a sum that was rounded in each of the steps.
    return Verdict.below(why, worst, (4 + STEP * SPEED * t_end / STEP) * EPS)


def balance(runs: Runs) -> Verdict:
    """Some hundred sums of energies of 10 J."""
    several = [runs(CASE, "moreau-jean", restitution=e) for e in (ELASTIC, LOSSY, PLASTIC)]
    worst = max(float(run.results["balance_residual"]) for run in several)
    why = "largest residual of Moreau-Jean's balance, theta = 1/2, over the largest energy; e = 1, 0.8, 0"
    return Verdict.below(why, worst, 1e-13)


def modified_energy(runs: Runs) -> Verdict:
    """Kinetic and complementary energy and that of the height; only steps with an impulse change it."""
    run = runs(CASE, "cd-lagrange", restitution=ELASTIC)
    energy = run["kinetic"] + run["complementary"] + GRAVITY * run["u"][:, 0]
    free = run["r"][:, 0] == 0
    away = float(np.abs(energy[free] / energy[0] - 1).max())
    why = (
        "largest relative change of the modified energy of CD-Lagrange at e = 1, all times without an "
        f"impulse; at the impulses themselves it dips by {1 - energy.min() / energy[0]:.2g}"
    )
    return Verdict.below(why, away, 1e-13)


def newmark_form(runs: Runs, scheme: str, beta: float) -> Verdict:
    """Newmark's formulas with gamma = 1/2 in the steps of the spring without impulse.

    The accelerations are those of (43) at the recorded positions; each formula rounds a few numbers
    of the size of the wall's radius, and Newton's method ends at rounding.
    """
    run = runs(SPRING, scheme)
    p = run.summary["parameters"]
    u, v, h = run["u"], run["v_t"], float(run.results["h"])
    stretch = 1 - p["l0"] / np.linalg.norm(u, axis=1, keepdims=True)
    a = -p["k"] / p["m"] * stretch * u
    free = (run["r"][:-1, 0] == 0) & (run["r"][1:, 0] == 0)
    position = np.diff(u, axis=0) - h * v[:-1] - h**2 * ((0.5 - beta) * a[:-1] + beta * a[1:])
    velocity = np.diff(v, axis=0) - h / 2 * (a[:-1] + a[1:])
    away = float(max(np.abs(position[free]).max(), h * np.abs(velocity[free]).max()))
    other = float(np.abs(h**2 / 4 * np.diff(a, axis=0)[free]).max())
    why = (
        f"largest defect [m] of Newmark's formulas, gamma = 1/2, beta = {beta:g}, velocities times h, "
        f"frictionless spring at h = {h:g} s, {int(free.sum())} steps without impulse. Between beta = 0 "
        f"and 1/4 lie {other:.2g} m"
    )
    return Verdict.below(why, away, 20 * EPS * p["radius"])


def _claim(
    paper: str, where: str, name: str, claim: str, judge: Callable[..., Verdict], case: str = CASE
) -> Claim:
    return Claim(name, case, paper, where, claim, judge)


_schemes = partial(_claim, DI_STASIO, "Time integration schemes")

CLAIMS: tuple[Claim, ...] = (
    _claim(
        DI_STASIO,
        "Fig. 8",
        "distasio-fig08-rounding",
        "Before the first impact the error is of the order of rounding.",
        smooth_rounding,
    ),
    _claim(
        DI_STASIO,
        "Fig. 8",
        "distasio-fig08-order",
        "Both schemes are of second order in the smooth part.",
        partial(flight, restitution=LOSSY, t_end=FLIGHT),
    ),
    _schemes(
        "distasio-ball-balance", "Moreau-Jean ensures a discrete energy balance for theta = 1/2.", balance
    ),
    _schemes(
        "distasio-mj-is-newmark",
        "For theta = 1/2 Moreau-Jean is Newmark's constant average acceleration in the smooth part.",
        partial(newmark_form, scheme="moreau-jean", beta=0.25),
        SPRING,
    ),
    _schemes(
        "distasio-cd-is-central",
        "CD-Lagrange is the central difference method in the smooth part.",
        partial(newmark_form, scheme="cd-lagrange", beta=0.0),
        SPRING,
    ),
    _schemes(
        "distasio-ball-modified-energy",
        "CD-Lagrange conserves a discrete modified energy in the smooth part.",
        modified_energy,
    ),
    _claim(
        CSMA,
        "Sect. 2.1",
        "csma-ball-order-flight",
        "Free flight converges as h^2.",
        partial(flight, restitution=LOSSY, t_end=5.0),
    ),
)
