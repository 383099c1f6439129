"""What damping takes, from velocities, masses and matrices of its own."""

from __future__ import annotations

import numpy as np

from . import cells
from .base import Misfit, oracle
from .energy import units
from .stored import curved


def _some(s):
    """Damping that is known: tangents of nonlinear laws at large rotations are not."""
    linear = s.law == "linear"
    damps = s.rate > 0 or (linear and (s.beta or s.bulk))
    return damps and (linear or not (s.beta or s.bulk)) and not (s.adapt or s.scaled or s.locking)


@oracle(lambda s: _some(s) and s.scheme in ("CDLagrange", "MoreauJean") and not s.position)
def damped(seen):
    """What is dissipated is the work of ``alpha M v + beta K v`` and of the bulk viscosity, from nodal data.

    Masses are those of the nodes, K a dense matrix and the viscosity an integral of this module. Implicit
    steps damp with the mean of the forces of both ends, on the mean velocity m: ``h m.C m``; the force of an
    explicit step belongs to the velocity before it and works over the step on both sides, ``h v'.C (v + v') /
    2``. The rule for the viscosity, whose integrand has a kink, is estimated: 3 %. Where an
    impact starts the motion, the work of one step is not known. Where nothing deforms it is rounding: 1e-20
    of the kinetic energy, and in ``v.K v`` 1e-16 of the sum of the moduli, by rows.
    """
    each = taken(seen)
    right = each.sum()
    found = seen.run["dissipated"][-1] / units(seen)
    part = 0.03 if seen.scenario.bulk else 1e-3 if curved(seen.scenario) else 1e-6
    allowed = part * np.abs(each).sum() + (abs(each[0]) if seen.record.impulse[0].any() else 0.0)
    rounding = 1e-20 * np.abs(seen.run["kinetic"]).max() / units(seen) + 1e-300 + _rounding(seen)
    yield Misfit("energy dissipated by damping [J]", found, right, allowed + rounding)


def _rounding(seen):
    """Of the work of ``beta K v`` of rigid motion [J]."""
    s, record = seen.scenario, seen.record
    if not s.beta:
        return 0.0
    v, c = seen.nodal(record.v, velocity=True), cells.cells(seen)
    sums = np.abs(cells.stiffness(c, v.shape[1])).sum(axis=1)
    time = (record.t[-1] - record.t[0]) / seen.frame.time
    return 1e-15 * s.beta * time * float((sums * (v**2).max(axis=0).ravel()).sum())


@oracle(
    lambda s: (
        _some(s)
        and not s.position
        and s.scheme in ("NohBathe", "GeneralizedAlpha", "PaoliSchatzman", "Carpenter")
    )
)
def lost(seen):
    """What is dissipated is at least the work of the damping.

    Formulas that damp by themselves take more; of these 2 % of the energies may be given back, as stated on
    their pages, and 10 % of the work is the error of the velocities that the forces were computed with.
    """
    s, run = seen.scenario, seen.run
    each = taken(seen)
    size = (np.abs(run["kinetic"]).max() + np.abs(run["internal"]).max()) / units(seen)
    short = each.sum() - run["dissipated"][-1] / units(seen)
    allowed = 0.1 * each.sum() + np.abs(each).max() + 0.02 * size
    yield Misfit(f"work of damping beyond what {s.scheme} lost [J]", max(short, 0.0), 0.0, allowed)


def taken(seen) -> np.ndarray:
    """Work of the damping in each step, shape (steps,) [J]."""
    s, record = seen.scenario, seen.record
    v = seen.nodal(record.v, velocity=True)
    n, count = v.shape[:2]
    h = np.diff(record.t) / seen.frame.time
    c = cells.cells(seen)
    if s.scheme in ("CDLagrange", "PaoliSchatzman", "Carpenter"):
        first = seen.nodal(record.mean[:1], velocity=True)
        left, right = v[:-1], 0.5 * (v[:-1] + np.concatenate([first, v[:-2]]))
        pairs = [(left, v[:-1]), (left, np.concatenate([first, v[:-2]]))]
    else:
        left = right = 0.5 * (v[1:] + v[:-1])
        pairs = [(left, v[:-1]), (left, v[1:])]
    power = s.rate * (seen.mass()[:, None] * left * right).sum(axis=(1, 2))
    if s.beta:
        K = cells.stiffness(c, count)
        power += s.beta * ((left.reshape(n - 1, -1) @ K) * right.reshape(n - 1, -1)).sum(axis=1)
    if s.bulk:
        power += 0.5 * sum(np.array([cells.viscous(c, a, b) for a, b in zip(*pair)]) for pair in pairs)
    return h * power
