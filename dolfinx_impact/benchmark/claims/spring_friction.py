"""What the rotating spring decides with friction, e = 0 and mu = 0.2.

That is Figs. 17 and 18 of Di Stasio et al. (2019), and Fig. 5 of their CSMA paper.

In the motion itself the first impact with e = 0 takes the radial velocity and ``mu R`` times the
impulse of angular momentum. From then on the farthest point of the orbit is on the wall: the mass
touches it again and again without any impulse. So the final momentum is known in closed form
(:func:`~.spring_runs.rubbed`); at a step h the mass is stopped up to h v behind the wall, comes back
through it at a radial velocity of order sqrt(h), and is hit again.
"""

from __future__ import annotations

import math

import numpy as np

from ..runs import Runs
from .claim import Finding
from .spring_runs import (
    CASE, CD, FINE, FINE_LONG, MJ, ROUNDING, RUBS, VISIBLE, arms, cross, impacts, kept, momentum, refined,
    rubbed, rubbing_losses, swing,
)  # fmt: skip


def judge_tangential(runs: Runs) -> Finding:
    worst, gains, hits = 0.0, 0, 0
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        at, change = impacts(run), np.diff(kept(run))
        explained = cross(arms(run), run["r_t"][:, 0])[1:]
        worst = max(worst, float(np.abs(change - explained).max() / abs(kept(run)[0])))
        gains, hits = gains + int(np.sum(change[at - 1] >= 0)), hits + at.size
    finding = Finding.below(
        worst, ROUNDING,
        f"largest relative difference, in a step, between the change of the momentum and x ^ r_t; of {hits} "
        f"impulses {hits - gains} decrease it (for Moreau-Jean the momentum with (h^2/4) v ^ F)",
    )  # fmt: skip
    return finding if hits and not gains else Finding.above(hits - gains, hits, "impulses that decrease it")


def judge_tangent(runs: Runs) -> Finding:
    worst, pressed = 0.0, 0
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        late, p = run["t"] >= 0.8 * run["t"][-1], run.summary["parameters"]
        worst = max(worst, abs(float(run["gap"][late].min())), key=abs)
        pressed += int(np.sum(run["r"][late] > 0))
    curved = p["k"] * (p["radius"] - p["l0"]) / p["m"] * p["h"] ** 2
    finding = Finding.below(
        worst, curved,
        "distance of the farthest point from the wall in the last 20 s [m], both schemes, where no impulse "
        "acts; tolerance: the way h^2 a that the spring bends the path in a step. The last impact left no "
        "radial velocity at the wall, so that the orbit turns there",
    )  # fmt: skip
    return finding if not pressed else Finding.equal(pressed, 0, 0, "impulses in the last 20 s")


def judge_no_contact(runs: Runs) -> Finding:
    found = [runs(CASE, scheme, **RUBS) for scheme in (CD, MJ)]
    late = sum(int(np.sum(run["r"][run["t"] >= 80] > 0)) for run in found)
    ends = " and ".join(f"{run.results['contact_end'] or 0:.3g}" for run in found)
    return Finding.equal(
        late, 0, 0, f"impulses in the last 20 s; the last ones are at {ends} s (CD-Lagrange, Moreau-Jean)"
    )


def judge_final(runs: Runs, h: float = FINE_LONG) -> Finding:
    central, theta = (runs(CASE, scheme, **RUBS) for scheme in (CD, MJ))
    fine = refined(runs, h, 0.1, **RUBS)
    ends = [float(momentum(run)[run["t"] >= 80].mean()) for run in (central, theta)]
    reference = float(momentum(fine)[-1])
    return Finding(
        max(ends), reference, 0.0, bool(max(ends) < reference),
        f"the larger one of CD-Lagrange ({ends[0]:.5g}) and Moreau-Jean ({ends[1]:.5g}, mean of the last 20 "
        f"s) [kg m^2/s], against CD-Lagrange at h = {h:g} s. In the limit it is {rubbed(central):.6g}: one "
        "impact, then none. At a step h the mass comes back through the wall and rubs again, by a momentum "
        "of order sqrt(h); where in the step an impact falls matters, so that the approach is not monotone",
    )  # fmt: skip


