"""Two elastic bodies that press on each other: Hertz's theory, along a line or at a point.

Blocks with faces of two radii, large against the contact, half a section. The far end of the upper one is
moved, that of the lower one is held; after each step the way is corrected by the secant of the loads so far,
so that the forces at the end come to the load in a few steps. Without friction only the last one counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import Integrator, SurfaceContact, parallel
from ....integrators import Option, Scheme
from ...case import COMMON, EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts, contact_law
from ..solids import common
from . import hertz_models as models

PARAMETERS = {
    "geometry": Option("line", "-", "cylinders in plane strain, or spheres", ("line", "point")),
    "radius": Option(0.01, "m", "of the upper body", interval="(0, inf)"),
    "radius2": Option(0.0, "m", "of the lower one, 0: flat, negative: concave", interval="(-inf, inf)"),
    **{
        f"{name}{k}": Option(default, unit, f"{words}, {which} body", interval=interval)
        for k, which in ((1, "upper"), (2, "lower"))
        for name, default, unit, words, interval in (
            ("E", 2.1e11, "Pa", "Young's modulus", "(0, inf)"),
            ("nu", 0.3, "-", "Poisson's ratio", "(-1, 0.5)"),
        )
    },
    "load": Option(
        None, "N", "whole, with line [N/m] (default: half-width 1/1000 of the radius)", interval="(0, inf)"
    ),
    "resolution": Option(10, "-", "facets of either body over the half-width", interval="[2, 100]"),
    **COMMON,
    "h": Option(None, "s", "step, in which the way is corrected once (default a fifth of t_end)"),
    "t_end": Option(1.0, "s", "end of the steps; nothing depends on it"),
}
STEPS = 5
#: Half-width over the least radius: above it the theory does not hold, below it rounding counts.
SLENDER = (1e-5, 0.05)
TOLERANCE = 1e-3  #: Gap tolerance over the depth ``b^2/R`` of the contact, at most.
#: Allowed with :data:`FACETS` over b and blocks of ``b / FAR``: force and half-width, pressure.
FORCE, PRESSURE, FACETS, FAR = 0.01, 0.03, 10, 5e-3
_LOADED = 1e-6  #: Relative distance of the load of a run from the one asked for, at most.
_CLOSE = 1e-13  #: From here on a correction of the way would be rounding.


class LoadPath:
    """Way of the end of the upper block: a line between the times of steps."""

    def __init__(self, first: float, dt: float) -> None:
        self.dt, self.ways = dt, [0.0, first]

    def __call__(self, t: float) -> float:
        """Displacement along y at a time [m]."""
        return -float(np.interp(t, self.dt * np.arange(len(self.ways)), self.ways))


class LoadLog(RunLog):
    """The log that corrects the way after each step.

    Attributes:
        ways, loads: Of the end of the upper block [m, N, with line N/m], at rest first.
    """

    state_names = (*RunLog.state_names, "ways", "loads")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._path, self._wanted = setup.beside, models.exact(p).load
        # Half a section of a line; an axisymmetric one is the whole. Loads of spheres go as d^(3/2).
        self._share, self._power = (2.0, 1.0) if p["geometry"] == "line" else (1.0, 2 / 3)
        self.ways, self.loads = list(self._path.ways), [0.0]

    def _resume(self) -> None:
        self._path.ways[:] = self.ways

    def __call__(self, integrator: Integrator) -> None:
        """Take the load of a step, and choose the way of the next one. Collective."""
        # More precise than the reactions: far cells are stiff, and multiply the rounding of displacements.
        s: Any = integrator
        normal = np.abs(s.contact.local_bases()[:, 0, 1])
        force = float(np.sum(np.where(s.r > 0, s.r * normal, 0.0))) / s.dt
        force = parallel.total(self._comm, force)
        self.loads.append(self._share * force)
        (x, y), (low, high) = self.ways[-2:], (max(load, 0.0) ** self._power for load in self.loads[-2:])
        missing = self._wanted**self._power - high
        settled = abs(missing) <= _CLOSE * self._wanted**self._power or high == low
        self.ways.append(y if settled else max(0.0, y + missing * (y - x) / (high - low)))
        self._path.ways[:] = self.ways


def allowed(p: Values) -> float:
    """Relative deviation of the force that is allowed: it grows with facets and half-width."""
    far = models.exact(p).half_width / (models.SIZE * models.least_radius(p) * FAR)
    return float(FORCE * max(1.0, FACETS / p["resolution"], far))


def nodes(run: Problem) -> tuple[NDArray, NDArray, NDArray]:
    """Distances from the middle [m], forces [N] and pressures [Pa] of the nodes of the slave, of all ranks.

    In the section that is meshed; sorted. Collective.
    """
    s, contact = run.integrator, run.setup.contact
    areas = contact.areas()
    every = np.column_stack([contact.places(s.u)[:, 0], s.r / s.dt, areas])[areas > 0]
    x, force, area = parallel.gather_rows(contact.comm, every).T
    order = np.argsort(x)
    return np.maximum(x[order], 0.0), force[order], force[order] / area[order]


class HertzStatic(common.SolidCase):
    """Two elastic bodies press on each other along a line or at a point, beside Hertz's theory.

    The load, the half-width and the pressure of cylinders or spheres, convex, flat or concave.
    """

    parameters = PARAMETERS
    schemes = ("static",)
    log_type = LoadLog

    def _refuse(self, p: Values) -> None:
        radius, second = p["radius"], p["radius2"]
        if second < 0 and -second <= radius:
            raise ValueError(
                f"a concave body must have a larger radius than {radius} m, but radius2 is {second}"
            )
        hertz = models.exact(p)
        ratio, (least, most) = hertz.half_width / models.least_radius(p), SLENDER
        if not least <= ratio <= most:
            limits = f"but must be {least:g} to {most:g}: change the load"
            raise ValueError(f"Hertz's half-width would be {ratio:.2g} of the smaller radius, {limits}")
        depth = hertz.half_width**2 / hertz.radius
        if p["gap_tolerance"] > TOLERANCE * depth:
            small = f"small against the depth of the contact, {depth:.3g} m"
            raise ValueError(f"gap_tolerance must be {small}, but is {p['gap_tolerance']} m")

    def balance_limit(self, run: Problem) -> float:
        """Displacements are found to 1e-12, which the stiff cells far from the contact multiply."""
        return 1e-6

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Both blocks and their contact. Collective."""
        path = LoadPath(models.first_way(p), self._step(p))
        body = models.make_blocks(p, path)
        contact = SurfaceContact(body, "upper/contact", "lower/contact", **contact_law(p))
        return Setup(system=body, contact=contact, beside=path)

    def _step(self, p: Values) -> float:
        return float(p["h"] or p["t_end"] / STEPS)

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """``h``, or a part of ``t_end`` [s]."""
        return self._step(p)

    def measure(self, run: Problem) -> Results:
        """Force, half-width and pressure beside Hertz's. Collective."""
        p, log = run.p, run.log
        x, forces, pressures = nodes(run)
        load, way, wanted = log.loads[-1], log.ways[len(log.loads) - 1], models.exact(p)
        reached = replace(wanted, load=load)
        peak = float(pressures.max())
        return {
            "load": load,
            "load_wanted": wanted.load,
            "force_ratio": load / models.measured(p, peak, way).load,
            "pressure_error": models.pressure_error(p, x, pressures, reached),
            "half_width": models.half_width(p, x, forces),
            "half_width_exact": reached.half_width,
            "peak_pressure": peak,
            "peak_pressure_exact": reached.peak_pressure,
            "way": way,
            "depth": run.log.deepest,
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Load, force, pressure and half-width."""
        p, found = run.p, run.results
        missing = found["load"] / found["load_wanted"] - 1
        yield Verdict.below("the forces at the end are the load (relative difference)", missing, _LOADED)
        of = {"line": "of the largest pressure", "point": "of the approach"}[p["geometry"]]
        yield Verdict.equal(f"the load is Hertz's {of} (ratio)", found["force_ratio"], 1.0, allowed(p))
        coarse = max(1.0, FACETS / p["resolution"])
        yield Verdict.below(
            "the pressure is Hertz's (L2, relative)", found["pressure_error"], PRESSURE * coarse
        )
        width = found["half_width"] / found["half_width_exact"]
        yield Verdict.equal("so is the half-width (ratio)", width, 1.0, FORCE * coarse)
