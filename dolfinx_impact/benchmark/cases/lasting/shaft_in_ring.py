"""A shaft in a ring whose bore is too small for it: Lame's shrink fit, and the force that pushes it out.

The parts overlap at the start and are pushed apart in the time ``closing``, without friction and with their
ends held (plane strain). With ``push`` the ends are freed then, and the lower end of the shaft is moved along
the axis by that way, with friction, while the lower end of the ring is held: equilibrium with ``static``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import SurfaceContact, parallel
from ....integrators import SCHEMES, Integrator, Option, Scheme, find_scheme
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts, contact_law
from ..solids import common
from . import ring_models as models

_METRES = "(0, inf)"
_RATIO = "(-1, 0.5)"
PARAMETERS = {
    "bore": Option(0.0, "m", "inner radius of the shaft, 0 where it is solid", interval="[0, inf)"),
    "radius": Option(0.02, "m", "radius at which shaft and ring meet", interval=_METRES),
    "outer": Option(0.04, "m", "outer radius of the ring", interval=_METRES),
    "length": Option(0.02, "m", "of shaft and ring", interval=_METRES),
    **{f"E_{name}": Option(2.1e11, "Pa", f"Young's modulus, {name}", interval=_METRES)
       for name in ("shaft", "ring")},
    **{f"nu_{name}": Option(0.3, "-", f"Poisson's ratio, {name}", interval=_RATIO)
       for name in ("shaft", "ring")},
    "interference": Option(1e-5, "m", "radius of the shaft less that of the ring's bore", interval=_METRES),
    **common.friction(0.1),
    "push": Option(0.0, "m", "way by which the shaft is pushed after the fit", interval="[0, inf)"),
    "cells": Option(8, "-", "across the ring", interval="[2, 200]"),
    **common.COMMON,
    "h": Option(None, "s", "step of the fit (default a quarter of closing)"),
    "t_end": Option(None, "s", "end of the fit (default 1.25 times closing)"),
}  # fmt: skip
#: Time in which the fit closes [s]: without inertia it is a parameter of the load.
CLOSING = 1.0
#: Steps of the fit in this time; those of the push, whose ways grow with the third power.
STEPS, PUSH_STEPS = 4, 8
#: Interference and gap tolerance at most, over the least thickness and over the interference.
SMALL, TOLERANCE = 0.01, 1e-3
#: Deviation from Lame that is allowed with :data:`CELLS` across the ring; and what counts as nothing inside.
ALLOWED, CELLS, NOTHING_INSIDE = 0.01, 8, 1e-12
SIDES = ("shaft/outside", "ring/inside")  #: Surfaces that meet.
#: Part of Coulomb's bound from which on a point slides.
_SLIDES = 1 - 1e-6


def allowed(p: Values) -> float:
    """Relative deviation that is allowed: it falls with the square of the size of the cells."""
    return float(ALLOWED * max(1.0, (CELLS / p["cells"]) ** 2))


def push_out(run: Problem) -> Results:
    """Push the shaft of a run that has ended: ways [m], forces [N], whether all points slide. Collective."""
    p, last = run.p, run.integrator
    body = models.make_parts(p, lambda t: p["push"] * t**3)
    contact = SurfaceContact(body, *SIDES, allow_penetration=True, **contact_law(p))
    scheme = SCHEMES["static"] if run.scheme in SCHEMES else find_scheme(run.scheme)
    s: Any = scheme.bind(body, 1 / PUSH_STEPS, contact, {**p, "closing": None, "mass": "lumped"})
    s.start(last.u.copy(), 0.0, allow_penetration=True)
    ways, forces, depth = [0.0], [0.0], 0.0
    for _ in range(PUSH_STEPS):
        s.step()
        ways.append(p["push"] * s.t**3)
        forces.append(parallel.total(body.comm, float(s.reactions().sum())))
        depth = max(depth, models.depth(body, s.u))
    sliding = np.linalg.norm(s.r_t, axis=1) >= _SLIDES * p["friction"] * s.r
    slides = not body.comm.allreduce(int(np.count_nonzero(~sliding & (s.r > 0))))
    return {"push_ways": ways, "push_forces": forces, "slides": slides, "push_depth": depth}


class ShaftInRing(common.SolidCase):
    """A shrink fit, a shaft in a ring: contact that lasts, beside Lame's pressure and stresses.

    Its parts overlap at the start and close in a time; then the shaft may be pushed out with friction.
    """

    parameters = PARAMETERS
    schemes = ("static", "moreau-jean")
    defaults: Values = {"closing": CLOSING, "position": True, "theta": 1.0, "mass": "lumped"}

    def _refuse(self, p: Values) -> None:
        walls = {"bore": ("radius", p["radius"] - p["bore"]), "radius": ("outer", p["outer"] - p["radius"])}
        for name, (other, wall) in walls.items():
            if wall <= 0:
                raise ValueError(f"{name} must be below {other}, but is {p[name]} m of {p[other]} m")
        least = SMALL * min(wall for _, wall in walls.values())
        if p["interference"] > least:
            small = f"at most a hundredth of the thickness of shaft and ring, {least:g} m"
            raise ValueError(f"interference must be {small}, but is {p['interference']} m")
        if p["gap_tolerance"] > TOLERANCE * p["interference"]:
            raise ValueError(
                f"gap_tolerance must be small against the interference, {p['interference']} m, but is "
                f"{p['gap_tolerance']} m"
            )
        if not p["push"] < p["length"] / 2:
            raise ValueError(f"push must be below half of the length, but is {p['push']} m")
        if p["push"] and not p["friction"]:
            raise ValueError("a push takes a force by friction alone: friction must be above 0 with it")
        closing = p.get("closing", CLOSING)
        if closing is None:
            raise ValueError("closing must be a time [s]: the parts overlap at the start")
        if p["t_end"] is not None and p["t_end"] < closing:
            raise ValueError(f"t_end must be at least closing, {closing:g} s, but is {p['t_end']} s")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Both parts, and their contact without friction. Collective."""
        body = models.make_parts(p)
        law = {**contact_law(p), "friction": 0.0}
        contact = SurfaceContact(body, *SIDES, allow_penetration=True, **law)
        return Setup(system=body, contact=contact, record=models.followed(body))

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """``h``, or a part of ``closing`` [s]."""
        return float(p["h"] or p.get("closing", CLOSING) / STEPS)

    def end(self, p: Values, scheme: Scheme) -> float:
        """A little after the fit has closed [s]."""
        return float(1.25 * p.get("closing", CLOSING))

    def start(self, integrator: Integrator, setup: Any, p: Values) -> None:
        """At rest, with the overlap. Collective."""
        integrator.start(0.0, 0.0, allow_penetration=True)

    def measure(self, run: Problem) -> Results:
        """Pressure, hoop stress at the bore of the ring, force of the push, and exact ones. Collective."""
        p, s, body, contact = run.p, run.integrator, run.setup.body, run.setup.contact
        fit = models.exact(p)
        sums = body.comm.allreduce(np.array([s.r.sum() / s.dt, contact.areas().sum()]))
        pressure = float(sums[0] / sums[1])
        force = models.exact(p, plane_strain=False).push_force(p["friction"], p["length"])
        results: Results = {
            "pressure": pressure,
            "pressure_exact": fit.pressure,
            "hoop_stress": models.hoop_stress(body, p, s.u, pressure),
            "hoop_stress_exact": fit.hoop_stress,
            "stored_energy": parallel.total(body.comm, body.stored_energy(s.u)),
            "stored_energy_exact": fit.energy(p["length"]),
            "push_force": None,
            "push_force_exact": force if p["push"] else None,
            "depth": models.depth(body, s.u),
        }
        if p["push"]:
            results |= push_out(run)
            results["push_force"] = max(results["push_forces"])
        return results

    def verdicts(self, run: Problem) -> Verdicts:
        """Pressure, hoop stress, depth; the force of a push in which all points slide."""
        found, limit = run.results, allowed(run.p)
        words = {"pressure": "the pressure is Lame's (ratio)", "hoop_stress": "so is the hoop stress (ratio)"}
        if found.get("slides"):
            words["push_force"] = "the push takes the force of Coulomb's law (ratio)"
        for name, claim in words.items():
            yield Verdict.equal(claim, found[name] / found[f"{name}_exact"], 1.0, limit)
        inside = "no node of one part is in the other one (depth) [m]"
        yield Verdict.below(inside, found["depth"], NOTHING_INSIDE)
        if run.p["push"]:
            inside = "nor, but for the cells' edges, in the push (depth over the interference)"
            yield Verdict.below(inside, found["push_depth"] / run.p["interference"], limit)
