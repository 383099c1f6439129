"""An elastic sphere strikes an elastic body whose waves take energy away, beside Zener's theory of impact.

The coefficient of restitution is a result: no contact law has one. Half a section in (r, z).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .... import Result, Solid, SparseRows, mesh, parallel
from ....exact.zener import ZenerImpact, hertz_stiffness
from ....integrators import Option, Scheme
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts
from ..solids import common, hertz_sphere

#: Cells grow by this from one to the next away from the contact, up to this part of the sphere's radius.
GROWTH, COARSE = 1.12, 1 / 24
#: They are fine up to so many contact radii.
REACH = 1.5
#: Forces are moving means over this part of the duration of contact.
WINDOW = 0.02
#: Part of the duration of contact for which a run goes on behind it.
BEYOND = 0.15

#: Results that are compared with theory, in words.
WORDS = {"restitution": "restitution", "peak_force": "largest force", "duration": "duration of contact"}


def parameters(radius: float, **others: Option) -> dict[str, Option]:
    """Parameters of a sphere and a body of its material."""
    return {
        "radius": Option(radius, "m", "radius of the sphere", interval="(0, inf)"),
        "v0": Option(0.5, "m/s", "speed of the sphere", interval="(0, inf)"),
        **others,
        "resolution": Option(6, "-", "cells in a contact radius", interval="[1, 100]"),
        **common.material(2.1e11, 7850.0),
        **common.times("0.9, implicit schemes 10", "1.15 times Zener's duration"),
        "every": Option(20, "steps", "steps between samples; forces follow every step", interval="[1, inf)"),
    }


def impact(p: Values, mobility: float) -> ZenerImpact:
    """Zener's impact on a body of a mobility [m/(N s)] and the sphere's material."""
    mass = 4 / 3 * math.pi * p["radius"] ** 3 * p["rho"]
    material = p["E"], p["nu"]
    return ZenerImpact(mass, hertz_stiffness(p["radius"], *material, *material), mobility, p["v0"])


def contact_radius(p: Values, zener: ZenerImpact) -> float:
    """The length ``sqrt(R v0 T)`` that cells are compared with [m]."""
    return math.sqrt(p["radius"] * p["v0"] * zener.unit_of_time)


def joined(
    p: Values, zener: ZenerImpact, sizes: Values, coarse: float, fixed: Mapping[str, Sequence[int]] = {}
) -> Solid:
    """Sphere, above, and plate or rod, which touch at the origin. Collective.

    Args:
        p: Parameters of the run.
        zener: The impact, whose contact radius decides the cells.
        sizes: ``radius`` and ``thickness`` of the plate or rod [m].
        coarse: Size of its cells away from the contact [m].
        fixed: What is held besides the axes, as of :class:`.Solid`.
    """
    radius = contact_radius(p, zener)
    fine = radius / p["resolution"]
    cells = {"fine": fine, "reach": REACH * radius, "growth": GROWTH}
    whole = {"dimension": 2, "R": p["radius"], "coarse": max(fine, COARSE * p["radius"])}
    parts = {
        "upper": mesh.read(mesh.package_mesh("sphere.geo"), gdim=2, parameters={**cells, **whole}),
        "lower": mesh.read(
            mesh.package_mesh("plate.geo"), gdim=2, parameters={**cells, **sizes, "coarse": max(fine, coarse)}
        ),
    }
    how = common.symmetric(2, ("upper/", "lower/"))
    return common.elastic(mesh.join(parts), p, **{**how, "fixed": {**how["fixed"], **fixed}})


def moving_mean(t: NDArray, cumulated: NDArray, width: float) -> tuple[NDArray, NDArray]:
    """Middle times [s] and means over a width [s] of what is cumulated over time."""
    ends = np.arange(width, t[-1], width / 4)
    return ends - width / 2, (np.interp(ends, t, cumulated) - np.interp(ends - width, t, cumulated)) / width


def force(result: Result, zener: ZenerImpact) -> tuple[NDArray, NDArray]:
    """Middle times [s] and the force of contact, means over a part of Zener's duration [N]."""
    t, impulses = result["t"], np.cumsum(result["r"].sum(axis=1))
    return moving_mean(t, impulses, WINDOW * zener.duration)


