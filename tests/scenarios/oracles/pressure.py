"""The pressure of contact under what rests is the weight over the area, and its forces are the impulses."""

from __future__ import annotations

import random

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

from ..compose import RIGID
from ..kinds import SIMPLICES
from ..observe import see
from . import known
from .base import Misfit, oracle, small_problem


def _column(s):
    """Blocks of one width on a rigid floor that does not drag them: sections stay plane, pressure uniform."""
    same = len({b.width for b in s.blocks}) == 1
    rests = s.motion == "rest" and s.scheme != "MoreauJeanDecoupled" and not known.dragged(s)
    return rests and s.floor in RIGID and same and s.nu == 0


def _members(seen):
    """The contacts of a run, in the order of their points."""
    contact = seen.scheme.contact
    return list(getattr(contact, "members", [contact]))


def _left(s):
    """Part of the pressure that is not known: 2 %, the settling that is left.

    8 % by implicit schemes in triangles and tetrahedra, and between meshes that do not match: depths of the
    first touch stay and differ from point to point, 2.7, 0.5 and 0.1 % with 2, 1 and 0.5 critical steps, as
    measured; with bulk viscosity and central differences 2.3, 0.6 and 0.02 % with 0.5, 0.25 and 0.1. In
    tetrahedra Noh-Bathe, whose step is two, leaves 14, 0.7 and 0.3 % with these.
    """
    matching = len({b.across for b in s.blocks}) == 1
    if s.scheme == "NohBathe" and s.cell in SIMPLICES and s.part > 0.3:
        return 0.15
    return 0.02 if matching and (s.explicit or s.cell not in SIMPLICES) else 0.08


@oracle(_column)
def pressure(seen):
    """Every point of a floor under a column has the pressure of its weight.

    Equilibrium of a bar. Means over the last quarter of the run: single steps may give the force of two.
    Points without force are those of other sides. Allowed: see :func:`_left`.
    """
    s, record = seen.scenario, seen.record
    members = _members(seen)
    contact = next((c for c in members if getattr(c, "obstacle", None) is not None), None)
    if contact is None or not hasattr(contact, "pressure"):
        return
    first = sum(c.count for c in members[: members.index(contact)])
    last = len(record.t) * 3 // 4
    r = np.mean(record.r[last:], axis=0)[first : first + contact.count]
    values = np.asarray(contact.pressure(r, np.mean(record.dt))) / seen.frame.pressure
    areas = np.asarray(contact.areas())
    total = float((values * areas).sum() * np.mean(record.dt) * seen.frame.pressure)
    yield Misfit("pressure times area and time [N s]", total, r.sum(), 1e-9 * r.sum())
    right = known.weight(s) / known.area(s, 0)
    pressed = values[np.isfinite(values) & (r > 1e-6 * r.max())]
    for what, value in (("largest", pressed.max()), ("smallest", pressed.min())):
        yield Misfit(f"{what} pressure under a column [Pa]", value, right, _left(s) * right)


def _joints(seen):
    """Contacts between the blocks of a column, their first points, and the block above each."""
    first, upper = 0, len(seen.scenario.blocks) - 1 if seen.scenario.backwards else 1
    for each in _members(seen):
        if getattr(each, "obstacle", None) is None:
            yield each, first, upper
            upper += -1 if seen.scenario.backwards else 1
        first += each.count


def _above(s, i):
    """Pressure of the blocks from one on [Pa]."""
    return -float(sum(known.loads(s, k)[0][-1] for k in range(i, len(s.blocks)))) / known.area(s, i)


def _stacked(s):
    """Triangles match: where they do not, the depths of the first touch, which stay, bend the facets."""
    return _column(s) and len(s.blocks) > 1 and s.joint == "surfaces" and known.passes_pressure(s)


