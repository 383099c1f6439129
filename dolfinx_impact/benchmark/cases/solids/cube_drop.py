"""An elastic cube that falls flat on a rigid plane: its rebound, and Newton's coefficient of its nodes.

One face is parallel to the plane and touches it after one step; there is no gravity. What the cube keeps of
its speed is decided by the waves in it, not by the coefficient of restitution of its contact nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from .... import parallel
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....integrators import Integrator, Option, find_scheme
from ....materials import LinearElastic
from ....mesh import NamedMesh
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict

PARAMETERS = {
    "side": Option(0.1, "m", "side of the cube"),
    "elements": Option(8, "-", "hexahedra along each side"),
    "E": Option(2.1e11, "Pa", "Young's modulus"),
    "nu": Option(0.3, "-", "Poisson's ratio"),
    "rho": Option(7850.0, "kg/m3", "density"),
    "v0": Option(1.0, "m/s", "speed towards the plane"),
    "restitution": Option(0.0, "-", "Newton's coefficient of the contact nodes, 0 to 1"),
    "courant": Option(0.9, "-", "time step over the critical one"),
    **COMMON,
    "t_end": Option(None, "s", "end time (default 10 transits of a wave)"),
}
#: End of a run in transits ``side sqrt(rho / E)``.
TRANSITS = 10.0
RESTITUTIONS = (0.0, 0.5, 1.0)
REFINEMENTS = (3, 6, 12)
SOFTER = (1.0, 0.1, 0.01)


def check(p: Values) -> None:
    """Raise a ValueError unless the parameters describe a cube."""
    for name in ("side", "E", "rho", "v0"):
        if not (p[name] > 0 and math.isfinite(p[name])):
            raise ValueError(f"{name} must be positive [{PARAMETERS[name].unit}], but is {p[name]}")
    if not -1 < p["nu"] < 0.5:
        raise ValueError(f"nu must lie in (-1, 0.5), but is {p['nu']}")
    if not 0 <= p["restitution"] <= 1:
        raise ValueError(f"restitution must lie in [0, 1], but is {p['restitution']}")
    if not 1 <= p["elements"] <= 200:
        raise ValueError(f"elements must be 1 to 200 a side, but is {p['elements']}")


def make_cube(p: Values) -> Solid:
    """The cube, its bottom at z = 0. Collective."""
    n, side = p["elements"], p["side"]
    box = dmesh.create_box(MPI.COMM_WORLD, [[0.0] * 3, [side] * 3], [n] * 3, dmesh.CellType.hexahedron)
    bottom = dmesh.locate_entities_boundary(box, 2, lambda x: x[2] < side / (2 * n))
    tags = dmesh.meshtags(box, 2, np.sort(bottom), np.ones(bottom.size, np.int32))
    named = NamedMesh(box, None, tags, {"bottom": (2, 1)})
    return Solid(named, density=p["rho"], law=LinearElastic(p["E"], p["nu"]))


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    check(p)
    cube, up = make_cube(p), np.eye(3)[2]
    critical = cube.critical_time_step()
    h = p["h"] if p["h"] is not None else p["courant"] * critical
    if not p["v0"] * h > p["gap_tolerance"]:
        least = p["gap_tolerance"] / h
        raise ValueError(f"v0 must be above gap_tolerance / h = {least:g} m/s, but is {p['v0']}")
    # One step away, whatever E is: at the start itself nothing would rebound.
    plane = RigidContact(
        cube,
        "bottom",
        Plane(-p["v0"] * h * up, up),
        restitution=p["restitution"],
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
    )
    t_end = p["t_end"] if p["t_end"] is not None else TRANSITS * transit(p)
    integrator = find_scheme(scheme).bind(cube, h, plane, p, allow_unstable=allow_unstable)
    integrator.start(0.0, np.tile(-p["v0"] * up, cube.size // 3))
    log = RunLog(integrator)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = {**measure(result, log, integrator, p), "critical_time_step": critical}
        return results, verdicts(results, integrator, t_end, p)

    return Problem(
        integrator,
        t_end,
        plane.approach(),
        log,
        judge,
        dofs=int(parallel.total(cube.comm, cube.owned)),
        effective={"h": h, "courant": h / critical, "t_end": t_end},
        study=lambda: study(scheme, p),
    )


def transit(p: Values) -> float:
    """Time that a wave in a bar takes along the cube, ``side sqrt(rho / E)`` [s]."""
    return p["side"] * math.sqrt(p["rho"] / p["E"])


def measure(result: Result, log: RunLog, integrator: Integrator, p: Values) -> dict[str, Any]:
    """The numbers of a run. Collective."""
    log.close()
    system: Any = integrator.system
    momentum: NDArray = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    velocity = parallel.total(system.comm, float(np.sum(momentum[2 : system.owned : 3]))) / system.total_mass
    energy = result["kinetic"] + result["complementary"] + result["internal"]
    return {
        "rebound_ratio": velocity / p["v0"],
        "rebound_velocity": velocity,
        "energy_lost": 1 - float(energy[-1] / energy[0]),
        "energy_rebound": (velocity / p["v0"]) ** 2,
        "balance_residual": log.relative_residual(),
        "h": integrator.dt,
        "contact_start": log.contact_start,
        "contact_end": log.contact_end,
        "contact_phases": log.contact_phases,
        "impulse_sum": log.impulse_sum,
        "penetration_max": log.deepest,
    }


def verdicts(results: dict[str, Any], integrator: Integrator, t_end: float, p: Values) -> list[Verdict]:
    """Whether balance and momentum close, and whether the impact is over."""
    found, start = [], integrator.system.total_mass * p["v0"]  # type: ignore[attr-defined]
    if integrator.balance().closes:
        limit = 1e-12 if integrator.mass == "lumped" else 1e-11
        found.append(balance_verdict(results["balance_residual"], limit, integrator.n))
    defect = results["impulse_sum"] / start - (1 + results["rebound_ratio"])
    found.append(Verdict.below("the impulse is the change of momentum (relative)", defect, 1e-10))
    if results["contact_end"] is not None:
        end = results["contact_end"] / t_end
        found.append(Verdict.below("the last contact is over (its time over t_end)", end, 0.9))
    return found


def rebound(scheme: str, p: Values, **changes: Any) -> float:
    """Rebound over v0 of a run of its own. Collective."""
    values = {**p, "h": None, "t_end": None, **changes}
    problem = make(scheme, values)
    result = simulate(
        problem.integrator,
        t_end=problem.t_end,
        record=problem.record,
        observers=problem.observers(),
        every=values["every"],
        progress=False,
    )
    return float(problem.judge(result)[0]["rebound_ratio"])


def study(scheme: str, p: Values) -> list[Verdict]:
    """What the rebound depends on: not on E, and less and less on e as the mesh is refined. Collective."""
    if find_scheme(scheme).explicit and p["courant"] > 1:
        return []
    coarse, middle, fine = REFINEMENTS
    same = [rebound(scheme, p, elements=middle, E=p["E"] * factor) for factor in SOFTER]
    rough, found = (
        [rebound(scheme, p, elements=n, restitution=e) for e in RESTITUTIONS] for n in (coarse, fine)
    )
    return [
        Verdict.below(
            "the rebound does not depend on E (relative spread over E, E/10, E/100)",
            np.ptp(same) / np.max(np.abs(same)),
            1e-6,
        ),
        *(
            Verdict.equal(
                f"rebound over v0 with e = {e:g} at {fine} elements; expected is the mean over e",
                value,
                float(np.mean(found)),
                0.02,
            )
            for e, value in zip(RESTITUTIONS, found)
        ),
        Verdict.below(
            f"the rebounds of all e approach each other at first order or faster (spread at {fine} "
            f"over that at {coarse} elements)",
            np.ptp(found) / np.ptp(rough),
            coarse / fine,
        ),
    ]


CUBE_DROP = Case(
    PARAMETERS,
    ("cd-lagrange", "moreau-jean"),
    make,
    about="An elastic cube falls flat on a rigid plane. Waves in the cube, not the restitution of its "
    "contact nodes, decide how fast it rebounds.",
    drawing=drawings.cube_drop,
)
