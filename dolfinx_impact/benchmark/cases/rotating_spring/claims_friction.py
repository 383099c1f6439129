"""What the rotating spring decides with friction, e = 0 and mu = 0.2.

That is Figs. 17 and 18 of Di Stasio et al. (2019), and Fig. 5 of their CSMA paper.

In the motion itself the first impact with e = 0 takes the radial velocity and ``mu R`` times the
impulse of angular momentum. From then on the farthest point of the orbit is on the wall: the mass
touches it again and again without any impulse. So the final momentum is known in closed form
(:func:`~.measures.rubbed`); at a step h the mass is stopped up to h v behind the wall, comes back
through it at a radial velocity of order sqrt(h), and is hit again.
"""

from __future__ import annotations

import math

import numpy as np

from ...effort import effort
from ...runs import Runs
from ...verdict import Verdict
from . import case as rotating_spring
from .measures import (
    CASE,
    CD,
    FINE,
    FINE_LONG,
    MJ,
    ROUNDING,
    RUBS,
    VISIBLE,
    arms,
    cross,
    impacts,
    kept,
    momentum,
    refined,
    rubbed,
    rubbing_losses,
    swing,
)


def judge_tangential(runs: Runs) -> Verdict:
    """Decides ``distasio-fig18-tangential``."""
    worst, gains, hits = 0.0, 0, 0
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        at, change = impacts(run), np.diff(kept(run))
        explained = cross(arms(run), run["r_t"][:, 0])[1:]
        worst = max(worst, float(np.abs(change - explained).max() / abs(kept(run)[0])))
        gains, hits = gains + int(np.sum(change[at - 1] >= 0)), hits + at.size
    finding = Verdict.below(
        (
            f"Largest relative difference, in a step, between the change of the momentum and x ^ r_t; of {hits} "
            f"impulses {hits - gains} decrease it (for Moreau-Jean the momentum with (h^2/4) v ^ F)."
        ),
        worst,
        ROUNDING,
    )
    return finding if hits and not gains else Verdict.above("Impulses that decrease it.", hits - gains, hits)


def judge_tangent(runs: Runs) -> Verdict:
    """Decides ``distasio-fig17-tangent``."""
    worst, pressed = 0.0, 0
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        late, p = run["t"] >= 0.8 * run["t"][-1], run.summary["parameters"]
        worst = max(worst, abs(float(run["gap"][late].min())), key=abs)
        pressed += int(np.sum(run["r"][late] > 0))
    curved = p["k"] * (p["radius"] - p["l0"]) / p["m"] * p["h"] ** 2
    finding = Verdict.below(
        (
            "Distance of the farthest point from the wall in the last 20 s [m], both schemes, where no impulse "
            "acts; tolerance: the way h^2 a that the spring bends the path in a step. The last impact left no "
            "radial velocity at the wall, so that the orbit turns there."
        ),
        worst,
        curved,
    )
    return finding if not pressed else Verdict.equal("Impulses in the last 20 s.", pressed, 0, 0)


def judge_no_contact(runs: Runs) -> Verdict:
    """Decides ``csma-spring-no-contact``."""
    found = [runs(CASE, scheme, **RUBS) for scheme in (CD, MJ)]
    late = sum(int(np.sum(run["r"][run["t"] >= 80] > 0)) for run in found)
    ends = " and ".join(f"{run.results['contact_end'] or 0:.3g}" for run in found)
    return Verdict.equal(
        f"Impulses in the last 20 s; the last ones are at {ends} s (CD-Lagrange, Moreau-Jean).", late, 0, 0
    )


def judge_final(runs: Runs, h: float = FINE_LONG) -> Verdict:
    """Decides ``distasio-fig18-final``."""
    central, theta = (runs(CASE, scheme, **RUBS) for scheme in (CD, MJ))
    fine = refined(runs, h, 0.1, **RUBS)
    ends = [float(momentum(run)[run["t"] >= 80].mean()) for run in (central, theta)]
    reference = float(momentum(fine)[-1])
    return Verdict(
        (
            f"Larger one of CD-Lagrange ({ends[0]:.5g}) and Moreau-Jean ({ends[1]:.5g}), mean of the last 20 s "
            f"[kg m^2/s], against CD-Lagrange at h = {h:g} s. In the limit it is {rubbed(central):.6g}, after "
            "one impact; later ones take a part of order sqrt(h), which depends on where in the step they fall."
        ),
        max(ends),
        reference,
        0.0,
        bool(max(ends) < reference),
    )


def judge_contact_time(runs: Runs, h: float = 1e-3) -> Verdict:
    """Decides ``distasio-fig18-phases``."""
    made = [runs(CASE, scheme, **RUBS) for scheme in (CD, MJ)] + [runs(CASE, CD, h=h, **RUBS)]
    central, theta, fine = (impacts(run).size * run.results["h"] for run in made)
    return Verdict.above(
        (
            f"Steps with an impulse times h in 100 s [s], the fewer of CD-Lagrange ({central:.3g}) and "
            f"Moreau-Jean ({theta:.3g}), against CD-Lagrange at h = {h:g} s. The motion itself has one impact, "
            "without duration."
        ),
        min(central, theta),
        fine,
    )


