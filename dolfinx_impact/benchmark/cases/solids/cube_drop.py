"""An elastic cube that falls flat on a rigid plane: its rebound, and Newton's coefficient of its nodes.

One face is parallel to the plane and touches it after one step; there is no gravity. What the cube keeps of
its speed is decided by the waves in it, not by the coefficient of restitution of its contact nodes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ....contact.obstacles import Plane
from ....integrators import Integrator, Option, find_scheme
from ....integrators.options import check
from ....materials import LinearElastic
from ....output.result import Result
from ....systems.solid import Solid
from ... import drawings
from ...boxes import box
from ...case import COMMON, Case, Problem, RunLog, Values
from ...verdict import Verdict
from . import common

PARAMETERS = {
    "side": Option(0.1, "m", "side of the cube", interval="(0, inf)"),
    "elements": Option(8, "-", "hexahedra along each side", interval="[1, 200]"),
    **common.material(2.1e11, 7850.0),
    "v0": Option(1.0, "m/s", "speed towards the plane", interval="(0, inf)"),
    **common.RESTITUTION,
    "courant": Option(0.9, "-", "time step over the critical one"),
    **COMMON,
    "t_end": Option(None, "s", "end time (default 10 transits of a wave)"),
}
#: End of a run in transits ``side sqrt(rho / E)``.
TRANSITS = 10.0
RESTITUTIONS = (0.0, 0.5, 1.0)
REFINEMENTS = (3, 6, 12)
SOFTER = (1.0, 0.1, 0.01)


def make_cube(p: Values) -> Solid:
    """The cube, its bottom at z = 0. Collective."""
    named = box([[0.0] * 3, [p["side"]] * 3], [p["elements"]] * 3)
    return Solid(named, density=p["rho"], law=LinearElastic(p["E"], p["nu"]))


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    check(PARAMETERS, p)
    cube, up = make_cube(p), np.eye(3)[2]
    critical = cube.critical_time_step()
    h = common.time_step(scheme, p, critical)
    least = p["gap_tolerance"] / h
    if not p["v0"] > least:
        raise ValueError(f"v0 must be above gap_tolerance / h = {least:g} m/s, but is {p['v0']}")
    # One step away, whatever E is: at the start itself nothing would rebound.
    plane = common.contact(cube, "bottom", Plane(-p["v0"] * h * up, up), p)
    integrator = find_scheme(scheme).bind(cube, h, plane, p, allow_unstable=allow_unstable)
    integrator.start(0.0, np.tile(-p["v0"] * up, cube.size // 3))
    log = RunLog(integrator)
    t_end = p["t_end"] if p["t_end"] is not None else TRANSITS * transit(p)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = {**measure(result, log, integrator, p), "critical_time_step": critical}
        return results, verdicts(results, integrator, t_end, p)

    depends = partial(study, scheme, p)
    return common.problem(integrator, critical, t_end, plane.approach(), log, judge, depends)


def transit(p: Values) -> float:
    """Time that a wave in a bar takes along the cube, ``side sqrt(rho / E)`` [s]."""
    return p["side"] * math.sqrt(p["rho"] / p["E"])


def measure(result: Result, log: RunLog, integrator: Integrator, p: Values) -> dict[str, Any]:
    """The numbers of a run. Collective."""
    log.close()
    velocity, energy = common.rising_velocity(integrator), common.stored(result)
    return {
        "rebound_ratio": velocity / p["v0"],
        "rebound_velocity": velocity,
        "energy_lost": 1 - float(energy[-1] / energy[0]),
        "energy_rebound": (velocity / p["v0"]) ** 2,
        "balance_residual": log.relative_residual(),
        "h": integrator.dt,
        **common.contact_numbers(log),
    }


def verdicts(results: dict[str, Any], integrator: Integrator, t_end: float, p: Values) -> list[Verdict]:
    """Whether balance and momentum close, and whether the impact is over."""
    start = integrator.system.total_mass * p["v0"]  # type: ignore[attr-defined]
    defect = results["impulse_sum"] / start - (1 + results["rebound_ratio"])
    found = common.balance(results, integrator)
    found.append(Verdict.below("the impulse is the change of momentum (relative)", defect, 1e-10))
    if results["contact_end"] is not None:
        end = results["contact_end"] / t_end
        found.append(Verdict.below("the last contact is over (its time over t_end)", end, 0.9))
    return found


def rebound(scheme: str, p: Values, **changes: Any) -> float:
    """Rebound over v0 of a run of its own. Collective."""
    values = {**p, "h": None, "t_end": None, **changes}
    problem = make(scheme, values)
    return float(problem.judge(common.simulated(problem, values["every"]))[0]["rebound_ratio"])


def study(scheme: str, p: Values) -> list[Verdict]:
    """What the rebound depends on: not on E, and less and less on e as the mesh is refined. Collective."""
    if find_scheme(scheme).explicit and p["courant"] > 1:
        return []
    coarse, middle, fine = REFINEMENTS
    same = [rebound(scheme, p, elements=middle, E=p["E"] * factor) for factor in SOFTER]
    rough, found = (
        [rebound(scheme, p, elements=n, restitution=e) for e in RESTITUTIONS] for n in (coarse, fine)
    )
    modulus = "the rebound does not depend on E (relative spread over E, E/10, E/100)"
    nodes = f"rebound over v0 with e = %g at {fine} elements; expected is the mean over e"
    order = (
        "the rebounds of all e approach each other at first order or faster "
        f"(spread at {fine} over that at {coarse} elements)"
    )
    mean = float(np.mean(found))
    return [
        Verdict.below(modulus, np.ptp(same) / np.max(np.abs(same)), 1e-6),
        *(Verdict.equal(nodes % e, value, mean, 0.02) for e, value in zip(RESTITUTIONS, found)),
        Verdict.below(order, np.ptp(found) / np.ptp(rough), coarse / fine),
    ]


_ABOUT = (
    "An elastic cube falls flat on a rigid plane. Waves in the cube, not the restitution of its contact "
    "nodes, decide how fast it rebounds."
)
CUBE_DROP = Case(PARAMETERS, common.SCHEMES, make, _ABOUT, drawings.cube_drop)
