"""Energies: never above what was given, and a balance that closes."""

from __future__ import annotations

import numpy as np

from . import known
from .base import Misfit, oracle

#: The trapezoidal rule with contact at position level: impacts are unstable at any step.
UNSTABLE = ("CarpenterImplicit", "dep-4.1")
#: Those without a balance of contact. Acary and Bonnefon move what is in contact to the obstacle beside its
#: velocity, which changes the stored energy.
NO_BALANCE = ("MoreauJeanDecoupled", "dep-4.3", "AcaryBonnefon", *UNSTABLE)
#: Those of Doyen et al. whose contact may give energy: ``E' - E = (r' + r)/2 . dg``, and penalties; the mass
#: of contact nodes that is handed over is their modified mass, (7.2).
GIVING = ("CDLagrangeSingular", "dep-4.7", "dep-4.8", "dep-5.1", "dep-5.3", "dep-7.1", "dep-7.2")


def units(seen):
    return seen.frame.mass * seen.frame.length**2 / seen.frame.time**2


def _gives_none(s):
    remembers = s.scheme == "GeneralizedAlpha" and s.position > 0 and s.part > 9.0
    return s.restitution == 0 and s.scheme not in NO_BALANCE and not remembers


def _contact_gives(s):
    """Whether contact may do work: moving obstacles, drift correction, formulas without ``r.dg <= 0``.

    So it may at position level, but for fixed flat obstacles without friction where nothing is inside.
    """
    drift = s.drift or any(each[2] for each in s.laws)
    smooth = s.floor in ("plane", "planes") and len(s.blocks) == 1 and not (s.friction or s.closing)
    return s.drive != 0 or drift or s.scheme in GIVING or (s.position > 0 and not smooth)


@oracle(_gives_none)
def given(seen):
    """What a body has, kinetic and stored, is at most what it had, plus the work of loads and of what moves.

    Restitution 0, friction and damping only take, and so does contact with what is still. The energy that
    central differences keep has the complementary term -dv.M dv/8 with it. Allowed: 1e-6; 2 % for Noh-Bathe,
    whose half steps in lasting contact give 0.7 % with surfaces, as stated on its page; 1 % for nonlinear
    laws, whose energy no scheme here keeps exactly; 5 % where the step changes. Of metals, which are
    nonlinear too, 2 % of the gross work of their internal forces, whose trapezoidal rule is of second order
    in the step (3e-4 as measured, and a fourth of it with half the step). Not schemes without a balance of
    contact, nor Newmark's trapezoidal rule with contact at position level, nor generalized alpha with it at
    steps far above the critical one, whose accelerations give single rises, as its page says.
    """
    s, run = seen.scenario, seen.run
    terms = ("kinetic", "complementary", "internal", "plastic_work", "external", "contact", "interface")
    e = {name: np.asarray(run[name]) / units(seen) for name in terms if name in run}
    has = e["kinetic"] + e["complementary"] + e["internal"] + e.get("plastic_work", 0.0)
    work = e["external"] + np.maximum(e["contact"], 0.0) * _contact_gives(s) + e["interface"]
    over = has - has[0] - work
    size = max(np.abs(has).max(), np.abs(work).max(), 1e-12)
    part = {"NohBathe": 0.02, "GeneralizedAlpha": 0.02}.get(s.scheme, 1e-6)
    if s.law == "neo-hookean":
        part = max(part, 0.01)
    if s.adapt:
        part = 0.05
    allowed = part * size
    if s.scheme == "Static":  # rounding, see balance
        allowed += 1e-14 * known.program.E * np.abs(seen.nodal(seen.record.u)).max() ** 2
    if s.law == "metal":
        allowed += 0.02 * np.abs(np.diff(e["internal"] + e["plastic_work"])).sum()
    yield Misfit("energy above what was given [J]", max(over.max(), 0.0), 0.0, allowed)


@oracle(lambda s: True)
def balance(seen):
    """The balance that a run reports closes where the scheme says that it does."""
    run, size = seen.run, 0.0
    if not run.balance:
        return
    for name in ("kinetic", "internal", "external", "contact", "dissipated"):
        size = max(size, np.abs(run[name]).max())
    rounding = 1e-300
    if seen.scenario.scheme == "Static":  # of what is moved as a whole, by its stiffness
        rounding = 1e-14 * known.program.E * np.abs(seen.nodal(seen.record.u)).max() ** 2 * units(seen)
    yield Misfit("residual of the balance [J]", np.abs(run["residual"]).max(), 0.0, 1e-7 * size + rounding)


@oracle(lambda s: s.floor != "none")
def points(seen):
    """Arrays with one entry a point have one order: a history ends with the impulses of the scheme."""
    last, size = seen.scheme.r, np.abs(seen.run["r"]).max() + 1e-300
    wrong = np.abs(np.asarray(seen.run["r"][-1]) - last).max()
    yield Misfit("columns of r of a run and r of the scheme, difference [N s]", wrong, 0.0, 1e-9 * size)


@oracle(lambda s: True)
def masses(seen):
    """The masses of the nodes of a block sum to density times volume (and more with mass scaling)."""
    s, m = seen.scenario, seen.mass()
    if s.scaled:
        return
    for i in range(len(s.blocks)):
        right = known.mass(s, i)
        yield Misfit(f"mass of block {i} [kg]", m[seen.parts[i]].sum(), right, 1e-9 * right)