def judge_phases(runs: Runs, h: float = FINE_LONG) -> Finding:
    counts = [runs(CASE, scheme, **RUBS).results["contact_phases"] for scheme in (CD, MJ)]
    fine = refined(runs, h, 0.1, **RUBS).results["contact_phases"]
    return Finding.above(
        min(counts), fine,
        f"phases of contact in 100 s: CD-Lagrange {counts[0]}, Moreau-Jean {counts[1]}, refined (h = {h:g} "
        f"s) {fine}. The motion itself has one impact; every discrete solution has more because it stops "
        "the mass behind the wall. A smaller step makes the later ones weaker, not fewer, and here every one "
        "counts",
    )  # fmt: skip


def judge_visible_impacts(runs: Runs, h: float = FINE) -> Finding:
    found = [rubbing_losses(runs(CASE, scheme, t_end=5, **RUBS)) for scheme in (CD, MJ)]
    fine = rubbing_losses(refined(runs, h, 0.01, t_end=5, **RUBS))
    counts, few = [int(np.sum(losses > VISIBLE)) for losses in found], fine[fine <= VISIBLE]
    return Finding.above(
        min(counts), fine.size - few.size,
        f"impacts of the first 5 s that take more than {VISIBLE:.0%} of the initial momentum, the fewer ones "
        f"of CD-Lagrange ({counts[0]}) and Moreau-Jean ({counts[1]}), against {fine.size - few.size} of "
        f"CD-Lagrange at h = {h:g} s; its {few.size} weaker ones take {100 * few.sum():.2g} % together",
    )  # fmt: skip


def judge_mean(runs: Runs) -> Finding:
    run = runs(CASE, MJ, **RUBS)
    L = momentum(run)
    first, second = (L[(run["t"] >= a) & (run["t"] < a + 10)] for a in (80, 90))
    apart, size = abs(float(first.mean() - second.mean())), swing(L[run["t"] >= 80])
    return Finding(
        size, apart, 0.0, bool(size > max(2 * apart, ROUNDING * abs(L[0]))),
        f"swing of x ^ m v in the last 20 s [kg m^2/s], against the difference between its means in the two "
        f"halves, {apart:.2g}: it goes up and down about {L[run['t'] >= 80].mean():.4g} and stays there",
    )  # fmt: skip


def judge_dissipative(runs: Runs) -> Finding:
    taken = []
    for scheme in (CD, MJ):
        run = runs(CASE, scheme, **RUBS)
        work = run["contact"]
        falls = np.all(np.diff(work) <= ROUNDING * run["kinetic"][0])
        taken.append(-work[-1] / run["kinetic"][0] if falls and run.results["momentum_loss"] > 0 else 0.0)
    return Finding.above(
        min(taken), 0.0,
        "energy that contact takes over 100 s as a part of the kinetic energy at the start, the smaller one "
        "of both schemes; its work is negative in every step, and the momentum ends lower",
    )  # fmt: skip


def judge_coulomb(runs: Runs) -> Finding:
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
    return Finding.below(
        worst if hits else math.inf, ROUNDING,
        f"largest misfit of Coulomb's law (42), r_t against -mu r along the slip, over r, in {hits} impulses "
        "of both schemes: CD-Lagrange has it in closed form",
    )  # fmt: skip


def judge_same_algorithm(runs: Runs, mu: float = 1e-12) -> Finding:
    apart = 0.0
    for scheme in (CD, MJ):
        rough, smooth = (runs(CASE, scheme, t_end=5, restitution=0, friction=f)["u"] for f in (mu, 0))
        apart = max(apart, float(np.abs(rough - smooth).max()))
    return Finding.below(
        apart, 100 * mu,
        f"largest distance in 5 s between the frictional algorithm at mu = {mu:g} and the one without "
        "friction [m], both schemes, the same steps: mu = 0 is the frictionless algorithm. Tolerance: an "
        "impulse mu r of about 1.7 mu kg m/s acts for 5 s, times ten for the curved motion",
    )  # fmt: skip
