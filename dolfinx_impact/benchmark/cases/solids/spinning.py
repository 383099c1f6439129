"""Soft bodies that spin and touch a rigid wall: momenta, impulses, energy.

The disc flies towards the plane y = 0; moments are about the point where a rigid disc would touch it, and
tangential impulses have some, as nodes touch below the plane. The wall around the ring has no friction: its
impulses point to its axis, the origin, and the angular momentum is constant.
"""

from __future__ import annotations

import math

from .... import NeoHookean, Plane, Solid, Sphere, mesh
from ....integrators import Option, Scheme
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts
from . import common
from .common import FINITE, SCHEMES
from .momenta import MomentumLog, final_motion

_COURANT = "0.5 for explicit schemes, else 1"
_BODY = {
    "R": Option(0.1, "m", "outer radius of the body; its thickness is 1 m", interval="(0, inf)"),
    **common.material(1e6, 1000.0, " at rest"),
    **common.RESTITUTION,
}
DISC = {
    **_BODY,
    "around": Option(8, "-", "elements along a quarter of the rim", interval="[1, 1000]"),
    "across": Option(4, "-", "elements from the core to the rim", interval="[1, 1000]"),
    "gap": Option(0.02, "m", "distance to the plane at t = 0", interval="[0, inf)"),
    "vx0": Option(3.0, "m/s", "velocity along the plane at t = 0", interval=FINITE),
    "vy0": Option(-5.0, "m/s", "velocity away from the plane at t = 0, negative", interval=FINITE),
    "spin0": Option(40.0, "rad/s", "spin at t = 0, counter-clockwise", interval=FINITE),
    **common.friction(0.3),
    **common.times(_COURANT, 0.05, " at rest"),
}
RING = {
    **_BODY,
    "hole": Option(0.06, "m", "inner radius of the ring"),
    "around": Option(12, "-", "elements along a quarter of the ring", interval="[1, 1000]"),
    "across": Option(3, "-", "elements across the ring", interval="[1, 1000]"),
    "wall": Option(0.2, "m", "radius of the wall", interval="(0, inf)"),
    "x0": Option(0.05, "m", "center of the ring at t = 0"),
    "y0": Option(0.0, "m", "center of the ring at t = 0"),
    "vx0": Option(3.0, "m/s", "velocity at t = 0", interval=FINITE),
    "vy0": Option(4.0, "m/s", "velocity at t = 0", interval=FINITE),
    "spin0": Option(30.0, "rad/s", "spin at t = 0, counter-clockwise", interval=FINITE),
    **common.times(_COURANT, 0.3, " at rest"),
}
#: Defects of momenta are relative to ``m (|v0| + R |spin0|)``, of the angular one to R times that.
TOLERANCE = 1e-10


def make_body(p: Values, hole: float, x: float, y: float) -> Solid:
    """The disc, or the ring, around a point. Collective."""
    if not (p["vx0"] or p["vy0"] or p["spin0"]):
        raise ValueError("vx0, vy0 and spin0 are all zero: nothing would move")
    sizes = {**{name: p[name] for name in ("R", "around", "across")}, "hole": hole, "x": x, "y": y}
    named = mesh.read(mesh.package_mesh("disc.geo"), gdim=2, parameters=sizes)
    return Solid(named, density=p["rho"], law=NeoHookean(p["E"], p["nu"]))


