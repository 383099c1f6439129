"""An elastic sphere that touches a rigid plane at t = 0, or another sphere, beside Hertz's theory of impact.

Half a disc in (r, z), or a quarter of the sphere; results are those of the whole sphere. Each of two equal
spheres moves as one that flies against a rigid plane with the same speed: force and duration are the same.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import Solid, mesh
from ....exact.hertz import HertzImpact
from ....integrators import Option, Scheme
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts
from . import common

PARAMETERS = {
    "R": Option(0.01, "m", "radius of the sphere", interval="(0, inf)"),
    **common.material(2.1e11, 7850.0),
    "v0": Option(0.1, "m/s", "speed towards the plane", interval="(0, inf)"),
    "resolution": Option(8, "-", "elements per radius of Hertz's contact", interval="[1, 100]"),
    "geometry": Option("axisymmetric", "-", "half disc or quarter of a sphere", ("axisymmetric", "3d")),
    **common.times("0.9, implicit schemes 10", "1.2 times Hertz's duration"),
    "every": Option(20, "steps", "steps between samples; forces follow every step", interval="[1, inf)"),
}
#: The sphere's parts of which one is meshed, and the deviation from Hertz that is allowed.
SHARES = {"axisymmetric": 1, "3d": 4}
ALLOWED = {"axisymmetric": 0.03, "3d": 0.06}
ALLOWED_OF_TWO = {"axisymmetric": 0.02, "3d": 0.02}
#: From element to element away from the contact they grow by this, up to this part of R.
GROWTH = {"axisymmetric": (1.1, 1 / 24), "3d": (1.2, 1 / 12)}
#: Of two spheres in 3D finer away from the contact, where coarse tetrahedra are too stiff.
GROWTH_OF_TWO = {**GROWTH, "3d": (1.1, 1 / 20)}
#: Hertz's contact radius over R: above it the theory does not hold, below it meshes and tolerances fail.
SLENDER = (1e-3, 0.2)
WINDOW = 0.02  #: The force is a moving mean over this part of Hertz's duration.
FASTER = 1.0  #: A second run at this speed is reported [m/s].


def exact(p: Values) -> HertzImpact:
    """Hertz's impact for the parameters of a run; a ValueError where they describe no such impact."""
    hertz = HertzImpact(p["R"], p["E"], p["nu"], p["rho"], p["v0"])
    ratio, (least, most) = hertz.contact_radius / p["R"], SLENDER
    if not least <= ratio <= most:
        limits = f"but must be {least:g} to {most:g} R: change v0 or E"
        raise ValueError(f"Hertz's contact radius would be {ratio:.2g} R, {limits}")
    if not p["gap_tolerance"] < 1e-3 * hertz.approach:
        small = f"small against Hertz's approach, {hertz.approach:.3g} m"
        raise ValueError(f"gap_tolerance must be {small}, but is {p['gap_tolerance']}")
    return hertz


def sphere_mesh(p: Values, sizes: dict[str, tuple[float, float]] = GROWTH) -> mesh.NamedMesh:
    """Mesh of the part of the sphere, which touches the origin from above. Collective."""
    radius, dimension = exact(p).contact_radius, 2 if p["geometry"] == "axisymmetric" else 3
    growth, part = sizes[p["geometry"]]
    coarse = part * p["R"]
    fine = min(radius / p["resolution"], coarse)
    parameters = {"fine": fine, "reach": 1.5 * radius, "coarse": coarse, "R": p["R"]}
    parameters |= {"dimension": dimension, "growth": growth}
    return mesh.read(mesh.package_mesh("sphere.geo"), gdim=dimension, parameters=parameters)


def make_spheres(p: Values) -> Solid:
    """The meshed parts of both spheres, which touch at the origin. Collective."""
    upper, lower = sphere_mesh(p, GROWTH_OF_TWO), sphere_mesh(p, GROWTH_OF_TWO)
    last = upper.mesh.geometry.dim - 1
    # Turned and not mirrored: cells keep their orientation, and the meshes match at no node but one.
    x = lower.mesh.geometry.x
    x[:, last] *= -1.0
    named = mesh.join({"upper": upper, "lower": lower})
    return common.elastic(named, p, **common.symmetric(last + 1, ("upper/", "lower/")))


