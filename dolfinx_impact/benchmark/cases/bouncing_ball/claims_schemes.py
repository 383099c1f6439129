"""What the ball decides of the schemes themselves.

The remarks in 'Time integration schemes' of Di Stasio et al. (2019), and section 2.1 of their French
paper. Unless a claim says otherwise, the ball of 1 kg falls from 1 m and h = 0.01 s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...claim import CSMA, DI_STASIO, Claim
from ...runs import FailedRun, Run, Runs
from ...verdict import Verdict, also
from .figures import CASE, GRAVITY, HEIGHTS, STEP, STEPS, VELOCITY_LEVEL, drop_heights, errors, exact, fitted

EPS = float(np.finfo(np.float64).eps)
#: The speed of the first impact from 1 m [m/s].
SPEED = exact(0.0).impact_speed
#: Newton's law of an impact holds when it is off by no more than the rounding of its speeds [m/s].
LAW = 1e-14 * SPEED
ELASTIC, LOSSY, PLASTIC = 1.0, 0.8, 0.0


def farthest(values: Sequence[float], expected: float) -> float:
    """The value that is farthest from what is expected."""
    return max(values, key=lambda value: abs(value - expected))


def depth(run: Run) -> float:
    """Deepest position in the ground [m]."""
    return float(run.results["penetration_max"])


def listed(values: dict[str, float]) -> str:
    """One number a scheme."""
    return ", ".join(f"{name} {value:.4g}" for name, value in values.items())


def law_defect(run: Run) -> float:
    """Largest ``|v + e v_before|`` of a step with an impulse [m/s]."""
    return float(run.results["rebound_defect"])


def order_tolerance(heights: int, steps: Sequence[float]) -> float:
    """How far an order of 1 may be off that is fitted to means over drop heights.

    The error of one height is h times a part between 0 and 1, by where in its step the impact falls.
    The mean of N such parts scatters by 0.58/sqrt(N) of itself, the slope by that over the spread of
    log h; two and a half times that, 0.15 for 20 heights and five halved steps.
    """
    x = np.log(steps)
    return float(2.5 / np.sqrt(3 * heights * np.sum((x - x.mean()) ** 2)))


def carpenter_position(runs: Runs) -> Verdict:
    """(18) puts the ball on the ground: one subtraction is rounded."""
    run = runs(CASE, "carpenter", restitution=PLASTIC)
    why = (
        "deepest position [m] of the explicit scheme, e = 0: the multiplier is found for g(u_(n+1)) = 0, "
        "and what is left is the rounding of one sum"
    )
    return also(run.results["impacts"] > 0, Verdict.below(why, depth(run), 4 * EPS))


def carpenter_is_paoli(runs: Runs) -> Verdict:
    """Decides ``distasio-ball-carpenter-is-paoli``."""
    one, other = (runs(CASE, name, restitution=PLASTIC)["u"] for name in ("carpenter", "paoli-schatzman"))
    why = "largest difference of the positions [m] at e = 0, where the factor of u_{n-1} in (19) vanishes"
    return Verdict.below(why, float(np.abs(one - other).max()), 4 * EPS)


def paoli_phases(runs: Runs, heights: int) -> tuple[list[int], list[float], list[float]]:
    """First two contact phases of Paoli-Schatzman in steps, and the defects of Newton's law [m/s].

    These over three closed steps, (25), with the mean velocities; and over two with those of the half
    steps. e = 0.5, 0.8 and 1, up to 2 s.
    """
    lengths: list[int] = []
    three: list[float] = []
    two: list[float] = []
    for z0 in drop_heights(heights):
        for e in (0.5, LOSSY, ELASTIC):
            run = runs(CASE, "paoli-schatzman", restitution=e, z0=z0, t_end=2)
            closed, mean, half = run["r"][:, 0] > 0, run["v_t"][:, 0], run["v"][:, 0]
            i = np.flatnonzero(closed[:-1] & closed[1:])
            two += np.abs(half[i + 1] + e * half[i - 1]).tolist()
            i = np.flatnonzero(closed[:-2] & closed[1:-1] & closed[2:])
            three += np.abs(mean[i + 2] + e * mean[i]).tolist()
            edges = np.flatnonzero(np.diff(np.concatenate([[False], closed, [False]]).astype(int)))
            lengths += [int(length) for length in (edges[1::2] - edges[::2])[:2]]
    return lengths, three, two


def paoli_three_steps(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Positions of 1 m are rounded by EPS, velocities are their differences over h."""
    _, three, two = paoli_phases(runs, heights)
    why = (
        f"largest |v_(n+1) + e v_(n-1)| [m/s] of the {len(three)} times that three steps in a row are "
        f"closed, e = 0.5, 0.8, 1, {heights} drop heights; with the half-step velocities it holds over "
        f"two closed steps ({max(two, default=0.0):.1e})"
    )
    return also(len(three) > 0, Verdict.below(why, max(three, default=0.0), 8 * EPS / STEP))


