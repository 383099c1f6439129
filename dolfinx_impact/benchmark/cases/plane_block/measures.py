"""Measures of the claims on the plane block: beside the bar, beside the reference, and class by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators import SCHEMES, find_scheme
from ...claim import Measured, Run, Runs, listing
from ...convergence import order
from .case import REBOUND, TOP_LOWEST, PlaneBlock, bar, wave_force

BLOCK, BAR = "plane-block", "signorini-impact"
CD, SINGULAR = "cd-lagrange", "cd-lagrange-singular"
#: The classes of Doyen, Ern and Piperno, by what they do at contact.
EXACT = tuple(f"dep-4.{k}" for k in range(1, 7))
PENALTY = ("dep-5.1", "dep-5.2", "dep-5.3")
VELOCITY = tuple(name for name in PlaneBlock.schemes if SCHEMES[name].contact_level == "velocity")
MASSLESS = ("dep-7.1", "dep-7.2", SINGULAR)
#: Cells a unit of length beside the bar, of studies of refinement, and where a smooth force is taken from.
COARSE, REFINED, FINEST = 2, (4, 8, 16), 32
#: Of a fine smooth force's variation: above the first part it oscillates, up to the second it does not.
SPURIOUS, SMOOTH = 2.0, 1.1
#: Why schemes miss the reference at the usual mesh and step.
MISSES = {
    "moreau-jean-decoupled": "Contact is late by parts of a step: 0.7 % with half of it",
    "carpenter-implicit": "Impacts feed energy into its highest frequencies",
    "dep-4.1": "Impacts feed energy into its highest frequencies",
    "dep-4.2": "theta = 0.6 takes an eighth of the energy at this step",
    "dep-4.6": "Mesh and step: 0.9 % with small steps",
    "dep-5.1": "The floor gives way, by 0.035 m: a smaller eps comes nearer, and oscillates",
    "dep-5.2": "The floor gives way, by 0.035 m: a smaller eps comes nearer, and oscillates",
    "dep-5.3": "The floor gives way, by 0.035 m: a smaller eps comes nearer, and oscillates",
    "dep-6.1": "It sinks in by the approach of a step before it is stopped: 0.9 % with half of it",
    "dep-7.1": "The mass of the contact nodes is lost, 0.6 %; the rest is that of mesh and step",
}
#: Why schemes with exact contact and an implicit formula do not oscillate.
CALM = {
    "dep-4.2": "theta = 0.6 damps what turns round from step to step",
    "dep-4.3": "Velocities and accelerations in contact are put to zero",
    "dep-4.6": "The predictor is projected and its mass is lumped",
}


def reason(words: dict[str, str], scheme: str, holds: bool) -> str:
    """The words on a scheme where a claim does not hold."""
    return "" if holds else words.get(scheme, "")


def as_the_bar(runs: Runs, scheme: str) -> dict[str, float]:
    """Largest differences of the block with nu = 0 to the bar with the same scheme, cells and step.

    Each over the largest value: gaps of all points, impulse and energies of the block over its width.
    """
    # Half of the critical step leaves room for the stiffness of a penalty.
    part = 0.5 if find_scheme(runs.scheme(scheme)).explicit else 1.0
    p = {name: option.default for name, option in PlaneBlock().parameters.items()}
    elements, half = round(COARSE * p["height"]), p["width"] / 2
    h = part * bar(p).transit / elements
    block = runs(BLOCK, scheme, nu=0.0, divisions=COARSE, h=h)
    line = runs(BAR, scheme, h0=0.0, elements=elements, h=h, t_end=p["t_end"])
    pairs: dict[str, tuple[NDArray, NDArray]] = {
        "gap": (block["gap"], line["gap"]),
        "impulse": (block["r"].sum(axis=1) / half, line["r"][:, 0]),
        **{name: (block[name] / half, line[name]) for name in ("kinetic", "internal")},
    }
    return {name: float(np.abs(a - b).max() / np.abs(b).max()) for name, (a, b) in pairs.items()}


def beside_reference(runs: Runs, scheme: str) -> Measured:
    """Relative deviations of rebound and top from the reference."""
    run = runs(BLOCK, scheme)
    p, results = run.summary["parameters"], run.results
    lowest = results["top_lowest"] / (p["v0"] * bar(p).transit)
    away = {"rebound": results["rebound"] / REBOUND - 1, "top": lowest / TOP_LOWEST - 1}
    holds = max(map(abs, away.values())) <= 0.01
    return Measured(away, note=reason(MISSES, scheme, holds))


def smooth(runs: Runs) -> float:
    """Variation of the force on a fine mesh, between impact and return of the wave: waves from the sides."""
    return float(runs(BLOCK, CD, divisions=FINEST).results["force_variation"])


def variation(runs: Runs, scheme: str) -> float:
    """Variation of the force over that of a smooth one."""
    return float(runs(BLOCK, scheme).results["force_variation"]) / smooth(runs)


def oscillation(runs: Runs, scheme: str) -> Measured:
    """The variation, and why where it is small."""
    found = variation(runs, scheme)
    return Measured(found, note=reason(CALM, scheme, found > SPURIOUS))


def beside_smallest(runs: Runs, scheme: str) -> Measured:
    """Variation over the smallest of all schemes."""
    found = {name: variation(runs, name) for name in runs.chosen(BLOCK)}
    least = min(found, key=lambda name: found[name])
    less = {name: value for name, value in found.items() if value < found[scheme]}
    lost = runs(BLOCK, least).results["energy_lost"]
    note = f"{least} takes {lost:.2g} of the energy, also out of smooth waves. Smaller: {listing(less)}"
    return Measured(found[scheme] / found[least], note=note if less else "")


def within_penetration(runs: Runs, scheme: str) -> Measured:
    """Difference of the top's lowest place to that with exact contact, over the penetration."""
    exact = "dep-4.7" if SCHEMES[scheme].explicit else "dep-4.4"
    run, hard = runs(BLOCK, scheme), runs(BLOCK, exact).results
    p, soft = run.summary["parameters"], run.results
    way = abs(soft["top_lowest"] - hard["top_lowest"])
    depth = soft["penetration_max"] / (p.get("eps", np.inf) * wave_force(p) / p["width"])
    note = f"The penetration is {depth:.3g} times eps rho c v0; exact: {exact}"
    return Measured(way / max(soft["penetration_max"], 1e-12), note=note)


