"""Parameters, laws and walls that the cases of metals share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....integrators import Option
from ....materials import J2Plasticity, LinearHardening
from ....mesh import NamedMesh
from ....systems.solid import Solid
from ...case import Values
from ..solids import common
from .rubber_block import LOCKING, SCHEMES

__all__ = ["LOCKING", "MetalCase", "peak_strain", "rigid_wall", "solid"]
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


def peak_strain(body: Solid) -> float:
    """Largest equivalent plastic strain at a quadrature point. Collective."""
    assert body.history is not None
    return body.history.largest("equivalent_plastic_strain")


def rigid_wall(body: Solid, p: Values) -> RigidContact:
    """The wall z = 0 at the face. Collective."""
    up = np.eye(body.block)[-1]
    return common.contact(body, "face", Plane(0.0 * up, up), p)


class MetalCase(common.SolidCase):
    """A bar that meets the wall z = 0 at ``v0``; its step follows the deformation."""

    schemes = SCHEMES
    follows = True
