"""An elastic sphere that flies against a rigid plane, beside Hertz's theory of impact.

The sphere touches the plane at t = 0. Axisymmetric, it is a half disc in (r, z); in 3D a quarter of the
sphere between two planes of symmetry. Forces and masses in the results are those of the whole sphere.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import mesh, parallel
from ....algebra import kernels
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....exact.hertz import HertzImpact
from ....integrators import Integrator, Option, find_scheme
from ....materials import LinearElastic
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict

PARAMETERS = {
    "R": Option(0.01, "m", "radius of the sphere"),
    "E": Option(2.1e11, "Pa", "Young's modulus"),
    "nu": Option(0.3, "-", "Poisson's ratio"),
    "rho": Option(7850.0, "kg/m3", "density"),
    "v0": Option(0.1, "m/s", "speed towards the plane"),
    "resolution": Option(8, "-", "elements per radius of Hertz's contact"),
    "geometry": Option("axisymmetric", "-", "half disc or quarter of a sphere", ("axisymmetric", "3d")),
    "courant": Option(None, "-", "time step over the critical one (default 0.9, implicit schemes 10)"),
    **COMMON,
    "t_end": Option(None, "s", "end time (default 1.2 times Hertz's duration)"),
    "every": Option(20, "steps", "steps between samples of the history; forces follow every step"),
}
#: The sphere's parts of which one is meshed, and the deviation from Hertz that is allowed.
SHARES = {"axisymmetric": 1, "3d": 4}
ALLOWED = {"axisymmetric": 0.03, "3d": 0.06}
#: From element to element away from the contact they grow by this, up to this part of R.
GROWTH = {"axisymmetric": (1.1, 1 / 24), "3d": (1.2, 1 / 12)}
#: Hertz's contact radius over R: above it the theory does not hold, below it meshes and tolerances fail.
SLENDER = (1e-3, 0.2)
#: The force is a moving mean over this part of Hertz's duration.
WINDOW = 0.02
#: A second run at this speed is reported [m/s].
FASTER = 1.0


def exact(p: Values) -> HertzImpact:
    """Hertz's impact for the parameters of a run.

    Raises:
        ValueError: Values that describe no such impact.
    """
    for name in ("R", "E", "rho", "v0"):
        if not (p[name] > 0 and math.isfinite(p[name])):
            raise ValueError(f"{name} must be positive [{PARAMETERS[name].unit}], but is {p[name]}")
    if not -1 < p["nu"] < 0.5:
        raise ValueError(f"nu must lie in (-1, 0.5), but is {p['nu']}")
    if not 1 <= p["resolution"] <= 100:
        raise ValueError(f"resolution must be 1 to 100 elements, but is {p['resolution']}")
    hertz = HertzImpact(p["R"], p["E"], p["nu"], p["rho"], p["v0"])
    ratio = hertz.contact_radius / p["R"]
    if not SLENDER[0] <= ratio <= SLENDER[1]:
        raise ValueError(
            f"Hertz's contact radius would be {ratio:.2g} R, but must be {SLENDER[0]:g} to {SLENDER[1]:g} R: "
            "change v0 or E"
        )
    if not p["gap_tolerance"] < 1e-3 * hertz.approach:
        raise ValueError(
            f"gap_tolerance must be small against Hertz's approach, {hertz.approach:.3g} m, but is "
            f"{p['gap_tolerance']}"
        )
    return hertz


def make_sphere(p: Values) -> Solid:
    """The meshed part of the sphere, at rest on the origin. Collective."""
    radius, flat = exact(p).contact_radius, p["geometry"] == "axisymmetric"
    growth, part = GROWTH[p["geometry"]]
    coarse = part * p["R"]
    named = mesh.read(
        mesh.package_mesh("sphere.geo"),
        gdim=2 if flat else 3,
        parameters={
            "dimension": 2 if flat else 3,
            "R": p["R"],
            "fine": min(radius / p["resolution"], coarse),
            "reach": 1.5 * radius,
            "growth": growth,
            "coarse": coarse,
        },
    )
    law = LinearElastic(p["E"], p["nu"])
    if flat:
        return Solid(named, density=p["rho"], law=law, hypothesis="axisymmetric", fixed={"axis": (0,)})
    return Solid(named, density=p["rho"], law=law, fixed={"x = 0": (0,), "y = 0": (1,)})


class ForceLog(RunLog):
    """The log with the largest contact force.

    Args:
        integrator: The integrator, started.
        window: Time over which the force is averaged [s].

    Attributes:
        peak_force: Largest moving mean of the force on the meshed part [N]; after :meth:`close`.
    """

    state_names = (*RunLog.state_names, "_last", "_sums")

    def __init__(self, integrator: Integrator, window: float) -> None:
        super().__init__(integrator)
        self._mean = kernels.jit(_moving_mean)
        #: The last impulses; the next place there, their sum, its largest value.
        self._last = np.zeros(max(1, round(window / integrator.dt)))
        self._sums, self._width = np.zeros(3), self._last.size * integrator.dt

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """Note the contacts of consecutive time steps. Collective."""
        super().contacts(t, r, gap, before)
        impulses = np.sum(r, axis=1)
        if self._comm.size > 1:
            impulses = self._comm.allreduce(impulses, op=MPI.SUM)
        self._mean(impulses, self._last, self._sums)

    def close(self) -> None:
        """Bring the numbers up to the last step. Collective."""
        super().close()
        self.peak_force = float(self._sums[2]) / self._width


def _moving_mean(impulses: NDArray, last: NDArray, sums: NDArray) -> None:
    """Follow the sum of the latest impulses; arrays as in :class:`ForceLog`."""
    for i in range(impulses.size):
        place = int(sums[0])
        sums[1] += impulses[i] - last[place]
        last[place] = impulses[i]
        sums[0] = (place + 1) % last.size
        sums[2] = max(sums[2], sums[1])


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    hertz, sphere = exact(p), make_sphere(p)
    up = np.eye(sphere.block)[-1]
    plane = RigidContact(
        sphere,
        "contact",
        Plane(0.0 * up, up),
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
    )
    critical, explicit = sphere.critical_time_step(), find_scheme(scheme).explicit
    courant = p["courant"] if p["courant"] is not None else (0.9 if explicit else 10.0)
    h = p["h"] if p["h"] is not None else courant * critical
    integrator = find_scheme(scheme).bind(sphere, h, plane, p, allow_unstable=allow_unstable)
    integrator.start(0.0, np.tile(-p["v0"] * up, sphere.size // sphere.block))
    log = ForceLog(integrator, WINDOW * hertz.duration)
    t_end = p["t_end"] if p["t_end"] is not None else 1.2 * hertz.duration

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = {**measure(result, log, integrator, p), "critical_time_step": critical}
        return results, verdicts(results, integrator, t_end, p)

    return Problem(
        integrator,
        t_end,
        plane.approach(),
        log,
        judge,
        dofs=int(parallel.total(sphere.comm, sphere.owned)),
        effective={"h": h, "courant": h / critical, "t_end": t_end},
        study=lambda: faster(scheme, p),
    )


def measure(result: Result, log: ForceLog, integrator: Integrator, p: Values) -> dict[str, Any]:
    """The numbers of a run, those of the whole sphere. Collective."""
    log.close()
    hertz, share = exact(p), SHARES[p["geometry"]]
    system: Any = integrator.system
    momentum = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    upward = momentum[system.block - 1 : system.owned : system.block]
    energy = result["kinetic"] + result["complementary"] + result["internal"]
    touched = log.contact_start is not None and log.contact_end is not None
    return {
        "peak_force": share * log.peak_force,
        "duration": log.contact_end - log.contact_start if touched else None,  # type: ignore[operator]
        "peak_force_hertz": hertz.peak_force,
        "duration_hertz": hertz.duration,
        "contact_radius_hertz": hertz.contact_radius,
        "balance_residual": log.relative_residual(),
        "h": integrator.dt,
        "contact_start": log.contact_start,
        "contact_end": log.contact_end,
        "contact_phases": log.contact_phases,
        "impulse_sum": share * log.impulse_sum,
        "penetration_max": log.deepest,
        "energy_lost": 1 - float(energy[-1] / energy[0]),
        "rebound_velocity": parallel.total(system.comm, float(np.sum(upward))) / system.total_mass,
    }


def verdicts(results: dict[str, Any], integrator: Integrator, t_end: float, p: Values) -> list[Verdict]:
    """Whether the balance closes, and the impact beside Hertz's."""
    found = []
    if integrator.balance().closes:
        limit = 1e-12 if integrator.mass == "lumped" else 1e-11
        found.append(balance_verdict(results["balance_residual"], limit, integrator.n))
    return found + beside_hertz(results, t_end, p)


