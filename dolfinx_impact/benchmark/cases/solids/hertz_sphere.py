"""An elastic sphere that flies against a rigid plane, beside Hertz's theory of impact.

The sphere touches the plane at t = 0. Axisymmetric, it is a half disc in (r, z); in 3D a quarter of the
sphere between two planes of symmetry. Forces and masses in the results are those of the whole sphere.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import mesh
from ....algebra import kernels
from ....contact.obstacles import Plane
from ....exact.hertz import HertzImpact
from ....integrators import Integrator, Option, find_scheme
from ....integrators.options import check
from ....materials import LinearElastic
from ....output.result import Result
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Problem, RunLog, Values
from ...verdict import Verdict
from . import common

PARAMETERS = {
    "R": Option(0.01, "m", "radius of the sphere", interval="(0, inf)"),
    **common.material(2.1e11, 7850.0),
    "v0": Option(0.1, "m/s", "speed towards the plane", interval="(0, inf)"),
    "resolution": Option(8, "-", "elements per radius of Hertz's contact", interval="[1, 100]"),
    "geometry": Option("axisymmetric", "-", "half disc or quarter of a sphere", ("axisymmetric", "3d")),
    "courant": Option(None, "-", "time step over the critical one (default 0.9, implicit schemes 10)"),
    **COMMON,
    "t_end": Option(None, "s", "end time (default 1.2 times Hertz's duration)"),
    "every": Option(20, "steps", "steps between samples; forces follow every step", interval="[1, inf)"),
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
    check(PARAMETERS, p)
    hertz = HertzImpact(p["R"], p["E"], p["nu"], p["rho"], p["v0"])
    ratio, (least, most) = hertz.contact_radius / p["R"], SLENDER
    if not least <= ratio <= most:
        limits = f"but must be {least:g} to {most:g} R: change v0 or E"
        raise ValueError(f"Hertz's contact radius would be {ratio:.2g} R, {limits}")
    if not p["gap_tolerance"] < 1e-3 * hertz.approach:
        small = f"small against Hertz's approach, {hertz.approach:.3g} m"
        raise ValueError(f"gap_tolerance must be {small}, but is {p['gap_tolerance']}")
    return hertz


def make_sphere(p: Values) -> Solid:
    """The meshed part of the sphere, at rest on the origin. Collective."""
    radius, flat = exact(p).contact_radius, p["geometry"] == "axisymmetric"
    growth, part = GROWTH[p["geometry"]]
    dimension, coarse = 2 if flat else 3, part * p["R"]
    sizes = {"fine": min(radius / p["resolution"], coarse), "reach": 1.5 * radius, "coarse": coarse}
    parameters = {"dimension": dimension, "R": p["R"], "growth": growth, **sizes}
    named = mesh.read(mesh.package_mesh("sphere.geo"), gdim=dimension, parameters=parameters)
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
    plane = common.contact(sphere, "contact", Plane(0.0 * up, up), p)
    critical = sphere.critical_time_step()
    h = common.time_step(scheme, p, critical, (0.9, 10.0))
    integrator = find_scheme(scheme).bind(sphere, h, plane, p, allow_unstable=allow_unstable)
    integrator.start(0.0, np.tile(-p["v0"] * up, sphere.size // sphere.block))
    log = ForceLog(integrator, WINDOW * hertz.duration)
    t_end = p["t_end"] if p["t_end"] is not None else 1.2 * hertz.duration

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = {**measure(result, log, integrator, p), "critical_time_step": critical}
        return results, common.balance(results, integrator) + beside_hertz(results, t_end, p)

    again = partial(faster, scheme, p)
    return common.problem(integrator, critical, t_end, plane.approach(), log, judge, again)


def measure(result: Result, log: ForceLog, integrator: Integrator, p: Values) -> dict[str, Any]:
    """The numbers of a run, those of the whole sphere. Collective."""
    log.close()
    hertz, share, energy = exact(p), SHARES[p["geometry"]], common.stored(result)
    start, end = log.contact_start, log.contact_end
    return {
        "peak_force": share * log.peak_force,
        "duration": None if start is None or end is None else end - start,
        **{f"{name}_hertz": getattr(hertz, name) for name in ("peak_force", "duration", "contact_radius")},
        "balance_residual": log.relative_residual(),
        "h": integrator.dt,
        **common.contact_numbers(log),
        "impulse_sum": share * log.impulse_sum,
        "energy_lost": 1 - float(energy[-1] / energy[0]),
        "rebound_velocity": common.rising_velocity(integrator),
    }


def beside_hertz(results: dict[str, Any], t_end: float, p: Values) -> list[Verdict]:
    """Peak force and duration over those of Hertz; none unless the sphere has left the plane by ``t_end``."""
    if results["contact_end"] is None or t_end < results["contact_end"] + WINDOW * results["duration_hertz"]:
        return []
    words = {"peak_force": "the peak force is", "duration": "the contact lasts as long as"}
    return [
        Verdict.equal(
            f"{text} Hertz's (ratio) at {p['v0']:g} m/s",
            results[name] / results[f"{name}_hertz"],
            1.0,
            ALLOWED[p["geometry"]],
        )
        for name, text in words.items()
    ]


def faster(scheme: str, p: Values) -> list[Verdict]:
    """The same verdicts at 1 m/s, where a run is slower than that. Collective."""
    there = dataclasses.replace(exact(p), v0=FASTER)
    if p["v0"] >= FASTER or there.contact_radius > SLENDER[1] * p["R"]:
        return []
    values = {**p, "v0": FASTER, "h": None, "courant": None, "t_end": None}
    problem = make(scheme, values)
    results, _ = problem.judge(common.simulated(problem, values["every"]))
    return beside_hertz(results, problem.t_end, values)


_ABOUT = (
    "An elastic sphere flies against a rigid plane. Hertz's theory of impact gives its largest force and the "
    "time of contact."
)
HERTZ_SPHERE = Case(PARAMETERS, common.SCHEMES, make, _ABOUT, drawings.hertz_sphere)
