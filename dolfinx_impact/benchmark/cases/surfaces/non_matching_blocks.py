"""Two blocks with meshes that do not match fly against each other: the same motion as two bars on a line.

The benchmark that Di Stasio et al. (2019) name as missing: contact with a Delassus operator that is not
diagonal. The blocks are turned by any angles; with nu = 0 and lumped masses every cross section moves as a
node of the bars of ``two-bars`` does, to round-off. With the diagonal of H alone it does not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from .... import DofBound, LinearElastic, Solid, mesh, parallel
from ....contact.state import ContactState, Impulses
from ....integrators import Integrator, Option, Scheme, find_scheme
from ....integrators.impulses.delassus_iterated import IteratedDelassus
from ...boxes import box
from ...case import Problem, Results, RunLog, Setup, Values, Verdict
from ..impacting_bar import case as impacting_bar
from ..solids import common
from ..solids.common import FINITE

_BAR = ("E", "rho", "length", "area")
PARAMETERS = {
    "upper": Option(5, "-", "cells across the upper block", interval="[1, 100]"),
    "lower": Option(3, "-", "cells across the lower block", interval="[1, 100]"),
    "layers": Option(10, "-", "cells along each block", interval="[1, 1000]"),
    "dimension": Option(2, "-", "of the blocks", (2, 3)),
    "degree": Option(1, "-", "of the elements", (1, 2, 3)),
    "angle1": Option(0.0, "deg", "rotation in the plane of the first and the last axis", interval=FINITE),
    "angle2": Option(0.0, "deg", "in 3D, before it, in that of the last two", interval=FINITE),
    **{name: replace(impacting_bar.PARAMETERS[name], interval="(0, inf)") for name in _BAR},
    "nu": Option(0.0, "-", "Poisson's ratio; the bars have none", interval="(-1, 0.5)"),
    "gap": Option(2e-4, "m", "distance between the blocks at t = 0", interval="(0, inf)"),
    "v0": Option(5.0, "m/s", "speed of each block towards the other", interval="(0, inf)"),
    **common.RESTITUTION,
    "delassus": Option("full", "-", "operator; diagonal: the negative control", ("full", "diagonal")),
    **common.times(0.7, 1.8e-4),
}


def axes(p: Values) -> NDArray:
    """Axes of the blocks, the columns, the last one along them, shape (dimension, dimension)."""
    a, b, n = math.radians(p["angle1"]), math.radians(p["angle2"]), p["dimension"]
    first, second = np.eye(n), np.eye(n)
    first[np.ix_([0, n - 1], [0, n - 1])] = [[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]
    if n == 3:
        second[1:, 1:] = [[math.cos(b), -math.sin(b)], [math.sin(b), math.cos(b)]]
    return first @ second


def make_blocks(p: Values) -> Solid:
    """Both blocks. Collective."""
    n, width, half, parts = p["dimension"], math.sqrt(p["area"]), p["gap"] / 2, {}
    for name, start in (("upper", half), ("lower", -half - p["length"])):
        low = [-width / 2] * (n - 1) + [start]
        high = [width / 2] * (n - 1) + [start + p["length"]]
        block = box([low, high], [p[name]] * (n - 1) + [p["layers"]]).mesh
        block.geometry.x[:, :n] = block.geometry.x[:, :n] @ axes(p).T
        parts[name] = block
    more = {"cross_section": width} if n == 2 else {}
    return common.elastic(mesh.join(parts), p, degree=p["degree"], **more)


class DiagonalDelassus(IteratedDelassus):
    """The negative control: impulses by the diagonal of H alone."""

    def solve(self, state: ContactState, b: NDArray, v: NDArray, t: float, **given: Any) -> Impulses:
        """``max(0, -b / H_ii)`` on the active set. Collective."""
        diagonal = state.L.diagonal(self._inverse)
        free = np.divide(-b, diagonal, out=np.zeros(b.size), where=state.closed & (diagonal > 0))
        return Impulses(state, np.maximum(0.0, free))


def condition(s: Integrator) -> float:
    """Condition number of the Delassus operator of the active points, scaled to unit diagonal. Collective."""
    contact, inverse = s.contact, s.system.inverse_mass
    assert contact is not None
    L = s.contact_state.L
    diagonal = L.diagonal(inverse)
    active, before = parallel.gather_rows(contact.comm, diagonal), contact.mine.start
    which, columns = np.flatnonzero(active), []
    work = np.zeros(s.system.size)
    for i in which:
        unit = np.zeros(contact.count)
        if 0 <= i - before < contact.count:
            unit[i - before] = 1.0
        column = L.delassus(inverse, unit, None, work)[0]
        columns.append(parallel.gather_rows(contact.comm, column.copy())[which])
    scale = 1 / np.sqrt(active[which])
    return float(np.linalg.cond(np.array(columns) * np.outer(scale, scale))) if which.size else 1.0


class BlockLog(RunLog):
    """The log with mean gaps [m], largest lateral speed [m/s], iterations and condition number."""

    state_names = (*RunLog.state_names, "gaps", "lateral", "sweeps", "condition", "_active")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._axis: NDArray = axes(p)[:, -1]
        self.gaps: list[float] = []
        self.lateral, self.sweeps, self.condition, self._active = 0.0, 0, 1.0, 0

    def begin(self, integrator: Integrator) -> None:
        """Note the gap at the start. Collective."""
        if not self.gaps:
            self.gaps.append(self._mean_gap())

    def _mean_gap(self) -> float:
        s: Any = self._scheme
        gap, areas = s.gap(), s.contact.assembly.area
        known = np.isfinite(gap)
        sums = self._comm.allreduce(np.array([gap[known] @ areas[known], areas[known].sum()]))
        return float(sums[0] / sums[1]) if sums[1] > 0 else math.inf

    def __call__(self, integrator: Integrator) -> None:
        """Note a step. Collective."""
        s: Any = integrator
        self.gaps.append(self._mean_gap())
        v = s.v[: s.system.owned].reshape(-1, s.system.block)
        across = v - np.outer(v @ self._axis, self._axis)
        self.lateral = max(self.lateral, parallel.largest(self._comm, np.linalg.norm(across, axis=1)))
        self.sweeps = max(self.sweeps, getattr(s, "contact_iterations", 0))
        active = int(self._comm.allreduce(np.count_nonzero(s.r)))
        if active > self._active:
            self._active, self.condition = active, max(self.condition, condition(s))


def bar_gaps(scheme: str, p: Values, h: float, steps: int) -> NDArray:
    """Distance of two bars on a line at every step [m]: by symmetry one bar and a wall."""
    line = dmesh.create_interval(MPI.COMM_SELF, p["layers"], [0.0, p["length"]])
    law = LinearElastic(p["E"], 0.0)
    bar = Solid(line, density=p["rho"], law=law, degree=p["degree"], cross_section=p["area"])
    tip, half = int(np.argmin(bar.x[:, 0])), p["gap"] / 2
    laws = {"restitution": p["restitution"], "gap_tolerance": p["gap_tolerance"] / 2}
    wall = DofBound(bar, tip, lower=-half, **laws)
    s = find_scheme(scheme).bind(bar, h, wall, p, allow_unstable=True)
    s.start(0.0, -p["v0"])
    gaps = [2 * (half + s.u[tip])]
    for _ in range(steps):
        s.step()
        gaps.append(2 * (half + s.u[tip]))
    return np.array(gaps)


class NonMatchingBlocks(common.Collision):
    """Both blocks as one body."""

    parameters = PARAMETERS
    about = (
        "Two blocks of different meshes, turned by any angle, fly against each other: they move as two bars "
        "do."
    )
    defaults = {"theta": 1.0, "mass": "lumped"}  # as for two bars
    make_body = staticmethod(make_blocks)
    log_type = BlockLog

    def bind(self, scheme: Scheme, setup: Setup, p: Values, allow_unstable: bool) -> Integrator:
        """The scheme, perhaps with the negative control. Collective."""
        integrator: Any = super().bind(scheme, setup, p, allow_unstable)
        if p["delassus"] == "diagonal":
            if not integrator.explicit:
                control = "delassus=diagonal is a control for explicit schemes"
                raise ValueError(f"{control}: take cd-lagrange, or full")
            integrator._response = DiagonalDelassus(integrator)
        return integrator  # type: ignore[no-any-return]

    def velocities(self, body: Solid, p: Values) -> dict[str, ArrayLike]:
        """Towards each other along the blocks."""
        v = p["v0"] * axes(p)[:, -1]
        return {"lower": v, "upper": -v}

    def measure(self, run: Problem) -> Results:
        """The blocks beside the bars. Collective."""
        p, log, energy = run.p, run.log, common.stored(run.result)
        gaps = np.array(log.gaps)
        bars = bar_gaps(run.scheme, p, p["h"], gaps.size - 1)
        return {
            **log.numbers(),
            "deviation": float(np.abs(gaps - bars).max()) / p["gap"],
            "lateral_velocity": log.lateral / p["v0"],
            "energy_lost": 1 - float(energy[-1] / energy[0]),
            "sweeps_max": int(log.sweeps),
            "condition_max": log.condition,
        }

    def verdicts(self, run: Problem) -> list[Verdict]:
        """Whether the blocks move as the bars."""
        results, below = run.results, Verdict.below
        if run.p["delassus"] == "diagonal" or run.p["nu"] != 0:
            return []
        return [
            below("the mean gap is that of the bars (over the gap)", results["deviation"], 1e-10),
            below("no node moves sideways (over v0)", results["lateral_velocity"], 1e-11),
            below("the condition number of the scaled H is small", results["condition_max"], 3.0),
            below("the contact problem takes few products", results["sweeps_max"], 60),
        ]
