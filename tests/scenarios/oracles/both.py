"""Contact at position and velocity level, and statics: Newton's law at every node, and what presses."""

from __future__ import annotations

import numpy as np

from ..compose import MESHED
from . import cells, works
from .base import Misfit, oracle
from .depth import flat_gap
from .energy import units
from .friction import _SLIDES, coefficient
from .stored import curved


def known(s):
    """Whether the forces of a step are: not those of elements whose rules are others, nor of metals; nor
    damping by tangents of nonlinear laws, or with the kink of the bulk viscosity."""
    law = s.law == "linear" or (s.law == "neo-hookean" and not s.beta)
    return s.position > 0 and law and not (s.bulk or s.locking or s.forms)


def whole(seen):
    """Whether all steps were made at once: the velocities between parts of one are not public."""
    return seen.scheme.halved.halved == 0


def free(seen):
    """Mask of the nodes of which no direction is held or driven, shape (nodes,)."""
    body, d = seen.body, seen.scenario.gdim
    held = np.array(body.constrained)
    held[body.prescribed.dofs] = True
    return ~held[: body.owned].reshape(-1, d).any(axis=1)


def impulses(seen):
    """Of contact on all nodes in each step after the start, shape (steps, nodes, d) [N s]."""
    return seen.nodal(seen.record.impulse)[1:] * seen.frame.time / seen.frame.mass


def given(seen):
    """Forces on the nodes without contact at both ends of each step: of (u, v) and of (u', w) [N].

    Those of statics are at rest.
    """
    s, record = seen.scenario, seen.record
    c, t, m = cells.cells(seen), record.t / seen.frame.time, seen.mass()[:, None]
    u, v = seen.nodal(record.u), seen.nodal(record.v, velocity=True)
    steady, waving, _ = works.forces(seen)
    inner = np.array([cells.internal(c, each) for each in u])
    outer = steady + np.cos(20.0 * t[:, None, None]) * waving
    K = cells.stiffness(c, len(u[0])) if s.beta else None

    def drag(v):
        if s.scheme == "Static":
            return 0.0
        parts = s.rate * m * v
        return parts if K is None else parts + s.beta * (v.reshape(len(v), -1) @ K).reshape(v.shape)

    smooth = outer - inner
    return smooth[:-1] - drag(v[:-1]), smooth[1:] - drag(ends(seen))


def ends(seen):
    """Velocities of the position problem at the ends of the steps, shape (steps, nodes, d) [m/s]."""
    return seen.nodal(np.array(seen.record.ends[1:]), velocity=True)


def pressing(seen):
    """R at the nodes, from Newton's law of the velocity problem: ``P - M (v' - w)`` [N s].

    Where nothing is held; at other nodes the impulse that gives them their velocity is in it.
    """
    s, v = seen.scenario, seen.nodal(seen.record.v, velocity=True)
    if s.scheme == "Static":
        return impulses(seen)
    return impulses(seen) - seen.mass()[:, None] * (v[1:] - ends(seen))


@oracle(known)
def newton(seen):
    """Newton's law of every free node in every step, with internal forces by integrals over the cells.

    ``M (w - v) = h [(1-theta) F(u, v) + theta F(u', w)] + R`` and ``M (v' - w) = P - R``; of generalized
    alpha the accelerations that it keeps have R in them; in statics the forces are in equilibrium. Runs with
    steps that were made in parts are left out. Rounding; 1e-3 where integrands are rational.
    """
    s, record = seen.scenario, seen.record
    if not whole(seen):
        return
    h = (np.diff(record.t) / seen.frame.time)[:, None, None]
    v, m, P = seen.nodal(record.v, velocity=True), seen.mass()[:, None], impulses(seen)
    (before, after), theta = given(seen), s.position
    if s.scheme == "Static":
        found, right = P, -h * after
    elif s.scheme == "MoreauJean":
        found, right = P, m * (v[1:] - v[:-1]) - h * ((1 - theta) * before + theta * after)
    else:
        rho = 1 - s.position
        am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        a = seen.nodal(np.array(record.remembered), velocity=True) * seen.frame.time
        kept = h * m * ((1 - am) * a[1:] + am * a[:-1])
        found, right = P, m * (v[1:] - ends(seen)) + kept - h * ((1 - af) * after + af * before)
        gamma = 0.5 + (1 - rho) / (rho + 1)
        w = v[:-1] + h * ((1 - gamma) * a[:-1] + gamma * a[1:])
        nodes = free(seen)
        apart = np.abs(w - ends(seen))[:, nodes].max()
        yield Misfit("velocity of the accelerations, difference [m/s]", apart, 0.0, 1e-9 * np.abs(w).max())
    wrong = np.abs(found - right)[:, free(seen)]
    size = np.abs(P).max() + np.abs(h * after).max() + np.abs(m * v).max()
    part = 1e-3 if curved(s) else 1e-8
    yield Misfit("impulse at a node beyond Newton's law [N s]", wrong.max(initial=0.0), 0.0, part * size)