def taken_by_contact(runs: Runs, scheme: str) -> Measured:
    """Order in the size of the cells of the energy that the contact takes."""
    taken = [-_number(runs(BLOCK, scheme, divisions=n), "contact_work") for n in REFINED]
    if min(taken) < 1e-9:
        return Measured(0.0, note=f"The contact takes {max(map(abs, taken)):.2g} of the energy: nothing")
    return Measured(order(1 / np.array(REFINED), taken), note=f"Taken: {listing(taken)}")


def taken_at_once(runs: Runs, scheme: str) -> dict[str, float]:
    """Energy that the contact takes without mass there, over what CD-Lagrange takes, on each mesh."""
    both = ([_number(runs(BLOCK, s, divisions=n), "contact_work") for n in REFINED] for s in (scheme, CD))
    return {f"{n} cells": a / b for n, a, b in zip(REFINED, *both)}


def agreement(runs: Runs, scheme: str) -> Measured:
    """Relative differences of the numbers with a scheme to those with CD-Lagrange on the finest mesh."""
    names = ("rebound", "top_lowest", "impulse", "contact_end", "bulge", "force_variation")
    one, other = (runs(BLOCK, name, divisions=FINEST).results for name in (scheme, CD))
    values = ", ".join(f"{name} {one[name]:.5g} and {other[name]:.5g}" for name in names)
    return Measured({name: one[name] / other[name] - 1 for name in names}, note=values)


def _number(run: Run, name: str) -> float:
    value: Any = run.results[name]
    return float(value)
