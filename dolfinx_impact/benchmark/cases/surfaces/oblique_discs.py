"""Two rubber discs of different meshes hit each other obliquely, slide, turn and part.

What is known: both momenta (angular up to the torque of friction across the penetration), and that the energy
of the discs never grows.
"""

from __future__ import annotations

import math

import numpy as np

from .... import mesh, parallel
from ....integrators import Integrator, Option, Scheme
from ....materials import NeoHookean
from ....systems.solid import Solid
from ...case import EXPLICIT, Ended, Results, Setup, Values
from ...run_log import CONTACT, RunLog
from ...verdict import Verdict
from ..solids import common
from . import common as surfaces
from .rings import disc

PARAMETERS = {
    "radius": Option(1.0, "m", "of both discs", interval="(0, inf)"),
    "mu": Option(1.0, "Pa", "Lame's second constant", interval="(0, inf)"),
    "lambda": Option(1.5, "Pa", "Lame's first constant", interval="[0, inf)"),
    "rho": Option(1.0, "kg/m3", "density", interval="(0, inf)"),
    "v0": Option(0.15, "m/s", "speed of each disc towards the other", interval="(0, inf)"),
    "offset": Option(0.6, "m", "distance of their centres across the velocity", interval="[0, inf)"),
    "rings_upper": Option(10, "-", "rings of triangles in the upper disc", interval="[2, 200]"),
    "rings_lower": Option(7, "-", "rings of triangles in the lower disc", interval="[2, 200]"),
    **common.friction(0.0),
    **common.RESTITUTION,
    **common.times(0.4, 6.0),
}
#: Time of the first contact of circles of the default speed [s], by which the discs are apart at the start.
_FLIGHT = 0.08


def make_discs(p: Values) -> Solid:
    """The discs, so far apart that circles would touch after 0.08 of radius / v0 times 0.15. Collective."""
    if not p["offset"] < 2 * p["radius"]:
        raise ValueError(f"offset must be below two radii, or the discs pass by, but is {p['offset']}")
    apart = math.sqrt(4 * p["radius"] ** 2 - p["offset"] ** 2) / 2 + _FLIGHT * 0.15 * p["radius"]
    centre = np.array([p["offset"] / 2, apart])
    discs = {
        "upper": disc(p["rings_upper"], p["radius"], centre),
        "lower": disc(p["rings_lower"], p["radius"], -centre),
    }
    nu = p["lambda"] / 2 / (p["lambda"] + p["mu"])
    law = NeoHookean(2 * p["mu"] * (1 + nu), nu)
    return Solid(mesh.join(discs), density=p["rho"], law=law)


class DiscLog(RunLog):
    """The log with the momenta at the start, ``before``."""

    def __init__(self, integrator: Integrator) -> None:
        super().__init__(integrator)
        self.before = surfaces.momenta(integrator)


class ObliqueDiscs(common.SolidCase):
    """Both discs as one body."""

    parameters = PARAMETERS
    about = "Two rubber discs of different meshes hit each other obliquely, slide, turn and part."
    log_type = DiscLog

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Discs and their contact. Collective."""
        body = make_discs(p)
        return Setup(system=body, contact=surfaces.contact(body, p))

    def start(self, integrator: Integrator, setup: Setup, p: Values) -> None:
        """Start towards each other. Collective."""
        speeds = (("upper", -p["v0"]), ("lower", p["v0"]))
        upper, lower = (setup.body.rigid_velocity((0.0, v), cells=name) for name, v in speeds)
        integrator.start(0.0, upper + lower)

    def measure(self, run: Ended) -> Results:
        """Momenta and energies. Collective."""
        p, s, body, energy = run.p, run.integrator, run.integrator.system, common.stored(run.result)
        change = np.abs(surfaces.momenta(s) - run.log.before)
        scale = parallel.total(body.comm, float(np.sum(body.mass)) / 2) * p["v0"]
        return {
            **run.log.numbers(*CONTACT),
            "linear_momentum_defect": float(change[:2].max()) / scale,
            "angular_momentum_defect": float(change[2]) / (scale * p["radius"]),
            "energy_ratio": float(energy[-1] / energy[0]),
            "energy_max": float(energy.max() / energy[0]),
            "velocity_upper": surfaces.mean_velocity(s, "upper").tolist(),
        }

    def verdicts(self, run: Ended) -> list[Verdict]:
        """Whether momenta stay and the energy does not grow."""
        p, results, below = run.p, run.results, Verdict.below
        # Friction across the penetration has a torque, and so has L of a forecast position.
        angular = 1e-12 if p["friction"] == 0 and run.integrator.explicit else 1e-3
        rows = [
            below("the linear momentum stays (over sum m |v|)", results["linear_momentum_defect"], 1e-12),
            below("the angular momentum stays (over that)", results["angular_momentum_defect"], angular),
        ]
        if p["restitution"] == 0 or p["friction"] == 0:
            words = "the energy of the discs never grows (over that at the start)"
            rows.append(below(words, results["energy_max"] - 1.0, 1e-4))
        return rows
