"""The same problem written otherwise has the same result."""

from __future__ import annotations

import random

import numpy as np

from ..further import by_forms
from ..observe import see
from .base import Misfit, oracle


def _clear(s):
    """Without decisions that round-off takes: lasting contact of many points opens and closes by it."""
    return s.motion != "rest"


def variants(s):
    """Some of the frames in which a scenario can be written."""
    rng = random.Random(f"frames of {s.seed}")
    axis = s.hypothesis == "axisymmetric"
    made = {
        "moved": s.changed(shift=rng.uniform(0.5, 2.0)),
        "in other units": s.changed(units=(1000.0, 1e-3, 1e3)),
        "with names swapped": s.changed(swapped=True),
    }
    if len(s.blocks) > 1:
        made["with parts and contacts in another order"] = s.changed(backwards=True)
    if s.joint == "together" and len(s.blocks) > 2 and not axis and not s.laws:
        made["with surfaces in pairs"] = s.changed(joint="surfaces", rough="all")
    if not (
        s.drive or s.ground or s.wave or s.adapt or s.motion == "pressed"
    ):  # rounding of such times moves what depends on them
        made["begun late"] = s.changed(late=1e10)
    # Noh-Bathe's own limit depends on the class, and masses that are scaled on the damping.
    if s.rate and s.scheme == "CDLagrange" and not (s.forms or s.scaled):
        made["with its damping by a class"] = s.changed(dashpots=not s.dashpots)
    if s.floor != "corner":
        made["with its mesh renumbered"] = s.changed(renumbered=True)
    if not axis and "massless" not in s.takes:  # they take obstacles across a coordinate direction
        made["turned"] = s.changed(turn=rng.uniform(0.2, 3.0))
    if not axis:
        made["mirrored"] = s.changed(mirror=True)
    names = rng.sample(sorted(made), min(2, len(made)))
    forms = {"of a FormSystem": s.changed(forms=True)} if by_forms(s) and not s.forms else {}
    return {name: made[name] for name in names} | forms


def sorted_nodes(seen):
    """Order of the nodes by part and place."""
    x = np.round(seen.places(), 7)
    part = np.zeros(len(x))
    for i, nodes in enumerate(seen.parts):
        part[nodes] = i
    return np.lexsort((*x.T, part))


@oracle(_clear)
def frame(seen):
    """Physics has no frame: turned, mirrored, moved, in other units, with other names, orders and forms.

    Round-off enters decisions only where a gap is zero by chance, and impacts let it grow: allowed 1e-6 of
    the largest displacement. Scenarios with lasting contact are left out: their points open by round-off.
    With friction at an axis, where the tangent is held but for the tilt of the surface, impulses are not
    unique, by which Noh-Bathe decides what slides in a substep: 1e-3. Where parts that fly cross half a cell
    in a step, surfaces have several equilibria at its end: left out.
    """
    s = seen.scenario
    if s.position and s.part > 9.0 and s.joint == "surfaces" and s.motion == "flying":
        return
    u, order = seen.nodal(seen.record.u[-1]), sorted_nodes(seen)
    size = np.abs(u).max()
    held = s.scheme == "NohBathe" and s.hypothesis == "axisymmetric" and s.friction > 0
    for name, other in variants(s).items():
        again = see(other)
        if s.adapt and abs(again.record.t[-1] / again.frame.time - seen.record.t[-1]) > 1e-9:
            continue  # the number of steps to the end was rounded otherwise
        if s.position and any(each.scheme.halved.halved for each in (seen, again)):
            continue  # whether an iteration ends depends on the directions of its tangents
        difference = np.abs(again.nodal(again.record.u[-1])[sorted_nodes(again)] - u[order]).max()
        yield Misfit(f"displacement {name}, difference [m]", difference, 0.0, (1e-3 if held else 1e-6) * size)