class ForceLog(hertz_sphere.ForceLog):
    """The log with the largest force, a mean over a part of Zener's duration."""

    def _prepare(self, setup: Any, p: Values) -> None:
        window = WINDOW * setup.beside.duration
        self._sums: NDArray = np.zeros(max(1, round(window / self._scheme.dt)))
        self._most = 0.0


class SphereImpact(common.Collision):
    """What both cases share: a sphere above a body at rest; restitution, force and duration of contact."""

    schemes: tuple[str, ...] = common.SCHEMES
    courants = (0.9, 10.0)
    log_type = ForceLog
    surfaces = ("upper/contact", "lower/contact")
    #: Largest deviations of restitution, largest force and duration from Zener's theory, ratios.
    allowed: Values = {}

    def zener(self, p: Values) -> ZenerImpact:
        """The impact of the parameters of a run; a ValueError where they describe none."""
        raise NotImplementedError

    def _refuse(self, p: Values) -> None:
        zener = self.zener(p)
        ratio, (least, most) = contact_radius(p, zener) / p["radius"], hertz_sphere.SLENDER
        if not least <= ratio <= most:
            limits = f"but must be {least:g} to {most:g} radii of the sphere: change v0 or E"
            raise ValueError(f"the contact radius would be {ratio:.2g}, {limits}")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Both parts and their contact. Collective."""
        setup = super().build(p, scheme)
        record = self.recorded(setup.system, p)
        return dataclasses.replace(setup, record=record, beside=self.zener(p))

    def recorded(self, body: Solid, p: Values) -> SparseRows | None:
        """Rows of the history. Collective."""
        return None

    def velocities(self, body: Solid, p: Values) -> dict[str, ArrayLike]:
        """The sphere moves down."""
        return {"lower": (0.0, 0.0), "upper": (0.0, -p["v0"])}

    def end(self, p: Values, scheme: Scheme) -> float:
        """A little behind the end of contact [s]."""
        return (1.0 + BEYOND) * self.zener(p).duration

    def measure(self, run: Problem) -> Results:
        """The numbers of the impact beside Zener's. Collective."""
        log, zener = run.log, run.setup.beside
        start, end = log.contact_start, log.contact_end
        restitution = sphere_velocity(run) / run.p["v0"]
        return {
            "lambda": zener.lam,
            "restitution": restitution,
            "restitution_zener": zener.restitution,
            "peak_force": log.peak_force,
            "peak_force_zener": zener.peak_force,
            "duration": None if start is None or end is None else end - start,
            "duration_zener": zener.duration,
            "force_deviation": self.force_deviation(run),
            **common.impact_numbers(run),
        }

    def force_deviation(self, run: Problem) -> float:
        """Largest difference of the force over time from Zener's, over his largest force."""
        zener = run.setup.beside
        t, mean = force(run.result, zener)
        return float(np.max(np.abs(mean - zener.force(t)), initial=0.0) / zener.peak_force)

    def verdicts(self, run: Problem) -> Verdicts:
        """Restitution, largest force and duration over Zener's; none unless the contact has ended."""
        results, p = run.results, run.p
        end = results["contact_end"]
        if end is None or p["t_end"] < end + WINDOW * results["duration_zener"]:
            return
        for name, tolerance in self.tolerances(results["lambda"]).items():
            words = f"the {WORDS[name]} is that of Zener's theory (ratio)"
            yield Verdict.equal(words, results[name] / results[f"{name}_zener"], 1.0, tolerance)

    def tolerances(self, lam: float) -> Mapping[str, float]:
        """Those of the results at a lambda, relative."""
        return self.allowed


def sphere_velocity(run: Problem) -> float:
    """Upward momentum of the sphere's nodes at the end of a run over its mass [m/s]. Collective."""
    s, setup = run.integrator, run.setup
    n = s.system.owned
    sphere = setup.v0[:n] != 0.0
    momentum, whole = np.zeros(s.system.size), np.zeros(s.system.size)
    s.system.mass_product(s.v_mean, s.mass, momentum)
    s.system.mass_product(setup.v0, s.mass, whole)
    sums = [parallel.total(s.system.comm, float(np.sum(each[:n][sphere]))) for each in (momentum, whole)]
    return -run.p["v0"] * sums[0] / sums[1]
