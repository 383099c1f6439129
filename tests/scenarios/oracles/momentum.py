"""Momentum and angular momentum of each part are impulses plus loads, from nodal data."""

from __future__ import annotations

import numpy as np

from . import known
from .base import Misfit, oracle

#: Schemes whose velocities take the mean of the contact forces before and after a step, by Newmark's formula.
_TRAPEZOIDAL = ("HATI", "dep-4.1", "dep-5.1")


def _plain(s):
    """Not where masses are handed over or taken off, nor the decoupled step with drag: of the step without
    contact; nor 4.3 of Doyen et al., which puts velocities to zero by its own hand."""
    return s.scheme not in ("CDLagrangeSingular", "dep-4.3", "dep-7.1", "dep-7.2") and not (
        s.scheme == "MoreauJeanDecoupled" and s.rate
    )


def _impulse_scale(seen):
    return seen.frame.time / (seen.frame.mass * seen.frame.length)


def _lumped(s):
    lumped = s.explicit or s.position > 0
    known = lumped or not (s.degree > 1 or any(b.distort for b in s.blocks))
    return _plain(s) and known and s.scheme != "Static"


@oracle(_lumped)
def momentum(seen):
    """The momentum of a free part changes by nodal impulses, its weight and its loads alone.

    Internal and stiffness-proportional damping forces, also the bulk viscosity, sum to zero over a part,
    whatever the scheme. The interface of HATI keeps it to round-off with equal steps, to 2 % with steps of
    the rest twice as large. Mass-proportional damping takes ``alpha p``, integrated by the trapezoidal rule
    here, which is known to its own error alone. Masses are those of the body; of consistent mass matrices the
    sums are equal for undistorted cells of degree 1 only. Generalized alpha with contact at position level
    keeps reactions in its accelerations a, so that ``(1/2 - af) M a h`` at the end is still to come, where
    all steps are of one size. Not the scheme with masses handed over, statics, and the block that is driven.
    """
    s, record = seen.scenario, seen.record
    if s.position and s.scheme == "GeneralizedAlpha" and seen.scheme.halved.halved:
        return
    m, v = seen.mass()[:, None], seen.nodal(record.v, velocity=True)
    n = m.shape[0]
    impulse = seen.nodal(record.impulse) * seen.frame.length * _impulse_scale(seen)
    t = (record.t_v - record.t[0]) / seen.frame.time
    for i in s.movable[: -1 if s.motion == "pressed" else None]:
        nodes = seen.parts[i][seen.parts[i] < n]
        p = (m[nodes] * v[:, nodes]).sum(axis=1)
        p0 = (m[nodes] * seen.nodal(record.mean[0], velocity=True)[nodes]).sum(axis=0)
        loads, waving = known.loads(s, i)
        given = impulse[:, nodes].sum(axis=(0, 1)) + loads * t[-1]
        size = np.abs(impulse[:, nodes]).sum() + np.abs(loads).sum() * t[-1] + np.abs(p).max()
        allowed = (1e-8 if s.scheme != "NohBathe" else 1e-3) * size
        if s.scheme == "CDLagrange":  # half of an impulse at the start acts on the first half step
            given -= 0.5 * impulse[0, nodes].sum(axis=0)
        if s.scheme in _TRAPEZOIDAL:  # velocities at t_n: half of the impulse there stands in the next step
            given -= 0.5 * impulse[-1, nodes].sum(axis=0)
        if s.position and s.scheme == "GeneralizedAlpha":
            a = (
                seen.nodal(np.array([record.remembered[0], record.remembered[-1]]), velocity=True)
                * seen.frame.time
            )
            rho, h = 1 - s.position, record.dt[-1] / seen.frame.time
            given -= h * (0.5 - rho / (rho + 1)) * (m[nodes] * (a[1] - a[0])[nodes]).sum(axis=0)
        if s.ratio > 1:  # multipliers that do not vary linearly within a coarse step
            allowed = 0.02 * size + 0.5 * np.abs(impulse[-1, nodes]).sum()
        if s.ground:
            mass = m[nodes].sum()
            given[0] -= mass * s.ground * np.sin(20.0 * t[-1]) / 20.0
            allowed += 0.05 * mass * s.ground * t[-1]
        given += waving * np.sin(20.0 * t[-1]) / 20.0
        allowed += 0.05 * np.abs(waving).sum() * t[-1]
        if s.position:  # loads at times of the formula's own
            size = np.abs(waving).sum() + m[nodes].sum() * s.ground
            allowed += 20.0 * np.diff(t).max() * size * t[-1]
        if s.rate:
            lost = np.trapezoid(s.rate * p, t, axis=0)
            given -= lost
            # The damping force of a step with an impulse is that of the velocity before or after it.
            # Steps that all begin with the velocity before lack half of the whole change.
            jump = 3 * np.abs(np.diff(p, axis=0)).max() + 0.5 * np.abs(p[-1] - p[0]).max()
            allowed += s.rate * (0.03 * np.trapezoid(np.abs(p).max(axis=1), t) + np.diff(t).max() * jump)
        for axis in range(s.gdim) if s.hypothesis != "axisymmetric" else (1,):
            yield Misfit(
                f"momentum of block {i} along {axis} [N s]", p[-1, axis] - p0[axis], given[axis], allowed
            )


def _turns(s):
    return (
        _plain(s)
        and s.explicit
        and s.law != "linear"
        and "divided" not in s.takes  # the upper part is linear
        and s.hypothesis is None
        and not (s.rate or s.beta or s.bulk or s.ground or s.traction or s.push)
    )


@oracle(_turns)
def spin(seen):
    """The angular momentum of a free part changes by the moments of nodal impulses and of its weight alone.

    Energies of F do not change with a rotation, so that internal forces have no moment about any point. Small
    strains have one, by their definition; damping by the stiffness at the undeformed body too. With ``x_n``
    and the velocity after ``t_n`` the sums are exact for central differences, to 2 % for two substeps.
    """
    s, record = seen.scenario, seen.record
    m, x = seen.mass()[:, None], seen.places() + seen.nodal(record.u)
    v = seen.nodal(record.v, velocity=True)
    impulse = seen.nodal(record.impulse) * seen.frame.length * _impulse_scale(seen)
    h = np.diff(record.t_v, prepend=record.t[0]) / seen.frame.time

    def moment(a, b):
        return a[..., 0] * b[..., -1] - a[..., -1] * b[..., 0]

    for i in s.movable:
        nodes = seen.parts[i]
        about = x[:, nodes].mean(axis=(0, 1))
        arm = x[:, nodes] - about
        of_parts = moment(arm, m[nodes] * v[:, nodes]).sum(axis=1)
        first = moment(arm[0], m[nodes] * seen.nodal(record.mean[0], velocity=True)[nodes]).sum()
        load = np.zeros_like(arm)
        load[..., -1] = -s.gravity * m[nodes, 0] * h[:, None]
        given = moment(arm, impulse[:, nodes] + load).sum()
        size = (np.abs(arm).max() * np.abs(m[nodes] * v[:, nodes]).sum(axis=(1, 2))).max()
        allowed = (1e-7 if s.scheme == "CDLagrange" and not s.adapt else 0.02) * size
        yield Misfit(f"angular momentum of block {i} [N m s]", of_parts[-1] - first, given, allowed)
