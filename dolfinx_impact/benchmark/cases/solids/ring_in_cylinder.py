"""An elastic ring that bounces inside a rigid circular wall without friction: momenta, impulses, energy.

All impulses of the wall point to its axis, here the origin, so that the angular momentum of the neo-Hookean
ring about it is constant.
"""

from __future__ import annotations

import math

from ....contact.obstacles import Sphere
from ....contact.rigid_contact import RigidContact
from ....integrators import Option
from ... import drawings
from ...case import Case, Problem, Values
from . import spinning

PARAMETERS = {
    **spinning.PARAMETERS,
    "hole": Option(0.06, "m", "inner radius of the ring"),
    "around": Option(12, "-", "elements along a quarter of the ring"),
    "across": Option(3, "-", "elements across the ring"),
    "wall": Option(0.2, "m", "radius of the wall"),
    "x0": Option(0.05, "m", "center of the ring at t = 0"),
    "y0": Option(0.0, "m", "center of the ring at t = 0"),
    "vx0": Option(3.0, "m/s", "velocity at t = 0"),
    "vy0": Option(4.0, "m/s", "velocity at t = 0"),
    "spin0": Option(30.0, "rad/s", "spin at t = 0, counter-clockwise"),
    "t_end": Option(0.3, "s", "end time"),
}


def check(p: Values) -> None:
    """Raise a ValueError unless the parameters describe a ring inside its wall."""
    spinning.check(p)
    if not 0 < p["hole"] < p["R"]:
        raise ValueError(f"hole must lie between 0 and R = {p['R']} m, but is {p['hole']}")
    if not (p["wall"] > 0 and math.isfinite(p["wall"])):
        raise ValueError(f"wall must be positive [m], but is {p['wall']}")
    reach = math.hypot(p["x0"], p["y0"]) + p["R"]
    if not reach <= p["wall"]:
        raise ValueError(
            f"the ring must lie inside the wall, of radius {p['wall']} m, but reaches to {reach:g} m: change "
            "wall, R, x0 or y0"
        )


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    check(p)
    ring = spinning.make_body(p, (p["x0"], p["y0"]), hole=p["hole"])
    wall = RigidContact(
        ring,
        "rim",
        Sphere((0.0, 0.0), p["wall"], inside=True),
        restitution=p["restitution"],
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
    )
    return spinning.problem(scheme, p, ring, wall, (0.0, 0.0), allow_unstable=allow_unstable, conserved=True)


RING_IN_CYLINDER = Case(
    PARAMETERS,
    ("cd-lagrange", "moreau-jean"),
    make,
    defaults=spinning.SCHEME_PARAMETERS,
    about="A soft ring bounces inside a rigid circular wall without friction. Its angular momentum about "
    "the axis stays the same.",
    drawing=drawings.ring_in_cylinder,
)
