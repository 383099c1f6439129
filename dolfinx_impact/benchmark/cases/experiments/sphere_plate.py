"""A sphere strikes a thin elastic plate: bending waves take its energy away."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .... import Solid
from ....exact.zener import ZenerImpact, bending_stiffness, plate_mobility
from ....integrators import Option
from ...case import Values
from . import sphere_impact

PARAMETERS = sphere_impact.parameters(
    5e-3,
    thickness=Option(2.5e-3, "m", "thickness of the plate", interval="(0, inf)"),
    extent=Option(3.0, "-", "radius of the plate in lengths of bending waves", interval="(0, inf)"),
    layers=Option(6, "-", "cells across the plate, away from the contact", interval="[1, 100]"),
)

#: Above this lambda the end of contact may be off by more.
LONG = 0.6


def bending_length(p: Values, duration: float) -> float:
    """How far bending waves come in a time: ``(D / (rho h))^(1/4) sqrt(t)`` [m]."""
    stiffness = bending_stiffness(p["E"], p["nu"], p["thickness"])
    return (stiffness / (p["rho"] * p["thickness"])) ** 0.25 * math.sqrt(duration)


class SpherePlate(sphere_impact.SphereImpact):
    """An elastic sphere strikes a thin elastic plate: waves alone decide how fast it rebounds."""

    parameters = PARAMETERS
    allowed: Values = {"restitution": 0.03, "peak_force": 0.02, "duration": 0.05}

    def tolerances(self, lam: float) -> Mapping[str, float]:
        """The force fades away slowly where lambda is large: its end is less certain there."""
        return {**self.allowed, "duration": 0.10} if lam > LONG else self.allowed

    def zener(self, p: Values) -> ZenerImpact:
        """The impact on an infinite plate."""
        return sphere_impact.impact(p, plate_mobility(p["E"], p["nu"], p["rho"], p["thickness"]))

    def make_body(self, p: Values) -> Solid:
        """Sphere and plate. Collective."""
        zener = self.zener(p)
        radius = p["extent"] * bending_length(p, zener.duration)
        sizes = {"radius": radius, "thickness": p["thickness"]}
        return sphere_impact.joined(p, zener, sizes, p["thickness"] / p["layers"])
