"""A spinning elastic disc thrown at a rigid plane with friction: momenta, impulses, energy.

The neo-Hookean disc flies towards the plane y = 0 without gravity. Its angular momentum is that about the
point of the plane where a rigid disc would touch it. Tangential impulses have a moment about it, as nodes
that touch the plane lie below it by a part of their way in a step.
"""

from __future__ import annotations

import math

from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....integrators import Option
from ... import drawings
from ...case import Case, Problem, Values
from . import spinning

PARAMETERS = {
    **spinning.PARAMETERS,
    "around": Option(8, "-", "elements along a quarter of the rim"),
    "across": Option(4, "-", "elements from the core to the rim"),
    "gap": Option(0.02, "m", "distance to the plane at t = 0"),
    "vx0": Option(3.0, "m/s", "velocity along the plane at t = 0"),
    "vy0": Option(-5.0, "m/s", "velocity away from the plane at t = 0, negative"),
    "spin0": Option(40.0, "rad/s", "spin at t = 0, counter-clockwise"),
    "friction": Option(0.3, "-", "Coulomb's coefficient"),
    "t_end": Option(0.05, "s", "end time"),
}


def check(p: Values) -> None:
    """Raise a ValueError unless the parameters describe a disc on its way to the plane."""
    spinning.check(p)
    if not (p["gap"] >= 0 and math.isfinite(p["gap"])):
        raise ValueError(f"gap must be at least 0 [m], but is {p['gap']}")
    if not p["vy0"] < 0:
        raise ValueError(f"vy0 must be negative [m/s], towards the plane, but is {p['vy0']}")


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    check(p)
    disc = spinning.make_body(p, (0.0, p["R"] + p["gap"]))
    plane = RigidContact(
        disc,
        "rim",
        Plane((0.0, 0.0), (0.0, 1.0)),
        restitution=p["restitution"],
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
        friction=p["friction"],
    )
    about = (-p["vx0"] * p["gap"] / p["vy0"], 0.0)
    return spinning.problem(scheme, p, disc, plane, about, allow_unstable=allow_unstable, conserved=False)


SPINNING_DISC = Case(
    PARAMETERS,
    ("cd-lagrange", "moreau-jean"),
    make,
    defaults=spinning.SCHEME_PARAMETERS,
    about="A soft disc with spin is thrown at a rigid plane with friction. Momenta change by the contact "
    "impulses alone, and the energy balance closes.",
    drawing=drawings.spinning_disc,
)
