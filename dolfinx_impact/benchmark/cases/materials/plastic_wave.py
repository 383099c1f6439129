"""A long bar of a bilinear metal hits a rigid wall: a precursor and a plastic front run into it.

Quadrilaterals in (r, z), one across. In one-dimensional stress its radius is a quarter of the length of a
cell, or its inertia would disperse the fronts; in one-dimensional strain nothing moves across. Behind each
front mean values are those of the exact shocks; the mean error is of an order below 1, for a linear front in
a dispersive scheme 2/3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....exact import PlasticWave
from ....integrators import Option, Scheme
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts
from ...convergence import order
from ..solids import common
from . import common as materials

PARAMETERS = {
    "state": Option("stress", "-", "one-dimensional stress or strain", ("stress", "strain")),
    "cells": Option(400, "-", "cells along the bar", interval="[20, 10000]"),
    "length": Option(1.0, "m", "of the bar", interval="(0, inf)"),
    "v0": Option(8.0, "m/s", "speed towards the wall", interval="(0, inf)"),
    **materials.COPPER,
    **materials.flow(1e8, 1e10),
    **materials.times("0.8 of the time that the precursor takes along the bar", 20),
}
SLENDER = 0.25  #: Radius in one-dimensional stress over the length of a cell.
TRAVELLED = 0.8
#: Part that means behind the fronts and speeds of fronts may be off, at 400 cells.
MEANS, SPEEDS = 0.01, 0.015
#: Parts of the plateaus, at both ends, that means leave out.
_MARGIN = 0.3
#: Meaning of the results that are compared with exact values.
WORDS = {
    "speed_elastic": "the precursor has the exact speed (ratio)",
    "speed_plastic": "the plastic front has the exact speed (ratio)",
    "stress_precursor": "the mean stress behind the precursor is exact (ratio)",
    "stress_face": "the mean stress behind the plastic front, on the face, is exact (ratio)",
}
REFINEMENTS = (4, 2, 1)  #: The study divides the number of cells by these.
ORDERS = (0.45, 0.75)


def exact(p: Values) -> PlasticWave:
    """The exact wave; a ValueError where there is no plastic front."""
    names = ("E", "nu", "rho", "yield_stress", "hardening", "v0", "state")
    wave = PlasticWave(**{name: p[name] for name in names})
    if len(wave.speeds) < 2:
        raise ValueError(f"two fronts run at a speed above that of yielding, but v0 is {p['v0']} m/s")
    return wave


def radius(p: Values) -> float:
    """Radius of the bar [m]."""
    return float(p["length"] / p["cells"] * (SLENDER if p["state"] == "stress" else 1.0))


class Profile:
    """Velocities along the bar, and where the fronts are.

    Args:
        z: Heights of the nodes of the axis at rest [m], in any order.
        v: Their velocities towards the wall [m/s].
        wave: The exact wave, whose velocities tell the fronts apart.
    """

    def __init__(self, z: NDArray, v: NDArray, wave: PlasticWave) -> None:
        order_ = np.argsort(z)
        self.z, self.v = z[order_], v[order_]
        levels = [state.velocity for state in wave.states]
        self.fronts = [self._front((a + b) / 2) for a, b in zip(levels, levels[1:])]

    def _front(self, level: float) -> float:
        """Height where the velocity rises through a level last [m]; nan where it does not."""
        below = np.flatnonzero(self.v < level)
        if not below.size or below[-1] + 1 >= self.v.size:
            return float("nan")
        k = below[-1]
        return float(np.interp(level, self.v[k : k + 2], self.z[k : k + 2]))

    def precursor(self) -> float:
        """Mean velocity between the fronts, less margins at both [m/s]."""
        high, low = self.fronts
        margin = _MARGIN * (high - low)
        inside = (self.z > low + margin) & (self.z < high - margin)
        return float(np.mean(self.v[inside])) if inside.any() else float("nan")


def face_stress(result: Any, p: Values) -> float:
    """Mean force of the wall over the second half of the run, per area at rest [Pa]."""
    t, impulses = result["t"], result["r"].sum(axis=1)
    first = int(np.searchsorted(t, 0.5 * t[-1]))
    area = np.pi * radius(p) ** 2
    return float(impulses[first + 1 :].sum() / (t[-1] - t[first]) / area)


def axis_nodes(body: Any) -> NDArray:
    """Owned nodes of the axis. Collective."""
    axis: NDArray = body.nodes("axis")
    return axis[axis < body.owned // body.block]


class MetalWave(materials.MetalCase):
    """A long metal bar hits a rigid wall: an elastic precursor and a plastic front run into it."""

    parameters = PARAMETERS

    def _refuse(self, p: Values) -> None:
        exact(p)

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Bar and wall, which only pushes; the nodes of the axis are recorded. Collective."""
        wide = radius(p)
        plain = box([[0.0, 0.0], [wide, p["length"]]], [1, p["cells"]], bottom="face")
        parts: dict[str, Any] = {"axis": lambda x: np.isclose(x[0], 0.0, atol=1e-9 * wide)}
        parts["side"] = lambda x: np.isclose(x[0], wide)
        fixed = {"axis": (0,), **({"side": (0,)} if p["state"] == "strain" else {})}
        walls = {**p, "wall": "contact", "locking": "default"}
        bar = materials.metal(mesh.named(plain, **parts), walls, fixed, hypothesis="axisymmetric")
        floor, v0 = common.floor(bar, "face", p), common.towards(bar, p)
        return Setup(system=bar, contact=floor, record=bar.rows(axis_nodes(bar)), v0=v0)

    def end(self, p: Values, scheme: Scheme) -> float:
        """Most of the time that the precursor takes along the bar [s]."""
        return TRAVELLED * p["length"] / exact(p).speeds[0]

    def measure(self, run: Problem) -> Results:
        """Speeds of the fronts and means behind them beside the exact ones. Collective."""
        p, s, body, wave = run.p, run.integrator, run.integrator.system, exact(run.p)
        axis = axis_nodes(body)
        local = np.column_stack([body.x[axis, 1], -s.v_mean[2 * axis + 1]])
        z, v = parallel.gather_rows(body.comm, local).T
        profile = Profile(z, v, wave)
        speeds = [front / s.t for front in profile.fronts]
        behind = p["rho"] * speeds[0] * (p["v0"] - profile.precursor())
        measured = (*speeds, behind, face_stress(run.result, p))
        true = (*wave.speeds[:2], wave.states[1].stress, wave.states[2].stress)
        results: Results = {}
        for name, value, expected in zip(WORDS, measured, true):
            results |= {name: value, f"{name}_exact": expected}
        error = np.mean(np.abs(v - wave.field("velocity", z, s.t))) / p["v0"]
        return {**results, "error": float(error)}

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether speeds and stresses are exact."""
        coarser = max(1.0, PARAMETERS["cells"].default / run.p["cells"])
        for name, words in WORDS.items():
            allowed = SPEEDS if name.startswith("speed") else MEANS
            ratio = run.results[name] / run.results[f"{name}_exact"]
            yield Verdict.equal(words, ratio, 1.0, allowed * coarser)

    def study(self, problem: Problem) -> list[Verdict]:
        """The order of the error as cells and step are refined together. Collective."""
        p, errors = problem.given, []
        cells = [max(20, p["cells"] // part) for part in REFINEMENTS]
        for n in cells:
            made = self.make(problem.scheme, {**p, "h": None, "t_end": None, "cells": n})
            errors.append(made.judge(made.simulate())[0]["error"])
        slope, (low, high) = order([1 / n for n in cells], errors), ORDERS
        interval = "between 0.45 and 0.75 (2/3: a linear front in a dispersive scheme)"
        words = f"the error falls with an order {interval}"
        return [Verdict.equal(words, slope, (low + high) / 2, (high - low) / 2)]
