"""An elastic cube against a rigid plane: waves in it, not Newton's coefficient, decide its rebound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....contact.obstacles import Plane
from ....integrators import Option, Scheme, find_scheme
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts
from . import common

PARAMETERS = {
    "side": Option(0.1, "m", "side of the cube", interval="(0, inf)"),
    "elements": Option(8, "-", "hexahedra along each side", interval="[1, 200]"),
    **common.material(2.1e11, 7850.0),
    "v0": Option(1.0, "m/s", "speed towards the plane", interval="(0, inf)"),
    **common.RESTITUTION,
    **common.times(0.9, "10 transits of a wave"),
}
TRANSITS = 10.0  #: End of a run in transits ``side sqrt(rho / E)``.
RESTITUTIONS = (0.0, 0.5, 1.0)
REFINEMENTS = (3, 6, 12)
SOFTER = (1.0, 0.1, 0.01)


def transit(p: Values) -> float:
    """Time that a wave in a bar takes along the cube, ``side sqrt(rho / E)`` [s]."""
    return p["side"] * math.sqrt(p["rho"] / p["E"])


class CubeDrop(common.SolidCase):
    """An elastic cube falls flat on a rigid plane: waves in it, not restitution, decide its rebound."""

    parameters = PARAMETERS

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Cube and plane, one step apart: at the start itself nothing would rebound. Collective."""
        cube = common.elastic(box([[0.0] * 3, [p["side"]] * 3], [p["elements"]] * 3), p)
        h, up = self.time_step(p, scheme, Setup(system=cube)), np.eye(3)[2]
        least = p["gap_tolerance"] / h
        if not p["v0"] > least:
            raise ValueError(f"v0 must be above gap_tolerance / h = {least:g} m/s, but is {p['v0']}")
        plane = common.contact(cube, "bottom", Plane(-p["v0"] * h * up, up), p)
        return Setup(system=cube, contact=plane, record=plane.approach(), v0=common.towards(cube, p))

    def end(self, p: Values, scheme: Scheme) -> float:
        """Some transits of a wave [s]."""
        return TRANSITS * transit(p)

    def measure(self, run: Problem) -> Results:
        """Impact and rebound. Collective."""
        impact = common.impact_numbers(run)
        ratio = impact["rebound_velocity"] / run.p["v0"]
        return {**impact, "rebound_ratio": ratio, "energy_rebound": ratio**2}

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether the momentum closes, and the impact is over."""
        results, momentum = run.results, run.integrator.system.total_mass * run.p["v0"]
        defect = results["impulse_sum"] / momentum - (1 + results["rebound_ratio"])
        yield Verdict.below("the impulse is the change of momentum (relative)", defect, 1e-10)
        if results["contact_end"] is not None:
            end = results["contact_end"] / run.p["t_end"]
            yield Verdict.below("the last contact is over (its time over t_end)", end, 0.9)

    def study(self, problem: Problem) -> Verdicts:
        """Dependence of the rebound: not on E, and less and less on e as the mesh is refined. Collective."""
        p = problem.given
        if find_scheme(problem.scheme).explicit and p["courant"] > 1:
            return

        def rebound(**changes: Any) -> float:
            made = self.make(problem.scheme, {**p, "h": None, "t_end": None, **changes})
            return float(made.judge(made.simulate())[0]["rebound_ratio"])

        coarse, middle, fine = REFINEMENTS
        same = [rebound(elements=middle, E=p["E"] * factor) for factor in SOFTER]
        rough, smooth = ([rebound(elements=n, restitution=e) for e in RESTITUTIONS] for n in (coarse, fine))
        modulus = "the rebound does not depend on E (relative spread over E, E/10, E/100)"
        nodes = f"rebound over v0 with e = %g at {fine} elements; expected is the mean over e"
        order = "the rebounds of all e approach each other at first order or faster "
        order += f"(spread at {fine} over that at {coarse} elements)"
        yield Verdict.below(modulus, np.ptp(same) / np.max(np.abs(same)), 1e-6)
        for e, ratio in zip(RESTITUTIONS, smooth):
            yield Verdict.equal(nodes % e, ratio, float(np.mean(smooth)), 0.02)
        yield Verdict.below(order, np.ptp(smooth) / np.ptp(rough), coarse / fine)
