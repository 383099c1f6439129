"""A block that hits a floor, in plane strain: the bar of Doyen, Ern and Piperno (2011) with free sides.

With Poisson's ratio 0 it is that bar. Else waves from the sides open and close the contact, first under the
corners. One half is meshed, in squares; impulses and forces are those of the whole block, 1 m thick.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import Solid, SparseRows, mesh, parallel
from ....exact import SignoriniBar
from ....integrators import Integrator, Option, Scheme
from ....integrators.doyen2011_central import penalty_limit
from ....integrators.impulses.penalty import ExplicitPenalty
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts
from ...run_log import CONTACT, Steps
from ..signorini.case import ENDS, SIGNORINI_IMPACT, front_spread
from ..solids import common

#: At nu = 0.3 of a block twice as high as wide, by a program of its own (leapfrog, Q1 elements, 40 to 640
#: layers of cells): velocity of the centre of mass over v0; lowest displacement of the middle of the top over
#: v0 L / c, where c = sqrt(E / rho), which is -2.869 m at the default parameters; end of the runs over L / c.
REBOUND, TOP_LOWEST, REFERENCE_END = 0.842, -0.8607, 3.0
#: Deviation from them that is allowed, relative, with so many layers of cells; more with fewer.
ALLOWED, FINE = 0.01, 80

#: Default step of central differences with a penalty over its limit, at most.
PART_OF_LIMIT = 0.95

PARAMETERS = {
    **common.material(900.0, 1.0),
    "width": Option(5.0, "m", "width of the block", interval="(0, inf)"),
    "height": Option(10.0, "m", "height of the block", interval="(0, inf)"),
    "v0": Option(10.0, "m/s", "speed towards the floor, which it touches at t = 0", interval="(0, inf)"),
    "divisions": Option(8, "1/m", "cells a unit of length", interval="[1, 200]"),
    **common.times("0.75, implicit schemes 1.5", 1.0),
    "gap_tolerance": Option(1e-9, "m", "a gap up to this counts as closed"),
}


def wave_speed(p: Values) -> float:
    """Speed of the pressure wave that runs up the block [m/s]."""
    nu = p["nu"]
    return math.sqrt(p["E"] * (1 - nu) / ((1 + nu) * (1 - 2 * nu)) / p["rho"])


def wave_force(p: Values) -> float:
    """Force of the floor that sends this wave up the whole width, rho c v0 b [N]."""
    return float(p["rho"] * wave_speed(p) * p["v0"] * p["width"])


def bar(p: Values) -> SignoriniBar:
    """The bar that the block is without Poisson's ratio."""
    return SignoriniBar(p["E"], p["rho"], p["height"], 0.0, p["v0"], 0.0)


def make_block(p: Values) -> Solid:
    """The right half, from x = 0 on. Collective."""
    half, high = p["width"] / 2, p["height"]
    cells = [round(side * p["divisions"]) for side in (half, high)]
    named = mesh.named(
        box([[0.0, 0.0], [half, high]], cells),
        axis=lambda x: np.isclose(x[0], 0.0, atol=1e-9 * half),
        side=lambda x: np.isclose(x[0], half, rtol=1e-9),
    )
    return common.elastic(named, p, fixed={"axis": (0,)})


