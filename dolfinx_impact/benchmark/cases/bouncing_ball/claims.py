"""What the papers say of the bouncing ball, decided by runs.

Here section 'Bouncing ball' of Di Stasio et al. (2019) and what its concluding remarks say of it.
Unless a claim says otherwise, the ball of 1 kg falls from 1 m and h = 0.01 s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ....contact.base import Contact
from ....integrators import PositionLevel
from ....integrators.newmark import Newmark
from ....systems.system import System
from ...claim import DI_STASIO, Claim
from ...runs import Run, Runs
from ...verdict import Verdict, also
from . import claims_combined as ball_combined
from . import claims_schemes as ball_schemes
from . import claims_smooth as ball_smooth
from . import claims_zeno as ball_zeno
from . import figures as ball_figures
from .claims_schemes import (
    ELASTIC,
    EPS,
    LAW,
    LOSSY,
    PLASTIC,
    SPEED,
    carpenter_asked,
    carpenter_energy,
    depth,
    listed,
    order_tolerance,
    with_impact,
)
from .figures import CASE, GRAVITY, HEIGHTS, STEP, STEPS, VELOCITY_LEVEL, drop_heights, exact, fitted


class DampedNewmark(Newmark):
    """Newmark's method with gamma = 0.6 and the beta that goes with it, (gamma + 1/2)^2 / 4."""

    def __init__(self, system: System, dt: float, contact: Contact | None = None) -> None:
        super().__init__(system, dt, PositionLevel(contact), beta=0.3025, gamma=0.6, mass="lumped")


def rise(run: Run, z0: float) -> float:
    """How much higher than the drop the ball gets, as a part of the drop; 0 without a bounce."""
    return max([*run.results["heights"], z0]) / z0 - 1


def carpenter_exact(runs: Runs) -> Verdict:
    """Up to the impact 46 sums of velocities of up to 4.5 m/s and positions are rounded."""
    run = runs(CASE, "carpenter", restitution=PLASTIC)
    away = float(np.abs(run["u"][:, 0] - exact(PLASTIC).position(run["t"])).max())
    why = "largest distance [m] of the explicit scheme from the exact position over 5 s: only rounding"
    return Verdict.below(why, away, 1e-13)


def carpenter_implicit(runs: Runs) -> Verdict:
    """Decides ``distasio-fig03-implicit``."""
    run = runs(CASE, "carpenter-implicit", restitution=PLASTIC)
    energy, top = float(run.results["energy_after_impact"]), float(run["u"][46:, 0].max())
    why = (
        f"largest energy [J] after the impact, above the {GRAVITY:g} J of the drop, where none is due: "
        "the reaction that stops the ball within a step acts again in the next; the ball is thrown up to "
        f"{top:.2f} m"
    )
    return Verdict.above(why, energy, GRAVITY * (1 + 1e-12))


def other_newmark(runs: Runs) -> Verdict:
    """Decides ``distasio-ball-newmark``."""
    run = runs(CASE, f"{__name__}:DampedNewmark", restitution=PLASTIC)
    energy = float(run.results["energy_after_impact"])
    why = (
        "largest energy [J] after the impact of Newmark's method with gamma = 0.6, beta = 0.3025 and the "
        f"contact at position level, above the {GRAVITY:g} J of the drop: the reaction stays in the "
        "acceleration of the next step whatever the damping"
    )
    return Verdict.above(why, energy, GRAVITY * (1 + 1e-12))


def carpenter_plastic(runs: Runs) -> Verdict:
    """Newton's law asks for a rebound at 0.8 times the speed of the impact."""
    run = carpenter_asked(runs, LOSSY)
    rebound = float(run["v_t"][run["t"] > exact(LOSSY).first_impact, 0].max()) / SPEED
    why = (
        "largest speed upwards after the impact over that before, where e = 0.8 is asked for: the "
        "explicit scheme puts the ball on the ground, whatever e, and leaves it there; so e > 0 is "
        "refused"
    )
    return Verdict.below(why, rebound, LAW / SPEED)


def paoli_height(runs: Runs) -> Verdict:
    """Decides ``distasio-fig04-height``."""
    run = runs(CASE, "paoli-schatzman", restitution=ELASTIC)
    bounces = run.results["heights"]
    several = ", ".join(f"{height:.4f}" for height in bounces)
    why = (
        f"largest height [m] of a bounce at e = 1, above the 1 m of the drop; sometimes: {several} m. The "
        "mirrored position of one step before is imposed, and not the velocity"
    )
    return Verdict.above(why, max(bounces, default=0.0), 1 + 1e-12)


