"""What must rest rests and is carried with its weight."""

from __future__ import annotations

import numpy as np

from ..compose import MESHED, RIGID
from . import known
from .base import Misfit, oracle


def _rests(s):
    """Not the decoupled step, where drag carries a part of what rests, as it says of itself."""
    return s.motion == "rest" and s.scheme != "MoreauJeanDecoupled"


def _column(s):
    """Blocks of one width, whose section stays plane: a bar under its weight."""
    same = len({s.blocks[i].width for i in s.movable}) == 1
    return _rests(s) and s.floor in RIGID and same and s.nu == 0 and s.law == "linear"


@oracle(_rests)
def carried(seen):
    """Forces of all contacts on what nothing holds are its weight, once it rests.

    Newton's second law: the mean force over a time T is the weight plus the change of the momentum over T,
    and what damps the motion that is left, ``alpha p``. Allowed: 1 %, the settling that is left.
    """
    s, record = seen.scenario, seen.record
    nodes = np.concatenate([seen.parts[i] for i in s.movable])
    last = len(record.t) * 3 // 4
    force = seen.nodal(record.impulse)[last + 1 :, nodes, -1].sum() / (record.t[-1] - record.t[last])
    p = seen.nodal(record.v, velocity=True)[last:, nodes, -1] @ seen.mass()[nodes]
    change = float((p[-1] - p[0]) / (record.t[-1] - record.t[last]) * seen.frame.time)
    weight = known.weight(s) + change + s.rate * float(p.mean())
    yield Misfit("force on what rests [N]", force, weight, 0.01 * weight)


@oracle(_rests)
def still(seen):
    """Critically damped blocks that were put down have stopped at the end of the run, and stand upright.

    Their sections are symmetric about their middle; the first mode is damped by 0.7 of the critical rate, so
    that 0.3 % is left of the speed. Tools and moving floors with friction carry them along.
    """
    s, record = seen.scenario, seen.record
    dragged = s.friction > 0 and s.drive != 0
    v = np.abs(seen.nodal(record.mean[-1], velocity=True))
    wave = np.sqrt(1e6 / 1000.0)
    fall = s.gravity * sum(b.height for b in s.blocks) / wave + (abs(s.traction) + s.push) / (1000.0 * wave)
    for i in s.movable:
        fastest = v[seen.parts[i]][:, -1 if dragged else slice(None)].max()
        yield Misfit(f"speed of block {i} at rest [m/s]", fastest, 0.0, 0.05 * fall)
        u = seen.nodal(record.u[-1])[seen.parts[i]]
        m = seen.mass()[seen.parts[i]]
        if not dragged and s.hypothesis != "axisymmetric":
            turned = known.rotation(seen.places()[seen.parts[i]], u, m)
            # Triangles have one diagonal, and facets of a base that do not match have their own settlement.
            yield Misfit(f"rotation of block {i} [rad]", turned, 0.0, 1e-2 if s.floor in MESHED else 2e-3)


@oracle(_column)
def settled(seen):
    """The top of a column under its weight sinks by what a bar of these moduli is compressed by.

    Nodal displacements of elements of degree 1 are exact in bars; without friction nothing holds the section.
    Allowed: 2 % of it, motion that is left and depths of points that were closed late. In lasting contact of
    triangles whose nodes do not match central differences sink by h^2 F / m where a node opens by round-off,
    as their page says with 6 %: 8 % there.
    """
    s = seen.scenario
    u, x = seen.nodal(seen.record.u[-1]), seen.places()
    top = seen.parts[-1][x[seen.parts[-1], -1] > x[seen.parts[-1], -1].max() - 1e-9]
    right = known.settled(s)
    matching = len({s.blocks[i].across for i in s.movable}) == 1 or s.scheme == "NohBathe"
    part = 0.02 if s.cell != "triangle" or matching else 0.08
    yield Misfit("settlement of the top [m]", u[top, -1].mean(), right, part * abs(right))