class Spinning(common.SolidCase):
    """A soft body in rigid motion at the start; all defects are relative.

    ``angular_momentum_defect`` is the change in the ring, else what the moments of the impulses leave.
    ``energy_defect`` is that of the scheme's balance, with the work of the internal forces;
    ``stored_energy_defect`` takes the stored energy instead, at the end, and vanishes with h alone.
    """

    schemes = SCHEMES
    defaults = {"force": "midpoint"}
    courants = (0.5, 1.0)
    balance = "energy_defect"
    log_type = MomentumLog

    def measure(self, run: Problem) -> Results:
        """Momenta, impulses, energy and the motion at the end. Collective."""
        log, p = run.log, run.p
        scale = run.integrator.system.total_mass * (math.hypot(p["vx0"], p["vy0"]) + p["R"] * abs(p["spin0"]))
        energies, work = common.stored(run.result), float(run.result["contact"][-1])
        kept, had = float(energies[-1]), float(energies[0])
        moment_defect, drift = float(log.defect[1]) / (p["R"] * scale), log.drift / (p["R"] * scale)
        return {
            "linear_momentum_defect": float(log.defect[0]) / scale,
            "angular_momentum_defect": drift if "wall" in p else moment_defect,
            "angular_momentum_change": drift,
            "moment_defect": moment_defect,
            "energy_defect": log.worst_residual / had,
            "stored_energy_defect": (kept - had - work) / had,
            "energy_lost": 1 - kept / had,
            "contact_work": work / had,
            "contact_gain": log.contact_gain / had,
            **dict(zip(("vx", "vy", "spin"), map(float, final_motion(run.integrator)))),
            **dict(zip(("impulse_x", "impulse_y"), map(float, log.impulse))),
            **log.numbers(),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """The laws of momenta and contact."""
        results, p = run.results, run.p
        axis = "the angular momentum about the axis of the wall is constant (relative, largest change)"
        if run.integrator.v_shift == 0:
            axis += "; impulses act at the middle of the step, but point to the axis at its forecast"
        changes = "%s changes by %s (relative, largest of all steps)"
        words = changes % ("the linear momentum", "the impulses")
        yield Verdict.below(words, results["linear_momentum_defect"], TOLERANCE)
        words = changes % ("the angular momentum", "the moments of the impulses where they act")
        yield Verdict.below(words, results["moment_defect"], TOLERANCE)
        if "wall" in p:
            yield Verdict.below(axis, results["angular_momentum_defect"], TOLERANCE)
        claim, work = "contact takes energy (its work over the energy at the start)", results["contact_work"]
        yield Verdict(claim, work, 0.0, TOLERANCE, bool(work <= TOLERANCE))
        allowed = p.get("friction", 0.0)
        if allowed > 0 and results["impulse_y"] > 0:
            ratio = abs(results["impulse_x"]) / results["impulse_y"]
            claim = "tangential over normal impulse is at most the coefficient of friction"
            yield Verdict(claim, ratio, allowed, TOLERANCE, bool(ratio <= allowed + TOLERANCE))


class SpinningDisc(Spinning):
    """A soft disc with spin hits a rigid plane with friction: contact alone changes its momenta."""

    parameters = DISC

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Disc and plane. Collective."""
        if not p["vy0"] < 0:
            raise ValueError(f"vy0 must be negative [m/s], towards the plane, but is {p['vy0']}")
        disc = make_body(p, 0.0, 0.0, p["R"] + p["gap"])
        plane = common.contact(disc, "rim", Plane((0.0, 0.0), (0.0, 1.0)), p)
        touching = -p["vx0"] * p["gap"] / p["vy0"], 0.0  # where a rigid disc would touch the plane
        v0 = disc.rigid_velocity((p["vx0"], p["vy0"]), p["spin0"])
        return Setup(system=disc, contact=plane, record=plane.approach(), beside=touching, v0=v0)


class RingInCylinder(Spinning):
    """A soft ring bounces inside a rigid circular wall without friction: its angular momentum stays."""

    parameters = RING

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Ring and wall. Collective."""
        if not 0 < p["hole"] < p["R"]:
            raise ValueError(f"hole must lie between 0 and R = {p['R']} m, but is {p['hole']}")
        reach = math.hypot(p["x0"], p["y0"]) + p["R"]
        if not reach <= p["wall"]:
            size = f"of radius {p['wall']} m, but reaches to {reach:g} m"
            raise ValueError(f"the ring must lie inside the wall, {size}: change wall, R, x0 or y0")
        ring = make_body(p, p["hole"], p["x0"], p["y0"])
        wall = common.contact(ring, "rim", Sphere((0.0, 0.0), p["wall"], inside=True), p)
        v0 = ring.rigid_velocity((p["vx0"], p["vy0"]), p["spin0"])
        return Setup(system=ring, contact=wall, record=wall.approach(), v0=v0)
