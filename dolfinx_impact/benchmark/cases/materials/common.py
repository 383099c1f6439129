"""Parameters and bodies that the cases of nearly incompressible bodies and of metals share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import J2Plasticity, LinearHardening, NamedMesh, NeoHookean, Solid
from ....integrators import Option
from ...case import Values
from ..solids import common

SCHEMES = ("cd-lagrange",)
LOCKING = Option("default", "-", "elements that do not lock, or plain ones", ("default", "none"))
COPPER = common.material(1.17e11, 8930.0, nu=0.35)
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
    samples = Option(every, "steps", "steps between samples", interval="[1, inf)")
    return {**common.times(0.85, t_end), "courant": _SAFETY, "every": samples}


def rubber(named: Any, p: Values, **more: Any) -> Solid:
    """A body of a nearly incompressible material. Collective."""
    law, locking = NeoHookean(p["E"], p["nu"], isochoric=True), _locking(p)
    return Solid(named, density=p["rho"], law=law, locking=locking, **more)


def metal(named: NamedMesh, p: Values, fixed: Mapping[str, tuple[int, ...]], **more: Any) -> Solid:
    """A body of a metal, its face at z = 0 held where the wall does. Collective."""
    law: Any = J2Plasticity(p["E"], p["nu"], hardening=LinearHardening(p["yield_stress"], p["hardening"]))
    if p["wall"] == "fixed":
        fixed = {**fixed, "face": (named.mesh.geometry.dim - 1,)}
    return Solid(named, density=p["rho"], law=law, fixed=fixed, locking=_locking(p), **more)


def _locking(p: Values) -> str | None:
    return None if p["locking"] == "default" else "none"


class MetalCase(common.SolidCase):
    """A bar that meets the wall z = 0 at ``v0``; its step follows the deformation."""

    schemes = SCHEMES
    follows = True