@oracle(_stacked)
def between(seen):
    """Between the blocks of a column every point has the pressure of what is above; areas are the section.

    Equilibrium of a bar. Points without force are those with nothing opposite. Allowed: see :func:`_left`.
    """
    s, record = seen.scenario, seen.record
    last = len(record.t) * 3 // 4
    r, size = np.mean(record.r[last:], axis=0), seen.frame.length ** (2 if s.gdim == 3 else 1)
    for each, first, upper in _joints(seen):
        own = r[first : first + each.count]
        values = np.asarray(each.pressure(own, np.mean(record.dt))) / seen.frame.pressure
        right = _above(s, upper)
        pressed = values[np.isfinite(values) & (own > 1e-6 * own.max())]
        for what, value in (("largest", pressed.max()), ("smallest", pressed.min())):
            yield Misfit(f"{what} pressure below block {upper} [Pa]", value, right, _left(s) * right)
        area = known.area(s, upper)
        total = float(np.sum(each.areas())) / size
        yield Misfit(f"area of contact below block {upper} [m2]", total, area, 0.02 * area)


def _glued(s):
    """Turned in the plane; axisymmetric bodies stay. Blocks that touch are glued for it.

    Not on floors that move, whose speed across is rounding where they are turned: contact opens by it, and
    what settles begins anew.
    """
    plain = s.hypothesis is None and s.floor != "moving" and "surfaces" in s.takes
    return _column(s) and len(s.blocks) > 1 and plain and known.passes_pressure(s)


@oracle(_glued, runs=True)
def tied(s):
    """The pressure of a tie is that of what is above it, in a frame that is turned: normals are no axes."""
    seen = see(s.changed(joint="tie", turn=0.7))
    record = seen.record
    last = len(record.t) * 3 // 4
    r = np.mean(record.r[last:], axis=0)
    for each, first, upper in _joints(seen):
        own = r[first : first + each.count]
        values = np.asarray(each.nodes.normal_pressure(own, np.mean(record.dt)))
        values, right = values[np.isfinite(values) & (np.abs(values) > 0.0)], _above(s, upper)
        for what, value in (("largest", values.max()), ("smallest", values.min())):
            yield Misfit(f"{what} pressure of the tie below block {upper} [Pa]", value, right, 0.02 * right)


@small_problem(0, 16)
def evenly(s):
    """A block without Poisson's ratio sinks into a yielding floor as a bar, whatever stands beside it.

    Its compliance is that of the floor, so that a column of one cell has the gap of each column of many.
    """
    rng = random.Random(f"evenly {s.seed}")
    number, turned = rng.choice((1, 2, 3)), rng.choice((None, "axisymmetric"))
    many, gaps = rng.randint(3, 7), []
    for across in (1, many):
        cells = dmesh.create_rectangle(
            MPI.COMM_SELF, [[0.0, 0.0], [1.0, 2.0]], [across, 6], dmesh.CellType.quadrilateral
        )
        named = di.named(cells, low=lambda x: x[1] < 1e-9, axis=lambda x: x[0] < 1e-9)
        options = {"hypothesis": turned, "fixed": {"axis": (0,)}} if turned else {}
        body = di.Solid(named, density=1.0, law=di.LinearElastic(900.0, 0.0), **options)
        floor = di.RigidContact(body, "low", di.Plane((0.0, 0.0), (0.0, 1.0)))
        kind = di.SCHEMES[f"dep-5.{number}"].make
        scheme = kind(body, 2e-3, contact=floor, eps=2e-4, per_area=True)
        scheme.start(0.0, (0.0, -10.0))
        gaps.append([])
        for _ in range(60):
            scheme.step()
            gaps[-1].append(floor.gap(scheme.u, scheme.t))
    column, block = (np.array(each) for each in gaps)
    deepest = -column.min()
    yield Misfit("a block that sinks in", float(deepest > 1e-3), 1.0, 0.0)
    apart = np.abs(block - column[:, :1]).max()
    yield Misfit(f"gap of {many} columns beside that of one, difference [m]", apart, 0.0, 1e-7 * deepest)