def followed(block: Solid, p: Values) -> SparseRows:
    """Displacements of the middle of the top along y, and of the side from below along x. Collective."""
    x = block.x[: block.owned // 2]
    top = np.flatnonzero(np.hypot(x[:, 0], x[:, 1] - p["height"]) < 1e-6 * p["height"])
    side = np.flatnonzero(np.isclose(x[:, 0], p["width"] / 2, rtol=1e-9))
    side = side[np.argsort(x[side, 1])]
    dofs = np.concatenate([2 * top + 1, 2 * side])[:, None]
    order = np.concatenate([-np.ones(top.size), np.rint(x[side, 1] * p["divisions"])])[:, None]
    labels = ["top"] * top.size + [f"side{k:.0f}" for k in order[top.size :, 0]]
    return SparseRows(dofs, np.ones(dofs.shape), order, labels)


class BlockLog(RunLog):
    """The log with what the top, the side and the force do in every step.

    Attributes:
        top_lowest, bulge: Lowest displacement of the middle of the top, largest one of the side outwards [m].
        variation: Total variation of the force of the floor on the whole block [N], in the time in which the
            pressure wave runs to the top and back, less :data:`ENDS` of it at both ends: neither the impact
            nor the front that comes back, which the mesh scatters, counts.
    """

    state_names = (*RunLog.state_names, "top_lowest", "bulge", "variation", "_force")

    def _prepare(self, setup: Any, p: Values) -> None:
        back = 2 * p["height"] / wave_speed(p)
        self._window = ENDS * back, (1 - ENDS) * back
        self.top_lowest, self.bulge, self.variation = 0.0, 0.0, 0.0
        self._force: NDArray = np.zeros(0)  #: The last one of the window so far [N].

    def _follow(self, steps: Steps) -> None:
        n, vertical = steps.count, steps.rows.dofs[:, 0] % 2 == 1
        t, u, h = steps.t[:n], steps.u[:n], self._scheme.dt
        low, out = u[:, vertical].min(initial=0.0), u[:, ~vertical].max(initial=0.0)
        self.top_lowest = min(self.top_lowest, self._comm.allreduce(float(low), op=MPI.MIN))
        self.bulge = max(self.bulge, self._comm.allreduce(float(out), op=MPI.MAX))
        forces = 2 * self._comm.allreduce(steps.r[:n].sum(axis=1), op=MPI.SUM) / h
        inside = (t > self._window[0] - 1e-6 * h) & (t < self._window[1] + 1e-6 * h)
        chain: NDArray = np.append(self._force, forces[inside])
        self.variation += float(np.abs(np.diff(chain)).sum())
        self._force = chain[-1:]


class PlaneBlock(common.SolidCase):
    """An elastic block hits a floor in plane strain: an impact of waves, where contact opens and closes.

    Without Poisson's ratio every scheme repeats its bar.
    """

    parameters = PARAMETERS
    schemes = SIGNORINI_IMPACT.schemes
    defaults: Values = {"per_area": True}
    courants = (0.75, 1.5)
    log_type = BlockLog

    def _refuse(self, p: Values) -> None:
        sides = {"half of the width": p["width"] / 2, "the height": p["height"]}
        for words, side in sides.items():
            cells = side * p["divisions"]
            if round(cells) < 1 or abs(cells - round(cells)) > 1e-9 * cells:
                raise ValueError(
                    f"{words} must be a whole number of squares, but {side:g} m are {cells:g} of them with "
                    f"divisions = {p['divisions']}: change one of them"
                )

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Block and floor. Collective."""
        block = make_block(p)
        floor = common.floor(block, "bottom", p)
        return Setup(system=block, contact=floor, record=followed(block, p), v0=common.towards(block, p))

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """As of other cases; where none is given, central differences with a penalty stay below its limit."""
        h, own = super().time_step(p, scheme, setup), p["h"] is None and p.get("courant") is None
        if not own or not scheme.explicit or scheme.contact_level != "penalty":
            return h
        compliance = ExplicitPenalty(setup.contact, p["eps"], p["per_area"]).compliance
        return min(h, PART_OF_LIMIT * penalty_limit(setup.system, setup.contact, compliance))

    def measure(self, run: Problem) -> Results:
        """Velocity, displacements, impulse, energies and the force's variation. Collective."""
        p, log, energy = run.p, run.log, common.stored(run.result)
        return {
            **log.numbers(*CONTACT),
            "rebound": _mean_velocity(run.integrator) / p["v0"],
            "top_lowest": log.top_lowest,
            "impulse": 2 * log.impulse_sum,
            "energy_lost": 1 - float(energy[-1] / energy[0]),
            "contact_work": float(run.result["contact"][-1] / energy[0]),
            "bulge": log.bulge,
            "force_variation": log.variation / wave_force(p),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Rebound and top beside the reference; without Poisson's ratio the end of contact of the bar."""
        p, results, beside = run.p, run.results, bar(run.p)
        if p["t_end"] < REFERENCE_END * beside.transit * (1 - 1e-9):
            return
        layers = round(p["height"] * p["divisions"])
        if p["nu"] == 0.0:
            words, allowed = "the block leaves the floor after 2 L / c [s]", front_spread(beside, layers)
            yield Verdict.equal(words, results["contact_end"], 2 * beside.transit, p["h"] + allowed)
        if p["nu"] == 0.3 and math.isclose(p["height"], 2 * p["width"]):
            allowed, way = ALLOWED * max(1.0, FINE / layers), p["v0"] * beside.transit
            words = "the centre of mass rebounds as in the reference (over v0)"
            yield Verdict.equal(words, results["rebound"], REBOUND, allowed * REBOUND)
            words = "the middle of the top sinks as in the reference (over v0 L / c)"
            yield Verdict.equal(words, results["top_lowest"] / way, TOP_LOWEST, allowed * -TOP_LOWEST)


def _mean_velocity(s: Integrator) -> float:
    """Vertical velocity of the centre of the masses that the scheme has [m/s]. Collective."""
    system: Any = s.system
    sums = []
    for values in (s.v_mean, np.ones(system.size)):
        product = np.zeros(system.size)
        system.mass_product(values, s.mass, product)
        sums.append(parallel.total(system.comm, float(np.sum(product[1 : system.owned : 2]))))
    return float(sums[0] / sums[1])
