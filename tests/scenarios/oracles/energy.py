"""Energies: never above what was given, and works that nodal data give too."""

from __future__ import annotations

import numpy as np

from . import known
from .base import Misfit, oracle


def _units(seen):
    return seen.frame.mass * seen.frame.length**2 / seen.frame.time**2


def _gives_none(s):
    return s.restitution == 0 and s.scheme not in ("MoreauJeanDecoupled", "CarpenterImplicit", "dep-4.3")


@oracle(_gives_none)
def given(seen):
    """What a body has, kinetic and stored, is at most what it had, plus the work of loads and of what moves.

    Restitution 0, friction and damping only take. The energy that central differences keep has the
    complementary term -dv.M dv/8 with it. Allowed: 1e-6; 2 % for Noh-Bathe, whose half steps in lasting
    contact give 0.7 % with surfaces, as stated on its page; 1 % for nonlinear laws, whose energy no scheme
    here keeps exactly; 5 % where the step changes. Not the decoupled step, Carpenter's
    implicit one and 4.3 of Doyen et al., which have no balance.
    """
    s, run = seen.scenario, seen.run
    terms = ("kinetic", "complementary", "internal", "plastic_work", "external", "contact", "interface")
    e = {name: np.asarray(run[name]) / _units(seen) for name in terms if name in run}
    has = e["kinetic"] + e["complementary"] + e["internal"] + e.get("plastic_work", 0.0)
    work = e["external"] + np.maximum(e["contact"], 0.0) + e["interface"]
    over = has - has[0] - work
    size = max(np.abs(has).max(), np.abs(work).max(), 1e-12)
    part = {"NohBathe": 0.02, "GeneralizedAlpha": 0.02}.get(s.scheme, 1e-6)
    if s.law == "neo-hookean":
        part = max(part, 0.01)
    if s.adapt:
        part = 0.05
    yield Misfit("energy above what was given [J]", max(over.max(), 0.0), 0.0, part * size)


def _same_levels(s):
    return s.scheme in ("CDLagrange", "MoreauJean") and not s.adapt and not s.scaled


@oracle(_same_levels)
def works(seen):
    """Work of contact and tools, from nodal impulses and the mean of the velocities before and after.

    A tool of constant velocity V is driven by the force that its contact and its own mass-proportional
    damping need. Work of weight: nodal masses times displacements (undistorted cells of degree 1).
    """
    s, record, unit = seen.scenario, seen.record, _units(seen)
    impulse = seen.nodal(record.impulse) * seen.frame.time / seen.frame.mass
    v = seen.nodal(record.v, velocity=True)
    between = 0.5 * (v[1:] + v[:-1])
    power = impulse[1:] * between
    contact = power.sum()
    if s.floor == "tool":
        force = np.array(record.reactions[1:])[:, seen.body.prescribed.dofs % s.gdim == 0].sum(axis=1)
        pulled = (force * np.diff(record.t)).sum() / (seen.frame.mass * seen.frame.speed)
        drag = s.rate * known.mass(s, 0) * s.drive * (record.t[-1] - record.t[0]) / seen.frame.time
        tool = seen.parts[0]
        inside = float(seen.mass()[tool] @ (v[-1] - v[0])[tool, 0])  # nodes within the tool are free
        borne = drag - impulse[1:, tool, 0].sum() + inside
        much = np.abs(impulse[1:, seen.parts[0]]).sum()
        allowed = 1e-6 * much + 1.01 * abs(drag) / (len(record.t) - 1)  # the drag of one step at the start
        yield Misfit("impulse of the reactions of a tool along its way [N s]", pulled, borne, allowed)
    if record.impulse[0].any():  # an impact at the start, which stands before the first sample
        return
    size = np.abs(power).sum() + np.abs(seen.run["kinetic"]).max() / unit
    if s.scheme == "CDLagrange":  # half of the work of a step stands in the next one
        half = 0.5 * abs(float((impulse[-1] * v[-1]).sum()))
        yield Misfit("work of contact [J]", seen.run["contact"][-1] / unit, contact, 1e-6 * size + half)
    plain = s.degree == 1 and not any(b.distort for b in s.blocks) and s.gdim == 2
    if not plain or s.ground or s.traction or s.push or s.hypothesis == "axisymmetric":
        return
    u, m = seen.nodal(record.u[-1]), seen.mass()
    held = seen.body.constrained.reshape(-1, s.gdim)[:, -1]
    external = -s.gravity * (m[~held] * u[: len(m)][~held, -1]).sum()
    if s.floor == "tool":
        external += s.drive * (drag - impulse[:, seen.parts[0], 0].sum())
    yield Misfit(
        "work of loads and tools [J]",
        seen.run["external"][-1] / unit,
        external,
        0.01 * (np.abs(external) + size),
    )


def _drags(s):
    plain = s.scheme == "CDLagrange" and s.law != "metal" and not (s.adapt or s.scaled)
    return plain and s.rate > 0 and s.beta == s.bulk == 0 and s.floor != "tool"


@oracle(_drags)
def damped(seen):
    """What is dissipated is the work of the mass-proportional damping, ``alpha v.M v``, from nodal data.

    The force of a step belongs to the velocity before it, the work to the mean: by the trapezoidal rule the
    sum is known to 3 % and, where impulses change the velocity within a step, to their share of that step.
    """
    s, record = seen.scenario, seen.record
    twice = (seen.nodal(record.v, velocity=True) ** 2 * seen.mass()[:, None]).sum(axis=(1, 2))
    t = (record.t_v - record.t[0]) / seen.frame.time
    right = s.rate * (np.trapezoid(twice, t) + 0.5 * twice[0] * t[0])
    jumps = s.rate * np.diff(t).max() * np.abs(np.diff(twice)).sum()
    found = seen.run["dissipated"][-1] / _units(seen)
    yield Misfit("energy dissipated by damping [J]", found, right, 0.03 * right + 0.6 * jumps)


@oracle(lambda s: True)
def balance(seen):
    """The balance that a run reports closes where the scheme says that it does."""
    run, size = seen.run, 0.0
    if not run.balance:
        return
    for name in ("kinetic", "internal", "external", "contact", "dissipated"):
        size = max(size, np.abs(run[name]).max())
    yield Misfit("residual of the balance [J]", np.abs(run["residual"]).max(), 0.0, 1e-7 * size + 1e-300)


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