def beside_hertz(results: dict[str, Any], t_end: float, p: Values) -> list[Verdict]:
    """Peak force and duration over those of Hertz; none unless the sphere has left the plane by ``t_end``."""
    if results["contact_end"] is None or t_end < results["contact_end"] + WINDOW * results["duration_hertz"]:
        return []
    where, allowed = f"at {p['v0']:g} m/s", ALLOWED[p["geometry"]]
    return [
        Verdict.equal(
            f"the peak force is Hertz's (ratio) {where}",
            results["peak_force"] / results["peak_force_hertz"],
            1.0,
            allowed,
        ),
        Verdict.equal(
            f"the contact lasts as long as Hertz's (ratio) {where}",
            results["duration"] / results["duration_hertz"],
            1.0,
            allowed,
        ),
    ]


def faster(scheme: str, p: Values) -> list[Verdict]:
    """The same verdicts at 1 m/s, where a run is slower than that. Collective."""
    there = dataclasses.replace(exact(p), v0=FASTER)
    if p["v0"] >= FASTER or there.contact_radius > SLENDER[1] * p["R"]:
        return []
    values = {**p, "v0": FASTER, "h": None, "courant": None, "t_end": None}
    problem = make(scheme, values)
    result = simulate(
        problem.integrator,
        t_end=problem.t_end,
        record=problem.record,
        observers=problem.observers(),
        every=values["every"],
        progress=False,
    )
    results, _ = problem.judge(result)
    return beside_hertz(results, problem.t_end, values)


HERTZ_SPHERE = Case(
    PARAMETERS,
    ("cd-lagrange", "moreau-jean"),
    make,
    about="An elastic sphere flies against a rigid plane. Hertz's theory of impact gives its largest force "
    "and the time of contact.",
    drawing=drawings.hertz_sphere,
)
