"""Kinetic and stored energies of a run, from u and v by integrals of its own."""

from __future__ import annotations

import numpy as np

from . import cells
from .base import Misfit, oracle
from .energy import units


def lumped(s):
    """Whether the mass of the scheme is diagonal, as its program says."""
    return s.explicit or s.degree > 1 or s.position > 0 or s.scheme in ("MoreauJeanDecoupled", "dep-4.6")


def kinetic(seen, v):
    """``v.M v / 2`` with the mass of the scheme: nodal masses, or where it is [J]."""
    if seen.scenario.scheme == "Static":
        return 0.0
    if lumped(seen.scenario):
        return float(0.5 * (seen.mass()[:, None] * v**2).sum())
    return cells.cells(seen, 6).kinetic(v)


def curved(s):
    """Whether the integrands over the cells are no polynomials."""
    return any(b.distort for b in s.blocks) or s.bend > 0 or s.hypothesis == "axisymmetric"


def _known(s):
    nonlinear = s.law != "linear" and s.forms
    massless = s.scheme == "CDLagrangeSingular" or "massless" in s.takes
    divided = "divided" in s.takes
    return s.law != "metal" and not (s.locking or nonlinear or massless or divided)


@oracle(_known)
def stored(seen):
    """Kinetic and stored energy in the middle and at the end of a run, by integrals over the cells in numpy.

    The stored energy is that of the law as it is written in its docstring, with the quadrature that the
    elements are said to have: at the nodes for squares and bricks of degree 2, 2 points a direction for
    nonlinear squares. Rational integrands of distorted and curved cells, whose rule is estimated: 1e-3 and,
    where cells are curved, what rules of degree 4 and 6 differ by. Not metals, whose energy depends on their
    history, nor elements that are kept from locking and forms of large strains, whose rules are others, nor
    masses that are handed over, nor a divided body: the two copies of its interface move apart, and one of
    them is seen.
    """
    s, record, run = seen.scenario, seen.record, seen.run
    unit = units(seen)
    u, v = seen.nodal(record.u), seen.nodal(record.mean, velocity=True)
    c, n = cells.cells(seen), len(record.t)
    size = max(np.abs(run["kinetic"]).max(), np.abs(run["internal"]).max()) / unit
    if s.scheme == "Static":  # rounding of what is moved as a whole
        size += 1e-12 * 1e6 * np.abs(u).max() ** 2
    for i in (n // 2, n - 1):
        part = 1e-3 if curved(s) else 1e-9
        own = cells.stored(c, u[i])
        if s.bend:
            part = 1e-3 + abs(cells.stored(cells.cells(seen, 4), u[i]) / own - 1.0)
        yield Misfit("stored energy [J]", run["internal"][i] / unit, own, part * own + 1e-9 * size + 1e-300)
        yield Misfit(
            "kinetic energy [J]", run["kinetic"][i] / unit, kinetic(seen, v[i]), 1e-8 * size + 1e-300
        )
