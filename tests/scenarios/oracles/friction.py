"""Coulomb's law at rigid planes, from nodal impulses and velocities alone."""

from __future__ import annotations

import numpy as np

from .base import Misfit, oracle

#: Speed above which a point slides [m/s].
_SLIDES = 1e-3


def coefficient(s):
    """Friction of the floor, the first one of the contacts."""
    return s.laws[0][0] if s.laws else s.friction


def _rough(s):
    """Not walls beside the floor, which give nodes impulses of their own."""
    return s.floor in ("plane", "moving", "box") and coefficient(s) > 0


def _one_velocity(s):
    """Not Noh-Bathe and HATI: impulses of substeps, whose velocities between are not public."""
    return _rough(s) and s.scheme not in ("NohBathe", "HATI")


def at_the_floor(seen):
    """Normal and tangential impulses on the nodes at the floor, and velocities along it [N s, m/s].

    Of shapes (steps, nodes), (steps, nodes, d - 1) twice; velocities are relative to the floor, after the
    impulses.
    """
    s, record = seen.scenario, seen.record
    height = seen.places()[seen.parts[0]][:, [0, -1]] @ [-np.sin(s.tilt), np.cos(s.tilt)]
    nodes = seen.parts[0][height < height.min() + 1e-9]
    impulse = seen.nodal(record.impulse)[:, nodes] * seen.frame.time / seen.frame.mass
    along = seen.nodal(record.v, velocity=True)[:, nodes, :-1].copy()
    if s.floor == "moving" and s.hypothesis != "axisymmetric":
        along[..., 0] -= s.drive
    return impulse[..., -1], impulse[..., :-1], along


@oracle(_rough)
def cone(seen):
    """At every point of a plane the tangential impulse is at most mu times the normal one, which pushes.

    Coulomb's cone, whose sums over substeps lie in it too, since it is convex: for all schemes. Rounding.
    """
    normal, tangential, _ = at_the_floor(seen)
    size = np.abs(normal).max() + 1e-300
    over = np.linalg.norm(tangential, axis=-1) - coefficient(seen.scenario) * normal
    yield Misfit(
        "tangential impulse above mu times the normal one [N s]", max(over.max(), 0.0), 0.0, 1e-9 * size
    )
    yield Misfit("normal impulse that pulls [N s]", min(normal.min(), 0.0), 0.0, 1e-9 * size)


@oracle(_one_velocity)
def slip(seen):
    """Friction takes work at every point of a plane, and where one slides it is mu times the normal impulse.

    Opposite to the slip relative to the floor; with the velocity after the impulse, by which all these
    schemes state Coulomb's law. Points that slide by more than 1 mm/s are those that slide. Allowed 1e-6,
    the accuracy of iterations with coupled points. Not schemes with substeps, of whose velocities one is
    seen, nor the sample at the start, where an impact and half a step have velocities of their own.
    """
    normal, tangential, along = (each[1:] for each in at_the_floor(seen))
    speed, mu = np.linalg.norm(along, axis=-1), coefficient(seen.scenario)
    work = (tangential * along).sum(axis=-1)
    size = np.abs(tangential).max(initial=0.0) * max(speed.max(initial=0.0), _SLIDES) + 1e-300
    yield Misfit("work of friction that is given [J]", max(work.max(initial=0.0), 0.0), 0.0, 1e-6 * size)
    sliding = (speed > _SLIDES) & (normal > 0)
    if not sliding.any():
        return
    borne = mu * normal[sliding]
    against = -work[sliding] / speed[sliding]
    yield Misfit("friction of what slides [N s]", against.sum(), borne.sum(), 1e-6 * borne.sum())
