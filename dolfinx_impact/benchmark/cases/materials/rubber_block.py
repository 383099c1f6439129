"""Nearly incompressible rubber: a block between plates, or a ball that falls on a plane.

The block, in plane strain and bonded to both plates, is pressed by a part of its height and comes to rest;
the axisymmetric ball hits the plane in free flight, with a linear bulk viscosity that damps the waves of
pressure which the impact leaves. Elements that do not lock have smooth pressures, of the block at rest, of
the ball as a mean over the time of contact, and keep all volumes up to p / kappa (:mod:`.pressure`).

Triangles have crossed diagonals by default. With parallel ones the volumes are kept too, but pressures by
nodes are a checkerboard about as large as the pressure itself, a hundredth of that of plain triangles: these
elements are not stable in the sense of Babuska and Brezzi.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from .... import Solid, mesh
from ....exact.hertz import HertzImpact
from ....integrators import Integrator, Option, Scheme
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts
from ..solids import common
from . import meshes
from .common import LOCKING, SCHEMES, rubber
from .pressure import Pressures

_NU = Option(0.4999, "-", "Poisson's ratio at rest", interval="(0, 0.5)")
PARAMETERS = {
    "shape": Option("block", "-", "a block between plates, or a ball that falls", ("block", "ball")),
    "cell": Option("quadrilateral", "-", "kind of the cells", ("quadrilateral", "triangle")),
    "diagonals": Option("crossed", "-", "those of triangles", ("crossed", "parallel")),
    "locking": LOCKING,
    "elements": Option(8, "-", "cells along height of the block or radius of the ball", interval="[3, 200]"),
    "size": Option(0.05, "m", "height of the block, which is twice as wide; radius", interval="(0, inf)"),
    **common.material(1e6, 1000.0, " at rest"),
    "nu": _NU,
    "squeeze": Option(0.1, "-", "of the height by which the block is pressed", interval="(0, 0.4]"),
    "v0": Option(2.0, "m/s", "speed of the ball towards the plane", interval="(0, inf)"),
    "viscosity": Option(0.5, "-", "linear bulk viscosity of the ball", interval="[0, 2]"),
    **common.RESTITUTION,
    **common.times(0.8, "10 transits of shear waves; 1.2 times Hertz's duration", " at rest"),
    "every": Option(100, "steps", "steps between samples of the history", interval="[1, inf)"),
}
#: Transits of shear waves through the block: of a run, in which it is pressed, and in which damping forgets.
TRANSITS, PRESSED, DAMPED = 10.0, 5.0, 0.5
#: Largest roughness of a pressure without checkerboard, and largest change of a volume.
SMOOTH, KEPT = 0.5, 1e-3
_LOOK = 20  #: Steps between two looks at the pressures of the ball.


def bulk(p: Values) -> float:
    """Bulk modulus at rest [Pa]."""
    return float(p["E"] / (3 * (1 - 2 * p["nu"])))


def transit(p: Values) -> float:
    """Time that a shear wave takes along ``size`` [s]."""
    return float(p["size"] * math.sqrt(p["rho"] * 2 * (1 + p["nu"]) / p["E"]))


def hertz(p: Values) -> HertzImpact:
    """The impact of an elastic ball in small deformations."""
    return HertzImpact(p["size"], p["E"], p["nu"], p["rho"], p["v0"])


def block_mesh(p: Values) -> mesh.NamedMesh:
    """The block, with its facets ``foot``, ``head`` and ``side`` (one of both). Collective."""
    high, n = p["size"], p["elements"]
    corners, cells = [[0.0, 0.0], [2 * high, high]], [2 * n, n]
    if p["cell"] == "quadrilateral":
        block: Any = box(corners, cells)
    else:
        way = dmesh.DiagonalType.crossed if p["diagonals"] == "crossed" else dmesh.DiagonalType.right
        kind = dmesh.CellType.triangle
        block = dmesh.create_rectangle(MPI.COMM_WORLD, np.array(corners), cells, kind, diagonal=way)
    return mesh.named(
        block,
        foot=lambda x: np.isclose(x[1], 0.0),
        head=lambda x: np.isclose(x[1], high),
        side=lambda x: np.isclose(x[0], 2 * high),
    )


def make_body(p: Values) -> Solid:
    """The block or the ball, at rest. Collective."""
    if p["shape"] == "ball":
        section = meshes.ball(p["size"] / p["elements"], p["size"], p["cell"], p["diagonals"])
        return rubber(section, p, bulk_viscosity=(p["viscosity"], 0.0), **common.symmetric(2))
    way, during = p["squeeze"] * p["size"], PRESSED * transit(p)

    def pressed(t: float) -> float:
        return -0.5 * way * (1 - math.cos(math.pi * min(t / during, 1.0)))

    head = {"head": {0: lambda t: 0.0, 1: pressed}}
    rate = 1 / (DAMPED * transit(p))
    return rubber(block_mesh(p), p, fixed=["foot"], prescribed=head, damping=rate)


class PressureLog(RunLog):
    """Follows the pressures while the ball is in contact.

    Attributes:
        mean: Mean pressure of every cell over the time of contact [Pa].
        volume: Largest ``|J - 1|`` so far.
    """

    state_names = (*RunLog.state_names, "mean", "_looks", "volume")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._pressures, self._looks, self.volume = setup.beside, 0, 0.0
        self.mean: NDArray = np.zeros(len(self._pressures.cells))

    def __call__(self, integrator: Integrator) -> None:
        """Look every so many steps. Collective."""
        if integrator.n % _LOOK or not self._comm.allreduce(int(integrator.r.any())):
            return
        self._looks += 1
        self.mean += (self._pressures.pressure(integrator.u) - self.mean) / self._looks
        self.volume = max(self.volume, float(np.abs(self._pressures.ratios(integrator.u) - 1).max()))


class RubberBlock(common.SolidCase):
    """Rubber that hardly changes its volume is pressed between plates, or falls as a ball on a plane."""

    parameters, schemes = PARAMETERS, SCHEMES

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Body, plane and, for the measurements, pressures. Collective."""
        body = make_body(p)
        pressures = Pressures(body, bulk(p))
        if p["shape"] == "block":
            return Setup(system=body, record=body.rows(body.nodes("side")), beside=pressures)
        plane, v0 = common.floor(body, "surface", p), common.towards(body, p)
        return Setup(system=body, contact=plane, record=plane.approach(), beside=pressures, v0=v0)

    def end(self, p: Values, scheme: Scheme) -> float:
        """Some transits of a shear wave, or a little more than Hertz's duration [s]."""
        return 1.2 * hertz(p).duration if p["shape"] == "ball" else TRANSITS * transit(p)

    def log(self, integrator: Integrator, setup: Setup, p: Values) -> RunLog:
        """The log, of the ball with the pressures. Collective."""
        return (PressureLog if p["shape"] == "ball" else RunLog)(integrator, setup, p)

    def measure(self, run: Problem) -> Results:
        """Roughness of the pressures and changes of volumes. Collective."""
        log, u, pressures = run.log, run.integrator.u, run.setup.beside
        if run.p["shape"] == "ball":
            results, mean, volume = common.impact_numbers(run), log.mean, log.volume
        else:
            results, mean = {}, pressures.pressure(u)
            volume = float(np.abs(pressures.ratios(u) - 1).max())
        rough = pressures.roughness(mean)
        return {**results, "roughness": rough, "volume_change": volume, "mean_pressure": float(mean.mean())}

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether elements that do not lock have smooth pressures and keep volumes."""
        if run.integrator.system.locking is not None:
            how = "(rms of cells less their neighbours' mean, over its variation)"
            yield Verdict.below(f"the pressure has no checkerboard {how}", run.results["roughness"], SMOOTH)
            words = "volumes are kept (largest relative change)"
            yield Verdict.below(words, run.results["volume_change"], KEPT)