class ForceLog(RunLog):
    """The log with ``peak_force`` [N], the largest mean force on the meshed part over a time window [s]."""

    state_names = (*RunLog.state_names, "_sums", "_most")

    def _prepare(self, setup: Any, p: Values) -> None:
        window = WINDOW * exact(p).duration
        #: The last sums of all impulses so far, as many as the window has steps; the largest one in a window.
        self._sums: NDArray = np.zeros(max(1, round(window / self._scheme.dt)))
        self._most = 0.0

    def contacts(self, t: NDArray, r: NDArray, gap: NDArray, before: NDArray) -> None:
        """Note the contacts of consecutive time steps. Collective."""
        super().contacts(t, r, gap, before)
        impulses, width = self._comm.allreduce(np.sum(r, axis=1), op=MPI.SUM), self._sums.size
        sums = np.append(self._sums, self._sums[-1] + np.cumsum(impulses))
        self._most = max(self._most, float(np.max(sums[width:] - sums[:-width])))
        self._sums = sums[-width:]

    def _close(self) -> None:
        self.peak_force = self._most / (self._sums.size * self._scheme.dt)


def beside_hertz(results: Results, p: Values, allowed: Values) -> Verdicts:
    """Peak force and duration over those of Hertz; none unless the sphere has left the plane by ``t_end``."""
    end, lasting = results["contact_end"], WINDOW * results["duration_hertz"]
    if end is None or p["t_end"] < end + lasting:
        return
    words = f"Hertz's (ratio) at {p['v0']:g} m/s"
    for name, what in (("peak_force", "the peak force is"), ("duration", "the contact lasts as long as")):
        ratio = results[name] / results[f"{name}_hertz"]
        yield Verdict.equal(f"{what} {words}", ratio, 1.0, allowed[p["geometry"]])


class HertzSphere(common.SolidCase):
    """An elastic sphere flies against a rigid plane. Hertz's theory gives its largest force and duration."""

    parameters = PARAMETERS
    schemes: tuple[str, ...] = (*common.WITH_DISSIPATIVE, "cd-lagrange-singular")
    courants = (0.9, 10.0)
    allowed: Values = ALLOWED
    log_type = ForceLog

    def _refuse(self, p: Values) -> None:
        exact(p)

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Sphere and plane. Collective."""
        named = sphere_mesh(p)
        sphere = common.elastic(named, p, **common.symmetric(named.mesh.geometry.dim))
        plane = common.floor(sphere, "contact", p)
        v0 = common.towards(sphere, p)
        return Setup(system=sphere, contact=plane, record=plane.approach(), v0=v0)

    def end(self, p: Values, scheme: Scheme) -> float:
        """A little more than Hertz's duration [s]."""
        return 1.2 * exact(p).duration

    def measure(self, run: Problem) -> Results:
        """The numbers of the impact, those of the whole sphere, and Hertz's. Collective."""
        hertz, share, log = exact(run.p), SHARES[run.p["geometry"]], run.log
        start, end, names = log.contact_start, log.contact_end, ("peak_force", "duration", "contact_radius")
        return {
            **common.impact_numbers(run),
            "peak_force": share * log.peak_force,
            "duration": None if start is None or end is None else end - start,
            **{f"{name}_hertz": getattr(hertz, name) for name in names},
            "impulse_sum": share * log.impulse_sum,
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Peak force and duration."""
        return beside_hertz(run.results, run.p, self.allowed)

    def study(self, problem: Problem) -> Verdicts:
        """The same verdicts at 1 m/s, where a run is slower than that. Collective."""
        p = problem.given
        there = dataclasses.replace(exact(p), v0=FASTER)
        if p["v0"] >= FASTER or there.contact_radius > SLENDER[1] * p["R"]:
            return []
        again = self.make(problem.scheme, {**p, "v0": FASTER, "h": None, "courant": None, "t_end": None})
        results, _ = again.judge(again.simulate())
        return beside_hertz(results, again.p, self.allowed)


class TwoSpheres(common.Collision, HertzSphere):
    """Two equal elastic spheres fly against each other.

    Hertz's theory gives the largest force and duration.
    """

    schemes = common.SCHEMES
    make_body = staticmethod(make_spheres)
    surfaces = ("upper/contact", "lower/contact")
    allowed = ALLOWED_OF_TWO

    def study(self, problem: Problem) -> Verdicts:
        """None."""
        return []
