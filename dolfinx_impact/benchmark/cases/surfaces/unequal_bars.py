"""Two elastic bars of different length or material collide end to end: St Venant's theory of impact.

Equal impedances: the contact lasts two transits of the shorter bar, which leaves with the speed that the
other one had; the longer one takes up its momentum. Any impedances: the common velocity of the tips at first
is ``(Z1 v1 + Z2 v2) / (Z1 + Z2)``, Z = A sqrt(E rho). The bars are strips with meshes that do not match.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import LinearElastic, Solid, mesh, rigid_motion
from ....integrators import Integrator, Option, Scheme
from ...boxes import box
from ...case import Problem, Results, RunLog, Values, Verdict, Verdicts
from ..impacting_bar import case as impacting_bar
from ..solids import common


def _given(name: str, number: int) -> Option:
    option = impacting_bar.PARAMETERS[name]
    return replace(option, help=f"{option.help}, bar {number}", interval="(0, inf)")


PARAMETERS = {
    "elements1": Option(40, "-", "cells along the first bar", interval="[2, 10000]"),
    "elements2": Option(60, "-", "cells along the second bar", interval="[2, 10000]"),
    "length1": Option(0.254, "m", "length of the first bar", interval="(0, inf)"),
    "length2": Option(0.381, "m", "length of the second bar", interval="(0, inf)"),
    **{f"{name}{k}": _given(name, k) for name in ("E", "rho") for k in (1, 2)},
    "area": replace(impacting_bar.PARAMETERS["area"], interval="(0, inf)"),
    "gap": Option(2e-4, "m", "distance between the bars at t = 0", interval="(0, inf)"),
    "v1": Option(5.0, "m/s", "velocity of the first bar", interval="(-inf, inf)"),
    "v2": Option(0.0, "m/s", "velocity of the second bar", interval="(-inf, inf)"),
    **common.RESTITUTION,
    **common.times(0.7, "1.5 times the exact end of contact"),
}
#: Cells across the bars.
ACROSS = {"first": 2, "second": 3}


class BarImpact:
    """The exact impact of the parameters of a run."""

    def __init__(self, p: Values) -> None:
        self.speeds = [math.sqrt(p[f"E{k}"] / p[f"rho{k}"]) for k in (1, 2)]
        self.impedances = [p["area"] * math.sqrt(p[f"E{k}"] * p[f"rho{k}"]) for k in (1, 2)]
        self.transits = [2 * p[f"length{k}"] / c for k, c in zip((1, 2), self.speeds)]
        z1, z2 = self.impedances
        self.equal = abs(z1 - z2) <= 1e-12 * (z1 + z2)
        self.start = p["gap"] / (p["v1"] - p["v2"])
        self.end = self.start + min(self.transits)
        self.interface = (z1 * p["v1"] + z2 * p["v2"]) / (z1 + z2)
        # The short bar gives its momentum to the other one, less that of the speed the other one had.
        short, long = (0, 1) if self.transits[0] <= self.transits[1] else (1, 0)
        v, mass = [p["v1"], p["v2"]], [p[f"rho{k}"] * p["area"] * p[f"length{k}"] for k in (1, 2)]
        after = [0.0, 0.0]
        after[short] = v[long]
        after[long] = v[long] + mass[short] * (v[short] - v[long]) / mass[long]
        self.velocities = after


def make_bars(p: Values) -> Solid:
    """Both bars along x; a ValueError unless they meet. Collective."""
    if not p["v1"] > p["v2"]:
        raise ValueError(f"the bars do not meet: v1 must be above v2, but they are {p['v1']} and {p['v2']}")
    width, half = math.sqrt(p["area"]), p["gap"] / 2
    ends = {"first": (-half - p["length1"], -half), "second": (half, half + p["length2"])}
    cells = {"first": p["elements1"], "second": p["elements2"]}
    bars = {
        name: box([[a, -width / 2], [b, width / 2]], [cells[name], ACROSS[name]]).mesh
        for name, (a, b) in ends.items()
    }
    laws = {name: LinearElastic(p[f"E{k}"], 0.0) for k, name in ((1, "first"), (2, "second"))}
    densities = {name: p[f"rho{k}"] for k, name in ((1, "first"), (2, "second"))}
    return Solid(mesh.join(bars), density=densities, law=laws, cross_section=width)


class TipLog(RunLog):
    """The log with the mean velocity of both tips in every step of contact [m/s]."""

    state_names = (*RunLog.state_names, "tips")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._inside = np.repeat(np.abs(setup.body.x[: setup.body.owned // 2, 0]) < p["gap"], 2)
        self.tips: list[float] = []

    def __call__(self, integrator: Integrator) -> None:
        """Note a step. Collective."""
        s: Any = integrator
        mass = (s.system.mass * self._inside)[::2]
        sums = self._comm.allreduce(np.array([mass @ s.v_mean[: s.system.owned][::2], mass.sum(), s.r.sum()]))
        if sums[2] > 0:
            self.tips.append(float(sums[0] / sums[1]))


class UnequalBars(common.Collision):
    """Two elastic bars of different lengths collide: the short one takes over the speed of the long one."""

    parameters = PARAMETERS
    make_body = staticmethod(make_bars)
    log_type = TipLog
    surfaces = ("first/boundary", "second/boundary")

    def end(self, p: Values, scheme: Scheme) -> float:
        """After the exact end of contact [s]."""
        return 1.5 * BarImpact(p).end

    def velocities(self, body: Solid, p: Values) -> dict[str, ArrayLike]:
        """Those of the parameters, along x."""
        return {"first": (p["v1"], 0.0), "second": (p["v2"], 0.0)}

    def measure(self, run: Problem) -> Results:
        """Velocities and contact beside those of wave theory. Collective."""
        log, exact = run.log, BarImpact(run.p)
        s: Any = run.integrator
        motions = (rigid_motion(s.system, s.u, s.v_mean, cells=name) for name in ("first", "second"))
        known = zip((1, 2), exact.velocities)
        return {
            **log.numbers(),
            **{f"velocity{k}": float(motion.velocity[0]) for k, motion in zip((1, 2), motions)},
            **{f"velocity{k}_exact": v if exact.equal else None for k, v in known},
            "contact_start_exact": exact.start,
            "contact_end_exact": exact.end if exact.equal else None,
            "interface_velocity": float(np.median(log.tips)) if log.tips else None,
            "interface_velocity_exact": exact.interface,
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Velocities of tips and bars, and the impulse."""
        p, results, exact, equal = run.p, run.results, BarImpact(run.p), Verdict.equal
        if results["interface_velocity"] is None or p["restitution"] > 0:
            return
        speed = p["v1"] - p["v2"]
        words = "the tips move with the mean of the velocities, weighted by the impedances [m/s]"
        yield equal(words, results["interface_velocity"], exact.interface, 0.02 * speed)
        if exact.equal and p["t_end"] > 1.05 * exact.end:
            for k, v in zip((1, 2), exact.velocities):
                words = f"bar {k} leaves as wave theory says [m/s]"
                yield equal(words, results[f"velocity{k}"], v, 0.02 * speed)
            # The tips may touch without force until the wave returns from the end of the longer bar.
            impulse = exact.impedances[0] * speed / 2 * min(exact.transits)
            words = "the impulse is rho c A dv / 2 for two transits of the shorter bar [N s]"
            yield equal(words, results["impulse_sum"], impulse, 0.02 * impulse)