def paoli_step(runs: Runs, heights: int = HEIGHTS, steps: Sequence[float] = STEPS[:4]) -> Verdict:
    """The worst impact lifts the ball by a part of h v."""
    worst = []
    for h in steps:
        several = (
            (runs(CASE, "paoli-schatzman", restitution=ELASTIC, z0=z0, h=h, t_end=2), z0)
            for z0 in drop_heights(heights)
        )
        rises = [rise(run, z0) for run, z0 in several]
        worst.append(max(rises))
    why = (
        f"order in h of the largest rise over {heights} drop heights: {worst[0]:.1%} of the height at h = "
        f"{steps[0]:g} s, {worst[-1]:.2%} at {steps[-1]:g} s; from {sum(gain < 1e-9 for gain in rises)} "
        "of them there is none at that step"
    )
    return Verdict.equal(why, fitted(steps, worst), 1.0, order_tolerance(heights, steps))


def same_height(runs: Runs, scheme: str, t_end: float = 1000.0) -> Verdict:
    """Decides ``distasio-fig05-cd-lagrange``, ``distasio-fig05-moreau-jean``."""
    run = runs(CASE, scheme, restitution=ELASTIC, t_end=t_end, every=1000)
    bounces = np.array(run.results["heights"] or [0.0])
    why = (
        f"largest difference [m] between the drop and the height of a bounce, {len(bounces)} bounces in "
        f"{t_end:g} s: what rounding adds up to in the sums"
    )
    return Verdict.below(why, float(np.abs(bounces - 1).max()), 1e-11)