def _on_a_plane(s):
    flat = s.floor in ("plane", "moving", "box") and s.hypothesis != "axisymmetric"
    return s.position > 0 and flat and not s.tilt


@oracle(_on_a_plane)
def presses(seen):
    """Reactions of the position problem at a plane push, where the gap is closed, in Coulomb's cone.

    From nodal impulses, masses and velocities, and heights over the plane: ``R_N >= 0``, ``R_N (g - g_0 (1 -
    t/T)) = 0``, ``|R_T| <= mu R_N``, and where a node goes along the plane by more than 1 mm/s in the mean
    over the step, ``R_T`` is mu R_N against that way. What is closed has no velocity into the plane.
    """
    s, record = seen.scenario, seen.record
    if not whole(seen):
        return
    loaded = (np.abs(seen.nodal(record.impulse)).max(axis=(0, 2)) > 0) & free(seen)
    nodes = np.flatnonzero(loaded & np.isin(np.arange(loaded.size), seen.parts[0]))
    if not nodes.size or len(s.blocks) > 1 and s.floor in MESHED:
        return
    if len(s.blocks) > 1:  # nodes of the lowest block that the next one may touch
        low = seen.places()[nodes, -1]
        nodes = nodes[low < low.min() + 1e-9]
    h = (np.diff(record.t) / seen.frame.time)[:, None, None]
    R, x = pressing(seen)[:, nodes], (seen.places() + seen.nodal(record.u))[:, nodes]
    N, T, mu = R[..., -1], R[..., :-1], coefficient(s)
    size = (
        np.abs(R).max() + 1e-9 * np.abs(seen.mass()[nodes, None] * seen.nodal(record.v, True)[:, nodes]).max()
    )
    yield Misfit("reaction that pulls [N s]", max(-N.min(), 0.0), 0.0, 1e-8 * size)
    # What begins inside closes in time.
    part = (
        np.clip(1.0 - (record.t - record.t[0]) / (record.t[-1] - record.t[0]) / s.closing, 0, 1)
        if s.closing
        else 0.0 * record.t
    )
    least = np.minimum(flat_gap(s, x[:1]), 0.0) * part[:, None]
    apart = (flat_gap(s, x) - least)[1:]
    length = max(b.width + b.height for b in s.blocks)
    yield Misfit("depth beyond what is to close [m]", max(-apart.min(), 0.0), 0.0, 1e-9 * length)
    open_ = apart > 1e-9 * length
    yield Misfit("reaction across a gap [N s]", np.abs(N[open_]).max(initial=0.0), 0.0, 1e-8 * size)
    over = np.linalg.norm(T, axis=-1) - mu * N
    yield Misfit("reaction outside of the cone [N s]", max(over.max(), 0.0), 0.0, 1e-8 * size)
    way = np.diff(x, axis=0)[..., :-1] / h
    way[..., 0] -= s.drive * (s.floor == "moving")
    speed = np.linalg.norm(way, axis=-1)
    slides = (speed > _SLIDES) & (N > 1e-6 * size)
    if mu and slides.any():
        against = -(T * way).sum(axis=-1)[slides] / speed[slides]
        yield Misfit(
            "friction of what slides, of the position [N s]",
            np.abs(against - mu * N[slides]).max(),
            0.0,
            1e-6 * size,
        )


@oracle(lambda s: s.position > 0 and s.floor != "none")
def shut(seen):
    """No gap that the contact tells is negative after a step, less what is still to close.

    To 1e-10 of the length.
    """
    s, record = seen.scenario, seen.record
    gaps = [np.where(np.isfinite(each), each, 0.0) for each in record.gaps]
    part = (
        1.0 - (record.t - record.t[0]) / (record.t[-1] - record.t[0]) / s.closing
        if s.closing
        else 0.0 * record.t
    )
    deep = max(
        float((np.minimum(gaps[0], 0.0) * max(p, 0.0) - g).max(initial=0.0))
        for p, g in zip(part[1:], gaps[1:])
    )
    length = sum(b.height for b in s.blocks)
    yield Misfit("gap below what is allowed [m]", deep / seen.frame.length, 0.0, 1e-10 * length)


