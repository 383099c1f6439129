"""Parameters, laws and walls that the cases of metals share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....contact.obstacles import Plane
from ....integrators import Integrator, Option, find_scheme
from ....materials import J2Plasticity, LinearHardening
from ....mesh import NamedMesh
from ....simulation.step_control import StepControl
from ....systems.solid import Solid
from ...case import Problem, Values
from ..solids import common
from .rubber_block import LOCKING, SCHEMES

__all__ = ["LOCKING", "SCHEMES", "followed", "launched", "peak_strain", "solid"]
COPPER = {
    "E": Option(1.17e11, "Pa", "Young's modulus", interval="(0, inf)"),
    "nu": Option(0.35, "-", "Poisson's ratio", interval="(-1, 0.5)"),
    "rho": Option(8930.0, "kg/m3", "density", interval="(0, inf)"),
}
_PUSHES = "the wall only pushes, or holds the axial displacement of the face (u_z = 0)"
WALL = {"wall": Option("contact", "-", _PUSHES, ("contact", "fixed"))}
_SAFETY = Option(0.85, "-", "time step over the critical one, which it follows", interval="(0, 1)")


def flow(yield_stress: float, hardening: float) -> dict[str, Option]:
    """Parameters of linear hardening."""
    return {
        "yield_stress": Option(yield_stress, "Pa", "initial yield stress", interval="(0, inf)"),
        "hardening": Option(hardening, "Pa", "its slope over plastic strain", interval="[0, inf)"),
    }


def times(t_end: float | str, every: int) -> dict[str, Option]:
    """The parameters of time; with ``h`` the step does not follow the deformation."""
    found = {**common.times(0.85, t_end), "courant": _SAFETY}
    return {**found, "every": Option(every, "steps", "steps between samples", interval="[1, inf)")}


def solid(named: NamedMesh, p: Values, fixed: Mapping[str, tuple[int, ...]], **more: Any) -> Solid:
    """A body of a metal, its face at z = 0 held where the wall does. Collective."""
    law: Any = J2Plasticity(p["E"], p["nu"], hardening=LinearHardening(p["yield_stress"], p["hardening"]))
    if p["wall"] == "fixed":
        fixed = {**fixed, "face": (named.mesh.geometry.dim - 1,)}
    locking = None if p["locking"] == "default" else "none"
    return Solid(named, density=p["rho"], law=law, fixed=fixed, locking=locking, **more)


def launched(scheme: str, p: Values, body: Solid, allow_unstable: bool) -> Integrator:
    """The scheme on a body that meets the wall z = 0 at ``v0``, started. Collective."""
    up = np.eye(body.block)[-1]
    plane = common.contact(body, "face", Plane(0.0 * up, up), p) if p["wall"] == "contact" else None
    h = common.time_step(scheme, p, body)
    integrator = find_scheme(scheme).bind(body, h, plane, p, allow_unstable=allow_unstable)
    integrator.start(0.0, np.tile(-p["v0"] * up, body.size // body.block))
    return integrator


def followed(problem: Problem, p: Values) -> Problem:
    """The problem whose step follows the critical one, unless the step is given."""
    if p["h"] is None:
        problem.adapt = StepControl(safety=p["courant"])
    return problem


def peak_strain(body: Solid) -> float:
    """Largest equivalent plastic strain at a quadrature point. Collective."""
    assert body.history is not None
    return body.history.largest("equivalent_plastic_strain")