def paoli_assumption(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Decides ``distasio-ball-paoli-assumption``."""
    lengths, _, _ = paoli_phases(runs, heights)
    short = sum(length < 3 for length in lengths)
    why = (
        f"part of the {len(lengths)} first and second impacts that are closed for fewer than three steps, "
        f"{short}, nearly all for two (e = 0.5, 0.8, 1, {heights} drop heights)"
    )
    return Verdict.above(why, short / max(1, len(lengths)), 0.0)


def newton(runs: Runs) -> Verdict:
    """Velocity level against position level, e = 1, 0.8, 0."""
    found = {
        name: max(law_defect(runs(CASE, name, restitution=e)) for e in (ELASTIC, LOSSY, PLASTIC))
        for name in (*VELOCITY_LEVEL, "paoli-schatzman")
    }
    position = found.pop("paoli-schatzman")
    why = (
        "largest |v+ + e v-| [m/s] of a step of CD-Lagrange and Moreau-Jean with an impulse, e = 1, 0.8, "
        f"0; Paoli-Schatzman, at position level, is off by {position:.3g}"
    )
    return also(position > LAW, Verdict.below(why, max(found.values()), LAW))


def penetration_order(runs: Runs, heights: int = HEIGHTS, steps: Sequence[float] = STEPS) -> Verdict:
    """At e = 0 the ball stays where the impact is found: up to h v deep, by the phase of the impact."""
    orders, deepest = [], {}
    for name in VELOCITY_LEVEL:
        mean = []
        for h in steps:
            several = (
                runs(CASE, name, restitution=PLASTIC, z0=z0, h=h, t_end=0.6) for z0 in drop_heights(heights)
            )
            mean.append(float(np.mean([depth(run) for run in several])))
        orders.append(fitted(steps, mean))
        deepest[name] = mean
    means = ", ".join(f"{name} {1e3 * of[0]:.1f} to {1e3 * of[-1]:.2f} mm" for name, of in deepest.items())
    why = (
        f"order in h, farther from 1 of the two schemes, of the depth at e = 0, mean of {heights} drop "
        f"heights: {means} for h from {steps[0]:g} to {steps[-1]:g} s; for one height it jumps with the "
        "phase of the impact"
    )
    return Verdict.equal(why, farthest(orders, 1.0), 1.0, order_tolerance(heights, steps))


def with_impact(
    runs: Runs, schemes: Sequence[str], heights: int = HEIGHTS, steps: Sequence[float] = STEPS
) -> Verdict:
    """Order of the mean error over drop heights."""
    orders, single = [], []
    for name in schemes:
        found = errors(runs, name, steps, heights)
        orders.append(fitted(steps, found.mean(axis=0)))
        single += [fitted(steps, row) for row in found]
    why = (
        f"order of norm (35) of the position, e = 0.8, two impacts, mean error of {heights} drop heights, "
        f"h from {steps[0]:g} to {steps[-1]:g} s ({', '.join(schemes)}); a single height gives anything "
        f"from {min(single):.2f} to {max(single):.2f}, by where in its step the impact falls"
    )
    return Verdict.equal(why, farthest(orders, 1.0), 1.0, order_tolerance(heights, steps))


def relaxed(runs: Runs) -> Verdict:
    """Each family breaks the constraint that it does not impose."""
    velocity = [runs(CASE, name, restitution=PLASTIC) for name in VELOCITY_LEVEL]
    position = [runs(CASE, name, restitution=PLASTIC) for name in ("carpenter", "paoli-schatzman")]
    broken = [*(depth(run) for run in velocity), *(STEP * law_defect(run) for run in position)]
    kept = [*(STEP * law_defect(run) for run in velocity), *(depth(run) for run in position)]
    why = (
        "smallest violation [m] of the constraint that a family leaves out, e = 0: depth of CD-Lagrange "
        "and Moreau-Jean, h |v+ + e v-| of Carpenter and Paoli-Schatzman; the one imposed is violated by "
        f"{max(kept):.1e} at most"
    )
    return also(max(kept) <= 4 * EPS, Verdict.above(why, min(broken), 1e-12))


def position_only_plastic(runs: Runs) -> Verdict:
    """Paoli-Schatzman against the exact solution: e = 0, and e > 0."""
    t = np.arange(501) * STEP
    away = {}
    for e in (PLASTIC, LOSSY, ELASTIC):
        run = runs(CASE, "paoli-schatzman", restitution=e)
        away[e] = float(np.abs(run["u"][:, 0] - exact(e).position(t)).max())
    why = (
        "largest distance [m] of Paoli-Schatzman from the exact position at e = 0; for e = 0.8 it is "
        f"{away[LOSSY]:.3g}, for e = 1 {away[ELASTIC]:.3g}"
    )
    return also(min(away[LOSSY], away[ELASTIC]) > 1e-3, Verdict.below(why, away[PLASTIC], 1e-13))


def injection(runs: Runs) -> Verdict:
    """Decides ``csma-ball-injection``."""
    run = runs(CASE, "paoli-schatzman", restitution=ELASTIC)
    energy = float(run.results["energy_after_impact"])
    bounces = ", ".join(f"{height:.4f}" for height in run.results["heights"])
    why = (
        f"largest energy [J] of Paoli-Schatzman after the first impact at e = 1, above the {GRAVITY:g} J "
        f"of the drop; it bounces to {bounces} m"
    )
    return Verdict.above(why, energy, GRAVITY * (1 + 1e-12))


def energy_at_convergence(runs: Runs, heights: int = HEIGHTS, steps: Sequence[float] = STEPS) -> Verdict:
    """An impact between two steps is placed at one of them: the energy is off by up to m g h v."""
    mean = []
    for h in steps:
        off = []
        for z0 in drop_heights(heights):
            run = runs(CASE, "paoli-schatzman", restitution=ELASTIC, z0=z0, h=h, t_end=1.3)
            off.append(abs((run.results["heights"] or [0.0])[0] / z0 - 1))
        mean.append(float(np.mean(off)))
    why = (
        f"order in h of the error of Paoli-Schatzman's first bounce at e = 1, mean of {heights} drop "
        f"heights: from {mean[0]:.1e} of the height at h = {steps[0]:g} s to {mean[-1]:.1e} at "
        f"{steps[-1]:g} s, never 0"
    )
    return Verdict.equal(why, fitted(steps, mean), 1.0, order_tolerance(heights, steps))


def theoretical_energy(runs: Runs, scheme: str) -> Verdict:
    """Of each impulse ``v+^2 = e^2 v-^2``; what is rounded is of the size of v-^2."""
    worst = 0.0
    for e in (LOSSY, ELASTIC):
        run = runs(CASE, scheme, restitution=e)
        v, hit = run["v"][:, 0], np.flatnonzero(run["r"][1:, 0] > 0) + 1
        worst = max(worst, float(np.abs(v[hit] ** 2 - e**2 * v[hit - 1] ** 2).max(initial=0.0)) / 2)
    bounces = runs(CASE, scheme, restitution=LOSSY).results["heights"][:1] or [0.0]
    why = (
        "largest defect [J] of the kinetic energy after an impulse, e^2 times that before it, e = 0.8 "
        f"and 1; the ball still bounces to {bounces[0]:.4f} instead of 0.64 m at e = 0.8, as the impulse "
        "comes up to a step late"
    )
    return Verdict.below(why, worst, 4 * EPS * SPEED**2)


def carpenter_asked(runs: Runs, restitution: float) -> Run:
    """Carpenter's explicit run with this coefficient; the one with e = 0 where that is refused."""
    try:
        return runs(CASE, "carpenter", restitution=restitution)
    except FailedRun:
        return runs(CASE, "carpenter", restitution=PLASTIC)


def carpenter_energy(runs: Runs) -> Verdict:
    """E = 1 asks for all of the energy back."""
    run = carpenter_asked(runs, ELASTIC)
    lost = 1 - float(run["v_t"][-1, 0] ** 2 / 2 + GRAVITY * run["u"][-1, 0]) / GRAVITY
    implicit = runs(CASE, "carpenter-implicit", restitution=PLASTIC).results["energy_after_impact"]
    why = (
        "part of the energy of the drop that the explicit scheme loses where e = 1 asks for all of it "
        "back: its condition on the position knows e = 0 alone, for which this is right. The implicit one "
        f"has {implicit:.3g} J after the impact at e = 0, {GRAVITY:g} J before"
    )
    return Verdict.above(why, abs(lost), 1e-12)


def _claim(paper: str, where: str, name: str, claim: str, judge: Callable[..., Verdict]) -> Claim:
    return Claim(name, CASE, paper, where, claim, judge)


_schemes = partial(_claim, DI_STASIO, "Time integration schemes")
_remark = partial(_claim, DI_STASIO, "Time integration schemes, Remark 3")
_csma = partial(_claim, CSMA, "Sect. 2.1")

CLAIMS: tuple[Claim, ...] = (
    _schemes(
        "distasio-ball-carpenter-position",
        "Carpenter's explicit scheme satisfies the contact condition on the position exactly, (18).",
        carpenter_position,
    ),
    _schemes(
        "distasio-ball-carpenter-is-paoli",
        "Carpenter's scheme is Paoli-Schatzman's with e = 0.",
        carpenter_is_paoli,
    ),
    _schemes(
        "distasio-ball-paoli-three-steps",
        "Where contact lasts, Paoli-Schatzman imposes Newton's law over three steps, (25).",
        paoli_three_steps,
    ),
    _schemes(
        "distasio-ball-paoli-assumption",
        "Contact over three steps in a row is not always met.",
        paoli_assumption,
    ),
    _remark(
        "distasio-ball-newton",
        "Only the velocity formulation integrates Newton's law in discrete form.",
        newton,
    ),
    _remark(
        "distasio-ball-penetration-step",
        "The residual penetration decreases with the time step and stays small.",
        penetration_order,
    ),
    _csma(
        "csma-ball-relaxed",
        "The discrete condition holds exactly for the position alone, or for the velocity alone.",
        relaxed,
    ),
    _csma(
        "csma-ball-plastic-only",
        "At position level only e = 0 is represented correctly.",
        position_only_plastic,
    ),
    _csma(
        "csma-ball-injection", "For e > 0 a position-level scheme may inject energy at the impact.", injection
    ),
    _csma(
        "csma-ball-convergence",
        "At position level the energy is conserved only at convergence.",
        energy_at_convergence,
    ),
    _csma(
        "csma-ball-energy-cd-lagrange",
        "The impact of CD-Lagrange conserves the theoretical energy.",
        partial(theoretical_energy, scheme="cd-lagrange"),
    ),
    _csma(
        "csma-ball-energy-moreau-jean",
        "The impact of Moreau-Jean conserves the theoretical energy.",
        partial(theoretical_energy, scheme="moreau-jean"),
    ),
    _csma(
        "csma-ball-order-impact",
        "The impact phases converge as h.",
        partial(with_impact, schemes=VELOCITY_LEVEL),
    ),
    _csma(
        "csma-ball-carpenter-excluded",
        "Carpenter's scheme does not conserve the energy at the impact either.",
        carpenter_energy,
    ),
)
