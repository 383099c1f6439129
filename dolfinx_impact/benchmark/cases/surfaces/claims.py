"""Colliding bodies whose answer is known: bars, Hertz's and St Venant's theories, conservation laws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import DI_STASIO, Measured, Run, Runs, above, below, equal, table
from ...convergence import norm35, order
from ..impacting_bar import case as impacting_bar
from ..solids import hertz_sphere, sliding_block
from ..solids.claims import CD, CLOSED, CONSERVED, JOHNSON, acceleration, known, number, result

BLOCKS, SPHERES, DISCS = "non-matching-blocks", "two-spheres", "oblique-discs"
BARS, INCLINE = "unequal-bars", "meshed-incline"
WAVES = "wave theory, St Venant"
#: Meshes across the blocks, elements and rotations.
MESHES: tuple[dict[str, Any], ...] = (
    {},
    {"upper": 3, "lower": 5, "angle1": 30.0},
    {"upper": 7, "lower": 4, "angle1": -70.0},
    {"dimension": 3, "upper": 4, "lower": 3, "angle1": 30.0, "angle2": 20.0},
    {"degree": 2, "layers": 5, "angle1": 45.0},
)
#: Another material of the second bar.
ALUMINIUM = {"E2": 7e10, "rho2": 2700.0}
HELD, SLIDING = 10.0, 30.0
#: Cells along the blocks, and parts of a step, of the studies of convergence.
LAYERS, PARTS = (10, 20, 40, 80), (1, 2, 4, 8)


def mean_gap(run: Run) -> NDArray:
    """Mean gap over the points where something is opposite, at every step [m]."""
    return np.asarray(np.nanmean(np.where(np.isfinite(run["gap"]), run["gap"], np.nan), axis=1))


def refined(runs: Runs, scheme: str) -> tuple[list[float], list[float]]:
    """Steps [s] and errors of the mean gap as cells and step are refined together, exact: two bars."""
    first = runs(BLOCKS, scheme)
    p = first.summary["parameters"]
    meshes = [runs(BLOCKS, scheme, layers=n, h=first.results["h"] * p["layers"] / n) for n in LAYERS]
    bar = impacting_bar.exact({**p, "gap": p["gap"] / 2})
    true = [p["gap"] - 2 * bar.displacement(0.0, run["t"]) for run in meshes]
    errors = [norm35(mean_gap(run), gap) for run, gap in zip(meshes, true)]
    return [run.results["h"] for run in meshes], errors


def stepped(runs: Runs, scheme: str) -> tuple[list[float], list[float]]:
    """Steps [s] and errors of the mean gap as the step falls, beside a run of steps eight times smaller."""
    largest = runs(BLOCKS, scheme).results["h"]
    *steps, fine = [runs(BLOCKS, scheme, h=largest / part) for part in (*PARTS, 8 * PARTS[-1])]
    limit = [np.interp(run["t"], fine["t"], mean_gap(fine)) for run in steps]
    errors = [norm35(mean_gap(run), gap) for run, gap in zip(steps, limit)]
    return [run.results["h"] for run in steps], errors


def _twist(runs: Runs, scheme: str) -> Measured:
    """Ratio of the defects of two meshes, the second twice as fine."""
    meshes: tuple[dict[str, Any], ...] = ({}, {"rings_upper": 20, "rings_lower": 14})
    rough, fine = result(DISCS, "angular_momentum_defect", runs, scheme, over=meshes, friction=0.3)
    return Measured(rough / max(fine, 1e-300), note=f"Defects: {rough:.2g}, {fine:.2g}")


def _swapped(runs: Runs, scheme: str) -> float:
    """Difference of the velocities of the disc with the finer mesh, on either side, over the speed."""
    fine = runs(DISCS, scheme).results["velocity_upper"]
    other = runs(DISCS, scheme, rings_upper=7, rings_lower=10).results["velocity_upper"]
    return float(np.linalg.norm(np.subtract(fine, other)) / np.linalg.norm(fine))


def _left(runs: Runs, scheme: str) -> dict[str, float]:
    run = runs(BARS, scheme)
    results, speed = run.results, run.summary["parameters"]["v1"] - run.summary["parameters"]["v2"]
    return {f"bar {k}": (results[f"velocity{k}"] - results[f"velocity{k}_exact"]) / speed for k in (1, 2)}


def _interface(runs: Runs, scheme: str) -> Measured:
    run = runs(BARS, scheme, **ALUMINIUM)
    velocity = number(run, "interface_velocity", "the bars do not meet")
    return Measured(velocity, bound=run.results["interface_velocity_exact"], tolerance=0.05)


def _hertz(runs: Runs, scheme: str, name: str) -> Measured:
    run = runs(SPHERES, scheme)
    theory = run.results[f"{name}_hertz"]
    return Measured(number(run, name, "the spheres do not part") / theory, note=f"Hertz: {theory:.5g}")


CLAIMS = table("", "", [
    known(BLOCKS, "bars", DI_STASIO, "five pairs of meshes and rotations",
          "Blocks with meshes that do not match move as two bars on a line do",
          "deviation", below(1e-10), "largest difference of the mean gaps over the gap", over=MESHES),
    known(BLOCKS, "straight", DI_STASIO, "five pairs of meshes and rotations",
          "A flat impact of non-matching meshes moves no node sideways",
          "lateral_velocity", below(1e-11), "largest lateral velocity over v0", over=MESHES),
    known(BLOCKS, "loss", DI_STASIO, "default run", "The energy lost is that of the layer of nodes that meet",
          "energy_lost", equal(0.05, 1e-9), "fraction of the energy, 1/(2 layers)", per=(CD,)),
    known(BLOCKS, "condition", DI_STASIO, "five pairs of meshes and rotations",
          "Dual rows leave the Delassus operator well conditioned",
          "condition_max", below(3.0), "condition number with a unit diagonal", per=(CD,), over=MESHES),
    known(BLOCKS, "products", DI_STASIO, "five pairs of meshes and rotations",
          "The contact problem is solved in some tens of products with H",
          "sweeps_max", below(60), "most products in a step, to a residual of 1e-14", per=(CD,), over=MESHES),
    known(BLOCKS, "diagonal", DI_STASIO, "default run, the diagonal of H alone",
          "The diagonal of the Delassus operator does not suffice",
          "deviation", above(0.01), "largest difference of the mean gaps over the gap", per=(CD,),
          delassus="diagonal"),
    known(BLOCKS, "order-space-time", DI_STASIO, "10 to 80 layers, steps in proportion",
          "The mean gap converges to that of two bars as cells and steps are refined",
          lambda runs, scheme: order(*refined(runs, scheme)),
          above(0.45), "order, norm (35); theory: at least 1/2"),
    known(BLOCKS, "order-time", DI_STASIO, "one mesh, the step to an eighth",
          "On one mesh the mean gap converges as the step falls",
          lambda runs, scheme: order(*stepped(runs, scheme)),
          above(0.7), "order, norm (35), beside a run of steps eight times smaller; theory: 1"),
    *(known(SPHERES, name.replace("_", "-"), JOHNSON, "axisymmetric, 8 elements per radius of contact",
            f"{words} of two spheres is that of Hertz's theory of impact", _hertz,
            equal(1.0, hertz_sphere.ALLOWED_OF_TWO["axisymmetric"]), "over Hertz's", per=(CD,), name=name)
      for name, words in (("peak_force", "The peak force"), ("duration", "The duration of contact"))),
    known(DISCS, "momentum", CONSERVED, "default run", "The linear momentum is kept to rounding",
          "linear_momentum_defect", below(1e-12), "change over the whole run, over sum m |v|"),
    known(DISCS, "angular-momentum", CONSERVED, "default run", "The angular momentum is kept to rounding",
          "angular_momentum_defect", below(1e-12), "change over the whole run, over sum m |v| R", per=(CD,)),
    known(DISCS, "twist", CONSERVED, "friction 0.3, two meshes",
          "The torque of friction across the penetration halves with the mesh size",
          _twist, equal(2.0, 0.5), "ratio of the changes of angular momentum", per=(CD,)),
    known(DISCS, "energy", CONSERVED, "default run", "The energy of the discs never grows",
          lambda runs, scheme: runs(DISCS, scheme).results["energy_max"] - 1.0,
          below(1e-4), "largest energy over that at the start, less 1"),
    known(DISCS, "sides", CONSERVED, "meshes of 10 and 7 rings swapped",
          "Whichever disc has the finer mesh, the upper one leaves with the same velocity",
          _swapped, below(0.01), "relative difference", per=(CD,)),
    known(BARS, "velocities", WAVES, "equal impedances",
          "The shorter bar takes over the speed of the longer one",
          _left, below(0.02), "mean velocities less the exact ones, over v1 - v2"),
    known(BARS, "interface", WAVES, "steel and aluminium",
          "The tips take the mean of the velocities, weighted by the impedances",
          _interface, equal(), "velocity of the tips, median over the contact [m/s]"),
    known(INCLINE, "acceleration", CLOSED, f"{SLIDING:g} degrees, friction 0.3",
          "A block on a meshed incline slides with g (sin a - mu cos a)",
          acceleration, equal(), "mean acceleration [m/s2], to a thousandth", case_=INCLINE, angle=SLIDING),
    known(INCLINE, "holds", CLOSED, f"{HELD:g} degrees, friction 0.3",
          "Below the angle of friction it does not slide",
          "slip", below(sliding_block.NO_SLIP), "largest way of a node of the bottom [m]", angle=HELD),
])  # fmt: skip