def penetrates(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """The first impact from heights that spread it over a step."""
    depths = {
        name: [
            depth(runs(CASE, name, restitution=ELASTIC, z0=z0, t_end=0.6))
            for z0 in drop_heights(heights, STEP)
        ]
        for name in VELOCITY_LEVEL
    }
    deepest = {name: max(several) for name, several in depths.items()}
    counts = ", ".join(f"{name} {sum(value > 1e-12 for value in of)}" for name, of in depths.items())
    why = (
        f"smaller of the largest depths [m] at e = 1 of both schemes: {listed(deepest)}; from so many of "
        f"{heights} drop heights they penetrate: {counts}. CD-Lagrange does wherever in the step the "
        "impact comes, Moreau-Jean if it comes after the middle"
    )
    return Verdict.above(why, min(deepest.values()), 1e-12)


def penetrates_from_one(runs: Runs) -> Verdict:
    """Decides ``distasio-fig05-penetration-one``."""
    depths = {name: depth(runs(CASE, name, restitution=ELASTIC)) for name in VELOCITY_LEVEL}
    why = (
        f"smaller of the largest depths [m] at e = 1, drop from 1 m: {listed(depths)}. Here the impact "
        "comes before the middle of the step: Moreau-Jean forecasts it, and the ball ends the step above "
        "the ground; CD-Lagrange ends it in the ground"
    )
    return Verdict.above(why, min(depths.values()), 1e-12)


def contact_work(runs: Runs, restitutions: Sequence[float]) -> Verdict:
    """Work of the contact against the sum of ``(1 - e) v r / 2``, wherever no impulse acts."""
    worst, largest = 0.0, -np.inf
    for e in restitutions:
        run = runs(CASE, "cd-lagrange", restitution=e)
        r, v, work = run["r"][:, 0], run["v"][:, 0], run["contact"]
        free = np.flatnonzero(r == 0)
        expected = np.cumsum(0.5 * (1 - e) * np.concatenate([[0.0], v[:-1]]) * r)
        worst = max(worst, float(np.abs(work - expected)[free].max()))
        largest = max(largest, float(np.diff(work[free]).max()))
    names = ", ".join(f"{e:g}" for e in restitutions)
    why = (
        "largest difference [J] of the work of the contact of CD-Lagrange, energy balance of Fekak et "
        f"al. (2017), from the sum of (1 - e) v r / 2 over the impulses, e = {names}; the largest work "
        f"between two times without impulse is {largest:.1e} J"
    )
    # Some twenty impacts of 20 J at most, each a product of rounded numbers.
    limit = 20 * EPS * SPEED**2
    return also(largest <= limit, Verdict.below(why, worst, limit))


def no_stability_limit(runs: Runs) -> Verdict:
    """Decides ``distasio-ball-no-limit``."""
    steps = (STEP, 3 * STEP, 10 * STEP)
    energies = [
        float(runs(CASE, name, restitution=PLASTIC, h=h).results["energy_after_impact"])
        for name in VELOCITY_LEVEL
        for h in steps
    ]
    why = (
        "largest energy [J] of CD-Lagrange and Moreau-Jean after the impact, at most that of the drop, e "
        f"= 0, h up to {steps[-1]:g} s: without a spring no step is too large. Carpenter's implicit "
        "scheme is unstable at the impact all the same"
    )
    return Verdict.below(why, max(energies), GRAVITY * (1 + 1e-12))


def visible(runs: Runs) -> Verdict:
    """Decides ``distasio-fig07-visible``."""
    depths = {name: depth(runs(CASE, name, restitution=PLASTIC)) for name in VELOCITY_LEVEL}
    why = f"smaller of the residual depths [m] at e = 0, above 1 % of the drop: {listed(depths)}"
    return Verdict.above(why, min(depths.values()), 0.01)


def larger(runs: Runs) -> Verdict:
    """Decides ``distasio-fig07-larger``."""
    one, other = (depth(runs(CASE, name, restitution=PLASTIC)) for name in VELOCITY_LEVEL)
    why = f"depth of CD-Lagrange, {one:.4f} m, less that of Moreau-Jean, {other:.4f} m, e = 0, drop from 1 m"
    return Verdict.above(why, one - other, 0.0)


def detection(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """From the impact to the instant at which the gap is looked at: 0 to h."""
    worst = 0.0
    for z0 in drop_heights(heights, STEP):
        true = exact(PLASTIC, z0).first_impact
        for name, back in zip(VELOCITY_LEVEL, (0.0, STEP / 2)):
            found = runs(CASE, name, restitution=PLASTIC, z0=z0, t_end=0.6).results["contact_start"]
            late = (0.0 if found is None else found) - back - true
            worst = max(worst, -late, late - STEP)
    why = (
        "largest time [s] by which an impact lies outside the step that ends where the scheme looks at "
        f"the gap, t_(n+1) for CD-Lagrange and t_(n+1/2) for Moreau-Jean, {heights} drop heights; the "
        "straight forecast of Moreau-Jean is g h^2/8 too high"
    )
    return Verdict.below(why, worst, GRAVITY * STEP**2 / 8 / (0.9 * SPEED))


def lower_before_half(runs: Runs, heights: int = HEIGHTS) -> Verdict:
    """Decides ``distasio-ball-lower``."""
    wrong, lower = 0, 0
    for z0 in drop_heights(heights, STEP):
        several = (runs(CASE, name, restitution=PLASTIC, z0=z0, t_end=0.6) for name in VELOCITY_LEVEL)
        one, other = (depth(run) for run in several)
        before = (exact(PLASTIC, z0).first_impact / STEP) % 1 < 0.5
        lower += other < one
        wrong += (other < one) != before
    why = (
        f"drop heights of {heights} for which Moreau-Jean is less deep though the impact comes after the "
        f"middle of the step, or deeper though it comes before; it is less deep for {lower}, by "
        "about h v / 2"
    )
    return Verdict.below(why, float(wrong), 0.0)


def velocity_energy(runs: Runs) -> Verdict:
    """Energy at the top of the bounces, all of it height."""
    off = {}
    for name in (*VELOCITY_LEVEL, "paoli-schatzman"):
        bounces = runs(CASE, name, restitution=ELASTIC).results["heights"] or [0.0]
        off[name] = max(abs(height - 1) for height in bounces)
    position = off.pop("paoli-schatzman")
    why = (
        f"largest error of the energy after an impact at e = 1, over that of the drop: {listed(off)}, "
        f"against {position:.3g} for Paoli-Schatzman. At e = 0 the position is the better place: "
        "Carpenter's explicit scheme follows the exact solution, and both others stay in the "
        "ground"
    )
    return also(position > 1e-3, Verdict.below(why, max(off.values()), 1e-13))


def _claim(where: str, name: str, claim: str, judge: Callable[..., Verdict]) -> Claim:
    return Claim(name, CASE, DI_STASIO, where, claim, judge)


def _figure(number: int, name: str, claim: str, judge: Callable[..., Verdict]) -> Claim:
    return _claim(f"Fig. {number}", name, claim, judge)


_section = partial(_claim, "Bouncing ball")
_orders = [partial(with_impact, schemes=(name,)) for name in VELOCITY_LEVEL]

_DI_STASIO: tuple[Claim, ...] = (
    _section("distasio-ball-no-limit", "There are no stability issues at a large step.", no_stability_limit),
    _figure(
        3,
        "distasio-fig03-carpenter",
        "Carpenter's explicit scheme follows the exact solution at e = 0.",
        carpenter_exact,
    ),
    _figure(
        3,
        "distasio-fig03-implicit",
        "Carpenter's implicit scheme is unstable at the impact.",
        carpenter_implicit,
    ),
    _section(
        "distasio-ball-newmark",
        "Other implicit Newmark schemes at position level are unstable at the impact, too.",
        other_newmark,
    ),
    _section(
        "distasio-ball-carpenter-plastic",
        "Its condition on the position restricts Carpenter's scheme to e = 0.",
        carpenter_plastic,
    ),
    _figure(
        4,
        "distasio-fig04-height",
        "Paoli-Schatzman sometimes bounces higher than the drop at e = 1: the impact injects energy.",
        paoli_height,
    ),
    _section(
        "distasio-ball-carpenter-energy",
        "Like Paoli-Schatzman, Carpenter's scheme is not satisfying in energy.",
        carpenter_energy,
    ),
    _section(
        "distasio-ball-paoli-step",
        "The energy that Paoli-Schatzman gains decreases with the time step.",
        paoli_step,
    ),
    _figure(
        5,
        "distasio-fig05-cd-lagrange",
        "CD-Lagrange always reaches the same height at e = 1.",
        partial(same_height, scheme="cd-lagrange"),
    ),
    _figure(
        5,
        "distasio-fig05-moreau-jean",
        "Moreau-Jean always reaches the same height at e = 1.",
        partial(same_height, scheme="moreau-jean"),
    ),
    _figure(
        5,
        "distasio-fig05-penetration",
        "At e = 1 both schemes penetrate at the impact (in general).",
        penetrates,
    ),
    _figure(
        5,
        "distasio-fig05-penetration-one",
        "At e = 1 both schemes penetrate at the impact (from 1 m, as in Fig. 5).",
        penetrates_from_one,
    ),
    _section(
        "distasio-ball-work-elastic",
        "The work of the contact of CD-Lagrange is null for e = 1.",
        partial(contact_work, restitutions=(ELASTIC,)),
    ),
    _section(
        "distasio-ball-work-lossy",
        "For e < 1 the work of the contact is (1 - e) v r / 2, never positive.",
        partial(contact_work, restitutions=(0.5, LOSSY)),
    ),
    _figure(7, "distasio-fig07-visible", "At e = 0 the residual penetration is clearly visible.", visible),
    _figure(
        7,
        "distasio-fig07-larger",
        "At this step the residual penetration is larger with CD-Lagrange.",
        larger,
    ),
    _section(
        "distasio-ball-detection",
        "Moreau-Jean finds the impact at t_(n+1/2), CD-Lagrange at t_(n+1).",
        detection,
    ),
    _section(
        "distasio-ball-lower",
        "Moreau-Jean penetrates less only if the impact comes before t_(n+1/2).",
        lower_before_half,
    ),
    _figure(9, "distasio-fig09-cd-lagrange", "CD-Lagrange is of first order with impacts.", _orders[0]),
    _figure(9, "distasio-fig09-moreau-jean", "Moreau-Jean is of first order with impacts.", _orders[1]),
    _claim(
        "Bouncing ball, Concluding remarks",
        "distasio-ball-velocity",
        "Only at velocity level the impact is consistent in energy, which suits impacts better than the "
        "position level.",
        velocity_energy,
    ),
)

CLAIMS: tuple[Claim, ...] = (
    _DI_STASIO + ball_smooth.CLAIMS + ball_zeno.CLAIMS + ball_schemes.CLAIMS + ball_combined.CLAIMS
)
FIGURES = ball_figures.FIGURES