@oracle(lambda s: known(s) and s.scheme in ("MoreauJean", "Static"))
def spent(seen):
    """Works of contact, of damping with the formula, and of what drives, from nodal data of two problems.

    ``E' - E = f.(u' - u) + R.(u' - u)/h + (P - R).(w + v')/2 - (theta - 1/2)(|w - v|_M^2 + (u' - u).(F_int' -
    F_int)) - damping``, as the page says: sums of each of its terms with forces and impulses of this module,
    those of statics with the mean of both ends, and of its first step at the end. Not where driven nodes are
    in contact. Rounding, as of :func:`newton`.
    """
    s, record, unit = seen.scenario, seen.record, units(seen)
    if not whole(seen) or seen.run.newton["steps"] != len(record.t) - 1:
        return
    loose, P = free(seen), impulses(seen)
    if np.abs(P[:, ~loose]).max(initial=0.0) > 0.0:
        return
    h = (np.diff(record.t) / seen.frame.time)[:, None, None]
    du, (before, after) = np.diff(seen.nodal(record.u), axis=0), given(seen)
    contact, driven, lost = (_of_equilibria if s.scheme == "Static" else _of_motion)(
        seen, P, du, before, after, h
    )
    steady, waving, _ = works.forces(seen)
    size = (
        sum(np.abs(each).sum() for each in (contact, driven, lost))
        + np.abs(seen.run["internal"]).max() / unit
    )
    size += np.abs(seen.run["kinetic"]).max() / unit
    rounding = 1e-14 * cells.program.E * np.abs(seen.nodal(record.u)).max() ** 2  # of what moves as a whole
    allowed = (1e-3 if curved(s) else 1e-7) * size + rounding
    yield Misfit("work of contact [J]", seen.run["contact"][-1] / unit, contact.sum(), allowed)
    yield Misfit("what formula and damping take [J]", seen.run["dissipated"][-1] / unit, lost.sum(), allowed)
    if not waving.any():
        work = driven.sum() + (steady * du).sum()
        yield Misfit("work of loads and what drives [J]", seen.run["external"][-1] / unit, work, allowed)


def _of_equilibria(seen, P, du, before, after, h):
    """Works in each step [J]: contact, what drives, and what is left of the first step."""
    weight = np.full(h.shape, 0.5)
    weight[0] = 1.0
    inner, loose = _inner(seen), free(seen)
    steady, waving, _ = works.forces(seen)
    t = seen.record.t[:, None, None] / seen.frame.time
    held = inner - steady - np.cos(20.0 * t) * waving
    held[:, loose] = 0.0
    pushed = np.concatenate([0.0 * P[:1], P / h])
    mean = [(du * ((1 - weight) * each[:-1] + weight * each[1:])).sum(axis=(1, 2)) for each in (pushed, held)]
    return *mean, ((weight - 0.5) * du * np.diff(inner, axis=0)).sum(axis=(1, 2))


def _inner(seen):
    """Internal forces at all samples, shape (samples, nodes, d) [N]."""
    c = cells.cells(seen)
    return np.array([cells.internal(c, each) for each in seen.nodal(seen.record.u)])


def _of_motion(seen, P, du, before, after, h):
    """Works in each step [J]: contact, what drives, damping with what the formula takes."""
    m, theta = seen.mass()[:, None], seen.scenario.position
    v, w = seen.nodal(seen.record.v, velocity=True), ends(seen)
    R, smooth = pressing(seen), (1 - theta) * before + theta * after
    loose, inner = free(seen), _inner(seen)
    R[:, ~loose] = 0.0
    contact = (R * du / h + (P - R) * 0.5 * (w + v[1:])).sum(axis=(1, 2))
    held = (m * (w - v[:-1]) / h - smooth) * du + m * (v[1:] - w) * 0.5 * (w + v[1:])
    held[:, loose] = 0.0
    # Forces without damping, less those with it.
    steady, waving, _ = works.forces(seen)
    t = seen.record.t[:, None, None] / seen.frame.time
    outer = steady + np.cos(20.0 * t) * waving - inner
    drag = ((1 - theta) * outer[:-1] + theta * outer[1:] - smooth) * du
    formula = (theta - 0.5) * (m * (w - v[:-1]) ** 2 + du * np.diff(inner, axis=0))
    return contact, held.sum(axis=(1, 2)), (drag + formula).sum(axis=(1, 2))
