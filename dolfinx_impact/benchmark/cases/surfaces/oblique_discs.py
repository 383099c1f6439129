"""Two rubber discs of different meshes hit each other obliquely, slide, turn and part.

What is known: both momenta (angular up to the torque of friction across the penetration), and that the energy
of the discs never grows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import NeoHookean, Solid, mesh, parallel, rigid_motion
from ....integrators import Integrator, Option
from ...boxes import disc
from ...case import Problem, Results, RunLog, Values, Verdict, Verdicts
from ..solids import common
from ..solids.momenta import momenta

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


def disc_momenta(s: Integrator) -> NDArray:
    """Linear momentum and angular momentum about the origin, shape (3,) [kg m/s, kg m2/s]. Collective."""
    body: Any = s.system
    x, p = body.x[:, :2].ravel() + s.u, s.v_mean.copy()
    p[: body.owned] *= body.mass
    local = momenta(*(values[: body.owned].reshape(-1, 2) for values in (x, p)))
    return np.asarray(body.comm.allreduce(local))


class DiscLog(RunLog):
    """The log with the momenta at the start, ``before``."""

    def _prepare(self, setup: Any, p: Values) -> None:
        self.before = disc_momenta(self._scheme)


class ObliqueDiscs(common.Collision):
    """Two rubber discs of different meshes hit each other obliquely, slide, turn and part."""

    parameters = PARAMETERS
    log_type = DiscLog
    make_body = staticmethod(make_discs)

    def measure(self, run: Problem) -> Results:
        """Momenta and energies. Collective."""
        p, s, body, energy = run.p, run.integrator, run.integrator.system, common.stored(run.result)
        change = np.abs(disc_momenta(s) - run.log.before)
        scale = parallel.total(body.comm, float(np.sum(body.mass)) / 2) * p["v0"]
        return {
            **run.log.numbers(),
            "linear_momentum_defect": float(change[:2].max()) / scale,
            "angular_momentum_defect": float(change[2]) / (scale * p["radius"]),
            "energy_ratio": float(energy[-1] / energy[0]),
            "energy_max": float(energy.max() / energy[0]),
            "velocity_upper": rigid_motion(body, s.u, s.v_mean, cells="upper").velocity.tolist(),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether momenta stay and the energy does not grow."""
        p, results = run.p, run.results
        # Friction across the penetration has a torque, and so has L of a forecast position.
        angular = 1e-12 if p["friction"] == 0 and run.integrator.explicit else 1e-3
        words = "the linear momentum stays (over sum m |v|)"
        yield Verdict.below(words, results["linear_momentum_defect"], 1e-12)
        words = "the angular momentum stays (over that)"
        yield Verdict.below(words, results["angular_momentum_defect"], angular)
        if p["restitution"] == 0 or p["friction"] == 0:
            words = "the energy of the discs never grows (over that at the start)"
            yield Verdict.below(words, results["energy_max"] - 1.0, 1e-4)
