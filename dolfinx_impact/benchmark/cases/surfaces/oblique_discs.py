"""Two rubber discs of different meshes hit each other obliquely, slide, turn and part.

What is known: both momenta (angular up to the torque of friction across the penetration), and that the energy
of the discs never grows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....integrators import Option, find_scheme
from ....materials import NeoHookean
from ....systems.solid import Solid
from ... import drawings
from ...case import Case, Problem, Values
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


def build(p: Values) -> Solid:
    """The discs, so far apart that circles would touch after 0.08 of radius / v0 times 0.15. Collective."""
    common.check(PARAMETERS, p)
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


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    body = build(p)
    h = common.time_step(scheme, p, body)
    integrator = find_scheme(scheme).bind(
        body, h, surfaces.contact(body, p), p, allow_unstable=allow_unstable
    )
    parts = [
        body.rigid_velocity((0.0, v), cells=name) for name, v in (("upper", -p["v0"]), ("lower", p["v0"]))
    ]
    integrator.start(0.0, parts[0] + parts[1])
    before = surfaces.momenta(integrator)
    record = body.rows(body.nodes(surfaces.UPPER)[:0])
    return common.problem(integrator, p, record, lambda run: judge(run, before))


def judge(run: common.Ended, before: NDArray) -> common.Judged:
    """Momenta and energies. Collective."""
    p, s, energy = run.p, run.integrator, common.stored(run.result)
    body: Any = s.system
    change = np.abs(surfaces.momenta(s) - before)
    scale = parallel.total(body.comm, float(np.sum(body.mass)) / 2) * p["v0"]
    results = {
        **common.contact_numbers(run.log),
        "linear_momentum_defect": float(change[:2].max()) / scale,
        "angular_momentum_defect": float(change[2]) / (scale * p["radius"]),
        "energy_ratio": float(energy[-1] / energy[0]),
        "energy_max": float(energy.max() / energy[0]),
        "velocity_upper": surfaces.mean_velocity(s, "upper").tolist(),
    }
    # Friction across the penetration has a torque, and so has L of a forecast position.
    angular = 1e-12 if p["friction"] == 0 and s.explicit else 1e-3
    found = [
        Verdict.below("the linear momentum stays (over sum m |v|)", results["linear_momentum_defect"], 1e-12),
        Verdict.below("the angular momentum stays (over that)", results["angular_momentum_defect"], angular),
    ]
    if p["restitution"] == 0 or p["friction"] == 0:
        words = "the energy of the discs never grows (over that at the start)"
        found.append(Verdict.below(words, results["energy_max"] - 1.0, 1e-4))
    return results, found


_ABOUT = "Two rubber discs of different meshes hit each other obliquely, slide, turn and part."
OBLIQUE_DISCS = Case(PARAMETERS, common.WITH_DISSIPATIVE, make, _ABOUT, drawings.oblique_discs)