def judge_phases(runs: Runs, h: float = FINE_LONG) -> Verdict:
    """Decides ``distasio-fig18-phases-count``."""
    counts = [runs(CASE, scheme, **RUBS).results["contact_phases"] for scheme in (CD, MJ)]
    fine = refined(runs, h, 0.1, **RUBS).results["contact_phases"]
    return Verdict.above(
        (
            f"Phases of contact in 100 s: CD-Lagrange {counts[0]}, Moreau-Jean {counts[1]}, refined (h = {h:g} "
            f"s) {fine}. A step stops the mass behind the wall, to be hit again on the way back: a smaller one "
            "makes these impacts weaker, not fewer."
        ),
        min(counts),
        fine,
    )


def judge_visible_impacts(runs: Runs, h: float = FINE) -> Verdict:
    """Decides ``csma-spring-impacts``."""
    found = [rubbing_losses(runs(CASE, scheme, t_end=5, **RUBS)) for scheme in (CD, MJ)]
    fine = rubbing_losses(refined(runs, h, 0.01, t_end=5, **RUBS))
    counts, few = [int(np.sum(losses > VISIBLE)) for losses in found], fine[fine <= VISIBLE]
    return Verdict.above(
        (
            f"Impacts of the first 5 s that take more than {VISIBLE:.0%} of the initial momentum, the fewer ones "
            f"of CD-Lagrange ({counts[0]}) and Moreau-Jean ({counts[1]}), against {fine.size - few.size} of "
            f"CD-Lagrange at h = {h:g} s; its {few.size} weaker ones take {100 * few.sum():.2g} % together."
        ),
        min(counts),
        fine.size - few.size,
    )


def judge_mean(runs: Runs) -> Verdict:
    """Decides ``csma-spring-mean``."""
    run = runs(CASE, MJ, **RUBS)
    L = momentum(run)
    first, second = (L[(run["t"] >= a) & (run["t"] < a + 10)] for a in (80, 90))
    apart, size = abs(float(first.mean() - second.mean())), swing(L[run["t"] >= 80])
    return Verdict(
        (
            f"Swing of x ^ m v in the last 20 s [kg m^2/s], against the difference between its means in the two "
            f"halves, {apart:.2g}: it goes up and down about {L[run['t'] >= 80].mean():.4g} and stays there."
        ),
        size,
        apart,
        0.0,
        bool(size > max(2 * apart, ROUNDING * abs(L[0]))),
    )


def judge_dissipative(runs: Runs) -> Verdict:
    """Decides ``csma-spring-dissipative``."""
    taken = []
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        work = run["contact"]
        falls = np.all(np.diff(work) <= ROUNDING * run["kinetic"][0])
        taken.append(-work[-1] / run["kinetic"][0] if falls and run.results["momentum_loss"] > 0 else 0.0)
    return Verdict.above(
        (
            "Energy that contact takes over 100 s as a part of the kinetic energy at the start, the smaller one "
            "of both schemes; its work is negative in every step, and the momentum ends lower."
        ),
        min(taken),
        0.0,
    )


def judge_coulomb(runs: Runs) -> Verdict:
    """Decides ``csma-spring-friction``."""
    worst, hits = 0.0, 0
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        at, mu = impacts(run), run.summary["parameters"]["friction"]
        normal = arms(run)[at] / np.hypot(*arms(run)[at].T)[:, None]
        v, r, r_t = run["v"][at], run["r"][at, 0], run["r_t"][at, 0]
        slip = v - np.sum(v * normal, axis=1)[:, None] * normal
        direction = slip / np.maximum(np.hypot(*slip.T), 1e-300)[:, None]
        misfit = np.hypot(*(r_t + mu * r[:, None] * direction).T)
        worst, hits = max(worst, float(np.max(misfit / r, initial=0.0))), hits + at.size
    return Verdict.below(
        (
            f"Largest misfit of Coulomb's law (42), r_t against -mu r along the slip, over r, in {hits} impulses "
            "of both schemes: CD-Lagrange has it in closed form."
        ),
        worst if hits else math.inf,
        ROUNDING,
    )


def judge_complexity(runs: Runs, steps: int = 200) -> Verdict:
    """Decides ``distasio-spring-complexity``."""
    found = {s: [_operations(runs, s, mu, steps) for mu in (0.0, RUBS["friction"])] for s in (CD, MJ)}
    listed = "; ".join(f"{s}: {rough:.4g} with, {smooth:.4g} without" for s, (smooth, rough) in found.items())
    return Verdict.below(
        (
            "Operations that friction adds to a step with an impulse, at e = 0: evaluations of the forces and of "
            f"the contact, linear systems of Newton iterations ({listed}); the limit is one. CD-Lagrange never "
            "iterates."
        ),
        max(0.0, *(rough - smooth for smooth, rough in found.values())),
        1.0,
    )


def _operations(runs: Runs, scheme: str, mu: float, steps: int) -> float:
    """Of a step with an impulse, in the mean."""
    run = runs(CASE, scheme, restitution=0, friction=mu)
    made = effort(rotating_spring.start(runs.scheme(scheme), run.summary["parameters"]), steps)
    return float((made.forces + made.systems + made.contacts)[made.pressed].mean())
