"""A sphere strikes the end of a long elastic rod, which carries its energy away: a Hopkinson bar."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import integrate

from .... import Result, Solid, SparseRows, parallel
from ....exact.zener import ZenerImpact, rod_mobility
from ....integrators import Option
from ...case import Problem, Results, Values, Verdict, Verdicts
from . import sphere_impact

PARAMETERS = sphere_impact.parameters(
    0.01,
    rod_radius=Option(6e-3, "m", "radius of the rod", interval="(0, inf)"),
    length=Option(0.25, "m", "length of the rod", interval="(0, inf)"),
    far_end=Option("free", "-", "whether the far end is free or held along the rod", ("free", "held")),
    layers=Option(6, "-", "cells across the radius of the rod, away from the contact", interval="[1, 100]"),
)

#: Length of the strain gauge at the middle of the rod, over its radius.
GAUGE = 1.0
#: Largest difference of the strain from that of the force, over the largest strain.
STRAIN = 0.05


def section(p: Values) -> float:
    """Area of the rod's section [m2]."""
    return math.pi * p["rod_radius"] ** 2


class SphereRod(sphere_impact.SphereImpact):
    """An elastic sphere strikes the end of a long rod: a wave takes its energy away, and a gauge reads it."""

    parameters = PARAMETERS
    allowed: Values = {"restitution": 0.025, "peak_force": 0.03, "duration": 0.05}

    def zener(self, p: Values) -> ZenerImpact:
        """The impact on an endless rod."""
        return sphere_impact.impact(p, rod_mobility(p["E"], p["rho"], section(p)))

    def make_body(self, p: Values) -> Solid:
        """Sphere and rod. Collective."""
        sizes = {"radius": p["rod_radius"], "thickness": p["length"]}
        held = {"lower/bottom": (1,)} if p["far_end"] == "held" else {}
        return sphere_impact.joined(p, self.zener(p), sizes, p["rod_radius"] / p["layers"], held)

    def recorded(self, body: Solid, p: Values) -> SparseRows:
        """Displacements along the rod at both ends of the gauge on its surface. Collective."""
        nodes = body.nodes("lower/rim")
        z = body.x[nodes, 1]
        every = parallel.gather_rows(body.comm, z[:, None])[:, 0]
        wanted = [-p["length"] / 2 + sign * GAUGE * p["rod_radius"] / 2 for sign in (-1, 1)]
        ends = [every[np.argmin(np.abs(every - end))] for end in wanted]
        nodes = nodes[np.isin(z, ends)]
        nodes = nodes[np.argsort(body.x[nodes, 1])]
        heights = body.x[nodes, 1:2]
        labels = [f"z = {height:.6g}" for height in heights[:, 0]]
        return SparseRows(body.block * nodes[:, None] + 1, np.ones(heights.shape), heights, labels)

    def measure(self, run: Problem) -> Results:
        """Those of the impact, what the gauge reads, and when the sphere is struck again. Collective."""
        results, p, zener = super().measure(run), run.p, run.setup.beside
        z = np.sort(parallel.gather_rows(run.integrator.system.comm, run.setup.record.order)[:, 0])
        gauge = {"gauge_place": -float(z.mean()), "gauge_length": float(np.ptp(z))}
        t, strain, expected = reading(run.result, {**p, **gauge}, zener)
        before = t < until(p)
        off = np.abs(strain - expected)[before].max(initial=0.0) / max(expected.max(initial=0.0), 1e-300)
        mass = p["rho"] * section(p) * p["length"]
        restitution = results["restitution"]
        return {
            **results,
            **gauge,
            "strain_deviation": float(off),
            "second_contact": second_contact(run.result, zener),
            "restitution_pair": restitution + (1.0 + restitution) * zener.mass / mass,
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Those of the impact, before the wave is back, and the strain at the middle of the rod."""
        if run.results["duration_zener"] < 2 * transit(run.p):
            yield from super().verdicts(run)
        if run.p["t_end"] > until(run.p):
            words = "the gauge reads the force of contact (largest difference over the largest strain)"
            yield Verdict.below(words, run.results["strain_deviation"], STRAIN)


def transit(p: Values) -> float:
    """Time that a wave takes along the rod [s]."""
    return float(p["length"] * math.sqrt(p["rho"] / p["E"]))


def second_contact(result: Result, zener: ZenerImpact) -> float | None:
    """First impulse after a pause of the contact that is longer than a moving mean [s]; None without one."""
    t = result["t"][result["r"].sum(axis=1) > 0.0]
    again = np.flatnonzero(np.diff(t) > sphere_impact.WINDOW * zener.duration)
    return float(t[again[0] + 1]) if again.size else None


def until(p: Values) -> float:
    """Time at which the wave that the far end sends back reaches the middle of the rod [s]."""
    return 1.5 * transit(p)


def reading(result: Result, p: Values, zener: ZenerImpact) -> tuple[NDArray, NDArray, NDArray]:
    """Compressive strain at the gauge, and that of the force of contact as long before as a wave takes.

    The latter is ``F(t - x/c) / (E A)``, as a Hopkinson bar is read. Both are moving means.

    Args:
        result: A run.
        p: Its parameters, with ``gauge_place`` and ``gauge_length``.
        zener: The impact.

    Returns:
        Middle times [s], strain and expected strain, shape (n,) each.
    """
    t, u = result["t"], result["u"]
    strain = integrate.cumulative_trapezoid((u[:, 0] - u[:, 1]) / p["gauge_length"], t, initial=0.0)
    middle, mean = sphere_impact.moving_mean(t, strain, sphere_impact.WINDOW * zener.duration)
    delay = p["gauge_place"] * math.sqrt(p["rho"] / p["E"])
    expected = np.interp(middle - delay, *sphere_impact.force(result, zener), left=0.0)
    return middle, mean, expected / (p["E"] * section(p))
