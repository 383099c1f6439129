"""Works of loads, tools and contact that nodal data give too."""

from __future__ import annotations

import numpy as np

from ..layout import lean
from . import cells, known
from .base import Misfit, oracle
from .energy import units


def forces(seen):
    """Constant loads, amplitudes of those with a signal, and masses in a uniform acceleration, by nodes."""
    s = seen.scenario
    c, count = cells.cells(seen, 6), len(seen.places())
    mean, steady, waving = c.mean(count), *np.zeros((2, count, s.gdim))
    steady[:, -1] -= s.gravity * mean
    waving[:, 0] -= s.ground * mean
    other = waving if s.wave else steady
    if s.push:
        body = c.scattered(c.weight @ c.N, count)
        other[:, -1] -= s.push * body
        other[:, 0] += lean(s) * s.push * body
    if s.traction:
        other[:, -1] += s.traction * cells.top(seen, c, count)
    return steady, waving, mean


def _by_loads(s):
    known = "divided" not in s.takes and not (s.scaled and s.ground) and s.motion != "pressed"
    return known and (s.floor != "tool" or _same_levels(s))


@oracle(_by_loads)
def loads(seen):
    """Work of weight, tractions, ground and tools, from displacements and forces by integrals of its own.

    Constant loads do ``F.(u - u_0)`` whatever the scheme; the weight of a node is ``g int rho N``, a body
    force ``int N``, a traction ``int N`` over the flat top. Loads with a signal act with the mean of both
    ends of each step, to the curvature of their cosine between them where a scheme takes other times.
    Displacements are relative to a ground that accelerates by a: ``-a int rho N``. A tool of constant
    velocity is driven by the impulse of its reactions, which its momentum gives, to the drag of a step; of
    the last one of central differences half stands in the next step. Not the ground under scaled mass, nor a
    divided body, of whose interface one of two copies is seen.
    """
    s, record = seen.scenario, seen.record
    u = seen.nodal(record.u)
    steady, waving, mean = forces(seen)
    way = np.diff(u, axis=0)
    works = [(steady * way.sum(axis=0)).sum()]
    size = (np.abs(steady) * np.abs(u[-1])).sum() + np.abs(seen.run["kinetic"]).max() / units(seen)
    allowed = 1e-8 * size
    if waving.any():
        cosine = np.cos(20.0 * record.t / seen.frame.time)
        h = np.diff(record.t / seen.frame.time).max()
        each = 0.5 * (cosine[1:] + cosine[:-1]) * (way * waving).sum(axis=(1, 2))
        works.append(each.sum())
        exact = s.scheme not in ("NohBathe", "MoreauJean", "MoreauJeanDecoupled")
        allowed += 20.0 * h * np.abs(each).sum() if s.position > 0.5 else 0.0  # loads at the end
        allowed += 0.0 if exact else (20.0 * h) ** 2 * np.abs(each).sum() + 0.05 * h * np.abs(each).max()
    if s.floor == "tool":
        borne, doubt = driven(seen, mean)
        last = seen.nodal(record.impulse[-1])[seen.parts[0], 0].sum() * seen.frame.time / seen.frame.mass
        works.append(s.drive * (borne + 0.5 * last if s.scheme == "CDLagrange" else borne))
        allowed += abs(s.drive) * doubt
    found = seen.run["external"][-1] / units(seen)
    yield Misfit("work of loads and tools [J]", found, sum(works), allowed + 1e-300)


def driven(seen, mean):
    """Impulse along its way that a tool of constant velocity needs, and what is not known of it [N s].

    Its contact and its own mass-proportional damping, the ground under it, and the nodes inside, which are
    free; of the drag one step is known to itself alone. Generalised alpha takes forces at a time of its own
    within each step, which changes their impulse by at most half a step of their change over the run. Of the
    forces on the nodes inside half a step at each end is not known, neither there nor of central differences,
    whose velocities stand between the steps.
    """
    s, record, tool = seen.scenario, seen.record, seen.parts[0]
    impulse = seen.nodal(record.impulse) * seen.frame.time / seen.frame.mass
    v, t = seen.nodal(record.v, velocity=True), record.t / seen.frame.time
    u = seen.nodal(record.u)
    drag = s.rate * float(seen.mass()[tool] @ (u[-1] - u[0])[tool, 0])  # nodes inside lag behind
    inside = float(seen.mass()[tool] @ (v[-1] - v[0])[tool, 0])
    ground = s.ground * mean[tool].sum() * np.trapezoid(np.cos(20.0 * t), t)
    borne = drag - impulse[1:, tool, 0].sum() + inside + ground
    doubt = 1e-6 * np.abs(impulse[1:, tool]).sum() + 1.01 * abs(drag) / (len(t) - 1) + 2e-3 * abs(ground)
    if s.scheme == "GeneralizedAlpha":
        change = np.cos(20.0 * t[-1]) - np.cos(20.0 * t[0])
        doubt += 0.5 * np.diff(t).max() * abs(s.ground * mean[tool].sum() * change)
    if s.scheme in ("GeneralizedAlpha", "CDLagrange"):
        jerked = np.abs(v[-1] - v[-2]) + np.abs(v[1] - v[0])
        doubt += 0.5 * float(seen.mass()[tool] @ jerked[tool, 0])
    # Without contact and drag there is rounding alone.
    return borne, doubt + 1e-12 * abs(s.drive) * known.mass(s, 0)


def _same_levels(s):
    known_levels = s.scheme in ("CDLagrange", "MoreauJean", "GeneralizedAlpha") and s.motion != "pressed"
    return known_levels and not s.adapt and not s.scaled


@oracle(_same_levels)
def works(seen):
    """Work of contact and impulse of tools, from nodal impulses and the mean of the velocities.

    The work of an impulse between two velocities is that with their mean, a theorem of mechanics. A tool of
    constant velocity is driven by the force that its contact and its own damping need. Schemes with impulses
    of one kind a step; two substeps have velocities between that are not public.
    """
    s, record, unit = seen.scenario, seen.record, units(seen)
    impulse = seen.nodal(record.impulse) * seen.frame.time / seen.frame.mass
    v = seen.nodal(record.v, velocity=True)
    power = impulse[1:] * (0.5 * (v[1:] + v[:-1]))
    if s.floor == "tool" and s.scheme != "GeneralizedAlpha":
        force = np.array(record.reactions[1:])[:, seen.body.prescribed.dofs % s.gdim == 0].sum(axis=1)
        pulled = (force * np.diff(record.t)).sum() / (seen.frame.mass * seen.frame.speed)
        borne, allowed = driven(seen, forces(seen)[2])
        yield Misfit("impulse of the reactions of a tool along its way [N s]", pulled, borne, allowed)
    if s.position:  # of two impulses
        return
    if record.impulse[0].any():  # an impact at the start, which stands before the first sample
        return
    size = np.abs(power).sum() + np.abs(seen.run["kinetic"]).max() / unit
    half = 0.0
    if s.scheme == "CDLagrange":  # half of the work of a step stands in the next one
        half = 0.5 * abs(float((impulse[-1] * v[-1]).sum()))
    yield Misfit("work of contact [J]", seen.run["contact"][-1] / unit, power.sum(), 1e-6 * size + half)
