"""Parameters, bodies and numbers that the cases of solids share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .... import LinearElastic, NamedMesh, Result, RigidContact, Solid, SurfaceContact, parallel
from ....contact.obstacles import Obstacle, Plane
from ....integrators import Option, Scheme
from ...case import COMMON, EXPLICIT, Case, Problem, Results, Setup, Values, contact_law

SCHEMES = ("cd-lagrange", "moreau-jean")
WITH_DISSIPATIVE = (*SCHEMES, "noh-bathe")
POSITIVE, NOT_NEGATIVE, FINITE = "(0, inf)", "[0, inf)", "(-inf, inf)"
_RESTITUTION = Option(0.0, "-", "Newton's coefficient of the contact nodes", interval="[0, 1]")
RESTITUTION = {"restitution": _RESTITUTION}


def material(E: float, rho: float, when: str = "", nu: float = 0.3) -> dict[str, Option]:
    """Parameters of a material."""
    return {
        "E": Option(E, "Pa", f"Young's modulus{when}", interval=POSITIVE),
        "nu": Option(nu, "-", f"Poisson's ratio{when}", interval="(-1, 0.5)"),
        "rho": Option(rho, "kg/m3", "density", interval=POSITIVE),
    }


def friction(default: float) -> dict[str, Option]:
    """The parameter ``friction``."""
    return {"friction": Option(default, "-", "Coulomb's coefficient", interval=NOT_NEGATIVE)}


def times(courant: float | str, t_end: float | str, when: str = "") -> dict[str, Option]:
    """The parameters of every case and ``courant``: defaults, or in words what the default None means."""
    over = _given(courant, "-", f"time step over the critical one{when}")
    return {**COMMON, "courant": over, "t_end": _given(t_end, "s", "end time")}


def _given(default: float | str, unit: str, words: str) -> Option:
    if isinstance(default, str):
        return Option(None, unit, f"{words} (default {default})")
    return Option(default, unit, words)


def elastic(named: NamedMesh, p: Values, **more: Any) -> Solid:
    """A linear elastic solid of the parameters of a material. Collective."""
    return Solid(named, density=p["rho"], law=LinearElastic(p["E"], p["nu"]), **more)


def contact(body: Solid, part: str, obstacle: Obstacle, p: Values) -> RigidContact:
    """Contact of a part of the body with an obstacle, with the parameters of a run. Collective."""
    return RigidContact(body, part, obstacle, **contact_law(p))


def floor(body: Solid, part: str, p: Values) -> RigidContact:
    """Contact of a part with the plane through the origin, whose normal is the last direction. Collective."""
    up = np.eye(body.block)[-1]
    return contact(body, part, Plane(0.0 * up, up), p)


def symmetric(dimension: int, parts: Sequence[str] = ("",)) -> dict[str, Any]:
    """Keywords of a :class:`.Solid`: half a section in (r, z), or a quarter in space, of its parts."""
    planes = {"axis": (0,)} if dimension == 2 else {"x = 0": (0,), "y = 0": (1,)}
    fixed = {part + plane: along for part in parts for plane, along in planes.items()}
    return {"fixed": fixed, **({"hypothesis": "axisymmetric"} if dimension == 2 else {})}


def stored(result: Result) -> NDArray:
    """Kinetic, complementary and internal energy at every sample, their sum [J]."""
    return result["kinetic"] + result["complementary"] + result["internal"]


def impact_numbers(run: Problem) -> Results:
    """Those of the contact, the mean velocity along the last direction [m/s], the energy lost. Collective."""
    system, energy = run.integrator.system, stored(run.result)
    momentum = np.zeros(system.size)
    system.mass_product(run.integrator.v_mean, run.integrator.mass, momentum)
    upward = momentum[system.block - 1 : system.owned : system.block]
    velocity = parallel.total(system.comm, float(np.sum(upward))) / float(system.total_mass)
    lost = 1 - float(energy[-1] / energy[0])
    return {**run.log.numbers(), "rebound_velocity": velocity, "energy_lost": lost}


def towards(body: Solid, p: Values) -> NDArray:
    """The velocity v0 of all nodes against the last direction, shape (size,) [m/s]."""
    return np.tile(-p["v0"] * np.eye(body.block)[-1], body.size // body.block)


class SolidCase(Case):
    """A case of one solid, or of several that are one body."""

    schemes: tuple[str, ...] = WITH_DISSIPATIVE

    def balance_limit(self, run: Problem) -> float:
        """Round-off, of linear systems where the mass is not lumped."""
        return 1e-12 if run.integrator.mass == "lumped" else 1e-11


class Collision(SolidCase):
    """Two parts of one body and the contact of their surfaces.

    Attributes:
        make_body: Makes the body for the parameters of a run. Collective.
        surfaces: Names of the surfaces.
    """

    make_body: Callable[[Values], Solid]
    surfaces: tuple[str, str] = ("upper/boundary", "lower/boundary")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Both parts and their contact. Collective."""
        body: Any = self.make_body(p)
        contact = SurfaceContact(body, *self.surfaces, **contact_law(p))
        first, second = (body.rigid_velocity(v, cells=name) for name, v in self.velocities(body, p).items())
        return Setup(system=body, contact=contact, v0=first + second)

    def velocities(self, body: Solid, p: Values) -> dict[str, ArrayLike]:
        """Of the parts at the start [m/s]; by default v0 towards each other along the last direction."""
        up = p["v0"] * np.eye(body.block)[-1]
        return {"lower": up, "upper": -up}
