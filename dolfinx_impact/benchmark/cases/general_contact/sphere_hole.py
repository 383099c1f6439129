"""A sphere on a square opening: it rests on four edges, or falls through.

The sphere is stiff, its facets are flat: what it rests on are edges against edges and vertices of its mesh.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import Integrator, SurfaceContact, parallel
from ....exact.resting_sphere import RestingSphere
from ....integrators import Option, Scheme
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts, contact_law
from ..solids import common
from . import certificate
from . import hole_models as models

PARAMETERS = {
    "radius": Option(0.1, "m", "of the sphere", interval="(0, inf)"),
    "opening": Option(0.12, "m", "side of the square opening", interval="(0, inf)"),
    "wedge": Option(40.0, "deg", "angle of the edges of the opening", interval="[10, 100]"),
    "gravity": Option(9.81, "m/s2", "acceleration of gravity", interval="(0, inf)"),
    **common.material(1e7, 1000.0),
    **common.friction(0.0),
    "cells": Option(8, "-", "over a quarter of the sphere's girth", interval="[2, 60]"),
    **common.times(0.8, "when it has time to fall by 5 radii"),
    "every": Option(20, "steps", "steps between samples; forces follow every step", interval="[1, inf)"),
}
#: Way of the fall that the run is long enough for, over the radius.
FALL = 5.0
#: Openings over the diameter of the sphere; those so near to it are refused.
RATIOS, NEAR = (0.2, 1.5), 0.02
#: The height is a mean over this last part of the run.
LAST = 0.4
#: Height of the centre over R with :data:`CELLS`: it is that of a polyhedron.
HEIGHT, CELLS = 0.01, 8
#: Forces of edges, relative, besides what facets lean by, and of what shakes still at the end.
FORCE = 0.02


def force_allowed(p: Values) -> float:
    """Relative deviation of the edges' forces that is allowed.

    They act at right angles to facets, which lean by up to half of their angle from the sphere.
    """
    sine = p["opening"] / (2 * p["radius"])
    return FORCE + math.pi / 4 / p["cells"] / 2 * sine / math.sqrt(1 - sine**2)


class HoleLog(RunLog):
    """The log with sums over the last part of the run.

    Attributes:
        time: That of the sums [s].
        sums: Over time: height of the centre, impulses on the sphere at four edges along their radii.
    """

    state_names = (*RunLog.state_names, "time", "sums")

    def _prepare(self, setup: Any, p: Values) -> None:
        body = setup.system
        nodes, dofs = body.owned // 3, self._scheme.contact.nodes.loaded.dofs
        inside = body._nodes_in("sphere")[:nodes]
        self._m = np.where(inside, body.mass[: body.owned : 3], 0.0)
        self._mass, self._z = parallel.total(self._comm, self._m.sum()), body.x[:nodes, 2]
        at = dofs[:, 0] // 3
        x, y = body.x[at, :2].T
        edges = np.stack([(x > np.abs(y)), (-x > np.abs(y)), (y > np.abs(x)), (-y > np.abs(x))])
        self._edges = (edges & inside[at]).astype(np.float64)
        self._impulses, self._begin = np.zeros(dofs.shape), (1 - LAST) * p["t_end"]
        self.time, self.sums = 0.0, np.zeros(5)

    def height(self) -> float:
        """Height of the sphere's centre of mass [m]. Collective."""
        z = self._z + self._scheme.u[2 : self._scheme.system.owned : 3]
        return parallel.total(self._comm, float(self._m @ z)) / self._mass

    def __call__(self, integrator: Integrator) -> None:
        """Add a step. Collective."""
        if integrator.t < self._begin:
            return
        self._impulses[:] = 0.0
        integrator.add_nodal_impulses(self._impulses)
        sizes = np.linalg.norm(self._comm.allreduce(self._edges @ self._impulses), axis=1)
        self.time += integrator.dt
        self.sums += [integrator.dt * self.height(), *sizes]


class SphereHole(common.SolidCase):
    """A sphere on a square opening rests on its four edges, or falls through, as geometry says."""

    parameters = PARAMETERS
    schemes = ("cd-lagrange",)
    log_type = HoleLog

    def _refuse(self, p: Values) -> None:
        ratio, (least, most) = p["opening"] / (2 * p["radius"]), RATIOS
        if not least <= ratio <= most:
            raise ValueError(
                f"opening must be {least:g} to {most:g} diameters of the sphere, but is {ratio:.3g}"
            )
        if abs(ratio - 1) < NEAR:
            raise ValueError(f"opening must differ from the diameter by {NEAR:g} of it, but is {ratio:.3g}")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Sphere and frame, all of whose surfaces are in contact. Collective."""
        body = models.make_bodies(p)
        return Setup(system=body, contact=SurfaceContact(body, **contact_law(p)))

    def end(self, p: Values, scheme: Scheme) -> float:
        """When a fall through the opening is over [s]."""
        return math.sqrt(2 * FALL * p["radius"] / p["gravity"])

    def measure(self, run: Problem) -> Results:
        """Height at rest, forces of the edges. Collective."""
        p, log = run.p, run.log
        exact = RestingSphere(p["radius"], p["opening"])
        end, mean = log.height(), log.sums / log.time if log.time > 0 else np.full(5, np.nan)
        fell, weight = end < 0.0, log._mass * p["gravity"]
        return {
            "height": None if fell else float(mean[0]),
            "height_exact": None if exact.falls else exact.height,
            "fell": bool(fell),
            "fell_exact": exact.falls,
            "edge_force": None if fell else mean[1:].tolist(),
            "edge_force_exact": None if exact.falls else exact.edge_force(weight),
            "height_end": end,
            **certificate.numbers(run.setup.contact),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether it falls, else its height and the forces of the edges."""
        p, found = run.p, run.results
        words = "it rests, or falls through, as the sphere does (1: it falls)"
        yield Verdict.equal(words, float(found["fell"]), float(found["fell_exact"]), 0.0)
        if found["height"] is not None and found["height_exact"] is not None:
            coarse = max(1.0, (CELLS / p["cells"]) ** 2)
            words = "the height of its centre above the edges is sqrt(R^2 - a^2/4) (over R)"
            ratio = (found["height"] - found["height_exact"]) / p["radius"]
            yield Verdict.below(words, ratio, HEIGHT * coarse)
            forces = np.array(found["edge_force"]) / found["edge_force_exact"]
            words = "each edge carries W R/(4 z) (ratio)"
            yield Verdict.equal(words, forces[np.argmax(np.abs(forces - 1))], 1.0, force_allowed(p))
        yield from certificate.verdicts(found)
