"""Work of internal forces, stored and plastic work: from nodal data, and by a radial return in numpy."""

from __future__ import annotations

import numpy as np

from .. import program
from . import cells, works
from .base import Misfit, oracle
from .energy import units


def _central(s):
    return s.scheme == "CDLagrange" and not (s.beta or s.bulk or s.adapt or s.scaled)


def internal_work(seen) -> np.ndarray:
    """Work of the internal forces in each step from the second on, from what else moves the nodes [J].

    ``F_int = F_ext - alpha M v + (r - M [v]) / h`` by Newton's law; a step works with the mean of both ends.
    A tool is translated as a whole, which takes no work of internal forces: its own velocity is left out.
    """
    s, record = seen.scenario, seen.record
    v, impulse = seen.nodal(record.v, velocity=True), seen.nodal(record.impulse)
    impulse = impulse * seen.frame.time / seen.frame.mass
    t, m = record.t / seen.frame.time, seen.mass()[:, None]
    steady, waving, _ = works.forces(seen)
    h = np.diff(t)[:, None, None]
    force = steady + np.cos(20.0 * t[1:, None, None]) * waving
    force += impulse[1:] / h - m * (np.diff(v, axis=0) / h + s.rate * v[:-1])
    if s.floor == "tool":
        v[:, seen.parts[0], 0] -= s.drive
    return (0.5 * h[1:] * v[1:-1] * (force[1:] + force[:-1])).sum(axis=(1, 2))


@oracle(_central)
def worked(seen):
    """What internal forces work is stored, or plastic work.

    Exact for linear laws; the trapezoidal rule of a step is known to 2 % of the gross work for others: of
    second order in the strain of a step, 1e-3 as measured. Plastic work never decreases.
    """
    s, run = seen.scenario, seen.run
    each = internal_work(seen)
    has = np.asarray(run["internal"]) / units(seen)
    if "plastic_work" in run:
        plastic = np.asarray(run["plastic_work"]) / units(seen)
        has = has + plastic
        fall = max(float(-np.diff(plastic).min()), 0.0)
        yield Misfit("fall of the plastic work in a step [J]", fall, 0.0, 1e-12 * plastic[-1] + 1e-300)
    part = 1e-7 if s.law == "linear" else 0.02
    size = np.abs(each).sum() + 1e-3 * np.abs(run["kinetic"]).max() / units(seen)
    yield Misfit("stored energy and plastic work [J]", has[-1] - has[1], each.sum(), part * size + 1e-300)


def radial_return(c, u, G, alpha):
    """One update of metals with linear hardening: elastic energy and plastic work of it [J].

    Simo, CMAME 99 (1992): ``b = F G F^T``, Hencky strains, flow along the deviator, exponential map; squares
    of degree 1 with the mean dilatation of the cell. G and alpha are updated in place.
    """
    F = c.gradient(u) + np.eye(3)
    J = np.linalg.det(F)
    bar = ((c.weight * J).sum(axis=1) / c.weight.sum(axis=1))[:, None]
    F *= ((bar / J) ** (1 / 3))[..., None, None]
    lam, mu = cells.lame(c)
    yields, hardening = 0.02 * program.E, 0.1 * program.E
    values, ways = np.linalg.eigh(F @ G @ np.swapaxes(F, -1, -2))
    eps = 0.5 * np.log(values)
    dev = eps - eps.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(dev, axis=-1) + 1e-300
    over = 2 * mu * length - np.sqrt(2 / 3) * (yields + hardening * alpha)
    flow = np.maximum(over, 0.0) / (2 * mu + 2 * hardening / 3)
    shrunk = dev * (1 - flow / length)[..., None]
    eps += shrunk - dev
    grown = np.sqrt(2 / 3) * flow
    work = (yields + hardening * (alpha + 0.5 * grown)) * grown
    alpha += grown
    b = (ways * np.exp(2 * eps)[..., None, :]) @ np.swapaxes(ways, -1, -2)
    inverse = np.linalg.inv(F)
    flowed = flow > 0  # what stays elastic keeps its metric
    G[flowed] = (inverse @ b @ np.swapaxes(inverse, -1, -2))[flowed]
    kappa = lam + 2 * mu / 3
    elastic = 0.5 * kappa * np.log(bar) ** 2 + mu * (shrunk**2).sum(axis=-1)
    return float((c.weight * elastic).sum()), float((c.weight * work).sum())


@oracle(lambda s: s.law == "metal" and s.scheme in ("CDLagrange", "PaoliSchatzman", "Carpenter"))
def metal(seen):
    """Stored energy and plastic work of metals by a radial return of its own over the recorded displacements.

    The history is updated once a step at its displacements, from the first on: the same numbers to 1e-6. Not
    the scheme of two substeps, whose displacements between are not public.
    """
    record, unit = seen.record, units(seen)
    c, u = cells.cells(seen), seen.nodal(record.u)
    G, alpha = np.tile(np.eye(3), (*c.weight.shape, 1, 1)), np.zeros(c.weight.shape)
    stored, work = zip(*(radial_return(c, each, G, alpha) for each in u))
    plastic = np.cumsum(work)
    size = np.max(stored) + plastic[-1] + 1e-6 * np.abs(seen.run["kinetic"]).max() / unit
    for i in (len(u) // 2, len(u) - 1):
        yield Misfit("stored energy of a metal [J]", seen.run["internal"][i] / unit, stored[i], 1e-6 * size)
        found = seen.run["plastic_work"][i] / unit
        yield Misfit("plastic work [J]", found, plastic[i], 1e-6 * size)
